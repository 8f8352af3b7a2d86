//! `ssdgauge xray`: the structures of a drive that its answers to a host show.

mod card;
mod compare;
mod files;
mod progress;
mod read;
mod spec;

use crate::arguments::XrayArguments;
use crate::failure::{Failure, FailureKind};
use crate::permitted_writes::Expected;
use crate::process::{self, StopFlag};
use crate::restriction;
use crate::suggestion;
use crate::suite_options::DEFAULT_SIZE;
use crate::target::{OpenedRig, RunContext, RunExtras, SizeRequest, Target};
use crate::terminal;
use files::Files;
use progress::XrayProgress;
pub(crate) use spec::parse as stated_figures;
use ssdgauge_core::{Bytes, DriveInfo, Plan, TargetKind};
use ssdgauge_guard::{LookPlace, check_answer};
use ssdgauge_host::DriveReader;
use ssdgauge_lab::{
    Examined, Expectation, XrayError, XrayOptions, XrayTarget, assumed_rates, xray, xray_plan,
};
use ssdgauge_xray::{CheckedCard, Stated, Structure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Looks for the structures of a drive.
///
/// # Errors
///
/// Refuses invalid input, existing outputs and targets that may not be written; fails where the drive
/// fails, or the X-ray is interrupted.
pub(crate) fn execute(arguments: &XrayArguments) -> Result<(), Failure> {
    if let Some(cards) = &arguments.compare {
        return compare::execute(cards, arguments.page.as_deref(), arguments.json);
    }
    let stated = arguments.spec.as_deref().map(spec::read).transpose()?.unwrap_or_default();
    let files = Files::check(arguments)?;
    if let Some(from) = &arguments.from {
        let card = read::card(from)?;
        show(&card, &stated);
        files.write(&card)?;
        return spec::conclude(&stated, &card.answers);
    }
    let name = arguments.target.as_deref();
    let name = name.expect("the command line demands a target without --compare and --from");
    let only = structures(&arguments.only)?;
    check_steady(arguments.steady, &only)?;
    let XrayArguments { gentle, steady, seed, .. } = *arguments;
    let options = XrayOptions { gentle, steady, only, seed };
    let wanted = Wanted { name, arguments, options: &options, stated: &stated, files: &files };
    match arguments.gentle && !name.starts_with("sim:") {
        true => read_only(&wanted),
        false => process::retry_while_busy(arguments.wait, || start(&wanted)),
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
            Failure::new(FailureKind::Usage, format!("there is no structure '{key}'"), hint)
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
    let seed = arguments.seed;
    let size = SizeRequest { exact: arguments.size, scratch: DEFAULT_SIZE, at_most: None };
    let target = Target::find(name, size, seed)?;
    check_target(target.info(), arguments)?;
    let plan = xray_plan(target.info(), options);
    let plan = plan.map_err(|error| target.refusal_or(error.into()))?;
    let (expected, written) = expectation(&plan, target.info());
    if arguments.plan {
        card::print_plan(&plan, target.info(), &expected, arguments.json);
        return Ok(());
    }
    target.check_free_space()?;
    let now = process::unix_ms();
    let id = process::run_id(now)?;
    // Privileges are dropped but for the folder of the results.
    let default = || PathBuf::from(format!("xray-{}.json", process::file_timestamp(now)));
    let results = wanted.files.first().map_or_else(default, Path::to_owned);
    let context = RunContext { run_id: &id, results: &results, continues: None };
    let about = Expected::new(&expected, written);
    let consent = target.ask(&plan, &arguments.consent, context, about)?;
    let stop = StopFlag::new();
    let extras = RunExtras { stop: &stop, log_ios: None, meters: &[], health_every_s: Some(0) };
    let OpenedRig { mut rig, .. } = target.open(&plan, &consent, context, seed, extras)?;
    stop.listen()?;
    let drive = rig.drive().clone();
    let title = format!("X-ray of {}", drive.name());
    terminal::print_lines([title.as_str()].into_iter().chain(expected.lines()));
    let mut progress = XrayProgress::new(stop);
    let examined = match options.gentle {
        false => xray(XrayTarget::Rig(rig.as_mut()), options, &mut progress),
        true => match rig.timed_loads() {
            Some(loads) => xray(XrayTarget::Reads(loads, &drive), options, &mut progress),
            None => Err(XrayError::NoReads(drive.target.clone())),
        },
    };
    progress.finish();
    drop(rig);
    conclude(examined, &drive, wanted)
}

/// Looks into a drive or a file that is opened for reading alone.
fn read_only(wanted: &Wanted<'_>) -> Result<(), Failure> {
    let Wanted { name, arguments, options, .. } = *wanted;
    let path = Path::new(name);
    check_answer(&LookPlace::own_process(), path)?;
    let reader = DriveReader::open(path).map_err(|error| {
        let text = format!("cannot read {}: {error}", path.display());
        let hint =
            "nothing was written; name a block device, or a file on a file system with O_DIRECT";
        Failure::new(FailureKind::Refused, text, hint)
    });
    let mut reader = reader?;
    restriction::confine_to_outputs(wanted.files.all())?;
    let drive = DriveInfo {
        kind: if path.is_file() { TargetKind::File } else { TargetKind::Block },
        target: name.to_owned(),
        model: None,
        serial: None,
        firmware: None,
        capacity: reader.size(),
        logical_block: Bytes(4_096),
        physical_block: Bytes(4_096),
        details: BTreeMap::new(),
    };
    let plan = xray_plan(&drive, options)?;
    let (expected, _) = expectation(&plan, &drive);
    if arguments.plan {
        card::print_plan(&plan, &drive, &expected, arguments.json);
        return Ok(());
    }
    let stop = StopFlag::new();
    stop.listen()?;
    let title = format!("X-ray of {}, read only", drive.target);
    terminal::print_lines([title.as_str()].into_iter().chain(expected.lines()));
    let mut progress = XrayProgress::new(stop);
    let examined = xray(XrayTarget::Reads(&mut reader, &drive), options, &mut progress);
    progress.finish();
    conclude(examined, &drive, wanted)
}

/// Prints the card also where an experiment failed, and ends with that failure.
fn conclude(
    examined: Result<Examined, XrayError>,
    drive: &DriveInfo,
    wanted: &Wanted<'_>,
) -> Result<(), Failure> {
    match examined {
        Ok(examined) => finish(&examined, drive, wanted),
        Err(error) => {
            if let XrayError::Experiment { found, .. } = &error {
                deliver(found, drive, wanted)?;
            }
            Err(error.into())
        }
    }
}

/// Prints the card, and ends as the X-ray did.
fn finish(examined: &Examined, drive: &DriveInfo, wanted: &Wanted<'_>) -> Result<(), Failure> {
    deliver(examined, drive, wanted)?;
    match examined.is_complete {
        true => spec::conclude(wanted.stated, &examined.answers),
        false => Err(Failure::new(
            FailureKind::Interrupted,
            "interrupted",
            match examined.is_trimmed {
                true => {
                    "all data of the drive were discarded; the card has what was found until then; an X-ray begins anew"
                }
                false => "the card has what was found until then; an X-ray begins anew",
            },
        )),
    }
}

/// Prints the card, and writes the files that were asked for.
fn deliver(examined: &Examined, drive: &DriveInfo, wanted: &Wanted<'_>) -> Result<(), Failure> {
    let Wanted { arguments, stated, files, .. } = *wanted;
    let mut json = card::json(examined, drive);
    if !stated.is_empty() {
        json["stated"] = spec::json(stated, &examined.answers);
    }
    // Text, page and picture are made from the card as a reader of its file has it.
    let card = read::from_json(json.clone()).map_err(|reason| {
        let text = format!("the card contradicts itself: {reason}");
        Failure::new(FailureKind::Failed, text, "please report this as a bug of ssdgauge")
    })?;
    let text = card::json_text(json);
    match arguments.json {
        true => terminal::print_json_lines(&text),
        false => show(&card, stated),
    }
    files.write_card(&text)?;
    files.write(&card)
}

/// Prints `card` with what it says about `stated` figures.
fn show(card: &CheckedCard, stated: &[Stated]) {
    let compared = spec::lines(stated, &card.answers);
    terminal::print_text(&format!("{}{compared}", card::text(card)));
}

/// Refuses targets that have no structure of their own.
fn check_target(drive: &DriveInfo, arguments: &XrayArguments) -> Result<(), Failure> {
    let refuse = |error: &str, hint: &str| {
        Err(Failure::new(FailureKind::Usage, error, format!("nothing was written; {hint}")))
    };
    match drive.kind {
        TargetKind::Null => refuse("null: is no drive", "name a drive, or a folder on one"),
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
