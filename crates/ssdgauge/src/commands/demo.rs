//! `ssdgauge demo`: comparative reviews of virtual drives.
//!
//! It never opens a real drive, and marks all of its results MODEL.

use crate::arguments;
use crate::commands::site;
use crate::failure::{Failure, FailureKind};
use crate::process::{self, StopFlag};
use crate::virtual_runs::{self, VirtualRun};
use crate::{browser, page_file, suite_options};
use ssdgauge_analysis::PageOptions;
use ssdgauge_core::Rig;
use ssdgauge_lab::Options;
use ssdgauge_sim::VirtualRig;
use ssdgauge_watch::terminal;
use std::path::{Path, PathBuf};

/// One page: its suites on each of its drives. The capacity limits the time: a fill of 64 GB takes seconds,
/// and spare area and caches scale with it.
struct Review {
    /// What the name of its file ends with; empty for the only page.
    name: &'static str,
    /// Each suite with the tests of it; all without any.
    suites: &'static [(&'static str, &'static [&'static str])],
    /// The drives behind `sim:`.
    drives: &'static [&'static str],
}

/// One drive of each class, with published figures of a drive where there is such a profile. The last one begins:
/// it completes the maximum number of requests.
const TOUR: [Review; 1] = [Review {
    name: "",
    suites: &[("demo", &[])],
    drives: &[
        "qlc-client?capacity=64GB",
        "like-dc500m?capacity=64GB",
        "like-970-evo-500gb?capacity=64GB",
        "like-983-dct?capacity=64GB",
        "like-960-pro?capacity=64GB",
        "like-900p?capacity=64GB",
    ],
}];

/// Two reviews whole: the protocols of 2018 and of 2019 on the drives of the articles.
const REVIEWS: [Review; 2] = [
    Review {
        name: "client-2018",
        suites: &[("client-2018", &[])],
        drives: &[
            "like-970-evo-500gb?capacity=64GB",
            "like-970-evo-1tb?capacity=64GB",
            "like-pm981?capacity=64GB",
            "like-960-pro?capacity=64GB",
            "like-960-evo?capacity=64GB",
            "like-wd-black?capacity=64GB",
        ],
    },
    Review {
        name: "servers-2019",
        suites: &[("enterprise-2019", &[]), ("act", &["act-5"])],
        drives: &[
            "like-dc500r?capacity=64GB",
            "like-dc500m?capacity=64GB",
            "like-883-dct?capacity=64GB",
            "like-860-dct?capacity=64GB",
        ],
    },
];

/// The seed of drives and requests.
const SEED: u64 = 1;

/// What an interruption advises.
const AGAIN: &str = "start it again; the run files of this one are kept";

/// Runs the suites of the demonstration on its drives and writes its pages.
///
/// # Errors
///
/// Refuses existing outputs; fails where a run fails, is interrupted, or an output cannot be written.
pub(crate) fn execute(arguments: &arguments::DemoArguments) -> Result<(), Failure> {
    let now = process::unix_ms();
    let output = arguments.output.clone().unwrap_or_else(|| {
        PathBuf::from(format!("ssdgauge-demo-{}.html", process::file_timestamp(now)))
    });
    let reviews: &[Review] = if arguments.reviews { &REVIEWS } else { &TOUR };
    let folder = next_to(&output, "runs");
    let pages: Vec<PathBuf> = reviews.iter().map(|review| page_of(&output, review)).collect();
    for path in pages.iter().chain([&folder]) {
        if path.symlink_metadata().is_ok() {
            return Err(refused(format!("{} exists already", path.display())));
        }
    }
    for page in &pages {
        page_file::check_page(page, &[])?;
    }
    let mut runs_of = Vec::new();
    for review in reviews {
        runs_of.push(plan(review, &folder)?);
    }
    // Without its parents: a mistyped folder is not created.
    ssdgauge_os::outputs::create_folder(&folder)
        .map_err(|error| refused(format!("cannot create {}: {error}", folder.display())))?;
    let stop = StopFlag::new();
    stop.listen()?;
    let all = runs_of.iter().map(Vec::len).sum::<usize>();
    terminal::print_message(&format!(
        "demo: {all} runs of virtual drives (MODEL), run files in {}",
        folder.display()
    ));
    let files: Vec<Vec<PathBuf>> = runs_of
        .iter()
        .map(|runs| runs.iter().map(|run: &VirtualRun| run.file.clone()).collect())
        .collect();
    virtual_runs::run_all(runs_of.into_iter().flatten().collect(), &stop, now, AGAIN)?;
    terminal::print_message(&format!("run files: {}", folder.display()));
    if arguments.site {
        site::write(
            std::slice::from_ref(&folder),
            &next_to(&output, "site"),
            "Virtual drives",
            None,
        )?;
    }
    for (page, files) in pages.iter().zip(&files) {
        let runs = ssdgauge_analysis::read_all(files)?;
        page_file::write_page(page, &[], &runs, &PageOptions::default())?;
        terminal::print_message(&format!("report:    {}", page.display()));
        if terminal::has_desktop() {
            browser::show(page);
        }
    }
    Ok(())
}

fn refused(text: String) -> Failure {
    let hint = "nothing was written; name another page with -o FILE";
    Failure::new(FailureKind::Refused, text, hint)
}

/// Plans the runs of `review`, with their files in `folder`.
fn plan(review: &Review, folder: &Path) -> Result<Vec<VirtualRun>, Failure> {
    let mut runs = Vec::new();
    for (suite, only) in review.suites {
        let suite = suite_options::find_suite(suite)?;
        for drive in review.drives {
            let rig = VirtualRig::open(drive, SEED).map_err(|error| {
                let hint = "this is a bug in ssdgauge: please report it";
                Failure::new(FailureKind::Failed, error.to_string(), hint)
            })?;
            let only = only.iter().map(|test| (*test).to_owned()).collect();
            let options = Options { only, ..Options::default() };
            let plan = ssdgauge_lab::plan(&suite, rig.drive(), &options)?;
            let name =
                rig.drive().name().to_lowercase().replace(|c: char| !c.is_alphanumeric(), "-");
            let name = name.trim_start_matches("model-");
            let suite = if suite.id == "demo" { String::new() } else { format!("-{}", suite.id) };
            let file = folder.join(format!("{name}{suite}.ssdg"));
            let (in_progress, target) = (file.clone(), (*drive).to_owned());
            runs.push(VirtualRun { file, in_progress, target, seed: SEED, plan });
        }
    }
    Ok(runs)
}

/// Returns the file of the page of `review`: `NAME-REVIEW.html` where there are several.
fn page_of(output: &Path, review: &Review) -> PathBuf {
    if review.name.is_empty() {
        return output.to_owned();
    }
    let stem = output.file_stem().unwrap_or(output.as_os_str()).to_string_lossy();
    output.with_file_name(format!("{stem}-{}.html", review.name))
}

/// Returns the folder of `what` next to a page: `NAME-runs` next to `NAME.html`.
fn next_to(page: &Path, what: &str) -> PathBuf {
    let name = page.file_stem().unwrap_or(page.as_os_str()).to_string_lossy();
    page.with_file_name(format!("{name}-{what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_run_of_both_reviews_is_planned_and_has_a_file_of_its_own() {
        let folder = Path::new("runs");
        let runs: Vec<VirtualRun> =
            REVIEWS.iter().flat_map(|review| plan(review, folder).unwrap()).collect();
        let files: BTreeSet<&PathBuf> = runs.iter().map(|run| &run.file).collect();
        assert_eq!((runs.len(), files.len()), (14, 14));
        assert!(runs.iter().all(|run| run.plan.steps().count() > 0));
        let pages = REVIEWS.each_ref().map(|review| page_of(Path::new("a/b.html"), review));
        assert_eq!(pages, ["a/b-client-2018.html", "a/b-servers-2019.html"].map(PathBuf::from));
        assert_eq!(page_of(Path::new("b.html"), &TOUR[0]), Path::new("b.html"));
    }
}
