//! Tables of many runs in one file: which rows a run has in it, and the names of such files.

use crate::path::segment;
use crate::table::{Cell, Table};
use std::collections::BTreeSet;

/// The most runs in one file: it is rewritten as a whole where one of them is exported again. Chosen: the
/// histograms of as many runs with some dozen steps take about 100 MB of memory.
pub const MOST_RUNS: usize = 500;

/// The begin and the end of the name of such a file. No run has a name with `+`.
const BEGIN: &str = "runs+";
const END: &str = ".parquet";

/// Returns the name of file `number`, from 1.
pub fn combined_name(number: usize) -> String {
    format!("{BEGIN}{number}{END}")
}

/// Returns the number of the file `name`; `None` for the file of a single run.
pub fn combined_number(name: &str) -> Option<usize> {
    let number = name.strip_prefix(BEGIN)?.strip_suffix(END)?;
    number.parse().ok().filter(|parsed| combined_name(*parsed) == name)
}

/// The rows of many runs of one table. A run is named as its own file is, without the suffix.
#[derive(Clone, Debug)]
pub struct Combined {
    table: Table,
}

impl Combined {
    /// Takes the rows of `table`.
    pub fn new(table: Table) -> Combined {
        Combined { table }
    }

    /// Returns the runs with rows in it.
    pub fn runs(&self) -> BTreeSet<String> {
        self.table.rows.iter().map(|row| name(row)).collect()
    }

    /// Takes the rows of the run `name` out.
    pub fn remove(&mut self, names: &BTreeSet<String>) {
        self.table.rows.retain(|row| !names.contains(&name(row)));
    }

    /// Adds the rows of `table`.
    pub fn add(&mut self, table: Table) {
        self.table.rows.extend(table.rows);
    }

    /// Returns the table, ordered by run: equal runs give equal files.
    pub fn into_table(mut self) -> Table {
        self.table.rows.sort_by_cached_key(|row| name(row));
        self.table
    }
}

/// Returns the name of the run of a row, which is in the first column.
fn name(row: &[Cell]) -> String {
    match row.first() {
        Some(Cell::Text(id)) => segment(id),
        Some(
            Cell::Null | Cell::Boolean(_) | Cell::Integer(_) | Cell::Real(_) | Cell::Integers(_),
        )
        | None => segment(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    fn runs(ids: &[&str]) -> Table {
        let mut table = rows::empty("run").unwrap();
        for id in ids {
            let mut row = vec![Cell::Null; table.columns.len()];
            row[0] = Cell::from(*id);
            table.push(row);
        }
        table
    }

    #[test]
    fn a_run_is_replaced_by_name_and_the_order_of_addition_does_not_show() {
        let mut one = Combined::new(runs(&["b", "a/x", "b"]));
        assert_eq!(one.runs().into_iter().collect::<Vec<_>>(), ["a%2Fx", "b"]);
        one.remove(&["b".to_owned()].into());
        one.add(runs(&["b"]));
        let other = Combined::new(runs(&["b", "a/x"])).into_table();
        assert_eq!(one.into_table().rows, other.rows);
    }

    #[test]
    fn no_run_has_the_name_of_a_file_of_many() {
        for number in [1, 12, 100] {
            assert_eq!(combined_number(&combined_name(number)), Some(number));
        }
        for name in ["runs+01.parquet", "runs+x.parquet", "runs-1.parquet", "a.parquet"] {
            assert_eq!(combined_number(name), None, "{name}");
        }
        assert_eq!(combined_number(&format!("{}.parquet", segment("runs+1"))), None);
    }
}
