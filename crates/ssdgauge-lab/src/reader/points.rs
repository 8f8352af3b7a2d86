//! Measured steps of a test: the streams for each combination of swept values and repetition.

use super::axes::{Axis, MAX_POINTS, Value, combinations, describe};
use super::streams::Streams;
use super::{Reader, extent};
use crate::error::SuiteError;
use crate::schema;
use crate::suite::{PointRule, StreamRule, UntilRule};
use ssdgauge_core::{BlockSizes, Nanos, Rest};
use toml::Spanned;

impl Reader<'_> {
    /// Returns the points of a test: the key of the sweep that is written first is the outermost
    /// loop, and the repetitions are the innermost one.
    pub(super) fn points(&self, test: &schema::Test) -> Result<Vec<PointRule>, SuiteError> {
        if let Some(trace) = &test.trace {
            return self.trace_points(test, trace);
        }
        if let Some(steps) = &test.steps {
            return self.listed_points(test, steps);
        }
        if test.idle.is_some() && test.stream.is_none() && test.streams.is_none() {
            return self.idle_points(test);
        }
        let Some(until) = &test.until else {
            let hint = "add `until`, such as until = { time = \"60s\" }";
            return Err(self.error(test.id.span(), "the test has no limit", hint));
        };
        let end = until.span();
        let until = self.until(until)?;
        let rest = self.rest(test.rest.as_ref())?;
        let axes = self.axes(&test.sweep)?;
        let streams = self.streams(
            test.id.span(),
            (test.stream.as_ref(), test.streams.as_ref()),
            test.sweep.stream.as_ref(),
            &axes,
        )?;
        let idle = test.idle.as_ref().map(|idle| self.idle_time(idle)).transpose()?;
        self.check_end(&streams.rules, &until, end)?;
        let turns = test.repeat.as_ref().map_or(1, |count| count.0);
        let lengths = axes.iter().map(|axis| axis.values.len());
        let steps = lengths.fold(1, usize::saturating_mul);
        if steps.saturating_mul(turns as usize) > MAX_POINTS {
            let hint = format!("a test has at most {MAX_POINTS} steps; sweep over fewer values");
            return Err(self.error(test.id.span(), "the test has too many steps", hint));
        }
        self.check_depth(&streams.rules[streams.varied], &axes)?;
        let mut points = Vec::new();
        for combination in combinations(&axes) {
            for turn in 0..turns {
                let mut point = self.point(&streams, &combination, turn, turns, &until, rest);
                point.idle = point.idle.or(idle);
                let varied = &point.streams[streams.varied];
                self.check_block_size(varied.requests.block_size, test.id.span())?;
                if let Some(axis) =
                    axes.iter().find(|axis| ["block_size", "span"].contains(&axis.key))
                {
                    self.check_span(varied, axis.place.clone())?;
                }
                points.push(point);
            }
        }
        Ok(points)
    }

    /// Refuses a total queue depth that is not a multiple of the threads.
    fn check_depth(&self, stream: &StreamRule, axes: &[Axis]) -> Result<(), SuiteError> {
        let Some(axis) = axes.iter().find(|axis| axis.key == "total_queue_depth") else {
            return Ok(());
        };
        let threads = stream.requests.threads;
        let totals = axis.values.iter().filter_map(|value| match value {
            Value::TotalDepth(total) => Some(*total),
            Value::Full(_)
            | Value::Power(_)
            | Value::Idle(_)
            | Value::Span(_)
            | Value::Block(_)
            | Value::Threads(_)
            | Value::Depth(_)
            | Value::Percent(_)
            | Value::Rate(_)
            | Value::Load(_) => None,
        });
        match totals.into_iter().find(|total| total % threads.min(*total) != 0) {
            Some(total) => Err(self.error(
                axis.place.clone(),
                format!("{total} requests cannot be divided among {} threads", threads.min(total)),
                "use multiples of the threads of the stream, or less than them",
            )),
            None => Ok(()),
        }
    }

    /// Reads the steps of a test that lists them.
    fn listed_points(
        &self,
        test: &schema::Test,
        steps: &Spanned<Vec<Spanned<schema::Step>>>,
    ) -> Result<Vec<PointRule>, SuiteError> {
        let axes = self.axes(&test.sweep)?;
        let others = test.stream.is_some()
            || test.streams.is_some()
            || test.until.is_some()
            || test.rest.is_some()
            || test.idle.is_some()
            || test.repeat.is_some()
            || test.sweep.stream.is_some()
            || !axes.is_empty();
        if others || steps.get_ref().is_empty() {
            let hint = "give each of `steps` its own stream or streams, until and rest, at least one step, \
                        and remove stream, streams, idle, sweep, repeat, until and rest from \
                        the test";
            return Err(self.error(steps.span(), "listed steps have their own keys", hint));
        }
        let mut points = Vec::new();
        for (number, step) in steps.get_ref().iter().enumerate() {
            let first = self.listed_point(step, number as f64 + 1.0)?;
            let turns = step.get_ref().repeat.as_ref().map_or(1, |count| count.0);
            for turn in 0..turns {
                let number_of_turn =
                    if turns > 1 { format!(" #{}", turn + 1) } else { String::new() };
                let label = format!("{}{number_of_turn}", first.label);
                points.push(PointRule { label, turn, ..first.clone() });
            }
            if points.len() > MAX_POINTS {
                let hint = format!("a test has at most {MAX_POINTS} steps; repeat fewer times");
                return Err(self.error(steps.span(), "the test has too many steps", hint));
            }
        }
        Ok(points)
    }

    /// Reads a step of a list: one stream, several of them, or a trim.
    fn listed_point(
        &self,
        step: &Spanned<schema::Step>,
        position: f64,
    ) -> Result<PointRule, SuiteError> {
        let (place, step) = (step.span(), step.get_ref());
        let until = step.until.as_ref().map(|until| self.until(until)).transpose()?;
        let load = (step.stream.as_ref(), step.streams.as_ref());
        let (streams, until) = match (step.trim, until, load) {
            (None, Some(until), _) => {
                let rules = self.streams(place.clone(), load, None, &[])?.rules;
                self.check_end(&rules, &until, place)?;
                (rules, until)
            }
            (Some(_), None, (None, None)) => (Vec::new(), UntilRule::default()),
            (None, None, _) => {
                let hint = "add `until`, such as until = { time = \"60s\" }";
                return Err(self.error(place, "the step has no limit", hint));
            }
            (Some(_), _, _) => {
                let hint = "write { label = \"…\", trim = \"64GB\" } with `repeat` and `rest` only";
                return Err(self.error(place, "a trim has neither a stream nor a limit", hint));
            }
        };
        Ok(PointRule {
            label: step.label.clone(),
            position,
            full_percent: None,
            power: None,
            idle: None,
            turn: 0,
            streams,
            trim: step.trim.map(extent),
            trace: None,
            until,
            rest: self.rest(step.rest.as_ref())?,
        })
    }

    /// Reads a test that measures the idle drive.
    fn idle_points(&self, test: &schema::Test) -> Result<Vec<PointRule>, SuiteError> {
        let idle = test.idle.as_ref().map(|idle| self.idle_time(idle)).transpose()?;
        let axes = self.axes(&test.sweep)?;
        let other = axes.iter().find(|axis| axis.key != "power");
        let more = test.until.is_some() || test.rest.is_some() || test.sweep.stream.is_some();
        if other.is_some() || more {
            let hint = "without a stream, `idle` is the measured idle time; combine it with \
                        prepare, repeat and sweep = { power = […] } only";
            return Err(self.error(test.id.span(), "a test of the idle drive has no load", hint));
        }
        let turns = test.repeat.as_ref().map_or(1, |count| count.0);
        let mut points = Vec::new();
        for combination in combinations(&axes) {
            let power = combination.iter().find_map(|value| match value {
                Value::Power(power) => Some(*power),
                Value::Full(_)
                | Value::Idle(_)
                | Value::Span(_)
                | Value::Block(_)
                | Value::Threads(_)
                | Value::Depth(_)
                | Value::TotalDepth(_)
                | Value::Percent(_)
                | Value::Rate(_)
                | Value::Load(_) => None,
            });
            for turn in 0..turns {
                let word = power.map_or_else(|| "idle".to_owned(), |power| power.to_string());
                let label = if turns > 1 { format!("{word} #{}", turn + 1) } else { word };
                points.push(PointRule {
                    label,
                    position: points.len() as f64 + 1.0,
                    full_percent: None,
                    power,
                    idle,
                    turn,
                    streams: Vec::new(),
                    trim: None,
                    trace: None,
                    until: UntilRule::default(),
                    rest: Rest::None,
                });
            }
        }
        Ok(points)
    }

    fn idle_time(&self, time: &Spanned<schema::Text<Nanos>>) -> Result<Nanos, SuiteError> {
        match time.get_ref().0 {
            Nanos::ZERO => Err(self.error(
                time.span(),
                "an idle time of 0",
                "use a time above zero, such as \"10s\"",
            )),
            time => Ok(time),
        }
    }

    /// Returns the point of one combination of swept values and one repetition.
    fn point(
        &self,
        streams: &Streams,
        values: &[Value],
        turn: u32,
        turns: u32,
        until: &UntilRule,
        rest: Rest,
    ) -> PointRule {
        let Streams { mut rules, varied } = streams.clone();
        let (mut full_percent, mut power, mut idle) = (None, None, None);
        for value in values {
            let requests = &mut rules[varied].requests;
            match *value {
                Value::Full(percent) => full_percent = Some(percent),
                Value::Power(saving) => power = Some(saving),
                Value::Idle(time) => idle = Some(time),
                Value::Span(span) => rules[varied].span = span,
                Value::Block(size) => {
                    (requests.block_size, requests.sizes) = (size, BlockSizes::default());
                }
                Value::Threads(count) => requests.threads = count,
                Value::Depth(count) => requests.queue_depth = count,
                Value::TotalDepth(total) => {
                    let threads = requests.threads.min(total);
                    (requests.threads, requests.queue_depth) = (threads, total / threads);
                }
                Value::Percent(percent) => requests.read_percent = percent,
                Value::Load(times) => {
                    for stream in &mut rules {
                        stream.requests.arrival = stream.requests.arrival.times(times);
                    }
                }
                // Multiplied rather than set, so that the arrival process is kept.
                Value::Rate(rate) => {
                    let each = requests.arrival.per_second().unwrap_or(1.0);
                    requests.arrival = requests.arrival.times(rate / each);
                }
            }
        }
        let (mut words, mut position) = describe(&rules[varied], rules.len() > 1, values);
        if turns > 1 {
            words.push(format!("#{}", turn + 1));
            if values.is_empty() {
                position = f64::from(turn + 1);
            }
        }
        if words.is_empty() {
            words.push(match rules.as_slice() {
                [stream] => stream.requests.mix(),
                several => {
                    let names: Vec<&str> =
                        several.iter().map(|s| s.requests.name.as_str()).collect();
                    names.join(" + ")
                }
            });
        }
        let label = words.join(" ");
        let until = *until;
        let streams = rules;
        PointRule {
            label,
            position,
            full_percent,
            power,
            idle,
            turn,
            streams,
            trim: None,
            trace: None,
            until,
            rest,
        }
    }
}
