//! The measures of a picture.

/// The width of a picture in SVG units, with its margins and text sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dimensions {
    pub(super) width: f64,
    /// Room for the numbers and the title of the left axis.
    pub(super) left: f64,
    /// Room for the end of the last number of the horizontal axis.
    pub(super) right: f64,
    /// Room for a right axis.
    pub(super) right_axis: f64,
    /// The height of a plot.
    pub(super) height: f64,
    /// About how many numbers the horizontal axis has.
    pub(super) ticks: f64,
    /// The size of the numbers of the axes.
    pub(super) tick_size: u32,
}

impl Dimensions {
    /// For pages and files.
    pub(crate) const WIDE: Dimensions = Dimensions {
        width: 760.0,
        left: 84.0,
        right: 34.0,
        right_axis: 66.0,
        height: 300.0,
        ticks: 8.0,
        tick_size: 12,
    };
}

/// The size of text in a picture.
pub(super) const TEXT: u32 = 13;

/// The size of secondary text.
pub(super) const SMALL: u32 = 11;
