//! Survey of the drives of this machine. Each is inspected as for a run, and none is written.

use crate::look;
use crate::look_place::LookPlace;
use crate::objections;
use crate::options::TargetOptions;
use crate::place::{Candidate, TargetError};
use crate::refusal::Refusal;
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::device_size;
use std::fs;
use std::path::Path;

/// The maximum number of drives that are listed; a machine with more has them on a network.
const MAX_DRIVES: usize = 4_096;

/// A drive of the list.
#[derive(Debug)]
pub struct ListedDrive {
    /// Its node.
    pub path: String,
    /// Its description, where it could be inspected.
    pub candidate: Result<Candidate, TargetError>,
    /// The reasons against writing to it, the most severe first.
    pub refusals: Vec<Refusal>,
    /// The checks that were not possible.
    pub not_checked: Vec<String>,
}

/// Returns every whole drive of this machine with a size above 0, with every reason against a test
/// of it, sorted by name with numbers in numeric order. The drives are looked at in `place`.
pub fn drives(place: &LookPlace) -> Vec<ListedDrive> {
    let names = names();
    let mut listed: Vec<ListedDrive> = names
        .iter()
        .zip(look::find_all(place, &names))
        .map(|(path, candidate)| {
            let (path, refusals, not_checked) = (path.clone(), Vec::new(), Vec::new());
            ListedDrive { path, candidate, refusals, not_checked }
        })
        .collect();
    let facts = |drive: &ListedDrive| drive.candidate.as_ref().ok()?.facts.clone();
    let known: Vec<_> = listed
        .iter_mut()
        .filter_map(|drive| Some((drive.path.clone(), facts(drive)?, drive)))
        .collect();
    let drives: Vec<_> =
        known.iter().map(|(path, facts, _)| (Path::new(path.as_str()), facts)).collect();
    let found = objections::find(place, &drives, &TargetOptions::default());
    for ((_, _, drive), (refusals, not_checked)) in known.into_iter().zip(found) {
        (drive.refusals, drive.not_checked) = (refusals, not_checked);
    }
    listed
}

/// Returns the nodes of the drives.
fn names() -> Vec<String> {
    let all = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut names: Vec<String> = all
        .filter(|entry| {
            let folder = entry.path();
            // Hidden devices are the paths of an NVMe multipath drive: they have no node.
            let is_hidden = attribute(&folder.join("hidden")).is_some_and(|flag| flag != "0");
            !is_hidden && device_size(&folder).is_some_and(|size| size.0 > 0)
        })
        // The kernel replaces slashes in names by exclamation marks.
        .map(|entry| entry.file_name().to_string_lossy().replace('!', "/"))
        .take(MAX_DRIVES)
        .collect();
    names.sort_by_key(|name| {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let stem = name[..name.len() - digits.len()].to_owned();
        let number: String = digits.chars().take_while(char::is_ascii_digit).collect();
        (stem, number.parse::<u64>().unwrap_or(u64::MAX), name.clone())
    });
    names.into_iter().map(|name| format!("/dev/{name}")).collect()
}
