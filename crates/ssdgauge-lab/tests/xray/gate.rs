//! The blind gate: answers of the X-ray against the figures of the drives that it looked into.
//!
//! The figures are read here alone, after the answers are given.

use super::noise::Noisy;
use super::prior;
use super::programs::{Seen, of_profile};
use ssdgauge_core::{
    Access, Bytes, Data, Direction, Lane, LaneLimits, Nanos, Preparation, Recording, Rig,
    TimedLoads,
};
use ssdgauge_lab::{RecordedXray, XrayOptions, XrayWatcher, xray};
use ssdgauge_sim::VirtualRig;
use ssdgauge_xray::{Answer, Identified, Structure};

/// What a drive without a cache writes before its rate is taken, and meanwhile.
pub(crate) const NATIVE: [u64; 2] = [256 << 20, 2 << 30];

/// The longest pulse, in microseconds, between which a suspension counts as identifiable: longer waits are those for a
/// part of an operation as well.
const SHORT_PULSE_US: f64 = 40.0;

/// What the figures of a drive say about a structure.
pub(crate) struct Truth {
    pub(crate) structure: Structure,
    /// The true value; `None` where the drive has none, so that every value is wrong.
    pub(crate) value: Option<f64>,
    /// Whether a host could see it, as far as arithmetic tells; `None` where it does not.
    pub(crate) identifiable: Option<bool>,
}

/// An answer next to the truth.
pub(crate) struct Judged {
    pub(crate) truth: Truth,
    pub(crate) outcome: Identified,
}

impl Judged {
    pub(crate) fn is_right(&self) -> bool {
        match (&self.outcome, self.truth.value) {
            (Ok(value), Some(truth)) => value.contains(truth),
            (Ok(_), None) => false,
            (Err(_), _) => true,
        }
    }
}

struct Silent;

impl XrayWatcher for Silent {
    fn stop(&mut self) -> bool {
        false
    }
    fn doing(&mut self, _what: &str, _written: Bytes) {}
}

/// Looks into the drive of `seed` and judges each answer. Returns the text of its target as well.
pub(crate) fn judge(seed: u64, only: &[Structure], noise: bool) -> (String, Vec<Judged>) {
    judge_drive(prior::drive(seed), seed, only, noise)
}

/// The same for a drive whose map is available in part.
pub(crate) fn judge_with_map(seed: u64, only: &[Structure], noise: bool) -> (String, Vec<Judged>) {
    judge_drive(prior::drive_with_map(seed), seed, only, noise)
}

/// The same for a drive that may consist of several volumes.
pub(crate) fn judge_with_volumes(
    seed: u64,
    only: &[Structure],
    noise: bool,
) -> (String, Vec<Judged>) {
    judge_drive(prior::drive_with_volumes(seed), seed, only, noise)
}

/// The same for a drive that may compress or deduplicate.
pub(crate) fn judge_with_contents(
    seed: u64,
    only: &[Structure],
    noise: bool,
) -> (String, Vec<Judged>) {
    judge_drive(prior::drive_with_contents(seed), seed, only, noise)
}

fn judge_drive(
    (rig, target): (VirtualRig, String),
    seed: u64,
    only: &[Structure],
    noise: bool,
) -> (String, Vec<Judged>) {
    let answers = look(rig.clone(), seed, only, noise);
    let truths = truths(rig, &target, seed);
    (target, compare(answers, truths))
}

/// Heats a drive by reads for `seconds`.
pub(crate) fn heat(rig: &mut impl TimedLoads, seconds: u64) {
    let lane = Lane {
        direction: Direction::Read,
        access: Access::Sequential,
        block_size: Bytes(131_072),
        offset: Bytes(0),
        span: Bytes(1 << 30),
        queue_depth: 32,
        think: Nanos::ZERO,
        latencies: 0,
        data: Data::Incompressible,
    };
    let limits =
        LaneLimits { time: Nanos::from_secs(seconds), written: Bytes(0), bin: Nanos::SECOND };
    rig.run_lanes(&[lane], limits, &mut Recording::default()).expect("a virtual drive reads");
}

/// Returns what the X-ray answers about a drive.
pub(crate) fn look<R: Rig + TimedLoads>(
    mut rig: R,
    seed: u64,
    only: &[Structure],
    noise: bool,
) -> Vec<Answer> {
    let usual = || Structure::ALL.into_iter().filter(|one| !one.needs_steady_state()).collect();
    let only = if only.is_empty() { usual() } else { only.to_vec() };
    let options = XrayOptions { gentle: false, steady: true, only, seed };
    let wanted = RecordedXray::none(options);
    let examined = match noise {
        true => xray(&mut Noisy::new(rig, seed), &wanted, &mut Silent),
        false => xray(&mut rig, &wanted, &mut Silent),
    };
    examined.expect("a virtual drive without faults fails no request").answers
}

/// Adds the truth to each answer, where there is one.
pub(crate) fn compare(answers: Vec<Answer>, mut truths: Vec<Truth>) -> Vec<Judged> {
    let judged = answers.into_iter().filter_map(|answer| {
        let place = truths.iter().position(|truth| truth.structure == answer.structure)?;
        Some(Judged { truth: truths.swap_remove(place), outcome: answer.outcome })
    });
    judged.collect()
}

/// Returns the truth about each structure from the figures of a fresh drive, from a fill of it, and from
/// writes to the same drive without a cache.
fn truths(mut rig: VirtualRig, target: &str, seed: u64) -> Vec<Truth> {
    let profile = rig.profile().clone();
    let (nand, front, slc) = (&profile.nand, &profile.host_interface, &profile.slc);
    let dies = f64::from(nand.dies);
    // A volume of one unit holds its whole interleave in a row.
    let in_a_row = match nand.dies == profile.effects.volumes {
        true => profile.effects.volume_kib.max(nand.page_kib),
        false => nand.page_kib,
    };
    let chunk = f64::from(in_a_row) * 1_024.0;
    let link_block_us = 131_072.0 / front.link_mb_s;
    let command_block_us = front.read_command_us + 31.0 * front.page_us;
    let lone_us = front.read_command_us + front.read_delay_us;
    let depth_us = lone_us / f64::from(front.max_queue_depth);
    let capacity = rig.drive().capacity;
    fill(&mut rig);
    let has_cache = slc.fixed_gb + slc.dynamic_gb > 0.0;
    let ends = [rig.ground_truth().cache_exhausted, rig.ground_truth().cache_forced];
    let end = ends.into_iter().flatten().min().filter(|_| has_cache);
    let cache = end.map(|bytes| bytes as f64);
    // In the cache, and beyond it.
    let rate_of = |parts: [f64; 2]| {
        let parts = |bytes: f64| parts.map(|part| part * bytes);
        cache.map_or(0.0, |bytes| rate(&mut cool(target, seed), parts(bytes)))
    };
    let (cached, after) = (rate_of([0.125, 0.5]), rate_of([1.25, 1.0]));
    // The rate drops once where a cache is no larger than the write buffer.
    let is_large = cache.is_some_and(|bytes| bytes > 2_048.0 * f64::from(front.buffer_kib));
    let shows = is_large && cached > 1.2 * after;
    // Where the link is the limit, no cache would show.
    let plain = without(target, &["slc."]);
    let mut plain = cool(&format!("{plain}&slc.fixed_gb=0&slc.dynamic_gb=0"), seed);
    let native = rate(&mut plain, NATIVE.map(|bytes| bytes as f64));
    let hides = native > 0.85 * front.link_mb_s;
    // Writes of one mapping unit show it where the flash limits them: the controller and the link do not.
    let unit = f64::from(profile.effects.map_unit_kib.max(4)) * 1_024.0;
    let write_us = front.write_command_us + (unit / 4_096.0 - 1.0) * front.page_us;
    let slower = if has_cache && cache.is_some() { after.max(native) } else { native };
    let unit_shows = slower < front.link_mb_s.min(unit / write_us);
    // Parts of the map are whole, and cover 1,024 mapping units. What is read is 60 % of the drive, or 1.3 times the
    // cache where its end shows; the smallest range is 16 MiB.
    let part = 1_024.0 * unit;
    let parts = (profile.effects.map_reach_mib * 1_048_576.0 / part).round().max(1.0);
    let is_partial = profile.effects.map_reach_mib > 0.0 && parts * part < capacity.0 as f64;
    let reach = is_partial.then_some(parts * part);
    let range = if shows { 1.3 * cache.unwrap_or(0.0) } else { 0.6 * capacity.0 as f64 };
    let reach_shows = reach.is_some_and(|bytes| bytes > 20e6 && bytes < 0.8 * range);
    // Data that takes half of the flash shows where the link takes twice the rate, or where it is counted.
    let granule = profile.effects.media_counter_kib;
    let counts = granule > 0.0 && granule <= 512.0;
    let contents_show = counts || slower < 0.5 * front.link_mb_s;
    let programs = of_profile(&profile);
    let is_seen = |found: bool| Some(found);
    // A stage beyond the cache has a hundred granules of the counters.
    let beyond_shows = granule > 0.0 && 0.3 * cache.unwrap_or(0.0) > 250.0 * granule * 1_024.0;
    let yes_no = |is: bool| Some(f64::from(u8::from(is)));
    vec![
        truth(Structure::Link, Some(front.link_mb_s), is_seen(command_block_us < link_block_us)),
        truth(
            Structure::Command,
            Some(front.read_command_us),
            is_seen(
                depth_us < 0.95 * front.read_command_us
                    && 512.0 / front.link_mb_s < 0.8 * front.read_command_us,
            ),
        ),
        truth(Structure::Units, Some(dies), is_seen(nand.dies > 1)),
        truth(Structure::Chunk, Some(chunk), is_seen(nand.dies > 1)),
        truth(Structure::PageRead, Some(nand.t_r_us), is_seen(nand.dies > 1)),
        truth(
            Structure::Suspend,
            Some(f64::from(u8::from(nand.suspend))),
            is_seen(!nand.suspend || profile.effects.pulse_us <= SHORT_PULSE_US),
        ),
        truth(Structure::Flush, Some(f64::from(u8::from(!front.buffer_is_safe))), is_seen(true)),
        seen(Structure::ProgramTime, programs.time_us),
        seen(Structure::ProgramUnit, programs.unit),
        seen(Structure::WriteBuffer, programs.buffer),
        truth(Structure::Cache, cache, is_seen(shows)),
        truth(Structure::Overflow, overflow(&profile), is_seen(shows && beyond_shows)),
        truth(
            Structure::Folding,
            folding(target, seed, cache),
            is_seen(shows && slc.fold_mb_s * 1e6 * 128.0 > 0.1 * cache.unwrap_or(0.0)),
        ),
        truth(Structure::MappingUnit, Some(unit), is_seen(unit_shows)),
        truth(
            Structure::Volumes,
            Some(f64::from(profile.effects.volumes.max(1))),
            is_seen(slower < 0.65 * front.link_mb_s),
        ),
        truth(Structure::MapReach, reach, is_seen(reach_shows)),
        truth(Structure::Compression, yes_no(profile.effects.compresses), is_seen(contents_show)),
        truth(
            Structure::Deduplication,
            yes_no(profile.effects.deduplicates),
            is_seen(contents_show),
        ),
        truth(Structure::Throttle, Some(profile.thermal.throttle_c), None),
        truth(Structure::Resume, Some(profile.thermal.resume_c), None),
        truth(Structure::NativeRate, cache.map(|_| after), is_seen(shows)),
        truth(Structure::Spare, spare(&profile, capacity), is_seen(!has_cache && !hides)),
    ]
}

/// Returns 1 where writes beyond the cache go through it, and 0 where they do not; nothing where they do in part.
fn overflow(profile: &ssdgauge_sim::Profile) -> Option<f64> {
    let slc = &profile.slc;
    match slc.overflow {
        ssdgauge_sim::Overflow::FoldFirst => Some(1.0),
        ssdgauge_sim::Overflow::Direct => (slc.fold_under_load_mb_s == 0.0).then_some(0.0),
    }
}

/// Returns the truth that `seen` states.
pub(crate) fn seen(structure: Structure, seen: Seen) -> Truth {
    truth(structure, Some(seen.value), Some(seen.identifiable))
}

pub(crate) fn truth(structure: Structure, value: Option<f64>, identifiable: Option<bool>) -> Truth {
    Truth { structure, value, identifiable }
}

/// Returns the rate in 10^6 bytes per second at which the drive of `target` empties its cache of `cache` bytes
/// in a rest. It is below the stated rate where the dies do not reach that.
fn folding(target: &str, seed: u64, cache: Option<f64>) -> Option<f64> {
    let mut rig = cool(target, seed);
    let stated = rig.profile().slc.fold_mb_s;
    let cache = cache.filter(|_| stated > 0.0)?;
    fill(&mut rig);
    let mut rest = |share: f64| {
        let duration = Nanos((share * cache / stated * 1e3) as u64);
        rig.rest(duration, &mut Recording::default()).expect("a virtual drive rests");
        let bytes = rig.ground_truth().folded_pages as f64 * 4_096.0;
        (bytes, duration.as_secs_f64())
    };
    let (before, _) = rest(0.05);
    let (after, seconds) = rest(0.45);
    Some((after - before) / seconds / 1e6)
}

/// Returns the drive of `target` without throttling.
pub(crate) fn cool(target: &str, seed: u64) -> VirtualRig {
    let target = format!("{}&thermal.throttle_c=900", without(target, &["thermal."]));
    VirtualRig::open(&target, seed).expect("a drive without a cache or throttling is possible")
}

/// Returns `target` without the figures whose keys begin with one of `keys`.
pub(crate) fn without(target: &str, keys: &[&str]) -> String {
    let keeps = |figure: &&str| keys.iter().all(|key| !figure.starts_with(key));
    target.split('&').filter(keeps).collect::<Vec<_>>().join("&")
}

/// Writes the bytes of the staged fill to a fresh `rig`.
fn fill(rig: &mut VirtualRig) {
    let span = Bytes(rig.drive().capacity.0 / 5 * 3 / 131_072 * 131_072);
    let (access, block_size, offset) = (Access::Sequential, Bytes(131_072), Bytes(0));
    let fill = Preparation::Fill { access, block_size, offset, span };
    rig.prepare(&fill, &mut Recording::default()).expect("a drive without faults is filled");
}

/// Returns the rate in 10^6 bytes per second of the second part of ascending writes to a fresh `rig`. Figures
/// alone do not give it: a small write buffer keeps fewer program operations in flight than there are dies, and
/// transfers share channels.
pub(crate) fn rate(rig: &mut dyn Rig, parts: [f64; 2]) -> f64 {
    let (mut rate, mut offset) = (0.0, 0);
    for part in parts {
        let bytes = (part as u64 >> 20 << 20).max(1 << 20);
        let lane = Lane {
            direction: Direction::Write,
            access: Access::Sequential,
            block_size: Bytes(131_072),
            offset: Bytes(offset),
            span: Bytes(bytes),
            queue_depth: 32,
            think: Nanos::ZERO,
            latencies: 0,
            data: Data::Incompressible,
        };
        let (time, bin) = (Nanos::from_secs(3_600), Nanos::SECOND);
        let limits = LaneLimits { time, written: Bytes(bytes), bin };
        let loads = rig.timed_loads().expect("a virtual drive times its requests");
        let ended = loads.run_lanes(&[lane], limits, &mut Recording::default());
        let ended = ended.expect("a drive without faults is written").expect("no stop");
        rate = bytes as f64 / ended.elapsed.as_secs_f64() / 1e6;
        offset += bytes;
    }
    rate
}

/// Returns the flash beyond the data in bytes of the host: superblocks that are not kept free, and the fixed
/// part of a cache.
pub(crate) fn spare(profile: &ssdgauge_sim::Profile, capacity: Bytes) -> Option<f64> {
    let nand = &profile.nand;
    let raw = profile.drive.raw_gib * f64::from(1u32 << 30);
    let row = f64::from(nand.program_kib) * 1_024.0 * f64::from(nand.dies);
    // The blocks of a small drive: its superblocks are a 256th of the flash at most.
    let rows = (nand.block_mib * 1_024.0 / f64::from(nand.program_kib)).round().max(1.0);
    let superblock = row * rows.min((raw / row / 256.0).floor().max(1.0));
    let superblocks = (raw / superblock).floor() - f64::from(profile.gc.reserve_superblocks + 1);
    Some(superblocks * superblock + profile.slc.fixed_gb * 1e9 - capacity.0 as f64)
}
