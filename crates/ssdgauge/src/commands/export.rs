//! `ssdgauge export`: suites and runs in the form of other programs.

mod tables;

use crate::arguments::ExportArguments;
use crate::failure::{Failure, FailureKind};
use crate::outline;
use crate::output::{self, Format};
use crate::suite_options::{find_suite, planner_options_from, size_for};
use crate::target::{SizeRequest, Target};
use ssdgauge_core::{Bytes, DriveInfo, Plan, TargetKind};
use ssdgauge_fio::JobTarget;
use ssdgauge_watch::terminal;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The name of the scratch file of a job file in a folder. fio creates it, and leaves it there.
const SCRATCH: &str = "fio-scratch";

/// Writes a job file of fio, or tables of runs. Nothing is written to the target.
///
/// # Errors
///
/// Fails where a suite, a run file or the target is invalid, where fio would read the name of the target
/// as another one, and where an output is a file that ssdgauge did not write in this form.
pub(crate) fn execute(arguments: &ExportArguments) -> Result<(), Failure> {
    match &arguments.parquet {
        Some(folder) => tables::to_folder(arguments, folder),
        None if arguments.jsonl => tables::to_json_lines(arguments),
        None => write_job_file(arguments),
    }
}

fn write_job_file(arguments: &ExportArguments) -> Result<(), Failure> {
    let (source, target) = match arguments.sources.as_slice() {
        [source] => (source, None),
        [source, target] => (source, Some(target)),
        more => {
            let error =
                format!("a job file has one source and one target, and {} are named", more.len());
            let hint = "name one run file, or one suite and one target";
            return Err(Failure::new(FailureKind::Usage, error, hint));
        }
    };
    let path = Path::new(source);
    let Source { plan, drive, unknown } =
        match path.extension().is_some_and(|suffix| suffix == "ssdg") {
            true => plan_of_run(arguments, path, target)?,
            false => plan_of_suite(arguments, source, target)?,
        };
    let written = ssdgauge_fio::job_file(&plan, &job_target(&drive), &unknown);
    let text = written.map_err(|error| {
        let hint = "nothing was written; rename the file or the folder, or name another target";
        Failure::new(FailureKind::Usage, error.to_string(), hint)
    })?;
    unknown.iter().for_each(|words| terminal::print_message(&format!("warning: {words}")));
    if !text.lines().any(|line| line.starts_with('[') && line != "[global]") {
        return Err(Failure::new(
            FailureKind::Usage,
            format!("fio has no job for any step of {source}"),
            "nothing was written; a replay is not a load of fio: give the trace to fio --read_iolog",
        ));
    }
    match &arguments.output {
        Some(to) => output::write(to, Format::FioJob, &[path], text.as_bytes()),
        None => {
            terminal::print_data(&text);
            Ok(())
        }
    }
}

/// What a job file is made of.
struct Source {
    plan: Plan,
    drive: DriveInfo,
    /// What is not known of the drive.
    unknown: Vec<String>,
}

/// The capacity of a drive of another machine where none is stated: the usual one of reviews.
const ASSUMED_CAPACITY: Bytes = Bytes(1_000_000_000_000);

/// Returns the drive or file `name` of another machine; `None` where it is in this one, or not a whole path.
fn elsewhere(name: &str, size: Option<Bytes>, capacity: Bytes) -> Option<DriveInfo> {
    let path = Path::new(name);
    let is_missing =
        path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    let is_new_file = path.parent().is_some_and(Path::is_dir) && !path.starts_with("/dev");
    (path.is_absolute() && is_missing && !is_new_file).then(|| DriveInfo {
        kind: if path.starts_with("/dev") { TargetKind::Block } else { TargetKind::File },
        target: name.to_owned(),
        model: None,
        serial: None,
        firmware: None,
        capacity: size.unwrap_or(capacity),
        logical_block: Bytes(512),
        physical_block: Bytes(512),
        details: BTreeMap::new(),
    })
}

/// Returns the plan of a run file, and its drive or the named one.
fn plan_of_run(
    arguments: &ExportArguments,
    source: &Path,
    target: Option<&String>,
) -> Result<Source, Failure> {
    let head = &outline::records(source, false)?.head;
    let cannot = match head.plan.suite.id.as_str() {
        ssdgauge_runfile::PROOF_SUITE => Some((
            "a proof of the capacity",
            "nothing was written; fio does not check which address a block was written to",
        )),
        ssdgauge_runfile::XRAY_SUITE => Some((
            "an X-ray",
            "nothing was written; the next request of an X-ray follows from the answers before it",
        )),
        _ => None,
    };
    if let Some((what, hint)) = cannot {
        let text = format!("{} is {what}, which fio cannot make", source.display());
        return Err(Failure::new(FailureKind::Usage, text, hint));
    }
    let of = |drive: DriveInfo, unknown| Source { plan: head.plan.clone(), drive, unknown };
    let Some(name) = target else { return Ok(of(head.drive.clone(), Vec::new())) };
    let capacity = head.drive.capacity;
    if let Some(drive) = elsewhere(name, arguments.size, capacity) {
        let words = format!(
            "{name} is not in this machine: the plan is that of {} ({}), and whether {name} is as large is \
             not known",
            head.drive.name(),
            capacity.about()
        );
        return Ok(of(drive, vec![words]));
    }
    let size = SizeRequest { exact: arguments.size, scratch: capacity, at_most: None };
    let target = Target::find(name, size, head.plan.seed)?;
    Ok(of(target.info().clone(), Vec::new()))
}

/// Returns the plan of a suite on the named target, and that target.
fn plan_of_suite(
    arguments: &ExportArguments,
    source: &str,
    target: Option<&String>,
) -> Result<Source, Failure> {
    let suite = find_suite(source)?;
    let Some(target) = target else {
        return Err(Failure::new(
            FailureKind::Usage,
            format!("'{source}' is a suite, and no target is given"),
            "name a target after it, such as /dev/nvme1n1, or a run file (.ssdg) in its place",
        ));
    };
    let options = &arguments.options;
    if let Some(drive) = elsewhere(target, arguments.size, ASSUMED_CAPACITY) {
        let plan = ssdgauge_lab::plan(&suite, &drive, &planner_options_from(options))?;
        let capacity = match arguments.size {
            Some(size) => format!("its capacity is stated as {}", size.about()),
            None => "its capacity is not known, and 1 TB is assumed (--size states it)".into(),
        };
        let words = format!(
            "{target} is not in this machine: {capacity}; its logical blocks are assumed to have 512 bytes"
        );
        return Ok(Source { plan, drive, unknown: vec![words] });
    }
    let size = size_for(&suite, options, arguments.size);
    let target = Target::find(target, size, options.seed)?;
    let plan = ssdgauge_lab::plan(&suite, target.info(), &planner_options_from(options))?;
    Ok(Source { plan, drive: target.info().clone(), unknown: Vec::new() })
}

fn job_target(drive: &DriveInfo) -> JobTarget {
    match drive.kind {
        TargetKind::Block => JobTarget::Path(drive.target.clone()),
        TargetKind::File => {
            // The prefix says that a new file is meant; it is not part of its name.
            let path = drive.target.strip_prefix("file:").unwrap_or(&drive.target);
            let path = PathBuf::from(path);
            let path = if path.is_dir() { path.join(SCRATCH) } else { path };
            JobTarget::Path(path.display().to_string())
        }
        TargetKind::Null | TargetKind::Virtual => JobTarget::Variable,
    }
}
