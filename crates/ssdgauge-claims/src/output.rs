//! Judgements as text: a table, one claim, JSON, and Markdown.

use crate::claim::{Claim, Label, Review};
use crate::judge::{Count, Judgement, State, Summary};
use crate::parameters::{marks_of, parameters, profile_of};
use crate::picture::Picture;
use serde_json::{Value, json};

/// The columns of a statement in a table of 100 columns and more.
const STATEMENT: usize = 42;
/// The columns of a row next to its statement: sign and id, published and measured value, state.
const OTHER_COLUMNS: usize = 59;
/// The columns of the published value.
const PUBLISHED: usize = 13;

/// The columns that a row of the table has.
#[derive(Clone, Copy)]
struct Layout {
    statement: usize,
    with_published: bool,
}

impl Layout {
    /// Returns the layout for `width` columns: statements are shortened, below 80 columns published
    /// values are omitted.
    fn new(width: usize) -> Layout {
        let with_published = width >= 80;
        let others = OTHER_COLUMNS - if with_published { 0 } else { PUBLISHED };
        Layout { statement: width.saturating_sub(others).clamp(10, STATEMENT), with_published }
    }

    fn published(self, text: &str) -> String {
        match self.with_published {
            true => format!(" {:>12}", cut(text, PUBLISHED - 1)),
            false => String::new(),
        }
    }
}

/// Returns the list of `reviews` with the id and the statement of every claim.
pub fn list(reviews: &[Review]) -> String {
    let mut text = String::new();
    for review in reviews.iter().filter(|review| !review.claims.is_empty()) {
        text.push_str(&format!("{} ({}): {}\n", review.title, review.id, review.source));
        for claim in &review.claims {
            let marks = marks(claim);
            text.push_str(&format!("  {:<6} {}{marks}\n", claim.id, claim.statement));
        }
        text.push('\n');
    }
    text.push_str("one claim: ssdgauge claims S2-4      all: ssdgauge claims\n");
    text
}

fn marks(claim: &Claim) -> String {
    let words = [
        (!claim.cannot.is_empty(), "cannot be modelled"),
        (!claim.open.is_empty(), "no check yet"),
        (claim.label.is_some(), claim.label.map_or("", Label::word)),
        (claim.cannot_fail, "cannot fail"),
        (claim.is_held_out(), "held out"),
    ];
    let words: Vec<&str> = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    if words.is_empty() { String::new() } else { format!(" [{}]", words.join(", ")) }
}

/// Returns the numbers of all judgements, and a row for each claim that was judged or could have been, those that
/// need attention first, in lines of at most `width` columns, from 60 on.
pub fn table(judgements: &[Judgement<'_>], width: usize) -> String {
    let layout = Layout::new(width);
    let mut text = summary_lines(&Summary::new(judgements), width);
    text.push_str(&format!(
        "\n    {:<columns$}{} {:>8}  state\n",
        "claim",
        layout.published("published"),
        "here",
        columns = layout.statement
    ));
    for state in State::ALL.into_iter().filter(|state| *state != State::CannotBeModelled) {
        for judgement in judgements.iter().filter(|one| one.state == state) {
            text.push_str(&row(judgement, layout));
        }
    }
    let doubtful: Vec<&str> = judgements
        .iter()
        .filter(|one| !one.doubts.is_empty())
        .map(|one| one.claim.id.as_str())
        .collect();
    if !doubtful.is_empty() {
        text.push_str(&format!("runs with warnings: {}\n", doubtful.join(", ")));
    }
    let cannot = judgements.iter().filter(|one| one.state == State::CannotBeModelled).count();
    if cannot > 0 {
        text.push_str(&format!("{cannot} more cannot be modelled: ssdgauge claims --list\n"));
    }
    text.push_str("\none claim: ssdgauge claims ID      (numbers, limits, reason)\n");
    text
}

fn summary_lines(summary: &Summary, width: usize) -> String {
    let hold = |count: Count| format!("{} of {} hold", count.hold, count.all);
    let label = |label: Label| hold(summary.labelled(label));
    // The longest line has 63 columns.
    let gap = if width < 64 { 17 } else { 22 };
    let line = |left: (&str, String), right: (&str, String)| {
        format!("{:<11} {:<gap$} {:<9} {}\n", left.0, left.1, right.0, right.1)
    };
    let of_label = |one: Label| (one.word(), label(one));
    let measured = format!("{} of {} measured", summary.method.judged, summary.method.all);
    let answered = format!("{} of {} answered", summary.readers.judged, summary.readers.all);
    [
        line(of_label(Label::Predicted), of_label(Label::Fitted)),
        line(
            ("- reviews", hold(summary.predicted_reviews)),
            ("- drives", hold(summary.predicted_measured)),
        ),
        line(of_label(Label::Entailed), of_label(Label::Corrected)),
        line(("behaviour", hold(summary.behaviour)), ("held out", hold(summary.held_out))),
        line(("method", measured), ("readers", answered)),
    ]
    .concat()
}

fn row(judgement: &Judgement<'_>, layout: Layout) -> String {
    let claim = judgement.claim;
    let sign = match judgement.state {
        State::Holds => '✓',
        State::Fails => '✗',
        State::NotDecided | State::CannotBeModelled | State::NotRun => '–',
    };
    let here = judgement.measured().map_or(String::new(), number);
    let head = format!("{sign} {:<6} {}", claim.id, claim.statement);
    let columns = layout.statement + 4;
    let head = cut(&head, columns);
    let line = format!(
        "{head:<columns$}{} {here:>8}  {}{}",
        layout.published(&claim.published),
        judgement.state.words(),
        match claim.label {
            Some(Label::Predicted) if !claim.cannot_fail => " (predicted)",
            _ => "",
        },
    );
    format!("{}\n", line.trim_end())
}

/// Returns `text` in at most `width` characters.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width - 1).collect();
    format!("{}…", kept.trim_end())
}

/// Returns three significant digits of `value`.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

/// Returns what explains the numbers of a claim: its note, or that none explains why it fails.
fn note_of<'a>(judgement: &Judgement<'a>) -> &'a str {
    let claim = judgement.claim;
    let is_explained = !claim.note.is_empty() || !claim.contradicts.is_empty();
    match judgement.state {
        State::Fails if !is_explained => "The mechanism of the difference is not known.",
        _ => &claim.note,
    }
}

/// Returns everything about one claim: statement, source, runs, checks with their numbers, and reason.
pub fn one_claim(judgement: &Judgement<'_>) -> String {
    let Judgement { review, claim, state, outcomes, why, doubts } = judgement;
    let mut text = format!("{}  {}{}\n", claim.id, claim.statement, marks(claim));
    text.push_str(&format!("source: {}; {}\n", review.title, review.source));
    for (_, _, need) in review.runs_of(claim) {
        let shorter = match need.test.shorten {
            1 => String::new(),
            by => format!(", shortened by {by}"),
        };
        let repeated = match need.test.repeat {
            1 => String::new(),
            times => format!(", {times} times"),
        };
        let (suite, test) = (&need.test.suite, &need.test.test);
        text.push_str(&format!("run: sim:{}, {suite}, {test}{shorter}{repeated}\n", need.drive));
        if !need.test.scale.is_empty() {
            text.push_str(&format!("     {}\n", need.test.scale));
        }
    }
    for outcome in outcomes {
        text.push_str(&format!("check: {}: {}\n", outcome.verdict.words(), outcome.text));
    }
    for doubt in doubts {
        text.push_str(&format!("warning: {doubt}\n"));
    }
    text.push_str(&format!("state: {}", state.words()));
    if outcomes.is_empty() {
        text.push_str(&format!(" ({why})"));
    }
    text.push('\n');
    if !claim.contradicts.is_empty() {
        text.push_str(&format!("contradicts in these models: {}\n", claim.contradicts.join(", ")));
    }
    let note = note_of(judgement);
    if !note.is_empty() {
        text.push_str(&format!("note: {note}\n"));
    }
    text.push('\n');
    text
}

/// Returns the judgements as JSON: `claims[]` and their numbers.
pub fn json(judgements: &[Judgement<'_>]) -> Value {
    let claim = |judgement: &Judgement<'_>| {
        let claim = judgement.claim;
        let holds = match judgement.state {
            State::Holds => Value::Bool(true),
            State::Fails => Value::Bool(false),
            State::NotDecided | State::CannotBeModelled | State::NotRun => Value::Null,
        };
        json!({
            "id": claim.id,
            "review": judgement.review.id,
            "kind": claim.kind.word(),
            "statement": claim.statement,
            "published": claim.published,
            "measured": judgement.measured(),
            "holds": holds,
            "state": judgement.state.key(),
            "label": claim.label.map(Label::word),
            "by": claim.by,
            "cannot_fail": claim.cannot_fail,
            "held_out": claim.is_held_out(),
            "contradicts": claim.contradicts,
            "why": judgement.why,
            "warnings": judgement.doubts,
            "note": note_of(judgement),
        })
    };
    let count =
        |count: Count| json!({ "claims": count.all, "judged": count.judged, "hold": count.hold });
    let summary = Summary::new(judgements);
    let labels = Label::ALL.map(|label| (label.word().to_owned(), count(summary.labelled(label))));
    json!({
        "schema_version": 2,
        "model": true,
        "claims": judgements.iter().map(claim).collect::<Vec<_>>(),
        "summary": {
            "labels": Value::Object(labels.into_iter().collect()),
            "predicted_of_reviews": count(summary.predicted_reviews),
            "predicted_of_measured_drives": count(summary.predicted_measured),
            "behaviour": count(summary.behaviour),
            "held_out": count(summary.held_out),
            "method": count(summary.method),
            "readers": count(summary.readers),
        },
    })
}

/// Returns a page about `review` in Markdown: the states of its claims, and the reasons, with `pictures`
/// in the folder `folder`.
pub fn markdown(
    review: &Review,
    judgements: &[Judgement<'_>],
    pictures: &[Picture],
    folder: &str,
) -> String {
    let of_review: Vec<&Judgement<'_>> =
        judgements.iter().filter(|one| one.review.id == review.id).collect();
    let mut text = format!(
        "# {}\n\nThe claims of {} ({}) on virtual drives (MODEL). A model shows the shape of a \
         drive and is not a measurement of a product; [claims](../../explanation/reviews.md) has the rules. Made by \
         `ssdgauge claims --markdown {}`.\n\n{}\n",
        review.title,
        if review.measured { "public measurements" } else { "a review" },
        review.source,
        review.id,
        headline(&of_review),
    );
    let groups = [("Behaviour of drives", 0), ("Method", 1), ("Readers and author", 2)];
    for (title, group) in groups {
        let rows: Vec<String> = of_review
            .iter()
            .filter(|one| one.claim.kind.group() as usize == group)
            .map(|one| markdown_row(one))
            .collect();
        if !rows.is_empty() {
            let head = "| claim | statement | state | label | numbers and reason |\n|---|---|---|---|---|\n";
            text.push_str(&format!("\n## {title}\n\n{head}{}", rows.concat()));
        }
    }
    if !pictures.is_empty() {
        text.push_str("\n## Charts\n");
    }
    for Picture { figure, claims } in pictures {
        let (title, name) = (figure.title.replace(['[', ']'], ""), &figure.name);
        let claims = claims.join(", ");
        text.push_str(&format!("\n![{title}]({folder}/{name}.svg)\n\n{claims}: {title}\n"));
    }
    text.push_str("\n## Virtual drives\n\n");
    for (name, target) in &review.drives {
        text.push_str(&format!("- {name}: `sim:{target}`{}\n", fitted_parameters(target)));
    }
    text
}

/// Returns how many predictions hold, and how many claims that parameters were fitted to.
fn headline(of_review: &[&Judgement<'_>]) -> String {
    let all: Vec<Judgement<'_>> = of_review.iter().map(|one| (*one).clone()).collect();
    let summary = Summary::new(&all);
    let text = |label: Label, what: &str| {
        let count = summary.labelled(label);
        format!("{} of {} {what} hold", count.hold, count.all)
    };
    format!(
        "{}; {}; these are not evidence.",
        text(Label::Predicted, "predictions"),
        text(Label::Fitted, "claims that parameters were fitted to")
    )
}

/// Returns how many parameters of the drive `target` are fitted or were changed after a result, inherited ones included.
fn fitted_parameters(target: &str) -> String {
    let profiles = parameters().unwrap_or_default();
    let marks = marks_of(&profiles, target);
    let fitted = marks.iter().filter(|mark| mark.is_fitted);
    let inherited = fitted.clone().filter(|mark| mark.profile != profile_of(target)).count();
    let changed = marks.iter().filter(|mark| !mark.is_fitted).count();
    let mut text = format!(", {} parameters fitted, {inherited} of them inherited", fitted.count());
    if changed > 0 {
        text.push_str(&format!("; {changed} chosen again after a result"));
    }
    text
}

/// Returns the label of `claim` with what it is by, for tables.
fn label_of(claim: &Claim) -> String {
    let Some(label) = claim.label else { return String::new() };
    let mut text = label.word().to_owned();
    if !claim.by.is_empty() {
        text.push_str(&format!(" by {}", claim.by.join(", ")));
    }
    for (is, word) in [(claim.cannot_fail, "cannot fail"), (claim.is_held_out(), "held out")] {
        if is {
            text.push_str(&format!("; {word}"));
        }
    }
    text
}

fn markdown_row(judgement: &Judgement<'_>) -> String {
    let claim = judgement.claim;
    let mut reason = judgement.why.clone();
    // A part may or may not have an end of its own.
    let mut append = |part: &str| {
        reason.truncate(reason.trim_end_matches('.').len());
        reason.push_str(&format!(". {part}"));
    };
    let note = note_of(judgement);
    if !note.is_empty() {
        append(note);
    }
    if !judgement.doubts.is_empty() {
        append(&format!("Warnings: {}", judgement.doubts.join("; ")));
    }
    if !claim.contradicts.is_empty() {
        append(&format!("Contradicts {}", claim.contradicts.join(", ")));
    }
    let reason = reason.replace('|', "/");
    let label = label_of(claim);
    let state = judgement.state.words();
    format!("| {} | {} | {state} | {label} | {reason} |\n", claim.id, claim.statement)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::reviews;
    use crate::judge::judge;
    use std::collections::BTreeMap;

    #[test]
    fn a_failing_claim_has_its_mechanism_or_says_that_none_is_known() {
        let reviews = reviews().unwrap();
        let mut judgements = judge(&reviews, &BTreeMap::new());
        let unknown = "The mechanism of the difference is not known.";
        for one in &mut judgements {
            one.state = State::Fails;
            let is_explained = !one.claim.note.is_empty() || !one.claim.contradicts.is_empty();
            assert_eq!(note_of(one) == unknown, !is_explained, "{}", one.claim.id);
            assert_eq!(one_claim(one).contains(unknown), !is_explained, "{}", one.claim.id);
            one.state = State::Holds;
            assert_eq!(note_of(one), one.claim.note);
        }
    }

    #[test]
    fn texts_fit_and_json_has_the_documented_keys() {
        let reviews = reviews().unwrap();
        let judgements = judge(&reviews, &BTreeMap::new());
        for width in [60, 80, 100, 200] {
            let table = table(&judgements, width);
            assert!(table.lines().all(|line| line.chars().count() <= width), "{table}");
        }
        let table = table(&judgements, 100);
        let predictions = json(&judgements)["summary"]["predicted_of_reviews"]["claims"].as_u64();
        let start = format!("predicted   0 of {} hold", predictions.unwrap());
        assert!(table.starts_with(&start), "{table}");
        assert!(table.contains("behaviour   0 of 41 hold"), "{table}");
        assert!(table.contains("held out  0 of 16 hold"), "{table}");
        assert!(table.contains("0 of 4 measured") && table.contains("0 of 8 answered"), "{table}");
        let json = json(&judgements);
        assert_eq!(json["claims"].as_array().unwrap().len(), 77);
        for key in ["id", "statement", "measured", "holds", "state", "label", "held_out", "why"] {
            assert!(json["claims"][0].get(key).is_some(), "{key}");
        }
        let page = markdown(&reviews[2], &judgements, &[], "");
        assert!(page.contains("| S2-4 |") && !page.contains("| S1-1 |"), "{page}");
        assert!(!page.contains("## Charts"), "{page}");
        assert!(
            page.contains("like-dc500m?capacity=120GB`, 11 parameters fitted, 8 of them inherited"),
            "{page}"
        );
        let all = judgements.iter().map(one_claim).collect::<String>();
        assert!(all.contains("S2-4") && all.contains("source: "));
        let listed = list(&reviews);
        assert_eq!(listed.lines().filter(|line| line.starts_with("  S")).count(), 77);
    }
}
