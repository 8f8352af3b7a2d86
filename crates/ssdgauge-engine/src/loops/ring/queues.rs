//! The queues of a ring, whatever its entries are, and the call that submits and waits.

use io_uring::{IoUring, cqueue, squeue};
use ssdgauge_core::{MAX_SLOTS, Nanos};
use std::io;
use std::os::fd::AsRawFd;

/// The maximum number of entries of a submission queue (IORING_MAX_ENTRIES in Linux).
const MAX_ENTRIES: u32 = 32_768;

/// Returns the lengths of the submission and the completion queue for `depth` slots. The completion queue
/// has an entry for every slot, so it cannot overflow.
pub(crate) fn lengths(depth: u32) -> (u32, u32) {
    assert!(depth <= MAX_SLOTS, "{depth} slots exceed the largest completion queue");
    (depth.min(MAX_ENTRIES), (2 * depth.next_power_of_two()).min(MAX_SLOTS))
}

/// The queues of a ring, and what is registered with it.
pub(crate) struct Queues<S: squeue::EntryMarker, C: cqueue::EntryMarker> {
    pub(crate) ring: IoUring<S, C>,
    /// Whether the target is registered.
    pub(crate) fixed_file: bool,
    /// The index under which this thread has registered the ring.
    index: Option<u32>,
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Queues<S, C> {
    /// Registers the target `file`, and the ring with this thread: only this thread may use it then. What the
    /// kernel refuses to register is used unregistered.
    pub(crate) fn new(ring: IoUring<S, C>, file: Option<i32>) -> Queues<S, C> {
        let fixed_file = file.is_some_and(|file| ring.submitter().register_files(&[file]).is_ok());
        let index = ssdgauge_os::ring::register_ring(ring.as_raw_fd()).ok();
        Queues { ring, fixed_file, index }
    }

    /// Submits the `queued` entries and waits for `wait` completions, at most `time`; returns how many of them
    /// the kernel has not taken: the next call submits these.
    #[inline]
    pub(crate) fn submit(&self, queued: u32, wait: u32, time: Option<Nanos>) -> io::Result<u32> {
        match self.enter(queued, wait, time) {
            Ok(taken) => {
                debug_assert!(taken <= queued, "the kernel took {taken} of {queued}");
                Ok(queued - taken)
            }
            // The wait ended by its time limit or a signal, such as the signal of the control thread at the end of
            // a second, the kernel is short of memory, or completions must be reaped first. The error
            // replaces the number of entries taken, so it is read from the queue.
            Err(error) => match error.raw_os_error() {
                Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY) => Ok(self.queued()),
                Some(_) | None => Err(error),
            },
        }
    }

    /// Enters the kernel once; returns the number of entries that it took.
    #[inline]
    pub(crate) fn enter(&self, submit: u32, wait: u32, time: Option<Nanos>) -> io::Result<u32> {
        let (fd, registered) = match self.index {
            Some(index) => (index as i32, true),
            None => (self.ring.as_raw_fd(), false),
        };
        ssdgauge_os::ring::enter_ring(fd, registered, submit, wait, time.map(Into::into))
    }

    /// Returns the entries that the kernel has not taken yet.
    pub(crate) fn queued(&self) -> u32 {
        // SAFETY: no other thread accesses the queue of this ring, and no view of it is held.
        unsafe { self.ring.submission_shared().len() as u32 }
    }

    /// Returns the setup for the engine report: `first`, and what is registered.
    pub(crate) fn setup(&self, first: &str, fixed_buffers: bool) -> String {
        let word = |registered| if registered { "registered" } else { "plain" };
        format!(
            "{first}, {} buffers, {} file, {} ring",
            word(fixed_buffers),
            word(self.fixed_file),
            word(self.index.is_some())
        )
    }
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Drop for Queues<S, C> {
    /// Unregisters the target: the kernel destroys a ring some time after its process has ended, and
    /// a registered device could not be opened exclusively before.
    fn drop(&mut self) {
        if self.fixed_file {
            // On failure it is released with the ring.
            let _ = self.ring.submitter().unregister_files();
        }
    }
}
