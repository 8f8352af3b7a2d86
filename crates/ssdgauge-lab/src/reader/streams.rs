//! Streams of a test: closed loops, and open loops with their rate, their limit and their clock.

use super::axes::Axis;
use super::pauses::gaps;
use super::{Reader, extent};
use crate::error::SuiteError;
use crate::schema::{self, ArrivalKind, Span};
use crate::suite::{StreamRule, UntilRule};
use ssdgauge_core::{
    Access, Arrival, BlockSizes, Bytes, Data, Distribution, LatencyClock, Operation, Stream, Zone,
};
use std::ops::Range;
use toml::Spanned;

/// The streams of a step.
#[derive(Clone)]
pub(super) struct Streams {
    pub(super) rules: Vec<StreamRule>,
    /// The index of the stream that a sweep varies.
    pub(super) varied: usize,
}

/// The keys `stream` and `streams` of a test or a step.
type StreamKeys<'a> =
    (Option<&'a Spanned<schema::Stream>>, Option<&'a Spanned<Vec<Spanned<schema::Stream>>>>);

impl Reader<'_> {
    /// Reads the streams of the test or step at `place`; `named` is the stream that the sweep over
    /// `axes` varies.
    pub(super) fn streams(
        &self,
        place: Range<usize>,
        keys: StreamKeys<'_>,
        named: Option<&Spanned<String>>,
        axes: &[Axis],
    ) -> Result<Streams, SuiteError> {
        match keys {
            (Some(stream), None) => {
                if let Some(named) = named {
                    let message = "a sweep names its stream where there are several";
                    let hint = "remove `stream` from the sweep, or list several `streams`";
                    return Err(self.error(named.span(), message, hint));
                }
                let swept: Vec<&str> = axes.iter().map(|axis| axis.key).collect();
                Ok(Streams { rules: vec![self.stream(stream, &swept)?], varied: 0 })
            }
            (None, Some(streams)) => self.named_streams(streams, named, axes),
            (Some(_), Some(streams)) => Err(self.error(
                streams.span(),
                "there are both `stream` and `streams`",
                "keep one of them",
            )),
            (None, None) => Err(self.error(
                place,
                "there is no load",
                "add `stream`, several named `streams`, or a list of `steps`",
            )),
        }
    }

    /// Reads two to eight streams that run at the same time.
    fn named_streams(
        &self,
        streams: &Spanned<Vec<Spanned<schema::Stream>>>,
        named: Option<&Spanned<String>>,
        axes: &[Axis],
    ) -> Result<Streams, SuiteError> {
        let list = streams.get_ref();
        let names: Vec<&str> = list
            .iter()
            .filter_map(|stream| stream.get_ref().name.as_ref().map(|name| name.0.as_str()))
            .collect();
        let twice = (1..names.len()).any(|last| names[..last].contains(&names[last]));
        if !(2..=8).contains(&list.len()) || names.len() < list.len() || twice {
            let message = match list.len() {
                2..=8 => "streams need distinct names".to_owned(),
                1 => "there is one stream in `streams`".to_owned(),
                count => format!("there are {count} streams in `streams`"),
            };
            let hint =
                "list two to eight streams, each with a different `name`; a single one is `stream`";
            return Err(self.error(streams.span(), message, hint));
        }
        let varied = self.varied(&names, named, axes)?;
        let swept: Vec<&str> = axes.iter().map(|axis| axis.key).collect();
        let rule = |(number, stream): (usize, &Spanned<schema::Stream>)| {
            let is_varied = varied == Some(number);
            self.stream(stream, if is_varied { swept.as_slice() } else { &[] })
        };
        let rules = list.iter().enumerate().map(rule).collect::<Result<_, SuiteError>>()?;
        Ok(Streams { rules, varied: varied.unwrap_or(0) })
    }

    /// Returns the index of the stream that the sweep over `axes` varies; `None` where it varies all
    /// of them, or the drive.
    fn varied(
        &self,
        names: &[&str],
        named: Option<&Spanned<String>>,
        axes: &[Axis],
    ) -> Result<Option<usize>, SuiteError> {
        let of_one = axes.iter().find(|axis| axis.is_of_one_stream());
        let known = || names.join(", ");
        match (named, of_one) {
            (None, None) => Ok(None),
            (None, Some(axis)) => Err(self.error(
                axis.place.clone(),
                format!("a sweep over {} varies one of several streams", axis.key),
                format!("name it, as in sweep = {{ stream = \"{}\", … }}: {}", names[0], known()),
            )),
            (Some(named), None) => Err(self.error(
                named.span(),
                "the sweep varies no key of a stream",
                "add a key of the stream, such as queue_depth = [1, 4, 16], or remove `stream`",
            )),
            (Some(named), Some(_)) => {
                let number = names.iter().position(|name| name == named.get_ref());
                let message = || format!("no stream has the name '{}'", named.get_ref());
                let hint = || format!("the streams are: {}", known());
                number.map(Some).ok_or_else(|| self.error(named.span(), message(), hint()))
            }
        }
    }

    /// Reads a stream; the keys in `swept` may be missing.
    pub(super) fn stream(
        &self,
        stream: &Spanned<schema::Stream>,
        swept: &[&str],
    ) -> Result<StreamRule, SuiteError> {
        let place = stream.span();
        let keys = stream.get_ref();
        let missing = |key: &str| {
            let message = format!("the stream has no {key}");
            let hint = format!("add `{key}` to the stream, or sweep over it");
            self.error(place.clone(), message, hint)
        };
        let swept = |key: &str| swept.contains(&key);
        let operation = self.operation(stream, &swept)?;
        let (access, distribution) = match &keys.access {
            Some(access) => self.access(access)?,
            None if operation == Operation::Flush => (Access::Sequential, Distribution::Uniform),
            None => {
                let hint = "add access = \"sequential\" or access = \"random\" to the stream";
                return Err(self.error(place, "the stream has no access", hint));
            }
        };
        let (block_size, sizes) = match &keys.block_size {
            Some(sizes) => self.sizes(sizes, &distribution)?,
            None if swept("block_size") || operation == Operation::Flush => {
                (Bytes(4_096), BlockSizes::default())
            }
            None => return Err(missing("block_size")),
        };
        let read_percent = match &keys.read_percent {
            Some(percent) => percent.get_ref().0,
            None if operation != Operation::Transfer => 0,
            None if swept("read_percent") => 100,
            None => return Err(missing("read_percent")),
        };
        self.check_block_size(block_size, place.clone())?;
        let arrival = self.arrival(stream, swept("per_second"))?;
        self.check_open_loop_keys(keys, arrival)?;
        let only_reads = read_percent == 100 && !swept("read_percent");
        self.check_durability(keys, only_reads, arrival)?;
        let (stride, think_time, pulse) = gaps(keys);
        let requests = Stream {
            name: keys.name.as_ref().map_or_else(|| "main".to_owned(), |name| name.0.clone()),
            operation,
            access,
            random_percent: self.random_percent(keys, access)?,
            distribution,
            block_size,
            sizes,
            read_percent,
            queue_depth: keys.queue_depth.as_ref().map_or(1, |count| count.0),
            threads: keys.threads.as_ref().map_or(1, |count| count.0),
            cpus: keys.cpus.clone().unwrap_or_default(),
            stride,
            think_time,
            pulse,
            arrival,
            data: keys.data.unwrap_or(Data::Incompressible),
            // The kernel has one flag for both: a write that completes when it is durable.
            sync: is_set(&keys.sync) || is_set(&keys.fua),
            flush_every: keys.flush_every.as_ref().map(|count| count.get_ref().0),
            flush_at_end: is_set(&keys.flush_at_end),
            in_flight_at_most: keys.in_flight_at_most.as_ref().map(|count| count.get_ref().0),
            clock: keys.clock.as_ref().map_or(LatencyClock::Due, |clock| *clock.get_ref()),
            ..Stream::default()
        };
        self.check_gaps(keys, &requests, swept("block_size"))?;
        let (offset, span) = (keys.offset.map(extent), keys.span.unwrap_or(Span::Percent(100)));
        let rule = StreamRule { requests, offset, span: extent(span) };
        if !swept("block_size") && !swept("span") {
            self.check_span(&rule, place)?;
        }
        Ok(rule)
    }

    /// Reads the kind of the requests, and refuses keys that it does not have.
    fn operation(
        &self,
        stream: &Spanned<schema::Stream>,
        swept: &dyn Fn(&str) -> bool,
    ) -> Result<Operation, SuiteError> {
        let keys = stream.get_ref();
        let Some(named) = &keys.operation else { return Ok(Operation::Transfer) };
        let operation = *named.get_ref();
        let is_flush = operation == Operation::Flush;
        let given = [
            ("read_percent", keys.read_percent.is_some(), true),
            ("data", keys.data.is_some(), true),
            ("sync", is_set(&keys.sync), true),
            ("fua", is_set(&keys.fua), true),
            ("flush_every", keys.flush_every.is_some(), true),
            ("flush_at_end", keys.flush_at_end.is_some(), true),
            ("access", keys.access.is_some(), is_flush),
            ("random_percent", keys.random_percent.is_some(), is_flush),
            ("block_size", keys.block_size.is_some(), is_flush),
            ("span", keys.span.is_some(), is_flush),
            ("offset", keys.offset.is_some(), is_flush),
            ("stride", keys.stride.is_some(), is_flush),
        ];
        let unused = |(key, is_given, is_unused): &(&'static str, bool, bool)| {
            (*is_unused && (*is_given || swept(key))).then_some(*key)
        };
        match given.iter().filter(|_| !operation.is_transfer()).find_map(unused) {
            None => Ok(operation),
            Some(key) => {
                let (what, why) = match is_flush {
                    true => ("flushes", "a flush covers everything that was written before"),
                    false => ("trims", "a trim moves no data"),
                };
                let message = format!("a stream of {what} has no {key}");
                Err(self.error(named.span(), message, format!("remove `{key}`: {why}")))
            }
        }
    }

    /// Reads the order of the requests, and how often each block is addressed.
    fn access(
        &self,
        access: &Spanned<schema::StreamAccess>,
    ) -> Result<(Access, Distribution), SuiteError> {
        let distribution = match access.get_ref() {
            schema::StreamAccess::Order(access) => return Ok((*access, Distribution::Uniform)),
            schema::StreamAccess::Zipf(schema::Zipf { zipf }) => Distribution::Zipf(*zipf),
            schema::StreamAccess::Zones(schema::Zones { zones }) => {
                let zone = |&(accesses, space): &(f64, f64)| Zone { accesses, space };
                Distribution::Zones(zones.iter().map(zone).collect())
            }
        };
        let hint = "write access = { zipf = 0.8 } with an exponent of 0.01 to 5, or \
                    access = { zones = [[0.8, 0.2], [0.2, 0.8]] }, pairs of a share of the requests \
                    and a share of the blocks, each of which add up to 1";
        match distribution.defect() {
            None => Ok((Access::Random, distribution)),
            Some(defect) => Err(self.error(access.span(), defect, hint)),
        }
    }

    /// Reads the share of the requests at random places, in percent.
    fn random_percent(&self, keys: &schema::Stream, access: Access) -> Result<u8, SuiteError> {
        let Some(percent) = &keys.random_percent else { return Ok(100) };
        match (access, percent.get_ref().0) {
            (Access::Random, share @ 1..) => Ok(share),
            (Access::Random, 0) | (Access::Sequential, _) => Err(self.error(
                percent.span(),
                "random_percent is a share of a stream with random requests",
                "write access = \"random\" and random_percent = 1 to 100; where every request follows the \
                 one before, access = \"sequential\"",
            )),
        }
    }

    /// Reads the size of the requests, or the largest one and the list of several.
    fn sizes(
        &self,
        sizes: &Spanned<schema::StreamSizes>,
        distribution: &Distribution,
    ) -> Result<(Bytes, BlockSizes), SuiteError> {
        let list = match sizes.get_ref() {
            schema::StreamSizes::One(size) => return Ok((*size, BlockSizes::default())),
            schema::StreamSizes::Several(list) => list,
        };
        let hint = "write shares that add up to 100, such as \
                    block_size = { \"4KiB\" = 60, \"16KiB\" = 30, \"128KiB\" = 10 }: multiples of the \
                    smallest size, and with hot blocks divisors of the largest one";
        let Some(largest) = list.largest() else {
            return Err(self.error(sizes.span(), "there is no block size", hint));
        };
        match (list.defect(!distribution.is_uniform()), list.0.len()) {
            (Some(defect), _) => Err(self.error(sizes.span(), defect, hint)),
            (None, 1) => Ok((largest, BlockSizes::default())),
            (None, _) => Ok((largest, list.clone())),
        }
    }

    /// Refuses durable writes and flushes after writes of a stream that has none, and flushes of one that does
    /// not wait for them.
    fn check_durability(
        &self,
        keys: &schema::Stream,
        only_reads: bool,
        arrival: Arrival,
    ) -> Result<(), SuiteError> {
        for (key, value) in [("sync", &keys.sync), ("fua", &keys.fua)] {
            if let Some(place) = value
                && *place.get_ref()
                && only_reads
            {
                let message = format!("{key} makes writes durable, and the stream only reads");
                return Err(self.error(place.span(), message, "remove it"));
            }
        }
        if let Some(flush) = &keys.flush_at_end
            && *flush.get_ref()
            && only_reads
        {
            return Err(self.error(
                flush.span(),
                "no flush follows the writes of a stream that only reads",
                "remove it",
            ));
        }
        let Some(every) = &keys.flush_every else { return Ok(()) };
        let (message, hint) = match (arrival.per_second(), only_reads) {
            (Some(_), _) => (
                "flush_every belongs to a closed loop",
                "remove the rate; a second stream of operation = \"flush\" may have one",
            ),
            (None, true) => {
                ("no flush follows the writes of a stream that only reads", "remove it")
            }
            (None, false) => return Ok(()),
        };
        Err(self.error(every.span(), message, hint))
    }

    /// Refuses a step of flushes alone without a limit of time: they move no bytes.
    pub(super) fn check_end(
        &self,
        streams: &[StreamRule],
        until: &UntilRule,
        place: Range<usize>,
    ) -> Result<(), SuiteError> {
        let only_flushes = streams.iter().all(|stream| !stream.requests.addresses());
        match only_flushes && until.time.is_none() {
            false => Ok(()),
            true => Err(self.error(
                place,
                "a step of flushes alone ends by time",
                "add `time` to its `until`, such as until = { time = \"10s\" }: flushes move no bytes",
            )),
        }
    }

    /// Reads the arrival process; `swept` means that the sweep sets the rate.
    fn arrival(
        &self,
        stream: &Spanned<schema::Stream>,
        swept: bool,
    ) -> Result<Arrival, SuiteError> {
        let keys = stream.get_ref();
        let rate = match (&keys.per_second, swept) {
            (Some(rate), _) => Some(self.rate(*rate.get_ref(), rate.span())?),
            // A placeholder of one request per second, which the sweep multiplies.
            (None, true) => Some(1.0),
            (None, false) => None,
        };
        match (&keys.arrival, rate, &keys.queue_depth) {
            (None, None, _) => Ok(Arrival::Closed),
            (Some(kind), None, _) => Err(self.error(
                kind.span(),
                "an open loop needs a rate",
                "add `per_second` to the stream, or sweep over it",
            )),
            (_, Some(_), Some(_)) => Err(self.error(
                stream.span(),
                "an open loop has no queue_depth",
                "remove it: rate and latency determine the requests in flight",
            )),
            (None, Some(per_second), None) => Ok(Arrival::Uniform { per_second }),
            (Some(kind), Some(per_second), None) => Ok(match kind.get_ref() {
                ArrivalKind::Uniform => Arrival::Uniform { per_second },
                ArrivalKind::InPhase => Arrival::InPhase { per_second },
                ArrivalKind::Poisson => Arrival::Poisson { per_second },
            }),
        }
    }

    /// Refuses keys of an open loop where they have no effect.
    fn check_open_loop_keys(
        &self,
        keys: &schema::Stream,
        arrival: Arrival,
    ) -> Result<(), SuiteError> {
        let limit = keys.in_flight_at_most.as_ref().map(Spanned::span);
        let clock = keys.clock.as_ref().map(Spanned::span);
        let place = match arrival {
            Arrival::Closed => limit.or(clock),
            // One request in flight for each thread.
            Arrival::InPhase { .. } => limit,
            Arrival::Uniform { .. } | Arrival::Poisson { .. } | Arrival::Recorded { .. } => None,
        };
        match place {
            None => Ok(()),
            Some(place) => Err(self.error(
                place,
                "the key has no effect on this stream",
                "in_flight_at_most and clock belong to an open loop; a stream in phase has one \
                 request in flight for each thread",
            )),
        }
    }

    /// Checks a rate in requests per second. The upper bound is beyond any single drive.
    pub(super) fn rate(&self, rate: f64, place: Range<usize>) -> Result<f64, SuiteError> {
        match (1.0..=10_000_000.0).contains(&rate) {
            true => Ok(rate),
            false => Err(self.error(
                place,
                format!("{rate} requests per second is out of range"),
                "use 1 to 10000000",
            )),
        }
    }
}

/// Returns whether a key is given and true.
fn is_set(key: &Option<Spanned<bool>>) -> bool {
    key.as_ref().is_some_and(|key| *key.get_ref())
}
