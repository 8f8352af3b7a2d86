//! Colours that people with any colour vision tell apart, on light and dark ground.

use crate::analysis::drive_slots::OTHERS;

/// The colours of the six slots of drives on white, and the grey of all others.
///
/// Chosen so that any two of the seven differ by at least 20 (CIE76) and 12 (CIEDE2000) for full
/// protanopia, deuteranopia and tritanopia (simulated by the matrices of Machado, Oliveira and
/// Fernandes, 2009); a test computes the distances.
pub(crate) const PALETTE_LIGHT: [&str; OTHERS + 1] =
    ["#1a4ede", "#c4441c", "#06835a", "#db9106", "#842464", "#25a9f4", "#b9bdc3"];

/// The same slots on a dark ground, by the same rule.
pub(crate) const PALETTE_DARK: [&str; OTHERS + 1] =
    ["#496ee4", "#e75f36", "#0cc68b", "#eddc73", "#ea7bc9", "#bcf3fb", "#4b525c"];

#[cfg(test)]
mod tests;
