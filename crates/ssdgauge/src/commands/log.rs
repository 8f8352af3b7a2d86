//! `ssdgauge log`: prints a request log as CSV.

use crate::failure::{Failure, FailureKind};
use ssdgauge_core::Workload;
use ssdgauge_core::io_log::{Frame, FrameKind, RECORD, Record, Version};
use ssdgauge_watch::terminal;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// The largest accepted payload of a frame, in bytes: 64 times the largest that ssdgauge writes, so
/// that a damaged length does not allocate gigabytes.
const MAX_PAYLOAD: u64 = 16 << 20;

/// Prints the request log `path` as CSV.
///
/// # Errors
///
/// Fails where the file cannot be read, is not a request log, or is damaged; the requests before the
/// damage are printed.
pub(crate) fn print(path: &Path) -> Result<(), Failure> {
    let name = path.display();
    let hint = "name a file that `--log-ios` wrote";
    let failure = |text: String| Failure::new(FailureKind::Failed, text, hint);
    let no_log = |text: String| Failure::new(FailureKind::Usage, text, hint);
    let kind = path.metadata().map_err(|error| no_log(format!("{name}: {error}")))?;
    // An open of a FIFO would wait for a writer.
    if !kind.is_file() {
        return Err(no_log(format!("{name} is not a request log: it is not a regular file")));
    }
    let file = File::open(path).map_err(|error| no_log(format!("{name}: {error}")))?;
    let mut file = BufReader::with_capacity(1 << 20, file);
    let mut magic = [0; 8];
    let version = file.read_exact(&mut magic).ok().and_then(|()| Version::from_magic(magic));
    let Some(version) = version else {
        return Err(no_log(format!("{name} is not a request log of version 1 or 2")));
    };
    terminal::print("load,stream,thread,begin_ns,end_ns,lat_ns,direction,offset,length\n");
    let mut records = 0;
    let mut workload = None;
    let mut lines = String::new();
    loop {
        let frame = read_frame(&mut file).map_err(|cause| {
            failure(format!("{name} is damaged or cut off after {records} requests: {cause}"))
        })?;
        let Some((frame, payload)) = frame else { return Ok(()) };
        match frame.kind {
            FrameKind::Load => {
                workload = serde_json::from_slice::<Workload>(&payload).ok();
                terminal::print_message(&format!("load {}: {}", frame.load, printable(&payload)));
            }
            FrameKind::End if frame.lost > 0 => {
                terminal::print_message(&format!(
                    "load {}: {} requests are missing",
                    frame.load, frame.lost
                ));
            }
            FrameKind::End => {}
            FrameKind::Records => {
                lines.clear();
                let mut streams = workload.iter().flat_map(|workload| &workload.streams);
                let stream = streams.nth(usize::from(frame.stream));
                let sizes = stream.map_or(Vec::new(), |stream| stream.sizes.lengths());
                for bytes in payload.chunks_exact(RECORD) {
                    let word = |at: usize| {
                        u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]))
                    };
                    let words = [word(0), word(8)];
                    let lengths = (frame.block_size, sizes.as_slice());
                    let Some(record) = Record::unpack(words, version, lengths) else {
                        let text = format!("{name}: request {} has an unknown form", records + 1);
                        return Err(failure(text));
                    };
                    push_line(&mut lines, &frame, &record);
                    records += 1;
                }
                terminal::print(&lines);
            }
        }
    }
}

/// Returns the next frame with its payload; `None` at the end.
fn read_frame(file: &mut impl Read) -> io::Result<Option<(Frame, Vec<u8>)>> {
    let mut head = [0; Frame::LENGTH];
    // The file may end before a frame, and nowhere else.
    if file.read(&mut head[..1])? == 0 {
        return Ok(None);
    }
    file.read_exact(&mut head[1..])?;
    let frame = Frame::unpack(&head).filter(|frame| frame.payload() <= MAX_PAYLOAD);
    let frame = frame.ok_or_else(|| io::Error::other("invalid frame header"))?;
    let mut payload = vec![0; frame.payload() as usize];
    file.read_exact(&mut payload)?;
    Ok(Some((frame, payload)))
}

/// Appends the CSV line of a record.
fn push_line(lines: &mut String, frame: &Frame, record: &Record) {
    let Record { after, latency, request } = *record;
    let end = frame.base.saturating_add(u64::from(after));
    let Frame { load, stream, thread, block_size, .. } = *frame;
    // The records of version 1 have no length of their own; a flush has none.
    let length = match request.length {
        0 if request.direction.addresses() => block_size,
        length => length,
    };
    let begin = end.saturating_sub(latency);
    let (direction, offset) = (request.direction.name(), request.offset);
    writeln!(
        lines,
        "{load},{stream},{thread},{begin},{end},{latency},{direction},{offset},{length}"
    )
    .expect("writing to a String never fails");
}

/// Returns a load in words, at most 400 characters, with `.` for control characters.
fn printable(bytes: &[u8]) -> String {
    let text = match serde_json::from_slice::<Workload>(bytes) {
        Ok(workload) => workload.describe(),
        // Version 1 has a text.
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    };
    text.chars().map(|c| if c.is_control() { '.' } else { c }).take(400).collect()
}
