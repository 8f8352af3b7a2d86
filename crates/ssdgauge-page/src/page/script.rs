//! The scripts of pages. The content security policy admits each of them by its hash alone.
//!
//! Nothing depends on that of `--script`, which enlarges charts over time, sorts the answer and keeps its state in the address: the page shows the same
//! without it.

/// A script of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Script {
    /// The text between the tags.
    pub(super) text: &'static str,
    /// Its hash as a source of a content security policy (CSP 3, section 2.3.1):
    /// `sha256sum < script.js | xxd -r -p | base64`. A test in a browser, and the one below, fail where it is that of
    /// another text.
    pub(super) hash: &'static str,
}

/// The script of `--script`.
pub(super) const SCRIPT: Script = Script {
    text: include_str!("script.js"),
    hash: "sha256-z7AVPt3He/Onv0G5034jEKMrVk+WgCSrvmBoYjH2Dg4=",
};

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
        for script in [SCRIPT, crate::page::live::SCRIPT] {
            assert_eq!(script.hash, format!("sha256-{}", STANDARD.encode(sha256(script.text))));
            assert!(!script.text.contains("</"), "the text would end its element");
        }
    }

    fn sha256(text: &str) -> Vec<u8> {
        let program =
            Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut program = program.unwrap();
        program.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = program.wait_with_output().unwrap();
        let hex = String::from_utf8(output.stdout).unwrap();
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..64).step_by(2).map(byte).collect()
    }
}
