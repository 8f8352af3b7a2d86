//! What a person is told when something does not work: an error, a hint, an exit code.

use ssdgauge_core::RigError;
use ssdgauge_guard::{Refusal, TargetError};
use ssdgauge_lab::{ConductError, PlanError, SuiteError, WearError};
use ssdgauge_meter::MeterError;
use ssdgauge_report::{CompareError, ReportError, SpecificationError};
use ssdgauge_runfile::RunFileError;
use std::ops::Range;

/// The kinds of failure; the kind alone decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The run broke.
    Broke,
    /// The command line or an input file makes no sense.
    Usage,
    /// Refused, and nothing was written to the drive.
    Refused,
    /// A criterion was not met.
    Criterion,
    /// Interrupted; the run can go on.
    Interrupted,
}

/// A failure in words.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) error: String,
    pub(crate) hint: String,
    /// The lines of a file that an error points into, drawn.
    excerpt: Option<String>,
}

impl Failure {
    pub(crate) fn new(kind: Kind, error: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure { kind, error: error.into(), hint: hint.into(), excerpt: None }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Broke => 1,
            Kind::Usage => 2,
            Kind::Refused => 3,
            Kind::Criterion => 4,
            Kind::Interrupted => 75,
        }
    }

    /// Returns the lines for stderr.
    pub(crate) fn render(&self) -> String {
        let mut text = format!("error: {}", self.error);
        if let Some(excerpt) = &self.excerpt {
            text.push('\n');
            text.push_str(excerpt.trim_end());
        }
        if !self.hint.is_empty() {
            text.push_str(&format!("\nhint: {}", self.hint));
        }
        text
    }
}

impl From<SuiteError> for Failure {
    fn from(error: SuiteError) -> Failure {
        let span = error.span.clone();
        let excerpt = span.and_then(|span| excerpt(&error.file, &error.text, span, &error.message));
        Failure { excerpt, ..Failure::new(Kind::Usage, error.to_string(), error.hint) }
    }
}

impl From<SpecificationError> for Failure {
    fn from(error: SpecificationError) -> Failure {
        let excerpt = excerpt(&error.file, &error.text, error.span.clone(), &error.message);
        Failure { excerpt, ..Failure::new(Kind::Usage, error.to_string(), error.hint) }
    }
}

/// Draws the line of a file that an error points at.
fn excerpt(file: &str, text: &str, span: Range<usize>, message: &str) -> Option<String> {
    let label = miette::LabeledSpan::at(span, "here");
    let report = miette::miette!(labels = vec![label], "{}", message)
        .with_source_code(miette::NamedSource::new(file, text.to_owned()));
    let theme = miette::GraphicalTheme::unicode_nocolor();
    let mut drawn = String::new();
    miette::GraphicalReportHandler::new_themed(theme)
        .with_width(100)
        .render_report(&mut drawn, report.as_ref())
        .ok()?;
    // The message stands above already.
    let from = drawn.find('╭')?;
    let start = drawn[..from].rfind('\n').map_or(0, |at| at + 1);
    Some(drawn[start..].to_owned())
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Failure {
        let (kind, hint) = match &error {
            PlanError::UnknownTest { known, .. } => {
                (Kind::Usage, format!("its tests are: {known}"))
            }
            PlanError::TooSmall { .. } => (
                Kind::Refused,
                "nothing was written; use a larger target, or --scale-spans for a trial that is \
                 marked as such"
                    .into(),
            ),
            PlanError::Misaligned { logical_block, .. } => (
                Kind::Refused,
                format!(
                    "nothing was written; use block sizes that are multiples of {logical_block}"
                ),
            ),
            PlanError::Shorten(_) => (Kind::Usage, "use 1 for the full length".into()),
            PlanError::Repeat(_) => (Kind::Usage, "use --repeat 1 to 100".into()),
        };
        Failure::new(kind, error.to_string(), hint)
    }
}

impl From<WearError> for Failure {
    fn from(error: WearError) -> Failure {
        let remedy = match &error {
            WearError::MoreThanLeft { .. } => "run fewer tests (--test), or use another drive",
            WearError::MoreThanAllowed { .. } => {
                "raise --endurance-share, run fewer tests (--test), or name what the drive really \
                 writes in a second (--write-rate)"
            }
        };
        Failure::new(Kind::Refused, error.to_string(), format!("nothing was written; {remedy}"))
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Failure {
        let hint = match &error {
            TargetError::Missing(_) => {
                "nothing was written; name a folder, a new file in an existing folder, a block \
                 device, sim:PROFILE or null:"
                    .into()
            }
            TargetError::Exists(_) => {
                "nothing was written; ssdgauge never overwrites a file: name the folder, or a \
                 file that does not exist yet"
                    .into()
            }
            TargetError::Unfit { .. } => "nothing was written; name another target".into(),
            TargetError::Size(_) => "nothing was written; choose another --size".into(),
            TargetError::NoRoom { free, .. } => match (free.0 / 10 * 9) >> 30 {
                0 => "nothing was written; name a folder on a drive with room".into(),
                most => {
                    format!("nothing was written; use --size {most}GiB or less, or another folder")
                }
            },
            TargetError::Refused(refusal) => return refused(refusal),
            TargetError::Privileges(_) => {
                "nothing was written; this is a fault of ours: please report it".into()
            }
            TargetError::System { cause, .. } => match cause.kind() {
                std::io::ErrorKind::PermissionDenied => {
                    "nothing was written; use a folder that you may write to, or run as root".into()
                }
                std::io::ErrorKind::ReadOnlyFilesystem => {
                    "nothing was written; use a folder on a file system that is writable".into()
                }
                std::io::ErrorKind::StorageFull => {
                    "nothing was written; make room, or use a smaller --size".into()
                }
                _ => "nothing was written".to_owned(),
            },
        };
        Failure::new(Kind::Refused, error.to_string(), hint)
    }
}

fn refused(refusal: &Refusal) -> Failure {
    let hint = match refusal {
        Refusal::InUse { .. } => {
            "nothing was written; release the drive, or name another one".into()
        }
        Refusal::Partition { whole, .. } => {
            format!("nothing was written; the whole drive is {whole}")
        }
        Refusal::Protected { .. } => {
            "nothing was written; nothing overrides this: name another drive".into()
        }
        Refusal::ReadOnly { .. } => "nothing was written; name another drive".into(),
        Refusal::Unhealthy { .. } => {
            "nothing was written; save what is on it, and test another drive".into()
        }
        Refusal::Changed { .. } => "nothing was written; look at the drive and start again".into(),
        Refusal::Holds { expected, .. } | Refusal::AttachedAgain { expected, .. } => format!(
            "nothing was written; if all of that may be lost, add --erase {expected} and \
             --confirm {expected}"
        ),
        Refusal::NotConfirmed { expected, .. } | Refusal::WrongConfirmation { expected, .. } => {
            format!("nothing was written; if this is the drive you mean, add --confirm {expected}")
        }
        Refusal::Denied { .. } => {
            "nothing was written; whole drives need root and exclusive access".to_owned()
        }
    };
    Failure::new(Kind::Refused, refusal.to_string(), hint)
}

impl From<RunFileError> for Failure {
    fn from(error: RunFileError) -> Failure {
        let (kind, hint) = match &error {
            RunFileError::Missing(_) => (Kind::Usage, "check the path".to_owned()),
            RunFileError::Exists(_) => (
                Kind::Refused,
                "nothing was written; name another --out, or go on with `ssdgauge resume`".into(),
            ),
            RunFileError::Foreign { .. } => {
                (Kind::Usage, "the file was left as it is; run files end in .ssdg".into())
            }
            RunFileError::Newer { .. } => {
                (Kind::Usage, "the file was left as it is; use a newer ssdgauge".into())
            }
            RunFileError::Busy(_) => (Kind::Refused, "wait for the other process".into()),
            RunFileError::Damaged { .. } => {
                (Kind::Broke, "the file was left as it is; use a copy of it".into())
            }
            RunFileError::Full(_) => (
                Kind::Interrupted,
                "make room and go on with `ssdgauge resume`; finished steps are safe".into(),
            ),
            RunFileError::System { cause, .. }
                if cause.kind() == std::io::ErrorKind::StorageFull =>
            {
                (Kind::Interrupted, "make room, then try again".into())
            }
            RunFileError::System { .. } | RunFileError::Sqlite { .. } => {
                (Kind::Broke, "see whether the folder is writable; use --out to choose".into())
            }
        };
        Failure::new(kind, error.to_string(), hint)
    }
}

impl From<ConductError> for Failure {
    fn from(error: ConductError) -> Failure {
        let goes_on = "finished steps are safe; `ssdgauge resume FILE` goes on from there";
        match error {
            ConductError::RunFile(error) => error.into(),
            ConductError::Rig(RigError::Refused(_)) => Failure::new(
                Kind::Refused,
                error.to_string(),
                "let the suite fill what it reads: prepare = [{ fill = \"sequential\" }]",
            ),
            ConductError::Rig(RigError::CannotPurge { .. }) => Failure::new(
                Kind::Refused,
                error.to_string(),
                "leave --purge out to take the best way that the drive has; `ssdgauge drives \
                 TARGET` shows what it offers",
            ),
            ConductError::Rig(_) | ConductError::Faults(_) => Failure::new(
                Kind::Broke,
                error.to_string(),
                format!("look at the kernel's log and at the drive's health; {goes_on}"),
            ),
            ConductError::OtherDrive { .. } => Failure::new(
                Kind::Refused,
                error.to_string(),
                "nothing was written; attach the drive that the run began with",
            ),
        }
    }
}

impl From<MeterError> for Failure {
    fn from(error: MeterError) -> Failure {
        let kind = match error {
            MeterError::Spec { .. } => Kind::Usage,
            MeterError::Absent { .. } | MeterError::Implausible { .. } => Kind::Refused,
        };
        Failure::new(kind, error.to_string(), error.hint())
    }
}

impl From<CompareError> for Failure {
    fn from(error: CompareError) -> Failure {
        let hint = match error {
            CompareError::Firmware { .. } => "add --any-firmware to compare them all the same",
            CompareError::NothingInCommon(_) => {
                "compare runs of the same tests and revisions, all in full length or all shortened \
                 alike"
            }
        };
        Failure::new(Kind::Usage, error.to_string(), hint)
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Failure {
        match error {
            ReportError::RunFile(error) => error.into(),
            ReportError::Picture { .. } => {
                let hint = "the run file is untouched; this is a fault of ours: please report it";
                Failure::new(Kind::Broke, error.to_string(), hint)
            }
            ReportError::Impossible { .. } => {
                Failure::new(Kind::Usage, error.to_string(), "the file was left as it is")
            }
        }
    }
}
