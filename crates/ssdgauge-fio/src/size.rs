//! Sizes as fio writes them.

/// Returns a size of fio in bytes, whose units are powers of 1,024; `None` for a share of the target.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim().to_lowercase();
    let digits = text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}
