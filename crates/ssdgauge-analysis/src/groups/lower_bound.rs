//! Results of searches that are lower bounds: the drive may hold more than it was tried at.

use crate::model::TestRun;
use crate::steps::tried_loads::{TriedLoad, tried_loads};

/// Returns whether the results of two searches leave open which drive holds more: the one with the lower, or
/// an equal, result was tried at no load that it failed.
pub(crate) fn is_open(a: &TestRun, b: &TestRun) -> bool {
    match (a.headline.value, b.headline.value) {
        (Some(of_a), Some(of_b)) => {
            (of_a <= of_b && is_lower_bound(a)) || (of_b <= of_a && is_lower_bound(b))
        }
        (_, _) => false,
    }
}

/// Returns whether the result of `test` is a lower bound: no load above it failed, such as in the log of
/// another program, which has one load.
fn is_lower_bound(test: &TestRun) -> bool {
    let Some(passed) = test.headline.value else { return false };
    let is_end = |load: &TriedLoad| load.passed == Some(false) && load.load > passed;
    test.test.search.is_some() && !tried_loads(test).iter().any(is_end)
}
