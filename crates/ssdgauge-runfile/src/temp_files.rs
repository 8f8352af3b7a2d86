//! Files that a process writes under a name of its own before they take theirs.

use std::path::{Path, PathBuf};

/// Returns what killed processes have left beside `path`: files with its name, the number of a
/// process that is no more, and `ending`.
pub fn abandoned(path: &Path, ending: &str) -> Vec<PathBuf> {
    let name = path.file_name().and_then(|name| name.to_str());
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let (Some(name), Ok(entries)) = (name, folder.unwrap_or(Path::new(".")).read_dir()) else {
        return Vec::new();
    };
    let is_left = |file: &Path| {
        let process = || {
            let rest = file.file_name()?.to_str()?.strip_prefix(name)?.strip_prefix('.')?;
            rest.strip_suffix(ending)?.parse::<u32>().ok()
        };
        process().is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists())
    };
    entries.flatten().map(|entry| entry.path()).filter(|file| is_left(file)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_still_writes_and_what_has_another_name_is_not_abandoned() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let living = format!("a.html.{}.partial", std::process::id());
        // The kernel gives no number as high as the first.
        let names = ["a.html.4194305.partial", &living, "a.html.4194305", "b.html.4194305.partial"];
        names.iter().for_each(|name| std::fs::write(file(name), "").unwrap());
        assert_eq!(abandoned(&file("a.html"), ".partial"), [file(names[0])]);
        assert!(abandoned(&file("a.html"), ".opening").is_empty());
        assert!(abandoned(Path::new("/nowhere/a.html"), ".partial").is_empty());
    }
}
