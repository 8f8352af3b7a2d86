//! NVMe Format: the conditions under which it reaches only the tested namespace, and the command.
//!
//! A format keeps block size, metadata and protection as they are: it only erases.

use ssdgauge_drive::controller::{Controller, Namespace};
use ssdgauge_drive::pass_through::{CommandError, NvmeCommand, PassThrough};
use ssdgauge_drive::query;
use std::time::Duration;

/// The limit of the command: a format of a large drive takes minutes.
const FORMAT_TIMEOUT: Duration = Duration::from_secs(3_600);

/// The secure erase setting (SES) of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Erase {
    /// All user data (SES 1).
    UserData,
    /// The encryption key (SES 2).
    Cryptographic,
}

impl Erase {
    /// Returns the name for run file and report.
    pub(super) fn name(self) -> &'static str {
        match self {
            Erase::UserData => "NVMe format, user data erase",
            Erase::Cryptographic => "NVMe format, cryptographic erase",
        }
    }
}

/// The namespaces of a controller, queried before anything is sent that changes them.
#[derive(Clone, Debug)]
pub(super) struct Namespaces {
    pub(super) controller: Controller,
    pub(super) namespace: Namespace,
    /// The number of the tested namespace.
    pub(super) number: u32,
    /// The numbers of the namespaces in use, or why they are unknown.
    pub(super) active: Result<Vec<u32>, CommandError>,
    /// The same of all namespaces that exist on the drive, attached or not.
    pub(super) allocated: Result<Vec<u32>, CommandError>,
}

impl Namespaces {
    /// Queries the drive with the tested namespace `number`.
    ///
    /// # Errors
    /// The drive refuses Identify of the controller or of the namespace.
    pub(super) fn query(
        pass_through: &dyn PassThrough,
        number: u32,
    ) -> Result<Namespaces, CommandError> {
        Ok(Namespaces {
            controller: query::controller(pass_through)?,
            namespace: query::namespace(pass_through, number)?,
            number,
            active: query::active_namespaces(pass_through),
            allocated: query::allocated_namespaces(pass_through),
        })
    }

    /// Returns the reason why a command that reaches other namespaces is not sent: another
    /// namespace exists, or it is unknown whether one does. It would lose data that was not
    /// confirmed.
    pub(super) fn reaches_others(&self, reaches_all: bool) -> Option<String> {
        let is_only = self.controller.max_namespaces == 1;
        let others = |list: &[u32]| list.iter().filter(|other| **other != self.number).count();
        match &self.active {
            Ok(list) if others(list) > 0 => {
                return Some(format!("the controller has {} namespaces in use", list.len()));
            }
            Ok(_) => {}
            Err(_) if is_only => {}
            Err(reason) => {
                return Some(format!("the namespaces in use are unknown: {reason}"));
            }
        }
        match &self.allocated {
            Ok(list) if reaches_all && others(list) > 0 => Some(format!(
                "it would erase all namespaces, and the drive has {} others",
                others(list)
            )),
            Err(_) if reaches_all && !is_only && self.controller.manages_namespaces() => {
                Some("it would erase all namespaces, and the drive does not list them".into())
            }
            Ok(_) | Err(_) => None,
        }
    }

    /// Returns the reason why the namespace is not formatted, if any.
    pub(super) fn obstacle(&self, erase: Erase) -> Option<String> {
        let format = self.controller.format;
        if !self.controller.can_format() {
            return Some("the drive does not support Format NVM".into());
        }
        if erase == Erase::Cryptographic && !format.cryptographic {
            return Some("the drive does not support cryptographic erase".into());
        }
        if self.namespace.current_format().is_none() {
            return Some("the drive reports a current format that is not in its list".into());
        }
        self.reaches_others(format.formats_all || format.erases_all)
    }
}

/// Returns the command that erases the namespace and keeps its format (NVM Express Base
/// Specification 2.0, section 5.14, command dword 10).
pub(super) fn command(namespaces: &Namespaces, erase: Erase) -> NvmeCommand {
    let Namespace { format, metadata_extended, protection, .. } = &namespaces.namespace;
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
        namespace: namespaces.number,
        words: [word, 0, 0, 0, 0, 0],
        timeout: FORMAT_TIMEOUT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_drive::fixture::{self, Fixture};

    fn namespaces(change: impl FnOnce(&mut Namespaces)) -> Namespaces {
        let mut namespaces = Namespaces::query(&Fixture::nvme(), 1).unwrap();
        change(&mut namespaces);
        namespaces
    }

    #[test]
    fn a_format_is_refused_where_it_could_reach_another_namespace() {
        type Case = (&'static str, Option<&'static str>, fn(&mut Namespaces));
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
            ("no format at all", Some("does not support"), |l| l.controller.optional_admin = 0),
        ];
        for (what, expected, change) in cases {
            let found = namespaces(change).obstacle(Erase::UserData);
            match expected {
                None => assert_eq!(found, None, "{what}"),
                Some(words) => {
                    assert!(found.as_ref().is_some_and(|f| f.contains(words)), "{what}: {found:?}")
                }
            }
        }
        let plain = namespaces(|l| l.controller.format.cryptographic = false);
        assert!(plain.obstacle(Erase::Cryptographic).is_some());
    }

    #[test]
    fn a_format_keeps_blocks_metadata_and_protection() {
        let namespaces = namespaces(|l| {
            l.namespace.format = 0x21;
            l.namespace.metadata_extended = true;
            l.namespace.protection = 0b1010;
        });
        let sent = command(&namespaces, Erase::UserData);
        assert_eq!(sent.words[0], 1 | 1 << 4 | 2 << 5 | 1 << 8 | 1 << 9 | 2 << 12);
        assert_eq!((sent.opcode, sent.namespace), (0x80, 1));
        assert_eq!(command(&namespaces, Erase::Cryptographic).words[0] >> 9 & 7, 2);
    }
}
