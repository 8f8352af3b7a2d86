//! What an X-ray looks for, and what excludes it.

use serde::{Deserialize, Serialize};
use ssdgauge_core::TargetKind;
use ssdgauge_xray::{Refusal, Structure, needs};
use std::collections::BTreeSet;

/// What an X-ray looks for, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct XrayOptions {
    /// Whether it only reads.
    pub gentle: bool,
    /// Whether it brings the drive to the steady state of random writes.
    pub steady: bool,
    /// The structures that were asked for; where it is empty all of them but the spare area, and but those of the
    /// steady state unless it is reached.
    pub only: Vec<Structure>,
    /// The seed of addresses and of their order.
    pub seed: u64,
}

impl XrayOptions {
    /// Names what an X-ray that was asked for everything looked for before programs and the write buffer were
    /// structures: its record has no answers to their questions.
    pub(super) fn leave_out_programs(&mut self) {
        if self.only.is_empty() {
            let later = [Structure::ProgramTime, Structure::ProgramUnit, Structure::WriteBuffer];
            self.only = self.of_everything();
            self.only.retain(|one| !later.contains(one));
        }
    }

    /// Returns what is looked for where nothing was asked for.
    fn of_everything(&self) -> Vec<Structure> {
        // The spare area costs more than all others together, and its intervals miss the truth too often.
        let costs = |one: &Structure| match one.needs_steady_state() {
            true => !self.steady,
            false => *one == Structure::Spare,
        };
        Structure::ALL.into_iter().filter(|one| !costs(one)).collect()
    }

    /// Returns the structures that are looked for: those that were asked for, and what they need.
    pub fn structures(&self) -> BTreeSet<Structure> {
        let mut open = match self.only.is_empty() {
            true => self.of_everything(),
            false => self.only.clone(),
        };
        // Whether there is a cache decides what overwrites of a full drive show; the others need data.
        let of_full = |one: &Structure| {
            let of_filled = [
                Structure::Spare,
                Structure::WriteBuffer,
                Structure::MappingUnit,
                Structure::Volumes,
                Structure::MapReach,
                Structure::Compression,
                Structure::Deduplication,
            ];
            of_filled.contains(one) || one.needs_steady_state()
        };
        if open.iter().any(of_full) {
            open.push(Structure::Cache);
        }
        if open.contains(&Structure::ProgramUnit) {
            let needed = [Structure::ProgramTime, Structure::WriteBuffer, Structure::Units];
            open.extend([Structure::Cache].into_iter().chain(needed));
        }
        // It is read from what these examine, with the cache full.
        if open.contains(&Structure::ProgramTime) {
            let of_programs = [Structure::Cache, Structure::Overflow];
            open.extend(of_programs.into_iter().chain([Structure::Suspend, Structure::Flush]));
        }
        let mut structures = BTreeSet::new();
        while let Some(structure) = open.pop() {
            if structures.insert(structure) {
                open.extend_from_slice(needs(structure));
            }
        }
        structures
    }
}

/// Why no experiment for `structure` is possible on a target of `kind`; `None` where one is.
pub(super) fn excluded(structure: Structure, kind: TargetKind, gentle: bool) -> Option<Refusal> {
    let reason = match structure {
        Structure::Units
        | Structure::Chunk
        | Structure::PageRead
        | Structure::Throttle
        | Structure::Resume => return None,
        Structure::Link | Structure::Command if gentle => {
            "needs trimmed addresses; --gentle only reads, and which addresses are trimmed is not known"
        }
        _ if gentle => "needs writes; --gentle only reads",
        _ if kind == TargetKind::File => {
            "the fill level of the drive below a scratch file is not known"
        }
        Structure::Link
        | Structure::Command
        | Structure::Suspend
        | Structure::Flush
        | Structure::ProgramTime
        | Structure::ProgramUnit
        | Structure::WriteBuffer
        | Structure::Cache
        | Structure::NativeRate
        | Structure::Overflow
        | Structure::Folding
        | Structure::MappingUnit
        | Structure::Volumes
        | Structure::MapReach
        | Structure::Compression
        | Structure::Deduplication
        | Structure::Spare
        | Structure::EffectiveSpare
        | Structure::Separation => return None,
    };
    Some(Refusal(reason.into()))
}
