//! The job file of a single step, for a check of ssdgauge against fio on one target.

use crate::job_file::JobTarget;
use crate::line::NameError;
use crate::section::{name, of_workload};
use ssdgauge_core::{Action, Step, Test, Until, Workload};

/// Returns what fio cannot do of `step` in the phase with the index `phase` of `test`, one text each;
/// empty for a step that fio does in full.
pub fn limitations(test: &Test, phase: usize, step: &Step) -> Vec<String> {
    let Action::Run { workload, until, steady } = &step.action else {
        return vec!["a step without a workload".into()];
    };
    let sections = of_workload(workload, until);
    let mut missing: Vec<String> =
        sections.into_iter().flat_map(|section| section.missing).collect();
    if let Some(rule) = steady {
        let metric = rule.metric.key();
        missing.push(format!("an end when {metric} is steady over five rounds (SNIA PTS)"));
    }
    if workload.streams.iter().any(|stream| !stream.addresses()) {
        missing.push("a stream of flushes".into());
    }
    let searched = |phase| {
        test.search.as_ref().is_some_and(|one| phase == one.probes || phase == one.attempts)
    };
    if searched(phase) {
        missing.push("the search for the highest passing load, which sets the load".into());
    }
    missing.dedup();
    missing
}

/// Returns the job file of only `workload`, limited by `until`. fio creates no file for it, and reports
/// latencies from the creation of the request to its reap, percentiles included.
///
/// # Errors
///
/// Refuses a target whose name fio would read as another one.
pub fn check_job(
    workload: &Workload,
    until: &Until,
    target: &JobTarget,
    seed: u64,
) -> Result<String, NameError> {
    let filename = target.filename()?;
    let mut text = format!(
        "[global]\nfilename={filename}\ndirect=1\nthread=1\ngroup_reporting=1\nrandseed={seed}\n\
         allow_file_create=0\ndisk_util=0\nlat_percentiles=1\nclat_percentiles=0\n"
    );
    for (index, section) in of_workload(workload, until).iter().enumerate() {
        text += &format!("\n[{}]\n", name(index, "check", "stream", None));
        for (key, value) in &section.options {
            text += &format!("{key}={value}\n");
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{
        Arrival, Bytes, Engine, LatencyClock, Metric, Nanos, Phase, PhaseKind, Rest, Restart,
        Score, SteadyRule, Stream,
    };

    fn stream(read_percent: u8, arrival: Arrival) -> Stream {
        Stream { read_percent, queue_depth: 4, span: Bytes(1 << 20), arrival, ..Stream::default() }
    }

    fn step(streams: Vec<Stream>, bytes: Option<Bytes>, steady: Option<SteadyRule>) -> Step {
        let workload = Workload { engine: Engine::IoUring, streams };
        let until = Until { time: Some(Nanos::from_secs(2)), bytes };
        let action = Action::Run { workload, until, steady };
        Step { label: "one".into(), position: 0.0, action, rest: Rest::None }
    }

    /// Checks that what fio cannot do of `step` is named by the words `parts`, in their order.
    #[track_caller]
    fn names(step: Step, parts: &[&str]) {
        let test = Test {
            id: "reads".into(),
            revision: 1,
            title: "Reads".into(),
            source: String::new(),
            score: Score::MeanOf(Metric::Iops),
            also: Vec::new(),
            figures: Vec::new(),
            chosen: Vec::new(),
            deviations: Vec::new(),
            restart: Restart::Step,
            phases: vec![Phase { kind: PhaseKind::Measure, steps: vec![step.clone()] }],
            search: None,
            rounds: None,
            repetition: 1,
        };
        let found = limitations(&test, 0, &step);
        assert_eq!(found.len(), parts.len(), "{found:?}");
        for (found, part) in found.iter().zip(parts) {
            assert!(found.contains(part), "{found} has no '{part}'");
        }
    }

    #[test]
    fn what_fio_cannot_do_of_a_step_is_named_and_what_it_can_is_not() {
        let closed = |read_percent| stream(read_percent, Arrival::Closed);
        names(step(vec![closed(100)], None, None), &[]);
        names(step(vec![closed(0)], Some(Bytes(1 << 20)), None), &[]);
        names(step(vec![closed(70)], None, None), &["exact over every 100 requests"]);
        let several = step(vec![closed(100), closed(0)], Some(Bytes(1 << 20)), None);
        names(several, &["for all streams together"]);
        let open = stream(100, Arrival::Uniform { per_second: 99.5 });
        names(step(vec![open], None, None), &["the exact rate", "from the due time"]);
        let open = Arrival::Poisson { per_second: 100.0 };
        let service = Stream { clock: LatencyClock::Submission, ..stream(100, open) };
        names(step(vec![service], None, None), &[]);
        let rest = Step { action: Action::Rest(Nanos::from_secs(1)), ..step(vec![], None, None) };
        names(rest, &["without a workload"]);
    }

    #[test]
    fn the_job_has_every_stream_runs_no_command_and_creates_no_file() {
        let Action::Run { workload, until, .. } =
            step(vec![stream(100, Arrival::Closed), stream(0, Arrival::Closed)], None, None).action
        else {
            unreachable!("the step runs a workload")
        };
        let target = JobTarget::Path("/proc/1/fd/9".into());
        let text = check_job(&workload, &until, &target, 7).unwrap();
        assert_eq!(text.matches("\n[0").count(), 2, "{text}");
        assert!(text.contains("allow_file_create=0") && text.contains("rw=randwrite"), "{text}");
        assert!(!text.contains("exec_") && !text.contains("stonewall"), "{text}");
        let named = JobTarget::Path("a;b".into());
        assert!(check_job(&workload, &until, &named, 7).is_err());
    }
}
