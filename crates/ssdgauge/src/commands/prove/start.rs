//! A proof that is carried out or continued.

use super::{card, read};
use crate::arguments::ProveArguments;
use crate::commands::inquiry::Names;
use crate::failure::{Failure, FailureKind};
use crate::outline;
use crate::process;
use crate::suite_options::DEFAULT_SIZE;
use crate::target::{SizeRequest, Target};
use ssdgauge_core::{Bytes, DriveInfo, Plan, TargetKind};
use ssdgauge_lab::{
    Completion, ConductError, Depth, Expectation, ProofError, Recorded, Settings, assumed_rates,
    conduct_proof,
};
use ssdgauge_runfile::RunFile;
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
    let (expected, written) = expectation(&plan, target.info());
    let names = Names::new(&plan, arguments.out.as_deref(), "the proof")?;
    let mut begun = names.open(target, &plan, &arguments.consent, (&expected, written))?;
    if begun.rig.stamped_blocks().is_none() {
        return Err(ProofError::NoBlocks(begun.rig.drive().target.clone()).into());
    }
    let settings = Settings::new(&begun.id, begun.rig.drive().capacity, depth);
    let recorded = Recorded::none(settings);
    let (file, result) =
        begun.carry_out(&plan, &expected, settings.property(), |rig, writer, progress| {
            conduct_proof(&plan, &recorded, rig, writer, progress)
        })?;
    conclude(result, &file, arguments.json)
}

/// Prints what the run file of a proof shows, which ended with `result`.
///
/// # Errors
///
/// The drive does not store what it states; otherwise the failure or the interruption of the run.
pub(crate) fn conclude(
    result: Result<Completion, ConductError>,
    file: &Path,
    json: bool,
) -> Result<(), Failure> {
    let run = RunFile::open(file)?;
    let Some(recorded) = Recorded::read(&run)? else {
        return result.map(drop).map_err(Failure::from);
    };
    let head = run.head().clone();
    drop(run);
    let (drive, way_on) = (&head.drive, outline::way_on(&head, file));
    let proved = ssdgauge_lab::review(&recorded);
    card::print(&proved, drive, file, json);
    let failure = result.err().map(|error| {
        let mut failure = Failure::from(error);
        failure.hint = failure
            .hint
            .replace("continue with `ssdgauge resume FILE`", &way_on)
            .replace("FILE", &file.display().to_string());
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
            format!("the evidence is safe; {way_on}"),
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
