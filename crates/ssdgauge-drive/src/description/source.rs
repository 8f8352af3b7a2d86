//! Sources of facts, and reasons for missing ones.

use super::{NOT_ATA, NOT_NVME, QueryResult, QueryResults};
use crate::controller::Controller;
use ssdgauge_core::Value;

pub(super) const CONTROLLER: &str = "identify controller";
pub(super) const NAMESPACE: &str = "identify namespace";
pub(super) const ATA: &str = "identify device";
pub(super) const SMART: &str = "SMART log";
pub(super) const SMART_STATUS: &str = "SMART status";
pub(super) const STATISTICS: &str = "device statistics";
pub(super) const FEATURES: &str = "get features";
pub(super) const POWER_LOG: &str = "power measurement log";
pub(super) const SYSFS: &str = "sysfs";
pub(super) const HWMON: &str = "hwmon";

/// Returns the value that `get` takes from a query result, or the reason why the result is missing.
pub(super) fn reported<T, V: Into<Value>>(
    result: &QueryResult<T>,
    get: impl FnOnce(&T) -> Option<V>,
) -> Value {
    match result {
        Ok(data) => get(data).into(),
        Err(reason) => Value::Missing(reason.clone()),
    }
}

const NOT_BY_KERNEL: &str = "not reported by the kernel";

/// Returns whether a value is missing for no other reason than that nothing reports it.
pub(crate) fn is_unreported(reason: &str) -> bool {
    matches!(reason, NOT_BY_KERNEL | "not reported")
}

/// Returns a value from sysfs, or that the kernel does not report it.
pub(super) fn from_kernel<V: Into<Value>>(value: Option<V>) -> Value {
    value.map_or_else(|| Value::Missing(NOT_BY_KERNEL.into()), Into::into)
}

/// Returns the first value that is not missing; otherwise the last reason.
pub(super) fn first_known(values: impl IntoIterator<Item = Value>) -> Value {
    let mut last = Value::Missing("not reported".into());
    for value in values {
        match value {
            // That the drive has another command set is not a reason that helps a reader.
            Value::Missing(ref reason) if reason == NOT_ATA || reason == NOT_NVME => {}
            Value::Missing(_) => last = value,
            known => return known,
        }
    }
    last
}

/// Returns the value of an NVMe drive, or that of an ATA drive.
pub(super) fn nvme_or_ata<V: Into<Value>, W: Into<Value>>(
    results: &QueryResults,
    nvme: impl FnOnce(&Controller) -> Option<V>,
    ata: impl FnOnce(&crate::ata::Identity) -> Option<W>,
) -> Value {
    match (&results.controller, &results.ata) {
        (Ok(controller), _) => nvme(controller).into(),
        (Err(_), Ok(identity)) => ata(identity).into(),
        (Err(reason), Err(other)) => {
            let nvme_only = reason == NOT_NVME;
            Value::Missing(if nvme_only { other.clone() } else { reason.clone() })
        }
    }
}

/// Returns a count of bytes; `None` where it exceeds 64 bits.
pub(super) fn bytes(count: Option<u128>) -> Option<u64> {
    count.and_then(|count| count.try_into().ok())
}
