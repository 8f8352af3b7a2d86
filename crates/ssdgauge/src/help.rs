//! The help of the program: its commands in groups.

use clap::Command;

/// The groups, in the order of the help, with the commands of each.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Check and review",
        &[
            "quick", "run", "plan", "resume", "watch", "list", "show", "open", "report", "compare",
            "suites", "demo",
        ],
    ),
    ("Understand a drive", &["xray", "prove", "twin"]),
    ("Drives and this machine", &["drives", "doctor", "meters", "config"]),
    ("Laboratory", &["fleet", "site", "submit", "crosscheck", "claims", "serve"]),
    ("Exchange with other programs", &["export", "import", "trace", "log", "completions"]),
];

/// The column in which the descriptions begin.
const DESCRIPTIONS: usize = 15;

/// Gives `command`, the program, a help with its commands in groups.
pub(crate) fn grouped(command: Command, width: usize) -> Command {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(&format!("{title}:\n"));
        for name in names {
            let found = command.find_subcommand(name);
            let about =
                found.and_then(Command::get_about).map(ToString::to_string).unwrap_or_default();
            text.push_str(&described(name, &about, width));
        }
        text.push('\n');
    }
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{text}Options:\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// Returns the whole help that the words `arguments` ask for by `--help` or `help`, with every option in the form of the
/// short help; `None` where they ask for the short one.
pub(crate) fn asked(command: &Command, arguments: impl Iterator<Item = String>) -> Option<String> {
    let words: Vec<String> = arguments.skip(1).collect();
    let is_whole = words.iter().any(|word| word == "--help" || word == "help");
    if !is_whole {
        return None;
    }
    let mut command = command.clone();
    command.build();
    let mut found = &command;
    for word in &words {
        found = found.find_subcommand(word).filter(|one| one.get_name() != "help").unwrap_or(found);
    }
    let mut found = found.clone().mut_args(|argument| argument.hide_short_help(false));
    if let Some(text) = found.get_after_long_help().cloned() {
        found = found.after_help(text);
    }
    Some(found.render_help().to_string())
}

/// Returns the line of a command, folded to `width`.
fn described(name: &str, about: &str, width: usize) -> String {
    let indent = " ".repeat(DESCRIPTIONS);
    let options = textwrap::Options::new(width).subsequent_indent(&indent);
    let line = format!("  {name:<width$}{about}", width = DESCRIPTIONS - 2);
    format!("{}\n", textwrap::fill(&line, options))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    #[test]
    fn every_command_that_is_not_hidden_is_in_one_group() {
        let command = Arguments::command();
        let mut visible: Vec<&str> = command
            .get_subcommands()
            .filter(|one| !one.is_hide_set())
            .map(Command::get_name)
            .collect();
        let mut listed: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        visible.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, visible);
    }
}
