//! What a real drive wrote to its media in a step: words and JSON, with the reason where a write
//! amplification is not stated.

use crate::model::PointRun;
use crate::text::interval;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{Amplification, Bytes, MediaWrites, Metric, Scope};

/// Returns the line of `point`; `None` where nothing counted the media writes, or no host wrote.
pub fn line(point: &PointRun) -> Option<String> {
    let writes = point.point.media_writes()?;
    let stated = match writes.amplification() {
        Amplification::NothingWritten => return None,
        Amplification::Known { value, .. } => {
            let ends = point.interval(Metric::WriteAmplification, Scope::All);
            let ends = interval::words(&ends, Metric::WriteAmplification).unwrap_or_default();
            format!("write amplification {} ({ends})", number::text(value))
        }
        Amplification::TooCoarse { .. } => {
            format!("write amplification not stated: {}", reason(&writes).unwrap_or_default())
        }
    };
    Some(format!(
        "{} to the media, {} from hosts, by {}; {stated}",
        amount(&writes, writes.media.amount),
        amount(&writes, writes.host.amount),
        source(point)
    ))
}

/// Returns the reason why the write amplification is not stated.
pub fn reason(writes: &MediaWrites) -> Option<String> {
    match writes.amplification() {
        Amplification::Known { .. } => None,
        Amplification::NothingWritten => Some("hosts wrote nothing in the step".to_owned()),
        Amplification::TooCoarse { granules, granule, is_media } => Some(format!(
            "{} is {} granules of {} of its counter, and {} are needed",
            if is_media { "what the drive wrote to its media" } else { "what hosts wrote" },
            number::text(granules),
            amount(writes, granule),
            MediaWrites::LEAST_GRANULES
        )),
    }
}

fn amount(writes: &MediaWrites, amount: f64) -> String {
    match writes.is_in_pages {
        true => format!("{} pages", number::text(amount)),
        false => Bytes(amount as u64).about(),
    }
}

/// Returns the log page or the attributes that counted.
pub fn source(point: &PointRun) -> String {
    let keys = [MediaWrites::BYTES[0], MediaWrites::PAGES[0]];
    let names = keys.iter().find_map(|key| point.instruments.get(*key)?.first());
    names.map_or_else(String::new, |name| sanitize::prose(name))
}
