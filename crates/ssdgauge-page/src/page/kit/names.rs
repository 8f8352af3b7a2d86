//! Names of drives in running text: browsers break a line after a hyphen, and a name that is torn in
//! two is hard to find again.

use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;

/// A longer word may be broken, so that it fits on a phone.
const LONGEST: usize = 24;

/// Returns `text` with every hyphenated word of a drive's name kept on one line.
pub(crate) fn names_kept(text: &str, drives: &ReportDrives) -> Markup {
    let names = || (0..drives.count()).map(|drive| drives.short(drive));
    kept(text, &|word| names().any(|name| name.split(' ').any(|part| part == word)))
}

fn kept(text: &str, is_of_name: &dyn Fn(&str) -> bool) -> Markup {
    html! {
        @for piece in text.split_inclusive(' ') {
            @let word = piece.trim_end_matches([' ', ',', '.', ':', ';']);
            @if word.contains('-') && word.chars().count() <= LONGEST && is_of_name(word) {
                span.nb { (word) } (piece[word.len()..])
            } @else {
                (piece)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hyphenated_name_is_kept_and_everything_else_is_left_alone() {
        let check = |text: &str, expected: &str| {
            assert_eq!(kept(text, &|word| word == "like-1").into_string(), expected);
        };
        check("like-1, 5 % of like-2", "<span class=\"nb\">like-1</span>, 5 % of like-2");
        check("a <b> like-1", "a &lt;b&gt; <span class=\"nb\">like-1</span>");
        check("", "");
    }
}
