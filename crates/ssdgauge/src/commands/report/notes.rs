//! The notes of an editor with their photographs, which are files in the folder of the notes.

use crate::failure::{Failure, FailureKind};
use crate::text_file::read_text_file;
use ssdgauge_analysis::{InputError, Notes, Run};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The maximum number of bytes of a photograph that are read; the report refuses less.
const MAX_BYTES: u64 = 8 << 20;

/// Reads the notes in `file` for a report of `runs`.
///
/// # Errors
///
/// Fails with the line and the remedy where the notes are invalid, name a drive that is not in the
/// report, or name a photograph that is not a picture in their folder.
pub(super) fn read(file: &Path, runs: &[Run]) -> Result<Notes, Failure> {
    let name = file.display().to_string();
    let hint =
        "notes are Markdown after TOML front matter; docs/reference/notes-and-specs.md shows them";
    let text =
        read_text_file(&name).map_err(|error| Failure::new(FailureKind::Usage, error, hint))?;
    let mut notes = Notes::parse(&name, &text)?;
    notes.check(runs)?;
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    };
    for number in 0..notes.photographs.len() {
        let bytes = photograph(folder, &notes, number)?;
        notes.embed(number, &bytes)?;
    }
    Ok(notes)
}

/// Reads the photograph with this number. A link that leads out of the folder is refused: a page is
/// published, and what is embedded in it with it.
fn photograph(folder: &Path, notes: &Notes, number: usize) -> Result<Vec<u8>, InputError> {
    let path = folder.join(&notes.photographs[number].path);
    let error = |message: &str, hint: &str| notes.photograph_error(number, message, hint);
    let cannot = |cause: std::io::Error| error(&cause.to_string(), "name an existing file");
    let folder = folder.canonicalize().map_err(cannot)?;
    let path = path.canonicalize().map_err(cannot)?;
    if !path.starts_with(&folder) {
        let hint = "copy it into the folder of the notes, and name it from there";
        return Err(error("the file is outside the folder of the notes", hint));
    }
    // A pipe would block the open, and a device has no end.
    if !path.metadata().map_err(cannot)?.is_file() {
        return Err(error("not a regular file", "name a PNG or JPEG file"));
    }
    let mut bytes = Vec::new();
    File::open(&path)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        .map_err(cannot)?;
    Ok(bytes)
}
