//! The page of a run in progress, rewritten as it grows.

use crate::failure::{Failure, FailureKind};
use crate::page_file;
use crate::process;
use ssdgauge_analysis::{PageOptions, Progress, Run};
use ssdgauge_core::{FindingKind, TargetKind};
use ssdgauge_os::process::cpu_time;
use ssdgauge_os::topology::Kernel;
use ssdgauge_watch::followed::{Event, Standing, Watched};
use ssdgauge_watch::observe::Observer;
use ssdgauge_watch::terminal;
use ssdgauge_watch::words;
use std::cell::{Cell, RefCell};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The minimum time between two states of the page.
const AT_LEAST: Duration = Duration::from_secs(5);
/// The time between two states, as a multiple of the processor time that one takes: 1 % of a processor.
const SHARE: u32 = 100;
/// The seconds of the current step that are drawn. Chosen.
const DRAWN: usize = 120;

/// The page of one run.
pub(crate) struct LivePage {
    page: PathBuf,
    run_file: PathBuf,
    /// When the page is made again.
    next: Cell<Instant>,
    /// The time between two states.
    every: Cell<Duration>,
    /// Whether a failure was reported.
    has_failed: Cell<bool>,
    /// What the page shows.
    shown: RefCell<Option<(Run, PageOptions)>>,
}

impl LivePage {
    /// Checks that `page` may be the page of the only run of `all`.
    ///
    /// # Errors
    ///
    /// Refuses several runs, what may not be replaced, and a place on the drive under test.
    pub(crate) fn new(page: &Path, all: &[Watched]) -> Result<LivePage, Failure> {
        let [one] = all else {
            let text = format!("--page shows one run, and {} were named", all.len());
            let hint = "nothing was written; name one run, or `report` when all have ended";
            return Err(Failure::new(FailureKind::Usage, text, hint));
        };
        page_file::check_page(page, &[&one.path])?;
        let drive = &one.run.head().drive;
        // Where the drives below the two are not known, they may be the same one.
        let is_tested = match drive.kind {
            TargetKind::Block | TargetKind::File => {
                let folder = page.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder.unwrap_or(Path::new("."));
                !Kernel::look().are_on_different_drives(folder, Path::new(&drive.target))
            }
            TargetKind::Null | TargetKind::Virtual => false,
        };
        if is_tested && one.run.standing() == Standing::Running {
            return Err(Failure::new(
                FailureKind::Refused,
                format!("{} is, or may be, on the drive under test", page.display()),
                "nothing was written: the page would disturb the run; name a file on another drive, or on a file system in \
                 memory that is not tested",
            ));
        }
        Ok(LivePage {
            page: page.to_owned(),
            run_file: one.path.clone(),
            next: Cell::new(Instant::now()),
            every: Cell::new(AT_LEAST),
            has_failed: Cell::new(false),
            shown: RefCell::new(None),
        })
    }

    /// Makes the page of `one` again where it is time for that.
    pub(crate) fn renew(&self, one: &Watched) {
        if Instant::now() < self.next.get() || one.is_over() || !one.run.has_all() {
            return;
        }
        let before = cpu_time();
        if let Err(failure) = self.write(one)
            && !self.has_failed.replace(true)
        {
            terminal::print_message(&format!("warning: --page: {}", failure.error));
        }
        let taken = Duration::from_nanos(cpu_time().saturating_sub(before));
        self.every.set(AT_LEAST.max(taken * SHARE));
        self.next.set(Instant::now() + self.every.get());
    }

    fn write(&self, one: &Watched) -> Result<(), Failure> {
        // Between two commits of a busy run: the next look finds it.
        let Some(mut run) = one.run.results()? else { return Ok(()) };
        // What has not been measured yet is not a gap.
        for test in run.tests.iter_mut().filter(|test| !test.complete) {
            test.findings.retain(|found| found.finding.kind != FindingKind::NotMeasured);
        }
        let left = words::left(&one.run);
        let options = PageOptions {
            rest: Some(left).filter(|left| !left.is_empty()),
            progress: Some(self.progress(one)),
            ..PageOptions::default()
        };
        let written = page_file::write_page(
            &self.page,
            &[&self.run_file],
            std::slice::from_ref(&run),
            &options,
        );
        *self.shown.borrow_mut() = Some((run, options));
        written
    }

    /// Makes the page of a run file that can be read no longer say so: it would be "Running" for ever.
    ///
    /// # Errors
    ///
    /// The page cannot be written.
    pub(crate) fn lose(&self, why: &str) -> Result<(), Failure> {
        let Some((run, mut options)) = self.shown.take() else { return Ok(()) };
        options.rest = None;
        if let Some(progress) = &mut options.progress {
            progress.lost = Some(why.to_owned());
        }
        page_file::write_page(&self.page, &[&self.run_file], &[run], &options)
    }

    fn progress(&self, one: &Watched) -> Progress {
        let run = &one.run;
        let mut now = Vec::new();
        let mut speed = Vec::new();
        if let Some(step) = run.current() {
            now.extend([words::step_number(run), run.title(step.place)]);
            now.extend(run.latest().map(|second| words::figures(second).replace("  ", " · ")));
            let seconds = run.seconds().iter().rev().take_while(|second| second.step == step.id);
            speed.extend(
                seconds
                    .take(DRAWN)
                    .filter_map(|second| Some((second.load.number, second.load.mb_s()?))),
            );
            speed.reverse();
        }
        Progress {
            every_s: self.every.get().as_secs_f64().ceil() as u64,
            unix_ms: process::unix_ms(),
            now,
            speed,
            lost: None,
        }
    }

    /// Writes the report of the run, which has ended.
    ///
    /// # Errors
    ///
    /// The run cannot be read, or the page not be written.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        page_file::write_report(&self.page, &self.run_file)
    }
}

/// A form, and the page of the only run.
pub(crate) struct WithPage<'a> {
    pub(crate) page: &'a LivePage,
    pub(crate) form: &'a mut dyn Observer,
}

impl Observer for WithPage<'_> {
    fn take(&mut self, one: &Watched, events: &[Event]) -> bool {
        self.form.take(one, events)
    }

    fn show(&mut self, all: &[Watched], pause: Duration) -> io::Result<bool> {
        if let [one] = all {
            self.page.renew(one);
        }
        self.form.show(all, pause)
    }
}
