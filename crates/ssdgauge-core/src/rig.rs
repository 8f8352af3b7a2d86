//! The rig: the interface between the lab and a drive, real or virtual.

pub(crate) mod durability;
pub(crate) mod extents;
pub(crate) mod recording;
pub(crate) mod thermal;
pub(crate) mod timed;

use crate::drive::DriveInfo;
use crate::finding::{Finding, FindingKind, Severity};
use crate::plan::preparation::{Preparation, Prepared};
use crate::plan::{Action, Replay};
use crate::proof::{Found, Stamp};
use crate::rig::durability::{Flush, ReadBack, Verified};
use crate::rig::thermal::ThermalReport;
use crate::rig::timed::{Lane, LaneLimits, LanesEnded, TimedRequest, Timings};
use crate::sample::recorded::RecordedRequests;
use crate::sample::{Interval, LogPage, Reading};
use crate::totals::media_writes::MediaWrites;
use crate::units::{Bytes, Nanos};
use crate::workload::open_loop::OpenLoop;
use crate::workload::{Until, Workload};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A drive under test together with its instruments.
///
/// One rig runs in real time on a file or a block device, another in virtual time on a drive model.
/// The lab uses both through this trait alone.
pub trait Rig {
    /// Returns identity and geometry of the drive.
    fn drive(&self) -> &DriveInfo;

    /// Brings the drive into a state and returns what was done.
    ///
    /// # Errors
    /// When the preparation is not valid on this target, the system or the drive fails, or the
    /// write budget would be exceeded; see [`RigError`].
    fn prepare(
        &mut self,
        preparation: &Preparation,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError>;

    /// Runs `workload` to the first limit of `until` and passes every second to `sink`.
    ///
    /// # Errors
    /// When the workload is not valid on this target, the system or the drive fails, or the write
    /// budget would be exceeded; see [`RigError`]. Single failed requests are not an error: they are
    /// counted in the intervals.
    fn run(
        &mut self,
        workload: &Workload,
        until: &Until,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError>;

    /// Sends `requests`, those of `replay`, each when it is due, and passes every second to `sink`.
    ///
    /// # Errors
    /// As [`Rig::run`], and where the requests cannot be read.
    fn replay(
        &mut self,
        _replay: &Replay,
        _requests: Box<dyn RecordedRequests>,
        _sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        Err(RigError::Refused("this target replays no traces".into()))
    }

    /// Sends no load for `duration`; instruments continue to poll the drive. Returns the time that
    /// passed, which is shorter where `sink` stopped it.
    ///
    /// # Errors
    /// When the drive disappears or the system fails; see [`RigError`].
    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<Nanos, RigError>;

    /// Sends a flush and waits for it: everything that was written before is then on the media of the
    /// drive. Returns `None` where there is no drive. It must not be called while a load is measured.
    ///
    /// # Errors
    /// When the drive fails the flush, does not respond, or has disappeared; see [`RigError`].
    fn flush(&mut self, _sink: &mut dyn Sink) -> Result<Option<Flush>, RigError> {
        Ok(None)
    }

    /// Reads up to [`ReadBack::BLOCKS`] blocks that this run wrote, the last ones among them, and
    /// compares them with what was written last. Waits at most `at_most` for the drive, of which reads
    /// begin in the first quarter. Returns
    /// `None` where there is nothing to read: no drive, or no write whose contents are known.
    ///
    /// # Errors
    /// When the drive fails the reads, does not respond, or has disappeared; see [`RigError`].
    fn read_back(&mut self, _at_most: Nanos) -> Result<Option<ReadBack>, RigError> {
        Ok(None)
    }

    /// Reads everything that this run wrote, and compares every byte of it with what was written.
    /// `progress` takes the bytes that were read so far and their total, several times a second, and
    /// returns false to stop. Returns `None` where nothing can be verified: no drive, no write, or reads
    /// that do not reach the drive.
    ///
    /// # Errors
    /// When the drive does not respond, has disappeared, or fails more reads than a verdict needs; see
    /// [`RigError`].
    fn verify(
        &mut self,
        _progress: &mut dyn FnMut(Bytes, Bytes) -> bool,
    ) -> Result<Option<Verified>, RigError> {
        Ok(None)
    }

    /// Returns the access to blocks whose contents name their address, for the proof of a capacity;
    /// `None` where reads do not reach a drive.
    fn stamped_blocks(&mut self) -> Option<&mut dyn StampedBlocks> {
        None
    }

    /// Returns the access to loads whose requests are timed one by one, for experiments that look for
    /// the structures of a drive; `None` where reads do not reach a drive.
    fn timed_loads(&mut self) -> Option<&mut dyn TimedLoads> {
        None
    }

    /// Reads the counters of the drive between two loads, and returns what was written to its media and by hosts
    /// since the last reading; `None` where the drive reports no media writes. Where it counts other bytes than this
    /// rig has written meanwhile, a finding goes to `sink`.
    fn media_writes(&mut self, _sink: &mut dyn Sink) -> Option<MediaWrites> {
        None
    }

    /// Asks the drive between two loads for the limit and the counters of its temperature; `None` where it states none.
    fn thermal_report(&mut self) -> Option<ThermalReport> {
        None
    }

    /// Counts a step that an earlier part of the same run has carried out on another rig, so that the
    /// requests of later steps differ from its own, as in an uninterrupted run.
    fn count_earlier(&mut self, _workload: &Workload, _until: &Until) {}

    /// Takes note of a step that an earlier part of the same run has carried out on another rig, so that
    /// what it wrote can be read back. Steps come in their order; one that is not finished may have
    /// written any part of its data.
    fn carried_out_earlier(&mut self, _action: &Action, _is_finished: bool) {}

    /// Reads up to [`ReadBack::BLOCKS`] blocks, spread over all that `earlier` have filled, and compares
    /// them with the data of this run. `earlier` are the steps that earlier parts of the run have carried
    /// out on another rig, in their order, each with whether it is finished. Returns `None` where
    /// nothing was filled, or where the target keeps no contents from one part to the next.
    ///
    /// # Errors
    /// [`RigError::Holds`] where a block holds data of others whose loss was not confirmed; else when the drive
    /// fails the reads, does not respond, or has disappeared.
    fn read_earlier(&mut self, _earlier: &[(&Action, bool)]) -> Result<Option<ReadBack>, RigError> {
        Ok(None)
    }

    /// Returns findings about the conditions of the host that affect every result of this rig,
    /// before the first measurement.
    fn conditions(&mut self) -> Vec<Finding> {
        Vec::new()
    }

    /// Sends no load and no other command to the drive for `duration`, because a command would wake
    /// it; instruments that do not poll the drive continue. Returns the time that passed, as
    /// [`Rig::rest`] does.
    ///
    /// # Errors
    /// When the drive disappears or the system fails; see [`RigError`].
    fn idle(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<Nanos, RigError> {
        self.rest(duration, sink)
    }
}

/// How a write of blocks ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// Every block was written and flushed.
    All,
    /// The caller stopped it; any part was written.
    Stopped,
    /// A request failed, with the error of the system; any part was written.
    Failed(String),
}

/// A drive of which blocks with a stamp are read, past every cache of the host.
pub trait StampedReads {
    /// Reads `ranges` of blocks (first, number) and returns what they hold in runs, in their order;
    /// `None` where `go_on` stopped it. Data with another `tag` is foreign.
    ///
    /// # Errors
    /// When the drive disappears or does not respond; see [`RigError`].
    fn read(
        &mut self,
        tag: u64,
        ranges: &[(u64, u64)],
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<Vec<Found>>, RigError>;
}

/// A drive on which blocks with a stamp are written as well.
pub trait StampedBlocks: StampedReads {
    /// Checks the target before writes of `planned` bytes.
    ///
    /// # Errors
    /// The drive changed, is in use, or the write budget does not cover them; see [`RigError`].
    fn begin_writing(&mut self, planned: Bytes, sink: &mut dyn Sink) -> Result<(), RigError>;

    /// Writes `ranges` of blocks (first, number) with `stamp`, in their order, and flushes. `go_on`
    /// takes the blocks written so far several times a second, and returns false to stop.
    ///
    /// # Errors
    /// When the drive disappears or does not respond; see [`RigError`].
    fn write(
        &mut self,
        stamp: Stamp,
        ranges: &[(u64, u64)],
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Wrote, RigError>;
}

/// A drive with loads whose requests are timed one by one, past every cache of the host.
pub trait TimedLoads {
    /// Sends `requests`, which are in the order of their due times, with at most `depth` in flight.
    /// Returns the times of each request; `None` where `sink` stopped it. Readings go to `sink`.
    ///
    /// # Errors
    /// A request fails or lies beyond the target, the write budget does not cover the writes, or the
    /// drive disappears or does not respond; see [`RigError`].
    fn send(
        &mut self,
        requests: &[TimedRequest],
        depth: u32,
        sink: &mut dyn Sink,
    ) -> Result<Option<Timings>, RigError>;

    /// Runs `lanes` together to the first of `limits`. Returns the record of each lane; `None` where
    /// `sink` stopped it. Readings go to `sink`.
    ///
    /// # Errors
    /// As [`TimedLoads::send`].
    fn run_lanes(
        &mut self,
        lanes: &[Lane],
        limits: LaneLimits,
        sink: &mut dyn Sink,
    ) -> Result<Option<LanesEnded>, RigError>;
}

/// The receiver of the observations of a rig.
pub trait Sink {
    /// Takes one second of one stream and direction.
    fn interval(&mut self, interval: &Interval);

    /// Takes one reading.
    fn reading(&mut self, reading: &Reading);

    /// Takes a log page with the health of the drive. A decorator forwards it, as
    /// [`crate::check_forwarding`] tests.
    fn log_page(&mut self, _page: LogPage) {}

    /// Takes one finding about the step that runs.
    fn finding(&mut self, finding: Finding);

    /// Takes a finding about a command that cannot be undone, before it is sent; returns whether
    /// the finding is recorded durably. Where it is not, the rig must not send the command.
    ///
    /// There is no default implementation: a decorator that does not forward the call would confirm
    /// a record that does not exist. [`crate::check_forwarding`] tests decorators.
    fn announce(&mut self, finding: Finding) -> bool;

    /// Returns whether the rig has to stop; a rig calls it at least ten times a second.
    fn stop(&mut self) -> bool;
}

/// The limit that ended a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndedBy {
    /// The time limit.
    Time,
    /// The byte limit.
    Bytes,
    /// A stop request of the sink.
    Stop,
    /// Too many failed requests.
    Faults,
    /// The drive completed a request of an open loop more than [`crate::MAX_LAG`] after its due
    /// time.
    DeviceLag,
    /// The host sent a request of an open loop more than [`crate::MAX_LAG`] after its due time.
    HostLag,
}

impl EndedBy {
    /// Returns the word used in run files and pages.
    pub fn name(self) -> &'static str {
        match self {
            EndedBy::Time => "time",
            EndedBy::Bytes => "bytes",
            EndedBy::Stop => "stop",
            EndedBy::Faults => "faults",
            EndedBy::DeviceLag => "device-lag",
            EndedBy::HostLag => "host-lag",
        }
    }
}

/// The end of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// The limit that ended it.
    pub by: EndedBy,
    /// The time from the first submission to the last completion.
    pub elapsed: Nanos,
    /// The report of the engine.
    pub engine: EngineReport,
}

/// The report of an engine after a workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineReport {
    /// The engine that sent the requests.
    pub engine: String,
    /// Its configuration, such as `plain ring, registered file and buffers`.
    pub setup: String,
    /// The queue depth of the workload, all streams and threads together.
    pub in_flight_asked: u32,
    /// Mean requests in flight: sum of latencies ÷ time (Little's law).
    #[serde(default)]
    pub in_flight: Option<f64>,
    /// The use of the device by the counters of the kernel; `None` where no device counts the
    /// requests of the step alone, or not precisely enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelQueue>,
    /// Requests per system call; 1 for the synchronous engine.
    pub ios_per_enter: Option<f64>,
    /// Processor time of the whole process per request, user and system.
    pub cpu_per_io: Option<Nanos>,
    /// The clock of the latencies.
    pub clock: String,
    /// The figures of each open-loop stream.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_loop: Vec<OpenLoop>,
}

/// The use of a device during a step by the counters of the kernel (`stat` in sysfs).
///
/// A request counts from its entry into the queue of the device to its completion. The time before,
/// in the system call, and after, until the program reaps it, is in the latencies of the engine
/// only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelQueue {
    /// The device that counts, such as `nvme0n1`.
    pub device: String,
    /// The requests that it completed. The kernel splits large requests and merges neighbours.
    pub requests: u64,
    /// Mean requests in the device: the sum of their times ÷ the time of the step.
    pub in_flight: f64,
    /// Mean time of a request in the device, in microseconds: the same sum ÷ requests.
    pub time_mean_us: f64,
}

impl KernelQueue {
    /// Returns the use of `device` by `requests` that spent `held` in it together, in a step of
    /// `elapsed`; `None` without requests.
    pub fn new(device: &str, requests: u64, held: u128, elapsed: Nanos) -> Option<KernelQueue> {
        (requests > 0 && elapsed > Nanos::ZERO).then(|| KernelQueue {
            device: device.to_owned(),
            requests,
            in_flight: held as f64 / elapsed.0 as f64,
            time_mean_us: held as f64 / 1e3 / requests as f64,
        })
    }
}

/// The reason why a rig could not carry out a step.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RigError {
    /// The step is not valid on this target; nothing was written.
    #[error("{0}")]
    Refused(String),
    /// A system call failed.
    #[error("{what}: {cause}")]
    System {
        /// The operation that failed.
        what: String,
        /// The error of the system.
        cause: String,
    },
    /// The drive does not support the requested purge method, or the method failed.
    #[error("{drive} cannot be purged by {method}: {reason}")]
    CannotPurge {
        /// The drive.
        drive: String,
        /// The method.
        method: String,
        /// The reason.
        reason: String,
    },
    /// The drive is not the admitted one, or another process uses it. The step that would write has
    /// not begun.
    #[error("{0}")]
    Changed(String),
    /// The drive holds data whose loss was not confirmed; nothing was written.
    #[error("{drive} holds {what}")]
    Holds {
        /// The drive.
        drive: String,
        /// What it holds, with its place.
        what: String,
        /// What confirms the loss of the data.
        confirmation: String,
    },
    /// The bytes written exceed, or would exceed, the write budget of the plan.
    #[error("{drive}: {} written, where the plan allows {}", written.about_and_exact(), most.about_and_exact())]
    OverBudget {
        /// The target.
        drive: String,
        /// The bytes that were, or would be, written.
        written: Bytes,
        /// The write budget of the plan.
        most: Bytes,
    },
    /// The run wrote as much as the user allows: what is next could exceed it.
    #[error(
        "{drive}: {} written, and what is next could exceed the {} of --max-writes or --endurance-share",
        written.about_and_exact(), most.about_and_exact()
    )]
    OverLimit {
        /// The target.
        drive: String,
        /// The bytes that were written.
        written: Bytes,
        /// The limit of the user.
        most: Bytes,
    },
    /// The drive returns other data than were written.
    #[error("{drive}: {what}")]
    NotKept {
        /// The target.
        drive: String,
        /// The mismatch.
        what: String,
    },
    /// The drive disappeared.
    #[error("{0} is gone")]
    Gone(String),
    /// The target is smaller than at its opening.
    #[error("{drive} shrank from {} to {}", was.about_and_exact(), now.about_and_exact())]
    Shrank {
        /// The target.
        drive: String,
        /// Its size at its opening.
        was: Bytes,
        /// Its size now.
        now: Bytes,
    },
    /// The drive does not respond.
    #[error("{drive} has not answered for {}", silence.about())]
    Hung {
        /// The target.
        drive: String,
        /// The time since the last completion.
        silence: Nanos,
    },
}

impl RigError {
    /// Records in `sink` that the run ends before it writes more than its user allows, and returns that error:
    /// `written` of `most` bytes are written. The drive is as it should be.
    pub fn over_limit(drive: &str, written: Bytes, most: Bytes, sink: &mut dyn Sink) -> RigError {
        sink.finding(Finding::new(
            FindingKind::OverBudget,
            Severity::Warning,
            format!(
                "the run was stopped by --max-writes or --endurance-share: {} of {} are written, and what is next could exceed it",
                written.about_and_exact(),
                most.about_and_exact()
            ),
            "resume the run with a larger --max-writes",
        ));
        RigError::OverLimit { drive: drive.into(), written, most }
    }
}
