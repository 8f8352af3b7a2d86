//! The second with the fewest requests, and the longest time without one.

use crate::totals::scope::Scope;
use crate::units::packed::{Packer, Unpacker};

const SCOPES: usize = Scope::ALL.len();

/// What the worst full seconds of a step had, by the place in [`Scope::ALL`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WorstSeconds {
    fewest: [u64; SCOPES],
    longest: [u32; SCOPES],
}

/// What completed in a second, by the place in [`Scope::ALL`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completed {
    /// The requests.
    pub(crate) requests: [u64; SCOPES],
    /// Whether the second has its full length. A shorter one, at the end of a round, is not judged; what
    /// completed in it ends a stall.
    pub(crate) is_full: bool,
    /// Whether something else ran between the second before and this one.
    pub(crate) follows_gap: bool,
}

impl WorstSeconds {
    /// Returns the worst of consecutive `seconds`; `None` where none is full.
    pub(crate) fn of(seconds: impl Iterator<Item = Completed>) -> Option<WorstSeconds> {
        let (mut fewest, mut longest) = ([u64::MAX; SCOPES], [0; SCOPES]);
        let mut run = [0u32; SCOPES];
        let mut any = false;
        for second in seconds {
            any |= second.is_full;
            if second.follows_gap {
                run = [0; SCOPES];
            }
            for (place, completed) in second.requests.into_iter().enumerate() {
                if completed > 0 {
                    run[place] = 0;
                }
                if second.is_full {
                    fewest[place] = completed.min(fewest[place]);
                    run[place] += u32::from(completed == 0);
                    longest[place] = run[place].max(longest[place]);
                }
            }
        }
        any.then_some(WorstSeconds { fewest, longest })
    }

    /// Returns the requests of `scope` in the second with the minimum number.
    pub(crate) fn fewest(&self, scope: Scope) -> u64 {
        self.fewest[place(scope)]
    }

    /// Returns the most consecutive seconds in which no request of `scope` completed.
    pub(crate) fn longest_stall(&self, scope: Scope) -> u32 {
        self.longest[place(scope)]
    }

    pub(crate) fn pack(&self, packer: &mut Packer) {
        self.fewest.into_iter().for_each(|requests| packer.number(requests));
        self.longest.into_iter().for_each(|seconds| packer.number(u64::from(seconds)));
    }

    pub(crate) fn unpack(unpacker: &mut Unpacker<'_>) -> Option<WorstSeconds> {
        let mut worst = WorstSeconds { fewest: [0; SCOPES], longest: [0; SCOPES] };
        for requests in &mut worst.fewest {
            *requests = unpacker.number()?;
        }
        for seconds in &mut worst.longest {
            *seconds = u32::try_from(unpacker.number()?).ok()?;
        }
        Some(worst)
    }
}

fn place(scope: Scope) -> usize {
    Scope::ALL.iter().position(|one| *one == scope).expect("the list has all scopes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(requests: [u64; SCOPES]) -> Completed {
        Completed { requests, is_full: true, follows_gap: false }
    }

    #[test]
    fn the_worst_second_and_the_longest_stall_are_those_of_each_scope() {
        let seconds = [(5, 5), (9, 0), (0, 0), (0, 0), (3, 0), (0, 0)];
        let seconds = seconds.into_iter().map(|(all, read)| full([all, read, 0, 0, 0]));
        let worst = WorstSeconds::of(seconds).unwrap();
        assert_eq!((worst.fewest(Scope::All), worst.longest_stall(Scope::All)), (0, 2));
        assert_eq!((worst.fewest(Scope::Read), worst.longest_stall(Scope::Read)), (0, 5));
        let even = [[7, 4, 3, 0, 0], [6, 5, 1, 0, 0]].map(full);
        let even = WorstSeconds::of(even.into_iter()).unwrap();
        assert_eq!((even.fewest(Scope::All), even.longest_stall(Scope::All)), (6, 0));
        assert_eq!(even.fewest(Scope::Write), 1);
        assert_eq!(WorstSeconds::of(std::iter::empty()), None);
    }

    #[test]
    fn stalls_that_touch_are_one_unless_a_request_or_another_load_lies_between() {
        let longest = |end: Option<u64>, follows_gap: bool| {
            let busy = full([9; SCOPES]);
            let silent = full([0; SCOPES]);
            let end = end.map(|n| Completed { is_full: false, ..full([n; SCOPES]) });
            let next = Completed { follows_gap, ..silent };
            let seconds = [busy, silent, silent].into_iter().chain(end);
            let seconds = seconds.chain([next, silent, silent, busy]);
            WorstSeconds::of(seconds).unwrap().longest_stall(Scope::All)
        };
        assert_eq!(longest(None, false), 5);
        assert_eq!(longest(Some(0), false), 5);
        assert_eq!(longest(Some(1), false), 3);
        assert_eq!(longest(None, true), 3);
        let short = Completed { is_full: false, ..full([0; SCOPES]) };
        assert_eq!(WorstSeconds::of([short].into_iter()), None);
    }
}
