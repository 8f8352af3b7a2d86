//! A drive or a file that is read by timed loads, without an admission: nothing is ever written to it.

use ssdgauge_core::{
    Bytes, Direction, Lane, LaneLimits, LanesEnded, RigError, Sink, TimedLoads, TimedRequest,
    Timings,
};
use ssdgauge_engine::timed::{self, TimedError};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// A drive or a file that is open for reading alone.
#[derive(Debug)]
pub struct TimedReader {
    file: Arc<File>,
    name: String,
    size: Bytes,
    /// The loads so far.
    loads: u64,
}

impl TimedReader {
    /// Opens a block device or a file for reading, past the page cache.
    ///
    /// # Errors
    /// `path` is neither, or cannot be opened past the page cache.
    pub fn open(path: &Path) -> io::Result<TimedReader> {
        let kind = path.metadata()?.file_type();
        if !kind.is_file() && !kind.is_block_device() {
            return Err(io::Error::other("neither a block device nor a file"));
        }
        let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path)?;
        let size = match kind.is_block_device() {
            true => ssdgauge_os::block_device::device_size(&file)?,
            false => file.metadata()?.len(),
        };
        Ok(TimedReader {
            file: Arc::new(file),
            name: path.display().to_string(),
            size: Bytes(size),
            loads: 0,
        })
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> Bytes {
        self.size
    }

    fn error(&self, error: TimedError) -> RigError {
        match error {
            TimedError::Hung(silence) => RigError::Hung { drive: self.name.clone(), silence },
            TimedError::Io { is_gone: true, .. } => RigError::Gone(self.name.clone()),
            TimedError::Io { .. } => RigError::System {
                what: format!("cannot read {}", self.name),
                cause: error.to_string(),
            },
        }
    }

    fn refuse_writes(&self, writes: bool) -> Result<(), RigError> {
        match writes {
            true => Err(RigError::Refused(format!("{} is open for reading alone", self.name))),
            false => Ok(()),
        }
    }
}

impl TimedLoads for TimedReader {
    fn send(
        &mut self,
        requests: &[TimedRequest],
        depth: u32,
        sink: &mut dyn Sink,
    ) -> Result<Option<Timings>, RigError> {
        timed::check_requests(requests, depth, self.size)?;
        self.refuse_writes(requests.iter().any(|one| one.direction != Direction::Read))?;
        timed::send(&self.file, requests, depth, &mut || !sink.stop())
            .map_err(|error| self.error(error))
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
        let mut go_on = || !sink.stop();
        let ended = timed::run_lanes(&self.file, lanes, limits, self.loads, &mut go_on);
        ended.map(|ended| ended.map(|(ended, _)| ended)).map_err(|error| self.error(error))
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
        let Ok(mut reader) = TimedReader::open(named.path()) else {
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
