//! Files that commands write. One rule holds for all of them: no output replaces an input, a run
//! file, or anything that ssdgauge has not written itself.

use crate::failure::{Failure, Kind};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What a file is, so that an older one of the same form can be told from a stranger's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A report in HTML.
    Page,
    /// A chart as SVG.
    Svg,
    /// A chart as PNG.
    Png,
    /// A chart as a Vega-Lite specification.
    VegaLite,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Page => "report",
            Form::Svg | Form::Png | Form::VegaLite => "chart",
        }
    }

    /// Returns the bytes by which a file of this form that ssdgauge wrote is recognised.
    fn mark(self) -> &'static [u8] {
        match self {
            Form::Page => ssdgauge_report::PAGE_MARK.as_bytes(),
            Form::Svg => ssdgauge_report::SVG_MARK.as_bytes(),
            Form::Png => ssdgauge_report::PNG_MARK,
            Form::VegaLite => ssdgauge_report::VEGA_LITE_MARK.as_bytes(),
        }
    }

    /// Returns within how many first bytes the mark has to stand.
    fn marked_within(self) -> u64 {
        match self {
            Form::Page | Form::Svg | Form::Png => 4_096,
            // Its keys are in alphabetical order, so the mark comes behind the data.
            Form::VegaLite => 64 << 20,
        }
    }
}

/// Ends the name of a file that is not whole yet, after the number of its process.
const PARTIAL: &str = ".partial";

/// Refuses `path` where a file of `form` must not be written; `inputs` are the files that the
/// command reads. Nothing is written.
pub(crate) fn check(path: &Path, form: Form, inputs: &[&Path]) -> Result<(), Failure> {
    replaces(path, form, inputs).map(drop)
}

/// Writes a file of `form` with `bytes` at `path`, in the place of an older one of the same form
/// that may be there.
///
/// It is written under a new name first: no half file is ever seen, and a link is replaced, not
/// followed.
pub(crate) fn write(
    path: &Path,
    form: Form,
    inputs: &[&Path],
    bytes: &[u8],
) -> Result<(), Failure> {
    let replaces = replaces(path, form, inputs)?;
    put(path, bytes, replaces).map_err(|error| {
        let text = format!("cannot write {}: {error}", path.display());
        Failure::new(Kind::Broke, text, "the run files are untouched; choose another place")
    })
}

/// Returns whether there is a file at `path` that may be replaced.
fn replaces(path: &Path, form: Form, inputs: &[&Path]) -> Result<bool, Failure> {
    let refused = |what: &str| {
        let name = form.name();
        let text = format!("{} {what}, and is not replaced by a {name}", path.display());
        let hint = format!("nothing was written; name another file for the {name}");
        Err(Failure::new(Kind::Refused, text, hint))
    };
    if path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("ssdg")) {
        return refused("has the name of a run file");
    }
    if path.symlink_metadata().is_err() {
        return Ok(false);
    }
    let Ok(there) = path.metadata() else { return refused("is a link that leads nowhere") };
    let is_same = |input: &&Path| {
        input.metadata().is_ok_and(|input| (input.dev(), input.ino()) == (there.dev(), there.ino()))
    };
    if inputs.iter().any(is_same) {
        return refused("is read by this command");
    }
    if !there.is_file() {
        return refused("is no regular file");
    }
    let mut head = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(form.marked_within()).read_to_end(&mut head));
    let mark = form.mark();
    match read.is_ok() && head.windows(mark.len()).any(|bytes| bytes == mark) {
        true => Ok(true),
        false => refused("exists and was not written by ssdgauge"),
    }
}

fn put(path: &Path, bytes: &[u8], replaces: bool) -> io::Result<()> {
    // Half files of killed writers; one that cannot be removed does no harm.
    for left in ssdgauge_runfile::stale_temp_files(path, PARTIAL) {
        let _ = std::fs::remove_file(left);
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}{PARTIAL}", std::process::id()));
    let partial = Path::new(&partial);
    let mut file = File::create_new(partial)?;
    let result = file.write_all(bytes).and_then(|()| match replaces {
        true => std::fs::rename(partial, path),
        false => name_anew(partial, path),
    });
    if result.is_err() {
        // It is ours; the error that is reported is the first one.
        let _ = std::fs::remove_file(partial);
    }
    result
}

/// Gives the file `partial` the name `path`, which must still be free: a second name fails where
/// another program has taken it since the check, which a rename would replace.
fn name_anew(partial: &Path, path: &Path) -> io::Result<()> {
    match std::fs::hard_link(partial, path) {
        Ok(()) => std::fs::remove_file(partial),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Not every file system has second names.
        Err(_) => std::fs::rename(partial, path),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_page_leaves_no_half_file_of_a_killed_writer_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        // No process has a number that large; process 1 lives.
        for name in ["a.html.4194305.partial", "a.html.1.partial", "b.html.4194305.partial"] {
            std::fs::write(folder.path().join(name), "half").unwrap();
        }
        write(&path, Form::Page, &[], b"whole").unwrap();
        let mut names: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.html", "a.html.1.partial", "b.html.4194305.partial"]);
    }

    #[test]
    fn only_older_files_of_the_same_form_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let forms = [Form::Page, Form::Svg, Form::Png, Form::VegaLite];
        for form in forms {
            let own = file("own", &[b"<x>", form.mark()].concat());
            write(&own, form, &[], b"new").unwrap();
            assert_eq!(std::fs::read(&own).unwrap(), b"new");
            for other in forms.into_iter().filter(|other| *other != form) {
                let foreign = file("foreign", other.mark());
                assert!(write(&foreign, form, &[], b"new").is_err());
                assert_eq!(std::fs::read(&foreign).unwrap(), other.mark());
            }
        }
        let mark = Form::Page.mark();
        let late = file("late", &[&vec![b' '; Form::Page.marked_within() as usize], mark].concat());
        let run_file = file("a.SSDG", mark);
        let input = file("input.html", mark);
        let linked = folder.path().join("second.html");
        std::fs::hard_link(&input, &linked).unwrap();
        let link = folder.path().join("link.html");
        std::os::unix::fs::symlink(&input, &link).unwrap();
        let nowhere = folder.path().join("nowhere.html");
        std::os::unix::fs::symlink("missing", &nowhere).unwrap();
        for path in [&late, &run_file, &input, &linked, &link, &nowhere, &folder.path().to_owned()]
        {
            let error = write(path, Form::Page, &[&input], b"new").unwrap_err();
            assert!(error.hint.contains("nothing was written"), "{}", error.error);
        }
        assert_eq!(std::fs::read(&input).unwrap(), mark);
        assert!(!folder.path().join("missing").exists());
        // A link to an older report is replaced itself.
        write(&link, Form::Page, &[], b"new").unwrap();
        assert!(!link.is_symlink());
        assert_eq!(std::fs::read(&input).unwrap(), mark);
    }

    #[test]
    fn a_name_that_was_taken_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        std::fs::write(&path, "theirs").unwrap();
        assert!(put(&path, b"ours", false).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
}
