//! The digest of a step stands for its samples where it was made of them, and only there.

use crate::format::chain::{alter, relink};
use crate::format::support::{folder, plan, write_with_readings};
use ssdgauge_core::AggregatedStep;
use ssdgauge_runfile::{Contradictions, DigestedStep, RunFile, StepRecord};
use std::path::Path;

/// Returns each finished step of the file `path` with what its digest says; none where it is not believed.
fn digested(path: &Path) -> Vec<(StepRecord, Option<DigestedStep>)> {
    let run = RunFile::open(path).unwrap();
    let steps = run.steps().unwrap();
    let (_, digests) = run.chain_finding_and_digests(&steps).unwrap();
    let workload = plan().tests[0].phases[0].steps[0].action.measured_workload().unwrap().clone();
    // The first attempt was broken.
    let finished = steps.into_iter().skip(1);
    let found = |step: StepRecord| {
        let digested = run.digested(&digests, &workload, &step, &mut run.room()).unwrap();
        (step, digested)
    };
    finished.map(found).collect()
}

#[test]
fn a_digest_is_what_the_samples_of_its_step_amount_to() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write_with_readings(&path, 2);
    let run = RunFile::open(&path).unwrap();
    for (record, digested) in digested(&path) {
        let step = &plan().tests[0].phases[0].steps[record.place.step];
        let workload = step.action.measured_workload().unwrap();
        let checked = (&mut run.room(), &mut Contradictions::default());
        let samples = run.samples(step, workload, &[&record], true, checked, |_| 0).unwrap();
        let AggregatedStep { whole, seconds, percentiles, streams, latency_map, .. } = samples;
        let DigestedStep { samples, instruments } = digested.unwrap();
        assert_eq!((samples.whole, samples.seconds), (whole, seconds));
        assert_eq!((samples.percentiles, samples.streams), (percentiles, streams));
        assert_eq!(samples.latency_map, latency_map);
        assert_eq!(instruments["temperature_c"].iter().collect::<Vec<_>>(), ["virtual"]);
    }
}

#[test]
fn a_digest_of_other_samples_or_by_other_arithmetic_is_not_believed() {
    const PLANTED: &str = "UPDATE digest SET content = (SELECT content FROM digest WHERE step_id = 3) \
        WHERE step_id = 2";
    // Whoever rewrites checksums and hashes can also write a digest; what is left here is never that of the
    // samples.
    for (sql, mends, relinks, believed) in [
        ("SELECT 1", true, true, [true, true]),
        (
            "UPDATE digest SET samples_crc = samples_crc - 1 WHERE step_id = 2",
            true,
            true,
            [false, true],
        ),
        ("UPDATE digest SET arithmetic = 1 WHERE step_id = 3", true, true, [true, false]),
        ("UPDATE reading SET value = value + 1 WHERE step_id = 2", true, true, [false, true]),
        ("UPDATE interval SET ios = ios + 1 WHERE step_id = 3", true, true, [true, false]),
        // A record with a wrong checksum of its own is damaged.
        ("UPDATE interval SET ios = ios + 1 WHERE step_id = 3", false, true, [true, false]),
        // More samples than the chain covers, before and after them.
        ("UPDATE reading SET rowid = -1 WHERE rowid = 1", true, true, [true, true]),
        (
            "INSERT INTO reading (rowid, step_id, at_ns, instrument, quantity, value, crc) \
             VALUES (-1, 2, 0, 'a', 'b', 1.0, 0)",
            true,
            true,
            [false, true],
        ),
        (
            "INSERT INTO reading (step_id, at_ns, instrument, quantity, value, crc) \
             VALUES (3, 0, 'a', 'b', 1.0, 0)",
            true,
            true,
            [true, false],
        ),
        // A chain that does not match.
        (PLANTED, true, false, [false, false]),
    ] {
        let folder = folder();
        let path = folder.path().join("run.ssdg");
        write_with_readings(&path, 1);
        alter(&path, sql, mends);
        if relinks {
            relink(&path);
        }
        let found = digested(&path).into_iter().map(|(_, digested)| digested.is_some());
        assert_eq!(found.collect::<Vec<_>>(), believed, "{sql}");
    }
}

#[test]
fn a_digest_of_any_content_is_read_or_computed_anew() {
    for content in ["'{}'", "'no JSON'", "'{\"samples\":null}'", "replace(content, 'A', 'B')"] {
        let folder = folder();
        let path = folder.path().join("run.ssdg");
        write_with_readings(&path, 1);
        alter(&path, &format!("UPDATE digest SET content = {content}"), true);
        relink(&path);
        assert!(digested(&path).iter().all(|(_, digested)| digested.is_none()), "{content}");
    }
}
