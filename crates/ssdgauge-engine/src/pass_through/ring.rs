//! The ring of NVMe commands: entries twice as large as those of reads and writes.

use crate::load::Assignment;
use crate::namespace::{CommandBytes, Namespace, RANGE_LENGTH};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use ssdgauge_core::{MAX_SLOTS, Nanos, Operation};
use ssdgauge_os::memory::Region;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// A ring whose entries have room for a command (SQE128, CQE32; Linux 5.19).
pub(super) type Queues = IoUring<squeue::Entry128, cqueue::Entry32>;

/// The request number of an NVMe command for its namespace, NVME_URING_CMD_IO (linux/nvme_ioctl.h).
const NVME_COMMAND: u32 = 0xc048_4e80;

/// The most entries of a submission queue (IORING_MAX_ENTRIES in Linux).
const MAX_ENTRIES: u32 = 32_768;

/// A ring that is set up, with the buffers of its slots.
pub(crate) struct CommandRing {
    pub(super) queues: Queues,
    /// The data of reads, or the ranges of trims; those of slot `n` begin at `n` times `stride`.
    pub(super) buffers: Region,
    pub(super) stride: usize,
    /// The descriptor of the namespace; `None` where it is registered.
    file: Option<i32>,
    /// The index under which this thread has registered the ring.
    index: Option<u32>,
}

impl CommandRing {
    /// Sets a ring up for commands of `assignment` to `namespace`, on the thread that will use it. Buffers
    /// are not registered: the kernel maps those of each command.
    pub(crate) fn new(assignment: &Assignment, namespace: &Namespace) -> io::Result<CommandRing> {
        let (slots, stride) = match assignment.operation {
            Operation::Transfer => (assignment.read_slots, assignment.block_size),
            Operation::Trim => (assignment.depth, RANGE_LENGTH),
            Operation::Flush => (0, 0),
        };
        CommandRing::with_buffers(namespace, assignment.depth as u32, slots * stride, stride)
    }

    fn with_buffers(
        namespace: &Namespace,
        depth: u32,
        length: usize,
        stride: usize,
    ) -> io::Result<CommandRing> {
        assert!(depth <= MAX_SLOTS, "{depth} slots exceed the largest completion queue");
        // The completion queue has an entry for every slot, so it cannot overflow.
        let completions = (2 * depth.next_power_of_two()).min(MAX_SLOTS);
        let queues = Queues::builder().setup_cqsize(completions).build(depth.min(MAX_ENTRIES))?;
        let buffers = Region::new(length)?;
        let file = namespace.file.as_raw_fd();
        let is_registered = queues.submitter().register_files(&[file]).is_ok();
        let index = ssdgauge_os::ring::register_ring(queues.as_raw_fd()).ok();
        Ok(CommandRing { queues, buffers, stride, file: (!is_registered).then_some(file), index })
    }

    /// Queues a command of `slot`.
    ///
    /// # Safety
    /// The data that the command names stays valid until its completion is reaped.
    #[inline]
    pub(super) unsafe fn push(&mut self, slot: u16, command: CommandBytes) {
        let entry = match self.file {
            Some(file) => opcode::UringCmd80::new(types::Fd(file), NVME_COMMAND),
            None => opcode::UringCmd80::new(types::Fixed(0), NVME_COMMAND),
        };
        let entry = entry.cmd(command).build().user_data(u64::from(slot));
        // SAFETY: by the contract of this function; the descriptor belongs to the ring or to the
        // assignment, which outlives it.
        unsafe { self.queues.submission().push(&entry) }
            .expect("the queue has an entry for every slot");
    }

    /// Submits `submit` commands and waits for `wait` completions, at most `time`; returns the number of
    /// commands that the kernel took.
    #[inline]
    pub(super) fn enter(&self, submit: u32, wait: u32, time: Option<Nanos>) -> io::Result<u32> {
        let (fd, registered) = match self.index {
            Some(index) => (index as i32, true),
            None => (self.queues.as_raw_fd(), false),
        };
        ssdgauge_os::ring::enter_ring(fd, registered, submit, wait, time.map(Into::into))
    }

    /// Returns the commands in the queue that the kernel has not taken yet.
    pub(super) fn queued(&self) -> u32 {
        // SAFETY: no other thread accesses the queue of this ring, and no view of it is held.
        unsafe { self.queues.submission_shared().len() as u32 }
    }

    /// Returns whether no further command fits into the queue.
    #[inline]
    pub(super) fn is_full(&mut self) -> bool {
        self.queues.submission().is_full()
    }

    /// Returns the setup of the ring for the engine report.
    pub(crate) fn setup(&self) -> String {
        let word = |registered| if registered { "registered" } else { "plain" };
        format!(
            "{}, plain buffers, {} file, {} ring",
            super::SETUP,
            word(self.file.is_none()),
            word(self.index.is_some())
        )
    }
}

impl Drop for CommandRing {
    /// Unregisters the namespace: the kernel destroys a ring some time after its process has ended.
    fn drop(&mut self) {
        if self.file.is_none() {
            // On failure it is released with the ring.
            let _ = self.queues.submitter().unregister_files();
        }
    }
}

/// The longest time for the answer to one read.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// The most calls for it: each can be ended by a signal.
const MOST_CALLS: u32 = 16;

/// Reads `length` bytes from the beginning of `namespace` by a command.
///
/// # Errors
/// In words: the kernel has no such rings, refuses commands to this process, or the drive does not
/// answer. Nothing was written.
pub fn read_beginning(namespace: &Namespace, length: u32) -> Result<Vec<u8>, String> {
    let direction = ssdgauge_core::Direction::Read;
    let request = ssdgauge_core::Request { direction, offset: 0, length };
    let ring = CommandRing::with_buffers(namespace, 1, length as usize, length as usize);
    let mut ring = ring.map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) => "the kernel has no rings for NVMe commands (Linux 5.19)".to_owned(),
        Some(_) | None => format!("the kernel refuses a ring for NVMe commands ({error})"),
    })?;
    let command = namespace.command(request, false, ring.buffers.at(0));
    let command = command.ok_or("its first blocks lie outside the namespace")?;
    // SAFETY: the buffer belongs to the ring, which is leaked below where the command does not end.
    unsafe { ring.push(0, command) };
    let mut entered = Ok(0);
    for _ in 0..MOST_CALLS {
        entered = ring.enter(ring.queued(), 1, Some(Nanos(ANSWER_LIMIT.as_nanos() as u64)));
        // A signal has ended the call early.
        if entered.as_ref().err().and_then(io::Error::raw_os_error) != Some(libc::EINTR) {
            break;
        }
    }
    let result = ring.queues.completion().next().map(|completion| completion.result());
    match result {
        Some(0) => {
            let mut data = vec![0; length as usize];
            // SAFETY: the region has this length, and its request has completed.
            unsafe { ring.buffers.at(0).copy_to_nonoverlapping(data.as_mut_ptr(), data.len()) };
            Ok(data)
        }
        Some(result) if result == -libc::EACCES || result == -libc::EPERM => {
            Err("the kernel refuses NVMe commands to this process (CAP_SYS_ADMIN is missing)"
                .into())
        }
        Some(result) if result == -libc::EOPNOTSUPP || result == -libc::ENOTTY => {
            Err("the kernel has no NVMe commands in rings (Linux 5.19)".into())
        }
        Some(result) => {
            let number = crate::nvme_status::number(result);
            Err(format!("a read by command failed: {}", crate::nvme_status::words(number)))
        }
        None => {
            std::mem::forget(ring);
            let cause = entered.err().map_or(String::new(), |error| format!(" ({error})"));
            Err(format!("a read by command did not complete within {ANSWER_LIMIT:?}{cause}"))
        }
    }
}
