//! A ring of io_uring: its setup, its registered resources, and the call that submits and waits.
//!
//! Registered buffers, file and ring save 15 to 20 % of the processor time on real drives
//! (docs/performance.md). The crate io-uring maps the queues; the call itself is our own, because
//! the crate does not use registered ring descriptors.

use crate::load::{Assignment, Device};
use crate::ring_flags::RingFlags;
use io_uring::{IoUring, opcode, squeue, types};
use ssdgauge_core::{MAX_SLOTS, Nanos};
use ssdgauge_os::memory::Region;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A ring that is set up, with its buffers.
pub(crate) struct Ring {
    pub(crate) queues: IoUring,
    pub(crate) resources: Resources,
    flags: RingFlags,
    /// The index under which this thread has registered the ring.
    index: Option<u32>,
}

/// The resources to which the entries of a ring refer.
pub(crate) struct Resources {
    /// The buffers of reads, one for each slot.
    pub(crate) reads: Region,
    /// Whether the buffers of reads and of writes are registered.
    pub(crate) fixed: [bool; 2],
    /// Whether the target is registered.
    pub(crate) fixed_file: bool,
    /// Why buffers could not be registered.
    registration_error: Option<String>,
}

impl Ring {
    /// Sets a ring up for `assignment`, on the thread that will use it: SINGLE_ISSUER and the
    /// registered descriptor belong to that thread. Fails where the kernel refuses the ring or the
    /// memory; resources that cannot be registered are used unregistered.
    pub(crate) fn new(assignment: &Assignment) -> io::Result<Ring> {
        let flags = assignment.ring_flags;
        let depth = assignment.depth as u32;
        let queues = match build(depth, flags, true) {
            // NO_SQARRAY needs Linux 6.6.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => build(depth, flags, false)?,
            other => other?,
        };
        let reads = Region::new(assignment.read_slots * assignment.block_size)?;
        let mut buffers = vec![reads.iovec()];
        buffers.extend(assignment.write_buffer.as_ref().map(|write_buffer| write_buffer.iovec()));
        // SAFETY: the regions outlive the ring: they live in this struct and in the assignment,
        // which the thread keeps until the ring is gone.
        let register = |buffers| unsafe { queues.submitter().register_buffers(buffers) };
        let registered = register(&buffers);
        let mut fixed = [registered.is_ok(); 2];
        if registered.is_err() && buffers.len() > 1 {
            // The pool is the larger part: the limit of locked memory may still allow the reads.
            fixed[0] = register(&buffers[..1]).is_ok();
        }
        let fixed_file = match &assignment.device {
            Device::File(file) => queues.submitter().register_files(&[file.as_raw_fd()]).is_ok(),
            Device::Null => false,
        };
        let index = ssdgauge_os::ring::register_ring(queues.as_raw_fd()).ok();
        let resources = Resources {
            reads,
            fixed,
            fixed_file,
            registration_error: registered.err().map(|error| error.to_string()),
        };
        Ok(Ring { queues, resources, flags, index })
    }

    /// Submits `submit` requests and waits for `wait` completions, at most `time`; returns the
    /// number of requests that the kernel took.
    ///
    /// A polled ring asks the drive once instead of waiting: Linux ignores the time limit of such a
    /// ring, and before 6.6 also signals, so that a thread could not end while a drive hangs.
    #[inline]
    pub(crate) fn enter(&self, submit: u32, wait: u32, time: Option<Nanos>) -> io::Result<u32> {
        let (wait, time) = if self.is_polled() { (0, None) } else { (wait, time) };
        let (fd, registered) = match self.index {
            Some(index) => (index as i32, true),
            None => (self.queues.as_raw_fd(), false),
        };
        ssdgauge_os::ring::enter_ring(fd, registered, submit, wait, time.map(Into::into))
    }

    /// Returns the requests in the queue that the kernel has not taken yet.
    pub(crate) fn queued(&self) -> u32 {
        // SAFETY: no other thread accesses the queue of this ring, and no view of it is held.
        unsafe { self.queues.submission_shared().len() as u32 }
    }

    /// Returns the flags with which it was set up.
    pub(crate) fn flags(&self) -> RingFlags {
        self.flags
    }

    /// Returns whether completions arrive only within a call.
    #[inline]
    pub(crate) fn is_polled(&self) -> bool {
        matches!(self.flags, RingFlags::Polled(_))
    }

    /// Returns the setup of the ring for the engine report.
    pub(crate) fn setup(&self) -> String {
        let word = |registered| if registered { "registered" } else { "plain" };
        format!(
            "{}, {} buffers, {} file, {} ring",
            self.flags.name(),
            word(self.resources.fixed == [true; 2]),
            word(self.resources.fixed_file),
            word(self.index.is_some())
        )
    }

    /// Returns why the buffers could not be registered.
    pub(crate) fn registration_error(&self) -> Option<String> {
        self.resources.registration_error.clone()
    }
}

impl Drop for Ring {
    /// Unregisters the target: the kernel destroys a ring some time after its process has ended, and
    /// a registered device could not be opened exclusively before.
    fn drop(&mut self) {
        if self.resources.fixed_file {
            // On failure it is released with the ring.
            let _ = self.queues.submitter().unregister_files();
        }
    }
}

/// The most entries of a submission queue (IORING_MAX_ENTRIES in Linux).
const MAX_ENTRIES: u32 = 32_768;

/// Creates a ring for `depth` slots. The completion queue has an entry for every slot, so it cannot
/// overflow.
fn build(depth: u32, flags: RingFlags, direct: bool) -> io::Result<IoUring> {
    assert!(depth <= MAX_SLOTS, "{depth} slots exceed the largest completion queue");
    let mut builder = IoUring::builder();
    builder.setup_cqsize((2 * depth.next_power_of_two()).min(MAX_SLOTS));
    if direct {
        builder.setup_no_sqarray();
    }
    match flags {
        RingFlags::Plain => &mut builder,
        RingFlags::Cooperative => builder.setup_single_issuer().setup_coop_taskrun(),
        RingFlags::Deferred => builder.setup_single_issuer().setup_defer_taskrun(),
        RingFlags::Polled(_) => builder.setup_iopoll(),
    };
    builder.build(depth.min(MAX_ENTRIES))
}

/// The command of a block device that discards a range (BLOCK_URING_CMD_DISCARD, Linux 6.12).
const DISCARD: u32 = 0x1200;

/// Returns the entry that discards `length` bytes from `offset` on; `None` as the file is the one that
/// is registered.
pub(crate) fn discard_entry(file: Option<i32>, offset: u64, length: u64) -> squeue::Entry {
    let command = match file {
        Some(file) => opcode::UringCmd16::new(types::Fd(file), DISCARD),
        None => opcode::UringCmd16::new(types::Fixed(0), DISCARD),
    };
    let mut range = [0; 16];
    range[..8].copy_from_slice(&length.to_ne_bytes());
    command.addr(Some(offset)).cmd(range).build()
}

/// Returns whether a ring can discard ranges of the block device `file`: the kernel refuses an empty
/// range as invalid then, and as not supported otherwise. Nothing is discarded.
pub(crate) fn can_discard(file: &File) -> bool {
    let empty = discard_entry(Some(file.as_raw_fd()), 0, 0);
    let result = IoUring::new(1).and_then(|mut ring| {
        // SAFETY: the entry refers to no memory.
        unsafe { ring.submission().push(&empty) }.expect("the queue has one entry");
        ring.submit_and_wait(1)?;
        Ok(ring.completion().next().map(|completion| completion.result()))
    });
    result.is_ok_and(|result| result == Some(-libc::EINVAL))
}
