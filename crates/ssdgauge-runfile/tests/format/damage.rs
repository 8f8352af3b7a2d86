//! Damage is found: a file is read as it was written, or not at all.

use crate::support::{read, write};
use ssdgauge_core::Random;

/// The single-bit flips that are tried; the seed makes them the same ones each time.
const FLIPS: usize = 2_000;

#[test]
fn no_flipped_bit_gives_a_wrong_reading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let whole = read(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut random = Random::new(7, 0);
    let (mut found, mut harmless) = (0, 0);
    for _ in 0..FLIPS {
        let (at, bit) = (random.below(bytes.len() as u64) as usize, random.below(8));
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << bit;
        std::fs::write(&path, &damaged).unwrap();
        match read(&path) {
            Err(_) => found += 1,
            // A bit in free space, or in a number that nothing depends on.
            Ok(content) if content == whole => harmless += 1,
            Ok(_) => panic!("byte {at}, bit {bit}: read something that was never written"),
        }
    }
    println!("{FLIPS} flips: {found} found, {harmless} without effect, 0 wrong readings");
    // Most bits of so small a file lie in unused space.
    assert!(found > FLIPS / 10, "{found}");
}

#[test]
fn no_cut_gives_a_wrong_reading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    write(&path);
    let whole = read(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut read_whole = 0;
    for cut in (0..bytes.len()).step_by(97).chain([1, 99, 100, bytes.len() - 1]) {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        if let Ok(content) = read(&path) {
            assert!(content == whole, "cut at {cut}: read something that was never written");
            read_whole += 1;
        }
    }
    println!("{} bytes: {read_whole} cuts lost nothing", bytes.len());
}
