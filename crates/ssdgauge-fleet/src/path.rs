//! The place of a table of a run among those of others.

use crate::table::Table;
use ssdgauge_analysis::Run;

/// The value of a partition without a name, as Hive has it.
const UNNAMED: &str = "__HIVE_DEFAULT_PARTITION__";

/// The longest name, in bytes.
const MOST_BYTES: usize = 120;

/// Returns the path of `table` of `run` below the folder of all runs, such as
/// `value/suite=quick/drive=Disk%20X/7f3a….parquet`. A run that is exported again has the same path.
pub fn path(table: &Table, run: &Run) -> String {
    let suite = segment(&run.head.plan.suite.id);
    let drive = segment(&ssdgauge_analysis::sanitize_device(run.head.drive.name()));
    format!("{}/suite={suite}/drive={drive}/{}.parquet", table.name, segment(&run.head.id))
}

/// Returns `text` as one segment of a path: other characters than letters, digits and `._-` become
/// `%` and their bytes in hexadecimal, as Hive, Spark and DuckDB read them.
fn segment(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    // A name of dots would be another folder, a hidden file is skipped by many programs. File systems
    // limit a name to 255 bytes, its suffix included.
    let mut name = String::new();
    for (number, byte) in text.bytes().enumerate() {
        let is_leading_dot = number == 0 && byte == b'.';
        let encoded = match plain(byte) && !is_leading_dot {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        };
        if name.len() + encoded.len() > MOST_BYTES {
            break;
        }
        name += &encoded;
    }
    if name.is_empty() { UNNAMED.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_one_name_in_its_folder() {
        assert_eq!(segment("SSD 970 EVO/1TB"), "SSD%20970%20EVO%2F1TB");
        assert_eq!(segment("..").as_str(), "%2E.");
        assert_eq!(segment(""), UNNAMED);
        assert_eq!(segment("a=b%"), "a%3Db%25");
        assert!(segment(&"ü".repeat(500)).len() <= MOST_BYTES);
        assert!(!segment("../../etc").contains('/'));
    }
}
