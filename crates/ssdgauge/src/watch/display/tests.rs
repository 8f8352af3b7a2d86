//! Screens of virtual runs at many sizes.

use super::*;
use crate::build_identity;
use crate::watch::followed::Standing;
use ratatui::backend::TestBackend;
use ssdgauge_core::{Finding, Nanos, Phase, Plan, Rig, Step, Test};
use ssdgauge_lab::{Options, SecondSummary, Watcher};
use ssdgauge_runfile::{Opening, Writer};
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
    fn second_ended(&mut self, _: &SecondSummary) {}
    fn pause_began(&mut self, _: Nanos) {}
    fn finding_recorded(&mut self, _: &Finding) {}
    fn wait_for_reader(&mut self) -> bool {
        true
    }
    fn step_ended(&mut self, _: &Test, _: &Step, _: Nanos) {}
}

/// Makes a run of the suite `quick` on a virtual drive that ends at the beginning of step `until`, and
/// follows it to its end.
fn watched(path: &Path, label: &str, until: usize) -> Watched {
    let mut rig = VirtualRig::open("tlc-client?capacity=16GB", 1).unwrap();
    let suite = ssdgauge_lab::find_built_in("quick").unwrap();
    let options = Options { shorten: 5, ..Options::default() };
    let plan: Plan = ssdgauge_lab::plan(&suite, rig.drive(), &options).unwrap();
    let opening = Opening {
        id: "20261120-000000-00000001",
        program: &build_identity::program(),
        unix_ms: 1_795_000_000_000,
        plan: &plan,
        drive: rig.drive(),
        environment: &[("label".to_owned(), label.to_owned())],
        properties: &[],
    };
    let mut writer = Writer::create(path, &opening).unwrap();
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
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    draw(&mut terminal, all, view, Look { paint: Paint::Colours, unicode }).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| row(y).trim_end().to_owned()).collect()
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
    assert_eq!(failure.exit_code(), 75);
    assert!(failure.hint.contains("ssdgauge resume"), "{}", failure.hint);
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
