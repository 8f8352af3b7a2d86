//! `ssdgauge plan`: prints the steps of a run, its duration and the bytes that it writes.

use crate::arguments::{self, PlanOptions};
use crate::failure::Failure;
use crate::suite_options::{endurance_from, find_suite, planner_options_from, size_for};
use crate::target::Target;
use crate::terminal;
use serde_json::{Value, json};
use ssdgauge_core::{DriveInfo, Nanos, Plan, Rest};
use ssdgauge_lab::{Endurance, Estimate, check_wear, estimate, wear};

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
    let cost = estimate(plan, options.write_rate);
    let endurance = endurance_from(options);
    let wear = wear(&cost, drive, &endurance);
    let least = plan
        .repeat_until
        .map(|rule| cost_json(&estimate(&plan.first(rule.at_least), options.write_rate)));
    json!({
        "schema_version": 1,
        "plan": plan,
        "estimate": cost_json(&cost),
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

fn cost_json(cost: &Estimate) -> Value {
    json!({
        "timed_s": cost.timed.as_secs_f64(),
        "filled_bytes": cost.filled.0,
        "written_bytes_at_most": (!cost.writes_without_limit).then_some(cost.written_at_most.0),
        "written_bytes_at_rate": cost.written_at_rate.0,
        "assumed_bytes_per_second": cost.rate.0,
    })
}

/// Returns the plan as text.
fn to_text(plan: &Plan, drive: &DriveInfo, options: &PlanOptions) -> String {
    let cost = estimate(plan, options.write_rate);
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
        text.push_str(&format!("{} repetitions:\n", rule.at_least));
        text.push_str(&cost_text(&estimate(&plan.first(rule.at_least), options.write_rate)));
        text.push_str(&format!("{} repetitions:\n", rule.at_most));
    }
    text.push_str(&cost_text(&cost));
    text.push_str(&endurance_text(&cost, drive, &endurance_from(options)));
    text
}

fn cost_text(cost: &Estimate) -> String {
    let rate = format!("{}/s", cost.rate.about());
    let mut text = format!("Time: at most {} by the time limits of the steps", cost.timed);
    if cost.filled.0 > 0 {
        let filling = Nanos::from_secs(cost.filled.0.div_ceil(cost.rate.0.max(1)));
        text.push_str(&format!(", plus about {filling} to fill {} at {rate}", cost.filled));
    }
    if cost.searches {
        text.push_str("\nA search is counted with its maximum number of probes and one full step");
    }
    text.push_str(&match cost.writes_without_limit {
        true => format!(
            "\nWritten: about {} at {rate} in large requests and a quarter of it in small random \
             ones; not limited, because some steps have no byte limit\n",
            cost.written_at_rate.about()
        ),
        false => format!("\nWritten: at most {}\n", cost.written_at_most),
    });
    text
}

fn endurance_text(cost: &Estimate, drive: &DriveInfo, endurance: &Endurance) -> String {
    let Some(wear) = wear(cost, drive, endurance) else {
        return "Rated endurance: not available; set it with --endurance, such as 600TBW\n".into();
    };
    let left = wear.left.map_or(String::new(), |left| format!(", {} left", left.about()));
    let share = wear.share * 100.0;
    let rated = wear.rated.about();
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
