//! Lists of processors, as Linux, taskset and fio write them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// One past the largest processor number: the maximum that Linux supports on x86-64 (`NR_CPUS`).
const END: u16 = 8_192;

/// Numbers of processors, such as `0-3,8`: in ascending order, each of them once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Processors(BTreeSet<u16>);

impl Processors {
    /// Returns whether it names none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns their number.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the one on which thread number `thread` runs: each thread has one of them, in turn; `None`
    /// where there are none.
    pub fn of_thread(&self, thread: u32) -> Option<usize> {
        let place = (thread as usize).checked_rem(self.0.len())?;
        self.0.iter().nth(place).map(|number| usize::from(*number))
    }

    /// Returns the first one that is not among `allowed`.
    pub fn first_beyond(&self, allowed: &[usize]) -> Option<usize> {
        self.0.iter().map(|number| usize::from(*number)).find(|number| !allowed.contains(number))
    }

    /// Returns whether `processor` is one of them.
    pub fn contains(&self, processor: usize) -> bool {
        u16::try_from(processor).is_ok_and(|number| self.0.contains(&number))
    }
}

impl FromStr for Processors {
    type Err = String;

    /// Reads numbers and ranges with commas between them.
    ///
    /// # Errors
    /// When the text names no processor, one twice, or one beyond 8,191.
    fn from_str(text: &str) -> Result<Processors, String> {
        let wrong = || format!("'{text}' is not a list of processors such as \"0-3,8\"");
        let mut numbers = BTreeSet::new();
        for part in text.trim().split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<u16>().map_err(|_| wrong());
            let (first, last) = (number(first)?, number(last)?);
            if first > last || last >= END {
                return Err(wrong());
            }
            if !(first..=last).all(|number| numbers.insert(number)) {
                return Err(format!("'{text}' names a processor twice"));
            }
        }
        Ok(Processors(numbers))
    }
}

impl fmt::Display for Processors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(u16, u16)> = Vec::new();
        for number in &self.0 {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == *number => *last = *number,
                Some(_) | None => ranges.push((*number, *number)),
            }
        }
        let words = ranges.iter().map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        });
        formatter.write_str(&words.collect::<Vec<_>>().join(","))
    }
}

impl TryFrom<String> for Processors {
    type Error = String;

    fn try_from(text: String) -> Result<Processors, String> {
        text.parse()
    }
}

impl From<Processors> for String {
    fn from(processors: Processors) -> String {
        processors.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_ranges_in_ascending_order_and_malformed_ones_are_refused() {
        let read = |text: &str| text.parse::<Processors>().map(|list| list.to_string());
        assert_eq!(read(" 8,0-2, 3\n"), Ok("0-3,8".to_owned()));
        assert_eq!(read("5"), Ok("5".to_owned()));
        let all: Processors = "0-8191".parse().expect("all that Linux can have");
        assert_eq!((all.count(), all.contains(8_191), all.contains(8_192)), (8_192, true, false));
        let two: Processors = "1,6".parse().expect("a list");
        assert_eq!([0, 1, 2, 3].map(|thread| two.of_thread(thread)), [1, 6, 1, 6].map(Some));
        assert_eq!(Processors::default().of_thread(3), None);
        assert_eq!((two.first_beyond(&[0, 1, 6]), two.first_beyond(&[0, 1])), (None, Some(6)));
        for wrong in ["", "x", "7-", "3-1", "0,,1", "-1", "0-99999999999", "8192"] {
            assert!(
                read(wrong).is_err_and(|error| error.contains("list of processors")),
                "{wrong}"
            );
        }
        assert!(read("0-3,2").is_err_and(|error| error.contains("twice")));
    }
}
