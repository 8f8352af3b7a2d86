//! Showing a plan: what would be done, how long it takes, what it writes.

use crate::arguments::{self, Choice};
use crate::failure::Failure;
use crate::suite_options::{endurance_of, find, options_of, size_for};
use crate::target::Target;
use crate::terminal;
use serde_json::{Value, json};
use ssdgauge_core::{Action, DriveInfo, Nanos, Plan, Preparation, Rest, Stream, TargetKind};
use ssdgauge_lab::{Endurance, Estimate, admit, estimate, wear};

/// Prints the plan of a run without doing anything.
pub(crate) fn show(arguments: &arguments::Plan) -> Result<(), Failure> {
    let suite = find(&arguments.suite)?;
    let choice = &arguments.choice;
    let size = size_for(&suite, choice, arguments.size);
    let target = Target::find(&arguments.target, size, choice.seed)?;
    let plan = ssdgauge_lab::plan(&suite, target.info(), &options_of(choice))?;
    target.check_room()?;
    let drive = target.info();
    if arguments.json {
        terminal::print(&format!("{:#}\n", as_json(&plan, drive, choice)));
    } else {
        terminal::print_words(&in_words(&plan, drive, choice));
    }
    Ok(())
}

fn as_json(plan: &Plan, drive: &DriveInfo, choice: &Choice) -> Value {
    let cost = estimate(plan, choice.write_rate);
    let wish = endurance_of(choice);
    let wear = wear(&cost, drive, &wish);
    json!({
        "schema_version": 1,
        "plan": plan,
        "estimate": {
            "timed_s": cost.timed.as_secs_f64(),
            "filled_bytes": cost.filled.0,
            "written_bytes_at_most": (!cost.writes_without_limit).then_some(cost.written_at_most.0),
            "written_bytes_at_rate": cost.written_at_rate.0,
            "assumed_bytes_per_second": cost.rate.0,
        },
        "endurance": wear.map(|wear| json!({
            "rated_bytes": wear.rated.0,
            "left_bytes": wear.left.map(|left| left.0),
            "share": wear.share,
            "allowed_share": wish.share,
            "refused": admit(&wear, drive, &wish).err().map(|error| error.to_string()),
        })),
        "cannot": cannot(plan, drive),
        "drive": drive,
        "destructive": plan.is_destructive(),
    })
}

/// Returns what of the protocol this kind of target cannot give, which the run will be marked with.
fn cannot(plan: &Plan, drive: &DriveInfo) -> Vec<String> {
    let purges =
        plan.steps().any(|(_, _, step)| matches!(step.action, Action::Prepare(Preparation::Purge)));
    let purge = match drive.kind {
        TargetKind::File => Some("a purge: a file cannot make its drive as if fresh"),
        TargetKind::Null => Some("a purge: there is no drive"),
        TargetKind::Block | TargetKind::Virtual => None,
    };
    let whole = match drive.kind {
        TargetKind::File => Some(
            "the whole drive: shares of the target are shares of the scratch file, and what else \
             the drive holds is not known",
        ),
        TargetKind::Block | TargetKind::Virtual | TargetKind::Null => None,
    };
    let switches = plan
        .steps()
        .any(|(_, _, step)| matches!(step.action, Action::Prepare(Preparation::WriteCache(_))));
    let cache = match drive.kind {
        TargetKind::File => Some("a switch of the write cache: a file has none of its own"),
        TargetKind::Null => Some("a switch of the write cache: there is no drive"),
        TargetKind::Block | TargetKind::Virtual => None,
    };
    let words = purge.filter(|_| purges).into_iter().chain(cache.filter(|_| switches)).chain(whole);
    words.map(str::to_owned).collect()
}

/// Returns the plan for people.
fn in_words(plan: &Plan, drive: &DriveInfo, choice: &Choice) -> String {
    let cost = estimate(plan, choice.write_rate);
    let mut text = format!("{} on {} ({})\n", plan.suite.title, drive.name(), drive.capacity);
    if plan.shortened > 1 {
        text.push_str(&format!("SHORTENED: all limits divided by {}\n", plan.shortened));
    }
    if plan.span_scaled {
        text.push_str("SPANS SCALED to the target\n");
    }
    for test in &plan.tests {
        let again = match test.repetition {
            1 => String::new(),
            repetition => format!(", repetition {repetition}"),
        };
        let (id, revision, title) = (&test.id, test.revision, &test.title);
        text.push_str(&format!("\n{id} (revision {revision}){again}: {title}\n"));
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
    text.push('\n');
    for words in cannot(plan, drive) {
        text.push_str(&format!("Not possible here: {words}\n"));
    }
    text.push_str(&cost_in_words(&cost));
    text.push_str(&endurance_in_words(&cost, drive, &endurance_of(choice)));
    text
}

fn cost_in_words(cost: &Estimate) -> String {
    let rate = format!("{} a second", cost.rate.about());
    let mut text = format!("Time: at most {} by the limits of its steps", cost.timed);
    if cost.filled.0 > 0 {
        let filling = Nanos::from_secs(cost.filled.0.div_ceil(cost.rate.0.max(1)));
        text.push_str(&format!(", and about {filling} to write {} at {rate}", cost.filled));
    }
    if cost.searches {
        text.push_str("\nA search counts with its most probes and one full trial");
    }
    text.push_str(&match cost.writes_without_limit {
        true => format!(
            "\nWritten: about {} if the drive writes {rate} in large requests, a quarter of it in \
             small random ones; steps without a byte limit decide\n",
            cost.written_at_rate.about()
        ),
        false => format!("\nWritten: at most {}\n", cost.written_at_most),
    });
    text
}

fn endurance_in_words(cost: &Estimate, drive: &DriveInfo, wish: &Endurance) -> String {
    let Some(wear) = wear(cost, drive, wish) else {
        return "Rated endurance: not available; name it with --endurance, such as 600TBW\n".into();
    };
    let left = wear.left.map_or(String::new(), |left| format!(", {} left", left.about()));
    let share = wear.share * 100.0;
    let rated = wear.rated.about();
    let mut text = format!("Rated endurance: {rated}{left}; this run takes about {share:.2} %\n");
    if let Err(error) = admit(&wear, drive, wish) {
        text.push_str(&format!("A run is refused: {error}\n"));
    }
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
        Action::Prepare(Preparation::WriteCache(switch)) => {
            format!("set the volatile write cache: {switch}")
        }
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
