//! `ssdgauge quick` and `ssdgauge run`: from the command line to the run file, the summary and the
//! page.

use crate::arguments::{self, Choice, RunOptions};
use crate::failure::{Failure, Kind};
use crate::page_file::{self, conclude};
use crate::process::{self, StopFlag};
use crate::progress::Progress;
use crate::suite_options::{USUAL_SIZE, endurance_of, find, options_of, size_for};
use crate::target::{Confirmation, OpenedRig, Origin, RunExtras, SizeRequest, Target};
use crate::{meter_specs, terminal};
use ssdgauge_core::{DriveInfo, Plan};
use ssdgauge_lab::Suite;
use ssdgauge_runfile::{Opening, Writer};
use std::path::{Path, PathBuf};

/// Takes a quick look at a target.
pub(crate) fn quick(arguments: &arguments::Quick) -> Result<(), Failure> {
    let size =
        SizeRequest { exact: arguments.size, scratch: USUAL_SIZE, at_most: Some(USUAL_SIZE) };
    start(&find("quick")?, &arguments.target, size, &arguments.options)
}

/// Runs a suite on a target.
pub(crate) fn run(arguments: &arguments::Run) -> Result<(), Failure> {
    let suite = find(&arguments.suite)?;
    let size = size_for(&suite, &arguments.options.choice, arguments.size);
    start(&suite, &arguments.target, size, &arguments.options)
}

/// Refuses a run that would wear the drive too much, before anything is written.
fn check_endurance(
    suite: &Suite,
    plan: &Plan,
    drive: &DriveInfo,
    choice: &Choice,
) -> Result<(), Failure> {
    let wish = endurance_of(choice);
    let cost = ssdgauge_lab::estimate(plan, choice.write_rate);
    let Some(wear) = ssdgauge_lab::wear(&cost, drive, &wish) else { return Ok(()) };
    ssdgauge_lab::admit(&wear, drive, &wish).map_err(|error| {
        let mut failure = Failure::from(error);
        if let Some((test, written)) = ssdgauge_lab::writes_most(plan, choice.write_rate) {
            let rule = suite.tests.iter().find(|rule| rule.id == test.id);
            let place = rule.map_or(String::new(), |rule| format!(" ({})", rule.place));
            let most = format!("; test '{}'{place} writes {} of it", test.id, written.about());
            failure.hint.push_str(&most);
        }
        failure
    })
}

fn start(
    suite: &Suite,
    target: &str,
    size: SizeRequest,
    options: &RunOptions,
) -> Result<(), Failure> {
    let seed = options.choice.seed;
    let specs = meter_specs::specs(&options.power.specs)?;
    let target = Target::find(target, size, seed)?;
    let plan = ssdgauge_lab::plan(suite, target.info(), &options_of(&options.choice))?;
    check_endurance(suite, &plan, target.info(), &options.choice)?;
    target.check_room()?;
    let now = process::unix_ms();
    let out = options.out.clone().unwrap_or_else(|| usual_name(&plan, now));
    check_outputs(&out, options.log_ios.as_deref())?;
    let id = process::run_id(now)?;
    let origin = Origin { run_id: &id, results: &out, continues: None };
    let stop = StopFlag::listen()?;
    let confirmation =
        Confirmation { confirm: options.confirm.as_deref(), erase: options.erase.as_deref() };
    let extras = RunExtras {
        stop: &stop,
        log_ios: options.log_ios.as_deref(),
        meters: &specs,
        health_every_s: Some(options.health_every.into()),
    };
    let OpenedRig { mut rig, meters: described, privileges } =
        target.open(&plan, confirmation, origin, seed, extras)?;
    let mut environment = ssdgauge_host::environment(privileges.as_deref());
    environment.extend(meter_specs::facts(&described));
    let opening = Opening {
        id: &id,
        program: concat!("ssdgauge ", env!("CARGO_PKG_VERSION")),
        unix_ms: now,
        plan: &plan,
        drive: rig.drive(),
        environment: &environment,
    };
    let mut writer = Writer::create(&out, &opening)?;
    terminal::talk(&format!("{} on {} -> {}", plan.suite.id, rig.drive().name(), out.display()));
    let mut progress = Progress::new(&plan, stop);
    let result = ssdgauge_lab::conduct(&plan, rig.as_mut(), &mut writer, &mut progress);
    progress.finish();
    drop((writer, rig));
    conclude(result, &out, options.json)
}

fn usual_name(plan: &Plan, now: i64) -> PathBuf {
    PathBuf::from(format!("{}-{}.ssdg", plan.suite.id, process::stamp(now)))
}

/// Refuses names of outputs that exist already or mean one file twice, before anything is written.
fn check_outputs(out: &Path, log: Option<&Path>) -> Result<(), Failure> {
    let page = page_file::page_beside(out);
    let files = [Some(out), Some(&page), log];
    for (at, path) in files.iter().flatten().enumerate() {
        if path.symlink_metadata().is_ok() {
            return Err(Failure::new(
                Kind::Refused,
                format!("{} exists already", path.display()),
                "nothing was written; name another --out, or go on with `ssdgauge resume`",
            ));
        }
        if files.iter().flatten().take(at).any(|other| other == path) {
            return Err(Failure::new(
                Kind::Usage,
                format!("{} is named for two outputs of this run", path.display()),
                "nothing was written; a run file ends in .ssdg, its report in .html beside it",
            ));
        }
    }
    Ok(())
}
