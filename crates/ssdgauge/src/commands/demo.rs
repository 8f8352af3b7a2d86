//! `ssdgauge demo`: a comparative review of six virtual drives.
//!
//! It never opens a real drive, and marks all of its results MODEL.

use crate::arguments;
use crate::failure::{Failure, FailureKind};
use crate::process::{self, StopFlag};
use crate::virtual_runs::{self, VirtualRun};
use crate::{page_file, suite_options, terminal};
use ssdgauge_core::Rig;
use ssdgauge_lab::Options;
use ssdgauge_report::PageOptions;
use ssdgauge_sim::VirtualRig;
use std::path::{Path, PathBuf};

/// One drive of each class, with published figures of a drive where there is such a profile. The capacity limits the time: a fill of 64 GB takes seconds, and spare
/// area and caches scale with it.
const DRIVES: [&str; 6] = [
    "like-970-evo-500gb?capacity=64GB",
    "like-960-pro?capacity=64GB",
    "qlc-client?capacity=64GB",
    "like-dc500m?capacity=64GB",
    "like-983-dct?capacity=64GB",
    "like-900p?capacity=64GB",
];

/// The seed of drives and requests.
const SEED: u64 = 1;

/// What an interruption advises.
const AGAIN: &str = "start it again: it takes about a minute; the run files of this one are kept";

/// Runs the demonstration suite on all drives and writes the page.
///
/// # Errors
///
/// Refuses existing outputs; fails where a run fails, is interrupted, or an output cannot be written.
pub(crate) fn execute(arguments: &arguments::DemoArguments) -> Result<(), Failure> {
    let now = process::unix_ms();
    let page = arguments.output.clone().unwrap_or_else(|| {
        PathBuf::from(format!("ssdgauge-demo-{}.html", process::file_timestamp(now)))
    });
    let folder = runs_beside(&page);
    for path in [&page, &folder] {
        if path.symlink_metadata().is_ok() {
            return Err(Failure::new(
                FailureKind::Refused,
                format!("{} exists already", path.display()),
                "nothing was written; name another page with -o FILE",
            ));
        }
    }
    page_file::check_page(&page, &[])?;
    let suite = suite_options::find_suite("demo")?;
    let mut runs = Vec::new();
    for drive in DRIVES {
        let rig = VirtualRig::open(drive, SEED).map_err(|error| {
            let hint = "this is a bug in ssdgauge: please report it";
            Failure::new(FailureKind::Failed, error.to_string(), hint)
        })?;
        let plan = ssdgauge_lab::plan(&suite, rig.drive(), &Options::default())?;
        let name = rig.drive().name().to_lowercase().replace(|c: char| !c.is_alphanumeric(), "-");
        let file = folder.join(format!("{}.ssdg", name.trim_start_matches("model-")));
        let (in_progress, target) = (file.clone(), drive.to_owned());
        runs.push(VirtualRun { file, in_progress, target, seed: SEED, plan });
    }
    // Without its parents: a mistyped folder is not created.
    std::fs::create_dir(&folder).map_err(|error| {
        let text = format!("cannot create {}: {error}", folder.display());
        Failure::new(
            FailureKind::Refused,
            text,
            "nothing was written; name another page with -o FILE",
        )
    })?;
    let stop = StopFlag::new();
    stop.listen()?;
    terminal::print_message(&format!(
        "demo: six virtual drives (MODEL), run files in {}",
        folder.display()
    ));
    let files: Vec<PathBuf> = runs.iter().map(|run| run.file.clone()).collect();
    virtual_runs::run_all(runs, &stop, now, AGAIN)?;
    let runs = ssdgauge_report::read_all(&files)?;
    page_file::write_page(&page, &[], &runs, &PageOptions::default())?;
    terminal::print_message(&format!(
        "run files: {}\nreport:    {}",
        folder.display(),
        page.display()
    ));
    if terminal::has_desktop() && open(&page).is_err() {
        terminal::print_message("no browser was started (xdg-open failed): open the report in one");
    }
    Ok(())
}

/// Returns the folder of the run files of a page: `NAME-runs` beside `NAME.html`.
fn runs_beside(page: &Path) -> PathBuf {
    let name = page.file_stem().unwrap_or(page.as_os_str()).to_string_lossy();
    page.with_file_name(format!("{name}-runs"))
}

/// Opens the page in the default browser, without waiting for it.
fn open(page: &Path) -> std::io::Result<()> {
    let null = std::process::Stdio::null;
    std::process::Command::new("xdg-open")
        .arg(std::path::absolute(page)?)
        .stdin(null())
        .stdout(null())
        .stderr(null())
        .spawn()
        .map(drop)
}
