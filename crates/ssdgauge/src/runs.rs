//! Running a suite: from the command line to the run file, the card and the page.

use crate::arguments::{self, Choice, RunOptions};
use crate::failure::{Failure, Kind};
use crate::progress::Progress;
use crate::target::{Beside, Consent, HEALTH_EVERY, Opened, Origin, SizeWish, Target};
use crate::world::{self, StopWish};
use crate::{meters, reports, suites};
use ssdgauge_core::{Bytes, DriveInfo, Plan};
use ssdgauge_host::Continued;
use ssdgauge_lab::{Completion, ConductError, Endurance, Options, Suite, needed_span};
use ssdgauge_report::PageOptions;
use ssdgauge_runfile::{FindingRecord, Opening, Writer};
use std::path::{Path, PathBuf};

/// The scratch file of a suite that names no size, and the part of a drive that `quick` uses.
const USUAL_SIZE: Bytes = Bytes(4 << 30);

/// Takes a quick look at a target.
pub(crate) fn quick(arguments: &arguments::Quick) -> Result<(), Failure> {
    let size = SizeWish { exact: arguments.size, scratch: USUAL_SIZE, at_most: Some(USUAL_SIZE) };
    start(&suites::find("quick")?, &arguments.target, size, &arguments.options)
}

/// Runs a suite on a target.
pub(crate) fn run(arguments: &arguments::Run) -> Result<(), Failure> {
    let suite = suites::find(&arguments.suite)?;
    let size = size_for(&suite, &arguments.options.choice, arguments.size);
    start(&suite, &arguments.target, size, &arguments.options)
}

/// Returns how large a target has to be for `suite`.
pub(crate) fn size_for(suite: &Suite, choice: &Choice, exact: Option<Bytes>) -> SizeWish {
    let needed = needed_span(suite, &choice.tests).filter(|_| !choice.scale_spans);
    SizeWish { exact, scratch: needed.unwrap_or(USUAL_SIZE), at_most: None }
}

/// Returns what is wished of the drive's endurance.
pub(crate) fn endurance_of(choice: &Choice) -> Endurance {
    Endurance { rated: choice.endurance, share: choice.endurance_share / 100.0 }
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
    ssdgauge_lab::check_wear(&wear, drive, &wish).map_err(|error| {
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

/// Returns what the planner is asked.
pub(crate) fn options_of(choice: &Choice) -> Options {
    Options {
        only: choice.tests.clone(),
        shorten: choice.shorten,
        scale_spans: choice.scale_spans,
        seed: choice.seed,
        repeat: choice.repeat,
        purge: choice.purge,
    }
}

fn start(suite: &Suite, target: &str, size: SizeWish, options: &RunOptions) -> Result<(), Failure> {
    let seed = options.choice.seed;
    let specs = meters::specs(&options.power.specs)?;
    let mut target = Target::find(target, size, seed)?;
    target.read_health_every(&options.health_every.to_string());
    let plan = ssdgauge_lab::plan(suite, target.info(), &options_of(&options.choice))?;
    check_endurance(suite, &plan, target.info(), &options.choice)?;
    target.check_room()?;
    let now = world::unix_ms();
    let out = options.out.clone().unwrap_or_else(|| usual_name(&plan, now));
    check_outputs(&out, options.log_ios.as_deref())?;
    let id = world::run_id(now)?;
    let origin = Origin { run_id: &id, results: &out, continues: None };
    let stop = StopWish::listen()?;
    let consent = Consent { confirm: options.confirm.as_deref(), erase: options.erase.as_deref() };
    let beside = Beside { stop: &stop, log_ios: options.log_ios.as_deref(), meters: &specs };
    let Opened { mut rig, meters: described } =
        target.open(&plan, consent, origin, seed, beside)?;
    let mut environment = ssdgauge_host::environment();
    environment.extend(meters::facts(&described));
    let opening = Opening {
        id: &id,
        program: concat!("ssdgauge ", env!("CARGO_PKG_VERSION")),
        unix_ms: now,
        plan: &plan,
        drive: rig.drive(),
        environment: &environment,
    };
    let mut writer = Writer::create(&out, &opening)?;
    world::talk(&format!("{} on {} -> {}", plan.suite.id, rig.drive().name(), out.display()));
    let mut progress = Progress::new(&plan, stop);
    let result = ssdgauge_lab::conduct(&plan, rig.as_mut(), &mut writer, &mut progress);
    progress.finish();
    drop((writer, rig));
    conclude(result, &out, options.json)
}

/// Goes on with a run.
pub(crate) fn resume(arguments: &arguments::Resume) -> Result<(), Failure> {
    let specs = meters::specs(&arguments.power.specs)?;
    let (mut writer, run) = Writer::resume(&arguments.file)?;
    let head = run.head();
    let plan = &head.plan;
    let stop = StopWish::listen()?;
    let size =
        SizeWish { exact: Some(head.drive.capacity), scratch: head.drive.capacity, at_most: None };
    let mut target = Target::find(&head.drive.target, size, plan.seed)?;
    if let Some(seconds) = head.drive.details.get(HEALTH_EVERY) {
        target.read_health_every(seconds);
    }
    reports::check_page(&reports::page_beside(&arguments.file), &[arguments.file.as_path()])?;
    let (confirm, erase) = (arguments.confirm.as_deref(), arguments.erase.as_deref());
    let consent = Consent { confirm, erase };
    // What the run itself left on its drive needs no second consent: the guard recognises it.
    let before = Continued {
        disk_sequence: head.drive.details.get("disk_sequence").cloned(),
        boot_id: head.environment.get("boot_id").cloned(),
    };
    let origin = Origin { run_id: &head.id, results: &arguments.file, continues: Some(&before) };
    let beside = Beside { stop: &stop, log_ios: None, meters: &specs };
    let Opened { mut rig, meters: described } =
        target.open(plan, consent, origin, plan.seed, beside)?;
    let others = meters::changed(&head.environment, &described);
    if let Some(finding) = &others {
        world::talk(&format!("warning: {}", finding.text));
    }
    let before = run.steps()?.len();
    let mut progress = Progress::new(plan, stop);
    let result = ssdgauge_lab::resume(&run, rig.as_mut(), &mut writer, &mut progress);
    progress.finish();
    // Where nothing was left to do, nothing was measured with other meters either.
    if let (Some(finding), true) = (others, run.steps()?.len() > before) {
        writer.finding(&FindingRecord { step: None, unix_ms: world::unix_ms(), finding })?;
        writer.commit()?;
    }
    drop((writer, rig, run));
    conclude(result, &arguments.file, arguments.json)
}

fn usual_name(plan: &Plan, now: i64) -> PathBuf {
    PathBuf::from(format!("{}-{}.ssdg", plan.suite.id, world::stamp(now)))
}

/// Refuses names of outputs that exist already or mean one file twice, before anything is written.
fn check_outputs(out: &Path, log: Option<&Path>) -> Result<(), Failure> {
    let page = reports::page_beside(out);
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

/// Shows what came of a run.
fn conclude(
    result: Result<Completion, ConductError>,
    file: &Path,
    json: bool,
) -> Result<(), Failure> {
    let completion = result.map_err(|error| {
        let mut failure = Failure::from(error);
        failure.hint = failure.hint.replace("resume FILE", &format!("resume {}", file.display()));
        failure
    })?;
    if completion == Completion::Interrupted {
        let hint = format!("`ssdgauge resume {}` goes on; finished steps are safe", file.display());
        return Err(Failure::new(Kind::Interrupted, "interrupted", hint));
    }
    let run = ssdgauge_report::read(file)?;
    let page = reports::page_beside(file);
    if json {
        let value = ssdgauge_report::json(std::slice::from_ref(&run));
        world::print(&format!("{value:#}\n"));
    } else {
        let width = 100;
        world::print(&ssdgauge_report::card(&run, width, world::has_colour()));
    }
    let runs = std::slice::from_ref(&run);
    reports::write_page(&page, &[file], runs, &PageOptions::default())?;
    world::talk(&format!("run file: {}\nreport:   {}", file.display(), page.display()));
    Ok(())
}
