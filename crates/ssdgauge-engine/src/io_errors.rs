//! What became of requests that failed: classes, findings, and whether the drive is still there.
//!
//! It looks at the descriptor's size only after a fault, and sends no request itself.

use crate::outcome::Outcome;
use crate::recorder::Fault;
use crate::verification::Content;
use ssdgauge_core::{
    Bytes, DriveInfo, EndedBy, Finding, FindingKind, RigError, Severity, Sink, TargetKind,
};
use std::collections::BTreeMap;

/// What kind of failure a request met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// Nothing is there any more: reads give 0 bytes, writes "no space", or the errors say so.
    Gone,
    /// The drive says that the medium is bad. Linux maps NVMe's unrecovered read error (status
    /// code type 2, code 0x81) and SCSI's medium error to ENODATA, and failed protection
    /// information to EILSEQ.
    Medium,
    /// Fewer bytes than asked.
    Short,
    /// Anything else, by its error number.
    Other(i32),
}

impl Class {
    fn of(fault: &Fault) -> Class {
        match fault.result {
            Ok(0) | Err(libc::ENODEV | libc::ENXIO) => Class::Gone,
            Ok(_) => Class::Short,
            Err(libc::ENODATA | libc::EILSEQ) => Class::Medium,
            Err(number) => Class::Other(number),
        }
    }

    fn kind(self) -> FindingKind {
        match self {
            Class::Gone => FindingKind::DriveGone,
            Class::Medium => FindingKind::MediaError,
            Class::Short => FindingKind::ShortTransfer,
            Class::Other(_) => FindingKind::Faults,
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Class::Gone => "look at the kernel's log, at the connector and at the power supply",
            Class::Medium => {
                "the drive has a bad place: save what is on it, and see its health data and error \
                 log"
            }
            Class::Short => "no drive cuts requests short: see the kernel's log",
            Class::Other(_) => {
                "see the kernel's log and the drive's health before you trust any number"
            }
        }
    }
}

/// Tells what failed in `outcome`, and returns the error that ends the run where the drive hangs,
/// is gone, or shrank below `opened_size`. `size` asks for the size that it has now.
pub fn judge(
    drive: &DriveInfo,
    opened_size: Bytes,
    size: impl Fn() -> Option<Bytes>,
    outcome: &Outcome,
    sink: &mut dyn Sink,
) -> Result<(), RigError> {
    let mut classes: BTreeMap<Class, Vec<&(u32, Fault)>> = BTreeMap::new();
    let is_wrong = |one: &&(u32, Fault)| one.1.content.is_some();
    outcome.faults.iter().filter(is_wrong).take(3).for_each(|one| tell_wrong_data(&one.1, sink));
    for one in outcome.faults.iter().filter(|one| !is_wrong(one)) {
        classes.entry(Class::of(&one.1)).or_default().push(one);
    }
    for (class, faults) in &classes {
        sink.finding(Finding::new(class.kind(), Severity::Invalid, words(faults), class.advice()));
    }
    if let Some(silence) = outcome.silence {
        let text = match outcome.by {
            EndedBy::Stop => format!("the drive did not finish its last requests within {silence}"),
            EndedBy::Time
            | EndedBy::Bytes
            | EndedBy::Faults
            | EndedBy::DeviceLag
            | EndedBy::HostLag => {
                format!("the drive did not answer for {silence} and was given up")
            }
        };
        let advice = "look at the kernel's log; a drive that hangs may need its power cut";
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
                format!("the target shrank from {opened_size} to {now} while it was tested"),
                "somebody resized it, or the drive reset itself; start a new run",
            ));
            let drive = drive.target.clone();
            Err(RigError::Shrank { drive, was: opened_size, now })
        }
        (TargetKind::Block, Some(Bytes(0)) | None) => Err(gone(drive, &classes, sink)),
        _ if classes.contains_key(&Class::Gone) => Err(gone(drive, &classes, sink)),
        _ => Ok(()),
    }
}

fn gone(
    drive: &DriveInfo,
    classes: &BTreeMap<Class, Vec<&(u32, Fault)>>,
    sink: &mut dyn Sink,
) -> RigError {
    if !classes.contains_key(&Class::Gone) {
        sink.finding(Finding::new(
            FindingKind::DriveGone,
            Severity::Invalid,
            "the drive is gone: its size is 0 now",
            Class::Gone.advice(),
        ));
    }
    RigError::Gone(drive.target.clone())
}

/// Tells of a read that did not find what this run had written.
fn tell_wrong_data(fault: &Fault, sink: &mut dyn Sink) {
    let offset = fault.offset;
    let what = match fault.content {
        Some(Content::Zeros) => "found zeros: what this run wrote there is not there".to_owned(),
        Some(Content::Elsewhere(place)) => format!(
            "found what this run wrote at byte {place}: two addresses are one place of the drive, \
             or a request went astray"
        ),
        Some(Content::Stale) => {
            "found data from before it was last filled: a later write was dropped".to_owned()
        }
        Some(Content::Foreign) => "found data that this run never wrote".to_owned(),
        None => return,
    };
    sink.finding(Finding::new(
        FindingKind::WrongData,
        Severity::Invalid,
        format!("a read at byte {offset} {what}"),
        "do not keep data on this drive; check its true capacity and whether anything else writes \
         to it",
    ));
}

/// Returns how many requests of a class failed, and where and when the first one did.
fn words(faults: &[&(u32, Fault)]) -> String {
    let Some((second, first)) = faults.first() else { return String::new() };
    let what = match first.result {
        Ok(0) => "was answered with nothing: the drive is gone".to_owned(),
        Ok(moved) => format!("moved only {moved} bytes"),
        Err(number) => format!("failed: {}", std::io::Error::from_raw_os_error(number)),
    };
    let (direction, offset) = (first.direction.name(), first.offset);
    let others = match faults.len() - 1 {
        0 => String::new(),
        1 => ", and another one like it".to_owned(),
        more => format!(", and {more} more like it"),
    };
    format!("a {direction} at byte {offset} in second {second} {what}{others}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Direction;

    #[test]
    fn an_errno_tells_its_class_and_the_first_place_is_named() {
        for (result, kind) in [
            (Ok(0), FindingKind::DriveGone),
            (Err(libc::ENODEV), FindingKind::DriveGone),
            (Err(libc::ENXIO), FindingKind::DriveGone),
            (Ok(512), FindingKind::ShortTransfer),
            (Err(libc::ENODATA), FindingKind::MediaError),
            (Err(libc::EIO), FindingKind::Faults),
            (Err(libc::ENOSPC), FindingKind::Faults),
        ] {
            let fault = Fault { direction: Direction::Read, offset: 8_192, result, content: None };
            assert_eq!(Class::of(&fault).kind(), kind, "{result:?}");
            let two = [(3, fault.clone()), (4, fault)];
            let text = words(&two.iter().collect::<Vec<_>>());
            assert!(text.starts_with("a read at byte 8192 in second 3 "), "{text}");
            assert!(text.ends_with(", and another one like it"), "{text}");
        }
    }
}
