//! What a drive reported of its health during a run.

use crate::findings::finding_words;
use crate::model::Run;
use serde::{Deserialize, Serialize};
use ssdgauge_core::FindingKind;

/// Findings that say that something is wrong with the drive itself.
const TROUBLES: [FindingKind; 6] = [
    FindingKind::HealthWarning,
    FindingKind::MediaError,
    FindingKind::WrongData,
    FindingKind::LostWrites,
    FindingKind::VerifyFailed,
    FindingKind::FlushFailed,
];

/// The health of a drive during a run; `None` for what it does not report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// The share of its rated endurance that is used, in percent.
    pub used_percent: Option<f64>,
    /// The highest temperature that a meter or the drive itself read, in °C.
    pub peak_c: Option<f64>,
    /// Whether it reduced its speed because of its temperature.
    pub throttled: bool,
    /// Titles of findings that concern the drive itself.
    pub troubles: Vec<String>,
}

impl Health {
    /// Returns the health of the drive during `run`.
    pub fn of(run: &Run) -> Health {
        let findings = run.all_findings();
        let has = |kind| findings.iter().any(|located| located.finding.kind == kind);
        let seconds = run.tests.iter().flat_map(|test| &test.points).flat_map(|one| one.seconds());
        let temperature = |second: crate::model::Second| {
            ["temperature_c", "smart_temperature_c"].iter().find_map(|key| second.reading(key))
        };
        Health {
            used_percent: run.wear.used_percent,
            peak_c: seconds.filter_map(temperature).reduce(f64::max),
            throttled: has(FindingKind::Throttled),
            troubles: TROUBLES
                .into_iter()
                .filter(|kind| has(*kind))
                .map(finding_words::title)
                .collect(),
        }
    }
}
