//! The readings of a step or of a second: the sums of a few, or a place in the series of all seconds.

use crate::units::packed::{Packer, Unpacker};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Sum and number of the readings of a quantity.
type Sum = (f64, u64);

/// Sum and number of the readings of each quantity.
#[derive(Clone, Debug, Default)]
pub(crate) enum Readings {
    /// None.
    #[default]
    None,
    /// The sums themselves, in a box so that the seconds of a step have half of the size.
    #[expect(clippy::box_collection, reason = "a map is three words, a second has two for it")]
    Sums(Box<BTreeMap<String, Sum>>),
    /// The readings of one second. All seconds of a step share one series, because a table of names
    /// for each of them takes hundreds of bytes.
    Second(Arc<ReadingSeries>, u32),
}

/// The readings of all seconds of a step, by quantity.
#[derive(Debug, Default)]
pub(crate) struct ReadingSeries {
    quantities: BTreeMap<String, Vec<OfSecond>>,
}

/// The sum of the readings of a quantity in one second.
#[derive(Clone, Copy, Debug)]
struct OfSecond {
    second: u32,
    n: u32,
    sum: f64,
}

/// The readings of one quantity in all seconds, in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfQuantity<'a>(&'a [OfSecond]);

/// The memory of a quantity in addition to its readings: its name, and its places in two maps. Rounded up.
const OF_QUANTITY: usize = 512;

impl Readings {
    /// Adds `value`, a reading of `quantity`.
    pub(crate) fn add(&mut self, quantity: &str, value: f64) {
        if !matches!(self, Readings::Sums(_)) {
            *self = Readings::Sums(Box::new(self.to_sums()));
        }
        let Readings::Sums(sums) = self else { unreachable!("the readings were made sums above") };
        // Not `entry`, which would allocate the key for every reading.
        if let Some((sum, n)) = sums.get_mut(quantity) {
            *sum += value;
            *n += 1;
        } else {
            sums.insert(quantity.to_owned(), (value, 1));
        }
    }

    /// Sets the mean of `quantity`; `None` removes it.
    pub(crate) fn set_mean(&mut self, quantity: &str, mean: Option<f64>) {
        if let Readings::Sums(sums) = self {
            match (sums.get_mut(quantity), mean) {
                (Some(sum), Some(mean)) => *sum = (mean, 1),
                (Some(_), None) => {
                    sums.remove(quantity);
                }
                (None, _) => {}
            }
        }
    }

    /// Returns the mean of all readings of `quantity`.
    pub(crate) fn mean(&self, quantity: &str) -> Option<f64> {
        let (sum, n) = match self {
            Readings::None => None,
            Readings::Sums(sums) => sums.get(quantity).copied(),
            Readings::Second(series, second) => series.of_second(quantity, *second),
        }?;
        Some(sum / n as f64)
    }

    /// Returns sum and number of the readings of each quantity.
    pub(crate) fn to_sums(&self) -> BTreeMap<String, Sum> {
        match self {
            Readings::None => BTreeMap::new(),
            Readings::Sums(sums) => (**sums).clone(),
            Readings::Second(series, second) => {
                let of = |quantity: &String| {
                    let (sum, n) = series.of_second(quantity, *second)?;
                    // A second counts as one reading: its mean.
                    Some((quantity.clone(), (sum / n as f64, 1)))
                };
                series.quantities.keys().filter_map(of).collect()
            }
        }
    }
}

impl PartialEq for Readings {
    fn eq(&self, other: &Self) -> bool {
        self.to_sums() == other.to_sums()
    }
}

impl ReadingSeries {
    /// Adds `value`, a reading of `quantity` in `second`. Returns the bytes of memory that it takes.
    pub(crate) fn add(&mut self, quantity: &str, second: u32, value: f64) -> usize {
        let new = OfSecond { second, n: 1, sum: value };
        let Some(seconds) = self.quantities.get_mut(quantity) else {
            self.quantities.insert(quantity.to_owned(), vec![new]);
            return OF_QUANTITY + 2 * quantity.len() + size_of::<OfSecond>();
        };
        match seconds.last_mut() {
            Some(last) if last.second == second && last.n < u32::MAX => {
                last.sum += value;
                last.n += 1;
                0
            }
            Some(_) | None => {
                seconds.push(new);
                size_of::<OfSecond>()
            }
        }
    }

    /// Puts the readings into the order of their seconds: those of several instruments, and of a file
    /// of a stranger, come in any order.
    pub(crate) fn sort(&mut self) {
        for seconds in self.quantities.values_mut() {
            seconds.sort_by_key(|one| one.second);
            seconds.dedup_by(|next, kept| {
                let is_same = next.second == kept.second;
                if is_same {
                    kept.sum += next.sum;
                    kept.n = kept.n.saturating_add(next.n);
                }
                is_same
            });
            seconds.shrink_to_fit();
        }
    }

    pub(crate) fn pack(&self, packer: &mut Packer) {
        packer.number(self.quantities.len() as u64);
        for (quantity, seconds) in &self.quantities {
            packer.bytes(quantity.as_bytes());
            packer.number(seconds.len() as u64);
            let (mut next, mut last) = (0, 0);
            for OfSecond { second, n, sum } in seconds {
                packer.number(u64::from(*second) - next);
                packer.number(u64::from(*n));
                // Bits that changed, the first ones of the fraction lowest: a reading that is equal to the
                // one before it, or a round number, takes few bytes.
                packer.number((sum.to_bits() ^ last).reverse_bits());
                (next, last) = (u64::from(*second) + 1, sum.to_bits());
            }
        }
    }

    /// Returns the series that `unpacker` holds, and its memory in bytes.
    pub(crate) fn unpack(unpacker: &mut Unpacker<'_>) -> Option<(ReadingSeries, usize)> {
        let (mut series, mut size) = (ReadingSeries::default(), 0);
        for _ in 0..unpacker.count()? {
            let quantity = unpacker.text()?.to_owned();
            let n = unpacker.count()?;
            size += OF_QUANTITY + 2 * quantity.len() + n * size_of::<OfSecond>();
            let mut seconds = Vec::with_capacity(n);
            let (mut next, mut bits) = (0, 0);
            for _ in 0..n {
                let second = unpacker.at_most(u64::from(u32::MAX))?.checked_add(next)?;
                let n = u32::try_from(unpacker.number()?).ok().filter(|n| *n > 0)?;
                bits ^= unpacker.number()?.reverse_bits();
                let sum = Some(f64::from_bits(bits)).filter(|sum| sum.is_finite())?;
                seconds.push(OfSecond { second: u32::try_from(second).ok()?, n, sum });
                next = second + 1;
            }
            series.quantities.insert(quantity, seconds);
        }
        Some((series, size))
    }

    /// Returns the quantities.
    pub(crate) fn quantities(&self) -> impl Iterator<Item = &str> {
        self.quantities.keys().map(String::as_str)
    }

    /// Returns the mean of the readings of `quantity` in each second that has any.
    pub(crate) fn means(&self, quantity: &str) -> Vec<(u32, f64)> {
        let seconds = self.quantities.get(quantity).into_iter().flatten();
        seconds.map(|one| (one.second, one.sum / f64::from(one.n))).collect()
    }

    /// Returns the readings of `quantity` in `second`.
    pub(crate) fn of_second(&self, quantity: &str, second: u32) -> Option<Sum> {
        self.of(quantity).in_second(second)
    }

    /// Returns the readings of `quantity`.
    pub(crate) fn of(&self, quantity: &str) -> OfQuantity<'_> {
        OfQuantity(self.quantities.get(quantity).map_or(&[], Vec::as_slice))
    }
}

impl OfQuantity<'_> {
    /// Returns the readings in `second`.
    pub(crate) fn in_second(self, second: u32) -> Option<Sum> {
        // Most quantities are read in every second.
        let one = match self.0.get(second as usize) {
            Some(one) if one.second == second => one,
            Some(_) | None => {
                let place = self.0.binary_search_by_key(&second, |one| one.second).ok()?;
                &self.0[place]
            }
        };
        Some((one.sum, u64::from(one.n)))
    }
}
