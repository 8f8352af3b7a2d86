//! Counts lines of Rust by crate: without blank lines, comments and tests.
//!
//! `code_lines [FOLDER]` prints a line for each crate below FOLDER (the current folder unless given), and the sum with
//! the share of the largest crate. Not counted are folders and files named `tests`, items marked `#[cfg(test)]`, and
//! the programs for fuzzing. rustfmt makes the numbers comparable.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let root = Path::new(arguments.first().map_or(".", String::as_str));
    let mut crates = BTreeMap::new();
    for folder in fs::read_dir(root.join("crates"))? {
        let folder = folder?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        crates.insert(name, lines_below(&folder)?);
    }
    crates.insert("tools".into(), lines_below(&root.join("tools"))?);
    let sum: usize = crates.values().sum();
    for (name, lines) in &crates {
        println!("{lines:>7}  {:>4.1} %  {name}", *lines as f64 * 100.0 / sum as f64);
    }
    println!("{sum:>7}  in all");
    Ok(())
}

/// Returns the number of lines of code in the Rust files below `folder`; 0 if there is none.
fn lines_below(folder: &Path) -> Result<usize, Box<dyn Error>> {
    let mut lines = 0;
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry?.path();
        if path.file_stem().is_some_and(|name| name == "tests" || name == "target") {
            continue;
        }
        if path.is_dir() {
            lines += lines_below(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            lines += lines_of(&fs::read_to_string(&path)?);
        }
    }
    Ok(lines)
}

/// Returns the number of lines of code of a file.
fn lines_of(text: &str) -> usize {
    let mut count = 0;
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if line.starts_with("#[cfg(test)]") {
            skip_item(&mut lines);
        } else if !line.is_empty() && !line.starts_with("//") {
            count += 1;
        }
    }
    count
}

/// Skips the item after an attribute: up to its semicolon or comma, or to the bracket that closes it.
fn skip_item<'a>(lines: &mut impl Iterator<Item = &'a str>) {
    let mut depth = 0;
    for line in lines.skip_while(|line| line.starts_with('#')) {
        depth += line.matches(['{', '(', '[']).count() as i64;
        depth -= line.matches(['}', ')', ']']).count() as i64;
        if depth <= 0 && line.ends_with([';', ',', '}']) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn blank_lines_comments_and_tests_do_not_count() {
        let text = "// a\n\nfn a() {\n    b(); // c\n}\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\n#[rustfmt::skip]\n\
            mod more {\n    fn d(\n        e: u8,\n    ) {\n    }\n}\nstruct F {\n#[cfg(test)]\ng: u8,\nh: u8,\n}\n";
        assert_eq!(super::lines_of(text), 6);
    }
}
