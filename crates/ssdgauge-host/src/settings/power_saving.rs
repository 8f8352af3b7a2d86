//! Power saving: autonomous power state transitions (APST), link power management and NVMe power
//! states, through attributes in sysfs and Set Features.
//!
//! Every change is restored, at the latest when [`PowerControl`] is dropped; where the run is
//! killed, the privileged helper restores it. Nothing is sent to the drive during an idle time.

use ssdgauge_core::{Finding, FindingKind, PowerSaving, Severity};
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_drive::pass_through::{
    CommandError, NvmeCommand, OpenDevice, PassThrough, QUERY_TIMEOUT,
};
use ssdgauge_drive::query::{self, feature};
use ssdgauge_os::sysfs::attribute;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A function that sets the NVMe power state (feature 02h) and returns the state before.
pub(crate) type StateSetter = Box<dyn FnMut(u8) -> Result<u8, String> + Send>;

/// The power settings of one drive, with the values found before the first change.
pub(crate) struct PowerControl {
    attributes: Vec<PowerAttribute>,
    /// Sets the power state, where the drive has NVMe power states.
    state: Option<StateSetter>,
    /// The power state before the first change.
    found_state: Option<u8>,
    /// Writes the attributes where this process has dropped its privileges.
    helper: Option<HelperClient>,
}

impl std::fmt::Debug for PowerControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PowerControl").field("attributes", &self.attributes).finish_non_exhaustive()
    }
}

/// One attribute in sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PowerAttribute {
    path: PathBuf,
    name: &'static str,
    /// The value that disables power saving.
    active: &'static str,
    /// The value that permits the lowest power.
    low: &'static str,
    /// The value before the first change.
    found: Option<String>,
}

/// The attributes of an NVMe controller: path below its folder, name, value for no saving, value
/// for the lowest power. `pm_qos_latency_tolerance_us` controls APST: 0 switches it off, `any`
/// permits every state (Linux, drivers/nvme/host/core.c, `nvme_set_latency_tolerance`). The others
/// are those of Documentation/ABI/testing/sysfs-bus-pci, `link/`.
const NVME_ATTRIBUTES: [(&str, &str, &str, &str); 7] = [
    ("power/pm_qos_latency_tolerance_us", "APST", "0", "any"),
    ("device/link/l0s_aspm", "ASPM L0s", "0", "1"),
    ("device/link/l1_aspm", "ASPM L1", "0", "1"),
    ("device/link/l1_1_aspm", "ASPM L1.1", "0", "1"),
    ("device/link/l1_2_aspm", "ASPM L1.2", "0", "1"),
    ("device/link/l1_1_pcipm", "PCI-PM L1.1", "0", "1"),
    ("device/link/l1_2_pcipm", "PCI-PM L1.2", "0", "1"),
];

/// The link of a SATA drive. `med_power_with_dipm` is the default of distributions; `min_power`
/// lost data on some drives (Linux, Documentation/scsi/link_power_management_policy.rst).
const SATA_LINK: (&str, &str, &str) = ("SATA link", "max_performance", "med_power_with_dipm");

/// Returns the attributes by which the power saving of the block device with the folder `folder` is
/// set, by their real paths, and the two values that are written to each.
pub(crate) fn attributes_of(folder: &Path) -> Vec<(PathBuf, [&'static str; 2])> {
    let control = PowerControl::new(folder, None, None);
    let real = |attribute: &PowerAttribute| {
        let path = fs::canonicalize(&attribute.path).ok()?;
        Some((path, [attribute.active, attribute.low]))
    };
    control.attributes.iter().filter_map(real).collect()
}

impl PowerControl {
    /// Returns the power settings of the block device whose folder in sysfs is `folder`.
    pub(crate) fn new(
        folder: &Path,
        state: Option<StateSetter>,
        helper: Option<HelperClient>,
    ) -> PowerControl {
        let attribute = |path: PathBuf, name, active, low| {
            let exists = path.is_file();
            exists.then_some(PowerAttribute { path, name, active, low, found: None })
        };
        let controller = controller_of(folder);
        let mut attributes: Vec<PowerAttribute> = NVME_ATTRIBUTES
            .into_iter()
            .filter_map(|(path, name, active, low)| {
                attribute(controller.as_ref()?.join(path), name, active, low)
            })
            .collect();
        let (name, active, low) = SATA_LINK;
        let policy = sata_policy_of(folder);
        attributes.extend(policy.and_then(|path| attribute(path, name, active, low)));
        PowerControl { attributes, state, found_state: None, helper }
    }

    /// Returns the power settings of a target that has none.
    pub(crate) fn none() -> PowerControl {
        PowerControl { attributes: Vec::new(), state: None, found_state: None, helper: None }
    }

    /// Sets the power saving of the drive to `saving`. Returns the settings in force as text, and a
    /// finding for each setting that could not be applied.
    pub(crate) fn apply(&mut self, saving: PowerSaving) -> (String, Vec<Finding>) {
        let mut findings = Vec::new();
        let mut in_force = Vec::new();
        if saving == PowerSaving::AsFound {
            let problems = self.restore();
            findings
                .extend(problems.into_iter().map(|problem| finding(Severity::Warning, problem)));
            return ("as found".to_owned(), findings);
        }
        for attribute in &mut self.attributes {
            let wanted = match saving {
                PowerSaving::Low => attribute.low,
                // A fixed power state needs APST off, which would leave it again.
                PowerSaving::Active | PowerSaving::State(_) | PowerSaving::AsFound => {
                    attribute.active
                }
            };
            match attribute.set(wanted, self.helper.as_ref()) {
                Ok(()) => in_force.push(format!("{} {wanted}", attribute.name)),
                Err(cause) => findings.push(finding(
                    Severity::Warning,
                    format!("{} could not be set to {wanted}: {cause}", attribute.name),
                )),
            }
        }
        if let PowerSaving::State(number) = saving {
            match self.set_state(number) {
                Ok(()) => in_force.push(format!("power state {number}")),
                Err(cause) => findings.push(finding(
                    Severity::Invalid,
                    format!("power state {number} could not be set: {cause}"),
                )),
            }
        } else if self.attributes.is_empty() {
            let text = format!(
                "power saving could not be set to {saving}: this target has neither APST nor link \
                 power management in sysfs, so its power saving is unknown"
            );
            findings.push(finding(Severity::Warning, text));
        }
        let in_force = if in_force.is_empty() { "none".into() } else { in_force.join(", ") };
        (in_force, findings)
    }

    fn set_state(&mut self, number: u8) -> Result<(), String> {
        let Some(set) = &mut self.state else {
            return Err("this target has no NVMe power states".into());
        };
        let before = set(number)?;
        self.found_state.get_or_insert(before);
        Ok(())
    }

    /// Restores every setting; returns one line for each that could not be restored.
    pub(crate) fn restore(&mut self) -> Vec<String> {
        let mut problems = Vec::new();
        for attribute in &mut self.attributes {
            let Some(found) = attribute.found.take() else { continue };
            if let Err(cause) = write_checked(&attribute.path, &found, self.helper.as_ref()) {
                let path = attribute.path.display();
                problems.push(format!("{path} could not be restored to {found}: {cause}"));
            }
        }
        if let (Some(state), Some(set)) = (self.found_state.take(), &mut self.state)
            && let Err(cause) = set(state)
        {
            problems.push(format!("power state {state} could not be restored: {cause}"));
        }
        problems
    }
}

impl Drop for PowerControl {
    fn drop(&mut self) {
        // The run has ended and records nothing more. A suite that ends with `as found` has
        // recorded failures already.
        let _ = self.restore();
    }
}

impl PowerAttribute {
    fn set(&mut self, wanted: &str, helper: Option<&HelperClient>) -> Result<(), String> {
        let found = attribute(&self.path).ok_or("it cannot be read")?;
        write_checked(&self.path, wanted, helper)?;
        self.found.get_or_insert(found);
        Ok(())
    }
}

/// Writes `text` and reads it back: some attributes accept every value and keep the old one.
fn write_checked(path: &Path, text: &str, helper: Option<&HelperClient>) -> Result<(), String> {
    if attribute(path).as_deref() == Some(text) {
        return Ok(());
    }
    let written = match helper {
        Some(helper) => helper.write_attribute(path, text),
        None => fs::write(path, text),
    };
    written.map_err(|error| error.to_string())?;
    match attribute(path) {
        Some(now) if now == text => Ok(()),
        Some(now) => Err(format!("it stayed at {now}")),
        None => Err("it cannot be read back".into()),
    }
}

/// Returns the function that sets the power state of the NVMe drive behind `file`; `None` where the
/// block device whose folder in sysfs is `folder` has no NVMe controller.
pub(crate) fn state_setter(
    folder: &Path,
    file: &Arc<File>,
    helper: Option<HelperClient>,
) -> Option<StateSetter> {
    controller_of(folder)?;
    let drive = OpenDevice::through(file.clone(), helper);
    Some(Box::new(move |number| set_state(&drive, number).map_err(|error| error.to_string())))
}

/// Sets feature 02h to `number` and returns the state before. Bits 4:0 are the state (NVM Express
/// Base Specification 2.0, section 5.27.1.2). The value is read back: some drives accept a state
/// without entering it.
///
/// # Errors
/// The drive refuses a command, or stays in another state.
fn set_state(pass_through: &dyn PassThrough, number: u8) -> Result<u8, CommandError> {
    let state = |value: u32| (value & 0x1f) as u8;
    let before = state(query::feature_value(pass_through, feature::POWER_STATE, &mut [])?);
    let words = [u32::from(feature::POWER_STATE), u32::from(number & 0x1f), 0, 0, 0, 0];
    pass_through.nvme(
        &NvmeCommand { opcode: 0x09, namespace: 0, words, timeout: QUERY_TIMEOUT },
        &mut [],
    )?;
    let now = state(query::feature_value(pass_through, feature::POWER_STATE, &mut [])?);
    match now == number {
        true => Ok(before),
        false => Err(CommandError::System(format!("it stayed in power state {now}"))),
    }
}

/// Returns the folder of the NVMe controller of a namespace. A multipath head leads to the
/// subsystem; its first controller is returned, because all of them belong to the same drive.
fn controller_of(folder: &Path) -> Option<PathBuf> {
    let device = fs::canonicalize(folder.join("device")).ok()?;
    let is_controller = |path: &Path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| {
            name.strip_prefix("nvme").is_some_and(|rest| rest.parse::<u32>().is_ok())
        })
    };
    if is_controller(&device) {
        return Some(device);
    }
    let mut below: Vec<PathBuf> =
        fs::read_dir(&device).ok()?.flatten().map(|entry| entry.path()).collect();
    below.sort();
    below.into_iter().find(|path| is_controller(path)).and_then(|path| fs::canonicalize(path).ok())
}

/// Returns the policy attribute of the SATA link of a disk.
fn sata_policy_of(folder: &Path) -> Option<PathBuf> {
    let device = fs::canonicalize(folder.join("device")).ok()?;
    let host = device.ancestors().find(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| {
            name.strip_prefix("host").is_some_and(|rest| rest.parse::<u32>().is_ok())
        })
    })?;
    let name = host.file_name()?;
    Some(host.join("scsi_host").join(name).join("link_power_management_policy"))
}

fn finding(severity: Severity, text: String) -> Finding {
    let advice = "power states and links are set as root on a whole drive; firmware or kernel \
                  options may prevent it (pcie_aspm, nvme_core.default_ps_max_latency_us)";
    Finding::new(FindingKind::PowerState, severity, text, advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// The folder of a controller as in sysfs, and the folder of its namespace.
    fn fixture() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let controller = root.path().join("devices/nvme3");
        for (path, text) in [
            ("power/pm_qos_latency_tolerance_us", "100000\n"),
            ("device/link/l1_aspm", "1\n"),
            ("device/link/l1_2_aspm", "0\n"),
        ] {
            fs::create_dir_all(controller.join(path).parent().unwrap()).unwrap();
            fs::write(controller.join(path), text).unwrap();
        }
        let block = root.path().join("block/nvme3n1");
        fs::create_dir_all(&block).unwrap();
        std::os::unix::fs::symlink(&controller, block.join("device")).unwrap();
        (root, block)
    }

    fn read(block: &Path, path: &str) -> String {
        attribute(&block.join("device").join(path)).unwrap()
    }

    #[test]
    fn settings_are_applied_and_the_values_found_are_restored() {
        let (_root, block) = fixture();
        let mut control = PowerControl::new(&block, None, None);
        let (words, findings) = control.apply(PowerSaving::Active);
        assert_eq!((words.as_str(), findings), ("APST 0, ASPM L1 0, ASPM L1.2 0", vec![]));
        assert_eq!(read(&block, "device/link/l1_aspm"), "0");
        control.apply(PowerSaving::Low);
        assert_eq!(read(&block, "power/pm_qos_latency_tolerance_us"), "any");
        assert_eq!(read(&block, "device/link/l1_2_aspm"), "1");
        drop(control);
        assert_eq!(read(&block, "power/pm_qos_latency_tolerance_us"), "100000");
        assert_eq!(read(&block, "device/link/l1_aspm"), "1");
        assert_eq!(read(&block, "device/link/l1_2_aspm"), "0");
    }

    #[test]
    fn a_sweep_over_power_states_ends_where_it_began() {
        let (_root, block) = fixture();
        let states = Arc::new(Mutex::new(vec![0u8]));
        let seen = states.clone();
        let set = move |number: u8| {
            let mut seen = seen.lock().unwrap();
            let before = *seen.last().unwrap();
            if number > 2 {
                return Err("invalid field in command".to_owned());
            }
            seen.push(number);
            Ok(before)
        };
        let mut control = PowerControl::new(&block, Some(Box::new(set)), None);
        for number in [0, 1, 2] {
            let (words, findings) = control.apply(PowerSaving::State(number));
            assert!(words.ends_with(&format!("power state {number}")), "{words}");
            assert!(findings.is_empty());
        }
        let (_, findings) = control.apply(PowerSaving::State(7));
        assert_eq!(findings[0].severity, Severity::Invalid);
        control.apply(PowerSaving::AsFound);
        assert_eq!(*states.lock().unwrap(), [0, 0, 1, 2, 0]);
    }

    #[test]
    fn a_target_without_power_settings_has_a_finding() {
        let (words, findings) = PowerControl::none().apply(PowerSaving::Low);
        assert_eq!(words, "none");
        assert!(findings[0].text.contains("its power saving is unknown"), "{findings:?}");
        let (_, findings) = PowerControl::none().apply(PowerSaving::State(1));
        assert!(findings[0].text.contains("no NVMe power states"), "{findings:?}");
    }

    #[test]
    fn the_link_of_a_sata_drive_is_found_through_its_host() {
        let root = tempfile::tempdir().unwrap();
        let host = root.path().join("ata1/host4");
        let disk = host.join("target4:0:0/4:0:0:0");
        fs::create_dir_all(&disk).unwrap();
        fs::create_dir_all(host.join("scsi_host/host4")).unwrap();
        let policy = host.join("scsi_host/host4/link_power_management_policy");
        fs::write(&policy, "max_performance\n").unwrap();
        let block = root.path().join("block/sda");
        fs::create_dir_all(&block).unwrap();
        std::os::unix::fs::symlink(&disk, block.join("device")).unwrap();
        let mut control = PowerControl::new(&block, None, None);
        let (words, _) = control.apply(PowerSaving::Low);
        assert_eq!(words, "SATA link med_power_with_dipm");
        assert_eq!(attribute(&policy).unwrap(), "med_power_with_dipm");
        control.restore();
        assert_eq!(attribute(&policy).unwrap(), "max_performance");
    }
}
