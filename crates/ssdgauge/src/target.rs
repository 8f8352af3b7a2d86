//! Targets: from a name on the command line to an open rig. All kinds of targets meet here.

use crate::arguments::ConsentOptions;
use crate::failure::{Failure, FailureKind};
use crate::process::StopFlag;
use crate::{request_log, terminal, text_file};
use ssdgauge_core::{Bytes, DriveInfo, Plan, Rig};
use ssdgauge_guard::{Candidate, Continued, TargetError, TargetOptions, TargetPlace};
use ssdgauge_host::LinuxRig;
use ssdgauge_meter::MeterSpec;
use ssdgauge_sim::VirtualRig;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

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
        if let Some(spec) = name.strip_prefix("sim:") {
            return Ok(Target::Virtual(Box::new(open_virtual(spec, size, seed)?)));
        }
        let candidate = Candidate::find(name)?;
        let size = match candidate.place {
            TargetPlace::Folder(_) | TargetPlace::NewFile(_) => {
                Some(size.exact.unwrap_or(size.scratch))
            }
            TargetPlace::Null => size.exact,
            TargetPlace::Block(_) => size.on_drive(candidate.info.capacity),
        };
        let candidate = match size {
            Some(size) => candidate.sized(size)?,
            None => candidate,
        };
        Ok(Target::Real(Box::new(candidate)))
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

    /// Opens the target for `plan`. A drive that would be overwritten has to be confirmed, by
    /// `consent` or typed at the terminal; it must not hold the results.
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
        let needs_confirmation = self.needs_confirmation(plan);
        match self {
            Target::Virtual(_) if log_ios.is_some() => Err(Failure::new(
                FailureKind::Usage,
                "a virtual drive does not support a request log",
                "nothing was written; omit --log-ios",
            )),
            Target::Virtual(rig) if meters.is_empty() => {
                Ok(OpenedRig { rig, meters: Vec::new(), privileges: None })
            }
            Target::Virtual(_) => Err(Failure::new(
                FailureKind::Usage,
                "a virtual drive has no power that a meter could measure",
                "nothing was written; omit --power: the profile of the drive models its power",
            )),
            Target::Real(candidate) => {
                let given = TargetOptions {
                    confirm: consent.confirm.as_deref(),
                    erase: consent.erase.as_deref(),
                    confined: consent.confined.as_deref(),
                    run_id: Some(run.run_id),
                    continues: run.continues,
                    results: Some(run.results),
                    drop_privileges: true,
                    writes_at_most: writes_at_most(plan),
                    health_every_s,
                };
                let typed = match given.confirm {
                    None if needs_confirmation && std::io::stdin().is_terminal() => {
                        prompt(&candidate, &given)?
                    }
                    None | Some(_) => TypedConfirmation::default(),
                };
                let options = TargetOptions {
                    confirm: given.confirm.or(typed.confirm.as_deref()),
                    erase: given.erase.or(typed.erase.as_deref()),
                    ..given
                };
                let mut rig = LinuxRig::open_with(*candidate, &options, seed)?;
                rig.stop_on(stop.flag());
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
    let names: Vec<&str> = ssdgauge_sim::profiles().iter().map(|profile| profile.name).collect();
    let hint = format!("try sim:tlc-client?capacity=250GB; the profiles are: {}", names.join(", "));
    let failure = |error: String| Failure::new(FailureKind::Usage, error, hint.clone());
    let (name, query) = spec.split_once('?').unwrap_or((spec, ""));
    let rig = match name.contains('/') || name.ends_with(".toml") {
        true => {
            let text = text_file::read_text_file(name).map_err(failure)?;
            VirtualRig::from_toml(name, &text, query, seed)
        }
        false => VirtualRig::open(spec, seed),
    };
    let rig = rig.map_err(|error| failure(error.to_string()))?;
    let capacity = rig.drive().capacity;
    let size = size.on_drive(capacity);
    match size.filter(|size| *size > capacity) {
        Some(size) => Err(failure(format!(
            "{size} exceeds the capacity of sim:{spec} ({})",
            capacity.about()
        ))),
        None => Ok(match size {
            Some(size) => rig.limited_to(size),
            None => rig,
        }),
    }
}

/// Returns the maximum number of bytes that `plan` writes; `None` if its steps do not limit them.
fn writes_at_most(plan: &Plan) -> Option<Bytes> {
    let cost = ssdgauge_lab::limits(plan, ssdgauge_lab::WRITE_RATE);
    (!cost.writes_without_limit && !cost.searches).then_some(cost.written_at_most)
}

/// The confirmations that were typed at the terminal.
#[derive(Debug, Default)]
struct TypedConfirmation {
    confirm: Option<String>,
    erase: Option<String>,
}

/// The minimum number of final characters of a serial that are accepted at the terminal.
const MIN_TYPED: usize = 4;
/// The time to cancel after all checks, in seconds.
const COUNTDOWN_S: u32 = 5;

/// Prints which data would be lost, and reads the confirmation from the terminal. A drive that is
/// refused whatever is confirmed is refused before the prompt.
fn prompt(candidate: &Candidate, given: &TargetOptions<'_>) -> Result<TypedConfirmation, Failure> {
    let info = &candidate.info;
    let Some(expected) = candidate.confirmation() else { return Ok(TypedConfirmation::default()) };
    let (objections, _) = candidate.objections(given);
    let final_refusal = objections.iter().find(|objection| !objection.needs_only_confirmation());
    if let Some(refusal) = final_refusal {
        return Err(TargetError::Refused(refusal.clone()).into());
    }
    terminal::print_message(&format!(
        "All data on {} will be lost: {}, {}.\nType {expected} (or at least its last \
         {MIN_TYPED} characters) to confirm:",
        info.target,
        info.model.as_deref().unwrap_or("unknown model"),
        info.capacity,
    ));
    let confirm = Some(read_confirmation(expected));
    let mut erase = None;
    let may_erase = given.erase.is_some();
    for objection in
        objections.iter().filter(|_| !may_erase && confirm.as_deref() == Some(expected))
    {
        terminal::print_message(&format!(
            "{objection}.\nType {expected} again to allow erasing this data:"
        ));
        erase = Some(read_confirmation(expected));
    }
    if confirm.as_deref() == Some(expected) {
        count_down();
    }
    Ok(TypedConfirmation { confirm, erase })
}

/// Reads a line from stdin; the last [`MIN_TYPED`] or more characters of `expected` count as all of
/// it.
fn read_confirmation(expected: &str) -> String {
    let mut line = String::new();
    // An input that cannot be read is an empty line, which confirms nothing.
    let _ = std::io::stdin().lock().read_line(&mut line);
    let line = line.trim();
    let suffices = line.chars().count() >= MIN_TYPED && expected.ends_with(line);
    if suffices { expected.to_owned() } else { line.to_owned() }
}

/// Counts down before the first write. Ctrl-C stops the run, which has written nothing.
fn count_down() {
    for left in (1..=COUNTDOWN_S).rev() {
        terminal::print_message(&format!("Writing starts in {left} s; Ctrl-C cancels."));
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}
