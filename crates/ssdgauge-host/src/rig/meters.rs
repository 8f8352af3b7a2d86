//! Meters of a rig: opening them, and reading them during a load, a pause or an idle time.

use super::LinuxRig;
use super::instruments::{PollPolicy, ReadingSink};
use crate::monitor::PauseMonitor;
use ssdgauge_core::{Nanos, RigError, Sink};
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_drive::pass_through::{OpenDevice, PassThrough};
use ssdgauge_drive::query;
use ssdgauge_meter::{Distribution, LogReader, MeterError, MeterSpec, Meters};
use ssdgauge_os::sysfs::name_of;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl LinuxRig {
    /// Opens the power meters of `specs`, which are read from now on; returns a description of
    /// each.
    ///
    /// # Errors
    /// The first meter that is missing, does not respond, or reports an impossible value.
    pub fn attach(&mut self, specs: &[MeterSpec]) -> Result<Vec<(String, String)>, MeterError> {
        let name = self.backing.as_ref().map(|backing| name_of(&backing.folder));
        let nvme = name.filter(|name| name.starts_with("nvme"));
        let drive = nvme.and_then(|_| self.file().cloned());
        let meters = Meters::open(specs, || {
            drive.as_ref().map(|drive| log_reader(drive, self.helper.clone()))
        })?;
        let mut described = meters.described(specs);
        self.instruments.add(meters);
        let own = specs.iter().position(MeterSpec::reads_drive);
        if let (Some(place), Some(drive)) = (own, drive) {
            let pass_through: Arc<dyn PassThrough> =
                Arc::new(OpenDevice::through(drive, self.helper.clone()));
            let words = match Distribution::open(pass_through) {
                Ok(distribution) => {
                    self.instruments.distribution = Some(distribution);
                    ", with the distribution of each step (log 25h)".to_owned()
                }
                Err(reason) => format!(", without a distribution: {reason}"),
            };
            described[place].1.push_str(&words);
        }
        Ok(described)
    }

    /// Runs `work` while the instruments are read; `policy` says whether they may poll the drive.
    pub(crate) fn with_instruments<T>(
        &mut self,
        policy: PollPolicy,
        sink: &mut dyn Sink,
        work: impl FnOnce(&mut LinuxRig, &mut dyn Sink) -> Result<(T, Nanos), RigError>,
    ) -> Result<T, RigError> {
        self.idle_before = policy == PollPolicy::Silent;
        let mut instruments = std::mem::take(&mut self.instruments);
        if policy == PollPolicy::Poll
            && let Some(distribution) = &mut instruments.distribution
            && let Some(finding) = distribution.begin()
        {
            sink.finding(finding);
        }
        instruments.begin(policy);
        let since = Instant::now();
        let mut readings = ReadingSink { sink, instruments: &mut instruments };
        let result = work(self, &mut readings);
        let elapsed = match &result {
            Ok((_, elapsed)) => *elapsed,
            Err(_) => Nanos(since.elapsed().as_nanos() as u64),
        };
        instruments.finish(elapsed, sink);
        // A drive that failed in the step may be removed or not respond: it is not queried.
        if let (true, Some(distribution)) = (result.is_ok(), &mut instruments.distribution) {
            let (readings, finding) = distribution.end(elapsed);
            readings.iter().for_each(|reading| sink.reading(reading));
            finding.into_iter().for_each(|finding| sink.finding(finding));
        }
        self.instruments = instruments;
        result.map(|(value, _)| value)
    }

    /// Waits for `duration` without a load, or until the sink requests a stop.
    pub(crate) fn wait_without_load(
        &mut self,
        duration: Nanos,
        policy: PollPolicy,
        sink: &mut dyn Sink,
    ) -> Result<Nanos, RigError> {
        self.with_instruments(policy, sink, |rig, sink| {
            let begin = Instant::now();
            let end = begin + Duration::from(duration);
            // A query would keep the drive out of its low-power states, which an idle time tests.
            let mut health = rig.health.as_mut().filter(|_| policy == PollPolicy::Poll);
            if let Some(health) = &mut health {
                health.begin(true, sink);
            }
            while !sink.stop() {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                std::thread::sleep(left.min(Duration::from_millis(50)));
            }
            let elapsed = Nanos(begin.elapsed().as_nanos() as u64).min(duration);
            if let Some(health) = health {
                let written = rig.timed.take_unread();
                health.end(begin, elapsed, (true, written), sink);
            }
            rig.report_pause(sink);
            rig.between = Some(PauseMonitor::begin());
            Ok((elapsed, elapsed))
        })
    }
}

/// Returns a reader of the log pages of the NVMe drive that is open as `drive`.
fn log_reader(drive: &Arc<File>, helper: Option<HelperClient>) -> LogReader {
    let device = OpenDevice::through(Arc::clone(drive), helper);
    Box::new(move |log, length| query::log(&device, log, length).map_err(|error| error.to_string()))
}

/// Opens the meters of `specs` without a run; `drive` is the NVMe drive whose power log one of them
/// reads, and is opened for reading only.
///
/// # Errors
/// The drive cannot be opened, or a meter is missing, does not respond, or reports an impossible
/// value.
pub fn open_meters(specs: &[MeterSpec], drive: Option<&Path>) -> Result<Meters, MeterError> {
    let open = |path: &Path| match File::open(path) {
        Ok(file) => Ok(Arc::new(file)),
        Err(error) => {
            let meter = path.display().to_string();
            Err(MeterError::Absent { meter, what: error.to_string() })
        }
    };
    let drive = drive.map(open).transpose()?;
    Meters::open(specs, || drive.as_ref().map(|drive| log_reader(drive, None)))
}
