//! A page of the open Bench as a document: its head, its navigation and its marks.

use crate::page::{style, whole};
use maud::{Markup, html};
use ssdgauge_analysis::bench::board::Bench;
use ssdgauge_analysis::bench::record::Record;
use ssdgauge_analysis::text::{number, sanitize};
use ssdgauge_core::rounded::count_of;
use std::collections::BTreeSet;

/// The mark of every file of a site, by which the program recognises its own.
pub const MARK: &str = "ssdgauge-site";

/// Styles of the pages themselves, scripts that are next to them, no network. `file:` is what `'self'` means for a page that
/// was opened from a disk.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self' file:; img-src data:; base-uri 'none'; \
                      form-action 'none'";

/// A site and its title.
#[derive(Clone, Copy, Debug)]
pub struct BenchSite<'a> {
    /// The drives and their results.
    pub bench: &'a Bench,
    /// The title of the site.
    pub title: &'a str,
}

/// A page of the site.
pub(super) struct Page<'a> {
    pub(super) site: &'a BenchSite<'a>,
    /// The title, and what the page says in one sentence.
    pub(super) title: String,
    pub(super) description: String,
    /// The way from its folder to that of the site: empty, or `../`.
    pub(super) up: &'static str,
    /// The entry of the navigation that it belongs to.
    pub(super) place: &'static str,
    /// Scripts with data that it needs from the start.
    pub(super) data: Vec<String>,
}

impl Page<'_> {
    /// Returns the page with this content.
    pub(super) fn document(&self, main: &Markup) -> String {
        let up = self.up;
        let link = |name: &'static str, file: &str| {
            let current = (name == self.place).then_some("page");
            html! { a href={ (up) (file) } aria-current=[current] { (name) } " " }
        };
        let records = &self.site.bench.records;
        let models =
            records.iter().filter(|one| one.marks.iter().any(|mark| mark == "MODEL")).count();
        let origins: BTreeSet<String> =
            records.iter().filter_map(|one| Some(one.origin.as_ref()?.words())).collect();
        let all: usize = records.iter().map(Record::runs).sum();
        let by_others: usize =
            records.iter().filter(|one| one.origin.is_some()).map(Record::runs).sum();
        let body = html! {
            a.skip href="#main" { "Skip to the content" }
            @if models > 0 {
                aside.flag aria-label="Marks of the runs" { div.wrap { p {
                    strong { "MODEL" } " "
                    @if models == records.len() { "All drives here are virtual;" }
                    @else { (number::count(models as u64)) " of " (number::count(records.len() as u64)) " runs are of virtual drives;" }
                    " not representative of any product."
                } } }
            }
            @if !origins.is_empty() {
                aside.flag aria-label="Sources" { div.wrap { p {
                    strong { "MEASURED BY OTHERS" } " "
                    (number::count(by_others as u64)) " of " (count_of(all, "run")) ": " (origins.into_iter().collect::<Vec<_>>().join("; ")) "."
                } } }
            }
            div.wrap { nav.bench aria-label="Bench" {
                strong { (sanitize::prose(self.site.title)) } " "
                (link("Drives", "index.html")) (link("Tests", "tests.html")) (link("Compare", "compare.html"))
            } }
            main #main.wrap.bench { (main) }
            div.wrap { footer.page { "Made with ssdgauge. Nothing is loaded from elsewhere." } }
        };
        let more = html! {
            meta name="description" content=(self.description);
            meta name="application-name" content=(MARK);
            // Before the data, which call it.
            script src={ (up) "bench.js" } defer {}
            @for data in &self.data { script src={ (up) (data) } defer {} }
        };
        let title = format!("{} · {}", self.title, sanitize::prose(self.site.title));
        whole(&title, POLICY, &style::of_bench(), &body, (&more, &html! {}))
    }
}
