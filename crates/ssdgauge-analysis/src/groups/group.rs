//! Groups of comparable tests of several runs.
//!
//! Tests share a chart only if suite, id, revision, duration, span and the way of their completions are
//! equal. A model never
//! shares a chart with a measured drive, or with a model of another revision.

pub(crate) mod key_text;

use crate::findings::run_outcome;
use crate::model::metrics;
use crate::model::plan::measured_spans;
use crate::model::{PointRun, Run, TestRun};
use crate::text::{number, sanitize};
use ssdgauge_core::{Bytes, Detail, DriveInfo, Metric, Nanos, RequestPath, TargetKind};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Tests of several runs that may be compared.
#[derive(Debug)]
pub struct Group<'a> {
    /// The runs that have the test, by their place among all runs.
    pub members: Vec<Member<'a>>,
    /// The words that distinguish this group from others of the same test; empty without others.
    pub(crate) distinction: String,
    /// The runs that have the same test in another group.
    pub(crate) other_runs: Vec<usize>,
}

/// One test of one run.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The place of the run among all runs.
    pub index: usize,
    /// The run.
    pub run: &'a Run,
    /// Its test.
    pub test: &'a TestRun,
}

/// The properties that must be equal for two tests to be compared.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    suite: String,
    test: String,
    revision: u32,
    shortened: u32,
    span_scaled: bool,
    path: RequestPath,
    class: Class,
    /// The revision of the model; `None` for drives.
    model_revision: Option<u32>,
    spans: Vec<Extent>,
    /// The time for which a load of an imported search passed, where it is not that of the suite: one slice.
    passes_for: Option<Nanos>,
    /// The options of an imported job of fio; empty for other tests.
    job: BTreeSet<String>,
}

/// The part of a target that a stream covers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Extent {
    /// All of a drive, whatever its capacity: reviews set drives of several capacities side by
    /// side. A scratch file has no such extent, because its size is the user's choice.
    Whole,
    /// So many percent of a drive, for the same reason: the span of a drive with over-provisioning.
    Share(u32),
    /// So many bytes.
    Part(Bytes),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Class {
    Measured,
    Model,
    NoDrive,
}

impl Group<'_> {
    /// Returns the member whose test describes the group.
    pub fn first(&self) -> Member<'_> {
        self.members[0]
    }

    /// Returns the title of the test.
    pub fn title(&self) -> String {
        sanitize::prose(&self.first().test.test.title)
    }

    /// Returns the title of the test, with what sets this group apart from others of it.
    pub fn full_title(&self) -> String {
        match self.distinction.is_empty() {
            true => self.title(),
            false => format!("{} ({})", self.title(), self.distinction),
        }
    }
}

impl Member<'_> {
    /// Returns the marks of the run that accompany its results, such as `MODEL`.
    pub(crate) fn run_marks(&self) -> Vec<String> {
        run_outcome::marks(self.run)
    }
}

/// Returns the reason why `a` and `b` must not be compared; `None` where they may.
pub(crate) fn incomparable(a: Member<'_>, b: Member<'_>) -> Option<Cow<'static, str>> {
    let of_power = a.test.headline.metric.needs_power();
    let scopes = [a, b].map(|member| metrics::power_scopes(member.test));
    let (a, b) = (key(a), key(b));
    let reasons = [
        (a.suite != b.suite || a.test != b.test, "the tests differ"),
        (a.revision != b.revision, "the revisions of the test differ"),
        (a.shortened != b.shortened, "the durations were divided by different factors"),
        (a.span_scaled != b.span_scaled, "one of the spans was scaled"),
        (a.path != b.path, other_path(a.path, b.path)),
        (a.class != b.class, "a model and a measured drive are not comparable"),
        (a.model_revision != b.model_revision, "the revisions of the model differ"),
        (a.spans != b.spans, "the spans differ"),
        (a.passes_for != b.passes_for, "the loads were tried for different times"),
        (
            of_power && scopes[0] != scopes[1] && scopes.iter().all(|scopes| !scopes.is_empty()),
            "the scopes of the power meters differ",
        ),
    ];
    let reason = reasons.into_iter().find(|(differs, _)| *differs).map(|(_, why)| why.into());
    reason.or_else(|| (a.job != b.job).then(|| other_job(&a.job, &b.job).into()))
}

/// Returns the text that is equal for tests of one kind of target that may be compared: suite, test, revision,
/// settings and extent.
pub(crate) fn background_key(member: Member<'_>) -> String {
    let key = key(member);
    let mut spans: Vec<String> = Vec::new();
    for span in &key.spans {
        let words = match span {
            Extent::Whole => "whole".to_owned(),
            Extent::Share(percent) => format!("{percent} %"),
            Extent::Part(bytes) => format!("{} bytes", bytes.0),
        };
        if spans.last() != Some(&words) {
            spans.push(words);
        }
    }
    let mut job: String = key.job.iter().map(|option| format!(", {option}")).collect();
    if let Some(time) = key.passes_for {
        job += &format!(", for {}", time.exact());
    }
    let scaled = if key.span_scaled { ", scaled" } else { "" };
    format!(
        "{}/{} r{}, 1/{}{scaled}, {}, {}{job}",
        key.suite,
        key.test,
        key.revision,
        key.shortened.max(1),
        key.path.name(),
        spans.join(" "),
    )
}

/// Returns in what two jobs of fio differ.
fn other_job(a: &BTreeSet<String>, b: &BTreeSet<String>) -> String {
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        let own = in_words(one.difference(other));
        if own.is_empty() { "no such option".to_owned() } else { own }
    };
    format!("the jobs of fio differ: {} in the first run, {} in the second", only(a, b), only(b, a))
}

/// Returns options of a job in words, some of them at most.
fn in_words<'a>(options: impl Iterator<Item = &'a String>) -> String {
    const MOST: usize = 8;
    let options: Vec<String> = options.take(MOST).map(|one| sanitize::prose(one)).collect();
    options.join(", ")
}

/// Returns the options of an imported job of fio, which its source states.
fn job(member: Member<'_>) -> BTreeSet<String> {
    let is_imported = member.run.head.imported_from().is_some();
    let source = Some(&member.test.test.source).filter(|_| is_imported);
    let options = source.and_then(|source| source.strip_prefix("a job of fio: "));
    options.into_iter().flat_map(|all| all.split(", ")).map(str::to_owned).collect()
}

/// Returns why a metric of power must not be compared: what one meter sees of a host, another does
/// not.
pub(crate) fn other_meters(metric: Metric, a: Member<'_>, b: Member<'_>) -> Option<String> {
    let scopes = [a, b].map(|member| metrics::power_scopes(member.test));
    if metric.needs_power() && scopes[0] != scopes[1] && scopes.iter().all(|own| !own.is_empty()) {
        let [of_a, of_b] =
            scopes.map(|own| own.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(", "));
        return Some(format!("the scopes of the power meters differ: {of_a} and {of_b}"));
    }
    let [of_a, of_b] = [a, b].map(|member| power_meters(metric, member.test));
    let differ = of_a != of_b && !of_a.is_empty() && !of_b.is_empty();
    differ.then(|| {
        format!("power was read by different meters: {} and {}", of_a.join(", "), of_b.join(", "))
    })
}

/// Returns the meters that `metric` of `test` depends on, in the order of their names; empty for metrics
/// without power, and where they are not known.
pub fn power_meters(metric: Metric, test: &TestRun) -> Vec<String> {
    let own = metrics::power_scopes(test);
    let of_point = |point: &PointRun| {
        own.iter()
            .filter_map(|own| point.instruments.get(own.quantity()))
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
    };
    let points = test.points.iter().filter(|_| metric.needs_power());
    let meters: BTreeSet<String> = points.flat_map(of_point).collect();
    meters.into_iter().collect()
}

/// Sorts every test of every run into groups, in the order of their first appearance.
pub fn groups(runs: &[Run]) -> Vec<Group<'_>> {
    let mut groups: Vec<(Key, Vec<Member<'_>>)> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        for test in &run.tests {
            let member = Member { index, run, test };
            let wanted = key(member);
            match groups.iter_mut().find(|(key, _)| *key == wanted) {
                Some((_, members)) => members.push(member),
                None => groups.push((wanted, vec![member])),
            }
        }
    }
    let keys: Vec<Key> = groups.iter().map(|(key, _)| key.clone()).collect();
    let other_runs: Vec<Vec<usize>> = keys
        .iter()
        .map(|key| {
            let is_other =
                |other: &Key| other != key && other.suite == key.suite && other.test == key.test;
            let others = groups.iter().filter(|(other, _)| is_other(other));
            others.flat_map(|(_, members)| members.iter().map(|member| member.index)).collect()
        })
        .collect();
    groups
        .into_iter()
        .zip(other_runs)
        .map(|((key, members), other_runs)| Group {
            distinction: distinction(&key, &keys),
            members,
            other_runs,
        })
        .collect()
}

/// Returns whether targets of the kinds `a` and `b` may share a chart.
pub(crate) fn same_class(a: TargetKind, b: TargetKind) -> bool {
    class(a) == class(b)
}

fn class(kind: TargetKind) -> Class {
    match kind {
        TargetKind::Virtual => Class::Model,
        TargetKind::Null => Class::NoDrive,
        TargetKind::File | TargetKind::Block => Class::Measured,
    }
}

/// Returns why tests with requests on two paths are not compared.
fn other_path(a: RequestPath, b: RequestPath) -> &'static str {
    match [a, b].contains(&RequestPath::PassThrough) {
        true => "the requests of one run were passed through as NVMe commands",
        false => "the completions of one run were polled",
    }
}

fn key(member: Member<'_>) -> Key {
    let plan = &member.run.head.plan;
    Key {
        suite: plan.suite.id.clone(),
        test: member.test.test.id.clone(),
        revision: member.test.test.revision,
        shortened: plan.shortened,
        span_scaled: plan.span_scaled,
        path: plan.request_path(),
        class: class(member.run.head.drive.kind),
        model_revision: member.run.head.drive.model_revision(),
        spans: measured_spans(&member.test.test)
            .into_iter()
            .map(|span| extent(span, &member.run.head.drive))
            .collect(),
        passes_for: passes_for(member),
        job: job(member),
    }
}

/// Returns the time for which the load of an imported search was tried; `None` where it is one slice, as in runs
/// of the suite.
fn passes_for(member: Member<'_>) -> Option<Nanos> {
    member.run.head.imported_from()?;
    let slice = member.test.test.search.as_ref()?.limits.slice;
    member.test.test.passing_time().filter(|time| *time != slice)
}

/// Returns what part of `drive` a span of this length is; the last MiB may be left out, because
/// spans are whole blocks. A run that was limited to a part of its drive (`--size`) has no whole, nor has an imported
/// result of which only the ranges of its jobs are known.
fn extent(span: Bytes, drive: &DriveInfo) -> Extent {
    const ROUNDING: u64 = 1 << 20;
    let whole = span.0.saturating_add(ROUNDING) > drive.capacity.0;
    let is_of_spans = drive.detail(Detail::CapacityFrom) == Some(DriveInfo::CAPACITY_OF_SPANS);
    match (drive.kind.is_drive() && !drive.is_limited() && !is_of_spans, whole) {
        (true, true) => Extent::Whole,
        (true, false) => share(span, drive.capacity).map_or(Extent::Part(span), Extent::Share),
        (false, _) => Extent::Part(span),
    }
}

/// Returns the whole number of percent of `capacity` that `span` is, within one MiB; `None` below 25 %, and
/// for a span of whole gibibytes, or of whole gigabytes of a drive that has no whole ones: that is a size
/// of its own.
fn share(span: Bytes, capacity: Bytes) -> Option<u32> {
    const ROUNDING: u64 = 1 << 20;
    const GB: u64 = 1_000_000_000;
    let is_whole = span.0.is_multiple_of(GB) && !capacity.0.is_multiple_of(GB);
    let is_size = is_whole || span.0.is_multiple_of(1 << 30);
    let percent = (100.0 * span.0 as f64 / capacity.0 as f64).round();
    let exact = capacity.0 as f64 / 100.0 * percent;
    let is_near = (exact - span.0 as f64).abs() < ROUNDING as f64;
    (!is_size && is_near && percent >= 25.0).then_some(percent as u32)
}

/// Returns the settings of a test on which a comparison depends: what would tell it from a test of another revision with
/// other settings throughout.
pub(crate) fn settings(member: Member<'_>) -> String {
    settings_of(&key(member))
}

fn settings_of(own: &Key) -> String {
    let other = Key {
        revision: own.revision + 1,
        shortened: own.shortened + 2,
        class: if own.class == Class::NoDrive { Class::Model } else { Class::NoDrive },
        model_revision: own.model_revision.map(|revision| revision + 1),
        spans: Vec::new(),
        span_scaled: !own.span_scaled,
        job: BTreeSet::new(),
        ..own.clone()
    };
    let words = distinction(own, &[other]);
    match own.path {
        RequestPath::Interrupts => words,
        path => format!("{words}, {}", path.name()),
    }
}

/// Returns the words that distinguish `key` from other groups of the same test.
fn distinction(key: &Key, all: &[Key]) -> String {
    let others: Vec<&Key> = all
        .iter()
        .filter(|other| *other != key && other.suite == key.suite && other.test == key.test)
        .collect();
    let some = |differs: &dyn Fn(&Key) -> bool| others.iter().any(|other| differs(other));
    let mut words = Vec::new();
    if some(&|other| other.revision != key.revision) {
        words.push(format!("revision {}", key.revision));
    }
    if some(&|other| other.shortened != key.shortened) {
        words.push(match key.shortened {
            0 | 1 => "full length".to_owned(),
            divisor => format!("shortened to 1/{divisor}"),
        });
    }
    if some(&|other| other.path != key.path) {
        words.push(key.path.name().to_owned());
    }
    if some(&|other| other.class != key.class) {
        words.push(match key.class {
            Class::Measured => "measured drives".to_owned(),
            Class::Model => "models".to_owned(),
            Class::NoDrive => "no drive".to_owned(),
        });
    }
    if let Some(revision) = key.model_revision
        && some(&|other| other.model_revision.is_some_and(|other| other != revision))
    {
        words.push(format!("model revision {revision}"));
    }
    if some(&|other| other.span_scaled != key.span_scaled || other.spans != key.spans) {
        words.push(match key.spans.first() {
            Some(Extent::Whole) => "whole drive".to_owned(),
            Some(Extent::Share(percent)) => format!("{percent}\u{a0}% of the drive"),
            Some(Extent::Part(span)) => format!("span {}", number::capacity(span.0)),
            None => "no load".to_owned(),
        });
    }
    if let Some(time) = key.passes_for.filter(|_| some(&|other| other.passes_for != key.passes_for))
    {
        words.push(format!("for {}", time.about()));
    }
    let job: BTreeSet<&String> =
        others.iter().flat_map(|other| key.job.difference(&other.job)).collect();
    if !job.is_empty() {
        words.push(in_words(job.into_iter()));
    }
    words.join(", ")
}
