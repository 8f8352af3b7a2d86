//! What a run observed of its drive that no speed outweighs: failed requests, seconds without an answer, data that were
//! not kept, a warning of its health. Observations, not causes: the link or the host may have a part in them.

use crate::findings::finding_lines::by_kind;
use crate::model::{PointRun, Run};
use crate::text::number;
use ssdgauge_core::proof::Conclusion;
use ssdgauge_core::rounded::count_of;
use ssdgauge_core::{FindingKind, Severity};

/// The kinds of such findings, the gravest first, with what the drive did.
const KINDS: [(FindingKind, &str); 13] = [
    (FindingKind::DriveGone, "disappeared"),
    (FindingKind::WrongData, RETURNED),
    (FindingKind::NotKept, RETURNED),
    (FindingKind::LostWrites, RETURNED),
    (FindingKind::VerifyFailed, RETURNED),
    (FindingKind::FlushFailed, "failed a flush"),
    (FindingKind::TargetShrank, "shrank"),
    (FindingKind::MediaError, "reported media errors"),
    (FindingKind::Faults, "failed requests"),
    (FindingKind::ShortTransfer, "shortened requests"),
    (FindingKind::HealthWarning, "warned of its health"),
    (FindingKind::Hung, "stopped responding"),
    (FindingKind::Stalled, "stood still"),
];

/// The kinds of findings that show what held a drive back, with what happened to it.
const HELD_BACK: [(FindingKind, &str); 2] = [
    (FindingKind::Throttled, "was throttled"),
    (FindingKind::LinkBelowCapability, "had a link below its capability"),
];

const RETURNED: &str = "returned other data than written";

/// What a run observed of its drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveFault {
    /// The kind of its findings; `None` for a capacity that was not proved.
    pub kind: Option<FindingKind>,
    /// What the drive did, as the predicate of a sentence.
    pub did: &'static str,
    /// The observation with its numbers, safe to show.
    pub text: String,
    /// The findings of this kind.
    pub findings: usize,
}

/// Returns what `run` observed of its drive, the gravest first; notes are none.
pub fn of(run: &Run) -> Vec<DriveFault> {
    let proof = run.proof.filter(|proof| {
        use Conclusion::{Damaged, Ends, Wraps};
        matches!(proof.verdict, Some(Wraps { .. } | Ends { .. } | Damaged))
    });
    let of_proof = proof.map(|proof| DriveFault {
        kind: None,
        did: "did not store what it states",
        text: format!("proof of the capacity: {}", proof.describe()),
        findings: 1,
    });
    of_proof.into_iter().chain(observed(run, &KINDS)).collect()
}

/// Returns what held the drive of `run` back: heat or its link; notes are none. By itself this is not a fault of the drive: a
/// reader has to know whether other drives of its kind were held back too.
pub fn held_back(run: &Run) -> Vec<DriveFault> {
    observed(run, &HELD_BACK)
}

/// Returns how many requests of `run` failed, and in how many measured steps; `None` where none did.
fn failed_requests(run: &Run) -> Option<(u64, usize)> {
    let points = run.tests.iter().flat_map(|test| &test.points);
    let of_point = |point: &PointRun| -> u64 {
        point.point.totals.directions.iter().map(|direction| direction.errors).sum()
    };
    let failed: Vec<u64> = points.map(of_point).filter(|failed| *failed > 0).collect();
    (!failed.is_empty()).then(|| (failed.iter().sum(), failed.len()))
}

/// Returns the findings of `kinds`, one of each, in their order.
fn observed(run: &Run, kinds: &[(FindingKind, &'static str)]) -> Vec<DriveFault> {
    let rank = |kind: FindingKind| kinds.iter().position(|(known, _)| *known == kind);
    let grave = run.all_findings().into_iter().filter(|one| one.finding.severity > Severity::Note);
    let lines = by_kind(grave.filter(|one| rank(one.finding.kind).is_some()));
    let mut found: Vec<(usize, DriveFault)> = Vec::new();
    for line in lines {
        let kind = line.first.kind;
        let Some(rank) = rank(kind) else { continue };
        let all = run.tests.len();
        // One step of several says too little: their sum.
        let sum = failed_requests(run).filter(|(_, steps)| line.n > 1 && *steps == line.n);
        let text = match sum.filter(|_| kind == FindingKind::Faults) {
            Some((failed, steps)) => {
                let (failed, steps) = (number::count(failed), count_of(steps, "step"));
                format!("{failed} requests failed in {steps}{}", line.of_tests(all))
            }
            None => line.observation(all),
        };
        let did = kinds[rank].1;
        found.push((rank, DriveFault { kind: Some(kind), did, text, findings: line.n }));
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, fault)| fault).collect()
}
