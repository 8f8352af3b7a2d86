//! Where the facts of a card come from, and why one is missing.

use super::{Answer, Answers, NO_ATA, NO_NVME};
use crate::controller::Controller;
use ssdgauge_core::Value;

pub(super) const CONTROLLER: &str = "identify controller";
pub(super) const NAMESPACE: &str = "identify namespace";
pub(super) const ATA: &str = "identify device";
pub(super) const SMART: &str = "SMART log";
pub(super) const STATISTICS: &str = "device statistics";
pub(super) const FEATURES: &str = "get features";
pub(super) const POWER_LOG: &str = "power measurement log";
pub(super) const SYSFS: &str = "sysfs";
pub(super) const HWMON: &str = "hwmon";

/// Returns what `get` finds in an answer, or why there is none.
pub(super) fn of<T, V: Into<Value>>(
    answer: &Answer<T>,
    get: impl FnOnce(&T) -> Option<V>,
) -> Value {
    match answer {
        Ok(answer) => get(answer).into(),
        Err(reason) => Value::Missing(reason.clone()),
    }
}

/// Returns what the kernel says, or that it says nothing.
pub(super) fn kernel<V: Into<Value>>(value: Option<V>) -> Value {
    value.map_or_else(|| Value::Missing("the kernel does not say".into()), Into::into)
}

/// Returns the first that is known; else the last reason.
pub(super) fn first(values: impl IntoIterator<Item = Value>) -> Value {
    let mut last = Value::Missing("nobody says".into());
    for value in values {
        match value {
            // Why the other kind of drive is silent tells nobody anything.
            Value::Missing(ref reason) if reason == NO_ATA || reason == NO_NVME => {}
            Value::Missing(_) => last = value,
            known => return known,
        }
    }
    last
}

/// Returns the answer of NVMe, or where the drive is of the other kind that of ATA.
pub(super) fn either<V: Into<Value>, W: Into<Value>>(
    answers: &Answers,
    nvme: impl FnOnce(&Controller) -> Option<V>,
    ata: impl FnOnce(&crate::ata::Identity) -> Option<W>,
) -> Value {
    match (&answers.controller, &answers.ata) {
        (Ok(controller), _) => nvme(controller).into(),
        (Err(_), Ok(identity)) => ata(identity).into(),
        (Err(reason), Err(other)) => {
            let nvme_only = reason == NO_NVME;
            Value::Missing(if nvme_only { other.clone() } else { reason.clone() })
        }
    }
}

/// A count of bytes that may be wider than 64 bits.
pub(super) fn bytes(count: Option<u128>) -> Option<u64> {
    count.and_then(|count| count.try_into().ok())
}
