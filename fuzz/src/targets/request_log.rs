//! Frames and records of request logs, of both versions.

use ssdgauge_core::io_log::{Frame, RECORD, Record, Version};

/// Reads one input; returns whether it was accepted.
pub(crate) fn run(data: &[u8]) -> bool {
    let Some((magic, rest)) = data.split_first_chunk::<8>() else { return false };
    let Some(version) = Version::from_magic(*magic) else { return false };
    let Some((head, rest)) = rest.split_first_chunk::<{ Frame::LENGTH }>() else { return false };
    let frame = Frame::unpack(head);
    if let Some(frame) = &frame {
        assert!(Frame::unpack(&frame.pack()).is_some(), "a frame that was read is written as one");
        let _ = frame.payload();
    }
    for bytes in rest.chunks_exact(RECORD) {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
        let _ = Record::unpack([word(0), word(8)], version, (4_096, &[512, 8_192]));
    }
    frame.is_some()
}
