//! Cost of the verification after a run: the bytes that it reads, and their time.

use super::rates::AssumedRates;
use ssdgauge_core::{Action, Bytes, Extents, Nanos, Plan, Preparation};

/// The bytes that the verification of `plan` reads on a drive of `capacity`: at most every byte that a
/// step writes, or may write, and that none trims, purges or overwrites with other data afterwards. Zero where the plan requires no
/// verification.
pub fn verified_bytes(plan: &Plan, capacity: Bytes) -> Bytes {
    let mut written = Extents::default();
    for (_, _, step) in plan.steps().filter(|_| plan.verify) {
        match &step.action {
            Action::Run { workload, .. } => {
                let writers = workload.streams.iter().filter(|stream| stream.writes());
                for stream in writers {
                    let (from, to) = (stream.offset.0, (stream.offset + stream.span).0);
                    match stream.data.is_verified() {
                        true => written.insert(from, to),
                        // The blocks have no verification headers.
                        false => written.remove(from, to),
                    }
                }
            }
            // What each block holds after a replay is not followed.
            Action::Replay(replay) if replay.workload.changes_data() => {
                written.remove(0, replay.workload.end().0);
            }
            Action::Replay(_) => {}
            Action::Prepare(Preparation::Fill { offset, span, .. }) => {
                written.insert(offset.0, (*offset + *span).0);
            }
            Action::Prepare(Preparation::Trim { offset, span }) => {
                written.remove(offset.0, (*offset + *span).0);
            }
            Action::Prepare(Preparation::Purge | Preparation::PurgeBy(_)) => {
                written = Extents::default();
            }
            Action::Prepare(Preparation::Power(_) | Preparation::WriteCache(_))
            | Action::Rest(_)
            | Action::Idle(_) => {}
        }
    }
    written.remove(capacity.0, u64::MAX);
    Bytes(written.bytes())
}

/// Returns the expected time of the verification of `bytes` at the assumed rate of large reads.
pub fn verification_time(bytes: Bytes, rates: &AssumedRates) -> Nanos {
    Nanos((bytes.0 as f64 / (rates.large_read_mb_s * 1e6) * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Suite, assumed_rates, estimate, plan};
    use ssdgauge_core::Rig;
    use ssdgauge_sim::VirtualRig;

    const SUITE: &str = "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n[[test]]\n\
        id = \"a\"\nrevision = 1\ntitle = \"A\"\nprepare = [{ fill = \"sequential\" }]\n\
        stream = { access = \"random\", block_size = \"4KiB\", read_percent = 0 }\n\
        until = { time = \"1s\" }\nscore = { mean_of = \"iops\" }\n";

    #[test]
    fn the_verification_of_a_plan_reads_each_written_byte_once() {
        let rig = VirtualRig::open("tiny", 1).unwrap();
        let (drive, suite) = (rig.drive(), Suite::parse("mine.toml", SUITE).unwrap());
        let planned =
            |verify| plan(&suite, drive, &Options { verify, ..Options::default() }).unwrap();
        let rates = assumed_rates(drive);
        let [without, with] = [false, true].map(planned);
        assert_eq!(verified_bytes(&without, drive.capacity), Bytes(0));
        // Filled, and written again.
        assert_eq!(verified_bytes(&with, drive.capacity), drive.capacity);
        let time = |plan| estimate(plan, drive.capacity, &rates).time.expected;
        assert_eq!(time(&with), time(&without) + verification_time(drive.capacity, &rates));
    }
}
