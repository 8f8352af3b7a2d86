//! Compression and deduplication: whether a drive stores less for data that can be compressed, or that it has already.
//!
//! The same writes with random data, with data of which half is zeros, with one block again and again, and with zeros,
//! in turn. What takes less flash than random data is written faster where the flash is the limit, and is programmed
//! less where the drive counts that. Zeros that alone are faster show neither: many drives know zeros.

use crate::answer::{Identified, Refusal, Value, refuse};
use crate::structure::Unit;
use crate::words;
use ssdgauge_core::MediaWrites;

/// The ratio to random data up to which data takes less flash: half random data takes a half.
const LESS: f64 = 0.75;
/// The ratios between which it takes as much. Chosen: a program operation of half of the random data would be in the
/// middle between this and a half.
const EQUAL: (f64, f64) = (0.88, 1.14);
/// The share of the rate of the link below which the flash limits writes: data that takes half of it would show.
const OF_LINK: f64 = 0.5;
/// The granules of the counter of media writes that the random data of a round has to fill.
const GRANULES: f64 = 20.0;
/// The rounds that are left out: a write buffer and a fast cache still fill.
const LEFT_OUT: usize = 1;
/// The rounds that have to show the same.
const LEAST_ROUNDS: usize = 3;

/// A measurement of writes with data of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// The bytes that were sent.
    pub bytes: f64,
    /// The time that they took, in seconds.
    pub seconds: f64,
    /// What the drive counted meanwhile, where it does.
    pub counted: Option<MediaWrites>,
}

impl Sent {
    fn seconds_per_byte(&self) -> f64 {
        self.seconds / self.bytes.max(1.0)
    }

    /// Returns the bytes programmed for each byte.
    fn programmed(&self) -> Option<f64> {
        self.counted.map(|counted| counted.media.amount / self.bytes.max(1.0))
    }

    /// Returns whether the counter is fine enough for a ratio to what it counted.
    fn is_fine(&self) -> bool {
        self.counted.is_some_and(|counted| counted.media.amount >= GRANULES * counted.media.granule)
    }
}

/// The measurements of a round, one after another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Random data.
    pub random: Sent,
    /// Data of which half is zeros.
    pub half: Sent,
    /// One block again and again.
    pub repeated: Sent,
    /// Zeros.
    pub zeros: Sent,
}

/// What the ratios of all rounds show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Less,
    Equal,
    Neither,
}

fn shown(ratios: &[f64]) -> Shown {
    let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
    let all = |test: &dyn Fn(f64) -> bool| ratios.iter().all(|ratio| test(*ratio));
    if mean <= LESS && all(&|ratio| ratio < EQUAL.0) {
        Shown::Less
    } else if all(&|ratio| (EQUAL.0..=EQUAL.1).contains(&ratio)) {
        Shown::Equal
    } else {
        Shown::Neither
    }
}

impl Turn {
    fn time_ratio(&self, of: fn(&Turn) -> Sent) -> f64 {
        of(self).seconds_per_byte() / self.random.seconds_per_byte().max(1e-15)
    }

    fn media_ratio(&self, of: fn(&Turn) -> Sent) -> Option<f64> {
        let random = self.random.programmed().filter(|_| self.random.is_fine())?;
        Some(of(self).programmed()? / random)
    }

    /// Returns the points of its chart: the number of the round, and the time of each kind by that of random data.
    pub(crate) fn ratios(&self) -> [f64; 3] {
        [self.time_ratio(half), self.time_ratio(repeated), self.time_ratio(zeros)]
    }
}

fn half(turn: &Turn) -> Sent {
    turn.half
}

fn repeated(turn: &Turn) -> Sent {
    turn.repeated
}

fn zeros(turn: &Turn) -> Sent {
    turn.zeros
}

/// Returns whether a drive compresses, from `turns`; `link` is the rate of its link in bytes per second, where it is
/// known.
///
/// # Errors
/// The rounds are few or differ, or nothing shows how much flash the writes took.
pub fn compression(turns: &[Turn], link: Option<f64>) -> Identified {
    find(turns, half, "half random data", link)
}

/// Returns whether a drive deduplicates, likewise.
///
/// # Errors
/// As [`compression`].
pub fn deduplication(turns: &[Turn], link: Option<f64>) -> Identified {
    find(turns, repeated, "a repeated block", link)
}

fn find(turns: &[Turn], of: fn(&Turn) -> Sent, what: &str, link: Option<f64>) -> Identified {
    let judged = turns.get(LEFT_OUT..).unwrap_or_default();
    if judged.len() < LEAST_ROUNDS {
        return refuse(format!("{} rounds of writes are too few", turns.len()));
    }
    let of_times = |of: fn(&Turn) -> Sent| -> Vec<f64> {
        judged.iter().map(|turn| turn.time_ratio(of)).collect()
    };
    let times = of_times(of);
    let media: Option<Vec<f64>> = judged.iter().map(|turn| turn.media_ratio(of)).collect();
    // What is counted tells; the time only where the flash is the limit.
    if let Some(media) = media {
        return match shown(&media) {
            Shown::Less => Ok(Value::exact(1.0)),
            Shown::Equal => Ok(Value::exact(0.0)),
            Shown::Neither => refuse(uneven("programs", what, &media)),
        };
    }
    match shown(&times) {
        Shown::Less => Ok(Value::exact(1.0)),
        Shown::Neither => refuse(uneven("takes", what, &times)),
        Shown::Equal => {
            let are_zeros_faster = shown(&of_times(zeros)) == Shown::Less;
            let random = judged.iter().map(|turn| 1.0 / turn.random.seconds_per_byte().max(1e-15));
            let is_slow = link.is_some_and(|link| random.clone().all(|rate| rate < OF_LINK * link));
            match is_slow || are_zeros_faster {
                true => Ok(Value::exact(0.0)),
                false => Err(limited(random.fold(0.0, f64::max), link)),
            }
        }
    }
}

fn uneven(verb: &str, what: &str, ratios: &[f64]) -> String {
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    format!(
        "{what} {verb} {least:.2} to {most:.2} times as much as random data, neither less nor as much"
    )
}

fn limited(rate: f64, link: Option<f64>) -> Refusal {
    let rate = rate / 1e6;
    Refusal(match link {
        Some(link) => format!(
            "random data is written at {} of the {} of the link, so the flash may not be the limit, and the drive \
             reports no media writes that are fine enough",
            words::shown(rate, Unit::MegabytesPerSecond),
            words::shown(link / 1e6, Unit::MegabytesPerSecond)
        ),
        None => "all data is written at one rate, the rate of the link is not known, and the drive reports no media \
                 writes that are fine enough"
            .into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Counted;

    /// Returns rounds of a drive that stores half random, repeated and zero pages as these shares of them; its flash
    /// takes `flash` bytes per second and its link `link`. `granule` is that of its counter.
    fn shown_by(shares: [f64; 3], flash: f64, link: f64, granule: Option<f64>) -> Vec<Turn> {
        let bytes = 256e6;
        let sent = |share: f64| Sent {
            bytes,
            seconds: (bytes * share / flash).max(bytes / link),
            counted: granule.map(|granule| {
                let counted = |amount: f64| Counted { amount, granule };
                let media = counted((bytes * share / granule).floor() * granule);
                MediaWrites { media, host: counted(bytes), is_in_pages: false }
            }),
        };
        let [half, repeated, zeros] = shares.map(sent);
        vec![Turn { random: sent(1.0), half, repeated, zeros }; 4]
    }

    const YES: Identified = Ok(Value { value: 1.0, low: 1.0, high: 1.0 });
    const NO: Identified = Ok(Value { value: 0.0, low: 0.0, high: 0.0 });

    #[test]
    fn each_effect_shows_alone_by_time_and_by_count() {
        let link = 3e9;
        for (flash, granule) in [(8e8, None), (8e8, Some(4_096.0)), (2.9e9, Some(4_096.0))] {
            for (compresses, deduplicates) in
                [(false, false), (true, false), (false, true), (true, true)]
            {
                let half = if compresses { 0.5 } else { 1.0 };
                let repeated = if deduplicates { 0.0 } else { 1.0 };
                let zeros = if compresses || deduplicates { 0.0 } else { 1.0 };
                let turns = shown_by([half, repeated, zeros], flash, link, granule);
                let expected = |is: bool| if is { YES } else { NO };
                assert_eq!(compression(&turns, Some(link)), expected(compresses));
                assert_eq!(deduplication(&turns, Some(link)), expected(deduplicates));
            }
        }
    }

    #[test]
    fn zeros_that_alone_are_faster_are_neither_but_show_that_the_flash_is_the_limit() {
        let turns = shown_by([1.0, 1.0, 0.0], 8e8, 3e9, None);
        assert_eq!((compression(&turns, None), deduplication(&turns, None)), (NO, NO));
    }

    #[test]
    fn a_link_that_limits_writes_coarse_counters_and_few_rounds_are_refused() {
        for granule in [None, Some(33_554_432.0)] {
            let turns = shown_by([0.5, 0.0, 0.0], 6e9, 3e9, granule);
            let reason = compression(&turns, Some(3e9)).unwrap_err();
            assert!(reason.0.contains("of the link"), "{reason:?}");
            assert!(deduplication(&turns, None).is_err());
        }
        let mut turns = shown_by([1.0, 1.0, 1.0], 8e8, 3e9, None);
        turns[2].half.seconds *= 0.6;
        assert!(compression(&turns, Some(3e9)).unwrap_err().0.contains("neither"));
        assert!(compression(&turns[..3], Some(3e9)).unwrap_err().0.contains("few"));
    }
}
