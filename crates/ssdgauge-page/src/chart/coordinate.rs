//! Coordinates in few letters.

/// Returns a coordinate with one decimal at most.
pub(crate) fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Returns a share of the width with two decimals at most.
pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.2}", (100.0 * share).clamp(0.0, 100.0));
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}
