//! What a site keeps of a run: its results with their conditions, without its samples.

use crate::answers::run_line;
use crate::bench::health::Health;
use crate::bench::number::Number;
use crate::bench::waits;
use crate::drives::drive_class;
use crate::findings::{run_outcome, trust};
use crate::groups::group::{self, Member, key_text};
use crate::groups::uses::{self, Use};
use crate::groups::workload_text;
use crate::model::{PointRun, Run, metrics};
use crate::text::{labels, number, sanitize};
use serde::{Deserialize, Serialize};
use ssdgauge_core::{Detail, DriveInfo, Headline, Metric, Scope};
use ssdgauge_statistics::summary;

/// A run without its samples. It holds no serial number, host, path or label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The id of the run.
    pub id: String,
    /// Its start, in milliseconds since 1970; `None` where its source does not state one.
    pub started_unix_ms: Option<i64>,
    /// The program that recorded it.
    pub program: String,
    /// The id of its suite.
    pub suite: String,
    /// The title of its suite.
    pub suite_title: String,
    /// The revision of its suite.
    pub suite_revision: u32,
    /// The drive.
    pub drive: DriveFacts,
    /// The firmware of the drive; `None` where it is not known.
    pub firmware: Option<String>,
    /// The marks of the run, such as `MODEL`.
    pub marks: Vec<String>,
    /// Whether it is from the file of a submitter, without its samples.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub submitted: bool,
    /// The publication that it is from, where others measured it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub origin: Option<Origin>,
    /// The letter of its grade; `None` where it has no result to grade.
    pub grade: Option<String>,
    /// What the drive reported of its health.
    #[serde(default)]
    pub health: Health,
    /// What an X-ray found, in one sentence; `None` for every other run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub xray: Option<String>,
    /// Whether it is an X-ray that asked other questions than this program would, so that nothing is known of its answers.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_other_xray: bool,
    /// Its tests; an X-ray has none.
    pub tests: Vec<TestRecord>,
}

/// A publication of measurements. Its numbers are shown with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Its title and address.
    pub source: String,
    /// The licence of its numbers, as SPDX names it.
    pub licence: String,
}

impl Origin {
    /// Returns source and licence, as they accompany a number.
    pub fn words(&self) -> String {
        format!("{}, {}", self.source, self.licence)
    }
}

/// What names and classes a drive: equal for every unit of a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveFacts {
    /// The name of the model, with MODEL where it is a virtual drive.
    pub name: String,
    /// The capacity of the whole drive in bytes; `None` where an imported result does not state it.
    pub capacity: Option<u64>,
    /// The class in words; empty where it is not known.
    pub class: String,
    /// The interface, such as `PCIe 4.0 x4`; empty where it is not known.
    pub interface: String,
    /// The kind of flash; empty where it is not known.
    pub flash: String,
}

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestRecord {
    /// The id of the test in its suite.
    pub id: String,
    /// Its revision.
    pub revision: u32,
    /// Its title.
    pub title: String,
    /// What has to be equal for two results to be compared.
    pub key: String,
    /// The same in words, such as `full length, measured drives`.
    pub settings: String,
    /// The anchor of the use that the test stands for.
    pub purpose: String,
    /// The requests that its headline counts.
    pub requests: String,
    /// The rule of its headline.
    pub rule: String,
    /// The whole load.
    pub load: String,
    /// The publication that describes the protocol.
    pub source: String,
    /// Its headline.
    pub headline: Number,
    /// The headlines of its repetitions; empty where it was carried out once.
    pub repetitions: Vec<Number>,
    /// What the power meters saw, and which these were; empty for a number without power.
    pub meters: Vec<String>,
    /// Why its result is invalid; `None` where it is not.
    pub invalid: Option<String>,
    /// What puts its result in doubt.
    pub doubts: Vec<String>,
    /// Its curve; `None` where it has none.
    pub curve: Option<Curve>,
}

/// The values of a test in the order of its steps, or over the time of its only step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The labels of the steps; empty for a curve over seconds.
    pub steps: Vec<String>,
    /// The quantity and its unit.
    pub quantity: String,
    /// Place and value: the number of the step, or the second.
    pub points: Vec<(f64, f64)>,
}

/// Points of a curve over time at most. Chosen: more are not told apart on 300 pixels.
pub(super) const MOST_POINTS: usize = 60;

/// More steps than this are not a curve: their labels do not fit.
pub(super) const MOST_STEPS: usize = 24;

impl Record {
    /// Returns what is kept of `run`.
    pub fn of(run: &Run) -> Record {
        let head = &run.head;
        let tests = run.tests.iter().flat_map(|test| {
            let member = Member { index: 0, run, test };
            let mut whole = TestRecord::of(member);
            let waits = whole.read_latency(member);
            if waits::splits(&test.test) {
                // The rate of a load whose latency is a number of its own, also where repetitions leave it without one.
                whole.purpose = Use::Mixed.anchor().to_owned();
            }
            [Some(whole), waits]
        });
        Record {
            id: sanitize::device(&head.id),
            started_unix_ms: head.started(),
            program: sanitize::device(&head.program),
            suite: sanitize::device(&head.plan.suite.id),
            suite_title: sanitize::prose(&head.plan.suite.title),
            suite_revision: head.plan.suite.revision,
            drive: DriveFacts::of(&head.drive),
            firmware: head.drive.firmware.as_deref().map(sanitize::device),
            marks: run_outcome::marks(run),
            submitted: false,
            origin: None,
            grade: run_line::grade(run).map(str::to_owned),
            health: Health::of(run),
            xray: None,
            is_other_xray: false,
            tests: tests.flatten().collect(),
        }
    }
}

impl Record {
    /// Returns the number of runs that it stands for: others publish repeated runs of equal drives as one record.
    pub fn runs(&self) -> usize {
        let repetitions = self.tests.iter().map(|test| test.repetitions.len()).max();
        repetitions.filter(|_| self.origin.is_some()).unwrap_or_default().max(1)
    }

    /// Returns whether another program measured it.
    pub fn is_imported(&self) -> bool {
        self.marks.iter().any(|mark| mark.starts_with("IMPORTED"))
    }
}

impl DriveFacts {
    fn of(drive: &DriveInfo) -> DriveFacts {
        let detail = |detail| drive.detail(detail).map(sanitize::device).unwrap_or_default();
        DriveFacts {
            name: labels::drive_name(drive),
            capacity: drive.drive_capacity().map(|capacity| capacity.0),
            class: drive_class::class(drive)
                .map(|class| class.words())
                .unwrap_or_default()
                .to_owned(),
            interface: detail(Detail::Interface),
            flash: detail(Detail::Cells),
        }
    }

    /// Returns the name with the capacity, where that is known and the name does not have it.
    pub fn full_name(&self) -> String {
        let Some(capacity) = self.capacity else { return self.name.clone() };
        let size = number::plain_capacity(capacity).replace('\u{a0}', " ");
        let squeezed = |text: &str| text.replace(' ', "").to_lowercase();
        match squeezed(&self.name).contains(&squeezed(&size)) {
            true => self.name.clone(),
            false => format!("{}, {size}", self.name),
        }
    }
}

impl TestRecord {
    fn of(member: Member<'_>) -> TestRecord {
        let test = &member.test.test;
        let metric = test.score.metric();
        let scopes =
            metrics::power_scopes(member.test).into_iter().filter(|_| metric.needs_power());
        let scopes = scopes.map(|scope| scope.name().to_owned());
        TestRecord {
            id: sanitize::device(&test.id),
            revision: test.revision,
            title: sanitize::prose(&test.title),
            key: key_text::comparison_key(member, &test.id),
            settings: group::settings(member),
            purpose: uses::classify(test).anchor().to_owned(),
            requests: workload_text::requests(test),
            rule: workload_text::rule(test, &test.score),
            load: workload_text::line(test),
            source: sanitize::prose(&test.source),
            headline: Number(member.test.headline.clone()),
            repetitions: member
                .test
                .repetitions
                .iter()
                .map(|one| Number(one.headline.clone()))
                .collect(),
            meters: scopes.chain(group::power_meters(metric, member.test)).collect(),
            invalid: trust::invalid(member.run, member.test),
            doubts: trust::doubts(member.test),
            curve: curve(member),
        }
    }

    /// Returns the latency of the reads of `member`, whose rate this is, as a result of its own.
    fn read_latency(&self, member: Member<'_>) -> Option<TestRecord> {
        let (score, headline) = waits::of(member)?;
        let id = format!("{}{}", self.id, waits::SUFFIX);
        Some(TestRecord {
            title: format!("{}: {} of reads", self.title, headline.metric.title().to_lowercase()),
            key: key_text::comparison_key(member, &id),
            purpose: Use::Latency.anchor().to_owned(),
            rule: workload_text::rule(&member.test.test, &score),
            headline: Number(headline),
            repetitions: Vec::new(),
            meters: Vec::new(),
            curve: None,
            id,
            ..self.clone()
        })
    }

    /// Returns its headline where it may be compared with others.
    pub fn valid(&self) -> Option<&Headline> {
        Some(&self.headline.0).filter(|one| one.value.is_some() && self.invalid.is_none())
    }
}

/// Returns the curve of a test: over its steps, or over the seconds of its only one.
fn curve(member: Member<'_>) -> Option<Curve> {
    let test = member.test;
    let metric = shown(test.headline.metric);
    let quantity = |is_over_time| quantity(test.headline.metric, is_over_time);
    match test.points.as_slice() {
        [only] => {
            let quantity = quantity(true);
            let points = over_time(only, metric.rate().counts_bytes());
            (points.len() > 2).then(|| Curve { steps: Vec::new(), quantity, points })
        }
        points if (2..=MOST_STEPS).contains(&points.len()) => {
            let value = |point| metrics::value(point, metric, Scope::All);
            let places = points.iter().enumerate();
            let values: Vec<(f64, f64)> =
                places.filter_map(|(at, point)| Some((at as f64, value(point)?))).collect();
            let steps = points.iter().map(|point| sanitize::step(&point.point.label)).collect();
            let quantity = quantity(false);
            (values.len() > 1).then_some(Curve { steps, quantity, points: values })
        }
        _ => None,
    }
}

/// Returns what a curve shows for a headline of `metric`: a latency as it is, else the rate that it depends on.
pub(super) fn shown(metric: Metric) -> Metric {
    if metric.is_latency() { metric } else { metric.rate() }
}

/// Returns the quantity of a curve for a headline of `metric`, with its unit.
pub(super) fn quantity(metric: Metric, is_over_time: bool) -> String {
    let metric = if is_over_time { shown(metric).rate() } else { shown(metric) };
    match metric.title() == metric.unit() {
        true => metric.title().to_owned(),
        false => format!("{}, {}", metric.title(), metric.unit()),
    }
}

/// Returns the rates of a step in parts of equal length, each at its middle.
fn over_time(point: &PointRun, bytes: bool) -> Vec<(f64, f64)> {
    let rates: Vec<(f64, f64)> =
        point.rates(bytes).map(|(second, rate)| (f64::from(second) + 0.5, rate)).collect();
    let mean = |part: &[(f64, f64)]| {
        let of = |pick: fn(&(f64, f64)) -> f64| {
            summary::mean(&part.iter().map(pick).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        (of(|one| one.0), of(|one| one.1))
    };
    rates.chunks(rates.len().div_ceil(MOST_POINTS).max(1)).map(mean).collect()
}
