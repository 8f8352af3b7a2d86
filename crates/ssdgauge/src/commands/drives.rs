//! `ssdgauge drives`: lists the drives of this machine, and every reason against a test of one.

use serde::Serialize;
use ssdgauge_analysis::{sanitize_device, sanitize_prose};
use ssdgauge_core::{Detail, DriveInfo};
use ssdgauge_guard::{Candidate, ListedDrive, LookPlace, Refusal, TargetError};
use ssdgauge_watch::terminal::colour::{Paint, Role};
use ssdgauge_watch::terminal::table::{self, Column, Fit};
use ssdgauge_watch::terminal::{self, fold};

/// The columns of the list.
const COLUMNS: [Column; 5] = [
    Column::text("DRIVE", Fit::Whole),
    Column::number("SIZE", Fit::Omit),
    Column::text("MODEL", Fit::Cut(8)),
    Column::text("SERIAL", Fit::Whole),
    Column::text("TESTABLE", Fit::Whole),
];
/// What a reader does next, below the list: one command on each line, so that none is folded.
const NEXT: [(&str, &str); 3] = [
    ("a folder on a drive in use", "ssdgauge quick FOLDER"),
    ("one drive", "ssdgauge drives DRIVE"),
    ("virtual drives", "ssdgauge drives sim:"),
];
/// The indent of the reasons.
const INDENT: usize = 4;

/// `drives --json`.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    drives: Vec<ShownDrive<'a>>,
}

/// A drive of this machine.
#[derive(Serialize)]
struct ShownDrive<'a> {
    path: &'a str,
    /// Null where it does not answer.
    identity: Option<Identity<'a>>,
    /// What --confirm takes.
    confirm: Option<&'a str>,
    /// Whether a run may overwrite it without further options.
    testable: bool,
    /// What is against that.
    reasons: Vec<RefusalRow>,
    /// The uses that could not be looked at.
    not_looked_at: &'a [String],
}

/// What identifies a drive.
#[derive(Serialize)]
struct Identity<'a> {
    /// Its number.
    device: Option<&'a str>,
    disk_sequence: Option<u64>,
    size_bytes: u64,
    model: Option<&'a str>,
    serial: Option<&'a str>,
    firmware: Option<&'a str>,
    wwid: Option<&'a str>,
}

/// A reason against overwriting a drive.
#[derive(Serialize)]
struct RefusalRow {
    kind: &'static str,
    words: String,
    /// The option that overrides it.
    consent: Option<String>,
}

/// Prints all drives with the reasons against a test of each. No drive is written.
/// A drive that cannot be examined is listed with the cause.
pub(crate) fn print_list(as_json: bool) {
    let drives = ssdgauge_guard::drives(&LookPlace::own_process());
    let drives: Vec<DriveRow> = drives.into_iter().map(DriveRow::new).collect();
    if as_json {
        let drives = drives.iter().map(DriveRow::shown).collect();
        terminal::print_document(&Document { schema_version: 1, drives });
    } else {
        let (width, paint) = (terminal::width::columns(), Paint::of_stdout());
        terminal::print_folded(&table(&drives, width, paint));
        terminal::print_folded(&next(paint));
    }
}

fn next(paint: Paint) -> String {
    let line = |(what, command): &(&str, &str)| {
        format!("{:<28}{}\n", format!("{what}:"), paint.text(Role::Command, command))
    };
    let lines: String = NEXT.iter().map(line).collect();
    format!("\n{lines}")
}

/// Prints the drives that may be tested as generic resources of Slurm, one type for each serial.
pub(crate) fn print_slurm() {
    let drives = ssdgauge_guard::drives(&LookPlace::own_process());
    let drives: Vec<DriveRow> = drives.into_iter().map(DriveRow::new).collect();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    terminal::print_data(&slurm(&drives, host.split('.').next().unwrap_or(&host), processors));
}

/// Returns the lines of slurm.conf and gres.conf for `drives` of the machine `host`. Without the number of
/// `processors`, Slurm assumes one, and runs one job at a time whatever number of drives there is.
fn slurm(drives: &[DriveRow], host: &str, processors: usize) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let kind = |drive: &DriveRow| -> Option<String> {
        let serial = drive.confirm.as_deref().filter(|_| drive.can_be_confirmed())?;
        Some(serial.chars().map(|c| if is_safe(c) { c } else { '-' }).collect())
    };
    let kinds: Vec<(&DriveRow, Option<String>)> =
        drives.iter().map(|drive| (drive, kind(drive))).collect();
    let all: Vec<String> =
        kinds.iter().flat_map(|(_, kind)| kind).map(|kind| format!("ssd:{kind}:1")).collect();
    let mut text = String::from("# slurm.conf\nGresTypes=ssd\n");
    let node = format!("NodeName={host} CPUs={processors}");
    match all.is_empty() {
        true => text.push_str(&format!("{node}\n")),
        false => text.push_str(&format!("{node} Gres={}\n", all.join(","))),
    }
    text.push_str("\n# gres.conf\n");
    for (drive, kind) in kinds {
        match kind {
            Some(kind) => text
                .push_str(&format!("NodeName={host} Name=ssd Type={kind} File={}\n", drive.path)),
            None => {
                let reason = drive.refusals.first().map(Refusal::reason);
                let reason = reason.unwrap_or_else(|| "it has no serial".to_owned());
                // A reason holds foreign text, which must not begin a line of its own.
                let reason = sanitize_prose(&reason);
                text.push_str(&format!("# {}: {reason}\n", drive.path));
            }
        }
    }
    text.trim_end().to_owned()
}

/// A drive of the list.
struct DriveRow {
    path: String,
    info: Option<DriveInfo>,
    /// The argument of `--confirm`.
    confirm: Option<String>,
    refusals: Vec<Refusal>,
    /// Checks that could not be carried out.
    not_checked: Vec<String>,
}

impl DriveRow {
    fn new(drive: ListedDrive) -> DriveRow {
        let ListedDrive { path, candidate, mut refusals, not_checked } = drive;
        let confirm = candidate.as_ref().ok().and_then(Candidate::confirmation).map(str::to_owned);
        let info = match candidate {
            Ok(candidate) => Some(candidate.info),
            Err(TargetError::Refused(refusal)) => {
                refusals.push(refusal);
                None
            }
            Err(error) => {
                refusals.push(Refusal::Denied { path: path.clone(), cause: error.to_string() });
                None
            }
        };
        DriveRow { path, info, confirm, refusals, not_checked }
    }

    /// Returns whether options override every reason against a test.
    fn can_be_confirmed(&self) -> bool {
        let confirm = self.confirm.as_deref();
        self.refusals.iter().all(|one| consent(one, confirm).is_some())
    }

    /// Returns the cells of its line.
    fn cells(&self, paint: Paint) -> Vec<String> {
        let info = self.info.as_ref();
        let size = info.map_or("-".into(), |info| info.capacity.about());
        let model = info.and_then(|info| info.model.as_deref()).unwrap_or("-");
        let serial = info.and_then(|info| info.serial.as_deref()).unwrap_or("-");
        let testable = match self.refusals.last() {
            None => paint.text(Role::Good, "yes"),
            Some(_) if !self.can_be_confirmed() => paint.text(Role::Bad, "no"),
            Some(Refusal::UsesUnknown { .. }) => paint.text(Role::Warn, "unknown"),
            Some(_) => paint.text(Role::Warn, "--erase"),
        };
        let name = self.path.strip_prefix("/dev/").unwrap_or(&self.path);
        // Model and serial are strings of the drive, which may hold control characters.
        let (model, serial) = (sanitize_device(model), sanitize_device(serial));
        vec![sanitize_device(name), size, model, serial, testable]
    }

    /// Returns what is printed below its line: the reasons, the confirmation, the missing checks.
    fn notes(&self) -> Vec<String> {
        let confirm = self.confirm.as_deref();
        let reason = |refusal: &Refusal| match consent(refusal, confirm) {
            Some((option, effect)) => format!("{}; {option} {effect}", refusal.reason()),
            None => refusal.reason(),
        };
        let mut notes: Vec<String> = self.refusals.iter().map(reason).collect();
        let confirmed = confirm.filter(|_| self.can_be_confirmed());
        notes.extend(confirmed.map(|serial| format!("--confirm {serial}")));
        notes.extend(self.not_checked.iter().map(|check| format!("not checked: {check}")));
        notes
    }

    fn is_testable(&self) -> bool {
        self.refusals.is_empty()
    }

    fn shown(&self) -> ShownDrive<'_> {
        let detail = |detail: Detail| self.info.as_ref().and_then(|info| info.detail(detail));
        let identity = self.info.as_ref().map(|info| Identity {
            device: detail(Detail::Device),
            disk_sequence: detail(Detail::DiskSequence).and_then(|text| text.parse().ok()),
            size_bytes: info.capacity.0,
            model: info.model.as_deref(),
            serial: info.serial.as_deref(),
            firmware: info.firmware.as_deref(),
            wwid: detail(Detail::Wwid),
        });
        let reasons = self.refusals.iter().map(|refusal| RefusalRow {
            kind: refusal.key(),
            words: refusal.reason(),
            consent: consent(refusal, self.confirm.as_deref()).map(|(option, _)| option),
        });
        ShownDrive {
            path: &self.path,
            identity,
            confirm: self.confirm.as_deref(),
            testable: self.is_testable(),
            reasons: reasons.collect(),
            not_looked_at: &self.not_checked,
        }
    }
}

/// Returns the option that overrides `refusal` on the drive with the confirmation `serial`, and what
/// it does; `None` where no option does.
pub(super) fn consent(refusal: &Refusal, serial: Option<&str>) -> Option<(String, &'static str)> {
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
fn table(drives: &[DriveRow], width: usize, paint: Paint) -> String {
    if drives.is_empty() {
        return "no drives: this machine has no block device with a capacity above 0\n".into();
    }
    let cells: Vec<Vec<String>> = drives.iter().map(|drive| drive.cells(paint)).collect();
    let mut lines = table::rows(&COLUMNS, &cells, width).into_iter();
    let mut text = lines.next().unwrap_or_default();
    for (line, drive) in lines.zip(drives) {
        text.push_str(&line);
        for note in drive.notes() {
            let indented = format!("{:INDENT$}{}", "", sanitize_prose(&note));
            text.push_str(&format!("{}\n", fold::lines(&indented, INDENT, width).join("\n")));
        }
    }
    text
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
        let drive = DriveRow { path, info: Some(info), confirm, refusals, not_checked };
        let text = table(&[drive], 80, Paint::None);
        assert_eq!(text.lines().count(), 3, "{text}");
        let is_control = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!text.contains(is_control), "{text:?}");
    }

    #[test]
    fn drives_that_may_be_tested_are_resources_of_slurm_and_others_are_comments() {
        let row = |path: &str, confirm: &str, refusals: Vec<Refusal>| DriveRow {
            path: path.to_owned(),
            info: None,
            confirm: Some(confirm.to_owned()),
            refusals,
            not_checked: Vec::new(),
        };
        let path = "/dev/sdb".to_owned();
        let used = Refusal::InUse { path, holder: "mounted at /\nName=ssd".to_owned() };
        let drives = [row("/dev/nvme0n1", "S4 X:1", Vec::new()), row("/dev/sdb", "S5", vec![used])];
        let text = terminal::sanitize(&slurm(&drives, "node1", 8));
        assert!(text.contains("NodeName=node1 CPUs=8 Gres=ssd:S4-X-1:1\n"), "{text}");
        assert!(text.contains("NodeName=node1 Name=ssd Type=S4-X-1 File=/dev/nvme0n1"), "{text}");
        assert!(text.contains("# /dev/sdb: ") && !text.contains("S5"), "{text}");
        assert!(text.lines().all(|line| !line.starts_with("Name=ssd")), "{text}");
        assert!(slurm(&drives[1..], "node1", 8).contains("NodeName=node1 CPUs=8\n"));
    }
}
