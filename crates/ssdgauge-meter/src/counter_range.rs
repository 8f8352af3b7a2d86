//! The range of a counter of energy, which its source knows.

/// How a counter of energy counts, in the unit of its source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CounterRange {
    /// The value at which it begins at 0 again; `None` where it never does, or where that is not known.
    pub(crate) wraps_at: Option<f64>,
}
