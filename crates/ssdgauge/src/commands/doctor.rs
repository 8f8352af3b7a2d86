//! `ssdgauge doctor`: before a run, what would be a finding of it afterwards, each with what mends it.
//!
//! The conditions are those that a run records, by the same functions. Nothing is written, and a drive is asked
//! no more than by `drives`.

mod card;
mod diagnosis;

use super::drive_description;
use crate::arguments::{DoctorArguments, PowerOptions};
use crate::failure::{Failure, FailureKind};
use crate::suite_options::DEFAULT_SIZE;
use crate::target::{SizeRequest, Target};
use crate::{look_process, meter_specs, permitted_writes, request_path};
use diagnosis::{Check, Diagnosis, DriveLine, State, TargetLine, remedy};
use ssdgauge_core::{Bytes, DriveInfo, RequestPath, is_virtual};
use ssdgauge_drive::DriveCondition;
use ssdgauge_guard::{Candidate, ListedDrive, LookPlace, TargetOptions, TargetPlace};
use ssdgauge_os::sysfs::{block_device_of, name_of};
use ssdgauge_watch::terminal::{self, colour::Paint};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Checks a target, or this machine and its drives.
///
/// # Errors
///
/// There is no such target, or something has to be mended.
pub(crate) fn execute(arguments: &DoctorArguments) -> Result<(), Failure> {
    let diagnosis = match arguments.target.as_deref() {
        Some(name) if is_virtual(name) => of_virtual(name)?,
        Some(name) => of_target(name, &arguments.power)?,
        None => of_machine(&arguments.power)?,
    };
    match arguments.json {
        true => terminal::print_document(&diagnosis),
        false => {
            let (width, paint) = (terminal::width::columns(), Paint::of_stdout());
            terminal::print(&card::to_text(&diagnosis, width, paint));
        }
    }
    match diagnosis.to_mend {
        0 => Ok(()),
        _ => Err(Failure::new(
            FailureKind::Criterion,
            card::summary(&diagnosis),
            "a run would record each as a finding, or be refused; the list says how to fix each",
        )),
    }
}

/// A target that cannot be found is refused, also where another command calls its name misused.
fn no_target(mut failure: Failure) -> Failure {
    failure.kind = FailureKind::Refused;
    failure
}

fn of_virtual(name: &str) -> Result<Diagnosis, Failure> {
    let size = SizeRequest { exact: None, scratch: Bytes(0), at_most: None };
    let target = Target::find(name, size, 1).map_err(no_target)?;
    let fine =
        Check::fine("target", "a virtual drive: neither this machine nor a drive affects it");
    Ok(Diagnosis::new(Some(TargetLine::new(target.info())), vec![fine], None))
}

fn of_machine(power: &PowerOptions) -> Result<Diagnosis, Failure> {
    let mut checks = machine();
    checks.extend(activity(None));
    checks.extend(meters(power, None)?);
    let drives = ssdgauge_guard::drives(&LookPlace::own_process());
    let drives = drives.into_iter().map(drive_line).collect();
    Ok(Diagnosis::new(None, checks, Some(drives)))
}

fn of_target(name: &str, power: &PowerOptions) -> Result<Diagnosis, Failure> {
    let path = drive_description::device_path(name);
    let found = Candidate::find_in(LookPlace::own_process(), &path.to_string_lossy());
    let candidate = found.map_err(|error| no_target(error.into()))?;
    let mut checks = Vec::new();
    let (number, is_block) = match &candidate.place {
        TargetPlace::Null => (None, false),
        TargetPlace::Folder(folder) => (number_of(folder, MetadataExt::dev), false),
        TargetPlace::NewFile(file) => {
            (file.parent().and_then(|folder| number_of(folder, MetadataExt::dev)), false)
        }
        TargetPlace::Block(path) => (number_of(path, MetadataExt::rdev), true),
    };
    if is_block {
        checks.extend(admission(&candidate));
        checks.extend(request_paths(&candidate.info));
    }
    if candidate.place != TargetPlace::Null {
        checks.extend(of_device(number, is_block));
    }
    let target = TargetLine::new(&candidate.info);
    if let TargetPlace::Folder(_) | TargetPlace::NewFile(_) = candidate.place {
        checks.extend(scratch_file(candidate)?);
    }
    checks.extend(machine());
    checks.extend(activity(number.map(|number| (number, is_block))));
    checks.extend(meters(power, is_block.then_some(&path))?);
    Ok(Diagnosis::new(Some(target), checks, None))
}

fn number_of(path: &Path, number: fn(&std::fs::Metadata) -> u64) -> Option<u64> {
    path.metadata().ok().as_ref().map(number)
}

/// The settings and facilities of this machine.
fn machine() -> Vec<Check> {
    let mut checks: Vec<Check> =
        ssdgauge_host::check_machine().into_iter().map(Check::of_host).collect();
    checks.push(match ssdgauge_host::huge_pages().as_deref() {
        None => Check::unknown("huge-pages", "the kernel reports no transparent huge pages"),
        Some("never") => Check::note(
            "huge-pages",
            "off: each request costs more processor time",
            format!("echo madvise > {}", ssdgauge_host::HUGE_PAGES),
        ),
        Some(chosen) => Check::fine("huge-pages", chosen),
    });
    checks
}

/// What other programs do meanwhile.
fn activity(device: Option<(u64, bool)>) -> impl Iterator<Item = Check> {
    ssdgauge_host::check_activity(device).into_iter().map(Check::of_host)
}

/// The device `number` of a target, or the one below its file system.
fn of_device(number: Option<u64>, is_block: bool) -> Vec<Check> {
    let checks = number.and_then(|number| {
        let checks = ssdgauge_host::check_device(number, is_block)?;
        let node = Path::new("/dev").join(name_of(&block_device_of(number)?).replace('!', "/"));
        let checks = checks.into_iter().map(Check::of_host).chain(condition(&node));
        Some(checks.collect())
    });
    let reason = "the kernel names no drive below this file system";
    checks.unwrap_or_else(|| vec![Check::unknown("drive", reason)])
}

/// Health and temperature of the drive `node`.
fn condition(node: &Path) -> Vec<Check> {
    let name = node.to_string_lossy();
    let read = look_process::text(&["look", "condition", &name], &name);
    let read = read.and_then(|text| {
        serde_json::from_str::<DriveCondition>(&text)
            .map_err(|error| Failure::new(FailureKind::Failed, error.to_string(), ""))
    });
    let read = match read {
        Ok(read) => read,
        Err(failure) => {
            return ["health", "temperature"]
                .map(|name| Check::unknown(name, &failure.error))
                .into();
        }
    };
    let mut checks: Vec<Check> = match (&read.unread, read.findings.is_empty()) {
        (Some(reason), _) => vec![Check::unknown("health", reason)],
        (None, true) => vec![Check::fine("health", "no warning of the drive")],
        (None, false) => Vec::new(),
    };
    checks.extend(read.findings.into_iter().map(|one| Check::of_finding(one.kind.key(), one)));
    let about = |now: f64| match read.warning_c {
        Some(limit) => format!("{now:.0} °C; the drive warns from {limit:.0} °C on"),
        None => format!("{now:.0} °C; the drive states no limit"),
    };
    checks.push(match (read.temperature_c, read.warning_c) {
        (Err(reason), _) => Check::unknown("temperature", reason),
        (Ok(now), Some(limit)) if now >= limit => Check::mend(
            "temperature",
            about(now),
            "a hot drive throttles: let it cool down, and give it air or a heat sink",
        ),
        (Ok(now), _) => Check::fine("temperature", about(now)),
    });
    checks
}

/// What the guard has against a test of a drive, and the confirmation that it needs.
fn admission(candidate: &Candidate) -> Vec<Check> {
    let confirm = candidate.confirmation();
    let (refusals, not_checked) = candidate.objections(&TargetOptions::default());
    let mut checks = refused(refusals, not_checked, confirm);
    if checks.is_empty() {
        checks
            .push(Check::fine("in-use", "no use was found, and no data that a test would destroy"));
    }
    checks.extend(confirm.map(|serial| {
        let text = "a test that writes destroys the data on this drive, and names it";
        Check::note("confirmation", text, format!("--confirm {serial}"))
    }));
    checks
}

fn refused(
    refusals: Vec<ssdgauge_guard::Refusal>,
    not_checked: Vec<String>,
    confirm: Option<&str>,
) -> Vec<Check> {
    let refusals = refusals.into_iter().map(|refusal| Check::of_refusal(refusal, confirm));
    let not_checked = not_checked
        .into_iter()
        .map(|what| Check::unknown("contents", format!("not checked: {what}")));
    refusals.chain(not_checked).collect()
}

/// The ways of requests that options choose.
fn request_paths(drive: &DriveInfo) -> Vec<Check> {
    let paths = [("polled", RequestPath::Polled), ("pass-through", RequestPath::PassThrough)];
    let check = |(name, path)| match request_path::check_drive(path, drive) {
        Ok(()) => Check::fine(name, format!("--{name} is possible")),
        Err(failure) => Check::note(name, failure.error.clone(), remedy(&failure)),
    };
    paths.map(check).into()
}

/// The free space for a scratch file of the default size, and the bytes that need no permission.
fn scratch_file(candidate: Candidate) -> Result<Vec<Check>, Failure> {
    let candidate = candidate.sized(DEFAULT_SIZE)?;
    let size = DEFAULT_SIZE.about();
    let room = match candidate.check_room() {
        Ok(()) => Check::fine("free-space", format!("a scratch file of {size} fits")),
        Err(error) => Check::of_failure("free-space", &error.into()),
    };
    let limit = permitted_writes::WITHOUT_QUESTION.about();
    let text = format!("none for a run that writes up to {limit}; more needs --max-writes");
    Ok(vec![room, Check::fine("confirmation", text)])
}

/// Opens each meter, as a run does; `drive` is the one whose power a meter reads.
fn meters(power: &PowerOptions, drive: Option<&PathBuf>) -> Result<Vec<Check>, Failure> {
    let specs = meter_specs::of_run(power, true)?;
    if specs.is_empty() {
        let text = "none is named: a run does not measure power";
        let remedy = "--power SPEC adds one; `ssdgauge meters` lists the sensors of this machine";
        return Ok(vec![Check::note("meters", text, remedy)]);
    }
    let check = |spec| {
        let opened =
            ssdgauge_host::open_meters(std::slice::from_ref(spec), drive.map(PathBuf::as_path));
        match opened {
            Ok(meters) => {
                let described = meters.described(std::slice::from_ref(spec));
                let text: Vec<String> =
                    described.iter().map(|(name, text)| format!("{name}: {text}")).collect();
                Check::fine("meters", text.join(", "))
            }
            Err(error) => Check::of_failure("meters", &error.into()),
        }
    };
    Ok(specs.iter().map(check).collect())
}

/// Returns the line of a drive of the list, with what the kernel says about it.
fn drive_line(drive: ListedDrive) -> DriveLine {
    let ListedDrive { path, candidate, refusals, not_checked } = drive;
    let candidate = match candidate {
        Ok(candidate) => candidate,
        Err(error) => {
            let checks = vec![Check::of_failure("target", &error.into())];
            return DriveLine { path, model: None, serial: None, testable: false, checks };
        }
    };
    let mut checks = refused(refusals, not_checked, candidate.confirmation());
    let testable = checks.iter().all(|check| check.state != State::Mend);
    let number = number_of(Path::new(&path), MetadataExt::rdev);
    let device = number.and_then(|number| ssdgauge_host::check_device(number, true));
    checks.extend(device.into_iter().flatten().map(Check::of_host));
    let DriveInfo { model, serial, .. } = candidate.into_info();
    DriveLine { path, model, serial, testable, checks }
}
