mod card;
mod compare;
#[cfg(target_os = "linux")]
mod files;
mod read;
mod spec;
#[cfg(target_os = "linux")]
mod start;

use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
pub(crate) use compare::execute as compare;
use ssdgauge_watch::terminal;
use ssdgauge_xray::{CheckedCard, Stated};
use std::path::Path;

#[cfg(target_os = "linux")]
pub(crate) use spec::parse as stated_figures;
#[cfg(target_os = "linux")]
pub(crate) use start::{conclude, execute, open_for_reading};

/// Prints the card of the X-ray in `file`, or writes its `page`.
///
/// # Errors
/// The file cannot be read, or the page cannot be written.
pub(crate) fn print_recorded(
    file: &Path,
    page: Option<&Path>,
    as_json: bool,
) -> Result<(), Failure> {
    match page.filter(|_| !as_json) {
        None => deliver(file, &[], as_json).map(drop),
        Some(page) => {
            let card = read::card(file)?;
            let text = ssdgauge_page::xray_page(&card);
            output::write(page, Format::Page, &[file], text.as_bytes())
        }
    }
}

/// Returns the card of the X-ray in `file`.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn recorded(file: &Path) -> Result<CheckedCard, Failure> {
    read::card(file)
}

/// Returns whether the X-ray in `file` asked other questions than one of this version would: there is no card of it.
pub(crate) fn asks_otherwise(file: &Path) -> bool {
    card::asks_otherwise(file).unwrap_or(false)
}

/// Prints the card of the X-ray in `file`, and returns it.
fn deliver(file: &Path, stated: &[Stated], as_json: bool) -> Result<CheckedCard, Failure> {
    let mut json = card::of_run(file)?;
    // Text, page and picture are made from the card as a reader of its JSON has it.
    let card = read::from_json(json.clone()).map_err(|reason| {
        let text = format!("the card contradicts itself: {reason}");
        Failure::new(FailureKind::Failed, text, "please report this as a bug of ssdgauge")
    })?;
    if !stated.is_empty() {
        json["stated"] = spec::json(stated, &card.answers);
    }
    match as_json {
        true => terminal::print_json_lines(&card::json_text(json)),
        false => show(&card, stated),
    }
    terminal::print_message(&format!("run file: {}", file.display()));
    Ok(card)
}

/// Prints `card` with what it says about `stated` figures.
fn show(card: &CheckedCard, stated: &[Stated]) {
    let compared = spec::lines(stated, &card.answers);
    terminal::print_text(&format!("{}{compared}", card::text(card)));
}
