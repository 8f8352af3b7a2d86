//! The script of `--script`: enlarges charts over time, and sorts the answer.
//!
//! Nothing depends on it: the page shows the same without it. The content security policy admits this
//! text alone, by its hash.

/// The text between the tags.
pub(super) const TEXT: &str = include_str!("script.js");

/// The hash of [`TEXT`] as a source of a content security policy (CSP 3, section 2.3.1):
/// `sha256sum < script.js | xxd -r -p | base64`. The test of the page in a browser, and the one below, fail
/// where it is that of another text.
pub(super) const HASH: &str = "sha256-bZYG/Y8gCuVL3kWOMO4QHKSx/Iyz/FCydTyExLV5Lw8=";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use std::io::Write;
    use std::process::{Command, Stdio};

    #[test]
    fn the_hash_of_the_policy_is_that_of_the_script() {
        let program =
            Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut program = program.unwrap();
        program.stdin.take().unwrap().write_all(TEXT.as_bytes()).unwrap();
        let output = program.wait_with_output().unwrap();
        let hex = String::from_utf8(output.stdout).unwrap();
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..64).step_by(2).map(byte).collect();
        assert_eq!(HASH, format!("sha256-{}", STANDARD.encode(bytes)));
        assert!(!TEXT.contains("</"), "the text would end its element");
    }
}
