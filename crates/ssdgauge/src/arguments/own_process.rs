//! Arguments of the hidden commands, by which the program starts itself.

use clap::{Args, Subcommand};
use ssdgauge_core::DriveChange;

#[derive(Debug, Args)]
pub(crate) struct PrivilegedHelper {
    /// The number of the drive, such as 259:0.
    pub(crate) device: String,
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
    /// The list of the sensors.
    Sensors {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}
