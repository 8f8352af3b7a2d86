//! The drives of this machine: which may be tested, and exactly why others may not.

use crate::arguments;
use crate::failure::Failure;
use crate::terminal;
use serde_json::{Value, json};
use ssdgauge_core::DriveInfo;
use ssdgauge_guard::{Candidate, Refusal, TargetError, TargetOptions};
use ssdgauge_report::sanitize_device;

/// The columns of the list.
const WIDTH: usize = 80;
/// How far the reasons stand in.
const INDENT: &str = "    ";

/// Prints every drive with what speaks against testing it. Nothing is written to any.
pub(crate) fn list(arguments: &arguments::Drives) -> Result<(), Failure> {
    let seen: Vec<Seen> = ssdgauge_guard::drives().into_iter().map(see).collect();
    if arguments.json {
        let drives: Vec<Value> = seen.iter().map(as_json).collect();
        terminal::print(&format!("{:#}\n", json!({ "schema_version": 1, "drives": drives })));
    } else {
        terminal::print_words(&in_words(&seen));
    }
    Ok(())
}

/// One drive and what was found out about it.
struct Seen {
    path: String,
    info: Option<DriveInfo>,
    /// The words that confirm it.
    confirm: Option<String>,
    refusals: Vec<Refusal>,
    /// What could not be looked at.
    unseen: Vec<String>,
}

fn see((path, found): (String, Result<Candidate, TargetError>)) -> Seen {
    match found {
        Ok(candidate) => {
            let (refusals, unseen) = candidate.objections(&TargetOptions::default());
            let confirm = candidate.confirmation().map(str::to_owned);
            Seen { path, info: Some(candidate.info), confirm, refusals, unseen }
        }
        Err(TargetError::Refused(refusal)) => {
            Seen { path, info: None, confirm: None, refusals: vec![refusal], unseen: Vec::new() }
        }
        Err(error) => {
            let refusal = Refusal::Denied { path: path.clone(), cause: error.to_string() };
            Seen { path, info: None, confirm: None, refusals: vec![refusal], unseen: Vec::new() }
        }
    }
}

impl Seen {
    fn is_testable(&self) -> bool {
        self.refusals.is_empty()
    }
}

fn as_json(seen: &Seen) -> Value {
    let detail =
        |key: &str| seen.info.as_ref().and_then(|info| info.details.get(key)).map(String::as_str);
    let identity = seen.info.as_ref().map(|info| {
        json!({
            "device": detail("device"),
            "disk_sequence": detail("disk_sequence").and_then(|text| text.parse::<u64>().ok()),
            "size_bytes": info.capacity.0,
            "model": info.model,
            "serial": info.serial,
            "firmware": info.firmware,
            "wwid": detail("wwid"),
        })
    });
    let reasons = seen.refusals.iter().map(|refusal| {
        let confirmation = match refusal.needs_only_confirmation() {
            true => seen.confirm.as_deref().map(|words| format!("--erase {words}")),
            false => None,
        };
        json!({ "kind": refusal.key(), "words": refusal.reason(), "consent": confirmation })
    });
    json!({
        "path": seen.path,
        "identity": identity,
        "confirm": seen.confirm.as_deref(),
        "testable": seen.is_testable(),
        "reasons": reasons.collect::<Vec<_>>(),
        "not_looked_at": seen.unseen,
    })
}

fn in_words(drives: &[Seen]) -> String {
    if drives.is_empty() {
        return "no drives: this machine shows no block device that holds anything\n".into();
    }
    let mut text = row(["DRIVE", "SIZE", "MODEL", "SERIAL", "TESTABLE"]);
    for seen in drives {
        let info = seen.info.as_ref();
        let size = info.map_or("-".into(), |info| info.capacity.about());
        let model = info.and_then(|info| info.model.as_deref()).unwrap_or("-");
        let serial = info.and_then(|info| info.serial.as_deref()).unwrap_or("-");
        let confirmation = seen.refusals.iter().all(Refusal::needs_only_confirmation);
        let answer = match (seen.is_testable(), confirmation) {
            (true, _) => "yes",
            (false, true) => "consent",
            (false, false) => "no",
        };
        let name = seen.path.strip_prefix("/dev/").unwrap_or(&seen.path);
        // A drive may call itself anything.
        let (model, serial) = (sanitize_device(model), sanitize_device(serial));
        text.push_str(&row([name, &size, &model, &serial, answer]));
        for refusal in &seen.refusals {
            let confirmation = match (refusal.needs_only_confirmation(), seen.confirm.as_deref()) {
                (true, Some(words)) => format!("; --erase {words} gives that up"),
                (true, None) | (false, _) => String::new(),
            };
            text.push_str(&wrapped(&format!("{}{confirmation}", refusal.reason())));
        }
        if let Some(words) = seen.confirm.as_deref().filter(|_| confirmation) {
            text.push_str(&wrapped(&format!("--confirm {words}")));
        }
        for unseen in &seen.unseen {
            text.push_str(&wrapped(&format!("not looked at: {unseen}")));
        }
    }
    text
}

fn row([name, size, model, serial, answer]: [&str; 5]) -> String {
    let cut = |text: &str, most: usize| -> String {
        match text.chars().count() > most {
            true => text.chars().take(most - 1).chain(['…']).collect(),
            false => text.to_owned(),
        }
    };
    let (model, serial) = (cut(model, 24), cut(serial, 20));
    format!("{:<12} {size:>9}  {model:<24}  {serial:<20}  {answer}\n", cut(name, 12))
}

/// Returns `text` in lines that stand in and fit.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a last line");
        if !line.is_empty()
            && INDENT.len() + line.chars().count() + 1 + word.chars().count() > WIDTH
        {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.iter().map(|line| format!("{INDENT}{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_with_a_hostile_name_takes_one_line_and_gives_no_orders() {
        let path = "/dev/null0".to_owned();
        let info = DriveInfo {
            kind: ssdgauge_core::TargetKind::Block,
            target: path.clone(),
            model: Some("a\n\u{1b}[2Jb".into()),
            serial: Some("S\u{202e}\r\u{9b}31m".into()),
            firmware: None,
            capacity: ssdgauge_core::Bytes(1 << 30),
            logical_block: ssdgauge_core::Bytes(512),
            physical_block: ssdgauge_core::Bytes(512),
            details: [("confirm".to_owned(), "S1".to_owned())].into(),
        };
        let holder = "open in \u{1b}]0;x\u{7} (process 1)".to_owned();
        let refusals = vec![Refusal::InUse { path: path.clone(), holder }];
        let confirm = Some("S1".to_owned());
        let seen = Seen { path, info: Some(info), confirm, refusals, unseen: Vec::new() };
        let text = terminal::tame(&in_words(&[seen]));
        assert_eq!(text.lines().count(), 3, "{text}");
        let hidden = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!text.contains(hidden), "{text:?}");
    }
}
