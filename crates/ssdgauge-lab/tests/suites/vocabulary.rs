//! The keys of a stream: the examples of the document are carried out on a virtual drive.

use crate::support::{carried_out, rig};
use ssdgauge_core::{Direction, Metric, Rig, Scope};
use ssdgauge_lab::{Options, Suite, plan};
use ssdgauge_report::Run;

const DOCUMENT: &str = include_str!("../../../../docs/suites.md");
const HEAD: &str = "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"Own\"\n";

/// Carries out the example of the document whose test has the id `id`.
fn example(id: &str) -> Run {
    let named = format!("[[test]]\nid = \"{id}\"");
    let mut blocks =
        DOCUMENT.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.find(|block| block.contains(&named)).expect(id);
    let suite = Suite::parse("suites.md", &format!("{HEAD}{block}"));
    let suite = suite.unwrap_or_else(|error| panic!("{error}\nhint: {}", error.hint));
    let mut rig = rig("tiny");
    let plan = plan(&suite, rig.drive(), &Options::default()).unwrap();
    carried_out(&plan, &mut rig)
}

#[test]
fn flushes_and_trims_have_their_own_numbers_beside_reads_and_writes() {
    let run = example("trims-beside-reads");
    let points = &run.tests[0].points;
    let value = |step: usize, metric, scope| points[step].point.totals.value(metric, scope);
    let directions: Vec<Vec<Direction>> = points.iter().map(|point| point.directions()).collect();
    assert_eq!(directions[1], [Direction::Trim]);
    assert_eq!(directions[3], [Direction::Write, Direction::Flush]);
    // A step without transfers counts what it has.
    assert_eq!(value(1, Metric::Iops, Scope::All), value(1, Metric::Iops, Scope::Trim));
    assert!(value(1, Metric::Iops, Scope::All).unwrap() > 100.0);
    // One with transfers counts these alone.
    assert_eq!(value(3, Metric::Iops, Scope::All), value(3, Metric::Iops, Scope::Write));
    let flushes = value(3, Metric::Iops, Scope::Flush).unwrap();
    // 100 a second for two seconds; the step ends with the last write.
    assert!((85.0..101.0).contains(&flushes), "{flushes}");
    let json = ssdgauge_report::json(std::slice::from_ref(&run));
    let text = json["runs"][0]["tests"][0].to_string();
    for key in ["\"flush_lat_p99_us\"", "\"trim_iops\"", "\"write_iops\""] {
        assert!(text.contains(key), "{key}");
    }
}

#[test]
fn commits_have_a_flush_behind_every_so_many_writes() {
    let run = example("commits");
    let ios = |step: usize, direction: Direction| {
        run.tests[0].points[step].point.totals.directions[direction as usize].ios
    };
    assert!(ios(0, Direction::Write).abs_diff(ios(0, Direction::Flush)) <= 1);
    assert_eq!((ios(1, Direction::Write), ios(1, Direction::Flush)), (8_192, 1_024));
    assert_eq!(ios(2, Direction::Flush), 0);
    assert!(run.tests[0].points[2].workload.streams[0].sync);
}

#[test]
fn hot_blocks_are_planned_and_carried_out() {
    let run = example("hot-blocks");
    let points = &run.tests[0].points;
    let distributions: Vec<String> =
        points.iter().map(|point| point.workload.streams[0].distribution.describe()).collect();
    assert_eq!(distributions, ["uniform", "zones 80/20 20/80", "Zipf 0.8"]);
    let amplification = |step: usize| {
        points[step].point.totals.value(Metric::WriteAmplification, Scope::All).unwrap()
    };
    assert!((0..3).all(|step| amplification(step) >= 1.0));
}
