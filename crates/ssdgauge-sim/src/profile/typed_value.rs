//! The value of one key in the text of a target, by the type that the key has in its profile.

use ssdgauge_core::Bytes;
use toml::Value;

/// The ends of names of sizes, with the bytes of their unit.
const UNITS: [(&str, f64); 4] =
    [("_kib", 1024.0), ("_mib", 1_048_576.0), ("_gib", 1_073_741_824.0), ("_gb", 1e9)];

/// Returns `text` as a value of the type of `slot`, which the key `name` of a section has. A size is a number in the unit
/// of its name, or has a unit of its own, such as `1GB`.
///
/// # Errors
///
/// Returns what the value is to be like.
pub(super) fn typed(slot: &Value, name: &str, text: &str) -> Result<Value, String> {
    let unit = unit(name);
    let size = || text.parse().ok().zip(unit).map(|(Bytes(bytes), unit)| bytes as f64 / unit);
    let found = match slot {
        Value::Integer(_) => {
            let whole = size().filter(|size| size.fract() == 0.0).map(|size| size as i64);
            text.parse().ok().or(whole).map(Value::Integer)
        }
        // `nan` and `inf` parse as numbers, and not every figure has a range that excludes them.
        Value::Float(_) => {
            let number = text.parse().ok().or_else(size);
            number.filter(|number: &f64| number.is_finite()).map(Value::Float)
        }
        Value::Boolean(_) => text.parse().ok().map(Value::Boolean),
        Value::String(_) => Some(Value::String(text.into())),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    };
    found.ok_or_else(|| match (slot, unit) {
        (Value::Integer(_) | Value::Float(_), Some(1.0)) => {
            "not a size such as 4096, 64KiB or 1GB".to_owned()
        }
        (Value::Integer(_) | Value::Float(_), Some(_)) => {
            format!("not a size such as {slot} (in the unit of the key), 64KiB or 1GB")
        }
        (Value::Integer(_), None) => format!("not a whole number such as {slot}"),
        (Value::Boolean(_), _) => "not true or false".to_owned(),
        (Value::Float(_), None) => "not a number such as 0.5 or 20".to_owned(),
        _ => format!("not a value like {slot}"),
    })
}

/// Returns the bytes of the unit of the key `name`; `None` where it is not a size.
fn unit(name: &str) -> Option<f64> {
    let is_rate = name.contains("_per_");
    let of_end = UNITS.iter().find(|(end, _)| name.ends_with(end) && !is_rate);
    match name {
        "error_at" | "error_bytes" => Some(1.0),
        _ => of_end.map(|(_, bytes)| *bytes),
    }
}
