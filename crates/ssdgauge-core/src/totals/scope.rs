//! The requests of a step that a metric is computed from.

use crate::sample::Direction;
use serde::{Deserialize, Serialize};

/// The requests that a metric is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Reads and writes together; where a step has neither, its flushes and trims.
    All,
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Flushes only.
    Flush,
    /// Trims only.
    Trim,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Scope; 5] = [Scope::All, Scope::Read, Scope::Write, Scope::Flush, Scope::Trim];

    /// Returns the prefix of a metric's key: empty, `read_`, `write_`, `flush_` or `trim_`.
    pub fn prefix(self) -> &'static str {
        match self {
            Scope::All => "",
            Scope::Read => "read_",
            Scope::Write => "write_",
            Scope::Flush => "flush_",
            Scope::Trim => "trim_",
        }
    }

    /// Returns the word for its requests, such as `reads`; `None` for all together.
    pub fn requests(self) -> Option<&'static str> {
        self.direction().map(Direction::requests)
    }

    /// Returns the one direction of the scope; `None` for all together.
    pub(crate) fn direction(self) -> Option<Direction> {
        match self {
            Scope::All => None,
            Scope::Read => Some(Direction::Read),
            Scope::Write => Some(Direction::Write),
            Scope::Flush => Some(Direction::Flush),
            Scope::Trim => Some(Direction::Trim),
        }
    }
}

impl From<Direction> for Scope {
    fn from(direction: Direction) -> Scope {
        match direction {
            Direction::Read => Scope::Read,
            Direction::Write => Scope::Write,
            Direction::Flush => Scope::Flush,
            Direction::Trim => Scope::Trim,
        }
    }
}
