//! What a run changes of the power saving of a drive, and puts back even where it is killed.
//!
//! The privileged part makes these changes, outlives the run that asked for them, and undoes what
//! the run itself has left.

use crate::sys;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// How long one command may take, in milliseconds.
const PATIENCE_MS: u32 = 10_000;
const GET_FEATURES: u8 = 0x0a;
const SET_FEATURES: u8 = 0x09;
/// The feature that is the power state: NVM Express Base Specification 2.0, section 5.27.1.2.
const POWER_STATE: u32 = 0x02;
/// The measurement of power, which is on or off.
const POWER_MEASUREMENT: u32 = 0x25;

/// What was found before the first change, and what was written last.
#[derive(Debug)]
struct Change<T> {
    found: T,
    now: T,
}

/// Every change so far.
#[derive(Debug, Default)]
pub(super) struct Traces {
    attributes: BTreeMap<PathBuf, Change<String>>,
    features: BTreeMap<u32, Change<u32>>,
}

impl Traces {
    /// Writes `text` into the file `path` of /sys, and keeps what was there.
    pub(super) fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let found = chosen(&fs::read_to_string(path)?);
        fs::write(path, text)?;
        let change = self.attributes.entry(path.to_owned());
        change.or_insert(Change { found, now: String::new() }).now = text.to_owned();
        Ok(())
    }

    /// Keeps the value of the feature that a command with `words` is about to change.
    pub(super) fn before(&mut self, file: &File, opcode: u8, words: [u32; 6]) {
        let [id, now, ..] = words;
        let id = id & 0xff;
        let found = match (opcode, id) {
            (SET_FEATURES, POWER_STATE) => {
                let words = [id, 0, 0, 0, 0, 0];
                // A drive that does not tell will not take the command either.
                match sys::nvme_admin(file, GET_FEATURES, 0, words, &mut [], PATIENCE_MS) {
                    Ok((0, found)) => found,
                    Ok(_) | Err(_) => return,
                }
            }
            (SET_FEATURES, POWER_MEASUREMENT) => 0,
            (_, _) => return,
        };
        self.features.entry(id).or_insert(Change { found, now: found }).now = now;
    }

    /// Puts back what is not as it was found. Nobody is left to tell what could not be.
    pub(super) fn remove(self, file: &File) {
        for (path, Change { found, now }) in self.attributes {
            if found != now {
                let _ = fs::write(path, found);
            }
        }
        for (id, Change { found, now }) in self.features {
            if found != now {
                let words = [id, found, 0, 0, 0, 0];
                let _ = sys::nvme_admin(file, SET_FEATURES, 0, words, &mut [], PATIENCE_MS);
            }
        }
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
        let mut traces = Traces::default();
        for (path, text) in [
            (&policy, "medium_power"),
            (&policy, "min_power"),
            (&scheduler, "mq-deadline"),
            (&put_back, "0"),
            (&put_back, "1"),
        ] {
            traces.write(path, text).unwrap();
        }
        assert!(traces.write(&folder.path().join("none"), "1").is_err());
        // Somebody else may have changed it since: that is theirs.
        fs::write(&put_back, "7").unwrap();
        traces.remove(&File::open("/dev/null").unwrap());
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!(text(&policy), "max_performance");
        assert_eq!(text(&scheduler), "none");
        assert_eq!(text(&put_back), "7");
    }
}
