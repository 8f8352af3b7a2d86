//! Server of the privileged helper: a process that stays root, for one drive and a fixed list of
//! requests.
//!
//! It carries no I/O load, has the drive open for reading only, and has no interface but the socket
//! to the run that started it. Each request is checked against the lists below: a fault in the
//! unprivileged process must not become a command that it was never meant to send. The helper ends
//! with the run, and then restores the settings that the run changed.

use super::saved_settings::SettingsRestorer;
use crate::settings::write_cache::CachePath;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs,
};
use ssdgauge_drive::helper::message::{Reply, Request, RequestKind};
use ssdgauge_drive::pass_through::OpenDevice;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

/// The NVMe admin commands that are accepted: queries, features, format, sanitize (NVM Express Base
/// Specification 2.0, figure 138), and security receive for TCG discovery.
const NVME: [u8; 7] = [0x02, 0x06, 0x09, 0x0a, FORMAT, 0x82, 0x84];
const FORMAT: u8 = 0x80;
/// The ATA commands that are accepted: identify, SMART, read log, trusted receive, power mode,
/// sanitize, and the security commands of an erase (ACS-4, table 27). SET FEATURES is checked
/// apart: of its many subcommands only the two of the write cache are accepted.
const ATA: [u8; 11] = [0xec, 0xb0, 0x2f, 0x5c, 0xe5, 0xb4, 0xf1, 0xf3, 0xf4, 0xf5, 0xf6];
/// ATA SET FEATURES, and its subcommands that switch the write cache on and off (ACS-4, 7.45).
const SET_FEATURES: u8 = 0xef;
const WRITE_CACHE: [u8; 2] = [0x02, 0x82];
/// The SCSI commands that are accepted: test unit ready, inquiry, read capacity, security protocol
/// in, log sense.
const SCSI: [u8; 6] = [0x00, 0x12, 0x25, 0x9e, 0xa2, 0x4d];
/// The attributes of drives and links in sysfs that a run changes and restores.
const ATTRIBUTES: [&str; 10] = [
    "pm_qos_latency_tolerance_us",
    "l0s_aspm",
    "l1_aspm",
    "l1_1_aspm",
    "l1_2_aspm",
    "l1_1_pcipm",
    "l1_2_pcipm",
    "link_power_management_policy",
    "scheduler",
    "nomerges",
];

/// Serves the requests that arrive through standard input for the drive with the number `device`,
/// until the run closes the socket or ends.
///
/// # Errors
/// The drive cannot be opened, privileges cannot be dropped, or the socket fails.
pub fn serve(device: &str) -> io::Result<()> {
    let parent = std::os::unix::process::parent_id();
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // SYS_ADMIN and SYS_RAWIO for pass-through commands, SYS_PTRACE and DAC_READ_SEARCH for the
    // open files of other processes.
    let kept = CapabilitySet::SYS_ADMIN
        | CapabilitySet::SYS_RAWIO
        | CapabilitySet::SYS_PTRACE
        | CapabilitySet::DAC_READ_SEARCH;
    let kept = kept & capabilities(None)?.permitted;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: none })?;
    set_no_new_privs(true)?;
    let file = Arc::new(open(device)?);
    let namespace = std::fs::read_to_string(format!("/sys/dev/block/{device}/nsid"));
    let namespace = namespace.ok().and_then(|text| text.trim().parse().ok());
    let drive = OpenDevice::new(Arc::clone(&file));
    let mut settings = SettingsRestorer::new(&drive);
    let mut serve_one = || -> io::Result<bool> {
        let Some(request) = Request::receive(&mut socket)? else { return Ok(false) };
        let reply = match request.kind {
            RequestKind::Writers => Ok(list_writers(device, parent)),
            RequestKind::Nvme => nvme(&file, namespace, &request, &mut settings),
            RequestKind::Scsi => scsi(&file, &request, &mut settings),
            RequestKind::Attribute => attribute(&request.data, &mut settings),
        };
        Reply::from_result(reply).send(&mut socket).map(|()| true)
    };
    let ended = loop {
        match serve_one() {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    // The run has ended, in order or killed. Only this process can still restore its settings.
    settings.restore();
    ended
}

/// Opens the drive for reading, by the name that the kernel has for its number, and checks the
/// number of the open device: the name may have been attached to another drive meanwhile.
fn open(device: &str) -> io::Result<File> {
    let event = std::fs::read_to_string(format!("/sys/dev/block/{device}/uevent"))?;
    let name = event.lines().find_map(|line| line.strip_prefix("DEVNAME="));
    let file = File::open(Path::new("/dev").join(name.ok_or(io::ErrorKind::NotFound)?))?;
    let number = file.metadata()?.rdev();
    let number = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    if number == device { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Returns the processes that have the drive open for writing, the run itself left out.
fn list_writers(device: &str, parent: u32) -> Reply {
    let data = ssdgauge_guard::find_writers(device, parent).join("\n").into_bytes();
    Reply { data, ..Reply::default() }
}

fn refused() -> io::Error {
    io::Error::from_raw_os_error(libc::EPERM)
}

/// Sends an NVMe command. A format is accepted only for the namespace `own` of this drive: another
/// namespace of the controller is another drive, whose erase was not confirmed.
fn nvme(
    file: &File,
    own: Option<u32>,
    request: &Request,
    settings: &mut SettingsRestorer<'_>,
) -> io::Result<Reply> {
    let opcode = request.values[0].to_le_bytes()[0];
    let (head, data) = request.data.split_at_checked(24).ok_or_else(refused)?;
    let is_elsewhere = opcode == FORMAT && own != Some(request.values[1]);
    if !NVME.contains(&opcode) || is_elsewhere {
        return Err(refused());
    }
    let mut words = [0u32; 6];
    for (word, bytes) in words.iter_mut().zip(head.chunks_exact(4)) {
        *word = u32::from_le_bytes(bytes.try_into().expect("chunks of four"));
    }
    settings.save_feature(opcode, words);
    let mut data = data.to_vec();
    let (namespace, limit) = (request.values[1], request.timeout_ms);
    let (status, result) =
        ssdgauge_os::ioctl::nvme_admin(file, opcode, namespace, words, &mut data, limit)?;
    Ok(Reply { status: 0, values: [u32::from(status), result, 0, 0], data })
}

/// Sends a SCSI command, or an ATA command inside ATA PASS-THROUGH (16), opcode 85h.
fn scsi(file: &File, request: &Request, settings: &mut SettingsRestorer<'_>) -> io::Result<Reply> {
    let (command, data) = request.data.split_first_chunk::<16>().ok_or_else(refused)?;
    let allowed = match command[0] {
        0x85 if command[14] == SET_FEATURES => WRITE_CACHE.contains(&command[4]),
        0x85 => ATA.contains(&command[14]),
        other => SCSI.contains(&other),
    };
    if !allowed {
        return Err(refused());
    }
    if (command[0], command[14]) == (0x85, SET_FEATURES) {
        settings.save_cache(CachePath::Ata, command[4] == WRITE_CACHE[0]);
    }
    let direction = match request.values[0] {
        0 => ssdgauge_os::ioctl::ScsiDirection::None,
        1 => ssdgauge_os::ioctl::ScsiDirection::In,
        _ => ssdgauge_os::ioctl::ScsiDirection::Out,
    };
    let mut data = data.to_vec();
    let values =
        match ssdgauge_os::ioctl::scsi(file, command, direction, &mut data, request.timeout_ms)? {
            ssdgauge_os::ioctl::ScsiAnswer::Good => [0; 4],
            ssdgauge_os::ioctl::ScsiAnswer::Sense(key, code, qualifier) => {
                [1, u32::from(key), u32::from(code), u32::from(qualifier)]
            }
            ssdgauge_os::ioctl::ScsiAnswer::Lost(status) => [2, u32::from(status), 0, 0],
        };
    Ok(Reply { status: 0, values, data })
}

/// Writes a listed attribute of a device in sysfs. The path is resolved first: `..` and links must
/// not lead out of `/sys/devices`.
fn attribute(data: &[u8], settings: &mut SettingsRestorer<'_>) -> io::Result<Reply> {
    let text = std::str::from_utf8(data).map_err(|_| refused())?;
    let (path, value) = text.split_once('\0').ok_or_else(refused)?;
    let path = std::fs::canonicalize(path)?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let plain = value.len() <= 32 && value.bytes().all(|byte| byte.is_ascii_graphic());
    if !path.starts_with("/sys/devices") || !ATTRIBUTES.contains(&name) || !plain {
        return Err(refused());
    }
    settings.write(&path, value)?;
    Ok(Reply::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_outside_the_lists_are_refused() {
        let file = Arc::new(File::open("/dev/null").unwrap());
        let drive = OpenDevice::new(Arc::clone(&file));
        let mut settings = SettingsRestorer::new(&drive);
        let is_refused = |result: io::Result<Reply>| {
            result.is_err_and(|error| error.raw_os_error() == Some(libc::EPERM))
        };
        for opcode in (0..=255).filter(|opcode| !NVME.contains(opcode)) {
            let request = Request::nvme(opcode, 1, [0; 6], &[], 1_000).unwrap();
            let reply = nvme(&file, Some(1), &request, &mut settings);
            assert!(is_refused(reply), "{opcode:#x}");
        }
        // A format of another namespace, of all namespaces, and one where the own number is
        // unknown.
        for (own, requested) in [(Some(1), 2), (Some(1), u32::MAX), (None, 1)] {
            let request = Request::nvme(FORMAT, requested, [0; 6], &[], 1_000).unwrap();
            let reply = nvme(&file, own, &request, &mut settings);
            assert!(is_refused(reply), "{own:?} {requested}");
        }
        // WRITE (10), WRITE SAME, UNMAP, FORMAT UNIT, WRITE BUFFER.
        for command in [0x2a, 0x41, 0x42, 0x04, 0x3b] {
            let mut cdb = [0; 16];
            cdb[0] = command;
            let request =
                Request::scsi(&cdb, ssdgauge_os::ioctl::ScsiDirection::Out, &[], 1_000).unwrap();
            assert!(is_refused(scsi(&file, &request, &mut settings)), "{command:#x}");
        }
        // ATA WRITE DMA, DOWNLOAD MICROCODE, SET FEATURES without a feature.
        for command in [0xca, 0x92, SET_FEATURES] {
            let mut cdb = [0; 16];
            (cdb[0], cdb[14]) = (0x85, command);
            let request =
                Request::scsi(&cdb, ssdgauge_os::ioctl::ScsiDirection::Out, &[], 1_000).unwrap();
            assert!(is_refused(scsi(&file, &request, &mut settings)), "{command:#x}");
        }
        for (path, value) in [
            ("/etc/hostname", "x"),
            ("/sys/power/state", "mem"),
            ("/proc/sysrq-trigger", "b"),
            ("/sys/devices/../../etc/hostname", "x"),
        ] {
            let request = Request::attribute(Path::new(path), value).unwrap();
            assert!(attribute(&request.data, &mut settings).is_err(), "{path}");
        }
    }
}
