//! The proof that a drive forgot: known data at a few places, and a look at what became of it.

use super::PurgeTarget;
use ssdgauge_core::Bytes;
use ssdgauge_os::memory::Region;
use std::io;

/// The bytes at each place: the largest block in use.
pub(super) const PROBE: u64 = 4_096;
/// The most places.
const PLACES: u64 = 16;

/// Known data at a few places of a range.
pub(super) struct Probe {
    places: Vec<u64>,
}

impl Probe {
    /// Writes known data at places that are spread over `span` bytes from `offset` on, each on the
    /// grid on which the kernel trims.
    pub(super) fn plant(target: &PurgeTarget, offset: Bytes, span: Bytes) -> io::Result<Probe> {
        let grid =
            target.place.queue_attribute("discard_granularity").and_then(|text| text.parse().ok());
        let places = places(offset.0, span.0, grid.unwrap_or(PROBE));
        for place in &places {
            let data = pattern(*place)?;
            let written = ssdgauge_os::file_io::write_durably_at(
                &target.file,
                data.at(0),
                PROBE as usize,
                *place,
            )?;
            if written != PROBE as usize {
                return Err(io::Error::from_raw_os_error(libc::ENOSPC));
            }
        }
        Ok(Probe { places })
    }

    /// Returns the bytes that were written.
    pub(super) fn written(&self) -> Bytes {
        Bytes(self.places.len() as u64 * PROBE)
    }

    /// Returns at how many places the data is still there, and the number of places.
    pub(super) fn look(&self, target: &PurgeTarget) -> io::Result<(usize, usize)> {
        let mut left = 0;
        for place in &self.places {
            let mut expected = pattern(*place)?;
            let mut found = Region::new(PROBE as usize)?;
            let read =
                ssdgauge_os::file_io::read_at(&target.file, found.at(0), PROBE as usize, *place)?;
            if read != PROBE as usize {
                return Err(io::Error::from_raw_os_error(libc::ENODEV));
            }
            left += usize::from(found.words_mut() == expected.words_mut());
        }
        Ok((left, self.places.len()))
    }
}

/// Returns places on the grid whose whole unit lies within the range, spread evenly.
fn places(offset: u64, span: u64, grid: u64) -> Vec<u64> {
    let grid = grid.max(PROBE).next_multiple_of(PROBE);
    let first = offset.div_ceil(grid);
    let units = ((offset + span) / grid).saturating_sub(first);
    let count = units.min(PLACES);
    (0..count).map(|number| (first + number * units / count) * grid).collect()
}

/// Data that no drive holds by chance: a walk of SplitMix64 that begins with the place.
fn pattern(place: u64) -> io::Result<Region> {
    let mut region = Region::new(PROBE as usize)?;
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
