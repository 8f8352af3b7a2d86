//! Lines of a job file: texts of a plan and names of targets, so that fio reads each as one line and as
//! what it is.
//!
//! A plan can come from a run file of a stranger. fio carries out commands of a job file
//! (`exec_prerun`), so no text of a plan may begin a line of its own.

use thiserror::Error;

/// The maximum number of characters of a text in a line. fio reads 4,095 bytes as one line, and the rest of a longer
/// one as the next line; a character has at most 4 bytes.
const LONGEST_TEXT: usize = 300;

/// The maximum number of bytes of the name of a target: that of a path of Linux (PATH_MAX) would pass the line of fio.
const LONGEST_NAME: usize = 2_048;

/// The characters of a file name that fio cannot escape: `;` and `#` begin a comment, `$` a variable,
/// a grave accent a calculation, by a shell. Tested with fio 3.33.
const SPECIAL: [char; 4] = [';', '#', '$', '`'];

/// The reason why fio would use another file than the target.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// The name is empty, or the standard input of fio.
    #[error("'{0}' is not a file name that fio accepts")]
    NoFile(String),
    /// The name holds a character that fio interprets.
    #[error("fio reads another name than '{name}': it interprets the character {character:?}")]
    Character {
        /// The name, with control characters escaped.
        name: String,
        /// The character.
        character: char,
    },
    /// The name begins or ends with a blank.
    #[error("fio reads another name than '{0}': it removes blanks at the start and the end")]
    Blank(String),
    /// The name is too long for a line of a job file.
    #[error(
        "the name of the target has {0} bytes; a line of a job file has room for {LONGEST_NAME}"
    )]
    Long(usize),
}

/// Returns `text` as a part of one line: characters that are not printed, and those that end a line or
/// change the direction of text, are blanks, and the text has at most 300 characters.
pub(crate) fn one_line(text: &str) -> String {
    let is_plain = |one: char| {
        !one.is_control()
            && !matches!(one, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    let mut line: String =
        text.chars().take(LONGEST_TEXT).map(|one| if is_plain(one) { one } else { ' ' }).collect();
    if text.chars().nth(LONGEST_TEXT).is_some() {
        line += " …";
    }
    line
}

/// Returns `path` as the value of `filename`, for which fio uses this file and no other.
///
/// fio separates several names by colons, so they are escaped. It does not interpret a backslash
/// elsewhere.
///
/// # Errors
///
/// Refuses a name that fio would read as another one.
pub(crate) fn file_name(path: &str) -> Result<String, NameError> {
    let shown = || path.escape_debug().to_string();
    // The last one stands for bytes that are not UTF-8: the name is not complete.
    let is_special = |one: &char| {
        one.is_control() || SPECIAL.contains(one) || *one == char::REPLACEMENT_CHARACTER
    };
    match path.chars().find(is_special) {
        _ if path.is_empty() || path == "-" => Err(NameError::NoFile(shown())),
        _ if path.len() > LONGEST_NAME => Err(NameError::Long(path.len())),
        Some(character) => Err(NameError::Character { name: shown(), character }),
        None if path.trim() != path => Err(NameError::Blank(shown())),
        None => Ok(path.replace(':', "\\:")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_without_control_characters_that_fio_reads_as_one() {
        let cases = [
            ("Random read, QD 1 µs", "Random read, QD 1 µs"),
            ("a\n[b]\r\nexec_prerun=id", "a [b]  exec_prerun=id"),
            ("a\u{85}b\u{2028}c\u{2029}d\u{1b}[2Je\0f\u{202e}g", "a b c d [2Je f g"),
        ];
        for (text, expected) in cases {
            assert_eq!(one_line(text), expected);
        }
        let long = one_line(&"𝄞".repeat(100_000));
        assert!(long.len() < 2_000 && long.ends_with('…'), "{} bytes", long.len());
    }

    #[test]
    fn a_name_that_fio_would_read_as_another_one_is_refused() {
        for name in [
            "a;b",
            "a#b",
            "#x",
            "${HOME}",
            "$ncpus",
            "`id`",
            "a b ",
            " a",
            "a\nb",
            "a\tb",
            "a\u{1b}b",
            "-",
            "",
            "a\u{fffd}b",
            &"x".repeat(5_000),
        ] {
            assert!(file_name(name).is_err(), "{name:?}");
        }
        for (name, expected) in [
            ("/dev/nvme0n1", "/dev/nvme0n1"),
            ("a b", "a b"),
            ("a:b", "a\\:b"),
            ("a\\b", "a\\b"),
            ("a\\:b", "a\\\\:b"),
            ("\"é\"", "\"é\""),
        ] {
            assert_eq!(file_name(name).as_deref(), Ok(expected));
        }
    }
}
