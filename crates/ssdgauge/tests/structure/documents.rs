//! Each relative link of a Markdown file leads to a file that exists, and its anchor to a heading there. The first
//! pages of a reader, and all of them together, stay short.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Folders that hold no documents of this repository.
const SKIPPED: &[&str] = &["target", ".git", "release-files"];

/// Returns the Markdown files below `folder`.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && !SKIPPED.contains(&name.as_str()) {
            documents(&path, found);
        } else if path.extension().is_some_and(|suffix| suffix == "md") {
            found.push(path);
        }
    }
}

/// Returns the text without its blocks of code, which can look like headings and links.
fn without_code(text: &str) -> String {
    let mut is_code = false;
    let kept = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    kept.map(|line| format!("{line}\n")).collect()
}

/// Returns the anchor that GitHub makes of a heading.
fn anchor(heading: &str) -> String {
    let mut words = String::new();
    for (index, part) in heading.split("](").enumerate() {
        let shown =
            if index == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) };
        words.push_str(shown);
    }
    let kept = words.trim().to_lowercase();
    kept.chars()
        .filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter))
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// Returns the anchors of a document; a repeated one has a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let text = without_code(text);
    for line in text.lines() {
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with(' ') {
            let name = anchor(heading);
            let numbered = (1..).map(|number| format!("{name}-{number}"));
            let free = std::iter::once(name.clone()).chain(numbered).find(|n| !found.contains(n));
            found.insert(free.expect("numbers do not end"));
        }
        let named = line.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        found.extend(named.map(str::to_owned));
    }
    found
}

/// Returns `path` without `.` and `..`.
fn resolved(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(parts.pop(), "{}", path.display()),
            Component::CurDir => (),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => parts.push(part),
        }
    }
    parts
}

#[test]
fn every_relative_link_of_the_documents_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let (mut files, mut faults, mut links) = (Vec::new(), Vec::new(), 0);
    documents(&root, &mut files);
    for file in &files {
        let text = without_code(&std::fs::read_to_string(file).unwrap());
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
        for target in targets.filter(|target| !target.contains(':')) {
            links += 1;
            let (path, name) = target.split_once('#').unwrap_or((target, ""));
            let folder = file.parent().unwrap();
            let to = if path.is_empty() { file.clone() } else { resolved(&folder.join(path)) };
            let is_found = to.exists()
                && (name.is_empty()
                    || anchors(&std::fs::read_to_string(&to).unwrap()).contains(name));
            if !is_found {
                faults.push(format!("{} -> {target}", file.strip_prefix(&root).unwrap().display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(files.len() > 40 && links > 200, "{} files, {links} links", files.len());
}

#[test]
fn first_pages_stay_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let how_to = std::fs::read_dir(root.join("docs/how-to")).unwrap().flatten();
    let mut pages: Vec<(PathBuf, usize)> = how_to.map(|entry| (entry.path(), 400)).collect();
    assert!(pages.len() >= 13, "{} pages", pages.len());
    pages.extend([(root.join("README.md"), 600), (root.join("CHANGELOG.md"), 400)]);
    for (page, most) in pages {
        let words = std::fs::read_to_string(&page).unwrap().split_whitespace().count();
        assert!(words <= most, "{}: {words} words, at most {most}", page.display());
    }
}

#[test]
fn documents_written_by_hand_stay_within_their_words() {
    // 60,000, 350 for what the X-ray asks of a drive about its heat and its link, and for its gate of pairs, 740 for
    // twins, a new subject, and 280 for parity, ACT on a drive in use, logs of 32 bits and what an X-ray cannot judge.
    const MOST: usize = 61_370;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut files = Vec::new();
    documents(&root, &mut files);
    files.retain(|file| {
        !file.ends_with("THIRD-PARTY.md") && !file.starts_with(root.join("docs/generated"))
    });
    // The bars of tables are not words.
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    let words_of = |file: &PathBuf| {
        std::fs::read_to_string(file).unwrap().split_whitespace().filter(is_word).count()
    };
    let words: usize = files.iter().map(words_of).sum();
    println!("{words} words in {} documents", files.len());
    assert!(files.len() > 40 && words <= MOST, "{words} words, at most {MOST}");
}

#[test]
fn every_finding_has_an_anchor_in_the_reference() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let frozen = read("crates/ssdgauge-core/tests/names.rs");
    let findings = frozen.split("const FINDINGS").nth(1).and_then(|rest| rest.split("];").next());
    let keys: BTreeSet<String> =
        findings.unwrap().split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(keys.len() > 80, "{} findings", keys.len());
    let page = anchors(&read("docs/reference/findings.md"));
    let missing: Vec<&String> = keys.difference(&page).collect();
    assert!(missing.is_empty(), "docs/reference/findings.md lacks {missing:?}");
}
