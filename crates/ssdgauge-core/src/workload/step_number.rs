//! Numbers of steps, from which the seeds of their random requests follow.

use crate::workload::distribution::Distribution;
use crate::workload::{Operation, Stream, Until, Workload};
use std::collections::BTreeMap;

/// The numbers of the steps of a rig.
///
/// A number follows from the requests of a step and its limits, and from how often the same step ran
/// before: repeated bursts have requests of their own, and a load of a search has the same requests
/// whatever loads were tried before it. Steps that differ in nothing but how their requests are
/// carried out, such as synchronous writes, have the same requests too.
#[derive(Clone, Debug, Default)]
pub struct StepNumbers {
    earlier: BTreeMap<u64, u64>,
}

impl StepNumbers {
    /// Returns the number of the next step with this workload, at most 48 bits.
    pub fn next(&mut self, workload: &Workload, until: &Until) -> u64 {
        let requests = workload.streams.iter().map(|stream| {
            let Stream { access, block_size, read_percent, offset, span, arrival, .. } = stream;
            // What is not a read or a write is stated after the rest, so that the numbers of steps
            // without it stay as they are.
            let operation = match stream.operation {
                Operation::Transfer => "",
                Operation::Flush => " flush",
                Operation::Trim => " trim",
            };
            let distribution = match &stream.distribution {
                Distribution::Uniform => String::new(),
                other => format!(" {other:?}"),
            };
            let sizes = match stream.has_sizes() {
                true => format!(" {:?}", stream.sizes),
                false => String::new(),
            };
            let stride = match stream.stride {
                Some(stride) => format!(" every {stride:?}"),
                None => String::new(),
            };
            let random = match stream.is_sequential() || stream.is_random() {
                true => String::new(),
                false => format!(" {} random", stream.random_percent),
            };
            format!(
                "{access:?} {block_size:?} {read_percent} {offset:?} {span:?} {arrival:?}{operation}{distribution}{sizes}{stride}{random}"
            )
        });
        let requests: Vec<String> = requests.collect();
        let digest = digest(&format!("{requests:?} {until:?}"));
        let earlier = self.earlier.entry(digest).or_insert(0);
        let number = digest.wrapping_add(*earlier);
        *earlier += 1;
        number & ((1 << 48) - 1)
    }
}

/// Returns the FNV-1a digest of `text` (Fowler, Noll and Vo; 64 bits).
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    #[test]
    fn a_number_depends_on_the_step_and_its_repetitions_alone() {
        let workload = Workload::no_load();
        let seconds = |n| Until { time: Some(Nanos::from_secs(n)), bytes: None };
        let mut first = StepNumbers::default();
        let numbers = [1, 2, 1, 3].map(|n| first.next(workload, &seconds(n)));
        let mut second = StepNumbers::default();
        assert_eq!(second.next(workload, &seconds(3)), numbers[3]);
        assert_eq!(second.next(workload, &seconds(1)), numbers[0]);
        assert_eq!(second.next(workload, &seconds(1)), numbers[2]);
        assert!(numbers[0] != numbers[1] && numbers[0] != numbers[2], "{numbers:?}");
        assert_eq!(digest("a"), 0xaf63_dc4c_8601_ec8c, "a published value of FNV-1a");
    }
}
