//! Each chart of the page as a file, with drive, test, workload, date and run in it.

use crate::chart::bars::{self, Ranking};
use crate::chart::file::{self, Frame, INNER};
use crate::chart::palette::Ground;
use crate::chart::panels::{Panel, convergence, panels};
use crate::chart::plot::Plot;
use crate::chart::rows::{self, Rows};
use crate::chart::shape::Drawing;
use crate::chart::{raster, specification, svg};
use crate::page::ChartFile;
use ssdgauge_analysis::answers::figure_titles;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::findings::run_outcome;
use ssdgauge_analysis::groups::captions;
use ssdgauge_analysis::groups::group::{self, Group, Member};
use ssdgauge_analysis::groups::headline_reasons::missing_reason;
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::inputs::options::PageOptions;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::case::capital;
use ssdgauge_analysis::text::{labels, number, sanitize};
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
    drawing: Drawing,
    /// Everything that a file says of its picture and does not show: settings, firmware, runs, notes.
    description: String,
}

/// Pixels of a PNG for each unit of its SVG.
pub(super) const DENSITY: f64 = 2.0;

/// The key of the panel of a headline.
const SPEED: &str = "speed";

/// Is in every SVG file: how the program recognises one.
pub const SVG_MARK: &str = "<!-- ssdgauge -->";

/// Is in every PNG file: the keyword and the text of a `tEXt` chunk (PNG, section 11.3.3.2).
pub const PNG_MARK: &[u8] = b"tEXtSoftware\0ssdgauge";

impl NamedFigure {
    /// Returns the same picture as an SVG file on dark ground.
    pub fn dark_svg(&self) -> String {
        svg::file(&self.drawing, Ground::Dark, SVG_MARK, (&self.title, &self.description))
    }

    /// Returns the same picture as a PNG file with `density` pixels for each unit of its SVG.
    pub fn png(&self, ground: Ground, density: u8) -> Vec<u8> {
        raster::png(&self.drawing, (ground, density.into()), PNG_MARK, &self.description)
    }

    /// Returns width and height of the picture, in units of its SVG.
    pub fn size(&self) -> [u32; 2] {
        [self.drawing.width, self.drawing.height].map(|length| length.ceil() as u32)
    }

    /// Returns the picture in words, for readers who do not see it.
    pub fn description(&self) -> &str {
        &self.description
    }

    fn new(
        name: String,
        frame: &Frame,
        chart: Drawing,
        description: &[String],
        drives: &ReportDrives,
    ) -> NamedFigure {
        let drawing = file::framed(frame, chart, drives);
        let description = description.join("\n");
        let svg = svg::file(&drawing, Ground::Light, SVG_MARK, (&frame.title, &description));
        NamedFigure { name, title: frame.title.clone(), svg, drawing, description }
    }
}

/// Returns every chart of the page of `runs` with `options`, in its order.
pub fn figures(runs: &[Run], options: &PageOptions) -> Vec<NamedFigure> {
    let drives = ReportDrives::new(runs, options.highlight);
    let mut names = Names::default();
    let mut figures: Vec<NamedFigure> = Vec::new();
    for (number, group) in group::groups(runs).iter().enumerate() {
        let id = slug(&group.first().test.test.id);
        let mut name = |kind: &str| names.unique(format!("{:02}-{id}-{kind}", number + 1));
        let test = TestFiles { group, drives: &drives };
        for (place, panel) in panels(group, &drives).into_iter().enumerate() {
            figures.extend(test.of_panel(&panel, place == 0, &mut name));
        }
        for plot in convergence::plots(group, &drives) {
            figures.push(test.of_plot(name(plot.kind), &plot, &plot.label, ""));
        }
    }
    for (ranking, drive) in specification::rankings(runs, &drives, &options.specifications) {
        let name = names.unique("specification".to_owned());
        figures.push(of_claims(name, &ranking, drive, runs, &drives));
    }
    figures
}

/// Returns the main chart of the first `panel` of `group`, named by the first drive and the test.
pub(crate) fn main_chart(
    group: &Group<'_>,
    panel: &Panel,
    drives: &ReportDrives,
) -> Option<ChartFile> {
    let id = slug(&group.first().test.test.id);
    let drive = match drives.count() {
        1 => slug(drives.short(0)),
        count => format!("{count}-drives"),
    };
    let mut name = |kind: &str| format!("{drive}.{id}.{kind}");
    let test = TestFiles { group, drives };
    // A chart over time or along a sweep says more than the ranking before it.
    let file = test.of_panel(panel, true, &mut name).pop()?;
    let facts: Vec<&str> = file.description.lines().take(2).collect();
    let source = format!("{}. ssdgauge.", facts.join(". "));
    let size = file.size();
    Some(ChartFile { name: file.name, title: file.title, svg: file.svg, size, source })
}

/// Returns the chart of the claims about `drive`.
fn of_claims(
    name: String,
    ranking: &Ranking,
    drive: usize,
    runs: &[Run],
    drives: &ReportDrives,
) -> NamedFigure {
    let own: Vec<&Run> = drives.runs_of(drive).map(|index| &runs[index]).collect();
    let of_run =
        |run: &&Run| format!("{} · {}", labels::suite(&run.head), facts(drives.name(drive), run));
    let mut conditions: Vec<String> = Vec::new();
    for mark in own.iter().flat_map(|run| run_outcome::marks(run)) {
        if !conditions.contains(&mark) {
            conditions.push(mark);
        }
    }
    conditions.push(ranking.head());
    let frame = Frame {
        title: format!("{}: measured as a share of the claim", drives.name(drive)),
        conditions: vec![conditions.join(" · ")],
        legend: Vec::new(),
        source: source(&[drives.name(drive).to_owned()], "claims", &own),
    };
    let description: Vec<String> = own.iter().map(of_run).collect();
    let chart = bars::drawn(ranking, drives, INNER);
    NamedFigure::new(name, &frame, chart, &description, drives)
}

/// The files of the charts of a test.
#[derive(Clone, Copy)]
pub(super) struct TestFiles<'a> {
    /// The test of all runs that are comparable.
    pub(super) group: &'a Group<'a>,
    /// The drives of the report.
    pub(super) drives: &'a ReportDrives,
}

impl TestFiles<'_> {
    /// Returns the charts of `panel`; those of the `first` one have the title of the figure on the page.
    fn of_panel(
        self,
        panel: &Panel,
        first: bool,
        name: &mut dyn FnMut(&str) -> String,
    ) -> Vec<NamedFigure> {
        let statement = figure_titles::take(self.group, self.drives);
        let is_stated = first && !statement.is_empty();
        let named = format!("{}: {}", self.group.title(), panel.name);
        let title = if is_stated { &statement } else { &named };
        let prefix = if panel.key == SPEED { String::new() } else { format!("{}-", panel.key) };
        let mut figures = Vec::new();
        // A ranking of one drive is of no use next to another chart.
        let is_only = panel.rows.is_none() && panel.course.is_none();
        if let Some(ranking) = panel.ranking.as_ref().filter(|one| one.rows.len() > 1 || is_only) {
            let chart = bars::drawn(ranking, self.drives, INNER);
            let name = name(&format!("{prefix}ranking"));
            figures.push(self.file(name, title, vec![ranking.head()], Vec::new(), chart));
        }
        if let Some((rows, reasons)) = &panel.rows
            && let Some(chart) = rows::drawn(rows, self.drives, INNER)
        {
            let conditions = self.conditions_of_rows(rows, reasons);
            figures.push(self.file(name(rows.kind), title, conditions, Vec::new(), chart));
        }
        for map in &panel.maps {
            let (title, conditions) = (map.label(), vec![map.caption()]);
            figures.push(self.file(
                name("latency-map"),
                &title,
                conditions,
                Vec::new(),
                map.drawn(INNER),
            ));
        }
        for plot in panel.course.iter().chain(&panel.below) {
            let is_curve = plot.kind == "curve";
            let kind = if is_curve { format!("{prefix}curve") } else { plot.kind.to_owned() };
            let title = if is_stated { title } else { &plot.label };
            let ranking = panel.ranking.as_ref().filter(|_| panel.is_alone);
            let note = ranking.map_or("", |ranking| &ranking.caption);
            figures.push(self.of_plot(name(&kind), plot, title, note));
        }
        figures
    }

    fn conditions_of_rows(self, rows: &Rows, reasons: &str) -> Vec<String> {
        let mut conditions = vec![rows.caption.clone()];
        if !rows.reasons.is_empty() {
            let of_drive =
                |(drive, why): &(usize, String)| format!("{}: {why}", self.drives.short(*drive));
            let all: Vec<String> = rows.reasons.iter().map(of_drive).collect();
            conditions.push(format!("{reasons}. {}", all.join("; ")));
        }
        conditions
    }

    /// Returns the file of `plot` with a further `note`.
    pub(super) fn of_plot(self, name: String, plot: &Plot, title: &str, note: &str) -> NamedFigure {
        let (chart, band) = file::plot(plot, self.drives);
        let published = match plot.published.is_empty() {
            true => "",
            false => "Thick vertical lines: the band of the published number of that drive.",
        };
        let band = band.unwrap_or_default();
        let mut conditions: Vec<String> = Vec::new();
        // The line of the test is above them already.
        let test = format!("{}: ", self.group.title());
        for text in [&plot.label, &plot.caption, note, &band, published] {
            let text = text.strip_prefix(&test).unwrap_or(text);
            let is_new = !title.ends_with(text) && !conditions.iter().any(|other| other == text);
            conditions.extend(is_new.then(|| capital(text)));
        }
        self.file(name, title, conditions, self.legend(plot), chart)
    }

    /// Returns the drives that `plot` does not name, and those that have no line in it, with the reason.
    fn legend(self, plot: &Plot) -> Vec<(usize, String)> {
        let drives = self.drives;
        let has_line = |drive: usize| {
            plot.lines.iter().any(|line| line.drive == drive && !line.points.is_empty())
        };
        let without = |drive: usize, why: &str| (drive, format!("{} ({why})", drives.short(drive)));
        let missing = |member: &Member<'_>| {
            let drive = drives.drive_of(member.index);
            (!has_line(drive)).then(|| without(drive, &missing_reason(member)))
        };
        let untested = drives.untested_in_figures(self.group);
        let unnamed = file::unnamed(plot, drives).into_iter();
        unnamed
            .map(|drive| (drive, drives.short(drive).to_owned()))
            .chain(self.group.members.iter().filter_map(missing))
            .chain(untested.into_iter().map(|drive| without(drive, "not tested")))
            .collect()
    }

    fn file(
        self,
        name: String,
        title: &str,
        conditions: Vec<String>,
        legend: Vec<(usize, String)>,
        chart: Drawing,
    ) -> NamedFigure {
        let TestFiles { group, drives } = self;
        let first = group.first();
        let test = &first.test.test;
        let suite = labels::suite(&first.run.head);
        let id = format!("{suite} · test {} r{}", sanitize::prose(&test.id), test.revision);
        let runs: Vec<&Run> = group.members.iter().map(|member| member.run).collect();
        let all: Vec<String> =
            group.members.iter().map(|member| drives.names[member.index].clone()).collect();
        let marked = captions::marks(group).into_iter().chain([group.full_title()]);
        let marked = marked.collect::<Vec<_>>().join(" · ");
        let mut description = vec![format!("{id} · {}", workload_text::line(test))];
        description.push(of_members(group, drives));
        description.extend(conditions.iter().cloned());
        let frame = Frame {
            title: title.to_owned(),
            conditions: [marked].into_iter().chain(conditions).collect(),
            legend,
            source: source(&all, &id, &runs),
        };
        NamedFigure::new(name, &frame, chart, &description, drives)
    }
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

/// Returns the line below a picture: the marks that all runs share, the drive where it is one, what
/// was done, and the date.
fn source(names: &[String], what: &str, runs: &[&Run]) -> String {
    let marks = |run: &Run| run_outcome::marks(run);
    let mut parts = runs.first().map(|run| marks(run)).unwrap_or_default();
    parts.retain(|mark| runs.iter().all(|run| marks(run).contains(mark)));
    // The marks of only some runs, such as UNFINISHED.
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
    parts.push(number::days(runs.iter().map(|run| run.head.started_unix_ms)));
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
    facts.extend(run_outcome::marks(run));
    facts
}

/// Returns `text` as part of a file name.
fn slug(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    text.chars().take(48).map(letter).collect()
}
