//! The pages of the open Bench: an index of all drives, a page for each drive, test and suite, and one that compares any
//! two to six drives.
//!
//! The program draws every chart and judges every pair. The script of the pages chooses, sorts and stacks what it finds;
//! without it, the pages are plain tables. Nothing is loaded from elsewhere, and data come as scripts, so that a site also
//! works from a disk.

mod chart;
mod compare;
mod data;
mod distribution;
pub(super) mod document;
mod drive;
mod index;
mod row;
mod runs;
mod standing;
mod suite;
mod test;

use document::BenchSite;

/// The script of all pages.
const SCRIPT: &str = include_str!("bench.js");

/// Returns every file of `site` but the reports of single drives: its path and its text. Equal sites give equal files.
pub fn bench_pages(site: &BenchSite<'_>) -> Vec<(String, String)> {
    let mut files = vec![
        ("index.html".to_owned(), index::page(site)),
        ("compare.html".to_owned(), compare::page(site)),
        ("tests.html".to_owned(), suite::list(site)),
        ("bench.js".to_owned(), SCRIPT.to_owned()),
        ("data/site.js".to_owned(), data::site(site)),
    ];
    let frames: Vec<chart::Frame> =
        site.bench.boards.iter().map(|board| chart::Frame::new(site.bench, board)).collect();
    for (board, frame) in site.bench.boards.iter().zip(&frames) {
        files.push((format!("tests/{}.html", board.slug), test::page(site, board, frame)));
        files.push((format!("data/test-{}.js", board.slug), data::board(site.bench, board, frame)));
    }
    for (number, drive) in site.bench.drives.iter().enumerate() {
        files.push((format!("drives/{}.html", drive.slug), drive::page(site, number)));
        files.push((
            format!("data/drive-{}.js", drive.slug),
            data::drive(site.bench, number, &frames),
        ));
    }
    files.extend(suite::pages(site));
    files
}
