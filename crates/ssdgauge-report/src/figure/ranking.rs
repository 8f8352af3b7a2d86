//! The ranking: one bar for each run, the headline of the test.

use crate::figure::{Bar, Cast, Chart, Drawing, LATENCY, Table, title};
use crate::group::{Group, Member};
use crate::number;
use crate::settings;
use ssdgauge_core::Metric;

/// Returns the ranking of `group`, the best first and missing values last, with their reasons.
pub(super) fn of(group: &Group<'_>, cast: &Cast) -> Chart {
    let metric = group.first().test.headline.metric;
    let mut members: Vec<Member<'_>> = group.members.clone();
    let key = |member: &Member<'_>| {
        let worst = f64::INFINITY;
        let sign = if metric.more_is_better() { -1.0 } else { 1.0 };
        member.test.headline.value.map_or(worst, |value| sign * value)
    };
    members.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let bars = members.iter().map(|member| bar(member, cast)).collect();
    let rows = members.iter().map(|member| row(member, cast)).collect();
    let head = ["Drive", "Value", "95 % low", "95 % high", "Full seconds", "Steps"];
    let unit = metric.unit().to_owned();
    Chart {
        title: format!("{}: {}", title(group), metric.title()),
        notes: notes(group, metric),
        drawing: Drawing::Bars { unit, bars },
        table: Table { head: head.map(str::to_owned).to_vec(), rows },
        kind: "ranking",
    }
}

/// Returns why a test has no headline, in a few words.
pub(crate) fn reason(member: &Member<'_>) -> String {
    let test = member.test;
    match test.points.len() < test.planned {
        true => format!("unfinished: {} of {} steps", test.points.len(), test.planned),
        false if test.headline.metric == Metric::PowerW => "no power meter".to_owned(),
        false => "not measured".to_owned(),
    }
}

fn bar(member: &Member<'_>, cast: &Cast) -> Bar {
    let headline = &member.test.headline;
    Bar {
        label: cast.names[member.index].clone(),
        colour: member.index,
        value: headline.value.ok_or_else(|| reason(member)),
        interval: headline.low.zip(headline.high),
        highlighted: cast.highlighted == Some(member.index),
    }
}

fn row(member: &Member<'_>, cast: &Cast) -> Vec<String> {
    let headline = &member.test.headline;
    vec![
        cast.names[member.index].clone(),
        headline
            .value
            .map_or_else(|| reason(member), |value| number::with_unit(value, headline.metric)),
        number::optional(headline.low),
        number::optional(headline.high),
        number::count(headline.n),
        format!("{} of {}", member.test.points.len(), member.test.planned),
    ]
}

fn notes(group: &Group<'_>, metric: Metric) -> Vec<String> {
    let better = if metric.more_is_better() { "more is better" } else { "less is better" };
    let test = &group.first().test.test;
    let rule = settings::rule(test, &test.score);
    let unit = match metric.unit() {
        "" => metric.title(),
        unit => unit,
    };
    let seconds: Vec<u64> = group.members.iter().map(|m| m.test.headline.n).collect();
    let (least, most) = (seconds.iter().min(), seconds.iter().max());
    let n = match (least, most) {
        (Some(least), Some(most)) if least == most => number::count(*least),
        (Some(least), Some(most)) => {
            format!("{} to {}", number::count(*least), number::count(*most))
        }
        (None, _) | (_, None) => "0".to_owned(),
    };
    let mut notes = vec![
        format!("{unit}, {better}: {rule}; n = {n} full seconds of one run each."),
        "The whiskers are the 95 % interval over the seconds of this run; they cannot say how much \
         another run would differ."
            .to_owned(),
    ];
    if metric.unit() == "µs" {
        notes.push(LATENCY.to_owned());
    }
    notes
}
