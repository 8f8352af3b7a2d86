//! Every chart as a file of its own, with everything in it that a reader must know.

use crate::clean;
use crate::error::ReportError;
use crate::figure::draw::{self, Frame, Ink, Sheet};
use crate::figure::{self, Cast, Chart, vega};
use crate::group::{self, Group};
use crate::names;
use crate::number;
use crate::run::Run;
use crate::settings;

/// One chart as a file.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFigure {
    /// A file name without suffix, of lower-case letters, digits and hyphens, unique in its list.
    pub name: String,
    /// What the picture shows.
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

impl NamedFigure {
    /// Returns the same figure as a Vega-Lite 5 specification with its data in it.
    pub fn vega_lite(&self) -> serde_json::Value {
        vega::specification(&self.chart)
    }

    /// Returns the same picture as a PNG file, twice as many pixels wide as its SVG has units.
    pub fn png(&self) -> Result<Vec<u8>, ReportError> {
        let scene = draw::scene(&self.chart, Ink::Light, &self.frame, &Sheet::WIDE);
        kuva::RasterBackend::new()
            .with_scale(DENSITY)
            .render_scene(&scene)
            .map_err(|cause| ReportError::Picture { name: self.name.clone(), cause })
    }
}

/// Returns every chart of `runs`, in the order of the page; the drive of the run `highlight`
/// stands out.
pub fn figures(runs: &[Run], highlight: Option<usize>) -> Vec<NamedFigure> {
    let cast = Cast::of(runs, highlight);
    let mut figures: Vec<NamedFigure> = Vec::new();
    for (number, group) in group::groups(runs).iter().enumerate() {
        for chart in figure::of(group, &cast) {
            let base =
                format!("{:02}-{}-{}", number + 1, slug(&group.first().test.test.id), chart.kind);
            let like = |figure: &&NamedFigure| figure.name.starts_with(&base);
            let name = match figures.iter().filter(like).count() {
                0 => base,
                n => format!("{base}-{}", n + 1),
            };
            let frame = frame(&chart, group, &cast);
            let svg = draw::svg(&chart, Ink::Light, &frame, &Sheet::WIDE, "f");
            figures.push(NamedFigure { name, title: chart.title.clone(), svg, chart, frame });
        }
    }
    figures
}

fn frame(chart: &Chart, group: &Group<'_>, cast: &Cast) -> Frame {
    let test = &group.first().test.test;
    let test = format!(
        "{} · test {} r{} · {}",
        names::suite(group.first().run),
        clean::prose(&test.id),
        test.revision,
        settings::line(group)
    );
    let mut origin = draw::wrapped(&test, ROOM);
    for member in &group.members {
        let head = &member.run.head;
        let firmware = head.drive.firmware.as_deref().map_or("unknown".into(), clean::device);
        let mut facts = vec![
            cast.names[member.index].clone(),
            number::capacity(head.drive.capacity.0),
            format!("firmware {firmware}"),
            number::date(head.started_unix_ms),
            format!("run {}", clean::prose(&head.id)),
        ];
        facts.extend(names::marks(member.run));
        origin.push(facts.join(" · "));
    }
    origin.extend(chart.notes.iter().flat_map(|note| draw::wrapped(note, ROOM)));
    Frame { title: chart.title.clone(), origin }
}

/// Returns `text` as part of a file name.
fn slug(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    text.chars().take(48).map(letter).collect()
}
