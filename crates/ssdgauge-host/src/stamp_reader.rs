//! A drive or an image of one that is read by a proof, without an admission: nothing is ever written to it.

use ssdgauge_core::proof::Found;
use ssdgauge_core::{Bytes, RigError, StampedReads};
use ssdgauge_engine::stamped::{self, StampError};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// A drive or an image of one, open for reading.
#[derive(Debug)]
pub struct StampReader {
    file: Arc<File>,
    name: String,
    size: Bytes,
    is_block: bool,
}

impl StampReader {
    /// Opens a block device or a file for reading, past the page cache where that is possible.
    ///
    /// # Errors
    /// `path` is neither, or cannot be opened.
    pub fn open(path: &Path) -> io::Result<StampReader> {
        let kind = path.metadata()?.file_type();
        if !kind.is_file() && !kind.is_block_device() {
            return Err(io::Error::other("neither a block device nor a file"));
        }
        let open = |flags| OpenOptions::new().read(true).custom_flags(flags).open(path);
        let file = match open(libc::O_DIRECT) {
            // The page cache may hold a copy of what a drive has lost.
            Err(error) if kind.is_file() && error.raw_os_error() == Some(libc::EINVAL) => open(0)?,
            result => result?,
        };
        let size = match kind.is_block_device() {
            true => ssdgauge_os::block_device::device_size(&file)?,
            false => file.metadata()?.len(),
        };
        let name = path.display().to_string();
        let is_block = kind.is_block_device();
        Ok(StampReader { file: Arc::new(file), name, size: Bytes(size), is_block })
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Returns whether it is a block device.
    pub fn is_block(&self) -> bool {
        self.is_block
    }
}

impl StampedReads for StampReader {
    fn read(
        &mut self,
        tag: u64,
        ranges: &[(u64, u64)],
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<Vec<Found>>, RigError> {
        stamped::read(&self.file, tag, ranges, go_on).map_err(|error| match error {
            StampError::Hung(silence) => RigError::Hung { drive: self.name.clone(), silence },
            StampError::Io { is_gone: true, .. } => RigError::Gone(self.name.clone()),
            StampError::Io { .. } => RigError::System {
                what: format!("cannot read {}", self.name),
                cause: error.to_string(),
            },
        })
    }
}
