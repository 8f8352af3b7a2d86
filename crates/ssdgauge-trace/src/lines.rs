//! Lines of a text, with a limit on their length.

use crate::error::TraceError;
use std::io::{BufRead, Read};

/// The longest line, in bytes: fifty times that of any known format.
const MAX_LINE: u64 = 4_096;

/// The lines of a text.
pub(crate) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    /// The number of the current line, from 1.
    pub(crate) number: u64,
    /// Whether the current line ends with a line feed; the last one may be cut off.
    pub(crate) is_whole: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Lines<R> {
        Lines { input, line: Vec::new(), number: 0, is_whole: true }
    }

    /// Returns the next line without its end; `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<&str>, TraceError> {
        self.line.clear();
        let mut limited = (&mut self.input).take(MAX_LINE);
        let read = limited.read_until(b'\n', &mut self.line);
        if read.map_err(|error| TraceError::from_io(&error))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.is_whole = self.line.ends_with(b"\n");
        if !self.is_whole && self.line.len() as u64 == MAX_LINE {
            return Err(TraceError::at_line(
                self.number,
                "it is longer than 4 KiB",
                "this is not a trace in text form; name its format with --format",
            ));
        }
        match std::str::from_utf8(&self.line) {
            Ok(text) => Ok(Some(text.trim())),
            Err(_) => Err(TraceError::at_line(
                self.number,
                "it is not text",
                "this is not a trace in text form, or it is damaged; name its format with --format",
            )),
        }
    }
}
