//! Rule of the headline of a test, checked against its points.

use super::Reader;
use crate::error::SuiteError;
use crate::schema::{self, Clock, Positions};
use crate::suite::{PointRule, StreamRule};
use ssdgauge_core::{Arrival, Direction, Metric, Score};
use std::ops::Range;
use toml::Spanned;

impl Reader<'_> {
    /// Reads a rule and checks that `points` have the values it needs.
    pub(super) fn checked_score(
        &self,
        keys: &Spanned<schema::Score>,
        points: &[PointRule],
        test: &schema::Test,
    ) -> Result<Score, SuiteError> {
        let score = self.score(keys, points)?;
        self.check_score(&score, keys.span(), points, test)?;
        Ok(score)
    }

    /// Reads a rule: exactly one of the combinations of keys.
    fn score(
        &self,
        score: &Spanned<schema::Score>,
        points: &[PointRule],
    ) -> Result<Score, SuiteError> {
        let keys = score.get_ref();
        if keys.stream.is_some() || keys.direction.is_some() {
            return self.score_of_part(score, points);
        }
        let metric = keys.metric.as_ref().map(|metric| metric.0);
        let last = (keys.mean_of_last, keys.mean_over_sigma_of_last);
        let others = keys.mean_of.is_some() || keys.best_of.is_some() || keys.knee_of.is_some();
        let no_more = !others && metric.is_none() && keys.at.is_none() && last.0.is_none();
        let no_more = no_more && last.1.is_none();
        let more = !no_more || keys.highest_borne.is_some() || keys.clock.is_some();
        match (keys.highest_borne, keys.clock, &keys.knee_of_load) {
            (Some(true), None | Some(Clock::Due), None) if no_more => {
                return Ok(Score::HighestPassing);
            }
            (Some(true), Some(Clock::Sending), None) if no_more => {
                return Ok(Score::HighestPassingByServiceLatency);
            }
            (None, None, Some(metric)) if !more => return Ok(Score::KneeOfLoad(metric.0)),
            (None, None, None) => {}
            (Some(_), _, _) | (_, Some(_), _) | (_, _, Some(_)) => {
                return Err(self.not_one_rule(score.span()));
            }
        }
        match (&keys.mean_of, &keys.best_of, &keys.knee_of, metric, &keys.at, last) {
            (Some(metric), None, None, None, None, (None, None)) => Ok(Score::MeanOf(metric.0)),
            (Some(metric), None, None, None, Some(Positions::Several(at)), (None, None)) => {
                Ok(Score::MeanAt { metric: metric.0, positions: at.clone() })
            }
            (None, Some(metric), None, None, None, (None, None)) => Ok(Score::BestOf(metric.0)),
            (None, None, Some(metric), None, None, (None, None)) => Ok(Score::Knee(metric.0)),
            (None, None, None, Some(metric), Some(Positions::One(position)), (None, None)) => {
                Ok(Score::At { metric, position: *position })
            }
            (None, None, None, Some(metric), None, (Some(window), None)) => {
                Ok(Score::MeanOfLast { metric, window: window.0.0 })
            }
            (None, None, None, Some(metric), None, (None, Some(window))) => {
                Ok(Score::MeanOverSigmaOfLast { metric, window: window.0.0 })
            }
            _ => Err(self.not_one_rule(score.span())),
        }
    }

    /// Reads the rule that names one of several streams, one direction, or both.
    fn score_of_part(
        &self,
        score: &Spanned<schema::Score>,
        points: &[PointRule],
    ) -> Result<Score, SuiteError> {
        let keys = score.get_ref();
        let last = keys.mean_of_last.is_some() || keys.mean_over_sigma_of_last.is_some();
        let mean = keys.mean_of.is_some() || keys.best_of.is_some();
        let knee = keys.knee_of.is_some() || keys.knee_of_load.is_some();
        let load = keys.highest_borne.is_some() || keys.clock.is_some();
        let (Some(metric), Some(Positions::One(position)), false) =
            (&keys.metric, &keys.at, last || mean || knee || load)
        else {
            return Err(self.error(
                score.span(),
                "the score of a stream or a direction has one rule",
                "write { metric = METRIC, at = VALUE, stream = \"NAME\" }, with direction = \"read\", \
                 \"write\", \"flush\" or \"trim\" in addition to the stream or instead of it",
            ));
        };
        self.check_positions(&[*position], score.span(), points)?;
        let metric = metric.0;
        // The seconds of a step are kept for all of its streams together.
        if !metric.is_split() || (metric.is_of_worst_seconds() && keys.stream.is_some()) {
            let part = if keys.stream.is_some() { "streams" } else { "directions" };
            return Err(self.error(
                score.span(),
                format!("{} is not known for single {part}", metric.key()),
                "use a rate or a latency, such as iops or lat_p99_us",
            ));
        }
        // Repetitions share a position and their streams.
        let here = points.iter().find(|point| point.position == *position);
        let streams = here.map_or(&[][..], |point| &point.streams);
        let named =
            keys.stream.as_ref().map(|name| self.stream_called(name, streams)).transpose()?;
        let direction = keys.direction.as_ref().map(|direction| *direction.get_ref());
        let counted: Vec<&StreamRule> = match named {
            Some(number) => streams.iter().skip(usize::from(number)).take(1).collect(),
            None => streams.iter().collect(),
        };
        if let Some(place) = &keys.direction {
            self.check_direction(place, &counted)?;
        }
        let position = *position;
        match (named, direction) {
            (Some(number), direction) => {
                let name = streams[usize::from(number)].requests.name.clone();
                Ok(Score::OfStream { metric, position, stream: number, name, direction })
            }
            (None, Some(direction)) => Ok(Score::OfDirection { metric, position, direction }),
            (None, None) => Err(self.not_one_rule(score.span())),
        }
    }

    /// Returns the number of the stream called `name` among several.
    pub(super) fn stream_called(
        &self,
        name: &Spanned<String>,
        streams: &[StreamRule],
    ) -> Result<u16, SuiteError> {
        if let [_] = streams {
            let hint = "remove `stream`: all requests are those of the one stream";
            return Err(self.error(name.span(), "the step has one stream, without a name", hint));
        }
        let position = streams.iter().position(|stream| stream.requests.name == *name.get_ref());
        position.map(|number| number as u16).ok_or_else(|| {
            let names: Vec<&str> =
                streams.iter().map(|stream| stream.requests.name.as_str()).collect();
            let message = format!("no stream has the name '{}'", name.get_ref());
            self.error(name.span(), message, format!("the streams are: {}", names.join(", ")))
        })
    }

    /// Refuses a direction in which none of the `counted` streams sends requests.
    fn check_direction(
        &self,
        direction: &Spanned<Direction>,
        counted: &[&StreamRule],
    ) -> Result<(), SuiteError> {
        let is_sent = |one: Direction| counted.iter().any(|stream| stream.requests.sends(one));
        if is_sent(*direction.get_ref()) {
            return Ok(());
        }
        let sent = Direction::ALL.into_iter().filter(|one| is_sent(*one));
        let sent: Vec<&str> = sent.map(Direction::requests).collect();
        let requests = direction.get_ref().requests();
        let message = match counted {
            [] => "the step has no requests".to_owned(),
            [one] => format!("the stream '{}' sends no {requests}", one.requests.name),
            _ => format!("the streams send no {requests}"),
        };
        let hint = match sent.as_slice() {
            [] => "name a step with a load".to_owned(),
            sent => format!("name what is sent: {}", sent.join(", ")),
        };
        Err(self.error(direction.span(), message, hint))
    }

    fn not_one_rule(&self, place: Range<usize>) -> SuiteError {
        self.error(
            place,
            "a score has exactly one rule",
            "write one of { mean_of = METRIC }, { mean_of = METRIC, at = [1, 2, 4] }, \
             { best_of = METRIC }, { knee_of = METRIC }, { knee_of_load = METRIC }, \
             { metric = METRIC, at = VALUE }, { metric = METRIC, at = VALUE, stream = \"NAME\" }, \
             { metric = METRIC, at = VALUE, direction = \"write\" }, { metric = METRIC, mean_of_last = \"400s\" }, \
             { metric = METRIC, mean_over_sigma_of_last = \"400s\" }, \
             { highest_borne = true }, { highest_borne = true, clock = \"sending\" }",
        )
    }

    /// Refuses a metric that a step of `score` does not have: one of requests for a trim, the trim rate for
    /// other steps, the time of a step that ends by time, and that of the worst seconds for a step that pauses or sends at due times, whose worst
    /// second is one of the load.
    fn check_steps(
        &self,
        score: &Score,
        place: Range<usize>,
        points: &[PointRule],
    ) -> Result<(), SuiteError> {
        let (metric, key) = (score.metric(), score.metric().key());
        for point in points.iter().filter(|point| score.needs(point.position)) {
            let is_wrong = match point.trim {
                Some(_) => metric.is_of_requests(),
                None => metric == Metric::TrimGbS,
            };
            if is_wrong {
                return Err(self.error(
                    place,
                    format!("the step '{}' has no {key}", point.label),
                    "a trim has time_s, trim_gb_s, power_w and energy_j; other steps have every metric \
                     but trim_gb_s; name the steps that count, as in at = 2",
                ));
            }
            let ends_by_time = point.until.time.is_some()
                && point.until.bytes.is_none()
                && point.until.passes.is_none();
            if metric == Metric::TimeS && ends_by_time && !point.streams.is_empty() {
                return Err(self.error(
                    place,
                    format!("the step '{}' ends by time, so its {key} is its limit", point.label),
                    "use a rate, or end the step by a task: until = { bytes = \"8GB\" } or { passes = 1 }",
                ));
            }
            if metric.is_of_worst_seconds() && point.streams.iter().any(sends_nothing_at_times) {
                return Err(self.error(
                    place,
                    format!(
                        "the step '{}' sends nothing at times, so its {key} is that of the load",
                        point.label
                    ),
                    "name steps without think_time, pulse and rates, as in at = 1, or use \
                     time_over_10ms_percent",
                ));
            }
        }
        Ok(())
    }

    fn check_score(
        &self,
        score: &Score,
        place: Range<usize>,
        points: &[PointRule],
        test: &schema::Test,
    ) -> Result<(), SuiteError> {
        self.check_steps(score, place.clone(), points)?;
        match score {
            Score::At { position, .. } => self.check_positions(&[*position], place, points),
            Score::MeanAt { positions, .. } => self.check_positions(positions, place, points),
            Score::Knee(Metric::Iops | Metric::ThroughputMbS) => {
                let sweep = &test.sweep;
                let sweeps_depth = sweep.queue_depth.is_some()
                    || sweep.threads.is_some()
                    || sweep.total_queue_depth.is_some();
                match sweeps_depth {
                    true => Ok(()),
                    false => Err(self.error(
                        place,
                        "a knee needs several queue depths",
                        "sweep over queue_depth, threads or total_queue_depth",
                    )),
                }
            }
            Score::KneeOfLoad(Metric::Iops | Metric::ThroughputMbS) => {
                let mut streams = points.iter().flat_map(|point| &point.streams);
                match points.len() > 1 && streams.all(|s| s.requests.arrival != Arrival::Closed) {
                    true => Ok(()),
                    false => Err(self.error(
                        place,
                        "the knee of a load needs an open loop at several rates",
                        "sweep over per_second or load",
                    )),
                }
            }
            Score::Knee(_) | Score::KneeOfLoad(_) => Err(self.error(
                place,
                "a knee is defined for throughput",
                "use \"iops\" or \"throughput_mb_s\"",
            )),
            Score::MeanOfLast { metric, .. } | Score::MeanOverSigmaOfLast { metric, .. } => {
                let of_power =
                    *metric == Metric::PowerW && matches!(score, Score::MeanOfLast { .. });
                match metric.adds_up() || of_power {
                    true => Ok(()),
                    false => Err(self.error(
                        place,
                        format!("{} cannot be summed over seconds", metric.key()),
                        "use iops, throughput_mb_s or lat_mean_us, or power_w for a mean",
                    )),
                }
            }
            Score::HighestPassing | Score::HighestPassingByServiceLatency
                if test.search.is_none() =>
            {
                Err(self.error(
                    place,
                    "the highest passing load needs a search",
                    "add `search` to the test",
                ))
            }
            Score::HighestPassingByServiceLatency if self.judges_a_mix(test, points) => {
                Err(self.error(
                    place,
                    "the latencies from the submission are those of all requests of a stream, and the \
                     search judges one direction of a stream that reads and writes",
                    "remove clock = \"sending\", or give reads and writes a stream each",
                ))
            }
            // Their position was checked when their requests were found.
            Score::OfStream { .. }
            | Score::OfDirection { .. }
            | Score::MeanOf(_)
            | Score::BestOf(_)
            | Score::HighestPassing
            | Score::HighestPassingByServiceLatency => Ok(()),
        }
    }

    fn check_positions(
        &self,
        positions: &[f64],
        place: Range<usize>,
        points: &[PointRule],
    ) -> Result<(), SuiteError> {
        let known = |at: &f64| points.iter().any(|point| point.position == *at);
        match positions.iter().find(|at| !known(at)) {
            Some(at) => {
                let values: Vec<String> =
                    points.iter().map(|point| point.position.to_string()).collect();
                let hint = format!("the positions are: {}", values.join(", "));
                Err(self.error(place, format!("no point has the position {at}"), hint))
            }
            None if positions.is_empty() => {
                Err(self.error(place, "the score lists no position", "list at least one value"))
            }
            None => Ok(()),
        }
    }

    /// Returns whether the search of `test` judges a stream that reads and writes.
    fn judges_a_mix(&self, test: &schema::Test, points: &[PointRule]) -> bool {
        let named = test.search.as_ref().and_then(|search| search.get_ref().stream.as_ref());
        let judged = |point: &PointRule| {
            let name = named.map(Spanned::get_ref);
            let mut requests = point.streams.iter().map(|stream| &stream.requests);
            let judged = requests.find(|one| name.is_none_or(|name| one.name == *name));
            judged.is_some_and(|one| one.reads() && one.writes())
        };
        points.iter().any(judged)
    }
}

/// Returns whether `stream` pauses, or sends at due times.
fn sends_nothing_at_times(stream: &StreamRule) -> bool {
    stream.requests.arrival != Arrival::Closed || stream.requests.pauses()
}
