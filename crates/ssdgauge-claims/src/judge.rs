//! The state of a claim by the runs that it needs.

use crate::catalogue::RunNeed;
use crate::check::{Data, Outcome};
use crate::claim::{Claim, Group, Label, Review};
use crate::measure::Measurements;
use ssdgauge_analysis::Run;
use ssdgauge_core::{Finding, FindingKind, Severity, Verdict};
use std::collections::BTreeMap;

/// The state of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Every check holds.
    Holds,
    /// A check fails.
    Fails,
    /// A check is not decided, and none fails.
    NotDecided,
    /// A model cannot show it.
    CannotBeModelled,
    /// A run that it needs is missing, or it has no check.
    NotRun,
}

/// The judgement of a claim.
#[derive(Clone, Debug)]
pub struct Judgement<'a> {
    /// The review.
    pub review: &'a Review,
    /// The claim.
    pub claim: &'a Claim,
    /// Its state.
    pub state: State,
    /// What each check found, in the order of the claim.
    pub outcomes: Vec<Outcome>,
    /// The reason of the state in one line.
    pub why: String,
    /// What makes the runs doubtful: one line for each kind of warning in each of them.
    pub doubts: Vec<String>,
}

/// How many claims are in a group, how many of them were judged, and how many hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Claims.
    pub all: usize,
    /// Claims that hold or fail.
    pub judged: usize,
    /// Claims that hold.
    pub hold: usize,
}

/// The numbers of a set of judgements. They are never added up: each has another meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Predictions of reviews, on the behaviour of drives; like all labels without claims that cannot fail.
    pub predicted_reviews: Count,
    /// Predictions of public measurements.
    pub predicted_measured: Count,
    /// Claims on behaviour of reviews and measurements, by label.
    pub labels: BTreeMap<Label, Count>,
    /// Claims of reviews on the behaviour of drives.
    pub behaviour: Count,
    /// Those of them that are held out.
    pub held_out: Count,
    /// Claims on the method that a model can show.
    pub method: Count,
    /// Questions of readers that a run can answer.
    pub readers: Count,
}

impl State {
    /// All states, those that need attention first.
    pub const ALL: [State; 5] =
        [State::Fails, State::NotDecided, State::NotRun, State::Holds, State::CannotBeModelled];

    /// Returns the words used in tables.
    pub fn words(self) -> &'static str {
        match self {
            State::Holds => "holds",
            State::Fails => "fails",
            State::NotDecided => "not decided",
            State::CannotBeModelled => "cannot be modelled",
            State::NotRun => "not run",
        }
    }

    /// Returns the key used in JSON and in the list of a gate.
    pub fn key(self) -> String {
        self.words().replace(' ', "-")
    }

    /// Returns the state with this key.
    pub fn from_key(key: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.key() == key)
    }

    /// Returns whether the claim was judged.
    pub fn is_judged(self) -> bool {
        matches!(self, State::Holds | State::Fails)
    }
}

impl Judgement<'_> {
    /// Returns the number that was compared first in a check that failed; where none did, in any.
    pub fn measured(&self) -> Option<f64> {
        let failed = |outcome: &&Outcome| outcome.verdict == Verdict::Fails;
        let of_failed = self.outcomes.iter().find(failed).and_then(|outcome| outcome.measured);
        of_failed.or_else(|| self.outcomes.iter().find_map(|outcome| outcome.measured))
    }
}

/// Judges every claim of `reviews` by `runs`, in their order.
pub fn judge<'a>(reviews: &'a [Review], runs: &BTreeMap<RunNeed, Run>) -> Vec<Judgement<'a>> {
    let of_review =
        |review: &'a Review| review.claims.iter().map(move |claim| judge_one(review, claim, runs));
    reviews.iter().flat_map(of_review).collect()
}

fn judge_one<'a>(
    review: &'a Review,
    claim: &'a Claim,
    runs: &BTreeMap<RunNeed, Run>,
) -> Judgement<'a> {
    let without = |state, why: &str| Judgement {
        review,
        claim,
        state,
        outcomes: Vec::new(),
        why: why.to_owned(),
        doubts: Vec::new(),
    };
    if !claim.cannot.is_empty() {
        return without(State::CannotBeModelled, &claim.cannot);
    }
    if !claim.is_checked() {
        return without(State::NotRun, &claim.open);
    }
    let mut measurements = Measurements::default();
    let mut doubts = Vec::new();
    for (drive, test, need) in review.runs_of(claim) {
        match runs.get(&need).filter(|run| run.complete) {
            Some(run) => {
                doubts.extend(
                    doubts_of(run).into_iter().map(|text| format!("{drive} {test}: {text}")),
                );
                measurements.insert(&drive, &test, run);
            }
            None => {
                let missing = format!("no run of {test} on {}", need.drive);
                return without(State::NotRun, &missing);
            }
        }
    }
    let data = Data {
        value: &|value| measurements.value(value),
        curve: &|curve| measurements.curve(curve),
        positions: &|curve| measurements.positions(curve),
    };
    let outcomes: Vec<Outcome> = claim.checks.iter().map(|check| check.evaluate(&data)).collect();
    let verdict = outcomes.iter().map(|outcome| outcome.verdict).max().unwrap_or(Verdict::Holds);
    let decisive: Vec<&str> = outcomes
        .iter()
        .filter(|outcome| outcome.verdict == verdict)
        .map(|outcome| outcome.text.as_str())
        .collect();
    let state = match verdict {
        Verdict::Holds => State::Holds,
        Verdict::Fails => State::Fails,
        Verdict::NotDecided => State::NotDecided,
    };
    Judgement { review, claim, state, why: decisive.join("; "), outcomes, doubts }
}

/// Returns the first warning of each kind in `run`, and how many more there are. That a run is shortened is
/// no doubt here: a claim says why the shorter test gives the same answer.
fn doubts_of(run: &Run) -> Vec<String> {
    let of_tests = run.tests.iter().flat_map(|test| test.findings.iter().map(|one| &one.finding));
    let all = run.findings.iter().chain(of_tests);
    let is_doubt =
        |one: &&Finding| one.severity >= Severity::Warning && one.kind != FindingKind::Shortened;
    let mut by_kind: Vec<(FindingKind, &str, usize)> = Vec::new();
    for finding in all.filter(is_doubt) {
        match by_kind.iter_mut().find(|(kind, ..)| *kind == finding.kind) {
            Some((.., count)) => *count += 1,
            None => by_kind.push((finding.kind, &finding.text, 1)),
        }
    }
    let text = |(_, text, count): (FindingKind, &str, usize)| match count {
        1 => text.to_owned(),
        count => format!("{text} (and {} more)", count - 1),
    };
    by_kind.into_iter().map(text).collect()
}

impl Count {
    fn add(&mut self, state: State) {
        self.all += 1;
        self.judged += usize::from(state.is_judged());
        self.hold += usize::from(state == State::Holds);
    }
}

impl Summary {
    /// Counts `judgements`. A claim on the method, or of a reader, that a model cannot show is not
    /// counted: it would hold by definition, or never.
    pub fn new(judgements: &[Judgement<'_>]) -> Summary {
        let mut summary = Summary::default();
        for Judgement { review, claim, state, .. } in judgements {
            let can = *state != State::CannotBeModelled;
            match claim.kind.group() {
                Group::Behaviour => summary.add_behaviour(review, claim, *state),
                Group::Method if can => summary.method.add(*state),
                Group::Readers if can => summary.readers.add(*state),
                Group::Method | Group::Readers => {}
            }
            if claim.is_held_out() {
                summary.held_out.add(*state);
            }
        }
        summary
    }

    /// Returns the claims with `label`, of reviews and measurements.
    pub fn labelled(&self, label: Label) -> Count {
        self.labels.get(&label).copied().unwrap_or_default()
    }

    fn add_behaviour(&mut self, review: &Review, claim: &Claim, state: State) {
        if !review.measured {
            self.behaviour.add(state);
        }
        let Some(label) = claim.label.filter(|_| !claim.cannot_fail) else { return };
        self.labels.entry(label).or_default().add(state);
        match (label, review.measured) {
            (Label::Predicted, true) => self.predicted_measured.add(state),
            (Label::Predicted, false) => self.predicted_reviews.add(state),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::reviews;

    #[test]
    fn without_runs_no_claim_is_judged_and_the_four_numbers_have_their_denominators() {
        let reviews = reviews().unwrap();
        let judgements = judge(&reviews, &BTreeMap::new());
        let summary = Summary::new(&judgements);
        let all = [summary.behaviour, summary.held_out, summary.method, summary.readers];
        assert_eq!(all.map(|count| count.all), [41, 16, 4, 8]);
        assert!(all.iter().all(|count| (count.judged, count.hold) == (0, 0)));
        let states = [State::NotRun, State::CannotBeModelled];
        assert!(judgements.iter().all(|one| states.contains(&one.state) && !one.why.is_empty()));
    }

    #[test]
    fn keys_of_states_are_read_back() {
        assert!(State::ALL.iter().all(|state| State::from_key(&state.key()) == Some(*state)));
        assert_eq!(State::from_key("held"), None);
    }
}
