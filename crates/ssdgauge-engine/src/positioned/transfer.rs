//! One request by a system call that waits for it.

use crate::request_error::RequestError;
use ssdgauge_core::Direction;
use ssdgauge_os::file_io;
use ssdgauge_os::memory::Region;
use std::fs::File;
use std::io;

/// Repeats `call` where a signal ended it before it had any effect: the drive has not failed, and the
/// time so far stays in the latency.
#[inline]
pub(crate) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Reads `length` bytes at `offset` into the beginning of `region`, all of them: what a short transfer
/// leaves over is sent again.
///
/// # Errors
/// [`RequestError::Failed`]; a transfer of 0 bytes is one.
pub fn read(file: &File, region: &Region, length: usize, offset: u64) -> Result<(), RequestError> {
    whole(Direction::Read, length, offset, |at, left, place| {
        file_io::read_at(file, region.at(at), left, place)
    })
}

/// Writes the first `length` bytes of `region` at `offset`, all of them.
///
/// # Errors
/// As [`read`].
pub fn write(file: &File, region: &Region, length: usize, offset: u64) -> Result<(), RequestError> {
    whole(Direction::Write, length, offset, |at, left, place| {
        file_io::write_at(file, region.at(at), left, place)
    })
}

/// Repeats `transfer` of the bytes that are left until all of `length` are transferred.
fn whole(
    direction: Direction,
    length: usize,
    offset: u64,
    transfer: impl Fn(usize, usize, u64) -> io::Result<usize>,
) -> Result<(), RequestError> {
    let failed = |cause| RequestError::Failed { direction, offset, cause };
    let mut done = 0;
    while done < length {
        let (left, place) = (length - done, offset + done as u64);
        match uninterrupted(|| transfer(done, left, place)).map_err(failed)? {
            // The end of a file, or a drive that has vanished.
            0 => return Err(failed(io::ErrorKind::UnexpectedEof.into())),
            bytes => done += bytes,
        }
    }
    Ok(())
}

/// Waits until everything that was written to `file` is durable.
///
/// # Errors
/// [`RequestError::Failed`].
pub fn flush(file: &File) -> Result<(), RequestError> {
    let failed = |cause| RequestError::Failed { direction: Direction::Flush, offset: 0, cause };
    uninterrupted(|| file_io::flush(file)).map_err(failed)
}

/// Returns memory for requests of up to `length` bytes.
///
/// # Errors
/// [`RequestError::NotSent`] without memory.
pub fn buffer(length: usize) -> Result<Region, RequestError> {
    Region::new(length).map_err(|cause| RequestError::NotSent { what: "no memory", cause })
}
