//! The steady-state rule of the SNIA on drives whose steady state is known.

use crate::support::{Seen, bytes, random_profile_of, stream, workload};
use ssdgauge_core::statistics::steady::{self, RANGE, WINDOW};
use ssdgauge_core::{Access, Bytes, Direction, Nanos, Preparation, Random, Rig};
use ssdgauge_sim::VirtualRig;

/// Seconds in which a drive is overwritten once, about: rounds are whole seconds.
const SECONDS: f64 = 50.0;
/// How often a drive is overwritten: far longer than it takes to forget how it was filled.
const PASSES: u64 = 6;

/// Opens random drive number `seed`, slowed down so that a second is a small part of a pass.
fn slow_drive(seed: u64) -> VirtualRig {
    let text = random_profile_of(seed, 64, 100);
    let plain = VirtualRig::from_toml("random", &text, "", seed).unwrap();
    let nand = plain.profile().nand.clone();
    let rate = f64::from(nand.dies * nand.program_kib) * 1_024.0 / nand.t_prog_us;
    // Each page is written about three times when the drive is steady.
    let factor = SECONDS * 1e6 * rate / (3.0 * plain.drive().capacity.0 as f64);
    let query = format!(
        "nand.t_prog_us={}&nand.t_r_us={}&nand.t_bers_us={}",
        (nand.t_prog_us * factor).min(1e5),
        (nand.t_r_us * factor).min(1e4),
        (nand.t_bers_us * factor).min(1e5)
    );
    VirtualRig::from_toml("random", &text, &query, seed).unwrap()
}

/// Returns the writes of each second, from two sequential passes on.
fn series(rig: &mut VirtualRig) -> Vec<f64> {
    let span = rig.drive().capacity;
    let fill = Preparation::Fill {
        access: Access::Sequential,
        block_size: Bytes(131_072),
        offset: Bytes(0),
        span,
    };
    for _ in 0..2 {
        rig.prepare(&fill, &mut Seen::brief()).unwrap();
    }
    let mut seen = Seen::default();
    let load = workload(stream(Access::Random, 4_096, 0, 32, span));
    rig.run(&load, &bytes(PASSES * span.0), &mut seen).unwrap();
    let full = seen.intervals.iter().filter(|i| i.length == Nanos::SECOND);
    full.filter(|i| i.direction == Direction::Write).map(|i| i.ios as f64).collect()
}

/// Returns the rounds of a drive and what they come to when it is steady.
fn rounds(rig: &mut VirtualRig, seed: u64) -> (Vec<f64>, f64) {
    let writes = series(rig);
    let last = &writes[writes.len() * 3 / 4..];
    let truth = last.iter().sum::<f64>() / last.len() as f64;
    let pass = rig.drive().capacity.0 as f64 / 4_096.0 / truth;
    // From a minute of writes alone on a small drive to the 56 minutes of a round of all mixes.
    // Much shorter rounds are no rounds of the rule: five of them would end within the spare area
    // of a drive, and of rounds of 3 to 30 % of a pass 14 in 1,000 windows come too early.
    let share = 0.05 * 10.0f64.powf(Random::new(seed, 0x57ead).unit());
    let length = ((pass * share) as usize).max(1);
    let each = writes.chunks_exact(length).map(|round| round.iter().sum::<f64>());
    (each.collect(), truth * length as f64)
}

/// A window is called steady too early where its mean is further from the truth than the rule lets
/// the values of a window be from each other, and missed where no window is called steady at all. A
/// single window of a steady drive may still be called unsteady: a test then goes on for a round.
#[test]
fn at_most_one_random_drive_in_a_hundred_is_judged_wrong() {
    let drives = if std::env::var_os("SSDGAUGE_LONG").is_some() { 10_000 } else { 1_000 };
    let (mut early, mut missed, mut windows) = (Vec::new(), Vec::new(), 0);
    for seed in 0..drives {
        let (rounds, truth) = rounds(&mut slow_drive(seed), seed);
        match steady::find(&rounds).map(|(_, verdict)| verdict.mean / truth - 1.0) {
            Some(off) if off.abs() > RANGE => early.push(seed),
            Some(_) => {}
            None => missed.push(seed),
        }
        let last = steady::judge(&rounds[rounds.len() - WINDOW..]).unwrap();
        windows += usize::from(!last.steady);
    }
    println!(
        "of {drives}: too early {}, missed {}, last windows called unsteady {windows}",
        early.len(),
        missed.len()
    );
    let wrong = early.len() + missed.len();
    assert!(wrong * 100 <= drives as usize, "too early: {early:?}; missed: {missed:?}");
    assert!(windows * 20 <= drives as usize, "{windows} last windows called unsteady");
}
