//! How the requests of measured loads reach a drive, and how their completions are noticed.

use super::Plan;
use serde::{Deserialize, Serialize};

/// How the requests of measured loads reach a drive. Numbers of different paths are not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RequestPath {
    /// Through the block layer; interrupts announce completions.
    #[default]
    Interrupts,
    /// Through the block layer; completions are polled.
    Polled,
    /// As NVMe commands, without the block layer.
    PassThrough,
}

impl RequestPath {
    /// Returns the path of measured loads with polled completions, or passed through as NVMe commands.
    pub fn chosen(polled: bool, pass_through: bool) -> RequestPath {
        match (pass_through, polled) {
            (true, _) => RequestPath::PassThrough,
            (false, true) => RequestPath::Polled,
            (false, false) => RequestPath::Interrupts,
        }
    }

    /// Returns its name in lists of what distinguishes results.
    pub fn name(self) -> &'static str {
        match self {
            RequestPath::Interrupts => "block layer with interrupts",
            RequestPath::Polled => "polled completions",
            RequestPath::PassThrough => "NVMe pass-through",
        }
    }
}

impl Plan {
    /// Returns how the requests of its measured loads reach the drive.
    pub fn request_path(&self) -> RequestPath {
        RequestPath::chosen(self.polled, self.pass_through)
    }
}
