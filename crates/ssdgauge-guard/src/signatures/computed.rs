//! Formats that a row of the table cannot describe: they have many places, many magic numbers, or a
//! magic number so short that a checksum has to confirm it.

use super::bytes::bytes_at;

/// The length of one of the four labels of a ZFS member.
pub(super) const ZFS_LABEL: u64 = 256 << 10;

/// A drive of `size` bytes: what was read from its start, and from byte `from` to its end.
pub(super) struct Ends<'a> {
    pub(super) head: &'a [u8],
    pub(super) tail: &'a [u8],
    pub(super) from: u64,
    pub(super) size: u64,
}

/// Returns the formats found, each with its place in bytes.
pub(super) fn found(ends: &Ends<'_>) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    found.extend(zfs(ends));
    found.extend(ufs(ends));
    found.extend(sysv(ends));
    found.extend(hibernation(ends));
    found.extend(xfs_log(ends));
    found.extend(last_sector(ends));
    found
}

impl Ends<'_> {
    /// Returns `length` bytes at the place `at` of the drive, if they were read.
    fn bytes(&self, at: u64, length: usize) -> Option<&[u8]> {
        bytes_at(self.head, at, length)
            .or_else(|| bytes_at(self.tail, at.checked_sub(self.from)?, length))
    }
}

/// Finds ZFS labels by the ring of uberblocks in their second half (ZFS On-Disk Specification, chapter
/// 1). Two labels are at the start and two at the end.
fn zfs(ends: &Ends<'_>) -> Option<(u64, String)> {
    const MAGIC: u64 = 0x00ba_b10c;
    let is_magic = |block: &[u8]| {
        let word = block.first_chunk::<8>().copied().unwrap_or_default();
        // ZFS writes in the byte order of its host, and reads both.
        u64::from_le_bytes(word) == MAGIC || u64::from_be_bytes(word) == MAGIC
    };
    let has_ring = |label: &u64| {
        let ring = ends.bytes(label + ZFS_LABEL / 2, ZFS_LABEL as usize / 2);
        // An uberblock has 1 KiB, or up to 8 KiB with larger sectors: each begins on this grid.
        ring.is_some_and(|ring| ring.chunks(1_024).any(is_magic))
    };
    // ZFS uses whole labels only: both at the end lie on this grid, not at the last byte.
    let whole = ends.size / ZFS_LABEL * ZFS_LABEL;
    let last = [2, 1].map(|number| whole.saturating_sub(number * ZFS_LABEL));
    let label = [0, ZFS_LABEL].into_iter().chain(last).find(has_ring)?;
    Some((label, format!("a ZFS member (label at byte {label})")))
}

/// Finds the superblock of UFS in either byte order (the file system of BSD and Solaris; `fs.h` of
/// FreeBSD and Linux). The first 64 KiB of UFS2 are left to a boot program.
fn ufs(ends: &Ends<'_>) -> Option<(u64, String)> {
    const MAGICS: [u32; 6] =
        [0x0001_1954, 0x1954_0119, 0x0019_5612, 0x0009_5014, 0x0061_2195, 0x0523_1994];
    const MAGIC_AT: u64 = 1_372;
    // Those of floppy disks, UFS1, UFS2 and UFS2 after a large boot program (SBLOCKSEARCH in fs.h).
    let places = [0, 8 << 10, 64 << 10, 256 << 10].map(|start| start + MAGIC_AT);
    let at = places.into_iter().find(|at| is_one_of(ends.bytes(*at, 4), &MAGICS))?;
    Some((at, format!("a UFS file system at byte {at}")))
}

/// Finds the superblock of System V file systems, which has four places (`fs/sysv/super.c` of Linux).
fn sysv(ends: &Ends<'_>) -> Option<(u64, String)> {
    let places = [0, 9, 15, 18].map(|block| block * 1_024 + 512 + 504);
    let at = places.into_iter().find(|at| is_one_of(ends.bytes(*at, 4), &[0xfd18_7e20]))?;
    Some((at, format!("a System V file system at byte {at}")))
}

/// Returns whether `bytes` are one of the numbers `magics` in either byte order.
fn is_one_of(bytes: Option<&[u8]>, magics: &[u32]) -> bool {
    let word = bytes.and_then(|bytes| bytes.first_chunk::<4>().copied());
    word.is_some_and(|word| {
        magics.contains(&u32::from_le_bytes(word)) || magics.contains(&u32::from_be_bytes(word))
    })
}

/// Finds swap space, and the image of a suspended system in it: the last ten bytes of the first page of
/// five sizes (`kernel/power/swap.c` of Linux).
fn hibernation(ends: &Ends<'_>) -> Option<(u64, String)> {
    const SUSPENDED: [&[u8]; 4] = [b"S1SUSPEND", b"S2SUSPEND", b"ULSUSPEND", b"LINHIB0001"];
    const SWAP: [&[u8]; 2] = [b"SWAPSPACE2", b"SWAP-SPACE"];
    [4_096, 8_192, 16_384, 32_768, 65_536].into_iter().find_map(|page| {
        let at = page - 10;
        let bytes = ends.bytes(at, 10)?;
        let is = |magics: &[&[u8]]| magics.iter().any(|magic| bytes.starts_with(magic));
        if is(&SUSPENDED) {
            return Some((at, format!("a suspended system in swap space at byte {at}")));
        }
        is(&SWAP).then(|| (at, format!("swap space at byte {at}")))
    })
}

/// Finds the log of an XFS file system, which may be on a drive of its own: the header of a record in one
/// of the first 512 sectors, with its version and its length (`xfs_log_format.h` of Linux).
fn xfs_log(ends: &Ends<'_>) -> Option<(u64, String)> {
    let is_record = |at: &u64| {
        let words = ends.bytes(*at, 16).map(|bytes| bytes.as_chunks::<4>().0);
        let words: Vec<u32> =
            words.into_iter().flatten().map(|word| u32::from_be_bytes(*word)).collect();
        matches!(words[..], [0xfeed_babe, cycle, 1 | 2, 1..=0x7fff_ffff] if cycle > 0)
    };
    // A record has 256 KiB at most (XLOG_MAX_RECORD_BSIZE): one begins in these sectors, wherever the
    // head of the log is.
    let at = (0..512).map(|sector| sector * 512).find(is_record)?;
    Some((at, format!("a log of XFS at byte {at}")))
}

/// Finds the RAID metadata whose magic number in the last 512 bytes is short: of VIA and Silicon Image by
/// their checksums, of JMicron by its two letters (the formats of dmraid).
fn last_sector(ends: &Ends<'_>) -> Option<(u64, String)> {
    let at = (ends.size / 512).checked_sub(1)? * 512;
    let sector = ends.bytes(at, 512)?;
    let maker = if is_via(sector) {
        "VIA"
    } else if is_silicon_image(sector) {
        "Silicon Image"
    } else if sector.starts_with(b"JM") {
        // Two letters occur by chance as well. A false alarm costs an `--erase`, a miss the array.
        "JMicron"
    } else {
        return None;
    };
    Some((at, format!("a RAID member ({maker}) at byte {at}")))
}

/// The sum of the first 50 bytes is in the next one.
fn is_via(sector: &[u8]) -> bool {
    let sum = sector[..50].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    sector.starts_with(&[0x55, 0xaa]) && sector[2] <= 2 && sector[50] == sum
}

/// The sum of the 16-bit words to the checksum and with it is zero.
fn is_silicon_image(sector: &[u8]) -> bool {
    let (words, _) = sector[..0x140].as_chunks::<2>();
    let sum = words.iter().fold(0_u16, |sum, word| sum.wrapping_add(u16::from_le_bytes(*word)));
    sector[0x60..0x64] == [0, 0, 0, 0x2f] && sector[0x116] < 8 && sum == 0
}
