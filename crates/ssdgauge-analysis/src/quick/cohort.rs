//! The bands of quick: where the figures of a drive lie among those of a reference cohort of its class.
//!
//! The program contains a cohort of virtual drives; a folder of runs replaces it. A band is stated only
//! where the class of the drive is known and the cohort has enough drives of it.

use crate::drives::drive_class::{self, DriveClass};
use crate::model::Run;
use crate::model::plan::measured_spans;
use crate::quick::quick_look::{self, Figure};
use crate::text::number;
use serde::{Deserialize, Serialize};
use ssdgauge_core::TargetKind;
use ssdgauge_statistics::difference::class::FEWEST;
use ssdgauge_statistics::difference::{Outcome, class};
use ssdgauge_statistics::summary::median;
use std::collections::{BTreeMap, BTreeSet};

/// The cohort that the program contains: quick runs of virtual drives in their full capacity.
const SHIPPED: &str = include_str!("../../cohort/quick.toml");

/// Drives of several classes with their figures in the suite `quick`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cohort {
    /// The revision of the model, for virtual drives.
    model_revision: Option<u32>,
    /// The runs, several of one drive included.
    run: Vec<CohortRun>,
}

/// One run of a cohort.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CohortRun {
    /// The text that is equal for the runs of one drive.
    drive: String,
    /// The id of the run, which is not compared with itself; empty in the cohort of the program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    id: String,
    /// The key of its class.
    class: String,
    /// The bytes that the tests cover.
    span_bytes: u64,
    /// The value of each load.
    values: BTreeMap<String, f64>,
}

/// The bands for one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Bands {
    /// The class of its drive.
    pub class: DriveClass,
    /// Whether the cohort consists of virtual drives.
    pub is_model: bool,
    /// The runs of the cohort that are of the class.
    pub runs: usize,
    /// The drives of these runs.
    pub drives: usize,
    /// The bands by load.
    by_load: BTreeMap<String, (f64, f64)>,
}

/// A band, and how a value compares with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The lower limit.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
    /// The value compared with the band.
    pub outcome: Outcome,
}

impl Band {
    /// Returns the word for the position of the value in JSON.
    pub fn position(&self) -> &'static str {
        match self.outcome {
            Outcome::Lower => "below",
            Outcome::Equal | Outcome::NotDecided => "within",
            Outcome::Higher => "above",
        }
    }
}

impl Bands {
    /// Returns the band of the load of `figure`; `None` where too few drives have it.
    pub fn band(&self, figure: &Figure) -> Option<Band> {
        let (low, high) = *self.by_load.get(&figure.load)?;
        Some(Band { low, high, outcome: class::judge(figure.value, (low, high)) })
    }

    /// Returns the name of the band: `MODEL band`, or `band` for measured drives.
    pub fn name(&self) -> &'static str {
        if self.is_model { "MODEL band" } else { "band" }
    }

    /// Returns what the band is made of: `9 virtual drives`, or `31 runs of 12 drives`.
    pub fn origin(&self) -> String {
        match self.is_model {
            true => format!("{} virtual drives", self.drives),
            false => format!("{} runs of {} drives", self.runs, self.drives),
        }
    }

    /// Returns the rule of the limits.
    pub fn rule(&self) -> &'static str {
        match class::left_out(self.drives) {
            0 => "least to greatest value",
            _ => "10th to 90th percentile",
        }
    }
}

impl Cohort {
    /// Returns the cohort that the program contains.
    pub fn shipped() -> Cohort {
        toml::from_str(SHIPPED).expect("a test reads the data file of the program")
    }

    /// Returns the cohort of those `runs` that are finished quick runs of a drive of known class; `None`
    /// where there is none. Runs of virtual drives are left out where there are runs of real ones, and those of
    /// older revisions of the model where there are newer ones.
    pub fn from_runs(runs: &[Run]) -> Option<Cohort> {
        let fits =
            |run: &&Run| objection(run).is_none() && drive_class::class(&run.head.drive).is_ok();
        let fitting: Vec<&Run> = runs.iter().filter(fits).collect();
        let is_model = fitting.iter().all(|run| run.is_model());
        let revision = fitting.iter().filter_map(|run| run.head.drive.model_revision()).max();
        let model_revision = revision.filter(|_| is_model);
        let wanted =
            fitting.into_iter().filter(|run| run.head.drive.model_revision() == model_revision);
        let run: Vec<CohortRun> = wanted.filter_map(CohortRun::new).collect();
        (!run.is_empty()).then_some(Cohort { model_revision, run })
    }

    /// Returns this cohort as the text of a data file, in the order of the drives.
    pub fn text(&self) -> String {
        toml::to_string(self).expect("names and numbers are TOML")
    }

    /// Returns whether `run` is as fast as drives of its class, in a sentence, or why that is unknown.
    pub fn sentence(&self, run: &Run) -> String {
        let bands = match self.bands(run) {
            Ok(bands) => bands,
            Err(reason) => return format!("as fast as its class: unknown, because {reason}"),
        };
        let all = quick_look::loads(run);
        let judged: Vec<(&Figure, Band)> =
            all.iter().filter_map(|figure| Some((figure, bands.band(figure)?))).collect();
        let is_within = |band: &Band| band.position() == "within";
        let within = judged.iter().filter(|(_, band)| is_within(band)).count();
        let outside = judged.iter().filter(|(_, band)| !is_within(band)).map(|(figure, band)| {
            let (value, unit) = figure.quoted();
            let kind = if figure.is_read { ", reads" } else { "" };
            let high = number::measured(band.high, figure.metric);
            let (position, low) = (band.position(), number::text(band.low));
            format!(
                "; {position} it: {}{kind}, {value} {unit} ({low} to {high})",
                figure.conditions
            )
        });
        let outside: String = outside.collect();
        let (all, name, class) = (judged.len(), bands.name(), bands.class.words());
        format!("{within} of {all} loads within the {name} ({class}; {}){outside}", bands.origin())
    }

    /// Returns the bands for `run`.
    ///
    /// # Errors
    ///
    /// Returns the reason where there is none.
    pub fn bands(&self, run: &Run) -> Result<Bands, String> {
        if let Some(objection) = objection(run) {
            return Err(objection.to_owned());
        }
        let class = drive_class::class(&run.head.drive)
            .map_err(|reason| format!("the class of the drive is not known: {reason}"))?;
        let of_run = run.head.drive.model_revision();
        if of_run.is_some() && self.model_revision.is_some() && of_run != self.model_revision {
            return Err("the revisions of the model differ".to_owned());
        }
        if of_run.is_some() && self.model_revision.is_none() {
            return Err("a virtual drive is not compared with measured drives".to_owned());
        }
        let span = span(run);
        let is_alike = |one: &&CohortRun| one.class == class.key() && one.id != run.head.id;
        let alike: Vec<&CohortRun> = self.run.iter().filter(is_alike).collect();
        let same: Vec<&CohortRun> =
            alike.iter().copied().filter(|one| one.span_bytes == span).collect();
        let drives = drives(&same);
        if drives < FEWEST {
            let all = self::drives(&alike);
            return Err(match all >= FEWEST {
                true => format!(
                    "the drives of the cohort were tested over {}, this one over {} (--size sets it)",
                    sizes(&alike),
                    number::plain_capacity(span)
                ),
                false => format!(
                    "the cohort has {all} {} of the class ({}), and a band needs {FEWEST}",
                    if all == 1 { "drive" } else { "drives" },
                    class.words()
                ),
            });
        }
        let loads: BTreeSet<&String> = same.iter().flat_map(|one| one.values.keys()).collect();
        let by_load =
            loads.into_iter().filter_map(|load| Some((load.clone(), limits(&same, load)?)));
        let is_model = self.model_revision.is_some();
        Ok(Bands { class, is_model, runs: same.len(), drives, by_load: by_load.collect() })
    }
}

impl CohortRun {
    /// Returns the figures of `run`; `None` where its class is not known.
    fn new(run: &Run) -> Option<CohortRun> {
        let drive = &run.head.drive;
        let loads = quick_look::loads(run).into_iter().map(|figure| (figure.load, figure.value));
        let (name, id) = match drive.kind {
            // The serial of a virtual drive is a digest of its figures.
            TargetKind::Virtual => (drive.target.clone(), String::new()),
            TargetKind::File | TargetKind::Block | TargetKind::Null => {
                (drive.fingerprint(), run.head.id.clone())
            }
        };
        Some(CohortRun {
            drive: name,
            id,
            class: drive_class::class(drive).ok()?.key().to_owned(),
            span_bytes: span(run),
            values: loads.collect(),
        })
    }
}

/// Returns why `run` has no place in a cohort; `None` where it has one.
fn objection(run: &Run) -> Option<&'static str> {
    let reasons = [
        (run.head.plan.suite.id != quick_look::SUITE, "it is not a run of the suite quick"),
        (run.is_shortened(), "the run was shortened"),
        (run.head.plan.span_scaled, "the span was scaled"),
        (run.head.plan.polled, "its completions were polled"),
        (run.head.plan.pass_through, "its requests were passed through as NVMe commands"),
        (!run.complete, "the run is not finished"),
        (run.head.drive.kind == TargetKind::Null, "there is no drive"),
    ];
    reasons.into_iter().find(|(applies, _)| *applies).map(|(_, why)| why)
}

/// Returns the bytes that the tests of `run` cover.
fn span(run: &Run) -> u64 {
    let spans = run.tests.iter().flat_map(|test| measured_spans(&test.test));
    spans.map(|span| span.0).max().unwrap_or(0)
}

/// Returns the bytes that the tests of `runs` cover, in words.
fn sizes(runs: &[&CohortRun]) -> String {
    let sizes: BTreeSet<u64> = runs.iter().map(|one| one.span_bytes).collect();
    sizes.into_iter().map(number::plain_capacity).collect::<Vec<_>>().join(" or ")
}

fn drives(runs: &[&CohortRun]) -> usize {
    runs.iter().map(|one| &one.drive).collect::<BTreeSet<_>>().len()
}

/// Returns the limits of the band of `load`: each drive counts once, with the median of its runs.
fn limits(runs: &[&CohortRun], load: &str) -> Option<(f64, f64)> {
    let mut by_drive: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for run in runs {
        by_drive.entry(&run.drive).or_default().extend(run.values.get(load));
    }
    class::range(by_drive.into_values().filter_map(median).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(drive: usize, value: f64) -> CohortRun {
        CohortRun {
            drive: format!("drive {drive}"),
            id: String::new(),
            class: DriveClass::NvmeClient.key().into(),
            span_bytes: 1,
            values: [("load".to_owned(), value)].into(),
        }
    }

    #[test]
    fn the_cohort_of_the_program_is_read_and_every_class_in_it_is_known() {
        let cohort = Cohort::shipped();
        assert!(cohort.model_revision.is_some() && cohort.run.len() > 20);
        for one in &cohort.run {
            assert!(DriveClass::ALL.iter().any(|class| class.key() == one.class), "{}", one.class);
            assert_eq!(one.values.len(), 13, "{}", one.drive);
        }
        assert_eq!(toml::from_str::<Cohort>(&cohort.text()).as_ref(), Ok(&cohort));
    }

    #[test]
    fn a_drive_counts_once_with_the_median_of_its_runs() {
        let runs =
            [run(1, 1.0), run(2, 5.0), run(3, 9.0), run(3, 11.0), run(3, 100.0), run(3, 7.0)];
        let runs: Vec<&CohortRun> = runs.iter().collect();
        assert_eq!((drives(&runs), limits(&runs, "load")), (3, Some((1.0, 10.0))));
    }
}
