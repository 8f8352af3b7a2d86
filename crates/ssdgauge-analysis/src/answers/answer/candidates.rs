//! Which tests can answer a question of the answer: the higher the rank, the better.

use crate::groups::measure::{self, SHALLOW};
use crate::groups::uses::{self, Use};
use ssdgauge_core::{Family, Test};

fn is_rate(test: &Test) -> bool {
    test.score.metric().family() == Family::Rate
}

/// Commits: those of one thread, then of several.
pub(super) fn commits(test: &Test) -> Option<u32> {
    let is_durable = is_rate(test) && uses::classify(test) == Use::Durable;
    is_durable.then(|| if uses::deepest_scored(test) == 1 { 2 } else { 1 })
}

/// Everyday work: mixes at a low depth, then random reads at one, then the low depths of a ladder.
pub(super) fn everyday(test: &Test) -> Option<u32> {
    if !is_rate(test) || uses::is_sequential(test) {
        return None;
    }
    let is_shallow = uses::deepest_scored(test) <= SHALLOW;
    match uses::classify(test) {
        Use::Mixed if is_shallow => Some(3),
        Use::Everyday if is_shallow => Some(2),
        Use::Everyday if !measure::shallow_steps(test).is_empty() => Some(1),
        Use::Everyday
        | Use::Transfers
        | Use::Durable
        | Use::Mixed
        | Use::Sustained
        | Use::Latency
        | Use::Power => None,
    }
}

/// Sustained writes: sequential ones by their last part, then random ones; then random ones after a
/// preconditioning, as servers' drives are tested, over the queue depths before one of them; then others.
pub(super) fn sustained(test: &Test) -> Option<u32> {
    if uses::classify(test) != Use::Sustained || !is_rate(test) {
        return None;
    }
    let is_sequential = uses::is_sequential(test);
    let is_last = test.score.mean_of_last().is_some();
    let is_server = !is_sequential && uses::is_preconditioned(test);
    let is_ladder = is_server && test.score.depth_knee().is_some();
    let rules = [(is_last, 8), (is_server, 4), (is_ladder, 2), (is_sequential, 1)];
    Some(rules.into_iter().filter(|(applies, _)| *applies).map(|(_, rank)| rank).sum())
}

/// The tail: mixes in one step, then random reads, then random writes.
pub(super) fn tail(test: &Test) -> Option<u32> {
    if uses::is_sequential(test) || test.search.is_some() || uses::streams(test).is_empty() {
        return None;
    }
    match uses::classify(test) {
        Use::Latency => Some(3),
        Use::Everyday => Some(2),
        Use::Transfers | Use::Durable | Use::Mixed | Use::Sustained => Some(1),
        Use::Power => None,
    }
}
