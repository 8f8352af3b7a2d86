//! Idle power, wake-up latency and power states, compared with the profiles of virtual drives.

use crate::suites::support::{carried_out, found, rig, run};
use ssdgauge_analysis::Run;
use ssdgauge_core::{Action, FindingKind, Metric, PowerSaving, Preparation, Restart, Rig, Scope};
use ssdgauge_lab::{Options, Suite, plan};

/// Runs the test of `keys` on `target`.
fn own(keys: &str, target: &str) -> Run {
    let head = "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"Own\"\n";
    let text = format!("{head}[[test]]\nid = \"t\"\nrevision = 1\ntitle = \"T\"\n{keys}");
    let suite = Suite::parse("own.toml", &text).unwrap();
    let mut rig = rig(target);
    let plan = plan(&suite, rig.drive(), &Options::default()).unwrap();
    carried_out(&plan, &mut rig)
}

const READ: &str = "stream = { access = \"random\", block_size = \"4KiB\", read_percent = 100, \
                    span = \"8MB\" }\nuntil = { bytes = \"4KiB\" }\n";

#[test]
fn idle_power_is_that_of_the_requested_state() {
    let tests = ["idle-power-active", "idle-power-low"];
    let run = run("client-2018", &tests, "tiny?power.idle_w=1.5", 1);
    let power: Vec<f64> = run.tests.iter().map(|test| test.headline.value.unwrap()).collect();
    // The deepest state of the profile takes 5 mW, after two seconds without commands.
    assert!((power[0] - 1.5).abs() < 1e-9 && (power[1] - 0.005).abs() < 1e-9, "{power:?}");
    for test in &run.tests {
        assert_eq!((test.headline.n, test.headline.metric), (60, Metric::PowerW));
        let totals = &test.points[0].point.totals;
        assert_eq!(totals.elapsed.as_secs_f64(), 300.0);
        let energy = totals.value(Metric::EnergyJ, Scope::All).unwrap();
        let mean = totals.value(Metric::PowerW, Scope::All).unwrap();
        assert!((energy - 300.0 * mean).abs() < 1e-6);
    }
    let json = ssdgauge_export::json(std::slice::from_ref(&run));
    let metrics = &json["runs"][0]["tests"][0]["points"][0]["metrics"];
    assert!(metrics["iops"].is_null() && metrics["power_w"].is_number(), "{metrics}");
}

#[test]
fn latency_after_idle_times_shows_the_exit_latency_of_each_state() {
    let keys = "prepare = [{ purge = true }, { fill = \"sequential\", span = \"8MB\" }, \
                { power = \"low\" }]\nsweep = { idle = [\"450ms\", \"1s\", \"10s\"] }\n\
                score = { best_of = \"lat_mean_us\" }\n";
    let run = own(&format!("{keys}{READ}"), "tiny");
    let latency = |index: usize| {
        let totals = &run.tests[0].points[index].point.totals;
        totals.value(Metric::LatMeanUs, Scope::All).unwrap()
    };
    // The fill is folded after 0.4 s: reads before would suspend a program operation.
    // States of the profile: 1.2 ms to leave the first (after 0.5 s), 8 ms the second (after 2 s).
    assert!((latency(1) - latency(0) - 1_200.0).abs() < 1.0, "{} {}", latency(0), latency(1));
    assert!((latency(2) - latency(0) - 8_000.0).abs() < 1.0, "{} {}", latency(0), latency(2));
    let positions: Vec<f64> = run.tests[0].points.iter().map(|p| p.point.position).collect();
    assert_eq!(positions, [0.45, 1.0, 10.0]);
}

#[test]
fn a_drive_without_power_saving_has_no_wake_up_latency() {
    let keys = |power: &str| {
        format!(
            "prepare = [{{ purge = true }}, {{ fill = \"sequential\", span = \"8MB\" }}, \
             {{ power = \"{power}\" }}]\nidle = \"10s\"\nrepeat = 3\n\
             score = {{ mean_of = \"lat_mean_us\" }}\n{READ}"
        )
    };
    let value = |power| own(&keys(power), "tiny").tests[0].headline.value.unwrap();
    let (active, low) = (value("active"), value("low"));
    assert!((low - active - 8_000.0).abs() < 1.0, "{active} {low}");
}

#[test]
fn a_power_state_is_restored_after_its_test_and_the_test_restarts_as_a_whole() {
    let keys = format!(
        "sweep = {{ power = [\"PS0\", \"PS1\", \"PS9\"] }}\nscore = {{ best_of = \"iops\" }}\n\
         prepare = [{{ fill = \"sequential\", span = \"8MB\" }}]\n{READ}"
    );
    let run = own(&keys, "tiny");
    let test = &run.tests[0];
    assert_eq!(test.test.restart, Restart::Test);
    let powers: Vec<PowerSaving> = test
        .test
        .phases
        .iter()
        .filter_map(|phase| match phase.steps[0].action {
            Action::Prepare(Preparation::Power(saving)) => Some(saving),
            Action::Prepare(_)
            | Action::Run { .. }
            | Action::Replay(_)
            | Action::Rest(_)
            | Action::Idle(_) => None,
        })
        .collect();
    let states = [0, 1, 9].map(PowerSaving::State);
    assert_eq!(powers, [&states[..], &[PowerSaving::AsFound]].concat());
    // A missing power state is a finding.
    let findings = found(test, FindingKind::PowerState);
    assert!(findings.len() == 1 && findings[0].contains("no power state PS9"), "{findings:?}");
}

#[test]
fn a_sweep_over_power_states_measures_the_idle_power_of_each() {
    let keys = "prepare = [{ purge = true }]\nidle = \"10s\"\n\
                sweep = { power = [\"PS0\", \"PS1\", \"PS2\", \"PS3\", \"PS4\"] }\n\
                score = { metric = \"power_w\", mean_of_last = \"5s\" }\n";
    let run = own(keys, "tlc-client?capacity=1GB");
    let watts: Vec<f64> = run.tests[0]
        .points
        .iter()
        .map(|point| point.point.totals.value(Metric::PowerW, Scope::All).unwrap())
        .collect();
    let profile = ssdgauge_sim::VirtualRig::open("tlc-client", 1).unwrap().profile().power.clone();
    let limited = profile.limited_states.iter().map(|state| state.idle_w);
    let operational = [profile.idle_w].into_iter().chain(limited);
    let expected = operational.chain(profile.states.iter().map(|state| state.w));
    for (found, expected) in watts.iter().zip(expected) {
        // The mean includes the transition into the state.
        assert!((found - expected).abs() < 0.05 * expected.max(0.1), "{watts:?} {expected}");
    }
    assert_eq!(watts.len(), 5);
}
