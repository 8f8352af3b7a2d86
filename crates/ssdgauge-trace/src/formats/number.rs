//! Numbers of text formats, without floating point.

/// Returns a decimal number times 10 to the power of `digits`, such as seconds in nanoseconds; further
/// digits are cut off.
pub(crate) fn scaled(text: &str, digits: u32) -> Result<u64, String> {
    let wrong = || format!("'{}' is not a number", text.chars().take(40).collect::<String>());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
    {
        return Err(wrong());
    }
    let places = (digits as usize).min(fraction.len());
    let mut value: u64 = whole.parse().map_err(|_| wrong())?;
    for digit in fraction.bytes().take(places) {
        value = value
            .checked_mul(10)
            .and_then(|value| value.checked_add(u64::from(digit - b'0')))
            .ok_or_else(wrong)?;
    }
    value.checked_mul(10u64.pow(digits - places as u32)).ok_or_else(wrong)
}

/// Returns a whole number.
pub(crate) fn whole(text: &str) -> Result<u64, String> {
    scaled(text, 0).and_then(|value| match text.contains('.') {
        true => Err(format!("'{text}' is not a whole number")),
        false => Ok(value),
    })
}

/// Returns a number of sectors in bytes.
pub(crate) fn sectors(text: &str) -> Result<u64, String> {
    whole(text)?.checked_mul(512).ok_or_else(|| format!("{text} sectors exceed every drive"))
}
