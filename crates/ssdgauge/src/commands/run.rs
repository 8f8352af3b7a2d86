//! `ssdgauge quick` and `ssdgauge run`: a suite on a target, with run file, summary and page.

mod interference;
mod several;

use crate::arguments::{self, ConsentOptions, PlanOptions, ReplayOptions, RunOptions};
use crate::build_identity;
use crate::commands::{plan, resume};
use crate::commit_interval;
use crate::failure::{Failure, FailureKind};
use crate::output;
use crate::page_file::{self, finish_run};
use crate::permitted_writes::Expected;
use crate::process::{self, StopFlag};
use crate::protocol::Protocol;
use crate::run_file_name::RunFileName;
use crate::suite_options::{DEFAULT_SIZE, check_order, endurance_from, rates_from};
use crate::target::{OpenedRig, RunContext, RunExtras, SizeRequest, Target};
use crate::{meter_specs, notification, outline, request_path};
use ssdgauge_core::{Bytes, DriveInfo, Finding, Plan, TargetKind, is_virtual};
use ssdgauge_lab::{Expectation, Outlook, Suite, Watcher};
use ssdgauge_runfile::{FindingRecord, MAX_WRITES, Opening, RATED_ENDURANCE};
use ssdgauge_watch::live::sender::LiveSeconds;
use ssdgauge_watch::progress::Progress;
use ssdgauge_watch::terminal;
use std::path::Path;

/// Runs the suite `quick`, or that of a kind of work, on a target.
///
/// # Errors
///
/// Fails as [`execute`] does.
pub(crate) fn execute_quick(arguments: &arguments::QuickArguments) -> Result<(), Failure> {
    let size =
        SizeRequest { exact: arguments.size, scratch: DEFAULT_SIZE, at_most: Some(DEFAULT_SIZE) };
    let protocol = || {
        let quick = Protocol::find(arguments.suite(), &ReplayOptions::default())?;
        Ok((quick, size))
    };
    let targets = std::slice::from_ref(&arguments.target);
    execute_on(targets, &arguments.options, &Interference::default(), &protocol)
}

/// What is asked, and what was found, about drives that disturb each other.
#[derive(Default)]
struct Interference {
    is_checked: bool,
    found: Option<Finding>,
}

/// Runs a suite on a target.
///
/// # Errors
///
/// Refuses invalid input, existing outputs and targets that may not be written; fails where the run
/// fails or is interrupted.
pub(crate) fn execute(arguments: &arguments::RunArguments) -> Result<(), Failure> {
    let options = &arguments.options;
    let targets: Vec<&str> = arguments.targets.iter().map(String::as_str).collect();
    check_order("run", &arguments.suite, &targets)?;
    let protocol = || {
        let protocol = Protocol::find(&arguments.suite, &arguments.replay)?;
        let size = protocol.size(&options.plan, arguments.size);
        Ok((protocol, size))
    };
    let interference = Interference {
        is_checked: arguments.check_interference,
        found: arguments.interference_found.clone(),
    };
    if interference.is_checked && arguments.targets.len() < 2 {
        return Err(Failure::new(
            FailureKind::Usage,
            "one target has no other one that could disturb it",
            "nothing was written; omit --check-interference, or name several targets",
        ));
    }
    execute_on(&arguments.targets, options, &interference, &protocol)
}

/// Runs a protocol on one target in this process, or on each of several in a process of its own.
fn execute_on(
    targets: &[String],
    options: &RunOptions,
    interference: &Interference,
    protocol: &dyn Fn() -> Result<(Protocol, SizeRequest), Failure>,
) -> Result<(), Failure> {
    let (target, options) = match options.part {
        Some(part) => {
            let target = targets.get(part.number).ok_or_else(|| {
                let hint = "omit --part, which the program sets itself";
                Failure::new(FailureKind::Usage, "no such target", hint)
            })?;
            let (protocol, size) = protocol()?;
            let names = several::Names::new(&protocol.id(), targets, options, part.begun);
            let out = names.file(part.number);
            if part.checks {
                return interference::serve(&protocol, target, size, options, &out);
            }
            (target, RunOptions { out: Some(out), ..options.clone() })
        }
        None if options.only_plan && targets.len() > 1 => {
            for target in targets {
                let (protocol, size) = protocol()?;
                plan::print(&protocol, target, size, &options.plan, (false, options.json))?;
            }
            return Ok(());
        }
        None if (options.watch && !options.only_plan) || targets.len() > 1 => {
            let prepare = |target: &str, out: &Path| {
                let (protocol, size) = protocol()?;
                let others = targets.len().saturating_sub(1);
                let checked_with = interference.is_checked.then_some(others);
                consent_before(&protocol, target, size, options, out, checked_with)
            };
            let id = protocol()?.0.id();
            return several::run(&id, targets, options, interference.is_checked, &prepare);
        }
        None => (&targets[0], options.clone()),
    };
    if options.only_plan {
        let (protocol, size) = protocol()?;
        return plan::print(&protocol, target, size, &options.plan, (false, options.json));
    }
    process::retry_while_busy(options.wait, || {
        let (protocol, size) = protocol()?;
        start(protocol, target, size, &options, interference.found.as_ref())
    })
}

/// Checks everything that can be checked before `target` is opened, asks for its confirmation, and returns
/// what is permitted. Nothing is written. `checked_with` is the number of other targets that a check for
/// interference has.
fn consent_before(
    protocol: &Protocol,
    target: &str,
    size: SizeRequest,
    options: &RunOptions,
    out: &Path,
    checked_with: Option<usize>,
) -> Result<ConsentOptions, Failure> {
    let target = Target::find(target, size, options.plan.seed)?;
    if options.or_resume && out.exists() {
        return Ok(options.consent.clone());
    }
    let plan = protocol.plan(target.info(), &options.plan);
    let plan = plan.map_err(|failure| target.refusal_or(failure))?;
    check_endurance(protocol.suite(), &plan, target.info(), &options.plan)
        .map_err(|failure| target.refusal_or(failure))?;
    target.check_free_space()?;
    check_outputs(out, None)?;
    let context = RunContext { run_id: "", results: out, continues: None };
    let (expected, mut written) = expectation(&plan, target.info(), &options.plan);
    if let Some(others) = checked_with {
        let drive = target.info();
        let checks = interference::plan(drive, &plan, &options.plan)?;
        check_endurance(None, &checks, drive, &options.plan)?;
        written = written.plus(expectation(&checks, drive, &options.plan).1);
        let line = interference::expectation(&checks, drive, &options.plan, others);
        terminal::print_message(&format!("{}: {line}", drive.target));
    }
    let expected = Expected::new(&expected, written);
    let consent = target.ask(&plan, &options.consent, context, expected)?;
    target.refuse(&plan, &consent, context)?;
    Ok(consent)
}

/// Refuses a run that would write more than the allowed share of the rated endurance, before
/// anything is written. The hint names the test that writes most.
fn check_endurance(
    suite: Option<&Suite>,
    plan: &Plan,
    drive: &DriveInfo,
    options: &PlanOptions,
) -> Result<(), Failure> {
    let endurance = endurance_from(options);
    let rates = rates_from(options, drive);
    let cost = ssdgauge_lab::estimate(plan, drive.capacity, &rates);
    let Some(wear) = ssdgauge_lab::wear(cost.written, drive, &endurance) else { return Ok(()) };
    ssdgauge_lab::check_wear(&wear, drive, &endurance).map_err(|error| {
        let mut failure = Failure::from(error);
        if let Some((test, written)) = ssdgauge_lab::writes_most(plan, drive.capacity, &rates) {
            let rules = suite.map_or(&[][..], |suite| &suite.tests);
            let rule = rules.iter().find(|rule| rule.id == test.id);
            let line = rule.map_or(String::new(), |rule| format!(" ({})", rule.place));
            let most = format!("; test '{}'{line} writes {} of it", test.id, written.about());
            failure.hint.push_str(&most);
        }
        failure
    })
}

/// Plans, opens and conducts a run, and finishes it. `found` is a finding from before the run.
fn start(
    protocol: Protocol,
    target: &str,
    size: SizeRequest,
    options: &RunOptions,
    found: Option<&Finding>,
) -> Result<(), Failure> {
    let seed = options.plan.seed;
    if let Some(file) = options.out.as_ref().filter(|file| options.or_resume && file.exists()) {
        return resume_same(file, &protocol, target, size, options);
    }
    if protocol.suite().is_none() && options.log_ios.is_some() {
        return Err(Failure::new(
            FailureKind::Usage,
            "the requests of a replay are not logged",
            "nothing was written; omit --log-ios: the trace holds the same requests",
        ));
    }
    let specs = meter_specs::of_run(&options.power, !is_virtual(target))?;
    let target = Target::find(target, size, seed)?;
    let plan = protocol.plan(target.info(), &options.plan);
    let plan = plan.map_err(|failure| target.refusal_or(failure))?;
    check_endurance(protocol.suite(), &plan, target.info(), &options.plan)
        .map_err(|failure| target.refusal_or(failure))?;
    target.check_free_space()?;
    let now = process::unix_ms();
    let name = RunFileName::new(options.out.as_deref(), &plan.suite.id, now);
    let out = name.find()?;
    check_outputs(&out, options.log_ios.as_deref())?;
    let id = process::run_id(now)?;
    let context = RunContext { run_id: &id, results: &out, continues: None };
    let (expected, written) = expectation(&plan, target.info(), &options.plan);
    let about = Expected::new(&expected, written);
    let consent = target.ask(&plan, &options.consent, context, about)?;
    // What was estimated is held as well.
    let share = ssdgauge_lab::allowed_writes(target.info(), &endurance_from(&options.plan));
    let max_writes = consent.max_writes.into_iter().chain(share).min();
    let consent = ConsentOptions { max_writes, ..consent };
    let stop = StopFlag::new();
    let extras = RunExtras {
        stop: &stop,
        log_ios: options.log_ios.as_deref(),
        meters: &specs,
        health_every_s: Some(options.health_every.into()),
    };
    let OpenedRig { mut rig, meters: described, privileges } =
        target.open(&plan, &consent, context, seed, extras)?;
    // Until here nothing is written, and a signal ends the process at once.
    stop.listen()?;
    let mut environment = ssdgauge_host::environment(privileges.as_deref());
    environment.extend(meter_specs::environment_entries(&described));
    environment.extend(options.label.iter().map(|label| ("label".to_owned(), label.clone())));
    let rated = options.plan.endurance;
    let limits = [(RATED_ENDURANCE, rated), (MAX_WRITES, consent.max_writes)];
    let limits: Vec<(String, String)> = limits
        .into_iter()
        .filter_map(|(key, bytes)| Some((key.to_owned(), bytes?.0.to_string())))
        .collect();
    let opening = Opening {
        id: &id,
        program: &build_identity::program(),
        unix_ms: now,
        plan: &plan,
        drive: rig.drive(),
        environment: &environment,
        properties: &limits,
    };
    let (out, mut writer) = name.create(out.clone(), &opening)?;
    notification::begun(&out, rig.drive());
    let title = format!("{} on {} -> {}", plan.suite.id, rig.drive().name(), out.display());
    let place = place(rig.drive());
    terminal::print_lines([title.as_str()].into_iter().chain(expected.lines()).chain([&*place]));
    let rates = rates_from(&options.plan, rig.drive());
    let outlook = Outlook::new(&plan, rig.drive().capacity, &rates);
    let trace = protocol.into_trace().map(|trace| trace.for_drive(rig.drive()));
    let mut progress = Progress::new(&plan, outlook, stop.flag())
        .with_commit_interval(commit_interval::for_run(&out, rig.drive()))
        .with_live_seconds(LiveSeconds::of_run(&out, &id, rig.drive()))
        .with_requests(trace.map(|trace| trace.into_requests()));
    if let Some(finding) = found.cloned() {
        progress.finding_recorded(&finding);
        writer.finding(&FindingRecord { step: None, unix_ms: now, finding })?;
    }
    let result = ssdgauge_lab::conduct(&plan, rig.as_mut(), &mut writer, &mut progress);
    progress.finish();
    drop((writer, rig));
    finish_run(result, &out, options.json)
}

/// Continues the run in `file`, which has to be one of `suite` on `target`.
fn resume_same(
    file: &Path,
    protocol: &Protocol,
    target: &str,
    size: SizeRequest,
    options: &RunOptions,
) -> Result<(), Failure> {
    let target = Target::find(target, size, options.plan.seed)?;
    let name = target.info().target.clone();
    let (id, revision, replayed) = match protocol.suite() {
        Some(suite) => (suite.id.clone(), suite.revision, None),
        None => {
            // A replay has one test, whose id names trace and cut.
            let plan = protocol.plan(target.info(), &options.plan)?;
            (plan.suite.id, plan.suite.revision, plan.tests.into_iter().next().map(|test| test.id))
        }
    };
    drop(target);
    let head = outline::records(file, false)?.head;
    let (plan, recorded) = (&head.plan, &head.drive.target);
    if (&plan.suite.id, plan.suite.revision, recorded) != (&id, revision, &name) {
        return Err(Failure::new(
            FailureKind::Refused,
            format!(
                "{} is a run of {} revision {} on {recorded}, not of {} revision {} on {name}",
                file.display(),
                plan.suite.id,
                plan.suite.revision,
                id,
                revision
            ),
            "nothing was written; name another --out",
        ));
    }
    let recorded_test = plan.tests.first().map(|test| &test.id);
    if let Some(test) = replayed.filter(|test| recorded_test != Some(test)) {
        return Err(Failure::new(
            FailureKind::Refused,
            format!("{} is the run of another replay than {test}", file.display()),
            "nothing was written; name another --out",
        ));
    }
    if options.plan.verify && !plan.verify {
        return Err(Failure::new(
            FailureKind::Refused,
            format!("{} is a run without --verify", file.display()),
            "nothing was written; continue it without --verify, or name another --out",
        ));
    }
    request_path::check_same(plan.request_path(), options.plan.request_path(), file)?;
    let arguments = arguments::ResumeArguments {
        file: file.to_owned(),
        consent: options.consent.clone(),
        power: options.power.clone(),
        notify: options.notify.clone(),
        wait: None,
        json: options.json,
    };
    resume::resume(&arguments)
}

/// Returns what `plan` is expected to take and to write on `drive`, as one line, and the bytes.
fn expectation(
    plan: &Plan,
    drive: &DriveInfo,
    options: &PlanOptions,
) -> (String, Expectation<Bytes>) {
    let rates = rates_from(options, drive);
    let cost = ssdgauge_lab::estimate(plan, drive.capacity, &rates);
    let mut time = cost.time.expected.about();
    if drive.kind == TargetKind::Virtual {
        let here = ssdgauge_lab::computing_time(plan, drive.capacity, &rates).about();
        time.push_str(&format!(" of virtual time (about {here} here)"));
    }
    let text = match cost.written.expected {
        Bytes(0) if plan.is_destructive() => {
            format!("expected: {time}, nothing written, data deallocated")
        }
        Bytes(0) => format!("expected: {time}, nothing written"),
        written => {
            let most = cost.written.at_most.about();
            format!("expected: {time}, writes {}, at most {most}", written.about())
        }
    };
    (text, cost.written)
}

/// Returns where the bytes of a run are written, as one line.
fn place(drive: &DriveInfo) -> String {
    let size = drive.capacity.about();
    match drive.kind {
        TargetKind::File => {
            format!("scratch file of {size}, removed afterwards; nothing else is written")
        }
        TargetKind::Block => format!("the first {size} of the drive are tested"),
        TargetKind::Virtual => match drive.whole_capacity().filter(|whole| *whole > drive.capacity)
        {
            Some(whole) => {
                let whole = whole.about();
                format!(
                    "a virtual drive of {whole}, of which {size} are tested; no drive is written"
                )
            }
            None => format!("a virtual drive of {size}; no drive is written"),
        },
        TargetKind::Null => "no drive is written".to_owned(),
    }
}

/// Refuses outputs that exist already or lie among the device nodes, and two outputs of one name, before
/// anything is written.
fn check_outputs(out: &Path, log: Option<&Path>) -> Result<(), Failure> {
    let page = page_file::page_next_to(out);
    let files = [Some(out), Some(&page), log];
    for (index, path) in files.iter().flatten().enumerate() {
        output::check_new(path, Some("the run"))?;
        if files.iter().flatten().take(index).any(|other| other == path) {
            return Err(Failure::new(
                FailureKind::Usage,
                format!("{} is the name of two outputs of this run", path.display()),
                "nothing was written; name the run file .ssdg: its report has the same name with .html",
            ));
        }
    }
    Ok(ssdgauge_runfile::check_new(out)?)
}
