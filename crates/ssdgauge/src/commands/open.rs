//! `ssdgauge open`: the page of a run in the browser.

use crate::arguments::OpenArguments;
use crate::browser;
use crate::failure::{Failure, FailureKind};
use crate::page_file::page_next_to;
use ssdgauge_os::child::{self, End};
use ssdgauge_os::own_process::THIS_PROGRAM;
use ssdgauge_watch::terminal;

/// Writes the page of each run next to its file, prints its path, and opens it where there is a browser.
///
/// # Errors
///
/// Fails as `report` does, which writes the page.
pub(crate) fn execute(arguments: &OpenArguments) -> Result<(), Failure> {
    let is_near = browser::is_near() && !ssdgauge_host::is_root();
    for file in &arguments.files {
        let page = page_next_to(file);
        let failed = |error: std::io::Error| {
            let text = format!("cannot start `ssdgauge report`: {error}");
            Failure::new(FailureKind::Failed, text, "write the page with `ssdgauge report FILE`")
        };
        // Restricted to it, which a browser cannot be.
        let mut report = child::start(THIS_PROGRAM, End::Killed, &[], |command| {
            command.args(["report", "--out"]).arg(&page).arg("--").arg(file);
        })
        .map_err(failed)?;
        let status = report.wait().map_err(failed)?;
        if !status.success() {
            let kind = match status.code() {
                Some(2) => FailureKind::Usage,
                Some(3) => FailureKind::Refused,
                _ => FailureKind::Failed,
            };
            let text = format!("the page of {} was not written", file.display());
            let hint =
                "the message above has the reason; `ssdgauge show` prints the result of a run";
            return Err(Failure::new(kind, text, hint));
        }
        let page = std::path::absolute(&page).unwrap_or(page);
        terminal::print_data(&page.display().to_string());
        if is_near {
            browser::show(&page);
        }
    }
    Ok(())
}
