//! Pass-through ioctls: NVMe admin commands and SCSI commands.
//!
//! They send what they are given. Which commands may be sent is decided by the caller.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The request number of an NVMe admin command, NVME_IOCTL_ADMIN_CMD (include/uapi/linux/nvme_ioctl.h).
pub const NVME_ADMIN_COMMAND: u32 = 0xc048_4e41;
/// The request number of a SCSI command, SG_IO (include/scsi/sg.h).
pub const SCSI_COMMAND: u32 = 0x2285;

/// Returns the identifier of the NVMe namespace (NSID) of `file`: its block device, or its character
/// device for commands. Nothing is sent to the drive.
///
/// # Errors
/// The error of the kernel, `ENOTTY` where `file` is not a namespace.
pub fn nvme_namespace(file: &File) -> io::Result<u32> {
    /// NVME_IOCTL_ID (linux/nvme_ioctl.h).
    const NVME_NAMESPACE: u32 = 0x4e40;
    // SAFETY: the call has no argument.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), NVME_NAMESPACE as libc::Ioctl) };
    match u32::try_from(result) {
        Ok(number) => Ok(number),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// The kernel's `struct nvme_admin_cmd` (linux/nvme_ioctl.h).
#[repr(C)]
#[derive(Default)]
struct NvmeAdmin {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_length: u32,
    data_length: u32,
    words_10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// Sends an NVMe admin command through the descriptor of the drive. `words` are command dwords 10
/// to 15. Returns the status field of the completion, 0 on success, and its dword 0.
///
/// # Errors
/// The error of the kernel: the command did not reach the drive, or timed out.
pub fn nvme_admin(
    file: &File,
    opcode: u8,
    namespace: u32,
    words: [u32; 6],
    data: &mut [u8],
    timeout_ms: u32,
) -> io::Result<(u16, u32)> {
    const { assert!(size_of::<NvmeAdmin>() == 72) };
    let address = if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 };
    let mut command = NvmeAdmin {
        opcode,
        namespace,
        address,
        data_length: data.len() as u32,
        words_10_to_15: words,
        timeout_ms,
        ..NvmeAdmin::default()
    };
    // SAFETY: the structure is the one that the call is declared with; the kernel moves at most
    // `data_length` bytes to or from `data`, which lives until the call returns.
    let status =
        unsafe { libc::ioctl(file.as_raw_fd(), NVME_ADMIN_COMMAND as libc::Ioctl, &mut command) };
    // Above zero is the status of the drive, −1 an error of the kernel.
    match u16::try_from(status) {
        Ok(status) => Ok((status, command.result)),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// The data direction of a SCSI command.
#[derive(Clone, Copy, Debug)]
pub enum ScsiDirection {
    /// No data.
    None,
    /// From the drive.
    In,
    /// To the drive.
    Out,
}

/// The outcome of a SCSI command.
#[derive(Clone, Copy, Debug)]
pub enum ScsiAnswer {
    /// Status GOOD.
    Good,
    /// Any other status: sense key, additional sense code and its qualifier.
    Sense(u8, u8, u8),
    /// Status CHECK CONDITION because an ATA command that succeeded was to return its registers: bits 23:0 of the
    /// LBA field.
    Registers(u32),
    /// The command did not reach the drive: status of the host adapter.
    Lost(u16),
}

/// The kernel's `struct sg_io_hdr` (scsi/sg.h).
#[repr(C)]
struct ScsiRequest {
    interface: i32,
    direction: i32,
    command_length: u8,
    sense_length: u8,
    vectors: u16,
    data_length: u32,
    data: *mut u8,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack: i32,
    user: *mut u8,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residue: i32,
    duration_ms: u32,
    info: u32,
}

/// Sends a SCSI command with its data through the descriptor of the drive (SG_IO).
///
/// # Errors
/// The error of the kernel: the target has no SG_IO, or the command is not permitted.
pub fn scsi(
    file: &File,
    command: &[u8; 16],
    direction: ScsiDirection,
    data: &mut [u8],
    timeout_ms: u32,
) -> io::Result<ScsiAnswer> {
    let mut sense = [0u8; SENSE];
    let mut request = ScsiRequest {
        interface: i32::from(b'S'),
        direction: match direction {
            ScsiDirection::None => -1,
            ScsiDirection::Out => -2,
            ScsiDirection::In => -3,
        },
        command_length: command.len() as u8,
        sense_length: sense.len() as u8,
        vectors: 0,
        data_length: data.len() as u32,
        data: data.as_mut_ptr(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms,
        flags: 0,
        pack: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residue: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: the structure is the one that the call is declared with; command, data and sense
    // are as long as it says and live until the call returns.
    match unsafe { libc::ioctl(file.as_raw_fd(), SCSI_COMMAND as libc::Ioctl, &mut request) } {
        0 => {}
        _ => return Err(io::Error::last_os_error()),
    }
    Ok(match (request.host_status, request.status) {
        (0, 0) => ScsiAnswer::Good,
        // Bit 7 is not part of the response code.
        (0, _) => answer_of(&sense),
        (host_status, _) => ScsiAnswer::Lost(host_status),
    })
}

/// The length of the sense data that is read, in bytes: several descriptors.
const SENSE: usize = 64;

/// Sense key and code of a command that succeeded, with its registers: "recovered error, ATA pass through
/// information available" (SAT-3, section 12.2.5).
const ATA_INFORMATION: (u8, u8, u8) = (1, 0x00, 0x1d);

/// Returns what the sense data state.
fn answer_of(sense: &[u8; SENSE]) -> ScsiAnswer {
    // Bit 7 is not part of the response code. Descriptor format, else fixed format (SPC-4, section 4.5).
    let is_descriptors = matches!(sense[0] & 0x7f, 0x72 | 0x73);
    let (key, code, qualifier) = match is_descriptors {
        true => (sense[1] & 15, sense[2], sense[3]),
        false => (sense[2] & 15, sense[12], sense[13]),
    };
    let registers = match is_descriptors {
        true => ata_descriptor(sense),
        // The command-specific information, after its flags (SAT-3, table 161).
        false => Some([sense[9], sense[10], sense[11]]),
    };
    match registers.filter(|_| (key, code, qualifier) == ATA_INFORMATION) {
        Some([low, middle, high]) => {
            ScsiAnswer::Registers(u32::from_le_bytes([low, middle, high, 0]))
        }
        None => ScsiAnswer::Sense(key, code, qualifier),
    }
}

/// Returns bits 23:0 of the LBA field in the ATA Status Return descriptor (SAT-3, table 160), the lowest byte first;
/// `None` where the sense data have none.
fn ata_descriptor(sense: &[u8; SENSE]) -> Option<[u8; 3]> {
    const ATA_STATUS_RETURN: u8 = 0x09;
    let end = SENSE.min(8 + usize::from(sense[7]));
    let mut rest = &sense[8..end];
    while let [kind, length, ..] = *rest {
        let whole = 2 + usize::from(length);
        let descriptor = rest.get(..whole)?;
        if kind == ATA_STATUS_RETURN {
            return Some([*descriptor.get(7)?, *descriptor.get(9)?, *descriptor.get(11)?]);
        }
        rest = &rest[whole..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sense(bytes: &[u8]) -> [u8; SENSE] {
        let mut sense = [0; SENSE];
        sense[..bytes.len()].copy_from_slice(bytes);
        sense
    }

    #[test]
    fn registers_of_an_ata_command_are_read_from_both_formats() {
        // SMART RETURN STATUS (ACS-3, 7.48.8) of a failing drive: LBA 2CF400h. SAT-3, tables 160 and 161.
        let descriptor = [
            0x72, 1, 0, 0x1d, 0, 0, 0, 14, 0x09, 12, 0, 0, 0, 0, 0, 0x00, 0, 0xf4, 0, 0x2c, 0xa0,
            0x50,
        ];
        let fixed = [0xf0, 0, 1, 0, 0x50, 0xa0, 0, 10, 0, 0x00, 0xf4, 0x2c, 0x00, 0x1d];
        // Another descriptor in front: information (SPC-4, 4.5.2.2).
        let mut second =
            vec![0x72, 1, 0, 0x1d, 0, 0, 0, 26, 0x00, 10, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        second.extend(&descriptor[8..22]);
        for bytes in [&descriptor[..], &fixed, &second] {
            let found = answer_of(&sense(bytes));
            assert!(matches!(found, ScsiAnswer::Registers(0x2c_f400)), "{found:?}");
        }
    }

    #[test]
    fn other_sense_data_are_errors_and_damaged_ones_end_no_program() {
        // The drive aborted the command: no registers are taken from it, although they are there.
        let mut aborted = [
            0x72, 0x0b, 0, 0, 0, 0, 0, 14, 0x09, 12, 0, 4, 0, 0, 0, 0, 0, 0x4f, 0, 0xc2, 0xa0, 0x51,
        ];
        assert!(matches!(answer_of(&sense(&aborted)), ScsiAnswer::Sense(0x0b, 0, 0)));
        (aborted[1], aborted[3], aborted[8]) = (1, 0x1d, 0x0a);
        assert!(
            matches!(answer_of(&sense(&aborted)), ScsiAnswer::Sense(1, 0, 0x1d)),
            "no descriptor"
        );
        for length in 0..=255 {
            for inner in 0..=255 {
                let bytes = [0x72, 1, 0, 0x1d, 0, 0, 0, length, 0x03, inner, 0, 0, 0x09, inner];
                answer_of(&sense(&bytes));
            }
        }
    }
}
