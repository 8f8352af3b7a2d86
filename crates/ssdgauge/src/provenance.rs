//! What a test takes from elsewhere than its source: values that were chosen, and deviations.

use ssdgauge_core::{Chosen, Deviation};

/// Returns a line for each of `chosen` and `deviations`; their texts begin in column `indent`.
pub(crate) fn lines(chosen: &[Chosen], deviations: &[Deviation], indent: usize) -> String {
    let width = indent - 2;
    let chosen = chosen
        .iter()
        .map(|Chosen { key, value }| format!("  {:<width$}{key} = {value}\n", "chosen"));
    let deviations = deviations.iter().map(|Deviation { key, value, reason }| {
        format!("  {:<width$}{key} = {value} ({reason})\n", "differs")
    });
    chosen.chain(deviations).collect()
}
