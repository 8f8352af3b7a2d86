//! `ssdgauge report`: the page, the charts and the exports of run files.

mod cohort;
mod notes;
mod xrays;

use crate::arguments;
use crate::commands::{prove, xray};
use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format, Staged};
use crate::page_file::{page_next_to, rest_of, write_page};
use crate::run_files;
use crate::settings;
use crate::text_file::read_text_file;
use ssdgauge_analysis::{PageOptions, Run, Specification};
use ssdgauge_page::{Ground, NamedFigure};
use ssdgauge_watch::terminal;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes the report of run files, or prints their results.
///
/// # Errors
///
/// Fails where an input cannot be read, an option has no counterpart in the runs, or an output must
/// not or cannot be written.
pub(crate) fn execute(arguments: &arguments::ReportArguments) -> Result<(), Failure> {
    let cohort = arguments.cohort.as_deref().map(cohort::files).transpose()?.unwrap_or_default();
    // What the settings name is used where it fits; what an option names has to.
    let settings = settings::current();
    let notes = arguments.notes.as_deref().or(settings.notes.as_deref());
    let mut inputs = inputs(arguments);
    inputs.extend(cohort.iter().map(PathBuf::as_path).chain(notes));
    let wants_files = [&arguments.output, &arguments.svg, &arguments.png, &arguments.share_image];
    let wants_text = arguments.json
        || arguments.csv
        || arguments.markdown
        || arguments.openmetrics
        || arguments.embed.is_some();
    let page = match &arguments.output {
        Some(output) => Some(output.clone()),
        None if wants_text || wants_files.iter().any(|file| file.is_some()) => None,
        None => Some(page_next_to(&arguments.files[0])),
    };
    if let Some(page) = &page {
        check_suffix(page)?;
        output::check(page, Format::Page, &inputs)?;
    }
    if let Some(image) = &arguments.share_image {
        output::check(image, Format::Png, &inputs)?;
    }
    for folder in [&arguments.svg, &arguments.png].into_iter().flatten() {
        output::check_output_folder(folder)?;
    }
    let all = match arguments.recompute {
        true => ssdgauge_analysis::read_all(&arguments.files)?,
        false => ssdgauge_analysis::read_all_by_digests(&arguments.files)?,
    };
    let (mut runs, left_out) = run_files::once_each(&arguments.files, all);
    if print_card(arguments, &runs)? {
        return Ok(());
    }
    let mut xrays = Vec::new();
    if page.is_some() {
        let files = arguments.files.iter().enumerate();
        let counted = files.filter(|(place, _)| !left_out.contains(place));
        let counted = counted.map(|(_, file)| file.clone()).collect();
        (runs, xrays) = xrays::taken_out(counted, runs)?;
    }
    if let Some(percent) = arguments.fill_level {
        runs = at_fill_level(runs, percent)?;
    }
    if arguments.cohort.is_some() {
        cohort::check(&runs)?;
    }
    let usual = settings.cohort.as_deref();
    let usual = usual.filter(|_| arguments.cohort.is_none() && cohort::check(&runs).is_ok());
    let usual = usual.map(cohort::files).transpose()?.unwrap_or_default();
    inputs.extend(usual.iter().map(PathBuf::as_path));
    let cohort = if usual.is_empty() { &cohort } else { &usual };
    let is_quick = !cohort.is_empty() && cohort::has_quick(&runs);
    let has_background = !cohort.is_empty() && !is_quick;
    if arguments.compare_labels {
        check_labels(&runs)?;
    }
    let options = PageOptions {
        title: arguments.title.clone(),
        highlight: arguments
            .highlight
            .as_deref()
            .map(|name| find_highlighted(&runs, name))
            .transpose()?,
        specifications: read_specifications(&arguments.specifications, &runs)?,
        compare_labels: arguments.compare_labels,
        notes: notes.map(|file| notes::read(file, &runs)).transpose()?,
        xrays,
        script: arguments.script,
        rest: match runs.as_slice() {
            [run] if !run.complete => arguments.files.first().and_then(|file| rest_of(file)),
            [] | [_, ..] => None,
        },
        cohort: is_quick.then(|| cohort::read(cohort)).transpose()?,
        background: match has_background.then(|| cohort::background(cohort, &runs)) {
            // The folder of the settings need not fit.
            Some(Err(_)) if arguments.cohort.is_none() => None,
            background => background.transpose()?,
        },
        progress: None,
        address: arguments.url.clone(),
        share_image: arguments.share_image.as_deref().and_then(file_name),
    };
    let figures = figures(arguments, &runs, &options)?;
    check_figures(arguments, &inputs, &figures)?;
    let staged = stage_figures(arguments, &inputs, &figures)?;
    if let Some(page) = &page {
        write_page(page, &inputs, &runs, &options)?;
        terminal::print_message(&format!("report: {}", page.display()));
    }
    output::take_names(&staged)?;
    let folders = [&arguments.svg, &arguments.png].into_iter().flatten();
    for folder in folders.filter(|_| !figures.is_empty()) {
        let (sheet, count) = (folder.join("index.html"), figures.len());
        terminal::print_message(&format!(
            "pictures: {count} charts, listed in {}",
            sheet.display()
        ));
    }
    if let Some(image) = &arguments.share_image {
        let png = ssdgauge_page::share_image(&runs, &options);
        output::write(image, Format::Png, &inputs, &png)?;
    }
    print_text(arguments, &runs, &options)
}

/// Refuses a name whose suffix asks for another form than a page, with what makes that one.
fn check_suffix(page: &Path) -> Result<(), Failure> {
    let suffix = page.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let instead = match suffix.as_str() {
        "pdf" => {
            "write the page as .html and print it to PDF: in a browser, or with `chromium --headless \
             --print-to-pdf=FILE.pdf PAGE.html`; it has a layout for paper"
        }
        "png" => "`--share-image FILE.png` writes one image, `--png FOLDER` every chart",
        "svg" => "`--svg FOLDER` writes every chart",
        "json" => "`report --json` prints it: add `> FILE.json`",
        "csv" => "`report --csv` prints it: add `> FILE.csv`",
        "md" => "`report --markdown` prints it: add `> FILE.md`",
        _ => return Ok(()),
    };
    let text = format!("{} is not a name of a page, which is HTML", page.display());
    Err(Failure::new(FailureKind::Usage, text, format!("nothing was written; {instead}")))
}

/// Prints the card of a proof or of an X-ray, which have no measurements for a chart or a table; returns false where
/// `runs` are others, or the page of a proof is asked for, which shows it in its list of runs.
///
/// # Errors
///
/// Refuses every other form.
pub(super) fn print_card(
    arguments: &arguments::ReportArguments,
    runs: &[Run],
) -> Result<bool, Failure> {
    let ([file], [run]) = (arguments.files.as_slice(), runs) else { return Ok(false) };
    let is_xray = run.head.plan.suite.id == ssdgauge_runfile::XRAY_SUITE;
    let what = match is_xray {
        true => "an X-ray",
        false if run.head.plan.suite.id == ssdgauge_runfile::PROOF_SUITE => {
            "a proof of the capacity"
        }
        false => return Ok(false),
    };
    let asked = [
        ("charts (--svg)", arguments.svg.is_some()),
        ("charts (--png)", arguments.png.is_some()),
        ("image to share (--share-image)", arguments.share_image.is_some()),
        ("parts of a page (--embed)", arguments.embed.is_some()),
        ("CSV (--csv)", arguments.csv),
        ("Markdown (--markdown)", arguments.markdown),
        ("metrics (--openmetrics)", arguments.openmetrics),
        ("claims of a spec file (--spec)", !arguments.specifications.is_empty()),
        ("notes (--notes)", arguments.notes.is_some()),
        ("band of a class (--cohort)", arguments.cohort.is_some()),
    ];
    match asked.iter().find(|(_, is_asked)| *is_asked) {
        Some((form, _)) => Err(Failure::new(
            FailureKind::Usage,
            format!("{} is {what}, which has no {form}", file.display()),
            "nothing was written; its forms are the card (without an option), --json and -o FILE; pictures of an X-ray \
             are made by `ssdgauge xray --from FILE --picture FILE`, and its stated figures are judged with --spec FILE",
        )),
        None if is_xray => {
            xray::print_recorded(file, arguments.output.as_deref(), arguments.json).map(|()| true)
        }
        None if arguments.output.is_some() && !arguments.json => Ok(false),
        None => prove::print_recorded(file, arguments.json),
    }
}

/// Prints the text that an option asks for.
fn print_text(
    arguments: &arguments::ReportArguments,
    runs: &[Run],
    options: &PageOptions,
) -> Result<(), Failure> {
    let specifications = &options.specifications;
    if !specifications.is_empty() && (arguments.csv || arguments.openmetrics) {
        let words = "CSV and OpenMetrics have no claims; JSON (--json), Markdown and pages do";
        terminal::print_message(words);
    }
    if arguments.notes.is_some() && (arguments.json || arguments.csv || arguments.openmetrics) {
        let words = "JSON, CSV and OpenMetrics have no notes; Markdown (--markdown) and pages do";
        terminal::print_message(words);
    }
    if let Some(id) = &arguments.embed {
        terminal::print(&fragment(runs, options, id)?);
    } else if arguments.json {
        let cohort = options.cohort.as_ref();
        let value = ssdgauge_export::report_json(runs, cohort, specifications);
        terminal::print_json(&value);
    } else if arguments.csv {
        terminal::print(&ssdgauge_export::csv(runs));
    } else if arguments.markdown {
        terminal::print(&match &options.notes {
            Some(notes) => ssdgauge_export::markdown_with_notes(runs, notes),
            None => ssdgauge_export::markdown(runs),
        });
        terminal::print(&ssdgauge_export::claims_markdown(runs, specifications));
    } else if arguments.openmetrics {
        terminal::print(&ssdgauge_export::openmetrics(runs));
    }
    Ok(())
}

/// Returns the part of the page with the anchor `id`.
fn fragment(runs: &[Run], options: &PageOptions, id: &str) -> Result<String, Failure> {
    let id = id.strip_prefix('#').unwrap_or(id);
    ssdgauge_page::fragment(runs, options, id).map_err(|anchors| {
        let error = format!("the page has no part '{}'", id.escape_debug());
        let hint = format!("the parts are {}", anchors.join(", "));
        Failure::new(FailureKind::Usage, error, hint)
    })
}

/// Returns the files that a report is made from.
fn inputs(arguments: &arguments::ReportArguments) -> Vec<&Path> {
    let files = arguments.files.iter().chain(&arguments.specifications).chain(&arguments.notes);
    files.map(PathBuf::as_path).collect()
}

/// Returns the runs with the headlines of all tests that sweep the fill level taken at `percent`.
fn at_fill_level(runs: Vec<Run>, percent: f64) -> Result<Vec<Run>, Failure> {
    let mut levels: Vec<f64> = runs.iter().flat_map(Run::fill_levels).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    if !levels.contains(&percent) {
        let measured: Vec<String> = levels.iter().map(|level| format!("{level}")).collect();
        let hint = match measured.is_empty() {
            true => "measure it with the suite fill-ladder: `ssdgauge run fill-ladder TARGET`"
                .to_owned(),
            false => format!("the measured fill levels are {}", measured.join(", ")),
        };
        let error = format!("no run has results of a drive that was {percent} % full");
        return Err(Failure::new(FailureKind::Usage, error, hint));
    }
    Ok(runs.into_iter().map(|run| run.at_fill_level(percent)).collect())
}

/// Checks that `runs` are of one drive and have labels that differ.
fn check_labels(runs: &[Run]) -> Result<(), Failure> {
    match ssdgauge_analysis::compared_labels(runs) {
        Ok(_) => Ok(()),
        Err(error) => {
            let hint = "give runs of one drive, each started with `ssdgauge run --label TEXT`";
            Err(Failure::new(FailureKind::Usage, error.to_string(), hint))
        }
    }
}

/// Returns the index of the run whose drive is highlighted.
fn find_highlighted(runs: &[Run], name: &str) -> Result<usize, Failure> {
    ssdgauge_analysis::find_run(runs, name).ok_or_else(|| {
        let names: Vec<&str> = runs.iter().map(|run| run.head.drive.name()).collect();
        let hint = format!(
            "use a run ID, or a part of the drive name that no other drive has; the drives are: \
             {}",
            names.join(", ").escape_debug()
        );
        Failure::new(
            FailureKind::Usage,
            format!("'{}' matches no drive, or several", name.escape_debug()),
            hint,
        )
    })
}

/// Reads spec files, and warns of those that match none of the drives.
fn read_specifications(files: &[PathBuf], runs: &[Run]) -> Result<Vec<Specification>, Failure> {
    let mut specifications = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let hint = "a spec file is TOML; docs/reference/notes-and-specs.md shows one";
        let text =
            read_text_file(&name).map_err(|error| Failure::new(FailureKind::Usage, error, hint))?;
        let specification = Specification::parse(&name, &text)?;
        if !specification.is_about(runs) {
            let model = specification.model.escape_debug();
            terminal::print_message(&format!(
                "warning: {name} is for '{model}', and no run has such a drive"
            ));
        }
        specifications.push(specification);
    }
    Ok(specifications)
}

/// Returns the charts of `runs`, none where no option asks for them.
///
/// # Errors
///
/// Refuses runs without a chart.
fn figures(
    arguments: &arguments::ReportArguments,
    runs: &[Run],
    options: &PageOptions,
) -> Result<Vec<NamedFigure>, Failure> {
    if [&arguments.svg, &arguments.png].iter().all(|folder| folder.is_none()) {
        return Ok(Vec::new());
    }
    let figures = ssdgauge_page::figures(runs, options);
    match figures.is_empty() {
        false => Ok(figures),
        true => {
            let hint = match runs.iter().all(|run| run.head.imported_from().is_some()) {
                true => "nothing was written; omit --svg and --png",
                false => {
                    "nothing was written; omit --svg and --png, or continue with `ssdgauge resume`"
                }
            };
            let text = "no chart to draw: no step that has one has finished";
            Err(Failure::new(FailureKind::Usage, text, hint))
        }
    }
}

/// The suffix of an SVG file on dark ground.
const DARK_SVG: &str = ".dark.svg";
/// The suffixes of PNG files, each with its ground and its pixels for each unit.
const PNG: [(&str, Ground, u8); 4] = [
    (".png", Ground::Light, 1),
    ("@2x.png", Ground::Light, 2),
    (".dark.png", Ground::Dark, 1),
    (".dark@2x.png", Ground::Dark, 2),
];

/// Checks that every file of [`stage_figures`] may be written, before the first one is.
fn check_figures(
    arguments: &arguments::ReportArguments,
    inputs: &[&Path],
    figures: &[NamedFigure],
) -> Result<(), Failure> {
    let of_png = PNG.map(|(suffix, ..)| suffix);
    let forms = [
        (&arguments.svg, &[".svg", DARK_SVG][..], Format::Svg),
        (&arguments.png, &of_png[..], Format::Png),
    ];
    for (folder, suffixes, format) in forms {
        // A folder that is made has no file yet.
        let Some(folder) = folder.as_deref().filter(|folder| folder.is_dir()) else { continue };
        output::check(&folder.join("index.html"), Format::Page, inputs)?;
        for (figure, suffix) in
            figures.iter().flat_map(|one| suffixes.iter().map(move |end| (one, end)))
        {
            output::check(&folder.join(format!("{}{suffix}", figure.name)), format, inputs)?;
        }
    }
    Ok(())
}

/// Writes every chart and their list for the folders of `--svg` and `--png`, without giving them their names: a full disk
/// leaves the folders as they were.
fn stage_figures(
    arguments: &arguments::ReportArguments,
    inputs: &[&Path],
    figures: &[NamedFigure],
) -> Result<Vec<Staged>, Failure> {
    let mut staged = Vec::new();
    let mut stage = |folder: &Path, name: &str, format: Format, bytes: &[u8]| {
        output::create_folders(folder)?;
        let path = folder.join(name);
        staged.push(Staged::write(&path, format, inputs, |file| file.write_all(bytes))?);
        Ok::<(), Failure>(())
    };
    if let Some(folder) = &arguments.svg {
        for figure in figures {
            let name = &figure.name;
            stage(folder, &format!("{name}.svg"), Format::Svg, figure.svg.as_bytes())?;
            stage(folder, &format!("{name}{DARK_SVG}"), Format::Svg, figure.dark_svg().as_bytes())?;
        }
    }
    if let Some(folder) = &arguments.png {
        for figure in figures {
            for (suffix, ground, density) in PNG {
                let name = format!("{}{suffix}", figure.name);
                stage(folder, &name, Format::Png, &figure.png(ground, density))?;
            }
        }
    }
    // One list for each folder, also where both forms are in one.
    let of_svg = (&arguments.svg, &[".svg", DARK_SVG][..], DARK_SVG);
    let of_png = (&arguments.png, &PNG.map(|(suffix, ..)| suffix)[..], PNG[2].0);
    let is_one = arguments.svg == arguments.png;
    let both = [of_svg.1, of_png.1].concat();
    let lists = if is_one { vec![(of_svg.0, &both[..], DARK_SVG)] } else { vec![of_svg, of_png] };
    for (folder, suffixes, dark) in lists {
        if let Some(folder) = folder.as_deref().filter(|_| !figures.is_empty()) {
            let sheet = ssdgauge_page::contact_sheet(figures, suffixes, dark);
            stage(folder, "index.html", Format::Page, sheet.as_bytes())?;
        }
    }
    Ok(staged)
}

/// Returns the name of `path`, where it is text.
fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}
