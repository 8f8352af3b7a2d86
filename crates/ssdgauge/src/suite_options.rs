//! The suite of a command, and the options of its plan: tests, target size, endurance.

use crate::arguments::PlanOptions;
use crate::failure::{Failure, FailureKind};
use crate::reader::{self, Input};
use crate::suggestion;
use crate::target::SizeRequest;
use crate::text_file::read_text_file;
use ssdgauge_core::{Bytes, DriveInfo, VIRTUAL, shell_word};
use ssdgauge_lab::{
    AssumedRates, Endurance, Options, Suite, assumed_rates, built_in_ids, find_built_in,
    needed_span,
};
use std::path::Path;

/// The size of the scratch file of a suite without sizes, and of the range of a drive that `quick`
/// tests.
pub(crate) const DEFAULT_SIZE: Bytes = ssdgauge_lab::SCRATCH_SIZE;

/// What people ask for, and the suites that answer it.
const SYNONYMS: [(&str, &str); 8] = [
    ("gaming", "'quick-desktop' or 'tasks'"),
    ("games", "'quick-desktop' or 'tasks'"),
    ("desktop", "'quick-desktop' or 'client-2018'"),
    ("database", "'quick-database' or 'act'"),
    ("ai", "'quick-ai' or 'ai-experts'"),
    ("server", "'enterprise-2019'"),
    ("cache", "'cache-fill'"),
    ("snia", "'snia-pts-c' or 'snia-pts-e'"),
];

/// Finds the suite `name`: a built-in one, or a file if the name has a `/` or ends in `.toml`.
///
/// # Errors
///
/// Fails where there is no such suite, or the file is not a valid suite.
pub(crate) fn find_suite(name: &str) -> Result<Suite, Failure> {
    let is_path = name.contains('/') || name.ends_with(".toml");
    if !is_path {
        return find_built_in(name).map_err(|_| {
            let known = built_in_ids();
            let is_wish = SYNONYMS.iter().find(|(word, _)| name.eq_ignore_ascii_case(word));
            let hint = match is_wish {
                Some((_, meant)) => format!("did you mean {meant}? `ssdgauge suites` lists all"),
                None => suggestion::hint(name, known.iter().copied(), "", "ssdgauge suites"),
            };
            Failure::new(FailureKind::Usage, format!("unknown suite '{name}'"), hint)
        });
    }
    let hint = "`ssdgauge suites` lists the built-in suites";
    let text =
        read_text_file(name).map_err(|error| Failure::new(FailureKind::Usage, error, hint))?;
    parse_suite(name, &text)
}

/// Checks that suite and targets of `ssdgauge COMMAND` are in this order.
///
/// # Errors
///
/// Fails where a target is named in the place of the suite.
pub(crate) fn check_order(command: &str, suite: &str, targets: &[&str]) -> Result<(), Failure> {
    const PREFIXES: [&str; 4] = [VIRTUAL, "null:", "file:", "/dev/"];
    // A shell hands a suite over as an open file: `<(…)` is /dev/fd/63.
    let is_open_file = suite.starts_with("/dev/fd/") || suite == "/dev/stdin";
    let is_target = !is_open_file
        && (PREFIXES.iter().any(|prefix| suite.starts_with(prefix))
            || (Path::new(suite).is_dir() && !built_in_ids().contains(&suite)));
    if !is_target {
        return Ok(());
    }
    let is_suite = |name: &&&str| built_in_ids().contains(*name) || name.ends_with(".toml");
    let hint = match targets.iter().find(is_suite) {
        Some(meant) => {
            let others = targets.iter().filter(|one| *one != meant);
            let words: Vec<String> =
                [*meant, suite].into_iter().chain(others.copied()).map(shell_word).collect();
            format!("did you mean `ssdgauge {command} {}`?", words.join(" "))
        }
        None => format!(
            "name a suite before it: `ssdgauge {command} SUITE TARGET`; `ssdgauge suites` lists all"
        ),
    };
    let error = format!("'{suite}' is a target, and the suite comes first");
    Err(Failure::new(FailureKind::Usage, error, hint))
}

/// Returns the suite with the contents `text` of the file `name`.
///
/// # Errors
///
/// Fails where it is not a valid suite.
pub(crate) fn parse_suite(name: &str, text: &str) -> Result<Suite, Failure> {
    let here = || Ok(Suite::parse(name, text)?);
    reader::ask(here, &["suite"], &[name.into()], Input::Text(text))
}

/// Returns the target size for `suite`: `exact` if given, otherwise the span that its tests need.
pub(crate) fn size_for(suite: &Suite, options: &PlanOptions, exact: Option<Bytes>) -> SizeRequest {
    let needed = needed_span(suite, &options.tests).filter(|_| !options.scale_spans);
    SizeRequest { exact, scratch: needed.unwrap_or(DEFAULT_SIZE), at_most: None }
}

/// Returns the rated endurance and the share of it that a run may write.
pub(crate) fn endurance_from(options: &PlanOptions) -> Endurance {
    Endurance { rated: options.endurance, share: options.endurance_share / 100.0 }
}

/// Returns the rates that the cost of a plan on `drive` assumes.
pub(crate) fn rates_from(options: &PlanOptions, drive: &DriveInfo) -> AssumedRates {
    let assumed = assumed_rates(drive);
    options.write_rate.map_or(assumed, |rate| assumed.with_large_write(rate))
}

/// Returns the options of the planner.
pub(crate) fn planner_options_from(options: &PlanOptions) -> Options {
    Options {
        only: options.tests.clone(),
        shorten: options.shorten,
        scale_spans: options.scale_spans,
        seed: options.seed,
        repeat: options.repeat,
        purge: options.purge,
        verify: options.verify,
        polled: options.polled,
        pass_through: options.pass_through,
    }
}
