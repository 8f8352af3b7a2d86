//! What a run file holds of an X-ray: its settings, and the answers of the drive in each experiment.

use super::exchange::{Exchange, Reply};
use super::experiment::Experiment;
use super::options::XrayOptions;
use serde::de::Error;
use serde::{Deserialize, Serialize};
use ssdgauge_core::Bytes;
use ssdgauge_runfile::{Answer, RunFile, RunFileError, StepId, StepState, XRAY};
use std::collections::BTreeMap;

/// The bytes that one load moves at most, 2^50, so that sums over all of them keep within a number.
const MOST_BYTES: u64 = 1 << 50;
/// The property that is recorded once the last experiment has ended.
pub(crate) const ENDED: &str = "xray_ended";

/// The record of an X-ray.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedXray {
    /// What it looks for.
    pub options: XrayOptions,
    /// The exchanges of each experiment that is finished.
    pub experiments: BTreeMap<Experiment, Vec<Exchange>>,
    /// The experiments that were begun, and not finished since.
    pub(super) open: Vec<Experiment>,
    /// Whether the last experiment has ended.
    pub has_ended: bool,
    /// The bytes that were written at most, by experiments that are not finished as well.
    pub written: Bytes,
}

impl RecordedXray {
    /// Returns the record of an X-ray that has not begun.
    pub fn none(options: XrayOptions) -> RecordedXray {
        RecordedXray {
            options,
            experiments: BTreeMap::new(),
            open: Vec::new(),
            has_ended: false,
            written: Bytes(0),
        }
    }

    /// Reads the record of `run`; `None` where it is not an X-ray.
    ///
    /// # Errors
    /// [`RunFileError::Damaged`] where a record fails its check.
    pub fn read(run: &RunFile) -> Result<Option<RecordedXray>, RunFileError> {
        let damaged = |what: String| RunFileError::Damaged { path: run.path().to_owned(), what };
        let properties = run.properties()?;
        let of_run =
            |key: &str| properties.iter().rfind(|one| one.step.is_none() && one.key == key);
        let Some(settings) = of_run(XRAY) else { return Ok(None) };
        let mut options: XrayOptions = serde_json::from_str(&settings.value)
            .map_err(|error| damaged(format!("the property {XRAY}: {error}")))?;
        let has = |experiment: Experiment| {
            run.head().plan.tests.iter().any(|test| test.id == experiment.key())
        };
        if has(Experiment::Flush) && !has(Experiment::Buffer) {
            options.leave_out_programs();
        }
        let mut exchanges: BTreeMap<StepId, Vec<Exchange>> = BTreeMap::new();
        let mut unreadable = None;
        run.answers(|step, answer| match Exchange::from_record(&answer) {
            Ok(exchange) => exchanges.entry(step).or_default().push(exchange),
            Err(error) => unreadable = Some(format!("an answer of step {}: {error}", step.0)),
        })?;
        if let Some(what) = unreadable {
            return Err(damaged(what));
        }
        let mut recorded = RecordedXray::none(options);
        recorded.has_ended = of_run(ENDED).is_some();
        for step in run.steps()? {
            let test = run.head().plan.tests.get(step.place.test);
            let experiment = test.and_then(|test| Experiment::from_key(&test.id));
            let experiment = experiment
                .ok_or_else(|| damaged(format!("step {} belongs to no experiment", step.id.0)))?;
            // An experiment that was killed has stated nothing.
            let stated = step.report.as_deref().and_then(ExperimentReport::parse);
            let phase = test.and_then(|test| test.phases.first());
            let planned = phase.into_iter().flat_map(|phase| &phase.steps);
            let planned = planned.filter_map(|step| step.action.writes_at_most());
            recorded.written +=
                stated.map_or_else(|| planned.sum(), |stated| Bytes(stated.written_bytes));
            // With the trim everything begins again.
            if experiment == Experiment::Ceilings {
                recorded.experiments.clear();
                recorded.open.clear();
            }
            recorded.open.retain(|one| *one != experiment);
            match step.state {
                StepState::Finished => {
                    let found = exchanges.remove(&step.id).unwrap_or_default();
                    recorded.experiments.insert(experiment, found);
                }
                StepState::Running | StepState::Broken => recorded.open.push(experiment),
            }
        }
        Ok(Some(recorded))
    }

    /// Returns the property that the run file of an X-ray begins with.
    pub fn property(&self) -> (String, String) {
        let text = serde_json::to_string(&self.options).expect("plain data always serialises");
        (XRAY.to_owned(), text)
    }

    /// Leaves out what a real drive does not keep over a pause; returns what is carried out again, as the end of a
    /// sentence.
    pub(crate) fn keep_over_pause(&mut self) -> String {
        let mut begun = self.experiments.keys().chain(&self.open);
        let is_in_cache = begun.all(|one| one.is_of_cache());
        if is_in_cache || self.open.iter().any(|one| one.uses_spare_area()) {
            self.experiments.clear();
            return "; the X-ray was started again with the trim, because a pause changes how full the fast cache and \
                    the spare area are"
                .into();
        }
        match self.open.last() {
            Some(one) => format!("; experiment '{}' was started again", one.title()),
            None => String::new(),
        }
    }
}

/// The report of an experiment in its step.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ExperimentReport {
    /// The bytes that it wrote; where it ended early, those that it may have written.
    pub(crate) written_bytes: u64,
    /// The error that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl ExperimentReport {
    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).expect("plain data always serialises")
    }

    fn parse(text: &str) -> Option<ExperimentReport> {
        serde_json::from_str(text).ok()
    }
}

impl Exchange {
    /// Returns the record of this exchange at the time of day `unix_ms`.
    pub(crate) fn record(&self, unix_ms: i64) -> Answer {
        let answer = serde_json::to_string(&self.reply).expect("plain data always serialises");
        Answer { unix_ms, kind: self.reply.kind().into(), asked: self.asked.clone(), answer }
    }

    fn from_record(answer: &Answer) -> Result<Exchange, serde_json::Error> {
        let reply: Reply = serde_json::from_str(&answer.answer)?;
        if let Reply::Ran { lanes, .. } = &reply {
            let bytes = lanes.iter().flat_map(|lane| &lane.bytes);
            if bytes.fold(0, |sum: u64, bytes| sum.saturating_add(*bytes)) > MOST_BYTES {
                return Err(serde_json::Error::custom("more bytes than a load can move"));
            }
        }
        Ok(Exchange { asked: answer.asked.clone(), reply })
    }
}
