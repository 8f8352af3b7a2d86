//! Screens of virtual runs at many sizes.

use super::*;
use crate::followed::Standing;
use crate::{json_lines, metrics};
use ssdgauge_core::{
    Direction, EngineReport, Finding, Histogram, Interval, Nanos, Phase, PhaseKind, Plan, Random,
    Rig, Step, Test, Workload, rounded,
};
use ssdgauge_export::Exposition;
use ssdgauge_lab::{Options, Watcher};
use ssdgauge_runfile::{Opening, StepEnd, StepId, StepState, Writer};
use ssdgauge_sim::VirtualRig;
use std::path::Path;
use std::time::Instant;
use textwrap::core::display_width;

/// Stops the run at the beginning of a step.
struct StopAt {
    step: usize,
    begun: usize,
}

impl Watcher for StopAt {
    fn unix_ms(&mut self) -> i64 {
        1_795_000_000_000
    }
    fn stop(&mut self) -> bool {
        self.begun > self.step
    }
    fn step_began(&mut self, _: &Test, _: &Phase, _: &Step) {
        self.begun += 1;
    }
    fn pause_began(&mut self, _: Nanos) {}
    fn finding_recorded(&mut self, _: &Finding) {}
    fn wait_for_reader(&mut self) -> bool {
        true
    }
    fn step_ended(&mut self, _: &Test, _: &Step, _: Nanos) {}
}

/// Creates the file of a run of `plan`.
fn create(path: &Path, plan: &Plan, rig: &VirtualRig, environment: &[(String, String)]) -> Writer {
    let opening = Opening {
        id: "20261120-000000-00000001",
        program: "ssdgauge",
        unix_ms: 1_795_000_000_000,
        plan,
        drive: rig.drive(),
        environment,
        properties: &[],
    };
    Writer::create(path, &opening).unwrap()
}

/// Makes a run of the suite `quick` on a virtual drive that ends at the beginning of step `until`, and
/// follows it to its end.
fn watched(path: &Path, label: &str, until: usize) -> Watched {
    let mut rig = VirtualRig::open("tlc-client?capacity=16GB", 1).unwrap();
    let suite = ssdgauge_lab::find_built_in("quick").unwrap();
    let options = Options { shorten: 5, ..Options::default() };
    let plan: Plan = ssdgauge_lab::plan(&suite, rig.drive(), &options).unwrap();
    let mut writer = create(path, &plan, &rig, &[("label".to_owned(), label.to_owned())]);
    let mut watcher = StopAt { step: until, begun: 0 };
    ssdgauge_lab::conduct(&plan, &mut rig, &mut writer, &mut watcher).unwrap();
    drop(writer);
    let mut watched = Watched::open(path).unwrap();
    let began = Instant::now();
    while !watched.is_over() {
        watched.poll();
        assert!(began.elapsed().as_secs() < 60, "it has no end");
    }
    assert!(watched.lost.is_none(), "{:?}", watched.lost);
    watched
}

/// Returns what a terminal of this size shows.
fn drawn(all: &[Watched], (width, height): (u16, u16), view: View, unicode: bool) -> Vec<String> {
    let rows = lines(all, (width, height), view, Look { paint: Paint::Colours, unicode });
    let text = |row: &Line| row.painted(Paint::None);
    let rows: Vec<String> = rows.iter().map(text).collect();
    assert!(rows.len() <= usize::from(height), "{} rows of {height}", rows.len());
    for row in &rows {
        assert!(display_width(row) <= usize::from(width), "wider than {width}: {row}");
    }
    rows.iter().map(|row| row.trim_end().to_owned()).collect()
}

#[test]
fn the_screen_of_a_run_fits_every_size_and_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let all = [watched(&folder.path().join("a.ssdg"), "bare", usize::MAX)];
    assert_eq!(all[0].run.standing(), Standing::Finished);
    for width in [20, 60, 61, 80, 100, 120, 200, 240] {
        for height in [3, 6, 12, 16, 24, 50] {
            for is_whole in [false, true] {
                for unicode in [false, true] {
                    let view = View { is_whole, ..View::default() };
                    let lines = drawn(&all, (width, height), view, unicode);
                    for line in &lines {
                        assert!(display_width(line) <= usize::from(width.min(WIDEST)), "{line}");
                        assert!(unicode || line.is_ascii(), "{line}");
                    }
                    assert!(lines[0].starts_with("MODEL"), "{lines:#?}");
                    assert!(lines.last().unwrap().contains("q leave"), "{lines:#?}");
                }
            }
        }
    }
    let text = drawn(&all, (80, 24), View::default(), true).join("\n");
    for part in ["(bare) · quick SHORTENED", "finished", "MB/s", "p99 ", "°C", " W", "written", "✓"]
    {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn the_steps_of_an_interrupted_run_are_done_or_to_come() {
    let folder = tempfile::tempdir().unwrap();
    let all = [watched(&folder.path().join("a.ssdg"), "bare", 3)];
    assert_eq!(all[0].run.standing(), Standing::Interrupted);
    let text = drawn(&all, (100, 40), View::default(), true).join("\n");
    assert!(text.contains("interrupted") && text.contains("    1 ✓ "), "{text}");
    assert!(text.contains("    6 · "), "{text}");
    let failure = all[0].run.failure().unwrap();
    assert!(matches!(failure, crate::Lost::Ended { .. }), "{failure}");
}

#[test]
fn several_runs_share_one_scale_and_show_the_same_step_from_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, until| watched(&folder.path().join(name), name, until);
    let all = [run("first", usize::MAX), run("second", usize::MAX), run("third", 4)];
    for width in [60, 80, 100, 200] {
        for height in [6, 24] {
            let lines = drawn(&all, (width, height), View::default(), true);
            assert!(lines[0].starts_with("MODEL quick SHORTENED on 3 drives"), "{lines:#?}");
        }
        let lines = drawn(&all, (width, 24), View::default(), true);
        let row = |name: &str| lines.iter().find(|line| line.contains(name)).unwrap().clone();
        let spark =
            |line: &str| line.chars().filter(|c| "▁▂▃▄▅▆▇█".contains(*c)).collect::<String>();
        // Equal drives with equal seeds have equal courses.
        assert_eq!(spark(&row("first")), spark(&row("second")), "{lines:#?}");
        assert!(!spark(&row("first")).is_empty(), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("third") && line.contains("interrupted in")));
        assert!(lines.iter().any(|line| line.starts_with("2 of 3 finished")), "{lines:#?}");
    }
    // Moved back to a step that all three have, their sparklines are equal.
    let back = View { moved: -12, ..View::default() };
    let lines = drawn(&all, (200, 24), back, true);
    let rows: Vec<&String> = lines.iter().filter(|line| line.contains("█")).collect();
    assert_eq!(rows.len(), 3, "{lines:#?}");
}

#[test]
fn with_too_few_rows_the_runs_that_stopped_are_shown_and_the_others_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, until| watched(&folder.path().join(name), name, until);
    let mut all: Vec<Watched> =
        ["aa", "bb", "cc", "dd", "ee", "ff"].map(|name| run(name, usize::MAX)).into();
    all.push(run("stopped-one", 4));
    for width in [60, 100, 200] {
        let lines = drawn(&all, (width, 9), View::default(), true);
        let more = lines.iter().position(|line| line.contains(" more: ")).unwrap();
        let names = ["aa", "bb", "cc", "dd", "ee", "ff", "stopped-one"];
        let is_row = |line: &&String| names.iter().any(|name| line.starts_with(name));
        let rows: Vec<&String> = lines[..more].iter().filter(is_row).collect();
        assert!(rows[0].starts_with("stopped-one"), "it has the first row: {lines:#?}");
        assert!(lines[more].starts_with(&format!("{} more: ", 7 - rows.len())), "{lines:#?}");
        let lines = drawn(&all, (width, 40), View::default(), true);
        assert!(!lines.iter().any(|line| line.contains(" more: ")), "{lines:#?}");
        let first = lines.iter().position(|line| line.contains("aa")).unwrap();
        assert!(
            lines[first + 6].contains("stopped-one"),
            "in the order of the command: {lines:#?}"
        );
    }
}

/// A part of a step as it is recorded: its length, and requests and bytes of each direction.
type Part = (Nanos, Vec<(Direction, u64, u64)>);

/// A run whose steps have random seconds and tails, recorded one after the other.
struct RandomRun {
    random: Random,
    writer: Writer,
    watched: Watched,
    /// Every part that was recorded, with its step and number.
    parts: Vec<(StepId, u32, Part)>,
    /// The objects of the seconds that were watched.
    seconds: Vec<serde_json::Value>,
}

impl RandomRun {
    /// Records and returns part `number` of `step`, of `length`.
    fn record(&mut self, step: StepId, number: u32, length: Nanos, load: &Workload) -> Part {
        let mut sides = Vec::new();
        for direction in load.directions() {
            let ios = 100 + self.random.below(200);
            let bytes = ios * 4_096 * (1 + self.random.below(9));
            let mut latency = Histogram::default();
            (0..ios).for_each(|_| latency.record(80_000));
            let interval = Interval {
                second: number,
                stream: 0,
                direction,
                length,
                ios,
                bytes,
                errors: 0,
                latency,
            };
            self.writer.interval(step, &interval).unwrap();
            sides.push((direction, ios, bytes));
        }
        self.parts.push((step, number, (length, sides.clone())));
        (length, sides)
    }

    /// Commits, and compares screen and metrics with `expected`, the part whose numbers stand for the
    /// current step.
    fn check(&mut self, expected: Option<&Part>) {
        self.writer.commit().unwrap();
        let began = Instant::now();
        loop {
            let events = self.watched.poll();
            assert!(self.watched.lost.is_none(), "{:?}", self.watched.lost);
            let objects = events.iter().map(|event| json_lines::event(&self.watched.run, event));
            self.seconds.extend(objects.filter(|one| one["event"] == "second"));
            if self.watched.run.has_all() {
                break;
            }
            assert!(began.elapsed().as_secs() < 60, "it has no end");
        }
        let all = std::slice::from_ref(&self.watched);
        let screen = drawn(all, (100, 24), View::default(), true);
        let text = metrics::text(all, Exposition::OpenMetrics);
        let gauge = |name: &str, direction: Direction| {
            let label = format!("direction=\"{}\"", direction.name());
            let is_it = |line: &&str| line.starts_with(name) && line.contains(&label);
            let line = text.lines().find(is_it)?;
            line.rsplit(' ').next().map(|value| value.parse::<f64>().unwrap())
        };
        let rate = |count: u64, length: Nanos| count as f64 * 1e9 / length.0 as f64;
        for direction in Direction::ALL {
            let of = expected.and_then(|(length, sides)| {
                let side = sides.iter().find(|(one, ..)| *one == direction)?;
                Some((rate(side.1, *length), rate(side.2, *length)))
            });
            let iops = gauge("ssdgauge_run_iops{", direction);
            let bytes = gauge("ssdgauge_run_throughput_bytes_per_second{", direction);
            assert!(is_near(iops, of.map(|of| of.0)), "{direction:?}: {iops:?}, not {of:?}");
            assert!(is_near(bytes, of.map(|of| of.1)), "{direction:?}: {bytes:?}, not {of:?}");
        }
        match expected {
            Some((length, sides)) => {
                let sum = |field: fn(&(Direction, u64, u64)) -> u64| -> u64 {
                    sides.iter().map(field).sum()
                };
                let (iops, bytes) = (sum(|side| side.1), sum(|side| side.2));
                let mb_s = rounded::number(rate(bytes, *length) / 1e6);
                let iops = rounded::number(rate(iops, *length));
                let words = format!("{mb_s} MB/s  {iops} IOPS  p99 ");
                assert!(screen[2].starts_with(&words), "{words:?}: {screen:#?}");
            }
            None => assert!(!screen[2].contains("IOPS"), "{screen:#?}"),
        }
    }
}

fn is_near(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found / expected - 1.0).abs() < 1e-9,
        (found, expected) => found == expected,
    }
}

#[test]
fn a_tail_is_not_a_rate_and_numbers_stand_below_the_name_of_their_step_on_every_surface() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ssdg");
    let rig = VirtualRig::open("tlc-client?capacity=16GB", 1).unwrap();
    let suite = ssdgauge_lab::find_built_in("quick").unwrap();
    let plan = ssdgauge_lab::plan(&suite, rig.drive(), &Options::default()).unwrap();
    let writer = create(&path, &plan, &rig, &[]);
    let mut watched = Watched::open(&path).unwrap();
    watched.is_held = true;
    let seed = std::process::id().into();
    println!("seed {seed}");
    let (parts, seconds) = (Vec::new(), Vec::new());
    let mut run = RandomRun { random: Random::new(seed, 0), writer, watched, parts, seconds };
    let loads = crate::step_title::places(&plan)
        .filter_map(|(place, step)| Some((place, step, step.action.workload()?)));
    let mut steps = Vec::new();
    for (place, step, load) in loads {
        let id = run.writer.begin_step(place, 1, &plan, 1_795_000_000_000).unwrap();
        run.check(None);
        let full = run.random.below(4) as u32;
        let mut recorded: Vec<Part> =
            (0..full).map(|number| run.record(id, number, Nanos::SECOND, load)).collect();
        // The last second is complete when something follows it.
        run.check(recorded.iter().rev().nth(1));
        let tails = [1, 33_000, 348_000, 499_999_999, 500_000_000, 900_000_000];
        let tail = Nanos(tails[run.random.below(tails.len() as u64) as usize]);
        recorded.push(run.record(id, full, tail, load));
        let elapsed = Nanos::SECOND * u64::from(full) + tail;
        let end = StepEnd {
            state: StepState::Finished,
            unix_ms: 1_795_000_010_000,
            elapsed,
            ended_by: "time".to_owned(),
            report: serde_json::to_string(&EngineReport::default()).unwrap(),
        };
        run.writer.finish_step(id, &end).unwrap();
        let is_rate = |part: &&Part| part.0.0 >= 500_000_000;
        run.check(recorded.iter().rev().find(is_rate));
        steps.push((place, step, recorded));
    }
    assert!(steps.len() >= 8, "{} steps", steps.len());
    let RandomRun { parts, seconds, writer, .. } = run;
    drop(writer);

    // JSON lines: every part once, with its counts; a rate where it is long enough.
    assert_eq!(seconds.len(), parts.len());
    for (object, (step, number, (length, sides))) in seconds.iter().zip(&parts) {
        assert_eq!((&object["step_id"], &object["second"]), (&step.0.into(), &(*number).into()));
        for (direction, ios, bytes) in sides {
            let side = &object[direction.name()];
            assert_eq!((&side["requests"], &side["bytes"]), (&(*ios).into(), &(*bytes).into()));
            let expected = (length.0 >= 500_000_000).then(|| *ios as f64 * 1e9 / length.0 as f64);
            assert!(is_near(side["iops"].as_f64(), expected), "{object}");
        }
    }
    // The report: full seconds, and a single part only where it is long enough.
    let report = ssdgauge_analysis::read(&path).unwrap();
    for (place, step, recorded) in steps {
        let is_measured = plan.tests[place.test].phases[place.phase].kind == PhaseKind::Measure;
        let test = &report.tests[place.test];
        let is_it = |point: &&ssdgauge_analysis::PointRun| point.point.label == step.label;
        let Some(point) = test.points.iter().find(is_it).filter(|_| is_measured) else {
            assert!(!is_measured, "{} has no point", step.label);
            continue;
        };
        let is_full = |part: &&Part| part.0 == Nanos::SECOND;
        let mut expected: Vec<&Part> = recorded.iter().filter(is_full).collect();
        if expected.is_empty() {
            expected.extend(recorded.iter().filter(|part| part.0.0 >= 500_000_000));
        }
        let shown: Vec<f64> = point.seconds().map(|second| second.iops()).collect();
        assert_eq!(shown.len(), expected.len(), "{}", step.label);
        for (shown, (length, sides)) in shown.iter().zip(expected) {
            let ios: u64 = sides.iter().map(|side| side.1).sum();
            let rate = ios as f64 * 1e9 / length.0 as f64;
            assert!(is_near(Some(*shown), Some(rate)), "{}: {shown} {rate}", step.label);
        }
    }
}

#[test]
fn only_rows_that_changed_are_written() {
    let row = |text: &str| text.to_owned();
    let mut bytes = Vec::new();
    let shown = [row("a"), row("b"), row("c")];
    queue_changes(&mut bytes, &shown, &[row("a"), row("x")]).unwrap();
    // ECMA-48: CUP (row; column) counts from one, EL 2 clears the line.
    assert_eq!(String::from_utf8(bytes).unwrap(), "\x1b[2;1H\x1b[2Kx\x1b[3;1H\x1b[2K");
    let mut bytes = Vec::new();
    queue_changes(&mut bytes, &shown, &shown).unwrap();
    assert!(bytes.is_empty());
}
