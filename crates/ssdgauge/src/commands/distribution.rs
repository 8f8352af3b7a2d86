//! `ssdgauge completions` and `ssdgauge manual`: what packages contain besides the program.

use crate::arguments::{Arguments, CompletionsArguments, ManualArguments};
use crate::failure::{Failure, FailureKind};
use crate::suggestion;
use clap::{Command as CommandLine, CommandFactory};
use clap_mangen::Man;
use ssdgauge_watch::terminal;

const NAME: &str = "ssdgauge";

/// Prints the completions for a shell.
pub(crate) fn print_completions(arguments: &CompletionsArguments) {
    let mut text = Vec::new();
    // Hidden commands are started by the program itself.
    clap_complete::generate(arguments.shell, &mut visible(Arguments::command()), NAME, &mut text);
    terminal::print(&String::from_utf8_lossy(&text));
}

/// Prints the manual page of a command, or of the program.
///
/// # Errors
///
/// Fails with exit code 2 where there is no such command.
pub(crate) fn print_manual(arguments: &ManualArguments) -> Result<(), Failure> {
    let mut program = visible(Arguments::command());
    // Gives each command its usage line with the name of the program.
    program.build();
    let command = match arguments.command.as_deref() {
        None => program,
        Some(name) => find(&program, name)?.display_name(format!("{NAME}-{name}")),
    };
    let mut text = Vec::new();
    Man::new(command)
        .date("")
        .source(format!("{NAME} {}", env!("CARGO_PKG_VERSION")))
        .manual("ssdgauge")
        .render(&mut text)
        .map_err(|error| Failure::new(FailureKind::Failed, error.to_string(), ""))?;
    terminal::print(&String::from_utf8_lossy(&text));
    Ok(())
}

fn find(program: &CommandLine, name: &str) -> Result<CommandLine, Failure> {
    program.find_subcommand(name).cloned().ok_or_else(|| {
        let names = program.get_subcommands().map(CommandLine::get_name);
        let hint = suggestion::hint(name, names, "", "ssdgauge --help");
        Failure::new(FailureKind::Usage, format!("unknown command '{name}'"), hint)
    })
}

/// Returns the program with the commands alone that its help lists.
fn visible(program: CommandLine) -> CommandLine {
    let commands: Vec<CommandLine> =
        program.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let bare =
        CommandLine::new(NAME).args(program.get_arguments().cloned()).disable_help_subcommand(true);
    let bare = match program.get_about() {
        Some(about) => bare.about(about.clone()),
        None => bare,
    };
    let bare = match program.get_after_help() {
        Some(text) => bare.after_help(text.clone()),
        None => bare,
    };
    bare.version(env!("CARGO_PKG_VERSION")).subcommands(commands)
}
