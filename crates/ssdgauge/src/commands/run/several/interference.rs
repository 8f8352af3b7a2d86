//! The check whether targets that run side by side disturb each other: when each phase begins on which of
//! them, and the result in words.
//!
//! A pair of phases of a drive is one alone and one together with all others. Each round has one phase of each
//! drive alone and one of all together; every second round goes backwards, so that what drifts in time is not
//! taken for a disturbance.

mod words;

use super::process::{Process, Signals, stop_all};
use crate::arguments::{ConsentOptions, Part};
use crate::commands::run::interference::{ALONE, Ready, Reply, TOGETHER};
use crate::failure::{Failure, FailureKind};
use serde::de::DeserializeOwned;
use ssdgauge_core::Finding;
use ssdgauge_os::shared_part::{SharedPart, shared_part};
use ssdgauge_os::topology::Kernel;
use ssdgauge_statistics::interference::{self, Change, Disturbance, PhasePair};
use ssdgauge_watch::terminal;
use std::path::Path;
use std::time::{Duration, Instant};

/// The most time until a target is prepared, and for one phase. The engine itself ends a phase in which the
/// drive does not respond.
const PREPARATION_LIMIT: Duration = Duration::from_secs(3_600);
const PHASE_LIMIT: Duration = Duration::from_secs(600);

/// The result of a check.
pub(super) struct Checked {
    /// The finding of each target, in their order.
    pub(super) findings: Vec<Finding>,
    drives: Vec<CheckedDrive>,
    /// The number of pairs, and the length of a phase in seconds.
    conditions: (usize, f64),
    /// What two targets have in common, in words.
    shared: Vec<String>,
}

/// The result for one target.
struct CheckedDrive {
    title: String,
    target: String,
    is_model: bool,
    loads: Vec<CheckedLoad>,
    disturbance: Disturbance,
    /// The phases together in which the processor was a limit.
    limited_by_processor: usize,
}

/// One load on one target.
struct CheckedLoad {
    title: String,
    workload: String,
    changes: Vec<Change>,
}

/// Checks `targets`, which are called `titles` in messages, with what was permitted by `consents`.
///
/// # Errors
///
/// Fails where a process fails or a signal arrives; then all processes of the check have ended.
pub(super) fn check(
    targets: &[String],
    titles: &[&str],
    consents: &[ConsentOptions],
    begun: i64,
    signals: &Signals,
) -> Result<Checked, Failure> {
    let mut participants = Participants { processes: Vec::new(), titles, signals };
    let result = participants.start(consents, begun).and_then(|()| participants.carry_out(targets));
    match &result {
        Ok(_) => participants.dismiss(),
        Err(_) => stop_all(&mut participants.processes),
    }
    participants.print_messages();
    result
}

/// The processes of a check.
struct Participants<'a> {
    processes: Vec<Process>,
    titles: &'a [&'a str],
    signals: &'a Signals,
}

impl Participants<'_> {
    fn start(&mut self, consents: &[ConsentOptions], begun: i64) -> Result<(), Failure> {
        for (number, consent) in consents.iter().enumerate() {
            let part = Part { number, begun, checks: true };
            let process = Process::start(part, consent, None).map_err(|error| {
                let error = format!("cannot start a process for {}: {error}", self.titles[number]);
                let hint = "no run has begun; free memory and processes";
                Failure::new(FailureKind::Failed, error, hint)
            })?;
            self.processes.push(process);
        }
        Ok(())
    }

    /// Carries out all phases, and judges them.
    fn carry_out(&mut self, targets: &[String]) -> Result<Checked, Failure> {
        let numbers = 0..self.processes.len();
        let ready: Result<Vec<Ready>, Failure> =
            numbers.map(|number| self.answer(number, PREPARATION_LIMIT)).collect();
        let ready = ready?;
        let loads = &ready[0].loads;
        let mut pairs = Vec::with_capacity(loads.len());
        let mut limited = vec![0; ready.len()];
        for (number, load) in loads.iter().enumerate() {
            terminal::print_message(&format!(
                "check for interference, {}: {} pairs of phases of {} s on each target",
                load.title, load.pairs, load.phase_s
            ));
            pairs.push(self.pairs(number, load.pairs, &mut limited)?);
        }
        Ok(judge(targets, self.titles, &ready, &pairs, &limited))
    }

    /// Returns `count` pairs of each target with the load `number`, and counts phases together in which the
    /// processor was a limit.
    fn pairs(
        &mut self,
        number: usize,
        count: usize,
        limited: &mut [usize],
    ) -> Result<Vec<Vec<PhasePair>>, Failure> {
        let all: Vec<usize> = (0..self.processes.len()).collect();
        let mut pairs = vec![Vec::with_capacity(count); all.len()];
        for round in 0..count {
            let mut phases: Vec<Vec<usize>> = all.iter().map(|one| vec![*one]).collect();
            phases.push(all.clone());
            if round % 2 == 1 {
                phases.reverse();
            }
            let mut alone: Vec<Option<Reply>> = vec![None; all.len()];
            let mut together = alone.clone();
            for members in &phases {
                let side = if members.len() == 1 { &mut alone } else { &mut together };
                for (member, reply) in members.iter().zip(self.phase(number, members)?) {
                    side[*member] = Some(reply);
                }
            }
            for (member, sides) in alone.iter().zip(&together).enumerate() {
                let (Some(alone), Some(together)) = sides else { continue };
                limited[member] += usize::from(together.is_limited_by_processor);
                let (alone, together) = (alone.figures, together.figures);
                pairs[member].push(PhasePair { alone, together });
            }
        }
        Ok(pairs)
    }

    /// Runs one phase of the load `number` on `members` at the same time.
    fn phase(&mut self, number: usize, members: &[usize]) -> Result<Vec<Reply>, Failure> {
        let kind = if members.len() == 1 { ALONE } else { TOGETHER };
        for member in members {
            self.processes[*member].ask(&format!("{number} {kind}"));
        }
        members.iter().map(|member| self.answer(*member, PHASE_LIMIT)).collect()
    }

    /// Waits for the next line of process `number`, `limit` at most.
    fn answer<T: DeserializeOwned>(
        &mut self,
        number: usize,
        limit: Duration,
    ) -> Result<T, Failure> {
        let title = self.titles[number];
        let failed = |kind, what: &str| {
            let hint = "no run has begun; the messages above state why";
            Failure::new(kind, format!("the check for interference {what} on {title}"), hint)
        };
        let began = Instant::now();
        loop {
            if let Some(line) = self.processes[number].answer() {
                return serde_json::from_str(&line)
                    .map_err(|_| failed(FailureKind::Failed, "got an answer of another form"));
            }
            self.print_messages();
            if self.signals.count() > 0 {
                let hint = "no run has begun; start it again";
                return Err(Failure::new(FailureKind::Interrupted, "interrupted", hint));
            }
            let process = &mut self.processes[number];
            if process.has_ended() {
                let kind = process.failure().unwrap_or(FailureKind::Failed);
                self.print_messages();
                return Err(failed(kind, "ended early"));
            }
            if began.elapsed() > limit {
                return Err(failed(FailureKind::Failed, "got no answer in time"));
            }
        }
    }

    /// Lets the processes end, and waits for it: a run needs the drive for its own process.
    fn dismiss(&mut self) {
        self.processes.iter_mut().for_each(Process::dismiss);
        let began = Instant::now();
        for process in &mut self.processes {
            while !process.has_ended() && began.elapsed() < PHASE_LIMIT {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }

    fn print_messages(&self) {
        for (process, title) in self.processes.iter().zip(self.titles) {
            for line in process.lines() {
                terminal::print_message(&format!("{title}: {line}"));
            }
        }
    }
}

/// Judges the pairs of each load and target.
fn judge(
    targets: &[String],
    titles: &[&str],
    ready: &[Ready],
    pairs: &[Vec<Vec<PhasePair>>],
    limited: &[usize],
) -> Checked {
    let comparisons: usize = pairs.iter().flatten().map(|pairs| interference::count(pairs)).sum();
    let drive = |(number, ready): (usize, &Ready)| {
        let load = |(load, pairs): (usize, &Vec<Vec<PhasePair>>)| CheckedLoad {
            title: ready.loads[load].title.clone(),
            workload: ready.loads[load].workload.clone(),
            changes: interference::changes(&pairs[number], comparisons),
        };
        let loads: Vec<CheckedLoad> = pairs.iter().enumerate().map(load).collect();
        let changes: Vec<Change> = loads.iter().flat_map(|load| load.changes.clone()).collect();
        CheckedDrive {
            title: titles[number].to_owned(),
            target: ready.target.clone(),
            is_model: ready.is_model,
            disturbance: interference::verdict(&changes),
            loads,
            limited_by_processor: limited[number],
        }
    };
    let drives: Vec<CheckedDrive> = ready.iter().enumerate().map(drive).collect();
    let of_first = ready[0].loads.first();
    let conditions = of_first.map_or((0, 0.0), |load| (load.pairs, load.phase_s));
    let mut checked =
        Checked { findings: Vec::new(), drives, conditions, shared: shared(targets, titles) };
    checked.findings = (0..targets.len()).map(|number| checked.finding(number)).collect();
    checked
}

/// Returns what each two targets have in common, as far as the kernel shows it.
fn shared(targets: &[String], titles: &[&str]) -> Vec<String> {
    let kernel = Kernel::look();
    let mut all = Vec::new();
    for (number, target) in targets.iter().enumerate() {
        for (other, second) in targets.iter().enumerate().skip(number + 1) {
            let place = |target: &str| {
                let path = Path::new(target).to_owned();
                // A new file has the folder in which it will be.
                if path.exists() { path } else { path.parent().unwrap_or(&path).to_owned() }
            };
            let names = format!("{} and {}", titles[number], titles[other]);
            match shared_part(&kernel, &place(target), &place(second)) {
                Some(SharedPart::Device(name)) => {
                    all.push(format!("{names} are both on the device {name}"));
                }
                Some(SharedPart::Pci(address)) => {
                    all.push(format!("{names} are both behind the PCI device {address}"));
                }
                None => {}
            }
        }
    }
    all
}
