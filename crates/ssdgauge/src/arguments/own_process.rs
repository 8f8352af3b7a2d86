//! Arguments of the hidden commands, by which the program starts itself.

use clap::{Args, Subcommand};
use ssdgauge_core::DriveChange;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PrivilegedHelper {
    /// The number of the drive, such as 259:0.
    pub(crate) device: String,
    /// The claim of the drive, which the helper inherits and holds until it ends: /dev/fd/N.
    #[arg(long)]
    pub(crate) claim: PathBuf,
    /// The number of this attachment of the drive (`diskseq`).
    #[arg(long)]
    pub(crate) sequence: Option<u64>,
    /// The changes of the drive that the plan contains.
    pub(crate) changes: Vec<DriveChange>,
}

#[derive(Debug, Args)]
pub(crate) struct PrivilegedSearch {
    /// The number of the drive.
    pub(crate) device: String,
    /// The process of the run.
    pub(crate) run: u32,
}

#[derive(Debug, Args)]
pub(crate) struct NotifierArguments {
    /// The command.
    pub(crate) command: String,
}

#[derive(Debug, Args)]
pub(crate) struct LookArguments {
    #[command(subcommand)]
    pub(crate) text: Option<LookText>,
}

/// A text that another process of the program prints.
#[derive(Debug, Subcommand)]
pub(crate) enum LookText {
    /// The description of a drive.
    Drive {
        /// The drive.
        target: String,
        /// As JSON.
        #[arg(long)]
        json: bool,
        /// With colours.
        #[arg(long)]
        coloured: bool,
        /// The columns of the terminal.
        #[arg(long, default_value_t = 100)]
        width: usize,
    },
    /// The condition of a drive before a run.
    Condition {
        /// The drive.
        target: String,
    },
    /// The list of the sensors.
    Sensors {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ReaderArguments {
    #[command(subcommand)]
    pub(crate) question: Question,
}

/// What a restricted process reads, and answers as JSON.
#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// The suite on standard input.
    Suite {
        /// The name of its file.
        name: String,
    },
    /// The specifications in the meter file on standard input.
    Meters {
        /// The name of the file.
        name: String,
    },
    /// The stated figures in the file on standard input.
    Stated {
        /// The name of the file.
        name: String,
    },
    /// What the trace on standard input asks for.
    Trace {
        /// The path of its file.
        path: PathBuf,
        /// Its format.
        #[arg(long)]
        format: Option<String>,
    },
    /// The replay of the trace on standard input.
    Replay {
        /// The path of its file.
        path: PathBuf,
        /// Its format.
        #[arg(long)]
        format: String,
        /// What is wanted, as JSON.
        #[arg(long)]
        wanted: String,
    },
    /// What an interrupted run has left to do.
    Rest {
        /// Its run file.
        file: PathBuf,
    },
    /// The plan and the steps of a run.
    Records {
        /// Its run file.
        file: PathBuf,
        /// Whether the run is complete as well.
        #[arg(long)]
        judged: bool,
    },
    /// The result of fio on standard input.
    Fio,
    /// The library.
    Library {
        /// Whether the folders below are a part of it.
        #[arg(long)]
        whole: bool,
        /// Its folder.
        folder: PathBuf,
    },
    /// What run files hold.
    Entries {
        /// The files.
        files: Vec<PathBuf>,
    },
}
