//! `ssdgauge twin`: a virtual drive fitted to the runs of a drive, and its answers.

mod inputs;
mod runs_needed;

use crate::arguments::TwinArguments;
use crate::commands::xray;
use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use crate::text_file::read_text_file;
use inputs::{evidence, question, read, usage};
use ssdgauge_core::shell_word;
use ssdgauge_twin::{Band, FEWEST, Kind, Twin, answer, fit, profile_text};
use ssdgauge_watch::terminal;
use std::path::Path;

/// Fits a twin and writes its profile, or asks one.
///
/// # Errors
/// Files cannot be read or written; refuses runs that are not of one drive, and loads that are not predicted.
pub(crate) fn execute(arguments: &TwinArguments) -> Result<(), Failure> {
    match (&arguments.ask, &arguments.plan, &arguments.out) {
        (Some(load), ..) => ask(arguments, load),
        (None, Some(load), _) => runs_needed::print(arguments, load),
        (None, None, Some(out)) => make(arguments, out),
        (None, None, None) => unreachable!("one of them is required"),
    }
}

fn make(arguments: &TwinArguments, out: &Path) -> Result<(), Failure> {
    let inputs: Vec<&Path> =
        arguments.files.iter().chain(&arguments.card).map(AsRef::as_ref).collect();
    output::check(out, Format::Twin, &inputs)?;
    let mut evidence = evidence(arguments)?;
    if let Some(card) = &arguments.card {
        let card = xray::recorded(card)?;
        if card.card.capacity_bytes != evidence.capacity.0 {
            let text = "the card is of a drive of another capacity than the runs".to_owned();
            return Err(Failure::new(FailureKind::Refused, text, "nothing was written"));
        }
        evidence.add_card(&card.answers);
    }
    let fitted = fit(&evidence, &|done, all| {
        terminal::print_message(&format!(
            "{done} of {all} fits: one to all loads, the others without a part of them"
        ));
    });
    let missed = fitted.not_described();
    if !missed.is_empty() {
        return Err(other_drive(&missed));
    }
    let text = profile_text(&evidence, &fitted, &command(arguments, out));
    let twin = read(&text, &out.display().to_string())?;
    output::write(out, Format::Twin, &inputs, text.as_bytes())?;
    match arguments.json {
        true => terminal::print_document(&twin.about),
        false => terminal::print_text(&summary(&twin)),
    }
    terminal::print_message(&format!("profile: {}", out.display()));
    Ok(())
}

fn other_drive(missed: &[(Kind, f64)]) -> Failure {
    let kinds: Vec<String> = missed
        .iter()
        .map(|(kind, error)| format!("{} by {:.0} %", kind.words(), error * 100.0))
        .collect();
    let text = format!(
        "the model does not describe this drive: fitted to all runs, it misses {}",
        kinds.join(", ")
    );
    let hint =
        "nothing was written; hard disks, RAIDs and volumes with limits of their own have no twin";
    Failure::new(FailureKind::Refused, text, hint)
}

/// Returns the command that fits the twin again.
fn command(arguments: &TwinArguments, out: &Path) -> String {
    let word = |path: &Path| shell_word(&path.display().to_string());
    let mut words = vec!["ssdgauge twin".to_owned()];
    words.extend(arguments.files.iter().map(|file| word(file)));
    if let Some(card) = &arguments.card {
        words.extend(["--card".to_owned(), word(card)]);
    }
    words.extend(["-o".to_owned(), word(out)]);
    words.join(" ")
}

/// Returns what the twin predicts, kind by kind.
fn summary(twin: &Twin) -> String {
    let mut text = format!("Twin of {}, PREDICTED\n", twin.about.of);
    for kind in Kind::ALL {
        let bands = twin.bands_of(kind);
        let (given, doubtful): (Vec<&Band>, Vec<&Band>) =
            bands.into_iter().partition(|band| band.is_validated());
        let list = |bands: &[&Band]| {
            let one = |band: &&Band| match band.points < FEWEST {
                true => format!("{} (too few loads)", band.number.words()),
                false => format!("{} ± {:.0} %", band.number.words(), band.band * 100.0),
            };
            bands.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let words = kind.words();
        text.push_str(&match (given.is_empty(), doubtful.is_empty()) {
            (false, true) => format!("  {words}: {}\n", list(&given)),
            (false, false) => {
                format!("  {words}: {}; not predicted: {}\n", list(&given), list(&doubtful))
            }
            (true, false) => format!("  {words}: not predicted: {}\n", list(&doubtful)),
            (true, true) => format!(
                "  {words}: not predicted: no run; `ssdgauge {}`\n",
                kind.run_that_settles()
            ),
        });
    }
    for note in &twin.about.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    text
}

fn ask(arguments: &TwinArguments, load: &str) -> Result<(), Failure> {
    let question = question(load)?;
    let [file] = arguments.files.as_slice() else {
        return Err(usage("one twin is asked".to_owned(), "name its profile, such as drive.toml"));
    };
    let name = file.display().to_string();
    let text = read_text_file(&name)
        .map_err(|text| usage(text, "`ssdgauge twin RUNS -o FILE` writes one"))?;
    let twin = read(&text, &name)?;
    let answer = answer(&twin, &question);
    match arguments.json {
        true => terminal::print_document(&answer),
        false if !answer.predicted.is_empty() => {
            terminal::print_text(&format!("{}\n", answer.sentence(&twin.about.of)));
        }
        false => {}
    }
    match answer.predicted.is_empty() {
        true => Err(Failure::new(
            FailureKind::Refused,
            answer.sentence(&twin.about.of).replace('\n', " "),
            "a number without a known error is none",
        )),
        false => Ok(()),
    }
}
