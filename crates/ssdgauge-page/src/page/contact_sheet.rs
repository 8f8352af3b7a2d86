//! The list of the pictures in a folder: each with its caption, its text alternative, its size and its files.

use crate::page::{style, whole};
use maud::html;
use ssdgauge_analysis::text::number;

/// The content security policy: pictures in files next to the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:; base-uri 'none'; \
                      form-action 'none'";

/// A picture in a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedPicture<'a> {
    /// The name of its files, without suffix.
    pub(crate) name: &'a str,
    /// The caption.
    pub(crate) title: &'a str,
    /// The picture in words.
    pub(crate) description: &'a str,
    /// Width and height in pixels.
    pub(crate) size: [u32; 2],
}

/// Returns the page about `figures`, whose files have the names of the figures with each of `suffixes`. The first
/// suffix is that of the picture that is shown, `dark` that of the one on dark ground.
pub(crate) fn contact_sheet(
    figures: &[ListedPicture<'_>],
    suffixes: &[&str],
    dark: &str,
) -> String {
    let title = format!("{} pictures", number::count(figures.len() as u64));
    let shown = suffixes.first().copied().unwrap_or_default();
    let body = html! {
        main.wrap {
            header.page {
                h1 { (title) }
                p.dek { "To be copied: file names, captions and text alternatives." }
            }
            @for figure in figures {
                @let [width, height] = figure.size;
                section.sheet {
                    picture {
                        source media="(prefers-color-scheme:dark)" srcset={ (figure.name) (dark) };
                        img src={ (figure.name) (shown) } alt=(figure.description) width=(width)
                            height=(height) loading="lazy";
                    }
                    h2 { (figure.title) }
                    @for line in figure.description.lines() { p { (line) } }
                    p.cond {
                        (number::count(width.into())) " × " (number::count(height.into()))
                        @for suffix in suffixes {
                            " · " a href={ (figure.name) (suffix) } { (figure.name) (suffix) }
                        }
                    }
                }
            }
        }
    };
    whole(&title, POLICY, &style::of_sheet(), &body, (&html! {}, &html! {}))
}
