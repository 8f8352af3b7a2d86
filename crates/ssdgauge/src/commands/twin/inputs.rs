//! What a twin is made from and asked.

use crate::arguments::TwinArguments;
use crate::failure::{Failure, FailureKind};
use ssdgauge_twin::{Evidence, Question, Twin};

pub(super) fn usage(text: String, hint: &str) -> Failure {
    Failure::new(FailureKind::Usage, text, hint)
}

/// Reads the runs that are named.
pub(super) fn evidence(arguments: &TwinArguments) -> Result<Evidence, Failure> {
    let runs = ssdgauge_analysis::read_all(&arguments.files)?;
    Evidence::of_runs(&runs).map_err(|error| {
        let hint = "nothing was written; name runs of one drive, of whole suites";
        Failure::new(FailureKind::Refused, error.to_string(), hint)
    })
}

/// Reads the load that is asked for.
pub(super) fn question(load: &str) -> Result<Question, Failure> {
    Question::parse(load)
        .map_err(|error| usage(error.to_string(), "separate terms by a comma and a space"))
}

/// Returns the twin whose profile is `text`, read from `name`.
pub(super) fn read(text: &str, name: &str) -> Result<Twin, Failure> {
    let hint = "`ssdgauge twin RUNS -o FILE` writes one";
    match Twin::read(text) {
        Ok(Some(twin)) => Ok(twin),
        Ok(None) => Err(usage(format!("{name} is not the profile of a twin"), hint)),
        Err(error) => Err(usage(format!("{name}: {error}"), hint)),
    }
}
