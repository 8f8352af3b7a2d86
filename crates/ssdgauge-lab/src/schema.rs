//! Keys of a suite file in TOML. Each value is checked during deserialization, so that an error
//! points at it.

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use ssdgauge_core::{
    Access, BlockSizes, Bytes, Chart, Data, Direction, Engine, LatencyClock, Metric, Nanos,
    Operation, Processors, SizeShare,
};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use toml::Spanned;

mod words;

pub(crate) use words::{Power, Window};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) suite: Head,
    #[serde(default)]
    pub(crate) test: Vec<Spanned<Test>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    pub(crate) id: Name,
    pub(crate) revision: Revision,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) summary: String,
    #[serde(default)]
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) prepare: Vec<Spanned<Prepare>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Test {
    pub(crate) id: Spanned<Name>,
    pub(crate) revision: Revision,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) prepare: Vec<Spanned<Prepare>>,
    #[serde(default)]
    pub(crate) prepare_each: Vec<Spanned<Prepare>>,
    pub(crate) settle: Option<Text<Nanos>>,
    pub(crate) engine: Option<Spanned<Engine>>,
    pub(crate) idle: Option<Spanned<Text<Nanos>>>,
    pub(crate) stream: Option<Spanned<Stream>>,
    pub(crate) streams: Option<Spanned<Vec<Spanned<Stream>>>>,
    pub(crate) steps: Option<Spanned<Vec<Spanned<Step>>>>,
    pub(crate) trace: Option<Spanned<Trace>>,
    #[serde(default)]
    pub(crate) sweep: Sweep,
    pub(crate) search: Option<Spanned<Search>>,
    pub(crate) rounds: Option<Spanned<Rounds>>,
    pub(crate) return_to_first: Option<Spanned<bool>>,
    pub(crate) repeat: Option<Count>,
    pub(crate) until: Option<Spanned<Until>>,
    pub(crate) rest: Option<Spanned<Rest>>,
    pub(crate) score: Spanned<Score>,
    #[serde(default)]
    pub(crate) also: Vec<Spanned<Score>>,
    #[serde(default)]
    pub(crate) figures: Vec<Chart>,
    #[serde(default)]
    pub(crate) chosen: Vec<Spanned<String>>,
    #[serde(default)]
    pub(crate) deviates: BTreeMap<Spanned<String>, String>,
    pub(crate) restart: Option<ssdgauge_core::Restart>,
}

/// The published sums of a trace.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trace {
    pub(crate) name: Name,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) read: Text<Bytes>,
    pub(crate) written: Text<Bytes>,
    #[serde(default)]
    pub(crate) sizes: Vec<(Text<Bytes>, f64)>,
    pub(crate) published_sizes: Option<bool>,
    pub(crate) depth: f64,
    pub(crate) depths: Option<Vec<(u32, u32, f64)>>,
    pub(crate) sequential_percent: f64,
    pub(crate) idle_cut: Text<Nanos>,
    pub(crate) idle_percent: f64,
    pub(crate) span: Span,
    pub(crate) whole_from: Text<Bytes>,
    pub(crate) seed: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) label: String,
    pub(crate) stream: Option<Spanned<Stream>>,
    pub(crate) streams: Option<Spanned<Vec<Spanned<Stream>>>>,
    pub(crate) trim: Option<Span>,
    pub(crate) until: Option<Spanned<Until>>,
    pub(crate) rest: Option<Spanned<Rest>>,
    pub(crate) repeat: Option<Count>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prepare {
    pub(crate) purge: Option<bool>,
    pub(crate) trim: Option<bool>,
    pub(crate) fill: Option<Access>,
    pub(crate) precondition: Option<Spanned<Stream>>,
    pub(crate) rest: Option<Text<Nanos>>,
    pub(crate) power: Option<Text<Power>>,
    pub(crate) write_cache: Option<Switch>,
    pub(crate) span: Option<Span>,
    pub(crate) block_size: Option<Text<Bytes>>,
    pub(crate) engine: Option<Spanned<Engine>>,
    pub(crate) until: Option<Spanned<Until>>,
}

impl Prepare {
    /// Returns whether it changes a setting of the drive, which lasts to the end of its test.
    pub(crate) fn is_setting(&self) -> bool {
        self.power.is_some() || self.write_cache.is_some()
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stream {
    pub(crate) name: Option<Name>,
    pub(crate) operation: Option<Spanned<Operation>>,
    pub(crate) access: Option<Spanned<StreamAccess>>,
    pub(crate) random_percent: Option<Spanned<Percent>>,
    pub(crate) block_size: Option<Spanned<StreamSizes>>,
    pub(crate) read_percent: Option<Spanned<Percent>>,
    pub(crate) queue_depth: Option<Count>,
    pub(crate) threads: Option<Count>,
    pub(crate) cpus: Option<Processors>,
    pub(crate) offset: Option<Span>,
    pub(crate) span: Option<Span>,
    pub(crate) stride: Option<Spanned<Text<Bytes>>>,
    pub(crate) think_time: Option<Spanned<Text<Nanos>>>,
    pub(crate) pulse: Option<Spanned<PulseTimes>>,
    pub(crate) data: Option<Data>,
    pub(crate) per_second: Option<Spanned<f64>>,
    pub(crate) arrival: Option<Spanned<ArrivalKind>>,
    pub(crate) sync: Option<Spanned<bool>>,
    pub(crate) fua: Option<Spanned<bool>>,
    pub(crate) flush_every: Option<Spanned<Count>>,
    pub(crate) flush_at_end: Option<Spanned<bool>>,
    pub(crate) in_flight_at_most: Option<Spanned<Count>>,
    pub(crate) clock: Option<Spanned<LatencyClock>>,
}

/// The order of the requests of a stream: a word, or random requests that prefer some blocks.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "\"sequential\", \"random\", { zipf = 0.8 }, or { zones = [[0.8, 0.2], [0.2, 0.8]] }: \
                 pairs of a share of the requests and a share of the blocks"
)]
pub(crate) enum StreamAccess {
    Order(Access),
    Zones(Zones),
    Zipf(Zipf),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Zones {
    pub(crate) zones: Vec<(f64, f64)>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Zipf {
    pub(crate) zipf: f64,
}

/// The size of the requests of a stream, or several with their shares in percent.
#[derive(Clone, Debug)]
pub(crate) enum StreamSizes {
    One(Bytes),
    Several(BlockSizes),
}

impl<'de> Deserialize<'de> for StreamSizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = StreamSizes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "a size such as \"4KiB\", or sizes with their shares in percent such as \
                     {{ \"4KiB\" = 90, \"128KiB\" = 10 }}"
                )
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<StreamSizes, E> {
                text.parse().map(StreamSizes::One).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StreamSizes, A::Error> {
                let mut shares = Vec::new();
                while let Some((key, percent)) = map.next_entry::<String, Percent>()? {
                    let size: Bytes = key.parse().map_err(A::Error::custom)?;
                    shares.push(SizeShare { size, percent: percent.0 });
                }
                // One order for equal sizes, however they are written.
                shares.sort_by_key(|share| share.size);
                Ok(StreamSizes::Several(BlockSizes(shares)))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// The times in which a stream sends requests and does not, in turn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PulseTimes {
    pub(crate) on: Text<Nanos>,
    pub(crate) off: Text<Nanos>,
}

/// A setting that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Switch {
    On,
    Off,
}

/// Arrival process of an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ArrivalKind {
    Uniform,
    #[serde(rename = "in-phase")]
    InPhase,
    Poisson,
}

/// Loads of an open loop, as multiples of the rates of its streams: a list, or all whole numbers of a
/// range.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a list such as [1, 2, 4], or a range such as { from = 1, to = 300 }"
)]
pub(crate) enum Loads {
    List(Vec<f64>),
    Range { from: u32, to: u32 },
}

/// Swept keys of a test; the key that is written first is the outermost loop.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweep {
    /// The stream that the other keys vary, where there are several.
    pub(crate) stream: Option<Spanned<String>>,
    pub(crate) load: Option<Spanned<Loads>>,
    pub(crate) full_percent: Option<Spanned<Vec<Percent>>>,
    pub(crate) power: Option<Spanned<Vec<Text<Power>>>>,
    pub(crate) idle: Option<Spanned<Vec<Text<Nanos>>>>,
    pub(crate) span: Option<Spanned<Vec<Span>>>,
    pub(crate) block_size: Option<Spanned<Vec<Text<Bytes>>>>,
    pub(crate) threads: Option<Spanned<Vec<Count>>>,
    pub(crate) queue_depth: Option<Spanned<Vec<Count>>>,
    pub(crate) total_queue_depth: Option<Spanned<Vec<Count>>>,
    pub(crate) per_second: Option<Spanned<Vec<f64>>>,
    pub(crate) read_percent: Option<Spanned<Vec<Percent>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Until {
    pub(crate) time: Option<Text<Nanos>>,
    pub(crate) bytes: Option<Text<Bytes>>,
    pub(crate) passes: Option<Count>,
    pub(crate) steady: Option<Spanned<Steady>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    pub(crate) probe: Text<Nanos>,
    pub(crate) slice: Text<Nanos>,
    pub(crate) above: Vec<(Text<Nanos>, f64)>,
    pub(crate) stream: Option<Spanned<String>>,
    pub(crate) direction: Option<Spanned<Direction>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rounds {
    pub(crate) at_most: Count,
    pub(crate) tracking: String,
    pub(crate) metric: MetricKey,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Steady {
    pub(crate) metric: MetricKey,
    pub(crate) round: Text<Nanos>,
    #[serde(default)]
    pub(crate) round_passes: f64,
    #[serde(default)]
    pub(crate) least_passes: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rest {
    pub(crate) time: Option<Text<Nanos>>,
    pub(crate) duty_cycle: Option<f64>,
    pub(crate) at_most: Option<Text<Nanos>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Score {
    pub(crate) mean_of: Option<MetricKey>,
    pub(crate) best_of: Option<MetricKey>,
    pub(crate) knee_of: Option<MetricKey>,
    pub(crate) knee_of_load: Option<MetricKey>,
    pub(crate) metric: Option<MetricKey>,
    pub(crate) at: Option<Positions>,
    pub(crate) stream: Option<Spanned<String>>,
    pub(crate) direction: Option<Spanned<Direction>>,
    pub(crate) highest_borne: Option<bool>,
    pub(crate) clock: Option<Clock>,
    pub(crate) mean_of_last: Option<Text<Window>>,
    pub(crate) mean_over_sigma_of_last: Option<Text<Window>>,
}

/// Start of the latencies that a search judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Clock {
    /// The due time of a request.
    Due,
    /// The submission of a request.
    Sending,
}

/// One value of the sweep, or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a value of the sweep, such as 32, or a list such as [1, 2, 4]")]
pub(crate) enum Positions {
    One(f64),
    Several(Vec<f64>),
}

/// A value that is written as a string, such as `"4KiB"` or `"60s"`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<T>(pub(crate) T);

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Reader<T> {
            type Value = Text<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a string with a unit, such as \"4KiB\" or \"60s\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Text<T>, E> {
                text.parse().map(Text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Reader(PhantomData))
    }
}

/// A range of the target: a size, or a share of its capacity such as `"80%"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Span {
    Size(Bytes),
    Percent(u8),
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        match text.strip_suffix('%') {
            Some(number) => match number.trim().parse::<u8>() {
                Ok(percent @ 1..=100) => Ok(Span::Percent(percent)),
                _ => Err(format!("'{text}' is not a share between 1% and 100%")),
            },
            None => text
                .parse()
                .map(Span::Size)
                .map_err(|error: ssdgauge_core::UnitError| error.to_string()),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::<Span>::deserialize(deserializer).map(|text| text.0)
    }
}

/// Defines a type that deserializes from a number or a string; its check returns the permitted
/// values as an error.
macro_rules! checked {
    ($(#[$doc:meta])* $name:ident($inner:ty) from $raw:ty, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub(crate) struct $name(pub(crate) $inner);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let check: fn($raw) -> Result<$inner, String> = $check;
                check(<$raw>::deserialize(deserializer)?).map($name).map_err(D::Error::custom)
            }
        }
    };
}

checked!(
    /// A percentage.
    Percent(u8) from i64, |number| match number {
        0..=100 => Ok(number as u8),
        _ => Err(format!("{number} is not a percentage between 0 and 100")),
    }
);
checked!(
    /// A count: threads, requests in flight, repetitions, passes or rounds.
    Count(u32) from i64, |number| match number {
        1..=4_096 => Ok(number as u32),
        _ => Err(format!("{number} is not between 1 and 4096")),
    }
);
checked!(
    /// A revision of a suite or a test.
    Revision(u32) from i64, |number| match number {
        1..=1_000_000 => Ok(number as u32),
        _ => Err(format!("{number} is not a revision between 1 and 1000000")),
    }
);
checked!(
    /// An id, used on command lines and in reports.
    Name(String) from String, |text| {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if text.is_empty() || text.len() > 64 || !text.chars().all(fits) {
            return Err(format!("'{text}' is not an id: use a-z, 0-9 and '-', 1 to 64 characters"));
        }
        Ok(text)
    }
);
checked!(
    /// The key of a metric.
    MetricKey(Metric) from String, |text| Metric::from_key(&text).ok_or_else(|| {
        let keys: Vec<&str> = Metric::ALL.iter().map(|metric| metric.key()).collect();
        format!("'{text}' is not a metric (known: {})", keys.join(", "))
    })
);
