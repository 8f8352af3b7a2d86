//! The ranking: one bar for each drive, a headline of the test.

use crate::analysis::captions;
use crate::analysis::group::{Group, Member};
use crate::analysis::headline_reasons::{missing_reason, stopped_by};
use crate::analysis::power;
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::workload_text;
use crate::figure::chart::{Bar, Chart, Drawing, Table};
use crate::model::metrics;
use crate::text::interval;
use crate::text::number;
use ssdgauge_core::{ConfidenceInterval, Headline, Scope, Score};

/// Returns the ranking of `group` by its headline, the best first and missing values last, with
/// their reasons.
pub(super) fn chart(group: &Group<'_>, drives: &ReportDrives) -> Chart {
    let test = &group.first().test.test;
    let mut chart = ranking(group, drives, &test.score, |member| &member.test.headline);
    chart.notes.extend(search_limits(group, drives));
    chart
}

/// Returns a ranking for each further number of the protocol that has no figure of its own:
/// latencies stand in that of the quality of service, power beside efficiency.
pub(super) fn further_charts(group: &Group<'_>, drives: &ReportDrives) -> Vec<Chart> {
    let test = &group.first().test.test;
    let mut charts: Vec<Chart> = Vec::new();
    for (place, score) in test.also.iter().enumerate() {
        let metric = score.metric();
        let everywhere = group.members.iter().all(|member| member.test.also.len() > place);
        if metric.unit() == "µs" || metric.needs_power() || !everywhere {
            continue;
        }
        let mut chart = ranking(group, drives, score, |member| &member.test.also[place]);
        if metric == test.score.metric() {
            chart.title = format!("{}, {}", chart.title, workload_text::rule(test, score));
        }
        charts.push(Chart { kind: "further", ..chart });
    }
    charts
}

fn ranking<'a>(
    group: &'a Group<'a>,
    drives: &ReportDrives,
    score: &Score,
    headline: impl Fn(&'a Member<'a>) -> &'a Headline,
) -> Chart {
    let metric = score.metric();
    let mut ranked: Vec<(&Member<'_>, &Headline)> =
        group.members.iter().map(|member| (member, headline(member))).collect();
    let scopes = |member: &Member<'_>| match metric.needs_power() {
        true => metrics::power_scopes(member.test),
        false => Vec::new(),
    };
    let scope = ranked.iter().map(|(member, _)| scopes(member)).find(|scopes| !scopes.is_empty());
    let scope = scope.unwrap_or_default();
    // Meters of different scopes include different parts of the host, so such bars are omitted.
    let elsewhere = |member: &Member<'_>| -> Option<String> {
        let own = scopes(member);
        (!own.is_empty() && own != scope).then(|| power::other_scope(&own))
    };
    let key = |headline: &Headline| {
        let worst = f64::INFINITY;
        let sign = if metric.more_is_better() { -1.0 } else { 1.0 };
        headline.value.map_or(worst, |value| sign * value)
    };
    ranked.sort_by(|a, b| {
        let last = |member| elsewhere(member).is_some();
        last(a.0).cmp(&last(b.0)).then(key(a.1).total_cmp(&key(b.1)))
    });
    let bars = ranked
        .iter()
        .map(|(member, headline)| match elsewhere(member) {
            Some(why) => Bar { value: Err(why), interval: None, ..bar(member, headline, drives) },
            None => bar(member, headline, drives),
        })
        .collect();
    let row = |(member, headline): &(&Member<'_>, &Headline)| {
        let mut row = row(member, headline, drives);
        if let Some(why) = elsewhere(member) {
            row[1] = why;
            row[2..4].fill(number::optional(None));
        }
        row
    };
    let rows = ranked.iter().map(row).collect();
    let mut notes = notes(group, score, &ranked);
    if !scope.is_empty() {
        let measured_by = power::measured_by(group, &scope);
        notes.push(format!("Power: {measured_by}."));
    }
    let head = ["Drive", "Value", "95 % low", "95 % high", "Full seconds", "Steps"];
    let unit = metric.unit().to_owned();
    Chart {
        title: format!("{}: {}", group.title(), title(group, score)),
        notes,
        drawing: Drawing::Bars { unit, bars },
        table: Table { head: head.map(str::to_owned).to_vec(), rows },
        kind: "ranking",
        folded: false,
    }
}

/// Returns the title of the metric; over all requests, with those that a latency is of.
fn title(group: &Group<'_>, score: &Score) -> String {
    match score.scope() {
        Scope::All => workload_text::metric_title(&group.first().test.test, score.metric()),
        Scope::Read | Scope::Write | Scope::Flush | Scope::Trim => {
            score.metric().title().to_owned()
        }
    }
}

/// Returns for each drive which rule stopped the search for the highest load.
fn search_limits(group: &Group<'_>, drives: &ReportDrives) -> Vec<String> {
    if group.first().test.test.score != Score::HighestPassing {
        return Vec::new();
    }
    let why = |member: &Member<'_>| {
        let first = stopped_by(member)?;
        Some(match drives.count() > 1 {
            true => format!("{}: {first}.", drives.names[member.index]),
            false => format!("{first}."),
        })
    };
    group.members.iter().filter_map(why).collect()
}

fn bar(member: &Member<'_>, headline: &Headline, drives: &ReportDrives) -> Bar {
    Bar {
        label: drives.names[member.index].clone(),
        part: "",
        colour: drives.slot_of(member.index),
        value: headline.value.ok_or_else(|| missing_reason(member)),
        interval: headline.interval.ends(),
        highlighted: drives.is_highlighted(member.index),
    }
}

fn row(member: &Member<'_>, headline: &Headline, drives: &ReportDrives) -> Vec<String> {
    vec![
        drives.names[member.index].clone(),
        match headline.value {
            Some(_) => workload_text::headline(&member.test.test, headline),
            None => missing_reason(member),
        },
        interval::low(&headline.interval, headline.metric),
        headline.interval.ends().map_or_else(
            || number::NOTHING.to_owned(),
            |(_, high)| interval::end(high, headline.metric),
        ),
        number::count(headline.n),
        format!("{} of {}", member.test.points.len(), member.test.planned),
    ]
}

fn notes(group: &Group<'_>, score: &Score, ranked: &[(&Member<'_>, &Headline)]) -> Vec<String> {
    let headlines: Vec<&Headline> = ranked.iter().map(|(_, headline)| *headline).collect();
    let metric = score.metric();
    let better = if metric.more_is_better() { "more is better" } else { "less is better" };
    let rule = workload_text::rule(&group.first().test.test, score);
    let unit = match metric.unit() {
        "" => metric.title(),
        unit => unit,
    };
    let seconds = || headlines.iter().map(|headline| headline.n);
    let n = match (seconds().min(), seconds().max()) {
        (Some(least), Some(most)) if least == most => number::count(least),
        (Some(least), Some(most)) => format!("{} to {}", number::count(least), number::count(most)),
        (None, _) | (_, None) => "0".to_owned(),
    };
    let is_short = headlines.iter().all(|headline| headline.n == 0);
    let steps = group.members.iter().map(|member| member.test.points.len()).max().unwrap_or(0);
    let n = match is_short {
        true => format!("n = {steps} steps of one run each, each shorter than one second"),
        false if seconds().max() == Some(1) => "n = 1 full second of one run each".to_owned(),
        false => format!("n = {n} full seconds of one run each"),
    };
    let mut notes = vec![format!("{unit}, {better}: {rule}; {n}.")];
    let has = |kind: fn(&ConfidenceInterval) -> bool| {
        headlines.iter().any(|headline| kind(&headline.interval))
    };
    if has(|interval| interval.within_run().is_some()) {
        notes.push(
            "The whiskers are the 95 % interval over the seconds of one run; they do not \
             include the variation between runs."
                .to_owned(),
        );
    }
    if has(|interval| matches!(interval, ConfidenceInterval::BetweenRepetitions { .. })) {
        notes.push(
            "The whiskers of repeated tests are the 95 % interval between repetitions.".to_owned(),
        );
    }
    if has(|interval| matches!(interval, ConfidenceInterval::OfCounters { .. })) {
        notes.push("The whiskers are what the granules of the drive's counters allow.".to_owned());
    }
    if has(|interval| *interval == ConfidenceInterval::StillSettling) {
        notes.push(
            "Still settling: the first seconds are better than the last ones, so there is no \
             interval."
                .to_owned(),
        );
    }
    if metric.unit() == "µs" {
        notes.push(captions::latency(&group.first().test.test));
    }
    notes
}
