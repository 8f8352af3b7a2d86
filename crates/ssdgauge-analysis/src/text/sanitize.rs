//! Sanitizing of untrusted strings for display.
//!
//! Run files may come from unknown sources, and a drive may report any string. The results have no
//! control characters, terminal escapes or bidirectional controls. Escaping for HTML, CSV and JSON
//! is done by the writers of these formats.

use ssdgauge_core::rounded;
use std::fmt::Write;

/// The maximum number of characters that a drive's own string is shown with.
const DEVICE_LIMIT: usize = 64;

/// The maximum number of characters that any other text is shown with.
const PROSE_LIMIT: usize = 2_000;

/// Returns a model, serial or firmware string: printable ASCII, other bytes as `\xNN`, at most 64
/// characters.
pub fn device(text: &str) -> String {
    let mut clean = String::new();
    for byte in text.trim().bytes() {
        match byte {
            b' '..=b'~' => clean.push(char::from(byte)),
            _ => write!(clean, "\\x{byte:02X}").expect("writing to memory cannot fail"),
        }
        if clean.len() > DEVICE_LIMIT {
            break;
        }
    }
    shortened(clean, DEVICE_LIMIT)
}

/// Returns the JSON document `text` with every hidden character as an escape of JSON (`\\u202e`): the
/// strings keep their values, and a terminal that shows them does not change their order. Hidden
/// characters are in strings only.
pub fn json(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        if character == '\n' || !is_hidden(character) {
            clean.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(clean, "\\u{unit:04x}").expect("writing to memory cannot fail");
        }
    }
    clean
}

/// Returns text for people: letters of any script stay, what cannot be seen is written out.
pub fn prose(text: &str) -> String {
    shortened(written_out(text.chars().take(PROSE_LIMIT + 1)), PROSE_LIMIT)
}

/// Returns the label of a step for people: as [`prose`] does, with units apart. In JSON and other
/// formats for programs the label is a key, and exact.
pub fn step(label: &str) -> String {
    rounded::step_label(&prose(label))
}

/// Returns text as [`prose`] does, of at most the length of a drive's own string.
pub fn short_prose(text: &str) -> String {
    shortened(written_out(text.trim().chars().take(DEVICE_LIMIT + 1)), DEVICE_LIMIT)
}

/// Returns text as [`prose`] does, of any length; line breaks stay.
pub fn long_prose(text: &str) -> String {
    let line = |line: &str| written_out(line.chars());
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn written_out(characters: impl Iterator<Item = char>) -> String {
    let mut clean = String::new();
    for character in characters {
        match character {
            '\n' | '\t' | '\r' => clean.push(' '),
            _ if is_hidden(character) => {
                write!(clean, "\\u{{{:X}}}", u32::from(character))
                    .expect("writing to memory cannot fail");
            }
            _ => clean.push(character),
        }
    }
    clean
}

/// Returns whether `character` is invisible, or changes how its neighbours are shown.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffc}'
            | '\u{e0000}'..='\u{e007f}')
}

fn shortened(text: String, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text,
        Some(_) => text.chars().take(limit - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_strings_are_printable_ascii() {
        let cases = [
            ("  Samsung SSD 970 EVO 1TB ", "Samsung SSD 970 EVO 1TB"),
            ("a\u{1b}[31mred", "a\\x1B[31mred"),
            ("a\0b", "a\\x00b"),
            ("\u{202e}evil", "\\xE2\\x80\\xAEevil"),
            ("<b>$x$</b>", "<b>$x$</b>"),
        ];
        for (given, expected) in cases {
            assert_eq!(device(given), expected);
        }
        assert_eq!(device(&"x".repeat(500)).chars().count(), 64);
    }

    #[test]
    fn prose_keeps_all_scripts_and_escapes_invisible_characters() {
        let cases = [
            ("70 % read, 4 µs – größer", "70 % read, 4 µs – größer"),
            ("two\nlines", "two lines"),
            ("a\u{202e}b\u{200b}c\u{9b}d", "a\\u{202E}b\\u{200B}c\\u{9B}d"),
        ];
        for (given, expected) in cases {
            assert_eq!(prose(given), expected);
        }
        assert_eq!(prose(&"y".repeat(9_000)).chars().count(), 2_000);
    }

    #[test]
    fn json_keeps_its_values_and_shows_no_hidden_character() {
        let value = "a\u{202e}b\u{9b}c\u{e0041}\u{7f}ö\n";
        let text = json(&serde_json::to_string_pretty(&[value]).unwrap());
        assert_eq!(serde_json::from_str::<[String; 1]>(&text).unwrap(), [value]);
        assert!(!text.chars().any(|one| one != '\n' && is_hidden(one)), "{text}");
        assert!(text.contains("a\\u202eb\\u009bc\\udb40\\udc41\\u007fö\\n"), "{text}");
    }
}
