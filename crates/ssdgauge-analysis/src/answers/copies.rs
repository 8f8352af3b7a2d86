//! How long a copy takes on a drive whose write speed falls.

use crate::answers::drive_change::Change;
use crate::quick::quick_look::Fall;

/// Two write speeds, the amount between them, and the course of a fill where one was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Copies {
    /// MB/s until the speed falls.
    pub before: f64,
    /// MB/s from there.
    pub after: f64,
    /// Gigabytes until it falls.
    pub gb: f64,
    /// The MB/s of each second of a fill from its start; empty where only the two speeds are known.
    pub course: Vec<f64>,
}

impl Copies {
    /// Returns those of a quick run.
    pub fn of_fall(fall: &Fall) -> Copies {
        Copies { before: fall.before, after: fall.after, gb: fall.gb, course: Vec::new() }
    }

    /// Returns those of the change of a review; `None` for random writes.
    pub(crate) fn of_change(change: &Change) -> Option<Copies> {
        let edge = &change.first.edge;
        (!change.is_random).then(|| Copies {
            before: edge.before / 1e6,
            // What follows the recorded course is as fast as its end.
            after: change.last() / 1e6,
            gb: edge.bytes as f64 / 1e9,
            course: change.course.clone(),
        })
    }

    /// Returns how long a copy of `gb` gigabytes takes before the fall and after it, in seconds: what the fill took for
    /// as many bytes, and by the two speeds what is beyond it.
    pub fn seconds(&self, gb: f64) -> (f64, f64) {
        let inside = self.until(gb.min(self.gb));
        (inside, self.until(gb) - inside)
    }

    /// Returns the seconds for the first `gb` gigabytes.
    fn until(&self, gb: f64) -> f64 {
        let (mut left, mut seconds) = (gb * 1e3, 0.0);
        for second in &self.course {
            if left <= *second {
                return seconds + left / second.max(f64::MIN_POSITIVE);
            }
            left -= second;
            seconds += 1.0;
        }
        let written = gb * 1e3 - left;
        let inside = (self.gb * 1e3 - written).clamp(0.0, left);
        seconds + inside / self.before + (left - inside) / self.after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_fast_up_to_the_fall_and_slow_from_there() {
        let drive = Copies { before: 2_000.0, after: 500.0, gb: 20.0, course: Vec::new() };
        assert_eq!(drive.seconds(50.0), (10.0, 60.0));
        assert_eq!(drive.seconds(10.0), (5.0, 0.0));
    }

    #[test]
    fn a_copy_takes_as_long_as_the_fill_took_for_its_bytes_and_its_end_holds_beyond() {
        // 2 GB at 1,000 MB/s, 1 GB at 250 MB/s, then at 100 MB/s: the speeds between fall and end count.
        let course: Vec<f64> = [[1_000.0; 2].as_slice(), &[250.0; 4], &[100.0; 10]].concat();
        let drive = Copies { before: 1_000.0, after: 100.0, gb: 2.0, course };
        assert_eq!(drive.seconds(1.5), (1.5, 0.0));
        assert_eq!(drive.seconds(3.0), (2.0, 4.0));
        assert_eq!(drive.seconds(4.0), (2.0, 14.0));
        assert_eq!(drive.seconds(5.0), (2.0, 24.0));
    }
}
