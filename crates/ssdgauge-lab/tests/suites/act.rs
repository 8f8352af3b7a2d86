//! Search for the highest passing load, on drives with known results.

use crate::suites::support::{Quiet, begun, carried_out, planned, rig, run};
use ssdgauge_analysis::PointRun;
use ssdgauge_core::search::{Attempt, Next};
use ssdgauge_core::{Action, FindingKind, LatencyClock, Nanos, Plan, Random, Rig};
use ssdgauge_lab::{Completion, Options, Suite, conduct, resume};
use ssdgauge_runfile::{RunFile, Writer};
use ssdgauge_sim::VirtualRig;

#[test]
fn the_rates_are_those_of_act_at_every_multiple() {
    let rig = rig("tiny");
    let plan = planned("act", &[], &rig, 1);
    let steps = plan.tests.iter().flat_map(|test| {
        let search = test.search.as_ref().unwrap();
        &test.phases[search.attempts].steps
    });
    for step in steps {
        let Action::Run { workload, until, .. } = &step.action else { panic!("a load") };
        let rate = |stream: usize| workload.streams[stream].arrival.per_second().unwrap();
        assert!((rate(0) / (2_000.0 * step.position) - 1.0).abs() < 1e-12);
        // 1,000 writes a second, 85 to a block, doubled by defragmentation.
        let large = 1_000.0 / 85.0 * 2.0 * step.position;
        assert!((rate(1) / large - 1.0).abs() < 1e-3 && (rate(2) / large - 1.0).abs() < 1e-3);
        assert_eq!(until.time.unwrap().as_secs_f64(), 3_600.0);
        assert!(workload.streams[2].sync && !workload.streams[0].sync);
    }
    assert_eq!(
        plan.tests.iter().map(|test| test.id.as_str()).collect::<Vec<_>>(),
        ["act-5", "act-6"]
    );
    let reads = |test: usize| {
        let search = plan.tests[test].search.as_ref().unwrap();
        let steps = &plan.tests[test].phases[search.attempts].steps;
        steps[0].action.workload().unwrap().streams[0].clone()
    };
    assert_eq!((reads(0).in_flight_limit(), reads(0).clock), (Some(64), LatencyClock::Due));
    assert_eq!((reads(1).in_flight_limit(), reads(1).clock), (Some(40), LatencyClock::Submission));
}

#[test]
fn the_headline_load_passes_and_rates_are_exact() {
    let run = run("act", &[], "tiny", 60);
    let test = &run.tests[0];
    assert!(run.complete && test.complete);
    let highest = test.headline.value.unwrap();
    assert!(highest >= 1.0, "{highest}");
    let point = test.points.iter().find(|point| point.point.position == highest).unwrap();
    assert_eq!(point.point.totals.reading("borne"), Some(1.0));
    // The offered rate was sent, to 0.1 %.
    let reads = point.point.totals.directions[0].ios as f64;
    let offered =
        (2_000.0 + 1_000.0 / 85.0 * 2.0) * highest * point.point.totals.elapsed.as_secs_f64();
    assert!((reads / offered - 1.0).abs() < 1e-3, "{reads} of {offered}");
    // Latencies from submission are at most those from the due time.
    for point in &test.points {
        let reading = |quantity: &str| point.point.totals.reading(quantity);
        assert!(reading("borne_from_sending") >= reading("borne"), "{}", point.point.label);
        let shares = |from: &str| reading(&format!("{from}_above_1ms_percent")).unwrap();
        assert!(shares("from_sending") <= shares("worst_slice") + 1e-9, "{}", point.point.label);
    }
    // The table of ACT: each load that was tried, with the shares that decided.
    let json = ssdgauge_export::json(std::slice::from_ref(&run));
    let table = json["runs"][0]["tests"][0]["tried_loads"].as_array().unwrap().clone();
    let passed = table.iter().filter(|load| load["passed"] == true);
    assert_eq!(passed.filter_map(|load| load["load"].as_f64()).fold(0.0, f64::max), highest);
    assert!(table.iter().any(|load| load["passed"] == false && load["load"] == highest + 1.0));
    let limits = |load: &serde_json::Value| -> Vec<f64> {
        let above = load["above"].as_array().unwrap();
        above.iter().map(|limit| limit["limit_percent"].as_f64().unwrap()).collect()
    };
    assert!(table.iter().all(|load| limits(load) == [5.0, 1.0, 0.1]), "{table:?}");
    let page = ssdgauge_page::page(std::slice::from_ref(&run), &Default::default());
    assert!(page.contains("Loads tried in full length"));
    // In the form of ACT 6 the intervals hold the service latencies themselves.
    let one_slice = |point: &&PointRun| point.point.totals.elapsed <= Nanos::from_secs(60);
    for point in run.tests[1].points.iter().filter(one_slice) {
        let reading = |quantity: &str| point.point.totals.reading(quantity).unwrap();
        let shares =
            ["from_sending_above_1ms_percent", "worst_slice_above_1ms_percent"].map(reading);
        // Requests in flight at the end of the step are in one of them.
        assert!((shares[0] - shares[1]).abs() < 1e-3, "{}: {shares:?}", point.point.label);
    }
}

#[test]
fn a_load_of_a_day_states_the_hour_in_which_it_fails() {
    // Random writes use up the spare area of this drive: until then it passes loads that it fails later.
    let run = run("act-24h", &["act-5-24h"], "tiny", 120);
    let test = &run.tests[0];
    assert_eq!(test.test.id, "act-5-24h");
    assert_eq!(test.test.title, "Highest load passed for 24 hours, ACT 5: latency from the queue");
    let search = test.test.search.as_ref().unwrap();
    assert_eq!(search.limits.slice, Nanos::from_secs(30), "24 slices of 720 s");
    let highest = test.headline.value.unwrap();
    let failed = |point: &PointRun| point.point.totals.reading("first_failed_slice");
    for point in &test.points {
        let has_passed = point.point.totals.reading("borne") == Some(1.0);
        assert_eq!(failed(point).is_none(), has_passed, "{}", point.point.label);
        // Counted again over the seconds of the step.
        let Some(slice) = failed(point) else { continue };
        let elapsed = point.point.totals.elapsed.as_secs_f64();
        let executions = f64::from(point.point.totals.executions.max(1));
        assert!(slice >= 1.0 && (slice - 1.0) * 30.0 <= elapsed / executions, "{slice} {elapsed}");
        assert!(point.point.position > highest);
    }
    assert!(test.points.iter().any(|point| failed(point).is_some()));
}

#[test]
fn a_load_that_the_drive_does_not_carry_does_not_pass() {
    // Latencies of ACT 6 count from the submission: a drive of four dies that writes slowly never exceeds
    // them, and falls behind its load.
    for target in ["tiny?nand.t_prog_us=6000", "tlc-client?capacity=16GB"] {
        let run = run("act", &["act-6"], target, 60);
        let test = &run.tests[0];
        let mut not_carried = 0;
        for point in &test.points {
            let totals = &point.point.totals;
            let carries = |one: &ssdgauge_core::OpenLoop| {
                let sent = one.sent_per_second / one.asked_per_second;
                // One request is due at the very end of a step.
                sent > 0.99 || one.unsent <= 1
            };
            let carried = point.open_loop.iter().all(carries);
            not_carried += usize::from(!carried);
            assert!(
                carried || totals.reading("borne") == Some(0.0),
                "{target} {}",
                point.point.label
            );
        }
        let highest = test.headline.value.unwrap_or(0.0);
        assert!(
            highest < 300.0 && not_carried > 0,
            "{target}: {highest}, {not_carried} loads were not carried"
        );
    }
}

#[test]
fn a_slower_drive_passes_a_lower_load() {
    let calm = run("act", &["act-5"], "tiny?fault.stall_at_s=-1", 60);
    let slow = run("act", &["act-5"], "tiny?nand.t_r_us=2000", 60);
    let value = |run: &ssdgauge_analysis::Run| run.tests[0].headline.value.unwrap_or(0.0);
    assert!(value(&slow) < value(&calm), "{} {}", value(&slow), value(&calm));
}

#[test]
fn an_interrupted_search_is_resumed_and_completed() {
    let mut rig = rig("tiny");
    let plan = planned("act", &["act-5"], &rig, 600);
    let whole = carried_out(&plan, &mut rig).tests[0].headline.value;
    for steps in [4, 6] {
        let mut first = crate::suites::support::rig("tiny");
        let (_folder, path, mut writer) = begun(&plan, &first);
        let mut watcher = Quiet { steps_left: steps, ..Quiet::default() };
        let cut = conduct(&plan, &mut first, &mut writer, &mut watcher).unwrap();
        assert_eq!(cut, Completion::Interrupted);
        drop(writer);
        assert!(!ssdgauge_analysis::read(&path).unwrap().complete);
        let (mut writer, file) = Writer::resume(&path).unwrap();
        let mut second = crate::suites::support::rig("tiny");
        let on = resume(&file, &mut second, &mut writer, &mut Quiet::default(), "ssdgauge, again")
            .unwrap();
        assert_eq!(on, Completion::Finished);
        drop((writer, file));
        let run = ssdgauge_analysis::read(&path).unwrap();
        assert!(run.complete);
        assert!(run.tests[0].headline.value.is_some() == whole.is_some());
        let file = RunFile::open(&path).unwrap();
        let search = plan.tests[0].search.as_ref().unwrap();
        let tried = |phase| -> Vec<Attempt> { file.search_attempts(0, phase).unwrap() };
        let loads = plan.tests[0].phases[search.attempts].steps.len();
        let end = search.next(loads, &tried(search.probes), &tried(search.attempts));
        assert!(matches!(end, Next::Done(_)), "{end:?}");
    }
}

/// Plans the search of `act-5` with a preparation that writes at random, on `rig`: no two attempts find
/// the drive in quite the same state.
fn planned_after_random_writes(rig: &VirtualRig, shorten: u32) -> Plan {
    let file = include_str!("../../suites/act.toml");
    let fill = "{ fill = \"sequential\", span = \"100%\", block_size = \"128KiB\" },";
    let random = "{ precondition = { access = \"random\", block_size = \"4KiB\", read_percent = 0, \
                  queue_depth = 32, span = \"100%\" }, until = { passes = 1 } },";
    assert!(file.contains(fill));
    let file = file.replace(fill, random).replace("\"prepare.0\", ", "");
    let suite = Suite::parse("own.toml", &file).unwrap_or_else(|error| panic!("{error}"));
    let only = vec!["act-5".to_owned()];
    let options = Options { only, shorten, scale_spans: true, ..Options::default() };
    ssdgauge_lab::plan(&suite, rig.drive(), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// The answer of a search as a range of loads: one load where its trials agree.
fn answer(run: &ssdgauge_analysis::Run) -> Option<(f64, f64)> {
    let headline = &run.tests[0].headline;
    let value = headline.value?;
    Some(headline.interval.ends().unwrap_or((value, value)))
}

#[test]
fn between_drives_with_two_answers_is_one_whose_answer_is_a_range() {
    let search = |read_us: u32| {
        let target = format!(
            "tiny?nand.t_r_us={read_us}&nand.t_prog_us=718&nand.dies=4&over_provisioning=0.264"
        );
        let mut rig = VirtualRig::open(&target, 1).unwrap();
        let plan = planned_after_random_writes(&rig, 600);
        answer(&carried_out(&plan, &mut rig)).unwrap()
    };
    let (mut fast, mut slow) = (290, 330);
    let (lowest, highest) = (search(slow), search(fast));
    assert!(lowest.1 < highest.0, "{lowest:?} {highest:?}");
    // At the read time at which the answer changes, a load passes by chance.
    let mut answers = Vec::new();
    while slow - fast > 1 {
        let middle = (fast + slow) / 2;
        let (low, high) = search(middle);
        answers.push((middle, low, high));
        if low < high {
            println!("{answers:?}");
            return;
        }
        *if low > lowest.1 { &mut fast } else { &mut slow } = middle;
    }
    panic!("every answer is one load: {answers:?}");
}

#[test]
#[ignore = "second tier"]
fn no_search_on_a_drive_of_chance_is_wrong_without_a_range() {
    let drives = if std::env::var_os("SSDGAUGE_LONG").is_some() { 20 } else { 3 };
    let mut ranges = 0;
    for seed in 0..drives {
        let target = random_drive(seed);
        let mut searched = rig(&target);
        let plan = planned_after_random_writes(&searched, 60);
        let run = carried_out(&plan, &mut searched);
        let found = answer(&run);
        let (low, high) = found.unwrap_or_default();
        // Four trials of each load around the answer, each on a drive of its own.
        let around = (low as usize).saturating_sub(3)..(high as usize + 2).min(300);
        let passed = |load: usize| {
            let trial = |other: u64| {
                let mut rig = VirtualRig::open(&target, 7 + other).unwrap();
                carried_out(&only_load(&plan, load), &mut rig).tests[0].headline.value.is_some()
            };
            (1..=4).filter(|other| trial(*other)).count()
        };
        let passed: Vec<(f64, usize)> =
            around.map(|load| (load as f64 + 1.0, passed(load))).collect();
        println!("seed {seed}, {target}: {found:?}; of four trials passed: {passed:?}");
        ranges += u32::from(low < high);
        // A load outside of the answer is not on the other side in every trial.
        for (load, passed) in passed {
            assert!(
                load > low || passed > 0,
                "seed {seed}: {load}x fails, the answer is {found:?}"
            );
            assert!(load <= high || passed < 4, "seed {seed}: {load}x passes, {found:?}");
        }
        let trials = run.tests[0].findings.iter();
        let says = trials.filter(|one| one.finding.kind == FindingKind::TrialsDisagree).count();
        assert_eq!(says > 0, low < high, "seed {seed}: a range has a finding");
    }
    println!("{ranges} of {drives} answers are a range");
}

/// Returns the plan of `plan` with only the load of index `load`.
fn only_load(plan: &Plan, load: usize) -> Plan {
    let mut plan = plan.clone();
    let test = &mut plan.tests[0];
    let search = test.search.clone().unwrap();
    test.search.as_mut().unwrap().repeats = false;
    for phase in [search.probes, search.attempts] {
        let step = test.phases[phase].steps.swap_remove(load);
        test.phases[phase].steps = vec![step];
    }
    plan
}

/// A drive of 1 GB whose reads and programs are slower by factors drawn from `seed`.
fn random_drive(seed: u64) -> String {
    let mut random = Random::new(seed, 1);
    let read = 40 + random.below(300);
    let program = 600 + random.below(3_000);
    let spare = 0.07 + 0.25 * random.unit();
    let dies = 2 << random.below(3);
    format!(
        "tiny?nand.t_r_us={read}&nand.t_prog_us={program}&nand.dies={dies}\
         &over_provisioning={spare:.3}&seed={seed}"
    )
}

#[test]
fn the_search_finds_the_load_that_trying_every_load_finds() {
    let drives = if std::env::var_os("SSDGAUGE_LONG").is_some() { 20 } else { 3 };
    for seed in 0..drives {
        let target = random_drive(seed);
        let mut searched = rig(&target);
        let plan = planned("act", &["act-5"], &searched, 60);
        let found = carried_out(&plan, &mut searched).tests[0].headline.value;
        // Every load up to a third beyond the answer, each on a drive of its own.
        let loads = found.map_or(8, |load| load as usize * 4 / 3 + 4).min(300);
        let passes = |load: &usize| {
            let run = carried_out(&only_load(&plan, *load), &mut rig(&target));
            run.tests[0].headline.value.is_some()
        };
        let passing: Vec<usize> = (0..loads).filter(passes).map(|load| load + 1).collect();
        println!("{target}: search {found:?}, trying every load {passing:?}");
        assert_eq!(found, passing.last().map(|load| *load as f64), "{target}: {passing:?}");
    }
}
