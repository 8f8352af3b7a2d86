//! What a reader takes away from a chart: its file, a line of HTML that shows it, and a citation.

use crate::chart::panels::Panel;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::groups::group::Group;
use std::fmt::Write;

/// The main chart of a figure as a file.
#[derive(Clone, Debug)]
pub(crate) struct ChartFile {
    /// The name of the file, without suffix.
    pub(crate) name: String,
    /// The title of the chart.
    pub(crate) title: String,
    /// The whole file.
    pub(crate) svg: String,
    /// Width and height in pixels.
    pub(crate) size: [u32; 2],
    /// What it comes from: drive, firmware, suite, revision, date and run.
    pub(crate) source: String,
}

/// Makes the file of the first panel of a test; `None` where that has no chart. The files of charts are drawn by a
/// module that a page does not know.
pub(crate) type Files<'a> = &'a dyn Fn(&Group<'_>, &Panel, &ReportDrives) -> Option<ChartFile>;

/// Returns `file` to download, to embed and to cite. It needs no script: the file is in its link.
pub(super) fn offers(file: &ChartFile) -> Markup {
    let ChartFile { name, title, svg, size: [width, height], source } = file;
    html! {
        details.take {
            summary { "Download, embed, cite" }
            p {
                a download={ (name) ".svg" } href={ "data:image/svg+xml;charset=utf-8," (encoded(svg)) } { "Chart as SVG" }
                " (PNG and dark ones: " code { "ssdgauge report RUN --png FOLDER" } ")"
            }
            p.cmd { code {
                (format!(r#"<img src="{name}.svg" alt="{}" width="{width}" height="{height}">"#, attribute(title)))
            } }
            p { q { (title) } ". " (source) }
        }
    }
}

/// Returns `svg` as the data of a URL (RFC 2397): only what would end it or be read as something else is encoded.
fn encoded(svg: &str) -> String {
    let mut text = String::with_capacity(svg.len() + svg.len() / 4);
    let mut is_after_digit = false;
    for letter in svg.chars() {
        match letter {
            '"' | '%' | '\'' | '#' | '<' | '>' | '&' | '\n' | '\r' | '\t' => {
                write!(text, "%{:02X}", letter as u32).expect("a text takes every write");
            }
            // The page keeps a number and its unit on one line; this one is not its own.
            ' ' if is_after_digit => text.push_str("%20"),
            other => text.push(other),
        }
        is_after_digit = letter.is_ascii_digit();
    }
    text
}

/// Returns `text` as the value of an attribute in double quotes.
fn attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}
