//! Leads that no interval decides, of values that are near each other.

/// The words for such a lead.
pub const TOO_CLOSE: &str = "too close to call";

/// The words where a lead has no interval: nothing says how close it is.
pub const UNKNOWN: &str = "order unknown, no interval";

/// Values that differ by this factor are not close, decided or not. Chosen, as for the words of a lead.
pub const CLOSE: f64 = 1.5;

/// Returns whether two values are close: without an interval a lead by [`CLOSE`] is not decided either, but not close.
pub fn are_close(a: f64, b: f64) -> bool {
    let ratio = a / b;
    ratio < CLOSE && 1.0 < CLOSE * ratio
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenfold_lead_is_not_close_in_either_order() {
        assert!(are_close(100.0, 149.0) && are_close(149.0, 100.0));
        assert!(!are_close(178.0, 1_853.0) && !are_close(1_853.0, 178.0));
        assert!(!are_close(f64::NAN, 1.0) && !are_close(0.0, 0.0));
    }
}
