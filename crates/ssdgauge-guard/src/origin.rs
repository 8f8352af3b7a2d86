//! The origin of the place of a scratch file: the user, or the author of a run file.

use crate::options::TargetOptions;
use crate::place::{Candidate, TargetError, TargetPlace, parent};
use std::path::Path;

/// Checks that the user chose the place of the scratch file: a run file that is resumed names it, and
/// may come from a stranger.
///
/// # Errors
/// The run file is not one that the user created, it lies in another folder, and the place is not confirmed.
pub(crate) fn check(candidate: &Candidate, options: &TargetOptions<'_>) -> Result<(), TargetError> {
    let Some(continued) = options.continues else { return Ok(()) };
    let (path, folder) = match &candidate.place {
        TargetPlace::Folder(folder) => (folder, folder.as_path()),
        TargetPlace::NewFile(file) => (file, parent(file)),
        // A drive is confirmed by its serial, whoever named it.
        TargetPlace::Null | TargetPlace::Block(_) => return Ok(()),
    };
    // Resolved, as `folder` is: a link must not pass for the folder of the run file.
    let of_results = options.results.and_then(|results| parent(results).canonicalize().ok());
    let confirmed = options.confirm.is_some_and(|given| Path::new(given) == path);
    match continued.is_own || confirmed || of_results.as_deref() == Some(folder) {
        true => Ok(()),
        false => {
            Err(TargetError::OtherFolder { path: path.clone(), size: candidate.info.capacity })
        }
    }
}
