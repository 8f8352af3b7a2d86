//! `ssdgauge list`: the runs of the library, or of other folders.

use crate::arguments::{ListArguments, ListedOutcome};
use crate::failure::{Failure, FailureKind};
use crate::library::{self, Content, Entry, Facts, Listing};
use crate::{process, run_files, suggestion};
use serde::Serialize;
use ssdgauge_core::rounded::count_of;
use ssdgauge_watch::terminal;
use ssdgauge_watch::terminal::colour::{Paint, Role};
use ssdgauge_watch::terminal::table::{self, Column, Fit};
use std::path::Path;

const COLUMNS: [Column; 7] = [
    Column::text("RUN", Fit::Whole),
    Column::text("STARTED (UTC)", Fit::Whole),
    Column::text("DRIVE", Fit::Cut(20)),
    Column::text("SUITE", Fit::Whole),
    Column::text("OUTCOME", Fit::Whole),
    Column::text("GRADE", Fit::Whole),
    Column::text("HEADLINE", Fit::Cut(24)),
];

/// The list, as JSON.
#[derive(Debug, Serialize)]
struct Document {
    schema_version: u32,
    /// The folder of the library; `null` where other files were named.
    library: Option<String>,
    runs: Vec<Row>,
    defective: Vec<DefectiveFile>,
    /// Why runs have no numbers; `null` where all have one.
    unnumbered: Option<String>,
}

#[derive(Debug, Serialize)]
struct Row {
    number: Option<u32>,
    file: String,
    id: String,
    /// `null` where an imported result does not state it.
    started_unix_ms: Option<i64>,
    drive: String,
    serial: Option<String>,
    label: Option<String>,
    suite: String,
    model: bool,
    /// As in the JSON of `report`.
    outcome: String,
    /// Whether a program writes the file now.
    running: bool,
    grade: Option<String>,
    headline: String,
}

#[derive(Debug, Serialize)]
struct DefectiveFile {
    file: String,
    /// `damaged`, `foreign`, `newer` or `unreadable`.
    defect: &'static str,
    reason: String,
    running: bool,
}

/// Prints the runs.
///
/// # Errors
///
/// Fails where a folder cannot be read or has no run file.
pub(crate) fn execute(arguments: &ListArguments) -> Result<(), Failure> {
    let listing = match arguments.sources.as_slice() {
        [] => library::read()?,
        sources => {
            let files = run_files::find(sources)?;
            Listing { entries: library::entries_of(&files), ..Listing::default() }
        }
    };
    let all = listing.entries.len();
    check_suite(arguments.suite.as_deref(), &listing)?;
    let shown: Vec<&Entry> =
        listing.entries.iter().filter(|entry| is_wanted(entry, arguments)).collect();
    let folder = arguments.sources.is_empty().then(library::folder);
    if arguments.json {
        let document = Document::new(folder.as_deref(), &shown, listing.unnumbered);
        terminal::print_document(&document);
        return Ok(());
    }
    if let Some(why) = &listing.unnumbered {
        terminal::print_message(&format!("warning: new runs have no number: {why}"));
    }
    match (shown.is_empty(), all) {
        (false, _) => print(&shown),
        (true, 0) => terminal::print_lines([
            format!("no runs in {}", library::folder().display()),
            "hint: `ssdgauge quick` makes one; name another folder: `ssdgauge list FOLDER`, or --library".to_owned(),
        ]),
        (true, all) => {
            terminal::print_message(&format!("none of {} matches", count_of(all, "file")));
        }
    }
    Ok(())
}

/// Refuses a suite that no listed run has where another one is probably meant.
fn check_suite(suite: Option<&str>, listing: &Listing) -> Result<(), Failure> {
    let Some(suite) = suite else { return Ok(()) };
    let of_runs = || listing.entries.iter().filter_map(|entry| entry.content.facts());
    let known: Vec<&str> = of_runs().map(|facts| facts.suite.as_str()).collect();
    match suggestion::nearest(suite, known.iter().copied()).filter(|_| !known.contains(&suite)) {
        Some(meant) => Err(Failure::new(
            FailureKind::Usage,
            format!("no run has the suite '{suite}'"),
            format!("did you mean '{meant}'?"),
        )),
        None => Ok(()),
    }
}

fn is_wanted(entry: &Entry, arguments: &ListArguments) -> bool {
    let outcomes = &arguments.outcome;
    let Some(facts) = entry.content.facts() else {
        let is_filtered =
            arguments.drive.is_some() || arguments.suite.is_some() || arguments.since.is_some();
        let is_running = entry.is_running && outcomes.contains(&ListedOutcome::Running);
        return match outcomes.is_empty() {
            true => !is_filtered,
            false => is_running || outcomes.contains(&ListedOutcome::Defective),
        };
    };
    let contains = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
    let of_drive = |part: &String| {
        let names = [Some(&facts.drive), facts.serial.as_ref(), facts.label.as_ref()];
        names.into_iter().flatten().any(|name| contains(name, part))
    };
    arguments.drive.as_ref().is_none_or(of_drive)
        && arguments.suite.as_ref().is_none_or(|suite| *suite == facts.suite)
        && arguments.since.is_none_or(|since| facts.started_unix_ms >= since)
        && (outcomes.is_empty() || outcomes.iter().any(|one| has_outcome(entry, facts, *one)))
}

fn has_outcome(entry: &Entry, facts: &Facts, outcome: ListedOutcome) -> bool {
    let is = |name: &str| facts.outcome == name && !entry.is_running;
    match outcome {
        ListedOutcome::Complete => is("complete"),
        ListedOutcome::Disturbed => is("disturbed"),
        ListedOutcome::Unfinished => is("unfinished"),
        ListedOutcome::Failed => is("failed"),
        ListedOutcome::Running => entry.is_running,
        ListedOutcome::Defective => false,
    }
}

/// Prints one line for each run, and below them what shows none.
fn print(shown: &[&Entry]) {
    let (width, paint) = (terminal::width::columns(), Paint::of_stdout());
    let rows: Vec<Vec<String>> = shown
        .iter()
        .filter_map(|entry| Some(cells(entry, entry.content.facts()?, paint)))
        .collect();
    if !rows.is_empty() {
        terminal::print(&table::rows(&COLUMNS, &rows, width).concat());
    }
    for entry in shown {
        let Content::Defective { defect, why } = &entry.content else { continue };
        let word = if entry.is_running { "running" } else { defect.name() };
        terminal::print_text(&format!("{}: {word}: {}", name(&entry.file), terminal::line(why)));
    }
}

fn cells(entry: &Entry, facts: &Facts, paint: Paint) -> Vec<String> {
    let drive = match &facts.label {
        // The end of a long name is cut.
        Some(label) => format!("{label}: {}", facts.drive),
        None => facts.drive.clone(),
    };
    let (outcome, role) = match (entry.is_running, facts.outcome.as_str()) {
        (true, _) => ("running", Role::Value),
        (false, "complete") => ("complete", Role::Good),
        (false, "failed") => ("failed", Role::Bad),
        (false, other) => (other, Role::Warn),
    };
    let run = entry.number.map_or_else(|| name(&entry.file), |number| number.to_string());
    vec![
        paint.text(Role::Value, &run),
        process::minute(facts.started_unix_ms),
        terminal::line(&drive),
        terminal::line(&facts.suite),
        paint.text(role, outcome),
        facts.grade.clone().unwrap_or_else(|| "-".to_owned()),
        terminal::line(&facts.headline),
    ]
}

fn name(file: &Path) -> String {
    terminal::line(&file.display().to_string())
}

impl Document {
    fn new(folder: Option<&Path>, shown: &[&Entry], unnumbered: Option<String>) -> Document {
        let mut document = Document {
            schema_version: 1,
            library: folder.map(|folder| folder.display().to_string()),
            runs: Vec::new(),
            defective: Vec::new(),
            unnumbered,
        };
        for entry in shown {
            let (file, running) = (entry.file.display().to_string(), entry.is_running);
            match &entry.content {
                Content::Run(facts) => {
                    document.runs.push(Row::new(entry.number, file, running, facts.clone()));
                }
                Content::Defective { defect, why } => document.defective.push(DefectiveFile {
                    file,
                    defect: defect.name(),
                    reason: why.clone(),
                    running,
                }),
            }
        }
        document
    }
}

impl Row {
    fn new(number: Option<u32>, file: String, running: bool, facts: Facts) -> Row {
        Row {
            number,
            file,
            id: facts.id,
            started_unix_ms: Some(facts.started_unix_ms).filter(|start| *start != 0),
            drive: facts.drive,
            serial: facts.serial,
            label: facts.label,
            suite: facts.suite,
            model: facts.model,
            outcome: facts.outcome,
            running,
            grade: facts.grade,
            headline: facts.headline,
        }
    }
}
