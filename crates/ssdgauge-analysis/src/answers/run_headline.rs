//! The headline of a page of one drive: the value of its first figure, with the test and the load
//! that it comes from, so that a reader can cite it.

use crate::findings::trust;
use crate::groups::group::Group;
use crate::groups::workload_text::{self, Load};
use crate::model::TestRun;
use crate::steps::tried_loads::tried_loads;
use crate::text::case::capital;
use crate::text::interval;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::ScoreFamily;

/// The letters of two lines of a heading at 34 px on 1,112 px.
pub(crate) const TWO_LINES: usize = 120;

/// The maximum number of letters of the title of a test.
const MOST_TITLE: usize = 72;

/// What the titles of searches begin with, and their headlines say in other words.
const SEARCHED: &str = "Highest passing load, ";

/// A headline.
pub struct RunHeadline {
    /// Its words.
    pub text: String,
    /// Whether the name of the drive is a part of it: a long one has no room.
    pub has_name: bool,
}

/// Returns the headline of the drive with this `name`: the value of the test `hero` among `groups`,
/// or of the first test with a value where that has none.
pub fn headline(name: &str, groups: &[Group<'_>], hero: Option<usize>) -> RunHeadline {
    let hero = hero.and_then(|hero| groups.get(hero));
    let invalid = |group: &Group<'_>| trust::invalid(group.first().run, group.first().test);
    let tests = hero.into_iter().chain(groups).filter(|group| invalid(group).is_none());
    let mut tests = tests.map(|group| (group.full_title(), group.first().test));
    let Some((title, test, value)) = tests.find_map(|(title, test)| {
        let value = match interval::is_of_trials(&test.headline) {
            true => interval::headline_measured(&test.headline)?,
            false => number::named(test.headline.value?, test.headline.metric),
        };
        Some((title, test, value))
    }) else {
        let text = match groups.iter().find_map(invalid) {
            Some(why) => format!("{name}: no test has a valid result ({why})"),
            None => groups.iter().find_map(failed_search).map_or_else(
                || format!("{name}: no test has a result"),
                |failed| format!("{name}: {failed}"),
            ),
        };
        return RunHeadline { text, has_name: true };
    };
    if test.test.score.family() == ScoreFamily::HighestLoad {
        return of_search(name, &title, test, &value);
    }
    let result = format!("{value} in {}", in_quotes(&title, test));
    let rule = number::spaced(&workload_text::rule(&test.test, &test.test.score));
    let named = |text: String| RunHeadline { text, has_name: true };
    for text in [format!("{name}: {result}, {rule}"), format!("{name}: {result}")] {
        if text.chars().count() <= TWO_LINES {
            return named(text);
        }
    }
    RunHeadline { text: capital(&result), has_name: false }
}

/// Returns that the lowest load that a search tried failed, or that its result is not known.
fn failed_search(group: &Group<'_>) -> Option<String> {
    let test = group.first().test;
    let lowest = tried_loads(test).into_iter().next()?;
    let base = workload_text::base_load(&test.test)?;
    let load = number::measured(lowest.load, test.headline.metric);
    match lowest.passed {
        Some(_) => {
            let broken = lowest.above.iter().find_map(|(latency, share, limit)| {
                let share = share.filter(|share| share >= limit)?;
                Some(format!(" with {} % over {}", number::text(share), latency.about()))
            });
            Some(format!("fails at {load} of {base}{}", broken.unwrap_or_default()))
        }
        None => Some(format!("whether {load} of {base} passed is not known")),
    }
}

/// Returns the headline of a search: the highest load that passed, and the next one that failed.
fn of_search(name: &str, title: &str, test: &TestRun, value: &str) -> RunHeadline {
    let passed = test.headline.value.unwrap_or(f64::INFINITY);
    let loads = tried_loads(test);
    let failed = loads.iter().find(|load| load.has_failed() && load.load > passed);
    let failed = failed.map_or_else(String::new, |load| {
        format!(", fails at {}", number::measured(load.load, test.headline.metric))
    });
    let title = title.strip_prefix(SEARCHED).unwrap_or(title);
    let base = workload_text::base_load(&test.test);
    let base = base.map(|base| format!(" of {base}")).unwrap_or_default();
    let result = format!("passes at {value}{base}{failed} in “{}”", shortened(title));
    let text = format!("{name} {result}");
    match text.chars().count() <= TWO_LINES {
        true => RunHeadline { text, has_name: true },
        false => RunHeadline { text: capital(&result), has_name: false },
    }
}

fn shortened(title: &str) -> String {
    match title.chars().count() > MOST_TITLE {
        true => {
            let cut: String = title.chars().take(MOST_TITLE - 1).collect();
            format!("{}…", cut.trim_end())
        }
        false => title.to_owned(),
    }
}

/// Returns the title of a test with what it does not say of its load: `“Sequential write” (128 KiB,
/// QD32)`.
fn in_quotes(title: &str, test: &TestRun) -> String {
    let short = shortened(title);
    let said = plain(&short);
    let missing: Vec<String> =
        load(test).into_iter().filter(|part| !is_said(&said, &plain(part))).collect();
    match missing.is_empty() {
        true => format!("“{short}”"),
        false => format!("“{short}” ({})", missing.join(", ")),
    }
}

/// Returns the parts of the load of `test`: size, order, direction, and depth or open loop.
fn load(test: &TestRun) -> Vec<String> {
    let Load { size, order, direction, depth } = workload_text::load(&test.test);
    if depth.is_empty() {
        return vec!["no load".to_owned()];
    }
    let depth = match workload_text::is_open_loop(&test.test) {
        true => "open loop".to_owned(),
        false => depth,
    };
    let parts = [size, order, direction.to_owned(), depth];
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

/// Returns whether `title` says `part` in words of its own: `QD1` is not part of `QD16`.
fn is_said(title: &str, part: &str) -> bool {
    let is_edge = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    title.match_indices(part).any(|(at, _)| {
        is_edge(title[..at].chars().next_back()) && is_edge(title[at + part.len()..].chars().next())
    })
}

/// Returns `text` in lower case, without plurals: a title says "random read" of random reads.
fn plain(text: &str) -> String {
    let text = sanitize::prose(text).replace('\u{a0}', " ").to_lowercase();
    let text = text.replace("reads and writes", "mixed");
    text.replace("reads", "read").replace("writes", "write").replace("4k ", "4 kib ")
}
