//! Words of commands that a user can paste.

/// Returns `word` as a shell reads it as one: in quotes where it has letters with a meaning of their own.
pub fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=%,+@".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn what_a_shell_would_read_is_in_quotes() {
        for (word, written) in [
            ("/dev/nvme0n1", "/dev/nvme0n1"),
            ("sim:tlc-client?seed=7&capacity=8GB", "'sim:tlc-client?seed=7&capacity=8GB'"),
            ("a folder", "'a folder'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(word), written);
        }
    }
}
