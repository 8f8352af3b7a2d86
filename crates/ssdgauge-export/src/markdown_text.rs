//! Words and escapes that all texts in Markdown use.

/// The sentence below the head of every model.
pub(crate) const MODEL: &str =
    "These results come from a virtual drive and do not describe any product.";

/// The sentence below the head of several drives that are all models.
pub(crate) const MODELS: &str =
    "These results come from virtual drives and do not describe any product.";

/// The sentence below the head of several drives of which some are models.
pub(crate) const SOME_MODELS: &str =
    "The results of names with MODEL come from virtual drives and do not describe any product.";

/// Returns `text` with everything escaped that Markdown or HTML inside it would read.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' | '$' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}
