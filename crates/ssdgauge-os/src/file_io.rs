//! Positioned reads and writes on open descriptors.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Reads `length` bytes at `offset` into `buffer`; the number of bytes read, or the error.
#[inline]
pub fn read_at(file: &File, buffer: *mut u8, length: usize, offset: u64) -> io::Result<usize> {
    // SAFETY: the callers pass the start of a slot of at least `length` bytes that only their
    // thread uses.
    let n = unsafe { libc::pread(file.as_raw_fd(), buffer.cast(), length, offset as i64) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Writes `length` bytes from `buffer` at `offset`; the number of bytes written, or the error.
#[inline]
pub fn write_at(file: &File, buffer: *const u8, length: usize, offset: u64) -> io::Result<usize> {
    // SAFETY: the callers pass a place in a region with at least `length` bytes behind it.
    let n = unsafe { libc::pwrite(file.as_raw_fd(), buffer.cast(), length, offset as i64) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// Writes as [`write_at`] does, and returns only when the data would survive a loss of power.
#[inline]
pub fn write_durably_at(
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
