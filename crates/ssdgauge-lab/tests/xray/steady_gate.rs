//! The blind gate of the structures that need the steady state, on drives of ssdgauge-sim.
//!
//! The truth about the spare area is arithmetic of the figures where a drive has no fast cache, and that of the model
//! under the same writes where it has one. Whether a drive separates hot and cold data is what the same drive does in
//! the long run, without noise and throttling, by the ground truth: it separates where zones 90/10 cost at most 95 % of
//! the flash writes of uniform ones, and does not where they cost as much or more. A structure is identifiable where the
//! drive counts media writes, has no fast cache, and no link hides one; the separation only where the closed forms give
//! it a gain of 15 %.

use super::gate::{Judged, NATIVE, Truth, compare, cool, look, rate, spare, truth, without};
use super::prior;
use ssdgauge_core::{
    Access, Bytes, Data, Direction, Engine, Lane, LaneLimits, Nanos, Preparation, Recording, Rig,
    Stream, TimedLoads, Until, Workload, Zone,
};
use ssdgauge_sim::VirtualRig;
use ssdgauge_statistics::separation::Separation;
use ssdgauge_xray::Structure;

/// Drive writes in the long run: uniform ones and those that are counted, then the same to zones.
const DRIVE_WRITES: [(u64, u64); 2] = [(4, 1), (8, 4)];
/// The hot share of the data, and the requests in flight of both zones.
const HOT: (f64, [u32; 2]) = (0.1, [27, 3]);

/// Looks into the drive of `seed` and judges each answer. Returns the text of its target as well.
pub(crate) fn judge(seed: u64, only: &[Structure], noise: bool) -> (String, Vec<Judged>) {
    let (rig, target) = prior::steady_drive(seed);
    let structures = [Structure::EffectiveSpare, Structure::Separation];
    let wanted: Vec<Structure> =
        structures.into_iter().filter(|one| only.is_empty() || only.contains(one)).collect();
    let answers = look(rig.clone(), seed, &wanted, noise);
    let truths = truths(&rig, &target, seed);
    (target, compare(answers, truths))
}

fn truths(rig: &VirtualRig, target: &str, seed: u64) -> Vec<Truth> {
    let (profile, capacity) = (rig.profile(), rig.drive().capacity);
    let counts = profile.effects.media_counter_kib > 0.0;
    let has_cache = profile.slc.fixed_gb + profile.slc.dynamic_gb > 0.0;
    let link = profile.host_interface.link_mb_s;
    // What a mapping unit programs more than the host wrote is not part of either.
    let target = &without(target, &["effects.map_unit_kib"]);
    let native = rate(&mut cool(target, seed), NATIVE.map(|bytes| bytes as f64));
    let is_open = counts && !has_cache && native <= 0.85 * link;
    let share = match has_cache {
        false => spare(profile, capacity).map(|bytes| bytes / capacity.0 as f64),
        true => over_provisioning(&mut cool(target, seed)),
    };
    let ratio = (!has_cache).then(|| long_run(&mut cool(target, seed)));
    let separates = ratio.and_then(|ratio| match ratio {
        part if part <= 0.95 => Some(1.0),
        part if part >= 1.0 => Some(0.0),
        _ => None,
    });
    let zone = |accesses, space| Zone { accesses, space };
    let zones = [zone(0.9, HOT.0), zone(0.1, 1.0 - HOT.0)];
    let forms = share.and_then(|share| Separation::new(&zones, share, 2.0));
    let gains = forms.is_some_and(|forms| forms.ideal < 0.85 * forms.uniform);
    vec![
        truth(Structure::EffectiveSpare, share.map(|share| share * 100.0), Some(is_open)),
        truth(Structure::Separation, separates, Some(is_open && gains && separates.is_some())),
    ]
}

/// Returns the spare area of the native cells under steady random writes after a fill, as a share of the data in
/// them.
fn over_provisioning(rig: &mut VirtualRig) -> Option<f64> {
    let capacity = rig.drive().capacity;
    fill(rig);
    let stream = Stream {
        access: Access::Random,
        block_size: Bytes(4_096),
        read_percent: 0,
        queue_depth: 32,
        span: capacity,
        ..Stream::default()
    };
    let load = Workload { engine: Engine::Synchronous, streams: vec![stream] };
    let until = Until { time: None, bytes: Some(capacity * 3) };
    let mut seen = Recording::default();
    rig.run(&load, &until, &mut seen).expect("a drive without faults is written");
    let found = seen.readings.iter().rfind(|one| one.quantity == "true_over_provisioning");
    found.map(|reading| reading.value)
}

fn fill(rig: &mut VirtualRig) {
    let (access, block_size, offset) = (Access::Sequential, Bytes(131_072), Bytes(0));
    let span = Bytes(rig.drive().capacity.0 / 131_072 * 131_072);
    let fill = Preparation::Fill { access, block_size, offset, span };
    rig.prepare(&fill, &mut Recording::default()).expect("a drive without faults is filled");
}

/// Returns the flash writes of writes to zones by those of uniform writes, in the long run.
fn long_run(rig: &mut VirtualRig) -> f64 {
    let capacity = rig.drive().capacity;
    fill(rig);
    let hot = (HOT.0 * capacity.0 as f64) as u64 >> 20 << 20;
    let ranges =
        [vec![(0, capacity.0, 32)], vec![(0, hot, HOT.1[0]), (hot, capacity.0 - hot, HOT.1[1])]];
    let found = ranges.iter().zip(DRIVE_WRITES).map(|(ranges, (before, counted))| {
        random_writes(rig, ranges, before * capacity.0);
        let begin = rig.ground_truth();
        random_writes(rig, ranges, counted * capacity.0);
        rig.ground_truth().write_amplification_since(&begin).expect("the host wrote")
    });
    let found: Vec<f64> = found.collect();
    found[1] / found[0]
}

/// Writes `bytes` at random to ranges, each with its offset, length and requests in flight.
fn random_writes(rig: &mut VirtualRig, ranges: &[(u64, u64, u32)], bytes: u64) {
    let lane = |&(offset, span, queue_depth): &(u64, u64, u32)| Lane {
        direction: Direction::Write,
        access: Access::Random,
        block_size: Bytes(4_096),
        offset: Bytes(offset),
        span: Bytes(span),
        queue_depth,
        think: Nanos::ZERO,
        latencies: 0,
        data: Data::Incompressible,
    };
    let lanes: Vec<Lane> = ranges.iter().map(lane).collect();
    let (time, bin) = (Nanos::from_secs(86_400), Nanos::from_secs(60));
    let limits = LaneLimits { time, written: Bytes(bytes), bin };
    let ended = rig.run_lanes(&lanes, limits, &mut Recording::default());
    ended.expect("a drive without faults is written").expect("no stop");
}
