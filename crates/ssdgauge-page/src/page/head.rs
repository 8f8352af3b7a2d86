//! The head of the page: the line above the headline, the headline and the dek.

use crate::page::kit::names::names_kept;
use maud::{Markup, html};
use ssdgauge_analysis::answers::answer::Answer;
use ssdgauge_analysis::answers::many_drives;
use ssdgauge_analysis::answers::one_drive::FirstScreen;
use ssdgauge_analysis::answers::run_headline::{self, RunHeadline};
use ssdgauge_analysis::answers::statements::{self, Sentence};
use ssdgauge_analysis::drives::caches::Writes;
use ssdgauge_analysis::drives::drive_summary;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::drives::sections::Sections;
use ssdgauge_analysis::findings::run_outcome::{self, RunOutcome};
use ssdgauge_analysis::groups::group::Group;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::case::capital;
use ssdgauge_analysis::text::labels;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Detail, DriveInfo};

/// The maximum number of sentences on a single drive.
const MOST: usize = 4;

/// The minimum number of sentences below the headline of a complete run.
const FEWEST: usize = 2;

/// The head of a page.
pub(super) struct Head {
    /// The line above.
    pub(super) kick: String,
    /// The headline.
    pub(super) title: String,
    /// The sentences below.
    pub(super) dek: Markup,
}

/// Returns the head of a page without runs.
pub(super) fn empty() -> Head {
    Head { kick: "SSD review".to_owned(), title: "No runs".to_owned(), dek: html! {} }
}

/// Returns the head of several runs.
pub(super) fn several(
    runs: &[Run],
    (groups, sections): (&[Group<'_>], &Sections),
    (answer, writes): (&Answer, &[Option<Writes>]),
    drives: &ReportDrives,
) -> Head {
    let n = drives.count();
    let ssds = drives.ssds();
    let count = capital(&statements::in_letters(ssds));
    let of_runs = || statements::in_letters(runs.len());
    let mut parts = vec![match ssds {
        1 => format!("One SSD, {} runs", of_runs()),
        _ if ssds < n => format!("{count} SSDs compared, {} runs", of_runs()),
        _ => format!("{count} SSDs compared"),
    }];
    parts.extend(match ssds {
        1 => common_size(runs, drives),
        _ => common_size(runs, drives).map(|size| format!("{size} each")),
    });
    parts.extend(latest(runs));
    if n < 2 {
        let sentences = drive_summary::sentences(runs, drives, 0);
        let dek = html! { (number::spaced(&sentences.join(" "))) };
        let name = drives.name(0);
        let RunHeadline { text: title, has_name } =
            run_headline::headline(name, groups, sections.hero);
        if !has_name {
            parts.insert(0, name.to_owned());
        }
        return Head { kick: parts.join(" · "), title, dek };
    }
    let sentences = many_drives::dek(answer, writes, drives);
    Head {
        kick: parts.join(" · "),
        title: many_drives::headline(runs, answer, writes, drives),
        dek: html! {
            @for (place, sentence) in sentences.iter().enumerate() {
                @if place > 0 { " " }
                (written(sentence, drives))
            }
        },
    }
}

fn written(sentence: &Sentence, drives: &ReportDrives) -> Markup {
    html! {
        @if let Some(drive) = sentence.drive { b { (names_kept(drives.short(drive), drives)) } " " }
        (names_kept(&sentence.text, drives))
    }
}

/// Returns the head of runs of one drive that are compared by their labels.
pub(super) fn labelled(several: Head, runs: &[Run], drives: &ReportDrives) -> Head {
    let Some(first) = runs.first() else { return several };
    let names: Vec<String> =
        (0..drives.count()).map(|drive| drives.short(drive).to_owned()).collect();
    let count = statements::in_letters(names.len());
    let mut kick = vec![format!("One SSD, {count} labels compared")];
    kick.push(labels::plain_size(&first.head.drive));
    kick.extend(latest(runs));
    let title = format!(
        "{}: {} compared",
        labels::drive_name(&first.head.drive),
        statements::listed(&names)
    );
    Head { kick: kick.join(" · "), title, dek: several.dek }
}

/// Returns the head of the complete run of one drive, with the sentences of its first screen.
///
/// Below a headline that is `stated` by an editor they begin with the change that the own headline has.
pub(super) fn of_screen(
    run: &Run,
    screen: &FirstScreen,
    drives: &ReportDrives,
    stated: Option<&str>,
) -> Head {
    let verdict = run.width_verdict().map(|finding| format!("{}.", sanitize::prose(&finding.text)));
    let change = screen.change.clone().filter(|_| stated.is_some());
    let mut sentences: Vec<String> = change.into_iter().chain(verdict).collect();
    sentences.extend(screen.sentences.clone());
    if sentences.len() < FEWEST {
        // A fall of the write speed is in the headline.
        let further = drive_summary::sentences(std::slice::from_ref(run), drives, 0).into_iter();
        let further = further.filter(|sentence| !sentence.starts_with("Writes "));
        sentences.extend(further.take(FEWEST - sentences.len()));
    }
    let dek = match sentences.is_empty() {
        true => html! { (sanitize::prose(&run.head.plan.suite.title)) "." },
        false => html! { (number::spaced(&sentences.join(" "))) },
    };
    let kick = kick(run, Some(labels::run_name(&run.head)));
    Head { kick, title: screen.title.clone(), dek }
}

/// Returns the line above the headline of one run; `name` is that of its drive where no headline has it.
fn kick(run: &Run, name: Option<String>) -> String {
    let drive = &run.head.drive;
    let mut kick: Vec<String> = name.into_iter().collect();
    kick.extend([labels::suite(&run.head), labels::plain_size(drive)]);
    kick.extend(
        drive.firmware.as_deref().map(|text| format!("firmware {}", sanitize::device(text))),
    );
    kick.push(number::date(run.head.started_unix_ms));
    kick.join(" · ")
}

/// Returns the head of a single run: the drive with the result of its first figure.
pub(super) fn single(
    run: &Run,
    groups: &[Group<'_>],
    sections: &Sections,
    drives: &ReportDrives,
) -> Head {
    let name = labels::run_name(&run.head);
    let RunHeadline { text: title, has_name } =
        run_headline::headline(&name, groups, sections.hero);
    // A headline that says how the run ended does not name the drive.
    let has_name = has_name && run_outcome::of(run) == RunOutcome::Complete;
    let kick = kick(run, (!has_name).then_some(name));
    let sentences = drive_summary::sentences(std::slice::from_ref(run), drives, 0);
    let verdict = run.width_verdict().map(|finding| format!("{}.", sanitize::prose(&finding.text)));
    let sentences: Vec<String> =
        verdict.into_iter().chain(sentences.into_iter().take(MOST)).collect();
    let dek = match sentences.is_empty() {
        true => html! { (sanitize::prose(&run.head.plan.suite.title)) "." },
        false => html! { (number::spaced(&sentences.join(" "))) },
    };
    Head { kick, title, dek }
}

/// Returns the capacity of all drives, where it is the same.
fn common_size(runs: &[Run], drives: &ReportDrives) -> Option<String> {
    let mut sizes = (0..drives.count()).map(|drive| size(runs, drives, drive));
    let first = sizes.next()?;
    sizes.all(|other| other == first).then_some(first)
}

/// Returns the size of `drive`: that of its runs where it is the same, else that of the whole drive.
fn size(runs: &[Run], drives: &ReportDrives, drive: usize) -> String {
    let infos = || drives.runs_of(drive).map(|run| &runs[run].head.drive);
    let mut sizes: Vec<String> = infos().map(labels::plain_size).collect();
    sizes.dedup();
    match sizes.as_slice() {
        [one] => one.clone(),
        [] | [_, ..] => match infos().filter_map(DriveInfo::drive_capacity).max() {
            Some(capacity) => number::plain_capacity(capacity.0),
            None => "capacity not known".to_owned(),
        },
    }
}

fn latest(runs: &[Run]) -> Option<String> {
    let latest = runs.iter().map(|run| run.head.started_unix_ms).max()?;
    Some(number::day(latest))
}

/// Returns what is below the name of each drive: its capacity where it differs, and its link or
/// class where it is known.
pub(super) fn below(runs: &[Run], drives: &ReportDrives) -> Vec<String> {
    let has_common = common_size(runs, drives).is_some();
    let has_finished = runs.iter().any(|run| run.complete);
    let of_drive = |drive: usize| {
        let Some(run) = drives.runs_of(drive).next().map(|run| &runs[run]) else {
            return String::new();
        };
        let info = &run.head.drive;
        let mut parts: Vec<String> = Vec::new();
        if !has_common {
            parts.push(size(runs, drives, drive));
        }
        parts.extend(info.detail(Detail::Interface).map(sanitize::prose));
        parts.extend(info.detail(Detail::Cells).map(sanitize::prose));
        if parts.is_empty() {
            parts.extend(info.firmware.as_deref().map(sanitize::device));
        }
        if has_finished && drives.runs_of(drive).any(|run| !runs[run].complete) {
            parts.push("UNFINISHED".to_owned());
        }
        parts.join(", ")
    };
    (0..drives.count()).map(of_drive).collect()
}
