//! The consent of the owner of a drive.

use super::values::parse_size;
use clap::Args;
use ssdgauge_core::Bytes;

/// What the user permits: for a drive by its serial, and how much is written.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConsentOptions {
    /// Confirm that the drive with this serial may be overwritten; one for each drive.
    #[arg(long, value_name = "SERIAL")]
    pub(crate) confirm: Vec<String>,
    /// Allow erasing existing file systems and data on the drive with this serial.
    #[arg(long, value_name = "SERIAL")]
    pub(crate) erase: Vec<String>,
    /// Accept that uses of the drive with this serial may be hidden, as in a container.
    #[arg(long, value_name = "SERIAL", hide_short_help = true)]
    pub(crate) confined: Vec<String>,
    /// Bytes that the run may write at most, such as 2TB: a run that is expected to write more is
    /// refused, and one that would is stopped. Without a terminal, a run that writes more than 100 GB to
    /// a scratch file needs it.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_writes: Option<Bytes>,
}

impl ConsentOptions {
    /// Returns the serial of `given` that is `expected`, else the first: a wrong one is refused by name.
    pub(crate) fn named<'a>(given: &'a [String], expected: Option<&str>) -> Option<&'a str> {
        let matching = given.iter().find(|serial| Some(serial.as_str()) == expected);
        matching.or(given.first()).map(String::as_str)
    }
}
