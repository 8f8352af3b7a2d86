//! Id, title and expected cost of each built-in suite, for a list of them.
//!
//! They are in `listed.tsv`, because to parse and to plan every suite takes several times as
//! long as the rest of the command that lists them. A test computes the file again and compares it: it
//! must never be edited by hand.

use crate::cost::{assumed_rates, computing_time, expected_cost};
use crate::planner::{Options, plan};
use crate::suite::Suite;
use ssdgauge_core::{Bytes, DriveInfo, Nanos, Plan, TargetKind};

/// The size of the scratch file of a suite without sizes, 4 GiB.
pub const SCRATCH_SIZE: Bytes = Bytes(4 << 30);

/// A built-in suite without its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedSuite {
    /// The id of the suite.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What [`expected_on_1_tb`] returns for it.
    pub cost: Option<(Nanos, Bytes)>,
    /// What [`computing_time_on_1_tb`] returns for it.
    pub computing: Option<Nanos>,
}

/// For each suite: id, title, nanoseconds, bytes and nanoseconds of computing, with a tab between each; dashes where
/// it has no cost.
const LISTED: &str = include_str!("listed.tsv");

/// Returns all built-in suites, in the order of their list.
pub fn listed() -> Vec<ListedSuite> {
    LISTED.lines().map(from_line).collect()
}

fn from_line(line: &'static str) -> ListedSuite {
    let mut fields = line.split('\t');
    let mut field = || fields.next().expect("a test compares every line with its suite");
    let (id, title, time, written, computing) = (field(), field(), field(), field(), field());
    let cost = time.parse().ok().zip(written.parse().ok());
    let cost = cost.map(|(time, written)| (Nanos(time), Bytes(written)));
    ListedSuite { id, title, cost, computing: computing.parse().ok().map(Nanos) }
}

/// Returns the plan of `suite` on an NVMe client drive of 1 TB, and the drive; for a quick one, in a
/// scratch file on it. `None` where it does not fit.
pub fn plan_on_1_tb(suite: &Suite) -> Option<(Plan, DriveInfo)> {
    let is_quick = suite.id == "quick" || suite.id.starts_with("quick-");
    let drive = DriveInfo {
        kind: if is_quick { TargetKind::File } else { TargetKind::Block },
        target: "/dev/nvme0n1".into(),
        model: None,
        serial: None,
        firmware: None,
        capacity: if is_quick { SCRATCH_SIZE } else { Bytes(1_000_000_000_000) },
        logical_block: Bytes(512),
        physical_block: Bytes(4_096),
        details: [("transport".to_owned(), "pcie".to_owned())].into(),
    };
    let plan = plan(suite, &drive, &Options::default()).ok()?;
    Some((plan, drive))
}

/// Returns what `suite` is expected to take and to write with the plan of [`plan_on_1_tb`].
pub fn expected_on_1_tb(suite: &Suite) -> Option<(Nanos, Bytes)> {
    let (plan, drive) = plan_on_1_tb(suite)?;
    Some(expected_cost(&plan, drive.capacity, &assumed_rates(&drive)))
}

/// Returns the expected time in which a machine computes the plan of [`plan_on_1_tb`] on a virtual drive.
pub fn computing_time_on_1_tb(suite: &Suite) -> Option<Nanos> {
    let (plan, drive) = plan_on_1_tb(suite)?;
    Some(computing_time(&plan, drive.capacity, &assumed_rates(&drive)))
}
