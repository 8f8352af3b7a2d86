//! What the samples of a step amount to, as few bytes: a run file keeps them with the step, so that a report
//! need not read its samples again. They are exact to the last bit.

use crate::sample::latency_map::LatencyMap;
use crate::sample::readings::Readings;
use crate::totals::Totals;
use crate::totals::confidence::{ConfidenceInterval, WithinRun};
use crate::totals::direction_totals::DirectionTotals;
use crate::totals::metric::Metric;
use crate::totals::over_seconds::{OVER_SECONDS, over_all_seconds};
use crate::totals::percentile_series::PercentileIntervals;
use crate::totals::power_integral::{MeteredPower, MeteredScopes};
use crate::totals::scope::Scope;
use crate::totals::second_aggregator::AggregatedStep;
use crate::totals::seconds::Seconds;
use crate::totals::worst_seconds::WorstSeconds;
use crate::units::Nanos;
use crate::units::packed::{MOST, Packer, Unpacker};
use crate::workload::Workload;
use ssdgauge_statistics::histogram::Histogram;
use std::collections::BTreeMap;

impl AggregatedStep {
    /// Returns the step as bytes; `None` where its latencies have no buckets, and for other forms that no step
    /// of our own has.
    pub fn pack(&self) -> Option<Vec<u8>> {
        let mut packer = Packer::default();
        pack_totals(&mut packer, &self.whole)?;
        packer.number(self.streams.len() as u64);
        self.streams.iter().try_for_each(|stream| pack_totals(&mut packer, stream))?;
        self.seconds.pack(&mut packer);
        pack_intervals(&mut packer, &self.over_seconds())?;
        pack_intervals(&mut packer, &self.percentiles)?;
        packer.flag(self.latency_map.is_some());
        if let Some(map) = &self.latency_map {
            map.pack(&mut packer);
        }
        Some(packer.finish())
    }

    /// Returns the step with `workload` that `bytes` hold; `None` where they hold anything else, or what no
    /// drive can reach.
    pub fn unpack(bytes: &[u8], workload: &Workload) -> Option<AggregatedStep> {
        let unpacker = &mut Unpacker(bytes);
        let mut whole = unpack_totals(unpacker)?;
        whole.latency_of = workload.latency_of();
        let mut streams = Vec::new();
        let several = workload.streams.iter().filter(|_| workload.streams.len() > 1);
        for (_, stream) in (0..unpacker.count()?).zip(several) {
            let totals = unpack_totals(unpacker)?;
            streams.push(Totals { latency_of: stream.latency_of(), ..totals });
        }
        let (mut seconds, readings_size) = Seconds::unpack(unpacker, workload.latency_of())?;
        seconds.set_known(unpack_intervals(unpacker)?);
        let percentiles = unpack_intervals(unpacker)?;
        let latency_map = match unpacker.flag()? {
            true => Some(LatencyMap::unpack(unpacker)?),
            false => None,
        };
        let step =
            AggregatedStep { whole, seconds, percentiles, streams, latency_map, readings_size };
        unpacker.0.is_empty().then_some(step)
    }

    /// Returns the intervals over the seconds of the step that pages show.
    fn over_seconds(&self) -> PercentileIntervals {
        let has_requests = |scope: &Scope| {
            scope.direction().is_none_or(|one| self.whole.directions[one as usize].ios > 0)
        };
        let scopes = Scope::ALL.into_iter().filter(has_requests);
        let of_scope = |scope: Scope| {
            let metrics = OVER_SECONDS.into_iter();
            let shown = metrics.filter(move |one| scope == Scope::All || one.is_split());
            shown.map(move |metric| (metric, scope))
        };
        let pairs = scopes.flat_map(of_scope);
        pairs.map(|pair| (pair, over_all_seconds(pair.0, pair.1, &self.seconds))).collect()
    }
}

fn pack_totals(packer: &mut Packer, totals: &Totals) -> Option<()> {
    packer.number(totals.elapsed.0);
    packer.flag(totals.has_transfers);
    totals.directions.iter().try_for_each(|direction| pack_direction(packer, direction))?;
    let readings = match &totals.readings {
        Readings::None => BTreeMap::new(),
        Readings::Sums(sums) => (**sums).clone(),
        Readings::Second(..) => return None,
    };
    packer.number(readings.len() as u64);
    for (quantity, (sum, n)) in readings {
        packer.bytes(quantity.as_bytes());
        packer.real(sum);
        packer.number(n);
    }
    packer.flag(totals.metered.is_some());
    for power in totals.metered.iter().flat_map(|scopes| scopes.iter()) {
        packer.flag(power.is_some());
        if let Some(MeteredPower { watts, coverage }) = power {
            packer.flag(watts.is_some());
            packer.real(watts.unwrap_or_default());
            packer.real(*coverage);
        }
    }
    packer.flag(totals.worst.is_some());
    if let Some(worst) = &totals.worst {
        worst.pack(packer);
    }
    Some(())
}

/// Reads totals of which what follows from the workload is not known yet.
fn unpack_totals(unpacker: &mut Unpacker<'_>) -> Option<Totals> {
    let mut totals = Totals::over(Nanos(unpacker.number()?));
    totals.has_transfers = unpacker.flag()?;
    for direction in &mut totals.directions {
        *direction = unpack_direction(unpacker)?;
    }
    let mut readings = BTreeMap::new();
    for _ in 0..unpacker.count()? {
        let quantity = unpacker.text()?.to_owned();
        readings.insert(quantity, (unpacker.real()?, unpacker.at_most(MOST)?.max(1)));
    }
    if !readings.is_empty() {
        totals.readings = Readings::Sums(Box::new(readings));
    }
    if unpacker.flag()? {
        let mut scopes = MeteredScopes::default();
        for power in &mut scopes {
            if unpacker.flag()? {
                let is_given = unpacker.flag()?;
                let watts = Some(unpacker.real()?).filter(|_| is_given);
                *power = Some(MeteredPower { watts, coverage: unpacker.real()? });
            }
        }
        totals.metered = Some(Box::new(scopes));
    }
    if unpacker.flag()? {
        totals.worst = Some(Box::new(WorstSeconds::unpack(unpacker)?));
    }
    Some(totals)
}

fn pack_direction(packer: &mut Packer, direction: &DirectionTotals) -> Option<()> {
    let DirectionTotals { ios, bytes, errors, latency, own_rate } = direction;
    if own_rate.is_some() || !latency.has_buckets() {
        return None;
    }
    [*ios, *bytes, *errors].into_iter().for_each(|count| packer.number(count));
    let sum = latency.sum();
    let [min, max] = [latency.min(), latency.max()].map(Option::unwrap_or_default);
    let figures = [sum as u64, (sum >> 64) as u64, min, max, latency.overflow()];
    figures.into_iter().for_each(|figure| packer.number(figure));
    packer.number(latency.buckets().count() as u64);
    let mut before = 0;
    for (value, n) in latency.buckets() {
        packer.number(value - before);
        packer.number(n);
        before = value;
    }
    Some(())
}

fn unpack_direction(unpacker: &mut Unpacker<'_>) -> Option<DirectionTotals> {
    let mut count = || unpacker.at_most(MOST);
    let [ios, bytes, errors] = [count()?, count()?, count()?];
    let [low, high] = [unpacker.number()?, unpacker.at_most(MOST)?];
    let [min, max] = [unpacker.number()?, unpacker.number()?];
    let overflow = unpacker.at_most(MOST)?;
    let mut buckets = Vec::new();
    let mut value = 0u64;
    for _ in 0..unpacker.count()? {
        value = value.checked_add(unpacker.number()?)?;
        buckets.push((value, unpacker.at_most(MOST)?));
    }
    let sum = u128::from(high) << 64 | u128::from(low);
    let latency = Histogram::from_parts(buckets, sum, min, max, overflow)?;
    (latency.count() <= MOST).then_some(DirectionTotals {
        ios,
        bytes,
        errors,
        latency,
        own_rate: None,
    })
}

/// What stands for an interval, or for the reason why there is none.
const WITHIN_RUN: u64 = 0;
const WITHOUT: [ConfidenceInterval; 3] = [
    ConfidenceInterval::StillSettling,
    ConfidenceInterval::TooFewSeconds,
    ConfidenceInterval::Undefined,
];

fn pack_intervals(packer: &mut Packer, intervals: &PercentileIntervals) -> Option<()> {
    packer.number(intervals.len() as u64);
    for ((metric, scope), interval) in intervals {
        packer.bytes(metric.key().as_bytes());
        packer.number(Scope::ALL.iter().position(|one| one == scope)? as u64);
        let ConfidenceInterval::WithinRun(within) = interval else {
            packer.number(1 + WITHOUT.iter().position(|one| one == interval)? as u64);
            continue;
        };
        packer.number(WITHIN_RUN);
        [within.mean, within.low, within.high].into_iter().for_each(|end| packer.real(end));
        packer.number(within.cut as u64);
        packer.number(within.n as u64);
        packer.flag(within.of_what_was_seen);
    }
    Some(())
}

fn unpack_intervals(unpacker: &mut Unpacker<'_>) -> Option<PercentileIntervals> {
    let mut intervals = PercentileIntervals::new();
    for _ in 0..unpacker.count()? {
        let metric = Metric::from_key(unpacker.text()?)?;
        let scope = *Scope::ALL.get(unpacker.at_most(MOST)? as usize)?;
        let interval = match unpacker.at_most(MOST)? {
            WITHIN_RUN => ConfidenceInterval::WithinRun(WithinRun {
                mean: unpacker.real()?,
                low: unpacker.real()?,
                high: unpacker.any_real()?,
                cut: unpacker.at_most(MOST)? as usize,
                n: unpacker.at_most(MOST)? as usize,
                of_what_was_seen: unpacker.flag()?,
            }),
            without => *WITHOUT.get(without as usize - 1)?,
        };
        intervals.insert((metric, scope), interval);
    }
    Some(intervals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Direction, Interval, Reading};
    use crate::totals::percentile_series::PercentileSeries;
    use crate::totals::second_aggregator::SecondAggregator;
    use crate::workload::{Engine, Stream};
    use ssdgauge_statistics::Random;

    fn workload() -> Workload {
        let stream = Stream { read_percent: 70, ..Stream::default() };
        Workload { engine: Engine::IoUring, streams: vec![stream.clone(), stream] }
    }

    /// Returns a step of `seconds` with all that a digest has, and a shorter last second.
    fn step(seconds: u32) -> AggregatedStep {
        let elapsed = Nanos(Nanos::SECOND.0 * u64::from(seconds) - 400_000_000);
        let series = PercentileSeries::new(&workload().directions(), elapsed);
        let mut aggregator = SecondAggregator::new(series)
            .of_workload(&workload(), 8)
            .with_worst_seconds(true)
            .with_latency_map(true);
        let mut random = Random::new(46, 0);
        for second in 0..seconds {
            let is_last = second + 1 == seconds;
            for (stream, direction) in [(0, Direction::Read), (1, Direction::Write)] {
                let mut latency = Histogram::default();
                let ios = if second % 9 == 5 { 0 } else { 100 + random.below(200) };
                (0..ios).for_each(|_| latency.record(20_000 + random.below(1 << 24)));
                let length = Nanos(if is_last { 600_000_000 } else { Nanos::SECOND.0 });
                let (bytes, errors) = (ios * 4_096, random.below(2));
                aggregator.interval(Interval {
                    second,
                    stream,
                    direction,
                    length,
                    ios,
                    bytes,
                    errors,
                    latency,
                });
            }
            for (quantity, value) in [("power_w", random.unit() * 5.0), ("temperature_c", 41.0)] {
                let at = Nanos(Nanos::SECOND.0 * u64::from(second) + 1);
                let (instrument, quantity) = ("virtual".to_owned(), quantity.to_owned());
                aggregator.reading(&Reading { at, instrument, quantity, value });
            }
        }
        aggregator.finish(elapsed)
    }

    #[test]
    fn a_step_is_unpacked_to_the_last_bit() {
        for seconds in [2, 61, 700] {
            let step = step(seconds);
            let bytes = step.pack().unwrap();
            let back = AggregatedStep::unpack(&bytes, &workload()).unwrap();
            assert_eq!(back.whole, step.whole);
            assert_eq!(back.streams, step.streams);
            assert_eq!(back.seconds, step.seconds);
            assert_eq!(back.percentiles, step.percentiles);
            assert_eq!(back.latency_map, step.latency_map);
            assert_eq!(back.readings_size, step.readings_size);
            assert_eq!(step.percentiles.is_empty(), seconds < 60);
            assert!(back.whole.worst.is_some() && back.whole.metered.is_some());
            assert_eq!(back.pack().unwrap(), bytes);
        }
    }

    #[test]
    fn changed_or_shortened_bytes_are_refused_or_another_step() {
        let bytes = step(3).pack().unwrap();
        let mut refused = 0;
        for place in 0..bytes.len() {
            assert!(AggregatedStep::unpack(&bytes[..place], &workload()).is_none(), "{place}");
            let mut changed = bytes.clone();
            changed[place] ^= 1 << (place % 8);
            match AggregatedStep::unpack(&changed, &workload()) {
                Some(other) => {
                    // Whatever it is can be evaluated.
                    assert!(other.seconds.marks().is_sorted_by_key(|mark| mark.number));
                    let _ = other.whole.value(Metric::LatP99Us, Scope::All);
                }
                None => refused += 1,
            }
        }
        assert!(refused > bytes.len() / 8);
        assert!(AggregatedStep::unpack(&bytes, Workload::no_load()).is_none());
    }
}
