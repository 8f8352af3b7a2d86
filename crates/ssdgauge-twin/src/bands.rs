//! Bands: how far predictions of each kind were from what was left out.

use crate::evidence::{Evidence, Load, Measured};
use crate::kind::{Kind, only_stream};
use crate::number::Number;
use serde::{Deserialize, Serialize};
use ssdgauge_core::Bytes;
use ssdgauge_statistics::student;
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
const NARROWEST: f64 = 0.03;
/// The same of a tail: a percentile of 99 rests on a hundredth of the 4,000 requests that a load is repeated with, so that
/// where latencies are exponential its standard error is 3.4 %.
const NARROWEST_TAIL: f64 = 0.06;

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

/// Returns the bands of `evidence` by the residuals of fits without a part of the loads, or without a kind, and by the
/// twin's `own`, the wider of which count: what a fit misses that it has seen, it misses elsewhere.
pub(crate) fn bands(evidence: &Evidence, left_out: &Residuals, own: &Residuals) -> Vec<Band> {
    let mut bands = Vec::new();
    for ((kind, number), errors) in left_out {
        let narrowest = if number.is_tail() { NARROWEST_TAIL } else { NARROWEST };
        let of_fit = own.get(&(*kind, *number)).map_or(0.0, |errors| width(errors));
        let median = median(errors).exp_m1();
        let has = |load: &Load| load.kind == Some(*kind) && load.is_judged_by(*number);
        let loads: Vec<(&Measured, &Load)> =
            evidence.loads().filter(|(_, load)| has(load)).collect();
        let Some(range) = Range::of(&loads, evidence.capacity) else { continue };
        bands.push(Band {
            kind: *kind,
            number: *number,
            band: width(errors).max(of_fit).max(narrowest),
            median,
            points: errors.len(),
            range,
        });
    }
    bands
}

/// Returns the error, as a share, that nine of ten further predictions do not exceed: their mean square times Student's
/// factor for as many degrees of freedom, because a bias counts as an error; never less than the largest of `errors`.
fn width(errors: &[f64]) -> f64 {
    let count = errors.len().max(1) as u32;
    let square = errors.iter().map(|error| error * error).sum::<f64>() / f64::from(count);
    let largest = errors.iter().fold(0.0, |largest: f64, error| largest.max(error.abs()));
    (student::quantile_beyond(1.0 - SHARE, count) * square.sqrt()).max(largest).exp_m1()
}

/// Returns the median size of `errors`.
pub(crate) fn median(errors: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(sizes.len() / 2).copied().unwrap_or(f64::INFINITY)
}

impl Range {
    pub(crate) fn of(loads: &[(&Measured, &Load)], capacity: Bytes) -> Option<Range> {
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
