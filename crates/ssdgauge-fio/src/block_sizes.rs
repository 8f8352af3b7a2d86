//! The block sizes of a job of fio, and whether its counts agree with them.

use crate::output::{Job, Options, Side};
use crate::size::parse_size;
use ssdgauge_core::{BlockSizes, Bytes, SizeShare};

/// The block size of fio where a job states none, in bytes.
const DEFAULT: u64 = 4_096;

/// Returns what the plan does not express of the block sizes of `job`: that its options state several ones, or
/// that its bytes are not its requests times the one that they state.
///
/// Only the options tell whether there are several sizes. Bytes divided by requests does not: at the end of a
/// ramp or a status interval, fio counts the two at different moments.
pub(crate) fn unexpressed(job: &Job, options: &Options) -> Option<String> {
    let sides = [&job.read, &job.write];
    let stated = stated(options);
    let several = "its several block sizes (the plan shows their mean)";
    let sizes = match &stated {
        Stated::Several if split(options).is_some() => return None,
        Stated::Several => return Some(several.into()),
        Stated::Each(sizes) => *sizes,
        // A size that is not read here: several requests of one size have a whole quotient.
        Stated::Unread => {
            let (ios, bytes) = (sides.map(|side| side.total_ios), sides.map(|side| side.io_bytes));
            let (ios, bytes) = (ios.iter().sum::<u64>(), bytes.iter().sum::<u64>());
            return (ios > 0 && bytes % ios != 0).then(|| disagreement(ios, bytes, job, options));
        }
    };
    let used = |place: &usize| sides[*place].total_ios > 0;
    let both: Vec<u64> = (0..2).filter(used).map(|place| sizes[place]).collect();
    if both.iter().any(|size| *size != both[0]) {
        return Some(several.into());
    }
    let is_off = |(side, size): (&&Side, u64)| {
        side.total_ios > 0 && side.total_ios.checked_mul(size) != Some(side.io_bytes)
    };
    let off = sides.iter().zip(sizes).find(|(side, size)| is_off((side, *size)))?.0;
    Some(disagreement(off.total_ios, off.io_bytes, job, options))
}

/// Returns whether the options of a job state several block sizes for a direction.
pub(crate) fn has_several(options: &Options) -> bool {
    matches!(stated(options), Stated::Several)
}

/// Returns the sizes and shares of `bssplit`, where a plan can have them: the same for reads and writes, and each a
/// multiple of the smallest one. fio divides what the stated shares leave among the sizes without one (fio,
/// options.c).
pub(crate) fn split(options: &Options) -> Option<BlockSizes> {
    let mut directions = options.get("bssplit")?.split(',').map(str::trim);
    let text = directions.next()?;
    if directions.any(|other| other != text) {
        return None;
    }
    let entry = |one: &str| {
        let (size, share) = one.split_once('/').unwrap_or((one, ""));
        let share = match share.trim() {
            "" => None,
            share => Some(share.parse::<u32>().ok()?),
        };
        Some((Bytes(parse_size(size)?), share))
    };
    let entries: Vec<(Bytes, Option<u32>)> = text.split(':').map(entry).collect::<Option<_>>()?;
    let stated =
        entries.iter().try_fold(0u32, |sum, (_, share)| sum.checked_add(share.unwrap_or(0)))?;
    let without = entries.iter().filter(|(_, share)| share.is_none()).count() as u32;
    let left = 100u32.checked_sub(stated)?;
    if without > 0 && left % without != 0 {
        return None;
    }
    let share = |(size, share): &(Bytes, Option<u32>)| {
        let percent = share.unwrap_or_else(|| left / without);
        Some(SizeShare { size: *size, percent: u8::try_from(percent).ok()? })
    };
    let mut shares: Vec<SizeShare> = entries.iter().map(share).collect::<Option<_>>()?;
    shares.retain(|one| one.percent > 0);
    let sizes = BlockSizes(shares);
    let is_valid = sizes.0.len() > 1 && sizes.defect(false).is_none();
    is_valid.then_some(sizes)
}

/// The block sizes that the options of a job state.
enum Stated {
    /// One for reads and one for writes, in bytes.
    Each([u64; 2]),
    /// Several ones for a direction.
    Several,
    /// In a form that is not read here.
    Unread,
}

fn stated(options: &Options) -> Stated {
    if options.contains_key("bssplit") {
        return Stated::Several;
    }
    let either = |one: &str, other: &str| options.get(one).or_else(|| options.get(other));
    let sizes = |text: &str| -> Option<Vec<u64>> {
        text.split([',', '-', ':']).filter(|one| !one.is_empty()).map(parse_size).collect()
    };
    if let Some(range) = either("bsrange", "blocksize_range") {
        return match sizes(range).as_deref() {
            Some([first, others @ ..]) if others.iter().all(|other| other == first) => {
                Stated::Each([*first; 2])
            }
            Some(_) => Stated::Several,
            None => Stated::Unread,
        };
    }
    let Some(text) = either("bs", "blocksize") else { return Stated::Each([DEFAULT; 2]) };
    // `bs=4k,8k`: reads, writes, trims. One value is that of all; one left empty is the default.
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let size = |part: &str| if part.is_empty() { Some(DEFAULT) } else { parse_size(part) };
    let (read, write) = match parts.as_slice() {
        [one] => (size(one), size(one)),
        [read, write, ..] => (size(read), size(write)),
        [] => (None, None),
    };
    match (read, write) {
        (Some(read), Some(write)) if read > 0 && write > 0 => Stated::Each([read, write]),
        (_, _) => Stated::Unread,
    }
}

/// Returns that `bytes` are not those of `ios` requests, with what can cause it.
fn disagreement(ios: u64, bytes: u64, job: &Job, options: &Options) -> String {
    let mean = bytes as f64 / ios as f64;
    let cause = match (options.get("ramp_time"), job.total_err) {
        (Some(ramp), _) => format!("; with ramp_time={ramp}, fio counts them at different moments"),
        (None, 0) => ", as in a status document, or with short transfers".into(),
        (None, _) => "; some requests failed".into(),
    };
    format!(
        "its counts of bytes and requests, which do not agree with its block size ({mean:.1} bytes a \
         request{cause})"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the words for a job with `options` and these (requests, bytes) of reads and writes.
    fn found(options: &[(&str, &str)], read: (u64, u64), write: (u64, u64)) -> Option<String> {
        let side = |(ios, bytes): (u64, u64)| json!({ "total_ios": ios, "io_bytes": bytes, "runtime": 1_000 });
        let options: Options =
            options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let job = json!({ "jobname": "b", "groupid": 0, "read": side(read), "write": side(write) });
        unexpressed(&serde_json::from_value(job).unwrap(), &options)
    }

    #[test]
    fn the_options_of_a_job_say_whether_it_has_several_block_sizes() {
        let reads = (1_000, 4_096_000);
        // Options, reads, writes.
        let several = [
            (vec![("bssplit", "4k/50:6k/50")], (2, 10_240), (0, 0)),
            (vec![("bssplit", "4k/50:8k/50,4k/100")], (2, 12_288), (0, 0)),
            // A mean that is whole is one of several sizes as well.
            (vec![("bsrange", "4k-12k")], (2, 16_384), (0, 0)),
            (vec![("blocksize_range", "1k-4k,2k-2k")], (2, 6_144), (0, 0)),
            (vec![("bs", "4k,8k")], (2, 8_192), (2, 16_384)),
            (vec![("bs", "8k,")], (2, 16_384), (2, 8_192)),
        ];
        for (options, read, write) in several {
            let words = found(&options, read, write).unwrap_or_default();
            assert!(words.contains("several block sizes"), "{options:?}: {words}");
        }
        let one = [
            (vec![("bs", "4k")], reads, (0, 0)),
            (vec![], reads, reads),
            (vec![("bs", "4k,8k")], reads, (0, 0)),
            (vec![("bs", "8k,4k,1m")], (0, 0), reads),
            (vec![("bsrange", "4k-4k")], reads, reads),
            (vec![("blocksize", "4096B")], reads, reads),
        ];
        for (options, read, write) in one {
            assert_eq!(found(&options, read, write), None, "{options:?}");
        }
    }

    #[test]
    fn the_shares_of_a_split_are_those_of_the_plan() {
        let of = |text: &str| {
            let options = [("bssplit".to_owned(), text.to_owned())].into_iter().collect();
            split(&options).map(|sizes| sizes.describe())
        };
        let quarters = Some("50 % 4 KiB, 25 % 8 KiB, 25 % 16 KiB".to_owned());
        assert_eq!(of("4k/50:8k/25:16k/25"), quarters);
        assert_eq!(of("4k/50:8k/:16k"), quarters);
        assert_eq!(of("4k/50:8k/25:16k/25,4k/50:8k/25:16k/25"), quarters);
        assert_eq!(of("4608/40:9216/60"), Some("40 % 4,608 B, 60 % 9 KiB".into()));
        // Shares that are not whole or do not add up, sizes that a plan does not have, unequal directions.
        for text in [
            "4k/50:8k/:16k/:32k/",
            "4k/60:8k/60",
            "4k/50:8k/40",
            "4k/50:6k/50",
            "1000/50:2000/50",
            "4k/50:8k/50,8k/100",
            "4k/x:8k/50",
            "",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        assert_eq!(found(&[("bssplit", "4k/50:8k/50")], (2, 12_288), (0, 0)), None);
    }

    #[test]
    fn counts_that_do_not_agree_with_one_block_size_are_not_several_ones() {
        // fio 3.33, bs=4k with a ramp of 2 s: the bytes of one request more than it counts.
        let counts = (41_000, 41_001 * 4_096);
        for (options, cause) in [
            (vec![("bs", "4k"), ("ramp_time", "2")], "ramp_time=2"),
            (vec![("bs", "4k")], "status document"),
            (vec![("bs", "4k*2")], "status document"),
        ] {
            let words = found(&options, counts, (0, 0)).unwrap();
            assert!(!words.contains("several"), "{words}");
            assert!(words.contains("4096.1 bytes a request") && words.contains(cause), "{words}");
        }
        // A whole quotient that is not the size.
        let words = found(&[("bs", "4k")], (10, 81_920), (0, 0)).unwrap();
        assert!(words.contains("8192.0 bytes a request"), "{words}");
    }
}
