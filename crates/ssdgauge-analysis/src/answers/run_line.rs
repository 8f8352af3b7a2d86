//! A run in one line of a list: what it shows, and its grade.

use crate::answers::one_drive;
use crate::findings::run_outcome;
use crate::findings::trust;
use crate::model::Run;
use crate::quick::quick_look;
use crate::text::case::capital;

/// Returns what `run` shows, without its drive: how it ended where it is not simply complete, otherwise its first
/// result.
pub fn headline(run: &Run) -> String {
    // A list is plain text: the spaces that hold a number and its unit together on a page are not.
    capital(&words(run).replace('\u{a0}', " "))
}

fn words(run: &Run) -> String {
    if let Some(proof) = &run.proof {
        return proof.describe();
    }
    if run.head.plan.suite.id == ssdgauge_runfile::XRAY_SUITE {
        // Its result is inferred from all of its experiments each time it is shown.
        return run.head.plan.suite.title.clone();
    }
    if let Some(account) = run_outcome::account(run, None) {
        return account.title;
    }
    if quick_look::is_quick(&run.head.plan.suite.id) {
        return quick_look::headline(run);
    }
    one_drive::of_run(run, false).title
}

/// Returns the letter of the grade of `run`; `None` where it has no result to grade.
pub fn grade(run: &Run) -> Option<&'static str> {
    let graded = run_outcome::has_grade(run).then(|| trust::of_runs([run])).flatten();
    graded.map(|trust| trust.grade.letter())
}
