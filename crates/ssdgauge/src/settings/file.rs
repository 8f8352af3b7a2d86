//! The configuration file: where it is, who may have written it, and its keys.

use super::key::Key;
use crate::failure::{Failure, FailureKind};
use crate::{caller, suggestion};
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// The values of a configuration file.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) path: PathBuf,
    text: String,
    values: Vec<(Key, Vec<String>, Range<usize>)>,
}

/// Returns the path of the configuration, whether it exists or not; `None` for a caller without a home.
pub(super) fn path() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    // A relative one is to be ignored (XDG Base Directory Specification).
    let folder = folder.filter(|folder| folder.is_absolute());
    Some(folder.or_else(|| Some(caller::home()?.join(".config")))?.join("ssdgauge/config.toml"))
}

/// Reads the configuration; `None` where there is none.
///
/// # Errors
///
/// Refuses a file that another user may write, as root; fails where it cannot be read, or has a wrong key.
pub(super) fn read() -> Result<Option<Written>, Failure> {
    let Some(path) = path() else { return Ok(None) };
    let real = match path.canonicalize() {
        Ok(real) => real,
        // A folder on the way that may not be entered is another user's: HOME is still that of the caller of sudo.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(&path, &error.to_string())),
    };
    if caller::is_root() {
        check_writers(&real)?;
    }
    let is_file = real.metadata().is_ok_and(|facts| facts.is_file());
    if !is_file {
        return Err(unreadable(&path, "it is not a file"));
    }
    let mut text = String::new();
    std::fs::File::open(&real)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
        .map_err(|error| unreadable(&path, &error.to_string()))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(unreadable(&path, "it is longer than 64 KiB"));
    }
    Written::parse(path, text).map(Some)
}

fn unreadable(path: &Path, reason: &str) -> Failure {
    let text = format!("the configuration {} cannot be read: {reason}", path.display());
    let hint = "nothing was written; correct or move it, or set another folder by XDG_CONFIG_HOME";
    Failure::new(FailureKind::Usage, text, hint)
}

/// Refuses a file that a user other than root and the caller may write, or put in the place of this one: its values
/// would be options of root.
fn check_writers(real: &Path) -> Result<(), Failure> {
    let own = caller::of_sudo().map_or(0, |(user, _)| user);
    for path in real.ancestors() {
        let facts =
            path.symlink_metadata().map_err(|error| unreadable(path, &error.to_string()))?;
        if caller::others_write(&facts, own) {
            let text = format!("another user may write {}", path.display());
            let path = path.display();
            let hint = format!(
                "nothing was written; the configuration of root has to belong to its caller in all parts: \
                 chown and `chmod go-w {path}`"
            );
            return Err(Failure::new(FailureKind::Refused, text, hint));
        }
    }
    Ok(())
}

impl Written {
    fn parse(path: PathBuf, text: String) -> Result<Written, Failure> {
        let mut written = Written { path, text, values: Vec::new() };
        let table = DeTable::parse(&written.text).map_err(|error| {
            written.wrong(error.span().unwrap_or_default(), error.message(), "it is TOML")
        })?;
        let mut values = Vec::new();
        for (name, value) in table.get_ref() {
            let known = Key::ALL.map(Key::name);
            let key = Key::ALL.into_iter().find(|key| key.name() == name.get_ref().as_ref());
            let key = key.ok_or_else(|| {
                let text = format!("unknown key '{}'", name.get_ref());
                let hint = match suggestion::nearest(name.get_ref(), known) {
                    Some(meant) => format!("did you mean '{meant}'?"),
                    None => format!("its keys are {}", known.join(", ")),
                };
                written.wrong(name.span(), &text, &hint)
            })?;
            let texts = texts_of(key, value.get_ref()).ok_or_else(|| {
                let kind = if key == Key::Meters { "a list of texts" } else { "a text in quotes" };
                let text = format!("{} has another type", key.name());
                written.wrong(value.span(), &text, &format!("write {kind}"))
            })?;
            values.push((key, texts, value.span()));
        }
        written.values = values;
        Ok(written)
    }

    /// Returns the texts of `key`, and their line.
    pub(super) fn get(&self, key: Key) -> Option<(&[String], usize)> {
        let (_, texts, span) = self.values.iter().find(|(one, ..)| *one == key)?;
        Some((texts, self.line(span.start)))
    }

    /// Returns the failure of the value of `key`.
    pub(super) fn wrong_value(&self, key: Key, reason: &str) -> Failure {
        let span = self.values.iter().find(|(one, ..)| *one == key).map(|(.., span)| span.clone());
        let text = format!("{}: {reason}", key.name());
        self.wrong(span.unwrap_or_default(), &text, "`ssdgauge config` shows what counts")
    }

    fn wrong(&self, span: Range<usize>, what: &str, hint: &str) -> Failure {
        let name = self.path.display().to_string();
        let error = format!("{name}:{}: {what}", self.line(span.start));
        Failure::in_file(&name, &self.text, span, error, hint)
    }

    fn line(&self, at: usize) -> usize {
        self.text[..at.min(self.text.len())].matches('\n').count() + 1
    }
}

/// Returns the texts of a value; `None` for another type than that of `key`.
fn texts_of(key: Key, value: &DeValue<'_>) -> Option<Vec<String>> {
    match (key == Key::Meters, value) {
        (true, DeValue::Array(all)) => {
            all.iter().map(|one| Some(one.get_ref().as_str()?.to_owned())).collect()
        }
        (true, _) => None,
        (false, value) => Some(vec![value.as_str()?.to_owned()]),
    }
}
