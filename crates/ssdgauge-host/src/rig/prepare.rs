//! Preparation of a target: fills, purges, trims, power saving and the write cache.

use super::LinuxRig;
use crate::preparation::{self, PurgeTarget};
use ssdgauge_core::{
    Access, Arrival, Bytes, Data, EndedBy, Engine, Finding, FindingKind, Nanos, PowerSaving,
    Prepared, PurgeMethod, RigError, Severity, Sink, Stream, Until, Workload, WriteCache,
};
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_drive::pass_through::{OpenDevice, PassThrough};
use ssdgauge_drive::sysfs_device::SysfsDevice;
use ssdgauge_engine::{SentBy, transfer};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The reason why a target other than a block device cannot be purged or trimmed.
const NO_DRIVE: &str = "a scratch file cannot purge the drive that it lies on";

impl LinuxRig {
    /// Writes each block of `span` bytes from `offset` on once.
    pub(super) fn fill(
        &mut self,
        access: Access,
        block_size: Bytes,
        (offset, span): (Bytes, Bytes),
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        let whole = Bytes(span.blocks_of(block_size) * block_size.0);
        let until = Until { time: None, bytes: Some(whole) };
        let workload = fill_workload(access, block_size, offset, span);
        let outcome = self.load(&workload, &until, true, sink)?;
        if outcome.by == EndedBy::Faults {
            return Err(RigError::System {
                what: format!("cannot fill {}", self.info.target),
                cause: format!("{} requests failed", outcome.faults.len()),
            });
        }
        let stopped = outcome.by == EndedBy::Stop;
        if !stopped && outcome.faults.is_empty() {
            self.write_tail(offset + whole, offset + span)?;
            self.verification.fill(offset.0, (offset + span).0);
            self.verification.write(&workload, true);
            if offset.0 <= self.filled_to {
                self.filled_to = self.filled_to.max((offset + span).0);
            }
        }
        let written = Bytes(outcome.ios[1] * block_size.0);
        // The synchronous engine fills with one thread.
        let depth = match outcome.sent_by {
            SentBy::Ring(_) | SentBy::Commands => 8,
            SentBy::Calls => 1,
        };
        let method = match access {
            Access::Sequential => {
                format!("sequential writes of {} at QD{depth}", block_size.as_block())
            }
            Access::Random => {
                format!("random writes of {} at QD{depth}, each block once", block_size.as_block())
            }
        };
        Ok(Prepared { method, written, elapsed: outcome.elapsed, stopped })
    }

    /// Writes the rest of a span after its last whole block, which a read of another block size
    /// would otherwise find unwritten.
    fn write_tail(&mut self, from: Bytes, to: Bytes) -> Result<(), RigError> {
        let length = (to - from).0 as usize;
        let Some(file) = self.file().filter(|_| length > 0).cloned() else { return Ok(()) };
        let what = format!("cannot write the last {length} bytes of");
        let data = self.verification.data_for(&self.pool, from.0, length);
        let written = data.and_then(|data| transfer::write(&file, &data, length, from.0));
        written.map_err(|error| self.failed(&what, &error))
    }

    /// Returns the drive for commands and discards; `None` where the target is not a whole drive.
    pub(super) fn purge_target(&self) -> Option<PurgeTarget> {
        let file = self.file().filter(|_| self.is_block())?.clone();
        let (device, pass_through) = command_path(&file, self.helper.as_ref())?;
        Some(PurgeTarget { file, pass_through, device, used: self.info.capacity })
    }

    pub(super) fn purge(
        &mut self,
        method: Option<PurgeMethod>,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        self.budget.before_writing(&self.target, None, sink)?;
        match (self.purge_target(), method) {
            (Some(target), method) => {
                self.verification.invalidate(0, u64::MAX);
                let prepared = preparation::purge(&target, method, sink);
                if !prepared.as_ref().is_ok_and(|prepared| !prepared.stopped) {
                    // The drive may still be busy with the purge: nothing more is sent to it.
                    self.budget.record_failure();
                }
                prepared
            }
            (None, None) => Ok(self.not_purged(sink)),
            (None, Some(method)) => Err(RigError::CannotPurge {
                drive: self.info.target.clone(),
                method: method.name().into(),
                reason: NO_DRIVE.into(),
            }),
        }
    }

    pub(super) fn trim(
        &mut self,
        offset: Bytes,
        span: Bytes,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        self.budget.before_writing(&self.target, None, sink)?;
        match self.purge_target() {
            Some(target) => {
                self.verification.invalidate(offset.0, (offset + span).0);
                preparation::trim(&target, offset, span, sink)
            }
            None => Ok(self.not_purged(sink)),
        }
    }

    /// Reports that a target other than a whole drive is neither purged nor trimmed.
    fn not_purged(&self, sink: &mut dyn Sink) -> Prepared {
        sink.finding(Finding::new(
            FindingKind::PurgeNotPossible,
            Severity::Warning,
            format!("the drive was not purged: {NO_DRIVE}"),
            "results depend on earlier writes; test a whole drive to purge it",
        ));
        let (written, elapsed) = (Bytes(0), Nanos::ZERO);
        Prepared { method: "none".into(), written, elapsed, stopped: false }
    }

    pub(super) fn set_power_saving(
        &mut self,
        saving: PowerSaving,
        sink: &mut dyn Sink,
    ) -> Prepared {
        apply(|| self.power.apply(saving), sink)
    }

    pub(super) fn set_write_cache(&mut self, wanted: WriteCache, sink: &mut dyn Sink) -> Prepared {
        apply(|| self.write_cache.apply(wanted), sink)
    }
}

/// Returns the workload of a fill.
pub(super) fn fill_workload(
    access: Access,
    block_size: Bytes,
    offset: Bytes,
    span: Bytes,
) -> Workload {
    let stream = Stream {
        name: "fill".into(),
        access,
        block_size,
        read_percent: 0,
        queue_depth: 8,
        threads: 1,
        offset,
        span,
        arrival: Arrival::Closed,
        data: Data::Incompressible,
        sync: false,
        ..Stream::default()
    };
    Workload { engine: Engine::IoUring, streams: vec![stream] }
}

/// Applies a setting of the drive; `change` returns the setting in force and its findings.
fn apply<F: IntoIterator<Item = Finding>>(
    change: impl FnOnce() -> (String, F),
    sink: &mut dyn Sink,
) -> Prepared {
    let since = Instant::now();
    let (method, findings) = change();
    findings.into_iter().for_each(|finding| sink.finding(finding));
    let elapsed = Nanos(since.elapsed().as_nanos() as u64);
    Prepared { method, written: Bytes(0), elapsed, stopped: false }
}

/// Returns the device in sysfs of the drive that is open as `file`, and its command interface.
pub(super) fn command_path(
    file: &Arc<File>,
    helper: Option<&HelperClient>,
) -> Option<(SysfsDevice, Arc<dyn PassThrough>)> {
    let number = file.metadata().ok()?.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let device = SysfsDevice::from_number(Path::new("/sys"), major, minor)?;
    Some((device, Arc::new(OpenDevice::through(Arc::clone(file), helper.cloned()))))
}
