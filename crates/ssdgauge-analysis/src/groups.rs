//! The same test of several runs as a group, with its metrics and the words of its workload.

pub mod captions;
pub(crate) mod fill_level;
pub mod group;
pub mod headline_reasons;
pub(crate) mod key_metrics;
pub(crate) mod lower_bound;
pub mod measure;
pub mod power;
pub mod swept;
pub mod uses;
pub mod workload_text;
