//! What the plan of a run shows of its drive at the start of each step: how much was written since it
//! was empty, whether that was in order, and how long it has rested.

use crate::model::{PointRun, TestRun};
use ssdgauge_core::{
    Access, Action, Direction, DriveInfo, Finding, FindingKind, Nanos, PhaseKind, Preparation,
    Stream, Workload,
};

/// A rest of this length or more lets a drive empty its cache. Chosen.
const REST: Nanos = Nanos::from_secs(10);

/// A write or a trim over this share of a drive or more covers it. Chosen: reviews leave out the rest of
/// a division by whole gigabytes.
const WHOLE: f64 = 0.95;

/// What is known of a drive at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DriveState {
    /// The bytes written since the drive was empty, at most; `None` where it is not known that it was.
    pub(crate) written: Option<u64>,
    /// The bytes written out of order since it was empty or was filled in order; `None` where that is
    /// not known.
    pub(crate) scattered: Option<u64>,
    /// The bytes written since the drive was empty or last rested, at most; `None` where neither is known.
    pub(crate) since_rest: Option<u64>,
    /// The time without load since the last write.
    rest: Nanos,
    /// Whether nothing was written since it was emptied.
    is_empty: bool,
}

impl DriveState {
    /// The state of a drive of which nothing is known.
    pub(crate) const UNKNOWN: DriveState = DriveState {
        written: None,
        scattered: None,
        since_rest: None,
        rest: Nanos::ZERO,
        is_empty: false,
    };

    const EMPTY: DriveState = DriveState {
        written: Some(0),
        scattered: Some(0),
        since_rest: Some(0),
        rest: Nanos::ZERO,
        is_empty: true,
    };

    /// Returns whether nothing was written since the drive was emptied.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    fn rests(&mut self, time: Nanos) {
        self.rest = Nanos(self.rest.0.saturating_add(time.0));
        if self.rest >= REST {
            self.since_rest = Some(0);
        }
    }

    /// Adds `bytes` that were written, in order or not.
    fn writes(&mut self, bytes: u64, in_order: bool) {
        if bytes == 0 {
            return;
        }
        self.written = self.written.map(|before| before.saturating_add(bytes));
        self.since_rest = self.since_rest.map(|before| before.saturating_add(bytes));
        if !in_order {
            self.scattered = self.scattered.map(|before| before.saturating_add(bytes));
        }
        (self.is_empty, self.rest) = (false, Nanos::ZERO);
    }

    fn prepares(&mut self, preparation: &Preparation, drive: &Drive) {
        let covers = |span: u64| span as f64 >= WHOLE * drive.capacity as f64;
        match *preparation {
            Preparation::Purge | Preparation::PurgeBy(_) => {
                *self = match (drive.is_purged, drive.is_whole) {
                    (true, true) => DriveState::EMPTY,
                    // The rest of the drive may hold data; what was in the cache is dropped.
                    (true, false) => DriveState { since_rest: Some(0), ..DriveState::UNKNOWN },
                    (false, _) => DriveState::UNKNOWN,
                };
            }
            Preparation::Trim { span, .. } if drive.is_whole && covers(span.0) => {
                *self = DriveState::EMPTY;
            }
            Preparation::Fill { access, span, .. } => {
                let in_order = access == Access::Sequential;
                self.writes(span.0, in_order);
                if in_order && drive.is_whole && covers(span.0) {
                    self.scattered = Some(0);
                }
            }
            Preparation::Trim { .. } | Preparation::Power(_) | Preparation::WriteCache(_) => {}
        }
    }

    /// Adds a load with its samples. The volume of one that the run keeps no samples of is not known: it
    /// may be the whole drive.
    fn runs(&mut self, workload: &Workload, point: Option<&PointRun>, drive: &Drive) {
        if !workload.writes() {
            return;
        }
        let mut writing = workload.streams.iter().filter(|stream| stream.writes());
        let in_order = writing.all(Stream::is_sequential);
        let written =
            |point: &PointRun| point.point.totals.directions[Direction::Write as usize].bytes;
        self.writes(point.map_or(drive.capacity, written), in_order);
        if point.is_none() && !in_order {
            self.scattered = None;
        }
    }
}

/// What counts of the drive of a run.
struct Drive {
    capacity: u64,
    /// Whether the run has the whole drive: a file lies on a file system with other data.
    is_whole: bool,
    /// Whether purges succeed.
    is_purged: bool,
}

/// Returns the state of `drive` before each step of each of `tests` that was measured, in the order of
/// their points.
pub(crate) fn before_steps(
    drive: &DriveInfo,
    findings: &[Finding],
    tests: &[TestRun],
) -> Vec<Vec<DriveState>> {
    let failed = |kind: FindingKind| {
        kind == FindingKind::PurgeNotPossible || kind == FindingKind::TrimIneffective
    };
    let is_whole = drive.kind.is_drive() && !drive.is_limited();
    let mut state = DriveState::UNKNOWN;
    let of_test = |test: &TestRun| {
        let of_steps = test.findings.iter().map(|of_step| &of_step.finding);
        let has_failed = findings.iter().chain(of_steps).any(|finding| failed(finding.kind));
        let drive = Drive { capacity: drive.capacity.0, is_whole, is_purged: !has_failed };
        walk(test, &drive, &mut state)
    };
    tests.iter().map(of_test).collect()
}

/// Returns the state before each point of `test`, and leaves in `state` that after the test.
fn walk(test: &TestRun, drive: &Drive, state: &mut DriveState) -> Vec<DriveState> {
    // The plan does not have the order of the steps of a search or of rounds.
    if test.test.search.is_some() || test.test.rounds.is_some() {
        *state = DriveState::UNKNOWN;
        return vec![DriveState::UNKNOWN; test.points.len()];
    }
    // What is known before a repetition holds only where it prepares the drive itself.
    if test.repetitions.len() > 1 {
        *state = DriveState::UNKNOWN;
    }
    let mut before = Vec::with_capacity(test.points.len());
    for phase in &test.test.phases {
        for step in &phase.steps {
            let is_measured =
                phase.kind == PhaseKind::Measure && step.action.measured_workload().is_some();
            let point = test.points.get(before.len()).filter(|point| {
                let point = &point.point;
                is_measured && point.label == step.label && point.position == step.position
            });
            before.extend(point.map(|_| *state));
            match &step.action {
                Action::Prepare(preparation) => state.prepares(preparation, drive),
                Action::Rest(time) | Action::Idle(time) => state.rests(*time),
                Action::Run { workload, .. } => state.runs(workload, point, drive),
                Action::Replay(replay) => state.runs(&replay.workload, point, drive),
            }
            state.rests(step.rest.after(point.map_or(Nanos::ZERO, |one| one.point.totals.elapsed)));
        }
    }
    before.resize(test.points.len(), DriveState::UNKNOWN);
    before
}

#[cfg(test)]
mod tests;
