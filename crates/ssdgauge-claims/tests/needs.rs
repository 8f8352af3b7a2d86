//! What the claims need exists, and no profile is fitted to more numbers than it may be.
#![allow(clippy::unwrap_used)]

use ssdgauge_claims::{
    Claim, FIT_SUITE, Fits, Label, Review, fits, is_held_out, marks_of, measured, parameters,
    reviews,
};
use ssdgauge_core::Rig;
use ssdgauge_lab::{Options, Suite, find_built_in, plan};
use ssdgauge_sim::{VirtualRig, profiles, reviewed_profiles};
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

/// Returns all reviews with the claims of public measurements.
fn all_claims() -> Vec<(Review, Claim)> {
    let reviews = reviews().unwrap().into_iter().chain([measured().unwrap()]);
    let of_review = |review: Review| {
        let claims = review.claims.clone();
        claims.into_iter().map(move |claim| (review.clone(), claim))
    };
    reviews.flat_map(of_review).collect()
}

#[test]
fn the_claims_that_are_labelled_as_fitted_are_those_of_the_profiles() {
    let in_profiles: BTreeSet<String> = fitted()
        .into_values()
        .flatten()
        .filter(|label| label.starts_with('S'))
        .map(|label| label.split([',', ':', ' ']).next().unwrap().to_owned())
        .collect();
    let labelled: BTreeSet<String> = all_claims()
        .into_iter()
        .filter(|(_, claim)| claim.label == Some(Label::Fitted))
        .map(|(_, claim)| claim.id)
        .collect();
    assert_eq!(labelled, in_profiles);
}

#[test]
fn a_claim_that_is_checked_has_a_label_and_says_by_what() {
    let profiles = parameters().unwrap();
    let marks: BTreeSet<String> = profiles
        .iter()
        .flat_map(|profile| {
            let own = profile.fitted.keys().chain(profile.changed.keys());
            own.map(|parameter| format!("{} {parameter}", profile.name))
        })
        .collect();
    let all = all_claims();
    let has_label =
        |by: &str, label| all.iter().any(|(_, claim)| claim.id == by && claim.label == Some(label));
    for (review, claim) in &all {
        let id = &claim.id;
        assert_eq!(claim.label.is_some(), claim.is_checked(), "{id}");
        let is_by = |known: &dyn Fn(&str) -> bool| {
            assert!(!claim.by.is_empty(), "{id} does not say by what");
            for by in &claim.by {
                assert!(known(by), "{id}: '{by}'");
            }
        };
        match claim.label {
            None | Some(Label::Fitted) => assert!(claim.by.is_empty(), "{id}"),
            Some(Label::Predicted) => {
                assert!(claim.by.is_empty() && !claim.about.is_empty(), "{id}")
            }
            Some(Label::Entailed) => {
                is_by(&|by| marks.contains(by) || has_label(by, Label::Fitted));
            }
            Some(Label::Corrected) => is_by(&|by| marks.contains(by)),
            Some(Label::Constructed) => is_by(&|by| review.drives.contains_key(by)),
        }
    }
}

#[test]
fn no_parameter_of_its_drives_is_about_the_quantity_of_a_prediction() {
    let profiles = parameters().unwrap();
    let mut predictions = 0;
    for (review, claim) in all_claims() {
        if claim.label != Some(Label::Predicted) {
            continue;
        }
        predictions += 1;
        for (drive, _) in claim.needs() {
            for mark in marks_of(&profiles, &review.drives[&drive]) {
                let is_about = claim.about.iter().any(|quantity| quantity == mark.quantity);
                assert!(!is_about, "{} is no prediction: {mark:?}", claim.id);
            }
        }
    }
    assert!(predictions >= 20, "{predictions}");
}

#[test]
fn the_marks_of_the_parameters_are_those_of_the_profiles() {
    let mut listed = parameters().unwrap();
    for profile in profiles().into_iter().chain(reviewed_profiles()) {
        let at = listed.iter().position(|marks| marks.name == profile.name);
        let marks = listed.remove(at.unwrap_or_else(|| panic!("{} is not listed", profile.name)));
        let table: toml::Table = toml::from_str(profile.text).unwrap();
        let parent = table.get("inherits").and_then(|parent| parent.as_str());
        assert_eq!(marks.inherits.as_deref(), parent, "{}", profile.name);
        let mut section = "";
        let (mut set, mut fitted) = (BTreeSet::new(), BTreeSet::new());
        for line in profile.text.lines().filter(|line| !line.starts_with('#')) {
            match (line.strip_prefix('['), line.split_once(" = ")) {
                (Some(name), _) => section = name.trim_end_matches(']'),
                (None, Some((key, rest))) if !section.is_empty() => {
                    set.insert(format!("{section}.{}", key.trim()));
                    if rest.contains("# [F]") {
                        fitted.insert(format!("{section}.{}", key.trim()));
                    }
                }
                _ => {}
            }
        }
        assert_eq!(
            marks.fitted.keys().cloned().collect::<BTreeSet<_>>(),
            fitted,
            "{}",
            profile.name
        );
        for parameter in marks.changed.keys().chain(&marks.replaces) {
            let is_own = set.contains(parameter) && !fitted.contains(parameter);
            assert!(is_own, "{} {parameter}", profile.name);
        }
        // What it sets itself, its parents' marks no longer say.
        let parents = parameters().unwrap();
        let inherited = marks.inherits.as_deref().map(|parent| marks_of(&parents, parent));
        for mark in inherited.into_iter().flatten() {
            let is_said = marks.replaces.contains(mark.parameter)
                || marks.changed.contains_key(mark.parameter)
                || fitted.contains(mark.parameter);
            assert_eq!(is_said, set.contains(mark.parameter), "{} {mark:?}", profile.name);
        }
    }
    assert!(listed.is_empty(), "{listed:?}");
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
        include_str!("../../../docs/generated/reviews/measured-drives.md"),
    ];
    for review in reviews().unwrap().into_iter().chain([measured().unwrap()]) {
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

#[test]
fn the_page_of_every_profile_says_which_claims_cannot_fail() {
    let page = include_str!("../../../docs/generated/reviews/every-profile.md");
    let made = page.lines().find(|line| line.starts_with("Made by")).unwrap();
    for word in ["--every-profile", "--seed 1", "commit ", "model revision "] {
        assert!(made.contains(word), "{made}");
    }
    let rows: BTreeMap<&str, Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| S") || line.starts_with("| R"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>())
        .map(|cells| (cells[0], cells))
        .collect();
    let count = profiles().len() + reviewed_profiles().len();
    for (review, claim) in all_claims().iter().filter(|(_, claim)| claim.is_checked()) {
        // Claims of reviews are on the page where their runs were carried out.
        let Some(row) = rows.get(claim.id.as_str()) else {
            assert!(!review.measured, "{} has no row", claim.id);
            continue;
        };
        let [_, label, fails, of, holds] = row[..] else { panic!("{row:?}") };
        let (fails, of): (usize, usize) = (fails.parse().unwrap(), of.parse().unwrap());
        assert_eq!(label, claim.label.unwrap().word(), "{row:?}");
        assert!(fails <= of && of <= count, "{row:?}");
        if holds == "not run" {
            assert_eq!(of, 0, "{row:?}");
            continue;
        }
        let cannot_fail = holds == "all: cannot fail";
        assert_eq!(cannot_fail, claim.cannot_fail, "{row:?}");
        assert_eq!(cannot_fail, fails == 0, "{row:?}");
        // A profile may lack the tests of a claim, and most have them.
        assert!(!review.measured || of + 3 >= count, "{row:?}");
    }
}
