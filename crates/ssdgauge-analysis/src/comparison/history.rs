//! What a drive has varied in earlier runs of the same tests, where nothing was changed.

use crate::findings::trust;
use crate::groups::group::{self, Member};
use crate::model::Run;
use ssdgauge_core::{Detail, Headline, Metric};
use ssdgauge_statistics::difference::earlier::Earlier;
use std::collections::BTreeMap;

/// Returns what runs of one drive have in common: the model, the serial, and the seed of a virtual drive,
/// whose serial is that of its profile.
pub(crate) fn identity(run: &Run) -> (Option<&str>, Option<&str>, Option<&str>) {
    let drive = &run.head.drive;
    let seed = drive.detail(Detail::Seed).filter(|_| run.is_model());
    (drive.model.as_deref(), drive.serial.as_deref(), seed)
}

/// Earlier runs of one drive.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The values of each number of each test, with the start of their run.
    values: BTreeMap<Number, Vec<(i64, f64)>>,
    runs: usize,
}

/// A number of a test: its id, and the place of its rule, [`HEADLINE`] or that of a further one after it.
type Number = (String, usize);

/// The place of the headline among the numbers of a test.
pub(crate) const HEADLINE: usize = 0;

impl History {
    /// Adds `run`, where it is an earlier one of the drive of the `compared` runs under the firmware of the
    /// first one: it started before the second one, and is neither of them. A run is added once
    /// ([`crate::comparison::repeated_runs::once_each`]).
    ///
    /// # Errors
    /// Returns why it was left out.
    pub fn add(&mut self, run: &Run, compared: [&Run; 2]) -> Result<(), &'static str> {
        let [reference, judged] = compared;
        if identity(reference) != identity(run) {
            return Err("another drive");
        }
        if reference.head.drive.firmware != run.head.drive.firmware {
            return Err("another firmware");
        }
        if run.head.imported_from() != reference.head.imported_from() {
            return Err("measured by another program");
        }
        if trust::is_invalid(run) {
            return Err("invalid");
        }
        if compared.iter().any(|compared| compared.head.id == run.head.id) {
            return Err("one of the runs that are compared, or a copy");
        }
        match (run.head.started(), judged.head.started()) {
            (None, _) => return Err("of an unknown date"),
            (_, None) => return Err("not known to be earlier, as the second run has no date"),
            (Some(run), Some(judged)) if run >= judged => {
                return Err("not started before the second run");
            }
            (Some(_), Some(_)) => {}
        }
        self.runs += 1;
        for test in &reference.tests {
            let Some(same) = run.tests.iter().find(|same| same.test.id == test.test.id) else {
                continue;
            };
            let of_reference = Member { index: 0, run: reference, test };
            let of_run = Member { index: 1, run, test: same };
            if trust::invalid(run, same).is_some()
                || group::incomparable(of_reference, of_run).is_some()
            {
                continue;
            }
            let mut add = |place: usize, headline: &Headline| {
                let meters = group::other_meters(headline.metric, of_reference, of_run);
                let Some(value) = headline.value.filter(|_| meters.is_none()) else { return };
                let number = (test.test.id.clone(), place);
                let value = (run.head.started_unix_ms, value);
                self.values.entry(number).or_default().push(value);
            };
            add(HEADLINE, &same.headline);
            for (place, score) in test.test.also.iter().enumerate() {
                let of_run = same.test.also.iter().position(|other| other == score);
                if let Some(number) = of_run.and_then(|of_run| same.also.get(of_run)) {
                    add(HEADLINE + 1 + place, number);
                }
            }
        }
        Ok(())
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Returns what the runs show about the number at `place` of the test `id`, in `metric`.
    pub(crate) fn earlier(&self, id: &str, place: usize, metric: Metric) -> Earlier {
        let values = self.values.get(&(id.to_owned(), place));
        let mut values: Vec<(i64, f64)> = values.cloned().unwrap_or_default();
        values.sort_by_key(|(started, _)| *started);
        let values: Vec<f64> = values.into_iter().map(|(_, value)| value).collect();
        Earlier::new(&[&values], metric.resolution())
    }
}
