//! Swept keys of a test: their values, the combinations of them, and the label and the position of
//! each.

use super::{Reader, extent};
use crate::error::SuiteError;
use crate::schema::{self, Loads};
use crate::suite::{Extent, StreamRule};
use ssdgauge_core::{Bytes, Nanos, PowerSaving};
use std::ops::Range;
use toml::Spanned;

/// Maximum number of steps of a test: bounds the plan of an untrusted suite.
pub(super) const MAX_POINTS: usize = 4_096;

/// A swept key with its values.
pub(super) struct Axis {
    pub(super) key: &'static str,
    pub(super) place: Range<usize>,
    pub(super) values: Vec<Value>,
}

/// One value of a swept key.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Value {
    Full(u8),
    Power(PowerSaving),
    /// Idle time before each step.
    Idle(Nanos),
    Span(Extent),
    Block(Bytes),
    Threads(u32),
    Depth(u32),
    /// Requests in flight of all threads together; at most as many threads as the stream has.
    TotalDepth(u32),
    Percent(u8),
    Rate(f64),
    /// Multiple of the rate of every stream.
    Load(f64),
}

impl Value {
    /// Returns whether the value changes one stream, not all of them or the drive.
    pub(super) fn is_of_one_stream(&self) -> bool {
        match self {
            Value::Span(_)
            | Value::Block(_)
            | Value::Threads(_)
            | Value::Depth(_)
            | Value::TotalDepth(_)
            | Value::Percent(_)
            | Value::Rate(_) => true,
            Value::Full(_) | Value::Power(_) | Value::Idle(_) | Value::Load(_) => false,
        }
    }
}

impl Axis {
    /// Returns whether the key changes one stream, not all of them or the drive.
    pub(super) fn is_of_one_stream(&self) -> bool {
        self.values.iter().any(Value::is_of_one_stream)
    }
}

impl Reader<'_> {
    /// Returns the swept keys in the order in which they are written.
    pub(super) fn axes(&self, sweep: &schema::Sweep) -> Result<Vec<Axis>, SuiteError> {
        let schema::Sweep {
            // Names the stream, and has no values.
            stream: _,
            load,
            full_percent,
            power,
            idle,
            span,
            block_size,
            threads,
            queue_depth,
            total_queue_depth,
            per_second,
            read_percent,
        } = sweep;
        let mut axes = Vec::new();
        axes.extend(self.axis("full_percent", full_percent, |percent| Value::Full(percent.0))?);
        axes.extend(self.axis("power", power, |power| Value::Power(power.0.0))?);
        axes.extend(self.axis("idle", idle, |time| Value::Idle(time.0))?);
        axes.extend(self.axis("span", span, |span| Value::Span(extent(*span)))?);
        axes.extend(self.axis("block_size", block_size, |size| Value::Block(size.0))?);
        axes.extend(self.axis("threads", threads, |count| Value::Threads(count.0))?);
        axes.extend(self.axis("queue_depth", queue_depth, |count| Value::Depth(count.0))?);
        axes.extend(
            self.axis("total_queue_depth", total_queue_depth, |count| Value::TotalDepth(count.0))?,
        );
        axes.extend(self.axis("read_percent", read_percent, |percent| Value::Percent(percent.0))?);
        axes.extend(self.axis("per_second", per_second, |rate| Value::Rate(*rate))?);
        if let Some(list) = per_second {
            for rate in list.get_ref() {
                self.rate(*rate, list.span())?;
            }
        }
        axes.extend(load.as_ref().map(|loads| self.loads(loads)).transpose()?);
        axes.sort_by_key(|axis| axis.place.start);
        let others = |axis: &&Axis| axis.key == "threads" || axis.key == "queue_depth";
        if let (Some(_), Some(other)) = (total_queue_depth, axes.iter().find(others)) {
            let message = format!("total_queue_depth already determines {}", other.key);
            return Err(self.error(other.place.clone(), message, "sweep over one of them"));
        }
        Ok(axes)
    }

    /// Returns the loads of a sweep.
    fn loads(&self, loads: &Spanned<Loads>) -> Result<Axis, SuiteError> {
        let multiples: Vec<f64> = match loads.get_ref() {
            Loads::List(list) => list.clone(),
            Loads::Range { from, to } if (1..=MAX_POINTS as u32).contains(to) => {
                (*from..=*to).map(f64::from).collect()
            }
            Loads::Range { .. } => Vec::new(),
        };
        let is_usable = |times: &f64| (0.001..=100_000.0).contains(times);
        if multiples.is_empty() || !multiples.iter().all(is_usable) {
            let hint = format!(
                "use 0.001 to 100000 times the rates of the streams, or a range of whole numbers \
                 from 1 to {MAX_POINTS}"
            );
            return Err(self.error(loads.span(), "the loads are out of range", hint));
        }
        let values = multiples.into_iter().map(Value::Load).collect();
        Ok(Axis { key: "load", place: loads.span(), values })
    }

    /// Returns the values of a swept key; `None` where it is not swept.
    fn axis<T>(
        &self,
        key: &'static str,
        values: &Option<Spanned<Vec<T>>>,
        value: impl Fn(&T) -> Value,
    ) -> Result<Option<Axis>, SuiteError> {
        let Some(list) = values else { return Ok(None) };
        if list.get_ref().is_empty() {
            let message = format!("the sweep over {key} is empty");
            return Err(self.error(list.span(), message, "list at least one value"));
        }
        let values: Vec<Value> = list.get_ref().iter().map(value).collect();
        if (1..values.len()).any(|last| values[..last].contains(&values[last])) {
            return Err(self.error(
                list.span(),
                format!("the sweep over {key} has a value twice"),
                "list each value once; repeat = 3 carries out every step three times",
            ));
        }
        Ok(Some(Axis { key, place: list.span(), values }))
    }
}

/// Returns every combination of one value of each axis; the last axis varies fastest.
pub(super) fn combinations(axes: &[Axis]) -> Vec<Vec<Value>> {
    axes.iter().fold(vec![Vec::new()], |before, axis| {
        let extended = before.iter().flat_map(|values| {
            axis.values.iter().map(move |value| [values.as_slice(), &[*value]].concat())
        });
        extended.collect()
    })
}

/// Returns the parts of the label of a point, and its position on the axis of the innermost key.
/// `stream` is the one that the sweep varies; with `several` of them its name is in the label.
pub(super) fn describe(stream: &StreamRule, several: bool, values: &[Value]) -> (Vec<String>, f64) {
    let requests = &stream.requests;
    let total = requests.total_depth();
    let mut words: Vec<String> = Vec::new();
    let mut position = f64::from(requests.read_percent);
    for value in values {
        let (word, at) = match *value {
            Value::Full(percent) => (format!("{percent} % full"), f64::from(percent)),
            Value::Power(saving) => (saving.to_string(), position_of(saving)),
            Value::Idle(time) => (format!("idle {}", time.exact()), time.as_secs_f64()),
            Value::Span(Extent::Size(bytes)) => (format!("span {}", bytes.exact()), bytes.0 as f64),
            Value::Span(Extent::Percent(percent)) => {
                (format!("span {percent} %"), f64::from(percent))
            }
            Value::Block(size) => (size.exact(), size.0 as f64),
            Value::Threads(_) | Value::Depth(_) | Value::TotalDepth(_) => {
                (format!("QD{total}"), f64::from(total))
            }
            Value::Percent(percent) => (format!("{percent} % read"), f64::from(percent)),
            Value::Rate(rate) => (format!("{rate}/s"), rate),
            Value::Load(times) => (format!("{times}x"), times),
        };
        let word = match several && value.is_of_one_stream() {
            true => format!("{} {word}", requests.name),
            false => word,
        };
        if words.last() != Some(&word) {
            words.push(word);
        }
        position = at;
    }
    (words, position)
}

/// Returns the position of a power saving on an axis: the number of the state, then the settings
/// without a number after the last of 32 states.
fn position_of(saving: PowerSaving) -> f64 {
    match saving {
        PowerSaving::State(number) => f64::from(number),
        PowerSaving::AsFound => 32.0,
        PowerSaving::Active => 33.0,
        PowerSaving::Low => 34.0,
    }
}
