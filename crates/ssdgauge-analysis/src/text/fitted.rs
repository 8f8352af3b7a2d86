//! Names shortened for little room, so that those of two drives stay two.

use std::collections::BTreeMap;

/// The letters at the start of a name that a window into its middle keeps.
const HEAD: usize = 4;

/// Returns a text for each of `names`: the whole name where it `fits`, else what is left of it when
/// the part is cut that separates it least: its end, its middle, or its start. Different names
/// get different texts; where no cut separates them, each has its number in front.
pub fn fitted(names: &[&str], fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    if names.iter().all(|name| fits(name)) {
        return names.iter().map(|name| (*name).to_owned()).collect();
    }
    let letters: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
    let cuts: Vec<Vec<String>> = Cut::ALL
        .iter()
        .map(|cut| (0..names.len()).map(|one| shortened(*cut, &letters, one, fits)).collect())
        .collect();
    let counts: Vec<BTreeMap<&str, usize>> = cuts.iter().map(|texts| counted(texts)).collect();
    let best = |one: usize| {
        if fits(names[one]) {
            return names[one].to_owned();
        }
        let separates = |cut: &usize| {
            let text = cuts[*cut][one].as_str();
            counts[*cut][text] == 1 && fits(text)
        };
        let cut = (0..Cut::ALL.len()).find(separates).unwrap_or(0);
        cuts[cut][one].clone()
    };
    let mut texts: Vec<String> = (0..names.len()).map(best).collect();
    // Cuts of different kinds may meet, and some names differ where nothing fits.
    let known = texts.clone();
    for (one, text) in texts.iter_mut().enumerate() {
        let is_equal = |other: usize| known[other] == known[one] && names[other] != names[one];
        if (0..names.len()).any(is_equal) && !fits(names[one]) {
            *text = numbered(one + 1, &letters[one], fits);
        }
    }
    texts
}

/// The part of a name that is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    End,
    Middle,
    Start,
    /// Everything but the first letters and those where the name differs from its nearest
    /// neighbour.
    Around,
}

impl Cut {
    const ALL: [Cut; 4] = [Cut::End, Cut::Middle, Cut::Start, Cut::Around];
}

fn counted(texts: &[String]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for text in texts {
        *counts.entry(text.as_str()).or_default() += 1;
    }
    counts
}

/// Returns the longest text of the name `one` that fits with this cut.
fn shortened(cut: Cut, names: &[Vec<char>], one: usize, fits: &dyn Fn(&str) -> bool) -> String {
    let name = &names[one];
    let from = if cut == Cut::Around { first_difference(names, one) } else { 0 };
    let text = |kept: usize| -> String {
        let (head, tail) = match cut {
            Cut::End => (kept, 0),
            Cut::Middle => (kept.div_ceil(2), kept / 2),
            Cut::Start => (0, kept),
            Cut::Around => {
                let end = (from + kept).min(name.len());
                let window: String = name[from..end].iter().collect();
                let rest = if end < name.len() { "…" } else { "" };
                let head: String = name[..HEAD.min(from)].iter().collect();
                return format!("{}…{window}{rest}", head.trim_end());
            }
        };
        let head: String = name[..head].iter().collect();
        let tail: String = name[name.len() - tail..].iter().collect();
        format!("{}…{}", head.trim_end(), tail.trim_start())
    };
    let most = name.len().saturating_sub(1).max(1);
    let kept = (1..=most).rev().find(|kept| fits(&text((*kept).min(name.len()))));
    text(kept.unwrap_or(1).min(name.len()))
}

/// Returns the place of the first letter in which a name differs from the one that begins the most
/// like it.
fn first_difference(names: &[Vec<char>], one: usize) -> usize {
    let common =
        |other: &Vec<char>| names[one].iter().zip(other).take_while(|(a, b)| a == b).count();
    let others = names.iter().enumerate().filter(|(number, _)| *number != one);
    let place = others.map(|(_, other)| common(other)).max().unwrap_or(0);
    place.min(names[one].len().saturating_sub(1))
}

/// Returns a number with as much of the name as fits.
fn numbered(number: usize, name: &[char], fits: &dyn Fn(&str) -> bool) -> String {
    let text = |kept: usize| {
        let head: String = name[..kept].iter().collect();
        format!("#{number} {}…", head.trim_end())
    };
    let kept = (1..name.len()).rev().find(|kept| fits(&text(*kept)));
    kept.map_or_else(|| format!("#{number}"), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Random;
    use std::collections::BTreeSet;

    fn within(most: usize) -> impl Fn(&str) -> bool {
        move |text: &str| text.chars().count() <= most
    }

    #[test]
    fn a_cut_keeps_what_separates_a_name() {
        let cases: [(&[&str], usize, &[&str]); 5] = [
            (&["Alpha", "Beta"], 5, &["Alpha", "Beta"]),
            (&["Samsung 990 PRO", "Kingston KC3000"], 8, &["Samsung…", "Kingsto…"]),
            (
                &["SSD with heatsink A", "SSD with heatsink B", "Other"],
                9,
                &["SSD…nk A", "SSD…nk B", "Other"],
            ),
            (&["Alpha", "A name of its own"], 8, &["Alpha", "A name…"]),
            (&["abcdefghX12345678", "abcdefghY12345678"], 9, &["abcd…X12…", "abcd…Y12…"]),
        ];
        for (names, most, expected) in cases {
            let texts = fitted(names, &within(most));
            assert_eq!(texts, expected, "{names:?}");
        }
    }

    #[test]
    fn names_that_differ_have_texts_that_differ_and_fit() {
        let parts = [
            "Samsung ",
            "SSD ",
            "990 ",
            "PRO",
            "größe ",
            "固态硬盘",
            "-",
            "1TB",
            " ",
            "…",
            "#1 ",
            "aa",
        ];
        for seed in 0..400 {
            let mut random = Random::new(seed, 5);
            let count = 2 + random.below(13) as usize;
            let common: String =
                (0..random.below(6)).map(|_| parts[random.below(12) as usize]).collect();
            let end: String =
                (0..random.below(4)).map(|_| parts[random.below(12) as usize]).collect();
            let name = |random: &mut Random| {
                let own: String =
                    (0..1 + random.below(3)).map(|_| parts[random.below(12) as usize]).collect();
                format!("{common}{own}{end}")
            };
            let names: BTreeSet<String> = (0..count).map(|_| name(&mut random)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let most = 6 + random.below(14) as usize;
            let texts = fitted(&names, &within(most));
            let distinct: BTreeSet<&String> = texts.iter().collect();
            assert_eq!(distinct.len(), names.len(), "seed {seed}: {names:?} {texts:?}");
            for (name, text) in names.iter().zip(&texts) {
                assert!(text.chars().count() <= most, "seed {seed}: {text} of {name}, {most}");
                assert!(name.chars().count() > most || text == name, "seed {seed}: {text}");
            }
        }
    }
}
