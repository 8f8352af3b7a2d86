//! Several runs of virtual drives side by side, with one progress bar.

use crate::build_identity;
use crate::failure::{Failure, FailureKind};
use crate::in_parallel;
use crate::process::{self, StopFlag};
use ssdgauge_core::{Finding, Nanos, Phase, Plan, Rig, Step, Test};
use ssdgauge_lab::{Completion, Watcher};
use ssdgauge_runfile::{Opening, Writer};
use ssdgauge_sim::VirtualRig;
use ssdgauge_watch::terminal;
use ssdgauge_watch::terminal::live_lines::{Count, LiveLines};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A run of a virtual drive that is to be carried out.
pub(crate) struct VirtualRun {
    /// The new run file.
    pub(crate) file: PathBuf,
    /// Its name until the run has finished; the same one where an interrupted run is kept.
    pub(crate) in_progress: PathBuf,
    /// The drive behind `sim:`; it is created when its run begins, because a large one takes much
    /// memory.
    pub(crate) target: String,
    /// The seed of the drive.
    pub(crate) seed: u64,
    /// The plan.
    pub(crate) plan: Plan,
}

/// Carries out `runs`, as many in parallel as there are processors; the last one of the list starts
/// first. `again` is the advice where they are interrupted.
///
/// # Errors
///
/// Returns the first failure, an interruption last.
pub(crate) fn run_all(
    runs: Vec<VirtualRun>,
    stop: &StopFlag,
    now: i64,
    again: &str,
) -> Result<(), Failure> {
    let progress = RunsProgress::new(runs.iter().map(|run| run.plan.steps().count() as u64).sum());
    let runs: Vec<VirtualRun> = runs.into_iter().rev().collect();
    let results = in_parallel::map(runs, |run| run_one(run, &progress, stop, now, again));
    progress.lines.remove();
    let mut failures: Vec<Failure> = results.into_iter().filter_map(Result::err).collect();
    // A failure is stated before the interruption that ended the other runs.
    failures.sort_by_key(|failure| failure.kind == FailureKind::Interrupted);
    failures.into_iter().next().map_or(Ok(()), Err)
}

fn run_one(
    run: VirtualRun,
    progress: &RunsProgress,
    stop: &StopFlag,
    now: i64,
    again: &str,
) -> Result<(), Failure> {
    let VirtualRun { file, in_progress, target, seed, plan } = run;
    if stop.is_set() {
        return Err(Failure::new(FailureKind::Interrupted, "interrupted", again));
    }
    let mut rig = VirtualRig::open(&target, seed).map_err(|error| {
        let hint = "nothing was run; `ssdgauge drives sim:` lists the profiles";
        Failure::new(FailureKind::Usage, error.to_string(), hint)
    })?;
    let id = process::run_id(now)?;
    let opening = Opening {
        id: &id,
        program: &build_identity::program(),
        unix_ms: now,
        plan: &plan,
        drive: rig.drive(),
        environment: &ssdgauge_host::environment(None),
        properties: &[],
    };
    let mut writer = Writer::create(&in_progress, &opening)?;
    let name = rig.drive().name().to_owned();
    let mut watcher = DriveWatcher { progress, stop: stop.clone(), name: &name };
    let completion = ssdgauge_lab::conduct(&plan, &mut rig, &mut writer, &mut watcher)?;
    drop(writer);
    match completion {
        Completion::Interrupted => {
            Err(Failure::new(FailureKind::Interrupted, "interrupted", again))
        }
        Completion::Finished => {
            rename(&in_progress, &file)?;
            let tests: Vec<&str> = plan.tests.iter().map(|test| test.id.as_str()).collect();
            let which = if tests.len() == 1 { format!(", {}", tests[0]) } else { String::new() };
            progress.lines.print(&format!("{name}{which}: done"));
            Ok(())
        }
    }
}

/// Gives a finished run file its name.
fn rename(in_progress: &Path, file: &Path) -> Result<(), Failure> {
    if in_progress == file {
        return Ok(());
    }
    ssdgauge_os::outputs::replace(in_progress, file).map_err(|error| {
        let text = format!("cannot rename {}: {error}", in_progress.display());
        Failure::new(FailureKind::Failed, text, "check that the folder is writable")
    })
}

/// The progress of all drives together.
struct RunsProgress {
    lines: LiveLines,
    count: Count,
    steps: u64,
    done: AtomicU64,
}

impl RunsProgress {
    fn new(steps: u64) -> RunsProgress {
        let (lines, count) = (LiveLines::of_stderr(), Count::to(steps));
        RunsProgress { lines, count, steps, done: AtomicU64::new(0) }
    }

    /// Counts a step that starts, and draws the bar with `message`.
    fn step(&self, message: &str) {
        // A search skips steps, and a repeated attempt counts again: only about right, so limited.
        let done = self.done.fetch_add(1, Ordering::Relaxed).min(self.steps.saturating_sub(1));
        self.lines.show(vec![format!("{}  {}", self.count.bar(done), terminal::line(message))]);
    }
}

/// The watcher of one drive.
struct DriveWatcher<'a> {
    progress: &'a RunsProgress,
    stop: StopFlag,
    name: &'a str,
}

impl Watcher for DriveWatcher<'_> {
    fn unix_ms(&mut self) -> i64 {
        process::unix_ms()
    }

    fn stop(&mut self) -> bool {
        self.stop.is_set()
    }

    fn step_began(&mut self, test: &Test, _phase: &Phase, step: &Step) {
        self.progress.step(&format!("{}  {} {}", self.name, test.id, step.label));
    }

    fn pause_began(&mut self, _duration: Nanos) {}

    fn finding_recorded(&mut self, _finding: &Finding) {}

    fn wait_for_reader(&mut self) -> bool {
        std::thread::sleep(std::time::Duration::from_millis(250));
        !self.stop.is_set()
    }

    fn step_ended(&mut self, _test: &Test, _step: &Step, _elapsed: Nanos) {}
}
