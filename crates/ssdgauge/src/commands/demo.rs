//! The demonstration: a comparative review of six virtual drives, for people without a spare one.
//!
//! Nothing of it touches a real drive, and everything that comes from it says MODEL.

use crate::arguments;
use crate::failure::{Failure, Kind};
use crate::process::{self, StopFlag};
use crate::{page_file, suite_options, terminal};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdgauge_core::{Finding, Nanos, Phase, Plan, Rig, Step, Test};
use ssdgauge_lab::{Completion, Glimpse, Options, Watcher};
use ssdgauge_report::PageOptions;
use ssdgauge_runfile::{Opening, Writer};
use ssdgauge_sim::VirtualRig;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One drive of each class. The capacity bounds the time: a fill of 64 GB takes seconds, and spare
/// area and caches keep their share.
const DRIVES: [&str; 6] = [
    "tlc-client?capacity=64GB",
    "mlc-client?capacity=64GB",
    "qlc-client?capacity=64GB",
    "sata-datacentre?capacity=64GB",
    "nvme-datacentre?capacity=64GB",
    "xpoint-like?capacity=64GB",
];

/// Runs the demonstration and draws its page.
pub(crate) fn demo(arguments: &arguments::Demo) -> Result<(), Failure> {
    let now = process::unix_ms();
    let page = arguments
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("ssdgauge-demo-{}.html", process::stamp(now))));
    let folder = runs_beside(&page);
    for path in [&page, &folder] {
        if path.symlink_metadata().is_ok() {
            return Err(Failure::new(
                Kind::Refused,
                format!("{} exists already", path.display()),
                "nothing was written; name another page with -o FILE",
            ));
        }
    }
    page_file::check_page(&page, &[])?;
    let suite = suite_options::find("demo")?;
    let rigs = DRIVES.iter().map(|drive| {
        let rig = VirtualRig::open(drive, 1);
        rig.map_err(|error| Failure::new(Kind::Broke, error.to_string(), "please report it"))
    });
    let mut works = Vec::new();
    for rig in rigs {
        let rig = rig?;
        let plan = ssdgauge_lab::plan(&suite, rig.drive(), &Options::default())?;
        let name = rig.drive().name().to_lowercase().replace(|c: char| !c.is_alphanumeric(), "-");
        works.push(Work {
            file: folder.join(format!("{}.ssdg", name.trim_start_matches("model-"))),
            plan,
            rig,
        });
    }
    std::fs::create_dir_all(&folder).map_err(|error| {
        let text = format!("cannot create {}: {error}", folder.display());
        Failure::new(Kind::Refused, text, "nothing was written; name another page with -o FILE")
    })?;
    let stop = StopFlag::listen()?;
    terminal::talk(&format!("demo: six virtual drives (MODEL), run files in {}", folder.display()));
    let files: Vec<PathBuf> = works.iter().map(|work| work.file.clone()).collect();
    let board = Board::new(works.iter().map(|work| work.plan.steps().count()).sum());
    carry_out(works, &board, &stop, now)?;
    board.finish();
    let runs = ssdgauge_report::read_all(&files)?;
    let title = Some("Six virtual drives compared".to_owned());
    let options = PageOptions { title, ..PageOptions::default() };
    page_file::write_page(&page, &[], &runs, &options)?;
    terminal::talk(&format!("run files: {}\nreport:    {}", folder.display(), page.display()));
    if terminal::has_desktop() && open(&page).is_err() {
        terminal::talk("no browser was found: open the report in one");
    }
    Ok(())
}

/// Returns the folder of the run files of a page.
fn runs_beside(page: &Path) -> PathBuf {
    let name = page.file_stem().unwrap_or(page.as_os_str()).to_string_lossy();
    page.with_file_name(format!("{name}-runs"))
}

/// One drive that goes through the suite.
struct Work {
    file: PathBuf,
    plan: Plan,
    rig: VirtualRig,
}

/// Runs every drive, as many at once as there are processors.
fn carry_out(works: Vec<Work>, board: &Board, stop: &StopFlag, now: i64) -> Result<(), Failure> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(works.len());
    // From the end of the list: the drive that takes longest stands there, and begins first.
    let queue = Mutex::new(works);
    let failures: Mutex<Vec<Failure>> = Mutex::new(Vec::new());
    let next = || queue.lock().map(|mut works| works.pop()).unwrap_or_default();
    let keep = |failure: Failure| {
        if let Ok(mut failures) = failures.lock() {
            failures.push(failure);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(work) = next() {
                    if let Err(failure) = one(work, board, stop, now) {
                        keep(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_default();
    failures.into_iter().next().map_or(Ok(()), Err)
}

fn one(work: Work, board: &Board, stop: &StopFlag, now: i64) -> Result<(), Failure> {
    let Work { file, plan, mut rig } = work;
    let id = process::run_id(now)?;
    let opening = Opening {
        id: &id,
        program: concat!("ssdgauge ", env!("CARGO_PKG_VERSION")),
        unix_ms: now,
        plan: &plan,
        drive: rig.drive(),
        environment: &ssdgauge_host::environment(None),
    };
    let mut writer = Writer::create(&file, &opening)?;
    let name = rig.drive().name().to_owned();
    let mut watcher = OnBoard { board, stop: stop.clone(), name: &name };
    match ssdgauge_lab::conduct(&plan, &mut rig, &mut writer, &mut watcher)? {
        Completion::Interrupted => Err(Failure::new(
            Kind::Interrupted,
            "interrupted",
            "run it again: a demonstration takes a minute; its run files stay where they are",
        )),
        Completion::Finished => {
            board.say(&format!("{name}: done"));
            Ok(())
        }
    }
}

/// The progress of all drives together.
struct Board {
    bar: Option<ProgressBar>,
    steps: usize,
    done: AtomicUsize,
}

impl Board {
    fn new(steps: usize) -> Board {
        let bar = terminal::has_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:24} {percent:>3}%  {msg}");
            let bar =
                ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
            bar.set_style(style.expect("the template is valid").progress_chars("━╸─"));
            bar
        });
        Board { bar, steps, done: AtomicUsize::new(0) }
    }

    fn step(&self, words: &str) {
        // A search leaves steps out, and what was tried once more is counted once more.
        let done = self.done.fetch_add(1, Ordering::Relaxed).min(self.steps.saturating_sub(1));
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
            bar.set_message(words.to_owned());
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => terminal::talk(line),
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// One drive's part in the progress.
struct OnBoard<'a> {
    board: &'a Board,
    stop: StopFlag,
    name: &'a str,
}

impl Watcher for OnBoard<'_> {
    fn unix_ms(&mut self) -> i64 {
        process::unix_ms()
    }

    fn stop(&mut self) -> bool {
        self.stop.is_set()
    }

    fn begins(&mut self, test: &Test, _phase: &Phase, step: &Step) {
        self.board.step(&format!("{}  {} {}", self.name, test.id, step.label));
    }

    fn sees(&mut self, _glimpse: &Glimpse) {}

    fn rests(&mut self, _duration: Nanos) {}

    fn finds(&mut self, _finding: &Finding) {}

    fn ended(&mut self, _test: &Test, _step: &Step, _elapsed: Nanos) {}
}

/// Opens the page in the browser of the desktop, without waiting for it.
fn open(page: &Path) -> std::io::Result<()> {
    let quiet = std::process::Stdio::null;
    std::process::Command::new("xdg-open")
        .arg(std::path::absolute(page)?)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .spawn()
        .map(drop)
}
