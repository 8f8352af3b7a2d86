//! `ssdgauge claims`: the claims of published reviews, checked on virtual drives.
//!
//! Finished runs stay in a folder and are used again; missing ones are carried out side by side. Every
//! result is one of a model.

mod every_profile;

use crate::arguments::ClaimsArguments;
use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use crate::process::{self, StopFlag};
use crate::suite_options;
use crate::text_file::read_text_file;
use crate::virtual_runs::{self, VirtualRun};
use ssdgauge_analysis::Run;
use ssdgauge_claims::{
    CatalogueError, Judgement, MEASURED_SUITE, Picture, Review, RunNeed, check_ids, judge,
    measured, reviews,
};
use ssdgauge_core::{DriveInfo, Plan, Rig};
use ssdgauge_lab::{Options, Repeat, Suite};
use ssdgauge_sim::{MODEL_REVISION, VirtualRig};
use ssdgauge_watch::terminal;
use ssdgauge_watch::terminal::colour::{Paint, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What an interruption advises.
const AGAIN: &str = "start it again: finished runs are used again";

/// The suffix of a run file in progress, after the number of its process.
const PARTIAL: &str = ".partial";

/// Checks claims and prints their states.
///
/// # Errors
///
/// Refuses an unknown claim, a missing profile, and a folder with runs of other revisions; fails where a
/// run fails or is interrupted, and with exit code 4 where a listed state has changed.
pub(crate) fn execute(arguments: &ClaimsArguments) -> Result<(), Failure> {
    let all = reviews().and_then(|reviews| Ok([reviews, vec![measured()?]].concat()));
    let mut reviews = all.map_err(|error| {
        let hint = "this is a bug in ssdgauge: please report it";
        Failure::new(FailureKind::Failed, error.to_string(), hint)
    })?;
    check_ids(&reviews, &arguments.ids)?;
    reviews.iter_mut().for_each(|review| review.retain(&arguments.ids));
    if let Some(id) = &arguments.markdown {
        retain_review(&mut reviews, id)?;
    }
    if arguments.list {
        terminal::print_folded(&ssdgauge_claims::list(&reviews));
        return Ok(());
    }
    if arguments.every_profile {
        let can_run = |need: &RunNeed| plan(need.clone(), &arguments.runs, arguments.seed).is_ok();
        let find = |needs| find_runs(needs, arguments);
        return every_profile::execute(&reviews, arguments, &can_run, &find);
    }
    let gate = arguments.gate.as_deref().map(read_gate).transpose()?;
    if let Some(folder) = &arguments.pictures {
        output::check_place(&folder.join("picture.svg"))?;
    }
    let runs = collect(&reviews, arguments)?;
    let judgements = judge(&reviews, &runs);
    let pictures = match &arguments.pictures {
        Some(folder) => write_pictures(folder, &reviews[0], runs)?,
        None => Vec::new(),
    };
    let text = text(arguments, &reviews, &judgements, &pictures);
    match arguments.json || arguments.markdown.is_some() {
        true => terminal::print(&text),
        false => terminal::print_folded(&with_signs(&text, Paint::of_stdout())),
    }
    match gate {
        Some((file, text)) => check_gate(&file, &text, &judgements),
        None => Ok(()),
    }
}

/// Writes the charts of `review` into `folder`, and returns them.
fn write_pictures(
    folder: &Path,
    review: &Review,
    runs: BTreeMap<RunNeed, Run>,
) -> Result<Vec<Picture>, Failure> {
    let pictures = ssdgauge_claims::pictures(review, runs);
    for Picture { figure, .. } in &pictures {
        let name = format!("{}.svg", figure.name);
        output::write_into(folder, &name, Format::Svg, &[], figure.svg.as_bytes())?;
    }
    Ok(pictures)
}

fn text(
    arguments: &ClaimsArguments,
    reviews: &[Review],
    judgements: &[Judgement<'_>],
    pictures: &[Picture],
) -> String {
    if arguments.json {
        return format!("{:#}\n", ssdgauge_claims::json(judgements));
    }
    if arguments.markdown.is_some() {
        let folder = arguments.pictures.as_deref().and_then(Path::file_name).unwrap_or_default();
        let folder = folder.to_string_lossy();
        return ssdgauge_claims::markdown(&reviews[0], judgements, pictures, &folder);
    }
    match arguments.ids.is_empty() {
        true => ssdgauge_claims::table(judgements, terminal::width::columns()),
        false => judgements.iter().map(ssdgauge_claims::one_claim).collect(),
    }
}

/// Returns the table with its signs in the colours of their meaning.
fn with_signs(text: &str, paint: Paint) -> String {
    let signs = [("✓", Role::Good), ("✗", Role::Bad)];
    let line = |line: &str| match signs.iter().find(|(sign, _)| line.starts_with(sign)) {
        Some((sign, role)) => format!("{}{}\n", paint.text(*role, sign), &line[sign.len()..]),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Keeps the review `id`.
fn retain_review(reviews: &mut Vec<Review>, id: &str) -> Result<(), Failure> {
    let known: Vec<String> = reviews.iter().map(|review| review.id.clone()).collect();
    reviews.retain(|review| review.id == id);
    match reviews.is_empty() {
        false => Ok(()),
        true => {
            let hint = format!("its name is one of: {}", known.join(", "));
            Err(Failure::new(FailureKind::Usage, format!("unknown review '{id}'"), hint))
        }
    }
}

fn read_gate(file: &str) -> Result<(String, String), Failure> {
    let hint = "a gate is a text file with lines ID = STATE";
    let text = read_text_file(file);
    let text = text.map_err(|error| Failure::new(FailureKind::Usage, error, hint))?;
    Ok((file.to_owned(), text))
}

fn check_gate(file: &str, text: &str, judgements: &[Judgement<'_>]) -> Result<(), Failure> {
    let changes = ssdgauge_claims::changes(text, judgements).map_err(|error| {
        let hint = "`ssdgauge claims --json` has the ids and states";
        Failure::new(FailureKind::Usage, format!("{file}: {error}"), hint)
    })?;
    if changes.is_empty() {
        return Ok(());
    }
    let text = format!("{} of the claims in {file} changed: {}", changes.len(), changes.join("; "));
    let hint = "change the list where the new state is intended";
    Err(Failure::new(FailureKind::Criterion, text, hint))
}

/// One run with its plan, its drive and its file.
struct Needed {
    need: RunNeed,
    plan: Plan,
    drive: DriveInfo,
    file: PathBuf,
}

/// Returns the runs that the claims of `reviews` need: those of the folder, and the missing ones after
/// they were carried out.
fn collect(
    reviews: &[Review],
    arguments: &ClaimsArguments,
) -> Result<BTreeMap<RunNeed, Run>, Failure> {
    let needs: BTreeSet<RunNeed> = reviews
        .iter()
        .flat_map(|review| review.claims.iter().flat_map(|claim| review.runs_of(claim)))
        .map(|(_, _, need)| need)
        .collect();
    find_runs(needs, arguments)
}

/// Returns the runs `needs`: those of the folder, and the missing ones after they were carried out.
fn find_runs(
    needs: BTreeSet<RunNeed>,
    arguments: &ClaimsArguments,
) -> Result<BTreeMap<RunNeed, Run>, Failure> {
    let folder = &arguments.runs;
    if folder.exists() && !folder.is_dir() {
        let text = format!("{} is not a folder", folder.display());
        let hint = "nothing was run; name the folder of the run files with --runs";
        return Err(Failure::new(FailureKind::Usage, text, hint));
    }
    let mut needed = Vec::new();
    for need in needs {
        needed.push(plan(need, folder, arguments.seed)?);
    }
    let missing: Vec<&Needed> = needed.iter().filter(|one| !one.file.exists()).collect();
    for one in &missing {
        check_folder(folder, one, arguments.seed)?;
    }
    if !missing.is_empty() && !arguments.no_runs {
        carry_out(&missing, folder, arguments.seed)?;
    }
    needed.retain(|one| one.file.exists());
    let files: Vec<PathBuf> = needed.iter().map(|one| one.file.clone()).collect();
    let runs = ssdgauge_analysis::read_all(&files)?;
    let mut found = BTreeMap::new();
    for (one, run) in needed.into_iter().zip(runs) {
        check_run(&one, &run)?;
        found.insert(one.need, run);
    }
    Ok(found)
}

/// Returns the suite `id`: a built-in one, or the loads of the public measurements.
fn find_suite(id: &str) -> Result<Suite, Failure> {
    match Suite::parse("measured.toml", MEASURED_SUITE) {
        Ok(suite) if suite.id == id => Ok(suite),
        _ => suite_options::find_suite(id),
    }
}

/// Plans the run of `need`.
fn plan(need: RunNeed, folder: &Path, seed: u64) -> Result<Needed, Failure> {
    let suite = find_suite(&need.test.suite)?;
    let rig = VirtualRig::open(&need.drive, seed).map_err(|error| {
        let hint = "nothing was run; `ssdgauge drives sim:` lists the profiles";
        Failure::new(FailureKind::Usage, error.to_string(), hint)
    })?;
    let only = vec![need.test.test.clone()];
    let (shorten, repeat) = (need.test.shorten, Repeat::Times(need.test.repeat));
    let options = Options { only, shorten, repeat, seed, ..Options::default() };
    let plan = ssdgauge_lab::plan(&suite, rig.drive(), &options)?;
    let revisions = format!("r{}.m{MODEL_REVISION}", suite.revision);
    let file = folder.join(format!("{}.{revisions}.{}", stem(&need), ending(seed)));
    Ok(Needed { drive: rig.drive().clone(), need, plan, file })
}

/// Returns the part of the name of a run file in front of the revisions.
fn stem(need: &RunNeed) -> String {
    let drive = need.drive.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
    let shortened = match need.test.shorten {
        1 => String::new(),
        by => format!("-by-{by}"),
    };
    let repeated = match need.test.repeat {
        1 => String::new(),
        times => format!("-{times}-times"),
    };
    format!("{drive}.{}.{}{shortened}{repeated}", need.test.suite, need.test.test)
}

/// Returns the part after the revisions.
fn ending(seed: u64) -> String {
    format!("s{seed}.ssdg")
}

/// Refuses a folder that has the missing run of another revision: its results would be of two kinds.
fn check_folder(folder: &Path, needed: &Needed, seed: u64) -> Result<(), Failure> {
    let stem = format!("{}.r", stem(&needed.need));
    let ending = format!(".{}", ending(seed));
    let is_other = |name: &str| name.starts_with(&stem) && name.ends_with(&ending);
    let names = folder.read_dir().into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    match names.into_iter().find(|name| is_other(name)) {
        None => Ok(()),
        Some(name) => {
            let wanted = needed.file.file_name().unwrap_or_default().to_string_lossy();
            let text = format!(
                "{} is of another revision of the suite or the model than {wanted}",
                folder.join(name).display()
            );
            let hint = "nothing was run; name another folder with --runs";
            Err(Failure::new(FailureKind::Usage, text, hint))
        }
    }
}

/// Refuses a run of another drive or another plan.
fn check_run(needed: &Needed, run: &Run) -> Result<(), Failure> {
    let is_plan = stored(&needed.plan).is_none_or(|plan| run.head.plan == plan);
    let what = match (run.head.drive == needed.drive, is_plan) {
        (true, true) => return Ok(()),
        (false, _) => "drive",
        (true, false) => "plan",
    };
    let text = format!("{} is a run of another {what}", needed.file.display());
    let hint = "nothing was changed; name another folder with --runs, or remove that file";
    Err(Failure::new(FailureKind::Usage, text, hint))
}

/// Returns `plan` as a run file has it: a rate may differ in its last bit after it was written as text.
fn stored(plan: &Plan) -> Option<Plan> {
    serde_json::from_str(&serde_json::to_string(plan).ok()?).ok()
}

/// Carries out the runs `missing`. A run has its name when it is finished, so that an interrupted one is
/// not taken for a result.
fn carry_out(missing: &[&Needed], folder: &Path, seed: u64) -> Result<(), Failure> {
    output::create_folders(folder).map_err(|error| {
        let kind = match error.kind {
            FailureKind::Failed => FailureKind::Refused,
            other => other,
        };
        let hint = "nothing was run; name another folder with --runs";
        Failure::new(kind, error.error, hint)
    })?;
    let stop = StopFlag::new();
    stop.listen()?;
    let now = process::unix_ms();
    terminal::print_message(&format!(
        "claims: {} runs of virtual drives (MODEL), run files in {}",
        missing.len(),
        folder.display()
    ));
    let run = |one: &&Needed| VirtualRun {
        file: one.file.clone(),
        in_progress: partial(&one.file),
        target: one.need.drive.clone(),
        seed,
        plan: one.plan.clone(),
    };
    for one in missing {
        for stale in ssdgauge_runfile::stale_temp_files(&one.file, PARTIAL) {
            // The file of a process that has ended; one that cannot be removed does no harm.
            let _ = std::fs::remove_file(stale);
        }
    }
    let result = virtual_runs::run_all(missing.iter().map(run).collect(), &stop, now, AGAIN);
    for one in missing {
        // The runs that were interrupted; one that cannot be removed does no harm.
        let _ = std::fs::remove_file(partial(&one.file));
    }
    result
}

fn partial(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}{PARTIAL}", std::process::id()));
    PathBuf::from(name)
}

impl From<CatalogueError> for Failure {
    fn from(error: CatalogueError) -> Failure {
        let hint = match &error {
            CatalogueError::Unknown { similar: Some(similar), .. } => {
                format!("did you mean {similar}? `ssdgauge claims --list` lists all")
            }
            CatalogueError::Unknown { similar: None, .. } => {
                "`ssdgauge claims --list` lists all".to_owned()
            }
            CatalogueError::Text { .. } => "correct the text of the review".to_owned(),
        };
        Failure::new(FailureKind::Usage, error.to_string(), hint)
    }
}
