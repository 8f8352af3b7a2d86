//! Effective spare area: the flash beyond the data that explains the write amplification of steady uniform
//! random writes.

use crate::answer::{Identified, Value, refuse};
use ssdgauge_statistics::spare_area::from_write_amplification;

/// The minimum half width of the interval, as a share of the spare area. Chosen: the closed form and collectors differ
/// by some per cent, and superblocks that are open or kept free count as well.
const LEAST: f64 = 0.04;
/// The pages of the smallest superblock that the interval allows. Chosen: a block of one die of current flash has
/// more.
const LEAST_PAGES: u32 = 512;
/// The minimum write amplification by collection: below it, some per cent of it are a multiple of the spare area.
const LEAST_AMPLIFICATION: f64 = 1.1;
/// The widest interval of a spare area, as the ratio of its ends. Chosen.
const MOST_RATIO: f64 = 2.0;

/// What was written at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Written {
    /// The bytes of the range; the rest of the drive is trimmed.
    pub data: f64,
    /// The bytes of the drive.
    pub capacity: f64,
    /// The bytes of its fast cache at most; 0 without one.
    pub cache: f64,
}

/// Returns the spare area in percent of the capacity, from the write amplification of uniform random writes.
///
/// Pages that pass a fast cache are programmed once more there, and those that are overwritten in it never reach other
/// flash: at most the share of the data that it holds. So collection has between one less of the write amplification
/// and somewhat more than all of it.
///
/// # Errors
/// Collection writes too little, or a cache leaves the spare area open.
pub fn find(amplification: &Value, written: Written) -> Identified {
    let has_cache = written.cache > 0.0;
    let passing = if has_cache { 1.0 } else { 0.0 };
    let reaches = 1.0 - (written.cache / written.data).min(1.0);
    if amplification.low - passing < LEAST_AMPLIFICATION || reaches <= 0.0 {
        return refuse(match has_cache {
            true => format!(
                "the fast cache may explain the write amplification of {:.2}",
                amplification.value
            ),
            false => format!(
                "a write amplification of {:.2} hardly depends on the spare area",
                amplification.value
            ),
        });
    }
    let percent = |wa: f64, pages| {
        let share = from_write_amplification(wa, pages).unwrap_or(0.0);
        ((1.0 + share) * written.data / written.capacity - 1.0) * 100.0
    };
    let low = percent(amplification.high / reaches, Some(LEAST_PAGES));
    let high = percent(amplification.low - passing, None);
    if low <= 0.0 || high > MOST_RATIO * low {
        return refuse(format!(
            "a write amplification of {:.2} allows {:.1} to {high:.1} % of spare area",
            amplification.value,
            low.max(0.0)
        ));
    }
    let value = match has_cache {
        true => (low * high).sqrt(),
        false => percent(amplification.value, None),
    };
    Ok(Value { value, low: low.min(value * (1.0 - LEAST)), high: high.max(value * (1.0 + LEAST)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(cache: f64) -> Written {
        Written { data: 1e12, capacity: 1e12, cache }
    }

    #[test]
    fn published_write_amplifications_lead_back_to_their_spare_areas() {
        for (wa, percent) in [(7.817, 7.0), (4.846, 12.0), (2.481, 28.0)] {
            let found = find(&Value::exact(wa), written(0.0)).unwrap();
            assert!((found.value - percent).abs() < 0.1 && found.contains(percent), "{found:?}");
            assert!(found.width() < 0.1, "{found:?}");
        }
        assert!(find(&Value::exact(1.05), written(0.0)).is_err());
    }

    #[test]
    fn a_trimmed_end_of_the_drive_is_not_a_spare_area_of_its_own() {
        // 28 % of the data is 28 % × 0.98 of the capacity, less the trimmed part.
        let part = Written { data: 0.98e12, ..written(0.0) };
        let found = find(&Value::exact(2.481), part).unwrap();
        assert!((found.value - 25.44).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn a_cache_widens_the_interval_to_both_of_its_ends() {
        let found = find(&Value::exact(6.65 + 0.5), written(2e10)).unwrap();
        // Write amplifications of 6.15 and 7.15 by collection.
        assert!(found.contains(9.1) && found.contains(7.5) && !found.contains(11.0), "{found:?}");
        assert!(find(&Value::exact(2.0), written(2e10)).unwrap_err().0.contains("cache"));
    }
}
