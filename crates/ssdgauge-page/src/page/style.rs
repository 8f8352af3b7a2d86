//! The style sheet of the page: colours for light, dark and paper, and the rules of each drive.

use crate::chart::look;
use crate::chart::palette::variables;
use crate::page::kit::fold;
use crate::page::kit::stack;
use ssdgauge_analysis::drives::drive_slots::colour;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use std::fmt::Write;

/// The rules that are the same on every page.
const RULES: &str = include_str!("style.css");

/// The rules of the page of many drives.
const FLEET: &str = include_str!("fleet.css");

/// The rules of the pages of the open Bench.
const BENCH: &str = include_str!("bench.css");

/// The rules of the first screen of a page of one drive.
const ONE_DRIVE: &str = include_str!("one_drive.css");

/// The rules of the page of an X-ray.
const XRAY: &str = include_str!("xray.css");
/// The rules of X-rays on other pages.
const INSIDE: &str = include_str!("inside.css");

/// Paper is white, and its ink black.
const PAPER: &str = "--bg:#fff;--card:#fff;--tint:#f2f2f2;--ink:#000;--ink2:#333;--ink3:#555;\
    --line:#ddd;--line2:#999;";

/// Returns the style sheet of a page with these drives; rules have the colour `accent`. X-rays have further looks.
pub(super) fn sheet(drives: &ReportDrives, accent: Option<&str>, has_xray: bool) -> String {
    let light = format!("{}{}", variables(false), of_accent(accent));
    let dark = variables(true);
    let of_one = if drives.count() == 1 { ONE_DRIVE } else { "" };
    let of_xray = if has_xray { format!("{}{INSIDE}", look::xray_rules()) } else { String::new() };
    format!(
        ":root{{color-scheme:light dark;{light}}}\
         @media(prefers-color-scheme:dark){{:root{{{dark}}}}}\
         {}{RULES}{of_one}{of_xray}{}{}\
         @media print{{:root{{color-scheme:light;{light}{PAPER}}}}}",
        look::rules(),
        stacked(),
        rules(drives)
    )
}

/// Returns the style sheet of the page of an X-ray, whose drives have the classes `x0` and `x1`.
pub(super) fn of_xray() -> String {
    without_slots(&look::xray_rules(), XRAY)
}

/// Returns the style sheet of the page of many drives, which have no colours of their own.
pub(super) fn of_fleet() -> String {
    without_slots("", FLEET)
}

/// Returns the style sheet of the pages of the open Bench, where a colour means a drive that the reader chose.
pub(super) fn of_bench() -> String {
    without_slots("", BENCH)
}

/// Returns the style sheet of a list of pictures.
pub(super) fn of_sheet() -> String {
    const SHEET: &str = ".sheet{margin:28px 0;padding:0 0 20px;border-bottom:1px solid var(--line)}\
                         .sheet img{max-width:100%;height:auto;border:1px solid var(--line)}\
                         .sheet h2{font-size:17px;margin:10px 0 2px}\
                         .sheet p{margin:2px 0;overflow-wrap:anywhere}";
    without_slots("", SHEET)
}

/// Returns a style sheet without drives, with the rules `looks` of charts and `own` of the page.
fn without_slots(looks: &str, own: &str) -> String {
    let light = variables(false);
    let dark = variables(true);
    format!(
        ":root{{color-scheme:light dark;{light}}}\
         @media(prefers-color-scheme:dark){{:root{{{dark}}}}}\
         {}{looks}{RULES}{}{own}\
         @media print{{:root{{color-scheme:light;{light}{PAPER}}}}}",
        look::rules(),
        stacked()
    )
}

/// Returns the style sheet of a fragment in an element of the class `embedded`, nested in it, so that no
/// rule reaches the page around it (CSS Nesting).
pub(super) fn nested(drives: &ReportDrives, accent: Option<&str>) -> String {
    let light = format!("{}{}", variables(false), of_accent(accent));
    let dark = variables(true);
    let slot = |drive: usize| format!(".d-{drive}{{--c:var(--s{})}}", colour(drives.slot(drive)));
    let slots: String = (0..drives.count()).map(slot).collect();
    // The rules of the elements html and body apply to the element around the fragment instead.
    let rules: String = RULES.lines().filter(|line| !line.starts_with("@page")).collect();
    let own = RULES.lines().find_map(|line| line.strip_prefix("body{margin:0;"));
    let own = own.and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    format!(
        ".embedded{{color-scheme:light dark;{light}{own};padding:12px;\
         @media(prefers-color-scheme:dark){{{dark}}}\
         {}{rules}{}{slots}}}",
        look::rules(),
        stacked()
    )
}

/// Returns the rules of tables on phones.
fn stacked() -> String {
    format!("@media screen and (max-width:700px){{{}}}", stack::rules())
}

fn of_accent(accent: Option<&str>) -> String {
    accent.map(|accent| format!("--accent:{accent};")).unwrap_or_default()
}

/// Returns the colour of each drive, its filter and its highlight.
fn rules(drives: &ReportDrives) -> String {
    let mut text = String::new();
    if fold::is_folded(drives.count()) {
        text.push_str(&fold::rules());
    }
    for drive in 0..drives.count() {
        let slot = colour(drives.slot(drive));
        let on = format!("body:has(#hl option[value=\"{drive}\"]:checked)");
        write!(
            text,
            ".d-{drive}{{--c:var(--s{slot})}}\
             body:has(#s-{drive}:not(:checked)) .d-{drive}.d{{display:none}}\
             {on} :is(.d,.d .ic):not(.d-{drive}){{--c:var(--mute)}}\
             {on} .d-{drive}.d .ln:not(.thin){{stroke-width:3.4}}\
             {on} .r-{drive}{{display:inline}}\
             {on} .bx{{display:none}}\
             {on} .fold-rows tr.d-{drive}{{display:var(--row)!important}}\
             {on} .fold-rows li.d-{drive}{{display:grid!important}}\
             {on} g.within.d-{drive}{{display:inline!important}}\
             {on} :is(tr,li).d-{drive}{{background:var(--hi)}}"
        )
        .expect("writing to memory cannot fail");
    }
    text
}
