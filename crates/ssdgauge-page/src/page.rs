//! The page: one self-contained HTML file for any number of runs.
//!
//! It answers first, and shows the record behind each answer below it: flag, headline, answer, sections
//! by use, caveats and method. It loads nothing from the network, and has a script only on request, on
//! which nothing depends: filter, highlight and tabs are form controls and style rules. It supports print, light and dark themes, phones and
//! screen readers.

mod answer;
mod bar;
mod bench;
mod caveats;
mod contact_sheet;
mod content;
mod copies;
mod endurance;
mod environment;
mod fill_states;
mod findings;
mod flag;
mod fleet;
mod fragment;
mod grade;
mod head;
mod inside;
mod kit;
mod live;
mod method;
mod notes;
mod numbers;
mod one_drive;
mod outcome;
mod panels;
mod prices;
mod publishing;
mod quick;
mod results;
mod script;
mod sections;
mod specification;
mod steady;
mod style;
mod tried_loads;
mod xray;

pub use bench::bench_pages;
pub use bench::document::{BenchSite, MARK as SITE_MARK};
pub(crate) use contact_sheet::{ListedPicture, contact_sheet};
use content::Content;
pub use fleet::fleet_page;
use maud::{DOCTYPE, Markup, PreEscaped, html};
pub(crate) use publishing::{ChartFile, Files};
use script::Script;
use ssdgauge_analysis::inputs::options::PageOptions;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::number;
pub use xray::{xray_compared_page, xray_headline, xray_page};

/// The mark in the head of every page, by which the program recognises its own pages.
pub const PAGE_MARK: &str = r#"<meta name="generator" content="ssdgauge">"#;

/// The content security policy: styles of the page itself, no scripts, no network.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Returns the page of `runs`, whose charts have these `files`.
pub(crate) fn page(runs: &[Run], options: &PageOptions, files: Files<'_>) -> String {
    // The page of a running run is read once.
    let files = options.progress.is_none().then_some(files);
    let content = Content::new(runs, options, files);
    let body = content.body();
    let style = style::sheet(&content.drives, content.accent(), !options.xrays.is_empty());
    let scripts = [
        (live::SCRIPT, live::is_renewed(options.progress.as_ref())),
        (script::SCRIPT, options.script),
    ];
    let scripts: Vec<Script> =
        scripts.into_iter().filter_map(|(script, is_on)| is_on.then_some(script)).collect();
    let more = html! { (content.author()) (shared(&content, options)) };
    document((&content.title, &more), &style, &body, &scripts)
}

/// Returns the part of the page with the anchor `id` as a fragment of HTML with its styles, for
/// another page. It states what it comes from, and its marks such as `MODEL`.
///
/// # Errors
///
/// Returns the anchors that the page has, where `id` is none of them.
pub fn fragment(runs: &[Run], options: &PageOptions, id: &str) -> Result<String, Vec<String>> {
    let content = Content::new(runs, options, None);
    match content.part(id) {
        Some(part) => Ok(number::units_kept(&fragment::fragment(&content, &part))),
        None => Err(content.anchors()),
    }
}

/// Returns what a service shows of a shared link (the Open Graph protocol, ogp.me); nothing where the page has no
/// address: it takes no relative one.
fn shared(content: &Content<'_>, options: &PageOptions) -> Markup {
    let Some(address) = &options.address else { return html! {} };
    let image = options.share_image.as_ref().and_then(|image| {
        let (folder, _) = address.rsplit_once('/')?;
        Some(format!("{folder}/{image}"))
    });
    html! {
        meta property="og:type" content="article";
        meta property="og:title" content=(content.title);
        meta property="og:description" content=(content.kick);
        meta property="og:url" content=(address);
        @if let Some(image) = image {
            meta property="og:image" content=(image);
            meta property="og:image:width" content="1200";
            meta property="og:image:height" content="630";
            meta property="og:image:alt" content=(content.title);
            meta name="twitter:card" content="summary_large_image";
        }
    }
}

/// Returns a whole document with `more` in its head; the hash of each of its `scripts` is added to the policy.
fn document(
    (title, more): (&str, &Markup),
    style: &str,
    body: &Markup,
    scripts: &[Script],
) -> String {
    let hashes: Vec<String> = scripts.iter().map(|script| format!("'{}'", script.hash)).collect();
    let policy = match scripts {
        [] => POLICY.to_owned(),
        _ => format!("{POLICY}; script-src {}", hashes.join(" ")),
    };
    let scripts = html! { @for script in scripts { script { (PreEscaped(script.text)) } } };
    whole(title, &policy, style, body, (more, &scripts))
}

/// Returns a whole document with `more` in its head and `last` at the end of its body.
fn whole(
    title: &str,
    policy: &str,
    style: &str,
    body: &Markup,
    (more, last): (&Markup, &Markup),
) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                (PreEscaped(PAGE_MARK))
                title { (title) }
                (more)
                style { (PreEscaped(style)) }
            }
            body {
                (PreEscaped(number::units_kept(&body.0)))
                (last)
            }
        }
    }
    .into_string()
}
