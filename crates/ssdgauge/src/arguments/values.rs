//! Values of options: text to a checked number.

use ssdgauge_core::{BLOCK_SIZES, Bytes, Finding};
use std::net::SocketAddr;

/// The minimum endurance that is not a missing unit: a smaller number was meant in terabytes.
const LEAST_ENDURANCE: Bytes = Bytes(1_000_000_000);

/// Parses the rated endurance, such as `600TB`, or `600TBW` as in data sheets.
pub(super) fn parse_endurance(text: &str) -> Result<Bytes, String> {
    let size = text.trim().trim_end_matches(['W', 'w']);
    match size.parse::<Bytes>() {
        Ok(bytes) if bytes >= LEAST_ENDURANCE => Ok(bytes),
        Ok(bytes) => {
            Err(format!("{} are less than any drive endures; write it as 600TBW", bytes.exact()))
        }
        Err(error) => Err(format!("{error}; write it as 600TBW")),
    }
}

/// Parses the size of a scratch file or of a range.
pub(crate) fn parse_size(text: &str) -> Result<Bytes, String> {
    match text.trim().parse::<Bytes>() {
        Ok(bytes) if bytes > Bytes(0) => Ok(bytes),
        Ok(_) => Err("use a size above zero, such as 4GiB".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses a percentage that may exceed 100, such as a difference.
pub(super) fn parse_percent(text: &str) -> Result<f64, String> {
    parse_number(text, "%", |percent| (0.0..=1_000.0).contains(&percent))
        .ok_or_else(|| "use a percentage from 0 to 1000, such as 5".to_owned())
}

/// Parses a share of a whole, in percent.
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    parse_number(text, "%", |percent| percent > 0.0 && percent <= 100.0)
        .ok_or_else(|| "use a percentage above 0 and up to 100, such as 5".to_owned())
}

/// Parses the length of a request.
pub(super) fn parse_block_size(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(size) if BLOCK_SIZES.contains(&size) => Ok(size),
        Ok(_) => {
            Err(format!("use {} to {}", BLOCK_SIZES.start().exact(), BLOCK_SIZES.end().exact()))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Parses a number of requests per second.
pub(super) fn parse_per_second(text: &str) -> Result<f64, String> {
    parse_number(text, "/s", |rate| rate > 0.0 && rate < 1e9)
        .ok_or_else(|| "use a number above 0 and below 1e9, such as 2000".to_owned())
}

/// Parses a duration in seconds.
pub(super) fn parse_seconds(text: &str) -> Result<f64, String> {
    parse_number(text, "s", |time| (0.01..=86_400.0).contains(&time))
        .ok_or_else(|| "use a number of seconds from 0.01 to 86400".to_owned())
}

/// Parses a number that `is_allowed`, with or without its unit; `None` for anything else.
fn parse_number(text: &str, unit: &str, is_allowed: impl Fn(f64) -> bool) -> Option<f64> {
    let text = text.trim();
    let number = text.strip_suffix(unit).unwrap_or(text).trim_end().parse().ok()?;
    is_allowed(number).then_some(number)
}

/// Parses a day such as `2026-11-20`, or a number of hours, days or weeks before now, such as `7d`: milliseconds since
/// 1970.
pub(super) fn parse_since(text: &str) -> Result<i64, String> {
    const HOUR_MS: i64 = 3_600_000;
    let text = text.trim();
    if let Ok(day) = text.parse::<jiff::civil::Date>() {
        let start = day.to_zoned(jiff::tz::TimeZone::UTC).map_err(|error| error.to_string())?;
        return Ok(start.timestamp().as_millisecond());
    }
    let units = [("h", HOUR_MS), ("d", 24 * HOUR_MS), ("w", 7 * 24 * HOUR_MS)];
    let parsed = units.into_iter().find_map(|(unit, length)| {
        let count: i64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        count.checked_mul(length).filter(|before| *before >= 0)
    });
    let now = jiff::Timestamp::now().as_millisecond();
    parsed
        .map(|before| now.saturating_sub(before))
        .ok_or_else(|| "use a day such as 2026-11-20, or a time such as 7d, 12h or 2w".to_owned())
}

/// Parses a rate such as `2GB` or `2GB/s`.
pub(super) fn parse_rate(text: &str) -> Result<Bytes, String> {
    match text.trim().trim_end_matches("/s").parse::<Bytes>() {
        Ok(bytes) if bytes > Bytes(0) => Ok(bytes),
        Ok(_) => Err("use a rate above zero, such as 2GB".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses an address of the loopback interface, which no other machine reaches.
pub(super) fn parse_loopback(text: &str) -> Result<SocketAddr, String> {
    match text.trim().parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(address),
        Ok(_) => Err("other machines could reach it; use 127.0.0.1:PORT, and a proxy with \
                      authentication for other machines"
            .to_owned()),
        Err(_) => Err("use an address with a port, such as 127.0.0.1:9184".to_owned()),
    }
}

/// Parses the absolute address of a page on the web.
pub(super) fn parse_address(text: &str) -> Result<String, String> {
    let text = text.trim();
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_whole = rest.is_some_and(|rest| {
        let (host, _) = rest.split_once('/').unwrap_or_default();
        // A password would be published.
        let is_plain = !host.contains('@') && text.len() <= 2_000;
        is_plain && !host.is_empty() && !rest.chars().any(|c| c.is_whitespace() || c.is_control())
    });
    match is_whole {
        true => Ok(text.to_owned()),
        false => {
            Err("use the whole address of the page, such as https://example.org/review.html"
                .to_owned())
        }
    }
}

/// Reads the label of a run.
///
/// # Errors
///
/// Returns the reason for a label that is empty, longer than 40 characters or not printable.
pub(super) fn parse_label(text: &str) -> Result<String, String> {
    // Chosen: it is shown with the name of the drive, in tables and on phones.
    const MOST: usize = 40;
    let label = text.trim();
    match label.chars().count() {
        0 => Err("the label is empty".to_owned()),
        n if n > MOST => Err(format!("the label has {n} characters; give at most {MOST}")),
        _ if label.chars().any(char::is_control) => Err("the label is not printable".to_owned()),
        _ => Ok(label.to_owned()),
    }
}

/// One of several runs that were started together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its target, from 0.
    pub(crate) number: usize,
    /// The start of all in milliseconds since 1970, for the names of their files.
    pub(crate) begun: i64,
    /// Whether the process checks for interference, and runs nothing else.
    pub(crate) checks: bool,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let suffix = if self.checks { CHECK } else { "" };
        write!(f, "{}:{}{suffix}", self.number, self.begun)
    }
}

/// The end of a part that checks for interference.
const CHECK: &str = ":check";

/// Parses the number of a target and the start of its run, `NUMBER:START` or `NUMBER:START:check`.
pub(super) fn parse_part(text: &str) -> Result<Part, String> {
    let run = text.strip_suffix(CHECK);
    let parts = run.unwrap_or(text).split_once(':');
    let parsed = parts.and_then(|(number, begun)| {
        let (number, begun) = (number.parse().ok()?, begun.parse().ok()?);
        Some(Part { number, begun, checks: run.is_some() })
    });
    parsed.ok_or_else(set_by_the_program)
}

/// Parses a finding in JSON.
pub(super) fn parse_finding(text: &str) -> Result<Finding, String> {
    serde_json::from_str(text).map_err(|_| set_by_the_program())
}

fn set_by_the_program() -> String {
    "this option is set by the program itself".to_owned()
}
