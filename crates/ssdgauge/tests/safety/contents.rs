//! Idle drives that hold something: refused unless their owner gives it up by name.

use crate::bench::{Bench, Case, SIZE, confirmation};
use crate::table::{Scenario, go_through};
use std::os::unix::fs::FileExt;

#[test]
fn what_an_idle_drive_holds_is_named_and_kept() {
    go_through("idle drives that hold something", SCENARIOS, 20);
}

const SCENARIOS: &[Scenario] = &[
    ("ext4, made by mkfs", |bench| {
        let (device, image) = bench.drive()?;
        bench.run(&["mkfs.ext4", "-q", "-F", "-L", "family", &device]);
        Some(kept(Case::new(&device, &image, "ext4 file system 'family'")))
    }),
    ("swap space, made by mkswap", |bench| {
        let (device, image) = bench.drive()?;
        bench.run(&["mkswap", "-q", &device]);
        Some(kept(Case::new(&device, &image, "swap space")))
    }),
    ("GPT", |bench| holding(bench, 512, b"EFI PART", "(GPT)")),
    ("GPT on 4 KiB blocks", |bench| holding(bench, 4_096, b"EFI PART", "(GPT)")),
    ("the backup GPT alone", |bench| holding(bench, SIZE - 512, b"EFI PART", "backup")),
    ("MBR", |bench| holding(bench, 510, &[0x55, 0xaa], "(MBR)")),
    ("XFS", |bench| holding(bench, 0, b"XFSB", "XFS")),
    ("btrfs", |bench| holding(bench, 65_600, b"_BHRfS_M", "btrfs")),
    ("FAT", |bench| holding(bench, 82, b"FAT32   ", "FAT")),
    ("NTFS", |bench| holding(bench, 3, b"NTFS    ", "NTFS")),
    ("LVM2", |bench| holding(bench, 536, b"LVM2 001", "LVM2")),
    ("LUKS", |bench| holding(bench, 0, b"LUKS\xba\xbe", "LUKS")),
    ("md 0.90", |bench| {
        holding(bench, SIZE - 65_536, &[0xfc, 0x4e, 0x2b, 0xa9], "RAID member (md 0.90)")
    }),
    ("md 1.0", |bench| {
        holding(bench, SIZE - 8_192, &[0xfc, 0x4e, 0x2b, 0xa9], "RAID member (md 1.0)")
    }),
    ("md 1.1", |bench| holding(bench, 0, &[0xfc, 0x4e, 0x2b, 0xa9], "RAID member (md 1.1)")),
    ("md 1.2", |bench| holding(bench, 4_096, &[0xfc, 0x4e, 0x2b, 0xa9], "RAID member (md 1.2)")),
    ("ZFS, the first label", |bench| {
        holding(bench, 128 << 10, &0x00ba_b10c_u64.to_le_bytes(), "ZFS member")
    }),
    ("ZFS, the last label alone", |bench| {
        let at = SIZE - (256 << 10) + (128 << 10);
        holding(bench, at, &0x00ba_b10c_u64.to_le_bytes(), "ZFS member")
    }),
    ("bcache", |bench| {
        let mark = [
            0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba,
            0x6d, 0x81,
        ];
        holding(bench, 4_120, &mark, "bcache")
    }),
    ("VMFS", |bench| holding(bench, 1 << 20, &[0x0d, 0xd0, 0x01, 0xc0], "VMFS")),
    ("a database without a file system", |bench| {
        holding(bench, 0, b"SQLite format 3\0", "SQLite database")
    }),
    ("data of an unknown kind", |bench| holding(bench, 700_000, b"dear diary", "unknown kind")),
    ("data of an unknown kind in the last block", |bench| {
        holding(bench, SIZE - 100, b"dear diary", "unknown kind")
    }),
];

fn holding(bench: &mut Bench, at: u64, mark: &[u8], words: &str) -> Option<Case> {
    let image = bench.image("image");
    std::fs::File::options().write(true).open(&image).unwrap().write_all_at(mark, at).unwrap();
    let device = bench.attach(&image, &["--direct-io=on"])?;
    Some(kept(Case::new(&device, &image, words)))
}

/// The owner confirms the drive, but does not give up what it holds.
fn kept(case: Case) -> Case {
    Case { erase: false, ..case }
}

#[test]
fn what_was_given_up_is_tested_and_the_next_run_needs_no_second_consent() {
    let mut bench = Bench::new();
    let Some((device, image)) = bench.drive() else {
        println!("skipped: no loop device to be had");
        return;
    };
    bench.run(&["mkfs.ext4", "-q", "-F", &device]);
    let words = confirmation(&device);
    let call = |out: &str, arguments: &[&str]| {
        std::process::Command::new(env!("CARGO_BIN_EXE_ssdgauge"))
            .args(["quick", &device, "--size", "8MiB", "--shorten", "50", "--confirm", &words])
            .args(arguments)
            .arg("--out")
            .arg(bench.path(out))
            .output()
            .unwrap()
    };
    let wrong = call("a.ssdg", &["--erase", "yes"]);
    assert_eq!(wrong.status.code(), Some(3), "{}", String::from_utf8_lossy(&wrong.stderr));
    let first = call("b.ssdg", &["--erase", &words]);
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    let head = std::fs::read(&image).unwrap();
    assert!(head.starts_with(b"ssdgauge test data"), "an orderly end leaves our mark");
    let second = call("c.ssdg", &[]);
    assert_eq!(second.status.code(), Some(0), "{}", String::from_utf8_lossy(&second.stderr));
}
