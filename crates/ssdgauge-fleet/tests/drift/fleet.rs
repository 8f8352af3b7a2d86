//! Fleets of virtual drives, of which some have a known fault.

use ssdgauge_core::{Random, Rig};
use ssdgauge_fleet::{DriveRun, drive_run};
use ssdgauge_lab::{Completion, Options, Suite, Unwatched, conduct, plan};
use ssdgauge_runfile::{Opening, Writer};
use ssdgauge_sim::VirtualRig;

/// Healthy drives of a model differ by so much in each figure: one standard deviation. Chosen.
const SPREAD: f64 = 0.02;

/// The steps of one run: an open loop at four rates, closed loops, and bursts of writes.
const SUITE: &str = r#"
[suite]
id = "fleet"
revision = 1
title = "Fleet"
prepare = [{ fill = "sequential", span = "64MiB", block_size = "1MiB" }]
[[test]]
id = "read-rate"
revision = 1
title = "Random read at a rate"
settle = "5s"
stream = { access = "random", block_size = "4KiB", read_percent = 100, span = "64MiB", per_second = 1000 }
sweep = { per_second = [1000, 2000, 4000, 8000] }
until = { time = "1s" }
score = { mean_of = "lat_mean_us" }
[[test]]
id = "read-depth"
revision = 1
title = "Random read"
stream = { access = "random", block_size = "4KiB", read_percent = 100, span = "64MiB" }
sweep = { queue_depth = [1, 8] }
until = { time = "1s" }
score = { at = 8, metric = "iops" }
[[test]]
id = "sequential-read"
revision = 1
title = "Sequential read"
stream = { access = "sequential", block_size = "128KiB", read_percent = 100, span = "64MiB" }
sweep = { queue_depth = [1, 8] }
until = { time = "1s" }
score = { at = 8, metric = "throughput_mb_s" }
[[test]]
id = "write"
revision = 1
title = "Random write"
stream = { access = "random", block_size = "4KiB", read_percent = 0, span = "64MiB" }
sweep = { queue_depth = [1, 8] }
until = { time = "2s", bytes = "64MiB" }
rest = { duty_cycle = 0.25, at_most = "5s" }
score = { at = 8, metric = "iops" }
"#;

/// A fault of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// 5 % of the sense operations are repeated, for 200 µs.
    ReadRetries,
    /// 1 % of the sense operations are repeated, for 300 µs.
    RareReadRetries,
    /// Sense operations take 20 % longer.
    SlowReads,
    /// Program operations take twice as long.
    SlowPrograms,
    /// The controller pauses for 2 ms, 20 times a second.
    Pauses,
    /// The link has half of its rate.
    HalfLink,
}

impl Fault {
    /// Every fault.
    pub(crate) const ALL: [Fault; 6] = [
        Fault::ReadRetries,
        Fault::RareReadRetries,
        Fault::SlowReads,
        Fault::SlowPrograms,
        Fault::Pauses,
        Fault::HalfLink,
    ];
}

/// Returns the profile of a drive whose figures differ a little from those of its model, with `fault` in
/// `strength`: 1 as described.
fn profile(random: &mut Random, fault: Option<Fault>, strength: f64) -> String {
    let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    let mut near = |figure: f64| figure * (1.0 + SPREAD * normal());
    // The figures of tlc-client, which the profile inherits.
    let (mut read, mut program, mut slc) = (near(40.0), near(2_150.0), near(200.0));
    let (mut link, command) = (near(3_400.0), near(2.6));
    let mut effects = String::new();
    match fault {
        None => {}
        Some(Fault::ReadRetries) => {
            effects = format!("read_retry_share = {}\nread_retry_us = 200.0", 0.05 * strength);
        }
        Some(Fault::RareReadRetries) => {
            effects = format!("read_retry_share = {}\nread_retry_us = 300.0", 0.01 * strength);
        }
        Some(Fault::SlowReads) => read *= 1.0 + 0.2 * strength,
        Some(Fault::SlowPrograms) => {
            (program, slc) = (program * (1.0 + strength), slc * (1.0 + strength));
        }
        Some(Fault::Pauses) => {
            let every = 50.0 / strength;
            effects = format!("housekeeping_every_ms = {every}\nhousekeeping_us = 2000.0");
        }
        Some(Fault::HalfLink) => link /= 1.0 + strength,
    }
    format!(
        "inherits = \"tiny\"\n[nand]\nt_r_us = {read}\nt_prog_us = {program}\n\
         [slc]\nt_prog_us = {slc}\n[front]\nlink_mb_s = {link}\nread_command_us = {command}\n\
         [effects]\n{effects}\n"
    )
}

/// Returns one run of the drive with `seed`, which has `fault` in `strength`.
pub(crate) fn run(seed: u64, fault: Option<Fault>, strength: f64) -> DriveRun {
    let text = profile(&mut Random::new(seed, 1), fault, strength);
    let mut rig = VirtualRig::from_toml("fleet", &text, "", seed).unwrap();
    let suite = Suite::parse("fleet.toml", SUITE).unwrap();
    let options = Options { seed, scale_spans: true, ..Options::default() };
    let plan = plan(&suite, rig.drive(), &options).unwrap();
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let file = folder.path().join("run.ssdg");
    let drive = rig.drive().clone();
    let opening = Opening {
        id: &format!("run-{seed}"),
        program: "fleet",
        unix_ms: 0,
        plan: &plan,
        drive: &drive,
        environment: &[],
        properties: &[],
    };
    let mut writer = Writer::create(&file, &opening).unwrap();
    let completion = conduct(&plan, &mut rig, &mut writer, &mut Unwatched).unwrap();
    assert!(matches!(completion, Completion::Finished));
    drop(writer);
    drive_run(&ssdgauge_analysis::read(&file).unwrap()).unwrap()
}

/// Returns the runs of `drives` drives on two threads; the first ones have a fault each, in `strength`.
pub(crate) fn runs(first_seed: u64, drives: u64, strength: f64) -> Vec<DriveRun> {
    let fault = |number: u64| Fault::ALL.get(number as usize).copied();
    let one = |number: u64| run(first_seed + number, fault(number), strength);
    std::thread::scope(|scope| {
        let half = drives / 2;
        let second = scope.spawn(move || (half..drives).map(one).collect::<Vec<_>>());
        let mut all: Vec<DriveRun> = (0..half).map(one).collect();
        all.extend(second.join().unwrap());
        all
    })
}
