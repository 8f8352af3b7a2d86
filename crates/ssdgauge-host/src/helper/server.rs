//! Server of the privileged helper: a process that stays root, for one drive, its queries and the
//! changes of one plan.
//!
//! It carries no I/O load, has the drive open for reading only, and has no interface but the socket
//! to the run that started it. Each request is checked (`permissions`). The helper ends
//! with the run, and then restores the settings that the run changed.

use super::attachment::Attachment;
use super::permissions::{ATA, ATA_SET_FEATURES, ATA_WRITE_CACHE, Permissions, refused};
use super::saved_settings::SettingsRestorer;
use super::search;
use crate::capabilities;
use crate::settings::write_cache::CachePath;
use crate::{paths, system_calls};
use rustix::thread::CapabilitySet;
use ssdgauge_core::DriveChange;
use ssdgauge_drive::helper::message::{Reply, Request, RequestKind};
use ssdgauge_drive::pass_through::OpenDevice;
use ssdgauge_drive::sysfs_device::SysfsDevice;
use ssdgauge_os::own_process::OwnProcess;
use ssdgauge_os::system_calls::denied_call;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

/// Serves the requests that arrive through standard input for the drive with the number `device` and
/// the disk sequence `sequence`, until the run closes the socket or ends: queries, and the `changes` of
/// its plan.
///
/// # Errors
/// The drive cannot be opened or was attached again, privileges cannot be dropped, or the socket fails.
pub fn serve(device: &str, sequence: Option<u64>, changes: &[DriveChange]) -> io::Result<()> {
    let parent = std::os::unix::process::parent_id();
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let search = search::start(device, parent)?;
    let folder = std::fs::canonicalize(format!("/sys/dev/block/{device}"))?;
    drop_capabilities(SysfsDevice::from_folder(Path::new("/sys"), &folder).is_scsi())?;
    let attachment = Attachment::open(device, sequence)?;
    let (file, folder) = (Arc::clone(&attachment.file), &attachment.folder);
    let namespace = std::fs::read_to_string(folder.join("nsid"));
    let namespace = namespace.ok().and_then(|text| text.trim().parse().ok());
    let permissions = Permissions::new(changes, folder, namespace);
    let drive = OpenDevice::new(Arc::clone(&file));
    let mut settings = SettingsRestorer::new(&drive);
    // What a kernel without them cannot enforce is checked only by `permissions`.
    let paths = paths::restrict_helper(permissions.attributes());
    let restrictions = format!("{paths}, {}", system_calls::restrict_helper());
    let mut serve_one = || -> io::Result<bool> {
        let Some(request) = Request::receive(&mut socket)? else { return Ok(false) };
        // Searches and attributes lead to what has the number and the path now.
        let reply = attachment.check().and_then(|()| match request.kind {
            RequestKind::Writers => writers(&search),
            RequestKind::Nvme => nvme(&file, &permissions, &request, &mut settings),
            RequestKind::Scsi => scsi(&file, &permissions, &request, &mut settings),
            RequestKind::Attribute => attribute(&permissions, &request.data, &mut settings),
            RequestKind::Restrictions => {
                Ok(Reply { data: restrictions.clone().into_bytes(), ..Reply::default() })
            }
        });
        // A fault in this process is reported, whichever request showed it.
        let reply = match denied_call() {
            Some(number) => Err(refused(&format!("the system call {number}"))),
            None => reply,
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
    // The run has ended, in order or killed. Only this process can still restore its settings, on this
    // drive alone.
    if attachment.check().is_ok() {
        settings.restore();
    }
    ended
}

/// Drops every capability but those for the requests: SYS_ADMIN for NVMe commands, SYS_RAWIO for
/// commands to a SCSI device.
fn drop_capabilities(is_scsi: bool) -> io::Result<()> {
    let commands = match is_scsi {
        true => CapabilitySet::SYS_RAWIO,
        false => CapabilitySet::empty(),
    };
    capabilities::keep_only(CapabilitySet::SYS_ADMIN | commands)
}

/// Returns the processes that have the drive open for writing, the run itself left out.
fn writers(search: &OwnProcess) -> io::Result<Reply> {
    Ok(Reply { data: search::writers(search)?, ..Reply::default() })
}

fn malformed() -> io::Error {
    refused("a malformed request")
}

/// Sends an NVMe command.
fn nvme(
    file: &File,
    permissions: &Permissions,
    request: &Request,
    settings: &mut SettingsRestorer<'_>,
) -> io::Result<Reply> {
    let opcode = request.values[0].to_le_bytes()[0];
    let (head, data) = request.data.split_at_checked(24).ok_or_else(malformed)?;
    let mut words = [0u32; 6];
    for (word, bytes) in words.iter_mut().zip(head.chunks_exact(4)) {
        *word = u32::from_le_bytes(bytes.try_into().expect("chunks of four"));
    }
    permissions.check_nvme(opcode, request.values[1], words, settings.found_power_state())?;
    settings.save_feature(opcode, words);
    let mut data = data.to_vec();
    let (namespace, limit) = (request.values[1], request.timeout_ms);
    let (status, result) =
        ssdgauge_os::ioctl::nvme_admin(file, opcode, namespace, words, &mut data, limit)?;
    Ok(Reply { status: 0, values: [u32::from(status), result, 0, 0], data })
}

/// Sends a SCSI command, or an ATA command inside ATA PASS-THROUGH (16).
fn scsi(
    file: &File,
    permissions: &Permissions,
    request: &Request,
    settings: &mut SettingsRestorer<'_>,
) -> io::Result<Reply> {
    let (command, data) = request.data.split_first_chunk::<16>().ok_or_else(malformed)?;
    permissions.check_scsi(command)?;
    if (command[0], command[14]) == (ATA, ATA_SET_FEATURES) {
        settings.save_cache(CachePath::Ata, command[4] == ATA_WRITE_CACHE[0]);
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
            ssdgauge_os::ioctl::ScsiAnswer::Registers(lba) => [3, lba, 0, 0],
        };
    Ok(Reply { status: 0, values, data })
}

/// Writes an attribute of the drive in sysfs. The path is resolved first: `..` and links must not lead
/// to another one.
fn attribute(
    permissions: &Permissions,
    data: &[u8],
    settings: &mut SettingsRestorer<'_>,
) -> io::Result<Reply> {
    let text = std::str::from_utf8(data).map_err(|_| malformed())?;
    let (path, value) = text.split_once('\0').ok_or_else(malformed)?;
    let path = std::fs::canonicalize(path)?;
    permissions.check_attribute(&path, value, settings.found_attribute(&path))?;
    settings.write(&path, value)?;
    Ok(Reply::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_drive::fixture::Fixture;

    #[test]
    fn what_the_plan_does_not_contain_is_refused_before_anything_is_sent() {
        let file = File::open("/dev/null").unwrap();
        let drive = Fixture::without_responses();
        let mut settings = SettingsRestorer::new(&drive);
        let permissions = Permissions::new(&[], Path::new("/sys/none"), Some(1));
        let none = ssdgauge_os::ioctl::ScsiDirection::None;
        let mut erase = [0; 16];
        (erase[0], erase[14]) = (ATA, 0xf4);
        let format = Request::nvme(0x80, 1, [0; 6], &[], 1_000).unwrap();
        let erase = Request::scsi(&erase, none, &[], 1_000).unwrap();
        let link = Request::attribute(Path::new("/sys/power/state"), "mem").unwrap();
        for result in [
            nvme(&file, &permissions, &format, &mut settings),
            scsi(&file, &permissions, &erase, &mut settings),
            attribute(&permissions, &link.data, &mut settings),
        ] {
            // The client receives the words.
            let reply = Reply::from_result(result);
            assert_eq!(reply.status, libc::EPERM);
            let error = reply.copy_data_to(&mut []).unwrap_err().to_string();
            assert!(error.contains("it is not in the plan of this run"), "{error}");
        }
        // A query reaches the device, which is none.
        let query = Request::nvme(0x06, 1, [1, 0, 0, 0, 0, 0], &[0; 4_096], 1_000).unwrap();
        let error = nvme(&file, &permissions, &query, &mut settings).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    }
}
