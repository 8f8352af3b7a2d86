//! Each chart as a file, with drive, test, workload, date and run in it.

use crate::analysis::group::{self, Group, Member};
use crate::analysis::options::PageOptions;
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::workload_text;
use crate::figure;
use crate::figure::chart::Chart;
use crate::figure::draw::{self, Dimensions, Frame};
use crate::figure::specification;
use crate::figure::vega;
use crate::model::ReportError;
use crate::model::Run;
use crate::text::labels;
use crate::text::number;
use crate::text::sanitize;
use maud::html;
use std::collections::{BTreeMap, BTreeSet};

/// One chart as a file.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFigure {
    /// A file name without suffix, of lower-case letters, digits and hyphens, unique in its list.
    pub name: String,
    /// The title of the picture.
    pub title: String,
    /// The picture as a whole SVG file, with drive, firmware, test, settings, date and run in it.
    pub svg: String,
    chart: Chart,
    frame: Frame,
}

/// Pixels of a PNG for each unit of its SVG.
const DENSITY: f32 = 2.0;

/// Stands in every SVG file: how the program recognises one.
pub const SVG_MARK: &str = "<!-- ssdgauge -->";

/// Stands in every PNG file: the keyword and the text of a `tEXt` chunk (PNG, section 11.3.3.2).
pub const PNG_MARK: &[u8] = b"tEXtSoftware\0ssdgauge";

/// The bytes of a PNG file before its second chunk: the signature, and the chunk `IHDR` (13 bytes
/// of data between length, type and checksum).
const PNG_HEAD: usize = 8 + 12 + 13;

/// Returns the PNG file `png` with the mark of the program behind its header.
pub(super) fn marked_png(png: &[u8]) -> Vec<u8> {
    let (head, rest) = png.split_at(PNG_HEAD.min(png.len()));
    // Length and checksum leave each other out; the length also leaves out the type.
    let length = (PNG_MARK.len() - 4) as u32;
    let checksum = crc32fast::hash(PNG_MARK);
    [head, &length.to_be_bytes(), PNG_MARK, &checksum.to_be_bytes(), rest].concat()
}

/// Returns the PNG file `png` with `description` as a text of its own (`iTXt`, PNG section 11.3.3.4),
/// before its last chunk.
fn described_png(png: &[u8], description: &str) -> Vec<u8> {
    /// Length, type and checksum of `IEND`, which has no data.
    const END: usize = 12;
    let mut chunk = b"iTXtDescription\0\0\0\0\0".to_vec();
    chunk.extend(description.as_bytes());
    let (body, end) = png.split_at(png.len().saturating_sub(END));
    let length = (chunk.len() - 4) as u32;
    let checksum = crc32fast::hash(&chunk);
    [body, &length.to_be_bytes(), &chunk, &checksum.to_be_bytes(), end].concat()
}

/// Returns the SVG file `svg` with `frame` in its `title` and `desc`, as programs and screen readers
/// expect them.
fn described_svg(svg: &str, frame: &Frame) -> String {
    let Some((head, rest)) = svg.split_once(SVG_MARK) else { return svg.to_owned() };
    let described = html! {
        title { (frame.title) }
        desc { (frame.description.join("\n")) }
    };
    format!("{head}{SVG_MARK}{}{rest}", described.into_string())
}

/// Returns the SVG file `svg` with the mark of the program behind its first tag.
pub(super) fn marked_svg(svg: &str) -> String {
    match svg.split_once('>') {
        Some((head, rest)) => format!("{head}>{SVG_MARK}{rest}"),
        None => svg.to_owned(),
    }
}

impl NamedFigure {
    /// Returns the same figure as a Vega-Lite 5 specification with its data in it.
    pub fn vega_lite(&self) -> serde_json::Value {
        vega::specification(&self.chart)
    }

    /// Returns the same picture as a PNG file, twice as many pixels wide as its SVG has units.
    ///
    /// # Errors
    ///
    /// Returns [`ReportError::Picture`] where the drawing library cannot rasterise the picture.
    pub fn png(&self) -> Result<Vec<u8>, ReportError> {
        let scene = draw::scene(&self.chart, &self.frame, &Dimensions::WIDE);
        kuva::RasterBackend::new()
            .with_scale(DENSITY)
            .render_scene(&scene)
            .map(|png| described_png(&marked_png(&png), &self.frame.description.join("\n")))
            .map_err(|cause| ReportError::Picture { name: self.name.clone(), cause })
    }
}

/// Returns every chart of the page of `runs` with `options`, in its order.
pub fn figures(runs: &[Run], options: &PageOptions) -> Vec<NamedFigure> {
    let drives = ReportDrives::new(runs, options.highlight);
    let mut names = Names::default();
    let mut figures: Vec<NamedFigure> = Vec::new();
    for (number, group) in group::groups(runs).iter().enumerate() {
        let id = slug(&group.first().test.test.id);
        for chart in figure::charts(group, &drives) {
            let name = names.unique(format!("{:02}-{id}-{}", number + 1, chart.kind));
            let frame = frame(&chart, group, &drives);
            figures.push(named(name, chart, frame));
        }
    }
    for (chart, of_drive) in specification::charts(runs, &drives, &options.specifications) {
        let name = names.unique(chart.kind.to_owned());
        let of_run = |index: &usize| {
            let facts = facts(&drives.names[*index], &runs[*index]);
            format!("{} · {facts}", labels::suite(&runs[*index].head))
        };
        let own: Vec<&Run> = of_drive.iter().map(|index| &runs[*index]).collect();
        let source = source(&[drives.names[of_drive[0]].clone()], "claims", &own);
        let frame = framed(&chart, source, of_drive.iter().map(of_run).collect());
        figures.push(named(name, chart, frame));
    }
    figures
}

/// The file names in use, with the number of files of each.
#[derive(Debug, Default)]
struct Names(BTreeMap<String, usize>);

impl Names {
    fn unique(&mut self, base: String) -> String {
        let n = self.0.entry(base.clone()).or_default();
        *n += 1;
        if *n == 1 { base } else { format!("{base}-{n}") }
    }
}

pub(super) fn named(name: String, chart: Chart, frame: Frame) -> NamedFigure {
    let svg = marked_svg(&draw::svg(&chart, &frame, &Dimensions::WIDE, "f"));
    let svg = described_svg(&svg, &frame);
    NamedFigure { name, title: chart.title.clone(), svg, chart, frame }
}

pub(super) fn frame(chart: &Chart, group: &Group<'_>, drives: &ReportDrives) -> Frame {
    let test = &group.first().test.test;
    let test = format!(
        "{} · test {} r{} · {}",
        labels::suite(&group.first().run.head),
        sanitize::prose(&test.id),
        test.revision,
        workload_text::line(&group.first().test.test)
    );
    let head = &group.first().run.head;
    let runs: Vec<&Run> = group.members.iter().map(|member| member.run).collect();
    let names: Vec<String> =
        group.members.iter().map(|member| drives.names[member.index].clone()).collect();
    let named = format!(
        "{} · test {} r{}",
        labels::suite(head),
        sanitize::prose(&group.first().test.test.id),
        group.first().test.test.revision
    );
    framed(chart, source(&names, &named, &runs), vec![test, of_members(group, drives)])
}

/// Returns the line below a picture: the marks that all runs share, the drive where it is one, what
/// was done, and the date.
fn source(names: &[String], what: &str, runs: &[&Run]) -> String {
    let marks = |run: &Run| labels::marks(&run.head, run.complete);
    let mut parts = runs.first().map(|run| marks(run)).unwrap_or_default();
    parts.retain(|mark| runs.iter().all(|run| marks(run).contains(mark)));
    // The marks of some runs alone, such as UNFINISHED.
    let all: BTreeSet<String> = runs.iter().flat_map(|run| marks(run)).collect();
    let some: Vec<String> = all
        .into_iter()
        .filter(|mark| !parts.contains(mark))
        .map(|mark| {
            let n = runs.iter().filter(|run| marks(run).contains(&mark)).count();
            format!("{n} of {} {mark}", runs.len())
        })
        .collect();
    parts.extend(some);
    if let [one] = names {
        // The name of a virtual drive may state its mark.
        parts.retain(|mark| !one.contains(mark.as_str()));
        parts.push(one.clone());
    }
    parts.push(what.to_owned());
    let day = |run: &&Run| {
        let date = number::date(run.head.started_unix_ms);
        date.split(' ').next().unwrap_or_default().to_owned()
    };
    let mut days: Vec<String> = runs.iter().map(day).collect();
    days.sort();
    days.dedup();
    parts.push(match days.as_slice() {
        [first, .., last] => format!("{first} to {last}"),
        days => days.concat(),
    });
    parts.push("ssdgauge".to_owned());
    parts.join(" · ")
}

/// Returns what a picture says of the runs of `group`: what is equal in all of them once, then the rest
/// of each.
fn of_members(group: &Group<'_>, drives: &ReportDrives) -> String {
    let [first, rest @ ..] = group.members.as_slice() else { return String::new() };
    if rest.is_empty() {
        return facts(&drives.names[first.index], first.run);
    }
    let all: Vec<Vec<String>> = group.members.iter().map(|member| properties(member.run)).collect();
    let is_common = |fact: &String| all.iter().all(|facts| facts.contains(fact));
    let common: Vec<String> = all[0].iter().filter(|fact| is_common(fact)).cloned().collect();
    let own = |(member, facts): (&Member<'_>, &Vec<String>)| {
        let facts = facts.iter().filter(|fact| !is_common(fact));
        let facts: Vec<&str> = facts.map(String::as_str).collect();
        format!("{}: {}", drives.names[member.index], facts.join(", "))
    };
    let own: Vec<String> = group.members.iter().zip(&all).map(own).collect();
    let common =
        if common.is_empty() { common } else { vec![format!("all: {}", common.join(", "))] };
    common.into_iter().chain(own).collect::<Vec<_>>().join(" · ")
}

/// Returns the frame of `chart` with the line `source` below it, and with `description` and its notes in
/// the file.
fn framed(chart: &Chart, source: String, mut description: Vec<String>) -> Frame {
    description.extend(chart.notes.iter().cloned());
    Frame { title: chart.title.clone(), source, description }
}

/// Returns what a picture says of one run.
fn facts(name: &str, run: &Run) -> String {
    format!("{name} · {}", properties(run).join(" · "))
}

fn properties(run: &Run) -> Vec<String> {
    let head = &run.head;
    let firmware = head.drive.firmware.as_deref().map_or("unknown".into(), sanitize::device);
    let mut facts = vec![
        labels::size_in_words(&head.drive),
        format!("firmware {firmware}"),
        number::date(head.started_unix_ms),
        format!("run {}", sanitize::prose(&head.id)),
    ];
    facts.extend(labels::marks(&run.head, run.complete));
    facts
}

/// Returns `text` as part of a file name.
fn slug(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    text.chars().take(48).map(letter).collect()
}
