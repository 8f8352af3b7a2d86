//! Pictures as files: figures of a report as SVG and PNG, images to share, X-rays, curves next to published numbers.

mod figure_files;
mod published;
mod share_image;
mod xray_picture;

pub(crate) use figure_files::main_chart;
pub use figure_files::{NamedFigure, PNG_MARK, SVG_MARK, figures};
pub use published::{PublishedNumber, published_curve, rate_of_seconds};
pub use share_image::share_image;
pub use xray_picture::{xray_png, xray_svg};
