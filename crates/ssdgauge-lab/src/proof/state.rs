//! The state of a proof: what its operations so far have written and found.

use super::event::{Settings, What};
use super::layout::{Layout, Progress, Set};
use ssdgauge_core::Bytes;
use ssdgauge_core::proof::{Answer, Conclusion, Observation, PROOF_BLOCK, Tally, judge, most_held};

/// The runs of wrong blocks after which reading everything ends: more would add nothing but records.
/// Chosen: some 2 MB of text.
pub(crate) const MOST_BAD: u64 = 20_000;

/// The passes whose state is kept. A proof has some thirty; a damaged record may state any number.
const MOST_PASSES: usize = 256;

/// What a proof has shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Proved {
    /// The settings.
    pub settings: Settings,
    /// What follows from the answers.
    pub verdict: Conclusion,
    /// Whether every operation was carried out that the verdict leaves to do.
    pub is_complete: bool,
    /// The blocks that were read, by their answer.
    pub tally: Tally,
    /// The maximum number of blocks that held their own contents in one pass: the drive stores at least so many.
    pub held: u64,
    /// The number of reading passes.
    pub passes: u32,
    /// Whether reading everything ended early, because so many runs of blocks were wrong.
    pub is_cut_short: bool,
    /// The blocks that hold data of the proof, if the drive holds them.
    pub tested: u64,
    /// The bytes that were written.
    pub written: Bytes,
    /// The first answers of each kind that were not the own block.
    pub evidence: Vec<Observation>,
}

/// What the operations so far have written and found.
pub(crate) struct State {
    pub(crate) settings: Settings,
    pub(crate) layout: Layout,
    pub(crate) progress: Progress,
    pub(crate) observations: Vec<Observation>,
    pub(crate) written: u64,
    pub(crate) read: u64,
    pub(crate) passes: u32,
    /// What was written when each of them read.
    read_with: Vec<Progress>,
    /// Runs of wrong blocks.
    pub(crate) bad_runs: u64,
}

impl State {
    pub(crate) fn new(settings: Settings) -> State {
        State {
            layout: settings.layout(),
            settings,
            progress: Progress::default(),
            observations: Vec::new(),
            written: 0,
            read: 0,
            passes: 0,
            read_with: Vec::new(),
            bad_runs: 0,
        }
    }

    /// Takes an operation that was carried out.
    pub(crate) fn take(&mut self, operation: &What) {
        match operation {
            What::Written { set, from, to } => {
                self.written += self.layout.bytes(*set, *from, *to).0 / PROOF_BLOCK.0;
                self.progress.record(*set, *to);
            }
            What::Read { pass, set, from, to, bad } => {
                self.passes = self.passes.max(pass.saturating_add(1));
                let count = (*pass as usize + 1).max(self.read_with.len()).min(MOST_PASSES);
                self.read_with.resize(count, self.progress);
                self.bad_runs += bad.len() as u64;
                let ranges = self.layout.ranges(*set, (*from, *to), *pass, &self.progress);
                let mut bad = bad.iter().copied().peekable();
                for (first, blocks) in ranges {
                    self.read += blocks;
                    let mut at = first;
                    while let Some(one) =
                        bad.next_if(|one| (at..first + blocks).contains(&one.first))
                    {
                        self.add_own(*pass, at, one.first);
                        self.observations.push(Observation { pass: *pass, ..one });
                        at = one.end();
                    }
                    self.add_own(*pass, at, first + blocks);
                }
            }
            What::Failed { .. } | What::Ended { .. } => {}
        }
    }

    fn add_own(&mut self, pass: u32, first: u64, end: u64) {
        if first < end {
            let blocks = end - first;
            self.observations.push(Observation { pass, first, blocks, answer: Answer::Own });
        }
    }

    pub(crate) fn verdict(&self) -> Conclusion {
        let of_pass = |pass: u32| self.read_with.get(pass as usize).unwrap_or(&self.progress);
        let order = |one: &Observation| self.layout.written_as(one.first, of_pass(one.pass));
        judge(&self.observations, self.layout.capacity, &order)
    }

    /// Returns whether `blocks` more would exceed the maximum that the drive can store by `verdict`: what
    /// is written altogether then stays below twice that.
    pub(crate) fn exceeds(&self, verdict: Conclusion, blocks: u64) -> bool {
        verdict.capacity().is_some_and(|(_, most)| self.written + blocks > most)
    }

    pub(crate) fn proved(&self, is_complete: bool) -> Proved {
        let layout = &self.layout;
        let segments = layout.bytes(Set::Segments, 0, self.progress.segments).0;
        let heads = layout.bytes(
            Set::Heads,
            self.progress.segments.min(self.progress.heads),
            self.progress.heads,
        );
        let marks = layout.ranges(Set::Marks, (0, self.progress.marks), 0, &self.progress);
        let single = marks.iter().filter(|(mark, _)| {
            matches!(layout.writer(*mark, &self.progress), Some((Set::Marks, _)))
        });
        Proved {
            settings: self.settings,
            verdict: self.verdict(),
            is_complete,
            tally: Tally::new(&self.observations),
            held: most_held(&self.observations),
            passes: self.passes,
            is_cut_short: self.bad_runs > MOST_BAD,
            tested: (segments + heads.0) / PROOF_BLOCK.0 + single.count() as u64,
            written: PROOF_BLOCK * self.written,
            evidence: evidence(&self.observations),
        }
    }
}

/// The maximum number of answers of one kind in the evidence.
const EVIDENCE: usize = 4;

/// Returns the first wrong answers of each kind, those of the last pass first.
fn evidence(observations: &[Observation]) -> Vec<Observation> {
    let mut found: Vec<Observation> = Vec::new();
    for one in observations.iter().rev().filter(|one| one.answer != Answer::Own) {
        let is_same = |other: &&Observation| {
            std::mem::discriminant(&other.answer) == std::mem::discriminant(&one.answer)
        };
        if found.iter().filter(is_same).count() < EVIDENCE {
            found.push(*one);
        }
    }
    found.sort_by_key(|one| (one.answer, one.first));
    found
}
