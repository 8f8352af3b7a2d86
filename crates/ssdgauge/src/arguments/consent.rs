//! The consent of the owner of a drive.

use clap::Args;

/// What the user permits for a drive, by its serial.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConsentOptions {
    /// Confirm that the drive with this serial may be overwritten; one for each drive.
    #[arg(long, value_name = "SERIAL")]
    pub(crate) confirm: Vec<String>,
    /// Allow erasing existing file systems and data on the drive with this serial.
    #[arg(long, value_name = "SERIAL")]
    pub(crate) erase: Vec<String>,
    /// Accept that uses of the drive with this serial may be hidden, as in a container.
    #[arg(long, value_name = "SERIAL")]
    pub(crate) confined: Vec<String>,
}

impl ConsentOptions {
    /// Returns the serial of `given` that is `expected`, else the first: a wrong one is refused by name.
    pub(crate) fn named<'a>(given: &'a [String], expected: Option<&str>) -> Option<&'a str> {
        let matching = given.iter().find(|serial| Some(serial.as_str()) == expected);
        matching.or(given.first()).map(String::as_str)
    }
}
