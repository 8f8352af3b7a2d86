//! Errors of the command line in the form of all others: what is wrong, and a hint.

use crate::failure::{Failure, FailureKind};
use crate::suggestion;
use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Options that an earlier version had: command, option, and what takes its place.
const REMOVED_OPTIONS: [(&str, &str, &str); 2] = [
    (
        "export",
        "--compact",
        "DuckDB puts the tables of all runs into one file: COPY (FROM read_parquet('FOLDER/value/**/*.parquet', \
     hive_partitioning = false, union_by_name = true)) TO 'value.parquet'; docs/reference/tables.md has the details",
    ),
    (
        "report",
        "--vega",
        "`--svg` and `--png` write every chart, `--csv` and `--json` print its numbers",
    ),
];

/// What people type in the place of a command, and what does it.
const WISHES: [(&[&str], &str); 10] = [
    (&["gaming", "games", "game"], "`ssdgauge quick FOLDER --for desktop`"),
    (
        &["benchmark", "test", "check", "start", "speed"],
        "`ssdgauge quick FOLDER`, or `ssdgauge run SUITE TARGET`",
    ),
    (&["version", "ver", "about"], "`ssdgauge --version`"),
    (&["ls", "history", "runs", "library"], "`ssdgauge list`"),
    (
        &["smart", "info", "health", "devices", "disks"],
        "`ssdgauge drives`, or `ssdgauge drives DRIVE`",
    ),
    (&["html", "page", "browse", "view"], "`ssdgauge open RUN`, or `ssdgauge report RUN`"),
    (&["diff", "vs"], "`ssdgauge compare RUN RUN`"),
    (&["continue", "restart"], "`ssdgauge resume RUN`"),
    (&["fake", "genuine", "capacity"], "`ssdgauge prove TARGET`"),
    (&["man", "docs"], "`ssdgauge --help`"),
];

/// Returns the failure of a command line that `command` does not accept.
pub(crate) fn from_clap(error: &Error, command: &Command) -> Failure {
    let name = chosen_command(command);
    let help = match &name {
        Some(name) => format!("ssdgauge {name} --help"),
        None => "ssdgauge --help".to_owned(),
    };
    let listed = |what: &str| format!("`{help}` lists {what}");
    let argument = context(error, ContextKind::InvalidArg).unwrap_or_default();
    let (text, hint) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let given = context(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            let known = command.get_subcommands().filter(|one| !one.is_hide_set());
            let known = known.map(Command::get_name);
            let meant =
                WISHES.iter().find(|(words, _)| words.contains(&given.to_lowercase().as_str()));
            let hint = match meant {
                Some((_, instead)) => {
                    format!("use {instead}; `ssdgauge --help` lists all commands")
                }
                None => suggestion::hint(&given, known, "", "ssdgauge --help"),
            };
            (format!("unknown command '{given}'"), hint)
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let of = name.as_deref().map_or(String::new(), |name| format!(" of `{name}`"));
            let hint = meant_option(&argument, command, name.as_deref(), &help);
            (format!("unknown option '{argument}'{of}"), hint)
        }
        ErrorKind::UnknownArgument => {
            (format!("'{argument}' is one argument too many"), listed("the arguments"))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => invalid_value(error, &help),
        ErrorKind::MissingRequiredArgument => {
            let usage = context(error, ContextKind::Usage).unwrap_or_default();
            let usage = usage.trim_start_matches("Usage: ").lines().next().unwrap_or_default();
            let hint = format!("usage: {usage}; {}", listed("the arguments"));
            (format!("no {argument} is given"), hint)
        }
        ErrorKind::ArgumentConflict => {
            let prior = context(error, ContextKind::PriorArg).unwrap_or_default();
            let text = match argument == prior {
                true => format!("{argument} is given twice"),
                false => format!("{argument} cannot be used with {prior}"),
            };
            (text, listed("the options"))
        }
        _ => (first_line(error), listed("the options")),
    };
    Failure::new(FailureKind::Usage, text, hint)
}

/// Returns the subcommand on the command line.
fn chosen_command(command: &Command) -> Option<String> {
    std::env::args().skip(1).find(|word| command.find_subcommand(word).is_some())
}

fn meant_option(given: &str, command: &Command, name: Option<&str>, help: &str) -> String {
    let of = name.and_then(|name| command.find_subcommand(name)).unwrap_or(command);
    let known: Vec<&str> = of.get_arguments().filter_map(clap::Arg::get_long).collect();
    let mut removed = REMOVED_OPTIONS.into_iter();
    let is_given = |(of, option, _): &(&str, &str, &str)| Some(*of) == name && *option == given;
    if let Some((_, _, instead)) = removed.find(is_given) {
        return instead.to_owned();
    }
    if given == "-v" {
        return "`ssdgauge --version` prints the version".to_owned();
    }
    let word = given.trim_start_matches('-').split('=').next().unwrap_or_default();
    suggestion::hint(word, known, "--", help)
}

fn invalid_value(error: &Error, help: &str) -> (String, String) {
    let option = context(error, ContextKind::InvalidArg).unwrap_or_default();
    let value = context(error, ContextKind::InvalidValue).unwrap_or_default();
    let valid = context(error, ContextKind::ValidValue);
    if value.is_empty() {
        return (format!("{option} has no value"), format!("`{help}` describes it"));
    }
    let reason = match (std::error::Error::source(error), &valid) {
        (Some(reason), _) => format!(": {reason}"),
        (None, Some(valid)) => format!(" (known: {valid})"),
        (None, None) => String::new(),
    };
    let known = valid.iter().flat_map(|valid| valid.split(", "));
    let meant = match value.to_lowercase().as_str() {
        "gaming" | "games" | "office" => known.clone().find(|one| *one == "desktop"),
        _ => None,
    };
    let hint = match meant.or_else(|| suggestion::nearest(&value, known)) {
        Some(meant) => format!("did you mean '{meant}'? `{help}` describes it"),
        None => format!("`{help}` describes it"),
    };
    (format!("'{value}' is not valid for {option}{reason}"), hint)
}

fn context(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        ContextValue::Number(number) => Some(number.to_string()),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        _ => None,
    }
}

/// Returns the first line of the message that clap writes.
fn first_line(error: &Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}
