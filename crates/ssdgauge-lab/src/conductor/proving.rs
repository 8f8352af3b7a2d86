//! A proof of the capacity as a run: what is written and read next follows from the answers so far.
//!
//! It must never write a block whose record it does not make durable before the next operation.

use super::{Completion, ConductError, Conductor};
use crate::conductor::Watcher;
use crate::proof::{
    Depth, EVENT, Event, Layout, MOST_BAD, Progress, ProofError, Recorded, Set, State, What,
};
use ssdgauge_core::proof::{Answer, Content, Found, Observation, PROOF_BLOCK, Stamp};
use ssdgauge_core::{
    Bytes, Finding, FindingKind, Plan, Recording, Rig, Severity, StampedBlocks, Wrote,
};
use ssdgauge_runfile::Writer;
use std::collections::{BTreeSet, VecDeque};

/// Carries out the proof of `plan`, of which nothing is `recorded` yet.
///
/// # Errors
///
/// As [`super::conduct`], and [`ConductError::Proof`]. What was shown until then is in the run file.
pub fn conduct_proof(
    plan: &Plan,
    recorded: &Recorded,
    rig: &mut dyn Rig,
    writer: &mut Writer,
    watcher: &mut dyn Watcher,
) -> Result<Completion, ConductError> {
    let mut conductor = Conductor::new(plan, rig, writer, watcher);
    conductor.record_conditions()?;
    conductor.prove(recorded)
}

impl Conductor<'_> {
    /// Carries out the proof from the end of the `recorded` events on.
    pub(super) fn prove(&mut self, recorded: &Recorded) -> Result<Completion, ConductError> {
        let is_model = self.rig.drive().is_model();
        if !is_model {
            check_kept(recorded, blocks_of(self.rig)?)?;
        }
        let mut proof = Proof {
            state: State::new(recorded.settings),
            repeats: is_model,
            recorded: recorded.operations(),
            conductor: self,
        };
        let ended = proof.execute().map(|is_over| match is_over {
            true => Completion::Finished,
            false => Completion::Interrupted,
        });
        match &ended {
            Ok(Completion::Finished) => proof.conclude()?,
            Ok(Completion::Interrupted)
            | Err(ConductError::RunFile(_) | ConductError::Proof(ProofError::Differs)) => {}
            Err(error) => proof.record(What::Failed { error: error.to_string() })?,
        }
        let ended = self.note_gone(ended);
        self.end_run(ended)
    }
}

/// Returns the access to blocks of `rig`.
fn blocks_of(rig: &mut dyn Rig) -> Result<&mut dyn StampedBlocks, ConductError> {
    let drive = rig.drive().target.clone();
    rig.stamped_blocks().ok_or(ConductError::Proof(ProofError::NoBlocks(drive)))
}

/// The marks that are read before a proof continues.
const CHECKED_MARKS: usize = 64;

/// Refuses to continue on a drive that holds none of the marks that were written, where earlier reads
/// found their blocks. Somebody may have discarded the drive meanwhile, of which no verdict follows.
fn check_kept(recorded: &Recorded, blocks: &mut dyn StampedBlocks) -> Result<(), ConductError> {
    let mut state = State::new(recorded.settings);
    recorded.operations().iter().for_each(|operation| state.take(operation));
    if !state.observations.iter().any(|one| one.answer == Answer::Own) {
        return Ok(());
    }
    let marks = (0, state.progress.marks);
    let marks = state.layout.ranges(Set::Marks, marks, 0, &state.progress);
    let distance = marks.len().div_ceil(CHECKED_MARKS).max(1);
    let sample: Vec<(u64, u64)> = marks.into_iter().step_by(distance).collect();
    let found = blocks.read(recorded.settings.tag, &sample, &mut |_| true)?;
    let is_kept =
        |one: &Found| matches!(one.content, Content::Stamped { .. } | Content::Torn { .. });
    match found.is_none_or(|found| found.is_empty() || found.iter().any(is_kept)) {
        true => Ok(()),
        false => Err(ProofError::Emptied.into()),
    }
}

/// A proof in progress.
struct Proof<'c, 'a> {
    state: State,
    /// Whether recorded operations are carried out again: a virtual drive ends with its process.
    repeats: bool,
    /// The recorded operations that lie ahead.
    recorded: VecDeque<What>,
    conductor: &'c mut Conductor<'a>,
}

impl Proof<'_, '_> {
    /// Carries out all operations; returns false after a stop.
    fn execute(&mut self) -> Result<bool, ConductError> {
        let marks = self.state.layout.count(Set::Marks);
        if !self.write(Set::Marks, 0, marks)? || !self.read(Set::Marks, 0, marks)? {
            return Ok(false);
        }
        let sets: &[Set] = match self.state.layout.depth {
            Depth::Quick => &[Set::Heads],
            Depth::Full => &[Set::Heads, Set::Segments],
        };
        for set in sets {
            let mut from = 0;
            for to in self.state.layout.rounds(*set) {
                let verdict = self.state.verdict();
                let blocks = self.state.layout.bytes(*set, from, to).0 / PROOF_BLOCK.0;
                // Marks are written by their address: an end among them may be a moment from which on all is lost.
                let is_first = *set == Set::Heads && from == 0;
                let is_shown = verdict.is_conclusive() && !(is_first && verdict.is_an_end());
                if is_shown || self.state.exceeds(verdict, blocks) {
                    return self.read_again();
                }
                if !self.write(*set, from, to)? || !self.read_pass()? {
                    return Ok(false);
                }
                from = to;
            }
        }
        let verdict = self.state.verdict();
        if verdict.is_conclusive() {
            return self.read_again();
        }
        self.read_everything()
    }

    /// Reads all marks and a sample of each segment with a written part, in a new pass.
    fn read_pass(&mut self) -> Result<bool, ConductError> {
        self.state.passes += 1;
        let (marks, samples) = (self.state.progress.marks, self.state.progress.heads);
        Ok(self.read(Set::Marks, 0, marks)? && self.read(Set::Samples, 0, samples)?)
    }

    /// Reads the marks once more after a verdict that ends the proof: it must not rest on one read.
    fn read_again(&mut self) -> Result<bool, ConductError> {
        self.read_pass()
    }

    /// Reads everything that was written, the oldest data first.
    fn read_everything(&mut self) -> Result<bool, ConductError> {
        self.state.passes += 1;
        let marks = self.state.progress.marks;
        let set = match self.state.layout.depth {
            Depth::Quick => Set::Heads,
            Depth::Full => Set::Segments,
        };
        let count = self.state.progress.of(set);
        Ok(self.read(Set::Marks, 0, marks)? && self.read(set, 0, count)?)
    }

    /// Writes members `from` to `to` of `set`.
    fn write(&mut self, set: Set, from: u64, to: u64) -> Result<bool, ConductError> {
        let mut admitted = false;
        let mut at = from;
        while at < to {
            let end = self.state.layout.operation_end(set, at, to);
            // A generation belongs to a round, and an operation lies within one.
            let stamp = Stamp {
                tag: self.state.settings.tag,
                generation: self.state.layout.generation(set, at),
            };
            let operation = What::Written { set, from: at, to: end };
            let is_recorded = self.is_next(&operation);
            if !is_recorded && !admitted {
                let planned = self.state.layout.bytes(set, at, to);
                self.admit(planned)?;
                admitted = true;
            }
            if !is_recorded || self.repeats {
                let ranges = self.state.layout.ranges(set, (at, end), 0, &self.state.progress);
                let Conductor { rig, watcher, .. } = &mut *self.conductor;
                let mut go_on = go_on(&mut **watcher, &self.state, writing(set));
                match blocks_of(*rig)?.write(stamp, &ranges, &mut go_on)? {
                    Wrote::All => {}
                    Wrote::Stopped => return Ok(false),
                    Wrote::Failed(error) => return Err(ProofError::WriteFailed(error).into()),
                }
            }
            self.end_operation(operation, is_recorded)?;
            at = end;
        }
        Ok(true)
    }

    /// Reads members `from` to `to` of `set` in the current pass.
    fn read(&mut self, set: Set, from: u64, to: u64) -> Result<bool, ConductError> {
        // The first pass has number 0, before any other has begun.
        let pass = self.state.passes.max(1) - 1;
        let is_everything = matches!(set, Set::Heads | Set::Segments);
        let mut at = from;
        while at < to && !(is_everything && self.state.bad_runs > MOST_BAD) {
            let end = self.state.layout.operation_end(set, at, to);
            let next = self.recorded.front().filter(|next| is_read(next, pass, set, (at, end)));
            let recorded = next.cloned();
            let is_recorded = recorded.is_some();
            let operation = match recorded {
                Some(recorded) if !self.repeats => recorded,
                other => {
                    let Some(bad) = self.read_operation(set, (at, end), pass)? else {
                        return Ok(false);
                    };
                    let read = What::Read { pass, set, from: at, to: end, bad };
                    if other.is_some_and(|other| other != read) {
                        return Err(ProofError::Differs.into());
                    }
                    read
                }
            };
            self.end_operation(operation, is_recorded)?;
            at = end;
        }
        Ok(true)
    }

    /// Reads the members of one operation; returns the runs that did not hold their blocks, and `None`
    /// after a stop.
    fn read_operation(
        &mut self,
        set: Set,
        members: (u64, u64),
        pass: u32,
    ) -> Result<Option<Vec<Observation>>, ConductError> {
        let State { layout, progress, settings, .. } = &self.state;
        let ranges = layout.ranges(set, members, pass, progress);
        let Conductor { rig, watcher, .. } = &mut *self.conductor;
        let mut go_on = go_on(&mut **watcher, &self.state, reading(set));
        let Some(found) = blocks_of(*rig)?.read(settings.tag, &ranges, &mut go_on)? else {
            return Ok(None);
        };
        Ok(Some(bad_runs(&found, &ranges, layout, progress, pass)))
    }

    /// Returns whether `operation` is the next recorded one.
    fn is_next(&self, operation: &What) -> bool {
        self.recorded.front() == Some(operation)
    }

    /// Takes an operation that was carried out, and records it where it is not recorded.
    fn end_operation(&mut self, operation: What, is_recorded: bool) -> Result<(), ConductError> {
        self.state.take(&operation);
        match is_recorded {
            true => {
                self.recorded.pop_front();
                Ok(())
            }
            // A file whose next record is another operation was begun by another program.
            false if !self.recorded.is_empty() => Err(ProofError::Differs.into()),
            false => self.record(operation),
        }
    }

    /// Checks the drive before it is written.
    fn admit(&mut self, planned: Bytes) -> Result<(), ConductError> {
        let mut sink = Recording::default();
        let result = blocks_of(self.conductor.rig)?.begin_writing(planned, &mut sink);
        sink.findings.into_iter().try_for_each(|finding| self.conductor.find(finding))?;
        Ok(result?)
    }

    /// Records `what` durably.
    fn record(&mut self, what: What) -> Result<(), ConductError> {
        let event = Event { unix_ms: self.conductor.watcher.unix_ms(), what };
        let text = serde_json::to_string(&event).expect("plain data always serialises");
        self.conductor.writer.property(None, EVENT, &text)?;
        self.conductor.commit()
    }

    /// Records the verdict.
    fn conclude(&mut self) -> Result<(), ConductError> {
        let proved = self.state.proved(true);
        if proved.verdict.is_bad() {
            let bad = proved.tally.bad();
            self.conductor.find(Finding::new(
                FindingKind::NotKept,
                Severity::Invalid,
                format!("{bad} reads of blocks did not return what was written there"),
                "`ssdgauge prove --read` shows which; keep no data on this drive",
            ))?;
        }
        self.record(What::Ended { verdict: proved.verdict })
    }
}

fn is_read(next: &What, in_pass: u32, of: Set, (at, end): (u64, u64)) -> bool {
    match next {
        What::Read { pass, set, from, to, .. } => {
            (*pass, *set, *from, *to) == (in_pass, of, at, end)
        }
        What::Written { .. } | What::Failed { .. } | What::Ended { .. } => false,
    }
}

fn writing(set: Set) -> &'static str {
    match set {
        Set::Marks => "writing single blocks at all distances",
        Set::Heads => "writing a part of each segment",
        Set::Segments | Set::Samples => "writing whole segments",
    }
}

fn reading(set: Set) -> &'static str {
    match set {
        Set::Marks | Set::Samples => "reading samples",
        Set::Heads | Set::Segments => "reading everything",
    }
}

/// Returns the function that shows the progress of an operation and ends it after a stop.
fn go_on<'a>(
    watcher: &'a mut dyn Watcher,
    state: &State,
    doing: &'static str,
) -> impl FnMut(u64) -> bool + use<'a> {
    let before = state.written + state.read;
    let most = state.layout.written() + state.layout.read();
    move |blocks| {
        watcher.progress(doing, PROOF_BLOCK * (before + blocks), most);
        !watcher.stop()
    }
}

/// Returns the runs of `found` that are not what was written there last. Each lies in one of `ranges`.
fn bad_runs(
    found: &[Found],
    ranges: &[(u64, u64)],
    layout: &Layout,
    progress: &Progress,
    pass: u32,
) -> Vec<Observation> {
    let begins: BTreeSet<u64> = ranges.iter().map(|(first, _)| *first).collect();
    let mut bad: Vec<Observation> = Vec::new();
    for run in found {
        let mut done = 0;
        while done < run.blocks {
            let first = run.first + done;
            let expected = layout.expected(first, progress);
            let next = begins.range(first + 1..).next().map_or(u64::MAX, |next| next - first);
            let blocks = expected.blocks.min(run.blocks - done).min(next);
            let answer = Answer::new(first, expected.generation, run.content.at(done));
            done += blocks;
            if answer == Answer::Own {
                continue;
            }
            match bad.last_mut() {
                Some(last)
                    if last.end() == first
                        && last.answer.at(last.blocks) == answer
                        && !begins.contains(&first) =>
                {
                    last.blocks += blocks;
                }
                Some(_) | None => bad.push(Observation { pass, first, blocks, answer }),
            }
        }
    }
    bad
}
