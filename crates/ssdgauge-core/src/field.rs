//! What drives in service report, by model: write amplification, drive writes per day, mean size of a write,
//! hours, wear.
//!
//! The table `field.tsv` summarizes outputs of smartctl that users of hw-probe have published; the tool
//! `field` writes it. Below five drives there is no row and no number.

use std::sync::LazyLock;

/// The source of every number of the table, as it is printed with one.
pub const SOURCE: &str =
    "linuxhw/EnterpriseDrive by hw-probe contributors, CC-BY-4.0, summarized 28 November 2026";

/// A number is of at least this many drives.
pub const LEAST_DRIVES: u32 = 5;

/// The names of the numbers: keys of columns.
pub const NUMBERS: [&str; 5] = [
    "write_amplification",
    "drive_writes_per_day",
    "mean_write_kib",
    "hours",
    "wear_percent_per_tb",
];

const TABLE: &str = include_str!("field.tsv");

/// The drives of a model, or of a family of models.
#[derive(Debug, PartialEq)]
pub struct Field {
    /// The model; with an asterisk at its end, the beginning of the models of a family.
    pub name: &'static str,
    /// Its drives.
    pub drives: u32,
    /// The numbers, in the order of [`NUMBERS`].
    pub numbers: [Option<Spread>; 5],
}

/// A number of several drives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The drives that have it.
    pub drives: u32,
    /// The number that 10 % of them do not reach.
    pub p10: f64,
    /// The number that half of them do not reach.
    pub median: f64,
    /// The number that 90 % of them do not reach.
    pub p90: f64,
}

impl Field {
    /// Returns the write amplification of these drives in words.
    pub fn write_amplification(&self) -> Option<String> {
        let Spread { drives, median, p90, .. } = self.numbers[0]?;
        let of = if self.name.ends_with('*') { "of its family" } else { "of this model" };
        Some(format!("{drives} drives {of} in service: median {median}, p90 {p90}"))
    }
}

/// Returns the drives of `model`, or else of the family with the longest name.
pub fn of_model(model: &str) -> Option<&'static Field> {
    static ROWS: LazyLock<Vec<Field>> = LazyLock::new(|| TABLE.lines().filter_map(row).collect());
    let is_of_family = |row: &&Field| {
        row.name.strip_suffix('*').is_some_and(|beginning| model.starts_with(beginning))
    };
    let of_model = ROWS.iter().find(|row| row.name == model);
    of_model.or_else(|| ROWS.iter().filter(is_of_family).max_by_key(|row| row.name.len()))
}

/// Reads a row: name, drives, and for each number `p10 median p90`, with its drives behind where they are
/// fewer; `-` for none. `None` for a line of the head.
fn row(line: &'static str) -> Option<Field> {
    let mut cells = line.split('\t');
    let name = cells.next().filter(|name| !name.starts_with('#'))?;
    let drives: u32 = cells.next()?.parse().ok()?;
    let spread = |cell: &str| {
        let mut parts = cell.split(' ');
        let mut number = || parts.next()?.parse::<f64>().ok();
        let (p10, median, p90) = (number()?, number()?, number()?);
        Some(Spread { drives: number().map_or(drives, |few| few as u32), p10, median, p90 })
    };
    let mut numbers = [None; 5];
    numbers.iter_mut().zip(cells).for_each(|(number, cell)| *number = spread(cell));
    Some(Field { name, drives, numbers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_small_names_its_source_and_has_five_drives_for_each_number() {
        assert!(TABLE.len() <= 60_000, "{} bytes", TABLE.len());
        let head: String = TABLE.lines().take_while(|line| line.starts_with('#')).collect();
        for words in ["linuxhw/EnterpriseDrive", "CC-BY-4.0", "hw-probe", "changed", "2026"] {
            assert!(head.contains(words), "{words}: {head}");
        }
        let rows: Vec<Field> = TABLE.lines().filter_map(row).collect();
        assert!(rows.len() > 200, "{} rows", rows.len());
        for Field { name, drives, numbers } in &rows {
            assert!(*drives >= LEAST_DRIVES && numbers.iter().any(Option::is_some), "{name}");
            for one in numbers.iter().flatten() {
                assert!((LEAST_DRIVES..=*drives).contains(&one.drives), "{name}");
                assert!(0.0 <= one.p10 && one.p10 <= one.median && one.median <= one.p90, "{name}");
            }
            if let Some(amplification) = numbers[0] {
                assert!(amplification.p10 >= 0.95 && amplification.p90 <= 100.0, "{name}");
            }
            let beginning = name.trim_end_matches('*');
            assert!(of_model(beginning).is_some_and(|found| found.name.starts_with(beginning)));
        }
    }

    #[test]
    fn a_model_without_a_row_has_that_of_its_family_and_a_stranger_none() {
        let row = of_model("SAMSUNG MZ7LH1T9HMLT-00005").unwrap();
        assert_eq!(row.name, "SAMSUNG MZ7LH1T9HMLT-00005");
        assert!(row.write_amplification().unwrap().contains("drives of this model in service"));
        let family = of_model("SAMSUNG MZ7LH99T9XXXX-00000").unwrap();
        assert_eq!(family.name, "SAMSUNG MZ7LH*");
        assert!(family.write_amplification().unwrap().contains("drives of its family in service"));
        assert_eq!(of_model("MODEL tlc-client"), None);
        assert_eq!(of_model(""), None);
    }
}
