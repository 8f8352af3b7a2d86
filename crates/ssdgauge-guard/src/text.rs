//! Printable text from paths, and from bytes that a device reports.

use std::path::Path;

/// Returns `path` as text.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Returns text from a device as printable ASCII, every other byte as `\xNN`, 64 characters at
/// most: a label on a drive must not control the terminal that shows it.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes.iter().copied().skip_while(|byte| *byte == b' ') {
        let shown = match byte {
            b'\\' => "\\\\".to_owned(),
            b' '..=b'~' => char::from(byte).to_string(),
            other => format!("\\x{other:02x}"),
        };
        if text.len() + shown.len() > 64 {
            break;
        }
        text.push_str(&shown);
    }
    text.trim_end().to_owned()
}
