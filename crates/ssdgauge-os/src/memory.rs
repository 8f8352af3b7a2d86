//! Page-aligned memory for requests in flight.

use std::io;
use std::ptr::NonNull;

/// Anonymous memory from the kernel, on page boundaries, with huge pages where it has them.
///
/// Its bytes are read and written by the kernel while requests are in flight, so it is only ever
/// handed out as a pointer.
#[derive(Debug)]
pub struct Region {
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
        // SAFETY: the range is the mapping just made; the advice cannot change its contents.
        unsafe { libc::madvise(start, length, libc::MADV_HUGEPAGE) };
        let start = NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Region { start, length })
    }

    /// Returns the address of byte `offset`, which must lie inside.
    #[inline]
    pub fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset < self.length);
        self.start.as_ptr().wrapping_add(offset)
    }

    /// Returns the bytes in the region.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the region as eight-byte words, to fill it before anyone else sees it.
    pub fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is page aligned, as long as said, and `&mut self` proves that
        // nobody else uses it.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.length / 8) }
    }

    /// Returns what the region holds, while nothing is in flight.
    pub fn bytes(&mut self) -> &[u8] {
        // SAFETY: the range is the mapping, and `&mut self` proves that nobody else uses it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    /// Puts two words at byte `offset`, in memory order little endian.
    ///
    /// # Safety
    /// The sixteen bytes must lie inside, and nobody else, the kernel included, may use them now.
    #[inline]
    pub unsafe fn put(&self, offset: usize, words: [u64; 2]) {
        debug_assert!(offset + 16 <= self.length);
        // SAFETY: the bytes are inside and ours, by the contract of this function.
        unsafe { self.at(offset).cast::<[u64; 2]>().write_unaligned(words.map(u64::to_le)) };
    }

    /// Returns the region as the kernel's vector, for registration.
    pub fn iovec(&self) -> libc::iovec {
        libc::iovec { iov_base: self.start.as_ptr().cast(), iov_len: self.length }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the range is exactly the mapping of `new`, which nobody uses any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// Returns the two words at `data`, in memory order little endian.
///
/// # Safety
/// Sixteen bytes from `data` on must be readable, and nobody may write them meanwhile.
#[inline]
pub unsafe fn words_at(data: *const u8) -> [u64; 2] {
    // SAFETY: the bytes may be read, by the contract of this function.
    unsafe { data.cast::<[u64; 2]>().read_unaligned() }.map(u64::from_le)
}
