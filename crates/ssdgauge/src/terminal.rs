//! The terminal: data on stdout, messages on stderr, nothing in either that a terminal would obey.

use std::io::{IsTerminal, Write};

/// Writes data to stdout. A reader that went away is no error.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes words without colour to stdout, without anything that a terminal would obey.
pub(crate) fn print_words(text: &str) {
    print(&format!("{}\n", tame(text)));
}

/// Writes lines of talk to stderr, without anything that a terminal would obey.
pub(crate) fn talk(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{}", tame(text));
}

/// Returns `text` with everything written out that a terminal would obey: a drive may call itself
/// anything.
pub(crate) fn tame(text: &str) -> String {
    text.lines().map(ssdgauge_report::sanitize_prose).collect::<Vec<_>>().join("\n")
}

/// Returns whether people look at stderr.
pub(crate) fn has_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns whether somebody sits at a desktop where a browser can open.
pub(crate) fn has_desktop() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    has_terminal() && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
}

/// Returns whether stdout shall be coloured.
pub(crate) fn has_colour() -> bool {
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        return false;
    }
    let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    forced || (std::io::stdout().is_terminal() && has_terminal())
}
