//! Figures as plain data: what is drawn, in which unit, and the table of its numbers.
//!
//! A figure never knows how it is drawn; [`draw`] turns it into SVG or PNG.

mod curve;
mod distribution;
pub(crate) mod draw;
pub(crate) mod fill;
mod instruments;
mod qos;
pub(crate) mod ranking;
mod reduce;
mod steady;
mod timeline;
pub(crate) mod vega;

pub(crate) use crate::cast::Cast;
use crate::clean;
use crate::group::{Group, Member};
use crate::names;
use crate::number;
pub(crate) use ranking::reason;
use ssdgauge_core::Figure;

/// One picture with everything that a reader must know to read it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    /// What it shows, in a few words.
    pub(crate) title: String,
    /// Unit, n, from when to when a latency counts, what the bars of uncertainty are.
    pub(crate) notes: Vec<String>,
    /// The picture.
    pub(crate) drawing: Drawing,
    /// Its numbers.
    pub(crate) table: Table,
    /// The kind, for file names.
    pub(crate) kind: &'static str,
    /// Whether it stands behind the others, for those who want to know more.
    pub(crate) folded: bool,
}

impl Chart {
    /// Returns the chart for the second row.
    pub(crate) fn fold(self) -> Chart {
        Chart { folded: true, ..self }
    }
}

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Drawing {
    /// Bars from zero, one below the other.
    Bars {
        /// The unit of all values.
        unit: String,
        /// The bars, from top to bottom.
        bars: Vec<Bar>,
    },
    /// Lines over an axis.
    Lines {
        /// The horizontal axis.
        x: Axis,
        /// The vertical axis.
        y: Axis,
        /// The vertical axis of the lines that say so; both axes begin at zero then.
        right: Option<Axis>,
        /// The lines.
        lines: Vec<Line>,
        /// Where a step begins, with its label.
        boundaries: Vec<(f64, String)>,
        /// What happened where, such as the end of a cache.
        marks: Vec<Mark>,
    },
}

/// One bar of a ranking.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// What it stands for; empty where the bar above names it.
    pub(crate) label: String,
    /// What of it, such as `mean`; empty where a drive has one bar.
    pub(crate) part: &'static str,
    /// The number of its colour.
    pub(crate) colour: usize,
    /// Its length, or why there is none.
    pub(crate) value: Result<f64, String>,
    /// The 95 % interval.
    pub(crate) interval: Option<(f64, f64)>,
    /// Whether it shall stand out.
    pub(crate) highlighted: bool,
}

/// A place on the horizontal axis where something happened to a drive.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    /// Where.
    pub(crate) at: f64,
    /// What, in a few words.
    pub(crate) label: String,
    /// The number of its colour.
    pub(crate) colour: usize,
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// What it shows, with its unit.
    pub(crate) label: String,
    /// How values are placed on it.
    pub(crate) scale: Scale,
}

/// How values are placed on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Evenly, from zero.
    Linear,
    /// Evenly, from the first value on; only for time.
    Onward,
    /// By powers of two.
    Log2,
    /// By powers of ten.
    Log10,
    /// Percentiles by what lies beyond them: 0, 90, 99, 99.9 and so on at equal distances.
    Tail,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// What it stands for.
    pub(crate) label: String,
    /// The number of its colour.
    pub(crate) colour: usize,
    /// Whether it is dashed.
    pub(crate) dashed: bool,
    /// Whether its values lie on the right axis.
    pub(crate) right: bool,
    /// Whether each point has a mark.
    pub(crate) marked: bool,
    /// Its stretches, with gaps between them.
    pub(crate) stretches: Vec<Vec<(f64, f64)>>,
}

/// The numbers of a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    /// The heads of its columns.
    pub(crate) head: Vec<String>,
    /// The rows; the first cell of each is its head.
    pub(crate) rows: Vec<Vec<String>>,
}

/// Returns the figures of `group`, in the order in which its test names them.
pub(crate) fn of(group: &Group<'_>, cast: &Cast) -> Vec<Chart> {
    let test = &group.first().test.test;
    let mut charts = Vec::new();
    for figure in &test.figures {
        match figure {
            // One bar ranks nothing; the result stands above the figures.
            Figure::Ranking if group.members.len() == 1 && test.figures.len() > 1 => {}
            Figure::Ranking => {
                charts.push(ranking::of(group, cast));
                charts.extend(ranking::of_also(group, cast));
                charts.extend(instruments::ranked(group, cast));
            }
            Figure::Curve => charts.extend(curve::of(group, cast)),
            Figure::Timeline => charts.extend(timeline::of(group, cast)),
            Figure::LatencyTimeline => charts.extend(timeline::of_latency(group, cast)),
            Figure::Distribution => charts.extend(distribution::of(group, cast)),
        }
    }
    charts.extend(steady::of(group, cast));
    charts.extend(qos::of(group, cast));
    charts.extend(instruments::over_times(group, cast));
    show_absent(&mut charts, group, cast);
    let marks = marks(group);
    if !marks.is_empty() {
        for chart in &mut charts {
            chart.title = format!("{} [{}]", chart.title, marks.join(", "));
        }
    }
    charts
}

/// More drives than this are named below a test alone, where it does not have them.
const MOST_ABSENT: usize = 8;

/// Draws the drives that were never tested so as gaps, so that every chart has the same drives.
fn show_absent(charts: &mut [Chart], group: &Group<'_>, cast: &Cast) {
    const WHY: &str = "not tested";
    let absent = cast.absent(group);
    if absent.len() > MOST_ABSENT {
        return;
    }
    for chart in charts {
        for drive in &absent {
            let name = cast.name(*drive);
            match &mut chart.drawing {
                // Bars by step have no place for a drive without steps.
                Drawing::Bars { bars, .. } if chart.kind != "curve" => {
                    bars.push(Bar {
                        label: name.to_owned(),
                        part: "",
                        colour: *drive,
                        value: Err(WHY.to_owned()),
                        interval: None,
                        highlighted: cast.highlighted == Some(*drive),
                    });
                    let mut row = vec![name.to_owned(), WHY.to_owned()];
                    row.resize(chart.table.head.len().max(row.len()), number::NOTHING.to_owned());
                    chart.table.rows.push(row);
                }
                // Where one drive stands alone its lines are steps or instruments.
                Drawing::Lines { lines, .. }
                    if group.members.len() > 1 && chart.kind != "curve-with-power" =>
                {
                    lines.push(Line {
                        label: format!("{name} ({WHY})"),
                        colour: *drive,
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

/// Returns how `member` is called in a legend; a drive without data says why.
fn legend(member: &Member<'_>, cast: &Cast, has_data: bool) -> String {
    let name = &cast.names[member.index];
    match has_data {
        true => name.clone(),
        false => format!("{name} ({})", reason(member)),
    }
}

/// Returns the marks that all members of `group` share; they stand in every title.
fn marks(group: &Group<'_>) -> Vec<String> {
    let mut marks = names::marks(group.first().run);
    for member in &group.members {
        let own = names::marks(member.run);
        marks.retain(|mark| own.contains(mark));
    }
    marks
}

/// Where a latency counts from; every figure of a latency says so.
pub(crate) const LATENCY: &str =
    "Latency counts from before the submission of a request to after its completion.";

/// Returns the title of `group`'s test.
pub(crate) fn title(group: &Group<'_>) -> String {
    clean::prose(&group.first().test.test.title)
}
