//! The checks of `doctor` as text.

use super::diagnosis::{Check, Diagnosis, DriveLine, State};
use ssdgauge_analysis::{sanitize_device, sanitize_prose};
use ssdgauge_watch::terminal::colour::{Paint, Role};
use ssdgauge_watch::terminal::fold;

/// The width of the states and of the names.
const STATE: usize = 9;
const NAME: usize = 16;

/// Returns the card in at most `width` columns.
pub(super) fn to_text(diagnosis: &Diagnosis, width: usize, paint: Paint) -> String {
    let mut text = String::new();
    if let Some(target) = &diagnosis.target {
        let title = fold::lines(&sanitize_prose(&target.title()), 2, width).join("\n");
        text.push_str(&format!("{}\n", paint.text(Role::Value, &title)));
    }
    for check in &diagnosis.checks {
        text.push_str(&line(check, width, paint));
    }
    if let Some(drives) = &diagnosis.drives {
        text.push_str(&format!("\n{}\n", paint.text(Role::Value, "Drives")));
        drives.iter().for_each(|drive| text.push_str(&drive_line(drive, width)));
        text.push_str(&format!(
            "\n{:<28}{}\n",
            "everything about one:",
            paint.text(Role::Command, "ssdgauge doctor TARGET")
        ));
    }
    // What has to be mended is summed up by the error that follows.
    if diagnosis.to_mend == 0 {
        text.push_str(&format!("\n{}\n", summary(diagnosis)));
    }
    text
}

/// Returns the word of a state.
fn word(state: State) -> (&'static str, Role) {
    match state {
        State::Fine => ("ok", Role::Good),
        State::Note => ("note", Role::Second),
        State::Unknown => ("unknown", Role::Warn),
        State::Mend => ("FIX", Role::Bad),
    }
}

fn line(check: &Check, width: usize, paint: Paint) -> String {
    let (word, role) = word(check.state);
    let (state, name) = (format!("{word:<STATE$}"), check.name.replace('-', " "));
    let begin = 2 + STATE + NAME;
    let indented = |text: &str, first: &str| {
        let text = format!("{first}{}", sanitize_prose(text));
        fold::lines(&text, begin, width).join("\n")
    };
    let body = indented(&check.text, &" ".repeat(begin));
    let body = body.trim_start();
    let mut text = format!("  {}{name:<NAME$}{body}\n", paint.text(role, &state));
    // A command after its reason has a line of its own, to be copied.
    let remedy = check.remedy.as_deref().unwrap_or_default();
    let parts = remedy.split_once(": ").map_or(vec![remedy], |(why, how)| vec![why, how]);
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        text.push_str(&format!("{}\n", indented(part, &" ".repeat(begin))));
    }
    text
}

fn drive_line(drive: &DriveLine, width: usize) -> String {
    let name = sanitize_device(drive.path.strip_prefix("/dev/").unwrap_or(&drive.path));
    let model = sanitize_device(drive.model.as_deref().unwrap_or("-"));
    let text = format!("  {name:<14}{model:<26}{}", sanitize_prose(&drive.summary()));
    fold::lines(&text, 2 + 14, width).join("\n") + "\n"
}

/// Returns the result in one line.
pub(super) fn summary(diagnosis: &Diagnosis) -> String {
    let mend = match diagnosis.to_mend {
        0 => "nothing to fix".to_owned(),
        1 => "1 problem to fix".to_owned(),
        count => format!("{count} problems to fix"),
    };
    match diagnosis.unknown {
        0 => mend,
        count => format!("{mend}, {count} unknown"),
    }
}
