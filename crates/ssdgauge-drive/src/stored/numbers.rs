//! Numbers as smartctl and nvme-cli print them.

use serde_json::Value as Json;

/// The characters that group digits in the locales of both programs. U+FFFD is a byte of another encoding
/// of a no-break space.
const SEPARATORS: [char; 8] = [',', '.', '\'', '\u{2019}', ' ', '\u{a0}', '\u{202f}', '\u{fffd}'];

/// Returns the whole number at the start of `text`: hexadecimal after `0x`, otherwise decimal with groups
/// of digits as any locale writes them. What follows it, such as a unit, is ignored.
pub(super) fn whole(text: &str) -> Option<u128> {
    let text = text.trim_start();
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        return u128::from_str_radix(&digits[..end], 16).ok();
    }
    let digits_in = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let first = digits_in(text);
    let mut digits = text[..first].to_owned();
    let mut rest = &text[first..];
    // Groups of three after one to three digits; of two before the last one in India.
    while (1..=3).contains(&first) {
        let Some(separator) = rest.chars().next().filter(|c| SEPARATORS.contains(c)) else { break };
        let group = &rest[separator.len_utf8()..];
        let length = digits_in(group);
        let is_followed = group[length..].starts_with(separator);
        if length != 3 && !(length == 2 && is_followed) {
            break;
        }
        digits.push_str(&group[..length]);
        rest = &group[length..];
    }
    digits.parse().ok()
}

/// Returns the number with a fraction at the start of `text`, with a point or a comma.
pub(super) fn fraction(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end =
        text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(text.len());
    text[..end].replace(',', ".").parse().ok()
}

/// Returns the whole number in a JSON value: a number, a text of digits, or an object with `value`, which
/// newer versions of nvme-cli write with its bits.
pub(super) fn whole_of(value: &Json) -> Option<u128> {
    match value {
        Json::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(count), _) => Some(count.into()),
            // Counts of 128 bits; a number with an exponent is exact to 53 bits.
            (None, Some(real)) if real >= 0.0 && real.fract() == 0.0 && real < 3.4e38 => {
                Some(real as u128)
            }
            (None, _) => None,
        },
        Json::String(text) => whole(text),
        Json::Object(fields) => {
            fields.get("value").filter(|one| !one.is_object()).and_then(whole_of)
        }
        Json::Null | Json::Bool(_) | Json::Array(_) => None,
    }
}

/// Returns a temperature in kelvin. Without a unit, a number below 200 is in degrees Celsius: no drive
/// works at 200 °C or at 200 K.
pub(super) fn kelvin(text: &str) -> Option<u128> {
    let (value, unit) = temperature(text)?;
    match unit {
        'K' => value,
        'F' => ((value - 32) as f64 / 1.8).round() as i64 + 273,
        _ => value + 273,
    }
    .try_into()
    .ok()
}

/// Returns a temperature that is printed in degrees Celsius, or in kelvin.
pub(super) fn celsius(text: &str) -> Option<f64> {
    match temperature(text)? {
        (value, 'C') => Some(value as f64),
        (_, _) => crate::controller::celsius(kelvin(text)?.try_into().ok()?),
    }
}

/// Returns a temperature and its unit: `C`, `F` or `K`.
fn temperature(text: &str) -> Option<(i64, char)> {
    let text = text.trim();
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let value: i64 = digits[..end].parse().ok()?;
    let value = if is_negative { -value } else { value };
    let unit = digits[end..].trim_start();
    let unit = unit.trim_start_matches(['°', '\u{fffd}', 'º']).chars().next();
    let unit = unit.filter(|unit| ['C', 'F', 'K'].contains(unit));
    // A plain 0 is that of a log whose unit is kelvin.
    Some((value, unit.unwrap_or(if value >= 200 || value == 0 { 'K' } else { 'C' })))
}
