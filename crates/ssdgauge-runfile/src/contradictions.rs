//! Samples of a step that contradict each other. The checksum of a record shows that it was damaged, not that
//! somebody changed it, or that a program wrote what cannot be.
//!
//! Only what is exact is checked: counts, sums, and values that no meter gives. A slow or an odd drive
//! contradicts nothing.

use ssdgauge_core::rounded::{count, number};
use ssdgauge_core::{
    Action, Bytes, Direction, Finding, FindingKind, Interval, Nanos, PowerScope, Reading, Severity,
    Step, Stream,
};
use std::collections::BTreeMap;

/// More power than any meter may read, in watts: the end of the range of a host at the wall.
const MOST_WATTS: f64 = 20_000.0;
/// Less power than any meter may read, in watts: the offset of the meter of a host.
const LEAST_WATTS: f64 = -0.5;

/// The contradictions of one step: what the first of each kind is, and how many there are.
#[derive(Clone, Debug, Default)]
pub struct Contradictions {
    counts: Option<(String, u64)>,
    bytes: Option<(String, u64)>,
    lengths: Option<(String, u64)>,
    readings: Option<(String, u64)>,
    /// The lengths of the intervals of the open record, for each stream and direction.
    sums: BTreeMap<(u16, usize), u64>,
}

impl Contradictions {
    /// Checks one interval of `step`.
    pub(crate) fn interval(&mut self, step: &Step, interval: &Interval) {
        let &Interval { second, stream, direction, ios, bytes, .. } = interval;
        let sum = self.sums.entry((stream, direction as usize)).or_default();
        *sum = sum.saturating_add(interval.length.0);
        let latencies = interval.latency.count();
        if latencies != ios {
            let words = || {
                format!(
                    "second {second} counts {} requests and {} latencies",
                    count(ios),
                    count(latencies)
                )
            };
            note(&mut self.counts, words);
        }
        // The requests of a replay have the lengths of its records.
        let Action::Run { workload, .. } = &step.action else { return };
        let Some(of_stream) = workload.streams.get(usize::from(stream)) else { return };
        let (least, most) = sizes(of_stream, direction);
        let (low, high) = (ios.saturating_mul(least.0), ios.saturating_mul(most.0));
        if !(low..=high).contains(&bytes) {
            let words = || {
                format!(
                    "second {second} counts {} requests of {} and {} bytes",
                    count(ios),
                    of_stream.size_words(),
                    count(bytes)
                )
            };
            note(&mut self.bytes, words);
        }
    }

    /// Checks a reading of a record that lasted `elapsed`. Returns whether it can be a measured value.
    pub(crate) fn reading(&mut self, reading: &Reading, elapsed: Nanos) -> bool {
        let seconds = elapsed.as_secs_f64();
        let is = |quantity: fn(PowerScope) -> &'static str| {
            PowerScope::ALL.into_iter().any(|scope| quantity(scope) == reading.quantity)
        };
        let range = if is(PowerScope::quantity) {
            LEAST_WATTS..=MOST_WATTS
        } else if is(PowerScope::energy_quantity) {
            0.0..=MOST_WATTS * seconds
        } else {
            return true;
        };
        let is_possible = range.contains(&reading.value);
        if !is_possible {
            let words = || {
                let value = match reading.value.is_finite() {
                    true => number(reading.value),
                    false => reading.value.to_string(),
                };
                format!("a reading of {} is {value}", reading.quantity)
            };
            note(&mut self.readings, words);
        }
        is_possible
    }

    /// Ends a record that lasted `elapsed`, where its intervals are seconds of it.
    pub(crate) fn end_record(&mut self, elapsed: Option<Nanos>) {
        let longest = std::mem::take(&mut self.sums).into_values().max();
        let (Some(elapsed), Some(sum)) = (elapsed, longest) else { return };
        if sum > elapsed.0 {
            let words = || {
                // Exact: both may be equal to three digits.
                let (sum, elapsed) = (count(sum), count(elapsed.0));
                format!("the seconds of the step last {sum} ns together, and the step {elapsed} ns")
            };
            note(&mut self.lengths, words);
        }
    }

    /// Returns whether nothing contradicts anything.
    pub(crate) fn is_empty(&self) -> bool {
        [&self.counts, &self.bytes, &self.lengths, &self.readings].into_iter().all(Option::is_none)
    }

    /// Returns a finding for each kind of contradiction.
    pub fn findings(&self) -> Vec<Finding> {
        let of_samples = [&self.counts, &self.bytes, &self.lengths].into_iter().flatten();
        let invalid = of_samples.map(|(first, n)| {
            Finding::new(
                FindingKind::Contradictory,
                Severity::Invalid,
                format!("the run file contradicts itself: {}", with_count(first, *n)),
                "do not use the results of this step: what the file counts was not measured",
            )
        });
        let left_out = self.readings.as_ref().map(|(first, n)| {
            Finding::new(
                FindingKind::Contradictory,
                Severity::Warning,
                format!("{}, which no meter reads; left out", with_count(first, *n)),
                "do not use the power of this step",
            )
        });
        invalid.chain(left_out).collect()
    }
}

/// Returns the smallest and the largest length of a request of `stream` in `direction`.
fn sizes(stream: &Stream, direction: Direction) -> (Bytes, Bytes) {
    let most = stream.bytes_each(direction);
    (most.min(stream.smallest_size()), most)
}

fn note(place: &mut Option<(String, u64)>, words: impl FnOnce() -> String) {
    // Words of the first one only: a prepared file can have millions of them.
    place.get_or_insert_with(|| (words(), 0)).1 += 1;
}

fn with_count(first: &str, n: u64) -> String {
    match n {
        1 => first.to_owned(),
        more => format!("{first} ({} such records)", count(more)),
    }
}
