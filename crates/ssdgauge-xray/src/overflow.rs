//! Overflow: whether writes beyond the end of the fast cache go through it, from counters of what the drive wrote to
//! its flash.
//!
//! Data that passes the cache is programmed twice, once in it and once when it leaves; data that goes to the other
//! flash directly is programmed once.

use crate::amplification::{Round, counts_what_was_sent, sum};
use crate::answer::{Identified, Value, refuse};
use ssdgauge_core::Amplification;

/// Up to how many bytes programmed for each byte written the cache is not passed, and from how many on it is.
/// Chosen: a drive that empties its cache during direct writes lies between.
const CLEARLY: (f64, f64) = (1.25, 1.75);

/// Returns 1 where writes go through the cache and 0 where they go to other flash, from `stages` that were written
/// after its end.
///
/// # Errors
/// The stages are fewer than two, the counters are too coarse, or the bytes lie between both cases.
pub fn find(stages: &[Round]) -> Identified {
    if stages.len() < 2 {
        return refuse("too little was written after the fast cache was full");
    }
    counts_what_was_sent(stages)?;
    let halves = stages.split_at(stages.len() / 2);
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    for part in [stages, halves.0, halves.1] {
        match sum(part).amplification() {
            Amplification::Known { low: least, high: most, .. } => {
                (low, high) = (low.min(least), high.max(most));
            }
            Amplification::TooCoarse { .. } => {
                return refuse("the counters of media writes are too coarse");
            }
            Amplification::NothingWritten => {
                return refuse("the counter of host writes does not move");
            }
        }
    }
    if low >= CLEARLY.1 {
        Ok(Value::exact(1.0))
    } else if high <= CLEARLY.0 {
        Ok(Value::exact(0.0))
    } else {
        refuse(format!(
            "{low:.2} to {high:.2} bytes are programmed for each byte written after the cache is full, where 1 is \
             direct and 2 is through the cache"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amplification::tests::rounds;

    #[test]
    fn one_program_for_each_byte_is_direct_and_two_are_through_the_cache() {
        let found = |programmed: &[f64]| find(&rounds(programmed, 4_096.0));
        assert_eq!(found(&[1.0, 1.02, 1.0, 1.01]), Ok(Value::exact(0.0)));
        assert_eq!(found(&[2.0, 1.9, 2.1, 2.0]), Ok(Value::exact(1.0)));
        for (bad, words) in [
            (rounds(&[1.5; 4], 1.0), "where 1 is direct"),
            // Direct at first, then through the cache.
            (rounds(&[1.0, 1.0, 2.0, 2.0], 1.0), "where 1 is direct"),
            (rounds(&[2.0; 1], 1.0), "too little"),
            (rounds(&[2.0; 4], 1e8), "too coarse"),
        ] {
            assert!(find(&bad).unwrap_err().0.contains(words), "{words}");
        }
        let mut with_another = rounds(&[2.0; 4], 1.0);
        with_another.iter_mut().for_each(|stage| stage.sent = 0.5e9);
        assert!(find(&with_another).unwrap_err().0.contains("were sent"));
    }
}
