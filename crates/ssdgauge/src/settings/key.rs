//! The keys of the configuration.

/// A key: an option that a user sets once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// The folder of run files.
    Library,
    /// The editor's notes of reports.
    Notes,
    /// The folder of runs that a report compares with.
    Cohort,
    /// The power meters of runs.
    Meters,
    /// When output is coloured.
    Colour,
    /// The bytes that a run may write at most.
    MaxWrites,
}

impl Key {
    pub(crate) const ALL: [Key; 6] =
        [Key::Library, Key::Notes, Key::Cohort, Key::Meters, Key::Colour, Key::MaxWrites];

    /// Returns its name in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Key::Library => "library",
            Key::Notes => "notes",
            Key::Cohort => "cohort",
            Key::Meters => "meters",
            Key::Colour => "colour",
            Key::MaxWrites => "max_writes",
        }
    }

    /// Returns the option that precedes it.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Key::Library => "--library",
            Key::Notes => "report --notes",
            Key::Cohort => "report --cohort",
            Key::Meters => "--power",
            Key::Colour => "--color",
            Key::MaxWrites => "--max-writes",
        }
    }

    /// Returns the environment variable that precedes the file; those of colours are conventions of their own.
    pub(crate) fn variable(self) -> Option<&'static str> {
        match self {
            Key::Library => Some("SSDGAUGE_LIBRARY"),
            Key::Notes => Some("SSDGAUGE_NOTES"),
            Key::Cohort => Some("SSDGAUGE_COHORT"),
            Key::Meters => Some("SSDGAUGE_METERS"),
            Key::Colour => None,
            Key::MaxWrites => Some("SSDGAUGE_MAX_WRITES"),
        }
    }
}
