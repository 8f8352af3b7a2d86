//! The io_uring calls that the `io-uring` crate does not offer: registered ring descriptors.

use std::io;
use std::time::Duration;

/// Registers the ring `fd` with the calling thread and returns its index. A call with the index
/// saves the kernel the look-up of the descriptor. The index is valid on this thread only.
///
/// # Errors
/// The error of the kernel, `EINVAL` before Linux 5.18.
pub fn register_ring(fd: i32) -> io::Result<u32> {
    const REGISTER_RING_FDS: libc::c_uint = 20;
    /// `struct io_uring_rsrc_update`.
    #[repr(C)]
    struct Update {
        offset: u32,
        reserved: u32,
        data: u64,
    }
    let mut update = Update { offset: u32::MAX, reserved: 0, data: fd as u64 };
    // SAFETY: the call reads and writes one update, which lives until it returns.
    let done = unsafe {
        libc::syscall(libc::SYS_io_uring_register, fd, REGISTER_RING_FDS, &mut update, 1)
    };
    if done == 1 { Ok(update.offset) } else { Err(io::Error::last_os_error()) }
}

/// Submits `submit` requests of a ring, waits for `wait` completions, at most `time`, and returns
/// the number of requests that the kernel took. `fd` is an index of [`register_ring`] if
/// `registered`, else a descriptor.
///
/// # Errors
/// The error of the kernel. `EINTR` and `ETIME` may come after requests were taken: the caller
/// reads the submission queue to learn how many are left.
#[inline]
pub fn enter_ring(
    fd: i32,
    registered: bool,
    submit: u32,
    wait: u32,
    time: Option<Duration>,
) -> io::Result<u32> {
    const GETEVENTS: libc::c_uint = 1;
    const EXT_ARG: libc::c_uint = 8;
    const REGISTERED_RING: libc::c_uint = 16;
    /// `struct io_uring_getevents_arg`.
    #[repr(C)]
    struct Wait {
        signals: u64,
        signals_size: u32,
        least: u32,
        time: u64,
    }
    // Always with GETEVENTS: rings with deferred task run post completions only in such a call.
    let flags = GETEVENTS | if registered { REGISTERED_RING } else { 0 };
    let result = match time {
        // SAFETY: no argument structure is passed; the kernel checks the counts against the
        // queue, whose entries hold buffers that outlive the requests.
        None => unsafe {
            libc::syscall(libc::SYS_io_uring_enter, fd, submit, wait, flags, 0usize, 0usize)
        },
        Some(time) => {
            let time = libc::timespec {
                tv_sec: time.as_secs() as i64,
                tv_nsec: libc::c_long::from(time.subsec_nanos()),
            };
            let until =
                Wait { signals: 0, signals_size: 0, least: 0, time: &raw const time as u64 };
            // SAFETY: as above; argument and time live until the call returns.
            unsafe {
                libc::syscall(
                    libc::SYS_io_uring_enter,
                    fd,
                    submit,
                    wait,
                    flags | EXT_ARG,
                    &until,
                    size_of::<Wait>(),
                )
            }
        }
    };
    u32::try_from(result).map_err(|_| io::Error::last_os_error())
}
