//! NVMe Format: what a format of one namespace may reach, and the command.
//!
//! A format keeps the size of blocks, metadata and protection as they are: it only erases.

use ssdgauge_drive::controller::{Controller, Namespace};
use ssdgauge_drive::pass_through::{CommandError, NvmeCommand, PassThrough};
use ssdgauge_drive::query;
use std::time::Duration;

/// A format of a large drive takes minutes; after this time the kernel gives up waiting.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// How the format erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Erase {
    /// All user data (SES 1).
    UserData,
    /// The key (SES 2).
    Cryptographic,
}

impl Erase {
    pub(super) fn words(self) -> &'static str {
        match self {
            Erase::UserData => "NVMe format, user data erase",
            Erase::Cryptographic => "NVMe format, cryptographic erase",
        }
    }
}

/// What is known of a drive before anything is sent to it.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) controller: Controller,
    pub(super) namespace: Namespace,
    pub(super) number: u32,
    pub(super) active: Result<Vec<u32>, CommandError>,
    pub(super) allocated: Result<Vec<u32>, CommandError>,
}

impl Look {
    /// Asks the drive about namespace `number`.
    pub(super) fn at(pass_through: &dyn PassThrough, number: u32) -> Result<Look, CommandError> {
        Ok(Look {
            controller: query::controller(pass_through)?,
            namespace: query::namespace(pass_through, number)?,
            number,
            active: query::active_namespaces(pass_through),
            allocated: query::allocated_namespaces(pass_through),
        })
    }

    /// Returns why nothing that reaches the whole drive may be sent: other namespaces, or nobody
    /// knows whether there are any.
    pub(super) fn neighbours(&self, reaches_all: bool) -> Option<String> {
        let only = self.controller.max_namespaces == 1;
        let others = |list: &[u32]| list.iter().filter(|one| **one != self.number).count();
        match &self.active {
            Ok(list) if others(list) > 0 => {
                return Some(format!("the controller has {} namespaces in use", list.len()));
            }
            Ok(_) => {}
            Err(_) if only => {}
            Err(reason) => {
                return Some(format!("which namespaces are in use is unknown: {reason}"));
            }
        }
        match &self.allocated {
            Ok(list) if reaches_all && others(list) > 0 => Some(format!(
                "it would reach all namespaces, and the drive has {} others",
                others(list)
            )),
            Err(_) if reaches_all && !only && self.controller.manages_namespaces() => {
                Some("it would reach all namespaces, and the drive does not list them".into())
            }
            Ok(_) | Err(_) => None,
        }
    }

    /// Returns why the namespace may not be formatted; `None` where nothing speaks against it.
    pub(super) fn obstacle(&self, erase: Erase) -> Option<String> {
        let format = self.controller.format;
        if !self.controller.can_format() {
            return Some("the drive has no format".into());
        }
        if erase == Erase::Cryptographic && !format.cryptographic {
            return Some("the drive offers no cryptographic erase".into());
        }
        if self.namespace.current_format().is_none() {
            return Some("the drive names a format that it does not have".into());
        }
        self.neighbours(format.formats_all || format.erases_all)
    }
}

/// Returns the command that erases the namespace and leaves its format as it is.
pub(super) fn command(look: &Look, erase: Erase) -> NvmeCommand {
    let Namespace { format, metadata_extended, protection, .. } = &look.namespace;
    let format = u32::from(*format);
    let setting = match erase {
        Erase::UserData => 1,
        Erase::Cryptographic => 2,
    };
    let word = format & 15
        | u32::from(*metadata_extended) << 4
        | u32::from(*protection & 7) << 5
        | u32::from(*protection >> 3) << 8
        | setting << 9
        | (format >> 4 & 3) << 12;
    NvmeCommand {
        opcode: 0x80,
        namespace: look.number,
        words: [word, 0, 0, 0, 0, 0],
        timeout: PATIENCE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_drive::fixture::{self, Fixture};

    fn look(change: impl FnOnce(&mut Look)) -> Look {
        let mut look = Look::at(&Fixture::nvme(), 1).unwrap();
        change(&mut look);
        look
    }

    #[test]
    fn a_format_is_refused_wherever_it_could_reach_a_neighbour() {
        type Case = (&'static str, Option<&'static str>, fn(&mut Look));
        let cases: [Case; 7] = [
            ("one namespace, and FNA says all", None, |_| {}),
            ("two in use", Some("2 namespaces in use"), |l| l.active = Ok(vec![1, 2])),
            ("another allocated", Some("1 others"), |l| l.allocated = Ok(vec![1, 7])),
            ("another allocated, FNA says one", None, |l| {
                l.allocated = Ok(vec![1, 7]);
                l.controller.format.formats_all = false;
            }),
            ("no list, room for many", Some("unknown"), |l| {
                l.active = Err(fixture::INVALID_OPCODE);
                l.controller.max_namespaces = 8;
            }),
            ("no list of the allocated, room for many", Some("does not list"), |l| {
                l.allocated = Err(fixture::INVALID_OPCODE);
                l.controller.max_namespaces = 8;
                l.controller.optional_admin |= 8;
            }),
            ("no format at all", Some("no format"), |l| l.controller.optional_admin = 0),
        ];
        for (what, expected, change) in cases {
            let found = look(change).obstacle(Erase::UserData);
            match expected {
                None => assert_eq!(found, None, "{what}"),
                Some(words) => {
                    assert!(found.as_ref().is_some_and(|f| f.contains(words)), "{what}: {found:?}")
                }
            }
        }
        let plain = look(|l| l.controller.format.cryptographic = false);
        assert!(plain.obstacle(Erase::Cryptographic).is_some());
    }

    #[test]
    fn a_format_keeps_blocks_metadata_and_protection() {
        let look = look(|l| {
            l.namespace.format = 0x21;
            l.namespace.metadata_extended = true;
            l.namespace.protection = 0b1010;
        });
        let sent = command(&look, Erase::UserData);
        assert_eq!(sent.words[0], 1 | 1 << 4 | 2 << 5 | 1 << 8 | 1 << 9 | 2 << 12);
        assert_eq!((sent.opcode, sent.namespace), (0x80, 1));
        assert_eq!(command(&look, Erase::Cryptographic).words[0] >> 9 & 7, 2);
    }
}
