//! The counters of the kernel compared with those of the engine.

use crate::real_targets::engines::filled;
use crate::real_targets::support::{Loop, for_millis, random};
use ssdgauge_core::{Bytes, Engine, KernelQueue, Recording, Rig};
use ssdgauge_guard::Candidate;
use ssdgauge_host::LinuxRig;

const SPAN: Bytes = Bytes(16 << 20);

/// Runs random reads at queue depth 16 on the first bytes of `rig`.
fn used(rig: &mut LinuxRig) -> (u64, f64, Option<KernelQueue>) {
    let mut seen = Recording::default();
    let workload = random(Engine::IoUring, 100, 16, SPAN);
    let ended = rig.run(&workload, &for_millis(1_000), &mut seen).unwrap();
    let ios = seen.intervals.iter().map(|interval| interval.ios).sum();
    (ios, ended.engine.in_flight.unwrap_or_default(), ended.engine.kernel)
}

#[test]
fn the_queue_of_a_block_device_is_reported_by_the_counters_of_the_kernel() {
    let Some(device) = Loop::in_memory(64 << 20) else { return };
    let mut rig = device.rig();
    filled(&mut rig);
    let (ios, in_flight, kernel) = used(&mut rig);
    let kernel = kernel.unwrap();
    assert_eq!(kernel.device, device.name());
    // The kernel merges single neighbours, and scans for partitions add single requests.
    assert!(kernel.requests.abs_diff(ios) < 100 + ios / 100, "{ios} {kernel:?}");
    // The kernel counts from the queue of the device to the completion in the kernel, so less.
    assert!(
        kernel.in_flight > 1.0 && kernel.in_flight < 1.02 * in_flight,
        "{in_flight} {kernel:?}"
    );
    // Little's law, with the second that the step lasted and the last completions.
    let by_time = kernel.time_mean_us / 1e6 * kernel.requests as f64;
    assert!((by_time / kernel.in_flight - 1.0).abs() < 0.2, "{kernel:?}");
}

#[test]
fn files_and_the_null_target_have_no_counters_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    for target in [folder.path().to_str().unwrap(), "null:"] {
        let found = Candidate::find(target).unwrap();
        let candidate = if target == "null:" { found } else { found.sized(SPAN).unwrap() };
        let mut rig = crate::real_targets::support::open(candidate, None, 3).unwrap();
        filled(&mut rig);
        assert_eq!(used(&mut rig).2, None, "{target}");
    }
}
