//! `ssdgauge crosscheck`: finished steps of a run again, by fio and by ssdgauge in turn.
//!
//! Both programs use one descriptor of one target, which this process holds for the whole check: a block
//! device passes the guard as for a run, and a scratch file is new and written first.

mod fio_process;
mod output;
mod selection;

use crate::arguments::{ConsentOptions, CrosscheckArguments};
use crate::failure::{Failure, FailureKind};
use crate::outline::{self, Records};
use crate::permitted_writes::{self, Expected};
use crate::process::StopFlag;
use crate::reader::{self, Input};
use crate::target::{SizeRequest, Target};
use fio_process::Job;
use output::{CheckResult, Conditions};
use selection::{CheckedStep, Selection, Wanted};
use serde::{Deserialize, Serialize};
use ssdgauge_core::{
    Access, Bytes, Detail, Direction, DriveInfo, EndedBy, FindingKind, Nanos, Preparation,
    Recording, Rig, RigError, Sink, TargetKind,
};
use ssdgauge_fio::{Agreement, JobTarget, Repetition};
use ssdgauge_guard::{Continued, TargetOptions};
use ssdgauge_host::LinuxRig;
use ssdgauge_lab::Expectation;
use ssdgauge_runfile::Head;
use ssdgauge_watch::terminal;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

/// The blocks of the fill of a scratch file, and the unit of its size.
const FILL_BLOCK: Bytes = Bytes(1 << 20);
/// The time without load before each repetition, so that all begin on an idle drive.
const PAUSE: Nanos = Nanos(500_000_000);

/// Runs steps again and prints whether both programs agree.
///
/// # Errors
///
/// Refuses targets that the guard does not admit, and runs without a step that fio can do; fails with
/// exit code 4 where the programs differ, and with 75 where the repetitions differ too much.
pub(crate) fn execute(arguments: &CrosscheckArguments) -> Result<(), Failure> {
    let Records { head, steps: records, is_complete, origin } =
        outline::records(&arguments.file, arguments.writes)?;
    let head = &head;
    check_origin(head, &arguments.file)?;
    let wanted = Wanted { steps: &arguments.steps, writes: arguments.writes, time: arguments.time };
    let Selection { checked, left_out } = selection::select(&head.plan, &records, wanted)?;
    check_selection(arguments, &checked, &left_out)?;
    check_remaining(head, is_complete, arguments, &checked)?;
    let version = fio_process::version(&arguments.fio)?;
    let stop = StopFlag::new();
    let mut rig = open(arguments, (head, origin.as_deref()), &checked, &version)?;
    rig.stop_on(stop.flag(), terminal::print_message);
    // Until here nothing is written, and a signal ends the process at once.
    stop.listen()?;
    let target = rig.drive().target.clone();
    let conditions = Conditions { fio: &version, target: &target, turns: arguments.turns };
    announce(arguments, &conditions, &checked, rig.drive());
    fill(&mut rig, &checked, &stop)?;
    rig.settle();
    let mut results = Vec::new();
    for step in checked {
        let result = check(&mut rig, step, arguments, &stop)?;
        if !arguments.json {
            terminal::print_text(&output::step_text(&result, terminal::width::columns()));
        }
        results.push(result);
    }
    let verdict = results.iter().map(|result| result.agreement.unwrap_or(Agreement::TooNoisy));
    let verdict = verdict.max().unwrap_or(Agreement::TooNoisy);
    match arguments.json {
        true => {
            terminal::print_document(&output::document(&conditions, &results, &left_out, verdict))
        }
        false => {
            terminal::print_text(&format!(
                "{}{}: {}",
                output::left_out_text(&left_out),
                conditions.line(),
                verdict.name()
            ));
        }
    }
    exit(verdict)
}

/// The remedy for repetitions that are too short.
const TOO_SHORT: &str =
    "nothing was written; raise --time, or check a run whose steps take longer (without --shorten)";

/// Returns the failure of a verdict that is none of agreement.
fn exit(verdict: Agreement) -> Result<(), Failure> {
    match verdict {
        Agreement::Agrees => Ok(()),
        Agreement::Differs => Err(Failure::new(
            FailureKind::Criterion,
            "ssdgauge and fio differ",
            "docs/explanation/latency.md has the definitions side by side",
        )),
        Agreement::TooNoisy => Err(Failure::new(
            FailureKind::Undecided,
            "too noisy to tell: the repetitions differ by more than the limit, or had too few requests",
            "close other programs, and raise --turns and --time",
        )),
    }
}

/// Refuses runs without a target that fio could use.
fn check_origin(head: &Head, file: &Path) -> Result<(), Failure> {
    let name = file.display();
    let usage = |error: String, hint: &str| Err(Failure::new(FailureKind::Usage, error, hint));
    if let Some(program) = head.imported_from() {
        let hint = "run the load with `ssdgauge run`, and check that run";
        return usage(format!("{name} was imported from {program}"), hint);
    }
    if head.plan.polled {
        let hint = "check a run without --polled: the jobs of fio use interrupts";
        return usage(format!("the completions of {name} were polled"), hint);
    }
    if head.plan.pass_through {
        let hint = "check a run without --pass-through: the jobs of fio use the block layer";
        return usage(format!("the requests of {name} were passed through"), hint);
    }
    match head.drive.kind {
        TargetKind::Block | TargetKind::File => Ok(()),
        TargetKind::Virtual => usage(
            format!("{name} is a run of a virtual drive (MODEL), which fio cannot open"),
            "`ssdgauge serve` offers a virtual drive to fio",
        ),
        TargetKind::Null => usage(
            format!("{name} is a run without a device"),
            "`./bench` compares the engine with the null engine of fio",
        ),
    }
}

/// Refuses a check without a step, and one in which a named step cannot be checked.
fn check_selection(
    arguments: &CrosscheckArguments,
    checked: &[CheckedStep<'_>],
    left_out: &[selection::LeftOutStep],
) -> Result<(), Failure> {
    let refused = |error: String, hint: &str| {
        Err(Failure::new(FailureKind::Refused, error, format!("nothing was written; {hint}")))
    };
    let named = if arguments.steps.is_empty() { None } else { left_out.first() };
    let shortest = left_out.iter().find(|one| one.is_short);
    if let Some(short) =
        named.or(shortest.filter(|_| checked.is_empty())).filter(|one| one.is_short)
    {
        let error = format!("step {}, {}: {}", short.number, short.name, short.reasons.join("; "));
        return Err(Failure::new(FailureKind::Usage, error, TOO_SHORT));
    }
    if let Some(first) = named {
        let reasons = first.reasons.join("; ");
        let error = format!("step {}, {}, cannot be checked: {reasons}", first.number, first.name);
        return refused(error, "name other steps");
    }
    if checked.is_empty() {
        let reasons = output::left_out_text(left_out);
        let error = format!("no step can be checked\n{}", reasons.trim_end());
        return refused(error, "steps that write need --writes");
    }
    Ok(())
}

/// Refuses steps that write where the run is not complete: its rest needs the drive as it is.
fn check_remaining(
    head: &Head,
    is_complete: Option<bool>,
    arguments: &CrosscheckArguments,
    checked: &[CheckedStep<'_>],
) -> Result<(), Failure> {
    let is_drive = head.drive.kind == TargetKind::Block;
    let writes = checked.iter().any(|one| one.workload.writes());
    if !is_drive || !writes || is_complete == Some(true) {
        return Ok(());
    }
    Err(Failure::new(
        FailureKind::Refused,
        format!(
            "{} is not complete, and its rest needs the drive as it is",
            arguments.file.display()
        ),
        "nothing was written; continue it with `ssdgauge resume` first, or omit --writes",
    ))
}

/// Opens the target of the run. A scratch file has the length of the range that the steps address.
fn open(
    arguments: &CrosscheckArguments,
    (head, origin): (&Head, Option<&str>),
    checked: &[CheckedStep<'_>],
    fio: &str,
) -> Result<LinuxRig, Failure> {
    let extent = Bytes(selection::extent(checked).0.next_multiple_of(FILL_BLOCK.0));
    let size = match head.drive.kind {
        TargetKind::File => extent,
        TargetKind::Block | TargetKind::Null | TargetKind::Virtual => head.drive.capacity,
    };
    let size = SizeRequest { exact: Some(size), scratch: size, at_most: None };
    let target = Target::find(&head.drive.target, size, head.plan.seed)?;
    target.check_free_space()?;
    let written = expected_writes(arguments, target.info(), checked);
    let text = format!("{} turns by {fio} and by ssdgauge", arguments.turns);
    let expected = Expected::new(&text, written);
    let is_scratch = head.drive.kind == TargetKind::File;
    let name = "the check";
    let max_writes =
        permitted_writes::ask(name, target.info(), is_scratch, &arguments.consent, expected)?;
    let Target::Real(candidate) = target else {
        let error = format!("{} is neither a file nor a block device", head.drive.target);
        return Err(Failure::new(FailureKind::Refused, error, "nothing was written"));
    };
    // The run file names the target, and may come from a stranger: as for `resume`.
    let recorded = Continued {
        disk_sequence: head.drive.detail(Detail::DiskSequence).map(str::to_owned),
        boot_id: head.environment.get("boot_id").cloned(),
        is_own: ssdgauge_runfile::is_own(&arguments.file, origin),
        steps: 0,
        written: Bytes(0),
    };
    let options = TargetOptions {
        confirm: ConsentOptions::named(&arguments.consent.confirm, None),
        erase: ConsentOptions::named(&arguments.consent.erase, None),
        confined: ConsentOptions::named(&arguments.consent.confined, None),
        continues: Some(&recorded),
        results: Some(&arguments.file),
        health_every_s: Some(0),
        allowed_writes: max_writes,
        ..TargetOptions::default()
    };
    Ok(LinuxRig::open_with(*candidate, &options, head.plan.seed)?)
}

/// Returns the bytes that the check is expected to write: the fill of a scratch file, and for each turn of both
/// programs what a step can write in its time.
fn expected_writes(
    arguments: &CrosscheckArguments,
    drive: &DriveInfo,
    checked: &[CheckedStep<'_>],
) -> Expectation<Bytes> {
    let fill = match drive.kind {
        TargetKind::File => selection::extent(checked),
        TargetKind::Block | TargetKind::Null | TargetKind::Virtual => Bytes(0),
    };
    let steps = checked.iter().filter(|one| one.workload.writes());
    let of_steps = steps.map(|one| permitted_writes::of_load(one.workload, &one.until, drive));
    let once = of_steps.fold(Expectation::default(), Expectation::plus);
    let turns = u64::from(arguments.turns) * 2;
    once.map(|bytes: Bytes| Bytes(bytes.0.saturating_mul(turns)) + fill)
}

/// Prints what is about to be run.
fn announce(
    arguments: &CrosscheckArguments,
    conditions: &Conditions<'_>,
    checked: &[CheckedStep<'_>],
    drive: &DriveInfo,
) {
    let times = checked.iter().filter_map(|one| one.until.time);
    let most = times.map(|time| time.as_secs_f64()).sum::<f64>() * f64::from(arguments.turns) * 2.0;
    let steps =
        if checked.len() == 1 { "1 step".into() } else { format!("{} steps", checked.len()) };
    let place = match drive.kind {
        TargetKind::File => "a new scratch file, removed afterwards",
        TargetKind::Block | TargetKind::Null | TargetKind::Virtual => "the drive as it is",
    };
    let conditions = conditions.line();
    terminal::print_message(&format!(
        "{conditions}: {steps} on {place}, at most {most:.0} s of load"
    ));
}

/// Writes the scratch file, which reads need.
fn fill(rig: &mut LinuxRig, checked: &[CheckedStep<'_>], stop: &StopFlag) -> Result<(), Failure> {
    if rig.drive().kind != TargetKind::File {
        return Ok(());
    }
    let span = Bytes(selection::extent(checked).0.next_multiple_of(FILL_BLOCK.0));
    let fill = Preparation::Fill {
        access: Access::Sequential,
        block_size: FILL_BLOCK,
        offset: Bytes(0),
        span: Bytes(span.0.min(rig.drive().capacity.0)),
    };
    rig.prepare(&fill, &mut Recording::default()).map_err(rig_failure)?;
    interrupted(stop)
}

/// Runs one step by both programs in turn, fio first, and compares them.
fn check<'a>(
    rig: &mut LinuxRig,
    step: CheckedStep<'a>,
    arguments: &CrosscheckArguments,
    stop: &StopFlag,
) -> Result<CheckResult<'a>, Failure> {
    let mut sink = Recording::default();
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for turn in 1..=arguments.turns {
        let name = step.name();
        terminal::print_message(&format!("{name}: {turn} of {}", arguments.turns));
        rig.rest(PAUSE, &mut sink).map_err(rig_failure)?;
        interrupted(stop)?;
        theirs.push(by_fio(rig, &step, arguments, stop, &mut sink)?);
        rig.rest(PAUSE, &mut sink).map_err(rig_failure)?;
        interrupted(stop)?;
        sink.intervals.clear();
        let ended = rig.run(step.workload, &step.until, &mut sink).map_err(rig_failure)?;
        interrupted(stop)?;
        if sink.errors() > 0 || !matches!(ended.by, EndedBy::Time | EndedBy::Bytes) {
            let error =
                format!("{name} ended by {} with {} errors", ended.by.name(), sink.errors());
            return Err(Failure::new(FailureKind::Failed, error, "see the kernel log (dmesg)"));
        }
        check_length(&step, ended.elapsed)?;
        ours.push(Repetition::from_intervals(ended.elapsed, &sink.intervals));
    }
    let comparisons = ssdgauge_fio::compare(&theirs, &ours);
    let agreement = ssdgauge_fio::verdict(&comparisons);
    let mut findings: Vec<ssdgauge_core::Finding> = Vec::new();
    for finding in sink.findings {
        if !findings.iter().any(|known| known.kind == finding.kind) {
            findings.push(finding);
        }
    }
    Ok(CheckResult { step, comparisons, agreement, findings })
}

/// Runs one repetition by fio, on the descriptor that this process holds.
fn by_fio(
    rig: &mut LinuxRig,
    step: &CheckedStep<'_>,
    arguments: &CrosscheckArguments,
    stop: &StopFlag,
    sink: &mut dyn Sink,
) -> Result<Vec<Repetition>, Failure> {
    let file = rig.lend(step.workload, &step.until, sink).map_err(rig_failure)?;
    // fio inherits the descriptor under this number. A path through this process would lead
    // elsewhere once it has ended.
    let target = JobTarget::Path(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let failed = |error: String| {
        let hint = "`ssdgauge export --fio` prints the jobs of the run, for a trial by hand";
        Failure::new(FailureKind::Failed, format!("{}: {error}", step.name()), hint)
    };
    let until = rig.limited(step.workload, &step.until);
    let text = ssdgauge_fio::check_job(step.workload, &until, &target, 1)
        .map_err(|error| failed(error.to_string()))?;
    let time = Duration::from_nanos(step.until.time.map_or(0, |time| time.0));
    let job = Job { text: &text, target: &file, reads_only: !step.workload.writes(), time };
    let result = fio_process::run(&arguments.fio, job, stop)?;
    // This process has the drive, and the program is one that the user names.
    let result = result_of_fio(&result).map_err(|failure| failed(failure.error))?;
    rig.returned(step.workload, &step.until, result.written, sink).map_err(rig_failure)?;
    check_length(step, result.elapsed)?;
    Ok(result.repetitions)
}

/// What fio measured in one repetition of a step.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FioResult {
    /// The time that it took.
    pub(crate) elapsed: Nanos,
    /// The bytes that it wrote.
    pub(crate) written: Bytes,
    /// One value for each direction with requests.
    pub(crate) repetitions: Vec<Repetition>,
}

/// Returns what `text`, the output of fio for the only step of a job, has measured.
///
/// # Errors
///
/// Fails where it is not such an output, or requests failed.
pub(crate) fn result_of_fio(text: &str) -> Result<FioResult, Failure> {
    reader::ask(|| result_here(text), &["fio"], &[], Input::Text(text))
}

fn result_here(text: &str) -> Result<FioResult, Failure> {
    let failed = |error: String| Failure::new(FailureKind::Failed, error, "run the job by hand");
    let imported = ssdgauge_fio::import(text).map_err(|error| failed(error.to_string()))?;
    let [imported] = imported.steps.as_slice() else {
        return Err(failed("fio reported several groups of jobs".into()));
    };
    if let Some(fault) = imported.findings.iter().find(|one| one.kind == FindingKind::Faults) {
        return Err(failed(format!("fio: {}", fault.text)));
    }
    let repetitions = Repetition::from_intervals(imported.elapsed, &imported.intervals);
    let writes = imported.intervals.iter().filter(|one| one.direction == Direction::Write);
    let written = Bytes(writes.map(|one| one.bytes).sum());
    Ok(FioResult { elapsed: imported.elapsed, written, repetitions })
}

/// Refuses a repetition that ended by its bytes before it could be judged.
fn check_length(step: &CheckedStep<'_>, elapsed: Nanos) -> Result<(), Failure> {
    if elapsed >= selection::LEAST_TIME || step.until.bytes.is_none() {
        return Ok(());
    }
    let error = format!("step {}, {}: {}", step.number, step.name(), selection::too_short(elapsed));
    Err(Failure::new(FailureKind::Usage, error, "check a run whose steps have more bytes"))
}

fn interrupted(stop: &StopFlag) -> Result<(), Failure> {
    match stop.is_set() {
        true => {
            let hint = "start it again; a check keeps no results";
            Err(Failure::new(FailureKind::Interrupted, "interrupted", hint))
        }
        false => Ok(()),
    }
}

fn rig_failure(error: RigError) -> Failure {
    let kind = match error {
        RigError::Refused(_) | RigError::Changed(_) | RigError::Holds { .. } => {
            FailureKind::Refused
        }
        RigError::System { .. }
        | RigError::CannotPurge { .. }
        | RigError::OverBudget { .. }
        | RigError::OverLimit { .. }
        | RigError::NotKept { .. }
        | RigError::Gone(_)
        | RigError::Shrank { .. }
        | RigError::Hung { .. } => FailureKind::Failed,
    };
    Failure::new(
        kind,
        error.to_string(),
        "the step that was about to begin wrote nothing; see dmesg",
    )
}
