//! Spare area: a drive that was filled once takes random overwrites without collection until the flash beyond
//! its data is used up (write cliff).

use crate::answer::{Identified, Value, refuse};
use crate::cache::{Course, first_drop};
use ssdgauge_core::Bytes;

/// The minimum half width of the interval, as a share of the spare area. Chosen: superblocks that are open or
/// kept free, and the fast cache.
const LEAST: f64 = 0.15;
/// The minimum ratio of the rates before and after the cliff, as a share of the write amplification that
/// collection begins with. Chosen: below what a drive whose rate the host limits shows.
const LEAST_CLIFF: f64 = 0.2;

/// Returns the flash beyond the capacity in bytes, from the course of random writes to a drive of `capacity`
/// bytes that is full but for `trimmed` ones.
///
/// # Errors
/// The rate shows no lasting drop.
pub fn find(overwrites: &Course, capacity: f64, trimmed: f64) -> Identified {
    match first_drop(overwrites) {
        Ok(drop) if drop.bytes.value <= 2.0 * trimmed => refuse(format!(
            "the write cliff comes after {}: most of it was trimmed",
            Bytes(drop.bytes.value as u64).about()
        )),
        // Superblocks that were filled at once and overwritten at random for a share f of their data keep
        // about exp(-f) of it, so that collection writes 1 / (1 - exp(-f)) bytes for each byte of the host. The
        // end of a cache that the fill did not show is a smaller drop.
        Ok(drop)
            if drop.before / drop.after
                < LEAST_CLIFF / (1.0 - (-drop.bytes.value / capacity).exp()) =>
        {
            refuse(format!(
                "the rate drops to a {:.1}th after {}, less than where collection begins",
                drop.before / drop.after,
                Bytes(drop.bytes.value as u64).about()
            ))
        }
        Ok(drop) => {
            let half = 0.5 * (drop.bytes.high - drop.bytes.low);
            Ok(Value::within(drop.bytes.value - trimmed, half, LEAST))
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
        let found = find(&Course { bins: bins.clone() }, 1e11, 0.0).unwrap();
        assert!(found.contains(1e10), "{found:?}");
        let found = find(&Course { bins: bins.clone() }, 1e11, 2e9).unwrap();
        assert!(found.contains(8e9), "{found:?}");
        // A small drop is not a cliff of a spare area of a hundredth.
        assert!(find(&Course { bins: bins.clone() }, 1e12, 0.0).is_err());
        assert!(find(&Course { bins }, 1e11, 6e9).is_err());
        let level = find(&Course { bins: vec![(0.1, 1e8); 300] }, 1e11, 0.0).unwrap_err();
        assert!(level.0.starts_with("no write cliff"), "{level:?}");
    }
}
