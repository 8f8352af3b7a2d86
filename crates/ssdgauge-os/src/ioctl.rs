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
    let mut sense = [0u8; 32];
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
        (0, _) => match sense[0] & 0x7f {
            // Descriptor format, else fixed format (SPC-4, section 4.5).
            0x72 | 0x73 => ScsiAnswer::Sense(sense[1] & 15, sense[2], sense[3]),
            _ => ScsiAnswer::Sense(sense[2] & 15, sense[12], sense[13]),
        },
        (host_status, _) => ScsiAnswer::Lost(host_status),
    })
}
