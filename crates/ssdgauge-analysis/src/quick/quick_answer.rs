//! The answer of a quick run for one kind of work: one sentence with its interval.

use crate::groups::group::Member;
use crate::groups::headline_reasons;
use crate::model::{Run, TestRun};
use crate::text::interval;
use crate::text::number;
use ssdgauge_core::Headline;

/// What a quick suite answers.
struct Work {
    suite: &'static str,
    /// The test whose headline is the answer.
    test: &'static str,
    /// The sentence before and after the number.
    words: (&'static str, &'static str),
    /// A second sentence from the value of the headline.
    also: Option<fn(f64) -> String>,
}

/// The quick suites for one kind of work.
const WORKS: [Work; 3] = [
    Work {
        suite: "quick-ai",
        test: "experts",
        words: ("Reads the experts of a language model at", "9.3 MiB each, by 4 threads"),
        also: Some(|mb_s| format!("{} s per GB", number::text(1e3 / mb_s))),
    },
    Work {
        suite: "quick-database",
        test: "commits",
        words: ("Commits of a database, one after the other:", "4 KiB each, durable by a flush"),
        also: Some(|iops| format!("{} ms per commit", number::text(1e3 / iops))),
    },
    Work {
        suite: "quick-desktop",
        test: "mixture",
        words: ("Everyday work:", "70 % reads of 4 to 128 KiB, 2 in flight"),
        also: None,
    },
];

/// Returns whether `suite` is a quick one for a kind of work.
pub fn is_for_work(suite: &str) -> bool {
    WORKS.iter().any(|work| work.suite == suite)
}

/// Returns the answer of `run`; `None` where its suite is not one of a kind of work.
pub fn sentence(run: &Run) -> Option<String> {
    let work = WORKS.iter().find(|work| work.suite == run.head.plan.suite.id)?;
    let test = run.tests.iter().find(|test| test.test.id == work.test)?;
    let (before, after) = work.words;
    let Some(value) = test.headline.value else {
        return Some(format!("{before} no result: {}", reason(run, test)));
    };
    // A heading has room for the interval, and for no reason why there is none.
    let number = match interval::words(&test.headline.interval, test.headline.metric) {
        Some(_) => with_interval(&test.headline, value),
        None => {
            format!("{} (no 95\u{a0}% interval)", number::measured(value, test.headline.metric))
        }
    };
    let also = work.also.filter(|_| value > 0.0);
    let also = also.map_or_else(String::new, |also| format!("; {}", also(value)));
    Some(format!("{before} {number}, {after}{also}"))
}

/// Returns the headlines of all other tests of `run`, a sentence each.
pub fn others(run: &Run) -> Vec<String> {
    let work = WORKS.iter().find(|work| work.suite == run.head.plan.suite.id);
    let is_other = |test: &&TestRun| work.is_some_and(|work| test.test.id != work.test);
    let sentence = |test: &TestRun| {
        let title = crate::text::sanitize::prose(&test.test.title);
        match test.headline.value {
            Some(value) => format!("{title}: {}.", with_interval(&test.headline, value)),
            None => format!("{title}: no result."),
        }
    };
    run.tests.iter().filter(is_other).map(sentence).collect()
}

fn with_interval(headline: &Headline, value: f64) -> String {
    let number = number::measured(value, headline.metric);
    match interval::words(&headline.interval, headline.metric) {
        Some(words) => match interval::start_left_out(headline) {
            Some(remark) => format!("{number} ({words}; {remark})"),
            None => format!("{number} ({words})"),
        },
        None => match interval::reason(&headline.interval) {
            Some(reason) => format!("{number} ({reason})"),
            None => number,
        },
    }
}

fn reason(run: &Run, test: &TestRun) -> String {
    headline_reasons::missing_reason(&Member { index: 0, run, test })
}
