//! Twins of real drives: three points of each published curve are given, the others are predicted.

use crate::real_curves::curves::{self, Curve, Measured, Source};
use ssdgauge_core::{Access, Bytes, Engine, Stream, Workload};
use ssdgauge_twin::{Evidence, Number, Question, Twin, answer, fit, profile_text};
use std::collections::BTreeMap;
use std::error::Error;

/// The drives with the beginnings of the names of their curves, of one drive and without further processes. Capacities
/// only decide how much smaller the virtual drive is.
const DRIVES: [(&str, &[&str], u64); 4] = [
    ("Samsung 980 PRO, 4 KiB", &["processes-"], 1_000_000_000_000),
    ("Samsung 980 PRO, all", &["processes-", "block-"], 1_000_000_000_000),
    ("Samsung EVO", &["evo-"], 1_000_000_000_000),
    ("Intel Optane", &["optane-"], 280_000_000_000),
];

/// Prints what the twin of each drive predicts of the points that it was not given.
pub(super) fn print() -> Result<(), Box<dyn Error>> {
    let (curves, source) = (curves::all()?, Source::open()?);
    println!("| Drive | Number | Points | Answered | Within band | Within 10 % (p99: 25 %) |");
    println!("|---|---|---|---|---|---|");
    let mut misses = Vec::new();
    for (drive, names, capacity) in DRIVES {
        let of_drive =
            curves.iter().filter(|curve| names.iter().any(|one| curve.name.starts_with(one)));
        judge(drive, &of_drive.collect::<Vec<_>>(), &source, Bytes(capacity), &mut misses)?;
    }
    misses.iter().for_each(|miss| println!("- {miss}"));
    Ok(())
}

fn judge(
    drive: &str,
    curves: &[&Curve],
    source: &Source,
    capacity: Bytes,
    misses: &mut Vec<String>,
) -> Result<(), Box<dyn Error>> {
    let (mut given, mut asked) = (Vec::new(), Vec::new());
    for curve in curves {
        for point in &curve.points {
            let numbers = numbers(curve, *point, &source.point(curve, *point)?);
            let name = format!("{} {point}", curve.name);
            let stream = stream(curve, *point, capacity);
            match curve.fitted.contains(point) {
                true => {
                    let workload = Workload { engine: Engine::IoUring, streams: vec![stream] };
                    given.push((name, workload, numbers));
                }
                false => asked.push((name, stream, numbers)),
            }
        }
    }
    let evidence = Evidence::of_points(drive, capacity, given);
    let fitted = fit(&evidence, &|_, _| {});
    let mut twin =
        Twin::read(&profile_text(&evidence, &fitted, "ssdgauge twin"))?.ok_or("no twin")?;
    if !fitted.not_described().is_empty() {
        println!("{drive}: not described, {:?}", fitted.not_described());
        twin.about.bands.clear();
    }
    // Points, answered, within their band, within the limits of the issue.
    let mut counts: BTreeMap<Number, [usize; 4]> = BTreeMap::new();
    for (name, stream, truth) in asked {
        let question =
            Question { stream, full_percent: 100.0, is_steady: false, assumed: Vec::new() };
        let answer = answer(&twin, &question);
        for (number, truth) in truth {
            let count = counts.entry(number).or_default();
            count[0] += 1;
            let Some(one) = answer.predicted.iter().find(|one| one.number == number) else {
                continue;
            };
            let error = one.value / truth - 1.0;
            let limit = if number.words().ends_with("p99") { 0.25 } else { 0.1 };
            count[1] += 1;
            count[2] += usize::from(error.abs() <= one.band);
            count[3] += usize::from(error.abs() <= limit);
            if error.abs() > one.band {
                misses.push(format!(
                    "{drive}, {name}, {}: {:.1} for {truth:.1}, {:+.1} % with a band of {:.1} %",
                    number.words(),
                    one.value,
                    100.0 * error,
                    100.0 * one.band
                ));
            }
        }
    }
    for (number, [points, answered, inside, near]) in counts {
        println!("| {drive} | {} | {points} | {answered} | {inside} | {near} |", number.words());
    }
    Ok(())
}

fn stream(curve: &Curve, point: u32, capacity: Bytes) -> Stream {
    let block = u64::from(curve.block);
    Stream {
        access: if curve.load.starts_with("rand") { Access::Random } else { Access::Sequential },
        block_size: Bytes(block),
        read_percent: if curve.load.ends_with("read") { 100 } else { 0 },
        queue_depth: point,
        threads: curve.processes,
        span: Bytes(capacity.0 / block * block),
        ..Stream::default()
    }
}

fn numbers(curve: &Curve, point: u32, measured: &Measured) -> BTreeMap<Number, f64> {
    let in_flight = f64::from(curve.processes * point);
    let is_read = curve.load.ends_with("read");
    let (p50, p99) = match is_read {
        true => (Number::ReadP50, Number::ReadP99),
        false => (Number::WriteP50, Number::WriteP99),
    };
    // Little's law, of the latencies that the drive is seen with.
    let mut numbers =
        BTreeMap::from([(Number::Rate, in_flight / measured.mean * 1e6), (p50, measured.p50)]);
    if curve.tail() > 0.98 {
        numbers.insert(p99, measured.tail);
    }
    numbers
}
