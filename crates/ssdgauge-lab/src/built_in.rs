//! Built-in suites: the list is their table of contents.

use crate::error::SuiteError;
use crate::suite::Suite;

/// Id and text of each suite: one file in `suites/` and one line here.
const FILES: &[(&str, &str)] = &[
    ("quick", include_str!("../suites/quick.toml")),
    ("quick-ai", include_str!("../suites/quick-ai.toml")),
    ("quick-database", include_str!("../suites/quick-database.toml")),
    ("quick-desktop", include_str!("../suites/quick-desktop.toml")),
    ("iometer-2015", include_str!("../suites/iometer-2015.toml")),
    ("consistency-2016", include_str!("../suites/consistency-2016.toml")),
    ("client-2018", include_str!("../suites/client-2018.toml")),
    ("client-2018-full", include_str!("../suites/client-2018-full.toml")),
    ("enterprise-2019", include_str!("../suites/enterprise-2019.toml")),
    ("enterprise-2020", include_str!("../suites/enterprise-2020.toml")),
    ("client-2021", include_str!("../suites/client-2021.toml")),
    ("fill-ladder", include_str!("../suites/fill-ladder.toml")),
    ("snia-pts-e", include_str!("../suites/snia-pts-e.toml")),
    ("snia-pts-c", include_str!("../suites/snia-pts-c.toml")),
    ("act", include_str!("../suites/act.toml")),
    ("act-24h", include_str!("../suites/act-24h.toml")),
    ("act-48h", include_str!("../suites/act-48h.toml")),
    ("load-curve", include_str!("../suites/load-curve.toml")),
    ("size-curve", include_str!("../suites/size-curve.toml")),
    ("as-ssd", include_str!("../suites/as-ssd.toml")),
    ("tasks", include_str!("../suites/tasks.toml")),
    ("like-destroyer", include_str!("../suites/like-destroyer.toml")),
    ("like-heavy", include_str!("../suites/like-heavy.toml")),
    ("like-light", include_str!("../suites/like-light.toml")),
    ("trim", include_str!("../suites/trim.toml")),
    ("power-states", include_str!("../suites/power-states.toml")),
    ("cache-fill", include_str!("../suites/cache-fill.toml")),
    ("four-states", include_str!("../suites/four-states.toml")),
    ("pulse", include_str!("../suites/pulse.toml")),
    ("degrade-recover", include_str!("../suites/degrade-recover.toml")),
    ("commit", include_str!("../suites/commit.toml")),
    ("ai-experts", include_str!("../suites/ai-experts.toml")),
    ("ssd-iq", include_str!("../suites/ssd-iq.toml")),
    ("ai-checkpoint", include_str!("../suites/ai-checkpoint.toml")),
    ("fsload", include_str!("../suites/fsload.toml")),
    ("demo", include_str!("../suites/demo.toml")),
];

/// Returns all built-in suites, in the order of the list.
pub fn built_in() -> Vec<Suite> {
    let suite = |(id, text): &(&str, &str)| {
        Suite::parse(&format!("{id}.toml"), text).expect("the tests parse every built-in suite")
    };
    FILES.iter().map(suite).collect()
}

/// Returns the ids of the built-in suites.
pub fn built_in_ids() -> Vec<&'static str> {
    FILES.iter().map(|(id, _)| *id).collect()
}

/// Returns the built-in suite `id`.
///
/// # Errors
///
/// A [`SuiteError`] whose hint lists the built-in suites, where none has this id.
pub fn find_built_in(id: &str) -> Result<Suite, SuiteError> {
    match FILES.iter().find(|(name, _)| *name == id) {
        Some((name, text)) => Suite::parse(&format!("{name}.toml"), text),
        None => Err(SuiteError::unknown_suite(id, &built_in_ids().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_suite_parses_and_has_the_id_of_its_file() {
        for (id, text) in FILES {
            let suite = Suite::parse(id, text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(suite.id, *id);
        }
        assert_eq!(built_in().len(), FILES.len());
    }

    #[test]
    fn the_error_for_an_unknown_suite_lists_the_known_ones() {
        let error = find_built_in("client-2081").unwrap_err();
        assert!(error.hint.contains("client-2018") && error.hint.contains("quick"));
    }
}
