//! What a report takes besides runs: notes, spec files, a batch, options.

pub mod batch;
pub(crate) mod input_error;
pub mod notes;
pub mod options;
pub mod picture;
pub(crate) mod spec_file;
pub mod specification;
pub(crate) mod stated_figures;
