//! A quick run of one drive: its numbers as a reader asks for them, and the state of the drive.

use crate::drives::caches;
use crate::findings::trust;
use crate::model::metrics;
use crate::model::{FallCause, PointRun, Run, SpeedFall, TestRun};
use crate::quick::quick_answer;
use crate::steps::fall_words;
use crate::steps::level_pair::{self, Levels};
use crate::steps::slc_cache;
use crate::steps::stalls;
use crate::text::number;
use ssdgauge_core::{Bytes, Detail, FindingKind, Metric, Scope, Stream, rounded};
use ssdgauge_statistics::cache::FALL;
use std::cmp::Reverse;

/// The suite whose page is this one.
pub const SUITE: &str = "quick";

/// One number with its load.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The question of a reader, such as `Large files`.
    pub name: &'static str,
    /// The load.
    pub conditions: String,
    /// Whether the requests are random.
    pub is_random: bool,
    /// Whether all requests read.
    pub is_read: bool,
    /// Test, revision and step, equal for equal loads of the suite.
    pub load: String,
    /// The metric.
    pub metric: Metric,
    /// The value.
    pub value: f64,
    /// What the step did, such as `4.29 GB in 1.80 s`, where it is too short for its rate to be quoted.
    pub did: Option<String>,
    /// The 99th percentile of its latency.
    pub p99_us: Option<f64>,
    /// The position relative to the cache, where it is known.
    pub cache: Option<&'static str>,
    /// The two levels of a step that falls: its value is the mean over both, at which the drive does not
    /// write.
    pub levels: Option<Levels>,
}

impl Figure {
    /// Returns the largest value that it shows.
    pub fn most(&self) -> f64 {
        self.levels.as_ref().map_or(self.value, |levels| levels.before.max(self.value))
    }

    /// Returns what a reader may quote, and its unit: both levels where there are two, and for a short step what it did.
    pub fn quoted(&self) -> (String, &'static str) {
        match (&self.did, &self.levels) {
            (Some(did), _) => (did.clone(), ""),
            (None, Some(levels)) => (levels.words.clone(), self.metric.unit()),
            (None, None) => (number::text(self.value), self.metric.unit()),
        }
    }

    /// Returns the load without its order, such as `1 MiB, QD8`.
    fn size_and_depth(&self) -> String {
        number::spaced(&self.conditions.replace(" random", ""))
    }
}

/// The two write speeds of a drive, and the data between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Fall {
    /// MB/s until the speed falls.
    pub before: f64,
    /// The same in words, with its unit: a lower bound where it falls within the first seconds.
    pub before_words: String,
    /// MB/s from there.
    pub after: f64,
    /// Gigabytes until it falls.
    pub gb: f64,
    /// The same in words, with their uncertainty; an upper bound where it includes zero.
    pub size_words: String,
    /// The seconds until it falls; `None` where only an upper bound of its place is known.
    pub seconds: Option<f64>,
    /// What caused it.
    pub cause: FallCause,
    /// The words after a speed, such as `until its cache is full (4 ± 1 GB)`.
    pub until: String,
}

/// The state of one property of the drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// The property.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// What it means.
    pub note: String,
    /// The judgement; `None` where it was not checked.
    pub is_good: Option<bool>,
}

/// Returns whether `suite` is the one of common loads, or one for a kind of work.
pub fn is_quick(suite: &str) -> bool {
    suite == SUITE || quick_answer::is_for_work(suite)
}

/// Returns the headline: the answer for a kind of work, speeds, or what casts doubt on them.
pub fn headline(run: &Run) -> String {
    let kinds = [FindingKind::HealthWarning, FindingKind::MediaError, FindingKind::WrongData];
    let ill = run.all_findings().into_iter().map(|one| one.finding);
    let ill = trust::invalidating(run).or(ill.into_iter().find(|one| kinds.contains(&one.kind)));
    let best = |reads: bool| {
        figures(run, reads).into_iter().find(|figure| figure.metric == Metric::ThroughputMbS)
    };
    let troubles = troubles(run);
    if let (None, Some(answer)) = (&ill, quick_answer::sentence(run)) {
        return answer + &troubles;
    }
    let speeds = match (ill, best(true), best(false)) {
        (Some(ill), _, _) => {
            let text = crate::text::sanitize::prose(&ill.text);
            return format!("Look at this first: {text}");
        }
        (None, Some(read), Some(write)) => speeds(run, &read, &write),
        (None, Some(one), None) => {
            let load = one.size_and_depth();
            format!("{} reads {} ({load})", order(&one), speed(&one))
        }
        (None, None, Some(one)) => {
            let (load, rate) = writes(run, &one);
            format!("{} writes {rate} ({load})", order(&one))
        }
        (None, None, None) => crate::text::labels::run_name(&run.head),
    };
    speeds + &troubles
}

/// Returns the speeds of reads and writes: both at the setting of the writes, where the run has such reads, since a
/// difference between two settings is not one between reads and writes.
fn speeds(run: &Run, read: &Figure, write: &Figure) -> String {
    let (load, rate) = writes(run, write);
    let is_alike = |one: &Figure| {
        one.is_random == read.is_random && one.metric == read.metric && one.size_and_depth() == load
    };
    let all = loads(run);
    let alike = all.iter().find(|one| one.is_read && is_alike(one));
    match alike {
        Some(read) => {
            format!("{} ({load}): reads {}, writes {rate}", order(read), speed(read))
        }
        None => format!(
            "{} reads {} ({}), writes {rate} ({load})",
            order(read),
            speed(read),
            read.size_and_depth()
        ),
    }
}

fn order(figure: &Figure) -> &'static str {
    if figure.is_random { "Random" } else { "Sequential" }
}

fn speed(figure: &Figure) -> String {
    match &figure.did {
        // A reader compares it with a rate.
        Some(did) => format!("{did} ({})", number::measured(figure.value, figure.metric)),
        None => format!("at {}", number::measured(figure.value, Metric::ThroughputMbS)),
    }
}

/// Returns the setting of the writes that the headline quotes, and their speed: that until it falls, where it does.
fn writes(run: &Run, figure: &Figure) -> (String, String) {
    match fall(run).zip(fallen(run)) {
        Some((fall, stream)) => {
            let size = number::spaced(&stream.size_words());
            let load = format!("{size}, QD{}", stream.total_depth());
            (load, format!("{} {}", fall.before_words, fall.until))
        }
        None => {
            let in_bursts = if figure.did.is_none() { " in bursts" } else { "" };
            (figure.size_and_depth(), format!("{}{in_bursts}", speed(figure)))
        }
    }
}

/// Returns what casts doubt on the speeds of `run`, after a semicolon each: heat, and the longest time
/// without a completed request. Empty where there is nothing.
fn troubles(run: &Run) -> String {
    let points = run.tests.iter().flat_map(|test| &test.points);
    let longest = points.filter_map(stalls::longest).max_by(|a, b| a.0.total_cmp(&b.0));
    let mut words = String::new();
    if has(run, FindingKind::Throttled) {
        words += "; throttled by heat";
    }
    if let Some((_, longest)) = longest {
        words += &format!("; no request completed for {longest}");
    }
    words
}

/// Returns the steps of `run` whose requests are all reads, or all writes, or both: those of a kind of work
/// in their order, the common loads in the order of a reader, large ones first.
pub fn figures(run: &Run, reads: bool) -> Vec<Figure> {
    let mut figures: Vec<(u8, (u64, u64), Figure)> = Vec::new();
    for test in &run.tests {
        for point in &test.points {
            let [stream] = point.workload.streams.as_slice() else { continue };
            let fits = if reads { !stream.writes() && stream.reads() } else { stream.writes() };
            if fits && let Some((place, found)) = figure(test, point, stream) {
                let load = (stream.smallest_size().0, u64::from(stream.total_depth()));
                figures.push((place, load, found));
            }
        }
    }
    // A suite for a kind of work has few loads, and its sentence names one of them: all are shown, in order.
    // Of several steps of the common loads that answer one question, always the same: that with the largest and the
    // most requests in flight, fastest or not. The others are folded on the page.
    if !quick_answer::is_for_work(&run.head.plan.suite.id) {
        figures.sort_by_key(|(place, load, _)| (*place, Reverse(*load)));
        figures.dedup_by_key(|(place, _, _)| *place);
    }
    figures.into_iter().map(|(_, _, figure)| figure).collect()
}

/// Returns the number of every step of `run` that is one stream.
pub fn loads(run: &Run) -> Vec<Figure> {
    let points = run.tests.iter().flat_map(|test| test.points.iter().map(move |one| (test, one)));
    let figures = points.filter_map(|(test, point)| match point.workload.streams.as_slice() {
        [stream] => figure(test, point, stream),
        [] | [_, ..] => None,
    });
    figures.map(|(_, figure)| figure).collect()
}

fn figure(test: &TestRun, point: &PointRun, stream: &Stream) -> Option<(u8, Figure)> {
    if !stream.operation.is_transfer() {
        return None;
    }
    let depth = match stream.threads {
        1 => format!("QD{}", stream.queue_depth),
        threads if stream.queue_depth == 1 => format!("{threads} threads"),
        threads => format!("QD{} × {threads} threads", stream.queue_depth),
    };
    let (place, name, metric) = question(stream);
    let is_mixed = stream.reads() && stream.writes();
    let access = match stream.is_sequential() {
        true => String::new(),
        false => format!(" {}", stream.access_words()),
    };
    let mix = if is_mixed { format!(", {} % read", stream.read_percent) } else { String::new() };
    let value = |metric| metrics::value(point, metric, Scope::All);
    let levels = level_pair::of_point(point, metric);
    Some((
        place,
        Figure {
            name,
            conditions: format!("{}{access}, {depth}{mix}", stream.size_words()),
            is_random: !stream.is_sequential(),
            is_read: stream.reads() && !stream.writes(),
            load: format!("{} r{} {}", test.test.id, test.test.revision, point.point.label),
            metric,
            value: value(metric)?,
            did: did(point, metric).filter(|_| levels.is_none()),
            // With the rate of commits it would be the latency of the flush.
            p99_us: value(Metric::LatP99Us).filter(|_| stream.flush_every.is_none()),
            cache: point.cache.map(|cache| cache.name()),
            levels,
        },
    ))
}

/// The rate of a step is quoted from so many full seconds on. Chosen: half of the usual ten.
const QUOTED_SECONDS: usize = 5;

/// Returns what `point` did in all, such as `4.29 GB in 1.80 s`, where it has too few full seconds for its rate to be
/// quoted.
fn did(point: &PointRun, metric: Metric) -> Option<String> {
    if point.point.seconds.full().len() >= QUOTED_SECONDS {
        return None;
    }
    let elapsed = point.point.totals.elapsed;
    let amount = metrics::value(point, metric, Scope::All)? * elapsed.as_secs_f64();
    let amount = match metric {
        Metric::ThroughputMbS => Bytes((amount * 1e6).round() as u64).about(),
        _ => format!("{} requests", number::count(amount.round() as u64)),
    };
    Some(format!("{amount} in {}", elapsed.about()))
}

/// Requests from this size on are large. Chosen.
const LARGE: u64 = 128 << 10;

/// Returns the place of the load among the others, the question that it answers, and the metric of the
/// answer.
fn question(stream: &Stream) -> (u8, &'static str, Metric) {
    let is_large = stream.smallest_size().0 >= LARGE;
    let is_mixed = stream.reads() && stream.writes();
    match stream.total_depth() {
        1 if stream.flush_every.is_some() => (4, "Durable writes, one at a time", Metric::Iops),
        _ if stream.flush_every.is_some() => (5, "Durable writes of several threads", Metric::Iops),
        _ if stream.is_sequential() => (0, "Large files", Metric::ThroughputMbS),
        _ if is_large => (6, "Large pieces anywhere", Metric::ThroughputMbS),
        _ if is_mixed => (3, "Reads and writes together", Metric::Iops),
        1 => (1, "Small requests, one at a time", Metric::Iops),
        _ => (2, "Many small requests at once", Metric::Iops),
    }
}

/// Returns the steps of `run` that write in order and nothing else, in the order of execution, with the
/// rate of each full second in MB/s, and the gigabytes before it.
pub fn sequential_writes(run: &Run) -> Vec<(&PointRun, caches::Writes)> {
    let points = run.tests.iter().flat_map(|test| &test.points);
    let mut points: Vec<&PointRun> =
        points.filter(|point| slc_cache::writes_in_order(point)).collect();
    points.sort_by_key(|point| point.order);
    points.into_iter().map(|point| (point, caches::writes(point))).collect()
}

/// Returns the first fall of the speed of a sequential write. The sentences, the card and the page state its
/// two levels, and not the mean over them.
pub fn fall(run: &Run) -> Option<Fall> {
    let found = first_fall(run).map(|(_, fall)| fall);
    found.map(|fall @ SpeedFall { edge, cause, .. }| Fall {
        before: edge.before / 1e6,
        before_words: edge
            .before_in_words(|bytes| number::measured(bytes / 1e6, Metric::ThroughputMbS)),
        after: edge.after / 1e6,
        gb: edge.bytes as f64 / 1e9,
        size_words: rounded::edge(&edge),
        seconds: edge.is_bounded_below().then(|| edge.bytes as f64 / edge.before),
        cause,
        until: fall_words::until(&fall),
    })
}

/// Returns the first step that writes in order and falls, with its fall.
fn first_fall(run: &Run) -> Option<(&PointRun, SpeedFall)> {
    let mut points = sequential_writes(run).into_iter().map(|(point, _)| point);
    points.find_map(|point| Some((point, slc_cache::first_fall(point)?)))
}

/// Returns the requests of the sequential write whose speed falls.
fn fallen(run: &Run) -> Option<&Stream> {
    first_fall(run)?.0.workload.streams.first()
}

/// The largest rise from one second to the next within a fall, as a share of the fall. Chosen: a larger
/// one is noise of the size of the fall, such as that of a disk with other users.
const NOISE: f64 = 0.1;

/// Returns the first and the last full second in MB/s of the sequential write that loses the most, where
/// that falls as a cache does, though the step is too short to find its end.
pub fn sag(run: &Run) -> Option<(f64, f64)> {
    let ends = sequential_writes(run).into_iter().filter_map(|(point, writes)| {
        let seconds = writes.seconds.iter().zip(stalls::shows_speed(point));
        let rates: Vec<f64> =
            seconds.filter(|(_, shows)| *shows).map(|((_, _, rate), _)| *rate).collect();
        let (first, last) = (*rates.first()?, *rates.last()?);
        let rise = rates.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        let falls = last <= FALL * first && rise <= NOISE * (first - last);
        (first > 0.0 && falls).then_some((first, last))
    });
    ends.min_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)))
}

/// Returns the state of the drive: wear, temperature, link, deallocation and firmware.
pub fn tiles(run: &Run) -> [Tile; 5] {
    [wear(run), temperature(run), link(run), trim(run), firmware(run)]
}

fn unknown(name: &'static str) -> Tile {
    let (value, note) = ("–".to_owned(), "not reported".to_owned());
    Tile { name, value, note, is_good: None }
}

fn has(run: &Run, kind: FindingKind) -> bool {
    run.all_findings().iter().any(|located| located.finding.kind == kind)
}

fn readings<'a>(run: &'a Run, quantity: &'a str) -> impl Iterator<Item = f64> + 'a {
    let points = run.tests.iter().flat_map(|test| &test.points);
    points.flat_map(move |point| {
        let of_step = point.point.totals.reading(quantity);
        of_step.into_iter().chain(point.point.seconds.readings(quantity).map(|(_, value)| value))
    })
}

/// Endurance used from here on is worth a look. Chosen: a fifth is left.
const WORN: f64 = 80.0;

fn wear(run: &Run) -> Tile {
    let used = readings(run, "used_percent").reduce(f64::max);
    let Some(used) = used else { return unknown("Wear") };
    let is_good = used < WORN && !has(run, FindingKind::HealthWarning);
    let note = match is_good {
        true => "of the rated endurance".to_owned(),
        false => "of the rated endurance: see the caveats".to_owned(),
    };
    Tile {
        name: "Wear",
        value: format!("{}\u{a0}% used", number::tick(used)),
        note,
        is_good: Some(is_good),
    }
}

fn temperature(run: &Run) -> Tile {
    let seconds = || run.tests.iter().flat_map(|t| &t.points).flat_map(|point| point.seconds());
    let read = |second: crate::model::Second| {
        let keys = ["temperature_c", "smart_temperature_c"];
        keys.into_iter().find_map(|key| second.reading(key))
    };
    let most = seconds().filter_map(read).reduce(f64::max);
    let least = seconds().filter_map(read).reduce(f64::min);
    let (Some(most), Some(least)) = (most, least) else { return unknown("Temperature") };
    let throttled = has(run, FindingKind::Throttled);
    let end = if throttled { "throttled" } else { "no throttling seen" };
    Tile {
        name: "Temperature",
        value: format!("{most:.0}\u{a0}°C peak"),
        note: format!("from {least:.0}\u{a0}°C; {end}"),
        is_good: Some(!throttled),
    }
}

fn link(run: &Run) -> Tile {
    let get = |detail: Detail| run.head.drive.detail(detail).map(crate::text::sanitize::prose);
    let width = get(Detail::LinkWidth).map(|width| format!(" ×{width}")).unwrap_or_default();
    let speed = get(Detail::LinkSpeed).map(|speed| format!("{speed}{width}"));
    let is_below = has(run, FindingKind::LinkBelowCapability);
    let Some(value) = get(Detail::Interface).or(speed) else {
        // The transport names the kind of the link, and says nothing about its speed.
        let value =
            get(Detail::Transport).map(|name| name.replace("sata", "SATA").replace("usb", "USB"));
        let note = "its speed was not reported".to_owned();
        let is_good = is_below.then_some(false);
        return value
            .map_or_else(|| unknown("Link"), |value| Tile { name: "Link", value, note, is_good });
    };
    let note = if is_below { "below what the drive supports" } else { "no limit found" };
    Tile { name: "Link", value, note: note.to_owned(), is_good: Some(!is_below) }
}

fn trim(run: &Run) -> Tile {
    let ineffective = has(run, FindingKind::TrimIneffective);
    let value = if ineffective { "no effect" } else { "–" };
    let note = if ineffective { "see the caveats" } else { "not checked by this suite" };
    Tile {
        name: "TRIM",
        value: value.to_owned(),
        note: note.to_owned(),
        is_good: ineffective.then_some(false),
    }
}

fn firmware(run: &Run) -> Tile {
    match &run.head.drive.firmware {
        None => unknown("Firmware"),
        Some(text) => Tile {
            name: "Firmware",
            value: crate::text::sanitize::device(text),
            note: "ssdgauge never goes online".to_owned(),
            is_good: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{Access, Bytes};

    #[test]
    fn a_load_has_the_name_of_its_access_size_and_durability() {
        let stream = |access, kib: u64, depth, flush_every: Option<u32>| Stream {
            access,
            block_size: Bytes(kib << 10),
            read_percent: if flush_every.is_some() { 0 } else { 100 },
            queue_depth: depth,
            threads: 1,
            flush_every,
            ..Stream::default()
        };
        let name = |stream: Stream| (question(&stream).1, question(&stream).2);
        let (sequential, random) = (Access::Sequential, Access::Random);
        let (large, small) = (Metric::ThroughputMbS, Metric::Iops);
        assert_eq!(name(stream(sequential, 1_024, 1, None)), ("Large files", large));
        assert_eq!(name(stream(random, 4, 1, None)), ("Small requests, one at a time", small));
        assert_eq!(name(stream(random, 4, 32, None)), ("Many small requests at once", small));
        assert_eq!(name(stream(random, 9_524, 1, None)), ("Large pieces anywhere", large));
        let commits = stream(sequential, 4, 1, Some(1));
        assert_eq!(name(commits.clone()), ("Durable writes, one at a time", small));
        let eight = Stream { threads: 8, ..commits };
        assert_eq!(name(eight), ("Durable writes of several threads", small));
    }
}
