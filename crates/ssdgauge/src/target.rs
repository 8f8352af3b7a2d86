//! From the name of a target to the rig that tests it: the one place that knows every kind.

use crate::failure::{Failure, Kind};
use crate::process::StopFlag;
use ssdgauge_core::{Bytes, DriveInfo, Plan, Rig};
use ssdgauge_guard::{Candidate, Continued, TargetError, TargetOptions, TargetPlace};
use ssdgauge_host::LinuxRig;
use ssdgauge_meter::MeterSpec;
use ssdgauge_sim::VirtualRig;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// A target that was found and not yet opened. Nothing has been written.
#[derive(Debug)]
pub(crate) enum Target {
    /// A virtual drive; there is nothing to guard.
    Virtual(Box<VirtualRig>),
    /// A real place.
    Real(Box<Candidate>),
}

/// A target that was opened, with its meters.
pub(crate) struct OpenedRig {
    pub(crate) rig: Box<dyn Rig>,
    /// The name of each power meter, and how it is read.
    pub(crate) meters: Vec<(String, String)>,
    /// Which privileges the process kept, where it dropped any.
    pub(crate) privileges: Option<String>,
}

/// How large the tested part of a target shall be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeRequest {
    /// What the user asked for.
    pub(crate) exact: Option<Bytes>,
    /// The size of a scratch file where nothing was asked.
    pub(crate) scratch: Bytes,
    /// The most of any other target where nothing was asked.
    pub(crate) at_most: Option<Bytes>,
}

impl SizeRequest {
    /// Returns the part of a drive with `capacity` that is used; `None` for all of it.
    fn of_drive(self, capacity: Bytes) -> Option<Bytes> {
        self.exact.or(self.at_most.filter(|most| *most < capacity))
    }
}

impl Target {
    /// Finds the target `name`, and limits it to the size that is wished.
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
            TargetPlace::Block(_) => size.of_drive(candidate.info.capacity),
        };
        let candidate = match size {
            Some(size) => candidate.sized(size)?,
            None => candidate,
        };
        Ok(Target::Real(Box::new(candidate)))
    }

    /// Returns what is known of the drive.
    pub(crate) fn info(&self) -> &DriveInfo {
        match self {
            Target::Virtual(rig) => rig.drive(),
            Target::Real(candidate) => &candidate.info,
        }
    }

    /// Returns whether a run would destroy what somebody may want to keep.
    fn is_precious(&self, plan: &Plan) -> bool {
        match self {
            Target::Virtual(_) => false,
            Target::Real(candidate) => match candidate.place {
                TargetPlace::Block(_) => plan.is_destructive(),
                TargetPlace::Null | TargetPlace::Folder(_) | TargetPlace::NewFile(_) => false,
            },
        }
    }

    /// Refuses a target that has no room for `plan`, before anything is written.
    pub(crate) fn check_room(&self) -> Result<(), Failure> {
        match self {
            Target::Virtual(_) => Ok(()),
            Target::Real(candidate) => Ok(candidate.check_room()?),
        }
    }

    /// Opens the target for `plan`. A drive that would be overwritten has to be confirmed, by
    /// `confirmation` or by typing; it must not hold the results.
    pub(crate) fn open(
        self,
        plan: &Plan,
        confirmation: Confirmation<'_>,
        origin: Origin<'_>,
        seed: u64,
        extras: RunExtras<'_>,
    ) -> Result<OpenedRig, Failure> {
        let RunExtras { stop, log_ios, meters, health_every_s } = extras;
        let precious = self.is_precious(plan);
        match self {
            Target::Virtual(_) if log_ios.is_some() => Err(Failure::new(
                Kind::Usage,
                "a virtual drive has no log of single requests",
                "nothing was written; leave out --log-ios",
            )),
            Target::Virtual(rig) if meters.is_empty() => {
                Ok(OpenedRig { rig, meters: Vec::new(), privileges: None })
            }
            Target::Virtual(_) => Err(Failure::new(
                Kind::Usage,
                "a virtual drive takes no power that a meter could read",
                "leave --power out: its profile knows what it would take",
            )),
            Target::Real(candidate) => {
                let given = TargetOptions {
                    confirm: confirmation.confirm,
                    erase: confirmation.erase,
                    run_id: Some(origin.run_id),
                    continues: origin.continues,
                    results: Some(origin.results),
                    drop_privileges: true,
                    writes_at_most: writes_at_most(plan),
                    health_every_s,
                };
                let typed = match confirmation.confirm {
                    None if precious && std::io::stdin().is_terminal() => ask(&candidate, &given)?,
                    None | Some(_) => Typed::default(),
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
                    crate::request_log::begin(&mut rig, path)?;
                }
                let privileges = rig.privileges().map(str::to_owned);
                Ok(OpenedRig { rig: Box::new(rig), meters, privileges })
            }
        }
    }
}

/// What goes along with a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunExtras<'a> {
    /// Ends it.
    pub(crate) stop: &'a StopFlag,
    /// Where every measured request is written down.
    pub(crate) log_ios: Option<&'a Path>,
    /// Read from its start on.
    pub(crate) meters: &'a [MeterSpec],
    /// How often the health of a real drive is read within a step, in seconds; 0 for never.
    pub(crate) health_every_s: Option<u64>,
}

/// The run that a target is opened for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// Its id.
    pub(crate) run_id: &'a str,
    /// Its run file.
    pub(crate) results: &'a Path,
    /// What it knew of its drive, where it was interrupted and goes on.
    pub(crate) continues: Option<&'a Continued>,
}

/// The words of the owner of a drive, from the command line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Confirmation<'a> {
    /// The drive may be overwritten.
    pub(crate) confirm: Option<&'a str>,
    /// What was found on it may be lost.
    pub(crate) erase: Option<&'a str>,
}

fn open_virtual(spec: &str, size: SizeRequest, seed: u64) -> Result<VirtualRig, Failure> {
    let names: Vec<&str> = ssdgauge_sim::profiles().iter().map(|profile| profile.name).collect();
    let hint = format!("try sim:tlc-client?capacity=250GB; the profiles are: {}", names.join(", "));
    let failure = |error: String| Failure::new(Kind::Usage, error, hint.clone());
    let (name, query) = spec.split_once('?').unwrap_or((spec, ""));
    let rig = match name.contains('/') || name.ends_with(".toml") {
        true => {
            let text = crate::text_file::read_text_file(name).map_err(failure)?;
            VirtualRig::from_toml(name, &text, query, seed)
        }
        false => VirtualRig::open(spec, seed),
    };
    let rig = rig.map_err(|error| failure(error.to_string()))?;
    let capacity = rig.drive().capacity;
    let size = size.of_drive(capacity);
    match size.filter(|size| *size > capacity) {
        Some(size) => {
            Err(failure(format!("{size} is more than sim:{spec} holds ({})", capacity.about())))
        }
        None => Ok(match size {
            Some(size) => rig.limited_to(size),
            None => rig,
        }),
    }
}

/// Returns the most bytes that `plan` writes, where that can be said.
fn writes_at_most(plan: &Plan) -> Option<Bytes> {
    let cost = ssdgauge_lab::estimate(plan, ssdgauge_lab::WRITE_RATE);
    (!cost.writes_without_limit && !cost.searches).then_some(cost.written_at_most)
}

/// The words of the owner of a drive, as typed.
#[derive(Debug, Default)]
struct Typed {
    confirm: Option<String>,
    erase: Option<String>,
}

/// The fewest last characters of a serial that name a drive on a terminal.
const FEWEST_TYPED: usize = 4;
/// How long a person may change their mind after all checks.
const COUNTDOWN: u32 = 5;

/// Shows what would be lost and asks for the words that confirm it. A drive that no words can
/// open is refused before anybody is asked.
fn ask(candidate: &Candidate, given: &TargetOptions<'_>) -> Result<Typed, Failure> {
    let info = &candidate.info;
    let Some(expected) = candidate.confirmation() else { return Ok(Typed::default()) };
    let (objections, _) = candidate.objections(given);
    let grave = objections.iter().find(|objection| !objection.needs_only_confirmation());
    if let Some(refusal) = grave {
        return Err(TargetError::Refused(refusal.clone()).into());
    }
    crate::terminal::talk(&format!(
        "Everything on {} will be lost: {}, {}.\nType {expected} (its last {FEWEST_TYPED} \
         characters suffice) to confirm:",
        info.target,
        info.model.as_deref().unwrap_or("unknown model"),
        info.capacity,
    ));
    let confirm = Some(typed_words(expected));
    let mut erase = None;
    let may_erase = given.erase.is_some();
    for objection in
        objections.iter().filter(|_| !may_erase && confirm.as_deref() == Some(expected))
    {
        crate::terminal::talk(&format!("{objection}.\nType it once more to give that up:"));
        erase = Some(typed_words(expected));
    }
    if confirm.as_deref() == Some(expected) {
        count_down();
    }
    Ok(Typed { confirm, erase })
}

/// Reads a line; the end of `expected` stands for all of it.
fn typed_words(expected: &str) -> String {
    let mut line = String::new();
    // What cannot be read confirms nothing.
    let _ = std::io::stdin().lock().read_line(&mut line);
    let line = line.trim();
    let suffices = line.chars().count() >= FEWEST_TYPED && expected.ends_with(line);
    if suffices { expected.to_owned() } else { line.to_owned() }
}

/// Waits after the checks, not instead of them; Ctrl-C leaves without a trace.
fn count_down() {
    for left in (1..=COUNTDOWN).rev() {
        crate::terminal::talk(&format!(
            "Writing begins in {left} s; Ctrl-C leaves the drive alone."
        ));
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}
