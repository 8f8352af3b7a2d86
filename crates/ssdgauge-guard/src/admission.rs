//! The guard: the only way to a writable descriptor of a block device.
//!
//! [`admit`] is the ordered list of the rules; nothing else in the program opens a block device
//! for writing. It asks the descriptor, never the name: a name is resolved once, and from then on
//! device number, appearance, size and serial are those of the open device. It opens exclusively,
//! which the kernel refuses for everything that is mounted, swapped to, or held by another driver,
//! looks for what the kernel does not refuse, and keeps that one descriptor for the whole run.
//! [`Admitted::check_again`] asks the same questions before every destructive step.
//!
//! The guard never creates anything on a device and never writes: the first write is the rig's.

use crate::identity::{Identity, TargetFacts, difference, folder_of};
use crate::lease::{self, Lease};
use crate::refusal::Refusal;
use crate::signatures::{self, Owner};
use crate::text::{printable, shown};
use crate::uses::{self, Openers};
use ssdgauge_core::Bytes;
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

/// What the owner of a drive allows, and what a run brings with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetOptions<'a> {
    /// The words that confirm the drive; see [`crate::Candidate::confirmation`].
    pub confirm: Option<&'a str>,
    /// The same words once more: they give up the file systems, RAID members and other data that
    /// were found on it.
    pub erase: Option<&'a str>,
    /// The id of the run. The ownership label and the verification headers carry it, so that a
    /// continuation of this very run recognises its own data.
    pub run_id: Option<&'a str>,
    /// What an interrupted run knew of its drive, where this run continues it.
    pub continues: Option<&'a Continued>,
    /// The run file. The drive that holds it is never tested.
    pub results: Option<&'a Path>,
    /// Whether the process shall give up its rights as soon as the target is open; only where it
    /// has a single thread.
    pub drop_privileges: bool,
    /// The most bytes that the plan writes, where it says so; a run that writes a twentieth more
    /// is stopped.
    pub writes_at_most: Option<Bytes>,
    /// How often the health of the drive is read within a step, in seconds; 0 for never, `None` for
    /// the usual period.
    pub health_every_s: Option<u64>,
}

/// What an interrupted run knew of its drive.
///
/// A serial proves that a drive is the same one. A device without a serial is only the same where
/// it has not been attached again, which the kernel numbers from each boot on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Continued {
    /// The kernel's number of the device's attachment (`diskseq`), where it gives one.
    pub disk_sequence: Option<String>,
    /// The kernel's id of the boot.
    pub boot_id: Option<String>,
}

/// A block device that may be written, until this is dropped.
#[derive(Debug)]
pub struct Admitted {
    file: Arc<File>,
    name: String,
    folder: PathBuf,
    identity: Identity,
    label: Vec<u8>,
    results: Option<PathBuf>,
    helper: Option<HelperClient>,
    // Held for its lock.
    _lease: Option<File>,
}

/// Admits the device `path`, which was looked at as `expected`, and holds the one descriptor that
/// may write to it.
pub(crate) fn admit(
    path: &Path,
    expected: &TargetFacts,
    options: &TargetOptions<'_>,
) -> Result<Admitted, Refusal> {
    // The node is a block device of the kernel's own making, and a whole drive.
    let folder = check_node(path)?;
    if folder != expected.folder {
        let what = format!("it is {} now", folder.display());
        return Err(Refusal::Changed { path: shown(path), what });
    }
    // Nobody uses it, and nothing of the system lies on it. The kernel would only say "busy".
    let kernel = Kernel::look();
    check_uses(&kernel, path, &folder, options.results, &Openers::All)?;
    check_state(path, &folder)?;
    // The owner named this drive and no other.
    check_confirmation(path, &expected.confirmation, options.confirm)?;
    check_attachment(path, expected, options)?;
    // One descriptor for the whole run. The kernel refuses whatever is claimed.
    let file = open_exclusively(path)?;
    // From here on the path is not used again, but in words.
    check_descriptor(&file, path, expected)?;
    if !lease::lock(&file) {
        return Err(in_use(path, "another program holds its lock (flock)"));
    }
    let lease = match lease::take(lease_words(expected)) {
        Lease::Held(file) => Some(file),
        Lease::NoPlace => None,
        Lease::Taken => {
            return Err(in_use(path, "another run holds the drive by its serial"));
        }
    };
    // Whoever came between the first look and the claim is seen now; who comes later is refused
    // by the kernel, or found by the next look.
    check_uses(&Kernel::look(), path, &folder, options.results, &Openers::All)?;
    check_contents(&file, path, expected, options)?;
    let file = Arc::new(file);
    check_health(&file, path, &folder)?;
    Ok(Admitted {
        file,
        name: shown(path),
        folder,
        identity: expected.identity.clone(),
        label: signatures::ownership_label(&expected.confirmation, options.run_id),
        results: options.results.map(Path::to_owned),
        helper: None,
        _lease: lease,
    })
}

impl Admitted {
    /// Returns the descriptor.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Returns the name that it was opened by.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns its device number.
    pub fn number(&self) -> &str {
        &self.identity.number
    }

    /// Returns the block by which the run marks the drive as its own.
    pub(crate) fn label(&self) -> &[u8] {
        &self.label
    }

    /// Lets `helper` look for other writers from now on: a process without privileges cannot look
    /// into the open files of others.
    pub fn look_through(&mut self, helper: HelperClient) {
        self.helper = Some(helper);
    }

    /// Asks again, before a destructive step, whether this is the drive that was admitted and
    /// still nobody else's. A drive that does not pass is not asked a second time.
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
        check_state(path, &self.folder)
    }
}

/// Returns who holds the device `number`, or something that stands on it, open for writing, the
/// process `ours` not counted.
pub fn writers_of(number: &str, ours: u32) -> Vec<String> {
    let kernel = Kernel::look();
    let folder = kernel.folder_of_number(number);
    folder.map_or_else(
        || vec!["it left the machine".into()],
        |folder| uses::writers_in(&kernel, &folder, ours),
    )
}

/// Looks at the block device `path` without opening it for writing.
pub(crate) fn inspect(path: &Path) -> Result<TargetFacts, Refusal> {
    let folder = folder_of(path)?;
    let facts = TargetFacts::of(&folder);
    match facts.identity.size.0 {
        0 => Err(Refusal::Denied { path: shown(path), cause: "the device holds nothing".into() }),
        _ => Ok(facts),
    }
}

/// Returns everything that speaks against writing to the device `path`, and what could not be
/// looked at with the rights of this process. It opens the device for reading, if at all.
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
    found.extend(second_name(&kernel, path, &folder));
    let users = uses::users(&kernel, &folder, &Openers::All);
    found.extend(users.iter().map(|holder| in_use(path, holder)));
    found.extend(check_state(path, &folder).err());
    if attribute(&folder.join("ro")).is_some_and(|flag| flag != "0") {
        found.push(Refusal::ReadOnly { path: shown(path) });
    }
    let mut unseen = Vec::new();
    if !rustix::process::geteuid().is_root() {
        unseen.push("the open files of other users' processes".to_owned());
    }
    // What is in use is refused whatever it holds.
    if found.is_empty() {
        found.extend(attached_again(path, facts, options));
        match look_inside(path, &folder, facts, options) {
            Ok(inside) => found.extend(inside),
            Err(error) => unseen.push(format!("what it holds and how it feels ({error})")),
        }
    }
    (found, unseen)
}

/// Returns what the device itself says, and what it holds, against writing to it.
fn look_inside(
    path: &Path,
    folder: &Path,
    facts: &TargetFacts,
    options: &TargetOptions<'_>,
) -> std::io::Result<Vec<Refusal>> {
    let file = Arc::new(File::open(path)?);
    let contents = signatures::contents(&file, facts.identity.size, &owner(facts, options))?;
    let health = check_health(&file, path, folder).err();
    Ok(health.into_iter().chain(holds(path, facts, contents)).collect())
}

/// Refuses nodes that somebody made, parts of drives, and what is no block device any more.
fn check_node(path: &Path) -> Result<PathBuf, Refusal> {
    let denied = |cause: &str| Refusal::Denied { path: shown(path), cause: cause.into() };
    let metadata = fs::metadata(path).map_err(|error| denied(&error.to_string()))?;
    if !metadata.file_type().is_block_device() {
        return Err(denied("it is no block device"));
    }
    let made_by_kernel = fs::metadata("/dev").is_ok_and(|dev| dev.dev() == metadata.dev());
    let folder = folder_of(path)?;
    if !made_by_kernel {
        let cause = format!(
            "a device node outside /dev; the kernel's own is /dev/{}",
            printable(name_of(&folder).as_bytes())
        );
        return Err(denied(&cause));
    }
    if folder.join("partition").exists() {
        let whole = folder.parent().map(name_of).unwrap_or_default();
        return Err(Refusal::Part { path: shown(path), whole: format!("/dev/{whole}") });
    }
    Ok(folder)
}

fn second_name(kernel: &Kernel, path: &Path, folder: &Path) -> Option<Refusal> {
    let what = uses::second_name(kernel, folder)?;
    Some(Refusal::Denied { path: shown(path), cause: format!("{what}; name that drive itself") })
}

fn check_uses(
    kernel: &Kernel,
    path: &Path,
    folder: &Path,
    results: Option<&Path>,
    openers: &Openers<'_>,
) -> Result<(), Refusal> {
    if let Some(what) = uses::protected(kernel, folder, results) {
        return Err(Refusal::Protected { path: shown(path), what });
    }
    if let Some(refusal) = second_name(kernel, path, folder) {
        return Err(refusal);
    }
    match uses::users(kernel, folder, openers).first() {
        Some(user) => Err(in_use(path, user)),
        None => Ok(()),
    }
}

/// Refuses a drive that the kernel gives up.
fn check_state(path: &Path, folder: &Path) -> Result<(), Refusal> {
    match attribute(&folder.join("device/state")) {
        Some(state) if state != "live" && state != "running" => {
            let what = format!("its driver says '{}'", printable(state.as_bytes()));
            Err(Refusal::Unhealthy { path: shown(path), what })
        }
        Some(_) | None => Ok(()),
    }
}

/// The warnings of an NVMe drive that forbid writing: spare below its threshold, unreliable,
/// read-only, and a broken backup of volatile memory. A temperature only bears on the numbers.
const FORBIDDING: u8 = 0b1_1101;

/// Refuses an NVMe drive that says of itself that it shall not be written. Where it does not
/// answer, nothing is known against it.
fn check_health(file: &Arc<File>, path: &Path, folder: &Path) -> Result<(), Refusal> {
    if SysfsDevice::from_folder(Path::new("/sys"), folder).controller.is_none() {
        return Ok(());
    }
    match query::health(&OpenDevice::new(Arc::clone(file))) {
        Ok(health) if health.warning & FORBIDDING != 0 => {
            let what = format!("it warns that {}", health.warnings().join(", and that "));
            Err(Refusal::Unhealthy { path: shown(path), what })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

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

/// How often a claimed device is tried again: the kernel lets go of what a killed program held a
/// moment after its end.
const TRIES: u32 = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// The one place in the program that opens a block device for writing.
fn open_exclusively(path: &Path) -> Result<File, Refusal> {
    // O_EXCL without O_CREAT on a block device: the kernel refuses whatever is claimed.
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
        Some(libc::EBUSY) => in_use(path, "the kernel says that it is claimed"),
        Some(libc::EROFS) => Refusal::ReadOnly { path: shown(path) },
        _ => Refusal::Denied { path: shown(path), cause: error.to_string() },
    })
}

/// Compares the open device with what was looked at and confirmed.
fn check_descriptor(file: &File, path: &Path, expected: &TargetFacts) -> Result<(), Refusal> {
    let denied =
        |error: std::io::Error| Refusal::Denied { path: shown(path), cause: error.to_string() };
    let is_block = file.metadata().map_err(denied)?.file_type().is_block_device();
    if !is_block {
        let what = "it is no block device".into();
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

/// Refuses a drive that holds something, unless its owner gave that up by name.
fn check_contents(
    file: &File,
    path: &Path,
    expected: &TargetFacts,
    options: &TargetOptions<'_>,
) -> Result<(), Refusal> {
    let contents = signatures::contents(file, expected.identity.size, &owner(expected, options))
        .map_err(|error| Refusal::Denied { path: shown(path), cause: error.to_string() })?;
    match holds(path, expected, contents) {
        Some(refusal) if options.erase != Some(&expected.confirmation) => Err(refusal),
        Some(_) | None => Ok(()),
    }
}

/// Returns whose test data count as nothing. For a new run any ownership label says that all may
/// be lost. A continued run needs its own data back, so that it recognises no other run's.
fn owner<'a>(facts: &'a TargetFacts, options: &TargetOptions<'a>) -> Owner<'a> {
    match (options.continues, options.run_id) {
        (Some(_), Some(run_id)) => Owner::Run { words: &facts.confirmation, run_id },
        (Some(_) | None, _) => Owner::AnyRun,
    }
}

/// Refuses to continue a run on a device without a serial that has been attached again, unless its
/// owner gave its contents up once more.
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

fn holds(path: &Path, facts: &TargetFacts, contents: Vec<String>) -> Option<Refusal> {
    let expected = facts.confirmation.clone();
    (!contents.is_empty()).then(|| Refusal::Holds { path: shown(path), contents, expected })
}

/// A drive is leased by what stays with it, whatever node it was reached by.
fn lease_words(facts: &TargetFacts) -> &str {
    facts.identity.wwid.as_deref().unwrap_or(&facts.confirmation)
}

fn in_use(path: &Path, holder: &str) -> Refusal {
    Refusal::InUse { path: shown(path), holder: holder.into() }
}
