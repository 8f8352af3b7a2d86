//! PNG files (ISO/IEC 15948): the pixels of an image, and texts that say what it is.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

/// The signature of every file.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Returns the file of an image `width` pixels wide, with three bytes for each pixel. `mark` is the
/// whole text chunk before the pixels, its type first; `description` is a text of its own where it is not empty.
pub(crate) fn file(width: u32, pixels: &[u8], mark: &[u8], description: &str) -> Vec<u8> {
    let row = 3 * width as usize;
    let height = (pixels.len() / row) as u32;
    let mut file = SIGNATURE.to_vec();
    // Eight bits for each of red, green and blue; neither another method nor interlaced.
    let form: &[u8] = &[8, 2, 0, 0, 0];
    chunk(&mut file, &[b"IHDR", &width.to_be_bytes()[..], &height.to_be_bytes(), form].concat());
    chunk(&mut file, mark);
    let mut packed = ZlibEncoder::new(b"IDAT".to_vec(), Compression::best());
    for line in pixels.chunks_exact(row) {
        // Each line has the type of its filter first: none.
        packed.write_all(&[0]).expect("memory takes every byte");
        packed.write_all(line).expect("memory takes every byte");
    }
    chunk(&mut file, &packed.finish().expect("memory takes every byte"));
    if !description.is_empty() {
        let head: &[u8] = b"iTXtDescription\0\0\0\0\0";
        chunk(&mut file, &[head, description.as_bytes()].concat());
    }
    chunk(&mut file, b"IEND");
    file
}

/// Writes a chunk of a type and its data, between its length and its checksum.
fn chunk(file: &mut Vec<u8>, typed: &[u8]) {
    file.extend(((typed.len() - 4) as u32).to_be_bytes());
    file.extend(typed);
    file.extend(crc32fast::hash(typed).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// Returns the types and data of the chunks of `file`, whose checksums are right.
    fn chunks(file: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut rest = file.strip_prefix(SIGNATURE).expect("a PNG file");
        let mut found = Vec::new();
        while let [a, b, c, d, tail @ ..] = rest {
            let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
            let (typed, tail) = tail.split_at(4 + length);
            let (checksum, tail) = tail.split_at(4);
            assert_eq!(checksum, crc32fast::hash(typed).to_be_bytes());
            let (kind, data) = typed.split_at(4);
            found.push((String::from_utf8_lossy(kind).into_owned(), data.to_vec()));
            rest = tail;
        }
        found
    }

    #[test]
    fn a_file_has_its_pixels_and_its_texts() {
        let pixels: Vec<u8> = (0..2 * 3 * 3).collect();
        let chunks = chunks(&file(3, &pixels, b"tEXtSoftware\0x", "words"));
        let kinds: Vec<&str> = chunks.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["IHDR", "tEXt", "IDAT", "iTXt", "IEND"]);
        assert_eq!(chunks[0].1, [0, 0, 0, 3, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
        assert!(chunks[3].1.starts_with(b"Description\0") && chunks[3].1.ends_with(b"\0words"));
        let mut lines = Vec::new();
        flate2::read::ZlibDecoder::new(&chunks[2].1[..]).read_to_end(&mut lines).expect("packed");
        assert_eq!(lines, [&[0][..], &pixels[..9], &[0], &pixels[9..]].concat());
    }
}
