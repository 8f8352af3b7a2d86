//! The I/O log of fio, version 2 and 3.

use crate::formats::fields::Fields;
use crate::formats::number;
use crate::record::Kind;

/// How every log begins.
pub(super) const HEADER: &str = "fio version ";

/// The state of a log.
#[derive(Default)]
pub(super) struct Fio {
    version: u32,
    /// The time of a log of version 2: the sum of its waits, in microseconds.
    waited: u64,
}

impl Fio {
    pub(super) fn parse<'a>(
        &mut self,
        line_number: u64,
        line: &'a str,
    ) -> Result<Option<Fields<'a>>, String> {
        if line_number == 1 {
            self.version = match line {
                "fio version 2 iolog" => 2,
                "fio version 3 iolog" => 3,
                _ => return Err("it is not 'fio version 2 iolog' or 'fio version 3 iolog'".into()),
            };
            return Ok(None);
        }
        let mut words = line.split_ascii_whitespace();
        let mut word = || words.next().ok_or_else(|| "a word is missing".to_owned());
        let at = match self.version {
            3 => number::whole(word()?)?,
            _ => self.waited,
        };
        let (stream, action) = (word()?, word()?);
        let kind = match action {
            "add" | "open" | "close" => return Ok(None),
            "read" => Kind::Read,
            "write" => Kind::Write,
            "trim" => Kind::Discard,
            "sync" | "datasync" => Kind::Flush,
            "wait" if self.version == 2 => {
                let wait = number::whole(word()?)?;
                self.waited = self.waited.checked_add(wait).ok_or("the waits are too long")?;
                return Ok(None);
            }
            _ => return Err(format!("'{}' is not an action of fio", shown(action))),
        };
        let (offset, length) = match kind {
            Kind::Flush => (0, 0),
            Kind::Read | Kind::Write | Kind::Discard => {
                (number::whole(word()?)?, number::whole(word()?)?)
            }
        };
        let at = at.checked_mul(1_000).ok_or("the time is too large")?;
        Ok(Some(Fields { completes: false, at, kind, stream, offset, length, response: None }))
    }
}

fn shown(text: &str) -> String {
    text.chars().filter(|one| !one.is_control()).take(20).collect()
}
