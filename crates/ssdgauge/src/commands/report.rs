//! `ssdgauge report`: the page and the other forms of results.

use crate::arguments;
use crate::failure::{Failure, Kind};
use crate::output::{self, Form};
use crate::page_file::{page_beside, write_page};
use crate::terminal;
use crate::text_file::read_text_file;
use ssdgauge_report::{PageOptions, Run, Specification};
use std::path::{Path, PathBuf};

/// Draws the report of run files, or prints their results.
pub(crate) fn report(arguments: &arguments::Report) -> Result<(), Failure> {
    let inputs = inputs(arguments);
    let wants_files = [&arguments.output, &arguments.svg, &arguments.png, &arguments.vega];
    let wants_text = arguments.json || arguments.csv || arguments.markdown || arguments.openmetrics;
    let page = match &arguments.output {
        Some(output) => Some(output.clone()),
        None if wants_text || wants_files.iter().any(|file| file.is_some()) => None,
        None => Some(page_beside(&arguments.files[0])),
    };
    if let Some(page) = &page {
        output::check(page, Form::Page, &inputs)?;
    }
    let mut runs = ssdgauge_report::read_all(&arguments.files)?;
    if let Some(percent) = arguments.fill_level {
        runs = at_fill_level(runs, percent)?;
    }
    let options = PageOptions {
        title: arguments.title.clone(),
        highlight: arguments
            .highlight
            .as_deref()
            .map(|words| highlighted(&runs, words))
            .transpose()?,
        specifications: specifications(&arguments.specifications, &runs)?,
    };
    if let Some(page) = &page {
        write_page(page, &inputs, &runs, &options)?;
        if arguments.output.is_none() {
            terminal::talk(&format!("report: {}", page.display()));
        }
    }
    write_pictures(arguments, &inputs, &runs, &options)?;
    let claims = &options.specifications;
    if arguments.json {
        let mut value = ssdgauge_report::json(&runs);
        if !claims.is_empty() {
            value["specifications"] = ssdgauge_report::claims_json(&runs, claims);
        }
        terminal::print(&format!("{value:#}\n"));
    } else if arguments.csv {
        terminal::print(&ssdgauge_report::csv(&runs));
    } else if arguments.markdown {
        terminal::print(&ssdgauge_report::markdown(&runs));
        terminal::print(&ssdgauge_report::claims_markdown(&runs, claims));
    } else if arguments.openmetrics {
        terminal::print(&ssdgauge_report::openmetrics(&runs));
    }
    Ok(())
}

/// Returns the files that a report is made from.
fn inputs(arguments: &arguments::Report) -> Vec<&Path> {
    arguments.files.iter().chain(&arguments.specifications).map(PathBuf::as_path).collect()
}

/// Ranks every ladder of fill levels at `percent`.
fn at_fill_level(runs: Vec<Run>, percent: f64) -> Result<Vec<Run>, Failure> {
    let mut levels: Vec<f64> = runs.iter().flat_map(Run::fill_levels).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    if !levels.contains(&percent) {
        let known: Vec<String> = levels.iter().map(|level| format!("{level}")).collect();
        let hint = match known.is_empty() {
            true => "run the suite fill-ladder: `ssdgauge run fill-ladder TARGET`".to_owned(),
            false => format!("the levels are {}", known.join(", ")),
        };
        let error = format!("no run was measured on a drive that was {percent} % full");
        return Err(Failure::new(Kind::Usage, error, hint));
    }
    Ok(runs.into_iter().map(|run| run.at_fill_level(percent)).collect())
}

fn highlighted(runs: &[Run], words: &str) -> Result<usize, Failure> {
    ssdgauge_report::find_run(runs, words).ok_or_else(|| {
        let names: Vec<&str> = runs.iter().map(|run| run.head.drive.name()).collect();
        let hint = format!(
            "name a run by its id, or a drive by a part of its name that no other has; the drives \
             are: {}",
            names.join(", ").escape_debug()
        );
        Failure::new(Kind::Usage, format!("'{}' names no drive", words.escape_debug()), hint)
    })
}

/// Reads spec files, and says which of them are about none of the drives.
fn specifications(files: &[PathBuf], runs: &[Run]) -> Result<Vec<Specification>, Failure> {
    let mut specifications = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let hint = "a spec file is TOML; docs/reports.md shows one";
        let text = read_text_file(&name).map_err(|error| Failure::new(Kind::Usage, error, hint))?;
        let specification = Specification::parse(&name, &text)?;
        if !specification.is_about(runs) {
            let model = specification.model.escape_debug();
            terminal::talk(&format!(
                "warning: {name} is about '{model}', and no run is of such a drive"
            ));
        }
        specifications.push(specification);
    }
    Ok(specifications)
}

/// Writes every chart into the folders that were asked for.
fn write_pictures(
    arguments: &arguments::Report,
    inputs: &[&Path],
    runs: &[Run],
    options: &PageOptions,
) -> Result<(), Failure> {
    if [&arguments.svg, &arguments.png, &arguments.vega].iter().all(|folder| folder.is_none()) {
        return Ok(());
    }
    let write = |folder: &Path, name: &str, form: Form, bytes: &[u8]| {
        std::fs::create_dir_all(folder).map_err(|error| {
            let text = format!("cannot create {}: {error}", folder.display());
            Failure::new(Kind::Broke, text, "the run files are untouched; choose another folder")
        })?;
        output::write(&folder.join(name), form, inputs, bytes)
    };
    for figure in ssdgauge_report::figures(runs, options) {
        if let Some(folder) = &arguments.svg {
            write(folder, &format!("{}.svg", figure.name), Form::Svg, figure.svg.as_bytes())?;
        }
        if let Some(folder) = &arguments.png {
            write(folder, &format!("{}.png", figure.name), Form::Png, &figure.png()?)?;
        }
        if let Some(folder) = &arguments.vega {
            let specification = format!("{:#}\n", figure.vega_lite());
            let name = format!("{}.vl.json", figure.name);
            write(folder, &name, Form::VegaLite, specification.as_bytes())?;
        }
    }
    Ok(())
}
