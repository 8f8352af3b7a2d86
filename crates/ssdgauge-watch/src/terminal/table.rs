//! Tables that fit the terminal: columns are shortened by rule, and the last one is folded.

use super::fold;
use textwrap::core::display_width;

/// The columns between two cells.
const GAP: usize = 2;
/// The narrowest last column next to the others; below it, its text has lines of its own.
const NARROWEST: usize = 20;
/// The indent of such lines.
const INDENT: usize = 4;

/// What happens to a column where the table is wider than the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It is printed in full: numbers and serials.
    Whole,
    /// It is cut down to this width, before any column is omitted.
    Cut(usize),
    /// It is omitted; the rightmost first.
    Omit,
    /// It is folded. The last column only.
    Fold,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The word above it; empty for none.
    pub head: &'static str,
    /// Whether its cells end at the right edge.
    pub is_number: bool,
    /// What becomes of cells that are too long.
    pub fit: Fit,
}

impl Column {
    /// Returns a column of texts, which begin at its left edge.
    pub const fn text(head: &'static str, fit: Fit) -> Column {
        Column { head, is_number: false, fit }
    }

    /// Returns a column of numbers, which end at its right edge.
    pub const fn number(head: &'static str, fit: Fit) -> Column {
        Column { head, is_number: true, fit }
    }
}

/// Returns the heading and then each of `rows` in lines of at most `width` columns, each with a final
/// line break.
pub fn rows(columns: &[Column], rows: &[Vec<String>], width: usize) -> Vec<String> {
    let heads = columns.iter().map(|column| column.head.to_owned()).collect();
    let all: Vec<&Vec<String>> = std::iter::once(&heads).chain(rows).collect();
    let widths = widths(columns, &all, width);
    all.into_iter().map(|row| lines_of(columns, row, &widths, width)).collect()
}

/// Returns the width of each column; `None` for an omitted one.
fn widths(columns: &[Column], rows: &[&Vec<String>], width: usize) -> Vec<Option<usize>> {
    let natural = |index: usize| rows.iter().map(|row| display_width(&row[index])).max();
    let mut widths: Vec<Option<usize>> = (0..columns.len()).map(natural).collect();
    let taken = |widths: &[Option<usize>]| {
        let sum: usize = widths.iter().flatten().map(|width| width + GAP).sum();
        let folded = columns.last().is_some_and(|last| last.fit == Fit::Fold);
        let last = widths.last().copied().flatten().filter(|_| folded).unwrap_or(0);
        sum.saturating_sub(GAP + last.saturating_sub(NARROWEST))
    };
    for (index, column) in columns.iter().enumerate() {
        let Fit::Cut(least) = column.fit else { continue };
        let excess = taken(&widths).saturating_sub(width);
        widths[index] = widths[index].map(|own| own.saturating_sub(excess).max(least.min(own)));
    }
    for index in (0..columns.len()).rev() {
        if columns[index].fit == Fit::Omit && taken(&widths) > width {
            widths[index] = None;
        }
    }
    widths
}

fn lines_of(columns: &[Column], row: &[String], widths: &[Option<usize>], width: usize) -> String {
    let mut line = String::new();
    let mut below = String::new();
    for ((column, cell), own) in columns.iter().zip(row).zip(widths) {
        let Some(own) = *own else { continue };
        if column.fit == Fit::Fold {
            let begin = display_width(&line);
            if width.saturating_sub(begin) >= NARROWEST.min(display_width(cell)) {
                line.push_str(cell);
                return format!("{}\n", fold::lines(&line, begin, width).join("\n").trim_end());
            }
            let indented = format!("{}{cell}", " ".repeat(INDENT));
            below = format!("{}\n", fold::lines(&indented, INDENT, width).join("\n"));
            continue;
        }
        let cell = fold::cut(cell, own);
        let space = " ".repeat(own.saturating_sub(display_width(&cell)));
        let (before, after) = if column.is_number { (&*space, "") } else { ("", &*space) };
        line.push_str(&format!("{before}{cell}{after}{}", " ".repeat(GAP)));
    }
    format!("{}\n{below}", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::text("drive", Fit::Whole),
        Column::number("size", Fit::Omit),
        Column::text("model", Fit::Cut(6)),
        Column::text("state", Fit::Fold),
    ];

    fn drawn(width: usize) -> String {
        let row = ["nvme0n1", "1.00 TB", "Sample N10 of a long name", "in use: it is mounted at /"];
        rows(&COLUMNS, &[row.map(str::to_owned).to_vec()], width).concat()
    }

    #[test]
    fn a_table_is_shortened_by_rule_and_its_last_column_is_folded() {
        assert_eq!(
            drawn(80),
            "drive       size  model                      state\n\
             nvme0n1  1.00 TB  Sample N10 of a long name  in use: it is mounted at /\n"
        );
        assert_eq!(
            drawn(60),
            "drive       size  model                 state\n\
             nvme0n1  1.00 TB  Sample N10 of a lon…  in use: it is\n\
             \x20                                       mounted at /\n"
        );
        assert_eq!(
            drawn(40),
            "drive    model   state\n\
             nvme0n1  Sampl…  in use: it is mounted\n\
             \x20                at /\n"
        );
    }
}
