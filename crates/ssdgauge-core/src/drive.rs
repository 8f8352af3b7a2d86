//! Identity and geometry of the drive under test.

pub(crate) mod description;
mod detail;

pub use detail::Detail;

use crate::units::Bytes;
use crate::units::names::name_of;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;

/// The kinds of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// A scratch file on a file system.
    File,
    /// A block device.
    Block,
    /// No device: the engine only.
    Null,
    /// A drive model in virtual time.
    Virtual,
}

/// What the names of virtual drives begin with, before the name of their profile.
pub const VIRTUAL: &str = "sim:";

/// Returns whether `target` names a virtual drive.
pub fn is_virtual(target: &str) -> bool {
    target.starts_with(VIRTUAL)
}

impl TargetKind {
    /// Returns whether the target is a whole drive: a block device, or a model of one.
    pub fn is_drive(self) -> bool {
        match self {
            TargetKind::Block | TargetKind::Virtual => true,
            TargetKind::File | TargetKind::Null => false,
        }
    }

    /// Returns whether the content of the target is lost when the process ends: a scratch file has
    /// no name, and a virtual drive lives in memory.
    pub fn loses_content_with_process(self) -> bool {
        match self {
            TargetKind::File | TargetKind::Virtual => true,
            TargetKind::Block | TargetKind::Null => false,
        }
    }

    /// Returns the mark that the name of such a target carries wherever it is shown; `None` for
    /// targets whose results are measurements of a drive.
    pub fn mark(self) -> Option<&'static str> {
        match self {
            TargetKind::Virtual => Some("MODEL"),
            TargetKind::Null => Some("no drive"),
            TargetKind::File | TargetKind::Block => None,
        }
    }

    /// Returns the word used in run files and pages.
    pub fn name(self) -> &'static str {
        name_of(&self)
    }

    /// Returns what results on this kind of target cannot show; `None` where there is no such
    /// limitation.
    pub fn limitation(self) -> Option<&'static str> {
        match self {
            TargetKind::File => Some(
                "the whole drive: percentages of the target refer to the scratch file, and the \
                 fill level of the drive is not known",
            ),
            TargetKind::Block | TargetKind::Virtual | TargetKind::Null => None,
        }
    }
}

/// The drive under test. A field that is not known is `None`, never an assumption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveInfo {
    /// The kind of the target.
    pub kind: TargetKind,
    /// The target as the user named it.
    pub target: String,
    /// The model name by the manufacturer. For a file: of the device below the file system.
    pub model: Option<String>,
    /// The serial number.
    pub serial: Option<String>,
    /// The firmware revision.
    pub firmware: Option<String>,
    /// The bytes that requests may address.
    pub capacity: Bytes,
    /// The logical block size: the smallest unit of reads and writes.
    pub logical_block: Bytes,
    /// The physical block size: the preferred unit.
    pub physical_block: Bytes,
    /// Further facts by key, such as `file_system`, `kernel_name`. Program logic reads only those of [`Detail`],
    /// by [`DriveInfo::detail`].
    pub details: BTreeMap<String, String>,
}

impl DriveInfo {
    /// [`Detail::CapacityFrom`] where only the jobs of an imported result state what they address.
    pub const CAPACITY_OF_SPANS: &str = "the largest span of a job";

    /// [`Detail::CapacityFrom`] where nothing states the capacity.
    pub const CAPACITY_ASSUMED: &str = "not stated, 1 TB assumed";

    /// Returns the text of `detail`; `None` where it is not known.
    pub fn detail(&self, detail: Detail) -> Option<&str> {
        self.details.get(detail.key()).map(String::as_str)
    }

    /// Returns `detail` as a number; `None` where it is not known, or no number of this kind.
    pub fn number<T: FromStr>(&self, detail: Detail) -> Option<T> {
        self.detail(detail)?.parse().ok()
    }

    /// States `detail`.
    pub fn state(&mut self, detail: Detail, value: impl Into<String>) {
        self.details.insert(detail.key().to_owned(), value.into());
    }

    /// Returns the capacity; `None` where the plan of an imported result only assumes one.
    pub fn known_capacity(&self) -> Option<Bytes> {
        let from = self.detail(Detail::CapacityFrom);
        (from != Some(DriveInfo::CAPACITY_ASSUMED)).then_some(self.capacity)
    }

    /// Returns the capacity of the drive under test: that of the whole one where it is stated, and otherwise what was
    /// tested; `None` where that is only what the jobs of an imported result addressed, or the size of a scratch file.
    pub fn drive_capacity(&self) -> Option<Bytes> {
        let is_of_import = self.detail(Detail::CapacityFrom).is_some();
        let is_whole = !is_of_import && self.kind != TargetKind::File;
        self.whole_capacity().or_else(|| is_whole.then_some(self.capacity))
    }

    /// Returns the capacity of the whole drive; `None` where the run file does not state it, where it
    /// states less than the run used, and for a scratch file on a device without a model name, which
    /// may be a layer above a drive.
    pub fn whole_capacity(&self) -> Option<Bytes> {
        let whole = Bytes(self.number(Detail::WholeCapacity)?);
        let is_known = match self.kind {
            TargetKind::Block | TargetKind::Virtual => true,
            TargetKind::File => self.model.is_some(),
            TargetKind::Null => false,
        };
        (is_known && whole >= self.capacity).then_some(whole)
    }

    /// Returns whether the run used a part of the drive: less than what alignment leaves over.
    pub fn is_limited(&self) -> bool {
        const ROUNDING: u64 = 1 << 20;
        let used = self.capacity.0.saturating_add(ROUNDING);
        self.whole_capacity().is_some_and(|whole| used <= whole.0)
    }

    /// Returns whether the target may support trims.
    pub fn has_trim(&self) -> bool {
        self.detail(Detail::WithoutTrim).is_none()
    }

    /// Returns the revision of the model; `None` for a target that is not a model. Run files from
    /// before revisions have revision 1.
    pub fn model_revision(&self) -> Option<u32> {
        self.is_model().then(|| self.number(Detail::ModelRevision).unwrap_or(1))
    }

    /// Returns the shortest recognisable name: the model, otherwise the kernel's name of the drive,
    /// otherwise the target.
    pub fn name(&self) -> &str {
        self.model.as_deref().or(self.detail(Detail::KernelName)).unwrap_or(&self.target)
    }

    /// Returns whether the results come from a drive model.
    pub fn is_model(&self) -> bool {
        self.kind == TargetKind::Virtual
    }

    /// Returns the text that is equal for two runs, or two parts of one run, of the same drive.
    pub fn fingerprint(&self) -> String {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".into());
        // The device name may change from one boot to the next; a serial number does not.
        let device = match (self.kind, &self.serial) {
            (TargetKind::Block, Some(_)) => "-",
            (TargetKind::Block | TargetKind::File | TargetKind::Null | TargetKind::Virtual, _) => {
                self.detail(Detail::Device).unwrap_or("-")
            }
        };
        let capacity = self.capacity.0;
        let kind = self.kind.name();
        let model = text(&self.model);
        let serial = text(&self.serial);
        // Run files from before revisions state no revision here either.
        let revision = match self.model_revision() {
            None | Some(1) => String::new(),
            Some(revision) => format!("|model revision {revision}"),
        };
        format!("{kind}|{model}|{serial}|{capacity}|{device}{revision}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(kind: TargetKind, revision: Option<&str>) -> DriveInfo {
        let details = revision.map(|text| (Detail::ModelRevision.key().into(), text.into()));
        DriveInfo {
            kind,
            target: "sim:tiny".into(),
            model: Some("MODEL tiny 1GB".into()),
            serial: Some("MODEL-1".into()),
            firmware: None,
            capacity: Bytes(1_000_000_000),
            logical_block: Bytes(512),
            physical_block: Bytes(4_096),
            details: details.into_iter().collect(),
        }
    }

    #[test]
    fn the_capacity_of_a_drive_is_known_only_where_it_is_stated_and_possible() {
        let mut info = drive(TargetKind::Block, None);
        assert_eq!((info.whole_capacity(), info.is_limited()), (None, false));
        for (stated, whole, is_limited) in [
            ("2000000000", Some(2_000_000_000), true),
            ("1000000511", Some(1_000_000_511), false),
            ("999999999", None, false),
            ("-1", None, false),
            ("1 GB", None, false),
        ] {
            info.state(Detail::WholeCapacity, stated);
            let expected = (whole.map(Bytes), is_limited);
            assert_eq!((info.whole_capacity(), info.is_limited()), expected, "{stated}");
        }
        info.kind = TargetKind::Null;
        info.state(Detail::WholeCapacity, "2000000000");
        assert_eq!(info.whole_capacity(), None);
    }

    #[test]
    fn a_virtual_drive_of_another_model_revision_is_another_drive() {
        let model = |revision| drive(TargetKind::Virtual, revision);
        assert_eq!(model(None).model_revision(), Some(1), "a run file from before revisions");
        assert_eq!(model(Some("3")).model_revision(), Some(3));
        assert_eq!(model(None).fingerprint(), model(Some("1")).fingerprint());
        assert_eq!(model(None).fingerprint(), "virtual|MODEL tiny 1GB|MODEL-1|1000000000|-");
        assert_ne!(model(None).fingerprint(), model(Some("2")).fingerprint());
        assert_ne!(model(Some("2")).fingerprint(), model(Some("3")).fingerprint());
    }

    #[test]
    fn a_drive_that_is_not_a_model_has_no_model_revision() {
        let disk = drive(TargetKind::Block, Some("2"));
        assert_eq!(disk.model_revision(), None);
        assert_eq!(disk.fingerprint(), drive(TargetKind::Block, None).fingerprint());
    }
}
