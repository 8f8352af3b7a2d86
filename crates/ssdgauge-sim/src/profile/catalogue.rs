//! The built-in profiles, inheritance, and the text of a target: `PROFILE[?key=value&…]`.
//!
//! It must never open a file: the text of a user's own profile is passed in.

use crate::fake::Fake;
use crate::profile::effects::EffectFigures;
use crate::profile::figures::Profile;
use crate::profile::typed_value;
use ssdgauge_core::Bytes;
use thiserror::Error;
use toml::{Table, Value};

/// A built-in profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BuiltIn {
    /// The name that follows `sim:`.
    name: &'static str,
    /// Its TOML text.
    text: &'static str,
}

/// A line of the list of profiles, for help texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileListing {
    /// The name that follows `sim:`.
    pub name: &'static str,
    /// The drive in a few words.
    pub title: String,
    /// What the profile represents.
    pub description: String,
    /// Its TOML text with the source of each figure, as a model for a user's own profile.
    pub text: &'static str,
}

// Compiled in: this crate opens no file, and a run is reproduced by the program alone.
macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        [$(BuiltIn {
            name: $name,
            text: include_str!(concat!("../../profiles/", $name, ".toml")),
        }),*]
    };
}

/// Every built-in profile, in the order of lists.
const BUILT_IN: [BuiltIn; 8] = built_in![
    "tlc-client",
    "mlc-client",
    "qlc-client",
    "sata-datacentre",
    "nvme-datacentre",
    "slc-low-latency",
    "xpoint-like",
    "tiny",
];

/// The profiles of the drives in published reviews: a class with the published figures of a drive.
const REVIEWED: [BuiltIn; 21] = built_in![
    "like-970-evo-1tb",
    "like-970-evo-500gb",
    "like-pm981",
    "like-pm981-1tb",
    "like-960-pro",
    "like-960-evo",
    "like-wd-black",
    "like-850-pro",
    "like-sm951",
    "like-dc500r",
    "like-dc500m",
    "like-883-dct",
    "like-860-dct",
    "like-983-dct",
    "like-983-zet-480gb",
    "like-983-zet-960gb",
    "like-p4800x",
    "like-900p",
    "like-p4510",
    "like-pblaze5",
    "like-9100",
];

/// The maximum number of profiles in a chain of inheritance.
const MAX_INHERITANCE: usize = 8;

/// The maximum number of dies that a larger capacity multiplies those of a profile by; beyond, blocks grow.
const MAX_DIE_RATIO: f64 = 64.0;

/// The state of a drive at its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum InitialState {
    /// Never written.
    #[default]
    Fresh,
    /// Every page written once, in ascending order.
    Filled,
    /// As after endless uniform random writes.
    Steady,
}

impl InitialState {
    const ALL: [InitialState; 3] =
        [InitialState::Fresh, InitialState::Filled, InitialState::Steady];

    /// Returns the word used in targets.
    pub(crate) fn name(self) -> &'static str {
        match self {
            InitialState::Fresh => "fresh",
            InitialState::Filled => "filled",
            InitialState::Steady => "steady",
        }
    }
}

/// A profile with everything that the text of the target changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProfileSpec {
    /// The figures.
    pub(crate) profile: Profile,
    /// The share of the capacity that is left unused.
    pub(crate) unused: f64,
    /// The state at creation.
    pub(crate) initial_state: InitialState,
    /// The seed, where the text names one.
    pub(crate) seed: Option<u64>,
    /// How the drive stores less than it states.
    pub(crate) fake: Fake,
}

/// Why a virtual drive cannot be created. No drive was created.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProfileError {
    /// No profile has this name.
    #[error("unknown profile '{name}' (known: {known})")]
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
    /// A value is not valid.
    #[error("{key}={value}: {reason}")]
    Value {
        /// The key.
        key: String,
        /// The value as given.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The text is not a profile.
    #[error("the profile '{name}' cannot be read: {reason}")]
    Text {
        /// The name as given.
        name: String,
        /// The error of the TOML reader.
        reason: String,
    },
    /// The figures contradict each other or are out of range.
    #[error("impossible drive: {0}")]
    Impossible(String),
}

/// Returns every built-in profile of a class.
pub fn profiles() -> Vec<ProfileListing> {
    listings(&BUILT_IN)
}

/// Returns every built-in profile that follows a drive of a published review.
pub fn reviewed_profiles() -> Vec<ProfileListing> {
    listings(&REVIEWED)
}

fn listings(profiles: &[BuiltIn]) -> Vec<ProfileListing> {
    profiles
        .iter()
        .map(|built_in| {
            let table = built_in_table(built_in.name);
            let profile = table.and_then(read).expect("built-in profiles are tested");
            ProfileListing {
                name: built_in.name,
                title: profile.drive.title,
                description: profile.drive.description,
                text: built_in.text,
            }
        })
        .collect()
}

impl ProfileSpec {
    /// Parses `PROFILE[?key=value&…]` of a built-in profile.
    ///
    /// # Errors
    /// An unknown profile or key, or a value that is not valid.
    pub(crate) fn parse(text: &str) -> Result<ProfileSpec, ProfileError> {
        let (name, query) = text.split_once('?').unwrap_or((text, ""));
        complete(built_in_table(name)?, query)
    }

    /// Parses the TOML `text` of a user's own profile and the `key=value&…` that follow its `name`.
    ///
    /// # Errors
    /// As [`ProfileSpec::parse`], and a text that is not a profile.
    pub(crate) fn from_toml(
        name: &str,
        text: &str,
        query: &str,
    ) -> Result<ProfileSpec, ProfileError> {
        complete(inherit(name, parse_toml(name, text)?, 0)?, query)
    }
}

/// Returns every key of the text of a target, `sim:PROFILE?KEY=VALUE`: those of any drive, then the dotted ones of the
/// sections of a profile.
pub fn target_keys() -> Vec<String> {
    let table = built_in_table(BUILT_IN[0].name).and_then(read);
    let table = whole_table(&table.expect("built-in profiles are tested"));
    QUERY_KEYS.iter().map(|key| (*key).to_owned()).chain(dotted_keys(&table)).collect()
}

/// Returns the table of a profile with every key.
fn whole_table(nominal: &Profile) -> Table {
    // Serialised again, the table has every key, and each value has the type of its field: a user
    // may write 4 for 4.0.
    let mut table = Table::try_from(nominal).expect("a profile that was read can be written");
    let effects = Table::try_from(&nominal.effects).expect("effects that were read can be written");
    table.entry("effects").or_insert(Value::Table(effects));
    add_unset_keys(&mut table);
    table
}

fn complete(table: Table, query: &str) -> Result<ProfileSpec, ProfileError> {
    let nominal = read(table)?;
    let mut table = whole_table(&nominal);
    let mut query_keys = QueryKeys::default();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| ProfileError::Value {
            key: pair.into(),
            value: String::new(),
            reason: "a key is followed by '=' and its value".into(),
        })?;
        query_keys.set(key, value, &mut table)?;
    }
    let mut profile = read(table)?;
    if let Some(capacity) = query_keys.capacity {
        resize(&mut profile, nominal.drive.capacity_gb, capacity.0 as f64 / 1e9);
    }
    // After the capacity, which it refers to, in whatever order the text names them.
    if let Some(share) = query_keys.over_provisioning {
        profile.drive.raw_gib =
            profile.drive.capacity_gb * 1e9 * (1.0 + share) / (1u64 << 30) as f64;
    }
    Ok(ProfileSpec {
        profile,
        unused: query_keys.unused,
        initial_state: query_keys.initial_state,
        seed: query_keys.seed,
        fake: query_keys.fake,
    })
}

/// Adds the keys that a text without these faults and effects does not state: the digest of such a
/// drive covers its text, and remains that of the drives from before these keys.
fn add_unset_keys(table: &mut Table) {
    let never = Value::Float(-1.0);
    let faults = [
        ("drop_at_s", never.clone()),
        ("flip_at_s", never.clone()),
        ("power_cut_at_s", never),
        ("flush_fails", Value::Boolean(false)),
    ];
    let mut add = |section: &str, key: &str, value| {
        if let Some(Value::Table(figures)) = table.get_mut(section) {
            figures.entry(key).or_insert(value);
        }
    };
    faults.into_iter().for_each(|(key, value)| add("fault", key, value));
    EffectFigures::unstated().for_each(|(key, value)| add("effects", key, value));
}

/// Changes the capacity of the drive. Spare area and borrowed cache keep their share; a larger
/// drive has more dies, a smaller one keeps its dies, and so its speed, with smaller blocks.
fn resize(profile: &mut Profile, nominal_gb: f64, capacity_gb: f64) {
    let ratio = capacity_gb / nominal_gb;
    profile.drive.capacity_gb = capacity_gb;
    profile.drive.raw_gib *= ratio;
    profile.slc.dynamic_gb *= ratio;
    // The fixed cache of a series is usually the same for larger capacities.
    if ratio < 1.0 {
        profile.slc.fixed_gb *= ratio;
    }
    // A whole multiple: the dies stay divisible by channels and volumes.
    profile.nand.dies *= ratio.round().clamp(1.0, MAX_DIE_RATIO) as u32;
}

/// The keys of a target's text that are not keys of the TOML text.
#[derive(Default)]
struct QueryKeys {
    capacity: Option<Bytes>,
    over_provisioning: Option<f64>,
    unused: f64,
    initial_state: InitialState,
    seed: Option<u64>,
    fake: Fake,
}

const QUERY_KEYS: [&str; 6] = ["capacity", "over_provisioning", "unused", "state", "seed", "fake"];

impl QueryKeys {
    /// Sets `key` to `value`, in `table` where it is a key of the TOML text.
    fn set(&mut self, key: &str, value: &str, table: &mut Table) -> Result<(), ProfileError> {
        let wrong =
            |reason: String| ProfileError::Value { key: key.into(), value: value.into(), reason };
        match key {
            "capacity" => {
                self.capacity = Some(value.parse().map_err(|e| wrong(format!("{e}")))?);
            }
            "over_provisioning" => {
                self.over_provisioning = Some(parse_share(value).map_err(wrong)?);
            }
            "unused" => self.unused = parse_share(value).map_err(wrong)?,
            "state" => {
                self.initial_state = InitialState::ALL
                    .into_iter()
                    .find(|state| state.name() == value)
                    .ok_or_else(|| wrong("known: fresh, filled, steady".into()))?;
            }
            "seed" => {
                self.seed = Some(value.parse().map_err(|e| wrong(format!("{e}")))?);
            }
            "fake" => self.fake = Fake::parse(value).map_err(wrong)?,
            _ => replace(table, key, value)?,
        }
        Ok(())
    }
}

/// Parses `0.25` or `25%`.
fn parse_share(value: &str) -> Result<f64, String> {
    let (number, scale) = match value.strip_suffix('%') {
        Some(percent) => (percent, 0.01),
        None => (value, 1.0),
    };
    let share: f64 =
        number.trim().parse().map_err(|_| "not a share such as 0.25 or 25%".to_string())?;
    match (0.0..100.0).contains(&share) {
        true => Ok(share * scale),
        false => Err("not a number from 0 to below 100".into()),
    }
}

/// Replaces the value at the dotted `key`; its type stays.
fn replace(table: &mut Table, key: &str, value: &str) -> Result<(), ProfileError> {
    let known = dotted_keys(table);
    let unknown = || ProfileError::UnknownKey {
        key: key.into(),
        known: QUERY_KEYS
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
    *slot = typed_value::typed(slot, name, value).map_err(|reason| ProfileError::Value {
        key: key.into(),
        value: value.into(),
        reason,
    })?;
    Ok(())
}

/// Returns the dotted keys that the text of a target can change.
fn dotted_keys(table: &Table) -> Vec<String> {
    // Power states are lists, for whose figures a target has no names.
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

/// Returns the built-in profile `name` with all its keys.
fn built_in_table(name: &str) -> Result<Table, ProfileError> {
    inherit(name, parse_toml(name, find_built_in(name)?.text)?, 0)
}

fn find_built_in(name: &str) -> Result<&'static BuiltIn, ProfileError> {
    let all = || BUILT_IN.iter().chain(&REVIEWED);
    all().find(|built_in| built_in.name == name).ok_or_else(|| ProfileError::UnknownProfile {
        name: name.into(),
        known: all().map(|built_in| built_in.name).collect::<Vec<_>>().join(", "),
    })
}

fn parse_toml(name: &str, text: &str) -> Result<Table, ProfileError> {
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

/// Adds the keys that `table` leaves out from the profile that it inherits from.
fn inherit(name: &str, mut table: Table, depth: usize) -> Result<Table, ProfileError> {
    let Some(parent) = table.remove("inherits") else { return Ok(table) };
    let problem = |reason: &str| ProfileError::Text { name: name.into(), reason: reason.into() };
    let parent =
        parent.as_str().ok_or_else(|| problem("'inherits' is not the name of a profile"))?;
    if depth == MAX_INHERITANCE {
        return Err(problem("its chain of inheritance is too long or circular"));
    }
    let text = find_built_in(parent)?.text;
    let mut whole = inherit(parent, parse_toml(parent, text)?, depth + 1)?;
    for (section, value) in table {
        match (whole.get_mut(&section), value) {
            // Key by key: a section of the child that states one figure keeps the others of its
            // parent.
            (Some(Value::Table(old)), Value::Table(new)) => old.extend(new),
            (_, value) => {
                whole.insert(section, value);
            }
        }
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_of_a_server_holds_its_maximum_power_without_throttling() {
        for name in [
            "nvme-datacentre",
            "slc-low-latency",
            "xpoint-like",
            "like-983-dct",
            "like-983-zet-480gb",
            "like-983-zet-960gb",
            "like-p4800x",
            "like-900p",
            "like-p4510",
            "like-pblaze5",
            "like-9100",
        ] {
            let Profile { thermal, power, .. } = ProfileSpec::parse(name).unwrap().profile;
            let body_c = thermal.ambient_c + thermal.r_c_per_w * power.max_w;
            assert!(power.max_w > 0.0, "{name} states no maximum");
            assert!(body_c <= thermal.throttle_c, "{name}: {body_c} C at {} W", power.max_w);
        }
    }
}
