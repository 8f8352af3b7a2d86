//! What the claims need exists, and no profile is fitted to more numbers than it may be.
#![allow(clippy::unwrap_used)]

use ssdgauge_claims::{FIT_SUITE, Fits, fits, is_held_out, reviews};
use ssdgauge_core::Rig;
use ssdgauge_lab::{Options, Suite, find_built_in, plan};
use ssdgauge_sim::{VirtualRig, reviewed_profiles};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the published numbers that the figures of each reviewed drive are fitted to, by profile: the
/// words between `[F]` and the end of the line.
fn fitted() -> BTreeMap<&'static str, Vec<String>> {
    let labels = |text: &'static str| {
        text.lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once("# [F] "))
            .map(|(_, label)| label.trim().to_owned())
            .collect()
    };
    reviewed_profiles().into_iter().map(|profile| (profile.name, labels(profile.text))).collect()
}

#[test]
fn every_drive_and_every_test_of_a_claim_exists() {
    let mut planned = BTreeSet::new();
    for review in reviews().unwrap() {
        for need in review.claims.iter().flat_map(|claim| review.runs_of(claim)) {
            let (_, _, need) = need;
            let drive = VirtualRig::open(&need.drive, 1);
            let rig = drive.unwrap_or_else(|error| panic!("{}: {error}", need.drive));
            let suite = find_built_in(&need.test.suite).unwrap();
            let only = vec![need.test.test.clone()];
            let options = Options { only, shorten: need.test.shorten, ..Options::default() };
            plan(&suite, rig.drive(), &options).unwrap();
            planned.insert(need);
        }
        let needed: BTreeSet<(String, String)> =
            review.claims.iter().flat_map(|claim| claim.needs()).collect();
        for drive in review.drives.keys() {
            let is_used = needed.iter().any(|(name, _)| name == drive);
            // The smaller drive of the review is listed for runs by hand.
            assert!(is_used || drive == "zet-480", "{drive} is not used");
        }
    }
    assert!(planned.len() > 50, "{}", planned.len());
}

#[test]
fn a_shorter_test_or_a_smaller_drive_states_why() {
    for review in reviews().unwrap() {
        for need in review.claims.iter().flat_map(|claim| review.runs_of(claim)) {
            let (_, _, need) = need;
            let is_scaled = need.test.shorten > 1 || need.drive.contains("capacity=");
            assert!(!is_scaled || !need.test.scale.is_empty(), "{need:?}");
        }
    }
}

#[test]
fn no_drive_has_more_fitted_figures_than_published_numbers() {
    for (name, labels) in fitted() {
        let numbers: BTreeSet<&String> = labels.iter().collect();
        assert_eq!(numbers.len(), labels.len(), "{name}: two figures are fitted to one number");
    }
}

#[test]
fn no_figure_is_fitted_to_a_held_out_claim() {
    for (name, labels) in fitted() {
        for label in labels {
            let claim = label.split([',', ':', ' ']).next().unwrap().to_owned();
            let from_table = ["table"].contains(&claim.as_str());
            assert!(from_table || claim.starts_with('S'), "{name}: '{label}' names no source");
            assert!(!is_held_out(&claim), "{name}: '{label}'");
        }
    }
}

#[test]
fn the_claims_that_are_marked_as_fitted_are_those_of_the_profiles() {
    let in_profiles: BTreeSet<String> = fitted()
        .into_values()
        .flatten()
        .filter(|label| label.starts_with('S'))
        .map(|label| label.split([',', ':', ' ']).next().unwrap().to_owned())
        .collect();
    let marked: BTreeSet<String> = reviews()
        .unwrap()
        .into_iter()
        .flat_map(|review| review.claims)
        .filter(|claim| claim.fitted)
        .map(|claim| claim.id)
        .collect();
    assert_eq!(marked, in_profiles);
}

#[test]
fn every_fitted_figure_is_listed_with_its_published_number() {
    let listed: BTreeSet<(String, String)> =
        fits().unwrap().fits.into_iter().map(|fit| (fit.profile, fit.published)).collect();
    let in_profiles: BTreeSet<(String, String)> = fitted()
        .into_iter()
        .flat_map(|(name, labels)| labels.into_iter().map(move |label| (name.to_owned(), label)))
        .collect();
    assert_eq!(listed, in_profiles);
}

#[test]
fn every_fit_names_a_figure_of_its_profile_between_its_limits_and_a_test() {
    let Fits { tests, fits } = fits().unwrap();
    let texts: BTreeMap<&str, &str> =
        reviewed_profiles().into_iter().map(|profile| (profile.name, profile.text)).collect();
    for fit in &fits {
        let name = format!("{} {}", fit.profile, fit.figure);
        let table: toml::Table = toml::from_str(texts[fit.profile.as_str()]).unwrap();
        let (section, key) = fit.figure.split_once('.').unwrap();
        let value =
            table[section].get(key).unwrap_or_else(|| panic!("{name} is not in its profile"));
        match fit.quantified() {
            None => assert!(fit.of.is_none() && fit.is.is_none() && fit.within.is_none(), "{name}"),
            Some(number) => {
                let [low, high] = number.within;
                assert!((low..=high).contains(&value.as_float().unwrap()), "{name}");
                let need = &tests[&number.of.source.test];
                let suite = match need.suite.as_str() {
                    "fits" => Suite::parse("fits.toml", FIT_SUITE).unwrap(),
                    id => find_built_in(id).unwrap(),
                };
                let rig = VirtualRig::open(&number.of.source.drive, 1).unwrap();
                let only = vec![need.test.clone()];
                plan(&suite, rig.drive(), &Options { only, ..Options::default() }).unwrap();
            }
        }
    }
    assert!(fits.len() > 50, "{}", fits.len());
}

#[test]
fn every_claim_is_on_the_page_of_its_review() {
    let pages = [
        include_str!("../../../docs/generated/reviews/samsung-970-evo.md"),
        include_str!("../../../docs/generated/reviews/samsung-960-evo.md"),
        include_str!("../../../docs/generated/reviews/kingston-dc500.md"),
        include_str!("../../../docs/generated/reviews/samsung-sm951.md"),
        include_str!("../../../docs/generated/reviews/samsung-983-zet.md"),
    ];
    for review in reviews().unwrap() {
        let title = format!("# {}\n", review.title);
        let page = pages.iter().find(|page| page.starts_with(&title)).unwrap();
        for claim in &review.claims {
            let row = format!("| {} | {} | ", claim.id, claim.statement);
            let line = page.lines().find(|line| line.starts_with(&row)).unwrap_or_else(|| {
                panic!("{row} is not on the page: docs/explanation/reviews.md says how to make it")
            });
            // A claim that fails is there with its mechanism, or with the claim that it contradicts.
            let is_explained = !claim.note.is_empty() && line.contains(&claim.note);
            assert!(!line.contains("| fails") || is_explained, "{line}");
        }
        for target in review.drives.values() {
            assert!(page.contains(&format!("`sim:{target}`")), "{target}");
        }
    }
}
