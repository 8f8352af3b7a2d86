//! The page of many drives: one strip of dots for each measure, all drives against all measures, and a row for each drive.
//!
//! Red means one thing: a drive that is slower than its peers, in a measure where it is beyond its bound.

use crate::chart::coordinate::at;
use crate::page::{document, style};
use maud::{Markup, html};
use ssdgauge_analysis::inputs::batch::{Batch, BatchDot, BatchDrive, BatchStrip};
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;

/// The strips that are drawn. Chosen: what fits a screen.
const MOST_STRIPS: usize = 16;

/// The drives of the table of all measures. Chosen: what fits the width of a page.
const MOST_COLUMNS: usize = 40;

/// The rows of drives that do not stand out. Chosen.
const MOST_ROWS: usize = 10;

/// From so many drives on, those within the bound are columns of a histogram in place of dots.
const MANY: usize = 200;

/// The columns of that histogram.
const COLUMNS: usize = 60;

/// The half height of a strip in pixels.
const MIDDLE: f64 = 13.0;

/// Returns the page of `batch`, with styles and everything that it shows.
pub fn fleet_page(batch: &Batch) -> String {
    let title = sanitize::prose(&batch.title);
    let drawn = &batch.strips[..batch.strips.len().min(MOST_STRIPS)];
    let has_slow = batch.drives.iter().any(|drive| drive.is_slow);
    let has_faults = batch.drives.iter().any(|drive| !drive.did.is_empty());
    let body = html! {
        a.skip href="#drives" { "Skip to the drives" }
        @if batch.is_model {
            aside.flag aria-label="Marks of the runs" { div.wrap {
                p { strong { "MODEL" } " Virtual drives; not representative of any product." }
            } }
        }
        main.wrap.fleet {
            header.page {
                p.kick { (sanitize::prose(&batch.kick)) }
                h1 { (title) }
                p.dek { (number::spaced(&batch.sentences.iter().map(|one| sanitize::prose(one)).collect::<Vec<_>>().join(" "))) }
                @if let Some((what, command)) = &batch.next {
                    p.next { b { "Next" } " " (sanitize::prose(what)) " " code { (sanitize::prose(command)) } }
                }
            }
            @if !drawn.is_empty() {
                section.use aria-labelledby="strips" {
                    h2 #strips { @if has_slow { "Where drives stand out" } @else { "How the drives compare" } }
                    p {
                        "One dot for each drive; to the right, requests take longer than those of its peers. "
                        @if has_slow { "The measure with the clearest outlier comes first. " }
                        "Tinted: up to the bound, which one healthy drive of a thousand would exceed if they scattered normally."
                        @if has_faults { " A ring is a drive with faults, whatever its speed." }
                    }
                    (strips(drawn, batch))
                    (undrawn(batch))
                }
                section.use aria-labelledby="all" {
                    h2 #all { "All drives, all measures" }
                    (grid(drawn, batch))
                }
            }
            section.use aria-labelledby="drives" {
                h2 #drives { "Drives" }
                (drives(batch))
            }
            section.use aria-labelledby="method" {
                h2 #method { "Method" }
                div.prose { @for paragraph in &batch.method { p { (sanitize::prose(paragraph)) } } }
            }
            footer.page { "Made with ssdgauge. One file, no scripts, no network." }
        }
    };
    document((&title, &html! {}), &style::of_fleet(), &body, &[])
}

fn undrawn(batch: &Batch) -> Markup {
    let more = &batch.strips[batch.strips.len().min(MOST_STRIPS)..];
    let has = |is_wanted: &dyn Fn(&BatchStrip, &BatchDot) -> bool| {
        let wanted = |strip: &&BatchStrip| strip.dots.iter().any(|dot| is_wanted(strip, dot));
        more.iter().filter(wanted).count()
    };
    let clear = has(&|_, dot| dot.is_slow);
    let scattered = has(&|strip, dot| !dot.is_slow && dot.excess > strip.bound);
    html! {
        @if !more.is_empty() {
            p.small {
                (number::count(more.len() as u64)) " more measures are not drawn; "
                @match clear {
                    0 => "no slow drive stands out in them.",
                    1 => "a drive stands out in one of them, less clearly.",
                    n => { "drives stand out in " (number::count(n as u64)) " of them, less clearly." }
                }
                @if scattered > 0 {
                    " In " (number::count(scattered as u64)) " a drive that is not called slow is beyond the bound too: the table counts its steps."
                }
            }
        }
    }
}

/// The scale of all strips: the excess, even up to about 2 % and logarithmic beyond, so that the usual spread and a drive
/// of twice the latency fit one axis.
struct Scale {
    from: f64,
    to: f64,
}

impl Scale {
    const EVEN: f64 = 0.02;

    fn new(strips: &[BatchStrip]) -> Scale {
        let all = || strips.iter().flat_map(|strip| strip.dots.iter().map(|dot| dot.excess));
        let bounds = strips.iter().map(|strip| strip.bound);
        let most = all().chain(bounds).fold(0.05, f64::max);
        let least = all().fold(-0.05, f64::min);
        Scale {
            from: (least / Scale::EVEN).asinh() * 1.06,
            to: (most / Scale::EVEN).asinh() * 1.06,
        }
    }

    /// Returns the place of `excess` in percent of the width.
    fn percent(&self, excess: f64) -> f64 {
        100.0 * ((excess / Scale::EVEN).asinh() - self.from) / (self.to - self.from)
    }

    /// Returns the ticks that fit, in percent.
    fn ticks(&self) -> Vec<i32> {
        // From twice the latency on the multiples 2, 4, 10, 100 and 1,000.
        let all = [-90, -50, -30, -10, -3, 0, 3, 10, 30, 100, 300, 900, 9_900, 99_900];
        let fits = |tick: &i32| (2.0..=98.0).contains(&self.percent(f64::from(*tick) / 100.0));
        all.into_iter().filter(fits).collect()
    }
}

fn strips(drawn: &[BatchStrip], batch: &Batch) -> Markup {
    let scale = Scale::new(drawn);
    html! {
        ol.strips {
            li.axis aria-hidden="true" {
                span {}
                svg width="100%" height="18" {
                    @for tick in scale.ticks() {
                        text.tk x={ (at(scale.percent(f64::from(tick) / 100.0))) "%" } y="13" text-anchor="middle" {
                            (excess(f64::from(tick) / 100.0, "×"))
                        }
                    }
                }
                span.m { "Median" }
                span.f { "Slowest" }
            }
            @for strip in drawn { (row(strip, &scale, batch)) }
        }
        p.small {
            "Longer latency than expected, in percent, and from twice as long on as a multiple; the scale is even to about 2% and logarithmic beyond. "
            "What is expected of a drive follows from all others with the same load."
        }
    }
}

fn row(strip: &BatchStrip, scale: &Scale, batch: &Batch) -> Markup {
    let slowest = strip.dots.last();
    let is_slow = strip.dots.iter().any(|dot| dot.is_slow);
    let name = |dot: &BatchDot| batch.drives[dot.drive].name.as_str();
    let label = match slowest {
        Some(dot) => format!(
            "{}: {} drives, median {}, slowest {} with {}",
            strip.title,
            strip.dots.len(),
            strip.median,
            name(dot),
            dot.value
        ),
        None => strip.title.clone(),
    };
    let has_faults = |dot: &&BatchDot| !batch.drives[dot.drive].did.is_empty();
    let (rings, quiet): (Vec<&BatchDot>, Vec<&BatchDot>) =
        strip.dots.iter().filter(|dot| !dot.is_slow).partition(has_faults);
    html! {
        li.out[is_slow] {
            span.t { (sanitize::prose(&strip.title)) }
            svg width="100%" height="26" role="img" aria-label=(sanitize::prose(&label)) {
                rect.within x="0" y="1" height="24" width={ (at(scale.percent(strip.bound))) "%" } {}
                @for tick in scale.ticks() {
                    @let x = format!("{}%", at(scale.percent(f64::from(tick) / 100.0)));
                    line.gr x1=(x) x2=(x) y1="1" y2="25" {}
                }
                @match strip.dots.len() >= MANY {
                    true => (columns(&quiet, scale)),
                    false => @for (x, y) in swarm(&quiet, scale) {
                        circle.dot cx={ (at(x)) "%" } cy=(at(y)) r="2.6" {}
                    },
                }
                @for dot in rings {
                    circle.ring cx={ (at(scale.percent(dot.excess))) "%" } cy=(at(MIDDLE)) r="4.5" {
                        title { (sanitize::prose(name(dot))) ": " (batch.drives[dot.drive].did.join(", ")) "; " (dot.value) ", " (signed(dot.excess)) "%" }
                    }
                }
                @for (place, dot) in strip.dots.iter().filter(|dot| dot.is_slow).rev().enumerate() {
                    @let x = scale.percent(dot.excess);
                    circle.dot.slow cx={ (at(x)) "%" } cy=(at(MIDDLE)) r="4.5" {
                        title { (sanitize::prose(name(dot))) ": " (dot.value) ", " (excess(dot.excess, " times")) }
                    }
                    // Names are shown with the slowest ones; more would overlap.
                    @if place == 0 { (named(dot, name(dot), x)) }
                }
            }
            span.m { (sanitize::prose(&strip.median)) }
            span.f.bad[is_slow] {
                @if let Some(dot) = slowest { (excess(dot.excess, " times")) }
                @if strip.scatters { small { "scatters" } }
            }
        }
    }
}

/// Returns the name and the value of a drive next to its dot, on the side that has room.
fn named(dot: &BatchDot, name: &str, x: f64) -> Markup {
    let (anchor, shift) = if x > 70.0 { ("end", -9) } else { ("start", 9) };
    html! {
        text.sl x={ (at(x)) "%" } dx=(shift) y="17" text-anchor=(anchor) {
            tspan.b { (sanitize::prose(name)) } " " (dot.value)
        }
    }
}

/// Returns what a latency has beyond another in percent with its sign, and from twice the other on as a multiple of it:
/// `+328 %` is read as 3.3 times.
fn excess(share: f64, times: &str) -> String {
    let multiple = share + 1.0;
    match signed(share) {
        _ if multiple >= 9.95 => format!("{}{times}", number::count(multiple.round() as u64)),
        _ if multiple >= 1.95 => {
            let digits = format!("{multiple:.1}");
            format!("{}{times}", digits.strip_suffix(".0").unwrap_or(&digits))
        }
        none if none == "0" => none,
        percent => format!("{percent}%"),
    }
}

/// Returns `share` in whole percent with its sign, and below 10 % with one decimal.
fn signed(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = match percent.abs() {
        near if near >= 9.95 || near.fract().abs() < 1e-9 => format!("{:.0}", percent.abs()),
        near => format!("{near:.1}"),
    };
    match percent {
        _ if digits.chars().all(|digit| matches!(digit, '0' | '.')) => "0".to_owned(),
        negative if negative < 0.0 => format!("\u{2212}{digits}"),
        _ => format!("+{digits}"),
    }
}

/// Returns the places of dots, in percent and pixels, of which those that are close are stacked.
fn swarm(dots: &[&BatchDot], scale: &Scale) -> Vec<(f64, f64)> {
    const NEAR: f64 = 0.9;
    let mut places: Vec<(f64, f64)> = Vec::with_capacity(dots.len());
    let mut row = (f64::MIN, 0_u32);
    for dot in dots {
        let x = scale.percent(dot.excess);
        row = if x - row.0 < NEAR { (row.0, row.1 + 1) } else { (x, 0) };
        // 0, up, down, further up and so on, within the strip.
        let steps = f64::from((row.1 % 7).div_ceil(2));
        let y = if row.1 % 2 == 1 { MIDDLE - 3.2 * steps } else { MIDDLE + 3.2 * steps };
        places.push((x, y));
    }
    places
}

/// Returns the histogram of many drives.
fn columns(dots: &[&BatchDot], scale: &Scale) -> Markup {
    let mut counts = [0_u32; COLUMNS];
    let width = 100.0 / COLUMNS as f64;
    for dot in dots {
        let place = (scale.percent(dot.excess) / width) as usize;
        counts[place.min(COLUMNS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    html! {
        @for (place, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // One drive stays visible next to hundreds.
            @let height = (22.0 * f64::from(*count) / f64::from(most)).max(2.0);
            rect.dot x={ (at(place as f64 * width)) "%" } y=(at(25.0 - height)) width={ (at(width * 0.9)) "%" } height=(at(height)) {}
        }
    }
}

/// Returns the table of all measures and the drives that are farthest from what is expected.
fn grid(drawn: &[BatchStrip], batch: &Batch) -> Markup {
    let mut farthest = vec![0.0_f64; batch.drives.len()];
    for (strip, dot) in
        drawn.iter().flat_map(|strip| strip.dots.iter().map(move |dot| (strip, dot)))
    {
        let of_bound = dot.excess.ln_1p() / strip.bound.ln_1p();
        farthest[dot.drive] = farthest[dot.drive].max(of_bound);
    }
    let mut order: Vec<usize> =
        (0..batch.drives.len()).filter(|drive| farthest[*drive] > 0.0).collect();
    let rank = |drive: usize| (!batch.drives[drive].state.stands_out(), -farthest[drive]);
    order.sort_by(|a, b| rank(*a).0.cmp(&rank(*b).0).then(rank(*a).1.total_cmp(&rank(*b).1)));
    let judged = order.len();
    order.truncate(MOST_COLUMNS);
    html! {
        p {
            "A number is the latency beyond what is expected, in percent, or as a multiple (2×), where it is outside of the bound. "
            @if judged > order.len() {
                (order.len()) " of " (number::count(judged as u64)) " drives, the farthest first."
            }
        }
        div.scroll tabindex="0" role="group" aria-label="All drives, all measures" {
            table.grid {
                thead { tr {
                    th scope="col" { "Measure" }
                    @for drive in &order {
                        th.slow[batch.drives[*drive].state.stands_out()] scope="col" { span { (sanitize::prose(&batch.drives[*drive].name)) } }
                    }
                } }
                tbody { @for strip in drawn { tr {
                    th scope="row" { (sanitize::prose(&strip.title)) }
                    @for drive in &order { (cell(strip, *drive)) }
                } } }
            }
        }
        p.small.key {
            span.k.in {} " within the bound" span.k.sl {} " longer" span.k.fa {} " shorter" span.k.no { "–" } " not measured"
        }
    }
}

fn cell(strip: &BatchStrip, drive: usize) -> Markup {
    let Some(dot) = strip.dots.iter().find(|dot| dot.drive == drive) else {
        return html! { td.no { "–" } };
    };
    let of_bound = dot.excess.ln_1p() / strip.bound.ln_1p();
    // Whole percent fit a cell; from twice the latency on the multiple does.
    let words = match dot.excess {
        times if times >= 0.95 => excess(times, "×"),
        share => {
            let sign = if share < 0.0 { "\u{2212}" } else { "+" };
            format!("{sign}{:.0}", 100.0 * share.abs())
        }
    };
    html! {
        @match of_bound {
            far if far > 1.0 && dot.is_slow => td.sl { (words) },
            far if far > 1.0 => td.st { (words) },
            far if far < -1.0 => td.fa { (words) },
            _ => td {},
        }
    }
}

/// Returns the table of the drives: those that stand out, then some of the others, then all their names.
fn drives(batch: &Batch) -> Markup {
    let (out, others): (Vec<&BatchDrive>, Vec<&BatchDrive>) =
        batch.drives.iter().partition(|drive| drive.state.stands_out());
    let of_first = batch.drives.first().map(|drive| &drive.model);
    let has_models = batch.drives.iter().any(|drive| Some(&drive.model) != of_first);
    let (shown, rest) = others.split_at(others.len().min(MOST_ROWS));
    html! {
        @if batch.strips.is_empty() || out.is_empty() {
            p { "A drive has one name on this page: its label, or the end of its serial number that no other drive shares." }
        }
        table.num.left.stack.fleet-drives {
            thead { tr {
                th scope="col" { "Drive" }
                th scope="col" { "Found" }
                th scope="col" { "Beyond the bound" }
                th scope="col" { "Report" }
            } }
            tbody { @for drive in out.iter().chain(shown) { (drive_row(drive, has_models)) } }
        }
        @if !rest.is_empty() {
            details.fold {
                summary { (number::count(rest.len() as u64)) " more drives that do not stand out" }
                ul.names { @for drive in rest { li { (linked(drive)) } } }
            }
        }
    }
}

fn drive_row(drive: &BatchDrive, has_models: bool) -> Markup {
    let out = drive.state.stands_out();
    html! {
        tr {
            th scope="row" {
                (linked(drive))
                @if let Some(label) = &drive.label { small { (sanitize::short_prose(label)) } }
                @if has_models && !drive.model.is_empty() { small { (sanitize::device(&drive.model)) } }
            }
            td.full {
                @if out { b.bad { (drive.state.name()) } } @else { (drive.state.name()) }
                @for reason in &drive.reasons { div { (sanitize::prose(reason)) } }
            }
            td {
                @if drive.beyond.1 > 0 { (drive.beyond.0) " of " (drive.beyond.1) " steps" } @else { "–" }
            }
            td {
                @match (&drive.page, &drive.file) {
                    (Some(page), _) => a href=(address(page)) { "page" },
                    (None, Some(file)) => code { "ssdgauge report " (sanitize::prose(file)) },
                    (None, None) => "–",
                }
            }
        }
    }
}

/// Returns the name of a drive, which leads to its page where it has one.
fn linked(drive: &BatchDrive) -> Markup {
    let name = sanitize::short_prose(&drive.name);
    html! {
        @match &drive.page {
            Some(page) => a href=(address(page)) { (name) },
            None => (name),
        }
    }
}

/// Returns `path` as a relative address: no name of a file is taken for a scheme or a host.
fn address(path: &str) -> String {
    let mut address = String::from("./");
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'/' => {
                address.push(char::from(byte));
            }
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_is_never_a_scheme_or_a_host() {
        assert_eq!(address("quick-S1.html"), "./quick-S1.html");
        assert_eq!(address("javascript:a.html"), "./javascript%3Aa.html");
        assert_eq!(address("//host/ä?#.html"), ".///host/%C3%A4%3F%23.html");
    }

    #[test]
    fn twice_a_latency_and_more_is_a_multiple() {
        let words =
            [0.94, 0.97, 1.0, 3.28, 9.0, 1_200.0].map(|share| super::excess(share, " times"));
        assert_eq!(words, ["+94%", "2 times", "2 times", "4.3 times", "10 times", "1,201 times"]);
        assert_eq!(super::excess(0.0, "×"), "0");
    }

    #[test]
    fn a_share_has_a_sign_and_no_more_digits_than_it_needs() {
        let signed = |share: f64| super::signed(share).replace('\u{2212}', "-");
        assert_eq!(
            [0.0, 0.03, -0.03, 0.0123, 1.216, -0.11, 0.0004, 10.0].map(signed),
            ["0", "+3", "-3", "+1.2", "+122", "-11", "0", "+1000"]
        );
    }
}
