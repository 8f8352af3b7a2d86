//! The table of signatures: formats by bytes at a place of the drive.

/// The place of a signature.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    /// Bytes from the start.
    Head(u64),
    /// Bytes before the end.
    Tail(u64),
    /// Bytes before the end, after the end was rounded down to this unit.
    RoundedTail(u64, u64),
}

/// The signature of one format.
pub(super) struct Signature {
    pub(super) what: &'static str,
    pub(super) at: At,
    pub(super) bytes: &'static [u8],
    /// The place of the user's volume label: bytes from the start of the drive, and its length.
    pub(super) label: Option<(u64, usize)>,
}

const fn signature(what: &'static str, at: u64, bytes: &'static [u8]) -> Signature {
    Signature { what, at: At::Head(at), bytes, label: None }
}

const fn tail(what: &'static str, at: At, bytes: &'static [u8]) -> Signature {
    Signature { what, at, bytes, label: None }
}

const fn labelled(
    what: &'static str,
    at: u64,
    bytes: &'static [u8],
    label: (u64, usize),
) -> Signature {
    Signature { what, at: At::Head(at), bytes, label: Some(label) }
}

const SECOND_LUKS: &str = "a LUKS volume (second header)";

const INTEL: &[u8] = b"Intel Raid ISM Cfg Sig. ";
const DDF: &[u8] = &[0xde, 0x11, 0xde, 0x11];
const PROMISE: &[u8] = b"Promise Technology, Inc.";
const MD: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];

/// The table. Signatures of two bytes come last: other formats contain such bytes by chance (an
/// NTFS boot sector ends with that of an MBR), so they count only where no other signature matched.
pub(super) const SIGNATURES: &[Signature] = &[
    signature("a partition table (GPT)", 512, b"EFI PART"),
    signature("a partition table (GPT)", 4_096, b"EFI PART"),
    tail("a backup partition table (GPT)", At::Tail(512), b"EFI PART"),
    tail("a backup partition table (GPT)", At::Tail(4_096), b"EFI PART"),
    signature("an LVM2 physical volume", 24, b"LVM2 001"),
    signature("an LVM2 physical volume", 536, b"LVM2 001"),
    signature("an LVM2 physical volume", 1_048, b"LVM2 001"),
    signature("an LVM2 physical volume", 1_560, b"LVM2 001"),
    signature("a LUKS volume", 0, b"LUKS\xba\xbe"),
    // The places that cryptsetup searches: the first header has one of nine lengths (LUKS2 On-Disk
    // Format Specification, chapter 2).
    signature(SECOND_LUKS, 0x4000, b"SKUL\xba\xbe"),
    signature(SECOND_LUKS, 0x8000, b"SKUL\xba\xbe"),
    signature(SECOND_LUKS, 0x1_0000, b"SKUL\xba\xbe"),
    signature(SECOND_LUKS, 0x2_0000, b"SKUL\xba\xbe"),
    signature(SECOND_LUKS, 0x4_0000, b"SKUL\xba\xbe"),
    signature(SECOND_LUKS, 0x8_0000, b"SKUL\xba\xbe"),
    signature(SECOND_LUKS, 0x10_0000, b"SKUL\xba\xbe"),
    signature(SECOND_LUKS, 0x20_0000, b"SKUL\xba\xbe"),
    signature(SECOND_LUKS, 0x40_0000, b"SKUL\xba\xbe"),
    signature("a RAID member (md 1.1)", 0, MD),
    signature("a RAID member (md 1.2)", 4_096, MD),
    tail("a RAID member (md 1.0)", At::RoundedTail(4_096, 8_192), MD),
    tail("a RAID member (md 0.90)", At::RoundedTail(65_536, 65_536), MD),
    // Two logical blocks before the end, of 512 or 4,096 bytes.
    tail("a RAID member (Intel)", At::Tail(1_024), INTEL),
    tail("a RAID member (Intel)", At::Tail(8_192), INTEL),
    // The anchor in the last logical block, or 256 blocks before it (as Adaptec and LSI leave room).
    tail("a RAID member (DDF)", At::Tail(512), DDF),
    tail("a RAID member (DDF)", At::Tail(4_096), DDF),
    tail("a RAID member (DDF)", At::Tail(257 * 512), DDF),
    tail("a RAID member (Adaptec)", At::Tail(256), b"DPTM"),
    tail("a RAID member (HighPoint)", At::Tail(11 * 512), &[0xf3, 0x16, 0x78, 0x5a]),
    tail("a RAID member (HighPoint)", At::Tail(11 * 512), &[0xfd, 0x16, 0x78, 0x5a]),
    signature("a RAID member (HighPoint)", 4_640, &[0xf0, 0x16, 0x78, 0x5a]),
    signature("a RAID member (HighPoint)", 4_640, &[0xfd, 0x16, 0x78, 0x5a]),
    tail("a RAID member (LSI)", At::Tail(512), b"$XIDE$"),
    tail("a RAID member (NVIDIA)", At::Tail(1_024), b"NVIDIA"),
    // The places that dmraid and libblkid search, which differ by the firmware of the controller.
    tail("a RAID member (Promise)", At::Tail(16 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(63 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(255 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(256 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(399 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(591 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(675 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(735 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(911 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(951 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(974 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(991 * 512), PROMISE),
    tail("a RAID member (Promise)", At::Tail(3_087 * 512), PROMISE),
    // The last 4 KiB hold the internal metadata of DRBD 8 and 9; its two states differ by one.
    tail("a DRBD device", At::RoundedTail(4_096, 4_096 - 60), &[0x83, 0x74, 0x02, 0x6b]),
    tail("a DRBD device", At::RoundedTail(4_096, 4_096 - 60), &[0x83, 0x74, 0x02, 0x6c]),
    tail("a DRBD device", At::RoundedTail(4_096, 4_096 - 60), &[0x83, 0x74, 0x02, 0x6d]),
    tail("a DRBD device", At::RoundedTail(4_096, 4_096 - 60), &[0x83, 0x74, 0x02, 0x6e]),
    // libblkid searches them 4 KiB before the last byte.
    tail("a DRBD device", At::Tail(4_096 - 60), &[0x83, 0x74, 0x02, 0x6b]),
    tail("a DRBD device", At::Tail(4_096 - 60), &[0x83, 0x74, 0x02, 0x6d]),
    signature(
        // Early bcachefs has the same magic number.
        "a bcache device or bcachefs file system",
        4_120,
        &[
            0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba,
            0x6d, 0x81,
        ],
    ),
    signature(
        "a bcachefs file system",
        4_120,
        &[
            0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d,
            0xf7, 0xef,
        ],
    ),
    labelled("an XFS file system", 0, b"XFSB", (108, 12)),
    labelled("a btrfs file system", 65_600, b"_BHRfS_M", (65_835, 256)),
    labelled("an F2FS file system", 1_024, &[0x10, 0x20, 0xf5, 0xf2], (0, 0)),
    signature("an F2FS file system (second superblock)", 5_120, &[0x10, 0x20, 0xf5, 0xf2]),
    signature("an EROFS file system", 1_024, &[0xe2, 0xe1, 0xf5, 0xe0]),
    signature("a ReiserFS file system", 65_588, b"ReIsEr"),
    signature("a ReiserFS file system", 8_244, b"ReIsEr"),
    signature("a Reiser4 file system", 65_536, b"ReIsEr4"),
    signature("an OCFS2 file system", 1_024, b"OCFSV2"),
    signature("an OCFS2 file system", 2_048, b"OCFSV2"),
    signature("an OCFS2 file system", 4_096, b"OCFSV2"),
    signature("an OCFS2 file system", 8_192, b"OCFSV2"),
    signature("a GFS file system", 65_536, &[0x01, 0x16, 0x19, 0x70]),
    signature("an HPFS file system", 8_192, &[0x49, 0xe8, 0x95, 0xf9]),
    signature("a VxFS file system", 1_024, &[0xf5, 0xfc, 0x01, 0xa5]),
    signature("a VxFS file system", 8_192, &[0xa5, 0x01, 0xfc, 0xf5]),
    signature("a NetWare volume", 4_096, b"SPB5"),
    signature("a ScoutFS file system", 65_540, &[0x8b, 0x42, 0x3c, 0x10]),
    signature("a JFS file system", 32_768, b"JFS1"),
    signature("an ISO 9660 file system", 32_769, b"CD001"),
    signature("a UDF file system", 32_769, b"BEA01"),
    signature("a squashfs file system", 0, b"hsqs"),
    signature("an APFS container", 32, b"NXSB"),
    signature("a BitLocker volume", 3, b"-FVE-FS-"),
    signature("an NTFS file system", 3, b"NTFS    "),
    signature("an exFAT file system", 3, b"EXFAT   "),
    // Formatting tools fill the field with spaces or zeros.
    labelled("a FAT file system", 82, b"FAT32", (71, 11)),
    labelled("a FAT file system", 54, b"FAT16", (43, 11)),
    labelled("a FAT file system", 54, b"FAT12", (43, 11)),
    signature("a VMFS volume", 0x10_0000, &[0x0d, 0xd0, 0x01, 0xc0]),
    signature("a VMFS file system", 0x20_0000, &[0x5e, 0xf1, 0xab, 0x2f]),
    signature("a Ceph store", 0, b"bluestore block device"),
    signature("an Oracle ASM disk", 32, b"ORCLDISK"),
    signature("a Stratis member", 528, b"!Stra0tis"),
    signature("a Stratis member (second header)", 4_624, b"!Stra0tis"),
    signature("a VDO volume", 0, b"dmvdo001"),
    signature("a dm-integrity volume", 0, b"integrt\0"),
    signature("a dm-verity volume", 0, b"verity\0\0"),
    signature("a DRBD device", 0, b"DRBD"),
    signature("a qcow image", 0, b"QFI\xfb"),
    signature("a DRBD control volume", 0, b"$DRBDmgr="),
    signature(
        "a suspended system (TuxOnIce)",
        0,
        &[0xed, 0xc3, 0x02, 0xe9, 0x98, 0x56, 0xe5, 0x0c],
    ),
    // The version and the length of what follows are the same in each volume header.
    signature("a FileVault volume (Core Storage)", 88, b"CS\x01\0\0\0\x04\0"),
    signature("an mpool device", 0, b"mpoolDev"),
    signature("a romfs file system", 0, b"-rom1fs-"),
    signature("a UBI device", 0, b"UBI#"),
    signature("a UBIFS file system", 0, &[0x31, 0x18, 0x10, 0x06]),
    signature("a zonefs file system", 0, b"SFOZ"),
    signature("a BFS file system (UnixWare)", 0, &[0xce, 0xfa, 0xad, 0x1b]),
    signature("a cramfs file system", 0, &[0x45, 0x3d, 0xcd, 0x28]),
    signature("a cramfs file system", 0, &[0x28, 0xcd, 0x3d, 0x45]),
    signature("a cramfs file system", 512, &[0x45, 0x3d, 0xcd, 0x28]),
    signature("a BeFS file system", 32, b"1SFB"),
    signature("a BeFS file system", 32, b"BFS1"),
    signature("a BeFS file system", 544, b"1SFB"),
    signature("a BeFS file system", 544, b"BFS1"),
    signature("a ReFS file system", 3, b"ReFS\0"),
    signature("an LVM1 physical volume", 0, b"HM\x01\0"),
    signature("an LVM1 physical volume", 0, b"HM\x02\0"),
    signature("a device-mapper snapshot", 0, b"SnAp"),
    signature("an ISO 9660 file system (High Sierra)", 32_777, b"CDROM"),
    signature("a partition table (BSD)", 512, &[0x57, 0x45, 0x56, 0x82]),
    signature("a partition table (BSD)", 64, &[0x57, 0x45, 0x56, 0x82]),
    signature("a partition table (SGI)", 0, &[0x0b, 0xe5, 0xa9, 0x41]),
    signature("a partition table (Apple)", 512, b"PM\0\0"),
    signature("a partition table (Amiga)", 0, b"RDSK"),
    signature("a partition table (Ultrix)", 16_384 - 72, &[0x57, 0x29, 0x03, 0x00]),
    signature("a partition table (AIX)", 0, &[0xc9, 0xc2, 0xd4, 0xc1]),
    signature("an SQLite database", 0, b"SQLite format 3\0"),
    labelled("an ext2, ext3 or ext4 file system", 1_080, &[0x53, 0xef], (1_144, 16)),
    signature("an HFS+ file system", 1_024, b"H+\0"),
    signature("an HFS+ file system", 1_024, b"HX\0"),
    // The copies that file systems keep in the last sectors.
    tail("an NTFS file system (backup boot sector)", At::Tail(509), b"NTFS    "),
    tail("an HFS+ file system (second volume header)", At::Tail(1_024), b"H+\0"),
    tail("an HFS+ file system (second volume header)", At::Tail(1_024), b"HX\0"),
    // Eight sectors before the end. The magic number follows two revision numbers; the first of them has
    // been 2 since the format was published.
    tail(
        "a NILFS2 file system (second superblock)",
        At::RoundedTail(512, 4_096),
        &[2, 0, 0, 0, 0, 0, 0x34, 0x34],
    ),
    signature("a NILFS2 file system", 1_030, &[0x34, 0x34]),
    signature("a boot sector or partition table (MBR)", 510, &[0x55, 0xaa]),
];
