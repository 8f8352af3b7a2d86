//! Purge: brings a drive into the state of an unwritten one, by the best method that it supports,
//! and verifies the effect.
//!
//! SNIA PTS requires a purge before each test, and a note where it is not possible. Commands that
//! reach more than the confirmed drive are never sent. Those that leave it unusable when they are
//! interrupted (sanitize, ATA security erase) are sent only where they are requested by name.

use super::format::{self, Erase, Namespaces};
use super::probe::Probe;
use super::trim::{discard, report_gone};
use super::{PreparationError, PurgeTarget, STOP_CHECK, ata_erase, run_interruptibly, sanitize};
use ssdgauge_core::{
    Bytes, Finding, FindingKind, Nanos, Prepared, PurgeMethod, RigError, Severity, Sink,
};
use ssdgauge_drive::pass_through::NvmeCommand;
use ssdgauge_drive::query;
use ssdgauge_drive::state::SanitizeState;
use ssdgauge_engine::RequestError;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The period of the queries for the progress of a purge.
const PROGRESS_PERIOD: Duration = Duration::from_secs(1);

/// Purges the drive: by `method`, or by the best that it supports.
///
/// # Errors
/// The drive was removed, or `method` is not possible on it.
pub(crate) fn purge(
    target: &PurgeTarget,
    method: Option<PurgeMethod>,
    sink: &mut dyn Sink,
) -> Result<Prepared, RigError> {
    let since = Instant::now();
    let mut written = Bytes(0);
    let mut outcome = PurgeOutcome::default();
    // A drive that still works on an earlier purge refuses every other command.
    let unfinished = await_unfinished(target, sink);
    outcome.record(PurgeStep::Unfinished, unfinished).map_err(|Gone| report_gone(target, sink))?;
    if outcome.is_idle {
        for step in steps(target, method) {
            let result = attempt(target, step, &mut written, sink);
            let recorded = outcome.record(step, result);
            recorded.map_err(|Gone| report_gone(target, sink))?;
            if outcome.done.is_some() || outcome.stopped {
                break;
            }
        }
    }
    if let (Some(method), None, false) = (method, outcome.done, outcome.stopped) {
        return Err(RigError::CannotPurge {
            drive: target.device.name(),
            method: method.name().into(),
            reason: outcome.reasons.join("; "),
        });
    }
    outcome.report(target, sink);
    let elapsed = Nanos(since.elapsed().as_nanos() as u64);
    let method = outcome.done.unwrap_or("none").to_owned();
    Ok(Prepared { method, written, elapsed, stopped: outcome.stopped })
}

/// One step of a purge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PurgeStep {
    Format(Erase),
    Sanitize(PurgeMethod),
    SecureErase,
    Discard,
    /// The wait for a purge that the drive was already executing.
    Unfinished,
}

impl PurgeStep {
    /// Returns the name for run file and report.
    fn name(self) -> &'static str {
        match self {
            PurgeStep::Format(erase) => erase.name(),
            PurgeStep::Sanitize(method) => method.name(),
            PurgeStep::SecureErase => "ATA security erase",
            PurgeStep::Discard => "discard of the whole drive, verified by reading back",
            PurgeStep::Unfinished => "an earlier purge",
        }
    }
}

/// The drive was removed.
struct Gone;

/// The results of the steps so far.
#[derive(Default)]
struct PurgeOutcome {
    /// The step that purged the drive.
    done: Option<&'static str>,
    /// Whether the run has to stop.
    stopped: bool,
    /// Whether the drive is not executing an earlier purge.
    is_idle: bool,
    /// The reasons why other steps did not succeed.
    reasons: Vec<String>,
}

impl PurgeOutcome {
    /// Records the result of `step`.
    fn record(
        &mut self,
        step: PurgeStep,
        result: Result<(), PreparationError>,
    ) -> Result<(), Gone> {
        match result {
            Ok(()) if step == PurgeStep::Unfinished => self.is_idle = true,
            Ok(()) => self.done = Some(step.name()),
            Err(PreparationError::Gone) => return Err(Gone),
            Err(PreparationError::Stopped | PreparationError::NotRecorded) => self.stopped = true,
            Err(PreparationError::NotPossible(reason) | PreparationError::Ineffective(reason)) => {
                self.reasons.push(format!("{}: {reason}", step.name()))
            }
        }
        Ok(())
    }

    /// Records findings: which methods were not possible, and which part of the drive stays unused.
    fn report(&self, target: &PurgeTarget, sink: &mut dyn Sink) {
        let (used, whole) = (target.used, target.whole());
        let reasons = self.reasons.join("; ");
        if let (Some(done), false) = (self.done, reasons.is_empty()) {
            sink.finding(Finding::new(
                FindingKind::LesserPurge,
                Severity::Note,
                format!("the drive was purged by {done}, because of {reasons}"),
                "state the purge method with every result; --purge requests a certain one",
            ));
        }
        match self.done {
            Some(_) if used.0 > 0 && used < whole => sink.finding(Finding::new(
                FindingKind::LeftUnused,
                Severity::Note,
                format!(
                    "{} of {} stay unused after the purge: {:.1} % of spare area in addition to \
                     that of the drive",
                    Bytes(whole.0 - used.0).about(),
                    whole.about(),
                    (whole.0 as f64 / used.0 as f64 - 1.0) * 100.0
                ),
                "state the unused part with every result, or test the whole drive",
            )),
            Some(_) => {}
            None if self.stopped => {}
            None => sink.finding(Finding::new(
                FindingKind::PurgeNotPossible,
                Severity::Warning,
                format!("the drive was not purged: {reasons}"),
                "results depend on earlier writes; request another method with --purge",
            )),
        }
    }
}

/// Returns the steps to attempt, the best first. A format resets the mapping table and the spare
/// area completely; a discard leaves that to the drive.
fn steps(target: &PurgeTarget, method: Option<PurgeMethod>) -> Vec<PurgeStep> {
    let formats = [PurgeStep::Format(Erase::UserData), PurgeStep::Format(Erase::Cryptographic)];
    match method {
        None if target.device.namespace().is_some() => {
            formats.into_iter().chain([PurgeStep::Discard]).collect()
        }
        None | Some(PurgeMethod::Discard) => vec![PurgeStep::Discard],
        Some(PurgeMethod::Format) => formats.into(),
        Some(PurgeMethod::SecureErase) => vec![PurgeStep::SecureErase],
        Some(
            method @ (PurgeMethod::SanitizeBlock
            | PurgeMethod::SanitizeCrypto
            | PurgeMethod::SanitizeOverwrite),
        ) => vec![PurgeStep::Sanitize(method)],
    }
}

/// Carries out one step. Every condition is checked before anything is sent.
fn attempt(
    target: &PurgeTarget,
    step: PurgeStep,
    written: &mut Bytes,
    sink: &mut dyn Sink,
) -> Result<(), PreparationError> {
    match step {
        PurgeStep::Discard => {
            // The time of a purge includes that of its check.
            let mut elapsed = Nanos::ZERO;
            discard(target, Bytes(0), target.whole(), written, &mut elapsed, sink)
        }
        PurgeStep::Format(erase) => {
            let namespaces = query_namespaces(target)?;
            refuse(namespaces.obstacle(erase))?;
            let command = format::command(&namespaces, erase);
            send_verified(target, step, written, sink, |sink| send(target, command, sink))
        }
        PurgeStep::Sanitize(method) => {
            let namespaces = query_namespaces(target)?;
            refuse(sanitize::obstacle(&namespaces.controller, method))?;
            // A sanitize always reaches every namespace of the drive.
            refuse(namespaces.reaches_others(true))?;
            send_verified(target, step, written, sink, |sink| {
                send(target, sanitize::command(method), sink)?;
                await_sanitize(target, sink)
            })
        }
        PurgeStep::SecureErase => {
            let identity = match target.device.is_scsi() {
                true => query::ata_identity(target.pass_through.as_ref())?,
                false => {
                    return Err(PreparationError::NotPossible("this is not an ATA drive".into()));
                }
            };
            refuse(ata_erase::obstacle(&identity))?;
            let timeout = ata_erase::timeout(&identity);
            send_verified(target, step, written, sink, |sink| {
                let pass_through = Arc::clone(&target.pass_through);
                run_interruptibly(sink, move || ata_erase::erase(pass_through.as_ref(), timeout))?
            })
        }
        PurgeStep::Unfinished => Ok(()),
    }
}

fn refuse(reason: Option<String>) -> Result<(), PreparationError> {
    reason.map_or(Ok(()), |reason| Err(PreparationError::NotPossible(reason)))
}

fn query_namespaces(target: &PurgeTarget) -> Result<Namespaces, PreparationError> {
    let number = target.device.namespace();
    let number =
        number.ok_or_else(|| PreparationError::NotPossible("this is not an NVMe drive".into()))?;
    // Only queries were sent: a refusal means that the step is not possible.
    Namespaces::query(target.pass_through.as_ref(), number).map_err(|reason| {
        match PreparationError::from(reason) {
            PreparationError::Ineffective(reason) => PreparationError::NotPossible(reason),
            other => other,
        }
    })
}

fn send(
    target: &PurgeTarget,
    command: NvmeCommand,
    sink: &mut dyn Sink,
) -> Result<(), PreparationError> {
    let pass_through = Arc::clone(&target.pass_through);
    let result = run_interruptibly(sink, move || pass_through.nvme(&command, &mut []))?;
    match result {
        Ok(_) => Ok(()),
        Err(_) if target.is_removed() => Err(PreparationError::Gone),
        Err(refusal) => Err(refusal.into()),
    }
}

/// Writes the pattern, records durably what is about to be sent, sends it, and checks that the
/// pattern cannot be read back. The record comes first: after a power failure the run file has to
/// show why the drive is empty, or which password it has.
fn send_verified(
    target: &PurgeTarget,
    step: PurgeStep,
    written: &mut Bytes,
    sink: &mut dyn Sink,
    send: impl FnOnce(&mut dyn Sink) -> Result<(), PreparationError>,
) -> Result<(), PreparationError> {
    let request_error = |error: RequestError| target.request_error(&error);
    let probe = Probe::write(target, Bytes(0), target.whole()).map_err(request_error)?;
    *written += probe.written();
    let password = match step {
        PurgeStep::SecureErase => {
            format!("; until its end the drive has the password '{}'", ata_erase::PASSWORD)
        }
        PurgeStep::Format(_)
        | PurgeStep::Sanitize(_)
        | PurgeStep::Discard
        | PurgeStep::Unfinished => String::new(),
    };
    let recorded = sink.announce(Finding::new(
        FindingKind::PurgeStarted,
        Severity::Note,
        format!("{} was sent to {}{password}", step.name(), target.device.name()),
        "",
    ));
    if !recorded {
        return Err(PreparationError::NotRecorded);
    }
    send(sink)?;
    let (remaining, places) = probe.count_remaining(target).map_err(request_error)?;
    match remaining {
        0 => Ok(()),
        _ => Err(PreparationError::Ineffective(format!(
            "the drive reports success, but {remaining} of {places} blocks still hold their data"
        ))),
    }
}

/// Waits for a purge that the drive is already executing: that of a run that was interrupted.
fn await_unfinished(target: &PurgeTarget, sink: &mut dyn Sink) -> Result<(), PreparationError> {
    let Some(number) = target.device.namespace() else { return Ok(()) };
    let pass_through = target.pass_through.as_ref();
    let is_running = |state| state == SanitizeState::Running;
    let sanitizes = query::sanitize_log(pass_through).is_ok_and(|log| is_running(log.state));
    let format_left_percent = || {
        let namespace = query::namespace(pass_through, number).ok();
        namespace.and_then(|namespace| namespace.format_left_percent).unwrap_or(0)
    };
    let formats = format_left_percent() > 0;
    if !sanitizes && !formats {
        return Ok(());
    }
    sink.finding(Finding::new(
        FindingKind::PurgeStarted,
        Severity::Note,
        "the drive was already executing a purge, which is awaited first",
        "",
    ));
    if sanitizes {
        return await_sanitize(target, sink);
    }
    let begin = Instant::now();
    let (mut last, mut moved) = (format_left_percent(), begin);
    while last > 0 {
        wait(begin, sink).ok_or(PreparationError::Stopped)?;
        let now = format_left_percent();
        if now != last {
            (last, moved) = (now, Instant::now());
        } else if moved.elapsed() > sanitize::PROGRESS_TIMEOUT {
            let reason = format!("the format made no progress with {now} % left");
            return Err(PreparationError::Ineffective(reason));
        }
    }
    Ok(())
}

fn await_sanitize(target: &PurgeTarget, sink: &mut dyn Sink) -> Result<(), PreparationError> {
    let begin = Instant::now();
    let mut query = || query::sanitize_log(target.pass_through.as_ref());
    sanitize::await_end(&mut query, &mut || wait(begin, sink))
}

/// Waits for a second and returns the time since `begin`; `None` where the run has to stop.
fn wait(begin: Instant, sink: &mut dyn Sink) -> Option<Duration> {
    let until = Instant::now() + PROGRESS_PERIOD;
    while Instant::now() < until {
        if sink.stop() {
            return None;
        }
        std::thread::sleep(STOP_CHECK);
    }
    Some(begin.elapsed())
}

#[cfg(test)]
mod tests;
