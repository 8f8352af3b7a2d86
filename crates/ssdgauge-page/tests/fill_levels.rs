//! One load at several fill levels, over the runs of one drive.

use crate::support::{Pace, Recipe, plan, run, step, stream, test};
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_core::{
    Access, Action, Bytes, Metric, Phase, PhaseKind, Plan, Preparation, Rest, Score, Step,
    TargetKind,
};
use ssdgauge_page::{fragment, page};

const CAPACITY: u64 = 1_000_000_000_000;

fn prepare(preparation: Preparation) -> Step {
    let action = Action::Prepare(preparation);
    Step { label: "prepare".into(), position: 0.0, action, rest: Rest::None }
}

/// Returns the plan of a random write over `percent` of the drive, behind `preparations`.
fn at_level(suite: &str, percent: u64, preparations: Vec<Step>) -> Plan {
    let write = stream(Access::Random, 4_096, 0, 32);
    let write = ssdgauge_core::Stream { span: Bytes(CAPACITY / 100 * percent), ..write };
    let title = format!("Random write, 4 KiB, {percent} % full");
    let steps = vec![step("write", 1.0, write, 12)];
    let mut one = test("write", &title, Score::MeanOf(Metric::Iops), &[], steps);
    if !preparations.is_empty() {
        one.phases.insert(0, Phase { kind: PhaseKind::Fill, steps: preparations });
    }
    plan(suite, vec![one])
}

fn filled(percent: u64) -> Vec<Step> {
    let (access, block_size) = (Access::Sequential, Bytes(131_072));
    let span = Bytes(CAPACITY / 100 * percent);
    let fill = Preparation::Fill { access, block_size, offset: Bytes(0), span };
    vec![prepare(Preparation::Purge), prepare(fill)]
}

fn drive(id: &str, kind: TargetKind, iops: u64, plan: Plan) -> Run {
    let pace = move |_: &ssdgauge_core::Stream, _: u32| Pace { iops, lat_us: 100.0 };
    let mut recipe = Recipe::new(id, plan, "Disk");
    recipe.pace = &pace;
    recipe.drive.kind = kind;
    recipe.drive.capacity = Bytes(CAPACITY);
    recipe.drive.serial = Some("S1".into());
    run(&recipe)
}

#[test]
fn the_runs_of_one_drive_at_several_levels_are_one_figure() {
    let run = |id: &str, percent: u64, iops: u64| {
        drive(id, TargetKind::Block, iops, at_level(id, percent, filled(percent)))
    };
    let runs = [run("full", 100, 10_000), run("most", 75, 40_000), run("half", 50, 50_000)];
    let options = PageOptions::default();
    let text = page(&runs, &options);
    let section = fragment(&runs, &options, "fill-levels").unwrap();
    assert!(text.contains("href=\"#fill-levels\""));
    assert_eq!(section.matches("<figure ").count(), 1, "{section}");
    assert!(section.contains("falls to 20\u{a0}% from 50 to 100\u{a0}% full"), "{section}");
    for level in ["50\u{a0}% full, 50,000", "75\u{a0}% full, 40,000", "100\u{a0}% full, 10,000"] {
        assert!(section.contains(level), "{level}");
    }
    // A load that changes nothing is a line.
    let equal = fragment(&[run("a", 75, 10_000), run("b", 100, 10_100)], &options, "fill-levels");
    let equal = equal.unwrap();
    assert!(!equal.contains("<figure ") && equal.contains("(75, 100\u{a0}% full)"), "{equal}");
    // One level is not a curve, and a level that is not known is none.
    assert!(!page(&runs[..1], &options).contains("id=\"fill-levels\""));
}

#[test]
fn a_level_is_known_after_a_purge_on_a_whole_drive_only() {
    let whole = || drive("a", TargetKind::Block, 10_000, at_level("a", 100, filled(100)));
    let has_section = |other: Run| {
        page(&[whole(), other], &PageOptions::default()).contains("id=\"fill-levels\"")
    };
    let of = |kind, plan| drive("b", kind, 40_000, plan);
    assert!(has_section(of(TargetKind::Block, at_level("b", 75, filled(75)))));
    assert!(!has_section(of(TargetKind::File, at_level("b", 75, filled(75)))), "a scratch file");
    assert!(!has_section(of(TargetKind::Virtual, at_level("b", 75, filled(75)))), "a model");
    assert!(!has_section(of(TargetKind::Block, at_level("b", 75, vec![]))), "no purge");
    let without_purge = filled(75).split_off(1);
    assert!(!has_section(of(TargetKind::Block, at_level("b", 75, without_purge))));
    // A load that writes beyond the fill raises the level while it runs.
    assert!(!has_section(of(TargetKind::Block, at_level("b", 75, filled(50)))));
    let deeper = ssdgauge_core::Stream { queue_depth: 64, ..stream(Access::Random, 4_096, 0, 32) };
    let mut other = at_level("b", 75, filled(75));
    if let Action::Run { workload, .. } = &mut other.tests[0].phases[1].steps[0].action {
        workload.streams = vec![deeper];
    }
    assert!(!has_section(of(TargetKind::Block, other)), "another load");
}
