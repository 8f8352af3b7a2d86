//! What the page of a batch of drives leads with: which of them stand out, and the state of each.
//!
//! The judgement is made elsewhere and handed in as words; nothing here changes a number of a run.

/// The lead of the page of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The headline.
    pub title: String,
    /// The sentences below it.
    pub sentences: Vec<String>,
    /// The drives, those that stand out first.
    pub drives: Vec<BatchDrive>,
}

/// One drive of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchDrive {
    /// Its label or serial.
    pub name: String,
    /// Its model; empty where there is no run.
    pub model: String,
    /// Its page, as a path from the page of the batch.
    pub page: Option<String>,
    /// What was found.
    pub state: BatchState,
    /// The reasons; empty where there is nothing to say.
    pub reasons: Vec<String>,
}

/// What was found about a drive of a batch, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BatchState {
    /// There is no run, or it cannot be read.
    NoRun,
    /// Its run is not complete.
    Unfinished,
    /// Slower than the other drives of its model.
    Slow,
    /// Worse from run to run.
    Worse,
    /// Not judged, with the reason.
    NotJudged,
    /// Judged, and nothing was found.
    Unsuspicious,
}

impl BatchState {
    /// Returns the word of the table.
    pub fn name(self) -> &'static str {
        match self {
            BatchState::NoRun => "no run",
            BatchState::Unfinished => "unfinished",
            BatchState::Slow => "slow",
            BatchState::Worse => "worse",
            BatchState::NotJudged => "not judged",
            BatchState::Unsuspicious => "nothing found",
        }
    }
}
