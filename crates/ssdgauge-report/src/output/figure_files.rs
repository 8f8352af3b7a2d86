//! Each chart as a file, with drive, test, workload, date and run in it.

use crate::analysis::group::{self, Group, Member};
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::workload_text;
use crate::figure;
use crate::figure::chart::Chart;
use crate::figure::draw::{self, Dimensions, Frame};
use crate::figure::vega;
use crate::figure::{PageOptions, specification};
use crate::model::ReportError;
use crate::model::Run;
use crate::text::labels;
use crate::text::number;
use crate::text::sanitize;
use std::collections::BTreeMap;

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

/// The letters of a line below a picture.
const ROOM: usize = 112;

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
            .map(|png| marked_png(&png))
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
        let mut origin: Vec<String> = Vec::new();
        for index in of_drive {
            let facts = facts(&drives.names[index], &runs[index]);
            let line = format!("{} · {facts}", labels::suite(&runs[index].head));
            origin.extend(draw::wrapped(&line, ROOM));
        }
        let frame = with_notes(&chart, origin);
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
    let mut origin = draw::wrapped(&test, ROOM);
    origin.extend(draw::wrapped(&of_members(group, drives), ROOM));
    with_notes(chart, origin)
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

/// Returns the frame of `chart` with the lines of `origin` and its notes below it.
fn with_notes(chart: &Chart, mut origin: Vec<String>) -> Frame {
    origin.extend(chart.notes.iter().flat_map(|note| draw::wrapped(note, ROOM)));
    Frame { title: chart.title.clone(), origin }
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
