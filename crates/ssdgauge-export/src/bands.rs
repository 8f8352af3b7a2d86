//! The bands of quick runs as JSON.

use crate::documents::bands::{Band, Bands, NoBands, QuickBands};
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::quick::cohort::Cohort;
use ssdgauge_analysis::quick::quick_look;
use ssdgauge_analysis::text::sanitize;

/// Returns where the numbers of `run` lie within the band of the class of its drive in `cohort`, or the
/// reason why there is none; `None` for a run of another suite than quick.
pub(crate) fn quick_bands(run: &Run, cohort: &Cohort) -> Option<QuickBands> {
    if run.head.plan.suite.id != quick_look::SUITE {
        return None;
    }
    let bands = match cohort.bands(run) {
        Ok(bands) => bands,
        Err(reason) => return Some(QuickBands::None(NoBands { bands: (), reason })),
    };
    let figures = quick_look::loads(run).into_iter().filter_map(|figure| {
        let band = bands.band(&figure)?;
        Some(Band {
            load: sanitize::prose(&figure.load),
            metric: figure.metric.key(),
            value: figure.value,
            band_low: band.low,
            band_high: band.high,
            position: band.position(),
        })
    });
    Some(QuickBands::Known(Bands {
        class: bands.class.key(),
        model: bands.is_model,
        cohort_runs: bands.runs,
        cohort_drives: bands.drives,
        limits: bands.rule(),
        bands: figures.collect(),
    }))
}
