//! Frames and records of request logs, of both versions.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdgauge_core::io_log::{Frame, RECORD, Record, Version};

fuzz_target!(|data: &[u8]| {
    let Some((magic, rest)) = data.split_first_chunk::<8>() else { return };
    let Some(version) = Version::from_magic(*magic) else { return };
    let Some((head, rest)) = rest.split_first_chunk::<{ Frame::LENGTH }>() else { return };
    if let Some(frame) = Frame::unpack(head) {
        assert!(Frame::unpack(&frame.pack()).is_some(), "a frame that was read is written as one");
        let _ = frame.payload();
    }
    for bytes in rest.chunks_exact(RECORD) {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
        let _ = Record::unpack([word(0), word(8)], version);
    }
});
