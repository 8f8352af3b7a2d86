//! The notes of an editor: words, photographs, prices and judgements for a page.
//!
//! A file of notes is Markdown with a front matter in TOML. Nothing in it changes a number.

use crate::drives::report_drives::ReportDrives;
use crate::drives::report_drives::find_run;
use crate::inputs::input_error::InputError;
use crate::inputs::picture::{self, Picture};
use crate::model::Run;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// The line before and after the front matter.
const FENCE: &str = "+++";

/// The heading that the conclusion begins with, in any case.
const CONCLUSION: &str = "conclusion";

/// The maximum number of photographs of a page, with the logo. Chosen: a page stays below 10 MB.
const MAX_PHOTOGRAPHS: usize = 20;

/// The maximum number of bytes of all photographs together, before their coding. Chosen for the same reason.
const MAX_BYTES: usize = 7_000_000;

/// The maximum number of points in favour of a drive, or against it. Chosen: more are not read.
const MAX_POINTS: usize = 12;

/// What an editor adds to a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Notes {
    /// The headline, in place of the generated one.
    pub title: Option<String>,
    /// The author and the date, as shown below the headline.
    pub byline: Option<String>,
    /// The colour of rules, as `#rrggbb`; text never has it.
    pub accent: Option<String>,
    /// The unit of the prices.
    pub currency: String,
    /// The notes on single drives.
    pub drives: Vec<DriveNotes>,
    /// The photographs, the logo first where there is one.
    pub photographs: Vec<Photograph>,
    /// Whether the first photograph is the logo.
    pub(crate) has_logo: bool,
    /// The Markdown before the heading "Conclusion".
    pub introduction: String,
    /// The Markdown after it.
    pub conclusion: String,
    file: String,
    text: String,
}

/// The notes on one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveNotes {
    /// A part of its name that no other drive has, or a run id.
    pub name: String,
    /// The price.
    pub price: Option<f64>,
    /// The rated bytes to be written, in TB (10^12 bytes).
    pub tbw: Option<f64>,
    /// Points in its favour.
    pub pros: Vec<String>,
    /// Points against it.
    pub cons: Vec<String>,
    span: Range<usize>,
}

/// A photograph that the notes name.
#[derive(Clone, Debug, PartialEq)]
pub struct Photograph {
    /// The path as the notes have it.
    pub path: String,
    /// Format and size by its first bytes; `None` where the file was not read.
    pub picture: Option<Picture>,
    /// The address of the embedded bytes.
    pub address: String,
    bytes: usize,
    span: Range<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Front {
    title: Option<Spanned<String>>,
    byline: Option<String>,
    logo: Option<Spanned<String>>,
    accent: Option<Spanned<String>>,
    currency: Option<Spanned<String>>,
    #[serde(default)]
    drive: Vec<DriveFront>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DriveFront {
    name: Spanned<String>,
    price: Option<Spanned<f64>>,
    tbw: Option<Spanned<f64>>,
    pros: Option<Spanned<Vec<String>>>,
    cons: Option<Spanned<Vec<String>>>,
}

/// Makes the error at a place of the notes.
type Fault<'a> = dyn Fn(Range<usize>, String, &str) -> InputError + 'a;

/// The maximum number of names that an error lists.
const LISTED: usize = 8;

/// Returns what is wrong with the `name` of a drive that is not a part of exactly one of `names`, and these names.
pub(crate) fn unmatched(name: &str, names: &[&str]) -> (String, String) {
    let wanted = name.trim().to_lowercase();
    let with: Vec<&str> = names
        .iter()
        .copied()
        .filter(|one| !wanted.is_empty() && one.to_lowercase().contains(&wanted))
        .collect();
    let name = name.escape_debug();
    let message = match with.as_slice() {
        [] => format!("'{name}' matches no drive"),
        several => format!("'{name}' is a part of the names of several drives: {}", few(several)),
    };
    (message, few(names))
}

/// Returns `names` as a list, the first of many.
fn few(names: &[&str]) -> String {
    let shown = names[..names.len().min(LISTED)].join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

impl Notes {
    /// Reads the notes in the `text` of `file`. The photographs are named, but not read.
    ///
    /// # Errors
    ///
    /// Returns the line, the fault and the remedy where the front matter is invalid or a photograph
    /// is not a file in the folder of the notes.
    pub fn parse(file: &str, text: &str) -> Result<Notes, InputError> {
        let fault = |span: Range<usize>, message: String, hint: &str| {
            InputError::new(file, text, span, message, hint)
        };
        let (front, body) = parts(text, &fault)?;
        let head: Front = toml::from_str(&text[front.clone()]).map_err(|error| {
            let span = error.span().map_or(front.clone(), |span| after(&span, front.start));
            let hint = "docs/reference/notes-and-specs.md shows the keys of the front matter";
            fault(span, error.message().trim().to_owned(), hint)
        })?;
        let fault = |span: Range<usize>, message: String, hint: &str| {
            InputError::new(file, text, after(&span, front.start), message, hint)
        };
        let accent = head.accent.map(|accent| colour(accent, &fault)).transpose()?;
        let has_logo = head.logo.is_some();
        let logo = head.logo.map(|logo| (after(&logo.span(), front.start), logo.into_inner()));
        let currency = head.currency.map_or_else(String::new, Spanned::into_inner);
        let drives = head.drive.into_iter().map(|drive| of_drive(drive, &fault));
        let mut drives = drives.collect::<Result<Vec<_>, _>>()?;
        for drive in &mut drives {
            drive.span = after(&drive.span, front.start);
        }
        let (introduction, conclusion) = halves(&text[body.clone()]);
        let mut notes = Notes {
            title: head.title.map(Spanned::into_inner),
            byline: head.byline,
            accent,
            currency: if currency.trim().is_empty() { "unit".to_owned() } else { currency },
            drives,
            photographs: Vec::new(),
            has_logo,
            introduction: introduction.to_owned(),
            conclusion: conclusion.to_owned(),
            file: file.to_owned(),
            text: text.to_owned(),
        };
        let named = logo.into_iter().chain(named_photographs(text, &body));
        notes.photographs = notes.checked(named.collect())?;
        Ok(notes)
    }

    /// Puts the `bytes` of the photograph with this number into the notes.
    ///
    /// # Errors
    ///
    /// Returns the fault for bytes that are neither PNG nor JPEG, or too many.
    pub fn embed(&mut self, number: usize, bytes: &[u8]) -> Result<(), InputError> {
        let picture = picture::recognise(bytes)
            .map_err(|(message, hint)| self.photograph_error(number, &message, hint))?;
        let others: usize = self.photographs.iter().map(|one| one.bytes).sum();
        if others + bytes.len() > MAX_BYTES {
            let message = format!("the photographs have more than {MAX_BYTES} bytes together");
            return Err(self.photograph_error(number, &message, "save them smaller"));
        }
        if let Some(photograph) = self.photographs.get_mut(number) {
            photograph.address =
                format!("data:{};base64,{}", picture.media, STANDARD.encode(bytes));
            photograph.bytes = bytes.len();
            photograph.picture = Some(picture);
        }
        Ok(())
    }

    /// Returns the error at the note on a drive with this number.
    pub fn drive_error(&self, number: usize, message: &str, hint: &str) -> InputError {
        let span = self.drives.get(number).map_or(0..0, |one| one.span.clone());
        InputError::new(&self.file, &self.text, span, message.to_owned(), hint)
    }

    /// Returns the error at the place that names the photograph with this number.
    pub fn photograph_error(&self, number: usize, message: &str, hint: &str) -> InputError {
        let span = self.photographs.get(number).map_or(0..0, |one| one.span.clone());
        let path = self.photographs.get(number).map_or("", |one| &one.path);
        let message = format!("{}: {message}", path.escape_debug());
        InputError::new(&self.file, &self.text, span, message, hint)
    }

    /// Checks that each note on a drive is about one drive of `runs`, and each drive has one at most.
    ///
    /// # Errors
    ///
    /// Returns the line of the first note that is about none, about several, or a repetition.
    pub fn check(&self, runs: &[Run]) -> Result<(), InputError> {
        let mut known: Vec<usize> = Vec::new();
        let drives = ReportDrives::new(runs, None);
        for note in &self.drives {
            let error = |message: String, hint: &str| {
                InputError::new(&self.file, &self.text, note.span.clone(), message, hint)
            };
            let Some(run) = find_run(runs, &note.name) else {
                let names: Vec<&str> =
                    (0..drives.count()).map(|drive| drives.name(drive)).collect();
                let (message, known) = unmatched(&note.name, &names);
                let hint = format!("use a run ID, or a part of one name: {known}");
                return Err(error(message, &hint));
            };
            if known.contains(&drives.drive_of(run)) {
                let name = note.name.escape_debug();
                let message = format!("'{name}' is a drive that has notes already");
                return Err(error(message, "give each drive one [[drive]]"));
            }
            known.push(drives.drive_of(run));
        }
        Ok(())
    }

    /// Returns the notes on `drive`.
    pub fn of_drive(
        &self,
        drive: usize,
        runs: &[Run],
        drives: &ReportDrives,
    ) -> Option<&DriveNotes> {
        let is_about = |note: &&DriveNotes| {
            find_run(runs, &note.name).is_some_and(|run| drives.drive_of(run) == drive)
        };
        self.drives.iter().find(is_about)
    }

    /// Returns the logo.
    pub fn logo(&self) -> Option<&Photograph> {
        self.photographs.first().filter(|_| self.has_logo)
    }

    /// Returns the photographs that the notes name, each path once.
    fn checked(&self, named: Vec<(Range<usize>, String)>) -> Result<Vec<Photograph>, InputError> {
        let mut photographs: Vec<Photograph> = Vec::new();
        for (span, path) in named {
            let error = |message: &str, hint: &str| {
                let message = format!("{}: {message}", path.escape_debug());
                InputError::new(&self.file, &self.text, span.clone(), message, hint)
            };
            if photographs.iter().any(|known| known.path == path) {
                continue;
            }
            if path.contains(':') || path.starts_with('/') || path.is_empty() {
                let hint = "name a PNG or JPEG file in the folder of the notes; pages load nothing";
                return Err(error("not a file in the folder of the notes", hint));
            }
            if photographs.len() == MAX_PHOTOGRAPHS {
                return Err(error("one photograph too many", "name at most 20"));
            }
            let address = String::new();
            photographs.push(Photograph { path, picture: None, address, bytes: 0, span });
        }
        Ok(photographs)
    }
}

fn after(span: &Range<usize>, start: usize) -> Range<usize> {
    span.start + start..span.end + start
}

/// Returns the bytes of the front matter and of the Markdown after it.
fn parts(text: &str, fault: &Fault<'_>) -> Result<(Range<usize>, Range<usize>), InputError> {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.trim_end() != FENCE {
        return Ok((0..0, 0..text.len()));
    }
    let start = first.len();
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return Ok((start..at, at + line.len()..text.len()));
        }
        at += line.len();
    }
    let hint = "write a line +++ after the front matter";
    Err(fault(0..first.len(), "the front matter has no end".to_owned(), hint))
}

/// Returns the Markdown before and after the heading "Conclusion".
fn halves(body: &str) -> (&str, &str) {
    let mut heading: Option<(usize, String)> = None;
    for (event, span) in Parser::new(body).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some((span.start, String::new())),
            Event::Text(words) => {
                if let Some((_, text)) = &mut heading {
                    text.push_str(&words);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let is_last =
                    |(_, text): &(usize, String)| text.trim().to_lowercase() == CONCLUSION;
                if let Some((start, _)) = heading.take().filter(is_last) {
                    return (&body[..start], &body[span.end..]);
                }
            }
            _ => {}
        }
    }
    (body, "")
}

/// Returns the paths of the photographs in the Markdown, with their places in the whole text.
fn named_photographs(text: &str, body: &Range<usize>) -> Vec<(Range<usize>, String)> {
    let events = Parser::new(&text[body.clone()]).into_offset_iter();
    let named = |(event, span): (Event<'_>, Range<usize>)| match event {
        Event::Start(Tag::Image { dest_url, .. }) => {
            Some((after(&span, body.start), dest_url.to_string()))
        }
        _ => None,
    };
    events.filter_map(named).collect()
}

fn colour(accent: Spanned<String>, fault: &Fault<'_>) -> Result<String, InputError> {
    let digits = accent.get_ref().strip_prefix('#').unwrap_or_default();
    if digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(accent.into_inner());
    }
    let message = format!("accent '{}' is not a colour", accent.get_ref().escape_debug());
    Err(fault(accent.span(), message, "write six hexadecimal digits, such as \"#0a6b4f\""))
}

/// The prices and terabytes of a rating that a drive can have, in any currency. Chosen.
const NUMBERS: std::ops::RangeInclusive<f64> = 0.01..=1e9;

fn of_drive(drive: DriveFront, fault: &Fault<'_>) -> Result<DriveNotes, InputError> {
    for (key, value) in [("price", &drive.price), ("tbw", &drive.tbw)] {
        let Some(value) = value else { continue };
        if !(value.get_ref().is_finite() && *value.get_ref() > 0.0) {
            let message = format!("{key} {} is not above zero", value.get_ref());
            return Err(fault(value.span(), message, "give a number above zero"));
        }
        if !NUMBERS.contains(value.get_ref()) {
            let message = format!("{key} {:e} is not that of a drive", value.get_ref());
            let (least, most) = (NUMBERS.start(), NUMBERS.end());
            return Err(fault(value.span(), message, &format!("give one from {least} to {most}")));
        }
    }
    for points in [&drive.pros, &drive.cons].into_iter().flatten() {
        if points.get_ref().len() > MAX_POINTS {
            let message = format!("{} points", points.get_ref().len());
            return Err(fault(points.span(), message, "give at most 12 in favour and 12 against"));
        }
    }
    Ok(DriveNotes {
        span: drive.name.span(),
        name: drive.name.into_inner(),
        price: drive.price.map(Spanned::into_inner),
        tbw: drive.tbw.map(Spanned::into_inner),
        pros: drive.pros.map(Spanned::into_inner).unwrap_or_default(),
        cons: drive.cons.map(Spanned::into_inner).unwrap_or_default(),
    })
}
