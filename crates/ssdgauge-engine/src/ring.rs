//! A ring of io_uring: how it is set up, and the one call that drives it.
//!
//! The crate io-uring keeps the queues; the call itself is our own, because a registered ring
//! descriptor must be named in every call and lives with the thread that registered it.

use crate::load::Assignment;
use crate::load::Device;
use crate::ring_flags::RingFlags;
use io_uring::IoUring;
use ssdgauge_core::Nanos;
use ssdgauge_os::memory::Region;
use std::io;
use std::os::fd::AsRawFd;

/// A ring that is ready to run, with its buffers.
pub(crate) struct Ring {
    pub(super) queues: IoUring,
    pub(super) shape: Shape,
    flags: RingFlags,
    /// The number under which the calling thread has registered the ring.
    index: Option<u32>,
}

/// What the entries of a ring refer to.
pub(super) struct Shape {
    pub(super) reads: Region,
    /// Whether the buffers of reads and of writes are registered.
    pub(super) fixed: [bool; 2],
    pub(super) fixed_file: bool,
    /// Why buffers could not be registered.
    refusal: Option<String>,
}

impl Ring {
    /// Sets a ring up for `assignment`, on the thread that will drive it; fails where the kernel
    /// has none to give.
    pub(crate) fn new(assignment: &Assignment) -> io::Result<Ring> {
        let flags = assignment.ring_flags;
        let depth = assignment.depth as u32;
        let queues = match build(depth, flags, true) {
            // Linux before 6.6 has the array between the queue and its entries.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => build(depth, flags, false)?,
            other => other?,
        };
        let reads = Region::new(assignment.depth * assignment.block_size)?;
        let mut buffers = vec![reads.iovec()];
        buffers.extend(assignment.write_buffer.as_ref().map(|write_buffer| write_buffer.iovec()));
        // SAFETY: the regions outlive the ring: they live in this struct and in the assignment,
        // which the thread keeps until the ring is gone.
        let register = |buffers| unsafe { queues.submitter().register_buffers(buffers) };
        let registered = register(&buffers);
        let mut fixed = [registered.is_ok(); 2];
        if registered.is_err() && buffers.len() > 1 {
            // The pool is the larger one: the limit of locked memory may still allow the other.
            fixed[0] = register(&buffers[..1]).is_ok();
        }
        let fixed_file = match &assignment.device {
            Device::File(file) => queues.submitter().register_files(&[file.as_raw_fd()]).is_ok(),
            Device::Null => false,
        };
        let index = ssdgauge_os::ring::register_ring(queues.as_raw_fd()).ok();
        let shape = Shape {
            reads,
            fixed,
            fixed_file,
            refusal: registered.err().map(|error| error.to_string()),
        };
        Ok(Ring { queues, shape, flags, index })
    }

    /// Hands `submit` requests to the kernel and waits for `wait` completions, at most `time`.
    #[inline]
    pub(super) fn enter(&self, submit: u32, wait: u32, time: Option<Nanos>) -> io::Result<u32> {
        let (fd, registered) = match self.index {
            Some(index) => (index as i32, true),
            None => (self.queues.as_raw_fd(), false),
        };
        ssdgauge_os::ring::enter_ring(fd, registered, submit, wait, time.map(Into::into))
    }

    /// Returns the requests that the kernel has not taken yet.
    pub(super) fn queued(&self) -> u32 {
        // SAFETY: this thread is the only one that looks at the queue of its ring.
        unsafe { self.queues.submission_shared().len() as u32 }
    }

    /// Returns how the ring is set up, in words.
    pub(crate) fn setup(&self) -> String {
        let word = |registered| if registered { "registered" } else { "plain" };
        format!(
            "{}, {} buffers, {} file, {} ring",
            self.flags.name(),
            word(self.shape.fixed == [true; 2]),
            word(self.shape.fixed_file),
            word(self.index.is_some())
        )
    }

    /// Returns why the buffers are not registered, where they should be.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.shape.refusal.clone()
    }
}

impl Drop for Ring {
    /// Lets go of the target: the kernel takes a ring apart some time after its process is gone,
    /// and until then a registered device could not be opened alone again.
    fn drop(&mut self) {
        if self.shape.fixed_file {
            // What cannot be given back now goes with the ring.
            let _ = self.queues.submitter().unregister_files();
        }
    }
}

fn build(depth: u32, flags: RingFlags, direct: bool) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder.setup_cqsize(2 * depth.next_power_of_two());
    if direct {
        builder.setup_no_sqarray();
    }
    match flags {
        RingFlags::Plain => &mut builder,
        RingFlags::Cooperative => builder.setup_single_issuer().setup_coop_taskrun(),
        RingFlags::Deferred => builder.setup_single_issuer().setup_defer_taskrun(),
        RingFlags::Polled => builder.setup_iopoll(),
    };
    builder.build(depth)
}
