//! Streams of a test: closed loops, and open loops with their rate, their limit and their clock.

use super::{Reader, extent};
use crate::error::SuiteError;
use crate::schema::{self, ArrivalKind, Span};
use crate::suite::StreamRule;
use ssdgauge_core::{Arrival, Bytes, Data, LatencyClock};
use std::ops::Range;
use toml::Spanned;

impl Reader<'_> {
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
        let block_size = match keys.block_size {
            Some(size) => size.0,
            None if swept("block_size") => Bytes(4_096),
            None => return Err(missing("block_size")),
        };
        let read_percent = match &keys.read_percent {
            Some(percent) => percent.0,
            None if swept("read_percent") => 100,
            None => return Err(missing("read_percent")),
        };
        self.check_block_size(block_size, place)?;
        let arrival = self.arrival(stream, swept("per_second"))?;
        self.check_open_loop_keys(keys, arrival)?;
        Ok(StreamRule {
            name: keys.name.as_ref().map_or_else(|| "main".to_owned(), |name| name.0.clone()),
            access: keys.access,
            block_size,
            read_percent,
            queue_depth: keys.queue_depth.as_ref().map_or(1, |count| count.0),
            threads: keys.threads.as_ref().map_or(1, |count| count.0),
            span: extent(keys.span.unwrap_or(Span::Percent(100))),
            arrival,
            data: keys.data.unwrap_or(Data::Incompressible),
            sync: keys.sync,
            in_flight_at_most: keys.in_flight_at_most.as_ref().map(|count| count.get_ref().0),
            clock: keys.clock.as_ref().map_or(LatencyClock::Due, |clock| *clock.get_ref()),
        })
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
            Arrival::Uniform { .. } | Arrival::Poisson { .. } => None,
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
