//! Lines folded at words to the width of the terminal, and cells cut to a width.
//!
//! Escape sequences have no width; wide characters have two columns.

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The indent of the lines below a folded one, after its own indent.
const HANG: usize = 2;

/// Returns `text` with all lines folded to `width` columns. The lines below a folded one begin under its
/// last column, or are indented. A word longer than the width, such as a path, stays whole.
pub fn fold(text: &str, width: usize) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        match display_width(content) <= width {
            true => folded.push_str(content),
            false => folded.push_str(&lines(content, hanging(content, width), width).join("\n")),
        }
        folded.push_str(&line[content.len()..]);
    }
    folded
}

/// Returns `text` in lines of at most `width` columns, all but the first indented by `indent`.
pub fn lines(text: &str, indent: usize, width: usize) -> Vec<String> {
    let begin = text.len() - text.trim_start().len();
    let (first, rest) = text.split_at(begin);
    let below = " ".repeat(indent);
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(&below)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(rest, options).into_iter().map(|line| line.into_owned()).collect()
}

/// Returns the indent of the lines below a folded `line`: its last column that begins in the left half,
/// where two spaces or more separate columns.
fn hanging(line: &str, width: usize) -> usize {
    let own = line.len() - line.trim_start().len();
    let gaps = line.match_indices("  ").map(|(at, _)| at).filter(|at| *at >= own);
    let columns = gaps.map(|at| {
        let spaces = line[at..].len() - line[at..].trim_start().len();
        display_width(&line[..at]) + spaces
    });
    columns.filter(|column| *column <= width / 2).last().unwrap_or(own + HANG)
}

/// Returns `text` in at most `width` columns; a cut text ends in `…`.
pub fn cut(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        kept.push(character);
        if display_width(&kept) >= width {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_folded_at_words_below_its_last_column() {
        let line =
            "  fill       fill 16GB   write 16GB once, sequential order, 128KiB per request\nend\n";
        let folded = fold(line, 60);
        assert_eq!(
            folded,
            "  fill       fill 16GB   write 16GB once, sequential order,\n\
             \x20                        128KiB per request\nend\n"
        );
        assert_eq!(fold("one two three", 9), "one two\n  three");
    }

    #[test]
    fn a_word_longer_than_the_width_is_not_broken() {
        let path = "/a/very/long/path/that/a/reader/pastes";
        assert_eq!(fold(&format!("see {path}"), 20), format!("see\n  {path}"));
    }

    #[test]
    fn escape_sequences_have_no_width_and_wide_characters_two_columns() {
        assert_eq!(fold("\x1b[31merror:\x1b[0m two", 10), "\x1b[31merror:\x1b[0m two");
        assert_eq!(fold("漢字 漢字 漢字", 10), "漢字 漢字\n  漢字");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abcd", 4), "abcd");
    }
}
