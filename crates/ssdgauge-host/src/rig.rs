//! The rig on real targets, in real time.

use crate::clock;
use crate::conditions;
use crate::engine::{self, Device, Outcome};
use crate::environment::block_device_of;
use crate::faults;
use crate::sys;
use crate::target::{Candidate, Opened, Place, TargetError};
use crate::witness::{self, Seen, Witness};
use ssdgauge_core::{
    Access, Arrival, Bytes, Data, DriveInfo, Ended, EndedBy, Engine, Finding, FindingKind, Nanos,
    Preparation, Prepared, Rig, RigError, Severity, Sink, Stream, Until, Workload,
};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file, a block device or nothing, with the engines to load it.
#[derive(Debug)]
pub struct LinuxRig {
    info: DriveInfo,
    file: Option<Arc<File>>,
    is_block: bool,
    cached: Option<String>,
    seed: u64,
    runs: u64,
    /// Up to where a scratch file was written; its reads must not go beyond.
    written: u64,
    /// The size that the file or device had when it was opened.
    opened_size: Bytes,
    /// The block device below the target: its number, and its folder in /sys.
    below: Option<Below>,
}

/// The block device that a target is, or lies on.
#[derive(Debug)]
struct Below {
    number: u64,
    folder: PathBuf,
}

impl Below {
    fn of(file: &File, is_block: bool) -> Option<Below> {
        let metadata = file.metadata().ok()?;
        let number = if is_block { metadata.rdev() } else { metadata.dev() };
        Some(Below { number, folder: block_device_of(number)? })
    }
}

impl LinuxRig {
    /// Opens `candidate`. A block device is admitted only with the words that `confirm` it.
    pub fn open(
        candidate: Candidate,
        confirm: Option<&str>,
        seed: u64,
    ) -> Result<LinuxRig, TargetError> {
        clock::calibrate();
        engine::prepare_pool();
        let Opened { file, cached } = candidate.open(confirm)?;
        let is_block = matches!(candidate.place, Place::Block(_));
        let mut info = candidate.info;
        if let Some(sequence) = file.as_ref().filter(|_| is_block).and_then(sys::disk_sequence) {
            info.details.insert("disk_sequence".into(), sequence.to_string());
        }
        let written = if matches!(candidate.place, Place::Null) { u64::MAX } else { 0 };
        let written = if is_block { u64::MAX } else { written };
        let opened_size = file.as_ref().and_then(|file| sys::size_of(file).ok()).map(Bytes);
        let below = file.as_ref().and_then(|file| Below::of(file, is_block));
        Ok(LinuxRig {
            info,
            file: file.map(Arc::new),
            is_block,
            cached,
            seed,
            runs: 0,
            written,
            opened_size: opened_size.unwrap_or(Bytes(0)),
            below,
        })
    }

    fn device(&self) -> Device {
        self.file.clone().map_or(Device::Null, Device::File)
    }

    fn load(
        &mut self,
        workload: &Workload,
        until: &Until,
        covering: bool,
        sink: &mut dyn Sink,
    ) -> Result<Outcome, RigError> {
        self.runs += 1;
        let seed = self.seed.wrapping_add(self.runs.wrapping_mul(0x9e37_79b9));
        let folder = self.below.as_ref().map(|below| below.folder.as_path());
        let witness = Witness::begin(folder);
        let mut seen = Seen::on_the_way_to(sink);
        let outcome = engine::run(&self.device(), workload, until, seed, covering, &mut seen);
        let outcome = outcome.map_err(|cause| RigError::System {
            what: format!("cannot load {}", self.info.target),
            cause,
        })?;
        let step = witness::Step {
            kind: self.info.kind,
            workload,
            elapsed: outcome.elapsed,
            whole: outcome.faults.is_empty() && outcome.silence.is_none(),
            cached: self.cached.is_some(),
        };
        let findings = witness.end(&step, &seen);
        findings.into_iter().for_each(|finding| sink.finding(finding));
        let size = || self.file.as_ref().and_then(|file| sys::size_of(file).ok());
        faults::judge(&self.info, self.opened_size, size, &outcome, sink)?;
        Ok(outcome)
    }

    fn fill(
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
            self.write_tail(&stream, offset + whole, offset + span)?;
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
    fn write_tail(&self, stream: &Stream, from: Bytes, to: Bytes) -> Result<(), RigError> {
        let length = (to - from).0 as usize;
        let Some(file) = self.file.as_ref().filter(|_| length > 0) else { return Ok(()) };
        let cause = |error: std::io::Error| RigError::System {
            what: format!("cannot write the last {length} bytes"),
            cause: error.to_string(),
        };
        let data =
            engine::write_data(stream).map_err(|error| cause(std::io::Error::other(error)))?;
        let data = data.expect("a fill writes");
        match sys::write_at(file, data.at(0), length, from.0).map_err(cause)? {
            n if n == length => Ok(()),
            n => Err(cause(std::io::Error::other(format!("only {n} were taken")))),
        }
    }

    fn trim(
        &mut self,
        range: Option<(Bytes, Bytes)>,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        let since = Instant::now();
        let (offset, span) = range.unwrap_or((Bytes(0), self.info.capacity));
        let result = match self.file.as_ref().filter(|_| self.is_block) {
            Some(file) => sys::discard(file, offset.0, span.0).map_err(|error| error.to_string()),
            None => Err("a scratch file cannot make its drive fresh".to_owned()),
        };
        let method = match result {
            Ok(()) => "discard".to_owned(),
            Err(cause) => {
                sink.finding(Finding::new(
                    FindingKind::PurgeNotPossible,
                    Severity::Warning,
                    format!("the drive was not made fresh: {cause}"),
                    "results depend on what was written before; test a whole drive to purge it",
                ));
                "none".to_owned()
            }
        };
        let elapsed = Nanos(since.elapsed().as_nanos() as u64);
        Ok(Prepared { method, written: Bytes(0), elapsed, stopped: false })
    }

    /// Refuses reads of what nobody wrote: the file system would answer them without the drive.
    fn check_written(&self, workload: &Workload) -> Result<(), RigError> {
        let beyond =
            |stream: &&Stream| stream.reads() && (stream.offset + stream.span).0 > self.written;
        match workload.streams.iter().find(beyond) {
            Some(stream) => Err(RigError::Refused(format!(
                "stream '{}' would read beyond byte {}, where the scratch file was never written",
                stream.name, self.written
            ))),
            None => Ok(()),
        }
    }
}

impl Rig for LinuxRig {
    fn drive(&self) -> &DriveInfo {
        &self.info
    }

    fn conditions(&mut self) -> Vec<Finding> {
        let number = self.below.as_ref().map(|below| below.number);
        conditions::conditions(Path::new("/"), number, self.is_block)
    }

    fn prepare(
        &mut self,
        preparation: &Preparation,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        match *preparation {
            Preparation::Purge => self.trim(None, sink),
            Preparation::Trim { offset, span } => self.trim(Some((offset, span)), sink),
            Preparation::Fill { access, block_size, offset, span } => {
                self.fill(access, block_size, (offset, span), sink)
            }
        }
    }

    fn run(
        &mut self,
        workload: &Workload,
        until: &Until,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        self.check_written(workload)?;
        if let Some(cause) = &self.cached {
            sink.finding(Finding::new(
                FindingKind::PageCache,
                Severity::Invalid,
                format!("the page cache stood between the engine and the drive: {cause}"),
                "name a folder on a file system with O_DIRECT, such as ext4 or xfs on the drive",
            ));
        }
        let outcome = self.load(workload, until, false, sink)?;
        Ok(Ended { by: outcome.by, elapsed: outcome.elapsed, engine: outcome.report })
    }

    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<(), RigError> {
        let end = Instant::now() + Duration::from(duration);
        while !sink.stop() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
        Ok(())
    }
}
