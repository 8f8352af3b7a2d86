//! Cost of a plan: time and bytes written, expected and at most, and the share of the rated endurance.
//!
//! [`estimate`] walks the plan on a drive of assumed rates: what is known before a run. [`Outlook`]
//! does the same for the rest of a run, with the rate of writes that its fills have shown. [`limits()`]
//! holds what the limits of the steps say by themselves. Nothing here asks a drive, real or virtual.

mod computing;
mod drive_state;
mod expectation;
mod forecast;
mod limits;
mod outlook;
mod rates;
mod search_path;
mod spent;
mod verification;
mod wear;

pub use computing::computing_time;
use drive_state::Effort;
pub use expectation::Expectation;
use forecast::{Quantity, forecast};
pub use limits::{Limits, WRITE_RATE, limits};
pub use outlook::{Outlook, Remaining};
pub use rates::{AssumedRates, assumed_rates};
pub use spent::{Spent, spent};
use ssdgauge_core::{Bytes, Nanos, Plan, Test};
pub use verification::{verification_time, verified_bytes};
pub use wear::{DEFAULT_WEAR_SHARE, Endurance, Wear, WearError, allowed_writes, check_wear, wear};

/// Estimated cost of a plan, or of a test of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Duration, rests and the verification of a plan included.
    pub time: Expectation<Nanos>,
    /// Bytes that the host writes, preparations included.
    pub written: Expectation<Bytes>,
}

/// Estimates the cost of `plan` on a drive of `capacity` with `rates`.
pub fn estimate(plan: &Plan, capacity: Bytes, rates: &AssumedRates) -> Estimate {
    let tests = estimate_tests(plan, capacity, rates);
    let verification = verification_time(verified_bytes(plan, capacity), rates);
    let first = Estimate {
        time: Expectation { expected: verification, at_most: verification },
        written: Expectation::default(),
    };
    tests.iter().fold(first, |sum, test| Estimate {
        time: sum.time.plus(test.time),
        written: sum.written.plus(test.written),
    })
}

/// Returns the expected time of `plan` and the bytes that it writes, as [`estimate`] does: the bounds
/// of both take several times as long.
pub fn expected_cost(plan: &Plan, capacity: Bytes, rates: &AssumedRates) -> (Nanos, Bytes) {
    let verification = verification_time(verified_bytes(plan, capacity), rates);
    let tests = efforts(plan, capacity, rates, Quantity::Expected);
    tests
        .into_iter()
        .map(rounded)
        .fold((verification, Bytes(0)), |(time, written), test| (time + test.0, written + test.1))
}

fn efforts(plan: &Plan, capacity: Bytes, rates: &AssumedRates, quantity: Quantity) -> Vec<Effort> {
    forecast(plan, capacity, rates, quantity).iter().map(|test| test.sum()).collect()
}

/// Returns time and bytes written of `effort`.
fn rounded(effort: Effort) -> (Nanos, Bytes) {
    (Nanos((effort.seconds * 1e9).round() as u64), Bytes(effort.written.round() as u64))
}

/// Estimates the cost of each test of `plan`, in its order.
fn estimate_tests(plan: &Plan, capacity: Bytes, rates: &AssumedRates) -> Vec<Estimate> {
    let [expected, longest, most] = [Quantity::Expected, Quantity::Longest, Quantity::Most]
        .map(|quantity| efforts(plan, capacity, rates, quantity));
    let parts = expected.iter().zip(&longest).zip(&most);
    parts.map(|((expected, longest), most)| from_efforts(*expected, *longest, *most)).collect()
}

fn from_efforts(expected: Effort, longest: Effort, most: Effort) -> Estimate {
    let (time, written) = rounded(expected);
    // Sums of floating-point numbers are exact to about 15 digits: a bound must not fall below a sum of
    // whole bytes by them, and an expectation does not exceed its bound.
    let bound = |expected: f64, most: f64| (most.max(expected) * (1.0 + 1e-12)).ceil() as u64;
    let longest = Nanos(bound(expected.seconds * 1e9, longest.seconds * 1e9));
    let most = Bytes(bound(expected.written, most.written));
    Estimate {
        time: Expectation { expected: time, at_most: longest },
        written: Expectation { expected: written, at_most: most },
    }
}

/// Returns the test of `plan` that is expected to write most, with its bytes written; `None` for a plan
/// without writes.
pub fn writes_most<'a>(
    plan: &'a Plan,
    capacity: Bytes,
    rates: &AssumedRates,
) -> Option<(&'a Test, Bytes)> {
    let estimates = estimate_tests(plan, capacity, rates);
    let each = plan.tests.iter().zip(estimates.iter().map(|test| test.written.expected));
    each.max_by_key(|(_, written)| *written).filter(|(_, written)| written.0 > 0)
}
