//! Figures: charts as plain data, made from the numbers of the analysis.
//!
//! A chart never knows how it is drawn; [`draw`] turns it into SVG or PNG. Nothing here computes a
//! result.

pub(crate) mod chart;
pub(crate) mod curve;
mod distribution;
pub(crate) mod draw;
mod fill;
mod instruments;
mod qos;
mod ranking;
mod reduce;
pub(crate) mod specification;
mod steady;
mod timeline;
pub(crate) mod vega;

use crate::analysis::captions::marks;
use crate::analysis::group::Group;
use crate::analysis::report_drives::ReportDrives;
use crate::figure::chart::{Bar, Chart, Drawing, Line};
use crate::text::number;
use ssdgauge_core::{Figure, Metric};
pub use vega::VEGA_LITE_MARK;

/// Returns the figures of `group`, in the order in which its test names them.
pub(crate) fn charts(group: &Group<'_>, drives: &ReportDrives) -> Vec<Chart> {
    let test = &group.first().test.test;
    let mut charts = Vec::new();
    for figure in &test.figures {
        match figure {
            // A ranking of one drive has no use; its result is in the text above.
            Figure::Ranking if group.members.len() == 1 && test.figures.len() > 1 => {}
            Figure::Ranking => {
                charts.push(ranking::chart(group, drives));
                charts.extend(ranking::further_charts(group, drives));
                charts.extend(instruments::bar_charts(group, drives));
            }
            Figure::Curve => charts.extend(curve::charts(group, drives)),
            Figure::Timeline => charts.extend(timeline::rate_charts(group, drives)),
            Figure::LatencyTimeline => charts.extend(timeline::latency_chart(group, drives)),
            Figure::Distribution => charts.extend(distribution::charts(group, drives)),
        }
    }
    charts.extend(steady::charts(group, drives));
    charts.extend(qos::chart(group, drives));
    charts.extend(instruments::timelines(group, drives));
    show_untested(&mut charts, group, drives);
    charts.into_iter().map(|chart| with_marks(chart, group)).collect()
}

/// Returns the curve of `metric` over the points of `group`; `None` where its steps differ in no one
/// parameter.
pub(crate) fn curve_of(group: &Group<'_>, drives: &ReportDrives, metric: Metric) -> Option<Chart> {
    curve::of_metric(group, drives, metric).map(|chart| with_marks(chart, group))
}

/// Returns the rate of each second of `group`, as the page shows it first; `None` without a second.
pub(crate) fn rate_of(group: &Group<'_>, drives: &ReportDrives) -> Option<Chart> {
    let charts = timeline::rate_charts(group, drives);
    charts.into_iter().find(|chart| !chart.folded).map(|chart| with_marks(chart, group))
}

/// Returns `chart` with the marks of its runs, such as `MODEL`, in its title.
fn with_marks(chart: Chart, group: &Group<'_>) -> Chart {
    let marks = marks(group);
    match marks.is_empty() {
        true => chart,
        false => Chart { title: format!("{} [{}]", chart.title, marks.join(", ")), ..chart },
    }
}

/// Draws the drives that were never tested so as gaps, so that every chart has the same drives.
fn show_untested(charts: &mut [Chart], group: &Group<'_>, drives: &ReportDrives) {
    const WHY: &str = "not tested";
    let untested = drives.untested_in_figures(group);
    for chart in charts {
        for drive in &untested {
            let name = drives.name(*drive);
            match &mut chart.drawing {
                // Bars by step have no place for a drive without steps.
                Drawing::Bars { bars, .. } if chart.kind != "curve" => {
                    bars.push(Bar {
                        label: name.to_owned(),
                        part: "",
                        colour: drives.slot(*drive),
                        value: Err(WHY.to_owned()),
                        interval: None,
                        highlighted: drives.highlighted == Some(*drive),
                    });
                    let mut row = vec![name.to_owned(), WHY.to_owned()];
                    row.resize(chart.table.head.len().max(row.len()), number::NOTHING.to_owned());
                    chart.table.rows.push(row);
                }
                // For a single drive the lines are steps or instruments, not drives.
                Drawing::Lines { lines, .. }
                    if group.members.len() > 1 && chart.kind != "curve-with-power" =>
                {
                    lines.push(Line {
                        label: format!("{name} ({WHY})"),
                        colour: drives.slot(*drive),
                        dashed: false,
                        right: false,
                        marked: false,
                        stretches: Vec::new(),
                    });
                }
                Drawing::Bars { .. } | Drawing::Lines { .. } => {}
            }
        }
    }
}
