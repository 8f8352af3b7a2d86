//! Other runs of this program in progress: they keep processors busy, and a drive where they test it.

use super::host_checks::{CheckState, HostCheck};
use ssdgauge_core::{Finding, FindingKind, Severity};
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// The commands that send a load.
const WITH_LOAD: [&str; 6] = ["run", "quick", "resume", "prove", "xray", "crosscheck"];

/// What the kernel appends to the path of an open file that has no name, as a scratch file has none.
const NAMELESS: &str = " (deleted)";

/// Another run.
struct OtherRun {
    /// Its command with the number of its process.
    words: String,
    /// Whether it has the device open, or a scratch file on it; `None` where its open files may not be read.
    uses_device: Option<bool>,
}

/// Returns the runs in progress by procfs below `root`, and whether one of them uses the block device or file system
/// `number`.
pub(crate) fn check(root: &Path, number: Option<u64>) -> HostCheck {
    let state = match runs(root, number) {
        None => CheckState::Unknown("the kernel shows no processes".into()),
        Some(runs) => judge(&runs, number.is_some()),
    };
    HostCheck { name: "other-runs", state }
}

fn judge(runs: &[OtherRun], has_device: bool) -> CheckState {
    let listed = |uses: Option<bool>| {
        let those = runs.iter().filter(|run| run.uses_device == uses);
        those.map(|run| run.words.as_str()).collect::<Vec<_>>().join("; ")
    };
    let found = |severity, text| {
        let advice = "wait until it has ended, or stop it: runs disturb each other";
        CheckState::Found(Finding::new(FindingKind::Disturbed, severity, text, advice))
    };
    let (using, elsewhere, unknown) = (listed(Some(true)), listed(Some(false)), listed(None));
    if !using.is_empty() {
        let text = format!("a run of ssdgauge uses this drive: {using}");
        return found(Severity::Warning, text);
    }
    if !unknown.is_empty() {
        let where_to = if has_device { "; whether it uses this drive is unknown" } else { "" };
        let text = format!("a run of ssdgauge is in progress: {unknown}{where_to}");
        return found(Severity::Note, text);
    }
    match elsewhere.is_empty() {
        true => CheckState::Fine("none of ssdgauge".into()),
        false => CheckState::Fine(format!("on other drives: {elsewhere}")),
    }
}

fn runs(root: &Path, number: Option<u64>) -> Option<Vec<OtherRun>> {
    let own = std::process::id().to_string();
    let folders = fs::read_dir(root.join("proc")).ok()?.flatten();
    let folders = folders.filter(|folder| {
        let name = folder.file_name();
        name.as_encoded_bytes().iter().all(u8::is_ascii_digit) && name.to_string_lossy() != own
    });
    Some(folders.filter_map(|folder| other_run(&folder.path(), number)).collect())
}

/// Returns the run whose process has this `folder` in procfs.
fn other_run(folder: &Path, number: Option<u64>) -> Option<OtherRun> {
    let text = fs::read(folder.join("cmdline")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let words: Vec<&str> = text.split('\0').filter(|word| !word.is_empty()).collect();
    let (program, arguments) = words.split_first()?;
    let is_run = Path::new(program).file_name()? == "ssdgauge"
        && arguments.first().is_some_and(|command| WITH_LOAD.contains(command));
    if !is_run {
        return None;
    }
    let process = folder.file_name()?.to_string_lossy();
    let words = format!("ssdgauge {} (process {process})", arguments.join(" "));
    let uses_device = number.and_then(|number| uses(folder, number));
    Some(OtherRun { words, uses_device })
}

/// Returns whether the process with this `folder` has the device `number` open, or a file without a name on it.
fn uses(folder: &Path, number: u64) -> Option<bool> {
    let open = fs::read_dir(folder.join("fd")).ok()?.flatten();
    let is_used = |link: &fs::DirEntry| {
        let path = link.path();
        let name = fs::read_link(&path).unwrap_or_default();
        let is_scratch = name.to_string_lossy().ends_with(NAMELESS);
        fs::metadata(&path).is_ok_and(|file| is_of(&file, number, is_scratch))
    };
    Some(open.into_iter().any(|link| is_used(&link)))
}

fn is_of(file: &Metadata, number: u64, is_scratch: bool) -> bool {
    match file.file_type().is_block_device() {
        true => file.rdev() == number,
        false => is_scratch && file.is_file() && file.dev() == number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A tree of procfs with a process of the command line `words` that has the file `open`.
    fn tree(words: &str, open: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let process = root.path().join("proc/77");
        fs::create_dir_all(process.join("fd")).unwrap();
        fs::write(process.join("cmdline"), words.replace(' ', "\0")).unwrap();
        fs::write(root.path().join(open), "").unwrap();
        symlink(root.path().join(open), process.join("fd/3")).unwrap();
        root
    }

    fn checked(root: &Path, number: Option<u64>) -> (Option<Severity>, String) {
        match check(root, number).state {
            CheckState::Found(finding) => (Some(finding.severity), finding.text),
            CheckState::Fine(text) | CheckState::Unknown(text) => (None, text),
        }
    }

    #[test]
    fn a_run_with_a_scratch_file_on_the_drive_is_named_and_one_elsewhere_is_not_a_problem() {
        let command = "/usr/bin/ssdgauge run client-2018 /tmp";
        let words = "ssdgauge run client-2018 /tmp (process 77)";
        let root = tree(command, "#12 (deleted)");
        let number = root.path().metadata().unwrap().dev();
        let expected = format!("a run of ssdgauge uses this drive: {words}");
        assert_eq!(checked(root.path(), Some(number)), (Some(Severity::Warning), expected));
        let elsewhere = (None, format!("on other drives: {words}"));
        assert_eq!(checked(root.path(), Some(number + 1)), elsewhere);
        // A run file on the drive is written a few times a minute.
        let of_results = tree(command, "results.ssdg");
        assert_eq!(checked(of_results.path(), Some(number)), elsewhere);
        let expected = format!("a run of ssdgauge is in progress: {words}");
        assert_eq!(checked(root.path(), None), (Some(Severity::Note), expected.clone()));
        fs::remove_dir_all(root.path().join("proc/77/fd")).unwrap();
        let expected = format!("{expected}; whether it uses this drive is unknown");
        assert_eq!(checked(root.path(), Some(number)), (Some(Severity::Note), expected));
    }

    #[test]
    fn commands_without_a_load_and_other_programs_are_not_runs() {
        for words in ["ssdgauge watch x.ssdg", "fio run", "ssdgauge"] {
            let root = tree(words, "#12 (deleted)");
            assert_eq!(
                checked(root.path(), None),
                (None, "none of ssdgauge".to_owned()),
                "{words}"
            );
        }
    }
}
