//! Tests that were carried out several times: one entry with all of its repetitions.

use crate::load::point;
use crate::model::{RecordedRepetition, RecordedTest, ReportError};
use ssdgauge_core::Totals;
use ssdgauge_runfile::{Contradictions, Digests, Room, RunFile, StepRecord, attempts};
use std::collections::BTreeMap;

/// Returns `tests`, each with its number in the plan, with the repetitions of a test together.
pub(crate) fn group(
    file: &RunFile,
    room: &mut Room,
    steps: &[StepRecord],
    tests: Vec<(usize, RecordedRepetition)>,
) -> Result<Vec<RecordedTest>, ReportError> {
    let mut groups: Vec<Vec<(usize, RecordedRepetition)>> = Vec::new();
    for (number, test) in tests {
        let same = |group: &&mut Vec<(usize, RecordedRepetition)>| {
            let first = &group[0].1.test;
            let next = group.len() as u32 + 1;
            (&first.id, first.revision, next)
                == (&test.test.id, test.test.revision, test.test.repetition)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push((number, test)),
            None => groups.push(vec![(number, test)]),
        }
    }
    let mut one = |group: Vec<(usize, RecordedRepetition)>| {
        let totals =
            if group.len() > 1 { totals(file, room, steps, &group)? } else { BTreeMap::new() };
        let repetitions = group.into_iter().map(|(_, repetition)| repetition).collect();
        Ok(RecordedTest { repetitions, totals })
    };
    groups.into_iter().map(&mut one).collect()
}

/// Returns the samples of all repetitions in `group` together, by the number of the measured step,
/// for every step that one of them measures.
///
/// The number counts measured steps only: the first repetition alone has the phases that prepare the
/// drive for all of them, so phases of equal number are not equal phases.
fn totals(
    file: &RunFile,
    room: &mut Room,
    steps: &[StepRecord],
    group: &[(usize, RecordedRepetition)],
) -> Result<BTreeMap<usize, Totals>, ReportError> {
    let mut records: BTreeMap<usize, Vec<&StepRecord>> = BTreeMap::new();
    for (number, repetition) in group {
        let of_test: Vec<&StepRecord> =
            steps.iter().filter(|step| step.place.test == *number).collect();
        let counted = attempts::counted(&repetition.test, &of_test);
        for (order, (place, _)) in repetition.test.measured_steps().enumerate() {
            let Some(of_step) = counted.get(&place) else { continue };
            let window = attempts::window(&repetition.test, of_step);
            records.entry(order).or_default().extend(window);
        }
    }
    let mut totals = BTreeMap::new();
    for (_, repetition) in group {
        for (order, (_, step)) in repetition.test.measured_steps().enumerate() {
            let Some(workload) = step.action.measured_workload() else { continue };
            if let (Some(all), false) = (records.get(&order), totals.contains_key(&order)) {
                // The seconds are dropped at once.
                // Each repetition has the findings on what it contradicts.
                let (from, known) = ((file, &Digests::default()), &mut Contradictions::default());
                let point = point::read(from, &mut room.clone(), step, workload, all, known)?;
                room.take(point.point.totals.size())?;
                totals.insert(order, point.point.totals);
            }
        }
    }
    Ok(totals)
}
