//! How many requests took how long in each part of a step: what a picture of time against latency is made of.

use crate::units::packed::{Packer, Unpacker};
use ssdgauge_statistics::histogram::Histogram;
use std::sync::LazyLock;

/// The rows of a decade of latency.
pub const ROWS_PER_DECADE: u8 = 10;

/// The rows, from 1 µs to 100 s.
const ROWS: u8 = 80;

/// The limit of columns; a longer step has columns of several seconds. Chosen: a page is some 1,000 pixels wide.
const MOST_COLUMNS: u32 = 480;

/// The maximum number of cells of a finished map.
const MOST_CELLS: usize = MOST_COLUMNS as usize * ROWS as usize;

/// The requests of one part of a step whose latencies lie in one tenth of a decade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LatencyCell {
    /// The part of the step, from 0.
    pub column: u16,
    /// The tenth of a decade, from 0, which begins at 1 µs and also holds all below.
    pub row: u8,
    /// The requests.
    pub requests: u32,
}

/// The latencies of a step over its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyMap {
    seconds_per_column: u32,
    cells: Vec<LatencyCell>,
    /// Where the cells of the columns begin that are not united yet.
    open: usize,
}

impl Default for LatencyMap {
    fn default() -> LatencyMap {
        LatencyMap { seconds_per_column: 1, cells: Vec::new(), open: 0 }
    }
}

impl LatencyMap {
    /// Returns the seconds of each column.
    pub fn seconds_per_column(&self) -> u32 {
        self.seconds_per_column
    }

    /// Returns the cells with a request, by column and row.
    pub fn cells(&self) -> &[LatencyCell] {
        &self.cells
    }

    /// Returns the memory of the cells, in bytes.
    pub fn size(&self) -> usize {
        self.cells.capacity() * size_of::<LatencyCell>()
    }

    /// Adds the requests of second number `second`.
    pub(crate) fn add(&mut self, second: u32, latency: &Histogram) {
        while second / self.seconds_per_column >= MOST_COLUMNS {
            self.halve();
        }
        if self.seconds_per_column > 1 && second.is_multiple_of(self.seconds_per_column) {
            self.unite();
            self.open = self.cells.len();
        }
        // Below `MOST_COLUMNS`.
        let column = (second / self.seconds_per_column) as u16;
        let mut cell: Option<LatencyCell> = None;
        let mut row = 0;
        // Values ascend, so that the row only grows, and no bucket of any second needs a logarithm.
        for (nanos, requests) in latency.highest_values() {
            while row < ROWS - 1 && nanos >= BEGINNINGS[usize::from(row) + 1] {
                row += 1;
            }
            let requests = u32::try_from(requests).unwrap_or(u32::MAX);
            match &mut cell {
                Some(cell) if cell.row == row => {
                    cell.requests = cell.requests.saturating_add(requests);
                }
                Some(_) | None => {
                    self.cells.extend(cell);
                    cell = Some(LatencyCell { column, row, requests });
                }
            }
        }
        self.cells.extend(cell);
    }

    /// Returns the same map with its cells in order, each once.
    pub(crate) fn finished(mut self) -> LatencyMap {
        // A second that came late follows columns that were united without it.
        self.open = 0;
        self.unite();
        self.cells.shrink_to_fit();
        self
    }

    pub(crate) fn pack(&self, packer: &mut Packer) {
        packer.number(u64::from(self.seconds_per_column));
        packer.number(self.cells.len() as u64);
        let mut before = 0;
        for cell in &self.cells {
            packer.number(u64::from(cell.column - before));
            packer.number(u64::from(cell.row));
            packer.number(u64::from(cell.requests));
            before = cell.column;
        }
    }

    pub(crate) fn unpack(unpacker: &mut Unpacker<'_>) -> Option<LatencyMap> {
        let seconds_per_column = u32::try_from(unpacker.number()?).ok().filter(|n| *n > 0)?;
        let n = unpacker.count()?;
        let mut cells: Vec<LatencyCell> = Vec::with_capacity(n.min(MOST_CELLS));
        let mut column = 0;
        for _ in 0..n {
            column += unpacker.at_most(u64::from(MOST_COLUMNS))?;
            let row = unpacker.at_most(u64::from(ROWS - 1))? as u8;
            let requests = u32::try_from(unpacker.number()?).ok()?;
            let cell = LatencyCell { column: u16::try_from(column).ok()?, row, requests };
            let is_next = |last: &LatencyCell| (last.column, last.row) < (cell.column, cell.row);
            if column >= u64::from(MOST_COLUMNS) || !cells.last().is_none_or(is_next) {
                return None;
            }
            cells.push(cell);
        }
        Some(LatencyMap { seconds_per_column, cells, open: 0 })
    }

    /// Makes each column twice as long.
    fn halve(&mut self) {
        self.seconds_per_column *= 2;
        for cell in &mut self.cells {
            cell.column /= 2;
        }
        self.open = 0;
        self.unite();
    }

    /// Unites the cells of the columns that are open: those before them stay as they are.
    fn unite(&mut self) {
        let mut cells = self.cells.split_off(self.open);
        cells.sort_unstable_by_key(|cell| (cell.column, cell.row));
        cells.dedup_by(|next, kept| {
            let is_same = (next.column, next.row) == (kept.column, kept.row);
            if is_same {
                kept.requests = kept.requests.saturating_add(next.requests);
            }
            is_same
        });
        self.cells.append(&mut cells);
    }
}

/// The lowest latency of each row in nanoseconds, by [`row`].
static BEGINNINGS: LazyLock<[u64; ROWS as usize]> = LazyLock::new(|| {
    std::array::from_fn(|wanted| {
        let (mut below, mut within) = (0, u64::MAX);
        while below < within {
            let middle = below + (within - below) / 2;
            match usize::from(row(middle)) >= wanted {
                true => within = middle,
                false => below = middle + 1,
            }
        }
        within
    })
});

/// Returns the row of a latency of `nanos`.
fn row(nanos: u64) -> u8 {
    let tenths = (nanos.max(1) as f64 / 1e3).log10() * f64::from(ROWS_PER_DECADE);
    // A float becomes the nearest whole number of the range.
    (tenths.floor().max(0.0) as u8).min(ROWS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(latencies: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::default();
        for (nanos, n) in latencies {
            (0..*n).for_each(|_| histogram.record(*nanos));
        }
        histogram
    }

    #[test]
    fn a_request_is_in_the_tenth_of_its_decade() {
        assert_eq!(
            [500, 1_000, 1_300, 10_500, 1_050_000, u64::MAX].map(row),
            [0, 0, 1, 10, 30, 79]
        );
    }

    #[test]
    fn a_row_begins_where_its_logarithm_does() {
        assert_eq!((BEGINNINGS[0], BEGINNINGS[10], BEGINNINGS[30]), (0, 10_000, 1_000_000));
        let mut map = LatencyMap::default();
        let latencies: Vec<(u64, u64)> = (0..64).map(|power| (1 << power, 1)).collect();
        let latency = of(&latencies);
        map.add(0, &latency);
        let of_rows = |map: &LatencyMap| -> Vec<(u8, u32)> {
            map.cells().iter().map(|cell| (cell.row, cell.requests)).collect()
        };
        let mut by_logarithm: Vec<(u8, u32)> = Vec::new();
        for (nanos, requests) in latency.highest_values() {
            match by_logarithm.last_mut() {
                Some((last, sum)) if *last == row(nanos) => *sum += requests as u32,
                Some(_) | None => by_logarithm.push((row(nanos), requests as u32)),
            }
        }
        assert_eq!(of_rows(&map), by_logarithm);
    }

    #[test]
    fn seconds_stand_side_by_side() {
        let mut map = LatencyMap::default();
        map.add(0, &of(&[(10_500, 3), (10_600, 4), (1_050_000, 1)]));
        map.add(1, &of(&[(10_500, 9)]));
        let cell = |column, row, requests| LatencyCell { column, row, requests };
        let map = map.finished();
        assert_eq!(map.cells(), [cell(0, 10, 7), cell(0, 30, 1), cell(1, 10, 9)]);
    }

    #[test]
    fn a_long_step_has_longer_columns_and_loses_no_request() {
        let mut map = LatencyMap::default();
        for second in 0..100_000 {
            map.add(second, &of(&[(10_500, 1), (1_050_000, u64::from(second == 99_999))]));
        }
        // One that came late.
        map.add(5, &of(&[(10_500, 2)]));
        let map = map.finished();
        assert!(map.cells().is_sorted_by(|a, b| (a.column, a.row) < (b.column, b.row)));
        // The smallest power of two with which 100,000 s fit into 480 columns.
        assert_eq!(map.seconds_per_column(), 256);
        let requests: u64 = map.cells().iter().map(|cell| u64::from(cell.requests)).sum();
        assert_eq!(requests, 100_003);
        assert_eq!(map.cells().last().map(|cell| (cell.column, cell.row)), Some((390, 30)));
        assert!(map.size() < 16_384, "{}", map.size());
    }
}
