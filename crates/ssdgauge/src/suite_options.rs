//! The suite of a command and what was chosen of it: tests, sizes, endurance.

use crate::arguments::Choice;
use crate::failure::{Failure, Kind};
use crate::target::SizeRequest;
use crate::text_file::read_text_file;
use ssdgauge_core::Bytes;
use ssdgauge_lab::{Endurance, Options, Suite, find_built_in, needed_span};

/// The scratch file of a suite that names no size, and the part of a drive that `quick` uses.
pub(crate) const USUAL_SIZE: Bytes = Bytes(4 << 30);

/// Finds the suite `name`: one of the list, or a file.
pub(crate) fn find(name: &str) -> Result<Suite, Failure> {
    let is_path = name.contains('/') || name.ends_with(".toml");
    if !is_path {
        return Ok(find_built_in(name)?);
    }
    let hint = "`ssdgauge suites` lists the suites that come with the program";
    let text = read_text_file(name).map_err(|error| Failure::new(Kind::Usage, error, hint))?;
    Ok(Suite::parse(name, &text)?)
}

/// Returns how large a target has to be for `suite`.
pub(crate) fn size_for(suite: &Suite, choice: &Choice, exact: Option<Bytes>) -> SizeRequest {
    let needed = needed_span(suite, &choice.tests).filter(|_| !choice.scale_spans);
    SizeRequest { exact, scratch: needed.unwrap_or(USUAL_SIZE), at_most: None }
}

/// Returns what is wished of the drive's endurance.
pub(crate) fn endurance_of(choice: &Choice) -> Endurance {
    Endurance { rated: choice.endurance, share: choice.endurance_share / 100.0 }
}

/// Returns what the planner is asked.
pub(crate) fn options_of(choice: &Choice) -> Options {
    Options {
        only: choice.tests.clone(),
        shorten: choice.shorten,
        scale_spans: choice.scale_spans,
        seed: choice.seed,
        repeat: choice.repeat,
        purge: choice.purge,
    }
}
