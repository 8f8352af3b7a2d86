//! Bands: how far predictions of each kind were from what was left out.

use crate::evidence::{Evidence, Load, Measured};
use crate::kind::{Kind, only_stream};
use crate::number::Number;
use serde::{Deserialize, Serialize};
use ssdgauge_core::Bytes;
use std::collections::BTreeMap;

/// Errors of predictions, as logarithms of ratios, by kind and number.
pub(crate) type Residuals = BTreeMap<(Kind, Number), Vec<f64>>;

/// The error from which a kind is not predicted.
pub const WIDEST: f64 = 0.25;
/// Numbers below which an error is known too badly.
pub const FEWEST: usize = 3;
/// The share of errors that lie in a band.
const SHARE: f64 = 0.9;
/// No band is narrower: a number of a run has as much noise.
const NARROWEST: f64 = 0.02;

/// The error of the predictions of one number of one kind, and the loads that it was judged by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// The kind.
    pub kind: Kind,
    /// The number.
    pub number: Number,
    /// The error that nine of ten predictions do not exceed, as a share.
    pub band: f64,
    /// The median error, as a share.
    pub median: f64,
    /// Numbers that were left out and predicted.
    pub points: usize,
    /// The smallest and the largest of the loads.
    pub range: Range,
}

/// The smallest and the largest value of each property of loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Length of a request, in bytes.
    pub block_size: [f64; 2],
    /// Reads, in percent.
    pub read_percent: [f64; 2],
    /// Requests in flight, where there is no rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<[f64; 2]>,
    /// Requests a second, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<[f64; 2]>,
    /// The share of the capacity that held data, in percent.
    pub full_percent: [f64; 2],
}

impl Band {
    /// Returns whether predictions are given.
    pub fn is_validated(&self) -> bool {
        self.points >= FEWEST && self.band <= WIDEST
    }
}

/// Returns the bands of `evidence` by the residuals of the fit itself and of those with a kind left out, the worse of
/// which counts.
pub(crate) fn bands(evidence: &Evidence, own: &Residuals, left_out: &Residuals) -> Vec<Band> {
    let mut bands = Vec::new();
    for ((kind, number), errors) in left_out {
        let of_fit = own.get(&(*kind, *number)).map_or(0.0, |errors| quantile(errors, SHARE));
        let band = quantile(errors, SHARE).max(of_fit).exp_m1().max(NARROWEST);
        let median = quantile(errors, 0.5).exp_m1();
        let has = |load: &Load| {
            let has_number = load.numbers.contains_key(number)
                || (*number == Number::Rate && !load.course.is_empty());
            load.kind == Some(*kind) && has_number
        };
        let loads: Vec<(&Measured, &Load)> =
            evidence.loads().filter(|(_, load)| has(load)).collect();
        let Some(range) = Range::of(&loads, evidence.capacity) else { continue };
        let points = errors.len();
        bands.push(Band { kind: *kind, number: *number, band, median, points, range });
    }
    bands
}

/// Returns the size of an error that the `share` of further ones does not exceed: the rank of n errors counts the next
/// one too.
fn quantile(errors: &[f64], share: f64) -> f64 {
    let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let rank = (share * (sizes.len() + 1) as f64).ceil() as usize;
    sizes.get(rank.clamp(1, sizes.len().max(1)) - 1).copied().unwrap_or(f64::INFINITY)
}

impl Range {
    fn of(loads: &[(&Measured, &Load)], capacity: Bytes) -> Option<Range> {
        let streams: Vec<_> =
            loads.iter().filter_map(|(_, load)| only_stream(&load.workload)).collect();
        let full = loads.iter().map(|(test, _)| 100.0 * test.full_share(capacity)).collect();
        let ends = |values: Vec<f64>| {
            let low = values.iter().copied().min_by(f64::total_cmp)?;
            Some([low, values.iter().copied().max_by(f64::total_cmp)?])
        };
        let rates = || streams.iter().filter_map(|one| one.arrival.per_second());
        let closed = streams.iter().filter(|one| one.arrival.per_second().is_none());
        Some(Range {
            block_size: ends(streams.iter().map(|one| one.block_size.0 as f64).collect())?,
            read_percent: ends(streams.iter().map(|one| f64::from(one.read_percent)).collect())?,
            queue_depth: ends(closed.map(|one| f64::from(one.total_depth())).collect()),
            per_second: ends(rates().collect()),
            full_percent: ends(full)?,
        })
    }
}
