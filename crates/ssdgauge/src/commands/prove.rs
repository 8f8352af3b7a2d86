//! `ssdgauge prove`: how much of its stated capacity a drive stores, with the evidence.

mod card;
mod progress;
mod read;

use crate::arguments::{ConsentOptions, ProveArguments, ResumeArguments};
use crate::build_identity;
use crate::failure::{Failure, FailureKind};
use crate::outline::{self, Outline};
use crate::output;
use crate::permitted_writes::Expected;
use crate::process::{self, StopFlag};
use crate::run_file_name::RunFileName;
use crate::suite_options::DEFAULT_SIZE;
use crate::target::{OpenedRig, RunContext, RunExtras, SizeRequest, Target};
use crate::terminal;
use progress::ProveProgress;
use ssdgauge_core::{Bytes, Detail, DriveInfo, Plan, TargetKind};
use ssdgauge_guard::Continued;
use ssdgauge_lab::{Depth, Expectation, ProofError, Recorded, Settings, assumed_rates};
use ssdgauge_runfile::{MAX_WRITES, Opening, RunFile};
use std::path::Path;

/// Proves a drive, or reads what an earlier proof wrote.
///
/// # Errors
///
/// Refuses invalid input, existing outputs and targets that may not be written; fails where the drive
/// does not store what it states, the proof fails, or is interrupted.
pub(crate) fn execute(arguments: &ProveArguments) -> Result<(), Failure> {
    match &arguments.read {
        Some(file) => read::execute(file, &arguments.target, arguments.json),
        None => process::retry_while_busy(arguments.wait, || start(arguments)),
    }
}

fn start(arguments: &ProveArguments) -> Result<(), Failure> {
    let seed = 1;
    let size = SizeRequest { exact: arguments.size, scratch: DEFAULT_SIZE, at_most: None };
    let target = Target::find(&arguments.target, size, seed)?;
    check_target(&target, arguments)?;
    let depth = if arguments.quick { Depth::Quick } else { Depth::Full };
    let plan = ssdgauge_lab::proof_plan(target.info(), depth, seed);
    let plan = plan.map_err(|error| target.refusal_or(error.into()))?;
    target.check_free_space()?;
    let now = process::unix_ms();
    let name = RunFileName::new(arguments.out.as_deref(), &plan.suite.id, now);
    let out = name.find()?;
    output::check_new(&out, Some("the proof"))?;
    ssdgauge_runfile::check_new(&out)?;
    let id = process::run_id(now)?;
    let context = RunContext { run_id: &id, results: &out, continues: None };
    let (expected, written) = expectation(&plan, target.info());
    let about = Expected::new(&expected, written);
    let consent = target.ask(&plan, &arguments.consent, context, about)?;
    let stop = StopFlag::new();
    let extras = RunExtras { stop: &stop, log_ios: None, meters: &[], health_every_s: Some(0) };
    let OpenedRig { mut rig, privileges, .. } =
        target.open(&plan, &consent, context, seed, extras)?;
    // Until here nothing is written, and a signal ends the process at once.
    stop.listen()?;
    if rig.stamped_blocks().is_none() {
        return Err(ProofError::NoBlocks(rig.drive().target.clone()).into());
    }
    let settings = Settings::new(&id, rig.drive().capacity, depth);
    let limit = consent.max_writes.map(|bytes| (MAX_WRITES.to_owned(), bytes.0.to_string()));
    let properties: Vec<_> = [settings.property()].into_iter().chain(limit).collect();
    let opening = Opening {
        id: &id,
        program: &build_identity::program(),
        unix_ms: now,
        plan: &plan,
        drive: rig.drive(),
        environment: &ssdgauge_host::environment(privileges.as_deref()),
        properties: &properties,
    };
    let (out, mut writer) = name.create(out.clone(), &opening)?;
    let drive = rig.drive().name();
    let title = format!("prove on {drive} -> {}", out.display());
    terminal::print_lines([title.as_str()].into_iter().chain(expected.lines()));
    let mut progress = ProveProgress::new(stop);
    let recorded = Recorded::none(settings);
    let result = ssdgauge_lab::prove(&recorded, rig.as_mut(), &mut writer, &mut progress);
    progress.finish();
    let drive = rig.drive().clone();
    drop((writer, rig));
    finish(result.map(drop), &drive, &out, arguments.json)
}

/// Continues the proof of which `rest` is left.
///
/// # Errors
///
/// Fails where the drive is refused or is another one, and as [`execute`].
pub(crate) fn resume(rest: &Outline, arguments: &ResumeArguments) -> Result<(), Failure> {
    let head = &rest.head;
    let stop = StopFlag::new();
    let size = SizeRequest {
        exact: Some(head.drive.capacity),
        scratch: head.drive.capacity,
        at_most: None,
    };
    if head.drive.kind == TargetKind::File {
        return Err(Failure::new(
            FailureKind::Refused,
            format!("the scratch file of {} ended with its run", arguments.file.display()),
            "nothing was written; begin a new proof with `ssdgauge prove`",
        ));
    }
    let target = Target::find(&head.drive.target, size, head.plan.seed)?;
    let continued = Continued {
        disk_sequence: head.drive.detail(Detail::DiskSequence).map(str::to_owned),
        boot_id: head.environment.get("boot_id").cloned(),
        is_own: ssdgauge_runfile::is_own(&arguments.file, rest.origin.as_deref()),
        steps: 0,
        written: rest.earlier,
    };
    let context =
        RunContext { run_id: &head.id, results: &arguments.file, continues: Some(&continued) };
    let max_writes = arguments.consent.max_writes.or(rest.limit);
    let consent = ConsentOptions { max_writes, ..arguments.consent.clone() };
    let (written, earlier) = (rest.expected, rest.earlier);
    let expected = Expected { text: "the rest of an interrupted proof", written, earlier };
    let consent = target.ask(&head.plan, &consent, context, expected)?;
    let extras = RunExtras { stop: &stop, log_ios: None, meters: &[], health_every_s: Some(0) };
    let OpenedRig { mut rig, .. } =
        target.open(&head.plan, &consent, context, head.plan.seed, extras)?;
    let (mut writer, run) = outline::continued(&arguments.file, rest)?;
    let recorded = Recorded::read(&run)?.ok_or_else(|| {
        let error = format!("{} is not the run file of a proof", arguments.file.display());
        Failure::new(FailureKind::Failed, error, "nothing was written to the drive")
    })?;
    drop(run);
    if let Some(limit) = consent.max_writes.filter(|_| consent.max_writes != rest.limit) {
        writer.property(None, MAX_WRITES, &limit.0.to_string())?;
        writer.commit()?;
    }
    stop.listen()?;
    let (began_with, now) = (head.drive.fingerprint(), rig.drive().fingerprint());
    if began_with != now {
        return Err(ssdgauge_lab::ConductError::OtherDrive { began_with, now }.into());
    }
    let mut progress = ProveProgress::new(stop);
    let result = ssdgauge_lab::prove(&recorded, rig.as_mut(), &mut writer, &mut progress);
    progress.finish();
    let drive = rig.drive().clone();
    drop((writer, rig));
    finish(result.map(drop), &drive, &arguments.file, arguments.json)
}

/// Prints the result of the proof in `file`; returns false where it is the run file of another kind.
///
/// # Errors
///
/// Fails where the file cannot be read, or its records are damaged.
pub(crate) fn print_recorded(file: &Path, json: bool) -> Result<bool, Failure> {
    let run = RunFile::open(file)?;
    let Some(recorded) = Recorded::read(&run)? else { return Ok(false) };
    card::print(&ssdgauge_lab::review(&recorded), &run.head().drive, file, json);
    Ok(true)
}

/// Prints what the run file shows, and returns the failure that follows: of the drive where it does not
/// store what it states, otherwise of the run.
fn finish(
    result: Result<(), ProofError>,
    drive: &DriveInfo,
    file: &Path,
    json: bool,
) -> Result<(), Failure> {
    let run = RunFile::open(file)?;
    let Some(recorded) = Recorded::read(&run)? else {
        return result.map_err(Failure::from);
    };
    drop(run);
    let proved = ssdgauge_lab::review(&recorded);
    card::print(&proved, drive, file, json);
    let failure = result.err().map(|error| {
        let mut failure = Failure::from(error);
        failure.hint = failure.hint.replace("FILE", &file.display().to_string());
        failure
    });
    if proved.verdict.is_bad() {
        let cause = failure.map_or(String::new(), |failure| format!("; {}", failure.error));
        return Err(Failure::new(
            FailureKind::Criterion,
            format!("{} does not store all that it states{cause}", drive.target),
            "keep no data on it; see the causes above before you return or report it",
        ));
    }
    match failure {
        Some(failure) => Err(failure),
        None if proved.is_complete => Ok(()),
        None => Err(Failure::new(
            FailureKind::Interrupted,
            "interrupted",
            format!("the evidence is safe; continue with `ssdgauge resume {}`", file.display()),
        )),
    }
}

/// Refuses targets that have no capacity of their own to prove, and virtual drives whose blocks cannot be lost.
fn check_target(target: &Target, arguments: &ProveArguments) -> Result<(), Failure> {
    let refuse = |error: &str, hint: &str| {
        Err(Failure::new(FailureKind::Usage, error, format!("nothing was written; {hint}")))
    };
    match target {
        Target::Virtual(rig) if rig.profile().fault.power_cut_at_s >= 0.0 => {
            return refuse(
                "a proof keeps the contents of a virtual drive apart, so fault.power_cut_at_s would take nothing",
                "leave it out, or cut the power in a run: `ssdgauge run --verify`",
            );
        }
        Target::Virtual(_) | Target::Real(_) => {}
    }
    match target.info().kind {
        TargetKind::Null => refuse("null: stores nothing", "name a drive, or a folder on one"),
        TargetKind::Block | TargetKind::Virtual if arguments.size.is_some() => refuse(
            "--size limits the scratch file of a folder; a drive is proved as a whole",
            "omit --size; --quick writes about an eighth of the drive at most",
        ),
        TargetKind::Block | TargetKind::Virtual | TargetKind::File => Ok(()),
    }
}

/// Returns what the proof is expected to take and to write, as one line, and the bytes.
fn expectation(plan: &Plan, drive: &DriveInfo) -> (String, Expectation<Bytes>) {
    let cost = ssdgauge_lab::estimate(plan, drive.capacity, &assumed_rates(drive));
    let text = format!(
        "expected: {}, writes at most {}; less where the drive stores less than it states",
        cost.time.expected.about(),
        cost.written.at_most.about()
    );
    (text, cost.written)
}
