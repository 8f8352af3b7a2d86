//! The few calls to the kernel that no safe library offers, each in the smallest unsafe block.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Once;
use std::time::Duration;

/// Anonymous memory from the kernel, on page boundaries, with huge pages where it has them.
///
/// Its bytes are read and written by the kernel while requests are in flight, so it is only ever
/// handed out as a pointer.
#[derive(Debug)]
pub(crate) struct Region {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a region is plain memory without thread affinity; who writes where is decided by the
// engines, which give every slot to one thread.
unsafe impl Send for Region {}
// SAFETY: as above; shared regions are only read.
unsafe impl Sync for Region {}

impl Region {
    /// Returns `length` zero bytes.
    pub(crate) fn new(length: usize) -> io::Result<Region> {
        let length = length.max(1);
        // SAFETY: a private anonymous mapping at an address of the kernel's choice touches no
        // memory of ours.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the range is the mapping just made; the advice cannot change its contents.
        unsafe { libc::madvise(start, length, libc::MADV_HUGEPAGE) };
        let start = NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Region { start, length })
    }

    /// Returns the address of byte `offset`, which must lie inside.
    #[inline]
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset < self.length);
        self.start.as_ptr().wrapping_add(offset)
    }

    /// Returns the bytes in the region.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Returns the region as eight-byte words, to fill it before anyone else sees it.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is page aligned, as long as said, and `&mut self` proves that
        // nobody else uses it.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.length / 8) }
    }

    /// Returns what the region holds, while nothing is in flight.
    pub(crate) fn bytes(&mut self) -> &[u8] {
        // SAFETY: the range is the mapping, and `&mut self` proves that nobody else uses it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    /// Puts two words at byte `offset`, in memory order little endian.
    ///
    /// # Safety
    /// The sixteen bytes must lie inside, and nobody else, the kernel included, may use them now.
    #[inline]
    pub(crate) unsafe fn put(&self, offset: usize, words: [u64; 2]) {
        debug_assert!(offset + 16 <= self.length);
        // SAFETY: the bytes are inside and ours, by the contract of this function.
        unsafe { self.at(offset).cast::<[u64; 2]>().write_unaligned(words.map(u64::to_le)) };
    }

    /// Returns the region as the kernel's vector, for registration.
    pub(crate) fn iovec(&self) -> libc::iovec {
        libc::iovec { iov_base: self.start.as_ptr().cast(), iov_len: self.length }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the range is exactly the mapping of `new`, which nobody uses any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Reads `length` bytes at `offset` into `buffer`; the number of bytes read, or the error.
#[inline]
pub(crate) fn read_at(
    file: &File,
    buffer: *mut u8,
    length: usize,
    offset: u64,
) -> io::Result<usize> {
    // SAFETY: the callers pass the start of a slot of at least `length` bytes that only their
    // thread uses.
    let n = unsafe { libc::pread(file.as_raw_fd(), buffer.cast(), length, offset as i64) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Writes `length` bytes from `buffer` at `offset`; the number of bytes written, or the error.
#[inline]
pub(crate) fn write_at(
    file: &File,
    buffer: *const u8,
    length: usize,
    offset: u64,
) -> io::Result<usize> {
    // SAFETY: the callers pass a place in a region with at least `length` bytes behind it.
    let n = unsafe { libc::pwrite(file.as_raw_fd(), buffer.cast(), length, offset as i64) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Writes as [`write_at`] does, and returns only when the data would survive a loss of power.
#[inline]
pub(crate) fn write_durably_at(
    file: &File,
    buffer: *const u8,
    length: usize,
    offset: u64,
) -> io::Result<usize> {
    let part = libc::iovec { iov_base: buffer.cast_mut().cast(), iov_len: length };
    // SAFETY: the callers pass a place in a region with at least `length` bytes behind it, and
    // the kernel only reads them.
    let n = unsafe { libc::pwritev2(file.as_raw_fd(), &part, 1, offset as i64, libc::RWF_DSYNC) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Returns the two words at `data`, in memory order little endian.
///
/// # Safety
/// Sixteen bytes from `data` on must be readable, and nobody may write them meanwhile.
#[inline]
pub(crate) unsafe fn words_at(data: *const u8) -> [u64; 2] {
    // SAFETY: the bytes may be read, by the contract of this function.
    unsafe { data.cast::<[u64; 2]>().read_unaligned() }.map(u64::from_le)
}

/// Registers the ring `fd` with the calling thread, which saves the kernel a look-up in every
/// call; returns the number that stands for it.
pub(crate) fn register_ring(fd: i32) -> io::Result<u32> {
    const REGISTER_RING_FDS: libc::c_uint = 20;
    /// `struct io_uring_rsrc_update`.
    #[repr(C)]
    struct Update {
        offset: u32,
        reserved: u32,
        data: u64,
    }
    let mut update = Update { offset: u32::MAX, reserved: 0, data: fd as u64 };
    // SAFETY: the call reads and writes one update, which lives until it returns.
    let done = unsafe {
        libc::syscall(libc::SYS_io_uring_register, fd, REGISTER_RING_FDS, &mut update, 1)
    };
    if done == 1 { Ok(update.offset) } else { Err(io::Error::last_os_error()) }
}

/// Hands `submit` requests of a ring to the kernel, and waits for `wait` completions, at most
/// `time`; returns how many requests were taken. `fd` is the number of a registered ring where
/// `registered` says so.
#[inline]
pub(crate) fn enter_ring(
    fd: i32,
    registered: bool,
    submit: u32,
    wait: u32,
    time: Option<Duration>,
) -> io::Result<u32> {
    const GETEVENTS: libc::c_uint = 1;
    const EXT_ARG: libc::c_uint = 8;
    const REGISTERED_RING: libc::c_uint = 16;
    /// `struct io_uring_getevents_arg`.
    #[repr(C)]
    struct Wait {
        signals: u64,
        signals_size: u32,
        least: u32,
        time: u64,
    }
    let flags = GETEVENTS | if registered { REGISTERED_RING } else { 0 };
    let result = match time {
        // SAFETY: no argument structure is passed; the kernel checks the counts against the
        // queue, whose entries hold buffers that outlive the requests.
        None => unsafe {
            libc::syscall(libc::SYS_io_uring_enter, fd, submit, wait, flags, 0usize, 0usize)
        },
        Some(time) => {
            let time = libc::timespec {
                tv_sec: time.as_secs() as libc::time_t,
                tv_nsec: libc::c_long::from(time.subsec_nanos()),
            };
            let until =
                Wait { signals: 0, signals_size: 0, least: 0, time: &raw const time as u64 };
            // SAFETY: as above; argument and time live until the call returns.
            unsafe {
                libc::syscall(
                    libc::SYS_io_uring_enter,
                    fd,
                    submit,
                    wait,
                    flags | EXT_ARG,
                    &until,
                    size_of::<Wait>(),
                )
            }
        }
    };
    u32::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Lets the kernel wake the calling thread without gathering its timers with those of others.
pub(crate) fn precise_timers() {
    // SAFETY: the call takes numbers only and concerns this thread alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

extern "C" fn nothing(_: libc::c_int) {}

/// Makes [`kick`] interrupt a waiting system call instead of ending the process.
pub(crate) fn allow_kicks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler does nothing at all, and a zeroed action without SA_RESTART is
        // valid: interrupted calls return EINTR, which the engines expect.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(libc::SIGUSR2, &action, std::ptr::null_mut());
        }
    });
}

/// Interrupts the system call in which thread `tid` of this process waits, if it does.
pub(crate) fn kick(tid: i32) {
    // SAFETY: tgkill takes numbers only; a thread that is gone gives an error that tells nothing.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, libc::SIGUSR2) };
}

/// Returns the kernel's number of the calling thread.
pub(crate) fn thread_id() -> i32 {
    // SAFETY: gettid has no arguments and cannot fail.
    unsafe { libc::gettid() }
}

/// Tells the block device `file` that a range holds nothing.
pub(crate) fn discard(file: &File, offset: u64, length: u64) -> io::Result<()> {
    const BLKDISCARD: libc::c_ulong = 0x1277;
    let range = [offset, length];
    // SAFETY: BLKDISCARD reads two u64 from the pointer, which is an array of two.
    match unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD, range.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns whether the block device `file` refuses writes.
pub(crate) fn is_read_only(file: &File) -> io::Result<bool> {
    const BLKROGET: libc::c_ulong = 0x125e;
    let mut read_only: libc::c_int = 0;
    // SAFETY: BLKROGET writes one int to the pointer.
    match unsafe { libc::ioctl(file.as_raw_fd(), BLKROGET, &mut read_only) } {
        0 => Ok(read_only != 0),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the number that the kernel gives each appearance of a block device, where it has one.
pub(crate) fn disk_sequence(file: &File) -> Option<u64> {
    const BLKGETDISKSEQ: libc::c_ulong = 0x8008_1280;
    let mut sequence = 0u64;
    // SAFETY: BLKGETDISKSEQ writes one u64 to the pointer.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), BLKGETDISKSEQ, &mut sequence) };
    (answer == 0).then_some(sequence)
}

/// Returns the bytes that the block device `file` holds now.
pub(crate) fn device_size(file: &File) -> io::Result<u64> {
    const BLKGETSIZE64: libc::c_ulong = 0x8008_1272;
    let mut size = 0u64;
    // SAFETY: BLKGETSIZE64 writes one u64 to the pointer.
    match unsafe { libc::ioctl(file.as_raw_fd(), BLKGETSIZE64, &mut size) } {
        0 => Ok(size),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns what stands behind the loop device `node`: the number of its file's file system, the
/// file's inode, and the device number where a device stands behind it, else 0.
pub(crate) fn loop_backing(node: &Path) -> Option<[u64; 3]> {
    const LOOP_GET_STATUS64: libc::c_ulong = 0x4c05;
    /// The length of `struct loop_info64`, in words.
    const WORDS: usize = 232 / 8;
    let file = File::open(node).ok()?;
    let mut status = [0u64; WORDS];
    // SAFETY: LOOP_GET_STATUS64 writes a structure of 232 bytes to the pointer.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), LOOP_GET_STATUS64, status.as_mut_ptr()) };
    // The first three words are lo_device, lo_inode and lo_rdevice (linux/loop.h); the kernel's
    // coding of device numbers is that of libc where both halves are below 2^20.
    (answer == 0).then(|| [status[0], status[1], status[2]])
}

/// Returns the processor's time stamp counter.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn time_stamp() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets user code run it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Returns whether the counter runs at one rate in all power states.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_invariant_time_stamp() -> bool {
    use core::arch::x86_64::__cpuid;
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    __cpuid(0x8000_0000).eax >= POWER_MANAGEMENT && __cpuid(POWER_MANAGEMENT).edx & (1 << 8) != 0
}

/// The kernel's `struct nvme_admin_cmd` (linux/nvme_ioctl.h).
#[repr(C)]
#[derive(Default)]
struct NvmeAdmin {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_length: u32,
    data_length: u32,
    words_10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// Sends an NVMe admin command through the descriptor of the drive; returns its status, 0 where
/// it succeeded, and the first word of the answer.
pub(crate) fn nvme_admin(
    file: &File,
    opcode: u8,
    namespace: u32,
    words: [u32; 6],
    data: &mut [u8],
    timeout_ms: u32,
) -> io::Result<(u16, u32)> {
    const NVME_IOCTL_ADMIN_CMD: libc::c_ulong = 0xc048_4e41;
    const { assert!(size_of::<NvmeAdmin>() == 72) };
    let address = if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 };
    let mut command = NvmeAdmin {
        opcode,
        namespace,
        address,
        data_length: data.len() as u32,
        words_10_to_15: words,
        timeout_ms,
        ..NvmeAdmin::default()
    };
    // SAFETY: the structure is the one that the call is declared with; the kernel moves at most
    // `data_length` bytes to or from `data`, which lives until the call returns.
    let status = unsafe { libc::ioctl(file.as_raw_fd(), NVME_IOCTL_ADMIN_CMD, &mut command) };
    match u16::try_from(status) {
        Ok(status) => Ok((status, command.result)),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Which way the data of a SCSI command goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ScsiDirection {
    None,
    In,
    Out,
}

/// What became of a SCSI command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ScsiAnswer {
    Good,
    /// Sense key, code and qualifier.
    Sense(u8, u8, u8),
    /// It did not reach the drive; the status of the host adapter.
    Lost(u16),
}

/// The kernel's `struct sg_io_hdr` (scsi/sg.h).
#[repr(C)]
struct ScsiRequest {
    interface: i32,
    direction: i32,
    command_length: u8,
    sense_length: u8,
    vectors: u16,
    data_length: u32,
    data: *mut u8,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack: i32,
    user: *mut u8,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residue: i32,
    duration_ms: u32,
    info: u32,
}

/// Sends a SCSI command with its data through the descriptor of the drive.
pub(crate) fn scsi(
    file: &File,
    command: &[u8; 16],
    direction: ScsiDirection,
    data: &mut [u8],
    timeout_ms: u32,
) -> io::Result<ScsiAnswer> {
    const SG_IO: libc::c_ulong = 0x2285;
    let mut sense = [0u8; 32];
    let mut request = ScsiRequest {
        interface: i32::from(b'S'),
        direction: match direction {
            ScsiDirection::None => -1,
            ScsiDirection::Out => -2,
            ScsiDirection::In => -3,
        },
        command_length: command.len() as u8,
        sense_length: sense.len() as u8,
        vectors: 0,
        data_length: data.len() as u32,
        data: data.as_mut_ptr(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms,
        flags: 0,
        pack: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residue: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: the structure is the one that the call is declared with; command, data and sense
    // are as long as it says and live until the call returns.
    match unsafe { libc::ioctl(file.as_raw_fd(), SG_IO, &mut request) } {
        0 => {}
        _ => return Err(io::Error::last_os_error()),
    }
    Ok(match (request.host_status, request.status) {
        (0, 0) => ScsiAnswer::Good,
        (0, _) => match sense[0] & 0x7f {
            // Sense data with descriptors, and sense data of fixed form.
            0x72 | 0x73 => ScsiAnswer::Sense(sense[1] & 15, sense[2], sense[3]),
            _ => ScsiAnswer::Sense(sense[2] & 15, sense[12], sense[13]),
        },
        (lost, _) => ScsiAnswer::Lost(lost),
    })
}
