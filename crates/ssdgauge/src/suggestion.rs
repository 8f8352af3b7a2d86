//! The known name that a mistyped one probably means.

use strsim::damerau_levenshtein;

/// The minimum number of letters of a name that is taken for the beginning of others.
const LEAST_OF_PREFIX: usize = 3;
/// The maximum number of names that are suggested.
const MOST: usize = 3;

/// Returns the one of `known` that is nearest to `name`: at most two letters added, removed, replaced or
/// exchanged, one in a name below five letters; otherwise the first one that begins with it. Chosen: two letters in a
/// short name connect too many.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(name, known).first().copied()
}

/// Returns the nearest one of `known` by letters, otherwise those that begin with `name`.
pub(crate) fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let letters = name.chars().count();
    let most = if letters < 5 { 1 } else { 2 };
    let name = name.to_lowercase();
    let distances = known.iter().map(|one| (damerau_levenshtein(&name, &one.to_lowercase()), *one));
    let by_letters =
        distances.filter(|(distance, _)| *distance <= most).min_by_key(|(one, _)| *one);
    if let Some((_, one)) = by_letters {
        return vec![one];
    }
    let begins = |one: &&str| letters >= LEAST_OF_PREFIX && one.to_lowercase().starts_with(&name);
    known.into_iter().filter(begins).take(MOST).collect()
}

/// Returns the hint about a mistyped name: the nearest of `known` where there is one, and `all`, the
/// command that lists them.
pub(crate) fn hint<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    prefix: &str,
    all: &str,
) -> String {
    let meant: Vec<String> =
        near(name, known).into_iter().map(|one| format!("'{prefix}{one}'")).collect();
    match meant.is_empty() {
        false => format!("did you mean {}? `{all}` lists all", meant.join(" or ")),
        true => format!("`{all}` lists all"),
    }
}

/// Returns text and hint for the message of serde about a key that is unknown; `None` for another message.
pub(crate) fn unknown_key(message: &str) -> Option<(String, String)> {
    let (_, rest) = message.split_once("unknown field `")?;
    let (key, rest) = rest.split_once('`')?;
    // Every second part is a name between marks.
    let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let hint = match nearest(key, known.iter().copied()) {
        Some(meant) => format!("did you mean '{meant}'?"),
        None => format!("the keys here are {}", known.join(", ")),
    };
    Some((format!("unknown key '{key}'"), hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_two_wrong_letters_is_recognised_and_a_short_one_with_one() {
        let known = ["client-2018", "client-2021", "act", "trim"];
        for (name, meant) in [
            ("cleint-2018", Some("client-2018")),
            ("Client-2018", Some("client-2018")),
            ("client-201", Some("client-2018")),
            ("atc", Some("act")),
            ("tri", Some("trim")),
            ("tea", None),
            ("clie", Some("client-2018")),
            ("cl", None),
            ("server-2018", None),
        ] {
            assert_eq!(nearest(name, known), meant, "{name}");
        }
    }

    #[test]
    fn an_unknown_key_gets_the_nearest_one_or_all() {
        let of = |key: &str| {
            unknown_key(&format!("unknown field `{key}`, expected one of `model`, `source`"))
        };
        assert_eq!(of("modle").unwrap().1, "did you mean 'model'?");
        assert_eq!(of("price").unwrap().1, "the keys here are model, source");
        assert_eq!(unknown_key("missing field `model`"), None);
    }
}
