//! Lines on the terminal of stderr that are redrawn in place, below the messages of a command.
//!
//! The terminal stays in its usual mode: a command that is killed leaves nothing but the lines themselves.

use super::{has_terminal, has_unicode, message};
use crossterm::{cursor, queue, style, terminal};
use ssdgauge_core::Nanos;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use textwrap::core::display_width;

/// The interval between two frames. Chosen.
const FRAME_INTERVAL: Duration = Duration::from_millis(250);
/// The columns of the bar of a command that counts what it has done.
const BAR: usize = 24;

/// Lines that are redrawn in place. Without a terminal nothing is drawn, and messages are plain lines.
/// When they are dropped, they are removed.
#[derive(Debug)]
pub struct LiveLines {
    is_shown: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<String>,
    /// The rows of the terminal that the drawn lines take.
    rows: u16,
    /// When the last frame was drawn.
    drawn: Option<Instant>,
}

impl LiveLines {
    /// Returns no lines yet. They are drawn where stderr is a terminal on which lines can be redrawn.
    pub fn of_stderr() -> LiveLines {
        LiveLines { is_shown: has_terminal(), state: Mutex::default() }
    }

    /// Returns whether the lines are drawn.
    pub fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Returns whether they are drawn, and the last frame is old enough for the next.
    pub fn is_due(&self) -> bool {
        let is_old = |last: Instant| last.elapsed() >= FRAME_INTERVAL;
        self.is_shown && self.state().drawn.is_none_or(is_old)
    }

    /// Shows `lines` in place of those before.
    pub fn show(&self, lines: Vec<String>) {
        if self.is_shown {
            let mut state = self.state();
            state.lines = lines;
            state.draw(&[]);
        }
    }

    /// Prints a message of one line above the lines, as [`super::print_message`].
    pub fn print(&self, text: &str) {
        self.print_lines([text]);
    }

    /// Prints a message of several lines above the lines, as [`super::print_lines`].
    pub fn print_lines(&self, lines: impl IntoIterator<Item = impl AsRef<str>>) {
        if !self.is_shown {
            return super::print_lines(lines);
        }
        let lines: Vec<String> = lines.into_iter().map(|line| message(line.as_ref())).collect();
        self.state().draw(&lines);
    }

    /// Removes the lines.
    pub fn remove(&self) {
        if self.state().rows > 0 {
            self.show(Vec::new());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LiveLines {
    fn drop(&mut self) {
        self.remove();
    }
}

impl State {
    /// Draws the lines with `above` before them, in one piece.
    fn draw(&mut self, above: &[String]) {
        let columns = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| width.0);
        let mut bytes = Vec::new();
        // A closed terminal is not an error of the command, and bytes in memory cannot fail.
        let _ = self.queue(&mut bytes, above, columns.unwrap_or(u16::MAX).max(1));
        let _ = io::stderr().write_all(&bytes);
        self.drawn = Some(Instant::now());
    }

    fn queue(&mut self, bytes: &mut Vec<u8>, above: &[String], columns: u16) -> io::Result<()> {
        if self.rows > 1 {
            queue!(bytes, cursor::MoveUp(self.rows - 1))?;
        }
        if self.rows > 0 {
            let below = terminal::Clear(terminal::ClearType::FromCursorDown);
            queue!(bytes, style::Print('\r'), below)?;
        }
        for line in above {
            queue!(bytes, style::Print(line), style::Print('\n'))?;
        }
        queue!(bytes, style::Print(self.lines.join("\n")))?;
        // A line that is wider than the terminal continues on its next row.
        let rows = |line: &String| display_width(line).div_ceil(usize::from(columns)).max(1);
        self.rows = u16::try_from(self.lines.iter().map(rows).sum::<usize>()).unwrap_or(u16::MAX);
        Ok(())
    }
}

/// The line of a command that counts what it has done.
#[derive(Debug)]
pub struct Count {
    began: Instant,
    all: u64,
}

impl Count {
    /// Begins to count to `all`.
    pub fn to(all: u64) -> Count {
        Count { began: Instant::now(), all }
    }

    /// Returns the finished share at `done`.
    pub fn share(&self, done: u64) -> f64 {
        if self.all == 0 { 1.0 } else { (done as f64 / self.all as f64).min(1.0) }
    }

    /// Returns the expected rest of the time at `done`, in words.
    pub fn left(&self, done: u64) -> String {
        let passed = self.began.elapsed().as_secs_f64();
        let share = self.share(done);
        match share > 0.0 {
            true => Nanos::from_secs((passed * (1.0 - share) / share) as u64).about(),
            false => "unknown time".to_owned(),
        }
    }

    /// Returns a bar with the finished share at `done` in percent.
    pub fn bar(&self, done: u64) -> String {
        bar(self.share(done), BAR, has_unicode())
    }
}

/// Returns a bar of the finished `share` in `cells` columns, and the share in percent.
pub fn bar(share: f64, cells: usize, unicode: bool) -> String {
    let (full, open) = if unicode { ('█', '░') } else { ('#', '-') };
    let share = share.clamp(0.0, 1.0);
    let filled = (share * cells as f64) as usize;
    let drawn: String = (0..cells).map(|cell| if cell < filled { full } else { open }).collect();
    format!("{drawn}  {:>3} %", (share * 100.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_drawn_over_those_before_with_messages_above_them() {
        let mut state = State { lines: vec!["first".into(), "x".repeat(25)], ..State::default() };
        let drawn = |state: &mut State, above: &[&str]| {
            let above: Vec<String> = above.iter().map(|line| (*line).to_owned()).collect();
            let mut bytes = Vec::new();
            state.queue(&mut bytes, &above, 10).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(drawn(&mut state, &[]), format!("first\n{}", "x".repeat(25)));
        // The second line takes three rows of ten columns.
        assert_eq!(state.rows, 4);
        state.lines = vec!["\u{1b}[1mthird\u{1b}[0m".into()];
        let expected = "\u{1b}[3A\r\u{1b}[Jmessage\n\u{1b}[1mthird\u{1b}[0m";
        assert_eq!(drawn(&mut state, &["message"]), expected);
        assert_eq!(state.rows, 1);
        state.lines.clear();
        assert_eq!((drawn(&mut state, &[]).as_str(), state.rows), ("\r\u{1b}[J", 0));
    }

    #[test]
    fn a_count_has_a_share_and_no_time_before_something_is_done() {
        let count = Count::to(8);
        assert_eq!((count.share(2), count.share(9), Count::to(0).share(0)), (0.25, 1.0, 1.0));
        assert_eq!(count.left(0), "unknown time");
        assert_eq!(bar(0.5, 4, true), "██░░   50 %");
        assert_eq!(bar(2.0, 4, false), "####  100 %");
    }
}
