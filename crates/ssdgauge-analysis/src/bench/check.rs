//! What a record must be, whoever wrote it: values that can be measured, texts that can be shown, and marks, settings and
//! grade that agree. Nothing here knows whether a value was measured.

use crate::bench::health::Health;
use crate::bench::number::Number;
use crate::bench::record::{
    Curve, DriveFacts, MOST_POINTS, MOST_STEPS, Origin, Record, TestRecord, quantity, shown,
};
use crate::groups::group::key_text;
use crate::groups::uses::Use;
use crate::text::sanitize;
use ssdgauge_core::{ConfidenceInterval, Headline, Metric, WithinRun};
use std::collections::BTreeSet;
use std::fmt;

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The keys that lead to the value, such as `record.tests[2].headline.value`.
    pub place: String,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "`{}`: {}", self.place, self.why)
    }
}

/// The result of a check.
pub type Checked = Result<(), Wrong>;

/// The start of the year 2000, in milliseconds since 1970: no run is older than the format.
const EARLIEST_MS: i64 = 946_684_800_000;

/// Clocks of two machines differ by less than a day.
const DAY_MS: i64 = 86_400_000;

/// The largest drive in bytes. Chosen: a thousand times the largest on sale in 2026.
const LARGEST: u64 = 1 << 58;

/// The largest value of any metric in its unit. Chosen: far above a drive in memory.
const HIGHEST: f64 = 1e12;

/// The maximum number of full seconds of a result: a hundred years.
const MOST_SECONDS: u64 = 3_200_000_000;

/// The maximum number of tests of a run. Chosen: several times those of the largest suite.
const MOST_TESTS: usize = 400;

/// The maximum number of entries of any other list.
const MOST_ENTRIES: usize = 1_000;

/// Values that follow from each other may differ by this share: rounding.
const ROUNDING: f64 = 1e-9;

/// Fails at `place` where something is not so.
pub(super) fn ensure(is_so: bool, place: &str, why: impl FnOnce() -> String) -> Checked {
    if is_so { Ok(()) } else { Err(Wrong { place: place.to_owned(), why: why() }) }
}

impl Record {
    /// Checks what the record says. `now_unix_ms` is the time of the check.
    ///
    /// # Errors
    ///
    /// The first value that is wrong.
    pub fn check(&self, now_unix_ms: i64) -> Checked {
        name("record.id", &self.id)?;
        let times = EARLIEST_MS..=now_unix_ms.saturating_add(DAY_MS);
        let place = "record.started_unix_ms";
        // Other programs do not always state when they measured.
        let may_lack = self.started_unix_ms.is_some() || self.is_imported();
        ensure(may_lack, place, || "it is missing, and the run is not imported".into())?;
        let other_time = self.started_unix_ms.filter(|start| !times.contains(start));
        ensure(other_time.is_none(), place, || {
            let start = other_time.unwrap_or_default();
            let what = match start < EARLIEST_MS {
                true => "before the year 2000",
                false => "in the future, by the clock of this machine",
            };
            format!("{start} is {what}")
        })?;
        if let Some(Origin { source, licence }) = &self.origin {
            for (key, text) in [("source", source), ("licence", licence)] {
                let place = format!("record.origin.{key}");
                prose(&place, text)?;
                ensure(!text.trim().is_empty(), &place, || "it is empty".into())?;
            }
            ensure(self.is_imported(), "record.marks", || {
                "IMPORTED is missing, which a run with an `origin` has".into()
            })?;
        }
        device("record.program", &self.program)?;
        name("record.suite", &self.suite)?;
        prose("record.suite_title", &self.suite_title)?;
        ensure(self.suite_revision > 0, "record.suite_revision", || "0 is not a revision".into())?;
        self.drive.check()?;
        self.firmware.iter().try_for_each(|text| device("record.firmware", text))?;
        list("record.marks", &self.marks, MOST_ENTRIES)?;
        let grades = ["A", "B", "C", "D"];
        self.check_health()?;
        let is_grade = self.grade.as_deref().is_none_or(|own| grades.contains(&own));
        ensure(is_grade, "record.grade", || "it is none of A, B, C and D".into())?;
        self.check_tests()
    }

    fn check_health(&self) -> Checked {
        let Health { used_percent, peak_c, throttled: _, troubles } = &self.health;
        // NVMe counts beyond 100 % and ends at 255.
        let is_share = used_percent.is_none_or(|used| (0.0..=255.0).contains(&used));
        ensure(is_share, "record.health.used_percent", || "it is not from 0 to 255".into())?;
        let is_warm = peak_c.is_none_or(|peak| (-100.0..=500.0).contains(&peak));
        ensure(is_warm, "record.health.peak_c", || "it is not from -100 to 500".into())?;
        list("record.health.troubles", troubles, MOST_ENTRIES)?;
        self.xray.iter().try_for_each(|text| prose("record.xray", text))
    }

    fn check_tests(&self) -> Checked {
        let count = self.tests.len();
        let least = usize::from(self.xray.is_none());
        ensure((least..=MOST_TESTS).contains(&count), "record.tests", || {
            format!("there are {count} tests, and a run has 1 to {MOST_TESTS}")
        })?;
        let mut ids = BTreeSet::new();
        for (number, test) in self.tests.iter().enumerate() {
            let place = format!("record.tests[{number}]");
            ensure(ids.insert(&test.id), &format!("{place}.id"), || {
                format!("`{}` is the id of an earlier test too", test.id)
            })?;
            test.check(&place)?;
            self.check_key(test, &place)?;
        }
        Ok(())
    }

    /// Checks that the settings of `test` are those of its run.
    fn check_key(&self, test: &TestRecord, place: &str) -> Checked {
        let is_imported = self.is_imported();
        let Some(facts) = key_text::facts(&test.key) else {
            // The key of an imported result may end with any job.
            let why = || "it is not the comparison key of a test".to_owned();
            return ensure(is_imported, &format!("{place}.key"), why);
        };
        let own = (key_text::id(&self.suite), key_text::id(&test.id), test.revision);
        ensure(facts.test == own, &format!("{place}.key"), || {
            "it is the comparison key of another test".to_owned()
        })?;
        ensure(facts.settings == test.settings, &format!("{place}.settings"), || {
            format!("the comparison key says `{}`", facts.settings)
        })?;
        let has = |mark: &String| self.marks.contains(mark);
        let missing = facts.marks.iter().find(|mark| !has(mark));
        ensure(missing.is_none(), "record.marks", || {
            format!("{} is missing, which `{place}.key` has", missing.map_or("", String::as_str))
        })?;
        let of_settings = ["MODEL", "SHORTENED", "SPAN SCALED", "POLLED", "PASS-THROUGH"];
        let is_of_settings = |mark: &&String| of_settings.iter().any(|one| mark.starts_with(one));
        let other = self.marks.iter().filter(is_of_settings).find(|own| !facts.marks.contains(own));
        ensure(other.is_none(), "record.marks", || {
            format!("`{place}.key` does not have {}", other.map_or("", String::as_str))
        })?;
        let is_named = facts.mark_of_drive.is_none_or(|mark| self.drive.name.contains(mark));
        ensure(is_named, "record.drive.name", || {
            format!("it lacks {}, which `{place}.key` has", facts.mark_of_drive.unwrap_or_default())
        })
    }
}

impl DriveFacts {
    fn check(&self) -> Checked {
        prose("record.drive.name", &self.name)?;
        ensure(!self.name.trim().is_empty(), "record.drive.name", || "it is empty".into())?;
        let capacity = self.capacity.unwrap_or(1);
        ensure((1..=LARGEST).contains(&capacity), "record.drive.capacity", || {
            format!("{capacity} bytes are not the capacity of a drive")
        })?;
        prose("record.drive.class", &self.class)?;
        device("record.drive.interface", &self.interface)?;
        device("record.drive.flash", &self.flash)
    }
}

impl TestRecord {
    fn check(&self, place: &str) -> Checked {
        let at = |key: &str| format!("{place}.{key}");
        name(&at("id"), &self.id)?;
        ensure(self.revision > 0, &at("revision"), || "0 is not a revision".into())?;
        ensure(!self.title.trim().is_empty(), &at("title"), || "it is empty".into())?;
        let texts = [
            ("title", &self.title),
            ("key", &self.key),
            ("settings", &self.settings),
            ("requests", &self.requests),
            ("rule", &self.rule),
            ("load", &self.load),
            ("source", &self.source),
        ];
        texts.into_iter().try_for_each(|(key, text)| prose(&at(key), text))?;
        self.invalid.iter().try_for_each(|text| prose(&at("invalid"), text))?;
        let is_use = Use::ALL.iter().any(|one| one.anchor() == self.purpose);
        ensure(is_use, &at("purpose"), || "it is not a use of this program".into())?;
        number(&at("headline"), &self.headline)?;
        let metric = self.headline.0.metric;
        let count = self.repetitions.len();
        ensure(count <= MOST_ENTRIES, &at("repetitions"), || format!("there are {count}"))?;
        for (number_of, one) in self.repetitions.iter().enumerate() {
            let place = at(&format!("repetitions[{number_of}]"));
            number(&place, one)?;
            ensure(one.0.metric == metric, &format!("{place}.metric"), || {
                format!("it is not {}, the metric of the headline", metric.key())
            })?;
        }
        self.check_mean(&at("headline.value"))?;
        list(&at("meters"), &self.meters, MOST_ENTRIES)?;
        list(&at("doubts"), &self.doubts, MOST_ENTRIES)?;
        self.curve.iter().try_for_each(|curve| curve.check(&at("curve"), metric))
    }

    /// Checks that the headline of a repeated test is the mean of its repetitions.
    fn check_mean(&self, place: &str) -> Checked {
        let values: Option<Vec<f64>> = self.repetitions.iter().map(|one| one.0.value).collect();
        let (Some(value), Some(values)) = (self.headline.0.value, values) else { return Ok(()) };
        let Some(mean) = ssdgauge_statistics::summary::mean(&values) else { return Ok(()) };
        ensure((value - mean).abs() <= 1e-6 * mean.abs(), place, || {
            format!("{value} is not the mean of the repetitions, {mean}")
        })
    }
}

impl Curve {
    fn check(&self, place: &str, metric: Metric) -> Checked {
        let steps = self.steps.len();
        let (most, end) = match steps {
            0 => (MOST_POINTS, MOST_SECONDS as f64),
            steps => (MOST_STEPS, steps as f64 - 1.0),
        };
        ensure(steps <= MOST_STEPS, &format!("{place}.steps"), || format!("there are {steps}"))?;
        list(&format!("{place}.steps"), &self.steps, MOST_STEPS)?;
        let expected = quantity(metric, steps == 0);
        ensure(self.quantity == expected, &format!("{place}.quantity"), || {
            format!("it is not `{expected}`, which a curve of this test shows")
        })?;
        let count = self.points.len();
        ensure((2..=most).contains(&count), &format!("{place}.points"), || {
            format!("there are {count} points, and a curve of this kind has 2 to {most}")
        })?;
        let mut last = -1.0;
        for (number, (x, y)) in self.points.iter().enumerate() {
            let place = format!("{place}.points[{number}]");
            let is_place = *x > last && (0.0..=end).contains(x) && (steps == 0 || x.fract() == 0.0);
            ensure(is_place, &place, || format!("{x} is not a place after the point before it"))?;
            value(&place, *y, shown(metric))?;
            last = *x;
        }
        Ok(())
    }
}

fn number(place: &str, own: &Number) -> Checked {
    let Headline { metric, value: own_value, protocol, n, interval } = &own.0;
    let at = |key: &str| format!("{place}.{key}");
    own_value.iter().try_for_each(|one| value(&at("value"), *one, *metric))?;
    protocol.iter().try_for_each(|one| value(&at("protocol"), *one, *metric))?;
    ensure(*n <= MOST_SECONDS, &at("n"), || format!("{n} seconds are more than a hundred years"))?;
    if let ConfidenceInterval::WithinRun(WithinRun { mean, low, high, n: own_n, .. }) = interval {
        // An interval over seconds needs some.
        ensure(*n > 0, &at("n"), || "0 seconds have no interval".into())?;
        ensure(*own_n > 0, &at("interval.n"), || "0 seconds have no interval".into())?;
        let is_within = low <= mean && mean <= high;
        ensure(is_within, &at("interval.mean"), || {
            format!("{mean} is not within the interval, {low} to {high}")
        })?;
        let has_value = own_value.is_some();
        ensure(has_value, &at("value"), || "it is missing, and has an interval".into())?;
    }
    let (Some((low, high)), Some(own)) = (interval.ends(), own_value) else { return Ok(()) };
    // An interval by Student's t of numbers that differ much may reach below 0.
    for (key, end) in [("interval.low", low), ("interval.high", high)] {
        let is_end = (-HIGHEST..=HIGHEST).contains(&end);
        ensure(is_end, &at(key), || format!("{end} {} is beyond what is measured", metric.unit()))?;
    }
    let margin = ROUNDING * high.abs();
    ensure(low <= high, &at("interval"), || format!("{low} is above {high}"))?;
    ensure(low - margin <= *own && *own <= high + margin, &at("value"), || {
        format!("{own} is not within its interval, {low} to {high}")
    })
}

fn value(place: &str, value: f64, metric: Metric) -> Checked {
    let highest = if metric.unit() == "%" { 100.0 * (1.0 + ROUNDING) } else { HIGHEST };
    ensure((0.0..=highest).contains(&value), place, || {
        let unit = metric.unit();
        let what = if value < 0.0 { "below 0" } else { "more than can be measured" };
        format!("{value} {unit} is {what}")
    })
}

/// Checks an id: letters, digits, and what ids are joined with.
fn name(place: &str, text: &str) -> Checked {
    let is_plain = |one: u8| one.is_ascii_alphanumeric() || b"-_.+:".contains(&one);
    ensure(!text.is_empty() && text.bytes().all(is_plain), place, || {
        "it is not an id of letters, digits and `-_.+:`".into()
    })?;
    device(place, text)
}

fn device(place: &str, text: &str) -> Checked {
    ensure(sanitize::device(text) == text, place, || {
        "it has more than 64 characters, or others than printable ASCII".into()
    })
}

pub(super) fn prose(place: &str, text: &str) -> Checked {
    ensure(sanitize::prose(text) == text, place, || {
        "it has more than 2,000 characters, or one that cannot be seen".into()
    })
}

fn list(place: &str, texts: &[String], most: usize) -> Checked {
    let count = texts.len();
    ensure(count <= most, place, || format!("there are {count} entries, at most {most}"))?;
    let mut each = texts.iter().enumerate();
    each.try_for_each(|(number, text)| prose(&format!("{place}[{number}]"), text))
}
