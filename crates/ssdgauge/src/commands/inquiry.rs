//! What proofs and X-rays have in common: a run whose requests follow from the answers so far.

use crate::arguments::ConsentOptions;
use crate::build_identity;
use crate::failure::Failure;
use crate::notification;
use crate::output;
use crate::permitted_writes::Expected;
use crate::process::{self, StopFlag};
use crate::run_file_name::RunFileName;
use crate::target::{OpenedRig, RunContext, RunExtras, Target};
use ssdgauge_core::{Bytes, Plan, Rig};
use ssdgauge_lab::{Completion, ConductError, Expectation, Outlook, assumed_rates};
use ssdgauge_runfile::{MAX_WRITES, Opening, Writer};
use ssdgauge_watch::progress::Progress;
use ssdgauge_watch::terminal;
use std::path::{Path, PathBuf};

/// A run that is about to begin: its names, and its drive, which is open.
pub(super) struct Begun {
    /// The id of the run.
    pub(super) id: String,
    /// The drive.
    pub(super) rig: Box<dyn Rig>,
    privileges: Option<String>,
    max_writes: Option<Bytes>,
    unix_ms: i64,
    name: RunFileName,
    out: PathBuf,
    stop: StopFlag,
}

/// The names of a run before its drive is open.
pub(super) struct Names {
    id: String,
    unix_ms: i64,
    name: RunFileName,
    pub(super) out: PathBuf,
}

impl Names {
    /// Returns the names of a run of `plan`, whose file is `out` where that is given.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub(super) fn new(plan: &Plan, out: Option<&Path>, what: &str) -> Result<Names, Failure> {
        let unix_ms = process::unix_ms();
        let name = RunFileName::new(out, &plan.suite.id, unix_ms);
        let out = name.find()?;
        output::check_new(&out, Some(what))?;
        ssdgauge_runfile::check_new(&out)?;
        Ok(Names { id: process::run_id(unix_ms)?, unix_ms, name, out })
    }

    /// Returns the run on `rig`.
    ///
    /// # Errors
    /// Signals cannot be received.
    pub(super) fn begin(self, rig: Box<dyn Rig>) -> Result<Begun, Failure> {
        let stop = StopFlag::new();
        stop.listen()?;
        let Names { id, unix_ms, name, out } = self;
        Ok(Begun { id, rig, privileges: None, max_writes: None, unix_ms, name, out, stop })
    }

    /// Asks for the confirmation of `plan` on `target`, and opens it.
    ///
    /// # Errors
    /// Refuses a target that may not be written.
    pub(super) fn open(
        self,
        target: Target,
        plan: &Plan,
        consent: &ConsentOptions,
        (expected, written): (&str, Expectation<Bytes>),
    ) -> Result<Begun, Failure> {
        target.check_free_space()?;
        let context = RunContext { run_id: &self.id, results: &self.out, continues: None };
        let consent = target.ask(plan, consent, context, Expected::new(expected, written))?;
        let stop = StopFlag::new();
        let extras = RunExtras { stop: &stop, log_ios: None, meters: &[], health_every_s: Some(0) };
        let OpenedRig { rig, privileges, .. } =
            target.open(plan, &consent, context, plan.seed, extras)?;
        // Until here nothing is written, and a signal ends the process at once.
        stop.listen()?;
        let Names { id, unix_ms, name, out } = self;
        let max_writes = consent.max_writes;
        Ok(Begun { id, rig, privileges, max_writes, unix_ms, name, out, stop })
    }
}

impl Begun {
    /// Creates the run file with the settings of the run as its `property`, and carries out `plan` by `conduct`.
    /// Returns the run file, and how the run ended.
    ///
    /// # Errors
    /// The run file cannot be created.
    pub(super) fn carry_out(
        self,
        plan: &Plan,
        expected: &str,
        property: (String, String),
        conduct: impl FnOnce(
            &mut dyn Rig,
            &mut Writer,
            &mut Progress<'_>,
        ) -> Result<Completion, ConductError>,
    ) -> Result<(PathBuf, Result<Completion, ConductError>), Failure> {
        let Begun { id, mut rig, privileges, max_writes, unix_ms, name, out, stop } = self;
        let limit = max_writes.map(|bytes| (MAX_WRITES.to_owned(), bytes.0.to_string()));
        let properties: Vec<_> = [property].into_iter().chain(limit).collect();
        let opening = Opening {
            id: &id,
            program: &build_identity::program(),
            unix_ms,
            plan,
            drive: rig.drive(),
            environment: &ssdgauge_host::environment(privileges.as_deref()),
            properties: &properties,
        };
        let (out, mut writer) = name.create(out, &opening)?;
        notification::begun(&out, rig.drive());
        let title = format!("{} on {} -> {}", plan.suite.id, rig.drive().name(), out.display());
        terminal::print_lines([title.as_str()].into_iter().chain(expected.lines()));
        let outlook = Outlook::new(plan, rig.drive().capacity, &assumed_rates(rig.drive()));
        let mut progress = Progress::new(plan, outlook, stop.flag());
        let result = conduct(rig.as_mut(), &mut writer, &mut progress);
        progress.finish();
        drop((writer, rig));
        Ok((out, result))
    }
}
