//! The seconds of a step in few bytes each: a step of a day has 86,400 of them.
//!
//! A second as [`Totals`] takes half a KiB. Most of its figures are small, so they are stored as LEB128
//! numbers, some 30 bytes a second, and read back where they are used.

use crate::sample::Direction;
use crate::sample::latency_of::LatencyOf;
use crate::sample::readings::{ReadingSeries, Readings};
use crate::totals::Totals;
use crate::totals::confidence::ConfidenceInterval;
use crate::totals::direction_totals::DirectionTotals;
use crate::totals::known_intervals::KnownIntervals;
use crate::totals::metric::{Family, Metric};
use crate::totals::scope::Scope;
use crate::units::Nanos;
use crate::units::packed::{MOST, Packer, Unpacker};
use ssdgauge_statistics::histogram::Histogram;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The bits of a second in addition to one for each direction that has figures.
const HAS_TRANSFERS: u8 = 1 << 4;
const IS_FULL: u8 = 1 << 5;
const HAS_P99: u8 = 1 << 6;
const _: () = assert!(Direction::COUNT <= 4, "each direction has a bit of its own");

/// The totals of each second of a step, a shorter last one included, without buckets, in order.
#[derive(Clone, Debug, Default)]
pub struct Seconds {
    bytes: Vec<u8>,
    /// The place of each second in `bytes`.
    starts: Vec<u32>,
    readings: Arc<ReadingSeries>,
    /// The requests whose latency is that of a second.
    latency_of: LatencyOf,
    known: KnownIntervals,
}

/// What is known of a second in addition to its totals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondMark {
    /// The number of the second in its step, from 0.
    pub number: u32,
    /// The 99th percentile of latency; `None` where there were too few requests, or an interval came
    /// late.
    pub lat_p99: Option<Nanos>,
}

impl Seconds {
    /// Returns no seconds yet, of a step whose latency is that of `latency_of`.
    pub(crate) fn new(latency_of: LatencyOf) -> Seconds {
        Seconds { latency_of, ..Seconds::default() }
    }

    /// Returns the number of seconds.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the memory of the seconds without that of their readings, in bytes.
    pub fn size(&self) -> usize {
        self.bytes.capacity() + self.starts.capacity() * size_of::<u32>()
    }

    /// Returns the seconds in order, with the mean of the readings of each quantity.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = (SecondMark, Totals)> + ExactSizeIterator {
        (0..self.len()).map(|place| self.at(place))
    }

    /// Returns the seconds in order as [`Seconds::iter`] does, without latencies and readings.
    pub fn all_counts(&self) -> impl Iterator<Item = (SecondMark, Totals)> {
        (0..self.len()).map(|place| (self.mark(place).0, self.counts(place)))
    }

    /// Returns number and percentile of the seconds in order, without their totals.
    pub fn marks(&self) -> impl DoubleEndedIterator<Item = SecondMark> + ExactSizeIterator {
        (0..self.len()).map(|place| self.mark(place).0)
    }

    /// Returns the mean of the readings of `quantity` in each second that has one, with the number of the
    /// second, in order.
    pub fn readings(&self, quantity: &str) -> impl Iterator<Item = (u32, f64)> {
        let readings = self.readings.of(quantity);
        self.marks().filter_map(move |mark| {
            let (sum, n) = readings.in_second(mark.number)?;
            Some((mark.number, sum / n as f64))
        })
    }

    /// Returns the duration of the last second.
    pub fn last_elapsed(&self) -> Option<Nanos> {
        self.len().checked_sub(1).map(|last| self.mark(last).1)
    }

    /// Returns the totals of the seconds in order.
    pub fn totals(&self) -> impl DoubleEndedIterator<Item = Totals> + ExactSizeIterator {
        self.iter().map(|(_, totals)| totals)
    }

    /// Returns the seconds of full length: a shorter last one would add noise to an interval
    /// (definition D3).
    pub fn full(&self) -> FullSeconds<'_> {
        let is_full = |place: &usize| self.bytes[self.starts[*place] as usize] & IS_FULL != 0;
        let places = (0..self.len()).filter(is_full).map(|place| place as u32).collect();
        FullSeconds { all: self, places }
    }

    /// Returns the number of seconds of full length.
    pub fn full_len(&self) -> usize {
        let is_full = |start: &&u32| self.bytes[**start as usize] & IS_FULL != 0;
        self.starts.iter().filter(is_full).count()
    }

    /// Returns the interval of `metric` and `scope` over the seconds of full length: the known one, else what
    /// `compute` makes of them.
    pub(crate) fn interval(
        &self,
        (metric, scope): (Metric, Scope),
        compute: impl FnOnce(&FullSeconds<'_>) -> ConfidenceInterval,
    ) -> ConfidenceInterval {
        self.known.get_or((metric, scope), || compute(&self.full()))
    }

    /// Sets the intervals that are known.
    pub(crate) fn set_known(&mut self, known: BTreeMap<(Metric, Scope), ConfidenceInterval>) {
        self.known = KnownIntervals::from(known);
    }

    /// Adds a second. Its buckets and its readings are left out.
    pub(crate) fn push(&mut self, mark: SecondMark, second: &Totals) {
        // Some 60 MB of a step are more than the room of a report has.
        let start = u32::try_from(self.bytes.len()).expect("a step has less than 4 GiB of seconds");
        self.starts.push(start);
        self.known = KnownIntervals::default();
        let has_figures =
            |sums: &DirectionTotals| sums.ios + sums.errors + sums.latency.count() > 0;
        let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let directions = second.directions.iter().enumerate();
        let bits = directions.fold(0, |bits, (at, sums)| bits | flag(has_figures(sums), 1 << at))
            | flag(second.has_transfers, HAS_TRANSFERS)
            | flag(second.elapsed == Nanos::SECOND, IS_FULL)
            | flag(mark.lat_p99.is_some(), HAS_P99);
        self.bytes.push(bits);
        self.number(u64::from(mark.number));
        if second.elapsed != Nanos::SECOND {
            self.number(second.elapsed.0);
        }
        if let Some(nanos) = mark.lat_p99 {
            self.number(nanos.0);
        }
        // The counts of all directions come before the latencies, so that a rate is read without these.
        let present = || second.directions.iter().filter(|sums| has_figures(sums));
        for sums in present() {
            [sums.ios, sums.bytes, sums.errors].into_iter().for_each(|count| self.number(count));
        }
        for latency in present().map(|sums| &sums.latency) {
            let sum = latency.sum();
            let [min, max] = [latency.min(), latency.max()].map(Option::unwrap_or_default);
            let figures = [latency.count(), latency.overflow(), min, max];
            figures.into_iter().for_each(|figure| self.number(figure));
            [sum as u64, (sum >> 64) as u64].into_iter().for_each(|word| self.number(word));
        }
    }

    /// Gives unused memory back.
    pub(crate) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.starts.shrink_to_fit();
    }

    /// Sets the readings of the seconds.
    pub(crate) fn set_readings(&mut self, readings: ReadingSeries) {
        self.readings = Arc::new(readings);
        self.known = KnownIntervals::default();
    }

    pub(crate) fn pack(&self, packer: &mut Packer) {
        packer.number(self.len() as u64);
        packer.bytes(&self.bytes);
        self.readings.pack(packer);
    }

    /// Returns the seconds that `unpacker` holds, of a step whose latency is that of `latency_of`, and the
    /// memory of their readings in bytes.
    pub(crate) fn unpack(
        unpacker: &mut Unpacker<'_>,
        latency_of: LatencyOf,
    ) -> Option<(Seconds, usize)> {
        let n = unpacker.count()?;
        let bytes = unpacker.bytes()?;
        let mut starts = Vec::with_capacity(n);
        let mut rest = Unpacker(bytes);
        let mut before = None;
        for _ in 0..n {
            starts.push(u32::try_from(bytes.len() - rest.0.len()).ok()?);
            let number = next_of_stranger(&mut rest)?;
            if before.is_some_and(|before| number <= before) {
                return None;
            }
            before = Some(number);
        }
        if !rest.0.is_empty() {
            return None;
        }
        let (readings, size) = ReadingSeries::unpack(unpacker)?;
        let readings = Arc::new(readings);
        let known = KnownIntervals::default();
        Some((Seconds { bytes: bytes.to_vec(), starts, readings, latency_of, known }, size))
    }

    fn number(&mut self, mut value: u64) {
        while value > 0x7f {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Returns mark, duration and bits of a second, and the bytes of its directions.
    fn mark(&self, place: usize) -> (SecondMark, Nanos, u8, &[u8]) {
        let mut bytes = &self.bytes[self.starts[place] as usize..];
        let bits = bytes[0];
        bytes = &bytes[1..];
        let number = next(&mut bytes) as u32;
        let is_full = bits & IS_FULL != 0;
        let elapsed = if is_full { Nanos::SECOND } else { Nanos(next(&mut bytes)) };
        let lat_p99 = (bits & HAS_P99 != 0).then(|| Nanos(next(&mut bytes)));
        (SecondMark { number, lat_p99 }, elapsed, bits, bytes)
    }

    /// Returns the requests of a second, without latencies and readings.
    fn counts(&self, place: usize) -> Totals {
        let (_, elapsed, bits, mut bytes) = self.mark(place);
        let mut second = Totals::over(elapsed);
        self.read_counts(&mut second, bits, &mut bytes);
        second
    }

    /// Sets the requests of `second`, and leaves the bytes of its latencies.
    fn read_counts(&self, second: &mut Totals, bits: u8, bytes: &mut &[u8]) {
        second.has_transfers = bits & HAS_TRANSFERS != 0;
        second.latency_of = self.latency_of;
        for sums in present(second, bits) {
            [sums.ios, sums.bytes, sums.errors] = [(); 3].map(|()| next(bytes));
        }
    }

    // Totals are large: they are filled where they are returned from.
    fn at(&self, place: usize) -> (SecondMark, Totals) {
        let (mark, elapsed, bits, mut bytes) = self.mark(place);
        let mut read = (mark, Totals::over(elapsed));
        let second = &mut read.1;
        self.read_counts(second, bits, &mut bytes);
        for sums in present(second, bits) {
            let [count, overflow, min, max, low, high] = [(); 6].map(|()| next(&mut bytes));
            let sum = u128::from(high) << 64 | u128::from(low);
            sums.latency = Histogram::from_figures(count, sum, min, max, overflow);
        }
        second.readings = Readings::Second(Arc::clone(&self.readings), mark.number);
        read
    }
}

impl PartialEq for Seconds {
    fn eq(&self, other: &Seconds) -> bool {
        self.iter().eq(other.iter())
    }
}

/// Returns the directions of `second` that have figures by its `bits`.
fn present(second: &mut Totals, bits: u8) -> impl Iterator<Item = &mut DirectionTotals> {
    let directions = second.directions.iter_mut().enumerate();
    directions.filter(move |(at, _)| bits >> at & 1 != 0).map(|(_, sums)| sums)
}

/// Reads a LEB128 number from `bytes`, where [`Seconds::push`] has written it.
#[inline]
fn next(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
        shift += 7;
    }
}

/// Reads a second as [`Seconds::push`] writes it, and returns its number; `None` where it is anything else, or
/// what no drive can reach.
fn next_of_stranger(bytes: &mut Unpacker<'_>) -> Option<u32> {
    let bits = bytes.byte()?;
    let number = u32::try_from(bytes.number()?).ok()?;
    if bits & IS_FULL == 0 && bytes.at_most(MOST)? == Nanos::SECOND.0 {
        return None;
    }
    if bits & HAS_P99 != 0 {
        bytes.number()?;
    }
    let directions = (bits & ((1 << Direction::COUNT) - 1)).count_ones();
    for _ in 0..3 * directions {
        bytes.at_most(MOST)?;
    }
    for _ in 0..directions {
        let [_count, _overflow] = [bytes.at_most(MOST)?, bytes.at_most(MOST)?];
        let [_min, _max, _low] = [bytes.number()?, bytes.number()?, bytes.number()?];
        bytes.at_most(MOST)?;
    }
    (bits >> 7 == 0).then_some(number)
}

/// Seconds of full length, or the last of them.
#[derive(Clone, Debug)]
pub struct FullSeconds<'a> {
    all: &'a Seconds,
    places: Vec<u32>,
}

impl FullSeconds<'_> {
    /// Returns the number of seconds.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns their totals, in order.
    pub fn totals(&self) -> impl DoubleEndedIterator<Item = Totals> + ExactSizeIterator {
        self.places.iter().map(|place| self.all.at(*place as usize).1)
    }

    /// Returns `metric` in each of them; 0 for a second without requests.
    pub fn rates(&self, metric: Metric) -> Vec<f64> {
        let rate = |second: &Totals| second.value(metric, Scope::All).unwrap_or(0.0);
        if metric.family() != Family::Rate {
            return self.totals().map(|second| rate(&second)).collect();
        }
        // One second is filled again and again: totals are large.
        let mut second = Totals::default();
        let one = |place: &u32| {
            let (_, elapsed, bits, mut bytes) = self.all.mark(*place as usize);
            second.elapsed = elapsed;
            for sums in &mut second.directions {
                [sums.ios, sums.bytes, sums.errors] = [0; 3];
            }
            self.all.read_counts(&mut second, bits, &mut bytes);
            rate(&second)
        };
        self.places.iter().map(one).collect()
    }

    /// Returns their numbers in the step, in order.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.places.iter().map(|place| self.all.mark(*place as usize).0.number)
    }

    /// Returns their requests without latencies and readings, in order.
    pub fn counts(&self) -> impl Iterator<Item = Totals> {
        self.places.iter().map(|place| self.all.counts(*place as usize))
    }

    /// Returns the same seconds without the first `start` ones.
    pub(crate) fn starting_at(mut self, start: usize) -> Self {
        self.places.drain(..start);
        self
    }
}

/// Seconds from 0 on, with their readings.
#[cfg(test)]
impl FromIterator<Totals> for Seconds {
    fn from_iter<T: IntoIterator<Item = Totals>>(totals: T) -> Seconds {
        let mut seconds = Seconds::default();
        let mut readings = ReadingSeries::default();
        for (number, second) in (0..).zip(totals) {
            for (quantity, (sum, n)) in second.readings.to_sums() {
                readings.add(&quantity, number, sum / n as f64);
            }
            seconds.push(SecondMark { number, lat_p99: None }, &second);
        }
        seconds.set_readings(readings);
        seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_statistics::Random;

    #[test]
    fn each_second_is_read_back_as_it_was() {
        let mut random = Random::new(3, 0);
        let mut any = || random.next_u64() >> (random.next_u64() % 64);
        let mut pushed = Vec::new();
        let mut seconds = Seconds::default();
        for number in 0..2_000 {
            let elapsed = if any() % 2 == 0 { Nanos::SECOND } else { Nanos(any() >> 1) };
            let mut second = Totals::over(elapsed);
            second.has_transfers = any() % 2 == 0;
            for sums in &mut second.directions {
                if any() % 2 == 0 {
                    let [ios, bytes, errors, count] = [(); 4].map(|()| any() >> 2);
                    let sum = u128::from(any()) * u128::from(any());
                    let latency = Histogram::from_figures(count | 1, sum, any(), any(), any());
                    *sums = DirectionTotals { ios, bytes, errors, latency, own_rate: None };
                }
            }
            let p99 = any();
            let mark = SecondMark {
                number: number * 3,
                lat_p99: Some(Nanos(p99)).filter(|_| p99 % 2 == 0),
            };
            seconds.push(mark, &second);
            pushed.push((mark, second));
        }
        assert_eq!(seconds.len(), pushed.len());
        for ((mark, second), (expected_mark, expected)) in seconds.iter().zip(&pushed) {
            assert_eq!(mark, *expected_mark);
            assert_eq!(second.elapsed, expected.elapsed);
            assert_eq!(second.has_transfers, expected.has_transfers);
            for (sums, expected) in second.directions.iter().zip(&expected.directions) {
                let is_empty = expected.ios + expected.errors + expected.latency.count() == 0;
                assert!(sums == expected || is_empty, "{sums:?} {expected:?}");
            }
        }
        assert!(seconds.marks().eq(pushed.iter().map(|(mark, _)| *mark)));
        assert_eq!(seconds.last_elapsed(), pushed.last().map(|(_, second)| second.elapsed));
        let full = pushed.iter().filter(|(_, second)| second.elapsed == Nanos::SECOND).count();
        assert_eq!((seconds.full().len(), seconds.full().totals().len()), (full, full));
        assert_eq!(seconds, seconds.clone());
        assert_ne!(seconds, Seconds::default());
    }

    #[test]
    fn readings_are_those_of_the_seconds_that_there_are() {
        let mut seconds = Seconds::default();
        let mut readings = ReadingSeries::default();
        for number in [0, 1, 3] {
            let mark = SecondMark { number, lat_p99: None };
            seconds.push(mark, &Totals::over(Nanos::SECOND));
        }
        for (second, power) in [(0, 2.0), (0, 4.0), (2, 5.0), (3, 6.0)] {
            readings.add("power_w", second, power);
        }
        seconds.set_readings(readings);
        assert_eq!(seconds.readings("power_w").collect::<Vec<_>>(), [(0, 3.0), (3, 6.0)]);
        assert_eq!(seconds.readings("temperature_c").count(), 0);
    }

    #[test]
    fn a_usual_second_takes_less_than_forty_bytes() {
        let mut seconds = Seconds::default();
        let mut second = Totals::over(Nanos::SECOND);
        let latency = Histogram::from_figures(450_000, 31_500_000_000, 40_000, 3_000_000, 0);
        second.directions[0] =
            DirectionTotals { ios: 450_000, bytes: 450_000 << 12, latency, ..Default::default() };
        for number in 0..86_400 {
            seconds.push(SecondMark { number, lat_p99: Some(Nanos(250_000)) }, &second);
        }
        seconds.shrink();
        assert!(seconds.size() < 40 * 86_400, "{}", seconds.size());
    }
}
