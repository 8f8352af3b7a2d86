//! An X-ray that is carried out or continued.

use super::files::Files;
use super::{card, compare, deliver, read, show, spec};
use crate::arguments::XrayArguments;
use crate::commands::inquiry::{Begun, Names};
use crate::failure::{Failure, FailureKind};
use crate::outline;
use crate::process;
use crate::restriction;
use crate::suggestion;
use crate::suite_options::DEFAULT_SIZE;
use crate::target::{SizeRequest, Target};
use ssdgauge_core::{Bytes, DriveInfo, Plan, Rig, TargetKind, is_virtual};
use ssdgauge_guard::{LookPlace, check_answer};
use ssdgauge_host::{DriveReader, ReadingRig};
use ssdgauge_lab::{
    Completion, ConductError, Expectation, RecordedXray, XrayError, XrayOptions, assumed_rates,
    conduct_xray, xray_plan,
};
use ssdgauge_xray::{Stated, Structure};
use std::path::Path;

/// Looks for the structures of a drive.
///
/// # Errors
///
/// Refuses invalid input, existing outputs and targets that may not be written; fails where the drive
/// fails, or the X-ray is interrupted.
pub(crate) fn execute(arguments: &XrayArguments) -> Result<(), Failure> {
    if let Some(cards) = &arguments.compare {
        return compare(cards, arguments.page.as_deref(), arguments.json);
    }
    let stated = arguments.spec.as_deref().map(spec::read).transpose()?.unwrap_or_default();
    let files = Files::check(arguments)?;
    if let Some(from) = &arguments.from {
        let card = read::card(from)?;
        show(&card, &stated);
        files.write(&card)?;
        return spec::conclude(&stated, &card.answers);
    }
    check_out(arguments.out.as_deref())?;
    let name = arguments.target.as_deref();
    let name = name.expect("the command line demands a target without --compare and --from");
    let only = structures(&arguments.only)?;
    check_steady(arguments.steady, &only)?;
    let XrayArguments { gentle, steady, seed, .. } = *arguments;
    let options = XrayOptions { gentle, steady, only, seed };
    let wanted = Wanted { name, arguments, options: &options, stated: &stated, files: &files };
    match arguments.gentle && !is_virtual(name) {
        true => read_only(&wanted),
        false => process::retry_while_busy(arguments.wait, || start(&wanted)),
    }
}

/// Refuses a name for the card, which the run file replaced.
fn check_out(out: Option<&Path>) -> Result<(), Failure> {
    let is_card = |out: &&Path| out.extension().is_some_and(|suffix| suffix == "json");
    match out.filter(is_card) {
        None => Ok(()),
        Some(out) => Err(Failure::new(
            FailureKind::Usage,
            format!("--out names the run file of the X-ray, not a card: {}", out.display()),
            "nothing was written; name it .ssdg, and print the card with --json, at any time with `ssdgauge report \
             FILE --json`",
        )),
    }
}

/// What the command line asks for.
struct Wanted<'a> {
    name: &'a str,
    arguments: &'a XrayArguments,
    options: &'a XrayOptions,
    stated: &'a [Stated],
    files: &'a Files<'a>,
}

/// Returns the structures called `keys`.
fn structures(keys: &[String]) -> Result<Vec<Structure>, Failure> {
    let find = |key: &String| {
        Structure::from_key(key).ok_or_else(|| {
            let known = Structure::ALL.map(Structure::key);
            let hint = match suggestion::nearest(key, known) {
                Some(meant) => format!("did you mean '{meant}'? known: {}", known.join(", ")),
                None => format!("known: {}", known.join(", ")),
            };
            Failure::new(FailureKind::Usage, format!("unknown structure '{key}'"), hint)
        })
    };
    keys.iter().map(find).collect()
}

/// Refuses structures of the steady state without --steady, which writes the drive several times, and the reverse.
fn check_steady(steady: bool, only: &[Structure]) -> Result<(), Failure> {
    let refuse = |error: String, hint: String| Err(Failure::new(FailureKind::Usage, error, hint));
    let of_steady = only.iter().find(|structure| structure.needs_steady_state());
    match (steady, of_steady) {
        (false, Some(structure)) => refuse(
            format!("'{}' shows only in the steady state of random writes", structure.key()),
            "nothing was written; add --steady, and --plan to see what it writes".into(),
        ),
        (true, None) if !only.is_empty() => {
            let known = Structure::ALL.into_iter().filter(|one| one.needs_steady_state());
            let known: Vec<&str> = known.map(Structure::key).collect();
            refuse(
                "--only names no structure that needs --steady".into(),
                format!("nothing was written; omit --steady, or name {}", known.join(" or ")),
            )
        }
        (true, _) | (false, None) => Ok(()),
    }
}

/// Looks into a target that is admitted for writing, or into a virtual drive.
fn start(wanted: &Wanted<'_>) -> Result<(), Failure> {
    let Wanted { name, arguments, options, .. } = *wanted;
    let size = SizeRequest { exact: arguments.size, scratch: DEFAULT_SIZE, at_most: None };
    let target = Target::find(name, size, arguments.seed)?;
    check_target(target.info(), arguments)?;
    let plan = xray_plan(target.info(), options);
    let plan = plan.map_err(|error| target.refusal_or(error.into()))?;
    let (expected, written) = expectation(&plan, target.info());
    if arguments.plan {
        card::print_plan(&plan, target.info(), &expected, arguments.json);
        return Ok(());
    }
    let names = Names::new(&plan, arguments.out.as_deref(), "the X-ray")?;
    let begun = names.open(target, &plan, &arguments.consent, (&expected, written))?;
    carry_out(begun, &plan, &expected, wanted)
}

/// Looks into a drive or a file that is opened read-only.
fn read_only(wanted: &Wanted<'_>) -> Result<(), Failure> {
    let Wanted { name, arguments, options, files, .. } = *wanted;
    let rig = open_for_reading(name)?;
    let plan = xray_plan(rig.drive(), options)?;
    let (expected, _) = expectation(&plan, rig.drive());
    if arguments.plan {
        card::print_plan(&plan, rig.drive(), &expected, arguments.json);
        return Ok(());
    }
    let names = Names::new(&plan, arguments.out.as_deref(), "the X-ray")?;
    restriction::confine_to_outputs(files.all().chain([names.out.as_path()]))?;
    carry_out(names.begin(Box::new(rig))?, &plan, &expected, wanted)
}

/// Opens the drive or the file `name` read-only.
///
/// # Errors
/// It cannot be read past the page cache, or does not respond.
pub(crate) fn open_for_reading(name: &str) -> Result<ReadingRig, Failure> {
    let path = Path::new(name);
    check_answer(&LookPlace::own_process(), path)?;
    let reader = DriveReader::open(path).map_err(|error| {
        let text = format!("cannot read {}: {error}", path.display());
        let hint =
            "nothing was written; name a block device, or a file on a file system with O_DIRECT";
        Failure::new(FailureKind::Refused, text, hint)
    })?;
    Ok(ReadingRig::new(reader, name))
}

fn carry_out(
    mut begun: Begun,
    plan: &Plan,
    expected: &str,
    wanted: &Wanted<'_>,
) -> Result<(), Failure> {
    if begun.rig.timed_loads().is_none() {
        return Err(XrayError::NoReads(begun.rig.drive().target.clone()).into());
    }
    let recorded = RecordedXray::none(wanted.options.clone());
    let property = recorded.property();
    let (file, result) = begun.carry_out(plan, expected, property, |rig, writer, progress| {
        conduct_xray(plan, &recorded, rig, writer, progress)
    })?;
    let Wanted { arguments, stated, files, .. } = *wanted;
    let shown = deliver(&file, stated, arguments.json)?;
    files.write(&shown)?;
    finish(result, &file)?;
    spec::conclude(stated, &shown.answers)
}

/// Prints the card of the X-ray in `file`, which was continued and ended with `result`.
///
/// # Errors
/// The X-ray failed, or was interrupted.
pub(crate) fn conclude(
    result: Result<Completion, ConductError>,
    file: &Path,
    as_json: bool,
) -> Result<(), Failure> {
    deliver(file, &[], as_json)?;
    finish(result, file)
}

/// Ends as the X-ray in `file` did.
fn finish(result: Result<Completion, ConductError>, file: &Path) -> Result<(), Failure> {
    let way_on = || Ok::<_, Failure>(outline::way_on(&outline::records(file, false)?.head, file));
    match result {
        Ok(Completion::Finished) => Ok(()),
        Ok(Completion::Interrupted) => Err(Failure::new(
            FailureKind::Interrupted,
            "interrupted",
            format!(
                "finished experiments are safe; {}. Until its cache and spare area are measured, an X-ray of a drive \
                 starts again with the trim",
                way_on()?
            ),
        )),
        Err(error) => {
            let mut failure = Failure::from(error);
            let general = "continue with `ssdgauge resume FILE`";
            failure.hint = failure
                .hint
                .replace(general, &way_on()?)
                .replace("resume FILE", &format!("resume {}", file.display()));
            Err(failure)
        }
    }
}

/// Refuses targets that have no structure of their own.
fn check_target(drive: &DriveInfo, arguments: &XrayArguments) -> Result<(), Failure> {
    let refuse = |error: &str, hint: &str| {
        Err(Failure::new(FailureKind::Usage, error, format!("nothing was written; {hint}")))
    };
    match drive.kind {
        TargetKind::Null => refuse("null: is not a drive", "name a drive, or a folder on one"),
        TargetKind::Block | TargetKind::Virtual if arguments.size.is_some() => refuse(
            "--size limits the scratch file of a folder; a drive is looked into as a whole",
            "omit --size",
        ),
        TargetKind::Block | TargetKind::Virtual | TargetKind::File => Ok(()),
    }
}

/// Returns what the X-ray is expected to take and to write, as one line, and the bytes.
fn expectation(plan: &Plan, drive: &DriveInfo) -> (String, Expectation<Bytes>) {
    let cost = ssdgauge_lab::estimate(plan, drive.capacity, &assumed_rates(drive));
    let text = format!(
        "expected: at most {}, writes at most {}; an experiment ends as soon as it has its answer",
        cost.time.at_most.about(),
        cost.written.at_most.about()
    );
    (text, cost.written)
}
