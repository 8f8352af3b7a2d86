//! Random virtual drives: every figure is drawn from a stated prior.

use ssdgauge_core::{Random, Rig};
use ssdgauge_sim::VirtualRig;

/// The random stream of the figures.
const FIGURES: u64 = 0x9710;

/// That of the figures of drives for the steady state.
const STEADY_FIGURES: u64 = 0x9711;

/// That of the mapping unit, apart from the others so that it changes no other figure of a seed.
const UNITS: u64 = 0x9712;

/// That of the reach of the map, likewise.
const REACHES: u64 = 0x9713;

/// That of the counters of media writes and of the write buffer, likewise.
const COUNTERS: u64 = 0x9716;
/// That of the volumes, likewise.
const VOLUMES: u64 = 0x9714;
/// That of the pulses between which a drive suspends, likewise.
const PULSES: u64 = 0x9717;
/// That of compression and deduplication, likewise.
const CONTENTS: u64 = 0x9715;

/// The mapping units in KiB; half of the drives have one of 4 KiB.
const MAPPING_UNITS: [u32; 8] = [4, 4, 4, 4, 8, 16, 32, 64];

/// The capacity of the profile that the figures change.
const NOMINAL_GB: f64 = 500.0;

/// Returns the drive of `seed` with the text of its target. Figures that no drive can have are drawn again.
pub(crate) fn drive(seed: u64) -> (VirtualRig, String) {
    let mut random = Random::new(seed, FIGURES);
    let (unit, counters, pulses) = (mapping_unit(seed), counters(seed), pulses(seed));
    loop {
        let target = format!("{}{unit}{counters}{pulses}", target(&mut random));
        if let Ok(rig) = VirtualRig::open(&target, seed) {
            return (rig, target);
        }
    }
}

/// Returns the drive of `seed` with a map that is available for 0.2 to 100 % of the data, in three of four drives.
pub(crate) fn drive_with_map(seed: u64) -> (VirtualRig, String) {
    let (rig, target) = drive(seed);
    let mut random = Random::new(seed, REACHES);
    if random.below(4) == 0 {
        return (rig, target);
    }
    let share = 0.002 * 500f64.powf(random.unit());
    let reach = share * rig.drive().capacity.0 as f64 / 1_048_576.0;
    let target = format!("{target}&effects.map_reach_mib={reach:.0}");
    let rig =
        VirtualRig::open(&target, seed).expect("any drive may have a map that is not at hand");
    (rig, target)
}

/// Returns the drive of `seed` with 2, 4 or 8 volumes in one of two cases, interleaved by 64 KiB to 8 MiB.
pub(crate) fn drive_with_volumes(seed: u64) -> (VirtualRig, String) {
    let (rig, target) = drive(seed);
    let mut random = Random::new(seed, VOLUMES);
    if random.below(2) == 0 {
        return (rig, target);
    }
    // Not every drive can be split into eight.
    for _ in 0..100 {
        let (volumes, kib) = (2 << random.below(3), 64 << random.below(8));
        let split = format!("{target}&effects.volumes={volumes}&effects.volume_kib={kib}");
        if let Ok(rig) = VirtualRig::open(&split, seed) {
            return (rig, split);
        }
    }
    (rig, target)
}

/// Returns the drive of `seed`, which compresses in one case of four and deduplicates in one of four.
pub(crate) fn drive_with_contents(seed: u64) -> (VirtualRig, String) {
    let (_, target) = drive(seed);
    let mut random = Random::new(seed, CONTENTS);
    let (compresses, deduplicates) = (random.below(4) == 0, random.below(4) == 0);
    let target =
        format!("{target}&effects.compresses={compresses}&effects.deduplicates={deduplicates}");
    let rig = VirtualRig::open(&target, seed).expect("any drive with a map may compress");
    (rig, target)
}

/// Returns the drive of `seed` for structures of the steady state: small, because that costs several drive writes;
/// half of the drives have no fast cache, a quarter does not count media writes.
pub(crate) fn steady_drive(seed: u64) -> (VirtualRig, String) {
    let mut random = Random::new(seed, STEADY_FIGURES);
    loop {
        let mut keys = target(&mut random);
        let below = |random: &mut Random, number: u64| random.below(number);
        if below(&mut random, 2) == 0 {
            keys.push_str("&slc.fixed_gb=0&slc.dynamic_gb=0");
        }
        let spare = 5.0 * 6f64.powf(random.unit());
        let policy = ["greedy", "fifo", "cost-benefit"][below(&mut random, 3) as usize];
        let pacing = ["proportional", "burst"][below(&mut random, 2) as usize];
        let granule = [0, 4, 512, 32_768][below(&mut random, 4) as usize];
        let capacity = [8, 16][below(&mut random, 2) as usize];
        let target = format!(
            "{keys}&capacity={capacity}GB&over_provisioning={spare:.2}%&gc.policy={policy}\
             &gc.pacing={pacing}&effects.media_counter_kib={granule}{}",
            mapping_unit(seed)
        );
        if let Ok(rig) = VirtualRig::open(&target, seed) {
            return (rig, target);
        }
    }
}

/// Draws the figure of the mapping unit.
fn mapping_unit(seed: u64) -> String {
    let mut random = Random::new(seed, UNITS);
    let unit = MAPPING_UNITS[random.below(MAPPING_UNITS.len() as u64) as usize];
    format!("&effects.map_unit_kib={unit}")
}

/// Draws the granule of the counters of media writes, which a quarter of the drives lacks, and whether the write buffer
/// outlives a loss of power.
fn counters(seed: u64) -> String {
    let mut random = Random::new(seed, COUNTERS);
    let granule = [0, 4, 512, 32_768][random.below(4) as usize];
    let is_safe = random.below(2) == 0;
    format!("&effects.media_counter_kib={granule}&front.buffer_is_safe={is_safe}")
}

/// Draws the pulses of a program operation: a quarter of the drives suspends between pulses of 20 to 400 us, if at all.
fn pulses(seed: u64) -> String {
    let mut random = Random::new(seed, PULSES);
    match random.below(4) {
        0 => format!("&effects.pulse_us={:.0}", 20.0 * 20f64.powf(random.unit())),
        _ => String::new(),
    }
}

/// Draws the figures of a drive.
fn target(random: &mut Random) -> String {
    let mut keys: Vec<String> = Vec::new();
    let mut add = |key: &str, value: String| keys.push(format!("{key}={value}"));
    let between = |random: &mut Random, low: f64, high: f64| low + (high - low) * random.unit();
    // Uniform in the logarithm.
    let log = |random: &mut Random, low: f64, high: f64| low * (high / low).powf(random.unit());
    let pick =
        |random: &mut Random, values: &[u64]| values[random.below(values.len() as u64) as usize];

    let capacity = pick(random, &[16, 32, 64]);
    add("capacity", format!("{capacity}GB"));
    let channels = pick(random, &[2, 4, 8]);
    let dies = channels * pick(random, &[1, 2, 4, 8]);
    let (bits, planes, page) =
        (pick(random, &[2, 3, 4]), pick(random, &[1, 2, 4]), pick(random, &[8, 16, 32]));
    let program = page * planes * bits;
    add("nand.channels", channels.to_string());
    add("nand.dies", dies.to_string());
    add("nand.planes", planes.to_string());
    add("nand.bits", bits.to_string());
    add("nand.page_kib", page.to_string());
    add("nand.program_kib", program.to_string());
    add("nand.t_r_us", format!("{:.1}", between(random, 25.0, 110.0)));
    let t_prog = log(random, 500.0, 3_500.0);
    add("nand.t_prog_us", format!("{t_prog:.0}"));
    add("nand.t_bers_us", format!("{:.0}", between(random, 2_000.0, 8_000.0)));
    add("nand.channel_mb_s", format!("{:.0}", between(random, 400.0, 1_200.0)));
    add("nand.suspend", (random.below(2) == 0).to_string());
    add("nand.suspend_us", format!("{:.1}", between(random, 8.0, 60.0)));

    let link = pick(random, &[550, 1_700, 3_400, 6_800]);
    add("front.link_mb_s", link.to_string());
    // Its description has to carry it.
    let interface = match link {
        550 => "SATA 6 Gb/s",
        1_700 => "PCIe 3.0 x2",
        3_400 => "PCIe 3.0 x4",
        _ => "PCIe 4.0 x4",
    };
    add("front.interface", interface.into());
    add("front.half_duplex", (link == 550).to_string());
    add("front.max_queue_depth", if link == 550 { "32".into() } else { "1024".into() });
    let slower = if link == 550 { 3.0 } else { 1.0 };
    add("front.read_command_us", format!("{:.2}", slower * between(random, 1.2, 4.0)));
    add("front.write_command_us", format!("{:.2}", slower * between(random, 1.2, 4.0)));
    add("front.read_delay_us", format!("{:.1}", between(random, 8.0, 40.0)));
    add("front.write_delay_us", format!("{:.1}", between(random, 6.0, 30.0)));
    let buffer = log(random, 1_024.0, 65_536.0).max(3.2 * program as f64);
    add("front.buffer_kib", format!("{}", buffer as u64 / 4 * 4));

    let native = dies as f64 * program as f64 * 1.024 / t_prog * 1e3;
    let has_cache = random.below(5) > 0;
    // A profile states both parts for its nominal capacity; a smaller drive has the same share.
    let cache = |share: f64| if has_cache { share * NOMINAL_GB } else { 0.0 };
    let fixed = cache(between(random, 0.0, 0.06));
    let dynamic = cache(between(random, 0.0, 0.15));
    add("slc.fixed_gb", format!("{fixed:.2}"));
    add("slc.dynamic_gb", format!("{dynamic:.2}"));
    let slc_prog = between(random, 120.0, 400.0).min(0.5 * t_prog);
    add("slc.t_prog_us", format!("{slc_prog:.0}"));
    let folds = random.below(8) > 0;
    let fold = if folds { between(random, 0.1, 0.6) * native.min(900.0) } else { 0.0 };
    add("slc.fold_mb_s", format!("{fold:.0}"));
    let overflow = if random.below(4) == 0 { "fold-first" } else { "direct" };
    add("slc.overflow", overflow.into());

    // Pages of one time: the tables of the gate are those of such drives.
    add("effects.page_type_ratio", "0".into());
    add("effects.read_spread", "0".into());
    add("effects.read_retry_share", format!("{:.4}", 0.01 * random.unit()));
    add("effects.read_retry_us", format!("{:.0}", between(random, 40.0, 120.0)));
    if random.below(2) == 0 {
        add("effects.housekeeping_every_ms", format!("{:.0}", log(random, 5.0, 100.0)));
        add("effects.housekeeping_us", format!("{:.0}", between(random, 20.0, 200.0)));
    }
    let throttle = between(random, 60.0, 88.0);
    add("thermal.throttle_c", format!("{throttle:.1}"));
    add("thermal.resume_c", format!("{:.1}", throttle - between(random, 2.0, 8.0)));
    add("thermal.r_c_per_w", format!("{:.1}", between(random, 5.0, 14.0)));
    add("thermal.c_j_per_c", format!("{:.1}", between(random, 3.0, 25.0)));
    add("thermal.factor", format!("{:.2}", between(random, 0.4, 0.85)));
    format!("tlc-client?{}", keys.join("&"))
}
