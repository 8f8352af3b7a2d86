//! The time-stamp counter of the processor (x86-64).

/// Returns the time-stamp counter.
///
/// `rdtsc` does not wait for earlier instructions, so a reading can be early by a few nanoseconds.
/// A fence would cost more than that for each request.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn time_stamp() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux permits it in user mode.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Returns whether the counter is invariant: it has the same rate in all power states (CPUID leaf
/// 8000_0007h, EDX bit 8).
#[cfg(target_arch = "x86_64")]
pub fn has_invariant_time_stamp() -> bool {
    use core::arch::x86_64::__cpuid;
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    __cpuid(0x8000_0000).eax >= POWER_MANAGEMENT && __cpuid(POWER_MANAGEMENT).edx & (1 << 8) != 0
}
