//! Reader of suites: converts the keys of a file to rules and checks them as a whole.
//!
//! Every error names file, line and remedy. No text may cause a panic: suite files are untrusted
//! input.

mod axes;
mod listed;
mod pauses;
mod points;
mod scores;
mod searches;
mod spans;
mod streams;
mod trace;

use crate::error::SuiteError;
use crate::schema::{self, Prepare, Span, Switch};
use crate::suite::{
    Extent, PointRule, PrepareRule, RoundsRule, SteadyUntil, StreamRule, Suite, TestRule, UntilRule,
};
use listed::Listed;
use serde::Deserialize;
use ssdgauge_core::{
    BLOCK_SIZES, Bytes, Chosen, Deviation, Engine, Nanos, Rest, Restart, WriteCache,
};
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeTable;

impl Suite {
    /// Parses a suite from the text of `file`.
    ///
    /// # Errors
    ///
    /// A [`SuiteError`] at the first error of the text: syntax, an unknown key, a value out of
    /// range, or rules that contradict each other.
    pub fn parse(file: &str, text: &str) -> Result<Suite, SuiteError> {
        let reader = Reader { file, text };
        let document = DeTable::parse(text).map_err(|error| reader.toml(&error))?;
        let listed = listed::values(document.get_ref());
        let parsed = schema::File::deserialize(toml::Deserializer::from(document))
            .map_err(|error| reader.toml(&error))?;
        let head = parsed.suite;
        let sets = |rule: &&Spanned<Prepare>| rule.get_ref().is_setting();
        if let Some(rule) = head.prepare.iter().find(sets) {
            let hint = "move it to `prepare` of each test that needs it";
            let message = "a power state or a write cache is set for a single test";
            return Err(reader.error(rule.span(), message, hint));
        }
        let mut tests = Vec::new();
        let mut ids = BTreeSet::new();
        for (test, listed) in parsed.test.into_iter().zip(&listed) {
            let test = test.into_inner();
            if !ids.insert(test.id.get_ref().0.clone()) {
                let message = format!("two tests have the id '{}'", test.id.get_ref().0);
                return Err(reader.error(test.id.span(), message, "give each test a different id"));
            }
            tests.push(reader.test(test, listed)?);
        }
        if tests.is_empty() {
            let hint = "add a [[test]] with id, stream, until and score";
            return Err(reader.error(0..0, "the suite has no test", hint));
        }
        Ok(Suite {
            id: head.id.0,
            revision: head.revision.0,
            title: head.title,
            summary: head.summary,
            source: head.source,
            prepare: reader.prepare(head.prepare)?,
            tests,
        })
    }
}

/// A file that is read, for errors that point into its text.
struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn error(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> SuiteError {
        SuiteError::at(self.file, self.text, Some(span), message, hint)
    }

    /// Converts an error of the TOML parser.
    fn toml(&self, error: &toml::de::Error) -> SuiteError {
        let hint = "docs/reference/suites.md describes every key of a suite file";
        // The parser names types of Rust; its messages are for authors of suites.
        let message = error.message().replace("expected i64", "expected a whole number");
        let message = message.replace("expected f64", "expected a number");
        let message = match message.split_once("expected struct ") {
            Some((before, _)) => format!("{before}expected a table such as {{ key = \"value\" }}"),
            None => message,
        };
        SuiteError::at(self.file, self.text, error.span(), message, hint)
    }

    /// Reads a test; `listed` has the values of its keys that are chosen or deviate.
    fn test(&self, test: schema::Test, listed: &Listed) -> Result<TestRule, SuiteError> {
        let engine = test.engine.as_ref().map_or(Engine::IoUring, |engine| *engine.get_ref());
        let points = self.points(&test)?;
        let streams = || points.iter().flat_map(|point| &point.streams);
        let place = test.engine.as_ref().map_or(test.id.span(), Spanned::span);
        let restart = self.check_settings(&test, &points)?;
        let return_to_first = self.return_to_first(&test, &points)?;
        self.check_engine(engine, streams(), place)?;
        let score = self.checked_score(&test.score, &points, &test)?;
        let also = test.also.iter().map(|score| self.checked_score(score, &points, &test));
        let also = also.collect::<Result<Vec<_>, SuiteError>>()?;
        let unprepared = test.prepare.is_empty();
        self.check_prepare_each(&test)?;
        let chosen: Result<Vec<Chosen>, SuiteError> =
            test.chosen.iter().map(|key| self.chosen(key, listed)).collect();
        let deviations = test.deviates.iter().map(|(key, reason)| {
            let Chosen { key, value } = self.chosen(key, listed)?;
            Ok(Deviation { key, value, reason: reason.clone() })
        });
        let deviations: Result<Vec<Deviation>, SuiteError> = deviations.collect();
        Ok(TestRule {
            chosen: chosen?,
            deviations: deviations?,
            place: self.error(test.id.span(), "", "").line_in_file(),
            id: test.id.into_inner().0,
            revision: test.revision.0,
            title: test.title,
            source: test.source,
            prepare: self.prepare(test.prepare)?,
            prepare_each: self.prepare(test.prepare_each)?,
            settle: test.settle.map_or(Nanos::ZERO, |time| time.0),
            engine,
            return_to_first,
            rounds: test
                .rounds
                .map(|rounds| self.rounds(rounds, test.restart, unprepared, &points))
                .transpose()?,
            search: test
                .search
                .as_ref()
                .map(|search| self.search(search, unprepared, &points))
                .transpose()?,
            points,
            score,
            also,
            figures: test.figures,
            restart,
        })
    }

    /// Returns the restart rule of a test, and refuses combinations that cannot be resumed.
    ///
    /// Idle times, a power state and a write cache setting do not outlast a pause of the run, and a
    /// trim cannot be measured twice without new data, so a test with one of them has
    /// [`Restart::Test`], and neither search nor rounds with idle times
    /// or power states, which execute steps out of order.
    fn check_settings(
        &self,
        test: &schema::Test,
        points: &[PointRule],
    ) -> Result<Restart, SuiteError> {
        let sets = test.prepare.iter().any(|rule| rule.get_ref().power.is_some())
            || points.iter().any(|point| point.power.is_some());
        let idles = points.iter().any(|point| point.idle.is_some());
        let caches = test.prepare.iter().any(|rule| rule.get_ref().write_cache.is_some());
        if caches && (test.search.is_some() || test.restart == Some(Restart::Step)) {
            return Err(self.error(
                test.id.span(),
                "a test that switches the write cache is restarted as a whole after a pause",
                "remove search and restart = \"step\"",
            ));
        }
        let replays = points.iter().any(|point| point.trace.is_some());
        if replays && test.restart == Some(Restart::Step) {
            return Err(self.error(
                test.id.span(),
                "a replay begins again as a whole after a pause",
                "remove restart = \"step\"",
            ));
        }
        let trims = points.iter().any(|point| point.trim.is_some());
        if trims && test.restart == Some(Restart::Step) {
            return Err(self.error(
                test.id.span(),
                "a test that measures a trim is restarted as a whole after a pause",
                "remove restart = \"step\"",
            ));
        }
        if !sets && !idles {
            let default = if caches || trims || replays { Restart::Test } else { Restart::Step };
            return Ok(test.restart.unwrap_or(default));
        }
        if test.search.is_some() || test.rounds.is_some() || test.restart == Some(Restart::Step) {
            return Err(self.error(
                test.id.span(),
                "a test with idle times or a power state executes its steps once, in order",
                "remove search, rounds and restart = \"step\"",
            ));
        }
        Ok(Restart::Test)
    }

    /// Refuses a preparation of each point where points are executed out of order.
    fn check_prepare_each(&self, test: &schema::Test) -> Result<(), SuiteError> {
        let Some(first) = test.prepare_each.first() else { return Ok(()) };
        match test.search.is_some() || test.rounds.is_some() {
            false => Ok(()),
            true => Err(self.error(
                first.span(),
                "a search and rounds do not prepare single points",
                "remove prepare_each, or search and rounds",
            )),
        }
    }

    /// Returns whether the first point is measured again at the end. That shows a change of state
    /// only where nothing but the load changes from point to point.
    fn return_to_first(
        &self,
        test: &schema::Test,
        points: &[PointRule],
    ) -> Result<bool, SuiteError> {
        let Some(key) = test.return_to_first.as_ref().filter(|key| *key.get_ref()) else {
            return Ok(false);
        };
        let changes = |point: &PointRule| {
            point.full_percent.is_some() || point.power.is_some() || point.streams.is_empty()
        };
        match points.iter().any(changes) || test.rounds.is_some() || test.search.is_some() {
            false => Ok(true),
            true => Err(self.error(
                key.span(),
                "the first point of this test cannot be measured again in the same state",
                "remove return_to_first, or full_percent, power, rounds and search",
            )),
        }
    }

    /// Reads the rounds of a test. They need a preparation and [`Restart::Test`], because a pause
    /// or an unknown state in between would invalidate the steady state, and the same fill level
    /// throughout, because a level begins with a purge.
    fn rounds(
        &self,
        rounds: Spanned<schema::Rounds>,
        restart: Option<Restart>,
        unprepared: bool,
        points: &[PointRule],
    ) -> Result<RoundsRule, SuiteError> {
        let place = rounds.span();
        let schema::Rounds { at_most, tracking, metric } = rounds.into_inner();
        if !points.iter().any(|point| point.label == tracking) {
            let labels: Vec<&str> = points.iter().map(|point| point.label.as_str()).collect();
            let hint = format!("the steps are: {}", labels.join(", "));
            return Err(self.error(place, format!("no step has the label '{tracking}'"), hint));
        }
        let has_levels = points.iter().any(|point| point.full_percent.is_some());
        let few = !(5..=100).contains(&at_most.0);
        if restart != Some(Restart::Test) || unprepared || has_levels || few {
            let hint = "add `prepare` and restart = \"test\", set at_most to 5 to 100 (SNIA: 25), \
                        and do not sweep over full_percent";
            return Err(self.error(
                place,
                "the steady-state rule needs five rounds without a pause",
                hint,
            ));
        }
        match metric.0.adds_up() {
            true => Ok(RoundsRule { at_most: at_most.0, tracking, metric: metric.0 }),
            false => Err(self.error(
                place,
                format!("{} cannot be tracked from round to round", metric.0.key()),
                "use iops, throughput_mb_s or lat_mean_us",
            )),
        }
    }

    /// Refuses a queue depth above 1 with synchronous I/O.
    fn check_engine<'a>(
        &self,
        engine: Engine,
        mut streams: impl Iterator<Item = &'a StreamRule>,
        place: Range<usize>,
    ) -> Result<(), SuiteError> {
        let too_deep = streams.any(|stream| stream.requests.queue_depth > 1);
        match engine {
            Engine::Synchronous if too_deep => {
                let hint = "set queue_depth = 1, and set threads or sweep over them";
                Err(self.error(place, "a synchronous thread has one request in flight", hint))
            }
            Engine::Synchronous | Engine::IoUring => Ok(()),
        }
    }

    fn prepare(&self, rules: Vec<Spanned<Prepare>>) -> Result<Vec<PrepareRule>, SuiteError> {
        rules.into_iter().map(|rule| self.prepare_rule(rule)).collect()
    }

    /// Reads one preparation: exactly one action with its own keys.
    fn prepare_rule(&self, rule: Spanned<Prepare>) -> Result<PrepareRule, SuiteError> {
        let span = rule.span();
        let keys = rule.into_inner();
        let part = extent(keys.span.unwrap_or(Span::Percent(100)));
        let wrong = || {
            self.error(
                span.clone(),
                "a preparation has exactly one action",
                "write one of { purge = true }, { trim = true }, { fill = \"sequential\" }, \
                 { precondition = { … }, until = { … } }, { rest = \"60s\" }, \
                 { power = \"active\" }, { write_cache = \"off\" }; `span` goes with \
                 trim and fill, `block_size` with fill, `engine` and `until` with precondition",
            )
        };
        if keys.precondition.is_none() && (keys.until.is_some() || keys.engine.is_some()) {
            return Err(wrong());
        }
        let named = (keys.span.is_some(), keys.block_size.is_some());
        if keys.is_setting() {
            let others = keys.purge.is_some() || keys.trim.is_some() || keys.fill.is_some();
            let others = others || keys.precondition.is_some() || keys.rest.is_some();
            return match (keys.power, keys.write_cache) {
                (Some(power), None) if !others && named == (false, false) => {
                    Ok(PrepareRule::Power(power.0.0))
                }
                (None, Some(switch)) if !others && named == (false, false) => {
                    Ok(PrepareRule::WriteCache(match switch {
                        Switch::On => WriteCache::On,
                        Switch::Off => WriteCache::Off,
                    }))
                }
                (_, _) => Err(wrong()),
            };
        }
        match (keys.purge, keys.trim, keys.fill, &keys.precondition, keys.rest, named) {
            (Some(true), None, None, None, None, (false, false)) => Ok(PrepareRule::Purge),
            (None, Some(true), None, None, None, (_, false)) => Ok(PrepareRule::Trim(part)),
            (None, None, Some(access), None, None, _) => {
                let block_size = keys.block_size.map_or(Bytes(128 << 10), |size| size.0);
                self.check_block_size(block_size, span)?;
                Ok(PrepareRule::Fill { access, block_size, span: part })
            }
            (None, None, None, Some(stream), None, (false, false)) => {
                let Some(until) = &keys.until else {
                    let hint = "add `until`, such as until = { time = \"2h\" } or { passes = 2 }";
                    return Err(self.error(span, "a preconditioning needs a limit", hint));
                };
                let engine =
                    keys.engine.as_ref().map_or(Engine::IoUring, |engine| *engine.get_ref());
                let stream = self.stream(stream, &[])?;
                self.check_engine(engine, std::iter::once(&stream), span)?;
                let (stream, until) = (Box::new(stream), self.until(until)?);
                Ok(PrepareRule::Precondition { engine, stream, until })
            }
            (None, None, None, None, Some(rest), (false, false)) => Ok(PrepareRule::Rest(rest.0)),
            _ => Err(wrong()),
        }
    }

    fn check_block_size(&self, size: Bytes, place: Range<usize>) -> Result<(), SuiteError> {
        match BLOCK_SIZES.contains(&size) {
            true => Ok(()),
            false => Err(self.error(
                place,
                format!("a block size of {} is out of range", size.as_block()),
                format!("use {} to {}", BLOCK_SIZES.start().exact(), BLOCK_SIZES.end().exact()),
            )),
        }
    }

    /// Reads the limits of a step. A steady-state rule needs a second limit, or a drive that never
    /// becomes steady would run for ever.
    fn until(&self, until: &Spanned<schema::Until>) -> Result<UntilRule, SuiteError> {
        let keys = until.get_ref();
        let limits = UntilRule {
            time: keys.time.map(|time| time.0),
            bytes: keys.bytes.map(|bytes| bytes.0),
            passes: keys.passes.as_ref().map(|count| count.0),
            steady: keys.steady.as_ref().map(|rule| self.steady(rule)).transpose()?,
        };
        let nothing = limits.time == Some(Nanos::ZERO) || limits.bytes == Some(Bytes(0));
        let bounded = limits.time.is_some() || limits.bytes.is_some() || limits.passes.is_some();
        if !bounded || nothing {
            let hint = "set time such as \"60s\", bytes such as \"32GB\", passes over the span, or \
                        several of them; a steady-state rule alone might never end";
            return Err(self.error(until.span(), "a step needs a limit above zero", hint));
        }
        Ok(limits)
    }

    fn steady(&self, rule: &Spanned<schema::Steady>) -> Result<SteadyUntil, SuiteError> {
        let schema::Steady { metric, round, round_passes, least_passes } = rule.get_ref();
        let (metric, round) = (metric.0, round.0);
        if ![round_passes, least_passes].iter().all(|passes| (0.0..=100.0).contains(*passes)) {
            let hint = "use multiples of the span, such as round_passes = 0.05, least_passes = 2";
            return Err(self.error(rule.span(), "an amount of data lies between 0 and 100", hint));
        }
        if round < Nanos::SECOND || round.0 % Nanos::SECOND.0 != 0 {
            let hint = "samples are taken every second: use \"60s\" or another whole number";
            return Err(self.error(rule.span(), "a round lasts whole seconds, at least one", hint));
        }
        match metric.adds_up() {
            true => Ok(SteadyUntil {
                metric,
                round,
                round_passes: *round_passes,
                least_passes: *least_passes,
            }),
            false => Err(self.error(
                rule.span(),
                format!("{} cannot be tracked from round to round", metric.key()),
                "use iops, throughput_mb_s or lat_mean_us",
            )),
        }
    }

    fn rest(&self, rest: Option<&Spanned<schema::Rest>>) -> Result<Rest, SuiteError> {
        let Some(rest) = rest else { return Ok(Rest::None) };
        let schema::Rest { time, duty_cycle, at_most } = rest.get_ref();
        match (time, duty_cycle, at_most) {
            (Some(time), None, None) => Ok(Rest::For(time.0)),
            (None, Some(busy), Some(at_most)) if *busy > 0.0 && *busy < 1.0 => {
                Ok(Rest::DutyCycle { busy: *busy, at_most: at_most.0 })
            }
            _ => Err(self.error(
                rest.span(),
                "a rest is a time, or a duty cycle with a maximum",
                "write { time = \"30s\" } or { duty_cycle = 0.5, at_most = \"60s\" }, with a duty \
                 cycle between 0 and 1",
            )),
        }
    }

    /// Returns a key that is not as stated by the source, with its value as written in the file.
    fn chosen(&self, key: &Spanned<String>, listed: &Listed) -> Result<Chosen, SuiteError> {
        let path = key.get_ref();
        match listed.get(path) {
            Some(value) => Ok(Chosen { key: path.clone(), value: value.clone() }),
            None => Err(self.error(
                key.span(),
                format!("'{path}' is listed as chosen or deviating; the test has no such key"),
                "write the value into the test, or remove the key from the list",
            )),
        }
    }
}

fn extent(span: Span) -> Extent {
    match span {
        Span::Size(bytes) => Extent::Size(bytes),
        Span::Percent(percent) => Extent::Percent(percent),
    }
}
