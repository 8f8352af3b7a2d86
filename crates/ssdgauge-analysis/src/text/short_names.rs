//! Short names: the words of each name that separate the drives of one page.

/// Returns `names` without the words that all of them begin with, without those that all of them
/// contain and that are a capacity or `MODEL`, and without those that all of them end with.
///
/// A name keeps at least one word with a letter; where two would become equal, all stay whole.
pub fn shortened(names: &[&str]) -> Vec<String> {
    let whole = || names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    if names.len() < 2 {
        return whole();
    }
    let mut words: Vec<Vec<&str>> = names.iter().map(|name| words_of(name)).collect();
    let common: Vec<&str> = words[0]
        .iter()
        .copied()
        .filter(|word| is_aside(word) && words.iter().all(|other| other.contains(word)))
        .collect();
    let kept = |words: &[Vec<&str>]| words.iter().all(|words| words.iter().any(|w| is_name(w)));
    remove(&mut words, kept, |words| words.retain(|word| !common.contains(word)));
    while let Some(first) = words[0].first().copied()
        && words.iter().all(|words| words.first() == Some(&first))
        && remove(&mut words, kept, |words| {
            words.remove(0);
        })
    {}
    while let Some(last) = words[0].last().copied()
        && words.iter().all(|words| words.last() == Some(&last))
        && remove(&mut words, kept, |words| {
            words.pop();
        })
    {}
    let short: Vec<String> = words.iter().map(|words| words.join(" ")).collect();
    let distinct = |name: &String| short.iter().filter(|other| *other == name).count() == 1;
    if short.iter().all(distinct) { short } else { whole() }
}

/// Returns `names` without their capacities where they stay apart without, for places with little room.
pub fn without_capacities(names: &[&str]) -> Vec<String> {
    let without = |name: &&str| -> String {
        let words: Vec<&str> = words_of(name).into_iter().filter(|w| !is_aside(w)).collect();
        words.join(" ")
    };
    let short: Vec<String> = names.iter().map(without).collect();
    let is_own = |name: &String| {
        !name.is_empty() && short.iter().filter(|other| *other == name).count() == 1
    };
    match short.iter().all(is_own) {
        true => short,
        false => names.iter().map(|name| (*name).to_owned()).collect(),
    }
}

/// Returns the words of `name`; a mark in brackets, such as `[IMPORTED from ACT 6.4]`, is one.
fn words_of(name: &str) -> Vec<&str> {
    let mut in_mark = false;
    let ends_word = |c: char| {
        in_mark = (in_mark || c == '[') && c != ']';
        c.is_whitespace() && !in_mark
    };
    name.split(ends_word).filter(|word| !word.is_empty()).collect()
}

/// Changes all of `words` where every name keeps what `kept` asks for; returns whether it did.
fn remove(
    words: &mut Vec<Vec<&str>>,
    kept: impl Fn(&[Vec<&str>]) -> bool,
    change: impl Fn(&mut Vec<&str>),
) -> bool {
    let mut changed = words.clone();
    changed.iter_mut().for_each(change);
    let is_good = kept(&changed);
    if is_good {
        *words = changed;
    }
    is_good
}

/// Returns whether `word` is a capacity, such as `64GB` or `1TB`, or the mark of a model or an import.
fn is_aside(word: &str) -> bool {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &word[digits.len()..];
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    (is_number && ["GB", "TB", "MB"].contains(&unit)) || word == "MODEL" || word.starts_with('[')
}

/// Returns whether `word` alone can name a drive: two letters at least, and no id of a run in brackets.
fn is_name(word: &str) -> bool {
    !word.starts_with('(')
        && word.chars().filter(|c| c.is_alphabetic()).count() >= 2
        && !is_aside(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capacity_is_left_out_where_the_names_stay_apart() {
        let apart = without_capacities(&["tlc-client 500GB", "qlc-client 1TB"]);
        assert_eq!(apart, ["tlc-client", "qlc-client"]);
        let equal = ["Disk 500GB", "Disk 1TB"];
        assert_eq!(without_capacities(&equal), equal);
        assert_eq!(without_capacities(&["500GB", "Disk"]), ["500GB", "Disk"]);
    }

    #[test]
    fn a_short_name_has_the_words_that_separate() {
        let cases: [(&[&str], &[&str]); 8] = [
            (
                &[
                    "ACT log [IMPORTED from ACT 6.4] (43ef43f8)",
                    "ACT log [IMPORTED from ACT 6.4] (7b)",
                ],
                &["log (43ef43f8)", "log (7b)"],
            ),
            (
                &["MODEL tlc 64GB (4ef5b316)", "MODEL tlc 64GB (b8dd236d)"],
                &["tlc (4ef5b316)", "tlc (b8dd236d)"],
            ),
            (&["MODEL tlc-client 64GB", "MODEL qlc-client 64GB"], &["tlc-client", "qlc-client"]),
            (&["Samsung SSD 970 EVO 1TB", "Samsung SSD 960 EVO 1TB"], &["970 EVO", "960 EVO"]),
            (&["MODEL tlc 1TB", "MODEL tlc 2TB"], &["tlc 1TB", "tlc 2TB"]),
            (&["Disk", "Disk"], &["Disk", "Disk"]),
            (&["Alpha", "Beta X"], &["Alpha", "Beta X"]),
            (&["MODEL tlc-client 64GB"], &["MODEL tlc-client 64GB"]),
        ];
        for (names, expected) in cases {
            assert_eq!(shortened(names), expected, "{names:?}");
        }
    }
}
