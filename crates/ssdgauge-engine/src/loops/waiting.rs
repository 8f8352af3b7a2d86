//! Waiting to the end of a pause, while seconds are handed over and a stop is noticed.

use crate::load::StopSignal;
use crate::load::pauses::Pause;
use crate::recorder::ThreadRecorder;
use ssdgauge_core::Nanos;
use ssdgauge_os::clock::Clock;

/// How long before its end a thread wakes up and spins: a timer is some ten microseconds late.
const WAKE_UP_MARGIN: Nanos = Nanos(60_000);
/// The longest sleep, so that a thread reads the stop signal and hands over every second.
const LONGEST_SLEEP: Nanos = Nanos(20_000_000);

/// Waits to the end of `pause`, or of the step at `deadline`, or for a stop.
pub(crate) fn wait(
    pause: Pause,
    (clock, deadline): (Clock, u64),
    stop_signal: &StopSignal,
    recorder: &mut ThreadRecorder,
) {
    let end = match pause {
        Pause::Think(ticks) => clock.now() + ticks,
        Pause::Until(tick) => tick,
    };
    let end = end.min(deadline);
    let (margin, longest) = (clock.ticks(WAKE_UP_MARGIN), clock.ticks(LONGEST_SLEEP));
    loop {
        let now = clock.now();
        recorder.advance_to(now);
        if now >= end || stop_signal.is_stopping() {
            return;
        }
        match (end - now).saturating_sub(margin).min(longest) {
            0 => std::hint::spin_loop(),
            ticks => std::thread::sleep(Nanos(clock.nanos(ticks)).into()),
        }
    }
}
