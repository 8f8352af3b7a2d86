//! How a run ended, and what that means for the reader: every surface says it before any number.

use crate::findings::doubt;
use crate::model::{Run, TestRun};
use crate::text::case::capital;
use crate::text::{labels, number, sanitize};
use ssdgauge_core::{Finding, FindingKind, Severity, shell_word};
use ssdgauge_runfile::OutcomeKind;

/// The findings on what lies outside of the drive and changes its numbers. The first one that a run has gives the
/// headline, so the most telling come first.
const FROM_OUTSIDE: [(FindingKind, &str); 8] = [
    (FindingKind::OtherTraffic, "Other programs used the drive"),
    (FindingKind::DriveInterference, "Other drives under load slowed this one"),
    (FindingKind::StoodStill, "The program or the machine stood still"),
    (FindingKind::PageCache, "The memory of the host answered in place of the drive"),
    (FindingKind::HostCeiling, "The host, not the drive, was the limit"),
    (FindingKind::Disturbed, "The processor was busy with other work"),
    (FindingKind::GeneratorLate, "The host sent requests late"),
    (FindingKind::ResultsFull, "The file system of the results was full"),
];

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// It is complete, and most of its results are about the drive.
    Complete,
    /// It is complete, and something outside of the drive changed most of its results.
    Disturbed,
    /// It is not complete: it was stopped, or is still running.
    Unfinished,
    /// The drive or the host failed before its end.
    Failed,
}

impl RunOutcome {
    /// Returns the word used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            RunOutcome::Complete => "complete",
            RunOutcome::Disturbed => "disturbed",
            RunOutcome::Unfinished => "unfinished",
            RunOutcome::Failed => "failed",
        }
    }

    /// Returns the words on pages.
    pub fn words(self) -> &'static str {
        match self {
            RunOutcome::Complete => "Complete",
            RunOutcome::Disturbed => "Disturbed",
            RunOutcome::Unfinished => "Not finished",
            RunOutcome::Failed => "Failed",
        }
    }
}

/// What a reader should know of a run that is not simply complete, and do next.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// The headline: what happened.
    pub title: String,
    /// What it means for the results.
    pub meaning: String,
    /// What to do, in this order.
    pub next: Vec<NextStep>,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub struct NextStep {
    /// What.
    pub what: String,
    /// Why, or what it depends on.
    pub why: String,
    /// The command that does it, and whether it writes to the drive.
    pub command: Option<(String, &'static str)>,
}

/// The findings whose cause `doctor` may show.
const BUSY: [FindingKind; 4] = [
    FindingKind::OtherTraffic,
    FindingKind::Disturbed,
    FindingKind::HostCeiling,
    FindingKind::GeneratorLate,
];

/// The findings that no quiet machine removes.
const IN_THE_WAY: [FindingKind; 2] = [FindingKind::PageCache, FindingKind::ResultsFull];

/// How long before a failure the kernel may have written its first line about it, in milliseconds. Chosen.
const BEFORE_MS: i64 = 10 * 60 * 1_000;

/// How many causes of a disturbance are named at most; the caveats have all.
const SHOWN_CAUSES: usize = 2;

/// The words next to a command that changes nothing.
const READS_ONLY: &str = "writes nothing";

/// Returns how `run` ended.
pub fn of(run: &Run) -> RunOutcome {
    let has_failed = match &run.recorded_outcome {
        Some(recorded) => recorded.kind == OutcomeKind::Failed,
        // Formats before 3 record no outcome.
        None => is_gone(run),
    };
    match (run.complete, has_failed) {
        (false, true) => RunOutcome::Failed,
        (false, false) => RunOutcome::Unfinished,
        (true, _) if is_disturbed(run) => RunOutcome::Disturbed,
        (true, _) => RunOutcome::Complete,
    }
}

fn is_gone(run: &Run) -> bool {
    run.all_findings().iter().any(|found| found.finding.kind == FindingKind::DriveGone)
}

/// Returns whether something outside of the drive puts more than half of the results of `run` in doubt.
fn is_disturbed(run: &Run) -> bool {
    let with_result = || run.tests.iter().filter(|test| test.headline.value.is_some());
    let results = with_result().count();
    let disturbed = with_result().filter(|test| is_test_disturbed(run, test)).count();
    2 * disturbed > results
}

fn is_test_disturbed(run: &Run, test: &TestRun) -> bool {
    let of_test = test.findings.iter().filter(|one| doubt::concerns_result(one, test));
    let mut findings = run.findings.iter().chain(of_test.map(|one| &one.finding));
    findings.any(|finding| place(finding).is_some() && doubt::is_doubt(finding, Some(&test.test)))
}

/// Returns the place of `finding` among those from outside; `None` where it is about the drive.
fn place(finding: &Finding) -> Option<usize> {
    FROM_OUTSIDE.iter().position(|(kind, _)| *kind == finding.kind)
}

/// Returns the marks of `run` next to its numbers, such as `MODEL`, with its outcome where that is not complete.
pub fn marks(run: &Run) -> Vec<String> {
    let mut marks = labels::marks(&run.head);
    let outcome = of(run);
    if outcome != RunOutcome::Complete {
        marks.push(outcome.name().to_uppercase());
    }
    marks
}

/// Returns how many tests of `run` have ended, and how many it has.
pub(crate) fn tests_done(run: &Run) -> (usize, usize) {
    (run.tests.iter().filter(|test| test.complete).count(), run.tests.len())
}

/// Returns whether `run` gets a grade: not where it failed, or where less than half of its tests have ended.
pub fn has_grade(run: &Run) -> bool {
    let (done, all) = tests_done(run);
    of(run) != RunOutcome::Failed && 2 * done >= all
}

/// Returns whether the results of `run` may be quoted as those of the drive.
pub fn is_quoted(run: &Run) -> bool {
    matches!(of(run), RunOutcome::Complete | RunOutcome::Unfinished)
}

/// Returns what to know of `run`, and what to do; `None` where it is complete. `rest` says what the rest of an unfinished
/// run takes, such as `2 h 48 min left, 610 GB to write`.
pub fn account(run: &Run, rest: Option<&str>) -> Option<Account> {
    match of(run) {
        RunOutcome::Complete => None,
        RunOutcome::Failed => Some(failed(run)),
        RunOutcome::Unfinished => Some(unfinished(run, rest)),
        RunOutcome::Disturbed => Some(disturbed(run)),
    }
}

fn failed(run: &Run) -> Account {
    let ended = run.recorded_outcome.as_ref().map(|one| one.unix_ms);
    let after = ended.zip(run.head.started()).map(|(ended, started)| ended - started);
    // A run that was continued began long before.
    let is_resumed = run.findings.iter().any(|finding| finding.kind == FindingKind::Resumed);
    // The clock of the host is not that of a virtual drive.
    let after = after.filter(|ms| *ms >= 1_000 && !is_resumed && !run.is_model());
    let after = after
        .map_or_else(String::new, |ms| format!(" after {}", number::duration((ms / 1_000) as f64)));
    let found = run.all_findings();
    let gone = found.iter().find(|one| one.finding.kind == FindingKind::DriveGone);
    let step = gone.and_then(|one| one.step).map_or_else(String::new, |label| {
        format!("It stopped answering during “{}”. ", sanitize::prose(label))
    });
    let reason = run.recorded_outcome.as_ref().map(|one| sanitize::prose(&one.reason));
    let reason = reason.filter(|reason| !reason.is_empty());
    let quoted = "This run does not show how fast the drive is: no speed is quoted.";
    let (title, meaning) = match (gone, reason) {
        (Some(_), _) => (format!("The drive disappeared{after}"), format!("{step}{quoted}")),
        (None, Some(reason)) => {
            (format!("The run failed{after}"), format!("The error: {reason}. {quoted}"))
        }
        (None, None) => (format!("The run failed{after}"), quoted.to_owned()),
    };
    let next = if run.is_model() { Vec::new() } else { look(run, gone.is_some()) };
    let next = match without_fault(run) {
        Some(step) => vec![step],
        None => next.into_iter().chain(go_on(run)).collect(),
    };
    Account { title, meaning, next }
}

/// Returns the command of a run of the same virtual drive without the faults that its name asks for: continued, it
/// would fail again.
fn without_fault(run: &Run) -> Option<NextStep> {
    let target = sanitize::prose(&run.head.drive.target);
    let (profile, keys) = target.split_once('?').filter(|_| run.is_model())?;
    let (faults, others): (Vec<&str>, Vec<&str>) =
        keys.split('&').partition(|key| key.starts_with("fault."));
    let kept = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
    (!faults.is_empty()).then(|| NextStep {
        what: "Run it without the injected fault.".to_owned(),
        why: format!("The name of this virtual drive asks for it: {}.", faults.join(", ")),
        command: again_command(run, shell_word(&format!("{profile}{kept}"))),
    })
}

/// Returns the command that carries out the suite of `run` on `target`; `None` for an import.
fn again_command(run: &Run, target: String) -> Option<(String, &'static str)> {
    if run.head.imported_from().is_some() {
        return None;
    }
    let suite = sanitize::prose(&run.head.plan.suite.id);
    let verb = if suite == "quick" { "" } else { "run " };
    Some((format!("ssdgauge {verb}{} {target}", shell_word(&suite)), effect_of(run)))
}

fn effect_of(run: &Run) -> &'static str {
    match run.head.plan.is_destructive() {
        true => "writes to the drive, as the run did",
        false => "writes nothing to the drive",
    }
}

/// Returns what to look at after a real drive failed; a virtual one has no cable, and the kernel knows nothing of it.
fn look(run: &Run, is_gone: bool) -> Vec<NextStep> {
    // Whenever the page is read.
    let start = run.head.started_unix_ms;
    let since = run.recorded_outcome.as_ref().map_or(start, |one| one.unix_ms - BEFORE_MS);
    let since = number::date(since.max(start));
    let mut next = vec![NextStep {
        what: "Save what matters on this drive, if it comes back.".to_owned(),
        why: "A drive that drops out once often does so again.".to_owned(),
        command: None,
    }];
    if !is_gone {
        next.clear();
    }
    next.push(NextStep {
        what: "Ask the kernel what happened.".to_owned(),
        why: "A reset, a timeout or a lost link leaves a line there.".to_owned(),
        command: Some((
            format!(r#"journalctl -k --since "{since}" | grep -iE "nvme|ata|scsi|pcie""#),
            READS_ONLY,
        )),
    });
    if is_gone {
        next.push(NextStep {
            what: "Check seat, cable and slot, then see whether it is back.".to_owned(),
            why: String::new(),
            command: Some(("ssdgauge drives".to_owned(), READS_ONLY)),
        });
    }
    next
}

/// Returns the step that continues `run`, or begins it again where its target has ended with it.
fn go_on(run: &Run) -> Option<NextStep> {
    let head = &run.head;
    if head.imported_from().is_some() {
        return None;
    }
    if head.has_lost_its_target() {
        return Some(NextStep {
            what: "Begin again.".to_owned(),
            why: "Its scratch file ended with it.".to_owned(),
            command: again_command(run, target_of(run)),
        });
    }
    let file = run.file_name.as_deref().unwrap_or("FILE");
    Some(NextStep {
        what: "Continue the run.".to_owned(),
        why: "Finished steps are kept. The drive is recognised by its serial number; any other drive is \
              refused."
            .to_owned(),
        command: Some((format!("ssdgauge resume {}", shell_word(&sanitize::prose(file))), effect_of(run))),
    })
}

fn unfinished(run: &Run, rest: Option<&str>) -> Account {
    if run.awaits_flush {
        return Account {
            title: "All tests are done; the last flush is missing".to_owned(),
            meaning: "What the run wrote was neither flushed nor read back.".to_owned(),
            next: go_on(run).into_iter().collect(),
        };
    }
    let (done, all) = tests_done(run);
    let is = if done == 1 { "is" } else { "are" };
    let tests = if all == 1 { "test" } else { "tests" };
    let (done_words, all_words) = (number::count(done as u64), number::count(all as u64));
    let title = match all {
        0 => "The run has not ended".to_owned(),
        _ => format!(
            "{done_words} of {all_words} {tests} {is} done; {} to go",
            number::count((all - done) as u64)
        ),
    };
    let mut meaning = match run.head.imported_from() {
        // It has no rest that could be continued.
        Some(_) => vec!["The imported result has no further ones.".to_owned()],
        None => vec!["Finished steps are kept.".to_owned()],
    };
    let rest = rest.filter(|_| run.head.imported_from().is_none());
    meaning.extend(rest.map(|rest| format!("{}.", capital(rest))));
    if !has_grade(run) {
        meaning.push("Measurement quality is graded once half of the tests are done.".to_owned());
    }
    Account { title, meaning: meaning.join(" "), next: go_on(run).into_iter().collect() }
}

/// Returns `advice` without its request to run the step again, which the account makes once for the run.
fn before_rerun(advice: &str) -> &str {
    let ends = [", and run the step again", "; run the step again", "run the step again"];
    ends.iter().find_map(|end| advice.strip_suffix(end)).unwrap_or(advice)
}

/// Returns the target of `run`, as it is typed.
fn target_of(run: &Run) -> String {
    shell_word(&sanitize::prose(&run.head.drive.target))
}

fn disturbed(run: &Run) -> Account {
    let of_tests = run.tests.iter().flat_map(|test| {
        let of_result = test.findings.iter().filter(|one| doubt::concerns_result(one, test));
        of_result.map(|one| (&one.finding, Some(&test.test)))
    });
    let all = run.findings.iter().map(|finding| (finding, None)).chain(of_tests);
    let mut from_outside: Vec<(usize, &Finding)> = all
        .filter(|(finding, test)| doubt::is_doubt(finding, *test))
        .filter_map(|(finding, _)| Some((place(finding)?, finding)))
        .collect();
    from_outside.sort_by_key(|(place, finding)| (*place, finding.severity < Severity::Invalid));
    let count = |wanted: usize| from_outside.iter().filter(|(place, _)| *place == wanted).count();
    let alike: Vec<usize> = (0..FROM_OUTSIDE.len()).map(count).collect();
    from_outside.dedup_by_key(|(place, _)| *place);
    let causes: Vec<&str> = from_outside.iter().map(|(place, _)| FROM_OUTSIDE[*place].1).collect();
    let cause =
        causes.first().copied().unwrap_or("Something outside of the drive changed the results");
    let shown = || from_outside.iter().take(SHOWN_CAUSES).map(|(_, finding)| *finding);
    let sentence = |text: &str| capital(&number::spaced(&sanitize::prose(text)));
    let example = |finding: &Finding| {
        let alike = place(finding).map_or(1, |place| alike[place]);
        let first = if alike > 1 {
            format!(" (the first of {alike} such findings)")
        } else {
            String::new()
        };
        format!("{}{first}", sentence(&finding.text))
    };
    let examples: Vec<String> = shown().map(example).collect();
    // What a busy host needs is said once below.
    let advice = shown()
        .filter(|finding| !BUSY.contains(&finding.kind))
        .map(|finding| before_rerun(&finding.advice))
        .filter(|advice| !advice.is_empty());
    let mut next: Vec<NextStep> = advice
        .map(|advice| NextStep {
            what: format!("{}.", sentence(advice)),
            why: String::new(),
            command: None,
        })
        .collect();
    next.dedup();
    if shown().any(|finding| BUSY.contains(&finding.kind)) && run.head.imported_from().is_none() {
        next.push(NextStep {
            what: "Find out what is using the drive and the CPU.".to_owned(),
            why: "Backups, updates, virtual machines and browsers are the usual ones.".to_owned(),
            command: Some((format!("ssdgauge doctor {}", target_of(run)), READS_ONLY)),
        });
    }
    let is_in_the_way = shown().any(|finding| IN_THE_WAY.contains(&finding.kind));
    let again = match is_in_the_way {
        true => "Run it again.",
        false => "Run it again, and leave the machine alone while it runs.",
    };
    next.push(NextStep {
        what: again.to_owned(),
        why: String::new(),
        // Its options and its confirmation are not part of a run file.
        command: None,
    });
    if !is_in_the_way {
        next.push(NextStep {
            what: "If that run is disturbed too, boot a live system, or use an idle machine."
                .to_owned(),
            why: "What shows up in every run is part of this system.".to_owned(),
            command: None,
        });
    }
    Account {
        title: format!("{cause}; this run does not show how fast the drive is"),
        meaning: format!(
            "{}. None of these numbers is the speed of the drive.",
            examples.join(". ")
        ),
        next,
    }
}
