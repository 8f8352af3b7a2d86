//! The charts of a review: the curves that its claims are about, with the published numbers next to the
//! measured ones.
//!
//! Which charts there are follows from the checks: a curve, or a number at a place of one, names a drive,
//! a test and a metric.

use crate::catalogue::RunNeed;
use crate::claim::{Claim, Review};
use crate::reference::{Pick, Quantity, Seconds, Source};
use ssdgauge_analysis::Run;
use ssdgauge_core::Metric;
use ssdgauge_page::{NamedFigure, PublishedNumber, published_curve, rate_of_seconds};
use std::collections::BTreeMap;

/// One chart of a review.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The chart.
    pub figure: NamedFigure,
    /// The ids of the claims that are about it.
    pub claims: Vec<String>,
}

/// What a chart shows of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// A metric over the swept values.
    Points(Metric),
    /// The rate of each second.
    Seconds,
}

/// A chart that claims ask for.
#[derive(Debug)]
struct Subject<'a> {
    test: &'a str,
    shown: Shown,
    claims: Vec<&'a str>,
    /// Drive, swept value, and the ends of the band of the published number.
    stated: Vec<(&'a str, f64, f64, f64)>,
}

/// Returns the charts of `review` from `runs`, in the order of its claims; a chart whose runs are missing
/// is left out.
pub fn pictures(review: &Review, runs: BTreeMap<RunNeed, Run>) -> Vec<Picture> {
    let by_test = sorted(review, runs);
    let picture = |subject: &Subject<'_>| {
        let of_test = by_test.iter().find(|(test, _)| test == subject.test);
        let (drives, runs): (Vec<&str>, &[Run]) = match of_test {
            Some((_, (drives, runs))) => (drives.iter().map(String::as_str).collect(), runs),
            None => return None,
        };
        let figure = draw(subject, &drives, runs, &review.id)?;
        let claims = subject.claims.iter().map(|id| (*id).to_owned()).collect();
        Some(Picture { figure, claims })
    };
    subjects(review).iter().filter_map(picture).collect()
}

/// Runs of one test, with the names of their drives.
type OfTest = (Vec<String>, Vec<Run>);

/// Returns the runs of each test of `review`.
fn sorted(review: &Review, mut runs: BTreeMap<RunNeed, Run>) -> Vec<(String, OfTest)> {
    let mut found: Vec<(String, OfTest)> = Vec::new();
    for claim in &review.claims {
        for (drive, test, need) in review.runs_of(claim) {
            let Some(run) = runs.remove(&need) else { continue };
            let place = found.iter().position(|(name, _)| *name == test).unwrap_or_else(|| {
                found.push((test, OfTest::default()));
                found.len() - 1
            });
            let (drives, of_test) = &mut found[place].1;
            drives.push(drive);
            of_test.push(run);
        }
    }
    found
}

/// Returns the charts that the claims of `review` ask for.
fn subjects(review: &Review) -> Vec<Subject<'_>> {
    let mut found = Vec::new();
    for claim in &review.claims {
        for check in &claim.checks {
            let (values, curves) = check.references();
            for curve in curves {
                let shown = match curve.seconds {
                    None => points(&curve.source),
                    Some(Seconds::All | Seconds::Last(_)) => rate(&curve.source),
                };
                add(&mut found, claim, &curve.source, shown);
            }
            for value in values.iter().filter(|value| matches!(value.pick, Pick::At(_))) {
                add(&mut found, claim, &value.source, points(&value.source));
            }
            let Some((value, low, high)) = check.stated() else { continue };
            let Pick::At(position) = value.pick else { continue };
            let place = subject(&mut found, &value.source, points(&value.source));
            if let Some(place) = place {
                place.stated.push((&value.source.drive, position, low, high));
            }
        }
    }
    found
}

fn points(source: &Source) -> Option<Shown> {
    match &source.quantity {
        Quantity::Metric(metric) => Some(Shown::Points(*metric)),
        Quantity::Reading(_) => None,
    }
}

fn rate(source: &Source) -> Option<Shown> {
    match &source.quantity {
        Quantity::Metric(Metric::Iops | Metric::ThroughputMbS) => Some(Shown::Seconds),
        Quantity::Metric(_) | Quantity::Reading(_) => None,
    }
}

/// Adds `claim` to the chart of `shown`.
fn add<'a>(
    found: &mut Vec<Subject<'a>>,
    claim: &'a Claim,
    source: &'a Source,
    shown: Option<Shown>,
) {
    if let Some(subject) = subject(found, source, shown)
        && subject.claims.last() != Some(&claim.id.as_str())
    {
        subject.claims.push(&claim.id);
    }
}

/// Returns the chart of `shown`, which is new where it was not asked for yet.
fn subject<'a, 'b>(
    found: &'b mut Vec<Subject<'a>>,
    source: &'a Source,
    shown: Option<Shown>,
) -> Option<&'b mut Subject<'a>> {
    let (test, shown) = (source.test.as_str(), shown?);
    let place = found.iter().position(|one| one.test == test && one.shown == shown);
    let place = place.unwrap_or_else(|| {
        found.push(Subject { test, shown, claims: Vec::new(), stated: Vec::new() });
        found.len() - 1
    });
    Some(&mut found[place])
}

fn draw(subject: &Subject<'_>, drives: &[&str], runs: &[Run], review: &str) -> Option<NamedFigure> {
    let name = |what: &str| format!("{review}-{}-{}", subject.test, what.replace('_', "-"));
    let metric = match subject.shown {
        Shown::Seconds => return rate_of_seconds(runs, name("seconds")),
        Shown::Points(metric) => metric,
    };
    let published: Vec<PublishedNumber> = subject
        .stated
        .iter()
        .filter_map(|(drive, position, low, high)| {
            let run = drives.iter().position(|one| one == drive)?;
            Some(PublishedNumber { run, position: *position, low: *low, high: *high })
        })
        .collect();
    published_curve(runs, metric, &published, name(metric.key()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::reviews;

    #[test]
    fn the_charts_of_a_review_follow_from_its_checks() {
        let reviews = reviews().unwrap();
        let review = reviews.iter().find(|review| review.id == "kingston-dc500").unwrap();
        let subjects = subjects(review);
        let find = |shown: Shown| {
            subjects.iter().find(|one| one.test == "mix" && one.shown == shown).unwrap()
        };
        let power = find(Shown::Points(Metric::PowerW));
        assert!(power.claims.contains(&"S2-4") && !power.claims.contains(&"S2-3"));
        let stated: Vec<(&str, f64)> = power.stated.iter().map(|one| (one.0, one.1)).collect();
        assert_eq!(stated, [("m", 100.0)]);
        assert!((power.stated[0].2 - 2.55).abs() < 1e-9 && (power.stated[0].3 - 3.45).abs() < 1e-9);
        let rate = find(Shown::Points(Metric::ThroughputMbS));
        assert!(rate.claims.contains(&"S2-3") && rate.stated.is_empty());
        for review in &reviews {
            assert!(!super::subjects(review).is_empty(), "{}", review.id);
            assert_eq!(pictures(review, BTreeMap::new()), []);
        }
    }
}
