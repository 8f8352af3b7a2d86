//! Showing a plan: what would be done, how long it takes, what it writes.

use crate::arguments;
use crate::failure::Failure;
use crate::runs::{options_of, size_for};
use crate::target::Target;
use crate::{suites, world};
use serde_json::json;
use ssdgauge_core::{Action, DriveInfo, Plan, Preparation, Rest, Stream};
use ssdgauge_lab::estimate;

/// Prints the plan of a run without doing anything.
pub(crate) fn show(arguments: &arguments::Plan) -> Result<(), Failure> {
    let suite = suites::find(&arguments.suite)?;
    let choice = &arguments.choice;
    let size = size_for(&suite, choice, arguments.size);
    let target = Target::find(&arguments.target, size, choice.seed)?;
    let plan = ssdgauge_lab::plan(&suite, target.info(), &options_of(choice))?;
    target.check_room()?;
    let cost = estimate(&plan);
    if arguments.json {
        let estimate = json!({
            "timed_s": cost.timed.as_secs_f64(),
            "filled_bytes": cost.filled.0,
            "written_bytes_at_most": (!cost.writes_without_limit).then_some(cost.written_at_most.0),
        });
        let value = json!({ "schema_version": 1, "plan": plan, "estimate": estimate,
                            "drive": target.info(), "destructive": plan.is_destructive() });
        world::print(&format!("{value:#}\n"));
    } else {
        world::print(&in_words(&plan, target.info()));
    }
    Ok(())
}

/// Returns the plan for people.
pub(crate) fn in_words(plan: &Plan, drive: &DriveInfo) -> String {
    let cost = estimate(plan);
    let mut text = format!("{} on {} ({})\n", plan.suite.title, drive.name(), drive.capacity);
    if plan.shortened > 1 {
        text.push_str(&format!("SHORTENED: all limits divided by {}\n", plan.shortened));
    }
    if plan.span_scaled {
        text.push_str("SPANS SCALED to the target\n");
    }
    for test in &plan.tests {
        text.push_str(&format!("\n{} (revision {}): {}\n", test.id, test.revision, test.title));
        for phase in &test.phases {
            for step in &phase.steps {
                let kind = phase.kind.name();
                let action = action_in_words(&step.action);
                let rest = rest_in_words(step.rest);
                text.push_str(&format!("  {kind:<9} {:<18} {action}{rest}\n", step.label));
            }
        }
        for chosen in &test.chosen {
            text.push_str(&format!("  chosen    {} = {}\n", chosen.key, chosen.value));
        }
    }
    text.push_str(&format!("\nTime: at most {} by the limits of its steps", cost.timed));
    if cost.filled.0 > 0 {
        text.push_str(&format!(", and what it takes to write {}", cost.filled));
    }
    if cost.searches {
        text.push_str("\nA search counts with its most probes and one full trial");
    }
    let written = match cost.writes_without_limit {
        true => format!("at least {}; steps without a byte limit write more", cost.filled),
        false => format!("at most {}", cost.written_at_most),
    };
    text.push_str(&format!("\nWritten: {written}\n"));
    text
}

fn action_in_words(action: &Action) -> String {
    match action {
        Action::Prepare(Preparation::Purge) => "make the drive as if fresh".into(),
        Action::Prepare(Preparation::PurgeBy(method)) => {
            format!("make the drive as if fresh, by {}", method.name())
        }
        Action::Prepare(Preparation::Trim { span, .. }) => format!("trim the first {span}"),
        Action::Prepare(Preparation::Fill { access, block_size, span, .. }) => {
            let order = format!("{access:?}").to_lowercase();
            format!("write {span} once, {order}, {block_size} each")
        }
        Action::Prepare(Preparation::Power(saving)) => format!("set the power saving: {saving}"),
        Action::Idle(time) => format!("leave the drive alone for {time}, and ask nothing of it"),
        Action::Rest(time) => format!("leave the drive alone for {time}"),
        Action::Run { workload, until, steady } => {
            let streams: Vec<String> = workload.streams.iter().map(stream_in_words).collect();
            let time = until.time.map(|time| time.to_string());
            let bytes = until.bytes.map(|bytes| bytes.to_string());
            let steady = steady
                .map(|rule| format!("steady ({} in rounds of {})", rule.metric.key(), rule.round));
            let limits: Vec<String> = time.into_iter().chain(bytes).chain(steady).collect();
            format!("{}, until {}", streams.join(" and "), limits.join(" or "))
        }
    }
}

fn stream_in_words(stream: &Stream) -> String {
    let access = format!("{:?}", stream.access).to_lowercase();
    let (size, percent, span) = (stream.block_size, stream.read_percent, stream.span);
    let load = match stream.arrival.per_second() {
        Some(rate) => format!("{rate:.2} requests/s"),
        None => format!("QD{} × {}", stream.queue_depth, stream.threads),
    };
    format!("{access} {size}, {percent} % read, {load}, span {span}")
}

fn rest_in_words(rest: Rest) -> String {
    match rest {
        Rest::None => String::new(),
        Rest::For(time) => format!(", then rest {time}"),
        Rest::DutyCycle { busy, at_most } => {
            format!(", then rest for a duty cycle of {:.0} %, at most {at_most}", busy * 100.0)
        }
    }
}
