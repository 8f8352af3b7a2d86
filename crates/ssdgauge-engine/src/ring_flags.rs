//! The setup flags of a ring, as far as they determine how completions arrive.

/// The setup flags of a ring. Which of them costs least depends on the drive: deferred completions
/// cost 6 to 19 % more on a virtio disk and nothing elsewhere (docs/performance.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RingFlags {
    /// No flag: completions may interrupt the thread.
    #[default]
    Plain,
    /// COOP_TASKRUN and SINGLE_ISSUER: completions are posted when the thread enters the
    /// kernel.
    Cooperative,
    /// DEFER_TASKRUN and SINGLE_ISSUER: completions are posted only when the thread waits for
    /// them.
    Deferred,
    /// IOPOLL: the kernel polls the drive for completions. Used only where requested and where the
    /// queue of the drive supports polling: elsewhere such requests fail, or use interrupts without
    /// notice.
    Polled,
}

impl RingFlags {
    /// The candidates of ring tuning, the default first.
    pub(crate) const CANDIDATES: [RingFlags; 3] =
        [RingFlags::Plain, RingFlags::Cooperative, RingFlags::Deferred];

    /// Returns the name used in run files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RingFlags::Plain => "plain flags",
            RingFlags::Cooperative => "cooperative task run",
            RingFlags::Deferred => "deferred task run",
            RingFlags::Polled => "polled",
        }
    }
}
