//! The block-device ioctls (size, discard, write protection, disk sequence, loop backing), and the
//! lock that programs hold on a device.
//!
//! The request numbers are those of linux/fs.h and linux/loop.h; `libc` does not export them.

use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Discards `length` bytes from `offset` on (BLKDISCARD: NVMe Deallocate, ATA TRIM, SCSI UNMAP).
///
/// # Errors
/// The error of the kernel: the device does not support discards, the range is not aligned to
/// its logical blocks, or the descriptor is not writable.
pub fn discard(file: &File, offset: u64, length: u64) -> io::Result<()> {
    const BLKDISCARD: u32 = 0x1277;
    let range = [offset, length];
    // SAFETY: BLKDISCARD reads two u64 from the pointer, which is an array of two.
    match unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD as libc::Ioctl, range.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns whether the block device `file` is read-only.
///
/// # Errors
/// The error of the kernel, `ENOTTY` where `file` is not a block device.
pub fn is_read_only(file: &File) -> io::Result<bool> {
    const BLKROGET: u32 = 0x125e;
    let mut read_only: libc::c_int = 0;
    // SAFETY: BLKROGET writes one int to the pointer.
    match unsafe { libc::ioctl(file.as_raw_fd(), BLKROGET as libc::Ioctl, &mut read_only) } {
        0 => Ok(read_only != 0),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the disk sequence number of the block device `file`, which the kernel increases each
/// time a disk appears; `None` before Linux 5.15.
///
/// It distinguishes two drives that had the same node one after the other.
pub fn disk_sequence(file: &File) -> Option<u64> {
    const BLKGETDISKSEQ: u32 = 0x8008_1280;
    let mut sequence = 0u64;
    // SAFETY: BLKGETDISKSEQ writes one u64 to the pointer.
    let status =
        unsafe { libc::ioctl(file.as_raw_fd(), BLKGETDISKSEQ as libc::Ioctl, &mut sequence) };
    (status == 0).then_some(sequence)
}

/// Returns the current size of the block device `file` in bytes.
///
/// # Errors
/// The error of the kernel, `ENOTTY` where `file` is not a block device.
pub fn device_size(file: &File) -> io::Result<u64> {
    const BLKGETSIZE64: u32 = 0x8008_1272;
    let mut size = 0u64;
    // SAFETY: BLKGETSIZE64 writes one u64 to the pointer.
    match unsafe { libc::ioctl(file.as_raw_fd(), BLKGETSIZE64 as libc::Ioctl, &mut size) } {
        0 => Ok(size),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns whether another program holds a lock on the open device `file` (flock), as a run does
/// with its drive.
pub fn is_locked(file: &File) -> bool {
    // Shared, so that two programs that only look do not report each other.
    match flock(file, FlockOperation::NonBlockingLockShared) {
        // Released at once: a run that begins meanwhile needs the lock for itself.
        Ok(()) => flock(file, FlockOperation::Unlock).is_err(),
        Err(_) => true,
    }
}

/// Returns what backs the loop device `node`: the device number of the file system of its file,
/// the inode of the file, and the number of the backing device, 0 where a file backs it. `None`
/// where `node` cannot be opened or is not an attached loop device.
pub fn loop_backing(node: &Path) -> Option<[u64; 3]> {
    const LOOP_GET_STATUS64: u32 = 0x4c05;
    /// The length of `struct loop_info64`, in words.
    const WORDS: usize = 232 / 8;
    let file = File::open(node).ok()?;
    let mut status = [0u64; WORDS];
    // SAFETY: LOOP_GET_STATUS64 writes a structure of 232 bytes to the pointer.
    let outcome = unsafe {
        libc::ioctl(file.as_raw_fd(), LOOP_GET_STATUS64 as libc::Ioctl, status.as_mut_ptr())
    };
    // The first three words are lo_device, lo_inode and lo_rdevice (linux/loop.h); the kernel
    // encodes device numbers as libc does where major and minor are below 2^20.
    (outcome == 0).then(|| [status[0], status[1], status[2]])
}
