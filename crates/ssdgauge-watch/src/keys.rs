//! The keys of the terminal.
//!
//! They are read here and not by crossterm: where its terminal is closed, its reader repeats a read that
//! returns nothing, without a pause and without an end.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// The time within which the bytes of one key arrive. A terminal sends them at once; what comes later is
/// another key (as in vim's `ttimeoutlen` over a network).
const WITHIN_KEY: Duration = Duration::from_millis(50);

/// What was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Letter(char),
    Escape,
    /// Ctrl-C, which is not a signal on a screen.
    Interrupt,
    /// The arrow to the left or upwards.
    Before,
    /// The arrow to the right or downwards.
    After,
    Home,
    Other,
    /// The terminal is closed.
    Closed,
}

/// The input of the terminal.
#[derive(Debug)]
pub(crate) struct Keys {
    input: OwnedFd,
    /// What was read and is not part of a key that was returned.
    rest: Vec<u8>,
}

impl Keys {
    /// Returns the keys of the terminal of this process.
    ///
    /// # Errors
    ///
    /// It has none.
    pub(crate) fn of_terminal() -> io::Result<Keys> {
        let stdin = io::stdin();
        let input = match stdin.is_terminal() {
            true => stdin.as_fd().try_clone_to_owned()?,
            false => File::open("/dev/tty")?.into(),
        };
        Ok(Keys { input, rest: Vec::new() })
    }

    /// Returns the next key, after `wait` at most.
    ///
    /// # Errors
    ///
    /// The error of the terminal.
    pub(crate) fn next(&mut self, wait: Duration) -> io::Result<Option<Key>> {
        if self.rest.is_empty() && !self.read(wait)? {
            return Ok(None);
        }
        while is_incomplete(&self.rest) && self.read(WITHIN_KEY)? {}
        let (key, length) = first(&self.rest);
        self.rest.drain(..length);
        Ok(Some(key))
    }

    /// Reads what has arrived after `wait` at most. Returns whether there is something: bytes, or the end of
    /// the terminal, for which nothing is added.
    fn read(&mut self, wait: Duration) -> io::Result<bool> {
        let wait = Timespec::try_from(wait).map_err(|_| io::ErrorKind::InvalidInput)?;
        match poll(&mut [PollFd::new(&self.input, PollFlags::IN)], Some(&wait)) {
            Ok(0) | Err(Errno::INTR) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0; 256];
        match rustix::io::read(&self.input, &mut bytes) {
            // A terminal that is closed fails (EIO), or returns nothing.
            Ok(0) | Err(Errno::IO) => Ok(!is_incomplete(&self.rest)),
            Ok(count) => {
                self.rest.extend_from_slice(&bytes[..count]);
                Ok(true)
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns whether `bytes` begin a sequence of which more may follow.
fn is_incomplete(bytes: &[u8]) -> bool {
    match bytes {
        [0x1b] | [0x1b, b'[' | b'O'] => true,
        [0x1b, b'[', rest @ ..] => !rest.iter().any(is_final),
        _ => false,
    }
}

/// Returns whether a byte ends a control sequence (ECMA-48, 5.4).
fn is_final(byte: &u8) -> bool {
    matches!(byte, 0x40..=0x7e)
}

/// Returns the first key of `bytes`, and how many bytes it has.
fn first(bytes: &[u8]) -> (Key, usize) {
    match bytes {
        [] => (Key::Closed, 0),
        [0x1b, b'[', rest @ ..] => {
            let Some(end) = rest.iter().position(is_final) else {
                return (Key::Other, bytes.len());
            };
            (sequence(&rest[..end], rest[end]), end + 3)
        }
        [0x1b, b'O', end, ..] => (sequence(&[], *end), 3),
        [0x1b, ..] => (Key::Escape, 1),
        [0x03, ..] => (Key::Interrupt, 1),
        [letter @ 0x20..=0x7e, ..] => (Key::Letter(char::from(*letter)), 1),
        [_, ..] => (Key::Other, 1),
    }
}

/// Returns the key of a control sequence, as terminals of the kind of xterm send them.
fn sequence(parameters: &[u8], end: u8) -> Key {
    match (parameters, end) {
        (_, b'A' | b'D') => Key::Before,
        (_, b'B' | b'C') => Key::After,
        (_, b'H') | (b"1" | b"7", b'~') => Key::Home,
        _ => Key::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    /// Returns the keys of `bytes`, which arrive one after the other where `apart`.
    fn pressed(bytes: &[u8], apart: bool) -> Vec<Key> {
        let (mut terminal, input) = UnixStream::pair().unwrap();
        let mut keys = Keys { input: input.into(), rest: Vec::new() };
        let mut found = Vec::new();
        if apart {
            for byte in bytes {
                terminal.write_all(&[*byte]).unwrap();
                if !keys.read(Duration::ZERO).unwrap() || !is_incomplete(&keys.rest) {
                    found.extend(keys.next(Duration::ZERO).unwrap());
                }
            }
        } else {
            terminal.write_all(bytes).unwrap();
        }
        while let Some(key) = keys.next(Duration::ZERO).unwrap() {
            found.push(key);
        }
        found
    }

    #[test]
    fn keys_are_told_apart_at_once_and_byte_by_byte() {
        use Key::{After, Before, Escape, Home, Interrupt, Letter, Other};
        for (bytes, expected) in [
            (&b"wq"[..], &[Letter('w'), Letter('q')][..]),
            (b"\x1b[A\x1b[D\x1bOB\x1b[C", &[Before, Before, After, After]),
            (b"\x1b[H\x1bOH\x1b[1~\x1b[7~", &[Home; 4]),
            (b"\x1b[1;5A\x1b[3~\x03", &[Before, Other, Interrupt]),
            ("\u{e4}".as_bytes(), &[Other, Other]),
            (b"\x1bq", &[Escape, Letter('q')]),
            (b"\x1b", &[Escape]),
        ] {
            assert_eq!(pressed(bytes, false), expected, "{bytes:?}");
            assert_eq!(pressed(bytes, true), expected, "{bytes:?}, byte by byte");
        }
    }

    #[test]
    fn a_terminal_that_is_closed_is_a_key_that_comes_at_once() {
        for before in [&b""[..], b"w", b"\x1b["] {
            let (mut terminal, input) = UnixStream::pair().unwrap();
            let mut keys = Keys { input: input.into(), rest: Vec::new() };
            terminal.write_all(before).unwrap();
            drop(terminal);
            let key = |keys: &mut Keys| keys.next(Duration::from_secs(60)).unwrap().unwrap();
            if !before.is_empty() {
                assert_ne!(key(&mut keys), Key::Closed, "{before:?}");
            }
            assert_eq!(key(&mut keys), Key::Closed, "{before:?}");
            assert_eq!(key(&mut keys), Key::Closed, "{before:?}");
        }
    }
}
