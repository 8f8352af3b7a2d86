//! The system calls of each process of a run, as filters of the kernel (seccomp).
//!
//! The run starts meters and looks, which inherit its filter, so its list is that of an ordinary
//! program: everything but the calls that change the machine, look into other processes, enter
//! namespaces or load code into the kernel. The privileged helper and its search start no program;
//! their lists hold what a trace of their requests shows.

mod lists;

#[cfg(target_arch = "x86_64")]
use lists::X86;
use lists::{
    FILES, FOLDERS, HELPER, MEMORY, PROCESSES, RINGS, SEARCH, SIGNALS, SOCKETS, SYSTEM, TIME,
    USERS, WAITS,
};
use ssdgauge_os::ioctl::{NVME_ADMIN_COMMAND, SCSI_COMMAND};
use ssdgauge_os::system_calls::{self, Argument, Denial, Permitted};
use std::ffi::c_long;

/// The variable of the environment that switches the filters off, for a library or a meter that
/// needs another call.
pub(crate) const SWITCH_OFF: &str = "SSDGAUGE_NO_SECCOMP";

/// Restricts this thread and all that it starts to the calls of a run. Returns the restriction in
/// force as text.
pub(crate) fn restrict_run() -> String {
    restrict(&run(), Denial::NotImplemented)
}

fn run() -> Vec<Permitted> {
    let mut permitted = with_any_arguments(&[
        FILES,
        FOLDERS,
        MEMORY,
        PROCESSES,
        USERS,
        SIGNALS,
        TIME,
        WAITS,
        SOCKETS,
        RINGS,
        SYSTEM,
        #[cfg(target_arch = "x86_64")]
        X86,
    ]);
    permitted.extend(new_threads());
    permitted
}

/// Restricts this thread and all that it starts to the calls of a run, but for those that reach the sockets of
/// other programs: some of these obey root. Returns the restriction in force as text.
pub(crate) fn restrict_reader() -> String {
    restrict(&reader(), Denial::NotImplemented)
}

fn reader() -> Vec<Permitted> {
    let mut permitted = run();
    permitted.retain(|one| !TO_OTHERS.contains(&one.number));
    // A datagram needs no connection.
    let stream = Argument { index: 1, mask: TYPE_OF_SOCKET, value: libc::SOCK_STREAM as u32 };
    permitted.push(Permitted { number: libc::SYS_socket, argument: Some(stream) });
    permitted
}

/// The calls that reach the sockets of other programs.
const TO_OTHERS: [c_long; 2] = [libc::SYS_connect, libc::SYS_socket];
/// The type of a socket without its flags (socket(2)).
const TYPE_OF_SOCKET: u32 = 0xf;

/// Restricts the privileged helper: reads, commands to its drive, writes of existing attributes.
/// Returns the restriction in force as text.
pub(crate) fn restrict_helper() -> String {
    restrict(&helper(), Denial::Recorded)
}

fn helper() -> Vec<Permitted> {
    let mut permitted = with_any_arguments(&[HELPER]);
    for command in [NVME_ADMIN_COMMAND, SCSI_COMMAND] {
        let argument = Some(Argument { index: 1, mask: u32::MAX, value: command });
        permitted.push(Permitted { number: libc::SYS_ioctl, argument });
    }
    // `fs::write` opens with O_CREAT; sysfs creates no files.
    permitted.push(opens(libc::O_RDONLY));
    permitted.push(opens(libc::O_WRONLY));
    permitted.extend(without_code());
    permitted
}

/// Restricts the search for writers to reads, and to the status of loop devices. Returns the
/// restriction in force as text.
pub(crate) fn restrict_search() -> String {
    restrict(&search(), Denial::NotImplemented)
}

fn search() -> Vec<Permitted> {
    let mut permitted = with_any_arguments(&[HELPER, SEARCH]);
    for query in LOOP_QUERIES {
        let argument = Some(Argument { index: 1, mask: u32::MAX, value: query });
        permitted.push(Permitted { number: libc::SYS_ioctl, argument });
    }
    permitted.push(opens(libc::O_RDONLY));
    permitted.extend(new_threads());
    permitted.extend(without_code());
    permitted
}

fn restrict(permitted: &[Permitted], denial: Denial) -> String {
    if std::env::var_os(SWITCH_OFF).is_some_and(|value| !value.is_empty()) {
        return format!("no seccomp ({SWITCH_OFF})");
    }
    // The older call `clone` is used then. Each new thread would cause a line in the kernel's log.
    let hide = || match denial {
        Denial::NotImplemented => system_calls::hide(&[libc::SYS_clone3]),
        Denial::Recorded => Ok(()),
    };
    match hide().and_then(|()| system_calls::permit_only(permitted, denial)) {
        Ok(()) => "system calls of a list only (seccomp)".into(),
        Err(error) => format!("no seccomp ({error})"),
    }
}

fn with_any_arguments(groups: &[&[c_long]]) -> Vec<Permitted> {
    let numbers = groups.iter().flat_map(|group| group.iter());
    numbers.map(|number| Permitted { number: *number, argument: None }).collect()
}

/// An open with the access `access`. `openat2` is not permitted: a filter cannot read its arguments.
fn opens(access: i32) -> Permitted {
    // O_PATH and the modes of access are of the first 32 bits.
    let argument = Argument { index: 2, mask: libc::O_ACCMODE as u32, value: access as u32 };
    Permitted { number: libc::SYS_openat, argument: Some(argument) }
}

/// Memory that is not executable.
fn without_code() -> [Permitted; 2] {
    let argument = Some(Argument { index: 2, mask: libc::PROT_EXEC as u32, value: 0 });
    [libc::SYS_mmap, libc::SYS_mprotect].map(|number| Permitted { number, argument })
}

/// A new thread or process without new namespaces. `clone3` is hidden by another filter, because none
/// can read its flags.
fn new_threads() -> [Permitted; 2] {
    let argument = Some(Argument { index: 0, mask: NEW_NAMESPACES as u32, value: 0 });
    [
        Permitted { number: libc::SYS_clone, argument },
        Permitted { number: libc::SYS_clone3, argument: None },
    ]
}
const NEW_NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

/// LOOP_GET_STATUS64, BLKGETSIZE64, BLKROGET and BLKGETDISKSEQ.
const LOOP_QUERIES: [u32; 4] = [0x4c05, 0x8008_1272, 0x125e, 0x8008_1280];

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls that change the machine, look into other processes, enter namespaces or load code.
    const DANGEROUS: &[c_long] = &[
        libc::SYS_acct,
        libc::SYS_add_key,
        libc::SYS_adjtimex,
        libc::SYS_bpf,
        libc::SYS_chroot,
        libc::SYS_clock_settime,
        libc::SYS_delete_module,
        libc::SYS_fanotify_init,
        libc::SYS_finit_module,
        libc::SYS_fsmount,
        libc::SYS_fsopen,
        libc::SYS_init_module,
        libc::SYS_kexec_file_load,
        libc::SYS_kexec_load,
        libc::SYS_keyctl,
        libc::SYS_mount,
        libc::SYS_mount_setattr,
        libc::SYS_move_mount,
        libc::SYS_open_by_handle_at,
        libc::SYS_open_tree,
        libc::SYS_perf_event_open,
        libc::SYS_personality,
        libc::SYS_pidfd_getfd,
        libc::SYS_pivot_root,
        libc::SYS_process_madvise,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_ptrace,
        libc::SYS_quotactl,
        libc::SYS_reboot,
        libc::SYS_request_key,
        libc::SYS_setdomainname,
        libc::SYS_sethostname,
        libc::SYS_setns,
        libc::SYS_settimeofday,
        libc::SYS_swapoff,
        libc::SYS_swapon,
        libc::SYS_syslog,
        libc::SYS_umount2,
        libc::SYS_unshare,
        libc::SYS_userfaultfd,
        libc::SYS_vhangup,
    ];

    fn numbers(permitted: &[Permitted]) -> Vec<c_long> {
        permitted.iter().map(|one| one.number).collect()
    }

    #[test]
    fn no_process_may_make_a_dangerous_call() {
        for list in [run(), reader(), helper(), search()] {
            let list = numbers(&list);
            assert!(DANGEROUS.iter().all(|number| !list.contains(number)));
        }
    }

    #[test]
    fn helper_and_search_start_no_program_create_no_file_and_use_no_network() {
        let denied = [
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_openat2,
            libc::SYS_unlinkat,
            libc::SYS_renameat2,
            libc::SYS_linkat,
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_io_uring_setup,
            libc::SYS_pwrite64,
        ];
        for list in [helper(), search()] {
            let list = numbers(&list);
            assert!(denied.iter().all(|number| !list.contains(number)));
        }
        // A condition counts only where the call is not permitted without one as well.
        for list in [run(), reader(), helper(), search()] {
            for one in list.iter().filter(|one| one.argument.is_some()) {
                let alone = list.iter().filter(|two| two.number == one.number);
                assert!(alone.clone().all(|two| two.argument.is_some()), "{one:?}");
            }
        }
    }

    #[test]
    fn only_the_helper_sends_commands_and_the_search_opens_nothing_for_writing() {
        let values = |list: Vec<Permitted>, number: c_long| -> Vec<u32> {
            let all = list.into_iter().filter(|one| one.number == number);
            all.filter_map(|one| Some(one.argument?.value)).collect()
        };
        assert_eq!(values(helper(), libc::SYS_ioctl), [NVME_ADMIN_COMMAND, SCSI_COMMAND]);
        assert_eq!(values(search(), libc::SYS_ioctl), LOOP_QUERIES);
        assert_eq!(values(search(), libc::SYS_openat), [libc::O_RDONLY as u32]);
    }
}
