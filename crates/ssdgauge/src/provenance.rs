//! What a test takes from elsewhere than its source: values that were chosen, and deviations.

use ssdgauge_core::{Chosen, Deviation};
use ssdgauge_watch::terminal;

/// Returns a line for each of `chosen` and `deviations`; their texts begin in column `indent`.
pub(crate) fn lines(chosen: &[Chosen], deviations: &[Deviation], indent: usize) -> String {
    let width = indent - 2;
    let chosen = chosen.iter().map(|Chosen { key, value }| ("chosen", format!("{key} = {value}")));
    let deviations = deviations
        .iter()
        .map(|Deviation { key, value, reason }| ("differs", format!("{key} = {value} ({reason})")));
    let line =
        |(name, text): (&str, String)| format!("  {name:<width$}{}\n", terminal::line(&text));
    chosen.chain(deviations).map(line).collect()
}
