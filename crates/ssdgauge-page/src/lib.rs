//! Pages and pictures of runs.
//!
//! `chart` makes charts of analysed runs, and of the card of an X-ray, which has its values already. `page` writes the
//! page, `pictures` the files of its figures. Nothing here computes a result.

mod chart;
mod page;
mod pictures;

pub use page::{
    BenchSite, PAGE_MARK, SITE_MARK, bench_pages, fleet_page, fragment, page, xray_compared_page,
    xray_page,
};
pub use pictures::{
    NamedFigure, PNG_MARK, PublishedNumber, SVG_MARK, figures, published_curve, rate_of_seconds,
    share_image, xray_png, xray_svg,
};
