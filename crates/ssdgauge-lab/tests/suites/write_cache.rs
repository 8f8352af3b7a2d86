//! Volatile write cache on and off, compared with the profiles of virtual drives.

use crate::suites::support::{carried_out, planned, rig};
use ssdgauge_analysis::Run;
use ssdgauge_core::{Action, Metric, PhaseKind, Preparation, Restart, Rig, Scope, WriteCache};
use ssdgauge_lab::{Options, Suite, plan};

/// A test of single writes with `prepare` after its purge.
fn writes(id: &str, prepare: &str) -> String {
    format!(
        "[[test]]\nid = \"{id}\"\nrevision = 1\ntitle = \"T\"\nprepare = [{{ purge = true }}{prepare}]\n\
         stream = {{ access = \"random\", block_size = \"4KiB\", read_percent = 0 }}\n\
         until = {{ time = \"2s\", bytes = \"400kB\" }}\nscore = {{ mean_of = \"lat_mean_us\" }}\n"
    )
}

/// Runs a test with the cache, one without, and one that does not set it.
fn own(target: &str) -> Run {
    let head = "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"Own\"\n";
    let tests = [
        writes("on", ", { write_cache = \"on\" }"),
        writes("off", ", { write_cache = \"off\" }"),
        writes("free", ""),
    ];
    let suite = Suite::parse("own.toml", &format!("{head}{}", tests.concat())).unwrap();
    let mut rig = rig(target);
    let plan = plan(&suite, rig.drive(), &Options::default()).unwrap();
    let switches: Vec<WriteCache> = plan
        .steps()
        .filter_map(|(_, _, step)| match step.action {
            Action::Prepare(Preparation::WriteCache(switch)) => Some(switch),
            Action::Prepare(_)
            | Action::Run { .. }
            | Action::Replay(_)
            | Action::Rest(_)
            | Action::Idle(_) => None,
        })
        .collect();
    assert_eq!(switches, [WriteCache::On, WriteCache::Off, WriteCache::AsFound]);
    let restarts: Vec<Restart> = plan.tests.iter().map(|test| test.restart).collect();
    assert_eq!(restarts, [Restart::Test, Restart::Test, Restart::Step]);
    carried_out(&plan, &mut rig)
}

fn latencies(run: &Run) -> Vec<f64> {
    let value = |test: &ssdgauge_analysis::TestRun| {
        let totals = &test.points[0].point.totals;
        // The median, because the first request includes the wake-up latency.
        totals.value(Metric::LatP50Us, Scope::All).unwrap()
    };
    run.tests.iter().map(value).collect()
}

#[test]
fn without_its_cache_a_drive_acknowledges_a_write_when_it_is_programmed() {
    let run = own("tiny");
    let [on, off, free] = latencies(&run)[..] else { panic!("three tests") };
    let program = rig("tiny").profile().slc.t_prog_us;
    assert!(on < program / 2.0, "{on}");
    // The buffer collects a page; the write completes after its program operation.
    assert!((program..program + 2.0 * on).contains(&off), "{off}, and a program takes {program}");
    assert!((free - on).abs() < 0.2 * on, "restored after its test: {free} {on}");
}

#[test]
fn a_power_loss_protected_buffer_is_not_switched_off() {
    let [on, off, _] = latencies(&own("tiny?front.buffer_is_safe=true"))[..] else {
        panic!("three tests")
    };
    assert!((off - on).abs() < 0.05 * on, "{off} {on}");
}

#[test]
fn pts_style_tests_switch_the_cache_after_the_purge() {
    for (suite, wanted) in [("snia-pts-e", WriteCache::Off), ("snia-pts-c", WriteCache::On)] {
        let plan = planned(suite, &[], &rig("tiny"), 1);
        for test in &plan.tests {
            let kinds: Vec<PhaseKind> = test.phases[..2].iter().map(|phase| phase.kind).collect();
            assert_eq!(kinds, [PhaseKind::Purge, PhaseKind::WriteCache], "{suite}/{}", test.id);
            let action = &test.phases[1].steps[0].action;
            assert_eq!(*action, Action::Prepare(Preparation::WriteCache(wanted)));
            assert_eq!(test.restart, Restart::Test);
        }
    }
}
