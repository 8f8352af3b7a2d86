//! Charts of block characters: values over time as rows of text.

/// A column of a chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// A step begins here.
    Boundary,
    /// A time without a value.
    Empty,
    /// The value of a time.
    Value(f64),
}

/// How several values of one column become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// Their mean.
    Mean,
    /// The highest.
    Highest,
}

/// Returns `cells` in at most `width` columns: each has the same number of cells. A boundary stays where
/// it begins a column, and is left out within one.
pub(super) fn reduced(cells: &[Cell], width: usize, reduce: Reduce) -> Vec<Cell> {
    if cells.len() <= width || width == 0 {
        return cells.to_vec();
    }
    let each = cells.len().div_ceil(width);
    cells.chunks(each).map(|chunk| one(chunk, reduce)).collect()
}

fn one(chunk: &[Cell], reduce: Reduce) -> Cell {
    let values = chunk.iter().filter_map(|cell| match cell {
        Cell::Value(value) => Some(*value),
        Cell::Boundary | Cell::Empty => None,
    });
    let (sum, count, highest) = values.fold((0.0, 0u32, f64::MIN), |(sum, count, high), value| {
        (sum + value, count + 1, high.max(value))
    });
    match (count, reduce) {
        (0, _) => chunk.first().copied().unwrap_or(Cell::Empty),
        (count, Reduce::Mean) => Cell::Value(sum / f64::from(count)),
        (_, Reduce::Highest) => Cell::Value(highest),
    }
}

/// Returns the highest value of `cells`.
pub fn highest(cells: &[Cell]) -> f64 {
    cells.iter().fold(0.0, |most, cell| match cell {
        Cell::Value(value) => most.max(*value),
        Cell::Boundary | Cell::Empty => most,
    })
}

/// Returns `cells` as `height` rows, the uppermost first, on an axis from zero to `most`. A value of zero
/// is a dot, a boundary a line, and a time without a value a space.
pub fn rows(cells: &[Cell], height: usize, most: f64, unicode: bool) -> Vec<String> {
    let levels: &[char] = match unicode {
        true => &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        false => &['_', '.', ':', '-', '=', '+', '*', '#'],
    };
    let (boundary, zero) = if unicode { ('│', '·') } else { ('|', '0') };
    let eighths = |value: f64| {
        let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        (share * (height * levels.len()) as f64).ceil() as usize
    };
    let letter = |cell: &Cell, row: usize| match cell {
        Cell::Boundary => boundary,
        Cell::Empty => ' ',
        Cell::Value(value) => match eighths(*value).saturating_sub(row * levels.len()) {
            0 if row == 0 => zero,
            0 => ' ',
            level => levels[level.min(levels.len()) - 1],
        },
    };
    let row = |row: usize| cells.iter().map(|cell| letter(cell, row)).collect();
    (0..height).rev().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Cell::{Boundary, Empty, Value};

    #[test]
    fn a_chart_has_eighths_of_a_row_and_starts_at_zero() {
        let cells = [Boundary, Value(8.0), Value(4.0), Value(1.0), Value(0.0), Empty];
        assert_eq!(rows(&cells, 1, 8.0, true), ["│█▄▁· "]);
        assert_eq!(rows(&cells, 2, 8.0, true), ["│█    ", "│██▂· "]);
        assert_eq!(rows(&cells, 1, 8.0, false), ["|#-_0 "]);
        assert_eq!(rows(&[Value(0.0)], 1, 0.0, true), ["·"]);
    }

    #[test]
    fn many_seconds_share_a_column_by_their_mean_or_by_the_highest() {
        let cells = [Value(1.0), Value(3.0), Boundary, Value(5.0), Empty, Boundary, Value(2.0)];
        let mean = reduced(&cells, 4, Reduce::Mean);
        assert_eq!(mean, [Value(2.0), Value(5.0), Empty, Value(2.0)]);
        let highest = reduced(&cells, 4, Reduce::Highest);
        assert_eq!(highest, [Value(3.0), Value(5.0), Empty, Value(2.0)]);
        assert_eq!(reduced(&cells, 7, Reduce::Mean), cells);
    }
}
