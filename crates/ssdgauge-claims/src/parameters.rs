//! Which parameters of the profiles are fitted, and to which quantities; and which were changed after results had been
//! seen.
//!
//! `fits/parameters.toml` lists them by profile. A profile inherits those that it does not set itself, so that a claim
//! about its drive is a prediction only where none of them, inherited ones included, is about its quantity.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

const PARAMETERS: &str = include_str!("../fits/parameters.toml");

/// The marked parameters of one profile, as `SECTION.KEY`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileMarks {
    /// The profile.
    pub name: String,
    /// Its parent.
    pub inherits: Option<String>,
    /// The quantity to which each parameter was fitted.
    #[serde(default)]
    pub fitted: BTreeMap<String, String>,
    /// Parameters without a source that were changed after results had been seen, and the quantity of these.
    #[serde(default)]
    pub changed: BTreeMap<String, String>,
    /// Marked parameters of its parents that it replaces by values of a source, or chosen before any result.
    #[serde(default)]
    pub replaces: BTreeSet<String>,
}

/// A marked parameter of a drive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark<'a> {
    /// The profile that sets it: that of the drive, or a parent of it.
    pub profile: &'a str,
    /// The parameter, as `SECTION.KEY`.
    pub parameter: &'a str,
    /// The quantity.
    pub quantity: &'a str,
    /// Whether it has a published number; otherwise it was changed after a result.
    pub is_fitted: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    profile: Vec<ProfileMarks>,
}

/// Returns the marked parameters of each profile.
///
/// # Errors
/// The error of the TOML reader. The built-in text is tested.
pub fn parameters() -> Result<Vec<ProfileMarks>, toml::de::Error> {
    toml::from_str(PARAMETERS).map(|parameters: Parameters| parameters.profile)
}

/// Returns the marks that the drive `target` has, inherited ones included; empty for an unknown profile.
pub fn marks_of<'a>(profiles: &'a [ProfileMarks], target: &str) -> Vec<Mark<'a>> {
    let find = |name: &str| profiles.iter().find(|profile| profile.name == name);
    let mut next = find(profile_of(target));
    let mut set: BTreeSet<&str> = BTreeSet::new();
    let mut marks = Vec::new();
    while let Some(profile) = next {
        let own = profile.fitted.iter().map(|one| (one, true));
        let own: Vec<_> = own.chain(profile.changed.iter().map(|one| (one, false))).collect();
        for ((parameter, quantity), is_fitted) in &own {
            if !set.contains(parameter.as_str()) {
                let (profile, is_fitted) = (profile.name.as_str(), *is_fitted);
                marks.push(Mark { profile, parameter, quantity, is_fitted });
            }
        }
        set.extend(own.iter().map(|((parameter, _), _)| parameter.as_str()));
        set.extend(profile.replaces.iter().map(String::as_str));
        next = profile.inherits.as_deref().and_then(find);
    }
    marks
}

/// Returns the profile of the target `target`.
pub(crate) fn profile_of(target: &str) -> &str {
    target.split('?').next().unwrap_or(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_has_the_marks_that_its_profile_does_not_replace() {
        let text = "[[profile]]\nname='a'\n[profile.fitted]\n'x.one'='q1'\n'x.two'='q2'\n'x.three'='q3'\n\
                    [[profile]]\nname='b'\ninherits='a'\nreplaces=['x.two']\n[profile.fitted]\n'x.one'='q4'\n\
                    [profile.changed]\n'x.four'='q5'\n";
        let profiles: Parameters = toml::from_str(text).unwrap();
        let marks: Vec<(&str, &str, bool)> = marks_of(&profiles.profile, "b?capacity=1GB")
            .into_iter()
            .map(|mark| (mark.parameter, mark.quantity, mark.is_fitted))
            .collect();
        let expected = [("x.one", "q4", true), ("x.four", "q5", false), ("x.three", "q3", true)];
        assert_eq!(marks, expected);
        assert!(marks_of(&profiles.profile, "c").is_empty());
    }

    #[test]
    fn the_fits_of_the_parents_count() {
        // The page of this drive named two: ten are inherited.
        let profiles = parameters().unwrap();
        let marks = marks_of(&profiles, "like-p4800x");
        assert_eq!(marks.iter().filter(|mark| mark.is_fitted).count(), 12);
        assert_eq!(marks.iter().filter(|mark| mark.profile == "like-p4800x").count(), 2);
    }
}
