//! The plan of a run as text: time, bytes and wear first, then the steps.

use super::overview;
use crate::arguments::PlanOptions;
use crate::provenance;
use crate::suite_options::{endurance_from, rates_from};
use ssdgauge_core::{Bytes, DriveInfo, Plan, Rest, Step, TargetKind, Test, shell_word};
use ssdgauge_lab::{
    AssumedRates, Endurance, Estimate, Expectation, check_wear, computing_time, estimate,
    verification_time, verified_bytes, wear,
};
use ssdgauge_watch::terminal::{self, width};

/// The number of similar steps from which only the first and the last are printed.
/// Chosen: a ladder of queue depths and eleven mixes are listed in full.
const FOLDED_FROM: usize = 16;

/// Returns the plan as text: its tests as a table, and with `all` every step of each. Of a single test the
/// steps are listed in any case; without `all` similar ones are folded.
/// `refusal` is the reason for which a run would be refused whatever is confirmed.
pub(super) fn to_text(
    plan: &Plan,
    drive: &DriveInfo,
    options: &PlanOptions,
    all: bool,
    refusal: Option<&str>,
) -> String {
    let rates = rates_from(options, drive);
    let cost = estimate(plan, drive.capacity, &rates);
    let (id, title) = (terminal::line(&plan.suite.id), terminal::line(&plan.suite.title));
    let (name, size) = (terminal::line(drive.name()), drive.capacity.about());
    let mut text = format!("{id} on {name} ({size}): {}\n{title}\n\n", effect(plan, drive));
    if let Some(refusal) = refusal {
        text.push_str(&line("refused", &format!("a run would be refused: {refusal}")));
    }
    text.push_str(&cost_lines(plan, &cost, drive, &rates));
    text.push_str(&wear_lines(cost.written, drive, &endurance_from(options)));
    text.push_str(&line("rates", &rates_text(&rates)));
    for part in plan.missing_on(drive.kind) {
        text.push_str(&line("omitted", &format!("not supported on this target: {part}")));
    }
    // The plan lists the maximum number of repetitions. The first one has the preparation of the suite, and all
    // later ones are equal.
    let listed = plan.repeat_until.map_or(u32::MAX, |_| 2);
    let cost_of = |test: &Test| estimate(&alone(plan, test), drive.capacity, &rates);
    let tests = plan.tests.iter().filter(|test| test.repetition <= listed);
    if all || plan.tests.iter().all(|test| test.id == plan.tests[0].id) {
        for test in tests {
            text.push_str(&test_text(test, cost_of(test), listed, all));
        }
    } else {
        let tests: Vec<(&Test, Estimate)> = tests.map(|test| (test, cost_of(test))).collect();
        text.push_str(&overview::table(&tests, width::columns()));
    }
    text.push_str(&match refusal {
        Some(_) => "
next:  ssdgauge drives    which drives may be tested"
            .to_owned(),
        None => format!(
            "
next:  {}",
            run_command()
        ),
    });
    text
}

/// Returns the command that runs what was planned: that of this process, with `run` in place of `plan`, and
/// without the options that change nothing but the text.
fn run_command() -> String {
    // A path may hold bytes that are not text.
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let mut words = words.skip_while(|word| !["plan", "run", "quick"].contains(&word.as_str()));
    let name = words.next().filter(|name| name == "quick").unwrap_or_else(|| "run".to_owned());
    let mut words = words.peekable();
    // The suite of the first check has a command of its own.
    let is_check = name == "run" && words.next_if(|suite| suite == "quick").is_some();
    let name = if is_check { "quick" } else { &name };
    let mut command = format!("ssdgauge {name}");
    while let Some(word) = words.next() {
        match word.as_str() {
            "--all" | "--json" | "--plan" => {}
            "--color" => _ = words.next(),
            colour if colour.starts_with("--color=") => {}
            word => command = format!("{command} {}", shell_word(word)),
        }
    }
    command
}

/// Returns a line of the answer: its name and its value.
fn line(name: &str, value: &str) -> String {
    format!("  {name:<8}  {}\n", terminal::line(value))
}

/// Returns what the run does to the data of the target.
fn effect(plan: &Plan, drive: &DriveInfo) -> &'static str {
    match drive.kind {
        TargetKind::Block if plan.is_destructive() => "ERASES ALL DATA",
        TargetKind::Block => "writes nothing",
        TargetKind::File => "a scratch file, removed afterwards; erases nothing",
        TargetKind::Virtual => "a virtual drive; erases nothing",
        TargetKind::Null => "no drive",
    }
}

/// Returns time and bytes, and what makes them uncertain.
fn cost_lines(plan: &Plan, cost: &Estimate, drive: &DriveInfo, rates: &AssumedRates) -> String {
    let mut text = String::new();
    if plan.shortened > 1 {
        text.push_str(&line("marks", &format!("SHORTENED: limits divided by {}", plan.shortened)));
    }
    if plan.span_scaled {
        text.push_str(&line("marks", "SPANS SCALED to the target"));
    }
    if let Some(rule) = plan.repeat_until {
        let half = rule.half_width_percent();
        let (least, most) = (rule.at_least, rule.at_most);
        text.push_str(&line(
            "repeated",
            &format!(
                "all tests {least} to {most} times, until every 95 % interval is within ±{half} % \
                 of its mean"
            ),
        ));
        let fewest = estimate(&plan.first(least), drive.capacity, rates);
        let Estimate { time, written } = &fewest;
        let (time, written) = (overview::whole_seconds(time.expected), written.expected.about());
        text.push_str(&line("", &format!("{least} times: {time} expected, writes {written}")));
        text.push_str(&line("", &format!("{most} times:")));
    }
    let Estimate { time, written } = cost;
    let is_virtual = drive.kind == TargetKind::Virtual;
    let unit = if is_virtual { " of virtual time" } else { "" };
    let mut times = format!(
        "{}{unit} expected, at most {}",
        overview::whole_seconds(time.expected),
        time.at_most.about()
    );
    if is_virtual {
        let here = computing_time(plan, drive.capacity, rates);
        times.push_str(&format!("; about {} here", here.about()));
    }
    text.push_str(&line("time", &times));
    text.push_str(&line("writes", &writes(written, drive)));
    if plan.verify {
        let verified = verified_bytes(plan, drive.capacity);
        let time = verification_time(verified, rates).about();
        let words = format!("reads up to {} at the end, {time} of the time", verified.about());
        text.push_str(&line("verify", &words));
    }
    if plan.polled {
        text.push_str(&line("polled", "completions are polled in measured loads (IOPOLL)"));
    }
    if plan.pass_through {
        let words = "requests of measured loads are sent as NVMe commands";
        text.push_str(&line("pass-through", words));
    }
    if plan.tests.iter().any(|test| test.search.is_some()) {
        text.push_str(&line(
            "search",
            "the number of its attempts is not known before: time and bytes may be three times as \
             much or a third",
        ));
    }
    text
}

fn writes(written: &Expectation<Bytes>, drive: &DriveInfo) -> String {
    let mut text =
        format!("{} expected, at most {}", written.expected.about(), written.at_most.about());
    // Of a scratch file, a multiple of its size is not wear of the drive.
    if matches!(drive.kind, TargetKind::Block | TargetKind::Virtual) && drive.capacity > Bytes(0) {
        let drives = written.expected.0 as f64 / drive.capacity.0 as f64;
        text.push_str(&format!(": {drives:.1} drive writes"));
    }
    text
}

fn wear_lines(written: Expectation<Bytes>, drive: &DriveInfo, endurance: &Endurance) -> String {
    let Some(wear) = wear(written, drive, endurance) else {
        return line(
            "wear",
            "the rated endurance is not known; set it, such as --endurance 600TBW",
        );
    };
    let left = wear.left.map_or(String::new(), |left| format!(", {} left", left.about()));
    let (share, limit) = (wear.share * 100.0, endurance.share * 100.0);
    let rated = wear.rated.about();
    let mut text = line("wear", &format!("{share:.2} % of {rated} rated{left} (limit {limit} %)"));
    if let Err(error) = check_wear(&wear, drive, endurance) {
        text.push_str(&line("refused", &format!("this run would be refused: {error}")));
    }
    text
}

fn rates_text(rates: &AssumedRates) -> String {
    let rate = |rate: Bytes| format!("{}/s", rate.about());
    let [least, most] = rates.bounds_of_large_writes().map(rate);
    format!(
        "assumed as of {}: {} in large writes beyond any cache (bounds: {least} to {most}); set it with \
         --write-rate",
        rates.class,
        rate(Bytes((rates.large_write_mb_s * 1e6) as u64)),
    )
}

/// Returns the plan of one test.
fn alone(plan: &Plan, test: &Test) -> Plan {
    Plan { tests: vec![test.clone()], repeat_until: None, verify: false, ..plan.clone() }
}

/// Returns a test with its own cost, its steps, and the values that the source does not state.
fn test_text(test: &Test, cost: Estimate, listed: u32, all: bool) -> String {
    let repetition = match test.repetition {
        1 => String::new(),
        number if number == listed => ", each further repetition".to_owned(),
        number => format!(", repetition {number}"),
    };
    let (id, revision, title) = (&test.id, test.revision, terminal::line(&test.title));
    let mut text = format!("\n{id} (revision {revision}){repetition}: {title}\n");
    let Estimate { time, written } = cost;
    let (time, written) = (overview::whole_seconds(time.expected), written.expected.about());
    text.push_str(&format!("  expected  {time}, writes {written}\n"));
    for phase in &test.phases {
        let kind = phase.kind.name();
        for (label, action) in listed_steps(&phase.steps, all) {
            text.push_str(&format!("  {kind:<9} {label:<18}  {action}\n"));
        }
    }
    text.push_str(&provenance::lines(&test.chosen, &test.deviations, 12));
    text
}

/// Returns label and action of the lines for `steps`: equal steps in a row are one line with their count,
/// and of many that differ in numbers alone the first and the last are listed.
fn listed_steps(steps: &[Step], all: bool) -> Vec<(String, String)> {
    let words = |step: &Step| format!("{}{}", step.action.describe(), rest_text(step.rest));
    let one = |step: &Step| (label(step), words(step));
    if all {
        return steps.iter().map(one).collect();
    }
    let mut lines = Vec::new();
    let mut rest = steps;
    while let Some(first) = rest.first() {
        let text = words(first);
        let equal = rest.iter().take_while(|step| words(step) == text).count();
        let shape = shape_of(&text);
        let alike = rest.iter().take_while(|step| shape_of(&words(step)) == shape).count();
        let taken = if equal > 1 { equal } else { alike };
        let (run, after) = rest.split_at(taken.max(1));
        let last = &run[run.len() - 1];
        match run.len() {
            count if equal > 1 => {
                let label = format!("{} to {}", label(first), label(last));
                lines.push((label, format!("{count} x {text}")));
            }
            count if count >= FOLDED_FROM => {
                lines.push(one(first));
                let more = format!("{} more that differ in numbers (--all lists them)", count - 2);
                lines.push(("…".to_owned(), more));
                lines.push(one(last));
            }
            _ => lines.extend(run.iter().map(one)),
        }
        rest = after;
    }
    lines
}

/// Returns the label of `step`, with the size of a fill or of a preconditioning rounded.
fn label(step: &Step) -> String {
    let rounded = step.label.split_once(' ').and_then(|(name, size)| {
        let size: Bytes = size.parse().ok()?;
        Some(format!("{name} {}", size.about()))
    });
    rounded.unwrap_or_else(|| terminal::line(&step.label))
}

/// Returns `text` without the values of its numbers.
fn shape_of(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_ascii_digit() && *letter != '.').collect()
}

fn rest_text(rest: Rest) -> String {
    match rest {
        Rest::None => String::new(),
        Rest::For(time) => format!(", then rest for {}", time.about()),
        Rest::DutyCycle { busy, at_most } => {
            let (share, most) = (busy * 100.0, at_most.about());
            format!(", then rest for a duty cycle of {share:.0} %, at most {most}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{Action, Nanos};

    fn steps(seconds: &[u64]) -> Vec<Step> {
        let step = |(index, seconds): (usize, &u64)| Step {
            label: format!("#{}", index + 1),
            position: index as f64,
            action: Action::Rest(Nanos::from_secs(*seconds)),
            rest: Rest::None,
        };
        seconds.iter().enumerate().map(step).collect()
    }

    #[test]
    fn equal_steps_are_one_line_and_numbered_ones_are_folded() {
        let labels = |seconds: &[u64], all| {
            let lines = listed_steps(&steps(seconds), all);
            lines.into_iter().map(|(label, _)| label).collect::<Vec<_>>()
        };
        assert_eq!(labels(&[5; 32], false), ["#1 to #32"]);
        assert_eq!(labels(&[5; 3], true), ["#1", "#2", "#3"]);
        assert_eq!(labels(&[1, 2, 3], false), ["#1", "#2", "#3"]);
        let numbered: Vec<u64> = (1..=16).collect();
        assert_eq!(labels(&numbered, false), ["#1", "…", "#16"]);
        assert_eq!(labels(&[], false), Vec::<String>::new());
    }
}
