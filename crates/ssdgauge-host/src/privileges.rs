//! The rights of this process: what it gives up once the target is open, and the small part that
//! keeps them for a fixed list of requests.
//!
//! [`drop_privileges`] is called while the process has a single thread, since Linux keeps rights by
//! thread. From then on the threads that load the drive, write the run file and draw the report
//! hold no capability, gain none by starting programs, and can write below the results' folder
//! alone. Nothing here opens a drive for writing.

use crate::helper;
use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus,
};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_keep_capabilities, set_no_new_privs,
};
use ssdgauge_drive::helper::HelperClient;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What became of the privileges of this process.
#[derive(Debug)]
pub(crate) struct Dropped {
    /// The helper that kept some, where the target is a drive.
    pub(crate) helper: Option<HelperClient>,
    /// In words, for the run file.
    pub(crate) words: String,
}

/// Gives up every right that a run does not need. `device` is the number of the drive whose
/// requests the privileged part shall serve; `results` is the run file, whose folder stays
/// writable and whose owner the process becomes where that is possible.
pub(crate) fn drop_privileges(device: Option<&str>, results: &Path) -> io::Result<Dropped> {
    // Rights belong to threads: one that runs already would keep all of them.
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("the process has more than one thread"));
    }
    let folder = folder_of(results);
    let mut words = Vec::new();
    let mut helper = None;
    let mut kept = CapabilitySet::empty();
    if rustix::process::geteuid().is_root() {
        if io_uring_is_for_root() {
            let words = "all kept: io_uring is for root alone here".into();
            return Ok(Dropped { helper: None, words });
        }
        if let Some(device) = device {
            helper = Some(helper::start(device)?);
            words.push("a part as root for requests to the drive".to_owned());
        }
        // Registered buffers count against the locked memory of those without a capability.
        let without = Rlimit { current: None, maximum: None };
        if setrlimit(Resource::Memlock, without).is_err() {
            kept = CapabilitySet::IPC_LOCK;
        }
        drop_bounding_set();
        let user = owner(results, &folder);
        if let Some((user, group)) = user {
            set_keep_capabilities(true)?;
            ssdgauge_os::thread::become_user(user, group)?;
        }
        if user.is_none() && belongs_to_others(results, &folder) {
            // Root without it could not even open the run file again.
            kept |= CapabilitySet::DAC_OVERRIDE;
        }
        let held = match (kept.contains(CapabilitySet::IPC_LOCK), kept.bits().count_ones()) {
            (_, 0) => "without capabilities",
            (true, 1) => "with the capability to lock memory alone",
            (false, _) => "with the capability to open files of others alone",
            (true, _) => "with the capabilities to lock memory and to open files of others alone",
        };
        words.push(format!("user {} {held}", user.map_or(0, |(user, _)| user)));
    }
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: none })?;
    set_no_new_privs(true)?;
    words.push("no new rights".to_owned());
    words.push(restrict_paths(&folder));
    Ok(Dropped { helper, words: words.join(", ") })
}

/// Where unprivileged processes get no ring, giving up rights would change the results.
fn io_uring_is_for_root() -> bool {
    fs::read_to_string("/proc/sys/kernel/io_uring_disabled").is_ok_and(|text| text.trim() != "0")
}

fn drop_bounding_set() {
    for capability in CapabilitySet::all().iter() {
        // A kernel that is older than the capability does not know it.
        let _ = remove_capability_from_bounding_set(capability);
    }
}

fn folder_of(results: &Path) -> PathBuf {
    let folder = results.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// Returns the user and group to become: those who own the run file, or its folder, or who called
/// sudo, where they can write there. `None` where that is root, or nobody.
fn owner(results: &Path, folder: &Path) -> Option<(u32, u32)> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    let place = fs::metadata(results).or_else(|_| fs::metadata(folder)).ok()?;
    let caller = number("SUDO_UID").zip(number("SUDO_GID"));
    let (user, group) = match (place.uid(), caller) {
        (0, Some(caller)) if place.is_dir() && place.mode() & 0o002 != 0 => caller,
        (user, _) => (user, place.gid()),
    };
    // The journal of the run file is made and removed beside it.
    let may = |place: &Path, bit: u32| {
        fs::metadata(place).is_ok_and(|place| {
            let mode = place.mode();
            (place.uid() == user && mode & bit << 6 != 0)
                || (place.gid() == group && mode & bit << 3 != 0)
                || mode & bit != 0
        })
    };
    let fits = may(folder, 0o2) && folder.ancestors().all(|above| may(above, 0o1));
    (user != 0 && fits).then_some((user, group))
}

/// Returns whether somebody else than root owns the run file or its folder.
fn belongs_to_others(results: &Path, folder: &Path) -> bool {
    [results, folder].iter().any(|path| fs::metadata(path).is_ok_and(|place| place.uid() != 0))
}

/// Lets this thread, and all that it starts, write below `folder` and the folder for temporary
/// files alone. Returns in words what is in force.
fn restrict_paths(folder: &Path) -> String {
    let all = AccessFs::from_all(ABI::V5);
    let read = AccessFs::from_read(ABI::V5);
    let restrict = || -> Result<RulesetStatus, landlock::RulesetError> {
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(all)?
            .create()?;
        let temporary = std::env::temp_dir();
        let places = [(Path::new("/"), read), (folder, all), (&temporary, all)];
        for (place, access) in places {
            if let Ok(place) = PathFd::new(place) {
                rules = rules.add_rule(PathBeneath::new(place, access))?;
            }
        }
        let null = AccessFs::from_file(ABI::V5);
        if let Ok(place) = PathFd::new("/dev/null") {
            rules = rules.add_rule(PathBeneath::new(place, null))?;
        }
        Ok(rules.restrict_self()?.ruleset)
    };
    match restrict() {
        Ok(RulesetStatus::FullyEnforced) => "writes below the results alone (Landlock)".into(),
        Ok(RulesetStatus::PartiallyEnforced) => {
            "writes below the results alone (Landlock, in part)".into()
        }
        Ok(RulesetStatus::NotEnforced) | Err(_) => "no Landlock here".into(),
    }
}
