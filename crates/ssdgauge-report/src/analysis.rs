//! Numbers, findings, comparisons and claims: everything that is computed from the samples.
//!
//! Nothing here draws.

pub(crate) mod answer;
pub(crate) mod batch;
pub(crate) mod caches;
pub(crate) mod captions;
pub(crate) mod claims;
pub(crate) mod cohort;
pub(crate) mod comparability;
pub(crate) mod compare;
#[cfg(test)]
mod constructed;
pub(crate) mod drive_class;
pub(crate) mod drive_slots;
mod drive_state;
pub(crate) mod drive_summary;
pub(crate) mod endurance;
mod fall_causes;
pub(crate) mod fall_words;
pub(crate) mod figure_titles;
pub(crate) mod fill_level;
pub(crate) mod fill_states;
pub(crate) mod finding_lines;
pub(crate) mod finding_words;
pub(crate) mod group;
mod headline;
pub(crate) mod headline_notes;
pub(crate) mod headline_points;
pub(crate) mod headline_reasons;
pub(crate) mod history;
pub(crate) mod input_error;
pub(crate) mod key_metrics;
pub(crate) mod knee;
pub(crate) mod label_comparison;
pub(crate) mod level_pair;
pub(crate) mod many_drives;
pub(crate) mod measure;
pub(crate) mod media_writes;
mod missing;
pub(crate) mod notes;
pub(crate) mod options;
pub(crate) mod outcome;
pub(crate) mod picture;
pub(crate) mod power;
pub(crate) mod prices;
pub(crate) mod quick_answer;
pub(crate) mod quick_look;
pub(crate) mod repeated_runs;
mod repetitions;
pub(crate) mod report_drives;
pub(crate) mod run_headline;
pub(crate) mod run_line;
pub(crate) mod run_outcome;
pub(crate) mod sections;
pub(crate) mod sent_late;
pub(crate) mod separation;
pub(crate) mod slc_cache;
pub(crate) mod spec_file;
pub(crate) mod specification;
pub(crate) mod stalls;
pub(crate) mod state_check;
pub(crate) mod stated_figures;
pub(crate) mod statements;
pub(crate) mod steady_state;
mod step_levels;
pub(crate) mod swept;
pub(crate) mod tried_loads;
pub(crate) mod trust;
pub(crate) mod uses;
pub(crate) mod workload_text;

use crate::model::{RecordedRun, Run, TestRun};
use ssdgauge_statistics::repetition::Stopping;

/// Returns the result of a recorded run: headlines, findings, and where each step lay of the
/// drive's SLC cache.
pub(crate) fn annotate(recorded: RecordedRun) -> Run {
    let RecordedRun { head, tests, mut findings, complete, awaits_flush, .. } = recorded;
    let (file_name, recorded_outcome) = (recorded.file_name, recorded.recorded_outcome);
    let (ended_after, durability, proof, wear) =
        (recorded.ended_after, recorded.durability, recorded.proof, recorded.wear);
    findings.extend(awaits_flush.then(missing::no_flush));
    let stopping = match head.plan.repeat_until {
        Some(_) => Stopping::ByWidth,
        None => Stopping::Fixed,
    };
    let (mut tests, unrepeated): (Vec<TestRun>, Vec<Vec<String>>) = tests
        .into_iter()
        .filter_map(|test| {
            let results: Vec<TestRun> = test.repetitions.into_iter().map(headline::score).collect();
            let unrepeated = fall_causes::unrepeated(&results);
            Some((repetitions::merge(results, &test.totals, stopping)?, unrepeated))
        })
        .unzip();
    fall_causes::annotate(&head.drive, &findings, &mut tests, &unrepeated);
    slc_cache::classify_steps(&mut tests);
    separation::judge(&mut tests);
    Run {
        head,
        file_name,
        tests,
        findings,
        complete,
        recorded_outcome,
        awaits_flush,
        ended_after,
        durability,
        proof,
        wear,
    }
}
