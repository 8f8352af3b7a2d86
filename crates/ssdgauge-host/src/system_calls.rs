//! The system calls of each process of a run, as filters of the kernel (seccomp).
//!
//! The run starts meters and looks, which inherit its filter, so its list is that of an ordinary
//! program: everything but the calls that change the machine, look into other processes, enter
//! namespaces or load code into the kernel. The privileged helper and its search start no program;
//! their lists hold what a trace of their requests shows.

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

const FILES: &[c_long] = &[
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_copy_file_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_fadvise64,
    libc::SYS_fallocate,
    libc::SYS_fchmod,
    libc::SYS_fchown,
    libc::SYS_fcntl,
    libc::SYS_fdatasync,
    libc::SYS_flock,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_ioctl,
    libc::SYS_lseek,
    libc::SYS_memfd_create,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_pipe2,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_read,
    libc::SYS_readahead,
    libc::SYS_readv,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_sync,
    libc::SYS_syncfs,
    libc::SYS_tee,
    libc::SYS_vmsplice,
    libc::SYS_write,
    libc::SYS_writev,
];

const FOLDERS: &[c_long] = &[
    libc::SYS_chdir,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fchdir,
    libc::SYS_fchmodat,
    libc::SYS_fchownat,
    libc::SYS_fgetxattr,
    libc::SYS_flistxattr,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getxattr,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_rm_watch,
    libc::SYS_lgetxattr,
    libc::SYS_linkat,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_newfstatat,
    libc::SYS_readlinkat,
    libc::SYS_renameat2,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_umask,
    libc::SYS_unlinkat,
    libc::SYS_utimensat,
];

const MEMORY: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_get_mempolicy,
    libc::SYS_madvise,
    libc::SYS_mbind,
    libc::SYS_membarrier,
    libc::SYS_mincore,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_mlockall,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_msync,
    libc::SYS_munlock,
    libc::SYS_munlockall,
    libc::SYS_munmap,
    libc::SYS_pkey_alloc,
    libc::SYS_pkey_free,
    libc::SYS_pkey_mprotect,
    libc::SYS_set_mempolicy,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_shmget,
];

const PROCESSES: &[c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_get_robust_list,
    libc::SYS_getcpu,
    libc::SYS_getpgid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getpriority,
    libc::SYS_getrusage,
    libc::SYS_getsid,
    libc::SYS_gettid,
    libc::SYS_ioprio_get,
    libc::SYS_ioprio_set,
    libc::SYS_kcmp,
    libc::SYS_pidfd_open,
    libc::SYS_prctl,
    libc::SYS_prlimit64,
    libc::SYS_rseq,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getattr,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_rr_get_interval,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_setpgid,
    libc::SYS_setpriority,
    libc::SYS_setsid,
    libc::SYS_wait4,
    libc::SYS_waitid,
];

/// A process without capabilities gains nothing by them.
const USERS: &[c_long] = &[
    libc::SYS_capget,
    libc::SYS_capset,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getgroups,
    libc::SYS_getresgid,
    libc::SYS_getresuid,
    libc::SYS_getuid,
    libc::SYS_setfsgid,
    libc::SYS_setfsuid,
    libc::SYS_setgid,
    libc::SYS_setgroups,
    libc::SYS_setregid,
    libc::SYS_setresgid,
    libc::SYS_setresuid,
    libc::SYS_setreuid,
    libc::SYS_setuid,
    // More restrictions, which programs put on themselves.
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_restrict_self,
    libc::SYS_seccomp,
];

const SIGNALS: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_pidfd_send_signal,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_sigaltstack,
    libc::SYS_signalfd4,
    libc::SYS_tgkill,
    libc::SYS_tkill,
];

const TIME: &[c_long] = &[
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_getitimer,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timer_delete,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_gettime,
    libc::SYS_timer_settime,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_gettime,
    libc::SYS_timerfd_settime,
    libc::SYS_times,
];

const WAITS: &[c_long] = &[
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
];

const SOCKETS: &[c_long] = &[
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_getpeername,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_listen,
    libc::SYS_recvfrom,
    libc::SYS_recvmmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendmmsg,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    libc::SYS_socket,
    libc::SYS_socketpair,
];

const RINGS: &[c_long] =
    &[libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_io_uring_setup];

const SYSTEM: &[c_long] = &[libc::SYS_getrandom, libc::SYS_sysinfo, libc::SYS_uname];

/// The older forms of calls above, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
const X86: &[c_long] = &[
    libc::SYS_access,
    libc::SYS_alarm,
    libc::SYS_arch_prctl,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_creat,
    libc::SYS_dup2,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_fork,
    libc::SYS_futimesat,
    libc::SYS_getdents,
    libc::SYS_getpgrp,
    libc::SYS_getrlimit,
    libc::SYS_inotify_init,
    libc::SYS_lchown,
    libc::SYS_link,
    libc::SYS_lstat,
    libc::SYS_mkdir,
    libc::SYS_mknod,
    libc::SYS_open,
    libc::SYS_pause,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_rmdir,
    libc::SYS_select,
    libc::SYS_setrlimit,
    libc::SYS_signalfd,
    libc::SYS_stat,
    libc::SYS_symlink,
    libc::SYS_sync_file_range,
    libc::SYS_time,
    libc::SYS_unlink,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_vfork,
];

/// Common to the helper and its search: messages, reads, memory, the end.
const HELPER: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_faccessat,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_newfstatat,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_setsockopt,
    libc::SYS_sigaltstack,
    libc::SYS_statx,
    // The message of a panic, and attributes that the helper may open for writing.
    libc::SYS_write,
    libc::SYS_writev,
];

/// The search for writers: which threads have open files in common, and threads that can be given
/// up.
const SEARCH: &[c_long] = &[
    libc::SYS_kcmp,
    libc::SYS_prctl,
    libc::SYS_rseq,
    libc::SYS_sched_getaffinity,
    libc::SYS_set_robust_list,
    libc::SYS_statfs,
];

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
        for list in [run(), helper(), search()] {
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
        for list in [run(), helper(), search()] {
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
