//! Capabilities of this process.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};
use std::io;

/// Makes `call` without the use of any capability, and returns to those of before. They belong to the thread,
/// so that only the calling one goes without.
///
/// # Errors
/// The error of the kernel.
pub(crate) fn without_any<T>(call: impl FnOnce() -> T) -> io::Result<T> {
    let held = capabilities(None)?;
    set_capabilities(None, CapabilitySets { effective: CapabilitySet::empty(), ..held })?;
    let result = call();
    set_capabilities(None, held)?;
    Ok(result)
}

/// Drops every capability but those of `kept` that this process has, also from the bounding set, and
/// the means to gain new ones.
///
/// # Errors
/// The error of the kernel.
pub(crate) fn keep_only(kept: CapabilitySet) -> io::Result<()> {
    let kept = kept & capabilities(None)?.permitted;
    for capability in CapabilitySet::all().difference(kept).iter() {
        // Fails for capabilities that are newer than the kernel, which then do not exist.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: none })?;
    set_no_new_privs(true)?;
    Ok(())
}
