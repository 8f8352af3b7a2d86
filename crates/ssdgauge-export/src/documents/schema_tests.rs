//! The published schemas of the documents.

#[path = "../../../../tests/published.rs"]
mod published;

use super::{comparison, report};

#[test]
fn the_published_schemas_are_those_of_the_types() {
    published::check::<report::Report>("report.json");
    published::check::<comparison::Document<'static>>("compare.json");
}
