//! The mount table of this process.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Returns type, source and options of the file system that holds `folder`, by the keys of the run
/// file; empty where the mount table has no such mount.
pub fn file_system_of(folder: &Path) -> BTreeMap<String, String> {
    let table = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = table.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (source, point, kind) = (words.next()?, words.next()?, words.next()?);
        let inside = folder.starts_with(unescape(point));
        inside.then(|| (point.len(), source, kind, words.next().unwrap_or_default()))
    });
    let mut facts = BTreeMap::new();
    // The mount with the longest matching path is the innermost one. Of several at one path the last
    // hides the others, and `max_by_key` returns the last.
    if let Some((_, source, kind, options)) = mounts.max_by_key(|mount| mount.0) {
        facts.insert("file_system".into(), kind.to_owned());
        facts.insert("mounted_from".into(), unescape(source));
        facts.insert("mount_options".into(), options.to_owned());
    }
    facts
}

/// Replaces the octal escapes of the mount table: blank, tab, line feed, hash and backslash.
pub fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    // The backslash last: what it leaves must not be taken for an escape. Linux escapes the hash in
    // sources, and not in mount points (fs/proc_namespace.c).
    let pairs = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\043", "#"), ("\\134", "\\")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_of_the_mount_table_is_replaced_once() {
        // A source with a hash and a blank, as Linux 6.18 reports it.
        assert_eq!(unescape("/dev/mapper/a\\043b\\040c"), "/dev/mapper/a#b c");
        assert_eq!(unescape("a\\011b\\012c"), "a\tb\nc");
        // The name is a backslash and three digits.
        assert_eq!(unescape("\\134040"), "\\040");
    }
}
