//! Why an output of fio is not imported.

/// The maximum number of groups of jobs, each of which is a test of the plan.
pub(crate) const MAX_GROUPS: usize = 1_000;

/// Why an output of fio is not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Not JSON of fio.
    #[error("it is not an output of fio in JSON: {0}")]
    NoOutput(String),
    /// Another version.
    #[error("it was written by {0}, and the output of fio 3 alone is known")]
    Version(String),
    /// Results of several machines.
    #[error("it holds results of several machines (fio --client)")]
    Clients,
    /// No job has results, with the reasons.
    #[error("it has no result: {0}")]
    NoResults(String),
    /// No job, or more than a run file holds.
    #[error("it holds {0} groups of jobs; 1 to {MAX_GROUPS} are accepted")]
    Groups(usize),
    /// A job without the latencies that its histogram logs divide.
    #[error("job '{0}' has no latency bins, which a histogram log needs")]
    NoBins(String),
    /// Numbers that contradict each other.
    #[error("job '{job}' contradicts itself: {what}")]
    Contradiction {
        /// The name of the job.
        job: String,
        /// The contradiction.
        what: String,
    },
    /// A job that no plan can hold.
    #[error("job '{job}' has no place in a plan: {what}")]
    Unfit {
        /// The name of the job.
        job: String,
        /// The reason.
        what: String,
    },
}

impl ImportError {
    /// Returns the error of a job whose numbers contradict each other.
    pub(crate) fn contradiction(job: &str, what: &str) -> ImportError {
        ImportError::Contradiction { job: job.into(), what: what.into() }
    }

    /// Returns the error of a job that no plan can hold.
    pub(crate) fn unfit(job: &str, what: impl Into<String>) -> ImportError {
        ImportError::Unfit { job: job.into(), what: what.into() }
    }
}
