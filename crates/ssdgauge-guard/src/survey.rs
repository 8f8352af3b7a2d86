//! Survey of the drives of this machine. Each is inspected as for a run, and none is written.

use crate::target::{Candidate, TargetError};
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::device_size;
use std::fs;

/// The most drives that are listed; a machine with more has them on a network.
const MOST_DRIVES: usize = 4_096;

/// Returns every whole drive of this machine with a size above 0, by its node, sorted by name with
/// numbers in numeric order.
pub fn drives() -> Vec<(String, Result<Candidate, TargetError>)> {
    let all = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut names: Vec<String> = all
        .filter(|entry| {
            let folder = entry.path();
            let is_hidden = attribute(&folder.join("hidden")).is_some_and(|flag| flag != "0");
            !is_hidden && device_size(&folder).is_some_and(|size| size.0 > 0)
        })
        // The kernel replaces slashes in names by exclamation marks.
        .map(|entry| entry.file_name().to_string_lossy().replace('!', "/"))
        .take(MOST_DRIVES)
        .collect();
    names.sort_by_key(|name| {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let stem = name[..name.len() - digits.len()].to_owned();
        let number: String = digits.chars().take_while(char::is_ascii_digit).collect();
        (stem, number.parse::<u64>().unwrap_or(u64::MAX), name.clone())
    });
    let found = names.into_iter().map(|name| format!("/dev/{name}"));
    found.map(|path| (path.clone(), Candidate::find(&path))).collect()
}
