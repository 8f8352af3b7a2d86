//! `ssdgauge demo`: a comparative review of six virtual drives.
//!
//! It never opens a real drive, and marks all of its results MODEL.

use crate::arguments;
use crate::build_identity;
use crate::failure::{Failure, FailureKind};
use crate::process::{self, StopFlag};
use crate::{page_file, suite_options, terminal};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdgauge_core::{Finding, Nanos, Phase, Plan, Rig, Step, Test};
use ssdgauge_lab::{Completion, Options, SecondSummary, Watcher};
use ssdgauge_report::PageOptions;
use ssdgauge_runfile::{Opening, Writer};
use ssdgauge_sim::VirtualRig;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One drive of each class. The capacity limits the time: a fill of 64 GB takes seconds, and spare
/// area and caches scale with it.
const DRIVES: [&str; 6] = [
    "tlc-client?capacity=64GB",
    "mlc-client?capacity=64GB",
    "qlc-client?capacity=64GB",
    "sata-datacentre?capacity=64GB",
    "nvme-datacentre?capacity=64GB",
    "xpoint-like?capacity=64GB",
];

/// Runs the demonstration suite on all drives and writes the page.
///
/// # Errors
///
/// Refuses existing outputs; fails where a run fails, is interrupted, or an output cannot be written.
pub(crate) fn execute(arguments: &arguments::DemoArguments) -> Result<(), Failure> {
    let now = process::unix_ms();
    let page = arguments.output.clone().unwrap_or_else(|| {
        PathBuf::from(format!("ssdgauge-demo-{}.html", process::file_timestamp(now)))
    });
    let folder = runs_beside(&page);
    for path in [&page, &folder] {
        if path.symlink_metadata().is_ok() {
            return Err(Failure::new(
                FailureKind::Refused,
                format!("{} exists already", path.display()),
                "nothing was written; name another page with -o FILE",
            ));
        }
    }
    page_file::check_page(&page, &[])?;
    let suite = suite_options::find_suite("demo")?;
    let rigs = DRIVES.iter().map(|drive| {
        let rig = VirtualRig::open(drive, 1);
        rig.map_err(|error| {
            Failure::new(
                FailureKind::Failed,
                error.to_string(),
                "this is a bug in ssdgauge: please report it",
            )
        })
    });
    let mut runs = Vec::new();
    for rig in rigs {
        let rig = rig?;
        let plan = ssdgauge_lab::plan(&suite, rig.drive(), &Options::default())?;
        let name = rig.drive().name().to_lowercase().replace(|c: char| !c.is_alphanumeric(), "-");
        runs.push(DemoRun {
            file: folder.join(format!("{}.ssdg", name.trim_start_matches("model-"))),
            plan,
            rig,
        });
    }
    std::fs::create_dir_all(&folder).map_err(|error| {
        let text = format!("cannot create {}: {error}", folder.display());
        Failure::new(
            FailureKind::Refused,
            text,
            "nothing was written; name another page with -o FILE",
        )
    })?;
    let stop = StopFlag::listen()?;
    terminal::print_message(&format!(
        "demo: six virtual drives (MODEL), run files in {}",
        folder.display()
    ));
    let files: Vec<PathBuf> = runs.iter().map(|run| run.file.clone()).collect();
    let progress = DemoProgress::new(runs.iter().map(|run| run.plan.steps().count()).sum());
    run_all(runs, &progress, &stop, now)?;
    progress.finish();
    let runs = ssdgauge_report::read_all(&files)?;
    let title = Some("Six virtual drives compared".to_owned());
    let options = PageOptions { title, ..PageOptions::default() };
    page_file::write_page(&page, &[], &runs, &options)?;
    terminal::print_message(&format!(
        "run files: {}\nreport:    {}",
        folder.display(),
        page.display()
    ));
    if terminal::has_desktop() && open(&page).is_err() {
        terminal::print_message("no browser was started (xdg-open failed): open the report in one");
    }
    Ok(())
}

/// Returns the folder of the run files of a page: `NAME-runs` beside `NAME.html`.
fn runs_beside(page: &Path) -> PathBuf {
    let name = page.file_stem().unwrap_or(page.as_os_str()).to_string_lossy();
    page.with_file_name(format!("{name}-runs"))
}

/// The run of one drive.
struct DemoRun {
    file: PathBuf,
    plan: Plan,
    rig: VirtualRig,
}

/// Runs all drives, as many in parallel as there are processors; returns the first failure.
fn run_all(
    runs: Vec<DemoRun>,
    progress: &DemoProgress,
    stop: &StopFlag,
    now: i64,
) -> Result<(), Failure> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(runs.len());
    // Taken from the end of the list: the drive that takes longest is last, and starts first.
    let queue = Mutex::new(runs);
    let failures: Mutex<Vec<Failure>> = Mutex::new(Vec::new());
    let next = || queue.lock().map(|mut runs| runs.pop()).unwrap_or_default();
    let record = |failure: Failure| {
        if let Ok(mut failures) = failures.lock() {
            failures.push(failure);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(run) = next() {
                    if let Err(failure) = run_one(run, progress, stop, now) {
                        record(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_default();
    failures.into_iter().next().map_or(Ok(()), Err)
}

fn run_one(
    run: DemoRun,
    progress: &DemoProgress,
    stop: &StopFlag,
    now: i64,
) -> Result<(), Failure> {
    let DemoRun { file, plan, mut rig } = run;
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
    let mut writer = Writer::create(&file, &opening)?;
    let name = rig.drive().name().to_owned();
    let mut watcher = DriveWatcher { progress, stop: stop.clone(), name: &name };
    match ssdgauge_lab::conduct(&plan, &mut rig, &mut writer, &mut watcher)? {
        Completion::Interrupted => Err(Failure::new(
            FailureKind::Interrupted,
            "interrupted",
            "start it again: it takes about a minute; the run files of this one are kept",
        )),
        Completion::Finished => {
            progress.print_line(&format!("{name}: done"));
            Ok(())
        }
    }
}

/// The progress of all drives together.
struct DemoProgress {
    bar: Option<ProgressBar>,
    steps: usize,
    done: AtomicUsize,
}

impl DemoProgress {
    fn new(steps: usize) -> DemoProgress {
        let bar = terminal::has_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:24} {percent:>3}%  {msg}");
            let bar =
                ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
            bar.set_style(style.expect("the template is valid").progress_chars("━╸─"));
            bar
        });
        DemoProgress { bar, steps, done: AtomicUsize::new(0) }
    }

    /// Counts a step that starts, and draws the bar with `message`.
    fn step(&self, message: &str) {
        // A search skips steps, and a repeated attempt counts again: only about right, so limited.
        let done = self.done.fetch_add(1, Ordering::Relaxed).min(self.steps.saturating_sub(1));
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
            bar.set_message(message.to_owned());
        }
    }

    fn print_line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => terminal::print_message(line),
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The watcher of one drive.
struct DriveWatcher<'a> {
    progress: &'a DemoProgress,
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

    fn second_ended(&mut self, _glimpse: &SecondSummary) {}

    fn pause_began(&mut self, _duration: Nanos) {}

    fn finding_recorded(&mut self, _finding: &Finding) {}

    fn wait_for_reader(&mut self) -> bool {
        std::thread::sleep(std::time::Duration::from_millis(250));
        !self.stop.is_set()
    }

    fn step_ended(&mut self, _test: &Test, _step: &Step, _elapsed: Nanos) {}
}

/// Opens the page in the default browser, without waiting for it.
fn open(page: &Path) -> std::io::Result<()> {
    let null = std::process::Stdio::null;
    std::process::Command::new("xdg-open")
        .arg(std::path::absolute(page)?)
        .stdin(null())
        .stdout(null())
        .stderr(null())
        .spawn()
        .map(drop)
}
