//! The headline of the page of many drives: what was observed of drives, then which are slow, then what is missing.

use ssdgauge_analysis::{BatchDrive, BatchState};
use ssdgauge_core::rounded::count_of;

/// What drives did that is said in a headline; more kinds are `had faults`.
const MOST_KINDS: usize = 3;

/// Returns the headline of `drives`, of which `compared` were compared with each other.
pub(super) fn title(drives: &[BatchDrive], compared: usize) -> String {
    let of_state = |state| names(drives, |drive| drive.state == state);
    let failed = names(drives, |one| one.state == BatchState::Failed && one.did.is_empty());
    let without =
        names(drives, |one| matches!(one.state, BatchState::NoRun | BatchState::Unfinished));
    let mut parts: Vec<String> = observed(drives).into_iter().collect();
    parts.extend(some(&failed, "the run of {} failed", "the runs of {} failed"));
    let is_first = parts.is_empty();
    parts.push(slow(drives, compared, is_first));
    parts.extend(some(&of_state(BatchState::Worse), "{} has become worse", "{} have become worse"));
    let words = ["the results of {} must not be used"; 2];
    parts.extend(some(&of_state(BatchState::Invalid), words[0], words[1]));
    let words = ["the run of {} was disturbed", "the runs of {} were disturbed"];
    parts.extend(some(&of_state(BatchState::Disturbed), words[0], words[1]));
    let words = ["{} has no complete run", "{} have no complete run"];
    parts.extend(some(&without, words[0], words[1]));
    parts.join("; ")
}

/// Returns what the runs of drives observed of them, such as `bay6 failed requests`; `None` where they observed nothing.
fn observed(drives: &[BatchDrive]) -> Option<String> {
    let with = || drives.iter().filter(|drive| !drive.did.is_empty());
    let mut did: Vec<&str> = Vec::new();
    for one in with().flat_map(|drive| &drive.did) {
        if !did.contains(one) {
            did.push(one);
        }
    }
    let names: Vec<&str> = with().map(|drive| drive.name.as_str()).collect();
    match names.as_slice() {
        [] => None,
        [one] if did.len() <= MOST_KINDS => Some(format!("{one} {}", joined(&did, "and"))),
        [one] => Some(format!("{one} had faults")),
        many => {
            let did =
                if did.len() <= MOST_KINDS { joined(&did, "or") } else { "had faults".into() };
            let all = drives.len();
            Some(format!("{} of {all} drives {did}: {}", many.len(), listed(many)))
        }
    }
}

/// Returns which drives are slower than others.
fn slow(drives: &[BatchDrive], compared: usize, is_first: bool) -> String {
    let (slow, all) = (names(drives, |drive| drive.is_slow), drives.len());
    match (slow.as_slice(), compared) {
        ([], 0) if is_first => format!("{}: not judged against each other", count_of(all, "drive")),
        ([], 0) => "no drives were judged against each other".to_owned(),
        ([], n) if is_first => format!("No drive of {n} is slower than its peers"),
        ([], n) => format!("no drive of {n} is slower than its peers"),
        ([one], _) => format!("1 of {all} drives is slower than its peers: {one}"),
        (many, _) => {
            format!("{} of {all} drives are slower than their peers: {}", many.len(), listed(many))
        }
    }
}

fn names(drives: &[BatchDrive], has: impl Fn(&BatchDrive) -> bool) -> Vec<&str> {
    drives.iter().filter(|drive| has(drive)).map(|drive| drive.name.as_str()).collect()
}

/// Returns the sentence for one or more `names`, in place of its braces; `None` without names.
fn some(names: &[&str], one: &str, many: &str) -> Option<String> {
    let sentence = if names.len() == 1 { one } else { many };
    (!names.is_empty()).then(|| sentence.replace("{}", &listed(names)))
}

/// Returns `parts` with commas and `last` before the last one.
fn joined(parts: &[&str], last: &str) -> String {
    match parts {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// Returns `names` as a list, at most four of them.
fn listed(names: &[&str]) -> String {
    match names.len() {
        0..=4 => joined(names, "and"),
        n => format!("{} and {} more", names[..4].join(", "), n - 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(name: &str, state: BatchState, did: &[&'static str], slow: usize) -> BatchDrive {
        BatchDrive {
            name: name.to_owned(),
            label: None,
            model: String::new(),
            file: None,
            page: None,
            state,
            did: did.to_vec(),
            reasons: Vec::new(),
            is_slow: slow > 0,
            beyond: (slow, 14),
        }
    }

    #[test]
    fn names_are_listed_up_to_four() {
        assert_eq!(listed(&["A"]), "A");
        assert_eq!(listed(&["A", "B"]), "A and B");
        assert_eq!(listed(&["A", "B", "C", "D"]), "A, B, C and D");
        assert_eq!(listed(&["A", "B", "C", "D", "E", "F"]), "A, B, C, D and 2 more");
    }

    #[test]
    fn what_drives_did_comes_before_how_fast_they_are() {
        let healthy = || drive("b", BatchState::Unsuspicious, &[], 0);
        let faulty = drive("a", BatchState::Faults, &["failed requests", "stood still"], 3);
        assert_eq!(
            title(&[faulty.clone(), healthy()], 8),
            "a failed requests and stood still; 1 of 2 drives is slower than its peers: a"
        );
        let gone = drive("g", BatchState::Failed, &["disappeared"], 0);
        assert_eq!(
            title(&[gone, faulty, healthy()], 0),
            "2 of 3 drives disappeared, failed requests or stood still: g and a; 1 of 3 drives is slower than its \
             peers: a"
        );
        let failed = drive("f", BatchState::Failed, &[], 0);
        let disturbed = drive("d", BatchState::Disturbed, &[], 0);
        let invalid = drive("i", BatchState::Invalid, &[], 0);
        assert_eq!(
            title(&[failed, invalid, disturbed.clone(), disturbed], 9),
            "the run of f failed; no drive of 9 is slower than its peers; the results of i must not be used; the runs of d \
             and d were disturbed"
        );
        assert_eq!(title(&[healthy()], 9), "No drive of 9 is slower than its peers");
    }
}
