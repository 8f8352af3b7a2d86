//! `ssdgauge import`: a result of another program as a run file.

mod act;

use crate::arguments::ImportArguments;
use crate::build_identity;
use crate::failure::{Failure, FailureKind};
use crate::output;
use crate::process;
use ssdgauge_core::{Bytes, DriveInfo, EndedBy, Finding, Nanos};
use ssdgauge_fio::{ImportError, Imported, ImportedStep};
use ssdgauge_runfile::{
    FindingRecord, Head, ImportedPercentile, Opening, Outcome, OutcomeKind, RunFileError, StepEnd,
    StepId, StepPlace, StepState, Writer,
};
use ssdgauge_watch::terminal;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest output or log that is read, in bytes: an output of a thousand jobs has some 20 MiB, a log of
/// an hour 14 MiB.
const MAX_BYTES: u64 = 64 << 20;

/// Writes the run file of a result of fio or of ACT.
///
/// # Errors
///
/// Fails where the input is not a result that is known, and where the run file exists or cannot be
/// written.
pub(crate) fn execute(arguments: &ImportArguments) -> Result<(), Failure> {
    match (&arguments.fio, &arguments.act) {
        (Some(input), _) => {
            let (imported, checksum) = import_fio(input, &arguments.hist_log, arguments.size)?;
            store(arguments, input, &imported, checksum)
        }
        (None, Some(input)) => {
            let (imported, checksum) = act::import(input, arguments.size)?;
            store(arguments, input, &imported, checksum)
        }
        (None, None) => unreachable!("clap requires one of them"),
    }
}

/// Returns a result of fio with the course in time of its `logs`, and the checksum of all texts.
fn import_fio(
    input: &Path,
    logs: &[PathBuf],
    size: Option<Bytes>,
) -> Result<(Imported, u32), Failure> {
    let text = read(input)?;
    let logs: Vec<String> = logs.iter().map(|log| read(log)).collect::<Result<_, Failure>>()?;
    let imported = ssdgauge_fio::import_with_logs(&text, &logs, size).map_err(|error| {
        let name = input.display();
        Failure::new(FailureKind::Usage, format!("{name}: {error}"), hint_of(&error))
    })?;
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(text.as_bytes());
    logs.iter().for_each(|log| checksum.update(log.as_bytes()));
    Ok((imported, checksum.finalize()))
}

/// Writes the run file, and prints what was imported with its findings.
fn store(
    arguments: &ImportArguments,
    input: &Path,
    imported: &Imported,
    checksum: u32,
) -> Result<(), Failure> {
    let out = arguments.output.clone().unwrap_or_else(|| input.with_extension("ssdg"));
    if out.extension().is_none_or(|suffix| suffix != "ssdg") {
        return Err(Failure::new(
            FailureKind::Usage,
            format!("{} is not the name of a run file", out.display()),
            "nothing was written; run files end in .ssdg",
        ));
    }
    output::check_place(&out)?;
    output::check_folder(&out)?;
    write(&out, arguments, imported, checksum).map_err(|error| match Failure::from(error) {
        // The file system is full. There is no run to continue: what was begun is removed.
        Failure { kind: FailureKind::Interrupted, error, .. } => Failure::new(
            FailureKind::Refused,
            error,
            "nothing was written; free disk space, or name a file elsewhere with -o",
        ),
        other => other,
    })?;
    let (program, tests) = (&imported.program, imported.steps.len());
    let tests = if tests == 1 { "1 test".into() } else { format!("{tests} tests") };
    let out = out.display();
    terminal::print_message(&format!("{out}: {tests}, imported from {program}"));
    for finding in imported.findings.iter().chain(imported.steps.iter().flat_map(|s| &s.findings)) {
        terminal::print_message(&format!("warning: {}", finding.text));
    }
    Ok(())
}

/// Reads the input, which can be a pipe.
fn read(path: &Path) -> Result<String, Failure> {
    let failure = |text: String| {
        let hint = "nothing was written; name an output of fio --output-format=json";
        Failure::new(FailureKind::Usage, format!("{}: {text}", path.display()), hint)
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| failure(error.to_string()))?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failure(error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(failure("it is longer than 64 MiB".into()));
    }
    // Messages of fio can quote bytes of the drive.
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(other) => String::from_utf8_lossy(other.as_bytes()).into_owned(),
    })
}

fn hint_of(error: &ImportError) -> &'static str {
    match error {
        ImportError::NoOutput(_) | ImportError::NoBins(_) => {
            "nothing was written; run fio with --output-format=json+ --output=FILE"
        }
        ImportError::Version(_) => "nothing was written; run the job again with fio 3",
        ImportError::Clients => "nothing was written; import the output of each machine alone",
        ImportError::NoResults(_) => "nothing was written; see the messages of fio",
        ImportError::Groups(_) => "nothing was written; divide the job file",
        ImportError::Contradiction { .. } => {
            "nothing was written; the file was changed or cut, or is of a version that is not known"
        }
        ImportError::Unfit { .. } => "nothing was written; leave this job out of the job file",
    }
}

/// Writes the run file: one finished step for each test. The id of the run follows from the time of the
/// load, where that is known, and the `checksum` of the input, so that one result has one id.
fn write(
    out: &Path,
    arguments: &ImportArguments,
    imported: &Imported,
    checksum: u32,
) -> Result<(), RunFileError> {
    let now = process::unix_ms();
    let total: u64 = imported.steps.iter().map(|step| step.elapsed.0 / 1_000_000).sum();
    let begun = match imported.ended_unix_ms {
        // Not known, and not the time of the import.
        ..=0 => 0,
        ended => ended.saturating_sub(i64::try_from(total).unwrap_or(0)).max(1),
    };
    let label = arguments.label.iter().map(|label| ("label".to_owned(), label.clone()));
    let origin = (Head::IMPORTED_FROM.to_owned(), imported.program.clone());
    let environment: Vec<(String, String)> = label.chain([origin]).collect();
    let drive = DriveInfo { model: arguments.model.clone(), ..imported.drive.clone() };
    let id = match begun {
        0 => format!("undated-{checksum:08x}"),
        begun => format!("{}-{checksum:08x}", process::file_timestamp(begun)),
    };
    let opening = Opening {
        id: &id,
        program: &build_identity::program(),
        unix_ms: begun,
        plan: &imported.plan,
        drive: &drive,
        environment: &environment,
        properties: &[],
    };
    let mut writer = Writer::create(out, &opening)?;
    match write_steps(&mut writer, imported, begun, now) {
        Ok(()) => Ok(()),
        Err(error) => {
            // A part of a result is none, and would take its name.
            writer.discard();
            Err(error)
        }
    }
}

/// Writes the findings and the steps of `imported`, which began at `begun`, or at an unknown time where that is 0.
fn write_steps(
    writer: &mut Writer,
    imported: &Imported,
    begun: i64,
    now: i64,
) -> Result<(), RunFileError> {
    let mut at = begun;
    let record = |writer: &mut Writer, step: Option<StepId>, finding: &Finding| {
        writer.finding(&FindingRecord { step, unix_ms: now, finding: finding.clone() })
    };
    for finding in &imported.findings {
        record(writer, None, finding)?;
    }
    for (test, step) in imported.steps.iter().enumerate() {
        let ImportedStep { elapsed, intervals, readings, report, findings } = step;
        let place = StepPlace { test, phase: 0, step: 0 };
        let id = writer.begin_step(place, 1, &imported.plan, at)?;
        for interval in intervals {
            writer.interval(id, interval)?;
            let (stream, direction) = (interval.stream, interval.direction);
            for (percent, latency) in interval.latency.stated() {
                let (percent, latency) = (*percent, Nanos(*latency));
                writer
                    .percentile(id, &ImportedPercentile { stream, direction, percent, latency })?;
            }
        }
        for reading in readings {
            writer.reading(id, reading)?;
        }
        for finding in findings {
            record(writer, Some(id), finding)?;
        }
        if begun != 0 {
            at = at.saturating_add((elapsed.0 / 1_000_000) as i64);
        }
        let end = StepEnd {
            state: StepState::Finished,
            unix_ms: at,
            elapsed: *elapsed,
            ended_by: EndedBy::Time.name().into(),
            report: serde_json::to_string(report).expect("reports always serialise"),
        };
        writer.finish_step(id, &end)?;
    }
    writer.end_run(&Outcome {
        unix_ms: now,
        kind: OutcomeKind::Complete,
        reason: String::new(),
    })?;
    writer.commit()
}
