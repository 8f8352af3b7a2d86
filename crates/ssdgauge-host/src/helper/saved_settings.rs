//! What a run changes of the power saving and the write cache of a drive, and puts back even where
//! it is killed.
//!
//! The privileged part makes these changes, outlives the run that asked for them, and undoes what
//! the run itself has left.

use crate::settings::write_cache::{self, CachePath};
use ssdgauge_drive::pass_through::{CommandError, NvmeCommand, PassThrough, QUERY_TIMEOUT};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const GET_FEATURES: u8 = 0x0a;
const SET_FEATURES: u8 = 0x09;
/// The feature that is the power state: NVM Express Base Specification 2.0, section 5.27.1.2.
const POWER_STATE: u32 = 0x02;
/// The volatile write cache: section 5.27.1.4.
const WRITE_CACHE: u32 = 0x06;
/// The measurement of power, which is on or off.
const POWER_MEASUREMENT: u32 = 0x25;

/// What was found before the first change, and what was written last.
#[derive(Debug)]
struct Change<T> {
    found: T,
    now: T,
}

/// Every change so far, of one drive.
pub(crate) struct SettingsRestorer<'a> {
    drive: &'a dyn PassThrough,
    attributes: BTreeMap<PathBuf, Change<String>>,
    features: BTreeMap<u32, Change<u32>>,
    cache: Option<(CachePath, Change<bool>)>,
}

impl<'a> SettingsRestorer<'a> {
    /// Begins without any, of the drive behind `drive`.
    pub(crate) fn of(drive: &'a dyn PassThrough) -> SettingsRestorer<'a> {
        SettingsRestorer {
            drive,
            attributes: BTreeMap::new(),
            features: BTreeMap::new(),
            cache: None,
        }
    }

    /// Writes `text` into the file `path` of /sys, and keeps what was there.
    pub(crate) fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let found = chosen(&fs::read_to_string(path)?);
        fs::write(path, text)?;
        let change = self.attributes.entry(path.to_owned());
        change.or_insert(Change { found, now: String::new() }).now = text.to_owned();
        Ok(())
    }

    /// Keeps the value of what an NVMe command with `words` is about to change.
    pub(crate) fn before(&mut self, opcode: u8, words: [u32; 6]) {
        let [id, now, ..] = words;
        let id = id & 0xff;
        let found = match (opcode, id) {
            (SET_FEATURES, POWER_STATE) => match self.feature(GET_FEATURES, id, 0) {
                Ok(found) => found,
                // A drive that does not tell will not take the command either.
                Err(_) => return,
            },
            (SET_FEATURES, WRITE_CACHE) => return self.before_cache(CachePath::Nvme, now & 1 == 1),
            (SET_FEATURES, POWER_MEASUREMENT) => 0,
            (_, _) => return,
        };
        self.features.entry(id).or_insert(Change { found, now: found }).now = now;
    }

    /// Keeps whether the write cache, which is about to be switched, is on.
    pub(crate) fn before_cache(&mut self, way: CachePath, on: bool) {
        if self.cache.is_none()
            && let Ok(Some(found)) = write_cache::is_on(way, self.drive)
        {
            self.cache = Some((way, Change { found, now: found }));
        }
        if let Some((_, change)) = &mut self.cache {
            change.now = on;
        }
    }

    /// Puts back what is not as it was found. Nobody is left to tell what could not be.
    pub(crate) fn remove(self) {
        for (path, Change { found, now }) in &self.attributes {
            if found != now {
                let _ = fs::write(path, found);
            }
        }
        for (id, Change { found, now }) in &self.features {
            if found != now {
                let _ = self.feature(SET_FEATURES, *id, *found);
            }
        }
        if let Some((way, Change { found, now })) = self.cache
            && found != now
        {
            let _ = write_cache::switch(way, self.drive, found);
        }
    }

    fn feature(&self, opcode: u8, id: u32, value: u32) -> Result<u32, CommandError> {
        let words = [id, value, 0, 0, 0, 0];
        self.drive
            .nvme(&NvmeCommand { opcode, namespace: 0, words, timeout: QUERY_TIMEOUT }, &mut [])
    }
}

/// Returns what a file of /sys holds; where it lists what can be chosen, the chosen word, which
/// stands in brackets.
fn chosen(text: &str) -> String {
    let inner = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(text, |(inner, _)| inner).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_drive::fixture::{Fixture, WriteCacheFixture};

    #[test]
    fn what_was_found_first_comes_back_and_what_was_put_back_is_left_alone() {
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
        let mut settings = SettingsRestorer::of(&drive);
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
        // Somebody else may have changed it since: that is theirs.
        fs::write(&put_back, "7").unwrap();
        settings.remove();
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!(text(&policy), "max_performance");
        assert_eq!(text(&scheduler), "none");
        assert_eq!(text(&put_back), "7");
    }

    #[test]
    fn a_write_cache_comes_back_as_it_was_found_by_either_way() {
        for (way, fixture) in
            [(CachePath::Nvme, Fixture::nvme()), (CachePath::Ata, Fixture::sata())]
        {
            let drive = WriteCacheFixture::new(fixture, true);
            // What a run does that is killed: off, on, off.
            let mut settings = SettingsRestorer::of(&drive);
            for on in [false, true, false] {
                match way {
                    CachePath::Nvme => {
                        settings.before(SET_FEATURES, [WRITE_CACHE, on.into(), 0, 0, 0, 0])
                    }
                    CachePath::Ata => settings.before_cache(way, on),
                }
                write_cache::switch(way, &drive, on).unwrap();
            }
            settings.remove();
            assert_eq!(*drive.requested.lock().unwrap(), [false, true, false, true], "{way:?}");
            // What a run has put back itself is not switched again.
            let mut settings = SettingsRestorer::of(&drive);
            settings.before_cache(way, false);
            settings.before_cache(way, true);
            settings.remove();
            assert_eq!(drive.requested.lock().unwrap().len(), 4, "{way:?}");
        }
    }
}
