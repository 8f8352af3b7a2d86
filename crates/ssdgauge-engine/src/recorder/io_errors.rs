//! Classes of I/O errors, findings about them, and the errors that end a run.
//!
//! The size of the target is queried only after a fault. No request is sent from here.

use crate::recorder::Fault;
use crate::recorder::outcome::Outcome;
use crate::request_error::is_gone;
use crate::request_error::nvme_status;
use crate::verification::Mismatch;
use ssdgauge_core::{
    Bytes, Direction, DriveInfo, EndedBy, Finding, FindingKind, RigError, Severity, Sink,
    TargetKind,
};
use std::collections::BTreeMap;

/// The class of a failed request.
// Findings are emitted in this order, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ErrorClass {
    /// The drive is gone: 0 bytes were transferred, or the kernel reports no such device.
    Gone,
    /// The drive reports a media error. Linux maps NVMe's unrecovered read error (status
    /// code type 2, code 0x81) and SCSI's medium error to ENODATA, and failed protection
    /// information to EILSEQ.
    Medium,
    /// Fewer bytes than requested were transferred.
    Short,
    /// The drive failed a flush.
    Flush,
    /// Any other error, by its number (`nvme_status`).
    Other(i32),
}

impl ErrorClass {
    fn from_fault(fault: &Fault) -> ErrorClass {
        match fault.result.map_err(nvme_status::error_number) {
            Ok(0) => ErrorClass::Gone,
            Err(number) if is_gone(number) => ErrorClass::Gone,
            Ok(_) => ErrorClass::Short,
            Err(libc::ENODATA | libc::EILSEQ) => ErrorClass::Medium,
            Err(_) if fault.direction == Direction::Flush => ErrorClass::Flush,
            // Statuses that the block layer reports in the same way stay apart.
            Err(number) => ErrorClass::Other(fault.result.err().unwrap_or(number)),
        }
    }

    fn kind(self) -> FindingKind {
        match self {
            ErrorClass::Gone => FindingKind::DriveGone,
            ErrorClass::Medium => FindingKind::MediaError,
            ErrorClass::Short => FindingKind::ShortTransfer,
            ErrorClass::Flush => FindingKind::FlushFailed,
            ErrorClass::Other(_) => FindingKind::Faults,
        }
    }

    fn advice(self) -> &'static str {
        match self {
            ErrorClass::Gone => "check the kernel log, the connector and the power supply",
            ErrorClass::Medium => {
                "the drive cannot read some of its data: back up the rest, and check its health data and \
                 error log"
            }
            ErrorClass::Short => "a drive does not shorten requests: check the kernel log",
            ErrorClass::Flush => {
                "data that was written may not be on the drive: check the kernel log and the health of \
                 the drive before you use any number"
            }
            ErrorClass::Other(_) => {
                "check the kernel log and the health of the drive before you use any number"
            }
        }
    }
}

/// Emits findings about the failed requests of `outcome`. `size` queries the current size of the
/// target; `None` where it does not respond.
///
/// # Errors
/// An error that ends the run: [`RigError::Hung`] without completions, [`RigError::Gone`] where the
/// drive has vanished, [`RigError::Shrank`] where it is smaller than `opened_size`.
pub fn judge(
    drive: &DriveInfo,
    opened_size: Bytes,
    size: impl Fn() -> Option<Bytes>,
    outcome: &Outcome,
    sink: &mut dyn Sink,
) -> Result<(), RigError> {
    let mut classes: BTreeMap<ErrorClass, Vec<&(u32, Fault)>> = BTreeMap::new();
    let is_mismatch = |one: &&(u32, Fault)| one.1.mismatch.is_some();
    // Three show the pattern; the rest are in the count of errors.
    outcome.faults.iter().filter(is_mismatch).take(3).for_each(|one| report_mismatch(&one.1, sink));
    for one in outcome.faults.iter().filter(|one| !is_mismatch(one)) {
        classes.entry(ErrorClass::from_fault(&one.1)).or_default().push(one);
    }
    for (class, faults) in &classes {
        sink.finding(Finding::new(
            class.kind(),
            Severity::Invalid,
            describe(faults),
            class.advice(),
        ));
    }
    if let Some(silence) = outcome.silence {
        let text = match outcome.by {
            EndedBy::Stop => {
                format!("the drive did not finish its last requests within {}", silence.about())
            }
            EndedBy::Time
            | EndedBy::Bytes
            | EndedBy::Faults
            | EndedBy::DeviceLag
            | EndedBy::HostLag => {
                format!("the drive did not respond for {}; the step was given up", silence.about())
            }
        };
        let advice = "check the kernel log; a drive that hangs may need a power cycle";
        sink.finding(Finding::new(FindingKind::Hung, Severity::Invalid, text, advice));
        return Err(RigError::Hung { drive: drive.target.clone(), silence });
    }
    if !outcome.faults.iter().any(|(_, fault)| fault.ends_at_once()) {
        return Ok(());
    }
    match (drive.kind, size()) {
        (TargetKind::Block, Some(now)) if now < opened_size && now > Bytes(0) => {
            sink.finding(Finding::new(
                FindingKind::TargetShrank,
                Severity::Invalid,
                format!(
                    "the target shrank from {} to {} during the test",
                    opened_size.about_and_exact(),
                    now.about_and_exact()
                ),
                "another program resized it, or the drive was reset; start a new run",
            ));
            let drive = drive.target.clone();
            Err(RigError::Shrank { drive, was: opened_size, now })
        }
        // Linux sets the size of a block device to 0 when it is removed, and open descriptors stay
        // valid.
        (TargetKind::Block, Some(Bytes(0)) | None) => Err(gone(drive, &classes, sink)),
        // A file has no size of 0 when its drive vanishes: there the errors of requests have to do.
        _ if classes.contains_key(&ErrorClass::Gone) => Err(gone(drive, &classes, sink)),
        _ => Ok(()),
    }
}

/// Emits the finding that the drive is gone, if no request has shown it, and returns the error.
fn gone(
    drive: &DriveInfo,
    classes: &BTreeMap<ErrorClass, Vec<&(u32, Fault)>>,
    sink: &mut dyn Sink,
) -> RigError {
    if !classes.contains_key(&ErrorClass::Gone) {
        sink.finding(Finding::new(
            FindingKind::DriveGone,
            Severity::Invalid,
            "the drive is gone: it reports a size of 0",
            ErrorClass::Gone.advice(),
        ));
    }
    RigError::Gone(drive.target.clone())
}

/// Emits the finding about a read that did not find the data that this run had written.
fn report_mismatch(fault: &Fault, sink: &mut dyn Sink) {
    let offset = fault.offset;
    let what = match fault.mismatch {
        Some(Mismatch::Zeros) => "found zeros in place of data that this run wrote".to_owned(),
        Some(Mismatch::OtherOffset(other)) => format!(
            "found data that this run wrote at byte {other}: two addresses share one location of \
             the drive, or a request was misdirected"
        ),
        Some(Mismatch::Stale) => {
            "found data from before the last fill: a later write was dropped".to_owned()
        }
        Some(Mismatch::Foreign) => "found data that this run never wrote".to_owned(),
        None => return,
    };
    sink.finding(Finding::new(
        FindingKind::WrongData,
        Severity::Invalid,
        format!("a read at byte {offset} {what}"),
        "do not store data on this drive; check its actual capacity and whether another program \
         writes to it",
    ));
}

/// Describes the failed requests of a class: direction, offset, second and result of the first, and
/// the number of the others.
fn describe(faults: &[&(u32, Fault)]) -> String {
    let Some((second, first)) = faults.first() else { return String::new() };
    let what = match first.result {
        Ok(0) => "transferred 0 bytes: the drive is gone".to_owned(),
        Ok(transferred) => format!("transferred only {transferred} bytes"),
        Err(number) => format!("failed: {}", nvme_status::words(number)),
    };
    let request = first.direction.at(first.offset);
    let others = match faults.len() - 1 {
        0 => String::new(),
        1 => "; 1 other failed in the same way".to_owned(),
        more => format!("; {more} others failed in the same way"),
    };
    format!("a {request} in second {second} {what}{others}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_result_has_its_class_and_the_first_request_is_described() {
        for (result, kind) in [
            (Ok(0), FindingKind::DriveGone),
            (Err(libc::ENODEV), FindingKind::DriveGone),
            (Err(libc::ENXIO), FindingKind::DriveGone),
            (Ok(512), FindingKind::ShortTransfer),
            (Err(libc::ENODATA), FindingKind::MediaError),
            (Err(libc::EIO), FindingKind::Faults),
            (Err(libc::ENOSPC), FindingKind::Faults),
            (Err(nvme_status::number(0x4281)), FindingKind::MediaError),
            (Err(nvme_status::number(0x81)), FindingKind::Faults),
        ] {
            let fault = Fault { direction: Direction::Read, offset: 8_192, result, mismatch: None };
            assert_eq!(ErrorClass::from_fault(&fault).kind(), kind, "{result:?}");
            let two = [(3, fault.clone()), (4, fault)];
            let text = describe(&two.iter().collect::<Vec<_>>());
            assert!(text.starts_with("a read at byte 8192 in second 3 "), "{text}");
            assert!(text.ends_with("; 1 other failed in the same way"), "{text}");
        }
    }
}
