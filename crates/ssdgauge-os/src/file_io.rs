//! Positioned reads and writes on open descriptors.
//!
//! They take pointers, not slices: the buffers of the engine are shared with the kernel, and a
//! reference to them would promise what the kernel does not keep. No call is repeated here; a
//! caller that wants a retry after `EINTR` does it itself.

use rustix::fs::{FallocateFlags, fallocate};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Reads up to `length` bytes at `offset` into `buffer`; returns the number of bytes read, 0 at
/// the end of the file.
///
/// # Errors
/// The error of the kernel, `EINTR` included.
#[inline]
pub fn read_at(file: &File, buffer: *mut u8, length: usize, offset: u64) -> io::Result<usize> {
    // SAFETY: the callers pass the start of a slot of at least `length` bytes that only their
    // thread uses.
    let n = unsafe { libc::pread(file.as_raw_fd(), buffer.cast(), length, offset as i64) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Writes up to `length` bytes from `buffer` at `offset`; returns the number of bytes written.
///
/// # Errors
/// The error of the kernel, `EINTR` included.
#[inline]
pub fn write_at(file: &File, buffer: *const u8, length: usize, offset: u64) -> io::Result<usize> {
    // SAFETY: the callers pass an address in a region with at least `length` bytes from it on.
    let n = unsafe { libc::pwrite(file.as_raw_fd(), buffer.cast(), length, offset as i64) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Makes everything that was written to `file` durable (fdatasync): for a block device, and for the
/// device below a file system, the kernel sends a flush where the device has a volatile write cache.
///
/// # Errors
/// The error of the kernel; that of the device is EIO as a rule.
pub fn flush(file: &File) -> io::Result<()> {
    // SAFETY: the call takes only a descriptor, which is open as long as the borrow.
    match unsafe { libc::fdatasync(file.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Deallocates `length` bytes of the file `file` from `offset` on (FALLOC_FL_PUNCH_HOLE); its size
/// stays. A file system that is mounted with `discard` passes it on to the drive.
///
/// # Errors
/// The error of the kernel, `EINTR` included; `EOPNOTSUPP` where the file system has no holes.
pub fn punch_hole(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(fallocate(file, mode, offset, length)?)
}

/// Writes as [`write_at`] does, and returns when the data is on stable storage (RWF_DSYNC: FUA,
/// or a flush after the write).
///
/// # Errors
/// The error of the kernel, `EINTR` included; `EOPNOTSUPP` where the target has no such writes.
#[inline]
pub fn write_durably_at(
    file: &File,
    buffer: *const u8,
    length: usize,
    offset: u64,
) -> io::Result<usize> {
    let part = libc::iovec { iov_base: buffer.cast_mut().cast(), iov_len: length };
    // SAFETY: the callers pass an address in a region with at least `length` bytes from it on,
    // and the kernel only reads them.
    let n = unsafe { libc::pwritev2(file.as_raw_fd(), &part, 1, offset as i64, libc::RWF_DSYNC) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}
