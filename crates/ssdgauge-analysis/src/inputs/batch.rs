//! The page of many drives: which of them stand out, by how much, and in which measures.
//!
//! The judgement is made elsewhere and handed in; nothing here changes a number of a run.

/// Everything that the page of a batch shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// The line above the headline, such as the number of drives and their model.
    pub kick: String,
    /// The headline.
    pub title: String,
    /// The sentences below it.
    pub sentences: Vec<String>,
    /// What to do next, and the command that does it.
    pub next: Option<(String, String)>,
    /// Whether the drives are virtual ones.
    pub is_model: bool,
    /// The measures, the one with the clearest outlier first.
    pub strips: Vec<BatchStrip>,
    /// The drives, those that stand out first.
    pub drives: Vec<BatchDrive>,
    /// How drives are judged, a paragraph each.
    pub method: Vec<String>,
}

/// One measure of all drives that have it.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchStrip {
    /// The measure, such as `Random read, QD32: 99th percentile latency of reads`.
    pub title: String,
    /// The value in the middle of the drives, with its unit.
    pub median: String,
    /// Whether several drives that are not slow are beyond the bound.
    pub scatters: bool,
    /// The excess that one healthy drive of a thousand has.
    pub bound: f64,
    /// The drives, from the fastest to the slowest.
    pub dots: Vec<BatchDot>,
}

/// One drive in a strip.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchDot {
    /// Its place among the drives of the batch.
    pub drive: usize,
    /// How much longer its latency is than expected, as a share: 0.1 is a tenth longer.
    pub excess: f64,
    /// Its value, with its unit.
    pub value: String,
    /// Whether it is beyond its bound, and its drive one that stands out.
    pub is_slow: bool,
}

/// One drive of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchDrive {
    /// Its name on this page: the end of its serial that no other drive shares, or its label.
    pub name: String,
    /// The label of its run, where that is not its name.
    pub label: Option<String>,
    /// Its model; empty without a run.
    pub model: String,
    /// Its run file; `None` where there is none.
    pub file: Option<String>,
    /// Its own page, as a path from the page of the batch; `None` where there is none.
    pub page: Option<String>,
    /// What was found.
    pub state: BatchState,
    /// What its runs observed of it that no speed outweighs, as predicates such as `failed requests`.
    pub did: Vec<&'static str>,
    /// The reasons; empty where there is nothing to say.
    pub reasons: Vec<String>,
    /// Whether it is slower than its peers, whatever else was found.
    pub is_slow: bool,
    /// The steps beyond their bound, and the steps that have one.
    pub beyond: (usize, usize),
}

/// What was found about a drive of a batch, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BatchState {
    /// Its run failed.
    Failed,
    /// It failed requests, stood still, lost data or warned of its health.
    Faults,
    /// The run is missing or cannot be read.
    NoRun,
    /// Its run is not complete.
    Unfinished,
    /// Slower than the other drives of its model.
    Slow,
    /// Heat or its link held it back, unlike most others.
    HeldBack,
    /// Worse from run to run.
    Worse,
    /// Its results must not be used.
    Invalid,
    /// Something outside of the drive changed most of its results.
    Disturbed,
    /// Not judged, with the reason.
    NotJudged,
    /// Judged, and nothing was found.
    Unsuspicious,
}

impl BatchState {
    /// Returns the word of the table.
    pub fn name(self) -> &'static str {
        match self {
            BatchState::Failed => "failed",
            BatchState::Faults => "faults",
            BatchState::NoRun => "no run",
            BatchState::Unfinished => "unfinished",
            BatchState::Slow => "slow",
            BatchState::HeldBack => "held back",
            BatchState::Worse => "worse",
            BatchState::Invalid => "invalid results",
            BatchState::Disturbed => "disturbed run",
            BatchState::NotJudged => "not judged",
            BatchState::Unsuspicious => "within the batch",
        }
    }

    /// Returns whether a reader has to look at the drive.
    pub fn stands_out(self) -> bool {
        self < BatchState::NotJudged
    }
}
