//! The page of all commands and options, which is made from the help of the program.

use crate::support::Bench;
use std::path::Path;

/// Returns the commands of the groups of `help`, without those of a single word that clap adds.
fn commands(help: &str) -> Vec<&str> {
    let names = help.lines().filter_map(|line| {
        let (name, words) = line.strip_prefix("  ")?.split_once("  ")?;
        let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase());
        (is_name && words.trim_start().starts_with(char::is_uppercase)).then_some(name)
    });
    names.filter(|name| *name != "help").collect()
}

#[test]
fn the_page_of_all_commands_is_made_from_their_help() {
    let bench = Bench::new();
    let mut text = String::from(
        "# Commands and options\n\nWritten by `SNAPSHOTS=overwrite cargo test -p ssdgauge --test it \
         commands::reference` from the help of the program.\n",
    );
    let mut add = |words: &[&str]| {
        let help = bench.print(&[words, &["--help"]].concat());
        let command = [&["ssdgauge"], words].concat().join(" ");
        text.push_str(&format!("\n## {command}\n\n```text\n{}\n```\n", help.trim_end()));
        help
    };
    let all = add(&[]);
    let names = commands(&all);
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        let help = add(&[name]);
        if help.contains("\nCommands:\n") {
            commands(&help).iter().for_each(|part| _ = add(&[name, part]));
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/generated/commands.md");
    if std::env::var("SNAPSHOTS").is_ok_and(|mode| mode == "overwrite") {
        std::fs::write(&path, &text).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == text, "commands.md is out of date: SNAPSHOTS=overwrite writes it again");
}
