//! A run that is watched without a terminal: one line for each step, second and finding.

use super::followed::{Event, Followed};
use super::words;
use ssdgauge_analysis::sanitize_prose;
use ssdgauge_core::Nanos;

/// Returns the lines of `events`. With `name`, each begins with it: several runs are watched.
pub fn lines(run: &Followed, events: &[Event], name: Option<&str>) -> Vec<String> {
    let front = name.map_or(String::new(), |name| format!("{name}: "));
    events.iter().map(|event| format!("{front}{}", line(run, event))).collect()
}

fn line(run: &Followed, event: &Event) -> String {
    match event {
        Event::Began(step) => {
            let number = run.number(step.place);
            format!("step {number}: {} began", run.title(step.place))
        }
        Event::Second(second) => {
            let end = Nanos::SECOND * (u64::from(second.load.number) + 1);
            let title = run.steps().iter().rfind(|step| step.id == second.step);
            let title = title.map_or(String::new(), |step| run.title(step.place));
            format!("{title}  {}  {}", words::whole(end).about(), words::figures(second))
        }
        Event::Ended(step) => {
            let (number, title) = (run.number(step.place), run.title(step.place));
            match words::without_effect(run, step) {
                Some(words) => format!("step {number}: {title}: {words}"),
                None => {
                    let time = step.elapsed.unwrap_or_default().about();
                    format!("step {number}: {title} {} after {time}", words::state(step.state))
                }
            }
        }
        Event::Finding(record) => {
            let finding = &record.finding;
            format!("{}: {}", finding.severity.name(), sanitize_prose(&finding.text))
        }
        Event::Closed(standing) => format!("run {}", words::standing(*standing)),
    }
}

/// Returns a line about the run as it stands.
pub fn summary(run: &Followed) -> String {
    let step = run.current().map(|step| run.title(step.place)).unwrap_or_default();
    let parts = [
        words::drive(run),
        words::suite(run),
        words::step_number(run),
        step,
        words::written(run),
        format!("findings: {}", run.findings().len()),
        words::left(run),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}
