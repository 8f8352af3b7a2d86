//! A load in words, such as `4 KiB random, 70 % read, 20,000/s, 60 % full`.

use serde::Serialize;
use ssdgauge_core::{Access, Arrival, Bytes, Engine, Stream, Workload};
use thiserror::Error;

/// A load that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Its requests; the span is that of the data.
    pub stream: Stream,
    /// The share of the capacity that holds data, in percent.
    pub full_percent: f64,
    /// Whether the drive is in the steady state of random writes.
    pub is_steady: bool,
    /// What was assumed for terms that were left out.
    pub assumed: Vec<String>,
}

/// A term that was not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[error("'{term}' is not understood; terms: {TERMS}")]
pub struct UnknownTerm {
    /// The term.
    pub term: String,
}

/// The terms of a question.
pub const TERMS: &str = "random or sequential, 4KiB, 70 % read, reads, writes, 20000/s, QD32, 60 % full, steady; \
                         or keys: access=random, block_size=4KiB, read_percent=70, per_second=20000, queue_depth=32, \
                         full_percent=60, state=steady";

/// What terms have stated so far.
#[derive(Clone, Copy, Default)]
struct Stated {
    access: Option<Access>,
    block: Option<Bytes>,
    reads: Option<u8>,
    rate: Option<f64>,
    depth: Option<u32>,
    full: Option<f64>,
    steady: bool,
}

impl Question {
    /// Reads the terms of `text`, which commas followed by a space, or semicolons, separate.
    ///
    /// # Errors
    /// The first term that is not understood.
    pub fn parse(text: &str) -> Result<Question, UnknownTerm> {
        let mut stated = Stated::default();
        let parts = text.split(';').flat_map(|part| part.split(", "));
        for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
            let lower = part.to_lowercase();
            // `4 KiB random` is two terms.
            let understood = stated.take(&lower) || stated.take_words(&lower);
            if !understood {
                let term: String = part.chars().filter(|one| !one.is_control()).take(60).collect();
                return Err(UnknownTerm { term });
            }
        }
        if let (Some(_), Some(depth)) = (stated.rate, stated.depth) {
            return Err(UnknownTerm { term: format!("QD{depth} together with a rate") });
        }
        Ok(stated.question())
    }

    /// Returns the load as a workload.
    pub fn workload(&self) -> Workload {
        Workload { engine: Engine::IoUring, streams: vec![self.stream.clone()] }
    }
}

impl Stated {
    /// Takes note of one term; returns whether it is one.
    fn take(&mut self, term: &str) -> bool {
        let tight: String = term.chars().filter(|letter| !letter.is_whitespace()).collect();
        let tight = tight.replacen("/second", "/s", 1);
        if let Some((key, value)) = tight.split_once('=') {
            return self.take_key(key, value);
        }
        let percent = |word: &str| tight.strip_suffix(word).and_then(|one| one.strip_suffix('%'));
        match tight.as_str() {
            "random" | "sequential" => self.take_key("access", &tight),
            "read" | "reads" => self.take_key("read_percent", "100"),
            "write" | "writes" => self.take_key("read_percent", "0"),
            "steady" | "steadystate" => self.take_key("state", "steady"),
            "full" => self.take_key("full_percent", "100"),
            _ => {
                if let Some(value) = tight.strip_suffix("/s") {
                    return self.take_key("per_second", value);
                }
                if let Some(value) = tight.strip_prefix("qd") {
                    return self.take_key("queue_depth", value);
                }
                let read = percent("reads").or(percent("read"));
                if let Some(value) = read {
                    return self.take_key("read_percent", value);
                }
                if let Some(value) = percent("writes").or(percent("write")) {
                    let reads = value.parse::<u8>().ok().and_then(|one| 100u8.checked_sub(one));
                    return reads
                        .is_some_and(|one| self.take_key("read_percent", &one.to_string()));
                }
                if let Some(value) = percent("full") {
                    return self.take_key("full_percent", value);
                }
                tight.ends_with('b') && self.take_key("block_size", &tight)
            }
        }
    }

    /// Takes note of a term whose words are several terms.
    fn take_words(&mut self, term: &str) -> bool {
        let words: Vec<&str> = term.split_whitespace().collect();
        (1..words.len()).any(|end| {
            let mut tried = *self;
            let (first, rest) = (words[..end].join(" "), words[end..].join(" "));
            let understood = tried.take(&first) && (tried.take(&rest) || tried.take_words(&rest));
            if understood {
                *self = tried;
            }
            understood
        })
    }

    fn take_key(&mut self, key: &str, value: &str) -> bool {
        let plain = value.replace(',', "");
        let number = plain.parse::<f64>().ok().filter(|number| number.is_finite());
        let within = |low: f64, high: f64| number.filter(|one| (low..=high).contains(one));
        match key {
            "access" => {
                let access = match value {
                    "random" => Some(Access::Random),
                    "sequential" => Some(Access::Sequential),
                    _ => None,
                };
                put(&mut self.access, access)
            }
            "block_size" => {
                let size = size(value).filter(|size| (512..=1 << 20).contains(&size.0));
                put(&mut self.block, size)
            }
            "read_percent" => put(&mut self.reads, within(0.0, 100.0).map(|one| one as u8)),
            "per_second" => put(&mut self.rate, within(1.0, 1e8)),
            "queue_depth" => put(&mut self.depth, within(1.0, 4_096.0).map(|one| one as u32)),
            "full_percent" => put(&mut self.full, within(1.0, 100.0)),
            "state" if value == "steady" => {
                self.steady = true;
                true
            }
            _ => false,
        }
    }

    fn question(self) -> Question {
        let mut assumed = Vec::new();
        let access = self.access.unwrap_or_else(|| {
            assumed.push("random".to_owned());
            Access::Random
        });
        let block = self.block.unwrap_or_else(|| {
            assumed.push("4 KiB".to_owned());
            Bytes(4_096)
        });
        let reads = self.reads.unwrap_or_else(|| {
            assumed.push("reads only".to_owned());
            100
        });
        let depth = self.depth.unwrap_or_else(|| {
            if self.rate.is_none() {
                assumed.push("one request in flight".to_owned());
            }
            1
        });
        let full_percent = self.full.unwrap_or_else(|| {
            if reads < 100 {
                assumed.push("a full drive".to_owned());
            }
            100.0
        });
        if !self.steady && reads < 100 {
            assumed.push("before the steady state".to_owned());
        }
        let arrival = match self.rate {
            Some(per_second) => Arrival::Poisson { per_second },
            None => Arrival::Closed,
        };
        let stream = Stream {
            access,
            block_size: block,
            read_percent: reads,
            queue_depth: depth,
            arrival,
            ..Stream::default()
        };
        Question { stream, full_percent, is_steady: self.steady, assumed }
    }
}

/// Puts `value` into an empty slot; returns whether there is one, and it was empty.
fn put<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    let is_new = slot.is_none() && value.is_some();
    if is_new {
        *slot = value;
    }
    is_new
}

/// Returns the length of a request, such as `4kib`.
fn size(text: &str) -> Option<Bytes> {
    let units = [("kib", 1 << 10), ("mib", 1 << 20), ("kb", 1_000), ("mb", 1_000_000), ("b", 1)];
    let (number, unit) = units.into_iter().find_map(|(word, unit)| {
        let number: u64 = text.strip_suffix(word)?.parse().ok()?;
        Some((number, unit))
    })?;
    let bytes = number.checked_mul(unit)?;
    bytes.is_multiple_of(512).then_some(Bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_come_in_any_order_and_form() {
        let asked = Question::parse("4 KiB random, 70 % read, 20,000/s, 60 % full").unwrap();
        let stream = &asked.stream;
        assert_eq!((stream.block_size, stream.read_percent), (Bytes(4_096), 70));
        assert_eq!(stream.arrival, Arrival::Poisson { per_second: 20_000.0 });
        assert_eq!((asked.full_percent, asked.is_steady), (60.0, false));
        assert_eq!(asked.assumed, ["before the steady state"]);
        let same =
            "full_percent=60; per_second=20000; read_percent=70; block_size=4KiB; access=random";
        assert_eq!(Question::parse(same).unwrap(), asked);
        let steady = Question::parse("steady writes QD32").unwrap();
        assert_eq!((steady.stream.queue_depth, steady.stream.read_percent), (32, 0));
        assert!(steady.is_steady);
        assert_eq!(steady.assumed, ["random", "4 KiB", "a full drive"]);
    }

    #[test]
    fn a_term_that_is_unknown_or_stated_twice_is_named() {
        for (text, term) in [
            ("4 KiB random, fast", "fast"),
            ("70 % read, 130 % full", "130 % full"),
            ("random, sequential", "sequential"),
            ("-5/s", "-5/s"),
            ("3 B", "3 B"),
            ("nan/s", "nan/s"),
            ("QD4, 1000/s", "QD4 together with a rate"),
        ] {
            assert_eq!(Question::parse(text).unwrap_err().term, term, "{text}");
        }
    }
}
