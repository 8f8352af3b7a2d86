//! The processor's time stamp counter.

/// Returns the processor's time stamp counter.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn time_stamp() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets user code run it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Returns whether the counter runs at one rate in all power states.
#[cfg(target_arch = "x86_64")]
pub fn has_invariant_time_stamp() -> bool {
    use core::arch::x86_64::__cpuid;
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    __cpuid(0x8000_0000).eax >= POWER_MANAGEMENT && __cpuid(POWER_MANAGEMENT).edx & (1 << 8) != 0
}
