//! What a real drive wrote to its media in a step, and its write amplification with the interval that
//! follows from the granules of its counters (definition D27).

use serde::{Deserialize, Serialize};

/// What a drive wrote to its media and what hosts wrote, by its own counters; the mean of the
/// executions of a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MediaWrites {
    /// What was written to the media.
    pub media: Counted,
    /// What hosts wrote.
    pub host: Counted,
    /// Whether both are numbers of flash pages, whose size the drive does not report; else bytes.
    pub is_in_pages: bool,
}

/// The difference of a counter over a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// The difference.
    pub amount: f64,
    /// The granule of the counter, in the same unit. The true amount differs by less than one.
    pub granule: f64,
}

/// A write amplification, or the reason why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amplification {
    /// The quotient of both amounts, and the ends that the granules allow.
    Known {
        /// The quotient.
        value: f64,
        /// The smallest quotient: one granule less on the media, one more from hosts.
        low: f64,
        /// The largest quotient.
        high: f64,
    },
    /// An amount is below [`MediaWrites::LEAST_GRANULES`] of its granules.
    TooCoarse {
        /// The granules of the amount.
        granules: f64,
        /// The granule.
        granule: f64,
        /// Whether it is the amount of the media.
        is_media: bool,
    },
    /// Hosts wrote nothing.
    NothingWritten,
}

impl MediaWrites {
    /// The quantities of the readings in bytes: amount and granule of the media, then of hosts.
    pub const BYTES: [&str; 4] = [
        "step_media_bytes",
        "step_media_granule_bytes",
        "step_host_bytes",
        "step_host_granule_bytes",
    ];
    /// The same in flash pages.
    pub const PAGES: [&str; 4] = [
        "step_media_pages",
        "step_media_granule_pages",
        "step_host_pages",
        "step_host_granule_pages",
    ];

    /// The minimum number of granules of both amounts: each end is then within 2.1 % of the quotient.
    pub const LEAST_GRANULES: f64 = 100.0;

    /// Returns the amounts from the mean readings of a step by their quantity; `None` where no drive
    /// counted them.
    pub fn from_readings(reading: impl Fn(&str) -> Option<f64>) -> Option<MediaWrites> {
        let read = |quantities: [&str; 4], is_in_pages| {
            let [media, media_granule, host, host_granule] =
                quantities.map(|quantity| reading(quantity).filter(|v| v.is_finite()));
            let counted = |amount: Option<f64>, granule: Option<f64>| {
                let (amount, granule) = (amount?, granule?);
                (amount >= 0.0 && granule > 0.0).then_some(Counted { amount, granule })
            };
            let media = counted(media, media_granule)?;
            Some(MediaWrites { media, host: counted(host, host_granule)?, is_in_pages })
        };
        read(MediaWrites::BYTES, false).or_else(|| read(MediaWrites::PAGES, true))
    }

    /// Returns the write amplification.
    pub fn amplification(&self) -> Amplification {
        let MediaWrites { media, host, .. } = *self;
        if host.amount == 0.0 {
            return Amplification::NothingWritten;
        }
        for (counted, is_media) in [(host, false), (media, true)] {
            let (granule, granules) = (counted.granule, counted.amount / counted.granule);
            if granules < MediaWrites::LEAST_GRANULES {
                return Amplification::TooCoarse { granules, granule, is_media };
            }
        }
        Amplification::Known {
            value: media.amount / host.amount,
            low: (media.amount - media.granule) / (host.amount + host.granule),
            high: (media.amount + media.granule) / (host.amount - host.granule),
        }
    }

    /// Returns the write amplification where it is known.
    pub fn known(&self) -> Option<f64> {
        match self.amplification() {
            Amplification::Known { value, .. } => Some(value),
            Amplification::TooCoarse { .. } | Amplification::NothingWritten => None,
        }
    }

    /// Returns the ends of the write amplification where it is known.
    pub fn ends(&self) -> Option<(f64, f64)> {
        match self.amplification() {
            Amplification::Known { low, high, .. } => Some((low, high)),
            Amplification::TooCoarse { .. } | Amplification::NothingWritten => None,
        }
    }

    /// Returns the bytes written to the media; `None` where they are counted in pages.
    pub fn media_bytes(&self) -> Option<f64> {
        (!self.is_in_pages).then_some(self.media.amount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The amounts of readings, each the mean of its executions.
    fn writes(quantities: [&str; 4], executions: &[[f64; 4]]) -> Option<MediaWrites> {
        let mean = |at: usize| {
            executions.iter().map(|values| values[at]).sum::<f64>() / executions.len() as f64
        };
        MediaWrites::from_readings(|quantity| {
            quantities.iter().position(|known| *known == quantity).map(mean)
        })
    }

    #[test]
    fn the_amplification_has_the_interval_of_its_granules() {
        let found = writes(MediaWrites::BYTES, &[[3e9, 1.0, 1e9, 5e6]]);
        let Amplification::Known { value, low, high } = found.unwrap().amplification() else {
            panic!("200 granules are enough")
        };
        assert_eq!(value, 3.0);
        assert!((low - 3.0 / 1.005).abs() < 1e-6 && (high - 3.0 / 0.995).abs() < 1e-6);
        assert_eq!(found.unwrap().media_bytes(), Some(3e9));
    }

    #[test]
    fn an_amount_below_a_hundred_granules_has_no_amplification() {
        let of = |values| writes(MediaWrites::BYTES, &[values]).unwrap().amplification();
        let coarse =
            |granules, granule, is_media| Amplification::TooCoarse { granules, granule, is_media };
        assert_eq!(of([3e9, 1.0, 99e6, 1e6]), coarse(99.0, 1e6, false));
        assert_eq!(of([3e9, 1e8, 1e9, 1e6]), coarse(30.0, 1e8, true));
        assert_eq!(of([3e9, 1.0, 0.0, 1e6]), Amplification::NothingWritten);
        // The minimum that is given is within 2.1 % of the quotient.
        let Amplification::Known { value, low, high } = of([100.0, 1.0, 100.0, 1.0]) else {
            panic!("100 granules are enough")
        };
        assert!(high / value < 1.021 && low / value > 0.979, "{low} {high}");
    }

    #[test]
    fn executions_count_by_their_sum_and_pages_have_no_bytes() {
        let pages = [[300.0, 1.0, 100.0, 1.0], [500.0, 1.0, 300.0, 1.0]];
        let found = writes(MediaWrites::PAGES, &pages).unwrap();
        assert_eq!((found.known(), found.media_bytes()), (Some(2.0), None));
        assert_eq!(MediaWrites::from_readings(|_| None), None);
        let wrong = [[f64::NAN, 1.0, 100.0, 1.0]];
        assert_eq!(writes(MediaWrites::PAGES, &wrong), None);
    }
}
