//! Targets: a resolved name, its size, and the opening of the folder, file or drive that it leads to.

use crate::admission::{self, Admitted};
use crate::look;
use crate::look_place::LookPlace;
use crate::objections;
use crate::options::TargetOptions;
use crate::origin;
use crate::place::{ALIGNMENT, Candidate, TargetError, TargetPlace, inspect, scratch_text};
use crate::refusal::Refusal;
use ssdgauge_core::{Bytes, DriveInfo};
use std::fs::File;
use std::sync::Arc;

/// A target that was opened.
#[derive(Debug)]
pub struct OpenedTarget {
    /// The file or the drive that requests go to.
    pub target: OpenTarget,
    /// The reason why requests go through the page cache, where they do.
    pub page_cache_reason: Option<String>,
}

/// The file or the drive that requests go to.
#[derive(Debug)]
pub enum OpenTarget {
    /// No file: measures the upper limit of the engine.
    Null,
    /// A scratch file without a name.
    Scratch(Arc<File>),
    /// A block device that the guard has admitted.
    Drive(Box<Admitted>),
}

impl Candidate {
    /// Resolves `name` as [`Candidate::find`] does, in `place`, and checks that the target answers. It
    /// is looked at there from then on.
    ///
    /// # Errors
    /// The same, and that the target does not answer.
    pub fn find_in(place: LookPlace, name: &str) -> Result<Candidate, TargetError> {
        let found = look::find(&place, name)?;
        Ok(Candidate { look: place, ..found })
    }

    /// Returns the same target with `size`: the size of the scratch file, or the used part of any
    /// other target, from its start. The name is not resolved again.
    ///
    /// # Errors
    /// The size is below the alignment, or above that of the device.
    pub fn sized(mut self, size: Bytes) -> Result<Candidate, TargetError> {
        if size.0 < ALIGNMENT {
            let least = Bytes(ALIGNMENT);
            return Err(TargetError::Size(format!("a size must be at least {}", least.exact())));
        }
        let aligned = Bytes(size.0 - size.0 % ALIGNMENT);
        match &self.place {
            TargetPlace::Null => self.info.capacity = size,
            TargetPlace::Folder(_) | TargetPlace::NewFile(_) => {
                self.info.capacity = aligned;
                self.info.details.insert("scratch_file".into(), scratch_text(size));
            }
            TargetPlace::Block(_) => {
                let most = self.info.capacity;
                if size > most {
                    let name = &self.info.target;
                    let text = format!(
                        "{} is more than {name} holds, {}",
                        size.exact(),
                        most.about_and_exact()
                    );
                    return Err(TargetError::Size(text));
                }
                self.info.capacity = aligned;
            }
        }
        Ok(self)
    }

    /// Returns only its description; a process that looked at it ends.
    pub fn into_info(self) -> DriveInfo {
        self.info
    }

    /// Returns the confirmation of the drive: its serial, or for a device without one its kernel
    /// name and size in bytes. `None` where the target is not a drive.
    pub fn confirmation(&self) -> Option<&str> {
        self.facts.as_ref().map(|facts| facts.confirmation.as_str())
    }

    /// Refuses a drive that `given` does not confirm, as its admission does. Other targets need no
    /// confirmation.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotConfirmed`] or [`Refusal::WrongConfirmation`].
    pub fn check_confirmation(&self, given: Option<&str>) -> Result<(), Refusal> {
        match (&self.place, &self.facts) {
            (TargetPlace::Block(path), Some(facts)) => {
                admission::check_confirmation(path, &facts.confirmation, given)
            }
            _ => Ok(()),
        }
    }

    /// Returns the reasons against writing to a block device, the most severe first, and which
    /// checks were not possible; both empty for other targets. Nothing is written.
    pub fn objections(&self, options: &TargetOptions<'_>) -> (Vec<Refusal>, Vec<String>) {
        match (&self.place, &self.facts) {
            (TargetPlace::Block(path), Some(facts)) => {
                objections::find(&self.look, &[(path.as_path(), facts)], options)
                    .pop()
                    .unwrap_or_default()
            }
            (
                TargetPlace::Block(_)
                | TargetPlace::Null
                | TargetPlace::Folder(_)
                | TargetPlace::NewFile(_),
                _,
            ) => (Vec::new(), Vec::new()),
        }
    }

    /// Checks that there is free space for the scratch file, before anything is written.
    ///
    /// # Errors
    /// The file is larger than 90 % of the free space, or the free space is not reported.
    pub fn check_room(&self) -> Result<(), TargetError> {
        look::check_room(&self.look, self)
    }

    /// Opens the target. A block device has to pass admission. A scratch file never has a name, so
    /// that the kernel removes it when the process ends, in whatever way it ends.
    ///
    /// # Errors
    /// The first rule that refuses the drive, too little free space, or a failed system call.
    pub fn open(&self, options: &TargetOptions<'_>) -> Result<OpenedTarget, TargetError> {
        match &self.place {
            TargetPlace::Null => {
                Ok(OpenedTarget { target: OpenTarget::Null, page_cache_reason: None })
            }
            TargetPlace::Folder(_) | TargetPlace::NewFile(_) => {
                // Before a byte is allocated: the author of the run file may have chosen the folder.
                origin::check(self, options)?;
                let (file, page_cache_reason) = look::open_scratch(&self.look, self)?;
                let target = OpenTarget::Scratch(Arc::new(file));
                Ok(OpenedTarget { target, page_cache_reason })
            }
            TargetPlace::Block(path) => {
                let facts = match &self.facts {
                    Some(facts) => facts,
                    None => &inspect(path)?,
                };
                let drive = admission::admit(&self.look, path, facts, options)?;
                let target = OpenTarget::Drive(Box::new(drive));
                Ok(OpenedTarget { target, page_cache_reason: None })
            }
        }
    }
}
