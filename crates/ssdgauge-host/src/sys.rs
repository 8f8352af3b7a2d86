//! The few calls to the kernel that no safe library offers, each in the smallest unsafe block.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::Once;

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

/// Returns the size of the file or block device `file` as it is now. It sends no request.
pub(crate) fn size_of(file: &File) -> io::Result<u64> {
    use std::io::{Seek, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::End(0))
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
