//! From run files to pages: metrics, figures, reports and comparisons.
//!
//! Data flows one way: run file → record → [`Run`] → chart → page. Every number is recomputed
//! from the samples of its run file.
//!
//! `model` has the types. `load` reads a run file into them. `analysis` computes every number,
//! finding, comparison and claim. `chart` makes charts of them, and `page` and `output` write
//! everything down. `text` has the words and numbers that all of them use.
//!
//! The card of an X-ray has its values already: `chart::xray` draws it, `page` and `output` write it down.
//!
//! This crate never opens a drive, depends on no program that wrote a run, and writes no file.

mod analysis;
mod chart;
mod load;
mod model;
mod output;
mod page;
mod text;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

pub use analysis::batch::{Batch, BatchDot, BatchDrive, BatchState, BatchStrip};
pub use analysis::cohort::Cohort;
pub use analysis::compare::{
    CompareError, CompareOptions, Comparison, Difference, TestComparison, compare,
    compare_with_history,
};
pub use analysis::group::power_meters;
pub use analysis::history::History;
pub use analysis::input_error::InputError;
pub use analysis::label_comparison::{LabelError, compared_labels};
pub use analysis::notes::{DriveNotes, Notes, Photograph};
pub use analysis::options::PageOptions;
pub use analysis::repeated_runs::{RepeatedRun, once_each};
pub use analysis::report_drives::find_run;
pub use analysis::run_line::{grade as run_grade, headline as run_headline};
pub use analysis::run_outcome::{RunOutcome, of as run_outcome};
pub use analysis::spec_file::{CacheSide, State};
pub use analysis::specification::{Claim, Specification};
pub use analysis::stated_figures::stated_figures;
pub use model::{
    CachePlace, Durability, FallCause, LifeCounter, LocatedFinding, PointRun, Proof, Repetition,
    ReportError, Run, Second, SpeedFall, StepFinding, StepLevels, TestRun, Tracked, VerifiedRun,
    Wear,
};
pub use output::{
    Exposition, MetricFamily, MetricKind, MetricSample, NamedFigure, PNG_MARK, PublishedNumber,
    SVG_MARK, Value, bands_json, claims_json, claims_markdown, csv, figures, json, markdown,
    openmetrics, published_curve, rate_of_seconds, share_image, terminal_summary, values, xray_png,
    xray_svg,
};
pub use page::{PAGE_MARK, fleet_page, fragment, page, xray_compared_page, xray_page};
pub use text::labels::{data_origin, imported_mark};
pub use text::sanitize::{
    device as sanitize_device, json as sanitize_json, prose as sanitize_prose,
};

/// Reads the run file at `path` and recomputes every number from its samples.
///
/// An interrupted run is read up to its last finished step. The file is not changed.
///
/// # Errors
///
/// Returns an error for a file that is missing, damaged or of another format, and for values that
/// no drive can reach.
pub fn read(path: &Path) -> Result<Run, ReportError> {
    Ok(analysis::annotate(load::read(path)?))
}

/// Reads the run files at `paths` as [`read`] does, with one thread per processor, and returns the
/// runs in the order of `paths`.
///
/// # Errors
///
/// Returns the first error in the order of `paths`.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Run>, ReportError> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(paths.len());
    if workers < 2 {
        return paths.iter().map(|path| read(path)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut read_here = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(place) else { return read_here };
            read_here.push((place, read(path)));
        }
    };
    let mut runs: Vec<(usize, Result<Run, ReportError>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let join = |thread: ScopedJoinHandle<'_, Vec<_>>| match thread.join() {
            Ok(runs) => runs,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().flat_map(join).collect()
    });
    runs.sort_by_key(|(place, _)| *place);
    runs.into_iter().map(|(_, run)| run).collect()
}
