//! The claims of public measurements rest on listed facts, and their loads exist.
#![allow(clippy::unwrap_used)]

use ssdgauge_claims::{Claim, Label, MEASURED_SUITE, measured};
use ssdgauge_core::Rig;
use ssdgauge_lab::{Options, Suite, plan};
use ssdgauge_sim::VirtualRig;
use std::collections::{BTreeMap, BTreeSet};

const FACTS: &str = include_str!("../measured/facts.tsv");

/// Returns the fields of each fact: collection, drive, load, point, number, value.
fn facts() -> Vec<Vec<&'static str>> {
    let lines = FACTS.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect()).collect()
}

#[test]
fn every_claim_is_about_listed_facts() {
    let listed: BTreeSet<String> = facts().iter().map(|fact| fact[1..5].join(", ")).collect();
    let claims = measured().unwrap().claims;
    let is_predicted = |claim: &&Claim| claim.label == Some(Label::Predicted);
    let predicted = claims.iter().filter(is_predicted).count();
    assert!(predicted >= 20, "{predicted}");
    let mut used = BTreeSet::new();
    for claim in &claims {
        assert!(!claim.facts.is_empty(), "{}", claim.id);
        for fact in &claim.facts {
            assert!(listed.contains(fact), "{}: '{fact}' is not in facts.tsv", claim.id);
            used.insert(fact.clone());
        }
    }
    assert_eq!(used, listed, "facts without a claim");
}

#[test]
fn facts_are_numbers_and_no_copy_of_a_collection() {
    let mut by_collection: BTreeMap<&str, usize> = BTreeMap::new();
    for fact in facts() {
        assert_eq!(fact.len(), 6, "{fact:?}");
        assert!(fact[5].parse::<f64>().is_ok_and(|value| value > 0.0), "{fact:?}");
        *by_collection.entry(fact[0]).or_default() += 1;
    }
    assert_eq!(by_collection.keys().copied().collect::<Vec<_>>(), ["iocost", "zns"]);
    assert!(by_collection.values().all(|count| *count <= 200), "{by_collection:?}");
}

#[test]
fn every_load_of_a_claim_exists_for_its_drive() {
    let suite = Suite::parse("measured.toml", MEASURED_SUITE).unwrap();
    let review = measured().unwrap();
    let needs: BTreeSet<_> = review
        .claims
        .iter()
        .flat_map(|claim| review.runs_of(claim))
        .map(|(_, _, need)| need)
        .collect();
    for need in &needs {
        assert_eq!(need.test.suite, suite.id);
        let rig =
            VirtualRig::open(&need.drive, 1).unwrap_or_else(|e| panic!("{}: {e}", need.drive));
        let only = vec![need.test.test.clone()];
        plan(&suite, rig.drive(), &Options { only, ..Options::default() }).unwrap();
    }
    let used: BTreeSet<&str> = needs.iter().map(|need| need.drive.as_str()).collect();
    assert_eq!(used, review.drives.values().map(String::as_str).collect());
}
