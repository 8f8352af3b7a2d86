//! Long texts and bytes as zlib streams. What they unpack to is bounded: a few bytes can unpack to gigabytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read, Write};

/// The bytes that one text may unpack to. Chosen: the times of two million requests.
pub(crate) const LONGEST: u64 = 64 << 20;

/// Returns `text` as a zlib stream. A protocol packs between two loads, so that speed counts more than room.
pub(crate) fn pack(text: &str) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed
        .write_all(text.as_bytes())
        .and_then(|()| packed.finish())
        .expect("writing to memory cannot fail")
}

/// Returns the text of a zlib stream, where it has at most `most` bytes, and [`LONGEST`].
///
/// # Errors
///
/// A clause that names the defect.
pub(crate) fn unpack(packed: &[u8], most: u64) -> Result<String, &'static str> {
    let most = most.min(LONGEST);
    let mut text = String::new();
    ZlibDecoder::new(packed)
        .take(most + 1)
        .read_to_string(&mut text)
        .map_err(|_| "a text that cannot be unpacked")?;
    match text.len() as u64 > most {
        true => Err("a text that unpacks to more than its size explains"),
        false => Ok(text),
    }
}

/// The memory that unpacked bytes may take as what they stand for, at most: places and readings are wider
/// than their bytes.
const WIDER: u64 = 8;

/// Returns `bytes` as a zlib stream in Base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    let packed = packed.write_all(bytes).and_then(|()| packed.finish());
    STANDARD.encode(packed.expect("writing to memory cannot fail"))
}

/// Returns the bytes of a text of [`encode`]; `None` where it is another text, or where what they stand for does
/// not fit into `room` bytes.
pub(crate) fn decode(text: &str, room: u64) -> Option<Vec<u8>> {
    let most = LONGEST.min(room / WIDER);
    let packed = DecoderReader::new(text.as_bytes(), &STANDARD);
    let mut bytes = Vec::new();
    ZlibDecoder::new(packed).take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_unpacked_as_it_was_and_never_beyond_its_limit() {
        for text in ["", "{}", &"0,".repeat(1 << 20)] {
            let packed = pack(text);
            assert_eq!(unpack(&packed, LONGEST).as_deref(), Ok(text));
            let most = text.len() as u64;
            assert_eq!(unpack(&packed, most).as_deref(), Ok(text));
            if most > 0 {
                assert!(unpack(&packed, most - 1).is_err());
                assert!(unpack(&packed[..packed.len() / 2], LONGEST).is_err());
            }
        }
        assert!(unpack(&pack(&"\0".repeat(1 + LONGEST as usize)), u64::MAX).is_err());
        assert!(unpack(b"no stream", LONGEST).is_err());
    }

    #[test]
    fn bytes_are_decoded_as_they_were_and_only_into_the_room_for_them() {
        let bytes: Vec<u8> = (0..100_000u32).map(|n| (n % 251 * (n % 241)) as u8).collect();
        let text = encode(&bytes);
        let room = bytes.len() as u64 * WIDER;
        assert_eq!(decode(&text, room), Some(bytes));
        assert_eq!(decode(&text, room - WIDER), None);
        assert_eq!((decode("no text", room), decode(&text[..40], room)), (None, None));
    }
}
