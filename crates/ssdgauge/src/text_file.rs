//! Text files that people write: suites, profiles, spec files, lists of meters.

use std::path::Path;

/// The largest suite or profile that is read; the built-in ones have a few thousand bytes.
const MOST: u64 = 1 << 20;

/// Reads a text file that a person wrote, or says why it cannot be one.
pub(crate) fn read_text_file(name: &str) -> Result<String, String> {
    let path = Path::new(name);
    let metadata = std::fs::metadata(path).map_err(|error| format!("{name}: {error}"))?;
    if !metadata.is_file() || metadata.len() > MOST {
        return Err(format!("{name} is no text file of at most {MOST} bytes"));
    }
    std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))
}
