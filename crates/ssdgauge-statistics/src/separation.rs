//! Hot and cold data: what a drive that keeps them apart gains, by its write amplification.
//!
//! In the formulas, data has the size 1, and the flash that can hold data the size `a`.

use serde::{Deserialize, Serialize};

/// The part of the write amplification of uniform writes below which a drive separates: it is less with hot
/// data, although one that mixes all writes has more. Chosen: models differ by some per cent from the
/// closed forms.
const CLEARLY_LESS: f64 = 0.95;

/// A share of the requests, and the share of the blocks that they address.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    /// The share of the requests, above 0 and at most 1.
    pub accesses: f64,
    /// The share of the blocks, above 0 and at most 1.
    pub space: f64,
}

/// Whether a drive separates hot and cold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Its write amplification is at least 5 % below that of uniform writes.
    Separates,
    /// It is at most 5 % below it.
    InPart,
    /// It is that of uniform writes or more.
    DoesNot,
}

/// A measured write amplification next to those without and with ideal separation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// The measured one, under writes to zones.
    pub measured: f64,
    /// The one under uniform writes.
    pub uniform: f64,
    /// The one of a drive of the same spare area that mixes all writes.
    pub mixed: f64,
    /// The one of a drive that keeps the zones apart and divides its spare area in the best way.
    pub ideal: f64,
}

impl Separation {
    /// Returns how `measured`, the write amplification under writes to `zones`, compares on a drive whose
    /// spare area is `spare` as a share of the data, which uniform writes tell; `None` where
    /// separation gains nothing, or without a spare area.
    pub fn new(zones: &[Zone], spare: f64, measured: f64) -> Option<Separation> {
        if !spare.is_finite() || spare <= 0.0 || !measured.is_finite() || measured < 1.0 {
            return None;
        }
        let whole = [Zone { accesses: 1.0, space: 1.0 }];
        let uniform = mixed(&whole, 1.0 + spare);
        let (mixed, ideal) = (mixed(zones, 1.0 + spare), ideal(zones, 1.0 + spare));
        // `share` divides by this difference: below 1 % its result would be noise.
        let gains = mixed - ideal > 0.01 * mixed;
        gains.then_some(Separation { measured, uniform, mixed, ideal })
    }

    /// Returns the share of the possible gain that the drive has: 0 without separation, 1 for the ideal.
    pub fn share(&self) -> f64 {
        (self.mixed - self.measured) / (self.mixed - self.ideal)
    }

    /// Returns whether the drive separates.
    pub fn class(&self) -> Class {
        match self.measured / self.uniform {
            part if part <= CLEARLY_LESS => Class::Separates,
            part if part < 1.0 => Class::InPart,
            _ => Class::DoesNot,
        }
    }
}

/// Returns the write amplification of writes to `zones` on flash of `a` times the data, all written to one
/// log that is collected in its order: the root of WA = Σ r / (1 − exp(−a r / (s WA))), for zones of the
/// shares r of the writes and s of the data (Desnoyers, "Analytic Models of SSD Write Performance",
/// ACM TOS 2014).
pub fn mixed(zones: &[Zone], a: f64) -> f64 {
    let image = |wa: f64| -> f64 {
        let copied = |zone: &Zone| -(-a * zone.accesses / (zone.space * wa)).exp_m1();
        zones.iter().map(|zone| zone.accesses / copied(zone)).sum()
    };
    // The image minus the argument falls through 0 once.
    root(1.0, 1e6, |wa| image(wa) > wa)
}

/// Returns the write amplification where each zone has flash of its own, divided so that the whole is
/// least: Σ r WA(aᵢ) with Σ s aᵢ = a. In the minimum r / s × dWA / da is equal for all zones.
///
/// With a = −WA ln(1 − 1 / WA), −da / dWA is g = ln(1 − 1 / WA) + 1 / (WA − 1), which falls from ∞ to 0.
pub fn ideal(zones: &[Zone], a: f64) -> f64 {
    let slope = |wa: f64| (-1.0 / wa).ln_1p() + 1.0 / (wa - 1.0);
    let flash = |wa: f64| -wa * (-1.0 / wa).ln_1p();
    // The write amplification of a zone where g is its share of the writes ÷ its share of the data ÷ λ.
    let at = |zone: &Zone, lambda: f64| {
        let wanted = zone.accesses / zone.space / lambda;
        root(1.0, 1e9, |wa| slope(wa) > wanted)
    };
    let whole = |lambda: f64| -> f64 {
        zones.iter().map(|zone| zone.space * flash(at(zone, lambda))).sum()
    };
    // More flash lowers λ; the logarithm covers all of its sizes.
    let lambda = root(-30.0, 60.0, |log| whole(log.exp()) > a).exp();
    zones.iter().map(|zone| zone.accesses * at(zone, lambda)).sum()
}

/// Returns where `is_below` changes from true to false between `low` and `high`, by bisection.
fn root(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    // More halvings than a double has bits: the last ones change nothing.
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if is_below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spare_area;

    fn zones(hot: f64) -> Vec<Zone> {
        vec![Zone { accesses: 1.0 - hot, space: hot }, Zone { accesses: hot, space: 1.0 - hot }]
    }

    #[test]
    fn without_separation_the_fixed_point_has_its_published_values() {
        for (hot, a, wa) in [(0.2, 1.12, 5.204), (0.2, 1.28, 2.820), (0.1, 1.12, 5.823)] {
            assert!((mixed(&zones(hot), a) - wa).abs() < 0.001 * wa, "{hot} {a}");
        }
    }

    #[test]
    fn zones_that_do_not_differ_have_the_amplification_of_uniform_writes() {
        for wa in [1.3, 2.481, 4.846, 7.817] {
            let a = 1.0 + spare_area::from_write_amplification(wa, None).unwrap();
            let alike = [0.3, 0.7].map(|share| Zone { accesses: share, space: share });
            for found in [mixed(&alike, a), ideal(&alike, a)] {
                assert!((found / wa - 1.0).abs() < 1e-6, "{wa}: {found}");
            }
            assert_eq!(Separation::new(&alike, a - 1.0, wa), None);
        }
    }

    /// The minimum sum over all divisions of the flash among two zones, in steps of a 20,000th.
    #[test]
    fn the_ideal_is_the_minimum_over_all_divisions_of_the_flash() {
        let of = |a: f64| root(1.0, 1e6, |wa| -wa * (-1.0 / wa).ln_1p() > a);
        for (hot, a) in [(0.2, 1.12), (0.2, 1.28), (0.1, 1.28), (0.05, 1.5)] {
            let both = zones(hot);
            let divided = |step: u32| {
                let of_hot = hot + (a - 1.0) * f64::from(step) / 20_000.0;
                let parts = [of_hot / hot, (a - of_hot) / (1.0 - hot)];
                both[0].accesses * of(parts[0]) + both[1].accesses * of(parts[1])
            };
            let least = (1..20_000).map(divided).fold(f64::INFINITY, f64::min);
            let found = ideal(&both, a);
            assert!((found / least - 1.0).abs() < 1e-5, "{hot} {a}: {found} {least}");
            assert!(found < mixed(&both, a));
        }
    }

    #[test]
    fn the_verdict_compares_with_uniform_writes() {
        let spare = 0.12;
        let (mixed, ideal) = (mixed(&zones(0.2), 1.0 + spare), ideal(&zones(0.2), 1.0 + spare));
        let found = |measured| Separation::new(&zones(0.2), spare, measured).unwrap();
        let uniform = found(mixed).uniform;
        assert!((uniform - 4.846).abs() < 1e-3 && uniform < mixed, "{uniform}");
        assert_eq!((found(mixed).share(), found(ideal).share()), (0.0, 1.0));
        for (measured, verdict) in [
            (mixed, Class::DoesNot),
            (uniform, Class::DoesNot),
            (0.97 * uniform, Class::InPart),
            (0.9 * uniform, Class::Separates),
            (ideal, Class::Separates),
        ] {
            assert_eq!(found(measured).class(), verdict, "{measured}");
        }
        assert_eq!(Separation::new(&zones(0.2), 0.0, 2.0), None);
        assert_eq!(Separation::new(&zones(0.2), spare, 0.5), None);
    }
}
