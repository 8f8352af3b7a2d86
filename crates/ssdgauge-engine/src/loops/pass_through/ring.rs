//! The ring of NVMe commands: entries twice as large as those of reads and writes.

use crate::load::Assignment;
use crate::load::namespace::{CommandBytes, Namespace, RANGE_LENGTH};
use crate::loops::ring::{Queues, lengths};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use ssdgauge_core::{Nanos, Operation};
use ssdgauge_os::memory::Region;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// The request number of an NVMe command for its namespace, NVME_URING_CMD_IO (linux/nvme_ioctl.h).
const NVME_COMMAND: u32 = 0xc048_4e80;

/// A ring that is set up, with the buffers of its slots.
pub(crate) struct CommandRing {
    /// With entries that have room for a command (SQE128, CQE32; Linux 5.19).
    pub(super) queues: Queues<squeue::Entry128, cqueue::Entry32>,
    /// The data of reads, or the ranges of trims; those of slot `n` begin at `n` times `stride`.
    pub(super) buffers: Region,
    pub(super) stride: usize,
    /// The descriptor of the namespace.
    file: i32,
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
        let (entries, completions) = lengths(depth);
        let ring = IoUring::builder().setup_cqsize(completions).build(entries)?;
        let buffers = Region::new(length)?;
        let file = namespace.file.as_raw_fd();
        Ok(CommandRing { queues: Queues::new(ring, Some(file)), buffers, stride, file })
    }

    /// Queues a command of `slot`.
    ///
    /// # Safety
    /// The data that the command names stays valid until its completion is reaped.
    #[inline]
    pub(super) unsafe fn push(&mut self, slot: u16, command: CommandBytes) {
        let entry = match self.queues.fixed_file {
            true => opcode::UringCmd80::new(types::Fixed(0), NVME_COMMAND),
            false => opcode::UringCmd80::new(types::Fd(self.file), NVME_COMMAND),
        };
        let entry = entry.cmd(command).build().user_data(u64::from(slot));
        // SAFETY: by the contract of this function; the descriptor belongs to the ring or to the
        // assignment, which outlives it.
        unsafe { self.queues.ring.submission().push(&entry) }
            .expect("the queue has an entry for every slot");
    }

    /// Returns whether no further command fits into the queue.
    #[inline]
    pub(super) fn is_full(&mut self) -> bool {
        self.queues.ring.submission().is_full()
    }

    /// Returns the setup of the ring for the engine report.
    pub(crate) fn setup(&self) -> String {
        self.queues.setup(super::SETUP, false)
    }
}

/// The longest time for the answer to one read.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// The maximum number of calls for it: each can be ended by a signal.
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
        entered =
            ring.queues.enter(ring.queues.queued(), 1, Some(Nanos(ANSWER_LIMIT.as_nanos() as u64)));
        // A signal has ended the call early.
        if entered.as_ref().err().and_then(io::Error::raw_os_error) != Some(libc::EINTR) {
            break;
        }
    }
    let result = ring.queues.ring.completion().next().map(|completion| completion.result());
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
        // The first where a driver takes no commands from rings, the second where it does not have
        // this one.
        Some(result) if result == -libc::EOPNOTSUPP || result == -libc::ENOTTY => {
            Err("the kernel has no NVMe commands in rings (Linux 5.19)".into())
        }
        Some(result) => {
            let number = crate::request_error::nvme_status::number(result);
            Err(format!(
                "a read by command failed: {}",
                crate::request_error::nvme_status::words(number)
            ))
        }
        None => {
            std::mem::forget(ring);
            let cause = entered.err().map_or(String::new(), |error| format!(" ({error})"));
            let limit = ANSWER_LIMIT.as_secs();
            Err(format!("a read by command did not complete within {limit} s{cause}"))
        }
    }
}
