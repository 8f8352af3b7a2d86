//! `ssdgauge drives`: lists the drives of this machine, and every reason against a test of one.

use crate::terminal;
use serde_json::{Value, json};
use ssdgauge_core::DriveInfo;
use ssdgauge_guard::{Candidate, Refusal, TargetError, TargetOptions};
use ssdgauge_report::sanitize_device;

/// The width of the list, in columns.
const WIDTH: usize = 80;
/// The indent of the reasons.
const INDENT: &str = "    ";

/// Prints all drives with the reasons against a test of each. No drive is written.
/// A drive that cannot be examined is listed with the cause.
pub(crate) fn print_list(as_json: bool) {
    let drives: Vec<ListedDrive> =
        ssdgauge_guard::drives().into_iter().map(ListedDrive::from_candidate).collect();
    if as_json {
        let drives: Vec<Value> = drives.iter().map(ListedDrive::to_json).collect();
        terminal::print(&format!("{:#}\n", json!({ "schema_version": 1, "drives": drives })));
    } else {
        terminal::print_text(&table(&drives));
    }
}

/// A drive of the list.
struct ListedDrive {
    path: String,
    info: Option<DriveInfo>,
    /// The argument of `--confirm`.
    confirm: Option<String>,
    refusals: Vec<Refusal>,
    /// Checks that could not be carried out.
    not_checked: Vec<String>,
}

impl ListedDrive {
    fn from_candidate((path, candidate): (String, Result<Candidate, TargetError>)) -> ListedDrive {
        let refused = |path: String, refusal: Refusal| ListedDrive {
            path,
            info: None,
            confirm: None,
            refusals: vec![refusal],
            not_checked: Vec::new(),
        };
        match candidate {
            Ok(candidate) => {
                let (refusals, not_checked) = candidate.objections(&TargetOptions::default());
                let confirm = candidate.confirmation().map(str::to_owned);
                ListedDrive { path, info: Some(candidate.info), confirm, refusals, not_checked }
            }
            Err(TargetError::Refused(refusal)) => refused(path, refusal),
            Err(error) => {
                let cause = error.to_string();
                refused(path.clone(), Refusal::Denied { path, cause })
            }
        }
    }

    fn is_testable(&self) -> bool {
        self.refusals.is_empty()
    }

    fn to_json(&self) -> Value {
        let detail = |key: &str| {
            self.info.as_ref().and_then(|info| info.details.get(key)).map(String::as_str)
        };
        let identity = self.info.as_ref().map(|info| {
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
        let reasons = self.refusals.iter().map(|refusal| {
            let option = consent(refusal, self.confirm.as_deref()).map(|(option, _)| option);
            json!({ "kind": refusal.key(), "words": refusal.reason(), "consent": option })
        });
        json!({
            "path": self.path,
            "identity": identity,
            "confirm": self.confirm.as_deref(),
            "testable": self.is_testable(),
            "reasons": reasons.collect::<Vec<_>>(),
            "not_looked_at": self.not_checked,
        })
    }
}

/// Returns the option that overrides `refusal` on the drive with the confirmation `serial`, and what
/// it does; `None` where no option does.
fn consent(refusal: &Refusal, serial: Option<&str>) -> Option<(String, &'static str)> {
    let serial = serial?;
    match refusal {
        Refusal::UsesUnknown { .. } => Some((format!("--confined {serial}"), "accepts that")),
        _ if refusal.needs_only_confirmation() => {
            Some((format!("--erase {serial}"), "allows erasing it"))
        }
        _ => None,
    }
}

/// Returns the list as text: a line for each drive, with the reasons indented below it.
fn table(drives: &[ListedDrive]) -> String {
    if drives.is_empty() {
        return "no drives: this machine has no block device with a capacity above 0\n".into();
    }
    let mut text = row(["DRIVE", "SIZE", "MODEL", "SERIAL", "TESTABLE"]);
    for drive in drives {
        let info = drive.info.as_ref();
        let size = info.map_or("-".into(), |info| info.capacity.about());
        let model = info.and_then(|info| info.model.as_deref()).unwrap_or("-");
        let serial = info.and_then(|info| info.serial.as_deref()).unwrap_or("-");
        let confirm = drive.confirm.as_deref();
        let can_be_confirmed = drive.refusals.iter().all(|one| consent(one, confirm).is_some());
        let testable = match drive.refusals.last() {
            None => "yes",
            Some(_) if !can_be_confirmed => "no",
            Some(Refusal::UsesUnknown { .. }) => "unknown",
            Some(_) => "--erase",
        };
        let name = drive.path.strip_prefix("/dev/").unwrap_or(&drive.path);
        // Model and serial are strings of the drive, which may hold control characters.
        let (model, serial) = (sanitize_device(model), sanitize_device(serial));
        text.push_str(&row([name, &size, &model, &serial, testable]));
        for refusal in &drive.refusals {
            let option = consent(refusal, confirm)
                .map_or(String::new(), |(option, effect)| format!("; {option} {effect}"));
            text.push_str(&wrapped(&format!("{}{option}", refusal.reason())));
        }
        if let Some(serial) = confirm.filter(|_| can_be_confirmed) {
            text.push_str(&wrapped(&format!("--confirm {serial}")));
        }
        for check in &drive.not_checked {
            text.push_str(&wrapped(&format!("not checked: {check}")));
        }
    }
    text
}

/// Returns a line of the table; long cells are cut.
fn row([name, size, model, serial, testable]: [&str; 5]) -> String {
    let cut = |text: &str, width: usize| -> String {
        match text.chars().count() > width {
            true => text.chars().take(width - 1).chain(['…']).collect(),
            false => text.to_owned(),
        }
    };
    let (model, serial) = (cut(model, 24), cut(serial, 20));
    format!("{:<12} {size:>9}  {model:<24}  {serial:<20}  {testable}\n", cut(name, 12))
}

/// Returns `text` in indented lines of at most [`WIDTH`] columns.
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
    fn control_characters_in_model_and_serial_are_not_printed() {
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
        let not_checked = Vec::new();
        let drive = ListedDrive { path, info: Some(info), confirm, refusals, not_checked };
        let text = terminal::sanitize(&table(&[drive]));
        assert_eq!(text.lines().count(), 3, "{text}");
        let is_control = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!text.contains(is_control), "{text:?}");
    }
}
