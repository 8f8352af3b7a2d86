//! NVMe admin commands and SCSI commands through the descriptor of a drive.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

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

/// Sends an NVMe admin command through the descriptor of the drive; returns its status, 0 where
/// it succeeded, and the first word of the answer.
pub fn nvme_admin(
    file: &File,
    opcode: u8,
    namespace: u32,
    words: [u32; 6],
    data: &mut [u8],
    timeout_ms: u32,
) -> io::Result<(u16, u32)> {
    const NVME_IOCTL_ADMIN_CMD: libc::c_ulong = 0xc048_4e41;
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
    let status = unsafe { libc::ioctl(file.as_raw_fd(), NVME_IOCTL_ADMIN_CMD, &mut command) };
    match u16::try_from(status) {
        Ok(status) => Ok((status, command.result)),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Which way the data of a SCSI command goes.
#[derive(Clone, Copy, Debug)]
pub enum ScsiDirection {
    /// It has none.
    None,
    /// From the drive.
    In,
    /// To the drive.
    Out,
}

/// What became of a SCSI command.
#[derive(Clone, Copy, Debug)]
pub enum ScsiAnswer {
    /// The drive carried it out.
    Good,
    /// Sense key, code and qualifier.
    Sense(u8, u8, u8),
    /// It did not reach the drive; the status of the host adapter.
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

/// Sends a SCSI command with its data through the descriptor of the drive.
pub fn scsi(
    file: &File,
    command: &[u8; 16],
    direction: ScsiDirection,
    data: &mut [u8],
    timeout_ms: u32,
) -> io::Result<ScsiAnswer> {
    const SG_IO: libc::c_ulong = 0x2285;
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
    match unsafe { libc::ioctl(file.as_raw_fd(), SG_IO, &mut request) } {
        0 => {}
        _ => return Err(io::Error::last_os_error()),
    }
    Ok(match (request.host_status, request.status) {
        (0, 0) => ScsiAnswer::Good,
        (0, _) => match sense[0] & 0x7f {
            // Sense data with descriptors, and sense data of fixed form.
            0x72 | 0x73 => ScsiAnswer::Sense(sense[1] & 15, sense[2], sense[3]),
            _ => ScsiAnswer::Sense(sense[2] & 15, sense[12], sense[13]),
        },
        (lost, _) => ScsiAnswer::Lost(lost),
    })
}
