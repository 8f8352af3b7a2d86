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
    found.extend(udf(ends));
    found.extend(minix(ends));
    found.extend(hfs(ends));
    found.extend(sun(ends));
    found.extend(dasd(ends));
    found.extend(atari(ends));
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

/// Finds the descriptor of UDF in the volume recognition sequence (ECMA-167, 2/8), which begins at 32 KiB and
/// may have those of ISO 9660 before it.
fn udf(ends: &Ends<'_>) -> Option<(u64, String)> {
    let is_nsr = |at: &u64| matches!(ends.bytes(at + 1, 5), Some(b"NSR02" | b"NSR03"));
    let at = (0..64).map(|number| 32_768 + number * 2_048).find(is_nsr)?;
    Some((at, format!("a UDF file system at byte {at}")))
}

/// Finds the superblock of MINIX file systems in either byte order (`minix_fs.h` of Linux): versions 1 and
/// 2 have their state after the magic number, of two bits, version 3 a zero.
fn minix(ends: &Ends<'_>) -> Option<(u64, String)> {
    const OLD: [u16; 4] = [0x137f, 0x138f, 0x2468, 0x2478];
    let words = |at: u64, from: fn([u8; 2]) -> u16| {
        let bytes = ends.bytes(at, 4)?;
        Some((from([bytes[0], bytes[1]]), from([bytes[2], bytes[3]])))
    };
    [u16::from_le_bytes, u16::from_be_bytes].into_iter().find_map(|from| {
        let is_old =
            words(1_040, from).is_some_and(|(magic, state)| OLD.contains(&magic) && state < 4);
        let is_new = words(1_048, from) == Some((0x4d5a, 0));
        let at = if is_old { 1_040 } else { 1_048 };
        (is_old || is_new).then(|| (at, format!("a MINIX file system at byte {at}")))
    })
}

/// Finds the master directory block of HFS (Inside Macintosh: Files, 2-60): its signature and the size of
/// an allocation block, a multiple of 512 bytes.
fn hfs(ends: &Ends<'_>) -> Option<(u64, String)> {
    const AT: u64 = 1_024;
    let size = ends.bytes(AT + 20, 4)?.first_chunk().copied().map(u32::from_be_bytes)?;
    let is_hfs = ends.bytes(AT, 2)? == b"BD" && size > 0 && size % 512 == 0;
    is_hfs.then(|| (AT, format!("an HFS file system at byte {AT}")))
}

/// Finds the disk label of Sun: the magic number at its end, and words that are zero in all (`sun.h` of
/// Linux).
fn sun(ends: &Ends<'_>) -> Option<(u64, String)> {
    let (words, _) = ends.bytes(0, 512)?.as_chunks::<2>();
    let sum = words.iter().fold(0, |sum, word| sum ^ u16::from_be_bytes(*word));
    let is_sun = words[254] == [0xda, 0xbe] && sum == 0;
    is_sun.then(|| (508, "a partition table (Sun) at byte 508".to_owned()))
}

/// Finds the volume label of a mainframe disk in its third block (`ibm.c` of Linux): VOL1, LNX1 or CMS1 in
/// EBCDIC.
fn dasd(ends: &Ends<'_>) -> Option<(u64, String)> {
    const LABELS: [[u8; 4]; 3] =
        [[0xe5, 0xd6, 0xd3, 0xf1], [0xd3, 0xd5, 0xe7, 0xf1], [0xc3, 0xd4, 0xe2, 0xf1]];
    let is_label = |at: &u64| {
        ends.bytes(*at, 4).is_some_and(|bytes| LABELS.iter().any(|label| label == bytes))
    };
    let at = [512, 1_024, 2_048, 4_096].map(|block| 2 * block).into_iter().find(is_label)?;
    Some((at, format!("a partition table (DASD) at byte {at}")))
}

/// Finds the root sector of Atari: entries with a flag, three letters, start and size in sectors
/// (`atari.c` of Linux). An active one of a known kind lies on the drive.
fn atari(ends: &Ends<'_>) -> Option<(u64, String)> {
    const KINDS: [&[u8]; 7] = [b"GEM", b"BGM", b"XGM", b"RAW", b"LNX", b"SWP", b"MIX"];
    const AT: u64 = 0x1c6;
    let number = |bytes: &[u8]| bytes.first_chunk().copied().map_or(0, u32::from_be_bytes);
    let is_active = |entry: &[u8]| {
        let (start, size) = (number(&entry[4..8]), number(&entry[8..]));
        let end = (u64::from(start) + u64::from(size)) * 512;
        entry[0] & 1 == 1
            && KINDS.contains(&&entry[1..4])
            && start > 0
            && size > 0
            && end <= ends.size
    };
    let entries = ends.bytes(AT, 4 * 12)?;
    let is_table = entries.chunks_exact(12).any(is_active);
    is_table.then(|| (AT, format!("a partition table (Atari) at byte {AT}")))
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
