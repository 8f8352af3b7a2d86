//! The pages of single drives that are made from run files: the report of all runs, and the latest X-ray.

use super::known::Known;
use crate::commands::xray;
use crate::failure::Failure;
use crate::in_parallel;
use crate::output::{Format, Staged};
use ssdgauge_analysis::PageOptions;
use ssdgauge_analysis::bench::board::{Bench, BenchDrive};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A page that is made from run files.
struct Made {
    /// Its file, without the suffix.
    name: String,
    /// The ids of the runs that it shows.
    runs: Vec<String>,
    is_xray: bool,
}

impl Made {
    fn place(&self, folder: &Path) -> PathBuf {
        folder.join("drives").join(format!("{}.html", self.name))
    }
}

/// Returns the pages of `drive`, whose run files are in `sources` by the ids of their runs.
fn pages(bench: &Bench, drive: &BenchDrive, sources: &BTreeMap<String, PathBuf>) -> Vec<Made> {
    let records = drive.records.iter().map(|place| &bench.records[*place]);
    let (examined, measured): (Vec<_>, Vec<_>) = records
        .filter(|record| sources.contains_key(&record.id) && !record.is_other_xray)
        .partition(|record| record.xray.is_some());
    let report = measured.iter().map(|record| record.id.clone()).collect();
    let latest = examined.last().iter().map(|record| record.id.clone()).collect();
    let made = [("report", report, false), ("xray", latest, true)];
    let made = made.into_iter().map(|(what, runs, is_xray)| {
        let name = format!("{}-{what}", drive.slug);
        Made { name, runs, is_xray }
    });
    made.filter(|made: &Made| !made.runs.is_empty()).collect()
}

/// Returns the files of all pages of drives that are made from run files.
pub(super) fn places(
    folder: &Path,
    bench: &Bench,
    sources: &BTreeMap<String, PathBuf>,
) -> Vec<PathBuf> {
    let made = bench.drives.iter().flat_map(|drive| pages(bench, drive, sources));
    made.map(|made| made.place(folder)).collect()
}

/// Stages those pages whose runs have changed.
///
/// # Errors
///
/// Fails where a run file cannot be read, or a page cannot be written.
pub(super) fn stage(
    folder: &Path,
    bench: &Bench,
    sources: &BTreeMap<String, PathBuf>,
    known: &mut Known,
) -> Result<Vec<Staged>, Failure> {
    let all = bench.drives.iter().flat_map(|drive| pages(bench, drive, sources));
    let is_due =
        |made: &Made| !(known.has_report(&made.name, &made.runs) && made.place(folder).exists());
    let due: Vec<Made> = all.filter(is_due).collect();
    let write = |made: &Made| -> Result<Staged, Failure> {
        let files: Vec<&PathBuf> = made.runs.iter().filter_map(|id| sources.get(id)).collect();
        let page = match (made.is_xray, files.as_slice()) {
            (true, [file, ..]) => ssdgauge_page::xray_page(&xray::recorded(file)?),
            (_, files) => {
                let runs = files.iter().map(|file| ssdgauge_analysis::read(file));
                let runs = runs.collect::<Result<Vec<_>, _>>()?;
                ssdgauge_page::page(&runs, &PageOptions::default())
            }
        };
        Staged::write(&made.place(folder), Format::Page, &[], |file| {
            file.write_all(page.as_bytes())
        })
    };
    let staged = in_parallel::map(due.iter().collect(), write).into_iter();
    let staged = staged.collect::<Result<Vec<Staged>, Failure>>()?;
    due.into_iter().for_each(|made| known.set_report(&made.name, made.runs));
    Ok(staged)
}
