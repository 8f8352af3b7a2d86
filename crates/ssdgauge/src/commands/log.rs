//! `ssdgauge log`: prints a log of single requests as CSV.

use crate::failure::{Failure, Kind};
use crate::terminal;
use ssdgauge_core::io_log::{Frame, FrameKind, MAGIC, RECORD, Record};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// The largest payload of a frame that is believed: 64 times what this program writes.
const MOST: u64 = 16 << 20;

/// Prints the log `path` as CSV.
pub(crate) fn print(path: &Path) -> Result<(), Failure> {
    let name = path.display();
    let failure =
        |text: String| Failure::new(Kind::Broke, text, "name a file that `--log-ios` has written");
    let file = File::open(path).map_err(|error| failure(format!("{name}: {error}")))?;
    let mut file = BufReader::with_capacity(1 << 20, file);
    let mut magic = [0; MAGIC.len()];
    if file.read_exact(&mut magic).is_err() || magic != MAGIC {
        return Err(failure(format!("{name} is no log of requests of this version")));
    }
    terminal::print("load,stream,thread,begin_ns,end_ns,lat_ns,direction,offset,length\n");
    let mut records = 0;
    let mut lines = String::new();
    loop {
        let frame = next(&mut file).map_err(|cause| {
            failure(format!("{name} is damaged or cut off after {records} requests: {cause}"))
        })?;
        let Some((frame, payload)) = frame else { return Ok(()) };
        match frame.kind {
            FrameKind::Load => {
                terminal::talk(&format!("load {}: {}", frame.load, plain(&payload)));
            }
            FrameKind::End if frame.lost > 0 => {
                terminal::talk(&format!(
                    "load {}: {} requests are missing",
                    frame.load, frame.lost
                ));
            }
            FrameKind::End => {}
            FrameKind::Records => {
                lines.clear();
                for bytes in payload.chunks_exact(RECORD) {
                    line(&mut lines, &frame, bytes);
                    records += 1;
                }
                terminal::print(&lines);
            }
        }
    }
}

/// Returns the next frame with its payload; `None` at the end.
fn next(file: &mut impl Read) -> io::Result<Option<(Frame, Vec<u8>)>> {
    let mut head = [0; Frame::LENGTH];
    // The end of the file is fine before a frame, and nowhere else.
    if file.read(&mut head[..1])? == 0 {
        return Ok(None);
    }
    file.read_exact(&mut head[1..])?;
    let frame = Frame::unpack(&head).filter(|frame| frame.payload() <= MOST);
    let frame = frame.ok_or_else(|| io::Error::other("there is no frame where one should be"))?;
    let mut payload = vec![0; frame.payload() as usize];
    file.read_exact(&mut payload)?;
    Ok(Some((frame, payload)))
}

fn line(lines: &mut String, frame: &Frame, bytes: &[u8]) {
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let Record { after, latency, request } = Record::unpack([word(0), word(8)]);
    let end = frame.base.saturating_add(u64::from(after));
    let Frame { load, stream, thread, block_size, .. } = *frame;
    let begin = end.saturating_sub(latency);
    let (direction, offset) = (request.direction.name(), request.offset);
    writeln!(
        lines,
        "{load},{stream},{thread},{begin},{end},{latency},{direction},{offset},{block_size}"
    )
    .expect("a String takes everything");
}

/// Returns foreign text without what could move a terminal.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().map(|c| if c.is_control() { '.' } else { c }).take(400).collect()
}
