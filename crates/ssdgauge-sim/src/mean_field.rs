//! Write amplification in theory: closed formulas, and the mean field of valid pages per superblock.
//!
//! The exact model is validated against it, so the two must never share code.

/// Returns the write amplification of uniform random writes where the flash that can hold data is
/// `a` times the data: the root of `WA = 1 / (1 − p)`, `p = exp(−a (1 − p))`.
///
/// It is a / (a + W(−a e^−a)) with Lambert's W (Xiang and Kurkoski, arXiv 1110.4245; Desnoyers,
/// SYSTOR 2012). `a` must be above 1.
pub fn write_amplification(a: f64) -> f64 {
    debug_assert!(a > 1.0, "flash holds more than the data");
    mixture(&[Class { pages: 1.0, share: 1.0 }], a)
}

/// Returns the write amplification of uniform random writes where superblocks have `pages` pages, and
/// the one with the fewest valid pages is collected; `a` as in [`write_amplification`].
///
/// The mean field of many superblocks (the fixed point of Van Houdt, SIGMETRICS 2013, for greedy
/// collection): a superblock is filled with N valid pages and loses them one by one. Those with j
/// valid pages lose the next one at a rate that is proportional to j, so that, with c for the
/// collections while one page is overwritten once on average, a share c / j of all superblocks has j
/// valid pages. All are collected at m or m + 1 valid pages: a share f of them at m, which leaves a
/// share c f / (m + 1) at m + 1. The shares add up to 1, and collections gain what the host writes:
///
/// 1 / c = f / (m + 1) + Σ 1 / j for j from m + 2 to N, WA = N / (N − m − 1 + f), a = WA / c.
///
/// For large N the sum becomes −ln(1 − 1 / WA), and the result that of [`write_amplification`].
pub fn greedy_write_amplification(a: f64, pages: u32) -> f64 {
    debug_assert!(a > 1.0 && pages > 1, "flash holds more than the data, in whole pages");
    let n = f64::from(pages);
    // The spare area rises as the victims have fewer valid pages: the first m at which a drive with
    // f = 1 has at least `a` is the one.
    let mut sum = 0.0;
    for m in (0..pages).rev() {
        let next = f64::from(m + 1);
        let whole = n / (n - f64::from(m)) * (sum + 1.0 / next);
        if whole < a {
            sum += 1.0 / next;
            continue;
        }
        // a (N − m − 1 + f) = N (sum + f / (m + 1)) is linear in f.
        let f = (n * sum - a * (n - next)) / (a - n / next);
        return n / (n - next + f);
    }
    1.0
}

/// A class of pages that are written at one rate, such as hot data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Its pages, in any unit.
    pub pages: f64,
    /// Its share of the writes; all shares add up to 1.
    pub share: f64,
}

/// Returns the write amplification of independent writes to `classes` on a log of `total` pages
/// that is collected in FIFO order: the root of `WA = Σ r / (1 − exp(−T r / (U WA)))`.
///
/// A page is written again at its next overwrite or after one pass through the log, whichever is
/// first. With one class it is the formula of [`write_amplification`].
pub fn mixture(classes: &[Class], total: f64) -> f64 {
    let image = |wa: f64| -> f64 {
        classes.iter().map(|c| c.share / -(-total * c.share / (c.pages * wa)).exp_m1()).sum()
    };
    // The image minus the argument falls through 0 once; bisection finds the root to the last bit.
    let (mut low, mut high) = (1.0, 1e6);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if image(middle) > middle { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// A drive under uniform random writes, reduced to the valid pages of each superblock.
#[derive(Clone, Debug)]
pub struct MeanField {
    /// Valid pages of each full superblock.
    valid: Vec<f64>,
    size: f64,
    pages: f64,
    host_pages: f64,
    flash_pages: f64,
}

impl MeanField {
    /// Returns a drive of `superblocks` full superblocks of `size` pages, over which `pages` pages of
    /// data are spread evenly.
    pub fn new(superblocks: usize, size: f64, pages: f64) -> MeanField {
        MeanField {
            valid: vec![pages / superblocks as f64; superblocks],
            size,
            pages,
            host_pages: 0.0,
            flash_pages: 0.0,
        }
    }

    /// Collects the superblock with the fewest valid pages, and rewrites it with these and with host
    /// pages; every other superblock loses its share of the latter.
    pub fn collect(&mut self) {
        let emptiest = (0..self.valid.len())
            .min_by(|a, b| self.valid[*a].total_cmp(&self.valid[*b]))
            .expect("a drive has superblocks");
        let moved = self.valid[emptiest];
        let written = self.size - moved;
        let stays = (-written / self.pages).exp();
        self.valid.iter_mut().for_each(|valid| *valid *= stays);
        // A page that the host writes twice while the superblock fills is stale at once.
        self.valid[emptiest] = moved * stays + self.pages * (1.0 - stays);
        self.host_pages += written;
        self.flash_pages += self.size;
    }

    /// Collects until every superblock was rewritten `times` times on average.
    pub fn settle(&mut self, times: usize) {
        (0..times * self.valid.len()).for_each(|_| self.collect());
    }

    /// Returns the write amplification of `collections` further collections.
    pub fn measure(&mut self, collections: usize) -> f64 {
        (self.host_pages, self.flash_pages) = (0.0, 0.0);
        (0..collections).for_each(|_| self.collect());
        self.flash_pages / self.host_pages
    }

    /// Returns the valid pages of the superblocks in ascending order.
    pub fn populations(&self) -> Vec<f64> {
        let mut sorted = self.valid.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_reproduces_the_published_table() {
        for (a, wa) in [
            (1.05, 10.672),
            (1.07, 7.817),
            (1.0995, 5.702),
            (1.12, 4.846),
            (1.28, 2.481),
            (1.466, 1.786),
            (2.0, 1.255),
        ] {
            let computed = write_amplification(a);
            assert!((computed - wa).abs() < 0.0006 * wa, "{a}: {computed}");
        }
    }

    #[test]
    fn the_greedy_formula_solves_its_equations_and_tends_to_the_formula_for_large_superblocks() {
        for a in [1.05, 1.07, 1.12, 1.28, 1.466, 2.0, 5.0] {
            for pages in [2, 16, 64, 512, 4_096] {
                let wa = greedy_write_amplification(a, pages);
                assert!(wa >= 1.0 && wa < write_amplification(a), "{a} {pages}: {wa}");
                if wa == 1.0 {
                    continue;
                }
                let valid = f64::from(pages) * (1.0 - 1.0 / wa);
                let m = valid as u32;
                let f = f64::from(m + 1) - valid;
                let sum: f64 = (m + 2..=pages).map(|j| 1.0 / f64::from(j)).sum();
                let inverse = wa * (sum + f / f64::from(m + 1));
                assert!((inverse / a - 1.0).abs() < 1e-9, "{a} {pages}: {inverse}");
            }
            let large = greedy_write_amplification(a, 1_000_000);
            assert!((large / write_amplification(a) - 1.0).abs() < 1e-4, "{a}: {large}");
        }
    }

    #[test]
    fn the_fixed_point_of_hot_and_cold_data_equals_reference_values() {
        for (data, a, wa) in [
            (0.2, 1.12, 5.204),
            (0.2, 1.28, 2.820),
            (0.1, 1.12, 5.823),
            (0.1, 1.28, 3.296),
            (0.05, 1.12, 6.696),
            (0.05, 1.28, 3.788),
        ] {
            let hot = Class { pages: data, share: 1.0 - data };
            let cold = Class { pages: 1.0 - data, share: data };
            let computed = mixture(&[hot, cold], a);
            assert!((computed - wa).abs() < 0.001 * wa, "{data} {a}: {computed}");
        }
    }

    #[test]
    fn the_mean_field_converges_to_the_formula() {
        for a in [1.07, 1.12, 1.28, 1.5] {
            let mut field = MeanField::new(1_000, 1_000.0, 1_000_000.0 / a);
            field.settle(6);
            let (measured, formula) = (field.measure(2_000), write_amplification(a));
            assert!((measured / formula - 1.0).abs() < 0.006, "{a}: {measured} {formula}");
        }
    }
}
