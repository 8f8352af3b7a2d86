//! The random drives of the gate, and the evening that each is measured in.

use ssdgauge_analysis::Run;
use ssdgauge_core::{Random, Rig};
use ssdgauge_lab::{Completion, Options, Suite, Unwatched};
use ssdgauge_runfile::{Opening, Writer};
use ssdgauge_sim::VirtualRig;
use std::error::Error;

const EVENING: &str = include_str!("evening.toml");

/// The random stream of the figures.
const FIGURES: u64 = 0x7716;

/// Returns the target of the drive of `seed`. Figures that no drive can have are drawn again.
pub(super) fn target(seed: u64) -> String {
    let mut random = Random::new(seed, FIGURES);
    loop {
        let target = draw(&mut random);
        if VirtualRig::open(&target, seed).is_ok() {
            return target;
        }
    }
}

fn draw(random: &mut Random) -> String {
    let mut keys: Vec<String> = Vec::new();
    let mut add = |key: &str, value: String| keys.push(format!("{key}={value}"));
    let between = |random: &mut Random, low: f64, high: f64| low + (high - low) * random.unit();
    let log = |random: &mut Random, low: f64, high: f64| low * (high / low).powf(random.unit());
    let pick =
        |random: &mut Random, values: &[u64]| values[random.below(values.len() as u64) as usize];
    add("capacity", format!("{}GB", pick(random, &[16, 32])));
    let has_cache = random.below(3) > 0;
    let channels = pick(random, &[4, 8]);
    let dies = channels * pick(random, &[1, 2, 4]);
    let program = 48 * pick(random, &[1, 2, 4]);
    add("nand.channels", channels.to_string());
    add("nand.dies", dies.to_string());
    add("nand.program_kib", program.to_string());
    add("nand.t_r_us", format!("{:.1}", between(random, 30.0, 90.0)));
    let t_prog = log(random, 600.0, 3_000.0);
    add("nand.t_prog_us", format!("{t_prog:.0}"));
    add("nand.channel_mb_s", format!("{:.0}", between(random, 500.0, 1_200.0)));
    add("nand.suspend", (random.below(3) > 0).to_string());
    add("nand.suspend_us", format!("{:.1}", between(random, 10.0, 50.0)));
    add("front.link_mb_s", pick(random, &[1_700, 3_400, 6_800]).to_string());
    add("front.read_command_us", format!("{:.2}", between(random, 1.2, 3.5)));
    add("front.write_command_us", format!("{:.2}", between(random, 1.2, 3.5)));
    add("front.read_delay_us", format!("{:.1}", between(random, 8.0, 40.0)));
    add("front.write_delay_us", format!("{:.1}", between(random, 6.0, 25.0)));
    let buffer = log(random, 2_048.0, 32_768.0).max(4.0 * program as f64);
    add("front.buffer_kib", format!("{}", buffer as u64 / 4 * 4));
    // Both parts are stated for the nominal capacity of the class.
    let cache = |share: f64| if has_cache { share * 500.0 } else { 0.0 };
    let (fixed, dynamic) = (between(random, 0.0, 0.04), between(random, 0.02, 0.12));
    add("slc.fixed_gb", format!("{:.2}", cache(fixed)));
    add("slc.dynamic_gb", format!("{:.2}", cache(dynamic)));
    add("slc.t_prog_us", format!("{:.0}", between(random, 120.0, 350.0).min(0.5 * t_prog)));
    add("slc.fold_mb_s", format!("{:.0}", between(random, 50.0, 500.0)));
    let spare = if has_cache { between(random, 7.0, 15.0) } else { between(random, 8.0, 35.0) };
    add("over_provisioning", format!("{spare:.2}%"));
    add("gc.policy", ["greedy", "fifo", "cost-benefit"][random.below(3) as usize].into());
    // What no twin has.
    add("effects.page_type_ratio", format!("{:.3}", between(random, 1.0, 1.4)));
    add("effects.read_spread", format!("{:.4}", between(random, 0.0, 0.08)));
    add("effects.read_retry_share", format!("{:.4}", 0.01 * random.unit()));
    add("effects.read_retry_us", format!("{:.0}", between(random, 40.0, 120.0)));
    add("effects.program_spread", format!("{:.3}", between(random, 0.0, 0.1)));
    add("effects.resume_us", format!("{:.1}", between(random, 0.0, 10.0)));
    if random.below(2) == 0 {
        add("effects.housekeeping_every_ms", format!("{:.0}", log(random, 5.0, 100.0)));
        add("effects.housekeeping_us", format!("{:.0}", between(random, 20.0, 150.0)));
    }
    if random.below(3) == 0 {
        add("effects.journal_every_mib", format!("{:.0}", log(random, 64.0, 512.0)));
        add("effects.journal_ms", format!("{:.2}", between(random, 0.2, 2.0)));
    }
    add("thermal.factor", "1".into());
    format!("tlc-client?{}", keys.join("&"))
}

/// Measures the drive of `seed`; returns the run and the target.
pub(super) fn measure(seed: u64) -> Result<(Run, String), Box<dyn Error>> {
    let target = target(seed);
    let mut rig = VirtualRig::open(&target, seed)?;
    let suite = Suite::parse("evening.toml", EVENING)?;
    let plan = ssdgauge_lab::plan(&suite, rig.drive(), &Options { seed, ..Options::default() })?;
    let drive = rig.drive().clone();
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("evening.ssdg");
    let opening = Opening {
        id: "evening",
        program: "twin",
        unix_ms: 0,
        plan: &plan,
        drive: &drive,
        environment: &[],
        properties: &[],
    };
    let mut writer = Writer::create(&file, &opening)?;
    match ssdgauge_lab::conduct(&plan, &mut rig, &mut writer, &mut Unwatched)? {
        Completion::Finished => {}
        Completion::Interrupted => return Err("interrupted".into()),
    }
    drop(writer);
    Ok((ssdgauge_analysis::read(&file)?, target))
}
