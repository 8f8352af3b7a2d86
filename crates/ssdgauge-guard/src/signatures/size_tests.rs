//! Contents of drives whose size is not a multiple of 4,096 bytes: every format is found, those in the
//! last bytes as well.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use super::blkid_tests::agrees;
use super::{LABEL_LENGTH, Owner, contents, ownership_label};
use ssdgauge_core::Bytes;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The remainders of the size of a drive with 512-byte logical blocks by 4,096.
const REMAINDERS: [u64; 8] = [0, 512, 1_024, 1_536, 2_048, 2_560, 3_072, 3_584];

/// The size without its remainder. The image is sparse.
const SIZE: u64 = 16 << 20;

/// Formats at the end of a drive, by their specifications: the place on a drive of a size, the bytes
/// there, and the words of this crate.
type Format = (fn(u64) -> u64, &'static [u8], &'static str);

const UNKNOWN: &str = "unknown kind";
const MD: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];
const FORMATS: [Format; 27] = [
    // Intel: two logical blocks before the end (mdadm, super-intel.c).
    (|size| size - 2 * 512, b"Intel Raid ISM Cfg Sig. 1.0.00", "RAID member (Intel)"),
    (|size| size - 2 * 4_096, b"Intel Raid ISM Cfg Sig. 1.3.00", "RAID member (Intel)"),
    // GPT: the last logical block (UEFI Specification, 5.3).
    (|size| size - 512, b"EFI PART", "backup partition table"),
    (|size| size - 4_096, b"EFI PART", "backup partition table"),
    // md: 64 KiB before the end on a grid of 64 KiB; 8 KiB before the end on a grid of 4 KiB.
    (|size| (size & !0xffff) - 0x1_0000, MD, "md 0.90"),
    (|size| (((size >> 9) - 16) & !7) << 9, MD, "md 1.0"),
    // DDF: the anchor in the last block (SNIA Common RAID Disk Data Format, 5.2).
    (|size| size - 512, &[0xde, 0x11, 0xde, 0x11], "RAID member (DDF)"),
    (|size| size - 4_096, &[0xde, 0x11, 0xde, 0x11], "RAID member (DDF)"),
    // ZFS: an uberblock in the third and the fourth label (On-Disk Specification, 1.2).
    (|size| (size & !0x3_ffff) - 0x4_0000 + 0x2_0000, &[0x0c, 0xb1, 0xba, 0], "ZFS member"),
    (|size| (size & !0x3_ffff) - 0x8_0000 + 0x2_1c00, &[0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c], "ZFS"),
    // Host adapters: the places of dmraid, in sectors before the end.
    (|size| size - 63 * 512, b"Promise Technology, Inc.", "RAID member (Promise)"),
    (|size| size - 3_087 * 512, b"Promise Technology, Inc.", "RAID member (Promise)"),
    (|size| size - 512 + 256, b"DPTM", "RAID member (Adaptec)"),
    (|size| size - 2 * 512, b"NVIDIA  ", "RAID member (NVIDIA)"),
    (|size| size - 512, b"$XIDE$", "RAID member (LSI)"),
    (|size| size - 11 * 512, &[0xf3, 0x16, 0x78, 0x5a], "RAID member (HighPoint)"),
    // DRBD: the last 4 KiB on a grid of 4 KiB.
    (|size| (size & !0xfff) - 4_096 + 60, &[0x83, 0x74, 0x02, 0x6b], "DRBD"),
    // The same host adapters with the checksum that their metadata needs (dmraid), and JMicron.
    (|size| size - 512, &[0x55, 0xaa, 0x01], "RAID member (VIA)"),
    (|size| size - 512, &SILICON_IMAGE, "RAID member (Silicon Image)"),
    (|size| size - 512, b"JM", "RAID member (JMicron)"),
    // The copies of file systems: the last sector, the one before it, eight before the end.
    (|size| size - 512, b"\xeb\x52\x90NTFS    ", "NTFS file system"),
    (|size| size - 1_024, b"H+\0\x04", "HFS+ file system"),
    (|size| size - 4_096, &[2, 0, 0, 0, 0, 0, 0x34, 0x34], "NILFS2 file system"),
    (|size| (size & !0x3_ffff) - 0x4_0000 + 0x3_fc00, &[0x0c, 0xb1, 0xba, 0], "ZFS member"),
    // Without the checksum: not named, but never blank.
    (|size| size - 512, &[0x55, 0xaa, 0x01, 0x05], UNKNOWN), // VIA
    (|size| size - 512 + 0x60, &[0, 0, 0, 0x2f], UNKNOWN),   // Silicon Image
    (|size| size - 1, &[1], UNKNOWN),
];

/// Formats at the head, whose drives can end anywhere as well.
const AT_THE_HEAD: [(u64, &[u8], &str); 44] = [
    // Magic numbers by the headers of their drivers in Linux and U-Boot, and the specifications of their
    // makers.
    (0, b"-rom1fs-", "romfs"),                                 // romfs_fs.h
    (0, b"UBI#", "UBI device"),                                // ubi-media.h
    (0, &[0x31, 0x18, 0x10, 0x06], "UBIFS"),                   // ubifs-media.h, 0x06101831
    (0, b"SFOZ", "zonefs"),                                    // zonefs.h, 0x5a4f4653
    (0, &[0xce, 0xfa, 0xad, 0x1b], "BFS file system"),         // bfs_fs.h, 0x1badface
    (0, &[0x45, 0x3d, 0xcd, 0x28], "cramfs"),                  // cramfs_fs.h, 0x28cd3d45
    (512, &[0x45, 0x3d, 0xcd, 0x28], "cramfs"),                // after a boot sector
    (544, b"1SFB", "BeFS"),                                    // befs_fs_types.h
    (3, b"ReFS\0", "ReFS"),                                    // libyal, libfsrefs
    (0, b"mpoolDev", "mpool"),                                 // mpool of HSE
    (0, b"$DRBDmgr=q", "DRBD control volume"),                 // drbdmanage
    (54, b"FAT16\0\0\0", "FAT file system"),                   // mkdosfs without heads
    (512, &[0x57, 0x45, 0x56, 0x82], "partition table (BSD)"), // disklabel.h, 0x82564557
    (0, &[0x0b, 0xe5, 0xa9, 0x41], "partition table (SGI)"),   // sgi.c
    (1_040, &[0x8f, 0x13, 0x01, 0x00], "MINIX"),               // minix_fs.h, with its state
    (1_040, &[0x13, 0x8f, 0x00, 0x01], "MINIX"),
    (8_192, &[0xe5, 0xd6, 0xd3, 0xf1], "partition table (DASD)"), // VOL1 in EBCDIC
    (0x1c6, b"\x01RAW\0\0\0\x02\0\0\x10\0", "table (Atari)"),     // atari.h
    (1_024, b"BD\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\0", "HFS file system"),
    (0, b"dmvdo001", "VDO volume"),
    (1 << 20, &[0x0d, 0xd0, 0x01, 0xc0], "VMFS volume"),
    (2 << 20, &[0x5e, 0xf1, 0xab, 0x2f], "VMFS file system"),
    (536, b"LVM2 001", "LVM2"),
    // UFS: 1,372 bytes into the superblock, at 8, 64 or 256 KiB, in either byte order.
    (8_192 + 1_372, &[0x54, 0x19, 0x01, 0x00], "UFS file system"),
    (65_536 + 1_372, &[0x19, 0x01, 0x54, 0x19], "UFS file system"),
    (262_144 + 1_372, &[0x19, 0x54, 0x01, 0x19], "UFS file system"),
    (0x2_0000 + 0x4_0000, &[0x0c, 0xb1, 0xba, 0], "ZFS member"),
    (8_192 - 10, b"S1SUSPEND\0", "suspended system"),
    (16_384 - 10, b"LINHIB0001", "suspended system"),
    (32_768 - 10, b"ULSUSPEND\0", "suspended system"),
    (8_192 - 10, b"SWAPSPACE2", "swap space"),
    (65_536 - 10, b"SWAP-SPACE", "swap space"),
    (65_536, b"ReIsEr4", "Reiser4"),
    (8_244, b"ReIsErFs", "ReiserFS"),
    (4_096, b"OCFSV2", "OCFS2"),
    (8_192, b"OCFSV2", "OCFS2"),
    (65_536, &[0x01, 0x16, 0x19, 0x70], "GFS file system"),
    (8_192, &[0x49, 0xe8, 0x95, 0xf9], "HPFS"),
    (4_096, b"SPB5", "NetWare"),
    (9 * 1_024 + 1_016, &[0xfd, 0x18, 0x7e, 0x20], "System V"),
    (5_120, &[0x10, 0x20, 0xf5, 0xf2], "F2FS"),
    (
        4_120,
        &[
            0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d,
            0xf7, 0xef,
        ],
        "bcachefs",
    ),
    (4_624, b"!Stra0tis", "Stratis"),
    (17 * 512, &[0xfe, 0xed, 0xba, 0xbe, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 2, 0], "log of XFS"),
];

/// Metadata of Silicon Image whose words to the checksum add up to zero: 0x2f00 and 0xd100.
const SILICON_IMAGE: [u8; 0x140] = {
    let mut bytes = [0; 0x140];
    bytes[0x63] = 0x2f;
    bytes[0x13f] = 0xd1;
    bytes
};

fn image(path: &Path, size: u64, parts: &[(u64, &[u8])]) -> File {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path);
    let file = file.unwrap();
    file.set_len(size).unwrap();
    for (at, bytes) in parts {
        file.write_all_at(bytes, *at).unwrap();
    }
    file
}

fn found(file: &File, size: u64) -> Vec<String> {
    contents(file, Bytes(size), &Owner::AnyRun).unwrap()
}

#[test]
fn a_format_at_the_end_is_found_whatever_the_size_of_the_drive_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("image");
    let label = ownership_label("S123", Some("r1"));
    for size in REMAINDERS.map(|remainder| SIZE + remainder) {
        assert_eq!(found(&image(&path, size, &[]), size), Vec::<String>::new(), "{size}");
        let at_the_head = AT_THE_HEAD.map(|(at, bytes, words)| (at, bytes, words)).into_iter();
        let at_the_end = FORMATS.iter().map(|(at, bytes, words)| (at(size), *bytes, *words));
        for (at, bytes, words) in at_the_end.chain(at_the_head) {
            let text = found(&image(&path, size, &[(at, bytes)]), size).join("; ");
            assert!(text.contains(words), "{size}, {words} at {at}: '{text}'");
            // A drive that became a member after a run keeps the label of that run.
            if words != UNKNOWN && at >= LABEL_LENGTH as u64 {
                let text = found(&image(&path, size, &[(0, &label), (at, bytes)]), size).join("; ");
                assert!(text.contains(words), "{size}, {words} with a label: '{text}'");
            }
        }
    }
}

/// What is read at the end of a drive.
const TAIL: u64 = 2 << 20;

/// An image: its blocks that are not zero, by their places, and its length.
struct Image {
    blocks: Vec<(u64, Vec<u8>)>,
    length: u64,
}

impl Image {
    /// Unpacks `packed` by xz.
    fn unpack(packed: &Path) -> Image {
        let mut xz =
            Command::new("xz").arg("-dc").arg(packed).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = xz.stdout.take().unwrap();
        let (mut blocks, mut length, mut part) = (Vec::new(), 0, Vec::new());
        let zeros = [0; 4_096];
        loop {
            part.clear();
            output.by_ref().take(1 << 20).read_to_end(&mut part).unwrap();
            let places = (length..).step_by(zeros.len());
            let parts = places.zip(part.chunks(zeros.len()));
            let data = parts.filter(|(_, block)| **block != zeros[..block.len()]);
            blocks.extend(data.map(|(at, block)| (at, block.to_vec())));
            length += part.len() as u64;
            if part.is_empty() {
                break;
            }
        }
        assert!(xz.wait().unwrap().success() && length > 0, "{}", packed.display());
        Image { blocks, length }
    }

    /// Returns the blocks from `from` on, `by` bytes further.
    fn moved(&self, from: u64, by: u64) -> Vec<(u64, &[u8])> {
        let blocks = self.blocks.iter().filter(|(at, _)| *at >= from);
        blocks.map(|(at, bytes)| (at + by, &bytes[..])).collect()
    }
}

/// Returns the images of the collection, unpacked from its archive; `None` where it is not there.
fn images(folder: &Path) -> Option<Vec<PathBuf>> {
    let Some(corpus) = std::env::var_os("SSDGAUGE_CORPUS") else {
        println!("skipped: SSDGAUGE_CORPUS does not name a folder with blkid/images.tar.xz");
        return None;
    };
    let archive = Path::new(&corpus).join("blkid/images.tar.xz");
    let tar = Command::new("tar").arg("-xJf").arg(&archive).arg("-C").arg(folder).status().unwrap();
    assert!(tar.success(), "{}", archive.display());
    let entries = std::fs::read_dir(folder.join("images")).unwrap().flatten();
    let mut images: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "xz"))
        .collect();
    images.sort();
    Some(images)
}

#[test]
fn every_image_of_util_linux_is_recognised_on_a_drive_of_any_size() {
    let folder = tempfile::tempdir().unwrap();
    let Some(images) = images(folder.path()) else { return };
    assert!(images.len() >= 138, "{} images", images.len());
    let path = folder.path().join("image");
    let mut unnamed = 0;
    for packed in &images {
        let name = packed.file_name().unwrap().to_string_lossy();
        let unpacked = Image::unpack(packed);
        let tail = unpacked.length.saturating_sub(TAIL);
        let mut cases = 0;
        for remainder in REMAINDERS {
            // At the start of a drive that is little larger than the image, as file systems are.
            let size = unpacked.length.next_multiple_of(4_096) + remainder;
            let mut drives = vec![(size, unpacked.moved(0, 0))];
            // At the end of a larger one, as RAID metadata are.
            let size = unpacked.length.next_multiple_of(4_096) + SIZE + remainder;
            drives.push((size, unpacked.moved(tail, size - unpacked.length)));
            drives.retain(|(_, parts)| !parts.is_empty());
            for (size, parts) in drives {
                let found = found(&image(&path, size, &parts), size);
                assert!(!found.is_empty(), "{name} from byte {} of {size} on", parts[0].0);
                unnamed += u32::from(found[0].contains(UNKNOWN));
                cases += 1;
            }
        }
        assert!(cases >= REMAINDERS.len(), "{name}");
    }
    println!("{} images, each on drives of 8 sizes; {unnamed} without a name", images.len());
}

/// Returns the type of an image that libblkid expects, or that of its partition table; `None` for an image that
/// has only several.
fn expected(folder: &Path, name: &str) -> Option<String> {
    let read =
        |start: &str| std::fs::read_to_string(folder.join(format!("expected/{start}{name}")));
    let (file_system, table) = (read("low-probe-").ok(), read("lowprobe-pt-").ok());
    let of_file = |text: &str| {
        text.lines().find_map(|line| line.strip_prefix("ID_FS_TYPE=")).map(str::to_owned)
    };
    let of_table = |text: &str| Some(text.split_once("PT: ")?.1.split(',').next()?.to_owned());
    file_system.as_deref().and_then(of_file).or_else(|| table.as_deref().and_then(of_table))
}

#[test]
fn every_image_of_util_linux_has_the_name_that_libblkid_gives_it() {
    let folder = tempfile::tempdir().unwrap();
    let Some(images) = images(folder.path()) else { return };
    let path = folder.path().join("image");
    let (mut named, mut without) = (0, Vec::new());
    for packed in &images {
        let name = packed.file_name().unwrap().to_string_lossy();
        let name = name.strip_suffix(".img.xz").unwrap();
        let Some(theirs) = expected(folder.path(), name) else {
            without.push(name.to_owned());
            continue;
        };
        let unpacked = Image::unpack(packed);
        let drive = image(&path, unpacked.length, &unpacked.moved(0, 0));
        agrees(name, &theirs, &found(&drive, unpacked.length));
        named += 1;
    }
    println!(
        "{named} images have the name that libblkid expects; without an expectation: {without:?}"
    );
    assert!(named >= 135, "{named}");
}

/// Returns the type that libblkid finds, or `None`.
fn blkid(image: &Path) -> Option<String> {
    let output =
        Command::new("blkid").args(["-p", "-s", "TYPE", "-o", "value"]).arg(image).output();
    let text = String::from_utf8_lossy(&output.unwrap().stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[test]
fn what_libblkid_names_after_the_first_block_outweighs_a_label_there() {
    let folder = tempfile::tempdir().unwrap();
    let Some(images) = images(folder.path()) else { return };
    let path = folder.path().join("image");
    let label = ownership_label("S123", Some("r1"));
    let mut named = std::collections::BTreeSet::new();
    for packed in &images {
        let unpacked = Image::unpack(packed);
        // A file system keeps its size; libblkid looks at the end of what it is given.
        let size = unpacked.length.next_multiple_of(512);
        if size < TAIL / 2 {
            continue;
        }
        let mut parts = unpacked.moved(LABEL_LENGTH as u64, 0);
        parts.insert(0, (0, &label));
        let file = image(&path, size, &parts);
        let Some(theirs) = blkid(&path) else { continue };
        let found = found(&file, size);
        assert!(!found.is_empty(), "{}: libblkid finds {theirs}", packed.display());
        named.insert(theirs);
    }
    println!("{} formats have a signature after the first block: {named:?}", named.len());
    assert!(named.len() >= 20, "{named:?}");
}
