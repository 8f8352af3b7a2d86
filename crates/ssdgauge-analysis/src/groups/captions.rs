//! Captions that all kinds of charts share: the marks of their runs, the definition of latency.

use crate::groups::group::{Group, Member};
use crate::groups::uses;
use crate::groups::workload_text;
use crate::text::sanitize;
use ssdgauge_core::{LatencyClock, Stream};

/// Returns the marks that all members of `group` share; every title and caption has them.
pub fn marks(group: &Group<'_>) -> Vec<String> {
    let mut marks = group.first().run_marks();
    for member in &group.members {
        let own = member.run_marks();
        marks.retain(|mark| own.contains(mark));
    }
    marks
}

/// Returns the definition of the latencies of `member`, for the notes of every figure of a latency.
pub fn latency(member: &Member<'_>) -> String {
    if let Some(program) = member.run.head.imported_from() {
        let program = sanitize::device(program);
        return format!("Latency is as {program} measured it; the notes say from when to when.");
    }
    let test = &member.test.test;
    let streams = uses::streams(test);
    let is_due = |stream: &&Stream| {
        stream.arrival.per_second().is_some() && stream.clock == LatencyClock::Due
    };
    let due = streams.iter().filter(|stream| is_due(stream)).count();
    let way = match due {
        0 => "from before the submission of a request to after its completion",
        due if due == streams.len() => {
            "from the time at which a request is due to after its completion"
        }
        _ => {
            "to after the completion of a request: where it is due at a time, from that time, \
             otherwise from before its submission"
        }
    };
    let of = match workload_text::latency_of(test) {
        requests if requests.is_empty() => requests,
        requests => format!(" of {requests}"),
    };
    let commits = match workload_text::has_commits(test) {
        true => " Where writes wait for a flush, it is that of the flush.",
        false => "",
    };
    format!("Latency{of} is measured {way}.{commits}")
}
