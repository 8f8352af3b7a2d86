//! The results of NVMe commands as error numbers, their meaning and their class.
//!
//! A completion of the kernel has the status of the drive as a positive number, or a negative error
//! number. Both fit into one number: a status is above all error numbers.

/// The first number that is a status and no error number.
const STATUS: i32 = 1 << 16;
/// The bits of a status field without its retry hints: status code and status code type.
const MEANING: i32 = 0x7ff;

/// The status of a command that the driver could not send (Host Pathing Error), and of one that it
/// cancelled when it reset, shut down or lost the controller (Command Aborted By Host).
const HOST_PATH_ERROR: i32 = 0x370;
const ABORTED_BY_HOST: i32 = 0x371;

/// Returns the number of a completion without success, whose result is `result`.
pub(crate) fn number(result: i32) -> i32 {
    match result {
        // The driver reports a cancelled command as an interrupted call.
        _ if result == -libc::EINTR => STATUS | ABORTED_BY_HOST,
        1.. => STATUS | result & MEANING,
        _ => -result,
    }
}

/// Returns the error number with which the block layer of Linux 6.1 reports `number` (`nvme_error_status`
/// in drivers/nvme/host/core.c); error numbers are returned as they are.
pub(crate) fn error_number(number: i32) -> i32 {
    match status(number) {
        None => number,
        Some(0x81) => libc::ENOSPC,
        Some(0x80 | 0x21 | 0x82) => libc::EREMOTEIO,
        Some(0x01 | 0x02 | 0x0b | 0x180) => libc::EOPNOTSUPP,
        Some(0x280 | 0x281 | 0x285 | 0x286 | 0x287 | 0x182) => libc::ENODATA,
        Some(0x282..=0x284 | 0x181) => libc::EILSEQ,
        Some(0x83) => libc::EBADE,
        Some(HOST_PATH_ERROR) => libc::ENOLINK,
        Some(_) => libc::EIO,
    }
}

/// Returns whether `number` says that the controller was reset or removed, or could not be reached.
pub(crate) fn lost_controller(number: i32) -> bool {
    matches!(status(number), Some(HOST_PATH_ERROR | ABORTED_BY_HOST))
}

/// Returns `number` in words.
pub(crate) fn words(number: i32) -> String {
    let Some(status) = status(number) else {
        return std::io::Error::from_raw_os_error(number).to_string();
    };
    let (kind, code) = (status >> 8, status & 0xff);
    let name = name(status).map_or(String::new(), |name| format!("{name}, "));
    format!("{name}NVMe status code type {kind}h, status code {code:02x}h")
}

/// Returns the status that `number` is, if it is one.
fn status(number: i32) -> Option<i32> {
    // Error numbers of Linux end at 4,095 (MAX_ERRNO).
    (number >= STATUS).then_some(number & MEANING)
}

/// Returns the name of a status (NVM Express Base Specification 2.0, figures 94 to 100).
fn name(status: i32) -> Option<&'static str> {
    Some(match status {
        0x01 => "Invalid Command Opcode",
        0x02 => "Invalid Field in Command",
        0x04 => "Data Transfer Error",
        0x05 => "Commands Aborted due to Power Loss Notification",
        0x06 => "Internal Error",
        0x07 => "Command Abort Requested",
        0x08 => "Command Aborted due to SQ Deletion",
        0x0b => "Invalid Namespace or Format",
        0x1c => "Sanitize Failed",
        0x1d => "Sanitize In Progress",
        0x20 => "Namespace is Write Protected",
        0x21 => "Command Interrupted",
        0x80 => "LBA Out of Range",
        0x81 => "Capacity Exceeded",
        0x82 => "Namespace Not Ready",
        0x83 => "Reservation Conflict",
        0x84 => "Format In Progress",
        0x180 => "Conflicting Attributes",
        0x181 => "Invalid Protection Information",
        0x182 => "Attempted Write to Read Only Range",
        0x280 => "Write Fault",
        0x281 => "Unrecovered Read Error",
        0x282 => "End-to-end Guard Check Error",
        0x283 => "End-to-end Application Tag Check Error",
        0x284 => "End-to-end Reference Tag Check Error",
        0x285 => "Compare Failure",
        0x286 => "Access Denied",
        0x287 => "Deallocated or Unwritten Logical Block",
        HOST_PATH_ERROR => "Host Pathing Error: the driver could not send it",
        ABORTED_BY_HOST => "Command Aborted By Host: the controller was reset or removed",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_the_class_of_the_block_layer_and_its_name() {
        for (result, class, text) in [
            (-libc::ENODEV, libc::ENODEV, "No such device"),
            (-libc::EINTR, libc::EIO, "Command Aborted By Host"),
            (
                0x281,
                libc::ENODATA,
                "Unrecovered Read Error, NVMe status code type 2h, status code 81h",
            ),
            // The same with the bits More and Do Not Retry.
            (0x6281, libc::ENODATA, "Unrecovered Read Error"),
            (0x81, libc::ENOSPC, "Capacity Exceeded"),
            (0x80, libc::EREMOTEIO, "LBA Out of Range"),
            (0x282, libc::EILSEQ, "Guard Check"),
            (0x7c5, libc::EIO, "NVMe status code type 7h, status code c5h"),
        ] {
            let number = number(result);
            assert_eq!(error_number(number), class, "{result:#x}");
            assert!(words(number).contains(text), "{}", words(number));
        }
    }

    #[test]
    fn a_cancelled_command_shows_that_the_controller_was_lost() {
        assert!(lost_controller(number(-libc::EINTR)) && lost_controller(number(0x4370)));
        assert!(!lost_controller(number(-libc::EIO)) && !lost_controller(number(0x281)));
    }
}
