//! Temporary files that killed processes have left behind.

use std::path::{Path, PathBuf};

/// Returns the temporary files of `path` whose process has ended: files next to it that are named
/// `NAME.PID` and `ending`, where no process has the number `PID`.
///
/// A folder that cannot be read has none, and neither has a system without `/proc`, where nobody tells which
/// processes run.
pub fn stale_temp_files(path: &Path, ending: &str) -> Vec<PathBuf> {
    let name = path.file_name().and_then(|name| name.to_str());
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let (Some(name), Ok(entries)) = (name, folder.unwrap_or(Path::new(".")).read_dir()) else {
        return Vec::new();
    };
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return Vec::new();
    }
    let is_stale = |file: &Path| {
        let pid = || {
            let rest = file.file_name()?.to_str()?.strip_prefix(name)?.strip_prefix('.')?;
            rest.strip_suffix(ending)?.parse::<u32>().ok()
        };
        // A number that a new process has taken hides the file until that one ends: better a file
        // too many than one that is still written.
        pid().is_some_and(|pid| !processes.join(pid.to_string()).exists())
    };
    entries.flatten().map(|entry| entry.path()).filter(|file| is_stale(file)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_live_processes_and_of_other_names_are_not_stale() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let living = format!("a.html.{}.partial", std::process::id());
        // Above the kernel's largest process number (PID_MAX_LIMIT, 4,194,304).
        let names = ["a.html.4194305.partial", &living, "a.html.4194305", "b.html.4194305.partial"];
        names.iter().for_each(|name| std::fs::write(file(name), "").unwrap());
        assert_eq!(stale_temp_files(&file("a.html"), ".partial"), [file(names[0])]);
        assert!(stale_temp_files(&file("a.html"), ".opening").is_empty());
        assert!(stale_temp_files(Path::new("/nowhere/a.html"), ".partial").is_empty());
    }
}
