//! Verification of a purge or trim: writes a known pattern to 16 places and checks that it cannot
//! be read back.
//!
//! A drive, or a layer above it, can complete a discard or a format without an effect. Results of a
//! drive that only claims to be purged would be those of a used one.

use super::PurgeTarget;
use ssdgauge_core::Bytes;
use ssdgauge_engine::{RequestError, transfer};
use ssdgauge_os::memory::Region;

/// The bytes at each place: the largest logical block in use.
pub(super) const PROBE: u64 = 4_096;
/// The number of places: enough that a purge of only a part of the drive is found.
const PLACES: u64 = 16;

/// A pattern that was written to some places of a range.
pub(super) struct Probe {
    places: Vec<u64>,
}

impl Probe {
    /// Writes the pattern to places that are spread over `span` bytes from `offset` on, each at a
    /// multiple of the discard granularity, below which the kernel leaves data in place.
    ///
    /// # Errors
    /// A write or the flush failed.
    pub(super) fn write(
        target: &PurgeTarget,
        offset: Bytes,
        span: Bytes,
    ) -> Result<Probe, RequestError> {
        let grid =
            target.device.queue_attribute("discard_granularity").and_then(|text| text.parse().ok());
        let places = places(offset.0, span.0, grid.unwrap_or(PROBE));
        for place in &places {
            transfer::write(&target.file, &pattern(*place)?, PROBE as usize, *place)?;
        }
        // What a volatile cache holds says nothing about the media.
        transfer::flush(&target.file)?;
        Ok(Probe { places })
    }

    /// Returns the bytes that were written.
    pub(super) fn written(&self) -> Bytes {
        Bytes(self.places.len() as u64 * PROBE)
    }

    /// Returns the number of places that still hold the pattern, and the number of all places.
    ///
    /// # Errors
    /// A read failed.
    pub(super) fn count_remaining(
        &self,
        target: &PurgeTarget,
    ) -> Result<(usize, usize), RequestError> {
        let mut remaining = 0;
        for place in &self.places {
            let mut expected = pattern(*place)?;
            let mut found = transfer::buffer(PROBE as usize)?;
            transfer::read(&target.file, &found, PROBE as usize, *place)?;
            remaining += usize::from(found.words_mut() == expected.words_mut());
        }
        Ok((remaining, self.places.len()))
    }
}

/// Returns multiples of `grid` whose whole unit lies within the range, spread evenly.
fn places(offset: u64, span: u64, grid: u64) -> Vec<u64> {
    let grid = grid.max(PROBE).next_multiple_of(PROBE);
    let first = offset.div_ceil(grid);
    let units = ((offset + span) / grid).saturating_sub(first);
    let count = units.min(PLACES);
    (0..count).map(|number| (first + number * units / count) * grid).collect()
}

/// Returns the pattern of a place, which no drive holds by chance: SplitMix64 with the place as
/// seed.
fn pattern(place: u64) -> Result<Region, RequestError> {
    let mut region = transfer::buffer(PROBE as usize)?;
    let mut state = place ^ 0x7373_6467_6175_6765;
    for word in region.words_mut() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        *word = mixed ^ mixed >> 27;
    }
    Ok(region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lie_on_the_grid_and_inside_the_range() {
        for (offset, span, grid) in
            [(0, 1 << 30, 512), (5_000, 100_000, 4_096), (0, 3 << 20, 1 << 20), (1, 4_096, 4_096)]
        {
            let places = places(offset, span, grid);
            for place in &places {
                assert!(place.is_multiple_of(grid.max(PROBE)), "{place} {grid}");
                assert!(*place >= offset && place + grid.max(PROBE) <= offset + span);
            }
            let mut sorted = places.clone();
            sorted.dedup();
            assert_eq!(sorted, places);
            assert_eq!(places.is_empty(), span < 2 * grid.max(PROBE) && offset > 0);
        }
    }
}
