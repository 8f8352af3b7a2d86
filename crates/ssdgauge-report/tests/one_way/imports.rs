//! The imports of a crate's source files, held against a table of allowed arrows between its
//! rooms. A room is a file or folder directly below `src/`; `lib.rs` stands above all of them.
//!
//! It takes the crate's folder and the table, so that the test of any crate can include it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A room, and the rooms that its files may import.
pub(crate) type Allowed<'a> = (&'a str, &'a [&'a str]);

/// The files that each file imports, by their module paths: `["figure", "draw"]`; the root is `[]`.
type Imports = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

/// Returns a sentence for each import that `allowed` does not have, each room that it does not
/// know or that does not exist, and one circle of files where there is any.
pub(crate) fn violations(crate_folder: &Path, allowed: &[Allowed<'_>]) -> Vec<String> {
    let imports = imports(&crate_folder.join("src"));
    let rooms: BTreeSet<&str> =
        imports.keys().filter_map(|file| file.first()).map(String::as_str).collect();
    let mut found = Vec::new();
    for (room, _) in allowed {
        if !rooms.contains(room) {
            found.push(format!("the table names the room {room}, which does not exist"));
        }
    }
    for room in &rooms {
        if !allowed.iter().any(|(name, _)| name == room) {
            found.push(format!("the room {room} is not in the table"));
        }
    }
    for (file, targets) in &imports {
        let Some(room) = file.first() else { continue };
        let may = allowed.iter().find(|(name, _)| name == room).map_or(&[][..], |(_, may)| *may);
        for target in targets {
            match target.first() {
                None => found.push(format!("{} imports the root of the crate", name(file))),
                Some(other) if other == room || may.contains(&other.as_str()) => {}
                Some(_) => found.push(format!("{} imports {}", name(file), name(target))),
            }
        }
    }
    found.extend(circle(&imports));
    found
}

/// Reads the imports of every source file below `folder`.
fn imports(folder: &Path) -> Imports {
    let mut texts: BTreeMap<Vec<String>, String> = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = std::fs::read_dir(&next)
            .unwrap_or_else(|fault| panic!("{} cannot be listed: {fault}", next.display()));
        for path in entries.map(|entry| entry.expect("a listed entry can be read").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|suffix| suffix == "rs") {
                let text = std::fs::read_to_string(&path).expect("source files are UTF-8");
                texts.insert(module(folder, &path), code(&text));
            }
        }
    }
    let files: BTreeSet<Vec<String>> = texts.keys().cloned().collect();
    let of_file = |(file, text): (&Vec<String>, &String)| {
        let targets = paths(file, text).into_iter().map(|path| resolved(&files, path));
        (file.clone(), targets.filter(|target| target != file).collect())
    };
    texts.iter().map(of_file).collect()
}

/// Returns the module path of the source file at `path`.
fn module(folder: &Path, path: &Path) -> Vec<String> {
    let inside: PathBuf = path.strip_prefix(folder).expect("listed below it").with_extension("");
    let mut parts: Vec<String> =
        inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| matches!(last.as_str(), "lib" | "main" | "mod")) {
        parts.pop();
    }
    parts
}

/// Returns `text` without comments and without its unit tests, which stand at the end.
fn code(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    lines.map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// Returns every path into the crate that `text` has, from the root of the crate.
fn paths(file: &[String], text: &str) -> Vec<Vec<String>> {
    let mut starts = vec![("crate".to_owned(), Vec::new()), ("self".to_owned(), file.to_vec())];
    starts.push(("super".to_owned(), file[..file.len().saturating_sub(1)].to_vec()));
    for line in text.lines().filter_map(|line| line.trim().strip_suffix(';')) {
        // A child is named without its parent: `mod draw;`, then `draw::svg`.
        if let Some((_, child)) = line.split_once("mod ").filter(|(before, _)| is_front(before)) {
            starts.push((child.to_owned(), [file, &[child.to_owned()]].concat()));
        }
    }
    let mut found = Vec::new();
    for (word, base) in starts {
        let start = format!("{word}::");
        for (at, _) in text.match_indices(&start) {
            let before = text[..at].chars().next_back();
            if before.is_none_or(|last| !(last.is_alphanumeric() || "_:".contains(last))) {
                follow(&text[at + start.len()..], base.clone(), &mut found);
            }
        }
    }
    found
}

/// Returns whether `before` is what may stand before the keyword `mod`.
fn is_front(before: &str) -> bool {
    before.is_empty() || before.starts_with("pub")
}

/// Follows the path at the beginning of `rest` from `base` on, into every branch of its braces.
fn follow(rest: &str, mut base: Vec<String>, found: &mut Vec<Vec<String>>) {
    let rest = rest.trim_start();
    if let Some(inner) = rest.strip_prefix('{') {
        let (mut depth, mut start) = (0usize, 0);
        for (at, letter) in inner.char_indices() {
            match letter {
                ',' | '}' if depth == 0 => {
                    follow(&inner[start..at], base.clone(), found);
                    start = at + 1;
                    if letter == '}' {
                        return;
                    }
                }
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
        }
        return;
    }
    let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
    match word {
        "super" => drop(base.pop()),
        "" | "self" => {}
        _ => base.push(word.to_owned()),
    }
    match after.strip_prefix("::") {
        Some(after) => follow(after, base, found),
        None => found.push(base),
    }
}

/// Returns the file that has the item at `path`: the longest beginning that is a file.
fn resolved(files: &BTreeSet<Vec<String>>, mut path: Vec<String>) -> Vec<String> {
    while !files.contains(&path) && path.pop().is_some() {}
    path
}

/// Returns a circle of files that import each other, where there is one.
fn circle(imports: &Imports) -> Option<String> {
    // What remains after all files without imports are taken away, again and again, is circles.
    let mut left = imports.clone();
    loop {
        let free: Vec<_> =
            left.iter().filter(|(_, to)| to.is_empty()).map(|(f, _)| f.clone()).collect();
        if free.is_empty() {
            break;
        }
        left.retain(|file, _| !free.contains(file));
        left.values_mut().for_each(|to| to.retain(|target| !free.contains(target)));
    }
    let mut way = vec![left.keys().next()?];
    loop {
        let next = left.get(way[way.len() - 1])?.first()?;
        if let Some(begin) = way.iter().position(|seen| *seen == next) {
            let names: Vec<String> = way[begin..].iter().chain([&next]).map(|f| name(f)).collect();
            return Some(format!("a circle of files: {}", names.join(" -> ")));
        }
        way.push(next);
    }
}

fn name(file: &[String]) -> String {
    if file.is_empty() { "lib".to_owned() } else { file.join("/") }
}
