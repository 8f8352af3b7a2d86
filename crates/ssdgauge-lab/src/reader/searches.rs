//! The search of a test: its loads, and the requests whose latencies decide.

use super::Reader;
use crate::error::SuiteError;
use crate::schema;
use crate::suite::{PointRule, SearchRule, StreamRule};
use ssdgauge_core::search::{Judged, Limits};
use ssdgauge_core::{Arrival, Direction, Nanos};
use std::ops::Range;
use toml::Spanned;

impl Reader<'_> {
    /// Reads the search of a test. Its loads must ascend, because a search concludes from one load to
    /// the others, and each attempt begins with the preparation of the test.
    pub(super) fn search(
        &self,
        search: &Spanned<schema::Search>,
        unprepared: bool,
        points: &[PointRule],
    ) -> Result<SearchRule, SuiteError> {
        let place = search.span();
        if unprepared {
            let hint = "add `prepare`: every attempt begins with it";
            return Err(self.error(place, "a search needs one state for all loads", hint));
        }
        let ascending = points.windows(2).all(|pair| pair[0].position < pair[1].position);
        let streams = || points.iter().flat_map(|point| &point.streams);
        let is_open = streams().all(|stream| stream.requests.arrival != Arrival::Closed);
        if !ascending || !is_open {
            let hint = "sweep over `load` with ascending multiples, and give every stream a rate";
            return Err(self.error(place, "a search needs ascending loads", hint));
        }
        let keys = search.get_ref();
        let fits = |(_, percent): &(_, f64)| *percent > 0.0 && *percent <= 100.0;
        if keys.above.is_empty()
            || !keys.above.iter().all(fits)
            || keys.probe.0 < Nanos::SECOND
            || keys.slice.0 < Nanos::SECOND
        {
            let hint = "write above = [[\"1ms\", 5.0]]: a latency, and the maximum percentage of \
                        requests above it; probe and slice last at least 1 s";
            return Err(self.error(place, "a search needs limits that a load can meet", hint));
        }
        let shortest = points.iter().filter_map(|point| point.until.time).min();
        if let Some(step) = shortest.filter(|step| *step < keys.slice.0) {
            let (slice, step) = (keys.slice.0.exact(), step.exact());
            let message = format!("a slice of {slice} is longer than a step of {step}");
            let hint = "the shares are judged slice by slice: use a slice of at most `until`";
            return Err(self.error(place, message, hint));
        }
        let of = self.judged(search, points)?;
        let above = keys.above.iter().map(|(latency, percent)| (latency.0, *percent)).collect();
        Ok(SearchRule { probe: keys.probe.0, limits: Limits { slice: keys.slice.0, above, of } })
    }

    /// Reads which requests a search judges: without keys the reads of the first stream. Every load
    /// must send them.
    fn judged(
        &self,
        search: &Spanned<schema::Search>,
        points: &[PointRule],
    ) -> Result<Judged, SuiteError> {
        let keys = search.get_ref();
        let mut judged = Judged::default();
        if let Some(direction) = &keys.direction {
            judged.direction = *direction.get_ref();
        }
        if let Some(name) = &keys.stream {
            // The points of a search differ only in their load.
            let streams = points.first().map_or(&[][..], |point| &point.streams);
            judged.stream = self.stream_called(name, streams)?;
        }
        for point in points {
            let Some(stream) = point.streams.get(usize::from(judged.stream)) else { continue };
            if keeps_sending(stream, judged.direction) {
                continue;
            }
            let place = keys.direction.as_ref().map(Spanned::span);
            let place = place.or(keys.stream.as_ref().map(Spanned::span));
            return Err(self.sends_none(place.unwrap_or(search.span()), point, stream, judged));
        }
        Ok(judged)
    }

    fn sends_none(
        &self,
        place: Range<usize>,
        point: &PointRule,
        stream: &StreamRule,
        judged: Judged,
    ) -> SuiteError {
        let others = |direction: &Direction| keeps_sending(stream, *direction);
        let sent: Vec<String> = Direction::ALL
            .into_iter()
            .filter(others)
            .map(|direction| format!("direction = \"{}\"", direction.name()))
            .collect();
        let of = match point.streams.len() {
            1 => "the stream".to_owned(),
            _ => format!("the stream '{}'", stream.requests.name),
        };
        let other = match point.streams.len() {
            1 => "",
            _ => ", or name another `stream`",
        };
        let requests = judged.direction.requests();
        self.error(
            place,
            format!("{of} sends no {requests}, so the search has no latencies to judge"),
            format!("write {} in `search`{other}", sent.join(" or ")),
        )
    }
}

/// Returns whether an open-loop stream sends requests in `direction` all the time: the flush at the end of
/// a step comes after its load.
fn keeps_sending(stream: &StreamRule, direction: Direction) -> bool {
    let is_at_end = stream.requests.operation.is_transfer() && direction == Direction::Flush;
    stream.requests.sends(direction) && !is_at_end
}
