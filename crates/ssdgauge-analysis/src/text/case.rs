//! Capital letters: of sentences made of parts.

/// Returns `text` with a capital letter first.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns `words` with a first letter in lower case; an abbreviation, such as ACT, stays as it is.
pub fn uncapitalised(words: &str) -> String {
    let mut letters = words.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        (_, _) => words.to_owned(),
    }
}
