//! The screen in the terminal: an alternate screen that is given back at every end.

use super::followed::Watched;
use super::keys::{Key, Keys};
use super::screen::View;
use super::style::{Line, Look};
use super::{aligned, screen};
use crate::terminal;
use crate::terminal::colour::Paint;
use crossterm::{cursor, execute, queue, style, terminal as screen_of};
use std::io::{self, Write};
use std::time::Duration;

/// The widest screen that is drawn: wider rows are hard to follow.
const WIDEST: u16 = 200;

/// What the user wishes by a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To leave the screen; the run goes on.
    Leave,
    /// To stop: Ctrl-C.
    Stop,
}

/// The screen of the terminal of stderr.
pub struct Display {
    /// What each row of the terminal shows, with its styles; of no row before the first drawing.
    rows: Vec<String>,
    /// The columns and rows of the terminal when it was drawn last.
    size: (u16, u16),
    keys: Keys,
    view: View,
    look: Look,
}

impl Display {
    /// Takes the screen of the terminal; with `owns_runs` Ctrl-C stops the runs.
    ///
    /// # Errors
    ///
    /// The error of the terminal; it is given back then.
    pub fn open(owns_runs: bool) -> io::Result<Display> {
        let keys = Keys::of_terminal()?;
        screen_of::enable_raw_mode()?;
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            previous(panic);
        }));
        // What a terminal shows wider than it is counted must not move the rows below it.
        let opened = execute!(
            io::stderr(),
            screen_of::EnterAlternateScreen,
            screen_of::DisableLineWrap,
            cursor::Hide
        );
        if let Err(error) = opened {
            give_back();
            return Err(error);
        }
        let look = Look { paint: Paint::of_stderr(), unicode: terminal::has_unicode() };
        let view = View { owns_runs, ..View::default() };
        Ok(Display { rows: Vec::new(), size: (0, 0), keys, view, look })
    }

    /// Draws the runs as they stand.
    ///
    /// # Errors
    ///
    /// The error of the terminal.
    pub fn draw(&mut self, all: &[Watched]) -> io::Result<()> {
        let size = screen_of::size()?;
        let lines = lines(all, size, self.view, self.look);
        let rows: Vec<String> = lines.iter().map(|line| line.painted(self.look.paint)).collect();
        let mut bytes = Vec::new();
        queue!(bytes, screen_of::BeginSynchronizedUpdate)?;
        if size != self.size {
            queue!(bytes, screen_of::Clear(screen_of::ClearType::All))?;
            self.rows.clear();
        }
        queue_changes(&mut bytes, &self.rows, &rows)?;
        queue!(bytes, screen_of::EndSynchronizedUpdate)?;
        (self.rows, self.size) = (rows, size);
        // Stderr has no buffer: each write would be a call of the system.
        io::stderr().write_all(&bytes)
    }

    /// Waits for a key, at most for `wait`, and follows it. Returns what the user wishes beyond the screen.
    ///
    /// # Errors
    ///
    /// The error of the terminal.
    pub fn follow_key(&mut self, wait: Duration) -> io::Result<Option<Wish>> {
        Ok(self.keys.next(wait)?.and_then(|key| self.follow(key)))
    }

    fn follow(&mut self, key: Key) -> Option<Wish> {
        match key {
            Key::Letter('q') | Key::Escape | Key::Closed => return Some(Wish::Leave),
            Key::Interrupt => return Some(Wish::Stop),
            Key::Letter('w') => self.view.is_whole = !self.view.is_whole,
            Key::Before => self.view.moved = self.view.moved.saturating_sub(1),
            Key::After => self.view.moved = self.view.moved.saturating_add(1),
            Key::Home => self.view.moved = 0,
            Key::Letter(_) | Key::Other => {}
        }
        None
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back as it was.
fn give_back() {
    // There is no other way to give it back where this one fails.
    let _ = execute!(
        io::stderr(),
        screen_of::EnableLineWrap,
        screen_of::LeaveAlternateScreen,
        cursor::Show
    );
    let _ = screen_of::disable_raw_mode();
}

/// Returns the lines of `all` on a terminal of `size` columns and rows, at most one for each row.
fn lines(all: &[Watched], (width, height): (u16, u16), view: View, look: Look) -> Vec<Line> {
    let size = (usize::from(width.min(WIDEST)), usize::from(height));
    let mut lines = match all {
        [one] => screen::lines(&one.run, view, size, look),
        several => aligned::lines(several, view, size, look),
    };
    lines.truncate(size.1);
    lines
}

/// Writes the rows that differ from those that the terminal shows.
fn queue_changes(bytes: &mut Vec<u8>, shown: &[String], rows: &[String]) -> io::Result<()> {
    for at in 0..rows.len().max(shown.len()) {
        let row = rows.get(at).map_or("", String::as_str);
        if shown.get(at).is_none_or(|shown| shown != row) {
            let place = cursor::MoveTo(0, u16::try_from(at).unwrap_or(u16::MAX));
            // Cleared first: a clear after a full row would take its last column.
            let cleared = screen_of::Clear(screen_of::ClearType::CurrentLine);
            queue!(bytes, place, cleared, style::Print(row))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
