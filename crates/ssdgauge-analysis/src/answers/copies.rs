//! How long a copy takes on a drive whose write speed falls.

use crate::answers::drive_change::Change;
use crate::quick::quick_look::Fall;

/// Two write speeds and the amount between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copies {
    /// MB/s until the speed falls.
    pub before: f64,
    /// MB/s from there.
    pub after: f64,
    /// Gigabytes until it falls.
    pub gb: f64,
}

impl Copies {
    /// Returns those of a quick run.
    pub fn of_fall(fall: &Fall) -> Copies {
        Copies { before: fall.before, after: fall.after, gb: fall.gb }
    }

    /// Returns those of the change of a review; `None` for random writes.
    pub(crate) fn of_change(change: &Change) -> Option<Copies> {
        let edge = &change.first.edge;
        (!change.is_random).then(|| Copies {
            before: edge.before / 1e6,
            after: change.settled / 1e6,
            gb: edge.bytes as f64 / 1e9,
        })
    }

    /// Returns how long a copy of so many gigabytes takes before the fall and after it, in seconds.
    pub fn seconds(&self, gb: f64) -> (f64, f64) {
        let inside = gb.min(self.gb);
        (inside * 1e3 / self.before, (gb - inside) * 1e3 / self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_fast_up_to_the_fall_and_slow_from_there() {
        let drive = Copies { before: 2_000.0, after: 500.0, gb: 20.0 };
        assert_eq!(drive.seconds(50.0), (10.0, 60.0));
        assert_eq!(drive.seconds(10.0), (5.0, 0.0));
    }
}
