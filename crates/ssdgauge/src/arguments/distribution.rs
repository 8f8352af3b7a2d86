//! The options of the commands that packages are made with.

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell: bash, elvish, fish, powershell or zsh.
    #[arg(hide_possible_values = true)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManualArguments {
    /// Command; without it, the page of the program.
    pub(crate) command: Option<String>,
}
