//! The check that the time stamps of a meter's own clock increase.

/// Counts time stamps that do not increase.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MonotonicCheck {
    last: Option<f64>,
    rejected: u64,
}

impl MonotonicCheck {
    /// Returns whether `stamp` is later than the stamp before it, and counts it otherwise. The next
    /// stamp is compared with this one in either case, because a meter that restarts its clock
    /// would otherwise lose every reading until the old time is reached.
    pub(crate) fn accepts(&mut self, stamp: f64) -> bool {
        let is_later = self.last.is_none_or(|last| stamp > last);
        self.last = Some(stamp);
        self.rejected += u64::from(!is_later);
        is_later
    }

    /// Drops the last stamp: the clock of the meter restarts.
    pub(crate) fn reset(&mut self) {
        self.last = None;
    }

    /// Returns a warning with the stamps rejected since the last call; `None` without any.
    pub(crate) fn take_warning(&mut self) -> Option<String> {
        let rejected = std::mem::take(&mut self.rejected);
        (rejected > 0)
            .then(|| format!("its time stamps did not increase; {rejected} readings were left out"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_that_do_not_increase_are_reported_once() {
        let mut check = MonotonicCheck::default();
        let stamps = [1.0, 2.0, 2.0, 1.5, 1.6];
        let accepted: Vec<bool> = stamps.iter().map(|stamp| check.accepts(*stamp)).collect();
        assert_eq!(accepted, [true, true, false, false, true]);
        assert!(check.take_warning().unwrap().contains("2 readings were left out"));
        assert_eq!(check.take_warning(), None);
    }
}
