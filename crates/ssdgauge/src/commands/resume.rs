//! `ssdgauge resume`: continues a run that was interrupted.

use crate::arguments::{self, ConsentOptions};
use crate::build_identity;
use crate::commands::{prove, xray};
use crate::commit_interval;
use crate::failure::{Failure, FailureKind};
use crate::outline::{self, Outline};
use crate::page_file::finish_run;
use crate::permitted_writes::Expected;
use crate::process::{self, StopFlag};
use crate::target::{OpenedRig, RunContext, RunExtras, SizeRequest, Target};
use crate::trace_file::TraceInput;
use crate::{meter_specs, notification, reader, restriction};
use ssdgauge_core::{Detail, DriveInfo, Nanos, Plan, Replay, TargetKind};
use ssdgauge_guard::Continued;
use ssdgauge_lab::{Completion, ConductError, Outlook, assumed_rates};
use ssdgauge_runfile::{FindingRecord, MAX_WRITES};
use ssdgauge_watch::live::sender::LiveSeconds;
use ssdgauge_watch::progress::Progress;
use ssdgauge_watch::rest_of_run::RestOfRun;
use ssdgauge_watch::terminal;

/// Continues a run.
///
/// # Errors
///
/// Fails where the run file cannot be read, the drive is refused or is another one, and as `run`.
pub(crate) fn execute(arguments: &arguments::ResumeArguments) -> Result<(), Failure> {
    process::retry_while_busy(arguments.wait, || resume(arguments))
}

/// Continues a run once; a drive that another run uses is a failure.
///
/// # Errors
///
/// As [`execute`].
pub(crate) fn resume(arguments: &arguments::ResumeArguments) -> Result<(), Failure> {
    let rest = outline::read(&arguments.file)?;
    // The evidence of a proof and of an X-ray has no power.
    let has_power = rest.head.drive.kind != TargetKind::Virtual && !rest.is_proof && !rest.is_xray;
    let specs = meter_specs::of_run(&arguments.power, has_power)?;
    // From here on nothing of the machine is needed.
    if rest.needs_no_drive() && !reader::is_restricted() {
        restriction::confine_next_to(&arguments.file)?;
    }
    let head = &rest.head;
    if let Some(program) = head.imported_from() {
        return Err(Failure::new(
            FailureKind::Usage,
            format!("{} was imported from {program}, and has no rest", arguments.file.display()),
            "the file was not changed; run the load with `ssdgauge run`, or import another result",
        ));
    }
    let plan = &head.plan;
    if head.has_lost_its_target() {
        return Err(Failure::new(
            FailureKind::Refused,
            format!("the scratch file of {} ended with its run", arguments.file.display()),
            format!("nothing was written; {}", outline::way_on(head, &arguments.file)),
        ));
    }
    let of_file = |replay: &&Replay| replay.generated.is_none();
    let replay = plan.steps().find_map(|(_, _, step)| step.action.replay().filter(of_file));
    let trace = replay.map(TraceInput::open_again).transpose()?;
    let stop = StopFlag::new();
    let size = SizeRequest {
        exact: Some(head.drive.capacity),
        scratch: head.drive.capacity,
        at_most: None,
    };
    let target = Target::find(&head.drive.target, size, plan.seed)?;
    // A complete run writes nothing: it needs no consent, whatever its drive holds now.
    if rest.is_over {
        drop(target);
        if !reader::is_restricted() {
            restriction::confine_next_to(&arguments.file)?;
        }
        let (writer, run) = outline::continued(&arguments.file, &rest)?;
        let ended = ssdgauge_lab::ended(&run).transpose();
        let ended = ended.expect("the same steps are over");
        // The run was killed after its last step.
        LiveSeconds::remove_left(&arguments.file);
        drop((writer, run));
        return finish(&rest, ended, arguments);
    }
    let health_every_s = head.drive.number(Detail::HealthEvery);
    // The test data of the run itself needs no second confirmation: the guard recognises it.
    let continued = Continued {
        disk_sequence: head.drive.detail(Detail::DiskSequence).map(str::to_owned),
        boot_id: head.environment.get("boot_id").cloned(),
        is_own: ssdgauge_runfile::is_own(&arguments.file, rest.origin.as_deref()),
        steps: rest.steps,
        written: rest.earlier,
    };
    let context =
        RunContext { run_id: &head.id, results: &arguments.file, continues: Some(&continued) };
    let max_writes = arguments.consent.max_writes.or(rest.limit);
    let consent = ConsentOptions { max_writes, ..arguments.consent.clone() };
    let (written, earlier) = (rest.expected, rest.earlier);
    let expected = Expected { text: "the rest of an interrupted run", written, earlier };
    let consent = target.ask(plan, &consent, context, expected)?;
    let extras = RunExtras { stop: &stop, log_ios: None, meters: &specs, health_every_s };
    let is_real = head.drive.kind != TargetKind::Virtual;
    let OpenedRig { mut rig, meters: described, .. } =
        match rest.is_xray && is_real && !plan.is_destructive() {
            true => OpenedRig::reading(xray::open_for_reading(&head.drive.target)?),
            false => target.open(plan, &consent, context, plan.seed, extras)?,
        };
    let (mut writer, run) = outline::continued(&arguments.file, &rest)?;
    notification::begun(&arguments.file, rig.drive());
    // The progress finds a step in this plan by its address.
    let plan = &run.head().plan;
    let (earlier, began) = (run.steps()?, RestOfRun::read(&run)?);
    // Until here nothing is written, and a signal ends the process at once.
    stop.listen()?;
    let meters_changed = meter_specs::change_finding(&head.environment, &described);
    if let Some(finding) = &meters_changed {
        terminal::print_message(&format!("warning: {}", finding.text));
    }
    if let Some(limit) = consent.max_writes.filter(|_| consent.max_writes != rest.limit) {
        writer.property(None, MAX_WRITES, &limit.0.to_string())?;
        writer.commit()?;
    }
    terminal::print_lines(beginning(&began, plan, rig.drive()));
    let steps_before = earlier.len();
    let mut outlook = Outlook::new(plan, head.drive.capacity, &assumed_rates(&head.drive));
    outlook.resume(&earlier);
    let mut progress = Progress::new(plan, outlook, stop.flag())
        .with_commit_interval(commit_interval::for_run(&arguments.file, rig.drive()))
        .with_live_seconds(LiveSeconds::of_run(&arguments.file, &head.id, rig.drive()))
        .with_requests(trace.map(|trace| trace.for_drive(rig.drive()).into_requests()));
    let program = build_identity::program();
    let result = ssdgauge_lab::resume(&run, rig.as_mut(), &mut writer, &mut progress, &program);
    progress.finish();
    // A rest without steps, as a flush, has none that other meters measured.
    if let (Some(finding), true) = (meters_changed, run.steps()?.len() > steps_before) {
        writer.finding(&FindingRecord { step: None, unix_ms: process::unix_ms(), finding })?;
        writer.seal()?;
        writer.commit()?;
    }
    drop((writer, rig, run));
    finish(&rest, result, arguments)
}

/// Prints what the run in the file shows, and ends as it did.
fn finish(
    rest: &Outline,
    result: Result<Completion, ConductError>,
    arguments: &arguments::ResumeArguments,
) -> Result<(), Failure> {
    let conclude = match (rest.is_proof, rest.is_xray) {
        (true, _) => prove::conclude,
        (false, true) => xray::conclude,
        (false, false) => finish_run,
    };
    conclude(result, &arguments.file, arguments.json)
}

/// Returns what is continued, since when it has stopped, and what its rest takes.
fn beginning(rest: &RestOfRun, plan: &Plan, drive: &DriveInfo) -> [String; 2] {
    let serial = drive.serial.as_deref().map_or_else(String::new, |serial| format!(" ({serial})"));
    let ago = rest.last_unix_ms.map(|last| (process::unix_ms() - last) / 1_000);
    let ago = ago
        .and_then(|seconds| u64::try_from(seconds).ok())
        .map_or_else(String::new, |ago| format!(", stopped {} ago", Nanos::from_secs(ago).about()));
    let left = rest.left().map_or_else(String::new, |left| format!("; {left}"));
    [
        format!("resume {} on {}{serial}{ago}", plan.suite.id, drive.name()),
        format!("{}{left}", rest.finished()),
    ]
}
