//! The style sheet of the page: colours for light, dark and paper, and the rules of each drive.

use crate::analysis::drive_slots::colour;
use crate::analysis::report_drives::ReportDrives;
use crate::chart::palette::{PALETTE_DARK, PALETTE_LIGHT};
use crate::page::kit::fold;
use crate::page::kit::stack;
use std::fmt::Write;

/// The rules that are the same on every page.
const RULES: &str = include_str!("style.css");

/// The rules of the page of an X-ray.
const XRAY: &str = include_str!("xray.css");
/// Flash behind the fast cache.
const XRAY_LIGHT: &str = "--blk:#e6e3dc;";
const XRAY_DARK: &str = "--blk:#2a2f37;";

const LIGHT: &str = "--bg:#fbfaf8;--card:#fff;--tint:#f3f1ec;--ink:#16191d;--ink2:#565c65;\
    --ink3:#666d77;--line:#e3e1dc;--line2:#c9c6bf;--link:#1a4ede;--good:#06724e;--warn:#8a5200;\
    --bad:#b3261e;--hi:#fff6dc;";

const DARK: &str = "--bg:#101317;--card:#15181d;--tint:#1c2027;--ink:#eceef1;--ink2:#a8afb9;\
    --ink3:#8b929d;--line:#282d35;--line2:#3d434d;--link:#8fb0ff;--good:#3ecf9a;--warn:#f0b955;\
    --bad:#ff8a7a;--hi:#2b2615;";

/// Paper is white, and its ink black.
const PAPER: &str = "--bg:#fff;--card:#fff;--tint:#f2f2f2;--ink:#000;--ink2:#333;--ink3:#555;\
    --line:#ddd;--line2:#999;";

/// Returns the style sheet of a page with these drives; rules have the colour `accent`.
pub(super) fn sheet(drives: &ReportDrives, accent: Option<&str>) -> String {
    let light = format!("{LIGHT}{}{}", palette(&PALETTE_LIGHT), of_accent(accent));
    let dark = format!("{DARK}{}", palette(&PALETTE_DARK));
    format!(
        ":root{{color-scheme:light dark;{light}}}\
         @media(prefers-color-scheme:dark){{:root{{{dark}}}}}\
         {RULES}{}{}\
         @media print{{:root{{color-scheme:light;{light}{PAPER}}}}}",
        stacked(),
        rules(drives)
    )
}

/// Returns the style sheet of the page of an X-ray, whose drives have the classes `x0` and `x1`.
pub(super) fn of_xray() -> String {
    let light = format!("{LIGHT}{XRAY_LIGHT}{}", palette(&PALETTE_LIGHT));
    let dark = format!("{DARK}{XRAY_DARK}{}", palette(&PALETTE_DARK));
    format!(
        ":root{{color-scheme:light dark;{light}}}\
         @media(prefers-color-scheme:dark){{:root{{{dark}}}}}\
         {RULES}{}{XRAY}\
         @media print{{:root{{color-scheme:light;{light}{PAPER}}}}}",
        stacked()
    )
}

/// Returns the style sheet of a fragment in an element of the class `embedded`, nested in it, so that no
/// rule reaches the page around it (CSS Nesting).
pub(super) fn nested(drives: &ReportDrives, accent: Option<&str>) -> String {
    let light = format!("{LIGHT}{}{}", palette(&PALETTE_LIGHT), of_accent(accent));
    let dark = format!("{DARK}{}", palette(&PALETTE_DARK));
    let slot = |drive: usize| format!(".d-{drive}{{--c:var(--s{})}}", colour(drives.slot(drive)));
    let slots: String = (0..drives.count()).map(slot).collect();
    // The rules of the elements html and body apply to the element around the fragment instead.
    let rules: String = RULES.lines().filter(|line| !line.starts_with("@page")).collect();
    let own = RULES.lines().find_map(|line| line.strip_prefix("body{margin:0;"));
    let own = own.and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    format!(
        ".embedded{{color-scheme:light dark;{light}{own};padding:12px;\
         @media(prefers-color-scheme:dark){{{dark}}}\
         {rules}{}{slots}}}",
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

fn palette(colours: &[&str]) -> String {
    let slot = |(number, colour): (usize, &&str)| format!("--s{number}:{colour};");
    let grey = colours.last().map(|grey| format!("--mute:{grey};")).unwrap_or_default();
    colours.iter().enumerate().map(slot).chain([grey]).collect()
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
