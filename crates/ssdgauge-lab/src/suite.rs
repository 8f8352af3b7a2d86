//! Suites: protocols as data, read from TOML and checked as a whole.

use crate::error::SuiteError;
use crate::schema::{self, Prepare, Span};
use ssdgauge_core::{
    Access, Bytes, Chosen, Data, Engine, Figure, Metric, Nanos, Rest, Restart, Score, Until,
};
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;

/// A protocol: some tests with their rules, not yet bound to a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its id.
    pub id: String,
    /// Its revision.
    pub revision: u32,
    /// Its title.
    pub title: String,
    /// What it does, in a line.
    pub summary: String,
    /// Where the protocol is described.
    pub source: String,
    /// What is done once, before the first test.
    pub prepare: Vec<PrepareRule>,
    /// The tests, in order.
    pub tests: Vec<TestRule>,
}

/// A test of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct TestRule {
    /// Its id.
    pub id: String,
    /// Its revision.
    pub revision: u32,
    /// Its title.
    pub title: String,
    /// Where it is described.
    pub source: String,
    /// What is done before it is measured.
    pub prepare: Vec<PrepareRule>,
    /// The engine that the protocol asks for.
    pub engine: Engine,
    /// One stream for each point of the sweep, with its label and its place on the axis.
    pub points: Vec<(String, f64, StreamRule)>,
    /// When a step ends.
    pub until: Until,
    /// How long the drive rests after each step.
    pub rest: Rest,
    /// The rule of the headline.
    pub score: Score,
    /// The figures that show the test.
    pub figures: Vec<Figure>,
    /// What the source leaves unsaid.
    pub chosen: Vec<Chosen>,
    /// Where a run that was cut off goes on.
    pub restart: Restart,
}

/// A stream whose span is not yet bound to a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamRule {
    /// How offsets follow each other.
    pub access: Access,
    /// The length of each request.
    pub block_size: Bytes,
    /// The share of reads in percent.
    pub read_percent: u8,
    /// Requests in flight for each thread.
    pub queue_depth: u32,
    /// Threads.
    pub threads: u32,
    /// The part of the drive that requests fall into.
    pub span: Extent,
    /// What is written.
    pub data: Data,
}

/// A part of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many bytes from its start.
    Size(Bytes),
    /// So many percent of its capacity.
    Percent(u8),
}

/// Something done before a test is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PrepareRule {
    /// Make the drive as if fresh.
    Purge,
    /// Tell the drive that a part holds nothing.
    Trim(Extent),
    /// Write a part once.
    Fill {
        /// In which order.
        access: Access,
        /// The length of each write.
        block_size: Bytes,
        /// Which part.
        span: Extent,
    },
    /// Leave the drive alone.
    Rest(Nanos),
}

impl Suite {
    /// Reads a suite from the text of `file`.
    pub fn parse(file: &str, text: &str) -> Result<Suite, SuiteError> {
        let reader = Reader { file, text };
        let parsed: schema::File = toml::from_str(text).map_err(|error| reader.toml(&error))?;
        let table: toml::Table = toml::from_str(text).map_err(|error| reader.toml(&error))?;
        let head = parsed.suite;
        let mut tests = Vec::new();
        let mut ids = BTreeSet::new();
        for (number, test) in parsed.test.into_iter().enumerate() {
            let test = test.into_inner();
            if !ids.insert(test.id.get_ref().0.clone()) {
                let message = format!("there are two tests '{}'", test.id.get_ref().0);
                return Err(reader.error(
                    test.id.span(),
                    message,
                    "give each test an id of its own",
                ));
            }
            let values = &table["test"][number];
            tests.push(reader.test(test, values)?);
        }
        if tests.is_empty() {
            let hint = "add a [[test]] with an id, a stream, until and score";
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

    fn toml(&self, error: &toml::de::Error) -> SuiteError {
        let hint = "docs/suites.md describes every key of a suite file";
        SuiteError::at(self.file, self.text, error.span(), error.message(), hint)
    }

    fn test(&self, test: schema::Test, values: &toml::Value) -> Result<TestRule, SuiteError> {
        let engine = test.engine.as_ref().map_or(Engine::IoUring, |engine| *engine.get_ref());
        let points = self.points(&test)?;
        let too_deep = points.iter().any(|(_, _, stream)| stream.queue_depth > 1);
        if engine == Engine::Synchronous && too_deep {
            let span = test.engine.as_ref().map_or(test.stream.span(), Spanned::span);
            let hint = "set queue_depth = 1 and sweep or set threads instead";
            return Err(self.error(span, "a synchronous thread has one request in flight", hint));
        }
        let score = self.score(&test.score)?;
        self.check_score(&score, &points, &test)?;
        let chosen: Result<Vec<Chosen>, SuiteError> =
            test.chosen.iter().map(|key| self.chosen(key, values)).collect();
        Ok(TestRule {
            until: self.until(&test.until)?,
            rest: self.rest(test.rest.as_ref())?,
            chosen: chosen?,
            id: test.id.into_inner().0,
            revision: test.revision.0,
            title: test.title,
            source: test.source,
            prepare: self.prepare(test.prepare)?,
            engine,
            points,
            score,
            figures: test.figures,
            restart: test.restart.unwrap_or(Restart::Step),
        })
    }

    /// Lays out the sweep: block sizes outermost, then threads, queue depths, and mixes.
    fn points(&self, test: &schema::Test) -> Result<Vec<(String, f64, StreamRule)>, SuiteError> {
        let stream = test.stream.get_ref();
        let sweep = &test.sweep;
        let block_size = stream.block_size.map(|size| size.0);
        let percent = stream.read_percent.as_ref().map(|percent| percent.0);
        let depth = stream.queue_depth.as_ref().map_or(1, |count| count.0);
        let threads = stream.threads.as_ref().map_or(1, |count| count.0);
        let sizes = self.swept(&sweep.block_size, "block_size", |size| size.0)?;
        let crews = self.swept(&sweep.threads, "threads", |count| count.0)?;
        let depths = self.swept(&sweep.queue_depth, "queue_depth", |count| count.0)?;
        let mixes = self.swept(&sweep.read_percent, "read_percent", |percent| percent.0)?;
        let missing = |key: &str| {
            let message = format!("the stream has no {key}");
            let hint = format!("add `{key}` to the stream, or sweep over it");
            self.error(test.stream.span(), message, hint)
        };
        let sizes_or = one_or(&sizes, block_size).ok_or_else(|| missing("block_size"))?;
        let mixes_or = one_or(&mixes, percent).ok_or_else(|| missing("read_percent"))?;
        let mut points = Vec::new();
        for block_size in &sizes_or {
            for threads in one_or(&crews, Some(threads)).unwrap_or_default() {
                for queue_depth in one_or(&depths, Some(depth)).unwrap_or_default() {
                    for read_percent in &mixes_or {
                        let rule = StreamRule {
                            access: stream.access,
                            block_size: *block_size,
                            read_percent: *read_percent,
                            queue_depth,
                            threads,
                            span: extent(stream.span.unwrap_or(Span::Percent(100))),
                            data: stream.data.unwrap_or(Data::Incompressible),
                        };
                        let swept = (&sizes, &crews, &depths, &mixes);
                        let (label, position) = describe(&rule, swept);
                        points.push((label, position, rule));
                    }
                }
            }
        }
        match points.iter().find(|(_, _, rule)| rule.block_size.0 < 512 || rule.block_size.0 > MOST)
        {
            Some((_, _, rule)) => Err(self.error(
                test.stream.span(),
                format!("a block size of {} cannot be sent", rule.block_size),
                format!("use 512 B to {}", Bytes(MOST)),
            )),
            None => Ok(points),
        }
    }

    fn swept<T, U>(
        &self,
        values: &Option<Spanned<Vec<T>>>,
        key: &str,
        get: impl Fn(&T) -> U,
    ) -> Result<Option<Vec<U>>, SuiteError> {
        match values {
            Some(values) if values.get_ref().is_empty() => {
                let message = format!("the sweep over {key} is empty");
                Err(self.error(values.span(), message, "list at least one value"))
            }
            Some(values) => Ok(Some(values.get_ref().iter().map(get).collect())),
            None => Ok(None),
        }
    }

    fn prepare(&self, rules: Vec<Spanned<Prepare>>) -> Result<Vec<PrepareRule>, SuiteError> {
        rules.into_iter().map(|rule| self.prepare_rule(rule)).collect()
    }

    fn prepare_rule(&self, rule: Spanned<Prepare>) -> Result<PrepareRule, SuiteError> {
        let span = rule.span();
        let Prepare { purge, trim, fill, rest, span: part, block_size } = rule.into_inner();
        let part = extent(part.unwrap_or(Span::Percent(100)));
        match (purge, trim, fill, rest) {
            (Some(true), None, None, None) => Ok(PrepareRule::Purge),
            (None, Some(true), None, None) => Ok(PrepareRule::Trim(part)),
            (None, None, Some(access), None) => {
                let block_size = block_size.map_or(Bytes(128 << 10), |size| size.0);
                if block_size.0 < 512 || block_size.0 > MOST {
                    let message = format!("a block size of {block_size} cannot be sent");
                    return Err(self.error(span, message, format!("use 512 B to {}", Bytes(MOST))));
                }
                Ok(PrepareRule::Fill { access, block_size, span: part })
            }
            (None, None, None, Some(rest)) => Ok(PrepareRule::Rest(rest.0)),
            _ => Err(self.error(
                span,
                "a preparation does exactly one thing",
                "write one of { purge = true }, { trim = true }, { fill = \"sequential\" }, \
                 { rest = \"60s\" }",
            )),
        }
    }

    fn until(&self, until: &Spanned<schema::Until>) -> Result<Until, SuiteError> {
        let time = until.get_ref().time.map(|time| time.0);
        let bytes = until.get_ref().bytes.map(|bytes| bytes.0);
        let nothing = time == Some(Nanos::ZERO) || bytes == Some(Bytes(0));
        let limits = Until { time, bytes };
        if !limits.is_bounded() || nothing {
            let hint = "give a time such as \"60s\", a number of bytes such as \"32GB\", or both";
            return Err(self.error(until.span(), "a step needs a limit above zero", hint));
        }
        Ok(limits)
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
                "a rest is a time, or a duty cycle with a cap",
                "write { time = \"30s\" } or { duty_cycle = 0.5, at_most = \"60s\" }; the duty \
                 cycle lies between 0 and 1",
            )),
        }
    }

    fn score(&self, score: &Spanned<schema::Score>) -> Result<Score, SuiteError> {
        let schema::Score { mean_of, best_of, knee_of, at, metric } = score.get_ref();
        match (mean_of, best_of, knee_of, at, metric) {
            (Some(metric), None, None, None, None) => Ok(Score::MeanOf(metric.0)),
            (None, Some(metric), None, None, None) => Ok(Score::BestOf(metric.0)),
            (None, None, Some(metric), None, None) => Ok(Score::Knee(metric.0)),
            (None, None, None, Some(position), Some(metric)) => {
                Ok(Score::At { metric: metric.0, position: *position })
            }
            _ => Err(self.error(
                score.span(),
                "a score is exactly one rule",
                "write one of { mean_of = METRIC }, { best_of = METRIC }, { knee_of = METRIC }, \
                 { at = VALUE, metric = METRIC }",
            )),
        }
    }

    fn check_score(
        &self,
        score: &Score,
        points: &[(String, f64, StreamRule)],
        test: &schema::Test,
    ) -> Result<(), SuiteError> {
        let span = test.score.span();
        match score {
            Score::At { position, .. } if !points.iter().any(|(_, at, _)| at == position) => {
                let values: Vec<String> = points.iter().map(|(_, at, _)| at.to_string()).collect();
                let hint = format!("the sweep has: {}", values.join(", "));
                Err(self.error(span, format!("no point of the sweep is at {position}"), hint))
            }
            Score::Knee(Metric::Iops | Metric::ThroughputMbS) => {
                match test.sweep.queue_depth.is_some() || test.sweep.threads.is_some() {
                    true => Ok(()),
                    false => Err(self.error(
                        span,
                        "a knee needs a ladder of queue depths",
                        "sweep over queue_depth or threads",
                    )),
                }
            }
            Score::Knee(_) => Err(self.error(
                span,
                "a knee is one of throughput",
                "use knee_of = \"iops\" or \"throughput_mb_s\"",
            )),
            Score::At { .. } | Score::MeanOf(_) | Score::BestOf(_) => Ok(()),
        }
    }

    /// Returns a chosen value in the words of the file.
    fn chosen(&self, key: &Spanned<String>, values: &toml::Value) -> Result<Chosen, SuiteError> {
        let path = key.get_ref();
        let value = path.split('.').try_fold(values, |value, part| value.get(part));
        match value {
            Some(value) => Ok(Chosen { key: path.clone(), value: in_words(value) }),
            None => Err(self.error(
                key.span(),
                format!("'{path}' is listed as chosen, and the test has no such key"),
                "spell the chosen value out, or take the key from the list",
            )),
        }
    }
}

/// The largest request that the engines send.
const MOST: u64 = 64 << 20;

fn extent(span: Span) -> Extent {
    match span {
        Span::Size(bytes) => Extent::Size(bytes),
        Span::Percent(percent) => Extent::Percent(percent),
    }
}

fn one_or<T: Clone>(swept: &Option<Vec<T>>, single: Option<T>) -> Option<Vec<T>> {
    swept.clone().or_else(|| single.map(|value| vec![value]))
}

type Swept<'a> =
    (&'a Option<Vec<Bytes>>, &'a Option<Vec<u32>>, &'a Option<Vec<u32>>, &'a Option<Vec<u8>>);

/// Returns what tells a point from its neighbours, and its place on the axis of the innermost key.
fn describe(rule: &StreamRule, (sizes, crews, depths, mixes): Swept<'_>) -> (String, f64) {
    let mut words = Vec::new();
    let mut position = f64::from(rule.read_percent);
    if sizes.is_some() {
        words.push(rule.block_size.to_string());
        position = rule.block_size.0 as f64;
    }
    if crews.is_some() || depths.is_some() {
        let total = rule.queue_depth * rule.threads;
        words.push(format!("QD{total}"));
        position = f64::from(total);
    }
    if mixes.is_some() || words.is_empty() {
        words.push(format!("{} % read", rule.read_percent));
        position = f64::from(rule.read_percent);
    }
    (words.join(" "), position)
}

fn in_words(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
