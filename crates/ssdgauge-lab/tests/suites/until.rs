//! Runs that end when the intervals between their repetitions are narrow.

use crate::suites::support::{Quiet, begun, carried_out, rig};
use ssdgauge_analysis::Run;
use ssdgauge_core::{Finding, FindingKind, Plan, RepeatUntil, Rig, Severity};
use ssdgauge_lab::{
    Completion, Options, PlanError, Repeat, RepeatError, Suite, conduct, plan, resume,
};
use ssdgauge_runfile::Writer;

/// A drive without an SLC cache: after an idle time its reads depend on their addresses alone.
const DRIVE: &str = "tiny?slc.fixed_gb=0&slc.dynamic_gb=0";

/// Random reads of a filled drive, in steps of `time`: their numbers vary only with the requests.
fn suite(time: &str, more: &str) -> Suite {
    let text = format!(
        "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"Own\"\nsummary = \"reads\"\n\
         source = \"none\"\nprepare = [{{ fill = \"sequential\", span = \"64MiB\" }}]\n\
         [[test]]\nid = \"reads\"\nrevision = 1\ntitle = \"Reads\"\nsource = \"none\"\n\
         idle = \"1s\"\nrestart = \"test\"\nstream = {{ access = \"random\", block_size = \"4KiB\", read_percent = 100, \
         queue_depth = 4, span = \"64MiB\" }}\nuntil = {{ time = \"{time}\" }}\n\
         score = {{ mean_of = \"iops\" }}\n{more}"
    );
    Suite::parse("own.toml", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn planned(suite: &Suite, half_width: f64, at_most: u32) -> Plan {
    let rule = RepeatUntil { half_width, at_least: RepeatUntil::AT_LEAST, at_most };
    let options = Options { repeat: Repeat::Until(rule), ..Options::default() };
    plan(suite, rig(DRIVE).drive(), &options).unwrap()
}

fn verdict(run: &Run) -> &Finding {
    let kinds = [FindingKind::IntervalReached, FindingKind::IntervalNotReached];
    let mut verdicts = run.findings.iter().filter(|finding| kinds.contains(&finding.kind));
    let verdict = verdicts.next().expect("a run that ends has a verdict");
    assert_eq!(verdicts.next(), None);
    verdict
}

/// Returns the values of every repetition of the first test.
fn values(run: &Run) -> Vec<f64> {
    run.tests[0].repetitions.iter().map(|each| each.headline.value.unwrap()).collect()
}

#[test]
fn a_quiet_drive_ends_after_the_minimum_number_of_repetitions() {
    let plan = planned(&suite("100ms", ""), 0.05, 20);
    assert_eq!(plan.tests.len(), 20);
    let run = carried_out(&plan, &mut rig(DRIVE));
    assert!(run.complete);
    assert_eq!((run.ended_after, run.tests[0].repetitions.len()), (Some(5), 5));
    let verdict = verdict(&run);
    assert_eq!((verdict.kind, verdict.severity), (FindingKind::IntervalReached, Severity::Note));
    assert_eq!(
        verdict.text,
        "stopped after 5 of at most 20 repetitions: every interval within ±5 %"
    );
    // The repetitions are not equal: each has requests of its own.
    let values = values(&run);
    assert!(values.windows(2).all(|pair| pair[0] != pair[1]), "{values:?}");
}

/// Returns the values of 14 repetitions of the reads, and a goal that they reach after the number of
/// repetitions that is returned with it, and not before.
fn series_with_goal() -> (Vec<f64>, RepeatUntil, usize) {
    let options = Options { repeat: Repeat::Times(14), ..Options::default() };
    let plan = plan(&suite("2ms", ""), rig(DRIVE).drive(), &options).unwrap();
    let values = values(&carried_out(&plan, &mut rig(DRIVE)));
    let rule = RepeatUntil { half_width: 0.5, at_least: RepeatUntil::AT_LEAST, at_most: 20 };
    let half = |n: usize| rule.half_width_of(&values[..n]).unwrap();
    let is_narrowest = |n: &usize| (5..*n).all(|before| half(before) > half(*n));
    let turns = (6..=values.len()).rfind(is_narrowest).expect("intervals become narrower");
    let rule = RepeatUntil { half_width: half(turns) * 1.000_001, ..rule };
    (values, rule, turns)
}

#[test]
fn the_reported_interval_is_the_one_that_ends_the_run() {
    let (values, rule, turns) = series_with_goal();
    let plan = planned(&suite("2ms", ""), rule.half_width, 20);
    let run = carried_out(&plan, &mut rig(DRIVE));
    assert_eq!(self::values(&run), values[..turns], "not earlier, and not later");
    let (low, high) = run.tests[0].headline.interval.ends().unwrap();
    let share = (high - low) / 2.0 / run.tests[0].headline.value.unwrap();
    assert!((share / rule.half_width - 1.0).abs() < 1e-5, "{share} {}", rule.half_width);
}

#[test]
fn a_noisy_drive_reaches_the_limit_with_a_warning_that_names_the_test() {
    let run = carried_out(&planned(&suite("1ms", ""), 0.00001, 7), &mut rig(DRIVE));
    assert!(run.complete);
    assert_eq!((run.ended_after, run.tests[0].repetitions.len()), (Some(7), 7));
    let verdict = verdict(&run);
    let kind = (FindingKind::IntervalNotReached, Severity::Warning);
    assert_eq!((verdict.kind, verdict.severity), kind);
    let text = &verdict.text;
    assert!(text.starts_with("not within ±0.001 % after 7 repetitions: Reads ±"), "{text}");
    let summary = ssdgauge_export::terminal_summary(&run, 100, false);
    assert!(summary.contains("after 7 repetitions"), "{summary}");
}

#[test]
fn every_number_counts_and_one_that_is_not_measured_is_left_out() {
    // A virtual drive has a power; over a millisecond it reads none.
    let further = "also = [{ mean_of = \"lat_max_us\" }, { mean_of = \"lat_p99_999_us\" }]\n";
    let run = carried_out(&planned(&suite("2ms", further), 0.004, 9), &mut rig(DRIVE));
    let verdict = verdict(&run);
    assert_eq!(run.ended_after, Some(9), "{}", verdict.text);
    assert!(verdict.text.contains("Reads (longest latency)") || verdict.text.contains("Reads ("));
    assert!(verdict.text.ends_with("one number is left out, which a repetition did not measure"));
}

#[test]
fn a_run_that_is_stopped_anywhere_and_resumed_has_the_same_repetitions() {
    let (_, rule, turns) = series_with_goal();
    let plan = planned(&suite("2ms", ""), rule.half_width, 20);
    let whole = carried_out(&plan, &mut rig(DRIVE));
    assert_eq!(whole.ended_after, Some(turns as u32));
    // The fill is the first step; each turn has an idle time and the reads.
    for every in [2, 3, 7] {
        let (_folder, path, mut writer) = begun(&plan, &rig(DRIVE));
        let mut watcher = Quiet { steps_left: every + 1, ..Quiet::default() };
        let mut completion = conduct(&plan, &mut rig(DRIVE), &mut writer, &mut watcher).unwrap();
        drop(writer);
        let mut parts = 1;
        while completion == Completion::Interrupted {
            let unfinished = ssdgauge_analysis::read(&path).unwrap();
            assert!(!unfinished.complete && unfinished.ended_after.is_none());
            let (mut writer, file) = Writer::resume(&path).unwrap();
            // Steps that are repeated are not counted.
            let mut watcher = Quiet { steps_left: every + 1, ..Quiet::default() };
            let mut drive = rig(DRIVE);
            completion = resume(&file, &mut drive, &mut writer, &mut watcher, "again").unwrap();
            parts += 1;
            assert!(parts < 40, "the run does not end");
        }
        assert!(parts > 1, "the run was not stopped");
        let run = ssdgauge_analysis::read(&path).unwrap();
        assert!(run.complete);
        assert_eq!(values(&run), values(&whole), "a stop every {every} steps");
        assert_eq!(verdict(&run), verdict(&whole));
        // A run that has ended is not continued.
        let (mut writer, file) = Writer::resume(&path).unwrap();
        let mut watcher = Quiet::default();
        resume(&file, &mut rig(DRIVE), &mut writer, &mut watcher, "again").unwrap();
        assert!(watcher.begun.is_empty(), "{:?}", watcher.begun);
    }
}

#[test]
fn complete_tests_keep_their_samples_when_a_later_turn_is_resumed() {
    let second = "[[test]]\nid = \"more\"\nrevision = 1\ntitle = \"More\"\nsource = \"none\"\n\
        stream = { access = \"random\", block_size = \"8KiB\", read_percent = 100, \
        queue_depth = 1, span = \"64MiB\" }\nuntil = { time = \"2ms\" }\n\
        score = { mean_of = \"iops\" }\n";
    let suite = suite("2ms", second);
    let plan = planned(&suite, 0.9, 5);
    let whole = carried_out(&plan, &mut rig(DRIVE));
    let (_folder, path, mut writer) = begun(&plan, &rig(DRIVE));
    // The fill, the first turn, and the idle time and the reads of the second.
    let mut watcher = Quiet { steps_left: 6, ..Quiet::default() };
    conduct(&plan, &mut rig(DRIVE), &mut writer, &mut watcher).unwrap();
    drop(writer);
    let (mut writer, file) = Writer::resume(&path).unwrap();
    let mut drive = rig(DRIVE);
    resume(&file, &mut drive, &mut writer, &mut Quiet::default(), "again").unwrap();
    drop((writer, file));
    let run = ssdgauge_analysis::read(&path).unwrap();
    assert!(run.complete);
    assert_eq!((run.ended_after, values(&run)), (Some(5), values(&whole)));
}

#[test]
fn impossible_widths_and_limits_are_refused() {
    let refused = |half_width, at_most| {
        let rule = RepeatUntil { half_width, at_least: RepeatUntil::AT_LEAST, at_most };
        let options = Options { repeat: Repeat::Until(rule), ..Options::default() };
        plan(&suite("1s", ""), rig(DRIVE).drive(), &options).unwrap_err()
    };
    for half_width in [0.0, -0.02, 1.0, f64::INFINITY] {
        let error = RepeatError::HalfWidth(half_width * 100.0);
        assert_eq!(refused(half_width, 20), PlanError::Repeat(error));
    }
    assert!(matches!(refused(f64::NAN, 20), PlanError::Repeat(RepeatError::HalfWidth(_))));
    for at_most in [0, 4, 101] {
        assert_eq!(refused(0.02, at_most), PlanError::Repeat(RepeatError::AtMost(at_most)));
    }
}
