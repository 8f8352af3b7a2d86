//! JSON of any number of runs, for programs. Its shape is stable; keys are only added.

mod parts;
mod step;
mod test;

use crate::bands::quick_bands;
use crate::documents::report::{
    self as document, Drive, Durability, Endurance, RepeatUntil, Report, Suite, Verified,
};
use crate::documents::value_of;
use crate::stated::claims;
use parts::{finding, micros};
use serde_json::Value;
use ssdgauge_analysis::findings::run_outcome;
use ssdgauge_analysis::inputs::specification::Specification;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::quick::cohort::Cohort;
use ssdgauge_analysis::quick::quick_look;
use ssdgauge_analysis::steps::endurance;
use ssdgauge_analysis::text::{labels, sanitize};
use ssdgauge_core::{DriveInfo, Plan};
use std::collections::BTreeMap;

/// The number of the JSON shape; a change that breaks a reader raises it.
pub(crate) const SCHEMA: u32 = 1;

/// Returns `runs` as one JSON document.
///
/// Keys include units. A value that was not measured is `null`, and a finding of the same
/// test names its key and says why. `suite.shortened` is the divisor of all durations, 1 for the
/// full length.
pub fn json(runs: &[Run]) -> Value {
    report_json(runs, None, &[])
}

/// As [`json()`], with the bands of `cohort` instead of those of the shipped one, and with the judged claims of
/// `specifications` where there are any.
pub fn report_json(
    runs: &[Run],
    cohort: Option<&Cohort>,
    specifications: &[Specification],
) -> Value {
    let shipped;
    let cohort = match cohort {
        Some(cohort) => cohort,
        None => {
            shipped = Cohort::shipped();
            &shipped
        }
    };
    value_of(&Report {
        schema_version: SCHEMA,
        runs: runs.iter().map(|one| run(one, cohort)).collect(),
        specifications: (!specifications.is_empty()).then(|| claims(runs, specifications)),
    })
}

fn run(run: &Run, cohort: &Cohort) -> document::Run {
    let plan = &run.head.plan;
    document::Run {
        id: sanitize::prose(&run.head.id),
        program: sanitize::prose(&run.head.program),
        started_unix_ms: run.head.started(),
        outcome: run_outcome::of(run).name(),
        complete: run.complete,
        awaits_flush: run.awaits_flush,
        model: run.is_model(),
        label: labels::label(&run.head),
        imported_from: run.head.imported_from().map(sanitize::device),
        drive: drive(&run.head.drive),
        suite: suite(run, plan),
        repeat_until: plan.repeat_until.map(|rule| RepeatUntil {
            half_width_percent: rule.half_width_percent(),
            at_least: rule.at_least,
            at_most: rule.at_most,
            ended_after: run.ended_after,
        }),
        durability: durability(run),
        endurance: wear(run),
        environment: strings(&run.head.environment),
        findings: run.findings.iter().map(finding).collect(),
        quick_answer: quick_look::is_quick(&plan.suite.id).then(|| {
            let account = run_outcome::account(run, None);
            account.map_or_else(|| quick_look::headline(run), |account| account.title)
        }),
        quick_bands: quick_bands(run, cohort),
        tests: run.tests.iter().map(|of_run| test::document(run, of_run)).collect(),
    }
}

fn suite(run: &Run, plan: &Plan) -> Suite {
    Suite {
        id: sanitize::prose(&plan.suite.id),
        revision: plan.suite.revision,
        title: sanitize::prose(&plan.suite.title),
        shortened: plan.shortened.max(1),
        is_shortened: run.is_shortened(),
        span_scaled: plan.span_scaled,
        polled: plan.polled,
        pass_through: plan.pass_through,
        seed: plan.seed.to_string(),
    }
}

fn durability(run: &Run) -> Option<Durability> {
    run.durability.map(|of_run| Durability {
        flushes_sent: of_run.flushes,
        flushes_counted: of_run.counted,
        flush_longest_us: micros(of_run.longest),
        blocks_read_back: of_run.read_back,
        blocks_lost: of_run.lost,
        verified: of_run.verified.map(|verified| Verified {
            bytes: verified.bytes,
            blocks: verified.blocks,
            wrong: verified.wrong,
            elapsed_s: verified.elapsed.as_secs_f64(),
        }),
    })
}

fn wear(run: &Run) -> Option<Endurance> {
    let found = endurance::endurance(run, None)?;
    let wear = found.wear();
    let (rated_bytes, rated_source) = found.rating();
    Some(Endurance {
        rated_bytes,
        rated_source,
        used_percent: wear.used_percent,
        host_written_bytes: wear.host.and_then(|host| host.life()),
        media_written_bytes: wear.media,
        run_host_bytes: found.cost(),
        run_sent_bytes: wear.sent.map(|bytes| bytes.0),
        run_media_bytes: wear.media_in_run,
        run_elapsed_s: wear.host.map(|host| host.elapsed.as_secs_f64()),
        life_write_amplification: found.of_life(),
        in_service: found.in_service(),
        years_at_this_load: found.years().ok(),
        years_not_stated: found.years().err(),
    })
}

fn drive(drive: &DriveInfo) -> Drive {
    let device = |text: &Option<String>| text.as_deref().map(sanitize::device);
    Drive {
        kind: drive.kind.name(),
        target: sanitize::prose(&drive.target),
        model: device(&drive.model),
        serial: device(&drive.serial),
        firmware: device(&drive.firmware),
        capacity_bytes: drive.known_capacity().map(|capacity| capacity.0),
        logical_block_bytes: drive.logical_block.0,
        physical_block_bytes: drive.physical_block.0,
        details: strings(&drive.details),
    }
}

fn strings(pairs: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| (sanitize::prose(key), sanitize::prose(value))).collect()
}
