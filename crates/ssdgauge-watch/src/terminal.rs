//! Output to the terminal: data on stdout, messages on stderr.
//!
//! Names of drives, suites and files are foreign data: no control sequence in them may reach a
//! terminal.

pub mod colour;
pub mod fold;
pub mod live_lines;
pub mod table;
pub mod width;

use colour::{Paint, Role};
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

/// The first error of stdout that is not a closed pipe.
static FAILED_OUTPUT: OnceLock<std::io::Error> = OnceLock::new();

/// Writes data to stdout. A closed pipe, such as `| head`, is not an error; another error is kept, and
/// nothing is written after the gap.
pub fn print(text: &str) {
    if FAILED_OUTPUT.get().is_none() {
        print_while_open(text);
    }
}

/// Returns the error for which data are missing on stdout.
pub fn failed_output() -> Option<&'static std::io::Error> {
    FAILED_OUTPUT.get()
}

/// Writes data to stdout, and returns whether more can follow: a program that never ends by itself ends with a
/// closed pipe, and with another error, which is kept.
pub fn print_while_open(text: &str) -> bool {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => true,
        Err(cause) if cause.kind() == ErrorKind::BrokenPipe => false,
        Err(cause) => {
            // Only the first error is kept.
            let _ = FAILED_OUTPUT.set(cause);
            false
        }
    }
}

/// Writes a JSON document to stdout, with a final line break. Characters that are hidden or change the
/// order of their neighbours are escaped in its strings, which keep their values.
pub fn print_json(value: &serde_json::Value) {
    // A report can have tens of megabytes, so no copy is made beyond these two.
    let mut text = ssdgauge_analysis::sanitize_json(&format!("{value:#}"));
    text.push('\n');
    print(&text);
}

/// Writes a document to stdout as [`print_json`] does.
pub fn print_document(document: &impl serde::Serialize) {
    print_json(&serde_json::to_value(document).expect("keys are strings"));
}

/// Writes lines of JSON to stdout, with the same escapes.
pub fn print_json_lines(lines: &str) {
    print(&ssdgauge_analysis::sanitize_json(lines));
}

/// Writes text to stdout, sanitized, folded to the width and with a final line break.
pub fn print_text(text: &str) {
    print_folded(&format!("{}\n", sanitize(text)));
}

/// Writes text that is sanitized already to stdout, folded to the width.
pub fn print_folded(text: &str) {
    print(&fold::fold(text, width::columns()));
}

/// Writes text that another program reads to stdout, sanitized and with a final line break.
pub fn print_data(text: &str) {
    print(&format!("{}\n", sanitize(text)));
}

/// Writes a message of one line to stderr, as [`message`] returns it, with a final line break.
pub fn print_message(text: &str) {
    print_lines([text]);
}

/// Writes a message of several lines to stderr, each as [`message`] returns it, in one piece.
pub fn print_lines(lines: impl IntoIterator<Item = impl AsRef<str>>) {
    let lines: Vec<String> = lines.into_iter().map(|line| message(line.as_ref())).collect();
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{}", lines.join("\n"));
}

/// Writes a message about a loss of data to stderr between empty lines, sanitized and as conspicuous as the
/// terminal allows.
pub fn print_alarm(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "\n{}\n", Paint::of_stderr().text(Role::Bad, &line(text)));
}

/// Returns a message of one line for stderr, sanitized, folded to the width, and coloured by its first word.
pub fn message(text: &str) -> String {
    let text = line(text);
    let text = match width::columns_of_messages() {
        Some(width) => fold::fold(&text, width),
        None => text,
    };
    Paint::of_stderr().message(&text)
}

/// Returns `text` as one line, with control, invisible and direction-changing characters escaped. Names of
/// files, and texts of suites and run files, may have line breaks: none of them begins a line of its own.
pub fn line(text: &str) -> String {
    ssdgauge_analysis::sanitize_prose(&text.replace('\n', "\\n").replace('\r', "\\r"))
}

/// Returns `text`, lines of this program, with control, invisible and direction-changing characters escaped.
/// Line breaks stay: what is not of this program is put into it by [`line()`].
pub fn sanitize(text: &str) -> String {
    text.lines().map(ssdgauge_analysis::sanitize_prose).collect::<Vec<_>>().join("\n")
}

/// Returns whether stderr is a terminal on which lines can be redrawn.
pub fn has_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns whether the terminal draws block characters: the locale is not `C` or `POSIX`.
pub fn has_unicode() -> bool {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os);
    let locale = named.into_iter().find(|value| !value.is_empty());
    locale.is_none_or(|locale| locale != "C" && locale != "POSIX")
}

/// Returns whether a browser can open: stderr is a terminal within a graphical session.
pub fn has_desktop() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    has_terminal() && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
}

/// Returns whether stdout is coloured.
pub fn has_colour() -> bool {
    Paint::of_stdout() == Paint::Colours
}
