//! The list of profiles, inheritance, and the words behind a profile's name: `?key=value&…`.
//!
//! It must never open a file: the text of a user's own profile is handed in.

use super::figures::Profile;
use ssdgauge_core::Bytes;
use thiserror::Error;
use toml::{Table, Value};

/// A profile that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The name that follows `sim:`.
    pub(crate) name: &'static str,
    /// Its TOML text.
    pub(crate) text: &'static str,
}

/// One line of the list of profiles, for help texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name that follows `sim:`.
    pub name: &'static str,
    /// What it is in a few words.
    pub title: String,
    /// What it stands for.
    pub description: String,
    /// Its TOML text, with the source of each figure: the model for a profile of one's own.
    pub text: &'static str,
}

macro_rules! entries {
    ($($name:literal),* $(,)?) => {
        [$(Entry { name: $name, text: include_str!(concat!("../../profiles/", $name, ".toml")) }),*]
    };
}

/// Every profile, in the order of lists.
const ENTRIES: [Entry; 8] = entries![
    "tlc-client",
    "mlc-client",
    "qlc-client",
    "sata-datacentre",
    "nvme-datacentre",
    "slc-low-latency",
    "xpoint-like",
    "tiny",
];

/// The most profiles in a line of inheritance.
const MAX_GENERATIONS: usize = 8;

/// How a drive is born.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Birth {
    /// Nothing was ever written.
    #[default]
    Fresh,
    /// Every page was written once, in ascending order.
    Filled,
    /// As after endless uniform random writes.
    Steady,
}

impl Birth {
    /// Returns the word used in targets.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Birth::Fresh => "fresh",
            Birth::Filled => "filled",
            Birth::Steady => "steady",
        }
    }
}

/// A profile with everything that the target's text changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Order {
    /// The name as given.
    pub(crate) name: String,
    /// The figures.
    pub(crate) profile: Profile,
    /// The share of the capacity that is left unused.
    pub(crate) unused: f64,
    /// How the drive is born.
    pub(crate) birth: Birth,
    /// The seed, where the text names one.
    pub(crate) seed: Option<u64>,
}

/// Why a virtual drive cannot be made. Nothing was done.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProfileError {
    /// No profile has this name.
    #[error("there is no profile '{name}' (known: {known})")]
    UnknownProfile {
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
    /// No profile has this key.
    #[error("a virtual drive has no key '{key}' (known: {known})")]
    UnknownKey {
        /// The key.
        key: String,
        /// All keys.
        known: String,
    },
    /// A value cannot be read.
    #[error("{key}={value}: {reason}")]
    Value {
        /// The key.
        key: String,
        /// The value as given.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The text is no profile.
    #[error("the profile '{name}' cannot be read: {reason}")]
    Text {
        /// The name as given.
        name: String,
        /// What the reader said.
        reason: String,
    },
    /// The figures contradict each other or nature.
    #[error("impossible drive: {0}")]
    Impossible(String),
}

/// Returns every profile that comes with the program.
pub fn profiles() -> Vec<Listed> {
    ENTRIES
        .iter()
        .map(|entry| {
            let profile = builtin(entry.name).and_then(read).expect("built-in profiles are tested");
            Listed {
                name: entry.name,
                title: profile.drive.title,
                description: profile.drive.description,
                text: entry.text,
            }
        })
        .collect()
}

/// Reads `PROFILE[?key=value&…]`.
pub(crate) fn order(spec: &str) -> Result<Order, ProfileError> {
    let (name, query) = spec.split_once('?').unwrap_or((spec, ""));
    complete(name, builtin(name)?, query)
}

/// Reads the text of a user's own profile and the words behind its name.
pub(crate) fn order_from_text(name: &str, text: &str, query: &str) -> Result<Order, ProfileError> {
    complete(name, inherit(name, parse(name, text)?, 0)?, query)
}

fn complete(name: &str, table: Table, query: &str) -> Result<Order, ProfileError> {
    let nominal = read(table)?;
    // Written anew, every key is there and has the type of its field, however a user wrote it.
    let mut table = Table::try_from(&nominal).expect("a profile that was read can be written");
    let mut order = Words::default();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| ProfileError::Value {
            key: pair.into(),
            value: String::new(),
            reason: "a key is followed by '=' and its value".into(),
        })?;
        order.take(key, value, &mut table)?;
    }
    let mut profile = read(table)?;
    if let Some(capacity) = order.capacity {
        resize(&mut profile, nominal.drive.capacity_gb, capacity.0 as f64 / 1e9);
    }
    if let Some(share) = order.over_provisioning {
        profile.drive.raw_gib =
            profile.drive.capacity_gb * 1e9 * (1.0 + share) / (1u64 << 30) as f64;
    }
    Ok(Order {
        name: name.into(),
        profile,
        unused: order.unused,
        birth: order.birth,
        seed: order.seed,
    })
}

/// Gives the drive another capacity: spare area and the borrowed cache keep their share, a larger
/// drive has more dies, a smaller one keeps its dies (and so its speed) with smaller blocks.
fn resize(profile: &mut Profile, nominal_gb: f64, capacity_gb: f64) {
    let ratio = capacity_gb / nominal_gb;
    profile.drive.capacity_gb = capacity_gb;
    profile.drive.raw_gib *= ratio;
    profile.slc.dynamic_gb *= ratio;
    if ratio < 1.0 {
        profile.slc.fixed_gb *= ratio;
    }
    let times = ratio.round().clamp(1.0, 64.0) as u32;
    profile.nand.dies *= times;
}

/// The words behind a profile's name that are no keys of the TOML text.
#[derive(Default)]
struct Words {
    capacity: Option<Bytes>,
    over_provisioning: Option<f64>,
    unused: f64,
    birth: Birth,
    seed: Option<u64>,
}

const WORDS: [&str; 5] = ["capacity", "over_provisioning", "unused", "state", "seed"];

impl Words {
    fn take(&mut self, key: &str, value: &str, table: &mut Table) -> Result<(), ProfileError> {
        let wrong =
            |reason: String| ProfileError::Value { key: key.into(), value: value.into(), reason };
        match key {
            "capacity" => {
                self.capacity = Some(value.parse().map_err(|e| wrong(format!("{e}")))?);
            }
            "over_provisioning" => {
                self.over_provisioning = Some(share(value).map_err(wrong)?);
            }
            "unused" => self.unused = share(value).map_err(wrong)?,
            "state" => {
                let known = [Birth::Fresh, Birth::Filled, Birth::Steady];
                self.birth = known
                    .into_iter()
                    .find(|birth| birth.name() == value)
                    .ok_or_else(|| wrong("known: fresh, filled, steady".into()))?;
            }
            "seed" => {
                self.seed = Some(value.parse().map_err(|e| wrong(format!("{e}")))?);
            }
            _ => replace(table, key, value)?,
        }
        Ok(())
    }
}

/// Reads `0.25` or `25%`.
fn share(value: &str) -> Result<f64, String> {
    let (number, scale) = match value.strip_suffix('%') {
        Some(percent) => (percent, 0.01),
        None => (value, 1.0),
    };
    let share: f64 =
        number.trim().parse().map_err(|_| "a share such as 0.25 or 25%".to_string())?;
    if (0.0..100.0).contains(&share) { Ok(share * scale) } else { Err("a share from 0".into()) }
}

/// Replaces the value at the dotted `key`; its type stays.
fn replace(table: &mut Table, key: &str, value: &str) -> Result<(), ProfileError> {
    let known = keys_of(table);
    let unknown = || ProfileError::UnknownKey {
        key: key.into(),
        known: WORDS
            .iter()
            .map(|word| word.to_string())
            .chain(known.clone())
            .collect::<Vec<_>>()
            .join(", "),
    };
    if !known.iter().any(|name| name == key) {
        return Err(unknown());
    }
    let (section, name) = key.split_once('.').ok_or_else(unknown)?;
    let slot = table
        .get_mut(section)
        .and_then(Value::as_table_mut)
        .and_then(|section| section.get_mut(name))
        .ok_or_else(unknown)?;
    let typed = match slot {
        Value::Integer(_) => value.parse().ok().map(Value::Integer),
        Value::Float(_) => value.parse().ok().filter(|v: &f64| v.is_finite()).map(Value::Float),
        Value::Boolean(_) => value.parse().ok().map(Value::Boolean),
        Value::String(_) => Some(Value::String(value.into())),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    };
    *slot = typed.ok_or_else(|| ProfileError::Value {
        key: key.into(),
        value: value.into(),
        reason: format!("a value like {slot} is needed"),
    })?;
    Ok(())
}

/// Returns the dotted keys that a target's text can change.
fn keys_of(table: &Table) -> Vec<String> {
    let single = |value: &Value| !value.is_array() && !value.is_table();
    table
        .iter()
        .filter_map(|(section, value)| value.as_table().map(|values| (section, values)))
        .flat_map(|(section, values)| {
            values
                .iter()
                .filter(|(_, value)| single(value))
                .map(move |(name, _)| format!("{section}.{name}"))
        })
        .collect()
}

fn builtin(name: &str) -> Result<Table, ProfileError> {
    let entry = ENTRIES
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| ProfileError::UnknownProfile { name: name.into(), known: names() })?;
    inherit(name, parse(name, entry.text)?, 0)
}

fn names() -> String {
    ENTRIES.map(|entry| entry.name).join(", ")
}

fn parse(name: &str, text: &str) -> Result<Table, ProfileError> {
    text.parse().map_err(|e| ProfileError::Text { name: name.into(), reason: format!("{e}") })
}

fn read(table: Table) -> Result<Profile, ProfileError> {
    let name = table
        .get("drive")
        .and_then(|drive| drive.get("class"))
        .and_then(Value::as_str)
        .unwrap_or("without a name")
        .to_owned();
    Value::Table(table).try_into().map_err(|e| ProfileError::Text { name, reason: format!("{e}") })
}

/// Fills what `table` leaves out from the profile that it inherits.
fn inherit(name: &str, mut table: Table, generation: usize) -> Result<Table, ProfileError> {
    let Some(parent) = table.remove("inherits") else { return Ok(table) };
    let problem = |reason: &str| ProfileError::Text { name: name.into(), reason: reason.into() };
    let parent = parent.as_str().ok_or_else(|| problem("'inherits' names a profile"))?.to_owned();
    if generation == MAX_GENERATIONS {
        return Err(problem("its line of inheritance does not end"));
    }
    let entry = ENTRIES
        .iter()
        .find(|entry| entry.name == parent)
        .ok_or_else(|| ProfileError::UnknownProfile { name: parent.clone(), known: names() })?;
    let mut whole = inherit(&parent, parse(&parent, entry.text)?, generation + 1)?;
    for (section, value) in table {
        match (whole.get_mut(&section), value) {
            (Some(Value::Table(old)), Value::Table(new)) => old.extend(new),
            (_, value) => {
                whole.insert(section, value);
            }
        }
    }
    Ok(whole)
}
