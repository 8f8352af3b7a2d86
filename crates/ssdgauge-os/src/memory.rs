//! Page-aligned memory for requests in flight.
//!
//! O_DIRECT requires alignment to the logical block; a page satisfies every drive.

use crate::sysfs::attribute;
use ssdgauge_core::Bytes;
use std::io;
use std::path::Path;
use std::ptr::NonNull;

/// Returns the memory that new work can use without swapping (MemAvailable of /proc/meminfo);
/// `None` before Linux 3.14.
pub fn available() -> Option<Bytes> {
    let text = attribute(Path::new("/proc/meminfo"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes(kib << 10))
}

/// Anonymous memory from the kernel, page aligned, with huge pages where available.
///
/// The kernel reads and writes these bytes while requests are in flight, so they are handed out as
/// pointers and not as slices.
#[derive(Debug)]
pub struct Region {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a region is plain memory without thread affinity; the engines give every slot to one
// thread.
unsafe impl Send for Region {}
// SAFETY: as above; shared regions are only read.
unsafe impl Sync for Region {}

impl Region {
    /// Maps `length` zero bytes, at least one.
    ///
    /// # Errors
    /// The error of the kernel, `ENOMEM` where a limit of memory is reached.
    pub fn new(length: usize) -> io::Result<Region> {
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
        // Huge pages save TLB misses over a pool of 64 MiB; a kernel without them ignores it.
        // SAFETY: the range is the mapping just made; the advice cannot change its contents.
        unsafe { libc::madvise(start, length, libc::MADV_HUGEPAGE) };
        // A fork during O_DIRECT requests would let the kernel read into pages that this process no
        // longer has (open(2)): `child::start` forks.
        // SAFETY: as above; a child that touches the range is none of this program.
        unsafe { libc::madvise(start, length, libc::MADV_DONTFORK) };
        let start = NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Region { start, length })
    }

    /// Returns the address of byte `offset`, which must lie inside the region.
    #[inline]
    pub fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset < self.length, "byte {offset} of a region of {}", self.length);
        self.start.as_ptr().wrapping_add(offset)
    }

    /// Returns the length of the region in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the region as eight-byte words, to fill it before it is shared.
    pub fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is page aligned and `length` bytes long, and `&mut self` excludes
        // any other use.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.length / 8) }
    }

    /// Returns the bytes of the region. No request on it may be in flight.
    pub fn bytes(&mut self) -> &[u8] {
        // SAFETY: the range is the mapping, and `&mut self` excludes any other use.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    /// Writes two words at byte `offset`, little endian.
    ///
    /// # Safety
    /// The sixteen bytes must lie inside the region, and no other thread and no request in flight
    /// may use them.
    #[inline]
    pub unsafe fn put(&self, offset: usize, words: [u64; 2]) {
        debug_assert!(offset + 16 <= self.length, "byte {offset} of a region of {}", self.length);
        // SAFETY: the bytes are inside and unused, by the contract of this function.
        unsafe { self.at(offset).cast::<[u64; 2]>().write_unaligned(words.map(u64::to_le)) };
    }

    /// Writes a word at byte `offset`, little endian.
    ///
    /// # Safety
    /// The eight bytes must lie inside the region, and no other thread and no request in flight may
    /// use them.
    #[inline]
    pub unsafe fn put_word(&self, offset: usize, word: u64) {
        debug_assert!(offset + 8 <= self.length, "byte {offset} of a region of {}", self.length);
        // SAFETY: the bytes are inside and unused, by the contract of this function.
        unsafe { self.at(offset).cast::<u64>().write_unaligned(word.to_le()) };
    }

    /// Returns the region as an `iovec`, for registration with a ring.
    pub fn iovec(&self) -> libc::iovec {
        libc::iovec { iov_base: self.start.as_ptr().cast(), iov_len: self.length }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the range is exactly the mapping of `new`; its last owner is dropped here, and
        // the engines leak regions that requests in flight may still use.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Returns the two little-endian words at `data`.
///
/// # Safety
/// Sixteen bytes from `data` on must be readable, and must not be written during the call.
#[inline]
pub unsafe fn words_at(data: *const u8) -> [u64; 2] {
    // SAFETY: the bytes may be read, by the contract of this function.
    unsafe { data.cast::<[u64; 2]>().read_unaligned() }.map(u64::from_le)
}
