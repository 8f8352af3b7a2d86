//! How often the blocks of a span are addressed.

use serde::{Deserialize, Serialize};
use ssdgauge_statistics::separation::Zone;
use std::ops::RangeInclusive;

/// How often the blocks of a span are addressed by random requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// All alike.
    #[default]
    Uniform,
    /// Zones, the hottest not necessarily first, over shuffled blocks.
    Zones(Vec<Zone>),
    /// The block of rank k, from 1, in proportion to k to the power of minus this exponent, over shuffled
    /// blocks.
    Zipf(f64),
}

impl Distribution {
    /// The maximum number of zones.
    pub const MAX_ZONES: usize = 64;
    /// The exponents of Zipf's law that are accepted.
    pub const EXPONENTS: RangeInclusive<f64> = 0.01..=5.0;

    /// Returns the number of zones; 0 where there are none.
    pub fn zones(&self) -> usize {
        match self {
            Distribution::Zones(zones) => zones.len(),
            Distribution::Uniform | Distribution::Zipf(_) => 0,
        }
    }

    /// Returns the smallest share of space that is less than one of `blocks` blocks: such a zone would be
    /// larger than asked for. `None` where every zone has a block.
    pub fn zone_below_a_block(&self, blocks: u64) -> Option<f64> {
        let Distribution::Zones(zones) = self else { return None };
        // Shares are decimal fractions: 0.1 of 10 blocks is one.
        let is_below = |share: &f64| share * (blocks as f64) < 1.0 - 1e-9;
        zones.iter().map(|zone| zone.space).filter(is_below).min_by(f64::total_cmp)
    }

    /// Returns whether all blocks are alike.
    pub fn is_uniform(&self) -> bool {
        *self == Distribution::Uniform
    }

    /// Returns the distribution in words, such as `Zipf 0.8` or `zones 80/20 20/80`: percent of the
    /// requests and of the blocks.
    pub fn describe(&self) -> String {
        match self {
            Distribution::Uniform => "uniform".into(),
            Distribution::Zipf(exponent) => format!("Zipf {exponent}"),
            Distribution::Zones(zones) => {
                let percent = |share: f64| (share * 1e4).round() / 1e2;
                let zone =
                    |zone: &Zone| format!("{}/{}", percent(zone.accesses), percent(zone.space));
                format!("zones {}", zones.iter().map(zone).collect::<Vec<_>>().join(" "))
            }
        }
    }

    /// Returns why it cannot be drawn, as a clause; `None` where it can.
    pub fn defect(&self) -> Option<String> {
        match self {
            Distribution::Uniform => None,
            Distribution::Zipf(exponent) => (!Distribution::EXPONENTS.contains(exponent))
                .then(|| format!("an exponent of {exponent} is not between 0.01 and 5")),
            Distribution::Zones(zones) => {
                if zones.is_empty() || zones.len() > Distribution::MAX_ZONES {
                    return Some(format!("there are {} zones, not 1 to 64", zones.len()));
                }
                let is_share = |share: f64| share > 0.0 && share <= 1.0;
                if zones.iter().any(|zone| !is_share(zone.accesses) || !is_share(zone.space)) {
                    return Some("a share is not above 0 and at most 1".into());
                }
                let sum = |share: fn(&Zone) -> f64| zones.iter().map(share).sum::<f64>();
                let sums = [("accesses", sum(|one| one.accesses)), ("space", sum(|one| one.space))];
                let wrong = sums.into_iter().find(|(_, sum)| (sum - 1.0).abs() > 1e-9);
                wrong.map(|(what, sum)| {
                    format!("the shares of {what} add up to {:.6}, not to 1", sum)
                })
            }
        }
    }
}
