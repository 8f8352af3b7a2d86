//! The grade of trust: a letter that leads to the caveats, and on a page of one drive its reason.

use maud::{Markup, html};
use ssdgauge_analysis::findings::trust::Trust;
use ssdgauge_analysis::text::case::uncapitalised;

/// The maximum number of reasons in words; the caveats have all of them.
const MOST: usize = 3;

/// Returns the letter of `trust` with its reason for those who point at it, or a dash where no test has a
/// result.
pub(super) fn letter(trust: Option<&Trust>) -> Markup {
    let Some(trust) = trust else {
        return html! { span.no title="no result, no grade" { "–" } };
    };
    let letter = trust.grade.letter();
    let why = format!("Measurement quality: grade {letter}, {}", trust.in_words());
    html! { a.g.{ "g" (letter) } href="#caveats" title=(why) aria-label=(why) { (letter) } }
}

/// Returns the grade in words that lead to the caveats. A letter in a box is read as the mark of the drive.
pub(super) fn link(trust: &Trust) -> Markup {
    html! { a href="#caveats" { "grade " (trust.grade.letter()) } }
}

/// Returns the grade of the only drive of a page, with its meaning and the reasons.
pub(super) fn line(trust: Option<&Trust>) -> Markup {
    let Some(trust) = trust else {
        return html! { p.trust { "No test has a result, so it has no grade." } };
    };
    let reasons = trust.reasons.iter().take(MOST);
    let shown: Vec<String> = reasons.map(|reason| uncapitalised(reason)).collect();
    let more = trust.reasons.len().saturating_sub(MOST);
    html! {
        p.trust {
            b { "Measurement quality: " (link(trust)) } ", " (trust.grade.meaning())
            @if !shown.is_empty() { ": " (shown.join("; ")) }
            @if more > 0 { "; " (more) " more, see Caveats" }
            "."
        }
    }
}
