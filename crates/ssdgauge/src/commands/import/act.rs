//! Logs of the Aerospike Certification Tool, as the test of the suite `act` with the same load.

use crate::failure::{Failure, FailureKind};
use crate::suite_options::find_suite;
use ssdgauge_core::{Bytes, Detail, DriveInfo, TargetKind};
use ssdgauge_fio::{ASSUMED_CAPACITY, Imported, read_act_log};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// The largest log that is read: that of four days.
const MAX_BYTES: u64 = 1 << 30;

/// Returns the result in the log `input`, and the checksum of what was read. `size` is the capacity of
/// the drive, otherwise that of the log.
///
/// # Errors
///
/// Fails where it is not a log of ACT 5 or 6, with the line.
pub(super) fn import(input: &Path, size: Option<Bytes>) -> Result<(Imported, u32), Failure> {
    let name = input.display();
    let failure = |text: String| {
        let hint = "nothing was written; name the output of act_storage";
        Failure::new(FailureKind::Usage, format!("{name}: {text}"), hint)
    };
    let file = File::open(input).map_err(|error| failure(error.to_string()))?;
    let mut counted = Checksum { inner: file.take(MAX_BYTES), hash: crc32fast::Hasher::new() };
    let log =
        read_act_log(BufReader::new(&mut counted)).map_err(|error| failure(error.to_string()))?;
    let checksum = counted.hash.finalize();
    if counted.inner.limit() == 0 {
        return Err(failure("it is longer than 1 GiB".into()));
    }
    let stated = log.capacity();
    let capacity_from = match (size, stated) {
        (Some(_), _) => "--size",
        (None, Some(_)) => "the log of ACT",
        (None, None) => DriveInfo::CAPACITY_ASSUMED,
    };
    let size = size.or(stated);
    let whole = size.map(|size| (Detail::WholeCapacity.key().into(), size.0.to_string()));
    let details =
        [(Detail::CapacityFrom.key().into(), capacity_from.into())].into_iter().chain(whole);
    let drive = DriveInfo {
        kind: TargetKind::Block,
        target: log.device_names().chars().take(200).collect(),
        model: None,
        serial: None,
        firmware: None,
        capacity: size.unwrap_or(ASSUMED_CAPACITY),
        logical_block: Bytes(512),
        physical_block: Bytes(512),
        details: details.collect(),
    };
    let suite = find_suite("act")?;
    let options = ssdgauge_lab::Options {
        only: vec![log.test_id().into()],
        ..ssdgauge_lab::Options::default()
    };
    let plan = ssdgauge_lab::plan(&suite, &drive, &options)?;
    let imported = log.into_imported(plan, drive).map_err(|error| failure(error.to_string()))?;
    Ok((imported, checksum))
}

/// A reader that computes the checksum of what passes.
struct Checksum<R> {
    inner: R,
    hash: crc32fast::Hasher,
}

impl<R: Read> Read for Checksum<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let length = self.inner.read(bytes)?;
        self.hash.update(&bytes[..length]);
        Ok(length)
    }
}
