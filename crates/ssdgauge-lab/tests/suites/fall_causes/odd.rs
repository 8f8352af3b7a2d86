//! The causes of falls on odd drives, against the same drives with one mechanism changed.
//!
//! Nothing within the drive is read: a mechanism is a cause where the fall is elsewhere without it, or has
//! another depth. Each drive writes four times: as it is; without a limit of its temperature; without its
//! cache; with more spare area. Without a cache it does not end and gives nothing back, more spare area
//! moves every end of free space, and the temperature moves nothing but its own falls.

use super::{Drawn, between, run};
use ssdgauge_analysis::{FallCause, Run, SpeedFall};
use ssdgauge_core::Random;

/// What is changed of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    NeverHot,
    NoCache,
    MoreSpare,
}

/// The mechanisms of a drive.
struct Odd {
    name: &'static str,
    gigabytes: f64,
    spare: f64,
    /// MB/s beyond the cache.
    native: f64,
    /// The rate within the cache, in native ones.
    faster: f64,
    /// The cache that is always one, and that of free space, as shares of the capacity.
    fixed: f64,
    dynamic: f64,
    /// Temperature of throttling, what it leaves of the speed, and the kelvin until it ends.
    hot: Option<(f64, f64, f64)>,
    /// Two stages of throttling.
    is_staged: bool,
    heat_capacity: f64,
    effects: String,
    /// The share that is overwritten out of order after a fill of the whole drive; `None` for a fill of an
    /// empty drive.
    scattered: Option<f64>,
    /// Seconds of rest before the step.
    rest: u64,
}

fn draw(seed: u64) -> Odd {
    let mut random = Random::new(seed, 0x0dd);
    let kinds = [
        "no cache",
        "heat",
        "tiny cache",
        "large cache",
        "borrowed cache",
        "both caches",
        "cache and heat",
        "used, no cache",
        "used, rested, cache",
        "noise",
        "staged heat",
        "used and hot",
    ];
    let name = kinds[(seed % kinds.len() as u64) as usize];
    let mut r = |low: f64, high: f64| between(&mut random, low, high);
    let gigabytes = r(0.7, 3.0).exp2() * 1.2;
    let mut odd = Odd {
        name,
        gigabytes,
        spare: r(0.09, 0.28),
        native: gigabytes * 1e3 / r(60.0, 200.0),
        faster: r(1.7, 6.0),
        fixed: 0.0,
        dynamic: 0.0,
        hot: None,
        is_staged: false,
        heat_capacity: r(2.0, 15.0),
        effects: String::new(),
        scattered: None,
        rest: 60,
    };
    let hot = Some((r(52.0, 68.0), r(0.25, 0.7), r(1.0, 12.0)));
    match name {
        "heat" => odd.hot = hot,
        "tiny cache" => odd.fixed = r(0.01, 0.03),
        "large cache" => odd.fixed = r(0.1, 0.18),
        "borrowed cache" => odd.dynamic = r(0.08, 0.25),
        "both caches" => (odd.fixed, odd.dynamic) = (r(0.02, 0.06), r(0.06, 0.2)),
        "cache and heat" => (odd.fixed, odd.hot) = (r(0.04, 0.15), hot),
        "used, no cache" => (odd.scattered, odd.rest) = (Some(r(0.1, 0.6)), 0),
        "used, rested, cache" => {
            (odd.fixed, odd.scattered) = (r(0.03, 0.1), Some(r(0.1, 0.6)));
        }
        "noise" => {
            odd.fixed = r(0.03, 0.12);
            odd.effects = format!(
                "[effects]\nhousekeeping_every_ms = {:.0}\nhousekeeping_us = {:.0}\n\
                 journal_every_mib = {:.0}\njournal_ms = {:.0}\n",
                r(700.0, 6_000.0),
                r(20e3, 100e3),
                odd.native * r(0.5, 5.0),
                r(20.0, 100.0),
            );
        }
        "staged heat" => (odd.hot, odd.is_staged) = (hot, true),
        "used and hot" => {
            (odd.hot, odd.scattered, odd.rest) = (hot, Some(r(0.1, 0.4)), 0);
        }
        _ => {}
    }
    odd
}

impl Odd {
    /// Returns the drive with `change`, and its suite.
    fn drawn(&self, change: Change) -> Drawn {
        let (dies, bits, rows) = (8.0, 3.0, 24.0);
        let program_kib = 16.0 * bits;
        let spare = if change == Change::MoreSpare { self.spare + 0.12 } else { self.spare };
        let block_mib = rows * program_kib / 1_024.0;
        let superblock = dies * block_mib * 1_048_576.0 / 1e9;
        let blocks = (self.gigabytes * (1.0 + spare) / superblock).ceil() + 8.0;
        let raw_gib = blocks * dies * block_mib / 1_024.0;
        let t_prog = dies * program_kib * 1_024.0 / self.native;
        let cache = if change == Change::NoCache { 0.0 } else { 1.0 };
        let [fixed, dynamic] =
            [self.fixed, self.dynamic].map(|share| share * self.gigabytes * cache);
        let (throttle, factor, until) = match (self.hot, change) {
            (Some(hot), Change::None | Change::NoCache | Change::MoreSpare) => hot,
            (Some(_), Change::NeverHot) | (None, _) => (500.0, 0.5, 5.0),
        };
        let staged = match self.is_staged && throttle < 500.0 {
            true => format!(
                "[effects]\nlight_throttle_c = {:.2}\nlight_throttle_factor = {:.2}\n",
                throttle - 3.0,
                factor.sqrt()
            ),
            false => String::new(),
        };
        // Writing at the native rate warms the drive by some 30 K.
        let energy = 250.0 * t_prog;
        let profile = format!(
            "inherits = 'tlc-client'\n[drive]\nclass = 'odd'\ncapacity_gb = {:.6}\nraw_gib = {raw_gib:.6}\n\
             [nand]\nchannels = 4\ndies = {dies}\nplanes = 1\nbits = {bits}\nprogram_kib = {program_kib}\n\
             block_mib = {block_mib:.6}\nt_prog_us = {t_prog:.3}\n[slc]\nfixed_gb = {fixed:.6}\n\
             dynamic_gb = {dynamic:.6}\nt_prog_us = {:.3}\nfold_mb_s = {:.3}\nfold_under_load_mb_s = 0\n\
             overflow = 'direct'\n[front]\nlink_mb_s = {:.3}\nbuffer_kib = {}\n\
             [gc]\nreserve_superblocks = 3\nidle_superblocks = 0\n\
             [power]\nprogram_nj = {energy:.3}\nslc_program_nj = {:.3}\n\
             [thermal]\nc_j_per_c = {:.3}\nthrottle_c = {throttle:.3}\nresume_c = {:.3}\n\
             factor = {factor:.3}\n{}{staged}",
            self.gigabytes,
            t_prog / bits / self.faster,
            self.native * 0.5,
            self.native * 8.0,
            program_kib * dies * 4.0,
            energy / bits / self.faster,
            self.heat_capacity,
            throttle - until,
            self.effects,
        );
        let has_cache = fixed + dynamic > 0.0;
        Drawn { profile, suite: self.suite(), has_cache, may_collect: vec![] }
    }

    fn suite(&self) -> String {
        let (prepare, until) = match self.scattered {
            None => ("{ purge = true }".to_owned(), "{ passes = 1 }".to_owned()),
            Some(share) => (
                format!(
                    "{{ purge = true }}, {{ fill = \"sequential\", span = \"100%\", block_size = \
                     \"1MiB\" }}, {{ precondition = {{ access = \"random\", block_size = \"128KiB\", \
                     read_percent = 0, queue_depth = 8, span = \"100%\" }}, until = {{ bytes = \
                     \"{:.0}MB\" }} }}",
                    share * self.gigabytes * 1e3
                ),
                format!("{{ bytes = \"{:.0}MB\" }}", 0.9 * self.gigabytes * 1e3),
            ),
        };
        let rest = match self.rest {
            0 => String::new(),
            rest => format!("settle = \"{rest}s\"\n"),
        };
        format!(
            "[suite]\nid = \"odd\"\nrevision = 1\ntitle = \"Odd\"\nsource = \"ssdgauge\"\n[[test]]\n\
             id = \"write\"\nrevision = 1\ntitle = \"Write\"\nsource = \"ssdgauge\"\n\
             prepare = [{prepare}]\n{rest}stream = {{ access = \"sequential\", block_size = \
             \"128KiB\", read_percent = 0, queue_depth = 8, span = \"100%\" }}\nuntil = {until}\n\
             score = {{ mean_of = \"throughput_mb_s\" }}\nfigures = [\"ranking\"]\n"
        )
    }
}

fn falls(run: &Run) -> &[SpeedFall] {
    &run.tests[0].points[0].falls
}

/// Returns whether `other` has a fall like `fall`: at its place, and to as large a share.
fn has_it(fall: &SpeedFall, other: &Run) -> bool {
    let left = |fall: &SpeedFall| fall.edge.after / fall.edge.before;
    falls(other).iter().any(|one| {
        let allowed = fall.edge.uncertainty + one.edge.uncertainty + fall.edge.bytes / 20;
        let is_near = one.edge.bytes.abs_diff(fall.edge.bytes) <= allowed;
        is_near && (0.75..1.33).contains(&(left(one) / left(fall)))
    })
}

/// Returns the causes of `fall` by the runs of the changed drives.
fn truth(odd: &Odd, changed: &dyn Fn(Change) -> bool) -> Vec<FallCause> {
    let moves = |change: Change| !changed(change);
    let mut causes = Vec::new();
    if odd.hot.is_some() && moves(Change::NeverHot) {
        causes.push(FallCause::Heat);
    }
    let has_cache = odd.fixed + odd.dynamic > 0.0;
    let by_space = moves(Change::MoreSpare);
    if has_cache && moves(Change::NoCache) && !by_space {
        causes.push(FallCause::Cache);
    }
    if by_space {
        let is_empty = odd.scattered.is_none();
        causes.push(if is_empty { FallCause::GiveBack } else { FallCause::SpareArea });
    }
    causes
}

/// 24 drives, and 72 with `SSDGAUGE_LONG`; `SSDGAUGE_SEED` is the first one.
#[test]
fn the_causes_of_falls_on_odd_drives_are_those_without_which_they_are_elsewhere() {
    let drives = if std::env::var_os("SSDGAUGE_LONG").is_some() { 72 } else { 24 };
    let first =
        std::env::var_os("SSDGAUGE_SEED").and_then(|seed| seed.to_str()?.parse().ok()).unwrap_or(1);
    let (mut all, mut named, mut wrong) = (0, 0, Vec::new());
    for seed in first..first + drives {
        let odd = draw(seed);
        let of = |change| run(seed, &odd.drawn(change));
        let whole = of(Change::None);
        if falls(&whole).is_empty() {
            println!("seed {seed} {}: no fall", odd.name);
            continue;
        }
        let [cold, bare, more] = [Change::NeverHot, Change::NoCache, Change::MoreSpare].map(of);
        for fall in falls(&whole) {
            let changed = |change: Change| match change {
                Change::None => true,
                Change::NeverHot => has_it(fall, &cold),
                Change::NoCache => has_it(fall, &bare),
                Change::MoreSpare => has_it(fall, &more),
            };
            let truth = truth(&odd, &changed);
            let words = format!(
                "seed {seed} {}: at {} of {:.0} MB, {} to {} MB/s: {:?}, true {truth:?}",
                odd.name,
                fall.edge.bytes / 1_000_000,
                odd.gigabytes * 1e3,
                (fall.edge.before / 1e6) as u64,
                (fall.edge.after / 1e6) as u64,
                fall.cause
            );
            println!("{words}");
            all += 1;
            named += usize::from(fall.cause != FallCause::Unknown);
            if fall.cause != FallCause::Unknown && !truth.contains(&fall.cause) {
                wrong.push(words);
            }
        }
    }
    println!(
        "odd, seeds {first} to {}: {all} falls, {named} named, {} wrong",
        first + drives - 1,
        wrong.len()
    );
    assert!(all >= drives as usize / 2, "{all}");
    assert!(wrong.len() * 50 <= all, "{wrong:#?}");
}
