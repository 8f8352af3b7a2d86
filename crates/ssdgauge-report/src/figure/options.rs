//! What a report is asked to show.

use crate::analysis::specification::Specification;

/// How a page is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOptions {
    /// The title; made of the drives' names where there is none.
    pub title: Option<String>,
    /// The number of the run whose drive stands out in rankings.
    pub highlight: Option<usize>,
    /// What makers claim of the drives.
    pub specifications: Vec<Specification>,
}
