//! Admission: the ordered list of rules that a block device passes before it may be written.
//!
//! [`admit`] is that list; nothing else in the program opens a block device for writing. A name is
//! resolved once. From then on device number, disk sequence, size and serial are read from the open
//! descriptor, because a name can be attached to another device at any moment. The exclusive open
//! (O_EXCL) fails for every device that is mounted, used as swap or claimed by another driver; the
//! rules find the uses that the kernel permits. The one descriptor is held for the whole run, and
//! [`Admitted::check_again`] applies the same rules before every step that writes.
//!
//! This module never creates a file and never writes to a device.

use crate::access::Condition;
use crate::command_node::{self, CommandNode};
use crate::identity::{Identity, TargetFacts, boot_id, check_identity, folder_of};
use crate::lease::{self, Lease};
use crate::look::{self, ConditionQuestion, UsesQuestion};
use crate::look_place::LookPlace;
use crate::options::{Continued, TargetOptions};
use crate::refusal::Refusal;
use crate::signatures::{self, Owner};
use crate::text::{printable, shown};
use crate::uses::{self, Openers, Uses};
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::name_of;
use ssdgauge_os::topology::Kernel;
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A block device that passed every rule and may be written until this value is dropped.
#[derive(Debug)]
pub struct Admitted {
    file: Arc<File>,
    name: String,
    folder: PathBuf,
    identity: Identity,
    label: Vec<u8>,
    /// What confirms the loss of data; `None` where it was confirmed.
    unconfirmed: Option<String>,
    results: Option<PathBuf>,
    /// Where it is looked at before each step. A process of its own is started then, with the
    /// privileges that this process has kept.
    look: LookPlace,
    unseen: Vec<String>,
    helper: Option<HelperClient>,
    /// The character device for commands to this drive, where they are passed through.
    commands: Option<CommandNode>,
    // Never read: the lease lasts as long as this file is open.
    _lease: Option<File>,
}

/// Admits the device `path`, which was inspected as `expected`, and returns the one descriptor that
/// may write to it. The device is looked at in `place`.
///
/// The order matters: everything that can be checked without opening the device comes first, so
/// that a refused drive is not even opened, and what can change meanwhile is checked again after
/// the exclusive open.
///
/// # Errors
/// The first rule that refuses the device. Nothing was written.
pub(crate) fn admit(
    place: &LookPlace,
    path: &Path,
    expected: &TargetFacts,
    options: &TargetOptions<'_>,
) -> Result<Admitted, Refusal> {
    let apply = || {
        apply_rules(place, path, expected, options).map_err(|refusal| or_busy(refusal, expected))
    };
    match apply() {
        // The use may be that of a run that ended before its lease was looked at: a drive that is free
        // again, or that the next run has taken, is not a reason to give up for good.
        Err(Refusal::InUse { .. }) => apply(),
        result => result,
    }
}

/// Returns `refusal`, or [`Refusal::Busy`] where the use that it names is that of another run: such
/// a drive is free later, one with a file system on it is not.
pub(crate) fn or_busy(refusal: Refusal, facts: &TargetFacts) -> Refusal {
    match refusal {
        Refusal::InUse { path, holder } if lease::is_taken(lease_name(facts)) => {
            Refusal::Busy { path, holder }
        }
        other => other,
    }
}

/// The rules of [`admit`], in their order.
fn apply_rules(
    place: &LookPlace,
    path: &Path,
    expected: &TargetFacts,
    options: &TargetOptions<'_>,
) -> Result<Admitted, Refusal> {
    // A node that mknod made, or a name under which udev meanwhile attached another drive, must not
    // lead to a drive that was not inspected. A partition shares its drive with others, and purge,
    // health and counters are those of the whole drive, so only whole drives are tested.
    let folder = check_node(path)?;
    if folder != expected.folder {
        let what = format!("the name leads to {}", folder.display());
        return Err(Refusal::Changed { path: shown(path), what });
    }
    // A mounted file system, swap or the root file system would be destroyed. O_EXCL refuses most
    // of these as well, but reports only EBUSY: this check names the use.
    let uses = || UsesQuestion::new(path, &folder, options.results, Openers::All);
    let unseen = check_uses(place, uses())?;
    check_state(path, &folder)?;
    // A mistyped name (sdb for sdc) is the most common accident: the serial has to match as well.
    check_confirmation(path, &expected.confirmation, options.confirm)?;
    // Unknown is not free: in a container the host may have the drive mounted.
    check_unseen(path, &unseen, expected, options)?;
    // A resumed run skips the check of contents for its own data, so a device that only has the
    // same name as the interrupted run's must not pass for it.
    check_attachment(path, expected, options)?;
    // From the exclusive open on the kernel refuses new mounts and claims.
    let file = look::open(place, path)?;
    // The device behind the name may have changed between inspection and open: compare the open
    // descriptor. From here on the path serves messages only.
    check_descriptor(&file, path, expected)?;
    if !lease::lock(&file) {
        return Err(in_use(path, "another program holds its lock (flock)"));
    }
    // One drive can have several nodes (multipath), on which O_EXCL and flock are independent of
    // each other: the lease is by worldwide name or serial.
    let lease = match lease::take(lease_name(expected)) {
        Lease::Held(file) => Some(file),
        Lease::Unavailable => None,
        Lease::Taken => {
            return Err(in_use(path, "another run holds the drive by its serial"));
        }
    };
    // Finds a use that began between the first check and the exclusive open. Later claims are
    // refused by the kernel; later writers are found before the next step that writes.
    let unseen = check_uses(place, uses())?;
    check_unseen(path, &unseen, expected, options)?;
    // An unmounted drive may still hold the only copy of a user's data, and a failing drive may lose
    // what is left on it with the next write.
    check_condition(place, path, expected, options)?;
    let file = Arc::new(file);
    // The kernel does not compare commands of the other node with the claims of this one: it must be a
    // node of the very drive that is held open here.
    let commands = match options.pass_through {
        true => Some(command_node::open(&file, path, &folder, expected)?),
        false => None,
    };
    Ok(Admitted {
        file,
        name: shown(path),
        folder,
        identity: expected.identity.clone(),
        label: signatures::ownership_label(&expected.confirmation, options.run_id),
        unconfirmed: (options.erase != Some(&expected.confirmation))
            .then(|| expected.confirmation.clone()),
        results: options.results.map(Path::to_owned),
        look: place.anew(),
        unseen,
        helper: None,
        commands,
        _lease: lease,
    })
}

impl Admitted {
    /// Returns the descriptor.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Returns the character device for commands to it, where they are passed through.
    pub fn commands(&self) -> Option<&CommandNode> {
        self.commands.as_ref()
    }

    /// Returns the path that it was opened by.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns its folder in sysfs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns its device number, such as `259:0`.
    pub fn number(&self) -> &str {
        &self.identity.number
    }

    /// Returns the number of this attachment of it (`diskseq`); `None` before Linux 5.15.
    pub fn sequence(&self) -> Option<u64> {
        self.identity.sequence
    }

    /// Returns what this process could not see when it looked for uses of the drive, one line each.
    pub fn unseen(&self) -> &[String] {
        &self.unseen
    }

    /// Returns what would confirm the loss of data that is not of this run; `None` where `--erase` confirmed it.
    pub fn unconfirmed_loss(&self) -> Option<&str> {
        self.unconfirmed.as_deref()
    }

    /// Returns the ownership label: the block that marks the contents as test data of this run.
    pub(crate) fn label(&self) -> &[u8] {
        &self.label
    }

    /// Searches for other writers through `helper` from this call on: a process without privileges
    /// cannot list the open files of other users.
    pub fn search_writers_through(&mut self, helper: HelperClient) {
        self.helper = Some(helper);
    }

    /// Checks before a step that writes that this is still the admitted drive and that no other
    /// program uses it. There is no retry: after one failed check the run ends.
    ///
    /// # Errors
    /// The device changed, is in use, or its driver reports a state other than running.
    pub(crate) fn check_again(&self) -> Result<(), Refusal> {
        let path = Path::new(&self.name);
        // First: the checks below go by the folder in sysfs, which may be that of another drive by now.
        check_identity(&self.file, path, &self.identity)?;
        self.commands.as_ref().map_or(Ok(()), |node| node.check_again(path, &self.folder))?;
        let openers = match &self.helper {
            None => Openers::Writers,
            // Without the list it is unknown whether another program writes: that counts as a use.
            Some(helper) => Openers::Listed(helper.writers().unwrap_or_else(|error| {
                vec![format!("its open files cannot be listed ({error})")]
            })),
        };
        let results = self.results.as_deref();
        check_uses(&self.look, UsesQuestion::new(path, &self.folder, results, openers))?;
        // What was hidden at the admission was accepted then.
        check_state(path, &self.folder)
    }
}

/// Returns the processes that have the device `number`, or a device above it, open for writing, one
/// line each; the calling process and the processes `excluded` are left out.
pub fn find_writers(number: &str, excluded: &[u32]) -> Vec<String> {
    let kernel = Kernel::look();
    let folder = kernel.folder_of_number(number);
    folder.map_or_else(
        || vec!["the device was removed".into()],
        |folder| uses::writers(&kernel, &folder, excluded),
    )
}

/// Refuses nodes outside the kernel's own `/dev` (a copied node can lead to any drive), partitions,
/// and what is not a block device. Returns the folder of the device in sysfs.
pub(crate) fn check_node(path: &Path) -> Result<PathBuf, Refusal> {
    let denied = |cause: &str| Refusal::Denied { path: shown(path), cause: cause.into() };
    let metadata = fs::metadata(path).map_err(|error| denied(&error.to_string()))?;
    if !metadata.file_type().is_block_device() {
        return Err(denied("it is not a block device"));
    }
    // By file system, not by prefix: another one can be mounted below /dev, with nodes of its own.
    let made_by_kernel = fs::metadata("/dev").is_ok_and(|dev| dev.dev() == metadata.dev());
    let folder = folder_of(path)?;
    if !made_by_kernel {
        let cause = format!(
            "it is a device node outside /dev; the node of the kernel is /dev/{}",
            printable(name_of(&folder).as_bytes())
        );
        return Err(denied(&cause));
    }
    if folder.join("partition").exists() {
        let whole = folder.parent().map(name_of).unwrap_or_default();
        return Err(Refusal::Partition { path: shown(path), whole: format!("/dev/{whole}") });
    }
    Ok(folder)
}

/// Refuses a drive that carries the system, the results or this program, and a drive in use. Returns
/// what this process cannot see, where a use may be hidden.
fn check_uses(place: &LookPlace, question: UsesQuestion) -> Result<Vec<String>, Refusal> {
    let path = question.path.clone();
    let uses = look::find_uses(place, vec![question]).pop().expect("one question, one answer")?;
    refusals(&path, &uses).into_iter().next().map_or(Ok(uses.unseen), Err)
}

/// Returns the refusals for the uses of the drive `path`, the most severe first.
pub(crate) fn refusals(path: &Path, uses: &Uses) -> Vec<Refusal> {
    let protected = uses.protected.clone();
    let protected = protected.map(|what| Refusal::Protected { path: shown(path), what });
    // A loop device over a drive has uses of its own only: those of the drive below are invisible
    // through it, so the drive has to be named itself.
    let over = uses.loop_over_device.as_ref().map(|what| Refusal::Denied {
        path: shown(path),
        cause: format!("{what}; name that drive itself"),
    });
    let in_use = uses.found.iter().map(|holder| in_use(path, holder));
    protected.into_iter().chain(over).chain(in_use).collect()
}

/// Refuses a drive whose uses may be hidden from this process, unless `--confined` names it.
pub(crate) fn check_unseen(
    path: &Path,
    unseen: &[String],
    expected: &TargetFacts,
    options: &TargetOptions<'_>,
) -> Result<(), Refusal> {
    if unseen.is_empty() || options.confined == Some(&expected.confirmation) {
        return Ok(());
    }
    let (unseen, expected) = (unseen.to_vec(), expected.confirmation.clone());
    Err(Refusal::UsesUnknown { path: shown(path), unseen, expected })
}

/// Refuses a drive whose driver is resetting or removing it: requests would fail or hang.
pub(crate) fn check_state(path: &Path, folder: &Path) -> Result<(), Refusal> {
    match attribute(&folder.join("device/state")) {
        // `live` is the state of NVMe controllers, `running` that of SCSI devices. Loop and virtio
        // devices have no such attribute.
        Some(state) if state != "live" && state != "running" => {
            let what = format!("its driver reports the state '{}'", printable(state.as_bytes()));
            Err(Refusal::Unhealthy { path: shown(path), what })
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses a drive whose serial was not given, or not exactly.
pub(crate) fn check_confirmation(
    path: &Path,
    expected: &str,
    given: Option<&str>,
) -> Result<(), Refusal> {
    let (path, expected) = (shown(path), expected.to_owned());
    match given {
        None => Err(Refusal::NotConfirmed { path, expected }),
        // A shell passes an unset variable as an empty text: it confirms nothing, even for a blank serial.
        Some(given) if given != expected || given.is_empty() => {
            Err(Refusal::WrongConfirmation { path, given: given.into(), expected })
        }
        Some(_) => Ok(()),
    }
}

/// Compares the open device with the one that was inspected and confirmed.
fn check_descriptor(file: &File, path: &Path, expected: &TargetFacts) -> Result<(), Refusal> {
    let denied =
        |error: std::io::Error| Refusal::Denied { path: shown(path), cause: error.to_string() };
    // A regular file that has taken the name opens as well: O_EXCL claims block devices only.
    let is_block = file.metadata().map_err(denied)?.file_type().is_block_device();
    if !is_block {
        let what = "it is not a block device".into();
        return Err(Refusal::Changed { path: shown(path), what });
    }
    // The kernel opens a device that is set read-only (BLKROSET) for writing, and fails each write with EPERM.
    if ssdgauge_os::block_device::is_read_only(file).map_err(denied)? {
        return Err(Refusal::ReadOnly { path: shown(path) });
    }
    check_identity(file, path, &expected.identity)
}

/// Refuses a drive that holds data, unless `--erase` names this drive, and one that reports a critical
/// warning.
fn check_condition(
    place: &LookPlace,
    path: &Path,
    expected: &TargetFacts,
    options: &TargetOptions<'_>,
) -> Result<(), Refusal> {
    let question = condition_question(path, expected, options);
    let condition = look::read_conditions(place, vec![question]);
    let condition = condition.into_iter().next().expect("one question, one answer")?;
    let condition = condition.map_err(|cause| Refusal::Denied { path: shown(path), cause })?;
    let refusals = condition_refusals(path, expected, condition);
    let erase = options.erase == Some(&expected.confirmation);
    let is_accepted = |refusal: &Refusal| erase && matches!(refusal, Refusal::Holds { .. });
    refusals.into_iter().find(|refusal| !is_accepted(refusal)).map_or(Ok(()), Err)
}

pub(crate) fn condition_question(
    path: &Path,
    facts: &TargetFacts,
    options: &TargetOptions<'_>,
) -> ConditionQuestion {
    ConditionQuestion {
        path: path.to_owned(),
        identity: facts.identity.clone(),
        owner: owner(facts, options),
    }
}

/// Returns the refusals for the condition of the drive `path`.
pub(crate) fn condition_refusals(
    path: &Path,
    facts: &TargetFacts,
    condition: Condition,
) -> Vec<Refusal> {
    let Condition { changed, contents, warning } = condition;
    let changed = changed.map(|what| Refusal::Changed { path: shown(path), what });
    let warning = warning.map(|what| Refusal::Unhealthy { path: shown(path), what });
    let contents = data_on_drive(path, facts, contents);
    changed.into_iter().chain(warning).chain(contents).collect()
}

/// Returns whose test data may be overwritten without `--erase`. For a new run those of any run:
/// the ownership label permits it. A resumed run reads its own data back, so those of another run
/// would make its results wrong.
fn owner(facts: &TargetFacts, options: &TargetOptions<'_>) -> Owner {
    match (options.continues, options.run_id) {
        (Some(_), Some(run_id)) => {
            Owner::Run { confirmation: facts.confirmation.clone(), run_id: run_id.into() }
        }
        (Some(_) | None, _) => Owner::AnyRun,
    }
}

/// Refuses to resume a run on a device without a serial that was attached again, unless `--erase`
/// names it.
fn check_attachment(
    path: &Path,
    facts: &TargetFacts,
    options: &TargetOptions<'_>,
) -> Result<(), Refusal> {
    match attached_again(path, facts, options) {
        Some(refusal) if options.erase != Some(&facts.confirmation) => Err(refusal),
        Some(_) | None => Ok(()),
    }
}

pub(crate) fn attached_again(
    path: &Path,
    facts: &TargetFacts,
    options: &TargetOptions<'_>,
) -> Option<Refusal> {
    let before = options.continues.filter(|_| facts.identity.serial.is_none())?;
    let now = Continued {
        disk_sequence: facts.identity.sequence.map(|number| number.to_string()),
        boot_id: boot_id(),
        ..before.clone()
    };
    let differs = |what: &str, was: &Option<String>, is: &Option<String>| {
        let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".into());
        // Two unknown values are not equal: before Linux 5.15 nothing shows that it stayed attached.
        let same = was.is_some() && was == is;
        (!same).then(|| format!("its {what} was {} and is {}", known(was), known(is)))
    };
    // The boot first: the kernel numbers disks from 1 again after each boot.
    let what = differs("boot", &before.boot_id, &now.boot_id)
        .or_else(|| differs("disk sequence", &before.disk_sequence, &now.disk_sequence))?;
    Some(Refusal::AttachedAgain { path: shown(path), what, expected: facts.confirmation.clone() })
}

fn data_on_drive(path: &Path, facts: &TargetFacts, contents: Vec<String>) -> Option<Refusal> {
    let expected = facts.confirmation.clone();
    (!contents.is_empty()).then(|| Refusal::Holds { path: shown(path), contents, expected })
}

/// Returns the name of the lease: what is equal for all nodes of one drive.
fn lease_name(facts: &TargetFacts) -> &str {
    facts.identity.wwid.as_deref().unwrap_or(&facts.confirmation)
}

fn in_use(path: &Path, holder: &str) -> Refusal {
    Refusal::InUse { path: shown(path), holder: holder.into() }
}
