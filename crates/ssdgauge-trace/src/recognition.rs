//! Recognition of a format by the first bytes of a trace.

use crate::format::Format;
use crate::formats::{text, vscsi};
use crate::packed::MAGIC;
use ssdgauge_core::io_log::Version;

/// Returns the format of a trace that begins with `head`, `is_all` of it or not; `None` where no format
/// or more than one fits.
pub(crate) fn recognise(head: &[u8], is_all: bool) -> Option<Format> {
    let logs = [Version::One, Version::Two].map(Version::magic);
    if head.starts_with(&MAGIC) {
        return Some(Format::Packed);
    }
    if logs.iter().any(|magic| head.starts_with(magic)) {
        return Some(Format::RequestLog);
    }
    // The magic number of blktrace is in the upper three bytes, the version below.
    if head.len() > 3 && head[1..4] == *b"tae" {
        return Some(Format::Blktrace);
    }
    // Its version is a control character in a place where no text has one.
    if vscsi::is_vscsi(head) {
        return Some(Format::Vscsi);
    }
    // The last line may be cut off.
    let end = head.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let whole = if is_all && end == 0 { head } else { &head[..end] };
    text::recognise(std::str::from_utf8(whole).ok()?)
}
