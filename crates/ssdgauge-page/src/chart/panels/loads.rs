//! A search: the loads that each drive passed and failed, and what stopped it.

use crate::chart::rows::{MarkRow, RowMark, RowMarkKind, Rows};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::group::{Group, Member};
use ssdgauge_analysis::groups::headline_reasons::{missing_reason, stopped_by};
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::steps::tried_loads::tried_loads;
use ssdgauge_analysis::text::{number, sanitize};

/// Returns the rows of the loads with the reasons.
pub(crate) fn rows(group: &Group<'_>, drives: &ReportDrives) -> Rows {
    let value = |member: &Member<'_>| member.test.headline.value.unwrap_or(0.0);
    let mut members: Vec<&Member<'_>> = group.members.iter().collect();
    members.sort_by(|a, b| value(b).total_cmp(&value(a)));
    let base = workload_text::base_load(&group.first().test.test);
    let base = base.unwrap_or_else(|| "the load".to_owned());
    let why = |member: &&Member<'_>| (drives.drive_of(member.index), reason(member));
    Rows {
        kind: "loads",
        caption: format!(
            "Multiples of {base}; dots passed, the large mark is the highest, × failed; logarithmic"
        ),
        rows: members.iter().map(|member| row(member, drives)).collect(),
        words: |value| format!("{}×", number::short(value)),
        reasons: members.iter().map(why).collect(),
    }
}

/// Returns what the reasons are about.
pub(crate) fn caption_of_reasons(group: &Group<'_>) -> String {
    let mut members = group.members.iter();
    let any = members.find_map(|member| tried_loads(member.test).into_iter().next());
    let requests = any.map_or("requests".to_owned(), |load| sanitize::prose(&load.requests));
    format!("Next load that failed: share of the {requests} over a limit, in the worst slice")
}

/// Returns the lowest load above the result that failed, with the first limit that it exceeded.
fn reason(member: &Member<'_>) -> String {
    let Some(passing) = member.test.headline.value else { return missing_reason(member) };
    let tried = tried_loads(member.test);
    let failed = tried.iter().find(|load| load.has_failed() && load.load > passing);
    let exceeded = failed.and_then(|load| {
        let above = load.above.iter().find_map(|(latency, share, limit)| {
            share.filter(|share| share >= limit).map(|share| (latency, share))
        });
        above.map(|(latency, share)| (load.load, latency, share))
    });
    match (exceeded, stopped_by(member)) {
        (Some((load, latency, share)), _) => format!(
            "{}×: {}\u{a0}% over {}",
            number::tick(load),
            number::text(share),
            latency.about()
        ),
        (None, Some(why)) => number::spaced(&why),
        (None, None) => "nothing: the highest load passed".to_owned(),
    }
}

fn row(member: &Member<'_>, drives: &ReportDrives) -> MarkRow {
    let drive = drives.drive_of(member.index);
    let best = member.test.headline.value;
    let marks = tried_loads(member.test).into_iter().filter(|load| load.load > 0.0);
    let marks = marks.filter_map(|load| {
        let kind = match load.passed? {
            true if best == Some(load.load) => RowMarkKind::Result,
            true => RowMarkKind::Minor,
            false => RowMarkKind::Failed,
        };
        let said = match (load.passed?, load.disagrees) {
            (true, _) => "passed",
            (false, true) => "passed one of two trials",
            (false, false) => "failed",
        };
        let at = number::tick(load.load);
        let words = if kind == RowMarkKind::Result { format!("{at}×") } else { String::new() };
        Some(RowMark {
            at: load.load,
            kind,
            title: format!("{}, {at}×: {said}", drives.short(drive)),
            words,
        })
    });
    MarkRow { drive, name: None, marks: marks.collect() }
}
