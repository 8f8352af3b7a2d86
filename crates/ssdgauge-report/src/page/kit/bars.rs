//! Rankings: one row for each drive, as HTML, so that a hidden drive closes up.

use crate::analysis::report_drives::ReportDrives;
use crate::chart::axis::RowScale;
use crate::chart::coordinate::percent;
use crate::chart::mark::{class, mark, name, name_column};
use crate::page::kit::fold;
use maud::{Markup, html};

/// More drives than this have no ratios to each other in their rows.
const MAX_RATIOS: usize = 8;

/// A logarithmic scale is used where the greatest value is this many times the least.
const WIDE: f64 = 20.0;

/// A ranking.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    /// Unit, direction and rule, above it.
    pub(crate) caption: String,
    /// The rows, the best first.
    pub(crate) rows: Vec<Row>,
    /// Whether values that spread widely may have a logarithmic scale: those without a meaning of
    /// twice as long.
    pub(crate) may_be_log: bool,
}

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The number of the drive.
    pub(crate) drive: usize,
    /// The value, or the reason why there is none.
    pub(crate) value: Result<f64, String>,
    /// The value in words.
    pub(crate) words: String,
    /// What stands behind it, such as `95 % at QD128`; empty for nothing.
    pub(crate) extra: String,
    /// The 95 % interval.
    pub(crate) interval: Option<(f64, f64)>,
    /// All of it, for a reader who points at it.
    pub(crate) title: String,
}

/// Returns the ranking.
pub(crate) fn bars(ranking: &Ranking, drives: &ReportDrives) -> Markup {
    let values = || ranking.rows.iter().filter_map(|row| row.value.as_ref().ok().copied());
    let most = ranking
        .rows
        .iter()
        .filter_map(|row| Some(row.interval.map_or(0.0, |i| i.1).max(*row.value.as_ref().ok()?)))
        .fold(0.0, f64::max);
    let least = values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    let log = RowScale::new(values()).filter(|_| ranking.may_be_log && most > WIDE * least);
    let has_extra = ranking.rows.iter().any(|row| !row.extra.is_empty());
    let room = if has_extra { 0.56 } else { 0.72 };
    let place = |value: f64| match log {
        Some(scale) => room * scale.share(value),
        None if most > 0.0 => room * value / most,
        None => 0.0,
    };
    let names: Vec<&str> = ranking.rows.iter().map(|row| drives.label(row.drive)).collect();
    html! {
        p.cap {
            (ranking.caption.trim_end_matches('.'))
            @if log.is_some() { "; logarithmic" }
        }
        ol.bars.fold-rows[fold::is_folded(names.len())] style=(name_column(&names)) {
            @for row in &ranking.rows {
                li class=(class(row.drive)) {
                    (name(drives, row.drive))
                    @match &row.value {
                        Ok(value) => {
                            svg width="100%" height="22" {
                                title { (row.title) }
                                @let end = place(*value);
                                @if log.is_some() {
                                    line.stem x1="0" x2=(percent(end)) y1="11" y2="11" {}
                                    svg x=(percent(end)) overflow="visible" {
                                        (mark(drives.slot(row.drive), (0.0, 11.0), 5.0))
                                    }
                                } @else {
                                    rect.br x="0" y="4" height="14" rx="2" width=(percent(end)) {}
                                }
                                @if let Some((low, high)) = row.interval {
                                    line.wh x1=(percent(place(low))) x2=(percent(place(high)))
                                        y1="11" y2="11" {}
                                }
                                @let end = row.interval.map_or(end, |(_, high)| end.max(place(high)));
                                svg x=(percent(end)) overflow="visible" {
                                    text.bv x=(if log.is_some() { "11" } else { "8" }) y="15.5" {
                                        (row.words)
                                        @if !row.extra.is_empty() {
                                            tspan.bx dx="7" { (row.extra) }
                                        }
                                        (ratios(&ranking.rows, row))
                                    }
                                }
                            }
                        }
                        Err(reason) => { span.no { "– " (reason) } }
                    }
                }
            }
        }
        (fold::remark(names.len()))
    }
}

/// Returns the value of `row` against each other drive, of which the style sheet shows the highlighted
/// one.
fn ratios(rows: &[Row], row: &Row) -> Markup {
    let Ok(value) = row.value else { return html! {} };
    let others = rows.iter().filter(|other| other.drive != row.drive);
    html! {
        @if rows.len() <= MAX_RATIOS {
            @for other in others {
                @if let Some(ratio) = ratio(value, other.value.as_ref().ok().copied()) {
                    tspan class={ "r r-" (other.drive) } dx="7" { (ratio) }
                }
            }
        }
    }
}

/// Returns a value as a multiple or a share of another one: `3.8×`, `62 %`.
pub(crate) fn ratio(value: f64, of: Option<f64>) -> Option<String> {
    let ratio = value / of.filter(|of| *of > 0.0)?;
    Some(match ratio {
        _ if !ratio.is_finite() => return None,
        _ if ratio >= 9.5 => format!("{ratio:.0}×"),
        _ if ratio >= 1.995 => format!("{ratio:.1}×"),
        _ if ratio >= 0.095 => format!("{:.0}\u{a0}%", 100.0 * ratio),
        _ => format!("{:.1}\u{a0}%", 100.0 * ratio),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_a_share_below_twice_and_a_multiple_from_there() {
        for (value, of, expected) in [
            (62.0, 100.0, "62\u{a0}%"),
            (380.0, 100.0, "3.8×"),
            (2_000.0, 100.0, "20×"),
            (1.0, 100.0, "1.0\u{a0}%"),
        ] {
            assert_eq!(ratio(value, Some(of)).as_deref(), Some(expected));
        }
        assert_eq!(ratio(1.0, None), None);
        assert_eq!(ratio(1.0, Some(0.0)), None);
    }
}
