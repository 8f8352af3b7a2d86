//! `ssdgauge plan`: prints the steps of a run, its duration and the bytes that it writes.

use crate::arguments::{self, PlanOptions};
use crate::failure::Failure;
use crate::suite_options::{
    endurance_from, find_suite, planner_options_from, rates_from, size_for,
};
use crate::target::Target;
use crate::terminal;
use serde_json::{Value, json};
use ssdgauge_core::{Bytes, DriveInfo, Plan, Rest};
use ssdgauge_lab::{
    AssumedRates, Endurance, Estimate, Expectation, WRITE_RATE, check_wear, estimate, limits, wear,
};

/// Prints the plan of a run. Nothing is written to the target.
///
/// # Errors
///
/// Fails where `ssdgauge run` would refuse the suite or the target before the confirmation.
pub(crate) fn execute(arguments: &arguments::PlanArguments) -> Result<(), Failure> {
    let suite = find_suite(&arguments.suite)?;
    let options = &arguments.options;
    let size = size_for(&suite, options, arguments.size);
    let target = Target::find(&arguments.target, size, options.seed)?;
    let plan = ssdgauge_lab::plan(&suite, target.info(), &planner_options_from(options))?;
    target.check_free_space()?;
    let drive = target.info();
    if arguments.json {
        terminal::print(&format!("{:#}\n", to_json(&plan, drive, options)));
    } else {
        terminal::print_text(&to_text(&plan, drive, options));
    }
    Ok(())
}

fn to_json(plan: &Plan, drive: &DriveInfo, options: &PlanOptions) -> Value {
    let rates = rates_from(options, drive);
    let cost = estimate(plan, drive.capacity, &rates);
    let endurance = endurance_from(options);
    let wear = wear(cost.written, drive, &endurance);
    let least = plan
        .repeat_until
        .map(|rule| estimate_json(&plan.first(rule.at_least), drive.capacity, options, &rates));
    json!({
        "schema_version": 1,
        "plan": plan,
        "estimate": estimate_json(plan, drive.capacity, options, &rates),
        "estimate_of_fewest_repetitions": least,
        "endurance": wear.map(|wear| json!({
            "rated_bytes": wear.rated.0,
            "left_bytes": wear.left.map(|left| left.0),
            "share": wear.share,
            "allowed_share": endurance.share,
            "refused": check_wear(&wear, drive, &endurance).err().map(|error| error.to_string()),
        })),
        "cannot": plan.missing_on(drive.kind),
        "drive": drive,
        "destructive": plan.is_destructive(),
    })
}

fn estimate_json(
    plan: &Plan,
    capacity: Bytes,
    options: &PlanOptions,
    rates: &AssumedRates,
) -> Value {
    let cost = estimate(plan, capacity, rates);
    let by_limits = limits(plan, options.write_rate.unwrap_or(WRITE_RATE));
    let is_limited = !by_limits.writes_without_limit;
    json!({
        "timed_s": by_limits.timed.as_secs_f64(),
        "filled_bytes": by_limits.filled.0,
        "written_bytes_at_most": is_limited.then_some(by_limits.written_at_most.0),
        "written_bytes_at_rate": by_limits.written_at_rate.0,
        "assumed_bytes_per_second": by_limits.rate.0,
        "time_s": cost.time.expected.as_secs_f64(),
        "time_bound_s": cost.time.at_most.as_secs_f64(),
        "written_bytes": cost.written.expected.0,
        "written_bytes_bound": cost.written.at_most.0,
        "rates": rates_json(rates),
    })
}

fn rates_json(rates: &AssumedRates) -> Value {
    let [least, most] = rates.bounds_of_large_writes();
    json!({
        "class": rates.class,
        "large_write_mb_s": rates.large_write_mb_s,
        "large_write_mb_s_least": least.0 as f64 / 1e6,
        "large_write_mb_s_most": most.0 as f64 / 1e6,
        "cached_write_mb_s": rates.cached_write_mb_s,
        "cache_share": rates.cache_share,
        "flash_write_mb_s": rates.flash_write_mb_s,
        "spare_area": rates.spare,
        "large_read_mb_s": rates.large_read_mb_s,
        "read_iops": rates.read_iops,
        "write_iops": rates.write_iops,
        "read_lat_us": rates.read_lat_us,
        "write_lat_us": rates.write_lat_us,
    })
}

/// Returns the plan as text.
fn to_text(plan: &Plan, drive: &DriveInfo, options: &PlanOptions) -> String {
    let rates = rates_from(options, drive);
    let cost = estimate(plan, drive.capacity, &rates);
    let mut text = format!("{} on {} ({})\n", plan.suite.title, drive.name(), drive.capacity);
    if plan.shortened > 1 {
        text.push_str(&format!("SHORTENED: all limits divided by {}\n", plan.shortened));
    }
    if plan.span_scaled {
        text.push_str("SPANS SCALED to the target\n");
    }
    if let Some(rule) = plan.repeat_until {
        text.push_str(&format!(
            "REPEATED until every 95 % interval is within ±{} % of its mean: all tests {} to {} \
             times\n",
            rule.half_width_percent(),
            rule.at_least,
            rule.at_most
        ));
    }
    // The plan lists the most repetitions. The first one has the preparation of the suite, and all
    // later ones are equal.
    let listed = plan.repeat_until.map_or(u32::MAX, |_| 2);
    for test in plan.tests.iter().filter(|test| test.repetition <= listed) {
        let repetition = match test.repetition {
            1 => String::new(),
            number if number == listed => ", each further repetition".to_owned(),
            number => format!(", repetition {number}"),
        };
        let (id, revision, title) = (&test.id, test.revision, &test.title);
        text.push_str(&format!("\n{id} (revision {revision}){repetition}: {title}\n"));
        for phase in &test.phases {
            for step in &phase.steps {
                let kind = phase.kind.name();
                let action = step.action.describe();
                let rest = rest_text(step.rest);
                text.push_str(&format!("  {kind:<9} {:<18} {action}{rest}\n", step.label));
            }
        }
        for chosen in &test.chosen {
            text.push_str(&format!("  chosen    {} = {}\n", chosen.key, chosen.value));
        }
        for deviation in &test.deviations {
            let ssdgauge_core::Deviation { key, value, reason } = deviation;
            text.push_str(&format!("  differs   {key} = {value} ({reason})\n"));
        }
    }
    text.push('\n');
    for part in plan.missing_on(drive.kind) {
        text.push_str(&format!("Not supported on this target: {part}\n"));
    }
    if let Some(rule) = plan.repeat_until {
        let fewest = plan.first(rule.at_least);
        text.push_str(&format!("{} repetitions:\n", rule.at_least));
        text.push_str(&cost_text(&estimate(&fewest, drive.capacity, &rates), &fewest));
        text.push_str(&format!("{} repetitions:\n", rule.at_most));
    }
    text.push_str(&cost_text(&cost, plan));
    text.push_str(&rates_text(&rates));
    text.push_str(&endurance_text(cost.written, drive, &endurance_from(options)));
    text
}

fn cost_text(cost: &Estimate, plan: &Plan) -> String {
    let Estimate { time, written } = cost;
    let written = written.map(Bytes::about_decimal);
    let mut text = format!("Time: about {}, at most {}\n", time.expected, time.at_most);
    text.push_str(&format!("Written: about {}, at most {}\n", written.expected, written.at_most));
    if plan.tests.iter().any(|test| test.search.is_some()) {
        text.push_str(
            "The number of attempts of a search is not known before the run: time and bytes may be \
             three times as much or a third\n",
        );
    }
    text
}

fn rates_text(rates: &AssumedRates) -> String {
    let rate = |rate: Bytes| format!("{}/s", rate.about_decimal());
    let [least, most] = rates.bounds_of_large_writes().map(rate);
    format!(
        "Rates: assumed as of {}: {} in large writes behind any cache (bounds: {least} to {most}); set \
         it with --write-rate\n",
        rates.class,
        rate(Bytes((rates.large_write_mb_s * 1e6) as u64)),
    )
}

fn endurance_text(written: Expectation<Bytes>, drive: &DriveInfo, endurance: &Endurance) -> String {
    let Some(wear) = wear(written, drive, endurance) else {
        return "Rated endurance: not available; set it with --endurance, such as 600TBW\n".into();
    };
    let left = wear.left.map_or(String::new(), |left| format!(", {} left", left.about_decimal()));
    let share = wear.share * 100.0;
    let rated = wear.rated.about_decimal();
    let mut text =
        format!("Rated endurance: {rated}{left}; this run writes about {share:.2} % of it\n");
    if let Err(error) = check_wear(&wear, drive, endurance) {
        text.push_str(&format!("This run would be refused: {error}\n"));
    }
    text
}

fn rest_text(rest: Rest) -> String {
    match rest {
        Rest::None => String::new(),
        Rest::For(time) => format!(", then rest for {time}"),
        Rest::DutyCycle { busy, at_most } => {
            format!(", then rest for a duty cycle of {:.0} %, at most {at_most}", busy * 100.0)
        }
    }
}
