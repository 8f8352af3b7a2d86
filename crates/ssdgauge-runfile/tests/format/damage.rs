//! Damage is detected: a file reads as it was written, or not at all.

use crate::format::support::{folder, read, write, write_with_readings};
use crate::tiers::{repetitions, write_figure};
use ssdgauge_core::Random;

/// Number of single-bit flips; a fixed seed chooses the same ones in every run.
const FLIPS: usize = 2_000;

#[test]
fn no_flipped_bit_is_read_as_a_different_value() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let whole = read(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut random = Random::new(7, 0);
    let (mut found, mut harmless) = (0, 0);
    let flips = repetitions(FLIPS, FLIPS, 100 * FLIPS);
    for _ in 0..flips {
        let (at, bit) = (random.below(bytes.len() as u64) as usize, random.below(8));
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << bit;
        std::fs::write(&path, &damaged).unwrap();
        match read(&path) {
            Err(_) => found += 1,
            // A bit in free space, or in a field that no value depends on.
            Ok(content) if content == whole => harmless += 1,
            Ok(_) => panic!("byte {at}, bit {bit}: read a value that was never written"),
        }
    }
    write_figure(
        "flips",
        &format!("{flips} single bits"),
        &format!("{found} found, {harmless} without effect, 0 wrong readings"),
        "cargo test -p ssdgauge-runfile --test it no_flipped_bit",
    );
    // Most bits of so small a file lie in unused space.
    assert!(found > flips / 10, "{found}");
}

#[test]
fn no_truncated_file_is_read_as_a_different_run() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let whole = read(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut read_whole = 0;
    // The long check tries every length.
    let step = repetitions(31, 31, 1);
    let mut cuts = 0;
    for cut in (0..bytes.len()).step_by(step).chain([1, 99, 100, bytes.len() - 1]) {
        cuts += 1;
        std::fs::write(&path, &bytes[..cut]).unwrap();
        if let Ok(content) = read(&path) {
            assert!(content == whole, "cut at {cut}: read a value that was never written");
            read_whole += 1;
        }
    }
    write_figure(
        "truncations",
        &format!("{cuts} lengths of a file of {} bytes", bytes.len()),
        &format!("0 wrong readings, {read_whole} cuts lost nothing"),
        "cargo test -p ssdgauge-runfile --test it no_truncated_file",
    );
}

/// Damages several places at once: bytes overwritten, zeroed or moved, integers set to extremes.
fn damage(bytes: &mut [u8], random: &mut Random) {
    const NUMBERS: [u64; 6] = [0, 1, 0x7f, 0xffff_ffff, u64::MAX, 1 << 63];
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() as u64) as usize;
        let length = (random.below(600) as usize).min(bytes.len() - at);
        match random.below(5) {
            0 => bytes[at] = random.below(256) as u8,
            1 => {
                let number = NUMBERS[random.below(6) as usize].to_be_bytes();
                let length = length.min(8);
                bytes[at..at + length].copy_from_slice(&number[..length]);
            }
            2 => bytes[at..at + length].fill(0),
            3 => {
                let from = random.below((bytes.len() - length) as u64) as usize;
                bytes.copy_within(from..from + length, at);
            }
            // The file header, which all other reads depend on.
            _ => bytes[at % 200] = random.below(256) as u8,
        }
    }
}

#[test]
fn no_damaged_file_makes_the_reader_panic_or_return_a_different_value() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let whole = read(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let seed = 20_261_121;
    println!("seed {seed}");
    let mut random = Random::new(seed, 1);
    let tries = repetitions(1_000, 1_000, 100_000);
    let (mut refused, mut harmless) = (0, 0);
    for number in 0..tries {
        let mut damaged = bytes.clone();
        damage(&mut damaged, &mut random);
        std::fs::write(&path, &damaged).unwrap();
        match read(&path) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
            Ok(content) => {
                assert!(content == whole, "try {number}: read a value that was never written");
                harmless += 1;
            }
        }
        // Resuming such a file returns an error or succeeds; it must not panic either.
        drop(ssdgauge_runfile::Writer::resume(&path).map(drop));
        let _ = std::fs::remove_file(folder.path().join("run.ssdg-journal"));
    }
    assert!(refused > tries / 2, "{refused} of {tries} refused");
    write_figure(
        "run files",
        &format!("{tries} damaged in several places"),
        &format!("{refused} refused, {harmless} without effect, 0 panics, 0 wrong readings"),
        "cargo test -p ssdgauge-runfile --test it no_damaged_file",
    );
}

/// Damages the tree of pages, of 4 KiB each: a page takes the place of another one, or a number in the
/// header or the table of contents of a page changes, such as the number of the page below.
fn damage_tree(bytes: &mut [u8], random: &mut Random) {
    const PAGE: usize = 4_096;
    let pages = (bytes.len() / PAGE) as u64;
    let [from, to] = [0; 2].map(|_| (1 + random.below(pages - 1)) as usize * PAGE);
    match random.below(3) {
        0 => bytes.copy_within(from..from + PAGE, to),
        1 => bytes[from + random.below(40) as usize] ^= 1 << random.below(8),
        // Entries of an inner page are at its end: the number of a page, and the largest row in it.
        _ => bytes[from + PAGE - 1 - random.below(120) as usize] ^= 1 << random.below(8),
    }
}

#[test]
fn no_file_with_a_damaged_tree_of_pages_is_read_as_a_different_run() {
    let folder = folder();
    let path = folder.path().join("run.ssdg");
    write_with_readings(&path, 400);
    let whole = read(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.len() > 60 * 4_096, "{}", bytes.len());
    let mut random = Random::new(20_261_123, 1);
    let tries = repetitions(400, 400, 40_000);
    let (mut refused, mut harmless) = (0, 0);
    for number in 0..tries {
        let mut damaged = bytes.clone();
        damage_tree(&mut damaged, &mut random);
        std::fs::write(&path, &damaged).unwrap();
        match read(&path) {
            Err(_) => refused += 1,
            Ok(content) => {
                assert!(content == whole, "try {number}: read a value that was never written");
                harmless += 1;
            }
        }
    }
    assert!(refused > tries / 2, "{refused} of {tries} refused");
    write_figure(
        "run files of many pages",
        &format!("{tries} with a damaged tree of pages"),
        &format!("{refused} refused, {harmless} without effect, 0 wrong readings"),
        "cargo test -p ssdgauge-runfile --test it no_file_with",
    );
}
