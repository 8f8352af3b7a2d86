//! A virtual drive whose answers are observed with noise: what the model lacks, laid over it.

use ssdgauge_core::{
    DriveInfo, Ended, Finding, Flush, Interval, Lane, LaneLimits, LanesEnded, MediaWrites, Nanos,
    Preparation, Prepared, Random, Reading, Rig, RigError, Sink, ThermalReport, TimedLoads,
    TimedRequest, Timings, Until, Workload,
};

/// Mean of the exponential noise of a latency, as a share of it.
const SHARE: f64 = 0.03;
/// The share of requests with a long delay, and its mean in nanoseconds.
const OUTLIERS: (f64, f64) = (0.002, 300_000.0);
/// Half width of the uniform noise of the bytes of a bin, as a share.
const BINS: f64 = 0.03;

/// A virtual drive with noise over every observation.
pub(crate) struct Noisy<R> {
    rig: R,
    random: Random,
}

impl<R> Noisy<R> {
    pub(crate) fn new(rig: R, seed: u64) -> Noisy<R> {
        Noisy { rig, random: Random::new(seed, 0x0153) }
    }

    fn delay(&mut self, latency: Nanos) -> Nanos {
        let mut delay = SHARE * latency.0 as f64 * self.random.exponential();
        if self.random.unit() < OUTLIERS.0 {
            delay += OUTLIERS.1 * self.random.exponential();
        }
        Nanos(delay as u64)
    }
}

/// Readings of temperatures in whole degrees, as sensors of drives state them.
struct Rounded<'a>(&'a mut dyn Sink);

impl Sink for Rounded<'_> {
    fn interval(&mut self, interval: &Interval) {
        self.0.interval(interval);
    }
    fn reading(&mut self, reading: &Reading) {
        self.0.reading(&Reading { value: reading.value.round(), ..reading.clone() });
    }
    fn finding(&mut self, finding: Finding) {
        self.0.finding(finding);
    }
    fn announce(&mut self, finding: Finding) -> bool {
        self.0.announce(finding)
    }
    fn stop(&mut self) -> bool {
        self.0.stop()
    }
}

impl<R: Rig + TimedLoads> Rig for Noisy<R> {
    fn drive(&self) -> &DriveInfo {
        self.rig.drive()
    }
    fn prepare(
        &mut self,
        preparation: &Preparation,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        self.rig.prepare(preparation, sink)
    }
    fn run(
        &mut self,
        workload: &Workload,
        until: &Until,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        self.rig.run(workload, until, sink)
    }
    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<Nanos, RigError> {
        self.rig.rest(duration, sink)
    }
    fn flush(&mut self, sink: &mut dyn Sink) -> Result<Option<Flush>, RigError> {
        self.rig.flush(sink)
    }
    fn media_writes(&mut self, sink: &mut dyn Sink) -> Option<MediaWrites> {
        self.rig.media_writes(sink)
    }
    fn thermal_report(&mut self) -> Option<ThermalReport> {
        self.rig.thermal_report()
    }
    fn timed_loads(&mut self) -> Option<&mut dyn TimedLoads> {
        Some(self)
    }
}

impl<R: TimedLoads> TimedLoads for Noisy<R> {
    fn send(
        &mut self,
        requests: &[TimedRequest],
        depth: u32,
        sink: &mut dyn Sink,
    ) -> Result<Option<Timings>, RigError> {
        let Some(mut timings) = self.rig.send(requests, depth, &mut Rounded(sink))? else {
            return Ok(None);
        };
        for timing in &mut timings.requests {
            timing.completed += self.delay(timing.latency());
        }
        Ok(Some(timings))
    }

    fn run_lanes(
        &mut self,
        lanes: &[Lane],
        limits: LaneLimits,
        sink: &mut dyn Sink,
    ) -> Result<Option<LanesEnded>, RigError> {
        let Some(mut ended) = self.rig.run_lanes(lanes, limits, &mut Rounded(sink))? else {
            return Ok(None);
        };
        for record in &mut ended.lanes {
            for bytes in &mut record.bytes {
                let factor = 1.0 + BINS * (2.0 * self.random.unit() - 1.0);
                *bytes = (*bytes as f64 * factor) as u64;
            }
            for latency in &mut record.latencies {
                latency.1 += self.delay(latency.1);
            }
        }
        Ok(Some(ended))
    }
}
