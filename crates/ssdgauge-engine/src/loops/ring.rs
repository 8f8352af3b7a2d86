//! A ring of io_uring: its setup and its registered resources.
//!
//! Registered buffers, file and ring save 15 to 20 % of the processor time on real drives
//! (docs/contributing/performance.md). The crate io-uring maps the queues; the call itself is our own, because
//! the crate does not use registered ring descriptors.

mod queues;

pub(crate) use queues::{Queues, lengths};

use crate::load::Assignment;
use crate::load::ring_flags::RingFlags;
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use ssdgauge_core::Nanos;
use ssdgauge_os::memory::Region;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A ring that is set up, with its buffers.
pub(crate) struct Ring {
    pub(crate) queues: Queues<squeue::Entry, cqueue::Entry>,
    pub(crate) resources: Resources,
    flags: RingFlags,
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
        let ring = match build(depth, flags, true) {
            // NO_SQARRAY needs Linux 6.6.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => build(depth, flags, false)?,
            other => other?,
        };
        let reads = Region::new(assignment.read_slots * assignment.block_size)?;
        let mut buffers = vec![reads.iovec()];
        buffers.extend(assignment.write_buffer.as_ref().map(|write_buffer| write_buffer.iovec()));
        // SAFETY: the regions outlive the ring: they live in this struct and in the assignment,
        // which the thread keeps until the ring is gone.
        let register = |buffers| unsafe { ring.submitter().register_buffers(buffers) };
        let registered = register(&buffers);
        let mut fixed = [registered.is_ok(); 2];
        if registered.is_err() && buffers.len() > 1 {
            // The pool is the larger part: the limit of locked memory may still allow the reads.
            fixed[0] = register(&buffers[..1]).is_ok();
        }
        let queues = Queues::new(ring, assignment.device.descriptor());
        let resources = Resources {
            reads,
            fixed,
            fixed_file: queues.fixed_file,
            registration_error: registered.err().map(|error| error.to_string()),
        };
        Ok(Ring { queues, resources, flags })
    }

    /// Submits the `queued` requests and waits for `wait` completions, at most `time`; returns how many of
    /// them the kernel has not taken.
    ///
    /// A polled ring asks the drive once instead of waiting: Linux ignores the time limit of such a
    /// ring, and before 6.6 also signals, so that a thread could not end while a drive hangs.
    #[inline]
    pub(crate) fn submit(&self, queued: u32, wait: u32, time: Option<Nanos>) -> io::Result<u32> {
        let (wait, time) = if self.is_polled() { (0, None) } else { (wait, time) };
        self.queues.submit(queued, wait, time)
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
        self.queues.setup(self.flags.name(), self.resources.fixed == [true; 2])
    }

    /// Returns why the buffers could not be registered.
    pub(crate) fn registration_error(&self) -> Option<String> {
        self.resources.registration_error.clone()
    }
}

/// Creates a ring of the plainest kind, and drops it.
///
/// # Errors
/// The kernel refuses it.
pub(crate) fn try_one() -> io::Result<()> {
    IoUring::new(1).map(drop)
}

/// Creates a ring for `depth` slots.
fn build(depth: u32, flags: RingFlags, direct: bool) -> io::Result<IoUring> {
    let (entries, completions) = lengths(depth);
    let mut builder = IoUring::builder();
    builder.setup_cqsize(completions);
    if direct {
        builder.setup_no_sqarray();
    }
    match flags {
        RingFlags::Plain => &mut builder,
        RingFlags::Cooperative => builder.setup_single_issuer().setup_coop_taskrun(),
        RingFlags::Deferred => builder.setup_single_issuer().setup_defer_taskrun(),
        RingFlags::Polled(_) => builder.setup_iopoll(),
    };
    builder.build(entries)
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
    // Linux reads the length from `addr3` (`blkdev_uring_cmd`), which shares its bytes with the
    // beginning of the command.
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
