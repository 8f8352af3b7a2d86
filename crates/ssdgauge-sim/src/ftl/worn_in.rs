//! The worn-in state: superblocks filled as endless uniform random writes would leave them.
//!
//! It replaces hours of virtual writes. The mean field gives the number of valid pages of each
//! superblock; chance selects the pages.

use crate::ftl::map::Map;
use crate::ftl::media::Media;
use crate::ftl::valid_pages::{Superblock, UNMAPPED};
use crate::mean_field::MeanField;
use ssdgauge_core::Random;

/// Rewrites of each superblock in the mean field. Its write amplification no longer moves then: the
/// unit tests of `mean_field` reach the formula within 0.6 % after six.
const REWRITES: usize = 8;

/// The random stream of the placement.
const PLACEMENT: u64 = 0xa6e;

/// Entries of the table that inverts the cumulative distribution of pages over superblocks: one
/// load finds the superblock of a random number, where a search through sums takes sixteen.
const INVERSE_ENTRIES: usize = 1 << 20;

/// Brings empty `media` to the state after endless uniform random writes, in zero time.
pub(crate) fn wear_in(media: &mut Media, seed: u64) {
    let size = media.geometry.superblock_pages;
    let superblocks = media.full_superblocks();
    let pages = f64::from(media.geometry.user_pages);
    let mut field = MeanField::new(superblocks, f64::from(size), pages);
    field.settle(REWRITES);
    let taken: Vec<Superblock> =
        std::iter::from_fn(|| media.map.take_free()).take(superblocks).collect();
    let mut random = Random::new(seed, PLACEMENT);
    let sizes = (size, media.geometry.map_unit_pages);
    populate(&mut media.map, &taken, &field.populations(), sizes, &mut random);
}

/// How far a superblock is filled.
struct Filling {
    filled: u32,
    /// Stale slots that are due.
    stale_due: f64,
    /// Stale slots for each valid one.
    stale_per_valid: f64,
}

/// Distributes all pages, in mapping units, at random over `superblocks` in proportion to `populations`,
/// spreads stale slots between them, and closes the superblocks. `sizes` are the slots of a superblock and
/// the pages of a mapping unit.
fn populate(
    map: &mut Map,
    superblocks: &[Superblock],
    populations: &[f64],
    (size, unit_pages): (u32, u32),
    random: &mut Random,
) {
    let inverse = inverse_distribution(populations);
    // Units of several pages do not fill every slot: a tenth of the stale slots follows at the end, so that
    // there is room for each of them.
    let spread = if unit_pages > 1 { 0.9 } else { 1.0 };
    let mut fillings: Vec<Filling> = populations
        .iter()
        .map(|population| Filling {
            filled: 0,
            stale_due: 0.0,
            stale_per_valid: (f64::from(size) / population - 1.0) * spread,
        })
        .collect();
    // A stale slot names a page that lies in another superblock. Candidates are the last page, and
    // the last one before it that lies elsewhere.
    let mut recent = [(0, UNMAPPED); 2];
    for first in (0..map.host_pages()).step_by(unit_pages as usize) {
        let pages = unit_pages.min(map.host_pages() - first);
        let index = loop {
            let number = random.below(INVERSE_ENTRIES as u64);
            let index = usize::from(inverse[number as usize]);
            if fillings[index].filled + pages <= size {
                break index;
            }
        };
        let superblock = superblocks[index];
        let filling = &mut fillings[index];
        (0..pages).for_each(|page| map.write(first + page, superblock, filling.filled + page));
        filling.filled += pages;
        filling.stale_due += filling.stale_per_valid * f64::from(pages);
        if recent[0].1 != superblock {
            recent[1] = recent[0];
        }
        recent[0] = (first + pages - 1, superblock);
        while filling.stale_due >= 1.0 && filling.filled < size {
            filling.stale_due -= 1.0;
            map.write_stale(superblock, filling.filled, recent[1].0);
            filling.filled += 1;
        }
    }
    // In ascending order of their valid pages, which is from the oldest to the youngest: collection
    // in FIFO order takes them in the order of closing.
    for (superblock, filling) in superblocks.iter().zip(fillings) {
        let stale = if recent[0].1 == *superblock { recent[1].0 } else { recent[0].0 };
        (filling.filled..size).for_each(|slot| map.write_stale(*superblock, slot, stale));
        map.close(*superblock);
    }
}

/// Returns a table whose entries are indices of `populations`, each as often as its share.
fn inverse_distribution(populations: &[f64]) -> Vec<u16> {
    let all: f64 = populations.iter().sum();
    let mut inverse = Vec::with_capacity(INVERSE_ENTRIES);
    let mut sum = 0.0;
    for (index, population) in populations.iter().enumerate() {
        sum += population;
        let end = (sum / all * INVERSE_ENTRIES as f64).round() as usize;
        inverse.resize(end.clamp(inverse.len(), INVERSE_ENTRIES), index as u16);
    }
    inverse.resize(INVERSE_ENTRIES, populations.len() as u16 - 1);
    inverse
}
