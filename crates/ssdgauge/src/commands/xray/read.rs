//! Cards of earlier X-rays: run files, and cards that earlier versions wrote. Anybody may have written them.

use super::card;
use crate::failure::{Failure, FailureKind};
use crate::text_file::read_text_file;
use ssdgauge_xray::{Card, CheckedCard};
use std::io::Read;
use std::path::Path;

/// Reads the card at `path`.
///
/// # Errors
/// The file cannot be read, or is not a card; the message names the place.
pub(super) fn card(path: &Path) -> Result<CheckedCard, Failure> {
    if is_run(path) {
        let json = card::of_run(path)?;
        return from_json(json).map_err(|reason| {
            let text = format!("{}: {reason}", path.display());
            Failure::new(FailureKind::Failed, text, "please report this as a bug of ssdgauge")
        });
    }
    let hint = "name a file that `ssdgauge xray TARGET` wrote";
    let fail = |text: String| Failure::new(FailureKind::Usage, text, hint);
    let text = read_text_file(&path.display().to_string()).map_err(fail)?;
    let not_a_card =
        |reason: String| fail(format!("{} is not an X-ray result: {reason}", path.display()));
    let card: Card = serde_json::from_str(&text).map_err(|error| not_a_card(error.to_string()))?;
    card.check_texts().map_err(|error| not_a_card(error.to_string()))?;
    card.checked().map_err(|error| not_a_card(error.to_string()))
}

/// Returns whether the file at `path` is a database, as run files are.
fn is_run(path: &Path) -> bool {
    let mut start = [0; 15];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"SQLite format 3"
}

/// Returns the card that `json` is.
///
/// # Errors
/// The reason why it is none.
pub(super) fn from_json(json: serde_json::Value) -> Result<CheckedCard, String> {
    let card: Card = serde_json::from_value(json).map_err(|error| error.to_string())?;
    card.checked().map_err(|error| error.to_string())
}
