//! What tests ask of a browser, whichever it is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// A place in the window, in pixels from its upper left corner.
pub(crate) type Point = (f64, f64);

/// What the browser reported while pages were shown.
#[derive(Default)]
pub(crate) struct Seen {
    /// What the page complained of, in the console or as an error.
    pub(crate) complaints: Vec<String>,
    /// Every address that the page asked for. Firefox reports none of files and of what is embedded.
    pub(crate) requests: Vec<String>,
}

/// A kind of colour vision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vision {
    Normal,
    Protanopia,
    Deuteranopia,
    Tritanopia,
    Achromatopsia,
}

impl Vision {
    pub(crate) const DEFICIENT: [Vision; 4] =
        [Vision::Protanopia, Vision::Deuteranopia, Vision::Tritanopia, Vision::Achromatopsia];
}

/// A browser that shows one page.
pub(crate) trait Browser {
    fn seen(&mut self) -> &mut Seen;

    /// Gives the window a width, with a height of 900, in light or dark; the page stays loaded.
    fn view(&mut self, width: u32, scheme: &str);

    /// Shows the page as on `print`, or with an empty name as on a screen.
    fn medium(&mut self, medium: &str);

    /// Loads the page `file` into a window of `width` by 900, in light or dark.
    fn show(&mut self, file: &Path, width: u32, scheme: &str);

    /// Runs a script in the page; its own policy forbids scripts, but not those of the debugger.
    fn inject(&mut self, script: &str);

    /// Returns what a function without arguments answers in the page, also one that answers later.
    fn evaluate(&mut self, function: &str) -> Value;

    /// Shows the page as people with this colour vision see it.
    fn see_as(&mut self, vision: Vision);

    /// Returns whether the browser prints what a style sheet puts into the margins of a sheet.
    fn has_page_margins(&self) -> bool;

    /// Presses a key: a character, or a key by its code in WebDriver.
    fn key(&mut self, key: &str);

    /// Presses the button of the mouse at the first point of `path`, moves along the others and lets go; `presses`
    /// times at once.
    fn press_and_move(&mut self, path: &[Point], presses: u32);

    /// Takes a picture of the first `height` pixels of the page.
    fn picture(&mut self, file: &Path, width: u32, height: u32);

    /// Prints the page on A4.
    fn print(&mut self, file: &Path);
}

/// The keys that tests press, by their codes in WebDriver.
pub(crate) const TAB: &str = "\u{e004}";
pub(crate) const ENTER: &str = "\u{e007}";
pub(crate) const DOWN: &str = "\u{e015}";

/// Returns whether this machine has all of `programs`.
pub(crate) fn has_programs(programs: &[&str]) -> bool {
    let has = |program: &&str| {
        let found = Command::new("which").arg(program).stdout(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    programs.iter().all(has)
}

/// Returns the bytes of a text in base 64.
pub(crate) fn decoded(text: &Value) -> Vec<u8> {
    STANDARD.decode(text.as_str().unwrap()).unwrap()
}
