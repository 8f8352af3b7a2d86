//! `ssdgauge submit`: runs as small files for the repository of a collection, without what identifies their owner.

use crate::arguments::SubmitArguments;
use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use crate::run_files;
use sha2::{Digest, Sha256};
use ssdgauge_analysis::bench::board::slug;
use ssdgauge_analysis::bench::submission::{Submission, objection};
use ssdgauge_watch::terminal;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// The bytes of a secret.
const SECRET: usize = 32;

/// The length of a block of SHA-256 in bytes (FIPS 180-4).
const BLOCK: usize = 64;

/// Shows what is published of each run, and writes it where that is permitted.
///
/// # Errors
///
/// Refuses runs that are not to be published, and what is not permitted; fails where a file cannot be written.
pub(super) fn execute(arguments: &SubmitArguments) -> Result<(), Failure> {
    let secret = arguments.secret.as_deref().map(Secret::read).transpose()?;
    let hashed = |text: &str| keyed_hash(secret.as_ref().map_or(&[][..], |one| &one.bytes), text);
    let hashed: Option<&dyn Fn(&str) -> String> =
        if secret.is_some() { Some(&hashed) } else { None };
    let mut submissions: Vec<(PathBuf, String)> = Vec::new();
    for file in run_files::find(&arguments.sources)? {
        let run = ssdgauge_analysis::read(&file)?;
        if let Some(why) = objection(&run) {
            let text = format!("{} is not to be published: {why}", file.display());
            return Err(Failure::new(
                FailureKind::Refused,
                text,
                "nothing was written; name other runs",
            ));
        }
        let mut submission = Submission::new(&run, hashed);
        let drive = &run.head.drive;
        submission.serial = drive.serial.clone().filter(|_| arguments.serial);
        submission.label = run.head.environment.get("label").cloned().filter(|_| arguments.label);
        let record = &submission.record;
        let name = format!("{}.ssdgauge.json", slug(&record.id));
        let place = arguments.output.join(slug(&record.drive.full_name())).join(name);
        let text = serde_json::to_string(&submission).map_err(|error| {
            Failure::new(FailureKind::Failed, error.to_string(), "this is a bug: please report it")
        })?;
        submissions.push((place, format!("{text}\n")));
    }
    for (place, text) in &submissions {
        terminal::print(&format!("{}:\n{text}", place.display()));
    }
    let count = submissions.len();
    permit(arguments.yes, count)?;
    for (place, _) in submissions.iter().filter(|(place, _)| place.symlink_metadata().is_ok()) {
        output::check(place, Format::Submission, &[])?;
    }
    for (place, _) in &submissions {
        output::create_folders(place.parent().unwrap_or(Path::new(".")))?;
    }
    secret.iter().try_for_each(Secret::keep)?;
    for (place, text) in &submissions {
        output::write(place, Format::Submission, &[], text.as_bytes())?;
    }
    terminal::print_message("written; offer the files to the repository of a collection");
    Ok(())
}

/// Asks whether what was shown may be written.
fn permit(is_permitted: bool, count: usize) -> Result<(), Failure> {
    let refused = |hint: &str| {
        let text = format!("the text above was not permitted to be published ({count} runs)");
        Err(Failure::new(FailureKind::Refused, text, hint))
    };
    if is_permitted {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return refused("nothing was written; read it, then add --yes");
    }
    terminal::print_message("This is all that is published. Type yes to write it:");
    let mut line = String::new();
    // An input that cannot be read is an empty line, which permits nothing.
    let _ = std::io::stdin().lock().read_line(&mut line);
    if line.trim() == "yes" { Ok(()) } else { refused("nothing was written") }
}

/// What the hashes depend on.
struct Secret<'a> {
    file: &'a Path,
    bytes: [u8; SECRET],
    is_new: bool,
}

impl Secret<'_> {
    /// Reads the secret in `file`; a missing one gets random bytes, and is not created yet.
    ///
    /// # Errors
    ///
    /// Fails where it is not a regular file of [`SECRET`] bytes.
    fn read(file: &Path) -> Result<Secret<'_>, Failure> {
        let failed = |error: io::Error| unusable(file, &error.to_string());
        let (source, is_new) = match file.metadata() {
            Ok(facts) if facts.is_file() && facts.len() == SECRET as u64 => (file, false),
            Ok(_) => return Err(unusable(file, "it is not a regular file of 32 bytes")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                output::check(file, Format::Submission, &[])?;
                (Path::new("/dev/urandom"), true)
            }
            Err(error) => return Err(failed(error)),
        };
        let mut bytes = [0; SECRET];
        let opened = std::fs::File::open(source);
        opened.and_then(|mut source| source.read_exact(&mut bytes)).map_err(failed)?;
        Ok(Secret { file, bytes, is_new })
    }

    /// Creates the file where it is missing.
    ///
    /// # Errors
    ///
    /// Fails where it cannot be written.
    fn keep(&self) -> Result<(), Failure> {
        if !self.is_new {
            return Ok(());
        }
        let new = ssdgauge_os::outputs::create_file(self.file, 0o600);
        let written = new.and_then(|mut new| new.write_all(&self.bytes));
        written.map_err(|error| unusable(self.file, &error.to_string()))
    }
}

fn unusable(file: &Path, why: &str) -> Failure {
    let text = format!("cannot use the secret {}: {why}", file.display());
    let hint = "nothing was written; name a file of your own with 32 bytes, or a new one";
    Failure::new(FailureKind::Usage, text, hint)
}

/// Returns the first 16 digits of HMAC-SHA-256 (RFC 2104) of `text`: without the key, no list of serial numbers finds it.
fn keyed_hash(key: &[u8], text: &str) -> String {
    let padded = |pad: u8| {
        let mut block = [pad; BLOCK];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    let outer = Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize();
    outer.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keyed_hash_is_that_of_the_standard() {
        // RFC 4231, test cases 1 and 2.
        assert_eq!(keyed_hash(&[0x0b; 20], "Hi There"), "b0344c61d8db3853");
        assert_eq!(keyed_hash(b"Jefe", "what do ya want for nothing?"), "5bdcc146bf60754e");
    }
}
