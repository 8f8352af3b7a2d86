//! The drives of a batch: those that stand out with their reasons, then the others, each with its page.

use crate::analysis::batch::{Batch, BatchDrive, BatchState};
use crate::text::sanitize;
use maud::{Markup, html};

/// Returns the table of the drives.
pub(super) fn table(batch: &Batch) -> Markup {
    html! {
        section.use aria-label="Drives of the batch" {
            div.scroll tabindex="0" role="group" aria-label="Drives of the batch" { table.num.left #batch {
                thead { tr {
                    th scope="col" { "Drive" }
                    th scope="col" { "Model" }
                    th scope="col" { "Found" }
                    th scope="col" { "Why" }
                } }
                tbody { @for drives in batch.drives.chunk_by(is_alike) { (row(drives)) } }
            } }
        }
    }
}

/// Returns whether two drives have one row: nothing was found about them, for the same reasons.
fn is_alike(a: &BatchDrive, b: &BatchDrive) -> bool {
    let is_quiet = a.state == BatchState::Unsuspicious || a.state == BatchState::NotJudged;
    is_quiet && (a.state, &a.model, &a.reasons) == (b.state, &b.model, &b.reasons)
}

fn row(drives: &[BatchDrive]) -> Markup {
    let Some(first) = drives.first() else { return html! {} };
    let stands_out = first.state < BatchState::NotJudged;
    html! {
        tr {
            th scope="row" {
                @for (place, drive) in drives.iter().enumerate() {
                    @if place > 0 { ", " }
                    (name(drive))
                }
            }
            td { (sanitize::device(&first.model)) }
            td.n.best[stands_out] { (first.state.name()) }
            td { @for reason in &first.reasons { div { (sanitize::prose(reason)) } } }
        }
    }
}

fn name(drive: &BatchDrive) -> Markup {
    let name = sanitize::short_prose(&drive.name);
    html! {
        @match &drive.page {
            Some(page) => a href=(address(page)) { (name) },
            None => (name),
        }
    }
}

/// Returns `path` as a relative address: no name of a file is taken for a scheme or a host.
fn address(path: &str) -> String {
    let mut address = String::from("./");
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'/' => {
                address.push(char::from(byte));
            }
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_is_never_a_scheme_or_a_host() {
        assert_eq!(address("quick-S1.html"), "./quick-S1.html");
        assert_eq!(address("javascript:a.html"), "./javascript%3Aa.html");
        assert_eq!(address("//host/ä?#.html"), ".///host/%C3%A4%3F%23.html");
    }
}
