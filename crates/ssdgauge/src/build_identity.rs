//! Identity of this build, as stated in run files: version, commit, and checksum of the executable.

use std::fs::File;
use std::io::{self, Read};

/// The commit of the sources, with `+changes` where they differ from it; empty where the sources
/// were not a git repository.
const COMMIT: &str = env!("SSDGAUGE_COMMIT");

/// Returns program, version and build, such as
/// `ssdgauge 0.1.0 (commit 0123456789ab, executable 89abcdef)`.
///
/// Runs of equal texts were made by the same machine code. The checksum is the CRC-32 of the
/// executable file; it is left out where the file cannot be read.
pub(crate) fn program() -> String {
    let commit = Some(COMMIT).filter(|commit| !commit.is_empty());
    let parts = [
        commit.map(|commit| format!("commit {commit}")),
        executable_checksum().ok().map(|crc| format!("executable {crc:08x}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let version = concat!("ssdgauge ", env!("CARGO_PKG_VERSION"));
    match parts.is_empty() {
        true => version.to_owned(),
        false => format!("{version} ({})", parts.join(", ")),
    }
}

fn executable_checksum() -> io::Result<u32> {
    // The link names the file that runs, even where its name now belongs to another one.
    let mut file = File::open("/proc/self/exe")?;
    let mut crc = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(crc.finalize()),
            length => crc.update(&buffer[..length]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_named_with_its_version_and_its_executable() {
        let program = program();
        assert!(program.starts_with(concat!("ssdgauge ", env!("CARGO_PKG_VERSION"), " (")));
        let checksum = program.split("executable ").nth(1).and_then(|text| text.strip_suffix(')'));
        assert!(checksum.is_some_and(|hex| u32::from_str_radix(hex, 16).is_ok()), "{program}");
        assert_eq!(program, super::program());
    }
}
