//! First values in closed form: what a number of a run says about one figure.

use crate::evidence::{Evidence, Load};
use crate::figures::Values;
use crate::kind::{Kind, only_stream};
use crate::number::Number;
use crate::search::LeftOut;
use ssdgauge_core::Access;
use ssdgauge_sim::mean_field::write_amplification;

/// Share by which a course falls where a fast cache ends.
const FALL: f64 = 0.87;
/// Sequential requests from this length on show the link.
const LARGE: u64 = 64 << 10;

/// Returns the first values for `evidence` without the loads of `left_out`.
pub(crate) fn values(evidence: &Evidence, left_out: LeftOut) -> Values {
    let loads: Vec<&Load> =
        evidence.loads().map(|(_, load)| load).filter(|load| !left_out.has(load)).collect();
    let mut values = Values::of_class(evidence.capacity);
    reads(&mut values, &loads);
    card(&mut values, &evidence.card);
    writes(&mut values, &loads, evidence.capacity.0 as f64);
    values
}

fn card(values: &mut Values, figures: &[(&'static str, f64)]) {
    for (key, value) in figures {
        match *key {
            "nand.dies" | "nand.program_kib" => values.set_nearest(key, *value),
            _ => values.set(key, *value),
        }
    }
}

/// Returns the requests a second of `load`: a rate that was kept is not among its numbers.
fn rate(load: &Load) -> Option<f64> {
    let offered = only_stream(&load.workload).and_then(|stream| stream.arrival.per_second());
    load.numbers.get(&Number::Rate).copied().or(offered.filter(|_| !load.numbers.is_empty()))
}

fn bytes_s(load: &Load) -> Option<f64> {
    Some(rate(load)? * only_stream(&load.workload)?.block_size.0 as f64)
}

fn highest(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.max_by(f64::total_cmp)
}

fn reads(values: &mut Values, loads: &[&Load]) {
    let of = |kind: Kind| loads.iter().copied().filter(move |load| load.kind == Some(kind));
    let block = |load: &Load| only_stream(&load.workload).map_or(0, |one| one.block_size.0);
    let is_large = |load: &&Load| block(load) >= LARGE;
    let large =
        of(Kind::SequentialReads).chain(of(Kind::RandomReads)).chain(of(Kind::SequentialWrites));
    if let Some(link) = highest(large.filter(is_large).filter_map(bytes_s)) {
        values.set("front.link_mb_s", 1.01 * link / 1e6);
    }
    let random =
        || of(Kind::RandomReads).chain(of(Kind::OfferedReads)).filter(|load| block(load) <= 4_096);
    let quickest = random().filter_map(|load| load.numbers.get(&Number::ReadP50).copied());
    let quickest = quickest.min_by(f64::total_cmp);
    if let Some(us) = quickest {
        let rest = (us - values.get("front.read_command_us") - 5.0).max(0.2 * us);
        values.set("nand.t_r_us", 0.7 * rest);
        values.set("front.read_delay_us", 0.3 * rest);
    }
    if let Some(peak) = highest(random().filter_map(rate)) {
        let least = 1e6 / peak;
        values.set("front.read_command_us", 0.9 * least);
        // Random reads keep about two thirds of the dies busy at the depths that suites have.
        values.set_nearest("nand.dies", 1.5 * values.get("nand.t_r_us") / least);
    }
}

fn writes(values: &mut Values, loads: &[&Load], capacity: f64) {
    let of = |kind: Kind| loads.iter().copied().filter(move |load| load.kind == Some(kind));
    let random = || of(Kind::RandomWrites).filter(|load| !load.numbers.is_empty());
    let delays = random().filter_map(|load| load.numbers.get(&Number::WriteP50).copied());
    if let Some(us) = delays.min_by(f64::total_cmp) {
        values.set("front.write_delay_us", 0.8 * us);
    }
    if let Some(peak) = highest(random().filter_map(rate)) {
        values.set("front.write_command_us", 0.8e6 / peak);
    }
    let dies = values.dies();
    // Bytes that all dies program in one operation of the unit that figures are stated for.
    let row = dies * 96.0 * 1_024.0;
    let fill = of(Kind::SequentialWrites).filter(|load| !load.course.is_empty());
    let fill = fill.max_by_key(|load| load.until.bytes.unwrap_or_default());
    let mut native = None;
    if let Some(load) = fill {
        let stream = only_stream(&load.workload);
        let block = stream.map_or(0.0, |one| one.block_size.0 as f64);
        let course: Vec<f64> = load.course.iter().map(|rate| rate * block).collect();
        let part = load.until.bytes.map_or(0.0, |bytes| bytes.0 as f64) / course.len() as f64;
        let last = course[course.len() - 1];
        let fast = course.iter().take_while(|rate| **rate * FALL > last).count() as f64;
        native = Some(last);
        let size = if fast > 0.0 { (fast * part).min(0.6 * capacity) } else { 0.0 };
        values.set("slc.fixed_gb", 0.3 * size / 1e9);
        values.set("slc.dynamic_gb", 0.7 * size / 1e9);
        if fast > 0.0 {
            values.set("slc.t_prog_us", row / 3.0 / course[0] * 1e6);
        }
    }
    // A drive writes no faster than its link, whatever its reads showed.
    let peak = of(Kind::SequentialWrites).flat_map(|load| {
        let block = only_stream(&load.workload).map_or(0.0, |one| one.block_size.0 as f64);
        load.course.iter().map(move |rate| rate * block).chain(bytes_s(load))
    });
    if let Some(peak) = highest(peak) {
        values.set("front.link_mb_s", values.get("front.link_mb_s").max(1.01 * peak / 1e6));
    }
    let stated = values.get("nand.t_prog_us");
    let native = native.unwrap_or(row / stated * 1e6);
    values.set("nand.t_prog_us", row / native * 1e6);
    let steady = of(Kind::SteadyWrites)
        .filter(|load| only_stream(&load.workload).is_some_and(|one| one.access == Access::Random));
    let spare = steady.filter_map(|load| spare(load, native, capacity)).min_by(f64::total_cmp);
    if let Some(spare) = spare {
        values.set("over_provisioning", spare);
    }
}

/// Returns the spare area, as a share of the capacity, with which a drive of the rate `native` has the rate of `load`.
fn spare(load: &Load, native: f64, capacity: f64) -> Option<f64> {
    let stream = only_stream(&load.workload)?;
    let rate = load.course.last().copied().or(rate(load))?;
    let amplification = (native / (rate * stream.block_size.0 as f64)).clamp(1.05, 12.0);
    let (mut low, mut high) = (1.01, 4.0);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        match write_amplification(middle) > amplification {
            true => low = middle,
            false => high = middle,
        }
    }
    // Flash over data, the latter being what the load overwrites; 3 % are held back or open.
    Some((low * stream.span.0 as f64 / capacity - 1.0 + 0.03).max(0.05))
}
