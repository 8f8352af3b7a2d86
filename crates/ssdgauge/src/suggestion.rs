//! The known name that a mistyped one probably means.

use strsim::damerau_levenshtein;

/// Returns the one of `known` that is nearest to `name`: at most two letters added, removed, replaced or
/// exchanged, one in a name below five letters. Chosen: two letters in a short name connect too many.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = if name.chars().count() < 5 { 1 } else { 2 };
    let name = name.to_lowercase();
    let distances =
        known.into_iter().map(|one| (damerau_levenshtein(&name, &one.to_lowercase()), one));
    distances
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, one)| one)
}

/// Returns the hint about a mistyped name: the nearest of `known` where there is one, and `all`, the
/// command that lists them.
pub(crate) fn hint<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    prefix: &str,
    all: &str,
) -> String {
    match nearest(name, known) {
        Some(meant) => format!("did you mean '{prefix}{meant}'? `{all}` lists all"),
        None => format!("`{all}` lists all"),
    }
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
            ("server-2018", None),
        ] {
            assert_eq!(nearest(name, known), meant, "{name}");
        }
    }
}
