//! The key of a comparison as a text, which a site and its submissions keep: written and read.

use super::{Class, Extent, Key, Member, key, settings_of};
use crate::text::number;
use ssdgauge_core::{Bytes, RequestPath};
use std::collections::BTreeSet;

/// What the text of a key says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeyFacts {
    /// Suite and test, as [`id`] writes them, and the revision of the test.
    pub(crate) test: (String, String, u32),
    /// The marks of every run with this key.
    pub(crate) marks: Vec<String>,
    /// The settings in words, as [`super::settings`] returns them.
    pub(crate) settings: String,
    /// Whether the target was a virtual drive, or none.
    pub(crate) mark_of_drive: Option<&'static str>,
}

/// Returns a text that is equal for two tests that may be compared, and for no others; `id` is that of the test, or of one of
/// its numbers. It is published.
pub(crate) fn comparison_key(member: Member<'_>, id: &str) -> String {
    text(&Key { test: id.to_owned(), ..key(member) })
}

/// Returns what the text of a key says; `None` for any other text, and for the key of an imported result.
pub(crate) fn facts(own: &str) -> Option<KeyFacts> {
    let key = read(own).filter(|key| text(key) == own)?;
    let mut marks = Vec::new();
    marks.extend((key.class == Class::Model).then(|| "MODEL".to_owned()));
    marks.extend((key.shortened > 1).then(|| shortened(key.shortened)));
    marks.extend(key.span_scaled.then(|| "SPAN SCALED".to_owned()));
    match key.path {
        RequestPath::Interrupts => {}
        RequestPath::Polled => marks.push("POLLED".to_owned()),
        RequestPath::PassThrough => marks.push("PASS-THROUGH".to_owned()),
    }
    Some(KeyFacts {
        marks,
        settings: settings_of(&key),
        mark_of_drive: match key.class {
            Class::Measured => None,
            Class::Model => Some("MODEL"),
            Class::NoDrive => Some("no drive"),
        },
        test: (key.suite, key.test, key.revision),
    })
}

fn shortened(divisor: u32) -> String {
    format!("SHORTENED to 1/{}", number::count(u64::from(divisor)))
}

/// Returns the id of a suite or a test without what separates the parts of a key.
pub(crate) fn id(text: &str) -> String {
    text.replace(['/', ';'], "_")
}

fn text(key: &Key) -> String {
    let span = |extent: &Extent| match extent {
        Extent::Whole => "all".to_owned(),
        Extent::Share(percent) => format!("{percent} %"),
        Extent::Part(bytes) => format!("{} B", bytes.0),
    };
    let spans: Vec<String> = key.spans.iter().map(span).collect();
    let job: Vec<&str> = key.job.iter().map(String::as_str).collect();
    let model = key.model_revision.map(|revision| format!("{MODEL_REVISION}{revision}"));
    let scaled = if key.span_scaled { SCALED } else { PLANNED };
    // A job comes last: its options may hold any text.
    let mut parts = vec![format!("{}/{} r{}", id(&key.suite), id(&key.test), key.revision)];
    parts.extend([format!("1/{}", key.shortened), scaled.to_owned()]);
    parts.extend([key.path.name().to_owned(), class_name(key.class).to_owned()]);
    parts.extend(model);
    parts.push(format!("{SPANS}{}", spans.join(", ")));
    parts.extend(key.passes_for.map(|time| format!("for {}", time.exact())));
    parts.extend((!job.is_empty()).then(|| format!("job {}", job.join(" "))));
    parts.join(BETWEEN)
}

const BETWEEN: &str = "; ";
const MODEL_REVISION: &str = "model revision ";
const SPANS: &str = "spans ";
const SCALED: &str = "span scaled";
const PLANNED: &str = "span as planned";

fn class_name(class: Class) -> &'static str {
    match class {
        Class::Measured => "measured",
        Class::Model => "MODEL",
        Class::NoDrive => "no drive",
    }
}

/// Reads what [`text`] writes; `None` for what it cannot have written, and for a key with a
/// job or a time of its own.
fn read(text: &str) -> Option<Key> {
    let mut parts = text.split(BETWEEN);
    let (suite, test) = parts.next()?.split_once('/')?;
    let (test, revision) = test.rsplit_once(" r")?;
    let shortened = parts.next()?.strip_prefix("1/")?.parse().ok()?;
    let span_scaled = parts.next()? == SCALED;
    let name = parts.next()?;
    let paths = [RequestPath::Interrupts, RequestPath::Polled, RequestPath::PassThrough];
    let path = paths.into_iter().find(|path| path.name() == name)?;
    let name = parts.next()?;
    let classes = [Class::Measured, Class::Model, Class::NoDrive];
    let class = classes.into_iter().find(|class| class_name(*class) == name)?;
    let mut rest = parts.next()?;
    let mut model_revision = None;
    if let Some(revision) = rest.strip_prefix(MODEL_REVISION) {
        model_revision = Some(revision.parse().ok()?);
        rest = parts.next()?;
    }
    let spans = rest.strip_prefix(SPANS)?.split(", ").filter(|span| !span.is_empty());
    let spans = spans.map(span).collect::<Option<Vec<Extent>>>()?;
    let is_of_class = model_revision.is_some() == (class == Class::Model);
    (parts.next().is_none() && is_of_class).then(|| Key {
        suite: suite.to_owned(),
        test: test.to_owned(),
        revision: revision.parse().unwrap_or_default(),
        shortened,
        span_scaled,
        path,
        class,
        model_revision,
        spans,
        passes_for: None,
        job: BTreeSet::new(),
    })
}

fn span(text: &str) -> Option<Extent> {
    match text.rsplit_once(' ') {
        Some((percent, "%")) => percent.parse().ok().map(Extent::Share),
        Some((bytes, "B")) => bytes.parse().ok().map(|bytes| Extent::Part(Bytes(bytes))),
        _ => (text == "all").then_some(Extent::Whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_its_test_marks_and_settings_and_no_other_text_is_one() {
        let known = "quick/mixed r2; 1/10; span scaled; polled completions; MODEL; model revision 3; spans 4096 B, 80 %";
        let facts_of = facts(known).unwrap();
        assert_eq!(facts_of.test, ("quick".to_owned(), "mixed".to_owned(), 2));
        assert_eq!(facts_of.marks, ["MODEL", "SHORTENED to 1/10", "SPAN SCALED", "POLLED"]);
        let settings = "revision 2, shortened to 1/10, models, model revision 3, span 4.10 kB, polled completions";
        assert_eq!(facts_of.settings.replace('\u{a0}', " "), settings);
        assert_eq!(facts_of.mark_of_drive, Some("MODEL"));
        let plain =
            "s/t r1; 1/1; span as planned; block layer with interrupts; measured; spans all";
        assert_eq!(facts(plain).unwrap().marks, Vec::<String>::new());
        for other in [
            "",
            "measured",
            "s/t r1; 1/1; span as planned; block layer with interrupts; measured",
            "s/t r1; 1/1; span as planned; block layer with interrupts; MODEL; spans all",
            "s/t r1; 1/1; span as planned; block layer with interrupts; measured; spans some",
            "s/t r01; 1/1; span as planned; block layer with interrupts; measured; spans all",
            "s/t r1; 1/1; span unplanned; block layer with interrupts; measured; spans all",
            "s/t r1; 1/1; span as planned; block layer with interrupts; measured; spans all; more",
            "s/t r1; 1/1; span as planned; block layer with interrupts; measured; model revision 2; spans all",
        ] {
            assert_eq!(facts(other), None, "{other}");
        }
    }
}
