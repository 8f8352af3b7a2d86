//! Failures of a command: an error, a hint and an exit code.
//!
//! The exact errors of the crates become a [`Failure`] here and nowhere else, so that every hint
//! is in one file. A hint of a command that could have written to a drive reports whether it did.

#[cfg(target_os = "linux")]
mod conduct;
#[cfg(target_os = "linux")]
mod lost;
mod rig;
mod run_file;
#[cfg(target_os = "linux")]
mod target;
mod xray;

use crate::suggestion;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::{Deserialize, Serialize};
use ssdgauge_analysis::{CompareError, InputError, ReportError};
use ssdgauge_lab::{PlanError, ProofError, SuiteError, WearError};
use ssdgauge_runfile::RunFileError;
use ssdgauge_watch::terminal;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

/// The kinds of failure; the kind alone decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FailureKind {
    /// The run or another action failed.
    Failed,
    /// The command line or an input file is invalid.
    Usage,
    /// Refused, and nothing was written to the drive.
    Refused,
    /// A criterion was not met.
    Criterion,
    /// Interrupted; the run can be resumed.
    Interrupted,
    /// Another run uses the drive or the run file; nothing was written.
    Busy,
    /// The measurements vary too much for a verdict.
    Undecided,
}

/// A failure of a command, as it is printed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) error: String,
    pub(crate) hint: String,
    /// The lines of the input file around the error, drawn with a marker.
    excerpt: Option<String>,
}

impl FailureKind {
    /// Returns the exit code.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            FailureKind::Failed => 1,
            FailureKind::Usage => 2,
            FailureKind::Refused => 3,
            FailureKind::Criterion => 4,
            FailureKind::Interrupted | FailureKind::Busy | FailureKind::Undecided => 75,
        }
    }

    /// Returns the rank among the failures of several runs, of which the lowest decides the exit code.
    pub(crate) fn rank(self) -> u8 {
        match self {
            FailureKind::Failed => 0,
            FailureKind::Refused => 1,
            FailureKind::Usage => 2,
            FailureKind::Criterion => 3,
            FailureKind::Interrupted | FailureKind::Busy | FailureKind::Undecided => 4,
        }
    }
}

impl Failure {
    /// Returns a failure without an excerpt of a file.
    pub(crate) fn new(
        kind: FailureKind,
        error: impl Into<String>,
        hint: impl Into<String>,
    ) -> Failure {
        Failure { kind, error: error.into(), hint: hint.into(), excerpt: None }
    }

    /// Returns the failure about the part `span` of the `text` of `file`.
    pub(crate) fn in_file(
        file: &str,
        text: &str,
        span: Range<usize>,
        error: String,
        hint: &str,
    ) -> Failure {
        let excerpt = excerpt(file, text, span);
        Failure { excerpt, ..Failure::new(FailureKind::Usage, error, hint) }
    }

    /// Returns the failure to create the run file of a new run. Nothing has been written to the drive
    /// then, and there is no run to continue.
    pub(crate) fn before_the_run(error: RunFileError) -> Failure {
        match Failure::from(error) {
            Failure { kind: FailureKind::Interrupted, error, .. } => Failure::new(
                FailureKind::Refused,
                error,
                "nothing was written to the drive; free disk space for the run file, or name another \
                 --out",
            ),
            other => other,
        }
    }

    /// Returns the failure to create the output `path`, of which nothing is left.
    pub(crate) fn not_created(path: &Path, error: &std::io::Error) -> Failure {
        if ssdgauge_os::outputs::is_among_device_nodes(error) {
            let hint = "nothing was written; name a file in another folder";
            return Failure::new(FailureKind::Refused, error.to_string(), hint);
        }
        let text = format!("cannot write {}: {error}", path.display());
        let is_forbidden =
            matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem);
        let (kind, hint) = match is_forbidden {
            true => {
                (FailureKind::Refused, "nothing was written; name a folder that you may write to")
            }
            false => (FailureKind::Failed, "no other file was changed; choose another folder"),
        };
        Failure::new(kind, text, hint)
    }

    /// Returns the failure to read a run file whose interrupted write was undone before.
    fn after_rollback(cause: &RunFileError) -> Failure {
        let kind = match cause {
            RunFileError::Damaged { .. } => FailureKind::Failed,
            _ => FailureKind::Usage,
        };
        let hint = "its last write was incomplete and was undone, which changed the file; restore it \
                    from a copy";
        Failure::new(kind, cause.to_string(), hint)
    }

    /// Returns the exit code of its kind: 1, 2, 3, 4, or 75 (EX_TEMPFAIL of sysexits.h) where the same command,
    /// or `resume`, succeeds later.
    pub(crate) fn exit_code(&self) -> u8 {
        self.kind.exit_code()
    }

    /// Returns the lines for stderr: error and hint are one each, whatever names they contain.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("error: {}", self.error)];
        let excerpt = self.excerpt.as_deref().unwrap_or_default();
        lines.extend(excerpt.trim_end().lines().map(str::to_owned));
        if !self.hint.is_empty() {
            lines.push(format!("hint: {}", self.hint));
        }
        lines
    }
}

impl From<SuiteError> for Failure {
    fn from(error: SuiteError) -> Failure {
        let span = error.span.clone();
        let excerpt = span.and_then(|span| excerpt(&error.file, &error.text, span));
        Failure { excerpt, ..Failure::new(FailureKind::Usage, error.to_string(), error.hint) }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Failure {
        let (text, hint) = match suggestion::unknown_key(&error.message) {
            Some((what, hint)) => (format!("{}:{}: {what}", error.file, error.line), hint),
            None => (error.to_string(), error.hint),
        };
        Failure::in_file(&error.file, &error.text, error.span, text, &hint)
    }
}

/// The width of a drawn excerpt, in columns.
const EXCERPT_WIDTH: usize = 100;

/// Draws the lines of `file` around `span`; `None` where the span is outside of the text.
fn excerpt(file: &str, text: &str, span: Range<usize>) -> Option<String> {
    text.get(span.clone())?;
    let place = AnnotationKind::Primary.span(span).label("here");
    let name = terminal::line(file);
    let snippet = Snippet::source(text).path(name.as_str()).annotation(place);
    // Without a title: the line `error:` has the message already.
    let group = Group::with_level(Level::ERROR).element(snippet);
    let renderer = Renderer::plain().decor_style(DecorStyle::Unicode).term_width(EXCERPT_WIDTH);
    Some(renderer.render(&[group]))
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Failure {
        let (kind, hint) = match &error {
            PlanError::UnknownTest { test, known, suite } => {
                let hint = match suggestion::nearest(test, known.split(", ")) {
                    Some(meant) => {
                        format!("did you mean '{meant}'? `ssdgauge suites {suite}` lists all")
                    }
                    None => format!("its tests are: {known}"),
                };
                (FailureKind::Usage, hint)
            }
            PlanError::TooSmall { .. } => (
                FailureKind::Refused,
                "nothing was written; use a larger target, or --scale-spans for a test run that is \
                 marked"
                    .into(),
            ),
            PlanError::Misaligned { logical_block, .. } => (
                FailureKind::Refused,
                format!(
                    "nothing was written; use block sizes that are multiples of {}",
                    logical_block.exact()
                ),
            ),
            PlanError::SmallZone { .. } => (
                FailureKind::Usage,
                "give the stream a longer span, smaller requests or a larger zone".into(),
            ),
            PlanError::Beyond { .. } => (
                FailureKind::Refused,
                "nothing was written; shorten `span` or `offset` of the stream, use a larger target, or \
                 --scale-spans for a test run that is marked"
                    .into(),
            ),
            PlanError::LongStride { .. } => {
                (FailureKind::Usage, "use a stride below the span, or a longer span".into())
            }
            PlanError::NoTrim { .. } => (
                FailureKind::Refused,
                "nothing was written; test a drive with TRIM or deallocate (lsblk -D shows it), or leave \
                 the test out with --test"
                    .into(),
            ),
            PlanError::Unfilled { .. } => (
                FailureKind::Usage,
                "nothing was written; fill what is read: prepare = [{ fill = \"sequential\" }]".into(),
            ),
            PlanError::Shorten(_) => (FailureKind::Usage, "use 1 for the full length".into()),
            PlanError::Repeat(_) => {
                (FailureKind::Usage, "use --repeat 3, or --repeat until:2%".into())
            }
        };
        Failure::new(kind, error.to_string(), hint)
    }
}

impl From<WearError> for Failure {
    fn from(error: WearError) -> Failure {
        let advice = match &error {
            WearError::MoreThanLeft { .. } => "run fewer tests (--test), or use another drive",
            WearError::MoreThanAllowed { .. } => {
                "raise --endurance-share, run fewer tests (--test), or set the write rate of the \
                 drive (--write-rate)"
            }
        };
        Failure::new(
            FailureKind::Refused,
            error.to_string(),
            format!("nothing was written; {advice}"),
        )
    }
}

impl From<ProofError> for Failure {
    fn from(error: ProofError) -> Failure {
        match error {
            ProofError::Differs => {
                let hint = "do not store data on this drive; check the layers above it, and whether \
                            another program writes to it";
                Failure::new(FailureKind::Failed, error.to_string(), hint)
            }
            ProofError::Emptied => Failure::new(
                FailureKind::Failed,
                error.to_string(),
                "nothing was written; begin a new proof with `ssdgauge prove TARGET`, in a power cycle \
                 of its own if nobody has changed the drive",
            ),
            ProofError::NoBlocks(_) => Failure::new(
                FailureKind::Refused,
                error.to_string(),
                "nothing was written; name a drive, or a folder on a file system with O_DIRECT, such as \
                 ext4 or xfs",
            ),
            ProofError::TooSmall { .. } => Failure::new(
                FailureKind::Refused,
                error.to_string(),
                "nothing was written; name another target, or a larger --size",
            ),
            ProofError::WriteFailed(_) => Failure::new(
                FailureKind::Failed,
                error.to_string(),
                "check the kernel log (dmesg) and the health of the drive; the evidence is safe: \
                 continue with `ssdgauge resume FILE`, or read what is kept with `ssdgauge prove \
                 --read FILE TARGET`",
            ),
        }
    }
}

impl From<CompareError> for Failure {
    fn from(error: CompareError) -> Failure {
        let hint = match error {
            CompareError::Firmware { .. } => "add --any-firmware to compare them anyway",
            CompareError::OtherDrive(_) => "compare two drives without --history",
            CompareError::NothingInCommon(_) => {
                "compare runs of the same tests and revisions, with the same --shorten, --polled and --pass-through"
            }
        };
        Failure::new(FailureKind::Usage, error.to_string(), hint)
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Failure {
        match error {
            ReportError::RunFile(error) => error.into(),
        }
    }
}
