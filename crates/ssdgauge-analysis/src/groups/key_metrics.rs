//! Key metrics: one headline for each kind of workload, selected from the tests of a report.

use crate::groups::group::{Group, Member};
use crate::model::plan::measured_steps;
use ssdgauge_core::Stream;

/// How many numbers a drive has in the conclusions: readers want one answer, and the tests have the
/// rest.
pub(crate) const MOST: usize = 5;

/// The kind of workload of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    RandomRead,
    RandomWrite,
    SequentialRead,
    SequentialWrite,
    Mixed,
}

impl Kind {
    const ALL: [Kind; 5] = [
        Kind::RandomRead,
        Kind::RandomWrite,
        Kind::Mixed,
        Kind::SequentialRead,
        Kind::SequentialWrite,
    ];
}

/// Returns at most [`MOST`] of `groups` with their numbers: for each kind of work the test that
/// most drives have, of writes the one that lasts longest; then others in their order. Members that do
/// not count have no say.
pub(crate) fn select<'a>(
    groups: &'a [Group<'a>],
    counts: impl Fn(&Member<'_>) -> bool,
) -> Vec<(usize, &'a Group<'a>)> {
    let members = |group: &Group<'_>, is: fn(&Member<'_>) -> bool| {
        group.members.iter().filter(|member| counts(member) && is(member)).count()
    };
    let measured = |group: &Group<'_>| members(group, |m| m.test.headline.value.is_some());
    // A number with an interval says more.
    let judged = |group: &Group<'_>| members(group, |m| m.test.headline.interval.ends().is_some());
    let mut chosen: Vec<usize> = Vec::new();
    for kind in Kind::ALL {
        let of_kind =
            groups.iter().enumerate().filter(|(_, group)| self::kind(group) == Some(kind));
        let rank = |group: &Group<'_>| (measured(group), lasting(group), judged(group));
        // The first of equals.
        let best = of_kind.rev().max_by_key(|(_, group)| rank(group));
        chosen.extend(best.filter(|(_, group)| measured(group) > 0).map(|(number, _)| number));
    }
    for (number, group) in groups.iter().enumerate() {
        if chosen.len() < MOST && !chosen.contains(&number) && measured(group) > 0 {
            chosen.push(number);
        }
    }
    chosen.into_iter().map(|number| (number, &groups[number])).collect()
}

fn kind(group: &Group<'_>) -> Option<Kind> {
    let streams: Vec<&Stream> = measured_steps(&group.first().test.test)
        .filter_map(|step| step.action.workload())
        .flat_map(|workload| &workload.streams)
        .collect();
    let all = |has: fn(&Stream) -> bool| streams.iter().all(|stream| has(stream));
    if streams.is_empty() || !all(|stream| stream.operation.is_transfer()) {
        return None;
    }
    let (only_reads, only_writes) = (all(|one| !one.writes()), all(|one| !one.reads()));
    match (all(Stream::is_random), all(Stream::is_sequential)) {
        (true, _) if only_reads => Some(Kind::RandomRead),
        (true, _) if only_writes => Some(Kind::RandomWrite),
        (true, _) => Some(Kind::Mixed),
        (false, true) if only_reads => Some(Kind::SequentialRead),
        (false, true) if only_writes => Some(Kind::SequentialWrite),
        (false, _) => None,
    }
}

/// Returns how far beyond the SLC cache a test of writes goes; equal for all tests of reads.
fn lasting(group: &Group<'_>) -> u8 {
    let score = &group.first().test.test.score;
    match kind(group) {
        Some(Kind::RandomWrite | Kind::SequentialWrite) if score.last_part().is_some() => 2,
        Some(Kind::RandomWrite | Kind::SequentialWrite) => u8::from(score.depth_knee().is_some()),
        Some(Kind::RandomRead | Kind::SequentialRead | Kind::Mixed) | None => 0,
    }
}
