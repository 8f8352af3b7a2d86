//! Texts of the program avoid the patterns of the table in CONTRIBUTING.md that a test can see.

use std::fs;
use std::path::{Path, PathBuf};

/// Texts with one of the words in its plain sense: the end of the file's path, and a part of the text.
const ALLOWED: [(&str, &str); 8] = [
    ("analysis/src/answers/many_drives.rs", "behind"),
    ("analysis/src/drives/drive_class.rs", "behind USB"),
    ("claims/src/check.rs", "left behind late"),
    ("guard/src/uses.rs", "the file behind {}"),
    ("lab/src/conductor/slices.rs", "more than 10 s behind the load"),
    ("meter/src/sampler.rs", "a host behind its power supply"),
    ("commands/run/several/interference.rs", "both behind the PCI device"),
    ("drive/src/stored.rs", "behind a RAID controller"),
];

/// Words after "is no" and "are no" that make plain English.
const AFTER_NO: [&str; 5] = ["longer", "more", "less", "other", "doubt"];

/// Returns the string literals of `source` up to its tests, each with its line, without comments.
fn literals(source: &str) -> Vec<(usize, String)> {
    let end = source.find("#[cfg(test)]\nmod tests {").unwrap_or(source.len());
    let mut found = Vec::new();
    let (mut rest, mut line) = (source[..end].char_indices().peekable(), 1);
    let mut previous = ' ';
    while let Some((_, letter)) = rest.next() {
        match letter {
            '/' if rest.peek().is_some_and(|(_, next)| *next == '/') => {
                while rest.next_if(|(_, next)| *next != '\n').is_some() {}
            }
            // The literal of the letter '"' and its escape.
            '\'' if rest.peek().is_some_and(|(_, next)| *next == '"') => {
                rest.next();
            }
            '"' => {
                let (start, mut text) = (line, String::new());
                while let Some((_, letter)) = rest.next() {
                    match letter {
                        '\\' => match rest.next() {
                            Some((_, '\n')) => line += 1,
                            Some((_, next)) => text.push(next),
                            None => {}
                        },
                        '"' if previous != '#' || rest.peek().is_some_and(|(_, c)| *c == '#') => {
                            break;
                        }
                        other => {
                            line += usize::from(other == '\n');
                            text.push(other);
                        }
                    }
                }
                found.push((start, text));
            }
            '\n' => line += 1,
            _ => {}
        }
        previous = letter;
    }
    found
}

/// Returns the patterns of the table that `text` has.
fn accents(text: &str) -> Vec<String> {
    // A name in braces stands for a value; a mark between two words separates them.
    let (mut depth, mut prose) = (0, String::new());
    for letter in text.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        match letter {
            ',' | ';' | ':' | '.' => prose.push_str(" . "),
            _ if depth == 0 && (letter.is_alphabetic() || letter == '-') => prose.push(letter),
            _ => prose.push(' '),
        }
    }
    let words: Vec<String> = prose.split_whitespace().map(str::to_lowercase).collect();
    let single = words.iter().filter(|word| ["behind", "beside"].contains(&word.as_str()));
    let mut found: Vec<String> = single.cloned().collect();
    for (at, three) in words.windows(3).enumerate() {
        let is_negated =
            ["is", "are", "was", "were"].contains(&three[0].as_str()) && three[1] == "no";
        let is_there = at > 0 && words[at - 1] == "there";
        if is_negated && !is_there && !AFTER_NO.contains(&three[2].as_str()) {
            found.push(three.join(" "));
        }
    }
    found
}

/// Returns every source file of the program below `folder` that holds no tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

#[test]
fn texts_of_the_program_avoid_the_patterns_of_the_style_sheet() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut files);
    }
    let (mut refused, mut unused) = (Vec::new(), ALLOWED.to_vec());
    let mut read = 0;
    for file in files {
        let name = file.display().to_string();
        for (line, text) in literals(&fs::read_to_string(&file).unwrap()) {
            read += 1;
            let permits = |(path, part): &(&str, &str)| name.ends_with(path) && text.contains(part);
            unused.retain(|one| !permits(one));
            if !ALLOWED.iter().any(permits) {
                let accents = accents(&text);
                refused.extend(accents.iter().map(|accent| format!("{name}:{line}: {accent}")));
            }
        }
    }
    assert!(read > 10_000, "only {read} texts were read");
    assert!(refused.is_empty(), "CONTRIBUTING.md, Texts, says what to write: {refused:#?}");
    assert!(unused.is_empty(), "no such text any more, remove it from the list: {unused:#?}");
}

#[test]
fn a_text_with_an_accent_is_found_and_a_name_of_a_value_is_not_one() {
    let source = "// is no comment \"behind\"\nlet a = \"a burst behind\\\n  a rest\";\nlet q = '\"';\n\
                  f(\"x is no drive\", \"there is no interval\", \"{behind} is no longer beside\");\n\
                  #[cfg(test)]\nmod tests {\n \"behind\" }";
    let found: Vec<_> = literals(source)
        .iter()
        .flat_map(|(line, text)| accents(text).into_iter().map(|one| (*line, one)))
        .collect();
    let expected = [(2, "behind"), (5, "is no drive"), (5, "beside")];
    assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
}
