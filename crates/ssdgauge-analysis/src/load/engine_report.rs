//! The reports of the engine in the records of a step.

use crate::text::sanitize;
use ssdgauge_core::{EngineReport, KernelQueue, Nanos, OpenLoop};
use ssdgauge_runfile::StepRecord;

/// Returns the figures of the open loops in the last of `records`, and the use of the device over
/// all of them; nothing where a report cannot be read.
pub(crate) fn read(records: &[&StepRecord]) -> (Vec<OpenLoop>, Option<KernelQueue>) {
    let parse = |record: &&StepRecord| {
        let mut report: EngineReport = serde_json::from_str(record.report.as_deref()?).ok()?;
        // The record keeps the histograms; nothing here shows them, and they are most of the memory.
        report.open_loop.iter_mut().for_each(|open| open.service_histogram = Vec::new());
        Some((record.elapsed?, report))
    };
    let Some(reports) = records.iter().map(parse).collect::<Option<Vec<_>>>() else {
        return (Vec::new(), None);
    };
    let used: Option<Vec<(Nanos, KernelQueue)>> =
        reports.iter().map(|(elapsed, report)| Some((*elapsed, report.kernel.clone()?))).collect();
    let last = reports.into_iter().next_back().map(|(_, report)| report.open_loop);
    let open_loop = last
        .into_iter()
        .flatten()
        .map(|open| OpenLoop { stream: sanitize::prose(&open.stream), ..open });
    (open_loop.collect(), used.and_then(|used| over_all(&used)))
}

/// Returns the use of one device over several steps: means over their time, and over their
/// requests.
fn over_all(used: &[(Nanos, KernelQueue)]) -> Option<KernelQueue> {
    let (_, last) = used.last()?;
    let elapsed: f64 = used.iter().map(|(elapsed, _)| elapsed.as_secs_f64()).sum();
    let requests = used.iter().try_fold(0u64, |sum, (_, one)| sum.checked_add(one.requests))?;
    let held: f64 = used.iter().map(|(elapsed, one)| one.in_flight * elapsed.as_secs_f64()).sum();
    let times: f64 = used.iter().map(|(_, one)| one.time_mean_us * one.requests as f64).sum();
    let all = KernelQueue {
        device: sanitize::prose(&last.device),
        requests,
        in_flight: held / elapsed,
        time_mean_us: times / requests as f64,
    };
    (all.in_flight.is_finite() && all.time_mean_us.is_finite()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_rounds_have_one_mean() {
        let used = |seconds, requests, in_flight| {
            let held = (in_flight * 1e9) as u128 * u128::from(seconds);
            let elapsed = Nanos::from_secs(seconds);
            (elapsed, KernelQueue::new("sda", requests, held, elapsed).unwrap())
        };
        let all = over_all(&[used(1, 1_000, 10.0), used(3, 1_000, 30.0)]).unwrap();
        // 10 + 90 s of 2,000 requests in 4 s.
        assert_eq!((all.requests, all.in_flight, all.time_mean_us), (2_000, 25.0, 50_000.0));
        assert_eq!(over_all(&[]), None);
        let impossible = KernelQueue { in_flight: f64::MAX, ..all };
        assert_eq!(over_all(&[(Nanos::from_secs(9), impossible)]), None);
    }
}
