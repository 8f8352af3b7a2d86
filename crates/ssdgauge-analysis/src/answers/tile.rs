//! A number of a drive among those of other drives, in words.

use crate::drives::peers::{Peers, Standing};
use crate::drives::run_facts::Number;
use crate::text::number;
use ssdgauge_core::{Family, Metric};

/// A number among those of other drives.
#[derive(Clone, Debug)]
pub struct Tile {
    /// The number.
    pub number: Number,
    /// Those of the other drives, the best first; empty where they are too few.
    pub others: Vec<f64>,
    /// How it compares; `None` where they are too few.
    pub standing: Option<Standing>,
}

/// Returns `number` among those of `peers`.
pub(crate) fn tile(number: Number, peers: Option<&Peers>) -> Tile {
    let standing = peers.and_then(|peers| peers.standing(&number));
    let mut others = match (standing, peers) {
        (Some(_), Some(peers)) => peers.values(&number.key).to_vec(),
        (_, _) => Vec::new(),
    };
    others.sort_by(f64::total_cmp);
    if number.metric.more_is_better() {
        others.reverse();
    }
    Tile { number, others, standing }
}

impl Tile {
    /// Returns its value and its unit in words.
    pub fn words(&self) -> (String, String) {
        let words = number::measured(self.number.value, self.number.metric);
        match words.rsplit_once(['\u{a0}', ' ']) {
            Some((value, unit)) => (value.to_owned(), unit.to_owned()),
            None => (words, String::new()),
        }
    }

    /// Returns how it compares in words: `faster than 6 of 8, ties with 1, slower than 1`.
    pub fn count(&self) -> Option<String> {
        Some(count(&self.standing?, self.number.metric))
    }
}

/// Returns how a value of `metric` compares in words.
pub(crate) fn count(standing: &Standing, metric: Metric) -> String {
    let Standing { ahead_of, level, of, .. } = *standing;
    let (better, worse) = comparatives(metric);
    let parts = [(better, ahead_of), ("ties with", level), (worse, of - ahead_of - level)];
    let parts = parts.iter().filter(|(_, count)| *count > 0).enumerate();
    let words: Vec<String> = parts
        .map(|(place, (words, count))| match place {
            0 => format!("{words} {count} of {of}"),
            _ => format!("{words} {count}"),
        })
        .collect();
    words.join(", ")
}

/// Returns the words of a better and of a worse value of `metric`.
fn comparatives(metric: Metric) -> (&'static str, &'static str) {
    match metric.family() {
        Family::Rate | Family::Duration => ("faster than", "slower than"),
        Family::Latency | Family::Stall | Family::Power | Family::Cost => {
            ("lower than", "higher than")
        }
        Family::Efficiency | Family::Queue | Family::Spare | Family::Trim | Family::Judgement => {
            ("higher than", "lower than")
        }
    }
}
