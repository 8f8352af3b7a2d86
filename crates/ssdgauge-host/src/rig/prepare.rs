//! How a rig makes its target ready: fills, purges, trims, power states and the write cache.

use super::LinuxRig;
use crate::preparation::{self, PurgeTarget};
use ssdgauge_core::{
    Access, Arrival, Bytes, Data, EndedBy, Engine, Finding, FindingKind, Nanos, PowerSaving,
    Prepared, PurgeMethod, RigError, Severity, Sink, Stream, Until, Workload, WriteCache,
};
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_drive::pass_through::{OpenDevice, PassThrough};
use ssdgauge_drive::sysfs_device::SysfsDevice;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Why a target that is no block device cannot be purged or trimmed.
const NO_DRIVE: &str = "a scratch file cannot make its drive fresh";

impl LinuxRig {
    pub(super) fn fill(
        &mut self,
        access: Access,
        block_size: Bytes,
        (offset, span): (Bytes, Bytes),
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
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
        };
        let whole = Bytes(span.blocks_of(block_size) * block_size.0);
        let until = Until { time: None, bytes: Some(whole) };
        let workload = Workload { engine: Engine::IoUring, streams: vec![stream.clone()] };
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
            self.verification.fill(offset.0, (offset + whole).0);
            if offset.0 <= self.written {
                self.written = self.written.max((offset + span).0);
            }
        }
        let written = Bytes(outcome.ios[1] * block_size.0);
        let method = match access {
            Access::Sequential => format!("sequential writes of {block_size} at QD8"),
            Access::Random => format!("random writes of {block_size} at QD8, each block once"),
        };
        Ok(Prepared { method, written, elapsed: outcome.elapsed, stopped })
    }

    /// Writes what is left of a span behind its last whole block.
    fn write_tail(&self, from: Bytes, to: Bytes) -> Result<(), RigError> {
        let length = (to - from).0 as usize;
        let Some(file) = self.file().filter(|_| length > 0) else { return Ok(()) };
        let cause = |error: std::io::Error| RigError::System {
            what: format!("cannot write the last {length} bytes"),
            cause: error.to_string(),
        };
        let data = self.pool.get(length).map_err(|error| cause(std::io::Error::other(error)))?;
        match ssdgauge_os::file_io::write_at(file, data.at(0), length, from.0).map_err(cause)? {
            n if n == length => Ok(()),
            n => Err(cause(std::io::Error::other(format!("only {n} were taken")))),
        }
    }

    /// Returns the drive for its preparation; `None` where the target is no whole drive.
    pub(super) fn target(&self) -> Option<PurgeTarget> {
        let file = self.file().filter(|_| self.is_block())?.clone();
        let (place, pass_through) = asked(&file, self.helper.as_ref())?;
        Some(PurgeTarget { file, pass_through, place, used: self.info.capacity })
    }

    pub(super) fn purge(
        &mut self,
        method: Option<PurgeMethod>,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        self.budget.before_writing(&self.place, None, sink)?;
        match (self.target(), method) {
            (Some(target), method) => {
                self.verification.forget(0, u64::MAX);
                let prepared = preparation::purge(&target, method, sink);
                if !prepared.as_ref().is_ok_and(|prepared| !prepared.stopped) {
                    // What the drive is at now is its own business: nothing more is sent to it.
                    self.budget.doubt();
                }
                prepared
            }
            (None, None) => Ok(self.not_fresh(sink)),
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
        self.budget.before_writing(&self.place, None, sink)?;
        match self.target() {
            Some(target) => {
                self.verification.forget(offset.0, (offset + span).0);
                preparation::trim(&target, offset, span, sink)
            }
            None => Ok(self.not_fresh(sink)),
        }
    }

    /// Says that a target without a drive of its own cannot be made fresh.
    fn not_fresh(&self, sink: &mut dyn Sink) -> Prepared {
        sink.finding(Finding::new(
            FindingKind::PurgeNotPossible,
            Severity::Warning,
            format!("the drive was not made fresh: {NO_DRIVE}"),
            "results depend on what was written before; test a whole drive to purge it",
        ));
        let (written, elapsed) = (Bytes(0), Nanos::ZERO);
        Prepared { method: "none".into(), written, elapsed, stopped: false }
    }

    pub(super) fn choose_power(&mut self, saving: PowerSaving, sink: &mut dyn Sink) -> Prepared {
        setting(|| self.power.choose(saving), sink)
    }

    pub(super) fn switch_cache(&mut self, switch: WriteCache, sink: &mut dyn Sink) -> Prepared {
        setting(|| self.write_cache.choose(switch), sink)
    }
}

/// Brings a setting of the drive about; `choose` returns what is in force then, and what bears on it.
fn setting<F: IntoIterator<Item = Finding>>(
    choose: impl FnOnce() -> (String, F),
    sink: &mut dyn Sink,
) -> Prepared {
    let since = Instant::now();
    let (method, findings) = choose();
    findings.into_iter().for_each(|finding| sink.finding(finding));
    let elapsed = Nanos(since.elapsed().as_nanos() as u64);
    Prepared { method, written: Bytes(0), elapsed, stopped: false }
}

/// Returns the way to ask the drive that is open as `file`, and its place in /sys.
pub(super) fn asked(
    file: &Arc<File>,
    helper: Option<&HelperClient>,
) -> Option<(SysfsDevice, Arc<dyn PassThrough>)> {
    let number = file.metadata().ok()?.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let place = SysfsDevice::from_number(Path::new("/sys"), major, minor)?;
    Some((place, Arc::new(OpenDevice::through(Arc::clone(file), helper.cloned()))))
}
