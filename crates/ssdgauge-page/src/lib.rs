//! Pages and pictures of runs.
//!
//! `chart` makes charts of analysed runs, and of the card of an X-ray, which has its values already. `page` writes the
//! page, `pictures` the files of its figures. Nothing here computes a result.

mod chart;
mod page;
mod pictures;

pub use chart::palette::Ground;
pub use page::{
    BenchSite, PAGE_MARK, SITE_MARK, bench_pages, fleet_page, fragment, xray_compared_page,
    xray_headline, xray_page,
};
pub use pictures::{
    NamedFigure, PNG_MARK, PublishedNumber, SVG_MARK, figures, published_curve, rate_of_seconds,
    share_image, xray_png, xray_svg,
};
use ssdgauge_analysis::inputs::options::PageOptions;
use ssdgauge_analysis::model::Run;

/// Returns the page of `runs`, each chart with its file. Equal runs and options give an equal page.
pub fn page(runs: &[Run], options: &PageOptions) -> String {
    page::page(runs, options, &pictures::main_chart)
}

/// Returns a page that lists `figures`, whose files have their names with each of `suffixes`. The first suffix is that of
/// the picture that is shown, `dark` that of the one on dark ground.
pub fn contact_sheet(figures: &[NamedFigure], suffixes: &[&str], dark: &str) -> String {
    let listed: Vec<page::ListedPicture<'_>> = figures
        .iter()
        .map(|figure| page::ListedPicture {
            name: &figure.name,
            title: &figure.title,
            description: figure.description(),
            size: figure.size(),
        })
        .collect();
    page::contact_sheet(&listed, suffixes, dark)
}
