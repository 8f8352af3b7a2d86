//! Targets: from a name on the command line to an open rig. All kinds of targets meet here.

mod confirmation;

use crate::arguments::ConsentOptions;
use crate::failure::{Failure, FailureKind};
use crate::permitted_writes::{self, Expected};
use crate::process::StopFlag;
use crate::{reader, request_log, request_path, suggestion, text_file};
use ssdgauge_core::{Bytes, Detail, DriveChange, DriveInfo, Plan, RequestPath, Rig, VIRTUAL};
use ssdgauge_guard::{
    Candidate, Continued, LookPlace, Refusal, TargetError, TargetOptions, TargetPlace,
};
use ssdgauge_host::{LinuxRig, ReadingRig};
use ssdgauge_meter::MeterSpec;
use ssdgauge_sim::{ProfileError, VirtualRig};
use ssdgauge_twin::Twin;
use ssdgauge_watch::terminal;
use std::io::IsTerminal;
use std::path::Path;

use confirmation::prompt;

/// A target that was found and is not open yet. Nothing has been written.
#[derive(Debug)]
pub(crate) enum Target {
    /// A virtual drive.
    Virtual(Box<VirtualRig>),
    /// A folder, a new file, a block device or `null:`, for the guard to admit.
    Real(Box<Candidate>),
}

/// An open target with its meters.
pub(crate) struct OpenedRig {
    pub(crate) rig: Box<dyn Rig>,
    /// The name and the description of each power meter.
    pub(crate) meters: Vec<(String, String)>,
    /// The privileges that the process kept, if it dropped any.
    pub(crate) privileges: Option<String>,
}

impl OpenedRig {
    /// Returns a drive that is open for reading only.
    pub(crate) fn reading(rig: ReadingRig) -> OpenedRig {
        OpenedRig { rig: Box::new(rig), meters: Vec::new(), privileges: None }
    }
}

/// The requested size of the tested range of a target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeRequest {
    /// `--size`.
    pub(crate) exact: Option<Bytes>,
    /// The size of a scratch file without `--size`.
    pub(crate) scratch: Bytes,
    /// The maximum on any other target without `--size`.
    pub(crate) at_most: Option<Bytes>,
}

impl SizeRequest {
    /// Returns the size of the tested range on a drive with `capacity`; `None` for the whole drive.
    fn on_drive(self, capacity: Bytes) -> Option<Bytes> {
        self.exact.or(self.at_most.filter(|most| *most < capacity))
    }
}

impl Target {
    /// Finds the target `name` and limits it to `size`.
    ///
    /// # Errors
    ///
    /// Fails where the target does not exist, cannot be tested, or is smaller than `size`.
    pub(crate) fn find(name: &str, size: SizeRequest, seed: u64) -> Result<Target, Failure> {
        if let Some(spec) = name.strip_prefix(VIRTUAL) {
            return Ok(Target::Virtual(Box::new(open_virtual(spec, size, seed)?)));
        }
        let candidate = Candidate::find_in(LookPlace::own_process(), name)?;
        let size = match candidate.place {
            TargetPlace::Folder(_) | TargetPlace::NewFile(_) => {
                Some(size.exact.unwrap_or(size.scratch))
            }
            TargetPlace::Null => size.exact,
            TargetPlace::Block(_) => size.on_drive(candidate.info.capacity),
        };
        let Some(size) = size else { return Ok(Target::Real(Box::new(candidate))) };
        let is_drive = matches!(candidate.place, TargetPlace::Block(_));
        if let Some(refusal) = Some(&candidate)
            .filter(|candidate| is_drive && size > candidate.info.capacity)
            .and_then(final_refusal)
        {
            return Err(TargetError::Refused(refusal).into());
        }
        Ok(Target::Real(Box::new(candidate.sized(size)?)))
    }

    /// Returns the reason for which the guard refuses the drive whatever is confirmed, otherwise
    /// `failure`: a drive that must not be written is named before one that is too small.
    pub(crate) fn refusal_or(&self, failure: Failure) -> Failure {
        let Target::Real(candidate) = self else { return failure };
        if failure.kind != FailureKind::Refused {
            return failure;
        }
        final_refusal(candidate).map_or(failure, |refusal| TargetError::Refused(refusal).into())
    }

    /// Returns the reason for which the guard refuses the drive whatever is confirmed.
    pub(crate) fn final_refusal(&self) -> Option<String> {
        match self {
            Target::Virtual(_) => None,
            Target::Real(candidate) => final_refusal(candidate).map(|refusal| refusal.to_string()),
        }
    }

    /// Returns identity and geometry of the drive.
    pub(crate) fn info(&self) -> &DriveInfo {
        match self {
            Target::Virtual(rig) => rig.drive(),
            Target::Real(candidate) => &candidate.info,
        }
    }

    /// Returns whether a run of `plan` overwrites a drive, which its owner has to confirm.
    fn needs_confirmation(&self, plan: &Plan) -> bool {
        match self {
            Target::Virtual(_) => false,
            Target::Real(candidate) => match candidate.place {
                TargetPlace::Block(_) => plan.is_destructive(),
                TargetPlace::Null | TargetPlace::Folder(_) | TargetPlace::NewFile(_) => false,
            },
        }
    }

    /// Checks the free space for a scratch file, before anything is written.
    ///
    /// # Errors
    ///
    /// Refuses a folder whose file system has too little free space.
    pub(crate) fn check_free_space(&self) -> Result<(), Failure> {
        match self {
            Target::Virtual(_) => Ok(()),
            Target::Real(candidate) => Ok(candidate.check_room()?),
        }
    }

    /// Returns `consent`, completed by what is typed at the terminal where `plan` overwrites a drive
    /// that it does not confirm, or writes a lot to a scratch file, below the line about what is
    /// `expected`.
    ///
    /// # Errors
    ///
    /// Refuses a drive that is refused whatever is confirmed, before it asks, and a run that would write
    /// more than is permitted.
    pub(crate) fn ask(
        &self,
        plan: &Plan,
        consent: &ConsentOptions,
        run: RunContext<'_>,
        expected: Expected<'_>,
    ) -> Result<ConsentOptions, Failure> {
        let is_scratch = match self {
            Target::Virtual(_) => false,
            Target::Real(candidate) => {
                matches!(candidate.place, TargetPlace::Folder(_) | TargetPlace::NewFile(_))
            }
        };
        let max_writes =
            permitted_writes::ask(&plan.suite.id, self.info(), is_scratch, consent, expected)?;
        let consent = &ConsentOptions { max_writes, ..consent.clone() };
        let expected = expected.text;
        match self {
            Target::Real(candidate)
                if consent.confirm.is_empty()
                    && self.needs_confirmation(plan)
                    && std::io::stdin().is_terminal() =>
            {
                let about = format!("{} on {}\n{expected}", plan.suite.id, candidate.info.target);
                let options = options_for(candidate, plan, consent, run);
                let typed = prompt(candidate, &options, &about)?;
                let given = consent.erase.iter().cloned();
                Ok(ConsentOptions {
                    confirm: typed.confirm.into_iter().collect(),
                    erase: given.chain(typed.erase).collect(),
                    confined: consent.confined.clone(),
                    max_writes: consent.max_writes,
                })
            }
            Target::Real(_) | Target::Virtual(_) => Ok(consent.clone()),
        }
    }

    /// Refuses a run of `plan` for the first reason of the guard, as [`Target::open`] would. Nothing is
    /// written or opened for writing.
    ///
    /// # Errors
    ///
    /// The reason.
    pub(crate) fn refuse(
        &self,
        plan: &Plan,
        consent: &ConsentOptions,
        run: RunContext<'_>,
    ) -> Result<(), Failure> {
        let Target::Real(candidate) = self else { return Ok(()) };
        if !self.needs_confirmation(plan) {
            return Ok(());
        }
        let options = options_for(candidate, plan, consent, run);
        candidate.check_confirmation(options.confirm).map_err(TargetError::Refused)?;
        let (objections, _) = candidate.objections(&options);
        // A busy drive may be free when its turn has come (`--wait`).
        let first = objections.into_iter().find(|one| !matches!(one, Refusal::Busy { .. }));
        first.map_or(Ok(()), |refusal| Err(TargetError::Refused(refusal).into()))
    }

    /// Opens the target for `plan`. A drive that would be overwritten has to be confirmed by
    /// `consent`; it must not hold the results.
    ///
    /// # Errors
    ///
    /// Refuses a drive that the guard does not admit, meters that do not work, and options that a
    /// virtual drive does not support. Nothing has been written then.
    pub(crate) fn open(
        self,
        plan: &Plan,
        consent: &ConsentOptions,
        run: RunContext<'_>,
        seed: u64,
        extras: RunExtras<'_>,
    ) -> Result<OpenedRig, Failure> {
        let RunExtras { stop, log_ios, meters, health_every_s } = extras;
        match self {
            Target::Virtual(mut rig) if meters.is_empty() => {
                if let Some(path) = log_ios {
                    request_log::start_virtual(&mut rig, path)?;
                }
                let rig = Box::new(rig.allowing(consent.max_writes));
                Ok(OpenedRig { rig, meters: Vec::new(), privileges: None })
            }
            Target::Virtual(_) => Err(Failure::new(
                FailureKind::Usage,
                "a virtual drive has no power that a meter could measure",
                "nothing was written; omit --power: the profile of the drive models its power",
            )),
            Target::Real(candidate) => {
                check_processors(plan)?;
                let mut changes = plan.drive_changes();
                if meters.iter().any(MeterSpec::reads_drive) {
                    changes.push(DriveChange::PowerMeasurement);
                }
                let options = TargetOptions {
                    changes: &changes,
                    health_every_s,
                    ..options_for(&candidate, plan, consent, run)
                };
                let mut rig = LinuxRig::open_with(*candidate, &options, seed)?;
                reader::record_restriction();
                rig.stop_on(stop.flag(), terminal::print_message);
                if plan.polled {
                    rig.poll()
                        .map_err(|cause| request_path::refused(RequestPath::Polled, cause))?;
                }
                let meters = rig.attach(meters)?;
                if let Some(path) = log_ios {
                    request_log::start(&mut rig, path)?;
                }
                let privileges = rig.privileges().map(str::to_owned);
                Ok(OpenedRig { rig: Box::new(rig), meters, privileges })
            }
        }
    }
}

/// Returns the reason for which the guard refuses the drive whatever is confirmed. A reason that an option
/// or a wait overrides is left to the admission, which has the options.
fn final_refusal(candidate: &Candidate) -> Option<Refusal> {
    let (objections, _) = candidate.objections(&TargetOptions::default());
    objections.into_iter().find(|refusal| {
        let is_optional = matches!(refusal, Refusal::UsesUnknown { .. } | Refusal::Busy { .. });
        !is_optional && !refusal.needs_only_confirmation()
    })
}

/// Refuses a plan with threads on processors that this process may not use.
///
/// # Errors
///
/// Refuses such a plan.
pub(crate) fn check_processors(plan: &Plan) -> Result<(), Failure> {
    let allowed = ssdgauge_os::thread::allowed_processors();
    let workloads = plan.steps().filter_map(|(_, _, step)| step.action.workload());
    match workloads.filter_map(|workload| workload.processor_missing(&allowed)).next() {
        None => Ok(()),
        Some(missing) => Err(Failure::new(
            FailureKind::Refused,
            missing,
            "nothing was written; change `cpus` of the stream, or permit the processor (taskset, cpuset)",
        )),
    }
}

/// Returns the options of the guard for a run of `plan`.
fn options_for<'a>(
    candidate: &Candidate,
    plan: &Plan,
    consent: &'a ConsentOptions,
    run: RunContext<'a>,
) -> TargetOptions<'a> {
    let named = |given: &'a [String]| ConsentOptions::named(given, candidate.confirmation());
    TargetOptions {
        changes: &[],
        confirm: named(&consent.confirm),
        erase: named(&consent.erase),
        confined: named(&consent.confined),
        run_id: Some(run.run_id),
        continues: run.continues,
        results: Some(run.results),
        drop_privileges: true,
        writes_at_most: writes_at_most(plan),
        allowed_writes: consent.max_writes,
        health_every_s: None,
        pass_through: plan.pass_through,
    }
}

/// Options of an open target besides the confirmation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunExtras<'a> {
    /// Stops the run.
    pub(crate) stop: &'a StopFlag,
    /// The file of the request log.
    pub(crate) log_ios: Option<&'a Path>,
    /// The power meters, read from the start on.
    pub(crate) meters: &'a [MeterSpec],
    /// The interval between two reads of the SMART data within a step, in seconds; 0 for none.
    pub(crate) health_every_s: Option<u64>,
}

/// The run that a target is opened for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunContext<'a> {
    /// Its id.
    pub(crate) run_id: &'a str,
    /// Its run file.
    pub(crate) results: &'a Path,
    /// Identifiers of the drive at the start of the run, if the run is resumed.
    pub(crate) continues: Option<&'a Continued>,
}

/// Opens a virtual drive from `PROFILE[?KEY=VALUE&...]`; a profile is a name or the path of a file.
fn open_virtual(spec: &str, size: SizeRequest, seed: u64) -> Result<VirtualRig, Failure> {
    let hint = "`ssdgauge drives sim:` lists the profiles";
    let failure = |error: String| Failure::new(FailureKind::Usage, error, hint);
    let (name, query) = spec.split_once('?').unwrap_or((spec, ""));
    let rig = match name.contains('/') || name.ends_with(".toml") {
        true => {
            let text = text_file::read_text_file(name).map_err(failure)?;
            // What the profile of a twin says of itself is not part of the drive.
            let twin = Twin::read(&text).map_err(|error| failure(format!("{name}: {error}")))?;
            match twin {
                Some(twin) => VirtualRig::from_toml(name, &twin.profile, query, seed)
                    .map(|rig| rig.with_detail(Detail::Twin, twin.mark())),
                None => VirtualRig::from_toml(name, &text, query, seed),
            }
        }
        false => VirtualRig::open(spec, seed),
    };
    let rig = rig.map_err(|error| profile_failure(&error, name))?;
    let capacity = rig.drive().capacity;
    let size = size.on_drive(capacity);
    match size.filter(|size| *size > capacity) {
        Some(size) => Err(failure(format!(
            "{} exceeds the capacity of sim:{spec}, {}",
            size.exact(),
            capacity.about_and_exact()
        ))),
        None => Ok(match size {
            Some(size) => rig.limited_to(size),
            None => rig,
        }),
    }
}

/// Returns the failure of a profile: for an unknown name or key with the one that is meant.
fn profile_failure(error: &ProfileError, profile: &str) -> Failure {
    let all = "ssdgauge drives sim:";
    let (text, hint) = match error {
        ProfileError::UnknownProfile { name, known } => (
            format!("unknown virtual drive '{name}'"),
            suggestion::hint(name, known.split(", "), "sim:", all),
        ),
        ProfileError::UnknownKey { key, known } => {
            // The last part alone is what a reader remembers: `buffer_kib` of `front.buffer_kib`.
            let parts = known.split(", ").map(|one| one.rsplit('.').next().unwrap_or(one));
            let by_part = suggestion::nearest(key, parts).and_then(|part| {
                known.split(", ").find(|one| one.rsplit('.').next() == Some(part))
            });
            let hint = match by_part
                .or_else(|| suggestion::nearest(key, known.split(", ")))
                .or_else(|| by_word(key, known))
            {
                Some(meant) => format!("did you mean '{meant}'?"),
                None => format!(
                    "`{all}` lists the keys; `ssdgauge drives sim:{profile}` describes the drive"
                ),
            };
            (format!("a virtual drive has no key '{key}'"), hint)
        }
        ProfileError::Value { .. } => (
            error.to_string(),
            format!("`{all}` lists the keys; docs/reference/virtual-drives.md explains them"),
        ),
        ProfileError::Text { .. } | ProfileError::Impossible(_) => {
            (error.to_string(), format!("`{all}` lists the profiles"))
        }
    };
    Failure::new(FailureKind::Usage, text, hint)
}

/// Returns the maximum number of bytes that `plan` writes; `None` if its steps do not limit them.
fn writes_at_most(plan: &Plan) -> Option<Bytes> {
    let cost = ssdgauge_lab::limits(plan, ssdgauge_lab::WRITE_RATE);
    (!cost.writes_without_limit && !cost.searches).then_some(cost.written_at_most)
}

/// Returns the shortest of the `known` keys that has the word `name`, such as `buffer`.
fn by_word<'a>(name: &str, known: &'a str) -> Option<&'a str> {
    let has_word = |key: &&str| suggestion::nearest(name, key.split(['.', '_'])).is_some();
    known.split(", ").filter(has_word).min_by_key(|key| key.len())
}
