//! A drive, or an image of one, that is only read, without an admission: nothing is ever written to it.

use ssdgauge_core::proof::Found;
use ssdgauge_core::{
    Bytes, Direction, DriveInfo, Ended, Lane, LaneLimits, LanesEnded, Nanos, Preparation, Prepared,
    Rig, RigError, Sink, StampedReads, TargetKind, TimedLoads, TimedRequest, Timings, Until,
    Workload,
};
use ssdgauge_engine::{RequestError, stamped, timed};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// A block device or a file that is open only for reading.
#[derive(Debug)]
pub struct DriveReader {
    file: Arc<File>,
    name: String,
    size: Bytes,
    is_block: bool,
    /// The loads so far.
    loads: u64,
}

impl DriveReader {
    /// Opens a block device or a file for reading, past the page cache.
    ///
    /// # Errors
    /// `path` is neither, or cannot be opened past the page cache.
    pub fn open(path: &Path) -> io::Result<DriveReader> {
        DriveReader::open_with(path, libc::O_DIRECT)
    }

    /// Opens a block device, or an image of one, for reading: the image through the page cache where its file
    /// system has no way past it.
    ///
    /// # Errors
    /// `path` is neither, or cannot be opened.
    pub fn open_image(path: &Path) -> io::Result<DriveReader> {
        match DriveReader::open(path) {
            // Not for a drive: the page cache may hold a copy of what it has lost.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) && path.is_file() => {
                DriveReader::open_with(path, 0)
            }
            result => result,
        }
    }

    fn open_with(path: &Path, flags: i32) -> io::Result<DriveReader> {
        let kind = path.metadata()?.file_type();
        let is_block = kind.is_block_device();
        if !kind.is_file() && !is_block {
            return Err(io::Error::other("neither a block device nor a file"));
        }
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let size = match is_block {
            true => ssdgauge_os::block_device::device_size(&file)?,
            false => file.metadata()?.len(),
        };
        let name = path.display().to_string();
        Ok(DriveReader { file: Arc::new(file), name, size: Bytes(size), is_block, loads: 0 })
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Returns whether it is a block device.
    pub fn is_block(&self) -> bool {
        self.is_block
    }

    fn error(&self, error: &RequestError) -> RigError {
        error.of_drive("cannot read", &self.name, false)
    }

    fn refuse_writes(&self, writes: bool) -> Result<(), RigError> {
        if writes { Err(self.refuses_writes()) } else { Ok(()) }
    }

    fn refuses_writes(&self) -> RigError {
        RigError::Refused(format!("{} is open for reading alone", self.name))
    }
}

impl StampedReads for DriveReader {
    fn read(
        &mut self,
        tag: u64,
        ranges: &[(u64, u64)],
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<Vec<Found>>, RigError> {
        stamped::read(&self.file, tag, ranges, go_on).map_err(|error| self.error(&error))
    }
}

impl TimedLoads for DriveReader {
    fn send(
        &mut self,
        requests: &[TimedRequest],
        depth: u32,
        sink: &mut dyn Sink,
    ) -> Result<Option<Timings>, RigError> {
        timed::check_requests(requests, depth, self.size)?;
        self.refuse_writes(requests.iter().any(|one| one.direction != Direction::Read))?;
        timed::send(&self.file, requests, depth, &mut || !sink.stop())
            .map_err(|error| self.error(&error))
    }

    fn run_lanes(
        &mut self,
        lanes: &[Lane],
        limits: LaneLimits,
        sink: &mut dyn Sink,
    ) -> Result<Option<LanesEnded>, RigError> {
        timed::check_lanes(lanes, self.size)?;
        self.refuse_writes(lanes.iter().any(|one| one.direction != Direction::Read))?;
        self.loads += 1;
        let ended = timed::run_lanes(&self.file, lanes, limits, self.loads, &mut || !sink.stop());
        ended.map(|ended| ended.map(|(ended, _)| ended)).map_err(|error| self.error(&error))
    }
}

/// A rig on a [`DriveReader`]: it sends timed reads, and refuses everything else.
#[derive(Debug)]
pub struct ReadingRig {
    reader: DriveReader,
    drive: DriveInfo,
}

impl ReadingRig {
    /// Returns the rig on `reader`, which was opened by the name `target`.
    pub fn new(reader: DriveReader, target: &str) -> ReadingRig {
        let drive = DriveInfo {
            kind: if reader.is_block { TargetKind::Block } else { TargetKind::File },
            target: target.to_owned(),
            model: None,
            serial: None,
            firmware: None,
            capacity: reader.size,
            logical_block: Bytes(4_096),
            physical_block: Bytes(4_096),
            details: BTreeMap::new(),
        };
        ReadingRig { reader, drive }
    }
}

impl Rig for ReadingRig {
    fn drive(&self) -> &DriveInfo {
        &self.drive
    }

    fn prepare(&mut self, _: &Preparation, _: &mut dyn Sink) -> Result<Prepared, RigError> {
        Err(self.reader.refuses_writes())
    }

    fn run(&mut self, _: &Workload, _: &Until, _: &mut dyn Sink) -> Result<Ended, RigError> {
        Err(RigError::Refused(format!("{} is open for timed reads alone", self.reader.name)))
    }

    fn rest(&mut self, _: Nanos, _: &mut dyn Sink) -> Result<Nanos, RigError> {
        Ok(Nanos::ZERO)
    }

    fn timed_loads(&mut self) -> Option<&mut dyn TimedLoads> {
        Some(&mut self.reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{Nanos, Recording};
    use std::io::Write;

    fn request(direction: Direction, offset: u64) -> TimedRequest {
        TimedRequest { due: Nanos::ZERO, direction, offset, length: 4_096 }
    }

    #[test]
    fn a_reader_refuses_writes_and_requests_beyond_its_end() {
        let mut named = tempfile::NamedTempFile::new().unwrap();
        named.write_all(&vec![7; 1 << 16]).unwrap();
        // Not every file system has O_DIRECT.
        let Ok(mut reader) = DriveReader::open(named.path()) else {
            eprintln!("skipped: no O_DIRECT here");
            return;
        };
        let mut sink = Recording::default();
        for bad in [request(Direction::Write, 0), request(Direction::Read, 1 << 16)] {
            let refused = reader.send(&[bad], 1, &mut sink);
            assert!(matches!(refused, Err(RigError::Refused(_))), "{refused:?}");
        }
        assert!(reader.send(&[request(Direction::Read, 0)], 1, &mut sink).unwrap().is_some());
    }
}
