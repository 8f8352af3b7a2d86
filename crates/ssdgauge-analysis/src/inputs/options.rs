//! Options of a report.

use crate::drives::peers::Background;
use crate::inputs::notes::Notes;
use crate::inputs::specification::Specification;
use crate::quick::cohort::Cohort;
use ssdgauge_xray::CheckedCard;

/// A run that goes on, as it stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// The time between two states of the page, in seconds.
    pub every_s: u64,
    /// When this state was read, in milliseconds since 1970 (UTC).
    pub unix_ms: i64,
    /// The step that runs now, such as `step 3 of 14`, its name, and its last second, each where it is known.
    pub now: Vec<String>,
    /// Megabytes per second of the last seconds of that step, with the number of each second.
    pub speed: Vec<(u32, f64)>,
    /// Why the run cannot be followed any longer.
    pub lost: Option<String>,
}

/// An X-ray of the drive of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveXray {
    /// The index of the run.
    pub run: usize,
    /// When it began, in milliseconds since 1970 (UTC).
    pub started_unix_ms: i64,
    /// What it found.
    pub card: CheckedCard,
}

/// Options of a page and its figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOptions {
    /// The title; made of the drives' names where there is none.
    pub title: Option<String>,
    /// The index of the run whose drive is highlighted in rankings.
    pub highlight: Option<usize>,
    /// The claims of makers about the drives.
    pub specifications: Vec<Specification>,
    /// Whether the runs are of one drive and compared by their labels.
    pub compare_labels: bool,
    /// What an editor adds.
    pub notes: Option<Notes>,
    /// The drives that a quick run is compared with; those of the program where there is none.
    pub cohort: Option<Cohort>,
    /// The drives that a single run of another suite is compared with.
    pub background: Option<Background>,
    /// X-rays of drives of the runs, at most one for each drive.
    pub xrays: Vec<DriveXray>,
    /// Whether the page has the script that enlarges charts over time and sorts the answer.
    pub script: bool,
    /// What the rest of an unfinished run takes, such as `2 h 48 min left, 610 GB to write`.
    pub rest: Option<String>,
    /// Where the page will be found, an absolute address.
    pub address: Option<String>,
    /// The name of the share image, which is found next to the page.
    pub share_image: Option<String>,
    /// How the only run stands, where it goes on.
    pub progress: Option<Progress>,
}
