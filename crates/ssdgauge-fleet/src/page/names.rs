//! The names of drives: the label of a run, or the end of the serial that no other drive shares.

use std::collections::BTreeSet;

/// The minimum number of characters of the end of a serial.
const LEAST: usize = 4;

/// Returns a name for each of `drives`, which are (label, serial) with an id where there is no serial. A label that one drive
/// alone has is its name.
pub(super) fn names(drives: &[(Option<&str>, &str)]) -> Vec<String> {
    let label_is_own = |label: &str| {
        !label.is_empty() && drives.iter().filter(|other| other.0 == Some(label)).count() == 1
    };
    let serials: BTreeSet<&str> = drives.iter().map(|(_, serial)| *serial).collect();
    let shared = shared_ends(&serials);
    let name = |(label, serial): &(Option<&str>, &str)| match label {
        Some(label) if label_is_own(label) => (*label).to_owned(),
        Some(_) | None => end(serial, &shared),
    };
    drives.iter().map(name).collect()
}

/// Returns the ends of at least [`LEAST`] characters that two of `serials` have.
fn shared_ends<'a>(serials: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for end in serials.iter().flat_map(|serial| ends(serial)) {
        if !seen.insert(end) {
            shared.insert(end);
        }
    }
    shared
}

/// Returns the ends of `serial`, the shortest one first.
fn ends(serial: &str) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = serial.char_indices().map(|(at, _)| at).collect();
    starts.into_iter().rev().skip(LEAST - 1).map(|at| &serial[at..])
}

fn end(serial: &str, shared: &BTreeSet<&str>) -> String {
    let end = || ends(serial).find(|end| !shared.contains(end)).unwrap_or(serial).to_owned();
    // Virtual drives of one profile differ by their seeds, and those of several profiles may have one.
    match serial.rsplit_once(" seed ") {
        Some((_, seed)) if !shared.contains(format!(" seed {seed}").as_str()) => {
            format!("seed {seed}")
        }
        Some(_) | None => end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_has_the_shortest_end_of_its_serial_that_no_other_has() {
        let drives = [(None, "S4X0117A"), (None, "S4Y0117A"), (None, "S4X0118B"), (None, "B2")];
        assert_eq!(names(&drives), ["X0117A", "Y0117A", "118B", "B2"]);
    }

    #[test]
    fn a_label_is_a_name_where_one_drive_has_it() {
        let drives =
            [(Some("bay 1"), "S4X01170"), (Some("bay"), "S4X01181"), (Some("bay"), "S4X01192")];
        assert_eq!(names(&drives), ["bay 1", "1181", "1192"]);
    }

    #[test]
    fn virtual_drives_are_named_by_their_seeds_where_these_differ() {
        let drives = [(None, "MODEL-9B98 seed 1"), (None, "MODEL-9B98 seed 2")];
        assert_eq!(names(&drives), ["seed 1", "seed 2"]);
        let drives = [(None, "MODEL-9B98 seed 1"), (None, "MODEL-16A5 seed 1")];
        assert_eq!(names(&drives), ["8 seed 1", "5 seed 1"]);
    }

    #[test]
    fn a_serial_that_ends_another_one_stays_whole() {
        assert_eq!(names(&[(None, "12345"), (None, "9912345")]), ["12345", "912345"]);
        assert_eq!(names(&[(None, "é1"), (None, "ééé1é")]), ["é1", "éé1é"]);
    }
}
