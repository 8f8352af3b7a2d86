//! Writes the virtual drives in the background of a page of one drive: numbers and lines of each in several suites.
//!
//! `cargo run --release -p ssdgauge-tools -- model_cohort [SUITE …]` writes
//! `crates/ssdgauge-analysis/cohort/model.toml` after each suite. Suites that the file has already, of the same
//! revision of the model and the same profiles, are left out unless named: after an interruption it goes on.
#![allow(clippy::print_stdout, reason = "its progress is for the terminal")]
#![allow(clippy::unwrap_used, reason = "a drive that cannot be measured ends it")]

use crate::own_intervals::support;
use ssdgauge_analysis::drives::model_cohort::{ModelCohort, SuiteData};
use ssdgauge_analysis::{Background, Run};
use ssdgauge_core::Rig;
use ssdgauge_lab::{Options, find_built_in, plan};
use ssdgauge_sim::VirtualRig;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

/// The suites, the shortest first.
const SUITES: [&str; 8] = [
    "cache-fill",
    "client-2018",
    "commit",
    "load-curve",
    "client-2021",
    "iometer-2015",
    "consistency-2016",
    "enterprise-2019",
];

/// The capacity of each drive: whole drives are compared whatever their capacity. It is above every span that a
/// suite states in gigabytes, which would otherwise be the whole drive.
const CAPACITY: &str = "72GB";

/// The seed of a run without `--seed`.
const SEED: u64 = 1;

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    if let Some(unknown) = arguments.iter().find(|name| !SUITES.contains(&name.as_str())) {
        return Err(format!("'{unknown}' is not one of the suites {}", SUITES.join(", ")).into());
    }
    // The file, and not what this program contains: an earlier call may have added to it.
    let mut cohort: ModelCohort = toml::from_str(&std::fs::read_to_string(file())?)?;
    let is_current =
        cohort.model_revision == ssdgauge_sim::MODEL_REVISION && cohort.profiles == checksum();
    if !is_current {
        cohort.suite.clear();
    }
    cohort.model_revision = ssdgauge_sim::MODEL_REVISION;
    cohort.profiles = checksum();
    for suite in SUITES {
        let is_named = arguments.iter().any(|name| name == suite);
        let is_known = cohort.suite.iter().any(|data| data.id == suite);
        if !is_named && (is_known || !arguments.is_empty()) {
            continue;
        }
        let start = Instant::now();
        let data = SuiteData::new(suite, &measured(suite));
        cohort.suite.retain(|known| known.id != suite);
        cohort.suite.push(data);
        cohort.suite.sort_by(|a, b| a.id.cmp(&b.id));
        std::fs::write(file(), cohort.text())?;
        let (seconds, bytes) = (start.elapsed().as_secs(), cohort.text().len());
        println!("{suite}: {seconds} s, the file has {bytes} bytes");
    }
    Ok(())
}

fn file() -> PathBuf {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR"));
    tools.join("../crates/ssdgauge-analysis/cohort/model.toml")
}

/// Carries `suite` out on every drive, two at a time.
fn measured(suite: &str) -> Background {
    let drives: Vec<&str> = drives();
    let left = Mutex::new(drives.iter().enumerate());
    let runs: Mutex<Vec<(usize, Run)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                // Locked only to take the next one.
                let next = || left.lock().unwrap().next();
                while let Some((place, drive)) = next() {
                    match carried_out(suite, drive) {
                        Ok(run) => runs.lock().unwrap().push((place, run)),
                        Err(reason) => println!("{drive} is left out: {reason}"),
                    }
                }
            });
        }
    });
    let mut runs = runs.into_inner().unwrap();
    runs.sort_by_key(|(place, _)| *place);
    let runs: Vec<Run> = runs.into_iter().map(|(_, run)| run).collect();
    Background::from_runs(&runs)
}

/// Carries `suite` out on `drive`, as `ssdgauge run` does.
///
/// # Errors
///
/// Fails where the drive cannot have the capacity, or is too small for the suite.
fn carried_out(suite: &str, drive: &str) -> Result<Run, Box<dyn Error>> {
    let target = format!("{drive}?capacity={CAPACITY}");
    let mut rig = VirtualRig::open(&target, SEED)?;
    let suite = find_built_in(suite)?;
    let plan = plan(&suite, rig.drive(), &Options::default())?;
    Ok(support::carried_out(&plan, &mut rig))
}

/// Returns every profile but the one for tests.
fn drives() -> Vec<&'static str> {
    let profiles = ssdgauge_sim::profiles().into_iter().chain(ssdgauge_sim::reviewed_profiles());
    profiles.map(|profile| profile.name).filter(|name| *name != "tiny").collect()
}

/// Returns the checksum (FNV-1a) of the profiles, without comments and without their descriptions, which change no
/// result.
fn checksum() -> String {
    let profiles = ssdgauge_sim::profiles().into_iter().chain(ssdgauge_sim::reviewed_profiles());
    let lines = profiles.flat_map(|profile| profile.text.lines());
    let lines = lines.filter(|line| !line.starts_with("description = "));
    let parameters = lines.map(|line| line.split('#').next().unwrap_or_default().trim_end());
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", parameters.flat_map(str::bytes).fold(0xcbf2_9ce4_8422_2325, step))
}
