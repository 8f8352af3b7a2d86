//! The key `trace` of a test: the published sums of a trace of which requests are generated.

use super::{Reader, extent};
use crate::error::SuiteError;
use crate::schema;
use crate::suite::{DepthRule, PointRule, TraceRule, UntilRule};
use ssdgauge_core::{BLOCK_SIZES, Bytes, Nanos, Rest};
use toml::Spanned;

/// The maximum number of requests of a trace.
const MAX_REQUESTS: u64 = 1 << 32;
/// The deepest class of a table of depths.
const MAX_DEPTH: u32 = 4_096;

impl Reader<'_> {
    /// Reads a test that replays a generated trace: one step.
    pub(super) fn trace_points(
        &self,
        test: &schema::Test,
        trace: &Spanned<schema::Trace>,
    ) -> Result<Vec<PointRule>, SuiteError> {
        let others = test.stream.is_some()
            || test.streams.is_some()
            || test.steps.is_some()
            || test.until.is_some()
            || test.rest.is_some()
            || test.idle.is_some()
            || test.repeat.is_some()
            || test.search.is_some()
            || test.rounds.is_some()
            || !self.axes(&test.sweep)?.is_empty();
        if others {
            let hint = "remove stream, streams, steps, until, rest, idle, repeat, sweep, search and \
                        rounds: a trace has its own requests and times";
            return Err(self.error(trace.span(), "a trace is the only load of its test", hint));
        }
        Ok(vec![PointRule {
            label: "replay".to_owned(),
            position: 0.0,
            full_percent: None,
            power: None,
            idle: None,
            trim: None,
            trace: Some(self.trace(trace)?),
            turn: 0,
            streams: Vec::new(),
            until: UntilRule::default(),
            rest: Rest::None,
        }])
    }

    fn trace(&self, trace: &Spanned<schema::Trace>) -> Result<TraceRule, SuiteError> {
        let keys = trace.get_ref();
        let wrong = |message: &str, hint: &str| Err(self.error(trace.span(), message, hint));
        let (requests, bytes) = ([keys.reads, keys.writes], [keys.read.0, keys.written.0]);
        let pairs = || requests.iter().zip(&bytes);
        let fits = |(count, bytes): (&u64, &Bytes)| {
            (1..MAX_REQUESTS).contains(count) && (512..=64 << 20).contains(&(bytes.0 / count))
        };
        if !pairs().all(fits) {
            let hint = "write reads, writes, read and written; the mean length of a request is \
                        between 512 B and 64 MiB";
            return wrong("a trace needs the numbers and the bytes of reads and writes", hint);
        }
        let sizes: Vec<(Bytes, f64)> =
            keys.sizes.iter().map(|(length, percent)| (length.0, *percent)).collect();
        let is_length = |(length, percent): &(Bytes, f64)| {
            let is_block = BLOCK_SIZES.contains(length) && length.0.is_multiple_of(512);
            is_block && (0.0..=100.0).contains(percent)
        };
        let listed: f64 = sizes.iter().map(|(_, percent)| percent).sum();
        let ascends = sizes.is_sorted_by(|one, next| one.0 < next.0);
        if sizes.len() > 32 || !sizes.iter().all(is_length) || listed > 100.0 || !ascends {
            let hint = "write sizes = [[\"4KiB\", 29.2]]: at most 32 ascending lengths, and percentages \
                        that are 100 or less together";
            return wrong("the lengths of a trace are not valid", hint);
        }
        let percent = |percent: f64| (0.0..=100.0).contains(&percent);
        let idles = keys.idle_cut.0 <= Nanos::from_secs(3_600);
        if !percent(keys.sequential_percent) || !percent(keys.idle_percent) || !idles {
            let hint = "sequential_percent and idle_percent are 0 to 100, idle_cut at most 1h";
            return wrong("the shares of a trace are not valid", hint);
        }
        Ok(TraceRule {
            name: keys.name.0.clone(),
            requests,
            bytes,
            sizes,
            has_published_sizes: keys.published_sizes.unwrap_or(true),
            depth: self.depth(trace)?,
            sequential_percent: keys.sequential_percent,
            idle_cut: keys.idle_cut.0,
            idle_percent: keys.idle_percent,
            span: extent(keys.span),
            whole_from: keys.whole_from.0.max(Bytes(1)),
            seed: keys.seed,
        })
    }

    fn depth(&self, trace: &Spanned<schema::Trace>) -> Result<DepthRule, SuiteError> {
        let keys = trace.get_ref();
        let mean = keys.depth;
        let follows = |classes: &[(u32, u32, f64)]| {
            let begins = classes.iter().map(|class| class.0);
            let ends = [0].into_iter().chain(classes.iter().map(|class| class.1));
            begins.zip(ends).all(|(begin, end)| begin == end + 1)
        };
        let is_class = |(first, last, percent): &(u32, u32, f64)| {
            first <= last && *last <= MAX_DEPTH && *percent > 0.0 && *percent <= 100.0
        };
        match &keys.depths {
            _ if !(1.0..=64.0).contains(&mean) => {
                let hint = "write the mean depth, 1 to 64, as depth = 4.6";
                Err(self.error(trace.span(), "the mean depth of a trace is not valid", hint))
            }
            None => Ok(DepthRule::Mean(mean)),
            Some(classes)
                if !classes.is_empty() && classes.iter().all(is_class) && follows(classes) =>
            {
                Ok(DepthRule::Shares { classes: classes.clone(), mean })
            }
            Some(_) => {
                let hint = "write depths = [[1, 1, 73.4], [2, 2, 16.8], [3, 5, 9.8]]: the first and the \
                            last depth of each class, without gaps, and its percentage";
                Err(self.error(trace.span(), "the classes of depths are not valid", hint))
            }
        }
    }
}
