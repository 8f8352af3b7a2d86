//! Trim: tell the drive what holds nothing, prove that it had an effect, and where it had none name
//! the layer that stands in between.

use super::probe::Probe;
use super::{Failed, PurgeTarget, await_answer};
use ssdgauge_core::{Bytes, Finding, FindingKind, Nanos, Prepared, RigError, Severity, Sink};
use ssdgauge_drive::pass_through::PassThrough;
use ssdgauge_drive::query;
use ssdgauge_drive::sysfs_device::{SysfsDevice, file_name};
use ssdgauge_os::sysfs::attribute;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// What is trimmed with one call, so that a stop is heard in between.
const AT_A_TIME: u64 = 4 << 30;

/// Trims `span` bytes from `offset` on.
pub(crate) fn trim(
    target: &PurgeTarget,
    offset: Bytes,
    span: Bytes,
    sink: &mut dyn Sink,
) -> Result<Prepared, RigError> {
    let since = Instant::now();
    let mut written = Bytes(0);
    let result = discard(target, offset, span, &mut written, sink);
    let stopped = result == Err(Failed::Stopped);
    let method = match result {
        Ok(()) => "discard, read back as forgotten".to_owned(),
        Err(Failed::Stopped) => "discard, cut short".to_owned(),
        Err(Failed::Gone) => return Err(gone(target, sink)),
        Err(Failed::Impossible(reason) | Failed::InVain(reason)) => {
            sink.finding(Finding::new(
                FindingKind::TrimIneffective,
                Severity::Warning,
                format!("the trim had no effect: {reason}"),
                "results depend on what was written before; mend the layer that is named, or \
                 purge the drive in another way",
            ));
            "none".to_owned()
        }
        Err(Failed::NotRecorded) => "none".to_owned(),
    };
    let elapsed = Nanos(since.elapsed().as_nanos() as u64);
    Ok(Prepared { method, written, elapsed, stopped })
}

/// Says that the drive left.
pub(super) fn gone(target: &PurgeTarget, sink: &mut dyn Sink) -> RigError {
    sink.finding(Finding::new(
        FindingKind::DriveGone,
        Severity::Invalid,
        "the drive is gone: it left in the middle of its preparation",
        "look at the kernel's log, at the connector and at the power supply",
    ));
    RigError::Gone(target.place.name())
}

/// Discards a range with a proof before and behind it.
pub(super) fn discard(
    target: &PurgeTarget,
    offset: Bytes,
    span: Bytes,
    written: &mut Bytes,
    sink: &mut dyn Sink,
) -> Result<(), Failed> {
    if let Some(reason) = obstacle(&target.place, target.pass_through.as_ref()) {
        return Err(Failed::Impossible(reason));
    }
    let failed = |error: std::io::Error| match target.is_gone() {
        true => Failed::Gone,
        false => Failed::InVain(error.to_string()),
    };
    let probe = Probe::plant(target, offset, span).map_err(failed)?;
    *written += probe.written();
    let mut done = 0;
    while done < span.0 {
        let (from, length) = (offset.0 + done, AT_A_TIME.min(span.0 - done));
        let file = Arc::clone(&target.file);
        let answer =
            await_answer(sink, move || ssdgauge_os::block_device::discard(&file, from, length))?;
        answer.map_err(|error| match (target.is_gone(), error.raw_os_error()) {
            (true, _) | (_, Some(libc::ENODEV | libc::ENXIO)) => Failed::Gone,
            (false, _) => Failed::InVain(format!("{} answers: {error}", target.place.name())),
        })?;
        done += length;
    }
    let (left, places) = probe.look(target).map_err(failed)?;
    match left {
        0 => Ok(()),
        _ => Err(Failed::InVain(format!(
            "the drive took it, and {left} of {places} blocks still hold their old data{}",
            match reads_as(target.pass_through.as_ref(), &target.place) {
                Some(told) => format!(", though it says that they read as {told}"),
                None => String::new(),
            }
        ))),
    }
}

fn reads_as(pass_through: &dyn PassThrough, place: &SysfsDevice) -> Option<&'static str> {
    match (place.namespace(), place.is_scsi()) {
        (Some(number), _) => query::namespace(pass_through, number).ok()?.deallocated.words(),
        (None, true) => query::ata_identity(pass_through).ok()?.trim_zeros.then_some("zeros"),
        (None, false) => None,
    }
}

/// Returns which layer passes no trims on, in words; `None` where all do.
fn obstacle(place: &SysfsDevice, pass_through: &dyn PassThrough) -> Option<String> {
    let layers = place.layers();
    // What is above is told by what is below: the deepest layer that takes none is the cause.
    let closed = layers.iter().rev().find(|folder| most_trimmed(folder) == Some(0));
    let top_is_closed = layers.first().is_some_and(|top| most_trimmed(top) == Some(0));
    let culprit = closed.filter(|_| top_is_closed)?;
    let name = file_name(culprit);
    let has_layers_below =
        culprit.join("slaves").read_dir().is_ok_and(|mut list| list.next().is_some());
    let hardware = attribute(&culprit.join("queue/discard_max_hw_bytes"));
    Some(if has_layers_below {
        format!("the mapper {name} passes no trims on, though what lies below takes them")
    } else if hardware.as_deref().is_some_and(|most| most != "0") {
        format!("trims are switched off in queue/discard_max_bytes of {name}")
    } else if let Some(file) = attribute(&culprit.join("loop/backing_file")) {
        format!("the file system that holds {file} below {name} punches no holes")
    } else {
        match drive_can_trim(place, pass_through) {
            Some(true) => {
                format!("the driver of {name} passes no trims on, though the drive takes them")
            }
            Some(false) => format!("the drive {name} has no TRIM"),
            None => format!("neither the drive {name} nor its driver takes trims"),
        }
    })
}

fn most_trimmed(folder: &Path) -> Option<u64> {
    attribute(&folder.join("queue/discard_max_bytes"))?.parse().ok()
}

fn drive_can_trim(place: &SysfsDevice, pass_through: &dyn PassThrough) -> Option<bool> {
    match (place.namespace(), place.is_scsi()) {
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
    fn the_layer_that_passes_no_trims_on_is_named() {
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
            ("dm-0", "the mapper dm-0"),
            ("dm-1", "neither the drive sda"),
            ("loop0", "/home/x.img below loop0"),
        ] {
            let words = found(name, &sata).unwrap();
            assert!(words.contains(expected), "{name}: {words}");
        }
        assert_eq!(found("sdb", &sata), None);
        assert_eq!(found("dm-2", &sata), None);
        let mut without = Fixture::sata();
        without.ata.get_mut(&(0xec, 0)).unwrap()[2 * 169] = 0;
        assert_eq!(found("sda", &without).unwrap(), "the drive sda has no TRIM");
    }
}
