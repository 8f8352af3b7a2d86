//! The proof of a capacity in the properties of a run file.
//!
//! Its operations are properties: the steps of its plan serve the estimate, and are never recorded.

use crate::model::{Proof, ReportError};
use serde_json::Value;
use ssdgauge_runfile::{RunFile, StepRecord};

/// The properties of an X-ray: its settings, and its end.
const XRAY: &str = "xray";
const XRAY_ENDED: &str = "xray_ended";
/// The property of the settings, which a proof begins with.
const SETTINGS: &str = "proof";
/// The property of each operation.
const EVENT: &str = "proof_event";

/// Returns whether the X-ray in `file` has ended; `None` where it holds none. Which of its experiments are carried out
/// follows from their answers.
pub(crate) fn has_xray_ended(file: &RunFile) -> Result<Option<bool>, ReportError> {
    let properties = file.properties()?;
    let has = |key: &str| properties.iter().any(|one| one.step.is_none() && one.key == key);
    Ok(has(XRAY).then(|| has(XRAY_ENDED)))
}

/// Returns the proof in `file`, whose steps are `steps`; `None` where it holds none. A property that
/// cannot be read counts as absent.
pub(crate) fn read(file: &RunFile, steps: &[StepRecord]) -> Result<Option<Proof>, ReportError> {
    if !steps.is_empty() {
        return Ok(None);
    }
    let mut proof = None;
    for property in file.properties()?.into_iter().filter(|property| property.step.is_none()) {
        match (property.key.as_str(), &mut proof) {
            (SETTINGS, None) => proof = Some(Proof::default()),
            (EVENT, Some(proof)) => {
                let event: Value = serde_json::from_str(&property.value).unwrap_or_default();
                if event["event"] == "ended" {
                    proof.has_ended = true;
                    proof.verdict = serde_json::from_value(event["verdict"].clone()).ok();
                }
            }
            _ => {}
        }
    }
    Ok(proof)
}
