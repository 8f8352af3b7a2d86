//! What counters of a drive can be: the sentence for one that cannot.

use ssdgauge_core::Bytes;
use ssdgauge_core::rounded::count;

/// The hours of thirty years: no SSD is older.
pub(crate) const MOST_HOURS: u64 = 30 * 8_766;

/// Returns the sentence for hours that no SSD has.
pub(crate) fn too_many_hours(hours: u64) -> String {
    format!("the drive reports {} power-on hours, more than thirty years", count(hours))
}

/// The maximum number of blocks of a command: its field has 16 bits (ACS-3, NVM Command Set). Drives with larger blocks than 512
/// bytes do not take commands of more than 32 MiB.
const MOST_BLOCKS: u64 = 1 << 16;

/// Returns why `commands` with blocks of `block` bytes at least cannot have transferred `bytes`; `None` where they can.
pub(crate) fn impossible_transfer(
    bytes: u64,
    verb: &str,
    commands: Option<u64>,
    block: u64,
) -> Option<String> {
    let commands = commands.filter(|commands| *commands > 0)?;
    // Counters are stored at different times: 3 %.
    let least = commands as f64 * block as f64 * 0.97;
    let most = (commands + 1) as f64 * (block * MOST_BLOCKS) as f64 * 1.03;
    let why = match bytes as f64 {
        bytes if bytes < least => "less than a block each",
        bytes if bytes > most => "more than a command can have",
        _ => return None,
    };
    let (about, by) = (Bytes(bytes).about(), count(commands));
    Some(format!("the drive reports {about} {verb} by {by} commands, which is {why}"))
}

/// Returns why a link with `per_second` bytes cannot have transferred `bytes` in `hours`; `None` where it can.
pub(crate) fn impossible_speed(
    bytes: u64,
    verb: &str,
    hours: Option<u64>,
    per_second: f64,
) -> Option<String> {
    // The hour that has begun counts as a whole one.
    let hours = hours.filter(|hours| bytes as f64 > (hours + 1) as f64 * 3_600.0 * per_second)?;
    let (about, hours) = (Bytes(bytes).about(), count(hours));
    Some(format!(
        "the drive reports {about} {verb} in {hours} hours, which is faster than its link"
    ))
}
