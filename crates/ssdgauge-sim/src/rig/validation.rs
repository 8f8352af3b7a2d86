//! Validation of ranges and workloads.
//!
//! A request that the virtual drive cannot serve must never reach it.

use crate::rig::completion_queue::{MAX_IN_FLIGHT, MAX_TIME};
use ssdgauge_core::{Bytes, DriveInfo, Nanos, RigError, Until, Workload};

/// The longest step: 39 hours. The other half of the range of a completion time is left for
/// requests that complete after the limit.
pub(crate) const MAX_STEP: Nanos = Nanos(MAX_TIME.0 / 2);

/// Checks that blocks of `block` bytes fit into `span` bytes from `offset`, and these into the
/// drive.
///
/// # Errors
/// [`RigError::Refused`] where they do not.
pub(crate) fn check_range(
    info: &DriveInfo,
    offset: Bytes,
    span: Bytes,
    block: Bytes,
) -> Result<(), RigError> {
    let end = offset.0.checked_add(span.0);
    if block.0 == 0 || span < block || end.is_none_or(|end| end > info.capacity.0) {
        return Err(RigError::Refused(format!(
            "blocks of {} in {} from {} do not fit into the {} of {}",
            block.as_block(),
            span.about_and_exact(),
            offset.about_and_exact(),
            info.capacity.about_and_exact(),
            info.name(),
        )));
    }
    Ok(())
}

/// Checks that the drive can serve `workload` and that `until` ends it.
///
/// # Errors
/// [`RigError::Refused`] for a workload without streams, requests or end, one that exceeds the
/// drive, and one with more requests in flight than the model handles.
pub(crate) fn check_workload(
    info: &DriveInfo,
    workload: &Workload,
    until: &Until,
) -> Result<(), RigError> {
    let refuse = |reason: &str| Err(RigError::Refused(reason.into()));
    if workload.streams.is_empty() {
        return refuse("a workload without streams");
    }
    if !until.is_bounded() {
        return refuse("a workload without a limit of time or bytes");
    }
    if until.time.is_some_and(|time| time > MAX_STEP) {
        return Err(RigError::Refused(format!(
            "a step of the virtual drive lasts at most {}",
            MAX_STEP.about()
        )));
    }
    // They carry no bytes, so a limit of bytes would never end them.
    if until.time.is_none() && workload.streams.iter().all(|stream| !stream.addresses()) {
        return refuse("flushes alone, without a limit of time");
    }
    let mut depth = 0;
    for stream in &workload.streams {
        check_range(info, stream.offset, stream.span, stream.block_size)?;
        depth += u64::from(stream.queue_depth) * u64::from(stream.threads);
        if let Some(defect) = stream.sizes.defect(!stream.distribution.is_uniform()) {
            return Err(RigError::Refused(defect));
        }
        if stream.queue_depth == 0 || stream.threads == 0 || stream.read_percent > 100 {
            return refuse("a stream without requests, or with more than 100 % reads");
        }
    }
    if depth > MAX_IN_FLIGHT {
        return Err(RigError::Refused(format!(
            "{depth} requests in flight exceed the {MAX_IN_FLIGHT} of the virtual drive"
        )));
    }
    Ok(())
}
