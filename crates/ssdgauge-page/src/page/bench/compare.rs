//! The page that compares two to six drives, which its reader chooses.

use crate::page::bench::document::{BenchSite, Page};
use crate::page::bench::row;
use maud::html;

/// Returns the page. The script fills it; without one, it says where the same numbers are.
pub(super) fn page(site: &BenchSite<'_>) -> String {
    let main = html! {
        h1 #title { "Compare drives" }
        p #answer.dek { "Choose two to six drives. Without a script, the pages of " a href="tests.html" { "single tests" } " rank all drives." }
        div #chosen.chosen {}
        p #status.vh aria-live="polite" {}
        datalist #all { @for drive in &site.bench.drives { option value=(drive.facts.full_name()) {} } }
        section.use aria-labelledby="uses" hidden {
            h2 #uses { "Which one for what?" }
            p.small { "Each value with its 95% interval; a lead counts as more than noise beyond 3%, as in " code { "ssdgauge compare" } "." (row::mark_words(site.bench).unwrap_or_default()) }
            div #answers {}
        }
        section.use aria-labelledby="verdicts" hidden {
            h2 #verdicts { "Every test" }
            p { "The bar is the 95% interval of the ratio, on a logarithmic axis that is the same in every row; the line in its middle is “equal”. A drive leads where the interval excludes “equal” and the difference is beyond 3%. Of more than two drives, the best one is set against each other one." }
            div #pairs {}
            div #apart {}
        }
        section.use aria-labelledby="curves" hidden {
            h2 #curves { "Curves" }
            p { "Each chart has the same axes for every drive of this site. Grey lines without marks are the other drives; of more than 60, the band has the middle 80% and the line the median." }
            div #charts.charts {}
        }
    };
    let page = Page {
        site,
        title: "Compare".to_owned(),
        description: "Any two to six drives, test by test: is one faster, and is the difference more than noise?".to_owned(),
        up: "",
        place: "Compare",
        data: vec!["data/site.js".to_owned()],
    };
    page.document(&main)
}
