//! Open loops on real files: rate, lateness and service time.

use crate::real_targets::support::{for_millis, random};
use ssdgauge_core::{Arrival, Bytes, Direction, EndedBy, Engine, Recording, Rig};
use ssdgauge_guard::Candidate;

const SPAN: Bytes = Bytes(16 << 20);

#[test]
fn both_engines_sustain_a_rate_and_report_their_lateness() {
    let folder = tempfile::tempdir().unwrap();
    let candidate = Candidate::find(folder.path().to_str().unwrap())
        .and_then(|found| found.sized(SPAN))
        .unwrap();
    let mut rig = crate::real_targets::support::open(candidate, None, 3).unwrap();
    crate::real_targets::engines::filled(&mut rig);
    for (engine, threads) in [(Engine::IoUring, 1), (Engine::IoUring, 2), (Engine::Synchronous, 4)]
    {
        for arrival in
            [Arrival::Uniform { per_second: 500.0 }, Arrival::Poisson { per_second: 500.0 }]
        {
            let mut workload = random(engine, 70, 1, SPAN);
            let stream = &mut workload.streams[0];
            (stream.arrival, stream.threads, stream.sync) = (arrival, threads, true);
            let mut seen = Recording::default();
            let ended = rig.run(&workload, &for_millis(2_000), &mut seen).unwrap();
            let ios = seen.ios(Direction::Read) + seen.ios(Direction::Write);
            let open = &ended.engine.open_loop[0];
            assert_eq!((ended.by, seen.errors()), (EndedBy::Time, 0), "{open:?}");
            // 2 s of 500 requests: exact at equal times, five standard deviations at random ones.
            let allowed = if arrival == (Arrival::Uniform { per_second: 500.0 }) { 1 } else { 158 };
            assert!((ios + open.unsent).abs_diff(1_000) <= allowed, "{engine:?}: {ios} {open:?}");
            assert!(open.lateness_p50_us.is_some() && open.service_p99_us.is_some(), "{open:?}");
        }
    }
}
