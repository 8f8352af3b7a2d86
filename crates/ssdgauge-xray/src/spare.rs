//! Spare area: a drive that was filled once takes random overwrites without collection until the flash beyond
//! its data is used up (write cliff).

use crate::answer::{Identified, Value, refuse};
use crate::cache::{Course, first_drop};

/// The least half width of the interval, as a share of the spare area. Chosen: superblocks that are open or
/// kept free, and the fast cache.
const LEAST: f64 = 0.15;

/// Returns the flash beyond the data in bytes, from the course of random writes to a full drive.
///
/// # Errors
/// The rate shows no lasting drop.
pub fn find(overwrites: &Course) -> Identified {
    match first_drop(overwrites) {
        Ok(drop) => {
            Ok(Value::within(drop.bytes.value, 0.5 * (drop.bytes.high - drop.bytes.low), LEAST))
        }
        Err(reason) => refuse(format!("no write cliff: {}", reason.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_before_the_cliff_are_the_spare_area() {
        let bins = [vec![(0.1, 1e8); 100], vec![(0.1, 2e7); 200]].concat();
        let found = find(&Course { bins }).unwrap();
        assert!(found.contains(1e10), "{found:?}");
        let level = find(&Course { bins: vec![(0.1, 1e8); 300] }).unwrap_err();
        assert!(level.0.starts_with("no write cliff"), "{level:?}");
    }
}
