//! Results of runs for other programs and other places than the page: JSON, CSV, Markdown, OpenMetrics, JUnit and the
//! terminal. Nothing here computes a result.

mod bands;
mod bench;
mod compared_markdown;
mod comparison;
mod csv;
mod documents;
mod exposition;
mod json;
mod junit;
mod markdown;
mod markdown_text;
mod openmetrics;
mod stated;
mod terminal;
mod values;

pub use bench::{BENCH_SCHEMA, bench_drive, bench_feed};
pub use comparison::{comparison_json, comparison_markdown};
pub use csv::csv;
pub use exposition::{Exposition, MetricFamily, MetricKind, MetricSample};
pub use json::{json, report_json};
pub use junit::comparison_junit;
pub use markdown::{markdown, markdown_with_notes};
pub use openmetrics::openmetrics;
pub use stated::claims_markdown;
pub use terminal::{comparison_text, terminal_summary};
pub use values::{Value, values};
