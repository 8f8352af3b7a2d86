//! How each thing in a chart looks: one table, from which the style sheet of pages and the attributes of
//! files follow.

use crate::chart::palette::{Ground, Ink};
use ssdgauge_analysis::drives::drive_slots::{OTHERS, colour};
use std::fmt::Write;

/// About how wide a letter is as a share of its size, on the wide side.
const LETTER: f64 = 0.56;

/// What an area or a line is painted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Nothing.
    None,
    /// A colour of the page.
    Ink(Ink),
    /// The colour of the drive that it belongs to.
    Drive,
    /// The colour of a slot.
    Slot(usize),
}

/// How a shape or its letters look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    /// Its class in the style sheet of pages.
    pub(crate) class: &'static str,
    /// The inside.
    pub(crate) fill: Paint,
    /// The outline.
    pub(crate) stroke: Paint,
    /// The width of the outline; of letters, of the ground around them.
    pub(crate) width: f64,
    /// The dashes of the outline; empty for a solid one.
    pub(crate) dashes: &'static [f64],
    /// From 0 to 1.
    pub(crate) opacity: f64,
    /// The size of letters; 0 for a shape.
    pub(crate) size: f64,
    /// The weight of letters.
    pub(crate) weight: u16,
    /// Whether its lines have round ends and corners.
    pub(crate) is_round: bool,
}

const NONE: Look = Look {
    class: "",
    fill: Paint::None,
    stroke: Paint::None,
    width: 1.0,
    dashes: &[],
    opacity: 1.0,
    size: 0.0,
    weight: 400,
    is_round: false,
};

const fn line(class: &'static str, ink: Ink, width: f64) -> Look {
    Look { class, stroke: Paint::Ink(ink), width, ..NONE }
}

const fn of_drive(class: &'static str, width: f64, opacity: f64) -> Look {
    Look { class, stroke: Paint::Drive, width, opacity, ..NONE }
}

const fn area(class: &'static str, fill: Paint, opacity: f64) -> Look {
    Look { class, fill, opacity, ..NONE }
}

const fn letters(class: &'static str, size: f64, weight: u16, ink: Ink) -> Look {
    Look { class, size, weight, fill: Paint::Ink(ink), ..NONE }
}

/// Returns `look` with the ground around its letters, so that they are readable above lines.
const fn on_ground(look: Look, width: f64) -> Look {
    Look { stroke: Paint::Ink(Ink::Ground), width, is_round: true, ..look }
}

/// A line of the grid.
pub(crate) const GRID: Look = line("gr", Ink::Line, 1.0);
/// An axis, and its ticks.
pub(crate) const AXIS: Look = line("ax", Ink::Axis, 1.0);
/// The words of a tick.
pub(crate) const TICK: Look = letters("tk", 12.0, 400, Ink::Faint);
/// The quantity and unit of an axis.
pub(crate) const UNIT: Look = letters("un", 12.0, 400, Ink::Faint);
/// The line of a drive.
pub(crate) const LINE: Look = Look { is_round: true, ..of_drive("ln", 2.4, 1.0) };
/// The line of another drive behind that of the page.
pub(crate) const PEER: Look =
    Look { opacity: 0.75, is_round: true, ..line("peer", Ink::Faint, 1.2) };
/// The line of every value below a smoothed one.
pub(crate) const THIN: Look = Look { is_round: true, ..of_drive("ln thin", 1.0, 0.45) };
/// An area of a band.
pub(crate) const BAND: Look = area("band", Paint::Ink(Ink::Faint), 0.2);
/// The median of a band.
pub(crate) const MEDIAN: Look = line("mid", Ink::Muted, 1.6);
/// The mark of a drive.
pub(crate) const MARK: Look =
    Look { fill: Paint::Drive, width: 1.1, ..line("mk", Ink::Ground, 1.1) };
/// The mark of a grey drive.
pub(crate) const HOLLOW: Look =
    Look { fill: Paint::Ink(Ink::Ground), ..of_drive("mk ho", 1.5, 1.0) };
/// From the end of a line to its name.
pub(crate) const LEADER: Look = of_drive("ld", 1.0, 0.6);
/// The name at the end of a line.
pub(crate) const END: Look = letters("el", 13.0, 620, Ink::Text);
/// The words after that name.
pub(crate) const END_VALUE: Look = letters("ev", 13.0, 400, Ink::Muted);
/// Words in a plot.
pub(crate) const NOTE: Look = on_ground(letters("an", 12.5, 400, Ink::Muted), 4.0);
/// The first of several lines of them.
pub(crate) const NOTE_TITLE: Look = on_ground(letters("an anb", 12.5, 660, Ink::Text), 4.0);
/// The border of two parts of a plot.
pub(crate) const BORDER: Look = Look { dashes: &[3.0, 3.0], ..line("bnd", Ink::Axis, 1.0) };
/// A tinted part of a plot.
pub(crate) const ZONE: Look = area("zone", Paint::Ink(Ink::Tint), 1.0);
/// From an event to its words.
pub(crate) const ARROW: Look = line("arr", Ink::Faint, 1.0);
/// From zero to the mark of a row.
pub(crate) const STEM: Look = Look { dashes: &[1.0, 4.0], ..of_drive("stem", 1.0, 1.0) };
/// An interval.
pub(crate) const WHISKER: Look = line("wh", Ink::Text, 1.4);
/// The range of the marks of a row, or the band of a published number.
pub(crate) const RANGE: Look = of_drive("rn", 5.0, 0.35);
/// A load that failed.
pub(crate) const FAILED: Look = line("fl", Ink::Faint, 1.4);
/// The cells of a map of latencies, from one request to 10,000 and more, as lines of the height of a row. One ink, so that
/// print and any colour vision keep the order; the faintest has three times the contrast that a shape needs to be seen.
pub(crate) const CELLS: [Look; 7] = [
    cell("c1", 0.44),
    cell("c2", 0.52),
    cell("c3", 0.6),
    cell("c4", 0.69),
    cell("c5", 0.79),
    cell("c6", 0.89),
    cell("c7", 1.0),
];

const fn cell(class: &'static str, opacity: f64) -> Look {
    Look { opacity, ..line(class, Ink::Text, CELL_HEIGHT) }
}

/// The height of a row of a map of latencies.
pub(crate) const CELL_HEIGHT: f64 = 5.0;

/// A bar of a drive.
pub(crate) const BAR: Look = area("br", Paint::Drive, 1.0);
/// The value of a row.
pub(crate) const BAR_VALUE: Look = letters("bv", 13.5, 630, Ink::Text);
/// The name of a row.
pub(crate) const ROW_NAME: Look = letters("nm", 13.5, 400, Ink::Text);
/// The words after that value.
pub(crate) const BAR_EXTRA: Look = letters("bx", 12.5, 400, Ink::Faint);

/// The marks of single points of an X-ray.
pub(crate) const DOT: Look = area("xdot", Paint::Drive, 0.75);
/// The line of a series of an X-ray.
pub(crate) const SERIES: Look = Look { is_round: true, ..of_drive("xln", 1.9, 1.0) };
/// The line of a second series over it.
pub(crate) const SERIES_DASHED: Look = Look { dashes: &[5.0, 4.0], ..of_drive("xl2", 2.2, 1.0) };
/// The line of a third one.
pub(crate) const SERIES_DOTTED: Look = Look { dashes: &[2.0, 4.0], ..of_drive("xl3", 2.6, 1.0) };
/// The mark of a second series.
pub(crate) const RING: Look = of_drive("xring", 1.5, 1.0);
/// A part of a drive.
pub(crate) const PART_AREA: Look =
    Look { fill: Paint::Ink(Ink::Card), ..line("xpart", Ink::Axis, 1.0) };
/// A part or a connection that is not identified.
pub(crate) const UNKNOWN: Look = Look { dashes: &[2.0, 4.0], ..line("xunk", Ink::Faint, 1.2) };
/// Flash of the fast cache.
pub(crate) const CACHE: Look = area("xcache", Paint::Slot(3), 1.0);
/// Flash beyond it.
pub(crate) const FLASH: Look = area("xnat", Paint::Ink(Ink::Flash), 1.0);
/// Flash beyond the capacity.
pub(crate) const SPARE: Look =
    Look { fill: Paint::Ink(Ink::Card), ..line("xspare", Ink::Faint, 0.8) };
/// The hatch of it.
pub(crate) const HATCH: Look = line("xhatch", Ink::Faint, 1.1);
/// An interval within a chart.
pub(crate) const INTERVAL: Look = area("xint", Paint::Ink(Ink::Faint), 0.17);
/// The ground of a structure that differs from that of another drive.
pub(crate) const DIFFERENT: Look =
    Look { fill: Paint::Ink(Ink::Highlight), ..line("xdif", Ink::Warning, 1.0) };
/// A bar from which no value was read.
pub(crate) const BACK: Look = area("xback", Paint::Slot(OTHERS), 1.0);
/// A connection.
pub(crate) const LANE: Look = line("xlane", Ink::Muted, 1.3);
/// From words to what they name.
pub(crate) const LEAD: Look = line("xlead", Ink::Faint, 0.9);
/// A value within a chart.
pub(crate) const VALUE_LINE: Look = Look { dashes: &[4.0, 3.0], ..line("xmark", Ink::Muted, 1.0) };
/// The ground of a mark such as MODEL.
pub(crate) const FLAG_AREA: Look = area("xflag", Paint::Ink(Ink::Text), 1.0);
/// The title of a picture.
pub(crate) const TITLE: Look = letters("xt", 24.0, 700, Ink::Text);
/// The name of a part, in capitals.
pub(crate) const PART: Look = letters("xk", 11.5, 640, Ink::Faint);
/// The name of a structure.
pub(crate) const NAME: Look = letters("xn", 12.5, 400, Ink::Muted);
/// A value.
pub(crate) const VALUE: Look = letters("xv", 17.0, 700, Ink::Text);
/// An interval, a tick or a reason.
pub(crate) const SMALL: Look = letters("xs", 11.5, 400, Ink::Faint);
/// A value within a chart.
pub(crate) const VALUE_NOTE: Look = on_ground(letters("xm", 11.5, 700, Ink::Text), 3.0);
/// The words instead of a value.
pub(crate) const REFUSAL: Look = letters("xr", 12.5, 650, Ink::Faint);
/// A mark such as MODEL.
pub(crate) const FLAG: Look = letters("xf", 12.5, 700, Ink::Ground);

/// The ground of a file.
pub(crate) const GROUND: Look = area("", Paint::Ink(Ink::Ground), 1.0);
/// The title of a file.
pub(crate) const HEAD: Look = letters("", 16.0, 700, Ink::Text);
/// The conditions below it.
pub(crate) const CONDITIONS: Look = letters("", 12.0, 400, Ink::Muted);
/// The name of a drive in a legend.
pub(crate) const LEGEND: Look = letters("", 12.0, 600, Ink::Text);
/// The line of the source below a file.
pub(crate) const SOURCE: Look = letters("", 11.0, 400, Ink::Muted);
/// The headline of an image to share.
pub(crate) const CARD_TITLE: Look = letters("", 46.0, 700, Ink::Text);
/// The name of a row of it.
pub(crate) const CARD_NAME: Look = letters("", 32.0, 400, Ink::Text);
/// The value of a row of it.
pub(crate) const CARD_VALUE: Look = letters("", 32.0, 700, Ink::Text);
/// The name of a number with a setting.
pub(crate) const CARD_TILE: Look = letters("", 24.0, 700, Ink::Text);
/// The setting of a number.
pub(crate) const CARD_NOTE: Look = letters("", 20.0, 400, Ink::Muted);
/// The words above its rows.
pub(crate) const CARD_WORDS: Look = letters("", 28.0, 400, Ink::Muted);
/// Why its numbers are in doubt.
pub(crate) const CARD_DOUBT: Look = letters("", 22.0, 400, Ink::Text);
/// What was measured, below the title of an editor.
pub(crate) const CARD_LEAD: Look = letters("", 28.0, 400, Ink::Text);
/// A mark of it, such as MODEL.
pub(crate) const CARD_FLAG: Look = letters("", 28.0, 700, Ink::Ground);

/// The looks of the charts of every page.
const OF_PAGES: &[&Look] = &[
    &GRID,
    &AXIS,
    &TICK,
    &UNIT,
    &LINE,
    &THIN,
    &PEER,
    &BAND,
    &MEDIAN,
    &MARK,
    &HOLLOW,
    &LEADER,
    &END,
    &END_VALUE,
    &NOTE,
    &NOTE_TITLE,
    &BORDER,
    &ZONE,
    &ARROW,
    &STEM,
    &WHISKER,
    &RANGE,
    &FAILED,
    &BAR,
    &BAR_VALUE,
    &BAR_EXTRA,
];

/// Those of the page of an X-ray.
const OF_XRAYS: &[&Look] = &[
    &DOT,
    &SERIES,
    &SERIES_DASHED,
    &SERIES_DOTTED,
    &RING,
    &PART_AREA,
    &UNKNOWN,
    &CACHE,
    &FLASH,
    &SPARE,
    &HATCH,
    &INTERVAL,
    &DIFFERENT,
    &BACK,
    &LANE,
    &LEAD,
    &VALUE_LINE,
    &FLAG_AREA,
    &PART,
    &NAME,
    &VALUE,
    &SMALL,
    &VALUE_NOTE,
    &REFUSAL,
    &FLAG,
    &TITLE,
];

/// Returns the rules of the style sheet of every page.
pub(crate) fn rules() -> String {
    OF_PAGES.iter().copied().chain(&CELLS).map(rule).collect()
}

/// Returns those that the page of an X-ray has next to them.
pub(crate) fn xray_rules() -> String {
    OF_XRAYS.iter().map(|look| rule(look)).collect()
}

fn rule(look: &Look) -> String {
    let class = look.class.replace(' ', ".");
    let mut text = format!("svg .{class}{{");
    for (name, value) in look.properties(&|paint| paint.variable()) {
        let unit = if name == "font-size" { "px" } else { "" };
        write!(text, "{name}:{value}{unit};").expect("a string takes every text");
    }
    text.push('}');
    text
}

impl Paint {
    fn variable(self) -> String {
        match self {
            Paint::None => "none".to_owned(),
            Paint::Ink(ink) => format!("var(--{})", ink.variable()),
            Paint::Drive => "var(--c)".to_owned(),
            Paint::Slot(slot) => format!("var(--s{slot})"),
        }
    }

    /// Returns the colour on `ground` for a drive of this slot; `None` for nothing.
    pub(crate) fn on(self, ground: Ground, slot: usize) -> Option<&'static str> {
        match self {
            Paint::None => None,
            Paint::Ink(ink) => Some(ink.on(ground)),
            Paint::Drive => Some(ground.slots()[colour(slot)]),
            Paint::Slot(slot) => Some(ground.slots()[colour(slot)]),
        }
    }
}

impl Look {
    /// Returns its properties, which are rules of a style sheet and attributes of SVG alike.
    pub(crate) fn properties(
        &self,
        painted: &dyn Fn(Paint) -> String,
    ) -> Vec<(&'static str, String)> {
        let mut all = vec![("fill", painted(self.fill))];
        if self.stroke != Paint::None {
            all.push(("stroke", painted(self.stroke)));
            all.push(("stroke-width", self.width.to_string()));
        }
        if !self.dashes.is_empty() {
            let dashes: Vec<String> = self.dashes.iter().map(f64::to_string).collect();
            all.push(("stroke-dasharray", dashes.join(" ")));
        }
        if self.is_round {
            all.push(("stroke-linejoin", "round".to_owned()));
            all.push(("stroke-linecap", "round".to_owned()));
        }
        if self.opacity < 1.0 {
            all.push(("opacity", self.opacity.to_string()));
        }
        if self.size > 0.0 {
            all.push(("font-size", self.size.to_string()));
            all.push(("font-weight", self.weight.to_string()));
        }
        if self.size > 0.0 && self.stroke != Paint::None {
            all.push(("paint-order", "stroke".to_owned()));
        }
        all
    }

    /// Returns whether its letters are bold.
    pub(crate) fn is_bold(&self) -> bool {
        self.weight >= 600
    }

    /// Returns about how wide `words` are.
    pub(crate) fn width_of(&self, words: &str) -> f64 {
        // Bold letters and capitals are wider.
        let share = |letter: char| if letter.is_uppercase() { 1.2 } else { 1.0 };
        let bold = if self.is_bold() { 1.08 } else { 1.0 };
        words.chars().map(share).sum::<f64>() * bold * self.size * LETTER
    }

    /// Returns `words` in at most `most` lines that are about `width` wide; the last one ends with dots where
    /// there is more.
    pub(crate) fn wrapped(&self, words: &str, width: f64, most: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        // A no-break space keeps a number with its unit.
        for word in words.split(' ').filter(|word| !word.is_empty()) {
            match lines.last_mut() {
                Some(line) if self.width_of(line) + self.width_of(word) + 4.0 <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                Some(_) | None => lines.push(self.cut(word, width)),
            }
        }
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                let room = width - self.width_of("…");
                *last = format!("{}…", self.cut(last, room).trim_end_matches('…'));
            }
        }
        lines
    }

    /// Returns `words`, cut to about `width`.
    pub(crate) fn cut(&self, words: &str, width: f64) -> String {
        if self.width_of(words) <= width {
            return words.to_owned();
        }
        let each = self.width_of("n");
        let room = ((width / each) as usize).saturating_sub(1);
        words.chars().take(room).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::palette::PALETTE_LIGHT;

    #[test]
    fn words_are_wrapped_and_what_is_left_out_shows_as_dots() {
        let words = "because reads of trimmed addresses are slower than before";
        let lines = SMALL.wrapped(words, 140.0, 9);
        assert_eq!(lines.join(" "), words);
        assert!(lines.iter().all(|line| SMALL.width_of(line) <= 140.0), "{lines:?}");
        let cut = SMALL.wrapped(words, 140.0, 2);
        assert!(cut.len() == 2 && cut[1].ends_with('…'), "{cut:?}");
        let long = SMALL.wrapped(&"x".repeat(90), 140.0, 3);
        assert!(SMALL.width_of(&long[0]) <= 141.0, "{long:?}");
    }

    #[test]
    fn a_rule_has_the_variables_of_the_page_and_a_file_the_light_colours() {
        assert_eq!(rule(&GRID), "svg .gr{fill:none;stroke:var(--line);stroke-width:1;}");
        assert!(rule(&THIN).starts_with("svg .ln.thin{fill:none;stroke:var(--c);"));
        assert_eq!(Paint::Drive.on(Ground::Light, 1), Some(PALETTE_LIGHT[1]));
        assert_eq!(Paint::None.on(Ground::Dark, 0), None);
    }
}
