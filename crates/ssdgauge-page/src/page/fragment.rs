//! One part of a page as a fragment of HTML for another page.

use crate::page::content::Content;
use crate::page::{flag, style};
use maud::{Markup, PreEscaped, html};

/// Returns `part` with its styles, its marks and its origin. Links within the page are left out.
pub(super) fn fragment(content: &Content<'_>, part: &Markup) -> String {
    let fragment = html! {
        div.embedded {
            style { (PreEscaped(style::nested(&content.drives, content.accent()))) }
            (flag::flag(content.runs))
            // Radio buttons of one form are a group of their own.
            form autocomplete="off" { (PreEscaped(without_links(&part.0))) }
            p.foot {
                (content.title) " · " (content.kick) " · "
                "ssdgauge"
            }
        }
    };
    format!("{}\n", fragment.into_string())
}

/// Returns `html` with links to places of the page as plain text.
fn without_links(html: &str) -> String {
    const LINK: &str = " href=\"#";
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(LINK) {
        text.push_str(&rest[..at]);
        let target = &rest[at + LINK.len()..];
        rest = target.find('"').map_or("", |end| &target[end + 1..]);
    }
    text.push_str(rest);
    text
}
