//! The list of a gate: the states that claims had, `ID = STATE` in each line.

use crate::judge::{Judgement, State};
use thiserror::Error;

/// Why the list of a gate cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GateError {
    /// A line is not `ID = STATE`.
    #[error("line {line} is not ID = STATE: '{text}'")]
    Line {
        /// The number of the line.
        line: usize,
        /// Its text.
        text: String,
    },
    /// A line names a claim that does not exist, or was not judged here.
    #[error("line {line}: claim '{id}' was not judged")]
    Unknown {
        /// The number of the line.
        line: usize,
        /// The id.
        id: String,
    },
}

/// Returns a sentence for each claim whose state differs from the one that `text` lists. Empty lines
/// and lines that begin with `#` are comments; claims that are not listed may have any state.
///
/// # Errors
/// A line that cannot be read, or names an unknown claim.
pub fn changes(text: &str, judgements: &[Judgement<'_>]) -> Result<Vec<String>, GateError> {
    let mut changes = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = || GateError::Line { line: number + 1, text: line.to_owned() };
        let (id, key) = line.split_once('=').ok_or_else(wrong)?;
        let listed = State::from_key(key.trim().trim_matches('"')).ok_or_else(wrong)?;
        let found = judgements.iter().find(|one| one.claim.id == id.trim());
        let id = id.trim();
        let found =
            found.ok_or_else(|| GateError::Unknown { line: number + 1, id: id.to_owned() })?;
        if found.state != listed {
            let (was, is) = (listed.words(), found.state.words());
            changes.push(format!("{id} is listed as '{was}' and is '{is}': {}", found.why));
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::reviews;
    use crate::judge::judge;
    use std::collections::BTreeMap;

    #[test]
    fn a_changed_state_is_named_and_an_unlisted_one_is_not() {
        let reviews = reviews().unwrap();
        let judgements = judge(&reviews, &BTreeMap::new());
        let found = |text: &str| changes(text, &judgements);
        assert_eq!(found("# none\n\nS2-4 = not-run\n"), Ok(vec![]));
        let changed = found("S2-4 = holds\nS3-1 = \"cannot-be-modelled\"\n").unwrap();
        assert_eq!(changed.len(), 1);
        assert!(
            changed[0].starts_with("S2-4 is listed as 'holds' and is 'not run'"),
            "{changed:?}"
        );
    }

    #[test]
    fn a_list_that_cannot_be_read_is_refused_with_its_line() {
        for (text, line) in [("S2-4", 1), ("\nS2-4 = held", 2), ("# a\n#b\nX-1 = holds", 3)] {
            let error = changes(text, &[]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}")), "{error}");
        }
    }
}
