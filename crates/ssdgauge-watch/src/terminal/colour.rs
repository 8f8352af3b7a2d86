//! Colours by meaning: the sixteen of the user's theme, without background. A word or a sign states the
//! same without colour.

use clap::ValueEnum;
use std::io::IsTerminal;
use std::sync::OnceLock;

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColourChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always, also where `NO_COLOR` is set.
    Always,
    /// Never.
    Never,
}

/// The choice of the command line, or of the settings.
static CHOICE: OnceLock<ColourChoice> = OnceLock::new();

/// Sets the choice, once.
pub fn choose(choice: ColourChoice) {
    // A second choice cannot occur: `main` parses one command line.
    let _ = CHOICE.set(choice);
}

impl ColourChoice {
    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ColourChoice::Auto => "auto",
            ColourChoice::Always => "always",
            ColourChoice::Never => "never",
        }
    }
}

/// Returns the environment variable that says how output is coloured, where one does.
pub fn variable() -> Option<&'static str> {
    match (is_set("NO_COLOR"), is_forced()) {
        (true, _) => Some("NO_COLOR"),
        (false, true) => Some("CLICOLOR_FORCE"),
        (false, false) => None,
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn is_forced() -> bool {
    std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0")
}

/// What a text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A name or the number that answers.
    Value,
    /// A condition, an interval, a source.
    Second,
    /// A state without objection.
    Good,
    /// A doubt.
    Warn,
    /// An error, a loss of data.
    Bad,
    /// A command, or the word before an advice.
    Command,
}

/// How much an output may be styled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// No escape sequence.
    None,
    /// Bold and dim, for `NO_COLOR` on a terminal.
    Weights,
    /// Bold, dim and colours.
    Colours,
}

impl Paint {
    /// Returns the paint of stdout.
    pub fn of_stdout() -> Paint {
        Paint::new(std::io::stdout().is_terminal())
    }

    /// Returns the paint of stderr.
    pub fn of_stderr() -> Paint {
        Paint::new(std::io::stderr().is_terminal())
    }

    fn new(is_terminal: bool) -> Paint {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let choice = CHOICE.get().copied().unwrap_or_default();
        decide(choice, is_set("NO_COLOR"), is_forced(), is_terminal && !is_dumb)
    }

    /// Returns `text` in the style of `role`.
    pub fn text(self, role: Role, text: &str) -> String {
        let code = match (self, role) {
            (Paint::None, _) | (Paint::Weights, Role::Good | Role::Warn | Role::Command) => {
                return text.to_owned();
            }
            (Paint::Weights | Paint::Colours, Role::Value) | (Paint::Weights, Role::Bad) => "1",
            (Paint::Weights | Paint::Colours, Role::Second) => "2",
            (Paint::Colours, Role::Good) => "32",
            (Paint::Colours, Role::Warn) => "33",
            (Paint::Colours, Role::Bad) => "1;31",
            (Paint::Colours, Role::Command) => "36",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// Returns `text` with the word that begins a message in the style of its meaning.
    pub fn message(self, text: &str) -> String {
        if self == Paint::None {
            return text.to_owned();
        }
        let lines = text.lines().map(|line| {
            let word = WORDS.iter().find(|(word, _)| line.starts_with(word));
            match word {
                Some((word, role)) => format!("{}{}", self.text(*role, word), &line[word.len()..]),
                None => line.to_owned(),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The words that begin a message, and their meanings.
const WORDS: [(&str, Role); 5] = [
    ("error:", Role::Bad),
    ("invalid:", Role::Bad),
    ("warning:", Role::Warn),
    ("hint:", Role::Command),
    ("note:", Role::Second),
];

/// Decides by the option, by `NO_COLOR` (no-color.org), by `CLICOLOR_FORCE` (bixense.com/clicolors) and by
/// the terminal, in this order.
fn decide(choice: ColourChoice, no_color: bool, forced: bool, is_terminal: bool) -> Paint {
    match choice {
        ColourChoice::Always => Paint::Colours,
        ColourChoice::Never => Paint::None,
        ColourChoice::Auto if no_color && is_terminal => Paint::Weights,
        ColourChoice::Auto if no_color => Paint::None,
        ColourChoice::Auto if forced || is_terminal => Paint::Colours,
        ColourChoice::Auto => Paint::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_precedes_no_color_which_precedes_clicolor_force() {
        use ColourChoice::{Always, Auto, Never};
        for (choice, no_color, forced, terminal, paint) in [
            (Auto, false, false, false, Paint::None),
            (Auto, false, false, true, Paint::Colours),
            (Auto, false, true, false, Paint::Colours),
            (Auto, true, true, false, Paint::None),
            (Auto, true, false, true, Paint::Weights),
            (Always, true, false, false, Paint::Colours),
            (Never, false, true, true, Paint::None),
        ] {
            assert_eq!(decide(choice, no_color, forced, terminal), paint, "{choice:?}");
        }
    }

    #[test]
    fn the_word_of_a_message_is_styled_and_its_text_is_not_changed() {
        let text = "error: it failed\nhint: try again";
        let painted = Paint::Colours.message(text);
        assert_eq!(painted, "\x1b[1;31merror:\x1b[0m it failed\n\x1b[36mhint:\x1b[0m try again");
        assert_eq!(Paint::None.message(text), text);
    }
}
