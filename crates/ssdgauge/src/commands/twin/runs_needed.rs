//! `ssdgauge twin --plan`: the runs that an answer needs.

use super::inputs::{evidence, question, read, usage};
use crate::arguments::TwinArguments;
use crate::failure::{Failure, FailureKind};
use crate::text_file::read_text_file;
use serde::Serialize;
use ssdgauge_core::{Bytes, Nanos};
use ssdgauge_lab::{Options, assumed_rates, expected_cost, find_built_in, plan, plan_on_1_tb};
use ssdgauge_twin::{Kind, Known, Twin, missing};
use ssdgauge_watch::terminal;

/// A run that is worth its time.
#[derive(Serialize)]
struct NeededRun {
    kind: Kind,
    command: String,
    /// Expected time in seconds and bytes written, on an NVMe client drive.
    seconds: f64,
    bytes_written: u64,
    /// Whether the load is refused without it; the others keep figures apart.
    is_asked: bool,
}

/// Prints the runs that an answer for `load` needs.
///
/// # Errors
/// Terms are not understood, files cannot be read; refuses loads that no twin predicts.
pub(super) fn print(arguments: &TwinArguments, load: &str) -> Result<(), Failure> {
    let question = question(load)?;
    let twin = named_twin(arguments)?;
    let runs = match (&twin, arguments.files.is_empty()) {
        (None, false) => Some(evidence(arguments)?),
        _ => None,
    };
    let known = match (&twin, &runs) {
        (Some(twin), _) => Known::Twin(twin),
        (None, Some(runs)) => Known::Runs(runs),
        (None, None) => Known::Nothing,
    };
    let kinds = missing(&question, known).ok_or_else(|| {
        let text = "a twin predicts no load of this kind".to_owned();
        Failure::new(FailureKind::Refused, text, "run the load itself, as a test of a suite")
    })?;
    let asked = Kind::of(&question.workload(), question.is_steady);
    let capacity = runs.as_ref().map(|runs| runs.capacity);
    let needed: Vec<NeededRun> = kinds
        .iter()
        .map(|kind| {
            let (time, written) = cost(*kind, capacity).unwrap_or_default();
            NeededRun {
                kind: *kind,
                command: format!("ssdgauge {}", kind.run_that_settles()),
                seconds: time.as_secs_f64(),
                bytes_written: written.0,
                is_asked: asked == Some(*kind),
            }
        })
        .collect();
    match arguments.json {
        true => terminal::print_document(&needed),
        false => terminal::print_text(&in_words(&needed, twin.is_some(), capacity)),
    }
    Ok(())
}

/// Returns the twin that is named, where one profile is.
fn named_twin(arguments: &TwinArguments) -> Result<Option<Twin>, Failure> {
    match arguments.files.as_slice() {
        [file] if file.extension().is_some_and(|end| end == "toml") => {
            let name = file.display().to_string();
            let text = read_text_file(&name).map_err(|text| usage(text, "name runs, or a twin"))?;
            read(&text, &name).map(Some)
        }
        _ => Ok(None),
    }
}

/// Returns what a test with loads of `kind` is expected to take and to write, on a drive of `capacity`, or of 1 TB.
fn cost(kind: Kind, capacity: Option<Bytes>) -> Option<(Nanos, Bytes)> {
    let (suite, test) = kind.suite_and_test();
    let suite = find_built_in(suite).ok()?;
    let (_, mut drive) = plan_on_1_tb(&suite)?;
    drive.capacity = capacity.unwrap_or(drive.capacity);
    let options =
        Options { only: test.map(str::to_owned).into_iter().collect(), ..Options::default() };
    let plan = plan(&suite, &drive, &options).ok()?;
    Some(expected_cost(&plan, drive.capacity, &assumed_rates(&drive)))
}

fn in_words(needed: &[NeededRun], is_twin: bool, capacity: Option<Bytes>) -> String {
    let size = capacity.map_or("1 TB".to_owned(), Bytes::about);
    let mut text = match (needed.is_empty(), is_twin) {
        (true, true) => return "None: `ssdgauge twin --ask` answers it.\n".to_owned(),
        (true, false) => return "None: fit a twin with `-o drive.toml`, and ask it.\n".to_owned(),
        (false, _) => format!("Runs, with time and writes expected on an NVMe drive of {size}:\n"),
    };
    for run in needed {
        let why = if run.is_asked { "the load that is asked for" } else { "keeps figures apart" };
        let time = Nanos::from_secs(run.seconds.round() as u64).about();
        let written = Bytes(run.bytes_written).about();
        text.push_str(&format!(
            "  {}\n    {time}, {written}: {}, {why}\n",
            run.command,
            run.kind.words()
        ));
    }
    text
}
