//! The summary of one drive in sentences: throttling, falls of the write speed, sustained rate, queue depth and
//! tail latency. Each sentence follows from samples or findings.

use crate::drives::report_drives::ReportDrives;
use crate::findings::trust;
use crate::groups::fill_level;
use crate::groups::group::Member;
use crate::groups::headline_reasons;
use crate::groups::workload_text;
use crate::model::metrics;
use crate::model::{PointRun, Run, TestRun};
use crate::steps::fall_words;
use crate::steps::headline_points;
use crate::steps::slc_cache;
use crate::steps::steady_state;
use crate::text::interval;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{FindingKind, Metric, Scope, Score, Stream};
use ssdgauge_statistics::consistency::{self, Consistency};
use ssdgauge_statistics::difference::{self, Outcome};

/// The maximum number of sentences of one drive.
const MOST: usize = 6;

/// A mix counts as a weak spot where it stays below this share of the slower of pure reads and
/// pure writes. Chosen.
const WEAK: f64 = 0.8;

/// Returns the sentences of the drive with this number.
pub fn sentences(runs: &[Run], drives: &ReportDrives, drive: usize) -> Vec<String> {
    let members = || {
        let of_run = |index: usize| {
            runs[index].tests.iter().map(move |test| Member { index, run: &runs[index], test })
        };
        let is_valid = |member: &Member<'_>| trust::invalid(member.run, member.test).is_none();
        drives.runs_of(drive).flat_map(of_run).filter(is_valid)
    };
    let first = |sentence: &dyn Fn(&TestRun) -> Option<String>| {
        members().find_map(|member| sentence(member.test))
    };
    let mut invalid = drives.runs_of(drive).filter_map(|run| trust::invalidating(&runs[run]));
    let invalid = invalid
        .next()
        .map(|finding| format!("Look at this first: {}.", sanitize::prose(&finding.text)));
    let mut sentences: Vec<Option<String>> = vec![
        invalid,
        throttled(members().map(|member| member.test)),
        first(&falls),
        first(&settled),
        over_provisioned(members().map(|member| member.test)),
        first(&knee),
        first(&weak_mix),
        first(&full),
        first(&tail),
    ];
    sentences.push(members().find_map(|member| passed_load(&member)));
    sentences.into_iter().flatten().take(MOST).collect()
}

fn title(test: &TestRun) -> String {
    sanitize::prose(&test.test.title)
}

fn throttled<'a>(tests: impl Iterator<Item = &'a TestRun>) -> Option<String> {
    const MAX_TITLES: usize = 3;
    let hot = |test: &&TestRun| {
        test.findings.iter().any(|of_step| of_step.finding.kind == FindingKind::Throttled)
    };
    let titles: Vec<String> = tests.filter(hot).map(title).collect();
    let shown = titles.iter().take(MAX_TITLES).cloned().collect::<Vec<_>>().join("; ");
    let more = match titles.len().saturating_sub(MAX_TITLES) {
        0 => String::new(),
        more => format!(" and {more} more tests"),
    };
    (!titles.is_empty()).then(|| format!("Thermal throttling in {shown}{more}."))
}

fn falls(test: &TestRun) -> Option<String> {
    let point = slc_cache::sequential_write(test)?;
    let written = point.point.totals.directions.iter().map(|totals| totals.bytes).sum::<u64>();
    let title = title(test);
    Some(match point.falls.as_slice() {
        [] => format!(
            "No fall of the write speed to 80 % within {} of sequential writes ({title}).",
            number::capacity(written)
        ),
        falls => format!("Writes {} ({title}).", fall_words::levels(falls)),
    })
}

fn settled(test: &TestRun) -> Option<String> {
    let (metric, window) = test.test.score.mean_of_last()?;
    let [point] = test.points.as_slice() else { return None };
    if metric.needs_power() || !point.workload.streams.iter().all(Stream::is_random) {
        return None;
    }
    let value = test.headline.value?;
    let full = point.point.seconds.full();
    let last = window.select(full)?.rates(metric);
    let way = match consistency::classify(&last)? {
        Consistency::Steady => "little variation from second to second".to_owned(),
        Consistency::Periodic { period, depth } => {
            format!("periodic drops of {:.0} % every {} s", depth * 100.0, number::text(period))
        }
        Consistency::Wide => "large variation from second to second".to_owned(),
    };
    let value = metric.about(value);
    let title = title(test);
    Some(match steady_state::is_unsteady(test) {
        true => {
            format!("{value} in the {window}, not steady by the SNIA criterion; {way} ({title}).")
        }
        false => format!("Sustains {value} in the {window}; {way} ({title})."),
    })
}

/// The effect of over-provisioning: the same test of one run on a shorter span.
fn over_provisioned<'a>(tests: impl Iterator<Item = &'a TestRun>) -> Option<String> {
    let span = |test: &TestRun| test.points.first()?.workload.streams.first().map(|s| s.span);
    let settled: Vec<&TestRun> = tests
        .filter(|test| {
            test.test.score.mean_of_last().is_some_and(|(metric, _)| metric == Metric::Iops)
        })
        .filter(|test| test.headline.value.is_some())
        .collect();
    let [whole, part, ..] = settled.as_slice() else { return None };
    let (of_whole, of_part) = (span(whole)?, span(part)?);
    if whole.test.score != part.test.score || of_part >= of_whole || of_part.0 == 0 {
        return None;
    }
    let spare = 100.0 * (1.0 - of_part.0 as f64 / of_whole.0 as f64);
    let ratio = part.over(whole)?;
    let times = number::text(ratio.value);
    let gain = match difference::judge(ratio.value, ratio.interval, difference::NOISE) {
        Outcome::Equal => "equal within 3 %".to_owned(),
        Outcome::Higher | Outcome::Lower => format!("{times} times as high"),
        Outcome::NotDecided => {
            format!("{times} times as high, which the 95 % intervals do not tell from no change")
        }
    };
    let title = title(part);
    Some(format!(
        "With {spare:.0} % over-provisioning the sustained write rate is {gain} ({title})."
    ))
}

fn knee(test: &TestRun) -> Option<String> {
    let metric = test.test.score.depth_knee()?;
    let (points, found) = headline_points::depth_sweep(test, metric)?;
    let end = match points.as_slice() {
        // A plateau has its best anywhere; only what still climbs may climb further.
        [.., before, last]
            if last.depth == found.peak_depth
                && last.value > (1.0 + difference::NOISE) * before.value =>
        {
            "; the peak may lie beyond the deepest queue tested"
        }
        [..] => "",
    };
    Some(format!(
        "Reaches 95 % of its peak at QD{}; the peak is {}{end} ({}).",
        found.depth,
        metric.about(found.peak),
        title(test)
    ))
}

fn weak_mix(test: &TestRun) -> Option<String> {
    let metric = test.headline.metric;
    // A mix is one load of which the share of reads alone changes.
    let without_share = |stream: &Stream| Stream { read_percent: 0, ..stream.clone() };
    let first = without_share(test.points.first()?.workload.streams.first()?);
    let mix = |point: &PointRun| match point.workload.streams.as_slice() {
        [stream] if stream.operation.is_transfer() && without_share(stream) == first => {
            Some((stream.read_percent, metrics::value(point, metric, Scope::All)?))
        }
        [] | [_, ..] => None,
    };
    let mixes: Vec<(u8, f64)> = test.points.iter().map(mix).collect::<Option<_>>()?;
    let at = |share: u8| mixes.iter().find(|(read, _)| *read == share).map(|(_, value)| *value);
    let (reads, writes) = (at(100)?, at(0)?);
    let pure = reads.min(writes);
    let mixed = mixes.iter().filter(|(read, _)| (1..100).contains(read));
    let (read, least) = *mixed.min_by(|a, b| a.1.total_cmp(&b.1))?;
    (metric.more_is_better() && pure > 0.0 && least < WEAK * pure).then(|| {
        format!(
            "A mix of reads and writes is slower than either: {} with {read} % reads, {} with reads \
             only, {} with writes only ({}).",
            metric.about(least),
            metric.about(reads),
            metric.about(writes),
            title(test)
        )
    })
}

fn full(test: &TestRun) -> Option<String> {
    let metric = test.headline.metric;
    let level = |point: &PointRun| {
        let level = fill_level::from_label(&point.point.label, point.point.position)?;
        Some((level, metrics::value(point, metric, Scope::All)?))
    };
    let levels: Vec<(f64, f64)> = test.points.iter().map(level).collect::<Option<_>>()?;
    let (first, last) = (levels.first()?, levels.last()?);
    (levels.len() > 1 && first.1 > 0.0).then(|| {
        format!(
            "At {} % full the result is {:.0} % of that at {} % full ({}).",
            last.0,
            100.0 * last.1 / first.1,
            first.0,
            title(test)
        )
    })
}

/// Mean and tail latency of random reads at QD1, where no request waits behind another. Writes end
/// in a cache, so they are not an answer to the same question.
fn tail(test: &TestRun) -> Option<String> {
    let [point] = headline_points::points(test)[..] else { return None };
    let [stream] = point.workload.streams.as_slice() else { return None };
    let is_read = stream.is_random() && stream.reads() && !stream.writes();
    if (stream.queue_depth, stream.threads) != (1, 1) || !is_read {
        return None;
    }
    let latency = |metric| metrics::value(point, metric, Scope::All);
    let load = match stream.arrival.per_second() {
        Some(rate) => format!("{}/s", number::text(rate)),
        None => "QD1".to_owned(),
    };
    let (mean, tail) = (latency(Metric::LatMeanUs)?, latency(Metric::LatP9999Us)?);
    Some(format!(
        "Random reads at {load}: mean latency {}, p99.99 {} ({}).",
        Metric::LatMeanUs.about(mean),
        Metric::LatP9999Us.about(tail),
        title(test)
    ))
}

fn passed_load(member: &Member<'_>) -> Option<String> {
    if member.test.test.score != Score::HighestPassing {
        return None;
    }
    member.test.headline.value?;
    let value = interval::headline(&member.test.headline);
    let value = match workload_text::base_load(&member.test.test) {
        Some(base) => format!("{value} of {base}"),
        None => value,
    };
    let title = title(member.test);
    Some(match headline_reasons::stopped_by(member) {
        Some(why) => format!("Highest passing load: {value}; {why} ({title})."),
        None => format!("Highest passing load: {value}, the maximum tested ({title})."),
    })
}
