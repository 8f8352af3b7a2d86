//! A number of a test with what its interval comes from, as a text that a later site reads again.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ssdgauge_core::{ConfidenceInterval, Headline, Metric, WithinRun};

/// A headline, as [`Headline`] has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Headline", deny_unknown_fields)]
struct StoredHeadline {
    metric: Metric,
    value: Option<f64>,
    protocol: Option<f64>,
    n: u64,
    #[serde(with = "StoredInterval")]
    interval: ConfidenceInterval,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ConfidenceInterval", rename_all = "kebab-case", deny_unknown_fields)]
enum StoredInterval {
    WithinRun(#[serde(with = "StoredWithinRun")] WithinRun),
    BetweenRepetitions { low: f64, high: f64 },
    OfCounters { low: f64, high: f64 },
    OfTrials { low: f64, high: f64 },
    StillSettling,
    TooFewSeconds,
    RestsOnFewSeconds,
    Undefined,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "WithinRun", deny_unknown_fields)]
struct StoredWithinRun {
    mean: f64,
    low: f64,
    #[serde(serialize_with = "finite", deserialize_with = "or_infinite")]
    high: f64,
    cut: usize,
    n: usize,
    of_what_was_seen: bool,
}

/// JSON has no infinite numbers: they are written as null.
fn finite<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Some(*value).filter(|value| value.is_finite()).serialize(serializer)
}

fn or_infinite<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

/// A headline that can be stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Number(#[serde(with = "StoredHeadline")] pub Headline);
