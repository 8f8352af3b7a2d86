//! Output to the terminal: data on stdout, messages on stderr.
//!
//! Names of drives, suites and files are foreign data: no control sequence in them may reach a
//! terminal.

use std::io::{IsTerminal, Write};

/// Writes data to stdout. A closed pipe, such as `| head`, is not an error.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes text without colour to stdout, sanitized and with a final line break.
pub(crate) fn print_text(text: &str) {
    print(&format!("{}\n", sanitize(text)));
}

/// Writes a message to stderr, sanitized and with a final line break.
pub(crate) fn print_message(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{}", sanitize(text));
}

/// Returns `text` with control, invisible and direction-changing characters escaped; line breaks
/// stay.
pub(crate) fn sanitize(text: &str) -> String {
    text.lines().map(ssdgauge_report::sanitize_prose).collect::<Vec<_>>().join("\n")
}

/// Returns whether stderr is a terminal that can draw a progress bar.
pub(crate) fn has_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns whether a browser can open: stderr is a terminal within a graphical session.
pub(crate) fn has_desktop() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    has_terminal() && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
}

/// Returns whether stdout is coloured: by `NO_COLOR` (no-color.org), `CLICOLOR_FORCE`
/// (bixense.com/clicolors), otherwise on a terminal.
pub(crate) fn has_colour() -> bool {
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        return false;
    }
    let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    forced || (std::io::stdout().is_terminal() && has_terminal())
}
