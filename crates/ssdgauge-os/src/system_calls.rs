//! Filters of system calls (seccomp): the calls that a thread, and all that it starts, may make.
//!
//! A filter cannot be lifted. Which calls a process needs is decided by the caller.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

/// A call that is permitted: its number, and the bits of one argument that it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permitted {
    /// The number of the call, such as `libc::SYS_read`.
    pub number: libc::c_long,
    /// The condition of the call, `None` where it is permitted with any arguments.
    pub argument: Option<Argument>,
}

/// A condition: the lower 32 bits of argument `index`, masked by `mask`, are `value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The argument, from 0.
    pub index: u8,
    /// The bits that are compared.
    pub mask: u32,
    /// Their value.
    pub value: u32,
}

/// What happens on a call that is not permitted. It is never carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// It fails with ENOSYS, as on a kernel without it: libraries then use an older call. The kernel
    /// logs it. For a process that starts other programs, which inherit the filter.
    NotImplemented,
    /// It fails with EPERM, and [`denied_call`] returns its number. For a process that starts none:
    /// another program would be killed by SIGSYS.
    Recorded,
}

/// The number of the first denied call and one more, 0 where there was none.
static DENIED: AtomicI32 = AtomicI32::new(0);

/// Returns the number of the first call that was denied by [`Denial::Recorded`].
pub fn denied_call() -> Option<i32> {
    Some(DENIED.load(Ordering::Relaxed)).filter(|number| *number != 0).map(|number| number - 1)
}

/// Lets `calls` fail with ENOSYS in the calling thread and in all that it starts from now on, as on an
/// older kernel, without a line in the log of the kernel. Requires the same as [`permit_only`].
///
/// # Errors
/// As those of [`permit_only`].
pub fn hide(calls: &[libc::c_long]) -> io::Result<()> {
    let rules = calls.iter().map(|number| (*number, Vec::new())).collect();
    let absent = SeccompAction::Errno(libc::ENOSYS as u32);
    install(&compile(rules, SeccompAction::Allow, absent)?, 0)
}

/// Restricts the calling thread, and the threads and programs that it starts from now on, to
/// `permitted`. A call of another architecture ends the process. Requires `no_new_privs` or
/// CAP_SYS_ADMIN.
///
/// # Errors
/// The kernel has no filters (before Linux 4.14, or built without them), or refused this one; nothing is
/// restricted then.
pub fn permit_only(permitted: &[Permitted], denial: Denial) -> io::Result<()> {
    let action = match denial {
        Denial::NotImplemented => SeccompAction::Errno(libc::ENOSYS as u32),
        Denial::Recorded => SeccompAction::Trap,
    };
    let program = compile(rules(permitted)?, action, SeccompAction::Allow)?;
    if denial == Denial::Recorded {
        record_denied_calls()?;
    }
    install(&program, libc::SECCOMP_FILTER_FLAG_LOG)
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn rules(permitted: &[Permitted]) -> io::Result<Rules> {
    let mut rules = Rules::new();
    for Permitted { number, argument } in permitted {
        let rules = rules.entry(*number).or_default();
        if let Some(Argument { index, mask, value }) = argument {
            let comparison = SeccompCmpOp::MaskedEq(u64::from(*mask));
            // The kernel takes an `int` from the lower half of an argument: the upper one may be anything.
            let width = SeccompCmpArgLen::Dword;
            let value = u64::from(*value);
            let condition = SeccompCondition::new(*index, width, comparison, value);
            let rule = condition.and_then(|condition| SeccompRule::new(vec![condition]));
            rules.push(rule.map_err(io::Error::other)?);
        }
    }
    Ok(rules)
}

/// Compiles the action `on_rule` for the calls of `rules`, `otherwise` for all others.
fn compile(
    rules: Rules,
    otherwise: SeccompAction,
    on_rule: SeccompAction,
) -> io::Result<BpfProgram> {
    let architecture = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    SeccompFilter::new(rules, otherwise, on_rule, architecture)
        .and_then(BpfProgram::try_from)
        .map_err(io::Error::other)
}

fn install(program: &BpfProgram, flags: libc::c_ulong) -> io::Result<()> {
    let mut filters: Vec<libc::sock_filter> = program
        .iter()
        .map(|one| libc::sock_filter { code: one.code, jt: one.jt, jf: one.jf, k: one.k })
        .collect();
    let length = u16::try_from(filters.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: filters.as_mut_ptr() };
    let install = |flags: libc::c_ulong| {
        const SET_FILTER: libc::c_uint = libc::SECCOMP_SET_MODE_FILTER;
        // SAFETY: the kernel reads the program, which lives until the call returns, and checks it.
        match unsafe { libc::syscall(libc::SYS_seccomp, SET_FILTER, flags, &raw const program) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // The kernel would otherwise switch off a speculation of the processor for filtered threads
    // (Linux 4.17 to 5.15), which slows down the loop over requests.
    install(flags | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW).or_else(|_| install(flags))
}

/// Installs the handler by which a denied call fails with EPERM and is recorded.
fn record_denied_calls() -> io::Result<()> {
    // SAFETY: a zeroed action is valid, and the handler calls nothing.
    let status = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
            on_denied;
        action.sa_sigaction = handler as usize;
        // A call that is denied while the handler runs is recorded as well.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut())
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The fields of `siginfo_t` for SIGSYS (`_sigsys` in Linux, include/uapi/asm-generic/siginfo.h).
#[repr(C)]
struct DeniedCall {
    signal: [libc::c_int; 3],
    address: *mut libc::c_void,
    number: libc::c_int,
    architecture: libc::c_uint,
}

extern "C" fn on_denied(_: libc::c_int, facts: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes both to a handler with SA_SIGINFO, and they live while it runs. The
    // fields of SIGSYS lie within `siginfo_t`. The call was not carried out; the register is that of
    // its result, which the kernel restores on return.
    unsafe {
        let number = (*facts.cast::<DeniedCall>()).number;
        // A handler may interrupt any code, so it takes no lock.
        let _ = DENIED.compare_exchange(0, number + 1, Ordering::Relaxed, Ordering::Relaxed);
        let context = context.cast::<libc::ucontext_t>();
        #[cfg(target_arch = "x86_64")]
        {
            (*context).uc_mcontext.gregs[libc::REG_RAX as usize] = -i64::from(libc::EPERM);
        }
        #[cfg(target_arch = "aarch64")]
        {
            (*context).uc_mcontext.regs[0] = (-i64::from(libc::EPERM)) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the exit status of a child process that runs `check`.
    fn in_child(check: impl Fn() -> i32) -> i32 {
        // SAFETY: the child calls only the kernel and this module, allocates with the lock of the
        // allocator free (glibc resets it in the child), and ends without destructors.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::_exit(check());
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert!(libc::WIFEXITED(status), "the child ended by signal {}", status & 0x7f);
            libc::WEXITSTATUS(status)
        }
    }

    fn any(number: libc::c_long) -> Permitted {
        Permitted { number, argument: None }
    }

    /// Returns the calls that the children need for themselves.
    fn basic() -> Vec<Permitted> {
        [libc::SYS_exit_group, libc::SYS_rt_sigreturn, libc::SYS_getpid].map(any).to_vec()
    }

    /// Restricts the child; returns whether that was possible.
    fn restrict(permitted: &[Permitted], denial: Denial) -> bool {
        // SAFETY: the call takes numbers only.
        unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        permit_only(permitted, denial).is_ok()
    }

    /// Makes a call without arguments; returns the error number, 0 for none.
    fn call(number: libc::c_long, argument: libc::c_long) -> i32 {
        // SAFETY: calls that take numbers only, or fail before they read memory.
        match unsafe { libc::syscall(number, argument, 0, 0, 0, 0, 0) } {
            -1 => io::Error::last_os_error().raw_os_error().unwrap_or(-1),
            _ => 0,
        }
    }

    #[test]
    fn a_call_that_is_not_permitted_is_not_carried_out() {
        for (denial, error) in
            [(Denial::NotImplemented, libc::ENOSYS), (Denial::Recorded, libc::EPERM)]
        {
            let status = in_child(|| {
                if !restrict(&basic(), denial) {
                    return 1;
                }
                if call(libc::SYS_getpid, 0) != 0 || denied_call().is_some() {
                    return 2;
                }
                if call(libc::SYS_personality, 0) != error || call(libc::SYS_getppid, 0) != error {
                    return 3;
                }
                let recorded = (denial == Denial::Recorded).then_some(libc::SYS_personality as i32);
                if denied_call() == recorded { 0 } else { 4 }
            });
            assert_eq!(status, 0, "{denial:?}");
        }
    }

    #[test]
    fn a_hidden_call_is_absent_though_it_is_permitted() {
        let status = in_child(|| {
            let mut permitted = basic();
            permitted.push(any(libc::SYS_getppid));
            // SAFETY: the call takes numbers only.
            unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
            if hide(&[libc::SYS_getppid]).is_err() || !restrict(&permitted, Denial::NotImplemented)
            {
                return 1;
            }
            if call(libc::SYS_getppid, 0) == libc::ENOSYS { 0 } else { 2 }
        });
        assert_eq!(status, 0);
    }

    #[test]
    fn a_call_is_permitted_by_the_bits_of_its_argument() {
        let argument = Some(Argument { index: 0, mask: 3, value: 1 });
        let status = in_child(|| {
            let mut permitted = basic();
            permitted.push(Permitted { number: libc::SYS_umask, argument });
            if !restrict(&permitted, Denial::NotImplemented) {
                return 1;
            }
            let errors = [1, 5, 0, 2, 3].map(|bits| call(libc::SYS_umask, bits));
            if errors == [0, 0, libc::ENOSYS, libc::ENOSYS, libc::ENOSYS] { 0 } else { 2 }
        });
        assert_eq!(status, 0);
    }

    #[test]
    fn the_calls_of_the_second_table_of_x86_are_not_permitted() {
        const X32: libc::c_long = 0x4000_0000;
        let status = in_child(|| {
            if !restrict(&basic(), Denial::Recorded) {
                return 1;
            }
            if call(X32 | libc::SYS_getpid, 0) == libc::EPERM { 0 } else { 2 }
        });
        assert_eq!(status, 0);
    }
}
