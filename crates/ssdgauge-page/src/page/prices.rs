//! The prices of the drives, and what they give for a unit of the currency.

use crate::page::kit::mark::{class, icon};
use crate::page::kit::stack;
use maud::{Markup, html};
pub(super) use ssdgauge_analysis::answers::prices::amount;
use ssdgauge_analysis::answers::prices::{Price, Prices};
use ssdgauge_analysis::answers::statements::listed;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::text::{number, sanitize};

/// What a column shows of a drive.
type Value = fn(&Price) -> Option<f64>;

/// Returns the table; `test` is the title of the test whose requests are counted.
pub(super) fn table(prices: &Prices, test: Option<String>, drives: &ReportDrives) -> Markup {
    let currency = sanitize::prose(&prices.currency);
    let columns: [(&str, Value); 3] =
        [("IOPS", |row| row.iops), ("GB", |row| row.gb), ("TB rated writes", |row| row.tbw)];
    let shown = columns.iter().filter(|(_, value)| prices.rows.iter().any(|r| value(r).is_some()));
    let shown: Vec<_> = shown.collect();
    let mut heads = vec!["Drive".to_owned(), "Price".to_owned()];
    heads.extend(shown.iter().map(|(title, _)| format!("{title} per {currency}")));
    html! {
        h3 { "Price" }
        div.scroll tabindex="0" role="group" aria-label="Prices" {
        table.num.stack #prices style=(stack::names(&heads)) {
            thead { tr { @for head in &heads { th scope="col" { (head) } } } }
            tbody { @for row in &prices.rows {
                tr.(class(row.drive)) {
                    th scope="row" { (icon(drives, row.drive)) " " (drives.short(row.drive)) }
                    td { (amount(row.price, &prices.currency)) }
                    @for (_, value) in &shown {
                        td.best[is_best(prices, *value, row)] { (number::optional(value(row))) }
                    }
                }
            } }
        } }
        p.foot {
            "Prices by the editor. "
            // Of one drive nothing is the best.
            @if prices.rows.len() > 1 { "Bold: the best of its column. " }
            @if let Some(test) = test {
                "IOPS: " (averaged(prices)) " \u{201c}" (test) "\u{201d}. "
            }
            "Capacity and rated writes in decimal units."
            @if let Some(reason) = without_capacity(prices, drives) { " " (reason) }
        }
    }
}

/// Returns what the IOPS are the mean of, before the title of the test.
fn averaged(prices: &Prices) -> String {
    let depths: Vec<String> = prices.depths.iter().map(|depth| format!("QD{depth}")).collect();
    match depths.as_slice() {
        [] => "mean over the steps of the headline of".to_owned(),
        [one] => format!("at {one} of"),
        several => format!("mean over {} of", listed(several)),
    }
}

/// Returns which drives have no capacity per unit of the currency, and why; `None` where all have one.
fn without_capacity(prices: &Prices, drives: &ReportDrives) -> Option<String> {
    let without = prices.rows.iter().filter(|row| row.gb.is_none());
    let names: Vec<&str> = without.map(|row| drives.short(row.drive)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "No GB per {} for {}: the run file does not state the capacity of the whole drive.",
            sanitize::prose(&prices.currency),
            names.join(", ")
        )
    })
}

fn is_best(prices: &Prices, value: Value, row: &Price) -> bool {
    let values = prices.rows.iter().filter_map(value);
    let most = values.fold(0.0, f64::max);
    prices.rows.len() > 1 && value(row).is_some_and(|value| value >= most)
}
