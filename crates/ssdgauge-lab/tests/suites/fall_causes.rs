//! The causes of falls of the write speed, against what happened within random virtual drives.
//!
//! A drive is drawn by its mechanisms: a cache (none, fixed, borrowed, both), heat, spare area, and how
//! it is brought to its state. The truth of a fall is an event within the drive in the seconds around
//! it, by the readings of its instruments, which the analysis does not use but for `throttled`:
//!
//! - heat: throttling begins;
//! - cache: the cache in use stops to grow;
//! - give-back: the cache in use begins to shrink while the host writes, or the first page is collected,
//!   on a drive whose cache has borrowed blocks;
//! - spare area: none of these, or one of the give-back, on a drive that has data in every block and that
//!   copies pages in the step.
//!
//! Where two events are within the same seconds, both are true. A fall without any event has no true
//! cause, and every name for it is wrong. Falls of the sequential writes count, which are those that
//! reports have words for; of random writes only wrong names do.

mod odd;

use crate::suites::support::carried_out;
use ssdgauge_analysis::{FallCause, PointRun, Run};
use ssdgauge_core::{Direction, Nanos, Random, Rig};
use ssdgauge_lab::{Options, Suite, plan};
use ssdgauge_sim::VirtualRig;
use std::collections::BTreeMap;

/// The seconds before and after a fall in which its event is looked for.
const NEAR: (usize, usize) = (3, 2);

/// A random drive with the run that is made on it.
struct Drawn {
    profile: String,
    suite: String,
    has_cache: bool,
    /// Whether a step may find no free block that it can take without copies.
    may_collect: Vec<bool>,
}

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.unit()
}

fn draw(seed: u64) -> Drawn {
    let mut random = Random::new(seed, 0xca05e);
    let bits = 2 + random.below(3);
    let dies = [4, 8, 16][random.below(3) as usize];
    let over_provisioning = between(&mut random, 0.06, 0.3);
    let blocks = 160 + random.below(100);
    let program_kib = 16 * bits;
    // Whole rows of all dies, in SLC mode too.
    let rows = 192 / dies * (1 + random.below(4));
    let block_mib = (rows * program_kib) as f64 / 1_024.0;
    let raw = blocks as f64 * dies as f64 * block_mib / 1_024.0;
    let capacity = raw * 1.073_741_824 / (1.0 + over_provisioning) * 0.96;
    // The whole drive is written in one to four minutes without its cache.
    let seconds = between(&mut random, 50.0, 240.0);
    // A program operation takes at most 30 ms.
    let native = (capacity * 1e3 / seconds).max((dies * program_kib) as f64 * 1_024.0 / 30_000.0);
    let t_prog = dies as f64 * program_kib as f64 * 1_024.0 / native;
    let faster = between(&mut random, 1.6, 5.0);
    let slc_t_prog = t_prog / bits as f64 / faster;
    let link = native * between(&mut random, 0.8, 8.0);
    // The cache, as shares of what the whole flash could hold with one bit a cell.
    let most = raw * 1.073_741_824 / bits as f64;
    let kind = random.below(4);
    let fixed = if kind == 1 || kind == 3 { most * between(&mut random, 0.02, 0.25) } else { 0.0 };
    let dynamic = if kind >= 2 { most * between(&mut random, 0.1, 0.8) } else { 0.0 };
    let overflow = ["direct", "fold-first"][random.below(2) as usize];
    let fold = native * between(&mut random, 0.2, 0.9);
    let fold_under_load =
        if random.below(3) == 0 { fold * between(&mut random, 0.0, 0.5) } else { 0.0 };
    let policy = ["greedy", "fifo", "cost-benefit"][random.below(3) as usize];
    let idle_blocks = [0, 8, 24][random.below(3) as usize];
    // Heat: the drive reaches its limit within the run, or never. Without load it is at 47 °C.
    let is_hot = random.below(3) == 0;
    let (throttle, factor) = match is_hot {
        true => (between(&mut random, 54.0, 80.0), between(&mut random, 0.3, 0.75)),
        false => (500.0, 0.6),
    };
    let heat_capacity = between(&mut random, 1.0, 20.0);
    // Each program operation takes the power of a die while it writes.
    let energy = between(&mut random, 100.0, 400.0) * t_prog;
    let resume = throttle - between(&mut random, 1.0, 6.0);
    let profile = format!(
        "inherits = 'tlc-client'\n[drive]\nclass = 'random-{seed}'\ncapacity_gb = {capacity:.6}\n\
         raw_gib = {raw:.6}\n[nand]\nchannels = 4\ndies = {dies}\nplanes = 1\nbits = {bits}\n\
         program_kib = {program_kib}\nblock_mib = {block_mib:.6}\nt_prog_us = {t_prog:.3}\n\
         [slc]\nfixed_gb = {fixed:.6}\ndynamic_gb = {dynamic:.6}\nt_prog_us = {slc_t_prog:.3}\n\
         fold_mb_s = {fold:.3}\nfold_under_load_mb_s = {fold_under_load:.3}\noverflow = '{overflow}'\n\
         [front]\nlink_mb_s = {link:.3}\nbuffer_kib = {}\n\
         [gc]\npolicy = '{policy}'\nreserve_superblocks = 3\nidle_superblocks = {idle_blocks}\n\
         [power]\nprogram_nj = {energy:.3}\nslc_program_nj = {:.3}\n\
         [thermal]\nc_j_per_c = {heat_capacity:.3}\nthrottle_c = {throttle:.3}\n\
         resume_c = {resume:.3}\nfactor = {factor:.3}\n",
        program_kib * dies * 4,
        energy / bits as f64 / faster,
    );
    let (suite, may_collect) = protocol(&mut random, capacity);
    Drawn { profile, suite, has_cache: kind > 0, may_collect }
}

/// Returns a suite for a drive of `capacity` GB, and for each of its tests whether the drive may have to
/// collect.
fn protocol(random: &mut Random, capacity: f64) -> (String, Vec<bool>) {
    let purge = "{ purge = true }";
    let whole =
        "{ purge = true }, { fill = \"sequential\", span = \"100%\", block_size = \"1MiB\" }";
    let rest = |is_rested: bool| if is_rested { "settle = \"2min\"\n" } else { "" };
    let test = |id: &str, prepare: &str, settle: &str, access: &str, until: &str| {
        let prepare = match prepare {
            "" => String::new(),
            steps => format!("prepare = [{steps}]\n"),
        };
        format!(
            "[[test]]\nid = \"{id}\"\nrevision = 1\ntitle = \"{id}\"\nsource = \"ssdgauge\"\n{prepare}{settle}\
             stream = {{ access = \"{access}\", block_size = \"128KiB\", read_percent = 0, \
             queue_depth = 8, span = \"100%\" }}\nuntil = {until}\n\
             score = {{ mean_of = \"throughput_mb_s\" }}\nfigures = [\"ranking\"]\n"
        )
    };
    // As shares of the capacity.
    let part_of = |random: &mut Random, low: f64, high: f64| {
        format!("{{ bytes = \"{:.0}MB\" }}", capacity * 1e3 * between(random, low, high))
    };
    let (tests, may_collect) = match random.below(5) {
        // A fill of an empty drive.
        0 | 1 => {
            let is_rested = random.below(2) == 0;
            (test("fill", purge, rest(is_rested), "sequential", "{ passes = 1 }"), vec![false])
        }
        // A part is filled before.
        2 => {
            let part = format!(
                "{purge}, {{ fill = \"sequential\", span = \"{}%\", block_size = \"1MiB\" }}",
                10 + random.below(60)
            );
            let is_rested = random.below(4) > 0;
            let until = part_of(random, 0.1, 0.3);
            (test("part", &part, rest(is_rested), "sequential", &until), vec![false])
        }
        // Spare area is used by random writes, without a rest or with one.
        3 => {
            let scatter = part_of(random, 0.02, 0.5);
            let is_rested = random.below(4) == 0;
            let until = part_of(random, 0.3, 0.9);
            let first = test("scatter", whole, rest(true), "random", &scatter);
            let second = test("write", "", rest(is_rested), "sequential", &until);
            (first + &second, vec![true, true])
        }
        // The same, after a fill that shows the cache.
        _ => {
            let scatter = part_of(random, 0.02, 0.5);
            let until = part_of(random, 0.3, 0.9);
            let first = test("fill", purge, rest(true), "sequential", "{ passes = 1 }");
            let second = test("scatter", "", rest(false), "random", &scatter);
            let third = test("write", "", rest(true), "sequential", &until);
            (first + &second + &third, vec![false, true, true])
        }
    };
    let head =
        "[suite]\nid = \"causes\"\nrevision = 1\ntitle = \"Causes\"\nsource = \"ssdgauge\"\n";
    (format!("{head}{tests}"), may_collect)
}

fn run(seed: u64, drawn: &Drawn) -> Run {
    let mut rig = VirtualRig::from_toml("random", &drawn.profile, "", seed)
        .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", drawn.profile));
    let suite = Suite::parse("causes.toml", &drawn.suite)
        .unwrap_or_else(|error| panic!("seed {seed}: {error:?}\n{}", drawn.suite));
    let plan = plan(&suite, rig.drive(), &Options { seed, ..Options::default() }).unwrap();
    carried_out(&plan, &mut rig)
}

/// Returns the causes that are true for a fall after so many `bytes` of the step `point`; empty where
/// nothing happened within the drive.
fn truth(point: &PointRun, bytes: u64, has_cache: bool, may_collect: bool) -> Vec<FallCause> {
    let full = point.point.seconds.iter().filter(|(_, totals)| totals.elapsed == Nanos::SECOND);
    let mut seconds: Vec<(f64, bool, f64)> = full
        .map(|(_, totals)| {
            let reading = |quantity| totals.reading(quantity).unwrap_or(0.0);
            let written = totals.directions[Direction::Write as usize].bytes as f64;
            (written, reading("throttled") > 0.0, reading("slc_occupancy_bytes"))
        })
        .collect();
    // A reading at the end of a second counts in the next one.
    for second in 1..seconds.len() {
        seconds[second - 1].2 = seconds[second].2;
    }
    let mut written = 0.0;
    let at = seconds.iter().take_while(|second| {
        written += second.0;
        written <= bytes as f64
    });
    let at = at.count();
    let near = at.saturating_sub(NEAR.0)..(at + NEAR.1).min(seconds.len());
    let mut causes = Vec::new();
    let begins = |second: usize| seconds[second].1 && (second == 0 || !seconds[second - 1].1);
    if near.clone().any(begins) {
        causes.push(FallCause::Heat);
    }
    // How much of what the host writes stays in the cache, over a few seconds to either side.
    let grows = |from: usize, to: usize| {
        let to = to.min(seconds.len() - 1);
        let bytes: f64 = seconds[from + 1..=to].iter().map(|second| second.0).sum();
        if bytes > 0.0 { (seconds[to].2 - seconds[from].2) / bytes } else { 0.0 }
    };
    let last = seconds.len() - 1;
    if has_cache {
        // The cache of an empty drive is empty at the start of the step.
        let before = match at {
            0..=3 => {
                seconds[at.saturating_sub(1)].2 / seconds[..at].iter().map(|one| one.0).sum::<f64>()
            }
            _ => grows(at.saturating_sub(8), at - 2),
        };
        let after = grows((at + 1).min(last), at + 8);
        if before > 0.2 && after < 0.5 * before {
            causes.push(FallCause::Cache);
        }
        let drops = near.clone().any(|second| seconds[second].2 < 0.97 * seconds[near.start].2);
        if drops || (after < -0.03 && after < before - 0.03) {
            causes.push(FallCause::GiveBack);
        }
    }
    let cliff = point.point.totals.reading("write_cliff_bytes").is_some_and(|cliff| {
        let so_far = |second: usize| seconds[..second].iter().map(|one| one.0).sum::<f64>();
        (so_far(near.start)..=so_far(near.end)).contains(&cliff)
    });
    if cliff && has_cache && !causes.contains(&FallCause::GiveBack) {
        causes.push(FallCause::GiveBack);
    }
    // What was copied in the step, by the counters of the drive: without copies nothing was collected.
    let copies = point.point.totals.reading("collection_amplification");
    let may_collect = may_collect && copies.is_some_and(|copies| copies > 1.01);
    if may_collect && (causes.is_empty() || causes.contains(&FallCause::GiveBack)) {
        causes.push(FallCause::SpareArea);
    }
    causes
}

/// How the causes of many drives were named.
#[derive(Default, Debug)]
struct Tally {
    /// The falls of sequential writes.
    falls: usize,
    /// Those of them whose cause is named.
    named: usize,
    /// The named falls of random writes.
    random: usize,
    wrong: Vec<String>,
    truths: BTreeMap<String, usize>,
    unnamed: Vec<String>,
}

fn tally(seeds: std::ops::Range<u64>) -> Tally {
    let one = |seed: u64| {
        let drawn = draw(seed);
        let run = run(seed, &drawn);
        let mut lines = Vec::new();
        for (test, may_collect) in run.tests.iter().zip(&drawn.may_collect) {
            for point in &test.points {
                for (number, fall) in point.falls.iter().enumerate() {
                    let truth = truth(point, fall.edge.bytes, drawn.has_cache, *may_collect);
                    let words = format!(
                        "seed {seed} {} fall {number} at {} of {}: {} MB/s to {}: {:?}, true {truth:?}",
                        test.test.id,
                        fall.edge.bytes / 1_000_000,
                        run.head.drive.capacity.0 / 1_000_000,
                        (fall.edge.before / 1e6) as u64,
                        (fall.edge.after / 1e6) as u64,
                        fall.cause
                    );
                    lines.push((words, fall.cause, truth, test.test.id != "scatter"));
                }
            }
        }
        lines
    };
    let mut tally = Tally::default();
    for (words, cause, truth, in_order) in seeds.flat_map(one) {
        if cause != FallCause::Unknown && !truth.contains(&cause) {
            tally.wrong.push(words.clone());
        }
        if !in_order {
            tally.random += usize::from(cause != FallCause::Unknown);
            continue;
        }
        tally.falls += 1;
        *tally.truths.entry(format!("{truth:?}")).or_default() += 1;
        if cause == FallCause::Unknown {
            tally.unnamed.push(words);
        } else {
            tally.named += 1;
        }
    }
    tally
}

/// 30 drives, and 200 with `SSDGAUGE_LONG`; `SSDGAUGE_SEED` is the first one.
#[test]
fn the_causes_of_falls_on_random_drives_are_named_and_right() {
    let drives = if std::env::var_os("SSDGAUGE_LONG").is_some() { 200 } else { 30 };
    let first =
        std::env::var_os("SSDGAUGE_SEED").and_then(|seed| seed.to_str()?.parse().ok()).unwrap_or(1);
    let tally = tally(first..first + drives);
    let Tally { falls, named, random, wrong, truths, unnamed } = &tally;
    println!(
        "seeds {first} to {}: {falls} falls, {named} named, {} wrong ({random} named of random \
         writes), {truths:?}",
        first + drives - 1,
        wrong.len()
    );
    println!("wrong: {wrong:#?}\nnot named: {unnamed:#?}");
    assert!(wrong.len() * 50 <= *falls, "{} of {falls} wrong", wrong.len());
    assert!(named * 100 >= falls * 85, "{named} of {falls} named");
    // Each mechanism is among them.
    assert!(*falls >= drives as usize / 2, "{falls}");
    for cause in [FallCause::Cache, FallCause::Heat, FallCause::GiveBack, FallCause::SpareArea] {
        assert!(truths.contains_key(&format!("{:?}", vec![cause])), "{cause:?}: {truths:?}");
    }
}

/// Returns the run of a fill of a drive like `tlc-client` without a cache, with `figures` in place of its
/// own.
fn without_cache(figures: &str) -> Run {
    let profile = format!(
        "inherits = 'tiny'\n[drive]\nclass = 'own'\ncapacity_gb = 4.0\nraw_gib = 4.2\n\
         [nand]\nblock_mib = 1.5\nt_prog_us = 2000\n[slc]\nfixed_gb = 0\ndynamic_gb = 0\n{figures}"
    );
    let suite = "[suite]\nid = \"fill\"\nrevision = 1\ntitle = \"Fill\"\nsource = \"ssdgauge\"\n\
                 [[test]]\nid = \"fill\"\nrevision = 1\ntitle = \"Fill\"\nsource = \"ssdgauge\"\n\
                 prepare = [{ purge = true }]\nstream = { access = \"sequential\", \
                 block_size = \"128KiB\", read_percent = 0, queue_depth = 8, span = \"100%\" }\n\
                 until = { passes = 1 }\nscore = { mean_of = \"throughput_mb_s\" }\n\
                 figures = [\"ranking\", \"timeline\"]\n";
    run(1, &Drawn { profile, suite: suite.into(), has_cache: false, may_collect: vec![false] })
}

#[test]
fn no_surface_says_cache_for_a_drive_without_one_that_is_throttled() {
    let hot = "[power]\nprogram_nj = 3000000\n[thermal]\nc_j_per_c = 6\nthrottle_c = 60\n\
               resume_c = 55\nfactor = 0.4\n";
    let runs = [without_cache(hot), without_cache("[thermal]\nthrottle_c = 500\nresume_c = 490\n")];
    let [fall] = runs[0].tests[0].points[0].falls.as_slice() else {
        panic!("{:?}", runs[0].tests[0].points[0].falls)
    };
    assert_eq!(fall.cause, FallCause::Heat);
    assert_eq!(runs[1].tests[0].points[0].falls, []);
    let json = ssdgauge_export::json(&runs);
    let point = &json["runs"][0]["tests"][0]["points"][0];
    assert_eq!(point["write_speed_falls"][0]["cause"], "heat");
    assert!(point["cache_end"].is_null());
    let page = ssdgauge_page::page(&runs, &ssdgauge_analysis::PageOptions::default());
    assert!(page.contains("when throttled by heat"));
    let words = [page, ssdgauge_export::markdown(&runs), json["runs"][0]["tests"].to_string()];
    for words in words {
        for claim in ["SLC cache of", "cache is full", "cache full", "Fast cache", "end of SLC"] {
            assert!(!words.contains(claim), "{claim}");
        }
    }
}
