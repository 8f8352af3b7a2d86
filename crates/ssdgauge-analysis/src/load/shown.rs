//! The memory that the page and the exports of a run take in addition to its samples.
//!
//! A record of a step takes a hundred bytes of a file, and its rows, charts and values on a page many
//! thousands: without this account, 10 MB of small steps become 600 MB of text.

use crate::model::{RecordedTest, ReportError};
use ssdgauge_runfile::Room;

/// Bytes for each test without a measured step, and for each repetition of one. Measured, as all sums
/// here: the memory of `report` and `report --json` for 1,000 to 4,000 tests of 2 to 16 steps.
const OF_TEST: usize = 12 << 10;

/// Bytes for the charts and tables of each test with measured steps.
const OF_CHARTS: usize = 28 << 10;

/// Bytes for each measured step in them.
const OF_POINT: usize = 20 << 10;

/// Bytes for each further score of a test, and for each choice or deviation that it states.
const OF_REMARK: usize = 4 << 10;

/// How often the page has the title and the name of a test, and the label of a step.
const OF_TITLE: usize = 40;
const OF_LABEL: usize = 36;

/// The maximum number of characters of a text that are shown: the limit of `text::sanitize`.
const LONGEST_TEXT: usize = 2_000;

/// Takes from `room` what the page and the exports of `tests` need.
///
/// # Errors
///
/// [`ReportError::RunFile`] where less is left.
pub(crate) fn take(room: &mut Room, tests: &[RecordedTest]) -> Result<(), ReportError> {
    for test in tests {
        room.take(of_test(test))?;
    }
    Ok(())
}

fn of_test(recorded: &RecordedTest) -> usize {
    let repetitions = &recorded.repetitions;
    let points = repetitions.iter().map(|one| one.points.len() + one.checks.len()).max();
    let points = points.unwrap_or(0);
    let test = &repetitions[0].test;
    let remarks = test.also.len() + test.chosen.len() + test.deviations.len() + test.figures.len();
    let labels = repetitions[0].points.iter().map(|point| markup_size(&point.point.label));
    OF_TEST
        + (repetitions.len() - 1) * (1 + test.also.len()) * OF_TEST / 4
        + if points > 0 { OF_CHARTS } else { 0 }
        + points * OF_POINT
        + remarks * OF_REMARK
        + (markup_size(&test.title) + markup_size(&test.id)) * OF_TITLE
        + labels.sum::<usize>() * OF_LABEL
}

/// Returns the bytes of `text` as markup, which writes five and more for `&`, and as it is shown.
fn markup_size(text: &str) -> usize {
    let size = |character: char| match character {
        '&' | '<' | '>' | '"' | '\'' => "&quot;".len(),
        _ => character.len_utf8(),
    };
    text.chars().take(LONGEST_TEXT).map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_counts_as_it_is_escaped_and_a_long_text_as_it_is_cut() {
        assert_eq!(markup_size("a&b"), 8);
        assert_eq!(markup_size(&"&".repeat(100_000)), 6 * LONGEST_TEXT);
    }
}
