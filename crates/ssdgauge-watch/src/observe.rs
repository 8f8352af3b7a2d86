//! The loop of an observation: reads the runs as they grow, and shows what is new.

use super::display::Display;
use super::followed::{Event, Watched};
use super::metrics_server::MetricsServer;
use super::{json_lines, lines, metrics};
use crate::terminal;
use ssdgauge_analysis::sanitize_json;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time between two looks at the run files. A run commits every two to ten seconds.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// One form of the observation.
pub trait Observer {
    /// Takes what is new of one of the runs. Returns false where its output is closed.
    fn take(&mut self, one: &Watched, events: &[Event]) -> bool;

    /// Shows the runs as they stand, and waits for at most `pause`. Returns false where the user leaves.
    ///
    /// # Errors
    ///
    /// The error of the terminal.
    fn show(&mut self, all: &[Watched], pause: Duration) -> io::Result<bool>;
}

/// How an observation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All runs have ended.
    OfRuns,
    /// The user has left, or the output is closed.
    Left,
}

/// Observes `all` until each of them has ended, the user leaves, or `stop` is set.
///
/// # Errors
///
/// The error of the terminal.
pub fn observe(
    all: &mut [Watched],
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> io::Result<End> {
    loop {
        let mut has_all = true;
        for one in all.iter_mut().filter(|one| !one.is_over()) {
            let events = one.poll();
            if !observer.take(one, &events) {
                return Ok(End::Left);
            }
            has_all &= one.is_over() || one.run.has_all();
        }
        let is_over = all.iter().all(Watched::is_over);
        let pause = if has_all && !is_over { BETWEEN_LOOKS } else { Duration::ZERO };
        if !observer.show(all, pause)? || stop.load(Ordering::Relaxed) {
            return Ok(End::Left);
        }
        if is_over {
            return Ok(End::OfRuns);
        }
    }
}

/// The screen of the terminal.
pub struct Screen {
    display: Display,
    /// Whether the screen stays when all runs have ended: they had ended before.
    stays: bool,
    /// Whether a run went on at some time.
    went_on: bool,
}

impl Screen {
    /// Takes the screen of the terminal. With `stays` the runs are shown until the user leaves, where none of
    /// them goes on.
    ///
    /// # Errors
    ///
    /// The error of the terminal.
    pub fn open(stays: bool) -> io::Result<Screen> {
        Ok(Screen { display: Display::open(false)?, stays, went_on: false })
    }
}

impl Observer for Screen {
    fn take(&mut self, one: &Watched, _events: &[Event]) -> bool {
        self.went_on |= one.run.was_written();
        true
    }

    fn show(&mut self, all: &[Watched], pause: Duration) -> io::Result<bool> {
        self.display.draw(all)?;
        let is_over = all.iter().all(Watched::is_over);
        if is_over && self.stays && !self.went_on {
            loop {
                if self.display.follow_key(BETWEEN_LOOKS)?.is_some() {
                    return Ok(true);
                }
                self.display.draw(all)?;
            }
        }
        Ok(self.display.follow_key(pause)?.is_none())
    }
}

/// A form, and metrics of the same runs.
pub struct WithMetrics<'a> {
    /// The server of the metrics.
    pub server: &'a MetricsServer,
    /// The form.
    pub form: &'a mut dyn Observer,
}

impl Observer for WithMetrics<'_> {
    fn take(&mut self, one: &Watched, events: &[Event]) -> bool {
        self.form.take(one, events)
    }

    fn show(&mut self, all: &[Watched], pause: Duration) -> io::Result<bool> {
        self.server.set(|format| metrics::text(all, format));
        self.form.show(all, pause)
    }
}

/// JSON objects on stdout.
pub struct JsonLines;

impl Observer for JsonLines {
    fn take(&mut self, one: &Watched, events: &[Event]) -> bool {
        let mut text = String::new();
        let objects = events.iter().map(|event| json_lines::event(&one.run, event));
        let lost = one.lost.iter().map(|lost| json_lines::lost(&one.run, &lost.to_string()));
        for object in objects.chain(lost) {
            text.push_str(&format!("{object}\n"));
        }
        terminal::print_while_open(&sanitize_json(&text))
    }

    fn show(&mut self, _all: &[Watched], pause: Duration) -> io::Result<bool> {
        std::thread::sleep(pause);
        Ok(true)
    }
}

/// Lines on stdout: the state at the first look, then everything that is new.
#[derive(Default)]
pub struct PlainLines {
    /// The runs that are watched by now: what they had recorded before is not repeated.
    begun: Vec<std::path::PathBuf>,
    /// Whether several runs are watched, so that each line names its own.
    names: bool,
}

impl PlainLines {
    /// Returns lines about `count` runs.
    pub fn new(count: usize) -> PlainLines {
        PlainLines { begun: Vec::new(), names: count > 1 }
    }
}

impl Observer for PlainLines {
    fn take(&mut self, one: &Watched, events: &[Event]) -> bool {
        let name = one.path.display().to_string();
        let new = match self.begun.contains(&one.path) {
            true => lines::lines(&one.run, events, self.names.then_some(&*name)),
            false if one.run.has_all() || one.is_over() => {
                self.begun.push(one.path.clone());
                vec![format!("{name}: {}", lines::summary(&one.run))]
            }
            false => Vec::new(),
        };
        let text: String = new.iter().map(|line| format!("{}\n", terminal::line(line))).collect();
        terminal::print_while_open(&text)
    }

    fn show(&mut self, _all: &[Watched], pause: Duration) -> io::Result<bool> {
        std::thread::sleep(pause);
        Ok(true)
    }
}
