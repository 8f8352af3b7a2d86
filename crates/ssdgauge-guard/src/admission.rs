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

use crate::identity::{Identity, TargetFacts, difference, folder_of};
use crate::lease::{self, Lease};
use crate::options::{Continued, TargetOptions};
use crate::refusal::Refusal;
use crate::signatures::{self, Owner};
use crate::text::{printable, shown};
use crate::uses::{self, Openers};
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_drive::pass_through::OpenDevice;
use ssdgauge_drive::query;
use ssdgauge_drive::sysfs_device::SysfsDevice;
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::name_of;
use ssdgauge_os::topology::Kernel;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A block device that passed every rule and may be written until this value is dropped.
#[derive(Debug)]
pub struct Admitted {
    file: Arc<File>,
    name: String,
    folder: PathBuf,
    identity: Identity,
    label: Vec<u8>,
    results: Option<PathBuf>,
    unseen: Vec<String>,
    helper: Option<HelperClient>,
    // Never read: the lease lasts as long as this file is open.
    _lease: Option<File>,
}

/// Admits the device `path`, which was inspected as `expected`, and returns the one descriptor that
/// may write to it.
///
/// The order matters: everything that can be checked without opening the device comes first, so
/// that a refused drive is not even opened, and what can change meanwhile is checked again after
/// the exclusive open.
///
/// # Errors
/// The first rule that refuses the device. Nothing was written.
pub(crate) fn admit(
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
    let kernel = Kernel::look();
    let unseen = check_uses(&kernel, path, &folder, options.results, &Openers::All)?;
    check_state(path, &folder)?;
    // A mistyped name (sdb for sdc) is the most common accident: the serial has to match as well.
    check_confirmation(path, &expected.confirmation, options.confirm)?;
    // Unknown is not free: in a container the host may have the drive mounted.
    check_unseen(path, &unseen, expected, options)?;
    // A resumed run skips the check of contents for its own data, so a device that only has the
    // same name as the interrupted run's must not pass for it.
    check_attachment(path, expected, options)?;
    // From the exclusive open on the kernel refuses new mounts and claims.
    let file = open_exclusively(path)?;
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
    let unseen = check_uses(&Kernel::look(), path, &folder, options.results, &Openers::All)?;
    check_unseen(path, &unseen, expected, options)?;
    // An unmounted drive may still hold the only copy of a user's data.
    check_contents(&file, path, expected, options)?;
    let file = Arc::new(file);
    // A failing drive may lose what is left on it with the next write.
    check_health(&file, path, &folder)?;
    Ok(Admitted {
        file,
        name: shown(path),
        folder,
        identity: expected.identity.clone(),
        label: signatures::ownership_label(&expected.confirmation, options.run_id),
        results: options.results.map(Path::to_owned),
        unseen,
        helper: None,
        _lease: lease,
    })
}

impl Admitted {
    /// Returns the descriptor.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Returns the path that it was opened by.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns its device number, such as `259:0`.
    pub fn number(&self) -> &str {
        &self.identity.number
    }

    /// Returns what this process could not see when it looked for uses of the drive, one line each.
    pub fn unseen(&self) -> &[String] {
        &self.unseen
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
        check_identity(&self.file, path, &self.identity)?;
        let results = self.results.as_deref();
        check_uses(
            &Kernel::look(),
            path,
            &self.folder,
            results,
            &Openers::Writers(self.helper.as_ref()),
        )?;
        // What was hidden at the admission was accepted then.
        check_state(path, &self.folder)
    }
}

/// Returns the processes that have the device `number`, or a device above it, open for writing, one
/// line each; the calling process and the process `excluded` are left out.
pub fn find_writers(number: &str, excluded: u32) -> Vec<String> {
    let kernel = Kernel::look();
    let folder = kernel.folder_of_number(number);
    folder.map_or_else(
        || vec!["the device was removed".into()],
        |folder| uses::writers(&kernel, &folder, excluded),
    )
}

/// Reads the facts about the block device `path` from sysfs, without opening it.
///
/// # Errors
/// The kernel does not know the device, or its size is 0.
pub(crate) fn inspect(path: &Path) -> Result<TargetFacts, Refusal> {
    let folder = folder_of(path)?;
    let facts = TargetFacts::read(&folder);
    match facts.identity.size.0 {
        0 => Err(Refusal::Denied { path: shown(path), cause: "its size is 0 bytes".into() }),
        _ => Ok(facts),
    }
}

/// Returns every reason against writing to the device `path`, and which checks were not possible
/// with the privileges of this process. The device is opened for reading only, if at all.
pub(crate) fn objections(
    path: &Path,
    facts: &TargetFacts,
    options: &TargetOptions<'_>,
) -> (Vec<Refusal>, Vec<String>) {
    let folder = match check_node(path) {
        Ok(folder) => folder,
        Err(refusal) => return (vec![refusal], Vec::new()),
    };
    let kernel = Kernel::look();
    let mut found: Vec<Refusal> = uses::protected(&kernel, &folder, options.results)
        .map(|what| Refusal::Protected { path: shown(path), what })
        .into_iter()
        .collect();
    found.extend(loop_over_device(&kernel, path, &folder));
    let uses = uses::find(&kernel, &folder, &Openers::All);
    found.extend(uses.found.iter().map(|holder| in_use(path, holder)));
    let unknown = check_unseen(path, &uses.unseen, facts, options).err();
    found.extend(check_state(path, &folder).err());
    if attribute(&folder.join("ro")).is_some_and(|flag| flag != "0") {
        found.push(Refusal::ReadOnly { path: shown(path) });
    }
    let mut unchecked = Vec::new();
    // A drive in use is refused whatever its contents, and opening it could disturb its user.
    if found.is_empty() {
        found.extend(attached_again(path, facts, options));
        match content_objections(path, &folder, facts, options) {
            Ok(objections) => found.extend(objections),
            Err(error) => unchecked.push(format!("its contents and its health ({error})")),
        }
    }
    // Of a drive that is refused in any case, it does not matter what else is unknown.
    if found.iter().all(Refusal::needs_only_confirmation) {
        found.extend(unknown);
    }
    (found, unchecked)
}

/// Returns the reasons against writing that need the device open: its contents and its health.
fn content_objections(
    path: &Path,
    folder: &Path,
    facts: &TargetFacts,
    options: &TargetOptions<'_>,
) -> std::io::Result<Vec<Refusal>> {
    let file = Arc::new(File::open(path)?);
    let contents = signatures::contents(&file, facts.identity.size, &owner(facts, options))?;
    let health = check_health(&file, path, folder).err();
    Ok(health.into_iter().chain(data_on_drive(path, facts, contents)).collect())
}

/// Refuses nodes outside the kernel's own `/dev` (a copied node can lead to any drive), partitions,
/// and what is not a block device. Returns the folder of the device in sysfs.
fn check_node(path: &Path) -> Result<PathBuf, Refusal> {
    let denied = |cause: &str| Refusal::Denied { path: shown(path), cause: cause.into() };
    let metadata = fs::metadata(path).map_err(|error| denied(&error.to_string()))?;
    if !metadata.file_type().is_block_device() {
        return Err(denied("it is not a block device"));
    }
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

/// A loop device over a drive has uses of its own only: those of the drive below are invisible
/// through it, so the drive has to be named itself.
fn loop_over_device(kernel: &Kernel, path: &Path, folder: &Path) -> Option<Refusal> {
    let what = uses::loop_over_device(kernel, folder)?;
    Some(Refusal::Denied { path: shown(path), cause: format!("{what}; name that drive itself") })
}

/// Refuses a drive that carries the system, the results or this program, and a drive in use. Returns
/// what this process cannot see, where a use may be hidden.
fn check_uses(
    kernel: &Kernel,
    path: &Path,
    folder: &Path,
    results: Option<&Path>,
    openers: &Openers<'_>,
) -> Result<Vec<String>, Refusal> {
    if let Some(what) = uses::protected(kernel, folder, results) {
        return Err(Refusal::Protected { path: shown(path), what });
    }
    if let Some(refusal) = loop_over_device(kernel, path, folder) {
        return Err(refusal);
    }
    let uses = uses::find(kernel, folder, openers);
    match uses.found.first() {
        Some(user) => Err(in_use(path, user)),
        None => Ok(uses.unseen),
    }
}

/// Refuses a drive whose uses may be hidden from this process, unless `--confined` names it.
fn check_unseen(
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
fn check_state(path: &Path, folder: &Path) -> Result<(), Refusal> {
    match attribute(&folder.join("device/state")) {
        // `live` is the state of NVMe controllers, `running` that of SCSI devices.
        Some(state) if state != "live" && state != "running" => {
            let what = format!("its driver reports the state '{}'", printable(state.as_bytes()));
            Err(Refusal::Unhealthy { path: shown(path), what })
        }
        Some(_) | None => Ok(()),
    }
}

/// The critical warnings of an NVMe drive that forbid writing (NVM Express Base Specification 2.0,
/// figure 207): spare below its threshold, reliability degraded, media read-only, backup of
/// volatile memory failed. Bit 1, temperature, affects only the results and is reported as a
/// finding.
const CRITICAL_WARNINGS: u8 = 0b1_1101;

/// Refuses an NVMe drive that reports a critical warning. A drive that does not respond to the
/// query is not refused: many USB bridges and virtual drives have no SMART log.
fn check_health(file: &Arc<File>, path: &Path, folder: &Path) -> Result<(), Refusal> {
    if SysfsDevice::from_folder(Path::new("/sys"), folder).controller.is_none() {
        return Ok(());
    }
    match query::health(&OpenDevice::new(Arc::clone(file))) {
        Ok(health) if health.warning & CRITICAL_WARNINGS != 0 => {
            let what = format!("it reports a critical warning: {}", health.warnings().join(", "));
            Err(Refusal::Unhealthy { path: shown(path), what })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Refuses a drive whose serial was not given, or not exactly.
fn check_confirmation(path: &Path, expected: &str, given: Option<&str>) -> Result<(), Refusal> {
    let (path, expected) = (shown(path), expected.to_owned());
    match given {
        None => Err(Refusal::NotConfirmed { path, expected }),
        Some(given) if given != expected || given.is_empty() => {
            Err(Refusal::WrongConfirmation { path, given: given.into(), expected })
        }
        Some(_) => Ok(()),
    }
}

/// How often a claimed device is opened again: the kernel releases the descriptors of a killed
/// program shortly after its end, so a run that follows directly would be refused.
const TRIES: u32 = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// The one place in the program that opens a block device for writing.
fn open_exclusively(path: &Path) -> Result<File, Refusal> {
    // O_EXCL without O_CREAT on a block device: EBUSY for every claimed device. O_NOFOLLOW: the
    // path is resolved already, and a link that replaced it must not lead elsewhere.
    let flags = libc::O_EXCL | libc::O_DIRECT | libc::O_NOFOLLOW;
    let open = || OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
    let is_busy = |result: &std::io::Result<File>| {
        result.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
    };
    let mut result = open();
    for _ in 1..TRIES {
        if !is_busy(&result) {
            break;
        }
        std::thread::sleep(BETWEEN_TRIES);
        result = open();
    }
    result.map_err(|error| match error.raw_os_error() {
        Some(libc::EBUSY) => in_use(path, "the kernel reports that it is claimed (EBUSY)"),
        Some(libc::EROFS) => Refusal::ReadOnly { path: shown(path) },
        _ => Refusal::Denied { path: shown(path), cause: error.to_string() },
    })
}

/// Compares the open device with the one that was inspected and confirmed.
fn check_descriptor(file: &File, path: &Path, expected: &TargetFacts) -> Result<(), Refusal> {
    let denied =
        |error: std::io::Error| Refusal::Denied { path: shown(path), cause: error.to_string() };
    let is_block = file.metadata().map_err(denied)?.file_type().is_block_device();
    if !is_block {
        let what = "it is not a block device".into();
        return Err(Refusal::Changed { path: shown(path), what });
    }
    if ssdgauge_os::block_device::is_read_only(file).map_err(denied)? {
        return Err(Refusal::ReadOnly { path: shown(path) });
    }
    check_identity(file, path, &expected.identity)
}

fn check_identity(file: &File, path: &Path, expected: &Identity) -> Result<(), Refusal> {
    let differs = difference(file, expected)
        .map_err(|error| Refusal::Denied { path: shown(path), cause: error.to_string() })?;
    match differs {
        Some(what) => Err(Refusal::Changed { path: shown(path), what }),
        None => Ok(()),
    }
}

/// Refuses a drive that holds data, unless `--erase` names this drive.
fn check_contents(
    file: &File,
    path: &Path,
    expected: &TargetFacts,
    options: &TargetOptions<'_>,
) -> Result<(), Refusal> {
    let contents = signatures::contents(file, expected.identity.size, &owner(expected, options))
        .map_err(|error| Refusal::Denied { path: shown(path), cause: error.to_string() })?;
    match data_on_drive(path, expected, contents) {
        Some(refusal) if options.erase != Some(&expected.confirmation) => Err(refusal),
        Some(_) | None => Ok(()),
    }
}

/// Returns whose test data may be overwritten without `--erase`. For a new run those of any run:
/// the ownership label permits it. A resumed run reads its own data back, so those of another run
/// would make its results wrong.
fn owner<'a>(facts: &'a TargetFacts, options: &TargetOptions<'a>) -> Owner<'a> {
    match (options.continues, options.run_id) {
        (Some(_), Some(run_id)) => Owner::Run { confirmation: &facts.confirmation, run_id },
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

fn attached_again(
    path: &Path,
    facts: &TargetFacts,
    options: &TargetOptions<'_>,
) -> Option<Refusal> {
    let before = options.continues.filter(|_| facts.identity.serial.is_none())?;
    let now = Continued {
        disk_sequence: facts.identity.sequence.map(|number| number.to_string()),
        boot_id: attribute(Path::new("/proc/sys/kernel/random/boot_id")),
    };
    let differs = |what: &str, was: &Option<String>, is: &Option<String>| {
        let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".into());
        let same = was.is_some() && was == is;
        (!same).then(|| format!("its {what} was {} and is {}", known(was), known(is)))
    };
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
