//! Photographs: the format and the size that the first bytes of a file state.
//!
//! The bytes are never decoded here; the browser decodes them.

/// The maximum number of pixels of a side. Chosen: a camera of 100 megapixels has 12,000.
const MAX_PIXELS: u32 = 12_000;

/// The maximum number of bytes of a file. Chosen: several photographs fit into a page of 10 MB.
pub const MAX_BYTES: usize = 3_000_000;

/// A photograph as it is in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its media type.
    pub media: &'static str,
    /// Its pixels across.
    pub width: u32,
    /// Its pixels down.
    pub height: u32,
}

/// Returns what the head of `bytes` states.
///
/// # Errors
///
/// Returns the fault and the remedy for a file that is neither PNG nor JPEG, and for one that is too
/// large in bytes or in pixels.
pub(crate) fn recognise(bytes: &[u8]) -> Result<Picture, (String, &'static str)> {
    if bytes.len() > MAX_BYTES {
        let message = format!("the picture has {} bytes; at most {MAX_BYTES} fit", bytes.len());
        return Err((message, "save it smaller, such as 1,600 pixels wide as a JPEG"));
    }
    let found = png(bytes)
        .map(|size| ("image/png", size))
        .or_else(|| jpeg(bytes).map(|size| ("image/jpeg", size)));
    let Some((media, (width, height))) = found else {
        return Err(("the file is neither PNG nor JPEG".to_owned(), "save it as PNG or JPEG"));
    };
    if width == 0 || height == 0 || width.max(height) > MAX_PIXELS {
        let message = format!("the picture has {width} × {height} pixels");
        return Err((message, "save it with at most 12,000 pixels on each side"));
    }
    Ok(Picture { media, width, height })
}

/// Returns the size in the chunk `IHDR`, which comes first (PNG, section 11.2.2).
fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let head = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let size = head.get(4..16)?.strip_prefix(b"IHDR")?;
    let number = |at: usize| Some(u32::from_be_bytes(size.get(at..at + 4)?.try_into().ok()?));
    Some((number(0)?, number(4)?))
}

/// Returns the size in the frame header, after any number of other segments (ITU-T T.81, B.2.2).
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.strip_prefix(&[0xff, 0xd8])?;
    loop {
        let [0xff, marker, high, low, ..] = rest else { return None };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        // SOF0 to SOF15, without the tables of Huffman (C4), arithmetic (CC) and the reserved C8.
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let [_, _, _, _, _, h1, h2, w1, w2, ..] = rest else { return None };
            let pixels = |high: &u8, low: &u8| u32::from(u16::from_be_bytes([*high, *low]));
            return Some((pixels(w1, w2), pixels(h1, h2)));
        }
        // A length counts itself, so that every round is shorter than the one before.
        rest = rest.get(2 + length.max(2)..)?;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_size_of_a_picture_is_read_from_its_head_and_nothing_else_is_a_picture() {
        let png = |w: u32, h: u32| {
            [&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..], &w.to_be_bytes(), &h.to_be_bytes()].concat()
        };
        let jpeg = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08\x01\x02\x03\x04\x01";
        assert_eq!(recognise(&png(640, 480)).unwrap().width, 640);
        let of_jpeg = recognise(jpeg).unwrap();
        assert_eq!((of_jpeg.width, of_jpeg.height), (0x304, 0x102));
        for length in 0..jpeg.len() {
            // A truncated file is refused, or states the size that it states.
            let _ = recognise(&jpeg[..length]);
        }
        for wrong in [png(0, 4), png(4, 100_000), b"<svg/>".to_vec(), b"GIF89a".to_vec()] {
            assert!(recognise(&wrong).is_err());
        }
        assert!(recognise(&vec![0; MAX_BYTES + 1]).unwrap_err().0.contains("bytes"));
        assert!(recognise(b"\xff\xd8\xff\xe0\x00\x00\xff\xe0").is_err());
    }
}
