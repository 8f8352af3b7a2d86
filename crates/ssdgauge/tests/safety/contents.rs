//! Idle drives with existing data: refused without `--erase`.

use crate::safety::bench::{Bench, Case, SIZE, confirmation};
use crate::safety::table::{Scenario, check_all};
use std::os::unix::fs::FileExt;

#[test]
fn existing_data_on_an_idle_drive_is_named_and_not_overwritten() {
    check_all("idle drives with data", SCENARIOS, 28);
}

const SCENARIOS: &[Scenario] = &[
    ("ext4, created by mkfs", |bench| {
        let (device, image) = bench.drive()?;
        bench.run(&["mkfs.ext4", "-q", "-F", "-L", "family", &device]);
        Some(without_erase(Case::new(&device, &image, "ext4 file system 'family'")))
    }),
    ("swap space, created by mkswap", |bench| {
        let (device, image) = bench.drive()?;
        bench.run(&["mkswap", "-q", &device]);
        Some(without_erase(Case::new(&device, &image, "swap space")))
    }),
    ("GPT", |bench| with_signature(bench, 512, b"EFI PART", "(GPT)")),
    ("GPT on 4 KiB blocks", |bench| with_signature(bench, 4_096, b"EFI PART", "(GPT)")),
    ("the backup GPT alone", |bench| with_signature(bench, SIZE - 512, b"EFI PART", "backup")),
    ("MBR", |bench| with_signature(bench, 510, &[0x55, 0xaa], "(MBR)")),
    ("XFS", |bench| with_signature(bench, 0, b"XFSB", "XFS")),
    ("btrfs", |bench| with_signature(bench, 65_600, b"_BHRfS_M", "btrfs")),
    ("FAT", |bench| with_signature(bench, 82, b"FAT32   ", "FAT")),
    ("NTFS", |bench| with_signature(bench, 3, b"NTFS    ", "NTFS")),
    ("LVM2", |bench| with_signature(bench, 536, b"LVM2 001", "LVM2")),
    ("LUKS", |bench| with_signature(bench, 0, b"LUKS\xba\xbe", "LUKS")),
    ("LUKS, the second header alone", |bench| {
        with_signature(bench, 4 << 20, b"SKUL\xba\xbe", "LUKS volume (second header)")
    }),
    ("md 0.90", |bench| {
        with_signature(bench, SIZE - 65_536, &[0xfc, 0x4e, 0x2b, 0xa9], "RAID member (md 0.90)")
    }),
    ("md 1.0", |bench| {
        with_signature(bench, SIZE - 8_192, &[0xfc, 0x4e, 0x2b, 0xa9], "RAID member (md 1.0)")
    }),
    ("md 1.1", |bench| with_signature(bench, 0, &[0xfc, 0x4e, 0x2b, 0xa9], "RAID member (md 1.1)")),
    ("md 1.2", |bench| {
        with_signature(bench, 4_096, &[0xfc, 0x4e, 0x2b, 0xa9], "RAID member (md 1.2)")
    }),
    ("ZFS, the first label", |bench| {
        with_signature(bench, 128 << 10, &0x00ba_b10c_u64.to_le_bytes(), "ZFS member")
    }),
    ("ZFS, the last label alone", |bench| {
        let at = SIZE - (256 << 10) + (128 << 10);
        with_signature(bench, at, &0x00ba_b10c_u64.to_le_bytes(), "ZFS member")
    }),
    ("bcache", |bench| {
        let signature = [
            0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba,
            0x6d, 0x81,
        ];
        with_signature(bench, 4_120, &signature, "bcache")
    }),
    ("VMFS", |bench| with_signature(bench, 1 << 20, &[0x0d, 0xd0, 0x01, 0xc0], "VMFS")),
    ("a database without a file system", |bench| {
        with_signature(bench, 0, b"SQLite format 3\0", "SQLite database")
    }),
    ("data of an unknown kind", |bench| {
        with_signature(bench, 700_000, b"dear diary", "unknown kind")
    }),
    ("data of an unknown kind in the last block", |bench| {
        with_signature(bench, SIZE - 100, b"dear diary", "unknown kind")
    }),
    // Sizes that are not a multiple of 4,096 bytes: the metadata of Intel RAID are in the last 1,024 bytes.
    ("Intel RAID on 8 GiB", intel_raid::<0>),
    ("Intel RAID on 8 GiB and 512 bytes", intel_raid::<512>),
    ("Intel RAID on 8 GiB and 1,024 bytes", intel_raid::<1_024>),
    ("Intel RAID on 8 GiB and 3,584 bytes", intel_raid::<3_584>),
    ("data in the last byte of 8 GiB and 2,560 bytes", |bench| {
        at_the_end(bench, (8 << 30) + 2_560, 1, b"!", "unknown kind")
    }),
    ("an end that is not a whole logical block", |bench| {
        let image = bench.image("image");
        std::fs::File::options().write(true).open(&image).unwrap().set_len(SIZE + 512).unwrap();
        let device = bench.attach(&image, &["--direct-io=on", "--sector-size", "4096"])?;
        let expected = "its last 512 bytes cannot be read";
        Some(without_erase(Case::new(&device, &image, expected)))
    }),
    ("data of an unknown kind in the middle alone", |bench| {
        with_signature(bench, 6 << 20, &[b'd'; 1 << 20], "unknown kind")
    }),
];

fn intel_raid<const REMAINDER: u64>(bench: &mut Bench) -> Option<Case> {
    let metadata = b"Intel Raid ISM Cfg Sig. 1.0.00";
    at_the_end(bench, (8 << 30) + REMAINDER, 1_024, metadata, "RAID member (Intel)")
}

/// A drive of `size` bytes with `bytes`, `before` bytes before its end.
fn at_the_end(
    bench: &mut Bench,
    size: u64,
    before: u64,
    bytes: &[u8],
    expected: &str,
) -> Option<Case> {
    let image = bench.image("image");
    let file = std::fs::File::options().write(true).open(&image).unwrap();
    file.set_len(size).unwrap();
    file.write_all_at(bytes, size - before).unwrap();
    let device = bench.attach(&image, &["--direct-io=on"])?;
    Some(without_erase(Case::new(&device, &image, expected)))
}

fn with_signature(bench: &mut Bench, at: u64, signature: &[u8], expected: &str) -> Option<Case> {
    let image = bench.image("image");
    std::fs::File::options().write(true).open(&image).unwrap().write_all_at(signature, at).unwrap();
    let device = bench.attach(&image, &["--direct-io=on"])?;
    Some(without_erase(Case::new(&device, &image, expected)))
}

/// Returns `case` with `--confirm` and without `--erase`.
fn without_erase(case: Case) -> Case {
    Case { erase: false, ..case }
}

#[test]
fn data_released_with_erase_is_overwritten_and_the_label_spares_the_next_run_the_option() {
    let mut bench = Bench::new();
    let Some((device, image)) = bench.drive() else {
        println!("skipped: no loop device available");
        return;
    };
    bench.run(&["mkfs.ext4", "-q", "-F", &device]);
    let confirm = confirmation(&device);
    let call = |out: &str, arguments: &[&str]| {
        std::process::Command::new(env!("CARGO_BIN_EXE_ssdgauge"))
            .args(["quick", &device, "--size", "8MiB", "--shorten", "50", "--confirm", &confirm])
            .args(["--confined", &confirm])
            .args(arguments)
            .arg("--out")
            .arg(bench.path(out))
            .output()
            .unwrap()
    };
    let wrong = call("a.ssdg", &["--erase", "yes"]);
    assert_eq!(wrong.status.code(), Some(3), "{}", String::from_utf8_lossy(&wrong.stderr));
    let first = call("b.ssdg", &["--erase", &confirm]);
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    let head = std::fs::read(&image).unwrap();
    assert!(head.starts_with(b"ssdgauge test data"), "a completed run writes the ownership label");
    let second = call("c.ssdg", &[]);
    assert_eq!(second.status.code(), Some(0), "{}", String::from_utf8_lossy(&second.stderr));
}
