//! Independent volumes: parts of a drive that its addresses are split into by adjacent bits, and that share the link and
//! the controller alone.
//!
//! Random writes with one bit of their addresses held, against such writes with none held. A bit that tells volumes apart
//! leaves half of the flash to the writes with it held: they take twice as long where the flash is the limit. Any other
//! bit changes nothing.

use crate::answer::{Refusal, Value, refuse};
use crate::structure::Unit;
use crate::words::shown;
use ssdgauge_core::Bytes;
use ssdgauge_statistics::summary;

/// The ratio of the times from which a bit tells volumes apart. Chosen: half of the flash takes twice as long, and less
/// where few requests in flight do not reach all of it evenly, or where the link limits the writes with nothing held.
const TWICE: f64 = 1.6;
/// The ratio up to which a bit changes nothing. Chosen: between 1 and [`TWICE`], and nearer to 1.
const NOTHING: f64 = 1.2;
/// The ratio that no single round may be on the other side of.
const BETWEEN: f64 = 1.4;
/// The ratio of a round below which half of the flash might show as [`NOTHING`].
const LEAST: f64 = NOTHING / 2.0;
/// The bits to both sides whose writes with nothing held are compared as well. Chosen: few, because a drive may change.
const NEARBY: usize = 2;
/// The ratio beyond which half of the flash is not an explanation.
const MOST: f64 = 2.6;
/// The share of the link from which it may hide that the flash is the limit. Chosen.
const LINK_HIDES: f64 = 0.7;
/// The rounds that have to show the same: with the bit clear, and with it set.
const LEAST_ROUNDS: usize = 2;

/// The rates of random writes with one address bit held, and for comparison with none held.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The address that has only this bit.
    pub bytes: u64,
    /// The bytes of each write.
    pub block: u64,
    /// The rates with nothing held and with the bit held, in bytes per second: a round with the bit clear, and one with it
    /// set.
    pub rounds: Vec<(f64, f64)>,
}

/// The volumes of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volumes {
    /// How many there are; 1 for a drive that is one.
    pub number: u64,
    /// The bytes in a row that belong to one volume, where there are several.
    pub interleave: Option<u64>,
}

impl Volumes {
    /// Returns their number as a value.
    pub fn value(self) -> Value {
        Value::exact(self.number as f64)
    }
}

/// What a bit of the address does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bit {
    Nothing,
    Volume,
}

impl Held {
    /// Returns how many times as long writes take with the bit held: over all rounds, the minimum and the maximum.
    fn ratios(&self) -> (f64, f64, f64) {
        let seconds = |rate: f64| 1.0 / rate.max(1.0);
        let free: f64 = self.rounds.iter().map(|round| seconds(round.0)).sum();
        let held: f64 = self.rounds.iter().map(|round| seconds(round.1)).sum();
        let ratios = || self.rounds.iter().map(|(free, held)| free / held.max(1.0));
        (held / free, ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max))
    }

    fn judge(&self) -> Result<Bit, Refusal> {
        let of = Bytes(self.bytes).as_block();
        if self.rounds.len() < LEAST_ROUNDS {
            return refuse(format!(
                "writes with the address bit of {of} held were sent in too few rounds"
            ));
        }
        let (ratio, least, most) = self.ratios();
        match (ratio <= NOTHING, ratio >= TWICE) {
            (true, _) if most < BETWEEN && least > LEAST => Ok(Bit::Nothing),
            (_, true) if least > BETWEEN && most < MOST => Ok(Bit::Volume),
            (_, _) => refuse(format!(
                "writes with the address bit of {of} held take {least:.2} to {most:.2} times as long, neither as \
                 long nor twice"
            )),
        }
    }

    /// Returns the points of its chart: the number of the bit, and the ratio of each round.
    pub(crate) fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let bit = f64::from(self.bytes.max(1).ilog2());
        self.rounds.iter().map(move |(free, held)| (bit, free / held.max(1.0)))
    }
}

/// Returns the volumes of a drive, from `bits` in ascending order without a gap, and the rate of the link in 10^6 bytes
/// per second.
///
/// # Errors
/// A bit changes the rate by less than half of the flash would; the bits that halve it are not adjacent, or may go on
/// beyond those that were held; none does, and the link may be the limit.
pub fn find(bits: &[Held], link_mb_s: f64) -> Result<Volumes, Refusal> {
    let Some(last) = bits.len().checked_sub(1) else {
        return refuse("no address bit was held");
    };
    let bits = &smoothed(bits);
    let judged = bits.iter().map(Held::judge).collect::<Result<Vec<Bit>, _>>()?;
    let found: Vec<usize> = (0..=last).filter(|number| judged[*number] == Bit::Volume).collect();
    let (Some(lowest), Some(highest)) = (found.first(), found.last()) else {
        return one_volume(bits, link_mb_s);
    };
    if highest - lowest + 1 != found.len() {
        return refuse("the address bits that halve the rate of writes are not adjacent");
    }
    if *lowest == 0 || *highest == last {
        return refuse(
            "the address bits that halve the rate of writes may go on beyond those that were held",
        );
    }
    Ok(Volumes { number: 1 << found.len().min(63), interleave: Some(bits[*lowest].bytes) })
}

/// Returns `bits` with the median of several rates with nothing held in place of each: a pause of the drive for its own
/// work is in few of them.
fn smoothed(bits: &[Held]) -> Vec<Held> {
    let of_bit = |(number, bit): (usize, &Held)| {
        let nearby = &bits[number.saturating_sub(NEARBY)..(number + NEARBY + 1).min(bits.len())];
        let same = || nearby.iter().filter(|one| one.block == bit.block);
        let round = |(number, (free, held)): (usize, &(f64, f64))| {
            let frees = same().filter_map(|one| Some(one.rounds.get(number)?.0));
            let frees: Vec<f64> = frees.collect();
            (summary::percentile(&frees, 0.5).unwrap_or(*free), *held)
        };
        Held { rounds: bit.rounds.iter().enumerate().map(round).collect(), ..bit.clone() }
    };
    bits.iter().enumerate().map(of_bit).collect()
}

/// Returns a single volume where the link cannot hide others.
fn one_volume(bits: &[Held], link_mb_s: f64) -> Result<Volumes, Refusal> {
    let free: Vec<f64> =
        bits.iter().flat_map(|bit| &bit.rounds).map(|round| round.0 / 1e6).collect();
    let mb_s = summary::percentile(&free, 0.5).unwrap_or(f64::INFINITY);
    match mb_s < LINK_HIDES * link_mb_s {
        true => Ok(Volumes { number: 1, interleave: None }),
        false => refuse(format!(
            "no address bit changes the rate of writes, but at {} the link of {} may be their limit",
            shown(mb_s, Unit::MegabytesPerSecond),
            shown(link_mb_s, Unit::MegabytesPerSecond)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a drive shows whose flash and link have these rates in 10^6 bytes per second, and whose volumes are
    /// told by the bits from `first` on, of 15 to 28.
    fn shown(flash: f64, link: f64, volume_bits: std::ops::Range<u32>) -> Vec<Held> {
        let held = |bit: u32| {
            let left = if volume_bits.contains(&bit) { flash / 2.0 } else { flash };
            let round = (1e6 * flash.min(link), 1e6 * left.min(link));
            let block = if bit > 15 { 65_536 } else { 32_768 };
            Held { bytes: 1 << bit, block, rounds: vec![round; 2] }
        };
        (15..28).map(held).collect()
    }

    #[test]
    fn the_number_is_two_for_each_bit_that_halves_the_rate() {
        for (bits, number) in [(17..17, 1), (17..18, 2), (16..18, 4), (23..26, 8)] {
            let found = find(&shown(600.0, 3_000.0, bits.clone()), 3_000.0);
            let interleave = (number > 1).then_some(1 << bits.start);
            assert_eq!(found, Ok(Volumes { number, interleave }), "{bits:?}");
            assert_eq!(found.unwrap().value(), Value::exact(number as f64));
        }
        // The link limits writes with nothing held, but half of the flash is visibly slower.
        assert_eq!(find(&shown(600.0, 550.0, 17..18), 550.0).unwrap().number, 2);
    }

    #[test]
    fn a_pause_in_writes_with_nothing_held_changes_no_answer() {
        let mut paused = shown(600.0, 3_000.0, 17..18);
        [2, 7].into_iter().for_each(|number| paused[number].rounds[0].0 /= 2.0);
        assert_eq!(find(&paused, 3_000.0).unwrap().number, 2);
    }

    #[test]
    fn a_link_that_hides_the_flash_is_refused() {
        let hidden = find(&shown(3_000.0, 550.0, 17..18), 550.0).unwrap_err();
        assert!(hidden.0.contains("may be their limit"), "{hidden:?}");
        assert!(find(&shown(550.0, 550.0, 17..17), 550.0).is_err());
        let partly = find(&shown(750.0, 550.0, 17..18), 550.0).unwrap_err();
        assert!(partly.0.contains("neither as long nor twice"), "{partly:?}");
    }

    #[test]
    fn bits_that_are_not_adjacent_or_may_go_on_are_refused() {
        let mut apart = shown(600.0, 3_000.0, 17..18);
        apart[5] = shown(600.0, 3_000.0, 20..21)[5].clone();
        assert!(find(&apart, 3_000.0).unwrap_err().0.contains("not adjacent"));
        for bits in [15..17, 26..28] {
            let reason = find(&shown(600.0, 3_000.0, bits), 3_000.0).unwrap_err();
            assert!(reason.0.contains("go on beyond"), "{reason:?}");
        }
    }

    #[test]
    fn rounds_that_differ_and_few_rounds_are_refused() {
        let mut uneven = shown(600.0, 3_000.0, 17..18);
        uneven[2].rounds[1].1 *= 2.0;
        assert!(find(&uneven, 3_000.0).is_err());
        let mut few = shown(600.0, 3_000.0, 17..18);
        few[3].rounds.truncate(1);
        assert!(find(&few, 3_000.0).unwrap_err().0.contains("too few"));
        assert!(find(&[], 3_000.0).is_err());
    }
}
