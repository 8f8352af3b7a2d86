//! The signatures against libblkid (util-linux), which reads the same formats by code of its own: on images
//! that the tools of the formats made, and on bytes alone.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use super::table::{At, SIGNATURES};
use super::{Owner, contents};
use ssdgauge_core::Bytes;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

/// Large enough for btrfs and XFS; the image is sparse.
const SIZE: u64 = 512 << 20;

/// The formats that both know: the type of libblkid, and the words of this crate.
pub(super) const NAMES: [(&str, &str); 84] = [
    ("crypto_LUKS", "a LUKS volume"),
    ("linux_raid_member", "a RAID member (md"),
    ("isw_raid_member", "a RAID member (Intel)"),
    ("ddf_raid_member", "a RAID member (DDF)"),
    ("adaptec_raid_member", "a RAID member (Adaptec)"),
    ("hpt37x_raid_member", "a RAID member (HighPoint)"),
    ("hpt45x_raid_member", "a RAID member (HighPoint)"),
    ("lsi_mega_raid_member", "a RAID member (LSI)"),
    ("nvidia_raid_member", "a RAID member (NVIDIA)"),
    ("promise_fasttrack_raid_member", "a RAID member (Promise)"),
    ("drbd", "a DRBD device"),
    ("LVM2_member", "an LVM2 physical volume"),
    ("swap", "swap space"),
    ("xfs", "an XFS file system"),
    ("btrfs", "a btrfs file system"),
    ("f2fs", "an F2FS file system"),
    ("erofs", "an EROFS file system"),
    ("reiserfs", "a ReiserFS file system"),
    ("jfs", "a JFS file system"),
    ("squashfs", "a squashfs file system"),
    ("squashfs3", "a squashfs file system"),
    ("exfat", "an exFAT file system"),
    ("vfat", "a FAT file system"),
    ("VMFS_volume_member", "a VMFS volume"),
    ("VMFS", "a VMFS file system"),
    ("ceph_bluestore", "a Ceph store"),
    ("oracleasm", "an Oracle ASM disk"),
    ("vdo", "a VDO volume"),
    ("ext2", "an ext2, ext3 or ext4 file system"),
    ("ext3", "an ext2, ext3 or ext4 file system"),
    ("ext4", "an ext2, ext3 or ext4 file system"),
    ("via_raid_member", "a RAID member (VIA)"),
    ("silicon_medley_raid_member", "a RAID member (Silicon Image)"),
    ("jmicron_raid_member", "a RAID member (JMicron)"),
    ("swsuspend", "a suspended system"),
    ("ufs", "a UFS file system"),
    ("sysv", "a System V file system"),
    ("zfs_member", "a ZFS member"),
    ("reiser4", "a Reiser4 file system"),
    ("ocfs2", "an OCFS2 file system"),
    ("gfs", "a GFS file system"),
    ("gfs2", "a GFS file system"),
    ("hpfs", "an HPFS file system"),
    ("vxfs", "a VxFS file system"),
    ("nss", "a NetWare volume"),
    ("nilfs2", "a NILFS2 file system"),
    ("bcachefs", "bcachefs file system"),
    ("hfsplus", "an HFS+ file system"),
    ("stratis", "a Stratis member"),
    ("gpt", "a partition table (GPT)"),
    // What its first partition holds has a longer magic number, which is named instead.
    ("dos", " at byte "),
    ("minix", "a MINIX file system"),
    ("bfs", "a BFS file system"),
    ("cramfs", "a cramfs file system"),
    ("udf", "a UDF file system"),
    ("iso9660", "an ISO 9660 file system"),
    ("bcache", "a bcache device"),
    ("jbd", "an ext2, ext3 or ext4 file system"),
    ("xfs_external_log", "a log of XFS"),
    ("BitLocker", "a BitLocker volume"),
    ("apfs", "an APFS container"),
    ("befs", "a BeFS file system"),
    ("cs_fvault2", "a FileVault volume"),
    ("drbdmanage_control_volume", "a DRBD control volume"),
    ("hfs", "an HFS file system"),
    ("mpool", "an mpool device"),
    ("ntfs", "an NTFS file system"),
    ("romfs", "a romfs file system"),
    ("scoutfs_data", "a ScoutFS file system"),
    ("scoutfs_meta", "a ScoutFS file system"),
    ("ubi", "a UBI device"),
    ("ubifs", "a UBIFS file system"),
    ("zonefs", "a zonefs file system"),
    ("atari", "a partition table (Atari)"),
    ("bsd", "a partition table (BSD)"),
    ("dasd", "a partition table (DASD)"),
    ("mac", "a partition table (Apple)"),
    ("sgi", "a partition table (SGI)"),
    ("sun", "a partition table (Sun)"),
    ("aix", "a partition table (AIX)"),
    ("ultrix", "a partition table (Ultrix)"),
    ("ReFS", "a ReFS file system"),
    ("LVM1_member", "an LVM1 physical volume"),
    ("DM_snapshot_cow", "a device-mapper snapshot"),
];

/// The tools that make an image, with their arguments before its path.
const TOOLS: [&[&str]; 15] = [
    &["mkfs.ext2", "-q", "-F"],
    &["mkfs.ext3", "-q", "-F"],
    &["mkfs.ext4", "-q", "-F"],
    &["mkfs.ext4", "-q", "-F", "-b", "1024"],
    &["mkfs.xfs", "-q", "-f"],
    &["mkfs.btrfs", "-q", "-f"],
    &["mkfs.f2fs", "-q", "-f"],
    &["mkfs.vfat", "-F", "32"],
    &["mkfs.vfat", "-F", "16", "-s", "64"],
    &["mkswap"],
    &["mkswap", "-p", "65536"],
    &["mkfs.minix"],
    &["mkfs.bfs"],
    &["mkfs.exfat", "-q"],
    &["cryptsetup", "-q", "luksFormat", "--key-file", "/dev/zero", "--keyfile-size", "32"],
];

/// Returns the type or the partition table that libblkid finds; `None` where it finds neither.
fn blkid(image: &Path) -> Option<String> {
    let output = Command::new("blkid").args(["-p", "-o", "export"]).arg(image).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::to_owned);
    value("TYPE=").or_else(|| value("PTTYPE="))
}

fn ours(image: &Path) -> Vec<String> {
    contents(&File::open(image).unwrap(), Bytes(SIZE), &Owner::AnyRun).unwrap()
}

fn new_image(path: &Path) -> File {
    let file = File::create(path).unwrap();
    file.set_len(SIZE).unwrap();
    file
}

/// Checks that the format `theirs` of libblkid is among `ours` under its name.
#[track_caller]
pub(super) fn agrees(case: &str, theirs: &str, ours: &[String]) {
    let known = NAMES.iter().find(|(name, _)| *name == theirs);
    let (_, words) =
        known.unwrap_or_else(|| panic!("{case}: libblkid finds {theirs}, not in the table"));
    assert!(ours.iter().any(|found| found.contains(words)), "{case}: {theirs}, ssdgauge {ours:?}");
}

fn has_blkid() -> bool {
    let found = Command::new("blkid").arg("-V").output().is_ok();
    if !found {
        println!("skipped: no blkid");
    }
    found
}

#[test]
fn images_of_real_tools_have_the_formats_that_libblkid_finds() {
    if !has_blkid() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut compared, mut skipped) = (0, Vec::new());
    for tool in TOOLS {
        let image = folder.path().join("image");
        drop(new_image(&image));
        assert!(ours(&image).is_empty() && blkid(&image).is_none(), "a new image is empty");
        let made = Command::new(tool[0]).args(&tool[1..]).arg(&image).output();
        let Ok(made) = made else {
            skipped.push(tool[0]);
            continue;
        };
        assert!(made.status.success(), "{tool:?}: {}", String::from_utf8_lossy(&made.stderr));
        let theirs = blkid(&image).unwrap_or_else(|| panic!("{tool:?}: libblkid finds nothing"));
        agrees(&tool.join(" "), &theirs, &ours(&image));
        compared += 1;
        std::fs::remove_file(&image).unwrap();
    }
    println!(
        "compared {compared} images of {} tools; skipped, not installed: {skipped:?}",
        TOOLS.len()
    );
    assert!(compared >= 4, "e2fsprogs and util-linux alone make more");
}

#[test]
fn signatures_that_libblkid_accepts_alone_have_the_same_name() {
    if !has_blkid() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    let mut compared = 0;
    for signature in SIGNATURES {
        let at = match signature.at {
            At::Head(at) => at,
            At::Tail(before) => SIZE - before,
            At::RoundedTail(unit, before) => SIZE / unit * unit - before,
        };
        new_image(&image).write_all_at(signature.bytes, at).unwrap();
        // Most formats need more than their signature: a checksum, a version, a size.
        if let Some(theirs) = blkid(&image) {
            let found = ours(&image);
            agrees(signature.what, &theirs, &found);
            assert!(found.iter().any(|words| words.contains(signature.what)), "{found:?}");
            compared += 1;
        }
    }
    println!(
        "compared {compared} of {} signatures; libblkid wants more bytes for the others",
        SIGNATURES.len()
    );
    assert!(compared >= 20, "util-linux 2.38 accepts 26");
}
