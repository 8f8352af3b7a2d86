//! Estimated bytes written and wear of a plan.

use crate::suites::support::{carried_out, planned, rig};
use ssdgauge_core::{Bytes, Rig};
use ssdgauge_lab::{
    Endurance, Options, Suite, WRITE_RATE, WearError, assumed_rates, check_wear, estimate, limits,
    plan, wear,
};

const READS: &str = r#"
[suite]
id = "own"
revision = 1
title = "Own"

[[test]]
id = "t"
revision = 1
title = "T"
stream = { access = "random", block_size = "4KiB", read_percent = 100 }
until = { time = "5s" }
score = { best_of = "iops" }
"#;

const TB: u64 = 1_000_000_000_000;

#[test]
fn a_mix_writes_only_its_share_of_a_byte_limit() {
    let rig = rig("tlc-client?capacity=100GB");
    let plan = planned("client-2018", &["mixed-random"], &rig, 1);
    let cost = limits(&plan, WRITE_RATE);
    // 64 GB of fill, and eleven mixes of at most 32 GB, half of which are writes.
    assert_eq!(cost.written_at_most, Bytes(64_000_000_000 + 176_000_000_000));
    assert!(!cost.writes_without_limit && cost.written_at_rate <= cost.written_at_most);
}

#[test]
fn bytes_written_stay_below_the_estimate() {
    for (suite, test) in
        [("consistency-2016", "default"), ("client-2018", "sustained-random-write")]
    {
        let mut rig = rig("tiny");
        let plan = planned(suite, &[test], &rig, 60);
        let cost = limits(&plan, WRITE_RATE);
        let run = carried_out(&plan, &mut rig);
        let points = &run.tests[0].points;
        let written: u64 = points.iter().map(|p| p.point.totals.directions[1].bytes).sum();
        assert!(written > 0 && written + cost.filled.0 <= cost.written_at_rate.0, "{suite}/{test}");
    }
}

#[test]
fn the_expected_cost_alone_is_that_of_the_whole_estimate() {
    let rig = rig("tlc-client?capacity=1TB");
    let rates = assumed_rates(rig.drive());
    for suite in ssdgauge_lab::built_in() {
        let plan = plan(&suite, rig.drive(), &Options::default()).unwrap();
        let cost = estimate(&plan, rig.drive().capacity, &rates);
        let alone = ssdgauge_lab::expected_cost(&plan, rig.drive().capacity, &rates);
        assert_eq!(alone, (cost.time.expected, cost.written.expected), "{}", suite.id);
    }
}

// The crate opens no file; its tests may.
#[allow(clippy::disallowed_methods)]
#[test]
fn the_list_has_title_and_expected_cost_of_every_built_in_suite() {
    let suites = ssdgauge_lab::built_in();
    let listed = ssdgauge_lab::listed();
    let line = |suite: &Suite| {
        let (time, written) = match ssdgauge_lab::expected_on_1_tb(suite) {
            Some((time, written)) => (time.0.to_string(), written.0.to_string()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let computing = ssdgauge_lab::computing_time_on_1_tb(suite);
        let computing = computing.map_or_else(|| "-".to_owned(), |time| time.0.to_string());
        format!("{}\t{}\t{time}\t{written}\t{computing}\n", suite.id, suite.title)
    };
    let computed: String = suites.iter().map(line).collect();
    if computed != include_str!("../../src/listed.tsv") {
        let new = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("listed.tsv");
        std::fs::write(&new, &computed).unwrap();
        panic!("the list is not that of the suites: copy {} to src/", new.display());
    }
    assert_eq!(listed.len(), suites.len());
    for (listed, suite) in listed.iter().zip(&suites) {
        assert_eq!((listed.id, listed.title), (&*suite.id, &*suite.title));
        assert_eq!(listed.cost, ssdgauge_lab::expected_on_1_tb(suite), "{}", suite.id);
        assert_eq!(listed.computing, ssdgauge_lab::computing_time_on_1_tb(suite), "{}", suite.id);
    }
}

#[test]
fn a_run_is_refused_above_its_share_and_above_the_remaining_endurance() {
    let rig = rig("tlc-client?capacity=100GB");
    let mixed = planned("client-2018", &["mixed-random"], &rig, 1);
    let rates = assumed_rates(rig.drive());
    let written = estimate(&mixed, rig.drive().capacity, &rates).written;
    let mut drive = rig.drive().clone();
    let judge = |drive: &_, rated: Option<u64>, share: f64| {
        let permitted = Endurance { rated: rated.map(Bytes), share };
        wear(written, drive, &permitted).map(|wear| check_wear(&wear, drive, &permitted))
    };
    assert_eq!(judge(&drive, None, 0.02), None, "the rating is not known");
    assert_eq!(judge(&drive, Some(100 * TB), 0.02), Some(Ok(())));
    let refused = judge(&drive, Some(10 * TB), 0.02).unwrap().unwrap_err();
    assert!(matches!(refused, WearError::MoreThanAllowed { .. }), "{refused}");
    assert!(refused.to_string().contains("2.0 % are allowed"), "{refused}");
    assert_eq!(judge(&drive, Some(10 * TB), 0.05), Some(Ok(())));
    // The drive reports its rating, and that 99 % of it is used.
    drive.details.insert("rated_endurance_bytes".into(), (20 * TB).to_string());
    assert_eq!(judge(&drive, None, 0.02), Some(Ok(())));
    drive.details.insert("percentage_used".into(), "99".into());
    let refused = judge(&drive, None, 1.0).unwrap().unwrap_err();
    assert!(
        matches!(refused, WearError::MoreThanLeft { left: Bytes(200_000_000_000), .. }),
        "{refused}"
    );
    drive.details.insert("percentage_used".into(), "255".into());
    assert!(judge(&drive, None, 1.0).unwrap().is_err(), "above 100 % nothing is left");
    // A suite of reads writes nothing.
    let reads = Suite::parse("own.toml", READS).unwrap();
    let reads = plan(&reads, rig.drive(), &Options::default()).unwrap();
    let written = estimate(&reads, drive.capacity, &rates).written;
    let permitted = Endurance::default();
    let wear = wear(written, &drive, &permitted).unwrap();
    assert_eq!((wear.written.expected, wear.written.at_most), (Bytes(0), Bytes(0)));
}
