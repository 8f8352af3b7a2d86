//! Write amplification from the counters of a drive, over rounds of writes, once it is steady.

use crate::answer::{Identified, Refusal, Value, refuse};
use ssdgauge_core::{Amplification, Counted, MediaWrites};

/// The rounds that count together.
const WINDOW: usize = 4;
/// The difference of the two halves of the window up to which it is steady, as a share. Chosen: between the
/// deviations that superblocks cause and what a drive that still changes shows (SNIA SSS PTS 2.0.2 permits a
/// slope of 10 % and deviations of 20 % of rates).
const LEVEL: f64 = 0.05;
/// What hosts have written by the counter of the drive may differ by this share from what was sent: metadata
/// counts, where a drive stores it.
const DRIFT: f64 = 0.04;
/// What a fill without overwrites and the rest after it may program more than what was sent, as a share of it.
/// Chosen: what a drive stores of its map takes a thousandth; a fast cache shows from a hundredth of the data on.
const MOST_MOVED: f64 = 0.01;
/// The granules of both counters up to which they show that, as a share of the fill. Chosen: a cache of 5 % of the fill
/// shows then.
const COARSE: f64 = 0.04;

/// A round of writes, with what the drive counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// The bytes that were sent.
    pub sent: f64,
    /// The share of them that went to the hot zone; 1 for uniform writes.
    pub hot: f64,
    /// What the drive counted meanwhile.
    pub counted: MediaWrites,
}

impl Round {
    /// Returns the bytes programmed for each byte of hosts; 0 where hosts wrote nothing.
    pub(crate) fn amplification(&self) -> f64 {
        let MediaWrites { media, host, .. } = self.counted;
        if host.amount > 0.0 { media.amount / host.amount } else { 0.0 }
    }
}

/// Returns the write amplification of the last rounds, with the interval of its granules and of its changes.
///
/// # Errors
/// The rounds are too few, the counters are too coarse or count other writers, or it still changes.
pub fn steady(rounds: &[Round]) -> Identified {
    let Some(first) = rounds.len().checked_sub(WINDOW) else {
        return refuse(format!("{} rounds of writes are too few", rounds.len()));
    };
    let window = &rounds[first..];
    let whole = sum(window);
    let (low, value, high) = match whole.amplification() {
        Amplification::Known { value, low, high } => (low, value, high),
        Amplification::TooCoarse { granules, .. } => {
            return refuse(format!(
                "the counters of media writes are too coarse: {granules:.0} granules were written"
            ));
        }
        Amplification::NothingWritten => {
            return refuse("the counter of host writes does not move");
        }
    };
    counts_what_was_sent(window)?;
    let (before, after) = window.split_at(WINDOW / 2);
    let [before, after] = [before, after].map(|half| {
        let MediaWrites { media, host, .. } = sum(half);
        let coarse = media.granule / media.amount.max(1.0) + host.granule / host.amount.max(1.0);
        (media.amount / host.amount.max(1.0), coarse)
    });
    let change = after.0 / before.0 - 1.0;
    if change.abs() > LEVEL + before.1 + after.1 {
        return refuse(format!(
            "the write amplification still changes: {:.2}, then {:.2}",
            before.0, after.0
        ));
    }
    let half = 0.5 * (change.abs() - before.1 - after.1).max(0.0) * value;
    Ok(Value { value, low: low.min(value - half), high: high.max(value + half) })
}

/// Checks that a `fill` without overwrites, with the rest after it, programs each byte once: what passes a fast cache is
/// programmed twice, whether the rate shows the cache or not.
///
/// # Errors
/// The drive programs more, or its counters are too coarse to tell.
pub fn programs_once(fill: &Round) -> Result<(), Refusal> {
    counts_what_was_sent(std::slice::from_ref(fill))?;
    let MediaWrites { media, host, .. } = fill.counted;
    let granules = media.granule + host.granule;
    if granules > COARSE * host.amount {
        return refuse(
            "the counters of media writes are too coarse to show what a fast cache moves",
        );
    }
    match media.amount > (1.0 + MOST_MOVED) * host.amount + granules {
        true => refuse(format!(
            "the drive programs {:.2} bytes for each byte of a fill and the rest after it, as where data passes a \
             fast cache",
            fill.amplification()
        )),
        false => Ok(()),
    }
}

/// Checks that the counter of hosts has counted what was sent in `rounds`, and no other writer.
pub(crate) fn counts_what_was_sent(rounds: &[Round]) -> Result<(), Refusal> {
    let whole = sum(rounds);
    let sent: f64 = rounds.iter().map(|round| round.sent).sum();
    let (counted, granule) = (whole.host.amount, whole.host.granule);
    match !whole.is_in_pages && (counted - sent).abs() > DRIFT * sent + granule {
        true => refuse(format!(
            "hosts wrote {:.1} GB by the counter of the drive where {:.1} GB were sent",
            counted / 1e9,
            sent / 1e9
        )),
        false => Ok(()),
    }
}

/// Returns the counts of `rounds` together: the granules of a counter do not add up.
pub(crate) fn sum(rounds: &[Round]) -> MediaWrites {
    let add = |of: fn(&MediaWrites) -> Counted| {
        let all = rounds.iter().map(|round| of(&round.counted));
        all.fold(Counted { amount: 0.0, granule: 0.0 }, |sum, one| Counted {
            amount: sum.amount + one.amount,
            granule: sum.granule.max(one.granule),
        })
    };
    MediaWrites {
        media: add(|counted| counted.media),
        host: add(|counted| counted.host),
        is_in_pages: rounds.iter().any(|round| round.counted.is_in_pages),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Rounds of 1 GB with these write amplifications, counted in granules of so many bytes.
    pub(crate) fn rounds(amplifications: &[f64], granule: f64) -> Vec<Round> {
        let round = |wa: &f64| Round {
            sent: 1e9,
            hot: 1.0,
            counted: MediaWrites {
                media: Counted { amount: wa * 1e9, granule },
                host: Counted { amount: 1e9, granule },
                is_in_pages: false,
            },
        };
        amplifications.iter().map(round).collect()
    }

    #[test]
    fn the_last_rounds_count_once_they_are_level() {
        let found = steady(&rounds(&[1.2, 9.0, 4.0, 4.1, 4.0, 4.1], 4_096.0)).unwrap();
        assert!((found.value - 4.05).abs() < 1e-9 && found.width() < 0.001, "{found:?}");
        let coarse = steady(&rounds(&[4.0; 4], 3.2e7)).unwrap();
        assert!(coarse.contains(4.03) && coarse.contains(3.97) && !coarse.contains(4.2));
        for (bad, words) in [
            (rounds(&[4.0; 3], 1.0), "too few"),
            (rounds(&[3.0, 3.2, 3.5, 3.8], 1.0), "still changes"),
            (rounds(&[4.0; 4], 1e8), "too coarse"),
        ] {
            assert!(steady(&bad).unwrap_err().0.contains(words), "{words}");
        }
    }

    #[test]
    fn a_fill_that_programs_some_of_its_bytes_twice_is_refused() {
        let found = |programmed: f64, granule| programs_once(&rounds(&[programmed], granule)[0]);
        for once in [0.95, 1.0, 1.005] {
            assert_eq!(found(once, 4_096.0), Ok(()), "{once}");
        }
        assert_eq!(found(1.04, 1.9e7), Ok(()));
        for (programmed, granule, words) in
            [(1.02, 4_096.0, "programs 1.02"), (2.0, 4e6, "programs 2.00"), (1.0, 3.2e7, "coarse")]
        {
            let refused = found(programmed, granule).unwrap_err();
            assert!(refused.0.contains(words), "{refused:?}");
        }
    }

    #[test]
    fn another_writer_is_told_by_the_counter_of_hosts() {
        let mut with_another = rounds(&[4.0; 4], 4_096.0);
        with_another.iter_mut().for_each(|round| round.sent = 0.9e9);
        assert!(steady(&with_another).unwrap_err().0.contains("were sent"));
        // The size of a flash page is not known.
        with_another.iter_mut().for_each(|round| round.counted.is_in_pages = true);
        assert!(steady(&with_another).is_ok());
    }
}
