//! The hidden command `look`: a process of the program that looks at devices, and can be given up
//! where one does not answer. Without arguments it serves the guard; with them it makes one text.

use super::{drive_description, meters};
use crate::arguments::{LookArguments, LookText};
use crate::failure::{Failure, FailureKind};
use ssdgauge_os::own_process;
use std::io;

/// Serves as such a process.
///
/// # Errors
///
/// Fails where this process was not started by the program.
pub(crate) fn serve(arguments: &LookArguments) -> Result<(), Failure> {
    let served = match &arguments.text {
        None => ssdgauge_guard::serve_looks(),
        Some(text) => serve_text(text),
    };
    served.map_err(|error| cannot_serve(&error))
}

fn serve_text(text: &LookText) -> io::Result<()> {
    let socket = own_process::serve()?;
    let text = match text {
        LookText::Drive { target, json, coloured, width } => {
            drive_description::describe(target, *json, *coloured, *width)
        }
        LookText::Condition { target } => drive_description::condition(target),
        LookText::Sensors { json } => Ok(meters::list_sensors(*json)),
    };
    own_process::send(&socket, &serde_json::to_vec(&text)?, None)
}

/// Returns the failure of a command that only the program itself starts.
pub(crate) fn cannot_serve(error: &io::Error) -> Failure {
    let hint = "this command is started by the program itself";
    Failure::new(FailureKind::Usage, format!("cannot serve: {error}"), hint)
}
