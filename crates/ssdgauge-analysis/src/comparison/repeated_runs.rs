//! The same run given several times: it counts once.

use crate::model::Run;

/// A run that does not count, because another file has the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedRun {
    /// Its place among the runs that were given.
    pub left_out: usize,
    /// The place of the one that counts.
    pub counted: usize,
}

/// Returns `runs` without those of equal id and drive, and which ones were left out. Of a run that was
/// copied before its end, the file with the most steps counts.
pub fn once_each(runs: Vec<Run>) -> (Vec<Run>, Vec<RepeatedRun>) {
    let mut counted: Vec<usize> = Vec::new();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let known = counted.iter_mut().find(|known| is_same(&runs[**known], run));
        match known {
            None => counted.push(place),
            Some(known) if run.extent() > runs[*known].extent() => {
                pairs.push((*known, place));
                *known = place;
            }
            Some(known) => pairs.push((place, *known)),
        }
    }
    let repeated =
        pairs.into_iter().map(|(left_out, counted)| RepeatedRun { left_out, counted }).collect();
    let kept = runs.into_iter().enumerate().filter(|(place, _)| counted.contains(place));
    (kept.map(|(_, run)| run).collect(), repeated)
}

fn is_same(a: &Run, b: &Run) -> bool {
    a.head.id == b.head.id
        && a.head.started_unix_ms == b.head.started_unix_ms
        && a.head.drive.fingerprint() == b.head.drive.fingerprint()
}
