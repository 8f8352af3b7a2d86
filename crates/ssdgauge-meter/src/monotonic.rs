//! The time stamps of a meter's own clock: whether they go on, or back.

/// Watches the time stamps of a meter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MonotonicCheck {
    last: Option<f64>,
    backwards: u64,
}

impl MonotonicCheck {
    /// Takes the next stamp; returns whether it lies behind the one before. After a stamp that
    /// does not, the stamps are watched from there on, because the meter may have begun anew.
    pub(crate) fn goes_on(&mut self, stamp: f64) -> bool {
        let goes_on = self.last.is_none_or(|last| stamp > last);
        self.last = Some(stamp);
        self.backwards += u64::from(!goes_on);
        goes_on
    }

    /// Forgets the stamps so far.
    pub(crate) fn begin_anew(&mut self) {
        self.last = None;
    }

    /// Returns in words what was wrong since it was last asked; `None` where nothing was.
    pub(crate) fn remark(&mut self) -> Option<String> {
        let backwards = std::mem::take(&mut self.backwards);
        (backwards > 0).then(|| {
            format!("its time stamps stood still or went backwards, {backwards} readings left out")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_that_goes_back_is_told_once() {
        let mut order = MonotonicCheck::default();
        let stamps = [1.0, 2.0, 2.0, 1.5, 1.6];
        let goes_on: Vec<bool> = stamps.iter().map(|stamp| order.goes_on(*stamp)).collect();
        assert_eq!(goes_on, [true, true, false, false, true]);
        assert!(order.remark().unwrap().contains("2 readings left out"));
        assert_eq!(order.remark(), None);
    }
}
