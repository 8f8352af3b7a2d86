//! A chart as plain data: what is drawn, in which unit, and the table of its numbers.

/// One picture with everything that a reader must know to read it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    /// Its title.
    pub(crate) title: String,
    /// Unit, n, from when to when a latency counts, what the bars of uncertainty are.
    pub(crate) notes: Vec<String>,
    /// The picture.
    pub(crate) drawing: Drawing,
    /// Its numbers.
    pub(crate) table: Table,
    /// The kind, for file names.
    pub(crate) kind: &'static str,
    /// True if the page shows it folded, behind the main charts.
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
        /// Events, such as the end of a cache.
        marks: Vec<Mark>,
    },
}

/// One bar of a ranking.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// The name of its drive or step; empty where the bar above has it.
    pub(crate) label: String,
    /// The statistic, such as `mean`; empty where a drive has one bar.
    pub(crate) part: &'static str,
    /// The number of its colour.
    pub(crate) colour: usize,
    /// Its length, or why there is none.
    pub(crate) value: Result<f64, String>,
    /// The 95 % interval.
    pub(crate) interval: Option<(f64, f64)>,
    /// True if it is highlighted.
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
    /// Its quantity and unit.
    pub(crate) label: String,
    /// Its scale.
    pub(crate) scale: Scale,
}

impl Axis {
    /// Returns what stands beside the axis in a picture.
    pub(crate) fn drawn_label(&self) -> &str {
        match self.scale {
            Scale::Microseconds => self.label.strip_suffix(", µs").unwrap_or(&self.label),
            Scale::Linear | Scale::Onward | Scale::Log2 | Scale::Log10 | Scale::Tail => &self.label,
        }
    }
}

/// The scale of an axis.
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
    /// Microseconds by powers of ten: each tick has its unit, the label of the axis has `, µs` for tables alone.
    Microseconds,
    /// Percentiles by the share beyond them: 0, 90, 99, 99.9 and so on at equal distances.
    Tail,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// The name of its drive, step or statistic.
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
