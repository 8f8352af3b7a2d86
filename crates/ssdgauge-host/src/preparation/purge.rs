//! Purge: the ways of making a drive as if fresh, from the best down, each with a proof.
//!
//! SNIA PTS demands a purge before each test, and that a purge that is not possible is told. What
//! reaches more than the drive that was confirmed is never sent, and what is dear to take back
//! (sanitize, ATA secure erase) only where it was asked for by name.

use super::format::{self, Erase, Look};
use super::probe::Probe;
use super::trim::{discard, gone};
use super::{Failed, GLANCE, PurgeTarget, ata_erase, await_answer, sanitize};
use ssdgauge_core::{
    Bytes, Finding, FindingKind, Nanos, Prepared, PurgeMethod, RigError, Severity, Sink,
};
use ssdgauge_drive::pass_through::NvmeCommand;
use ssdgauge_drive::query;
use ssdgauge_drive::state::SanitizeState;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a drive that works by itself is asked.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// A format whose progress stands still for this long is given up.
const STANDSTILL: Duration = sanitize::STANDSTILL;

/// Makes the drive as if fresh: by `method`, or in the best way that it has.
pub(crate) fn purge(
    target: &PurgeTarget,
    method: Option<PurgeMethod>,
    sink: &mut dyn Sink,
) -> Result<Prepared, RigError> {
    let since = Instant::now();
    let mut written = Bytes(0);
    let mut reasons = Vec::new();
    let mut done = None;
    let mut stopped = false;
    let unfinished = match await_unfinished(target, sink) {
        Ok(()) => rungs(target, method),
        Err(failed) => {
            let way = PurgeStep::Unfinished;
            handle(Err(failed), way, &mut reasons, &mut stopped)
                .map_err(|()| gone(target, sink))?;
            Vec::new()
        }
    };
    for way in unfinished {
        let result = take(target, way, &mut written, sink);
        let worked = handle(result, way, &mut reasons, &mut stopped);
        if worked.map_err(|()| gone(target, sink))? {
            done = Some(way.words());
        }
        if done.is_some() || stopped {
            break;
        }
    }
    if let (Some(method), None, false) = (method, done, stopped) {
        return Err(RigError::CannotPurge {
            drive: target.place.name(),
            method: method.name().into(),
            reason: reasons.join("; "),
        });
    }
    tell(target, done, stopped, &reasons, sink);
    let method = done.unwrap_or("none").to_owned();
    let elapsed = Nanos(since.elapsed().as_nanos() as u64);
    Ok(Prepared { method, written, elapsed, stopped })
}

/// One way of purging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PurgeStep {
    Format(Erase),
    Sanitize(PurgeMethod),
    SecureErase,
    Discard,
    /// No way of ours: what the drive was found doing.
    Unfinished,
}

impl PurgeStep {
    fn words(self) -> &'static str {
        match self {
            PurgeStep::Format(erase) => erase.words(),
            PurgeStep::Sanitize(method) => method.name(),
            PurgeStep::SecureErase => "ATA security erase",
            PurgeStep::Discard => "discard of the whole drive, read back as forgotten",
            PurgeStep::Unfinished => "an earlier purge",
        }
    }
}

/// Returns the ways to try, the best first.
fn rungs(target: &PurgeTarget, method: Option<PurgeMethod>) -> Vec<PurgeStep> {
    let formats = [PurgeStep::Format(Erase::UserData), PurgeStep::Format(Erase::Cryptographic)];
    match method {
        None if target.place.namespace().is_some() => {
            formats.into_iter().chain([PurgeStep::Discard]).collect()
        }
        None | Some(PurgeMethod::Discard) => vec![PurgeStep::Discard],
        Some(PurgeMethod::Format) => formats.into(),
        Some(PurgeMethod::SecureErase) => vec![PurgeStep::SecureErase],
        Some(
            way @ (PurgeMethod::SanitizeBlock
            | PurgeMethod::SanitizeCrypto
            | PurgeMethod::SanitizeOverwrite),
        ) => vec![PurgeStep::Sanitize(way)],
    }
}

/// Returns whether it worked; `Err` where the drive is gone.
fn handle(
    result: Result<(), Failed>,
    way: PurgeStep,
    reasons: &mut Vec<String>,
    stopped: &mut bool,
) -> Result<bool, ()> {
    match result {
        Ok(()) => return Ok(true),
        Err(Failed::Gone) => return Err(()),
        Err(Failed::Stopped | Failed::NotRecorded) => *stopped = true,
        Err(Failed::Impossible(reason) | Failed::InVain(reason)) => {
            reasons.push(format!("{}: {reason}", way.words()));
        }
    }
    Ok(false)
}

fn take(
    target: &PurgeTarget,
    way: PurgeStep,
    written: &mut Bytes,
    sink: &mut dyn Sink,
) -> Result<(), Failed> {
    match way {
        PurgeStep::Discard => discard(target, Bytes(0), target.whole(), written, sink),
        PurgeStep::Format(erase) => {
            let look = look(target)?;
            impossible(look.obstacle(erase))?;
            let command = format::command(&look, erase);
            proven(target, way, written, sink, |sink| told(target, command, sink))
        }
        PurgeStep::Sanitize(method) => {
            let look = look(target)?;
            impossible(sanitize::obstacle(&look.controller, method))?;
            impossible(look.neighbours(true))?;
            proven(target, way, written, sink, |sink| {
                told(target, sanitize::command(method), sink)?;
                watch_sanitize(target, sink)
            })
        }
        PurgeStep::SecureErase => {
            let identity = match target.place.is_scsi() {
                true => query::ata_identity(target.pass_through.as_ref())?,
                false => return Err(Failed::Impossible("this is no ATA drive".into())),
            };
            impossible(ata_erase::obstacle(&identity))?;
            let timeout = ata_erase::timeout(&identity);
            proven(target, way, written, sink, |sink| {
                let pass_through = Arc::clone(&target.pass_through);
                await_answer(sink, move || ata_erase::erase(pass_through.as_ref(), timeout))?
            })
        }
        PurgeStep::Unfinished => Ok(()),
    }
}

fn impossible(reason: Option<String>) -> Result<(), Failed> {
    reason.map_or(Ok(()), |reason| Err(Failed::Impossible(reason)))
}

fn look(target: &PurgeTarget) -> Result<Look, Failed> {
    let number = target.place.namespace();
    let number = number.ok_or_else(|| Failed::Impossible("this is no NVMe drive".into()))?;
    // Nothing was sent but questions.
    Look::at(target.pass_through.as_ref(), number).map_err(|reason| match Failed::from(reason) {
        Failed::InVain(reason) => Failed::Impossible(reason),
        other => other,
    })
}

fn told(target: &PurgeTarget, command: NvmeCommand, sink: &mut dyn Sink) -> Result<(), Failed> {
    let pass_through = Arc::clone(&target.pass_through);
    let answer = await_answer(sink, move || pass_through.nvme(&command, &mut []))?;
    match answer {
        Ok(_) => Ok(()),
        Err(_) if target.is_gone() => Err(Failed::Gone),
        Err(refusal) => Err(refusal.into()),
    }
}

/// Leaves data, records durably what is about to be sent, sends it, and looks for the data.
fn proven(
    target: &PurgeTarget,
    way: PurgeStep,
    written: &mut Bytes,
    sink: &mut dyn Sink,
    send: impl FnOnce(&mut dyn Sink) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let failed = |error: std::io::Error| match target.is_gone() {
        true => Failed::Gone,
        false => Failed::InVain(error.to_string()),
    };
    let probe = Probe::plant(target, Bytes(0), target.whole()).map_err(failed)?;
    *written += probe.written();
    let password = match way {
        PurgeStep::SecureErase => {
            format!("; until it ends the drive has the password '{}'", ata_erase::PASSWORD)
        }
        PurgeStep::Format(_)
        | PurgeStep::Sanitize(_)
        | PurgeStep::Discard
        | PurgeStep::Unfinished => String::new(),
    };
    let recorded = sink.announce(Finding::new(
        FindingKind::PurgeStarted,
        Severity::Note,
        format!("{} was sent to {}{password}", way.words(), target.place.name()),
        "",
    ));
    if !recorded {
        return Err(Failed::NotRecorded);
    }
    send(sink)?;
    let (left, places) = probe.look(target).map_err(failed)?;
    match left {
        0 => Ok(()),
        _ => Err(Failed::InVain(format!(
            "the drive says that it is done, and {left} of {places} blocks still hold their data"
        ))),
    }
}

/// Waits for a purge that the drive was found at: one of a run that was cut off.
fn await_unfinished(target: &PurgeTarget, sink: &mut dyn Sink) -> Result<(), Failed> {
    let Some(number) = target.place.namespace() else { return Ok(()) };
    let pass_through = target.pass_through.as_ref();
    let runs = |state| state == SanitizeState::Running;
    let sanitizes = query::sanitize_log(pass_through).is_ok_and(|log| runs(log.state));
    let left = || {
        let namespace = query::namespace(pass_through, number).ok();
        namespace.and_then(|namespace| namespace.format_left_percent).unwrap_or(0)
    };
    let formats = left() > 0;
    if !sanitizes && !formats {
        return Ok(());
    }
    sink.finding(Finding::new(
        FindingKind::PurgeStarted,
        Severity::Note,
        "the drive was found at a purge that was begun before, which is awaited first",
        "",
    ));
    if sanitizes {
        return watch_sanitize(target, sink);
    }
    let begin = Instant::now();
    let (mut last, mut moved) = (left(), begin);
    while last > 0 {
        pause(begin, sink).ok_or(Failed::Stopped)?;
        let now = left();
        if now != last {
            (last, moved) = (now, Instant::now());
        } else if moved.elapsed() > STANDSTILL {
            return Err(Failed::InVain(format!("its format has stood with {now} % left")));
        }
    }
    Ok(())
}

fn watch_sanitize(target: &PurgeTarget, sink: &mut dyn Sink) -> Result<(), Failed> {
    let begin = Instant::now();
    let mut ask = || query::sanitize_log(target.pass_through.as_ref());
    sanitize::watch(&mut ask, &mut || pause(begin, sink))
}

/// Waits a second and returns the time since `begin`; `None` where the run shall stop.
fn pause(begin: Instant, sink: &mut dyn Sink) -> Option<Duration> {
    let until = Instant::now() + ASK_EVERY;
    while Instant::now() < until {
        if sink.stop() {
            return None;
        }
        std::thread::sleep(GLANCE);
    }
    Some(begin.elapsed())
}

/// Says what was not possible, and what of the drive stays unused.
fn tell(
    target: &PurgeTarget,
    done: Option<&str>,
    stopped: bool,
    reasons: &[String],
    sink: &mut dyn Sink,
) {
    let (used, whole) = (target.used, target.whole());
    if let (Some(way), false) = (done, reasons.is_empty()) {
        sink.finding(Finding::new(
            FindingKind::LesserPurge,
            Severity::Note,
            format!("the drive was purged by {way}, because of {}", reasons.join("; ")),
            "name the way of the purge with every result; --purge demands a certain one",
        ));
    }
    match done {
        Some(_) if used.0 > 0 && used < whole => sink.finding(Finding::new(
            FindingKind::LeftUnused,
            Severity::Note,
            format!(
                "{} of {} stay unused after the purge: {:.1} % more spare area than the drive has \
                 of its own",
                Bytes(whole.0 - used.0).about(),
                whole.about(),
                (whole.0 as f64 / used.0 as f64 - 1.0) * 100.0
            ),
            "name the unused part with every result, or test the whole drive",
        )),
        Some(_) => {}
        None if stopped => {}
        None => sink.finding(Finding::new(
            FindingKind::PurgeNotPossible,
            Severity::Warning,
            format!("the drive was not made fresh: {}", reasons.join("; ")),
            "results depend on what was written before; name another way with --purge",
        )),
    }
}

#[cfg(test)]
mod tests;
