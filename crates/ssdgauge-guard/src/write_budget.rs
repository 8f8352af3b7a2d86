//! Write budget: the checks before each step that writes, and the limit of the bytes of a run.
//!
//! A step begins only if the drive is still the admitted one, returned the ownership label as it
//! was written, and has budget left. A run that writes more than planned is stopped: a fault in the
//! program must not wear out the drive.

use crate::admission::Admitted;
use crate::signatures;
use crate::target::OpenTarget;
use ssdgauge_core::{
    Bytes, Direction, Finding, FindingKind, Interval, Nanos, Reading, RigError, Severity, Sink,
    Until, Workload,
};
use ssdgauge_os::memory::Region;
use ssdgauge_os::thread::within;
use std::fs::File;
use std::io;
use std::time::Duration;

/// The share by which a run may exceed its plan: writes are counted once a second, and the last
/// block of a span is rounded up.
const TOLERANCE: f64 = 1.05;
/// The bytes by which any step may exceed its plan: 5 % of a small byte limit is less than a
/// single block.
const TOLERANCE_BYTES: u64 = 1 << 20;
/// The time after which a drive that does not complete the label counts as hung; that of any other
/// request (see the watchdog of the engine).
const LABEL_TIMEOUT: Duration = Duration::from_secs(30);
/// The same at the end of a run, which must not keep a user waiting who has stopped it.
const FINAL_LABEL_TIMEOUT: Duration = Duration::from_secs(4);

/// The bytes that a run may write to its drive, and those that it wrote.
#[derive(Debug, Default)]
pub struct WriteBudget {
    /// The most bytes that the whole run may write, where its plan states them.
    limit: Option<Bytes>,
    written: u64,
    /// The ownership label was written and read back.
    labelled: bool,
    /// A step failed: nothing more is written to the drive.
    failed: bool,
}

/// The bytes that one step wrote, and the most that it may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepBytes {
    written: u64,
    most: u64,
}

impl StepBytes {
    /// Returns the bytes that the step wrote.
    pub fn written(&self) -> u64 {
        self.written
    }
}

impl WriteBudget {
    /// Returns the budget of a run that may write `limit` bytes; `None` for no limit.
    pub fn new(limit: Option<Bytes>) -> WriteBudget {
        WriteBudget { limit, ..WriteBudget::default() }
    }

    /// Checks immediately before a step on `target` that writes `planned` bytes whether it may
    /// begin. The first write of a run is the ownership label, which has to be read back.
    ///
    /// # Errors
    /// The drive changed or is in use, the budget does not cover the step, or the label was not
    /// read back as written.
    pub fn before_writing(
        &mut self,
        target: &OpenTarget,
        planned: Option<Bytes>,
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        let OpenTarget::Drive(drive) = target else { return Ok(()) };
        if let Err(refusal) = drive.check_again() {
            self.failed = true;
            sink.finding(Finding::new(
                FindingKind::DriveChanged,
                Severity::Invalid,
                format!("the run was stopped before a step that writes: {refusal}"),
                "find the program that uses the drive or changed it before you write to it again",
            ));
            return Err(RigError::Changed(refusal.to_string()));
        }
        let most = self.limit.map_or(u64::MAX, with_tolerance);
        let planned = planned.unwrap_or_default();
        if self.written.saturating_add(planned.0) > most {
            let written = self.written.saturating_add(planned.0);
            return Err(self.over_budget(drive.name(), StepBytes { written, most }, sink));
        }
        if !self.labelled {
            self.write_label(drive, sink)?;
            self.labelled = true;
        }
        Ok(())
    }

    /// Returns a sink that forwards to `sink`, counts the bytes written, and requests a stop of the
    /// step once they exceed the limit of `workload`, in whole requests, or the plan of the run.
    pub fn count_writes<'a>(
        &self,
        workload: &Workload,
        until: &Until,
        sink: &'a mut dyn Sink,
    ) -> CountingSink<'a> {
        let limit = until.bytes.map(|bytes| workload.whole_requests(bytes));
        let step = limit.map_or(u64::MAX, with_tolerance);
        let run = self.limit.map_or(u64::MAX, with_tolerance).saturating_sub(self.written);
        CountingSink { sink, bytes: StepBytes { written: 0, most: step.min(run) } }
    }

    /// Adds the bytes of a step on the drive called `drive`.
    ///
    /// # Errors
    /// The step wrote more than it was allowed to.
    pub fn after_writing(
        &mut self,
        drive: &str,
        bytes: StepBytes,
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        self.written = self.written.saturating_add(bytes.written);
        match bytes.written > bytes.most {
            true => Err(self.over_budget(drive, bytes, sink)),
            false => Ok(()),
        }
    }

    /// Adds `written` bytes of an operation without intervals on the drive called `drive`.
    ///
    /// # Errors
    /// The run wrote more than its plan.
    pub fn after_blocks(
        &mut self,
        drive: &str,
        written: Bytes,
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        let most = self.limit.map_or(u64::MAX, with_tolerance).saturating_sub(self.written);
        self.after_writing(drive, StepBytes { written: written.0, most }, sink)
    }

    /// Records that a step failed: the state of the drive is unknown, and not even the ownership
    /// label is written to it again.
    pub fn record_failure(&mut self) {
        self.failed = true;
    }

    fn over_budget(&mut self, drive: &str, bytes: StepBytes, sink: &mut dyn Sink) -> RigError {
        self.failed = true;
        let StepBytes { written, most } = bytes;
        sink.finding(Finding::new(
            FindingKind::OverBudget,
            Severity::Invalid,
            format!(
                "the run was stopped: {} written, where the plan allows {}",
                Bytes(written).about_and_exact(),
                Bytes(most).about_and_exact()
            ),
            "this is a fault of ssdgauge: please report it with the run file",
        ));
        RigError::OverBudget { drive: drive.into(), written: Bytes(written), most: Bytes(most) }
    }

    /// Writes the ownership label as the first block and compares it with what the drive returns:
    /// a drive, or a layer above it, that drops writes is found before anything is measured.
    fn write_label(&mut self, drive: &Admitted, sink: &mut dyn Sink) -> Result<(), RigError> {
        let block = drive.label().to_vec();
        let result = within(LABEL_TIMEOUT, drive.file(), move |file| {
            write_block(file, &block)?;
            Ok(read_block(file)? == block)
        });
        let what = match result {
            Some(Ok(true)) => return Ok(()),
            Some(Ok(false)) => "the first block was not read back as it was written".to_owned(),
            Some(Err(error)) => format!("the first block could not be written and read: {error}"),
            None => {
                self.failed = true;
                let silence = Nanos::from_secs(LABEL_TIMEOUT.as_secs());
                return Err(RigError::Hung { drive: drive.name().into(), silence });
            }
        };
        self.failed = true;
        sink.finding(Finding::new(
            FindingKind::NotKept,
            Severity::Invalid,
            what.clone(),
            "the drive, or a layer above it, does not store written data: stop testing it",
        ));
        Err(RigError::NotKept { drive: drive.name().into(), what })
    }

    /// Writes the ownership label at the end of a run, where the drive is still the admitted one
    /// and no step failed: the workload overwrote it, and the next run needs no `--erase` if it is
    /// there.
    pub fn write_final_label(&mut self, target: &OpenTarget) {
        let OpenTarget::Drive(drive) = target else { return };
        if self.labelled && !self.failed && drive.check_again().is_ok() {
            let block = drive.label().to_vec();
            // If this fails, the next run requires `--erase` once more; nothing else depends on it.
            let _ =
                within(FINAL_LABEL_TIMEOUT, drive.file(), move |file| write_block(file, &block));
        }
    }
}

/// Returns `planned` bytes plus 5 % plus 1 MiB.
fn with_tolerance(planned: Bytes) -> u64 {
    ((planned.0 as f64 * TOLERANCE) as u64).saturating_add(TOLERANCE_BYTES)
}

fn write_block(file: &File, block: &[u8]) -> io::Result<()> {
    assert_eq!(block.len(), signatures::LABEL_LENGTH, "only the ownership label is written here");
    let mut region = Region::new(block.len())?;
    let words = region.words_mut().iter_mut();
    for (word, bytes) in words.zip(block.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().expect("chunks of eight"));
    }
    match ssdgauge_os::file_io::write_at(file, region.at(0), block.len(), 0)? {
        n if n == block.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

fn read_block(file: &File) -> io::Result<Vec<u8>> {
    let mut region = Region::new(signatures::LABEL_LENGTH)?;
    let n = ssdgauge_os::file_io::read_at(file, region.at(0), signatures::LABEL_LENGTH, 0)?;
    Ok(region.bytes()[..n.min(signatures::LABEL_LENGTH)].to_vec())
}

/// A sink that counts the bytes written and forwards everything.
pub struct CountingSink<'a> {
    sink: &'a mut dyn Sink,
    bytes: StepBytes,
}

impl CountingSink<'_> {
    /// Returns the bytes of the step so far.
    pub fn bytes(&self) -> StepBytes {
        self.bytes
    }
}

impl Sink for CountingSink<'_> {
    fn interval(&mut self, interval: &Interval) {
        if interval.direction == Direction::Write {
            self.bytes.written = self.bytes.written.saturating_add(interval.bytes);
        }
        self.sink.interval(interval);
    }

    fn reading(&mut self, reading: &Reading) {
        self.sink.reading(reading);
    }

    fn finding(&mut self, finding: Finding) {
        self.sink.finding(finding);
    }

    fn announce(&mut self, finding: Finding) -> bool {
        self.sink.announce(finding)
    }

    fn stop(&mut self) -> bool {
        self.bytes.written > self.bytes.most || self.sink.stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counting_sink_forwards_every_call() {
        ssdgauge_core::check_forwarding(|inner, check| {
            let budget = WriteBudget::new(None);
            let until = Until { time: None, bytes: None };
            check(&mut budget.count_writes(Workload::no_load(), &until, inner));
        });
    }
}
