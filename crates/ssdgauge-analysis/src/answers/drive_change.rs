//! The largest lasting change of the write speed of one drive within a run, in words.

use crate::drives::caches;
use crate::drives::report_drives::ReportDrives;
use crate::drives::run_lines::{self, LineOver};
use crate::findings::trust;
use crate::groups::group::{Group, Member};
use crate::model::{PointRun, Run, SpeedFall};
use crate::steps::slc_cache;
use crate::text::number;
use ssdgauge_core::{Bytes, FindingKind, Metric, Stream};

/// A lasting change of the write speed within the run.
#[derive(Clone, Debug)]
pub struct Change {
    /// The first fall.
    pub first: SpeedFall,
    /// The falls that follow it, in their order.
    pub later: Vec<SpeedFall>,
    /// The MB/s of each full second from the start.
    pub course: Vec<f64>,
    /// Whether the requests are random.
    pub is_random: bool,
    /// The load in words, such as `128 KiB, 32 at once`.
    pub load: String,
    /// The bytes of a request.
    pub block: Bytes,
    /// The key of the lines of other drives over what they wrote in the same test.
    pub line: String,
    /// Whether a finding puts it in doubt that the fall does not explain.
    pub is_doubtful: bool,
}

/// Writes in order of smaller requests are not those of a copy. Chosen, as for the numbers of a run.
const LARGE: Bytes = Bytes(64 << 10);

/// What a lower bound in two digits is rounded down by.
const BELOW: f64 = 0.98;

impl Change {
    /// Returns what changes, from what to what, and after how much: `long writes drop from 2.3 GB/s to 724 MB/s after
    /// about 3 GB`.
    pub(crate) fn clause(&self) -> String {
        let subject = self.subject();
        let (to, after) = (self.rate(self.first.edge.after), self.after());
        format!("{subject} drop from {} to {to} {after}{}", self.before(), self.then())
    }

    /// Returns where the speed falls again, and to what: `, then to 123 MB/s after about 990 GB`; of several further falls
    /// the last one, because it holds from there on.
    fn then(&self) -> String {
        self.later.last().map_or_else(String::new, |fall| {
            let amount = gigabytes(fall.edge.bytes);
            format!(", then to {} after about {amount}", self.rate(fall.edge.after))
        })
    }

    /// Returns the speed after the fall in words, with a further fall: `145 MB/s up to 990 GB, then 123 MB/s`.
    pub(crate) fn speed_after(&self) -> String {
        let after = self.rate(self.first.edge.after);
        match self.later.last() {
            None => after,
            Some(fall) => {
                let amount = gigabytes(fall.edge.bytes);
                format!("{after} up to {amount}, then {}", self.rate(fall.edge.after))
            }
        }
    }

    /// Returns the bytes of a second that are left in the end.
    pub(crate) fn last(&self) -> f64 {
        self.later.last().unwrap_or(&self.first).edge.after
    }

    /// Returns what becomes slower.
    pub(crate) fn subject(&self) -> &'static str {
        if self.is_random { "small random writes" } else { "long writes" }
    }

    /// Returns the rate before in words: `2.3 GB/s`, or a lower bound: `over 2.1 GB/s`.
    pub(crate) fn before(&self) -> String {
        match self.first.edge.is_bounded_below() {
            true => self.rate(self.first.edge.before),
            false => format!("over {}", self.rate(self.first.edge.before * BELOW)),
        }
    }

    /// Returns the amount after which it changes in words: `after about 3 GB`, or `within 4.7 GB`.
    pub fn after(&self) -> String {
        let edge = &self.first.edge;
        match edge.is_bounded_below() {
            true => format!("after about {}", gigabytes(edge.bytes)),
            false => format!("within {}", gigabytes(edge.bytes + edge.uncertainty)),
        }
    }

    /// Returns the amount that is written before it changes, rounded down to what is sure: `3 GB`.
    pub fn amount(&self) -> String {
        let edge = &self.first.edge;
        match edge.is_bounded_below() {
            true => gigabytes(edge.bytes),
            false => gigabytes(edge.bytes + edge.uncertainty),
        }
    }

    /// Returns bytes of a second in words: IOPS for random requests, else GB/s in two digits from 1,000 MB/s on.
    pub fn rate(&self, bytes: f64) -> String {
        match bytes / 1e6 {
            _ if self.is_random => {
                let iops = bytes / self.block.0 as f64;
                // Three digits, as of the other rates.
                let unit = 10_f64.powi(iops.max(1.0).log10().floor() as i32 - 2).max(1.0);
                number::measured((iops / unit).round() * unit, Metric::Iops)
            }
            mb if mb >= 1_000.0 => format!("{:.1}\u{a0}GB/s", mb / 1e3),
            mb => number::measured(mb, Metric::ThroughputMbS),
        }
    }
}

/// Returns an amount in two digits: `4.7 GB`, `120 GB`.
fn gigabytes(bytes: u64) -> String {
    let gb = bytes as f64 / 1e9;
    match gb {
        gb if gb >= 10.0 => format!("{gb:.0}\u{a0}GB"),
        gb if gb >= 0.95 => format!("{gb:.1}\u{a0}GB").replace(".0\u{a0}", "\u{a0}"),
        gb => format!("{:.0}\u{a0}MB", 1e3 * gb),
    }
}

/// Returns the change of the write speed: that of writes in order, else of the random writes that lose most.
pub(crate) fn change(run: &Run, groups: &[Group<'_>], drives: &ReportDrives) -> Option<Change> {
    let valid = run.tests.iter().filter(|test| trust::invalid(run, test).is_none());
    let steps: Vec<(Member<'_>, &PointRun)> = valid
        .map(|test| Member { index: 0, run, test })
        .flat_map(|member| member.test.points.iter().map(move |point| (member, point)))
        .collect();
    let of_figure = caches::of_drives(groups, drives).into_iter().flatten().next();
    let wanted = of_figure.and_then(|writes| writes.fall().copied());
    let shows = |step: &&(Member<'_>, &PointRun)| {
        wanted.is_some() && step.1.falls.first().copied() == wanted
    };
    if let Some(change) = steps.iter().find(shows).and_then(change_of) {
        return Some(change);
    }
    let all: Vec<Change> = steps.iter().filter_map(change_of).collect();
    let loss = |change: &Change| change.first.edge.before / change.last().max(1.0);
    let of_order = |is_random: bool| {
        let those = all.iter().filter(|change| change.is_random == is_random);
        those.max_by(|a, b| loss(a).total_cmp(&loss(b))).cloned()
    };
    of_order(false).or_else(|| of_order(true))
}

/// Returns the change of `point`, where one stream writes as fast as the drive takes it.
fn change_of((member, point): &(Member<'_>, &PointRun)) -> Option<Change> {
    let [stream] = point.workload.streams.as_slice() else { return None };
    let is_free = point.workload.never_pauses() && stream.arrival.per_second().is_none();
    if !is_free || stream.reads() || !stream.writes() {
        return None;
    }
    let first = slc_cache::first_fall(point)?;
    let block = stream.block_size;
    // A fall of tiny requests in order is not one of copies.
    if !stream.is_random() && block < LARGE {
        return None;
    }
    let later = point.falls.iter().skip(1).copied().collect();
    let course = point.point.seconds.full().rates(Metric::ThroughputMbS);
    let line = run_lines::key(*member, LineOver::Written);
    Some(Change {
        first,
        later,
        course,
        is_random: stream.is_random(),
        load: load(stream),
        block,
        line,
        is_doubtful: is_doubtful(*member, point),
    })
}

/// Returns whether a finding puts `point` in doubt, other than by the fall itself.
fn is_doubtful(member: Member<'_>, point: &PointRun) -> bool {
    let (run, test) = (member.run, member.test);
    let is_of_step =
        |step: &Option<String>| step.as_ref().is_none_or(|step| *step == point.point.label);
    let of_step = test.findings.iter().filter(|one| is_of_step(&one.step)).map(|one| &one.finding);
    let mut found = run.findings.iter().chain(of_step);
    found.any(|finding| {
        trust::is_doubt(finding, Some(&test.test)) && !EXPLAINED.contains(&finding.kind)
    })
}

/// What a fall of the speed explains.
const EXPLAINED: [FindingKind; 6] = [
    FindingKind::TwoLevels,
    FindingKind::CacheExceeded,
    FindingKind::FallUnexplained,
    FindingKind::StillSettling,
    FindingKind::NotSteady,
    FindingKind::LeftSteadyState,
];

fn load(stream: &Stream) -> String {
    let size = number::spaced(&stream.size_words());
    match stream.total_depth() {
        1 => format!("{size}, one at a time"),
        depth => format!("{size}, {depth} at once"),
    }
}
