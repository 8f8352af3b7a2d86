//! Reader of text inputs: suites, profiles, spec files and meter files.

use std::path::Path;

/// The largest file that is read, in bytes; the built-in suites have a few thousand.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the text file `name`.
///
/// # Errors
///
/// Returns the message where the file cannot be read, is not a regular file, is longer than
/// [`MAX_BYTES`], or is not UTF-8.
pub(crate) fn read_text_file(name: &str) -> Result<String, String> {
    let path = Path::new(name);
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("file {name} does not exist"),
        _ => format!("{name}: {error}"),
    })?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(format!("{name} is not a text file of at most {MAX_BYTES} bytes"));
    }
    std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))
}
