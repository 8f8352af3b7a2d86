//! What a drive gives for its price: capacity, rated writes and requests per unit of the currency.

use crate::answers::answer::{Answer, Question};
use crate::drives::report_drives::ReportDrives;
use crate::groups::group::Group;
use crate::groups::measure::{self, Measure};
use crate::inputs::notes::Notes;
use crate::model::metrics;
use crate::model::{Run, TestRun};
use crate::steps::headline_points;
use crate::text::{number, sanitize};
use ssdgauge_core::{Metric, Scope};

/// The prices of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// The unit of the currency.
    pub currency: String,
    /// The test whose requests are counted, by its number among the groups.
    pub test: Option<usize>,
    /// The queue depths whose IOPS are averaged; empty for the steps of the headline.
    pub depths: Vec<u32>,
    /// The drives with a price, in the order of the answer.
    pub rows: Vec<Price>,
}

/// What one drive gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The number of the drive.
    pub drive: usize,
    /// Its price.
    pub price: f64,
    /// Capacity of the whole drive in GB (10^9 bytes) per unit, whatever part of it the run used;
    /// `None` where the run files do not state it.
    pub gb: Option<f64>,
    /// IOPS per unit, at the steps of the headline of the test of everyday work or at its low queue depths.
    pub iops: Option<f64>,
    /// Rated writes in TB (10^12 bytes) per unit.
    pub tbw: Option<f64>,
}

/// Returns a price with its currency.
pub fn amount(price: f64, currency: &str) -> String {
    let whole = price.fract().abs() < 0.005;
    let (units, rest) = (price.trunc() as u64, (price.fract() * 100.0).round() as u64);
    let price = match whole || rest == 100 {
        true => number::count(price.round() as u64),
        false => format!("{}.{rest:02}", number::count(units)),
    };
    format!("{price}\u{a0}{}", sanitize::prose(currency))
}

/// Returns the price of each drive with its name where there are several, such as `100 EUR`; `None` without a price.
pub fn in_words(notes: &Notes, runs: &[Run], drives: &ReportDrives) -> Option<String> {
    let price = |drive: usize| {
        let price = amount(notes.of_drive(drive, runs, drives)?.price?, &notes.currency);
        Some(if drives.count() > 1 { format!("{} {price}", drives.short(drive)) } else { price })
    };
    let prices: Vec<String> = (0..drives.count()).filter_map(price).collect();
    (!prices.is_empty()).then(|| prices.join(", "))
}

/// Returns the prices in `notes`; `None` without any.
pub fn prices(
    notes: &Notes,
    runs: &[Run],
    groups: &[Group<'_>],
    answer: &Answer,
    drives: &ReportDrives,
) -> Option<Prices> {
    let everyday = answer.columns.iter().find(|column| column.question == Question::Everyday);
    let test = everyday.map(|column| column.group);
    let is_shallow = everyday.is_some_and(|column| column.measure == Measure::Shallow);
    let depths = test.filter(|_| is_shallow).map_or_else(Vec::new, |test| {
        let steps = measure::shallow_steps(&groups[test].first().test.test);
        steps.into_iter().map(|(depth, _)| depth).collect()
    });
    let of_drive = |drive: &usize| {
        let note = notes.of_drive(*drive, runs, drives)?;
        let price = note.price?;
        let whole = drives.runs_of(*drive).find_map(|run| runs[run].head.drive.whole_capacity());
        let member = test.and_then(|test| {
            groups[test].members.iter().find(|member| drives.drive_of(member.index) == *drive)
        });
        Some(Price {
            drive: *drive,
            price,
            gb: whole.map(|whole| whole.0 as f64 / 1e9 / price),
            iops: member.and_then(|member| iops(member.test, is_shallow)).map(|iops| iops / price),
            tbw: note.tbw.map(|tbw| tbw / price),
        })
    };
    let rows: Vec<Price> = answer.order.iter().filter_map(of_drive).collect();
    let currency = notes.currency.clone();
    (!rows.is_empty()).then_some(Prices { currency, test, depths, rows })
}

/// Returns the mean IOPS over the steps of the headline of `test`, or over those of low queue depths.
fn iops(test: &TestRun, is_shallow: bool) -> Option<f64> {
    let values: Option<Vec<f64>> = match is_shallow {
        true => {
            let (_, points) = measure::shallow_points(test)?;
            points.iter().map(|point| point.totals.value(Metric::Iops, Scope::All)).collect()
        }
        false => {
            let points = headline_points::points(test);
            points.iter().map(|point| metrics::value(point, Metric::Iops, Scope::All)).collect()
        }
    };
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}
