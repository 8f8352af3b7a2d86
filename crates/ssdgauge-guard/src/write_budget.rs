//! What is asked before and while a run writes: whether the drive is still the admitted one,
//! whether it keeps what is written, and whether no more is written than was planned.

use crate::admission::Admitted;
use crate::signatures;
use crate::target::OpenTarget;
use ssdgauge_core::{
    Bytes, Direction, Finding, FindingKind, Interval, Nanos, Reading, RigError, Severity, Sink,
    Until,
};
use ssdgauge_os::memory::Region;
use ssdgauge_os::thread::within;
use std::fs::File;
use std::io;
use std::time::Duration;

/// How much more than planned may be written before a run is stopped: requests are counted by the
/// second, and the last blocks of a span are rounded.
const MOST_OVER: f64 = 1.05;
/// A byte limit may be small; a second of slack is not a fault.
const SLACK: u64 = 1 << 20;
/// How long the drive may take for one block before it counts as hung.
const SILENCE: Duration = Duration::from_secs(30);

/// What was limit about the writes of a run, and what of it is spent.
#[derive(Debug, Default)]
pub struct WriteBudget {
    /// The most bytes that the whole run may write, where its plan says so.
    limit: Option<Bytes>,
    written: u64,
    /// Our mark was written and read back.
    labelled: bool,
    /// Something went wrong: the drive is left as it is.
    in_doubt: bool,
}

impl WriteBudget {
    /// Returns the budget of a run that may write `limit` bytes; `None` for no limit.
    pub fn new(limit: Option<Bytes>) -> WriteBudget {
        WriteBudget { limit, ..WriteBudget::default() }
    }

    /// Asks, immediately before a destructive step on `place` that may write `planned` bytes,
    /// whether it may begin. The very first write is our mark, which has to be read back.
    pub fn before_writing(
        &mut self,
        place: &OpenTarget,
        planned: Option<Bytes>,
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        let OpenTarget::Drive(drive) = place else { return Ok(()) };
        if let Err(refusal) = drive.check_again() {
            self.in_doubt = true;
            sink.finding(Finding::new(
                FindingKind::DriveChanged,
                Severity::Invalid,
                format!("the run was stopped before a step that writes: {refusal}"),
                "find out who uses the drive or has changed it before you write to it again",
            ));
            return Err(RigError::Changed(refusal.to_string()));
        }
        let most = self.limit.map_or(u64::MAX, with_slack);
        let planned = planned.unwrap_or_default();
        if self.written.saturating_add(planned.0) > most {
            return Err(self.over(drive.name(), self.written + planned.0, most, sink));
        }
        if !self.labelled {
            self.write_label(drive, sink)?;
            self.labelled = true;
        }
        Ok(())
    }

    /// Returns a sink that hands everything to `sink`, counts what is written, and stops the step
    /// where that is more than `until` or the plan allows.
    pub fn watch<'a>(&self, until: &Until, sink: &'a mut dyn Sink) -> CountingSink<'a> {
        let step = until.bytes.map_or(u64::MAX, with_slack);
        let run = self.limit.map_or(u64::MAX, with_slack).saturating_sub(self.written);
        CountingSink { sink, written: 0, most: step.min(run) }
    }

    /// Takes into account what a step wrote.
    pub fn after_writing(
        &mut self,
        drive: &str,
        (written, most): (u64, u64),
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        self.written = self.written.saturating_add(written);
        match written > most {
            true => Err(self.over(drive, written, most, sink)),
            false => Ok(()),
        }
    }

    /// Notes that a step did not end as it should: nothing more is written to the drive.
    pub fn doubt(&mut self) {
        self.in_doubt = true;
    }

    fn over(&mut self, drive: &str, written: u64, most: u64, sink: &mut dyn Sink) -> RigError {
        self.in_doubt = true;
        sink.finding(Finding::new(
            FindingKind::OverBudget,
            Severity::Invalid,
            format!("the run was stopped: {written} bytes written, where the plan allows {most}"),
            "this is a fault of ours: please report it with the run file",
        ));
        RigError::OverBudget { drive: drive.into(), written: Bytes(written), most: Bytes(most) }
    }

    /// Writes our mark as the first block, and compares what the drive gives back.
    fn write_label(&mut self, drive: &Admitted, sink: &mut dyn Sink) -> Result<(), RigError> {
        let block = drive.label().to_vec();
        let result = within(SILENCE, drive.file(), move |file| {
            write_block(file, &block)?;
            Ok(read_block(file)? == block)
        });
        let what = match result {
            Some(Ok(true)) => return Ok(()),
            Some(Ok(false)) => "the first block that was written did not come back".to_owned(),
            Some(Err(error)) => format!("the first block could not be written and read: {error}"),
            None => {
                self.in_doubt = true;
                let (drive, silence) = (drive.name().into(), Nanos::from_secs(SILENCE.as_secs()));
                return Err(RigError::Hung { drive, silence });
            }
        };
        self.in_doubt = true;
        sink.finding(Finding::new(
            FindingKind::NotKept,
            Severity::Invalid,
            what.clone(),
            "the drive, or a layer above it, does not keep what is written: test no further",
        ));
        Err(RigError::NotKept { drive: drive.name().into(), what })
    }

    /// Leaves our mark on a drive whose run ended in order, so that the next run knows that
    /// nothing there is worth keeping.
    pub fn leave(&mut self, place: &OpenTarget) {
        let OpenTarget::Drive(drive) = place else { return };
        if self.labelled && !self.in_doubt && drive.check_again().is_ok() {
            let block = drive.label().to_vec();
            // Where that fails the next run asks for one consent more; nothing else is lost.
            let _ =
                within(Duration::from_secs(4), drive.file(), move |file| write_block(file, &block));
        }
    }
}

fn with_slack(planned: Bytes) -> u64 {
    ((planned.0 as f64 * MOST_OVER) as u64).saturating_add(SLACK)
}

fn write_block(file: &File, block: &[u8]) -> io::Result<()> {
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

/// A sink that counts what is written.
pub struct CountingSink<'a> {
    sink: &'a mut dyn Sink,
    written: u64,
    most: u64,
}

impl CountingSink<'_> {
    /// Returns the bytes that were written and the most that may be.
    pub fn count(&self) -> (u64, u64) {
        (self.written, self.most)
    }
}

impl Sink for CountingSink<'_> {
    fn interval(&mut self, interval: &Interval) {
        if interval.direction == Direction::Write {
            self.written = self.written.saturating_add(interval.bytes);
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
        self.written > self.most || self.sink.stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counting_sink_forwards_every_call() {
        ssdgauge_core::check_forwarding(|inner, check| {
            let budget = WriteBudget::new(None);
            check(&mut budget.watch(&Until { time: None, bytes: None }, inner));
        });
    }
}
