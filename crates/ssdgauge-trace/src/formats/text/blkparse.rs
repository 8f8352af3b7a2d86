//! The text of blkparse: `8,0 3 1 0.000000000 697 D W 223490 + 8 [process]`.
//!
//! The requests are those that the drive received (event D), and in a trace without them those that
//! programs sent (event Q). A completion (event C) gives the response time.

use crate::formats::fields::Fields;
use crate::formats::number;
use crate::record::Kind;

/// The state of a text.
pub(super) struct Blkparse {
    /// The event that counts as a request.
    submission: &'static str,
}

impl Blkparse {
    /// Returns the parser of a text that begins with `head`.
    pub(super) fn new(head: &str) -> Blkparse {
        let is_issue = |line: &str| line.split_ascii_whitespace().nth(5) == Some("D");
        let submission = if head.lines().any(is_issue) { "D" } else { "Q" };
        Blkparse { submission }
    }

    pub(super) fn parse<'a>(&mut self, line: &'a str) -> Result<Option<Fields<'a>>, String> {
        let mut words = line.split_ascii_whitespace();
        let Some(stream) = words.next() else { return Ok(None) };
        let is_device = stream.split_once(',').is_some_and(|(major, minor)| {
            number::whole(major).is_ok() && number::whole(minor).is_ok()
        });
        if !is_device {
            // The summary after the events, and messages.
            return match stream.starts_with("CPU") || stream.starts_with("Total") {
                true => Ok(None),
                false if stream.ends_with(':') || line.contains(':') => Ok(None),
                false => Err("it is not an event of blkparse".into()),
            };
        }
        let mut word = || words.next().ok_or_else(|| "a word is missing".to_owned());
        let (_cpu, _sequence) = (number::whole(word()?)?, number::whole(word()?)?);
        let at = number::scaled(word()?, 9)?;
        let _process = number::whole(word()?)?;
        let (event, what) = (word()?, word()?);
        let completes = event == "C";
        if !completes && event != self.submission {
            return Ok(None);
        }
        let kind = match what {
            _ if what.contains('D') => Kind::Discard,
            _ if what.contains('R') => Kind::Read,
            _ if what.contains('W') => Kind::Write,
            _ if what.contains('F') => Kind::Flush,
            _ => return Ok(None),
        };
        let Ok(offset) = word().and_then(number::sectors) else {
            // A flush without data addresses nothing; so do commands of programs.
            return Ok((kind == Kind::Flush).then_some(Fields {
                completes,
                at,
                kind,
                stream,
                offset: 0,
                length: 0,
                response: None,
            }));
        };
        let length = match word() {
            Ok("+") => number::sectors(word()?)?,
            Ok(_) | Err(_) => 0,
        };
        Ok(Some(Fields { completes, at, kind, stream, offset, length, response: None }))
    }
}
