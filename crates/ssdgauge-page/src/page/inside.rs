//! The X-rays of the drives of a page: a small picture at the name of the only drive, and a section with the
//! cross-section of each.

use crate::chart::shape::Drawing;
use crate::chart::xray::cut;
use crate::chart::xray::fact::View;
use crate::chart::xray::picture::{headline, marks, summary};
use crate::page::kit::drawn::svg;
use crate::page::kit::mark;
use maud::{Markup, html};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::inputs::options::DriveXray;
use ssdgauge_analysis::text::number;

/// The anchor of the section.
pub(super) const ANCHOR: &str = "inside";

/// The size of the small picture.
const SMALL: (f64, f64) = (200.0, 84.0);

/// Returns the small picture, which leads to the section; nothing where there are X-rays of several drives or of none.
pub(super) fn small(xrays: &[DriveXray], drives: &ReportDrives) -> Markup {
    html! {
        @if let ([xray], 1) = (xrays, drives.count()) {
            a.inside href={ "#" (ANCHOR) } {
                (svg(&picture(xray), "xsmall", &format!("Inside the drive: {}", headline(&xray.card))))
                span { "Inside the drive" }
            }
        }
    }
}

/// Returns the units with their fast cache and spare area, below the lines that lead to them.
fn picture(xray: &DriveXray) -> Drawing {
    const LINES: f64 = 18.0;
    let (width, height) = SMALL;
    let mut drawing = Drawing::new(width, height + LINES);
    drawing.put(cut::units(View { card: &xray.card, different: &[] }, width, height), (0.0, LINES));
    drawing
}

/// Returns the section; nothing without an X-ray.
pub(super) fn section(xrays: &[DriveXray], drives: &ReportDrives) -> Markup {
    let is_one = drives.count() == 1;
    html! {
        @if !xrays.is_empty() {
            section.use id=(ANCHOR) aria-labelledby="inside-title" {
                h2 #inside-title { "Inside " (if is_one { "the drive" } else { "the drives" }) }
                p.cond {
                    "Inferred from response times by an X-ray; the range below a value is its interval."
                }
                div.xtwo[!is_one] {
                    @for xray in xrays { (of_drive(xray, drives)) }
                }
            }
        }
    }
}

fn of_drive(xray: &DriveXray, drives: &ReportDrives) -> Markup {
    let view = View { card: &xray.card, different: &[] };
    let drive = drives.drive_of(xray.run);
    let label = format!("Cross-section of {}: {}", drives.name(drive), headline(&xray.card));
    html! {
        figure id={ (ANCHOR) "/" (drive + 1) } {
            figcaption {
                h3 {
                    @if drives.count() > 1 { (drives.short(drive)) ": " }
                    (headline(&xray.card))
                }
                p.cond {
                    (mark::marks(&marks(&xray.card).into_iter().map(str::to_owned).collect::<Vec<_>>()))
                    "X-ray of " (number::date(xray.started_unix_ms)) ": " (summary(&xray.card))
                }
            }
            @if drives.count() == 1 {
                (svg(&cut::wide(view), "ch wide of3 xcut", &label))
                (svg(&cut::middle(view), "ch middle xcut", &label))
                (svg(&cut::narrow(view), "ch narrow xcut", &label))
            } @else {
                (svg(&cut::narrow(view), "ch xcut", &label))
            }
        }
    }
}
