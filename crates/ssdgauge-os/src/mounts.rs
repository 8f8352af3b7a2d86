//! The mount table.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Returns which file system holds `folder`, from the mount table.
pub fn file_system_of(folder: &Path) -> BTreeMap<String, String> {
    let table = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = table.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (source, point, kind) = (words.next()?, words.next()?, words.next()?);
        let inside = folder.starts_with(unescape(point));
        inside.then(|| (point.len(), source, kind, words.next().unwrap_or_default()))
    });
    let mut facts = BTreeMap::new();
    if let Some((_, source, kind, options)) = mounts.max_by_key(|mount| mount.0) {
        facts.insert("file_system".into(), kind.to_owned());
        facts.insert("mounted_from".into(), unescape(source));
        facts.insert("mount_options".into(), options.to_owned());
    }
    facts
}

/// Undoes the escapes of the mount table: blank, tab, line feed and backslash as octal numbers.
pub fn unescape(text: &str) -> String {
    let pairs = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
