//! Write budget: the checks before each step that writes, and the limit of the bytes of a run.
//!
//! A step begins only if the drive is still the admitted one, returned the ownership label as it
//! was written, and has budget left. A run that writes more than planned is stopped: a fault in the
//! program must not wear out the drive. So is one that reaches the limit of the user, of a scratch file
//! as well.

use crate::admission::Admitted;
use crate::signatures;
use crate::target::OpenTarget;
use ssdgauge_core::{
    Bytes, Finding, FindingKind, Interval, LogPage, Nanos, Reading, RigError, Severity, Sink,
    Stream, Until, Workload, WrittenBytes,
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
    /// The maximum number of bytes that the whole run may write, where its plan states them.
    limit: Option<Bytes>,
    /// The maximum number of bytes that the user allows, without a tolerance, and those that the run wrote before it
    /// was interrupted.
    allowed: Option<Bytes>,
    earlier: Bytes,
    written: u64,
    /// The ownership label was written and read back.
    labelled: bool,
    /// A step failed: nothing more is written to the drive.
    failed: bool,
}

/// The bytes that one step wrote, and the maximum that it may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepBytes {
    written: u64,
    /// By the plan.
    most: u64,
    /// By the user.
    allowed: u64,
    /// The step was stopped because its next second could exceed what the user allows.
    is_stopped: bool,
}

impl StepBytes {
    /// Returns the bytes that the step wrote.
    pub fn written(&self) -> u64 {
        self.written
    }
}

impl WriteBudget {
    /// Returns the budget of a run that may write `limit` bytes by its plan; `None` for no limit.
    pub fn new(limit: Option<Bytes>) -> WriteBudget {
        WriteBudget { limit, ..WriteBudget::default() }
    }

    /// Returns the same budget of a run whose user allows `allowed` bytes, of which it wrote `earlier`
    /// before it was interrupted; `None` for no limit.
    pub fn allowing(self, allowed: Option<Bytes>, earlier: Bytes) -> WriteBudget {
        WriteBudget { allowed, earlier, ..self }
    }

    /// Checks immediately before a step on `target` that writes `planned` bytes whether it may
    /// begin. The first write of a run is the ownership label, which has to be read back.
    ///
    /// # Errors
    /// The drive changed or is in use, the budget does not cover the step, or the label was not
    /// read back as written. Of a scratch file, only the limit of the user is checked.
    pub fn before_writing(
        &mut self,
        target: &OpenTarget,
        planned: Option<Bytes>,
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        let planned = planned.unwrap_or_default();
        let drive = match target {
            OpenTarget::Null => return Ok(()),
            OpenTarget::Scratch(_) => return self.check_allowed(SCRATCH, planned, sink),
            OpenTarget::Drive(drive) => drive,
        };
        // Before the label, which is a write itself.
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
        if self.written.saturating_add(planned.0) > most {
            let written = self.written.saturating_add(planned.0);
            return Err(self.over_budget(drive.name(), Bytes(written), Bytes(most), sink));
        }
        self.check_allowed(drive.name(), planned, sink)?;
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
        // Also what is left of the run: steps within their own tolerance must not exceed it together.
        let bytes = StepBytes { most: step.min(self.left()), ..self.step(0) };
        // A step with a limit of its own has been checked as a whole.
        let capped = self.limited(workload, until).bytes.filter(|_| limit.is_none());
        // Where neither the engine nor a limit of the step holds it below what the user allows.
        let looks_ahead = capped.is_none() && limit.is_none_or(|limit| limit.0 > bytes.allowed);
        CountingSink { sink, bytes, written: WrittenBytes::default(), looks_ahead, capped }
    }

    /// Returns `until` with the bytes that the user still allows, in whole requests, where `workload` writes with
    /// every request and has no limit of bytes: no request beyond them is sent then, at any rate. Of reads and
    /// writes in one load the engine limits only their sum.
    pub fn limited(&self, workload: &Workload, until: &Until) -> Until {
        let only_writes = |one: &Stream| one.writes() && !one.reads();
        if until.bytes.is_some() || !workload.streams.iter().all(only_writes) {
            return *until;
        }
        self.limited_in_sum(workload, until)
    }

    /// Returns `until` with the bytes that the user still allows as a limit of reads and writes in sum, for a
    /// program whose requests are not counted while it runs.
    pub fn limited_in_sum(&self, workload: &Workload, until: &Until) -> Until {
        let largest = workload.streams.iter().map(|one| one.block_size.0).max().unwrap_or(0);
        if self.allowed.is_none() || largest == 0 || !workload.writes() {
            return *until;
        }
        let allowed = self.step(0).allowed;
        let whole = match workload.has_sizes() {
            // The request that reaches the limit is sent in full.
            true => allowed.saturating_sub(largest),
            false => allowed / largest * largest,
        };
        Until {
            bytes: Some(until.bytes.map_or(Bytes(whole), |own| own.min(Bytes(whole)))),
            ..*until
        }
    }

    /// Adds the `written` bytes of another program that ran `workload` on the drive called `drive`, limited by
    /// [`WriteBudget::limited_in_sum`] of `until`.
    ///
    /// # Errors
    /// It wrote more than it was allowed to, or reached the byte limit that the user set.
    pub fn after_lending(
        &mut self,
        drive: &str,
        (workload, until): (&Workload, &Until),
        written: Bytes,
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        let limited = self.limited_in_sum(workload, until).bytes;
        let is_of_user = limited.is_some() && limited != until.bytes;
        let is_stopped = is_of_user && limited.is_some_and(|limit| written >= limit);
        self.after_writing(drive, StepBytes { is_stopped, ..self.step(written.0) }, sink)
    }

    /// Returns a step that has written `written` bytes and may write what is left.
    fn step(&self, written: u64) -> StepBytes {
        let so_far = self.earlier.0.saturating_add(self.written);
        let allowed = self.allowed.map_or(u64::MAX, |bytes| bytes.0.saturating_sub(so_far));
        StepBytes { written, most: self.left(), allowed, is_stopped: false }
    }

    /// Returns the bytes that the plan leaves to write.
    fn left(&self) -> u64 {
        self.limit.map_or(u64::MAX, with_tolerance).saturating_sub(self.written)
    }

    /// Checks whether the user allows `planned` more bytes on the drive called `drive`, and at least one.
    fn check_allowed(
        &self,
        drive: &str,
        planned: Bytes,
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        let written = self.earlier + Bytes(self.written);
        match self.allowed {
            // At least one byte: a step of unknown length would begin, write for a second and be stopped.
            Some(allowed) if written.0.saturating_add(planned.0.max(1)) > allowed.0 => {
                Err(RigError::over_limit(drive, written, allowed, sink))
            }
            Some(_) | None => Ok(()),
        }
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
        let StepBytes { written, most, allowed, is_stopped } = bytes;
        // Before any error: the bytes are on the drive.
        self.written = self.written.saturating_add(written);
        if written > most {
            return Err(self.over_budget(drive, Bytes(written), Bytes(most), sink));
        }
        match self.allowed.filter(|_| is_stopped || written > allowed) {
            Some(allowed) => {
                let written = self.earlier + Bytes(self.written);
                Err(RigError::over_limit(drive, written, allowed, sink))
            }
            None => Ok(()),
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
        self.after_writing(drive, self.step(written.0), sink)
    }

    /// Records that a step failed: the state of the drive is unknown, and not even the ownership
    /// label is written to it again.
    pub fn record_failure(&mut self) {
        self.failed = true;
    }

    fn over_budget(
        &mut self,
        drive: &str,
        written: Bytes,
        most: Bytes,
        sink: &mut dyn Sink,
    ) -> RigError {
        self.failed = true;
        sink.finding(Finding::new(
            FindingKind::OverBudget,
            Severity::Invalid,
            format!(
                "the run was stopped: {} written, where the plan allows {}",
                written.about_and_exact(),
                most.about_and_exact()
            ),
            "this is a fault of ssdgauge: please report it with the run file",
        ));
        RigError::OverBudget { drive: drive.into(), written, most }
    }

    /// Writes the ownership label as the first block and compares it with what the drive returns:
    /// a drive, or a layer above it, that drops writes is found before anything is measured.
    fn write_label(&mut self, drive: &Admitted, sink: &mut dyn Sink) -> Result<(), RigError> {
        let block = drive.label().to_vec();
        let result = within(LABEL_TIMEOUT, drive.file(), move |file| {
            write_block(file, &block)?;
            // By the descriptor of the run, which has O_DIRECT: the page cache would return what it was given.
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
        // Without a label at its start the run wrote nothing, and what is there is not its own.
        if self.labelled && !self.failed && drive.check_again().is_ok() {
            let block = drive.label().to_vec();
            // If this fails, the next run requires `--erase` once more; nothing else depends on it.
            let _ =
                within(FINAL_LABEL_TIMEOUT, drive.file(), move |file| write_block(file, &block));
        }
    }
}

/// The name of a scratch file in messages: it has none in its folder.
const SCRATCH: &str = "the scratch file";

/// Returns `planned` bytes plus 5 % plus 1 MiB.
fn with_tolerance(planned: Bytes) -> u64 {
    ((planned.0 as f64 * TOLERANCE) as u64).saturating_add(TOLERANCE_BYTES)
}

fn write_block(file: &File, block: &[u8]) -> io::Result<()> {
    assert_eq!(block.len(), signatures::LABEL_LENGTH, "only the ownership label is written here");
    let mut region = Region::new(block.len())?;
    // In the native byte order, which keeps the bytes as they are.
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
    written: WrittenBytes,
    /// Whether the step ends before a second that could exceed what the user allows.
    looks_ahead: bool,
    /// The bytes that the user allows, where the engine sends no request beyond them.
    capped: Option<Bytes>,
}

impl CountingSink<'_> {
    /// Returns the bytes of the step so far.
    pub fn bytes(&self) -> StepBytes {
        let is_at_cap = self.capped.is_some_and(|cap| self.bytes.written >= cap.0);
        StepBytes { is_stopped: self.bytes.is_stopped || is_at_cap, ..self.bytes }
    }
}

impl Sink for CountingSink<'_> {
    fn interval(&mut self, interval: &Interval) {
        self.written.add(interval);
        self.bytes.written = self.written.total;
        self.sink.interval(interval);
    }

    fn reading(&mut self, reading: &Reading) {
        self.sink.reading(reading);
    }

    fn log_page(&mut self, page: LogPage) {
        self.sink.log_page(page);
    }

    fn finding(&mut self, finding: Finding) {
        self.sink.finding(finding);
    }

    fn announce(&mut self, finding: Finding) -> bool {
        self.sink.announce(finding)
    }

    fn stop(&mut self) -> bool {
        let StepBytes { written, most, allowed, .. } = self.bytes;
        // Bytes are counted once a second: the next one must not exceed what the user allows.
        let next = if self.looks_ahead { self.written.largest_second } else { 0 };
        self.bytes.is_stopped |= written.saturating_add(next) > allowed;
        self.bytes.is_stopped || written > most || self.sink.stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{Engine, Recording};

    const KIB: u64 = 1 << 10;

    fn workload(read_percent: u8) -> Workload {
        let block_size = Bytes(64 * KIB);
        let stream = Stream { read_percent, block_size, ..Stream::default() };
        Workload { engine: Engine::IoUring, streams: vec![stream] }
    }

    #[test]
    fn what_only_writes_is_limited_to_the_whole_requests_that_are_left() {
        let budget = WriteBudget::new(None).allowing(Some(Bytes(1_000 * KIB)), Bytes(90 * KIB));
        let until = Until { time: None, bytes: None };
        // 910 KiB are left: 14 requests of 64 KiB.
        let check =
            |workload: &Workload, own: Option<u64>, once: Option<u64>, in_sum: Option<u64>| {
                let until = Until { bytes: own.map(|kib| Bytes(kib * KIB)), ..until };
                let kib = |until: Until| until.bytes.map(|bytes| bytes.0 / KIB);
                let limits =
                    (budget.limited(workload, &until), budget.limited_in_sum(workload, &until));
                assert_eq!((kib(limits.0), kib(limits.1)), (once, in_sum));
            };
        check(&workload(0), None, Some(896), Some(896));
        check(&workload(0), Some(640), Some(640), Some(640));
        check(&workload(70), None, None, Some(896));
        check(&workload(100), None, None, None);
        assert_eq!(WriteBudget::new(None).limited(&workload(0), &until), until);
    }

    #[test]
    fn what_another_program_wrote_counts_and_its_limit_ends_the_run() {
        let mut budget = WriteBudget::new(None).allowing(Some(Bytes(640 * KIB)), Bytes(0));
        let (load, until) = (workload(0), Until { time: None, bytes: None });
        let mut lent = |kib: u64| {
            let (load, mut sink) = ((&load, &until), Recording::default());
            budget
                .after_lending("a", load, Bytes(kib * KIB), &mut sink)
                .map_err(|_| sink.findings.len())
        };
        assert_eq!(lent(320), Ok(()));
        // 320 KiB are left, which the program used up.
        assert_eq!(lent(320), Err(1));
    }

    #[test]
    fn the_counting_sink_forwards_every_call() {
        ssdgauge_core::check_forwarding(|inner, check| {
            let budget = WriteBudget::new(None);
            let until = Until { time: None, bytes: None };
            check(&mut budget.count_writes(Workload::no_load(), &until, inner));
        });
    }
}
