//! Texts, comments and names avoid the patterns of the table in CONTRIBUTING.md that a test can see.

use std::fs;
use std::path::{Path, PathBuf};

/// Texts with one of the words in its plain sense: the end of the file's path, and a part of the text.
const ALLOWED: [(&str, &str); 9] = [
    ("analysis/src/answers/many_drives.rs", "behind"),
    ("analysis/src/drives/drive_class.rs", "behind USB"),
    ("claims/src/check.rs", "left behind late"),
    ("guard/src/uses.rs", "the file behind {}"),
    ("lab/src/conductor/slices.rs", "more than 10 s behind the load"),
    ("meter/src/sampler.rs", "a host behind its power supply"),
    ("commands/run/several/interference.rs", "both behind the PCI device"),
    ("drive/src/stored.rs", "behind a RAID controller"),
    ("statistics/src/cache.rs", "behind"),
];

/// Names and comments with one of the words in its plain sense: the end of the file's path, and a part of the text.
const ALLOWED_IN_CODE: [(&str, &str); 6] = [
    ("analysis/src/bench/verdict.rs", "Behind"),
    ("analysis/src/bench/board.rs", "Behind"),
    ("page/src/page/bench/runs.rs", "Behind"),
    ("export/src/documents/step.rs", "behind_mb_s"),
    ("export/src/json/step.rs", "behind_mb_s"),
    ("ssdgauge/tests/structure/plain_words.rs", ""),
];

/// Texts with a value in the form of a programmer, for a reason: the end of the file's path.
const DEBUG_FORMS: [&str; 5] = [
    // A foreign text with its control characters escaped.
    "nbd/src/handshake.rs",
    "fio/src/line.rs",
    // Quotes of TOML.
    "analysis/src/drives/model_cohort.rs",
    // What digests are computed of.
    "core/src/workload/step_number.rs",
    "fleet/src/drift/drive_run.rs",
];

/// Words after "is no" and "are no" that make plain English.
const AFTER_NO: [&str; 10] = [
    "longer", "more", "less", "other", "doubt", "larger", "smaller", "faster", "slower", "cheaper",
];

/// Words before "behind" in its plain sense: a backing file, a rank, a load that is not kept up with, a cause.
const BEFORE_BEHIND: [&str; 30] = [
    "left",
    "leave",
    "leaves",
    "leaving",
    "fall",
    "falls",
    "fell",
    "fallen",
    "falling",
    "lag",
    "wait",
    "waits",
    "file",
    "files",
    "drive",
    "drives",
    "device",
    "client",
    "measurements",
    "record",
    "hide",
    "drawn",
    "further",
    "seconds",
    "queues",
    "everything",
    "grey",
    "s",
    "seen",
    "all",
];

/// Words after "behind", with an article at most between them, that make the sense spatial.
const AFTER_BEHIND: [&str; 10] =
    ["raid", "usb", "tcp", "multipath", "mount", "procfs", "power", "others", "all", "only"];

/// A part of a source that is not white space or a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Literal,
    Comment,
    Name,
}

/// Returns the string literals of `source` up to its tests, each with its line.
fn literals(source: &str) -> Vec<(usize, String)> {
    let end = source.find("#[cfg(test)]\nmod tests {").unwrap_or(source.len());
    let all = parts(&source[..end]).into_iter();
    all.filter(|(_, part, _)| *part == Part::Literal).map(|(line, _, text)| (line, text)).collect()
}

/// Returns the comments of `source`, those of successive lines as one, and its names as words, each with its line.
fn comments_and_names(source: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut last = None;
    for (line, part, text) in parts(source) {
        match part {
            Part::Comment => {
                // Names between backticks are checked where they are defined.
                let prose: Vec<&str> = text.split('`').step_by(2).collect();
                let prose = prose.join(" x ");
                match found.last_mut() {
                    Some((_, block)) if last == Some(line.wrapping_sub(1)) => {
                        block.push_str(&format!(" {prose}"));
                    }
                    Some(_) | None => found.push((line, prose)),
                }
                last = Some(line);
            }
            Part::Name => {
                last = None;
                if text.len() > "behind".len() - 1 {
                    found.push((line, words_of_name(&text)));
                }
            }
            Part::Literal => last = None,
        }
    }
    found
}

/// Returns `name` as words: `is_no_drive` and `IsNoDrive` as `is no drive`.
fn words_of_name(name: &str) -> String {
    let is_camel = name.chars().any(char::is_lowercase);
    let mut words = String::new();
    for letter in name.chars() {
        match letter {
            '_' => words.push(' '),
            letter if letter.is_uppercase() && is_camel => {
                words.push(' ');
                words.extend(letter.to_lowercase());
            }
            letter => words.extend(letter.to_lowercase()),
        }
    }
    words
}

/// Returns the literals, comments and names of `source`, each with its line.
fn parts(source: &str) -> Vec<(usize, Part, String)> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (source.char_indices().peekable(), 1);
    let mut previous = ' ';
    while let Some((_, letter)) = rest.next() {
        match letter {
            '/' if rest.peek().is_some_and(|(_, next)| *next == '/') => {
                let mut text = String::new();
                while let Some((_, next)) = rest.next_if(|(_, next)| *next != '\n') {
                    text.push(next);
                }
                found.push((line, Part::Comment, text));
            }
            letter if letter.is_alphabetic() || letter == '_' => {
                let mut name = String::from(letter);
                let belongs = |next: &char| next.is_alphanumeric() || *next == '_';
                while let Some((_, next)) = rest.next_if(|(_, next)| belongs(next)) {
                    name.push(next);
                }
                found.push((line, Part::Name, name));
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
                found.push((start, Part::Literal, text));
            }
            '\n' => line += 1,
            _ => {}
        }
        previous = letter;
    }
    found
}

/// Returns the words of `text` in lower case. A name in braces stands for a value; a mark between two words separates
/// them.
fn words(text: &str) -> Vec<String> {
    let (mut depth, mut prose) = (0, String::new());
    for letter in text.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        match letter {
            ',' | ';' | ':' | '.' => prose.push_str(" . "),
            _ if depth == 0 && (letter.is_alphabetic() || letter == '-') => prose.push(letter),
            _ => prose.push(' '),
        }
    }
    prose.split_whitespace().map(str::to_lowercase).collect()
}

/// Returns the patterns of the table that `text` of the program has.
fn accents(text: &str) -> Vec<String> {
    let words = words(text);
    let single = words.iter().filter(|word| ["behind", "beside"].contains(&word.as_str()));
    single.cloned().chain(negations(&words)).collect()
}

/// Returns the patterns of the table that a comment or a name has. "Behind" may have its plain sense.
fn accents_of_code(text: &str) -> Vec<String> {
    let words = words(text);
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map_or("", String::as_str);
    let is_plain = |at: usize| {
        let next = word(Some(at + 1));
        let next = if ["a", "the"].contains(&next) { word(Some(at + 2)) } else { next };
        let before = (1..4).any(|back| BEFORE_BEHIND.contains(&word(at.checked_sub(back))));
        before || AFTER_BEHIND.contains(&next)
    };
    let is_accent = |(at, one): &(usize, &String)| match one.as_str() {
        "beside" => true,
        "behind" => !is_plain(*at),
        "fewest" | "least" => {
            let further = ["with", "at", "for"].contains(&word(at.checked_sub(2)));
            word(at.checked_sub(1)) == "the" && !further && word(Some(at + 1)) != "significant"
        }
        _ => false,
    };
    let single = words.iter().enumerate().filter(is_accent).map(|(_, one)| one.clone());
    single.chain(negations(&words)).collect()
}

/// Returns each "is no N" of `words`.
fn negations(words: &[String]) -> Vec<String> {
    let mut found = Vec::new();
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
fn no_text_shows_a_value_in_the_form_of_a_programmer() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut files);
    }
    let (mut refused, mut unused) = (Vec::new(), DEBUG_FORMS.to_vec());
    for file in files {
        let name = file.display().to_string();
        let source = fs::read_to_string(&file).unwrap();
        let is_debug = |text: &str| text.contains(":?}") || text.contains(":#?}");
        // What ends the program through an error of its own is for those who program it.
        let own = |line: &&str| ["assert", "debug_"].iter().any(|word| line.contains(word));
        let lines: Vec<&str> = source.lines().collect();
        for (line, text) in literals(&source) {
            let near = &lines[line.saturating_sub(4)..line];
            if !is_debug(&text) || near.iter().any(own) {
                continue;
            }
            unused.retain(|path| !name.ends_with(path));
            if !DEBUG_FORMS.iter().any(|path| name.ends_with(path)) {
                refused.push(format!("{name}:{line}: {text}"));
            }
        }
    }
    assert!(refused.is_empty(), "write the value as a person reads it: {refused:#?}");
    assert!(unused.is_empty(), "no such text any more, remove it from the list: {unused:#?}");
}

/// Returns every source file below `folder`.
fn all_sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "target" {
            all_sources(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

#[test]
fn comments_and_names_avoid_the_patterns_of_the_style_sheet() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates", "tools", "fuzz", "tests"] {
        all_sources(&root.join(folder), &mut files);
    }
    let (mut refused, mut unused) = (Vec::new(), ALLOWED_IN_CODE.to_vec());
    let mut read = 0;
    for file in files {
        let name = file.display().to_string();
        let allowed = ALLOWED_IN_CODE.iter().filter(|(path, _)| name.ends_with(path));
        let allowed: Vec<String> = allowed.map(|(_, part)| words_of_name(part)).collect();
        unused.retain(|(path, _)| !name.ends_with(path));
        for (line, text) in comments_and_names(&fs::read_to_string(&file).unwrap()) {
            read += 1;
            if allowed.iter().any(|part| text.contains(part.as_str())) {
                continue;
            }
            let accents = accents_of_code(&text);
            refused.extend(accents.iter().map(|accent| format!("{name}:{line}: {accent}")));
        }
    }
    assert!(read > 100_000, "only {read} comments and names were read");
    assert!(refused.is_empty(), "CONTRIBUTING.md, Texts, says what to write: {refused:#?}");
    assert!(unused.is_empty(), "no such file any more, remove it from the list: {unused:#?}");
}

#[test]
fn a_comment_or_name_with_an_accent_is_found_and_a_plain_sense_is_not_one() {
    let source = "// a burst behind\n// a rest\nfn a_file_beside_it() {}\n// is\n// no drive\n\
                  struct RestBehindIt;\nlet left_behind = \"behind\"; // a load falls 10 s behind\n\
                  // `behind` a drive behind USB\n// the least of them, at least\n";
    let found: Vec<_> = comments_and_names(source)
        .iter()
        .flat_map(|(line, text)| accents_of_code(text).into_iter().map(|one| (*line, one)))
        .collect();
    let expected = [(1, "behind"), (3, "beside"), (4, "is no drive"), (6, "behind"), (7, "least")];
    assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
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
