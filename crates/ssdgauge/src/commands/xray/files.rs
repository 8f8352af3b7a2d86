//! The files of an X-ray next to its record: its page and its picture.

use crate::arguments::XrayArguments;
use crate::failure::{Failure, FailureKind};
use crate::output::{self, Format};
use ssdgauge_page::{xray_page, xray_png, xray_svg};
use ssdgauge_watch::terminal;
use ssdgauge_xray::CheckedCard;
use std::path::{Path, PathBuf};

/// The files that were asked for, none of which may replace a stranger's file.
#[derive(Debug)]
pub(super) struct Files<'a> {
    out: Option<&'a Path>,
    page: Option<&'a Path>,
    picture: Option<(&'a Path, Format)>,
    from: Option<&'a Path>,
}

impl<'a> Files<'a> {
    /// Checks the files of `arguments`. Nothing is written.
    ///
    /// # Errors
    /// A file cannot or must not be written, or they lie in several folders: an X-ray of a drive can write into one
    /// alone, once it has dropped its privileges.
    pub(super) fn check(arguments: &'a XrayArguments) -> Result<Files<'a>, Failure> {
        let from = arguments.from.as_deref();
        let inputs: Vec<&Path> = from.into_iter().collect();
        let out = arguments.out.as_deref();
        let page = arguments.page.as_deref();
        if let Some(page) = page {
            output::check(page, Format::Page, &inputs)?;
        }
        let picture = match arguments.picture.as_deref() {
            Some(path) => Some((path, format_of(path)?)),
            None => None,
        };
        if let Some((path, format)) = picture {
            output::check(path, format, &inputs)?;
        }
        let files = Files { out, page, picture, from };
        // Without a name, the run file is one in the current folder.
        let run = out.unwrap_or(Path::new("xray.ssdg"));
        let mut folders: Vec<PathBuf> = files.all().chain([run]).filter_map(folder_of).collect();
        folders.sort();
        folders.dedup();
        match folders.len() > 1 && from.is_none() {
            true => Err(Failure::new(
                FailureKind::Usage,
                "the run file, the page and the picture lie in several folders",
                "nothing was written; name files in one folder: an X-ray writes into one alone",
            )),
            false => Ok(files),
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &'a Path> {
        let picture = self.picture.map(|picture| picture.0);
        [self.out, self.page, picture].into_iter().flatten()
    }

    /// Writes the page and the picture of `card`.
    ///
    /// # Errors
    /// A file cannot be written, or the picture cannot be drawn.
    pub(super) fn write(&self, card: &CheckedCard) -> Result<(), Failure> {
        let inputs: Vec<&Path> = self.from.into_iter().collect();
        if let Some(path) = self.page {
            output::write(path, Format::Page, &inputs, xray_page(card).as_bytes())?;
            terminal::print_message(&format!("page: {}", path.display()));
        }
        if let Some((path, format)) = self.picture {
            let is_png = format == Format::Png;
            let bytes = if is_png { xray_png(card) } else { xray_svg(card).into_bytes() };
            output::write(path, format, &inputs, &bytes)?;
            terminal::print_message(&format!("picture: {}", path.display()));
        }
        Ok(())
    }
}

/// Returns the folder of `path` by its whole name; it exists.
fn folder_of(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let here = Path::new(".");
    std::fs::canonicalize(if folder.as_os_str().is_empty() { here } else { folder }).ok()
}

/// Returns the format of a picture, by the suffix of its name.
fn format_of(path: &Path) -> Result<Format, Failure> {
    match path.extension().and_then(|suffix| suffix.to_str()) {
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        Some(_) | None => Err(Failure::new(
            FailureKind::Usage,
            format!("{} is neither an .svg nor a .png file", path.display()),
            "nothing was written; give the picture a name that ends with .svg or .png",
        )),
    }
}
