//! The blind gate: answers of the X-ray against the figures of the drives that it looked into.
//!
//! The figures are read here alone, after the answers are given.

use crate::noise::Noisy;
use crate::prior;
use ssdgauge_core::{Access, Bytes, Preparation, Recording, Rig};
use ssdgauge_lab::{XrayOptions, XrayTarget, XrayWatcher, xray};
use ssdgauge_sim::VirtualRig;
use ssdgauge_xray::{Identified, Structure};

/// What the figures of a drive say about a structure.
pub(crate) struct Truth {
    pub(crate) structure: Structure,
    /// The true value; `None` where the drive has none, so that every value is wrong.
    pub(crate) value: Option<f64>,
    /// Whether a host could see it, as far as arithmetic tells; `None` where it does not.
    pub(crate) identifiable: Option<bool>,
}

/// An answer beside the truth.
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
    let (rig, target) = prior::drive(seed);
    let only = if only.is_empty() { Structure::ALL.to_vec() } else { only.to_vec() };
    let options = XrayOptions { gentle: false, only, seed };
    let examined = match noise {
        true => {
            let mut noisy = Noisy::new(rig.clone(), seed);
            xray(XrayTarget::Rig(&mut noisy), &options, &mut Silent)
        }
        false => {
            let mut rig = rig.clone();
            xray(XrayTarget::Rig(&mut rig), &options, &mut Silent)
        }
    };
    let examined = examined.expect("a virtual drive without faults fails no request");
    let truths = truths(rig);
    let judged = examined.answers.into_iter().filter_map(|answer| {
        let truth = truths.iter().find(|truth| truth.structure == answer.structure)?;
        let Truth { structure, value, identifiable } = *truth;
        Some(Judged { truth: Truth { structure, value, identifiable }, outcome: answer.outcome })
    });
    (target, judged.collect())
}

/// Returns the truth about each structure from the figures of a fresh drive, and from a fill of it.
fn truths(mut rig: VirtualRig) -> Vec<Truth> {
    let profile = rig.profile().clone();
    let (nand, front, slc) = (&profile.nand, &profile.host_interface, &profile.slc);
    let dies = f64::from(nand.dies);
    let chunk = f64::from(nand.page_kib) * 1_024.0;
    let link_block_us = 131_072.0 / front.link_mb_s;
    let command_block_us = front.read_command_us + 31.0 * front.page_us;
    let lone_us = front.read_command_us + front.read_delay_us;
    let depth_us = lone_us / f64::from(front.max_queue_depth);
    let unit_bytes = f64::from(nand.program_kib) * 1_024.0;
    let rows = (nand.block_mib * 1_024.0 / f64::from(nand.program_kib)).max(1.0);
    let native = dies * unit_bytes / (nand.t_prog_us + nand.t_bers_us / rows);
    let capacity = rig.drive().capacity;
    // With the blocks of a small drive: its superblocks are a 256th of the flash at most.
    let rows = (profile.drive.raw_gib * 1_048_576.0 / f64::from(nand.program_kib) / dies / 256.0)
        .min(rows);
    let native_small =
        dies * unit_bytes / (nand.t_prog_us + nand.t_bers_us / rows.floor().max(1.0));
    let slc_rate = dies * unit_bytes / f64::from(nand.bits) / slc.t_prog_us;
    let is_direct = slc.overflow == ssdgauge_sim::Overflow::Direct;
    let fill = Preparation::Fill {
        access: Access::Sequential,
        block_size: Bytes(131_072),
        offset: Bytes(0),
        span: Bytes(capacity.0 / 5 * 3 / 131_072 * 131_072),
    };
    rig.prepare(&fill, &mut Recording::default()).expect("a drive without faults is filled");
    let has_cache = slc.fixed_gb + slc.dynamic_gb > 0.0;
    let cache = rig.ground_truth().cache_exhausted.filter(|_| has_cache).map(|bytes| bytes as f64);
    let writes_mb_s =
        front.link_mb_s.min(131_072.0 / (front.write_command_us + 31.0 * front.page_us));
    let behind = if is_direct { native } else { 1.0 / (1.0 / slc_rate + 1.0 / native) };
    let shows = cache.is_some() && writes_mb_s.min(slc_rate) > 1.2 * behind.min(writes_mb_s);
    let is_seen = |found: bool| Some(found);
    let mut truths = vec![
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
        truth(Structure::Suspend, Some(f64::from(u8::from(nand.suspend))), is_seen(true)),
        truth(Structure::Cache, cache, is_seen(shows)),
        truth(
            Structure::Folding,
            Some(slc.fold_mb_s).filter(|fold| *fold > 0.0),
            is_seen(shows && slc.fold_mb_s * 1e6 * 128.0 > 0.1 * cache.unwrap_or(0.0)),
        ),
        truth(Structure::Throttle, Some(profile.thermal.throttle_c), None),
        truth(Structure::Resume, Some(profile.thermal.resume_c), None),
        truth(Structure::Spare, spare(&profile, capacity), is_seen(cache.is_none())),
    ];
    // Arithmetic gives no rate of a drive that folds first.
    if is_direct {
        let value = Some(native_small.min(writes_mb_s)).filter(|_| cache.is_some());
        truths.push(truth(Structure::NativeRate, value, is_seen(shows)));
    }
    truths
}

fn truth(structure: Structure, value: Option<f64>, identifiable: Option<bool>) -> Truth {
    Truth { structure, value, identifiable }
}

/// Returns the flash beyond the data, without what the drive keeps free.
fn spare(profile: &ssdgauge_sim::Profile, capacity: Bytes) -> Option<f64> {
    let raw = profile.drive.raw_gib * f64::from(1u32 << 30);
    let kept = raw / 256.0 * f64::from(profile.gc.reserve_superblocks + 1);
    Some(raw - kept - capacity.0 as f64)
}
