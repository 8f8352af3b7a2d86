//! Contents of a drive: the signatures of file systems, RAID members, partition tables and volume
//! managers at its head and tail, and the ownership label of ssdgauge.
//!
//! This module only reads. Offsets and magic bytes are those of the specifications of the formats
//! and of libblkid (util-linux).

#[cfg(test)]
mod blkid_tests;
mod bytes;
mod computed;
#[cfg(test)]
mod size_tests;
mod table;

use bytes::bytes_at;
use serde::{Deserialize, Serialize};
use ssdgauge_core::Bytes;
use ssdgauge_os::memory::Region;
use std::fs::File;
use std::io;
use table::{At, SIGNATURES};

/// The bytes that are read at the head: the last signature but one, VMFS, lies at 2 MiB.
const HEAD: u64 = (2 << 20) + (64 << 10);
/// The place of the last signature, a second header of LUKS. It is read by itself: a drive with a defective
/// place before it can be tested.
const LAST_PLACE: u64 = 4 << 20;
/// The bytes that are read at the tail, at least: the first of the places where Promise controllers
/// keep their metadata is 3,087 sectors before the end.
const TAIL: u64 = 2 << 20;
/// The bytes at the head that have to be zero for a drive without a label to count as empty. The
/// whole [`TAIL`] has to be.
const EMPTY: u64 = 1 << 20;

/// The blocks between the ends that are read, one in each of as many equal parts of the drive.
/// Chosen: they find data that fill 4 % of a drive with 99.5 % probability (1 − 0.96^128), and take
/// about a second on a rotating disk.
const SAMPLES: u64 = 128;
const BLOCK: u64 = 4_096;

/// The length of the ownership label, which is the first block of a drive under test.
pub const LABEL_LENGTH: usize = 4_096;
const LABEL: &[u8] = b"ssdgauge test data: nothing on this drive is worth keeping\n";

/// The run whose test data may be overwritten without `--erase`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Owner {
    /// Any run whose ownership label is the first block.
    AnyRun,
    /// Only the run `run_id` on the drive with `confirmation`: the first block is its ownership
    /// label, or a block of its workload.
    Run { confirmation: String, run_id: String },
}

/// Returns the formats found on the device `file` of `size` bytes, each with its place in bytes.
/// The list is empty where both ends and the sampled blocks between them are zero, or where the
/// first block belongs to `owner` and no signature is found.
///
/// # Errors
/// The device cannot be read: its contents are then unknown, and the drive is refused.
pub(crate) fn contents(file: &File, size: Bytes, owner: &Owner) -> io::Result<Vec<String>> {
    let head = head(size.0, |offset, length| read(file, offset, length))?;
    let from = tail_start(size.0);
    let tail = read(file, from, size.0 - from)?;
    let found = classify(&head, &tail, from, size.0, owner);
    // Test data of the owner fill the middle as well: there is nothing to look for.
    if !found.is_empty() || owner.owns(&head) {
        return Ok(found);
    }
    for at in sampled_places(size.0 / BLOCK) {
        match read(file, at, BLOCK) {
            Ok(block) => {
                if let Some(data) = unknown_data(&block, at) {
                    return Ok(vec![data]);
                }
            }
            // A defective place holds nothing that could be lost; the run reports it.
            Err(error) if is_media_error(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Vec::new())
}

/// Returns the head of a drive of `size` bytes, with the block at [`LAST_PLACE`] and zeros before it.
fn head(size: u64, read: impl Fn(u64, u64) -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
    // An error here is not tolerated: most formats begin in these bytes.
    let mut head = read(0, size.min(HEAD))?;
    if size > LAST_PLACE {
        match read(LAST_PLACE, BLOCK.min(size - LAST_PLACE)) {
            Ok(block) => {
                head.resize(LAST_PLACE as usize, 0);
                head.extend(block);
            }
            Err(error) if is_media_error(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(head)
}

/// Returns where the tail of a drive of `size` bytes begins: at a whole block, which O_DIRECT needs.
/// The tail ends at the last byte, whatever the size is.
fn tail_start(size: u64) -> u64 {
    size.saturating_sub(TAIL) / BLOCK * BLOCK
}

/// Returns whether a read failed at its place, and not the whole device.
fn is_media_error(error: &io::Error) -> bool {
    // Medium error, failed protection information, and all that has no number of its own (`blk_errors` in
    // block/blk-core.c). A drive that is offline or out of reach has other numbers (ENODEV, ENOLINK).
    matches!(error.raw_os_error(), Some(libc::ENODATA | libc::EILSEQ | libc::EIO))
}

/// Returns the places of the sampled blocks of a drive of `blocks` blocks, in bytes: a fixed
/// pseudo-random place in each part, so that no regular layout lies between all of them.
fn sampled_places(blocks: u64) -> impl Iterator<Item = u64> {
    let width = (blocks / SAMPLES).max(1);
    let samples = SAMPLES.min(blocks);
    (0..samples).map(move |part| {
        // Multiplication by the golden ratio spreads successive numbers evenly (Knuth, TAOCP 6.4).
        let mixed = (part + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        (part * width + mixed % width) * BLOCK
    })
}

/// Classifies the contents of a drive of `size` bytes by its `head` and its `tail`, which begins at
/// byte `from`.
fn classify(head: &[u8], tail: &[u8], from: u64, size: u64, owner: &Owner) -> Vec<String> {
    let mut found: Vec<(u64, String)> = Vec::new();
    for signature in SIGNATURES {
        let at = match signature.at {
            At::Head(at) => Some(at),
            At::Tail(before) => size.checked_sub(before),
            At::RoundedTail(unit, before) => (size / unit * unit).checked_sub(before),
        };
        let Some(at) = at else { continue };
        let bytes = match signature.at {
            At::Head(_) => bytes_at(head, at, signature.bytes.len()),
            At::Tail(_) | At::RoundedTail(..) => {
                at.checked_sub(from).and_then(|at| bytes_at(tail, at, signature.bytes.len()))
            }
        };
        let is_weak = signature.bytes.len() == 2 && found.iter().any(|(at, _)| *at < 4_096);
        if bytes == Some(signature.bytes) && !is_weak {
            let label = signature.label.and_then(|(at, length)| bytes_at(head, at, length));
            let label = label.map(label_text).filter(|label| !label.is_empty());
            let label = label.map(|label| format!(" '{label}'")).unwrap_or_default();
            found.push((at, format!("{}{label} at byte {at}", signature.what)));
        }
    }
    found.extend(computed::found(&computed::Ends { head, tail, from, size }));
    let mut contents: Vec<String> = found.into_iter().map(|(_, format)| format).collect();
    // A file system that was made after the last run keeps most of the test data, and sometimes the
    // label: a signature always counts, whatever the first block is.
    if contents.is_empty() && !owner.owns(head) {
        if is_labelled(head) {
            contents.push("the test data of another run of ssdgauge".into());
            return contents;
        }
        let head = &head[..head.len().min(EMPTY as usize)];
        contents.extend(unknown_data(head, 0).or_else(|| unknown_data(tail, from)));
    }
    contents
}

/// Returns the place of the first byte that is not zero.
fn unknown_data(bytes: &[u8], at: u64) -> Option<String> {
    // Whole blocks are compared at once: most drives have nothing but zeros here.
    let zeros = [0; BLOCK as usize];
    let (number, block) =
        bytes.chunks(zeros.len()).enumerate().find(|(_, block)| **block != zeros[..block.len()])?;
    let place = block.iter().position(|byte| *byte != 0)? + number * zeros.len();
    Some(format!("data of an unknown kind at byte {}", at + place as u64))
}

fn label_text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    crate::text::printable(&bytes[..end])
}

/// Reads all `length` bytes from `offset` on into aligned memory, so that it works on descriptors with
/// O_DIRECT. `offset` is at a whole block; the end need not be, because a drive of 512-byte logical blocks
/// may end at any of them, and RAID metadata is in the very last.
fn read(file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let length = length as usize;
    let mut region = Region::new(length)?;
    let mut done = 0;
    while done < length {
        let left = (length - done).min(1 << 20);
        match ssdgauge_os::file_io::read_at(file, region.at(done), left, offset + done as u64) {
            // The device has shrunk since its size was read.
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => done += n,
            Err(error) => return Err(or_unreadable_end(error, length as u64 % BLOCK)),
        }
    }
    Ok(region.bytes()[..length].to_vec())
}

/// Returns the error of a read that ends `beyond` bytes after a whole block: a device with larger logical
/// blocks can neither read nor write a part of one. What is there is unknown, which is not empty.
fn or_unreadable_end(error: io::Error, beyond: u64) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EINVAL) if beyond > 0 => io::Error::other(format!(
            "its last {beyond} bytes cannot be read, which are not a whole logical block"
        )),
        Some(_) | None => error,
    }
}

/// Returns the ownership label: the block that declares the contents of the drive with
/// `confirmation` to be test data of the run `run_id`.
pub(crate) fn ownership_label(confirmation: &str, run_id: Option<&str>) -> Vec<u8> {
    let mut block = LABEL.to_vec();
    block.extend(confirmation.as_bytes().iter().take(256));
    if let Some(run_id) = run_id {
        block.extend_from_slice(b"\nrun ");
        block.extend(run_id.as_bytes().iter().take(256));
        block.push(b'\n');
    }
    // A serial comes from the device and may be of any length, hence the limits above.
    assert!(block.len() <= LABEL_LENGTH, "a label of two limited texts fits its block");
    block.resize(LABEL_LENGTH, 0);
    block
}

/// Returns whether `head` begins with a complete ownership label of any run: text, then zeros to
/// the end of the block. A label that was partly overwritten does not count.
fn is_labelled(head: &[u8]) -> bool {
    let Some(text) = head.get(..LABEL_LENGTH).and_then(|block| block.strip_prefix(LABEL)) else {
        return false;
    };
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    text[end..].iter().all(|byte| *byte == 0)
}

impl Owner {
    /// Returns whether the first block of `head` permits the loss of all data.
    fn owns(&self, head: &[u8]) -> bool {
        match self {
            Owner::AnyRun => is_labelled(head),
            Owner::Run { confirmation, run_id } => {
                let label = ownership_label(confirmation, Some(run_id));
                head.get(..LABEL_LENGTH) == Some(&label[..]) || is_written_by(head, run_id)
            }
        }
    }
}

/// Returns the tag of the verification headers of the run `run_id`, equal in each process of the run:
/// one that continues it can check what an earlier one has written. Its lower half is a hash of the run
/// id.
pub fn run_tag(run_id: &str) -> u64 {
    header_tag(run_id, run_hash(run_id, 0))
}

/// Returns the tag with the lower half of `random`, and above it a hash of that half and the run id, by
/// which a resumed run recognises its blocks whatever the lower half is: earlier versions of this
/// program drew it for each process.
fn header_tag(run_id: &str, random: u64) -> u64 {
    // The lower half has to stay readable in the header: the hash is computed from it again.
    let low = random & 0xffff_ffff;
    run_hash(run_id, low) << 32 | low
}

/// Returns whether `head` begins with a verification header of the run `run_id`. A header begins
/// with the tag combined with the offset of its block, which is 0 here.
fn is_written_by(head: &[u8], run_id: &str) -> bool {
    let Some(word) = head.get(..8).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()) else {
        return false;
    };
    let word = u64::from_ne_bytes(word);
    word == header_tag(run_id, word)
}

/// Returns the upper half of the 64-bit FNV-1a hash of the run id and the random half. In FNV the
/// upper bits depend on more input bytes than the lower ones.
fn run_hash(run_id: &str, low: u64) -> u64 {
    let bytes = run_id.bytes().chain(low.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 8 << 20;

    /// Returns the head of `drive`.
    fn head_of(drive: &[u8]) -> Vec<u8> {
        let read = |at: u64, length: u64| Ok(drive[at as usize..(at + length) as usize].to_vec());
        head(drive.len() as u64, read).unwrap()
    }

    #[test]
    fn a_defective_place_beyond_the_head_is_not_a_reason_to_refuse() {
        let read = |at: u64, length: u64| match at {
            LAST_PLACE => Err(io::Error::from_raw_os_error(libc::EIO)),
            _ => Ok(vec![0; length as usize]),
        };
        assert_eq!(head(SIZE as u64, read).unwrap().len(), HEAD as usize);
    }

    fn contents_of(drive: &[u8]) -> Vec<String> {
        let from = tail_start(drive.len() as u64) as usize;
        let head = &head_of(drive);
        classify(head, &drive[from..], from as u64, drive.len() as u64, &Owner::AnyRun)
    }

    fn contents_for(run_id: &str, drive: &[u8]) -> Vec<String> {
        let from = tail_start(drive.len() as u64) as usize;
        let owner = Owner::Run { confirmation: "S123".into(), run_id: run_id.into() };
        let head = &head_of(drive);
        classify(head, &drive[from..], from as u64, drive.len() as u64, &owner)
    }

    fn with(at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut drive = vec![0; SIZE];
        drive[at..at + bytes.len()].copy_from_slice(bytes);
        drive
    }

    #[test]
    fn every_signature_is_found_at_its_place_and_none_in_zeros() {
        assert_eq!(contents_of(&vec![0; SIZE]), Vec::<String>::new());
        for signature in SIGNATURES {
            let at = match signature.at {
                At::Head(at) => at as usize,
                At::Tail(before) => SIZE - before as usize,
                At::RoundedTail(unit, before) => {
                    SIZE / unit as usize * unit as usize - before as usize
                }
            };
            let found = contents_of(&with(at, signature.bytes));
            assert!(
                found.iter().any(|words| words.contains(signature.what)),
                "{}: {found:?}",
                signature.what
            );
        }
    }

    #[test]
    fn a_luks_volume_without_its_first_header_is_found_whatever_the_first_block_is() {
        for power in 14..=22 {
            let mut drive = with(1 << power, b"SKUL\xba\xbe");
            drive[..LABEL_LENGTH].copy_from_slice(&ownership_label("S123", Some("r1")));
            let expected = format!("a LUKS volume (second header) at byte {}", 1 << power);
            assert_eq!(contents_of(&drive), [expected]);
        }
    }

    #[test]
    fn zfs_is_found_by_each_of_its_four_labels() {
        let label = 256 << 10;
        for start in [0, label, SIZE - 2 * label, SIZE - label] {
            for magic in [0x00ba_b10c_u64.to_le_bytes(), 0x00ba_b10c_u64.to_be_bytes()] {
                let found = contents_of(&with(start + label / 2 + 5 * 1_024, &magic));
                assert_eq!(found, [format!("a ZFS member (label at byte {start})")]);
            }
        }
    }

    #[test]
    fn a_volume_label_is_escaped_before_it_reaches_a_terminal() {
        let mut drive = with(1_080, &[0x53, 0xef]);
        drive[1_144..1_151].copy_from_slice(b"a\x1b[31mb");
        let found = contents_of(&drive);
        assert_eq!(found, ["an ext2, ext3 or ext4 file system 'a\\x1b[31mb' at byte 1080"]);
    }

    #[test]
    fn unknown_data_is_found_and_labelled_test_data_is_not() {
        let found = contents_of(&with(700_000, &[1]));
        assert_eq!(found, ["data of an unknown kind at byte 700000"]);
        let found = contents_of(&with(SIZE - 5, &[1]));
        assert_eq!(found, [format!("data of an unknown kind at byte {}", SIZE - 5)]);
        let mut ours = with(700_000, &[1; 300]);
        ours[..LABEL_LENGTH].copy_from_slice(&ownership_label("S123", Some("r1")));
        assert_eq!(contents_of(&ours), Vec::<String>::new());
        // A file system that was made after the label is found.
        ours[65_600..65_608].copy_from_slice(b"_BHRfS_M");
        assert_eq!(contents_of(&ours), ["a btrfs file system at byte 65600"]);
        // A label that was partly overwritten does not count.
        let mut damaged = with(700_000, &[1; 300]);
        damaged[..LABEL_LENGTH].copy_from_slice(&ownership_label("S123", Some("r1")));
        damaged[4_000] = 1;
        assert!(!contents_of(&damaged).is_empty());
    }

    #[test]
    fn a_resumed_run_recognises_only_its_own_label_and_headers() {
        let with_head = |block: &[u8]| {
            let mut drive = with(700_000, &[1; 300]);
            drive[..block.len()].copy_from_slice(block);
            drive
        };
        let own = Vec::<String>::new();
        assert_eq!(contents_for("r1", &vec![0; SIZE]), own);
        assert_eq!(contents_for("r1", &with_head(&ownership_label("S123", Some("r1")))), own);
        for random in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
            let header = header_tag("r1", random).to_ne_bytes();
            assert_eq!(contents_for("r1", &with_head(&header)), own);
            assert!(!contents_for("r2", &with_head(&header)).is_empty());
            // For a new run, a block of a workload is unknown data.
            assert!(!contents_of(&with_head(&header)).is_empty());
        }
        for foreign in [
            ownership_label("S123", Some("r2")),
            ownership_label("S124", Some("r1")),
            ownership_label("S123", None),
        ] {
            let found = contents_for("r1", &with_head(&foreign));
            assert_eq!(found, ["the test data of another run of ssdgauge"]);
        }
        let mut made = with_head(&ownership_label("S123", Some("r1")));
        made[65_600..65_608].copy_from_slice(b"_BHRfS_M");
        assert_eq!(contents_for("r1", &made), ["a btrfs file system at byte 65600"]);
    }
}
