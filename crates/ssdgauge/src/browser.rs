//! The browser of the user.

use ssdgauge_os::child::{self, End};
use ssdgauge_watch::terminal;
use std::path::Path;
use std::process::Stdio;

/// The program that opens a file in the browser that its user chose.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens `page` in the browser of `$BROWSER`, otherwise in the default one, without waiting for it. States where that
/// fails.
pub(crate) fn show(page: &Path) {
    // A list of programs, of which the first one counts.
    let named = std::env::var("BROWSER").unwrap_or_default();
    let mut words = named.split(':').next().unwrap_or_default().split_whitespace();
    let program = words.next().unwrap_or(OPENER);
    let arguments: Vec<&str> = words.filter(|word| *word != "%s").collect();
    let started = std::path::absolute(page).and_then(|page| {
        child::start(program, End::Never, &[], |command| {
            command.args(arguments).arg(page);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        })
    });
    if let Err(error) = started {
        terminal::print_message(&format!(
            "no browser was started ({program}: {error}): open the page in one"
        ));
    }
}

/// Returns whether a browser of this session can be seen: not over ssh.
pub(crate) fn is_near() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_remote = is_set("SSH_CONNECTION") || is_set("SSH_TTY");
    !is_remote
        && (is_set("BROWSER")
            || is_set("DISPLAY")
            || is_set("WAYLAND_DISPLAY")
            || cfg!(target_os = "macos"))
}
