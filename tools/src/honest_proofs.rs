//! Proves random honest virtual drives, and counts those whose verdict is not that they hold their data:
//! `cargo run --release -p ssdgauge-tools -- honest_proofs [NUMBER]`.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use ssdgauge_core::proof::Conclusion;
use ssdgauge_core::{Random, Rig};
use ssdgauge_lab::{Depth, Recorded, Settings, Unwatched, conduct_proof, proof_plan, review};
use ssdgauge_runfile::{Opening, RunFile, Writer};
use ssdgauge_sim::VirtualRig;
use std::error::Error;

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let count = arguments.first().map_or(Ok(500), |number| number.parse())?;
    let mut random = Random::new(1, 1);
    let (mut accused, mut wrong, mut read) = (0, 0, 0);
    for number in 0..count {
        let profiles = ["tiny", "tlc-client", "mlc-client", "qlc-client", "sata-datacentre"];
        let profile = profiles[random.below(profiles.len() as u64) as usize];
        let state = ["fresh", "filled", "steady"][random.below(3) as usize];
        let (capacity, seed) = (1_000 + random.below(15_000), random.next_u64());
        let depth = if random.below(4) == 0 { Depth::Full } else { Depth::Quick };
        let target = format!("{profile}?capacity={capacity}MB&state={state}&seed={seed}");
        let mut rig = VirtualRig::open(&target, 1)?;
        let id = format!("honest-{number}");
        let settings = Settings::new(&id, rig.drive().capacity, depth);
        let plan = proof_plan(rig.drive(), depth, 1)?;
        let folder = tempfile::tempdir()?;
        let opening = Opening {
            id: &id,
            program: "honest_proofs",
            unix_ms: 0,
            plan: &plan,
            drive: rig.drive(),
            environment: &[],
            properties: &[settings.property()],
        };
        let file = folder.path().join("a.ssdg");
        let mut writer = Writer::create(&file, &opening)?;
        let recorded = Recorded::none(settings);
        conduct_proof(&plan, &recorded, &mut rig, &mut writer, &mut Unwatched)?;
        drop(writer);
        let recorded = Recorded::read(&RunFile::open(&file)?)?.ok_or("the file has no proof")?;
        let proved = review(&recorded);
        read += proved.tally.read();
        wrong += proved.tally.bad();
        if proved.verdict != Conclusion::Holds {
            accused += 1;
            println!("sim:{target}: {:?}", proved.verdict);
        }
    }
    println!(
        "{count} honest virtual drives (MODEL): {accused} accused, {wrong} of {read} reads wrong"
    );
    Ok(())
}
