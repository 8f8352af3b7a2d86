//! Trim: discards a range, verifies the effect, and where there is none names the layer that does
//! not pass discards on.

use super::probe::Probe;
use super::{PreparationError, PurgeTarget, run_interruptibly};
use ssdgauge_core::{Bytes, Finding, FindingKind, Nanos, Prepared, RigError, Severity, Sink};
use ssdgauge_drive::pass_through::PassThrough;
use ssdgauge_drive::query;
use ssdgauge_drive::sysfs_device::{SysfsDevice, file_name};
use ssdgauge_engine::RequestError;
use ssdgauge_os::sysfs::attribute;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The bytes of one call: between two calls the run can stop.
const CHUNK: u64 = 4 << 30;

/// Trims `span` bytes from `offset` on. A trim without an effect is a finding, not an error.
///
/// # Errors
/// The drive was removed.
pub(crate) fn trim(
    target: &PurgeTarget,
    offset: Bytes,
    span: Bytes,
    sink: &mut dyn Sink,
) -> Result<Prepared, RigError> {
    let mut written = Bytes(0);
    let mut elapsed = Nanos::ZERO;
    let result = discard(target, offset, span, &mut written, &mut elapsed, sink);
    let stopped = result == Err(PreparationError::Stopped);
    let method = match result {
        Ok(()) => "discard, verified by reading back".to_owned(),
        Err(PreparationError::Stopped) => "discard, stopped before its end".to_owned(),
        Err(PreparationError::Gone) => return Err(report_gone(target, sink)),
        Err(PreparationError::NotPossible(reason) | PreparationError::Ineffective(reason)) => {
            sink.finding(Finding::new(
                FindingKind::TrimIneffective,
                Severity::Warning,
                format!("the trim had no effect: {reason}"),
                "results depend on earlier writes; enable discards in the layer named, or purge \
                 the drive by another method",
            ));
            "none".to_owned()
        }
        Err(PreparationError::NotRecorded) => "none".to_owned(),
    };
    Ok(Prepared { method, written, elapsed, stopped })
}

/// Records that the drive was removed, and returns the error that ends the run.
pub(super) fn report_gone(target: &PurgeTarget, sink: &mut dyn Sink) -> RigError {
    sink.finding(Finding::new(
        FindingKind::DriveGone,
        Severity::Invalid,
        "the drive is gone: it was removed during its preparation",
        "check the log of the kernel, the connector and the power supply",
    ));
    RigError::Gone(target.device.name())
}

/// Discards a range and verifies that its data cannot be read back. Adds the bytes of the pattern
/// to `written`, and the time of the discards, without that of the check, to `elapsed`.
///
/// # Errors
/// A layer does not support discards, the discard failed or had no effect, the drive was removed,
/// or the run has to stop.
pub(super) fn discard(
    target: &PurgeTarget,
    offset: Bytes,
    span: Bytes,
    written: &mut Bytes,
    elapsed: &mut Nanos,
    sink: &mut dyn Sink,
) -> Result<(), PreparationError> {
    if let Some(reason) = obstacle(&target.device, target.pass_through.as_ref()) {
        return Err(PreparationError::NotPossible(reason));
    }
    let request_error = |error: RequestError| target.request_error(&error);
    let probe = Probe::write(target, offset, span).map_err(request_error)?;
    *written += probe.written();
    let mut done = 0;
    while done < span.0 {
        let (from, length) = (offset.0 + done, CHUNK.min(span.0 - done));
        let file = Arc::clone(&target.file);
        let discard = move || {
            let since = Instant::now();
            let result = ssdgauge_os::block_device::discard(&file, from, length);
            (result, Nanos(since.elapsed().as_nanos() as u64))
        };
        let since = Instant::now();
        let (result, time) = run_interruptibly(sink, discard).inspect_err(|_| {
            *elapsed += Nanos(since.elapsed().as_nanos() as u64);
        })?;
        *elapsed += time;
        let is_gone =
            |error: &io::Error| error.raw_os_error().is_some_and(ssdgauge_engine::is_gone);
        result.map_err(|error| match target.is_removed() || is_gone(&error) {
            true => PreparationError::Gone,
            false => {
                let name = target.device.name();
                PreparationError::Ineffective(format!("the discard failed on {name}: {error}"))
            }
        })?;
        done += length;
    }
    let (remaining, places) = probe.count_remaining(target).map_err(request_error)?;
    match remaining {
        0 => Ok(()),
        _ => Err(PreparationError::Ineffective(format!(
            "the discard completed, but {remaining} of {places} blocks still hold their data{}",
            match reported_value(target.pass_through.as_ref(), &target.device) {
                Some(value) => format!(", although the drive reports that they read as {value}"),
                None => String::new(),
            }
        ))),
    }
}

/// Returns the value that discarded blocks read as, where the drive reports one.
fn reported_value(pass_through: &dyn PassThrough, device: &SysfsDevice) -> Option<&'static str> {
    match (device.namespace(), device.is_scsi()) {
        (Some(number), _) => query::namespace(pass_through, number).ok()?.deallocated.words(),
        (None, true) => query::ata_identity(pass_through).ok()?.trim_zeros.then_some("zeros"),
        (None, false) => None,
    }
}

/// Returns the layer that does not pass discards on, with the reason; `None` where all layers do.
fn obstacle(device: &SysfsDevice, pass_through: &dyn PassThrough) -> Option<String> {
    let layers = device.layers();
    // A layer has no discards where the one below has none: the deepest is the cause.
    let deepest = layers.iter().rev().find(|folder| most_discarded(folder) == Some(0));
    let top_has_none = layers.first().is_some_and(|top| most_discarded(top) == Some(0));
    let cause = deepest.filter(|_| top_has_none)?;
    let name = file_name(cause);
    let has_layers_below =
        cause.join("slaves").read_dir().is_ok_and(|mut list| list.next().is_some());
    let hardware = attribute(&cause.join("queue/discard_max_hw_bytes"));
    Some(if has_layers_below {
        format!(
            "the mapping {name} does not pass discards on, although the device below supports them"
        )
    } else if hardware.as_deref().is_some_and(|most| most != "0") {
        format!("discards are switched off in queue/discard_max_bytes of {name}")
    } else if let Some(file) = attribute(&cause.join("loop/backing_file")) {
        format!(
            "the file system of {file}, the backing file of {name}, does not support hole punching"
        )
    } else {
        match drive_can_trim(device, pass_through) {
            Some(true) => {
                format!(
                    "the driver of {name} does not pass discards on, although the drive supports \
                     them"
                )
            }
            Some(false) => format!("the drive {name} does not support TRIM"),
            None => format!("{name} does not support discards"),
        }
    })
}

/// Returns the maximum number of bytes of one discard; 0 where the device does not support them.
fn most_discarded(folder: &Path) -> Option<u64> {
    attribute(&folder.join("queue/discard_max_bytes"))?.parse().ok()
}

fn drive_can_trim(device: &SysfsDevice, pass_through: &dyn PassThrough) -> Option<bool> {
    match (device.namespace(), device.is_scsi()) {
        (Some(_), _) => {
            query::controller(pass_through).ok().map(|controller| controller.can_deallocate())
        }
        (None, true) => query::ata_identity(pass_through).ok().map(|identity| identity.can_trim),
        (None, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_drive::fixture::Fixture;
    use ssdgauge_drive::fixture::SysfsTree;

    #[test]
    fn the_layer_that_does_not_pass_discards_on_is_named() {
        let tree = SysfsTree::new();
        for (name, most, hardware) in [
            ("sda", "0", "0"),
            ("sdb", "4096", "4096"),
            ("sdc", "0", "4096"),
            ("dm-0", "0", "0"),
            ("dm-1", "0", "0"),
            ("dm-2", "4096", "4096"),
            ("loop0", "0", "0"),
        ] {
            tree.file(&format!("block/{name}/queue/discard_max_bytes"), most);
            tree.file(&format!("block/{name}/queue/discard_max_hw_bytes"), hardware);
        }
        tree.file("block/sda/device/scsi_level", "6");
        tree.file("block/loop0/loop/backing_file", "/home/x.img");
        tree.link("block/dm-0/slaves/sdb", "block/sdb");
        tree.link("block/dm-1/slaves/sda", "block/sda");
        tree.link("block/dm-2/slaves/sdb", "block/sdb");
        let found = |name: &str, pass_through: &Fixture| {
            obstacle(
                &SysfsDevice::from_folder(&tree.root(), &tree.root().join("block").join(name)),
                pass_through,
            )
        };
        let sata = Fixture::sata();
        for (name, expected) in [
            ("sda", "the driver of sda"),
            ("sdc", "switched off in queue/discard_max_bytes of sdc"),
            ("dm-0", "the mapping dm-0"),
            ("dm-1", "sda does not support discards"),
            ("loop0", "/home/x.img, the backing file of loop0"),
        ] {
            let words = found(name, &sata).unwrap();
            assert!(words.contains(expected), "{name}: {words}");
        }
        assert_eq!(found("sdb", &sata), None);
        assert_eq!(found("dm-2", &sata), None);
        let mut without = Fixture::sata();
        without.ata.get_mut(&(0xec, 0)).unwrap()[2 * 169] = 0;
        assert_eq!(found("sda", &without).unwrap(), "the drive sda does not support TRIM");
    }
}
