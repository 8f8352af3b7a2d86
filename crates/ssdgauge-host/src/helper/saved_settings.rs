//! Saved settings: power saving and write cache of a drive, as they were found before a run.
//!
//! The privileged helper carries out the changes and outlives the run that requested them. When the
//! run ends, also by SIGKILL, it restores what the run has not restored itself: a drive must not
//! stay without its write cache or its power saving because a benchmark was killed.

use super::permissions::{POWER_MEASUREMENT, POWER_STATE, SET_FEATURES, WRITE_CACHE};
use crate::settings::write_cache::{self, CachePath};
use ssdgauge_drive::pass_through::{CommandError, NvmeCommand, PassThrough, QUERY_TIMEOUT};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const GET_FEATURES: u8 = 0x0a;

/// The value before the first change, and the value written last.
#[derive(Debug)]
struct Change<T> {
    found: T,
    written: T,
}

/// The changes of one drive so far.
pub(crate) struct SettingsRestorer<'a> {
    drive: &'a dyn PassThrough,
    attributes: BTreeMap<PathBuf, Change<String>>,
    features: BTreeMap<u32, Change<u32>>,
    cache: Option<(CachePath, Change<bool>)>,
}

impl<'a> SettingsRestorer<'a> {
    /// Returns the restorer of the drive behind `drive`, without any change.
    pub(crate) fn new(drive: &'a dyn PassThrough) -> SettingsRestorer<'a> {
        SettingsRestorer {
            drive,
            attributes: BTreeMap::new(),
            features: BTreeMap::new(),
            cache: None,
        }
    }

    /// Returns the power state before the first change.
    pub(crate) fn found_power_state(&self) -> Option<u32> {
        self.features.get(&POWER_STATE).map(|change| change.found)
    }

    /// Returns the value of the attribute `path` before the first change.
    pub(crate) fn found_attribute(&self, path: &Path) -> Option<&str> {
        self.attributes.get(path).map(|change| change.found.as_str())
    }

    /// Writes `text` into the attribute `path` of sysfs, and saves the value that it had.
    ///
    /// # Errors
    /// The attribute cannot be read, so it could not be restored, or cannot be written.
    pub(crate) fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let found = selected(&fs::read_to_string(path)?);
        fs::write(path, text)?;
        let change = self.attributes.entry(path.to_owned());
        change.or_insert(Change { found, written: String::new() }).written = text.to_owned();
        Ok(())
    }

    /// Saves the feature that an NVMe command with `words` is about to change.
    pub(crate) fn save_feature(&mut self, opcode: u8, words: [u32; 6]) {
        let [id, value, ..] = words;
        let id = id & 0xff;
        let found = match (opcode, id) {
            (SET_FEATURES, POWER_STATE) => match self.feature(GET_FEATURES, id, 0) {
                Ok(found) => found,
                // A drive that does not support Get Features for it refuses Set Features as well.
                Err(_) => return,
            },
            (SET_FEATURES, WRITE_CACHE) => return self.save_cache(CachePath::Nvme, value & 1 == 1),
            // The measurement that a killed run has started is stopped.
            (SET_FEATURES, POWER_MEASUREMENT) => 0,
            (_, _) => return,
        };
        self.features.entry(id).or_insert(Change { found, written: found }).written = value;
    }

    /// Saves the state of the write cache, which is about to be switched to `on`.
    pub(crate) fn save_cache(&mut self, path: CachePath, on: bool) {
        if self.cache.is_none()
            && let Ok(Some(found)) = write_cache::is_on(path, self.drive)
        {
            self.cache = Some((path, Change { found, written: found }));
        }
        if let Some((_, change)) = &mut self.cache {
            change.written = on;
        }
    }

    /// Restores every setting whose last written value is not the one found. A value that the run
    /// restored itself is not written again: another program may have changed it since. Failures
    /// are dropped, because the run that could record them has ended.
    pub(crate) fn restore(self) {
        for (path, Change { found, written }) in &self.attributes {
            if found != written {
                let _ = fs::write(path, found);
            }
        }
        for (id, Change { found, written }) in &self.features {
            if found != written {
                let _ = self.feature(SET_FEATURES, *id, *found);
            }
        }
        if let Some((path, Change { found, written })) = self.cache
            && found != written
        {
            let _ = write_cache::switch(path, self.drive, found);
        }
    }

    fn feature(&self, opcode: u8, id: u32, value: u32) -> Result<u32, CommandError> {
        let words = [id, value, 0, 0, 0, 0];
        self.drive
            .nvme(&NvmeCommand { opcode, namespace: 0, words, timeout: QUERY_TIMEOUT }, &mut [])
    }
}

/// Returns the value of an attribute of sysfs; of a list of values the selected one, which the
/// kernel prints in brackets.
fn selected(text: &str) -> String {
    let inner = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(text, |(inner, _)| inner).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_drive::fixture::{Fixture, WriteCacheFixture};

    #[test]
    fn the_first_value_is_restored_and_a_restored_value_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let policy = file("policy", "max_performance\n");
        let scheduler = file("scheduler", "[none] mq-deadline\n");
        let put_back = file("put_back", "1\n");
        let drive = Fixture::without_responses();
        let mut settings = SettingsRestorer::new(&drive);
        for (path, text) in [
            (&policy, "medium_power"),
            (&policy, "min_power"),
            (&scheduler, "mq-deadline"),
            (&put_back, "0"),
            (&put_back, "1"),
        ] {
            settings.write(path, text).unwrap();
        }
        assert!(settings.write(&folder.path().join("none"), "1").is_err());
        // Another program changed it after the run had restored it.
        fs::write(&put_back, "7").unwrap();
        settings.restore();
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!(text(&policy), "max_performance");
        assert_eq!(text(&scheduler), "none");
        assert_eq!(text(&put_back), "7");
    }

    #[test]
    fn a_write_cache_is_restored_through_either_path() {
        for (path, fixture) in
            [(CachePath::Nvme, Fixture::nvme()), (CachePath::Ata, Fixture::sata())]
        {
            let drive = WriteCacheFixture::new(fixture, true);
            // A run that is killed after: off, on, off.
            let mut settings = SettingsRestorer::new(&drive);
            for on in [false, true, false] {
                match path {
                    CachePath::Nvme => {
                        settings.save_feature(SET_FEATURES, [WRITE_CACHE, on.into(), 0, 0, 0, 0])
                    }
                    CachePath::Ata => settings.save_cache(path, on),
                }
                write_cache::switch(path, &drive, on).unwrap();
            }
            settings.restore();
            assert_eq!(*drive.requested.lock().unwrap(), [false, true, false, true], "{path:?}");
            // A cache that the run restored itself is not switched again.
            let mut settings = SettingsRestorer::new(&drive);
            settings.save_cache(path, false);
            settings.save_cache(path, true);
            settings.restore();
            assert_eq!(drive.requested.lock().unwrap().len(), 4, "{path:?}");
        }
    }
}
