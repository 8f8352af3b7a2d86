//! `ssdgauge plan`: prints the steps of a run, its duration and the bytes that it writes.

mod overview;
mod text;

use crate::arguments::{self, PlanOptions};
use crate::failure::Failure;
use crate::protocol::Protocol;
use crate::suite_options::{check_order, endurance_from, rates_from};
use crate::target::{SizeRequest, Target, check_processors};
use serde::Serialize;
use ssdgauge_core::{Bytes, DriveInfo, Plan};
use ssdgauge_lab::{
    AssumedRates, WRITE_RATE, check_wear, estimate, limits, verification_time, verified_bytes, wear,
};
use ssdgauge_watch::terminal;

/// Prints the plan of a run. Nothing is written to the target. A drive that a run would refuse whatever
/// is confirmed has a plan with the reason: plans are made without the rights of a run, and before a
/// drive is unmounted.
///
/// # Errors
///
/// Fails where the suite has no plan for the target, and where the scratch file has no room.
pub(crate) fn execute(arguments: &arguments::PlanArguments) -> Result<(), Failure> {
    let options = &arguments.options;
    check_order("plan", &arguments.suite, &[&arguments.target])?;
    let protocol = Protocol::find(&arguments.suite, &arguments.replay)?;
    let size = protocol.size(options, arguments.size);
    print(&protocol, &arguments.target, size, options, (arguments.all, arguments.json))
}

/// Prints the plan of `protocol` on the target `name`: with `is_whole` every step and value, or as JSON.
///
/// # Errors
///
/// As [`execute`].
pub(crate) fn print(
    protocol: &Protocol,
    name: &str,
    size: SizeRequest,
    options: &PlanOptions,
    (is_whole, as_json): (bool, bool),
) -> Result<(), Failure> {
    let target = Target::find(name, size, options.seed)?;
    let plan = protocol.plan(target.info(), options)?;
    target.check_free_space()?;
    let drive = target.info();
    let is_real = matches!(target, Target::Real(_));
    let processors =
        || check_processors(&plan).err().filter(|_| is_real).map(|failure| failure.error);
    let refusal = target.final_refusal().or_else(processors);
    if as_json {
        terminal::print_document(&document(&plan, drive, options, refusal));
    } else {
        let text = text::to_text(&plan, drive, options, is_whole, refusal.as_deref());
        terminal::print_text(&text);
    }
    Ok(())
}

/// `plan --json`.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    plan: &'a Plan,
    estimate: EstimateRow,
    /// Of `--repeat until`; null without it.
    estimate_of_fewest_repetitions: Option<EstimateRow>,
    /// Null where no rating is known.
    endurance: Option<EnduranceRow>,
    /// What the target cannot do.
    cannot: Vec<&'static str>,
    drive: &'a DriveInfo,
    /// Whether data on a drive is lost.
    destructive: bool,
    /// Why a run would be refused whatever is confirmed.
    refused: Option<String>,
}

/// What the run takes of the rated endurance.
#[derive(Serialize)]
struct EnduranceRow {
    rated_bytes: u64,
    left_bytes: Option<u64>,
    /// The share that the run writes.
    share: f64,
    allowed_share: f64,
    refused: Option<String>,
}

/// Time and bytes. A bound is one that a run stays below.
#[derive(Serialize)]
struct EstimateRow {
    /// The sum of the durations.
    timed_s: f64,
    /// Bytes of fills.
    filled_bytes: u64,
    /// The sum of the byte limits; null where a step has none.
    written_bytes_at_most: Option<u64>,
    /// The bytes at `assumed_bytes_per_second`.
    written_bytes_at_rate: u64,
    assumed_bytes_per_second: u64,
    time_s: f64,
    time_bound_s: f64,
    written_bytes: u64,
    written_bytes_bound: u64,
    /// Of `--verify`.
    verified_bytes: Option<u64>,
    verification_s: Option<f64>,
    rates: Rates,
}

/// The rates that are assumed of the drive.
#[derive(Serialize)]
struct Rates {
    class: &'static str,
    large_write_mb_s: f64,
    large_write_mb_s_least: f64,
    large_write_mb_s_most: f64,
    cached_write_mb_s: f64,
    cache_share: f64,
    flash_write_mb_s: f64,
    spare_area: f64,
    large_read_mb_s: f64,
    read_iops: f64,
    write_iops: f64,
    read_lat_us: f64,
    write_lat_us: f64,
}

fn document<'a>(
    plan: &'a Plan,
    drive: &'a DriveInfo,
    options: &PlanOptions,
    refused: Option<String>,
) -> Document<'a> {
    let rates = rates_from(options, drive);
    let cost = estimate(plan, drive.capacity, &rates);
    let endurance = endurance_from(options);
    let wear = wear(cost.written, drive, &endurance);
    let row = |plan: &Plan| estimate_row(plan, drive.capacity, options, &rates);
    Document {
        schema_version: 1,
        plan,
        estimate: row(plan),
        estimate_of_fewest_repetitions: plan
            .repeat_until
            .map(|rule| row(&plan.first(rule.at_least))),
        endurance: wear.map(|wear| EnduranceRow {
            rated_bytes: wear.rated.0,
            left_bytes: wear.left.map(|left| left.0),
            share: wear.share,
            allowed_share: endurance.share,
            refused: check_wear(&wear, drive, &endurance).err().map(|error| error.to_string()),
        }),
        cannot: plan.missing_on(drive.kind),
        drive,
        destructive: plan.is_destructive(),
        refused,
    }
}

fn estimate_row(
    plan: &Plan,
    capacity: Bytes,
    options: &PlanOptions,
    rates: &AssumedRates,
) -> EstimateRow {
    let cost = estimate(plan, capacity, rates);
    let by_limits = limits(plan, options.write_rate.unwrap_or(WRITE_RATE));
    let verified = verified_bytes(plan, capacity);
    let is_limited = !by_limits.writes_without_limit;
    EstimateRow {
        timed_s: by_limits.timed.as_secs_f64(),
        filled_bytes: by_limits.filled.0,
        written_bytes_at_most: is_limited.then_some(by_limits.written_at_most.0),
        written_bytes_at_rate: by_limits.written_at_rate.0,
        assumed_bytes_per_second: by_limits.rate.0,
        time_s: cost.time.expected.as_secs_f64(),
        time_bound_s: cost.time.at_most.as_secs_f64(),
        written_bytes: cost.written.expected.0,
        written_bytes_bound: cost.written.at_most.0,
        verified_bytes: plan.verify.then_some(verified.0),
        verification_s: plan.verify.then_some(verification_time(verified, rates).as_secs_f64()),
        rates: rates_row(rates),
    }
}

fn rates_row(rates: &AssumedRates) -> Rates {
    let [least, most] = rates.bounds_of_large_writes();
    Rates {
        class: rates.class,
        large_write_mb_s: rates.large_write_mb_s,
        large_write_mb_s_least: least.0 as f64 / 1e6,
        large_write_mb_s_most: most.0 as f64 / 1e6,
        cached_write_mb_s: rates.cached_write_mb_s,
        cache_share: rates.cache_share,
        flash_write_mb_s: rates.flash_write_mb_s,
        spare_area: rates.spare,
        large_read_mb_s: rates.large_read_mb_s,
        read_iops: rates.read_iops,
        write_iops: rates.write_iops,
        read_lat_us: rates.read_lat_us,
        write_lat_us: rates.write_lat_us,
    }
}
