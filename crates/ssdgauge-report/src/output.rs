//! Results for other programs and other places than the page: JSON, CSV, Markdown, OpenMetrics,
//! JUnit, the terminal and picture files.

mod bands;
mod claims;
mod compared_markdown;
mod comparison;
mod csv;
mod exposition;
mod figure_files;
mod json;
mod junit;
mod markdown;
mod markdown_text;
mod openmetrics;
mod published;
mod share_image;
mod terminal;
mod values;
mod xray_picture;

pub use bands::bands_json;
pub use claims::{claims_json, claims_markdown};
pub use csv::csv;
pub use exposition::{Exposition, MetricFamily, MetricKind, MetricSample};
pub use figure_files::{NamedFigure, PNG_MARK, SVG_MARK, figures};
pub use json::json;
pub use markdown::markdown;
pub use openmetrics::openmetrics;
pub use published::{PublishedNumber, published_curve, rate_of_seconds};
pub use share_image::share_image;
pub use terminal::terminal_summary;
pub use values::{Value, values};
pub use xray_picture::{xray_png, xray_svg};
