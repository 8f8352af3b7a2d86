//! The flags of a ring.

/// The flags that a ring is set up with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RingFlags {
    /// None that changes how completions arrive.
    #[default]
    Plain,
    /// COOP_TASKRUN and SINGLE_ISSUER: completions are posted when this thread enters the kernel.
    Cooperative,
    /// DEFER_TASKRUN and SINGLE_ISSUER: completions are posted only when this thread asks.
    Deferred,
    /// IOPOLL: the drive is asked for its completions instead of interrupting. Only where
    /// it was requested and the queue of the drive polls: elsewhere such requests fail, or are
    /// interrupted all the same.
    Polled,
}

impl RingFlags {
    /// Every choice of a trial, the usual one first.
    pub(crate) const TRIED: [RingFlags; 3] =
        [RingFlags::Plain, RingFlags::Cooperative, RingFlags::Deferred];

    /// Returns the word used in run files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RingFlags::Plain => "plain flags",
            RingFlags::Cooperative => "cooperative task run",
            RingFlags::Deferred => "deferred task run",
            RingFlags::Polled => "polled",
        }
    }
}
