//! Drives that others have measured and published.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use super::{drive, files_of};
use ssdgauge_analysis::bench::board::Bench;
use ssdgauge_analysis::bench::record::{Origin, Record};
use ssdgauge_core::ConfidenceInterval;

#[test]
fn drives_measured_by_others_are_off_and_every_page_has_their_source_and_licence() {
    let own = Record::of(&drive("own", "Alpha", 1.0, &|_| {}));
    let of_others = |id: &str, name: &str, times: usize| {
        let mut record = Record { id: id.to_owned(), started_unix_ms: None, ..own.clone() };
        record.drive.name = name.to_owned();
        record.drive.interface.clear();
        record.marks = vec!["IMPORTED from other".to_owned()];
        record.grade = None;
        let (source, licence) = ("Collection X".to_owned(), "CC-BY-4.0".to_owned());
        record.origin = Some(Origin { source, licence });
        for test in &mut record.tests {
            test.key = format!("others/{}", test.id);
            test.headline.0.interval = ConfidenceInterval::Undefined;
            test.repetitions = vec![test.headline.clone(); times];
        }
        record
    };
    let records = vec![of_others("x", "Beta", 3), own.clone(), of_others("y", "Alpha", 0)];
    assert!(records.iter().all(|record| record.check(own.started_unix_ms.unwrap()).is_ok()));
    for change in [
        // Without its origin it is the import of a file without a date; without the mark of one it is nothing.
        |record: &mut Record| (record.origin, record.marks) = (None, Vec::new()),
        |record: &mut Record| record.marks.clear(),
        |record: &mut Record| record.origin.as_mut().unwrap().licence.clear(),
    ] {
        let mut other = records[0].clone();
        change(&mut other);
        assert!(other.check(own.started_unix_ms.unwrap()).is_err(), "{other:?}");
    }
    let bench = Bench::new(records.clone());
    let alpha = bench.drives.iter().find(|drive| drive.facts.name == "Alpha").unwrap();
    assert_eq!(alpha.facts, own.drive, "the drive itself says more than a publication");
    let pages = files_of(records);
    let marks = "4 of 5 runs: Collection X, CC-BY-4.0.";
    for (name, text) in pages.iter().filter(|(name, _)| name.ends_with(".html")) {
        assert!(
            text.contains("<strong>MEASURED BY OTHERS</strong>") && text.contains(marks),
            "{name}"
        );
    }
    let (_, row) = pages["index.html"].split_once("<tr class=\"marked\"").unwrap();
    let (row, _) = row.split_once("</tr>").unwrap();
    assert!(row.contains(">Beta, ") && row.contains("measured by others</small>"), "{row}");
    // Each number, where it is pointed at, and in the data of a comparison.
    let cells = row.matches("<td class=\"v\" data-v=\"").count();
    let said =
        "date unknown, run x, measured by others: Collection X, CC-BY-4.0, IMPORTED from other";
    assert!(cells > 1 && row.matches(said).count() == row.matches("title=").count(), "{row}");
    let beta = pages.iter().find(|(name, _)| name.starts_with("data/drive-beta")).unwrap().1;
    assert!(beta.contains(said), "{beta}");
}
