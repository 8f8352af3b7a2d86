//! The random drives of the gate, and the evening that each is measured in.

use crate::xray_gate::prior;
use ssdgauge_analysis::Run;
use ssdgauge_core::{Random, Rig};
use ssdgauge_lab::{Completion, Options, Suite, Unwatched};
use ssdgauge_runfile::{Opening, Writer};
use ssdgauge_sim::VirtualRig;
use std::error::Error;

const EVENING: &str = include_str!("evening.toml");

/// The random stream of the effects.
const EFFECTS: u64 = 0x7716;

/// Returns the target of the drive of `seed`: one of the gates of the X-ray, with effects that no twin has.
pub(super) fn target(seed: u64) -> String {
    let (_, drive) = prior::steady_drive(seed);
    let mut random = Random::new(seed, EFFECTS);
    let mut up_to = |most: f64| most * random.unit();
    let (ratio, spread, programs) = (1.0 + up_to(0.4), up_to(0.08), up_to(0.1));
    let resume = up_to(10.0);
    let mut text = format!(
        "{drive}&effects.page_type_ratio={ratio:.3}&effects.read_spread={spread:.4}\
         &effects.program_spread={programs:.3}&effects.resume_us={resume:.1}"
    );
    if random.below(3) == 0 {
        let every = 64.0 * 8f64.powf(random.unit());
        let length = 0.2 + 1.8 * random.unit();
        text.push_str(&format!(
            "&effects.journal_every_mib={every:.0}&effects.journal_ms={length:.2}"
        ));
    }
    // Requests of 4 KiB are asked for, and no temperature.
    format!("{text}&effects.map_unit_kib=4&thermal.r_c_per_w=1")
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
