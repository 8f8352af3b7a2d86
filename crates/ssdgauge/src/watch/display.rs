//! The screen in the terminal: an alternate screen that is given back at every end.

use super::followed::Watched;
use super::keys::{Key, Keys};
use super::screen::View;
use super::style::Look;
use super::{aligned, screen};
use crate::terminal;
use crate::terminal::colour::Paint;
use ratatui::Terminal;
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::crossterm::{cursor, execute, terminal as screen_of};
use ratatui::text::Text;
use ratatui::widgets::Paragraph;
use std::io::{self, Stderr};
use std::time::Duration;

/// The widest and the narrowest screen that is drawn: wider rows are hard to follow.
const WIDEST: u16 = 200;

/// What the user wishes by a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To leave the screen; the run goes on.
    Leave,
    /// To stop: Ctrl-C.
    Stop,
}

/// The screen of the terminal of stderr.
pub(crate) struct Display {
    terminal: Terminal<CrosstermBackend<Stderr>>,
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
    pub(crate) fn open(owns_runs: bool) -> io::Result<Display> {
        let keys = Keys::of_terminal()?;
        screen_of::enable_raw_mode()?;
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            previous(panic);
        }));
        let opened = execute!(io::stderr(), screen_of::EnterAlternateScreen, cursor::Hide)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stderr())));
        let look = Look { paint: Paint::of_stderr(), unicode: terminal::has_unicode() };
        match opened {
            Ok(terminal) => {
                Ok(Display { terminal, keys, view: View { owns_runs, ..View::default() }, look })
            }
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Draws the runs as they stand.
    ///
    /// # Errors
    ///
    /// The error of the terminal.
    pub(crate) fn draw(&mut self, all: &[Watched]) -> io::Result<()> {
        draw(&mut self.terminal, all, self.view, self.look)
    }

    /// Waits for a key, at most for `wait`, and follows it. Returns what the user wishes beyond the screen.
    ///
    /// # Errors
    ///
    /// The error of the terminal.
    pub(crate) fn follow_key(&mut self, wait: Duration) -> io::Result<Option<Wish>> {
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
    let _ = execute!(io::stderr(), screen_of::LeaveAlternateScreen, cursor::Show);
    let _ = screen_of::disable_raw_mode();
}

/// Draws `all` on `terminal`.
fn draw<B: Backend>(
    terminal: &mut Terminal<B>,
    all: &[Watched],
    view: View,
    look: Look,
) -> Result<(), B::Error> {
    terminal.draw(|frame| {
        let area = frame.area();
        let size = (usize::from(area.width.min(WIDEST)), usize::from(area.height));
        let lines = match all {
            [one] => screen::lines(&one.run, view, size, look),
            several => aligned::lines(several, view, size, look),
        };
        frame.render_widget(Paragraph::new(Text::from(lines)), area);
    })?;
    Ok(())
}

#[cfg(test)]
mod tests;
