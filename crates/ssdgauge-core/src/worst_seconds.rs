//! The second with the fewest requests, and the longest time without one.

use crate::scope::Scope;

const SCOPES: usize = Scope::ALL.len();

/// What the worst full seconds of a step had, by the place in [`Scope::ALL`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WorstSeconds {
    fewest: [u64; SCOPES],
    longest: [u32; SCOPES],
}

impl WorstSeconds {
    /// Returns the worst of consecutive full `seconds`, each with the requests that completed in it, by the
    /// place in [`Scope::ALL`]; `None` where there are no seconds.
    pub(crate) fn of(seconds: impl Iterator<Item = [u64; SCOPES]>) -> Option<WorstSeconds> {
        let (mut fewest, mut longest) = ([u64::MAX; SCOPES], [0; SCOPES]);
        let mut run = [0u32; SCOPES];
        let mut any = false;
        for second in seconds {
            any = true;
            for (place, completed) in second.into_iter().enumerate() {
                fewest[place] = completed.min(fewest[place]);
                run[place] = if completed == 0 { run[place] + 1 } else { 0 };
                longest[place] = run[place].max(longest[place]);
            }
        }
        any.then_some(WorstSeconds { fewest, longest })
    }

    /// Returns the requests of `scope` in the second with the fewest.
    pub(crate) fn fewest(&self, scope: Scope) -> u64 {
        self.fewest[place(scope)]
    }

    /// Returns the most consecutive seconds in which no request of `scope` completed.
    pub(crate) fn longest_stall(&self, scope: Scope) -> u32 {
        self.longest[place(scope)]
    }
}

fn place(scope: Scope) -> usize {
    Scope::ALL.iter().position(|one| *one == scope).expect("the list has all scopes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_second_and_the_longest_stall_are_those_of_each_scope() {
        let seconds = [(5, 5), (9, 0), (0, 0), (0, 0), (3, 0), (0, 0)];
        let worst = WorstSeconds::of(seconds.into_iter().map(|(all, read)| [all, read, 0, 0, 0]));
        let worst = worst.unwrap();
        assert_eq!((worst.fewest(Scope::All), worst.longest_stall(Scope::All)), (0, 2));
        assert_eq!((worst.fewest(Scope::Read), worst.longest_stall(Scope::Read)), (0, 5));
        let even = WorstSeconds::of([[7, 4, 3, 0, 0], [6, 5, 1, 0, 0]].into_iter()).unwrap();
        assert_eq!((even.fewest(Scope::All), even.longest_stall(Scope::All)), (6, 0));
        assert_eq!(even.fewest(Scope::Write), 1);
        assert_eq!(WorstSeconds::of(std::iter::empty()), None);
    }
}
