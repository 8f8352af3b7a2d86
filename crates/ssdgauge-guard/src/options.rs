//! Options of a target: what was confirmed for it, and what the run needs from it.

use ssdgauge_core::{Bytes, DriveChange};
use std::path::Path;

/// What the user confirmed for a target, and what the run needs from it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetOptions<'a> {
    /// The confirmation of the drive; see [`crate::Candidate::confirmation`].
    pub confirm: Option<&'a str>,
    /// The same confirmation again: permits the loss of the file systems, RAID members and other
    /// data that were found on the drive.
    pub erase: Option<&'a str>,
    /// The same confirmation again: accepts that uses of the drive may be hidden from this process,
    /// as in a container.
    pub confined: Option<&'a str>,
    /// The id of the run. The ownership label and the verification headers contain it, so that a
    /// resumed run recognises its own data.
    pub run_id: Option<&'a str>,
    /// What the interrupted run recorded about its drive, where this run resumes it.
    pub continues: Option<&'a Continued>,
    /// The run file. The drive that carries it is refused.
    pub results: Option<&'a Path>,
    /// The changes of the drive that the run needs; the privileged helper refuses all others.
    pub changes: &'a [DriveChange],
    /// Whether the process drops its privileges as soon as the target is open; requires a process
    /// with a single thread.
    pub drop_privileges: bool,
    /// Whether measured loads are passed through as NVMe commands: the character device of the drive for
    /// them is opened as well.
    pub pass_through: bool,
    /// The maximum number of bytes that the plan writes, where it states them. A run that writes more than this
    /// plus 5 % plus 1 MiB is stopped.
    pub writes_at_most: Option<Bytes>,
    /// The bytes that the user allows the whole run to write, what it wrote before it was interrupted
    /// included; there is no tolerance.
    pub allowed_writes: Option<Bytes>,
    /// The period between two reads of the drive's health within a step, in seconds; 0 for never,
    /// `None` for the default.
    pub health_every_s: Option<u64>,
}

/// What an interrupted run recorded about the attachment of its drive.
///
/// A serial identifies a drive across attachments. A device without a serial is the same one only
/// while it stays attached: same boot, same disk sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Continued {
    /// The kernel's number of this attachment of the device (`diskseq`), where it has one.
    pub disk_sequence: Option<String>,
    /// The kernel's id of the boot (`/proc/sys/kernel/random/boot_id`).
    pub boot_id: Option<String>,
    /// Whether the user created its run file here, so that what it names is what the user named.
    pub is_own: bool,
    /// The steps that it began, finished or not.
    pub steps: u32,
    /// The bytes that it wrote.
    pub written: Bytes,
}
