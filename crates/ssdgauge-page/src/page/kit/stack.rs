//! Tables that become lists on phones: each row a block, each cell below the name of its column.
//!
//! The names are properties of the style of the table, so that a cell costs no bytes for them.

use std::fmt::Write;

/// The maximum number of columns whose cells have a name on phones; the style sheet has a rule for each.
const MOST: usize = 30;

/// Returns the style of a table with these heads: `--h2` is the name of its second column, and so on.
pub(crate) fn names<S: AsRef<str>>(heads: &[S]) -> String {
    let mut style = String::new();
    for (number, head) in heads.iter().enumerate().skip(1).take(MOST - 1) {
        let quoted: String = head.as_ref().chars().map(in_quotes).collect();
        write!(style, "--h{}:\"{quoted}\";", number + 1).expect("a string takes every text");
    }
    style
}

/// Returns the rules that show the name of each column.
pub(crate) fn rules() -> String {
    let rule = |n: usize| {
        format!(".stack td:not([colspan]):nth-child({n}):before{{content:var(--h{n},\"\")}}")
    };
    (2..=MOST).map(rule).collect()
}

/// Returns a letter of a string of CSS: quotes, backslashes and ends of lines would end it.
fn in_quotes(letter: char) -> String {
    match letter {
        '"' | '\\' => format!("\\{letter}"),
        '<' | '>' | '&' => format!("\\{:x} ", u32::from(letter)),
        letter if letter.is_control() => " ".to_owned(),
        letter => letter.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_head_stays_within_its_string() {
        let style = names(&["Test", "a\"};b{\\", "c\nd", "IOPS"]);
        assert_eq!(style, "--h2:\"a\\\"};b{\\\\\";--h3:\"c d\";--h4:\"IOPS\";");
        assert!(names(&["Test"]).is_empty());
        let many: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        assert!(names(&many).contains("--h30:") && !names(&many).contains("--h31:"));
        assert!(rules().contains("nth-child(30)") && !rules().contains("nth-child(31)"));
    }
}
