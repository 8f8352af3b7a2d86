//! Counters of the kernel for a block device, compared with the bytes that a step sent.

use ssdgauge_core::rounded::count;
use ssdgauge_core::{Bytes, Finding, FindingKind, Severity, TargetKind};
use ssdgauge_os::sysfs::attribute;
use std::path::Path;
use std::time::Duration;

/// Differences below this are ignored whatever their share: partition scans and metadata cause
/// them.
const SLACK: u64 = 1 << 20;
/// The shares of other traffic on a whole drive from which on a finding is a warning, and makes the
/// step invalid.
const OTHER_SHARES: [f64; 2] = [0.001, 0.01];
/// The share of other traffic on a file system that is a warning; below it, the metadata of the
/// file system explain the difference.
const OTHER_SHARE_ON_FILES: f64 = 0.1;
/// The same in bytes: a journal alone writes several MiB in a step.
const SLACK_ON_FILES: u64 = 16 << 20;
/// What to do about other traffic.
const OTHER_ADVICE: &str = "find the program that uses it (lsof, iotop)";

/// The counters of a block device, from the attribute `stat` of its folder in sysfs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Bytes read and written.
    pub(super) bytes: [u64; 2],
    /// Requests that the kernel merged with others.
    pub(super) merges: u64,
    /// Requests that the device completed: reads, writes, discards and flushes.
    pub(super) completed: u64,
    /// The sum of the times that they spent in the device, in milliseconds (field 11): the kernel
    /// truncates it to 32 bits.
    pub(super) held_ms: u32,
    /// Flushes that the device completed (field 16, Linux 5.5).
    pub(super) flushes: u64,
}

impl Counters {
    /// Reads the counters; `None` where they are switched off.
    pub(super) fn read(folder: &Path) -> Option<Counters> {
        if attribute(&folder.join("queue/iostats")).is_some_and(|kept| kept == "0") {
            return None;
        }
        let text = attribute(&folder.join("stat"))?;
        // Linux documentation, block/stat: 11 fields, with discards (4.18) 15, with flushes (5.5)
        // 17.
        let fields: Option<Vec<u64>> =
            text.split_whitespace().take(17).map(|word| word.parse().ok()).collect();
        let fields = fields.filter(|fields| fields.len() >= 11)?;
        let count = |index: usize| fields.get(index).copied().unwrap_or(0);
        // The kernel counts sectors of 512 bytes, whatever the device's own block is.
        let bytes = [fields[2].wrapping_mul(512), fields[6].wrapping_mul(512)];
        Some(Counters {
            bytes,
            merges: fields[1] + fields[5],
            completed: [0, 4, 11, 15].into_iter().map(count).sum(),
            held_ms: fields[10] as u32,
            flushes: count(15),
        })
    }
}

/// The counters before and after a step, and what the step sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    pub(super) before: Counters,
    pub(super) after: Counters,
    /// The bytes that the step read and wrote.
    pub(super) issued: [u64; 2],
    /// Whether the counters have these bytes; those of commands that were passed through they have not.
    pub(super) counts_own: bool,
    pub(super) kind: TargetKind,
    /// Whether all streams are random.
    pub(super) random: bool,
    /// Whether requests went through the page cache.
    pub(super) page_cached: bool,
}

/// Returns the flushes that the block device whose folder in sysfs is `folder` has completed; `None`
/// where they are not counted.
pub(crate) fn completed_flushes(folder: &Path) -> Option<u64> {
    Counters::read(folder).map(|counters| counters.flushes)
}

/// Returns a finding for each difference: bytes that did not reach the device, bytes of others, and
/// merged requests.
pub(super) fn compare(compared: &Compared) -> Vec<Finding> {
    let Compared { before, after, issued, counts_own, kind, random, page_cached } = *compared;
    let is_drive = kind == TargetKind::Block;
    let mut findings = Vec::new();
    for (direction, [word, past]) in
        [["read", "read"], ["written", "wrote"]].into_iter().enumerate()
    {
        let issued = issued[direction];
        let counted = after.bytes[direction].wrapping_sub(before.bytes[direction]);
        let moved = if counts_own { counted } else { counted.saturating_add(issued) };
        let missing = issued.saturating_sub(moved);
        if missing > SLACK + issued / 100 && !page_cached {
            let severity = if is_drive { Severity::Invalid } else { Severity::Warning };
            findings.push(Finding::new(
                FindingKind::PageCache,
                severity,
                format!(
                    "the counters of the drive show only {} of the {} that were {word}",
                    Bytes(moved).about(),
                    Bytes(issued).about()
                ),
                "a layer above the drive completed the rest: a cache, a compressing or an overlaid \
                 file system; test the drive itself",
            ));
        }
        let others = moved.saturating_sub(issued);
        let share = others as f64 / issued.max(1) as f64;
        let during = match (issued, direction) {
            (0, 0) => "a step that read nothing".to_owned(),
            (0, _) => "a read-only step".to_owned(),
            _ => format!("the step, {:.1} % of its own traffic", share * 100.0),
        };
        let text = format!("other programs {past} {} during {during}", Bytes(others).about());
        let (is_reported, severity) = match is_drive {
            true => (
                others > SLACK && share > OTHER_SHARES[0],
                if share > OTHER_SHARES[1] { Severity::Invalid } else { Severity::Warning },
            ),
            false => (others > SLACK_ON_FILES && share > OTHER_SHARE_ON_FILES, Severity::Warning),
        };
        if is_reported {
            let advice = format!("{OTHER_ADVICE}, and run the step again");
            findings.push(Finding::new(FindingKind::OtherTraffic, severity, text, advice));
        }
    }
    let merges = after.merges.wrapping_sub(before.merges);
    if is_drive && random && merges > 0 {
        findings.push(Finding::new(
            FindingKind::Merged,
            Severity::Warning,
            match merges {
                1 => "the kernel merged a request with an adjacent one".to_owned(),
                _ => format!("the kernel merged {} requests with adjacent ones", count(merges)),
            },
            "the drive received fewer and larger requests than the test specifies: write 2 into \
             queue/nomerges of the drive in /sys/block",
        ));
    }
    findings
}

/// Returns the finding about the bytes that others read and wrote within `time`, in which this program sent
/// nothing, by the limits of a step; `is_block` says whether a drive is tested or a file on it.
pub(super) fn while_idle(
    before: &Counters,
    after: &Counters,
    time: Duration,
    is_block: bool,
) -> Option<Finding> {
    let [read, written] = [0, 1].map(|at| after.bytes[at].wrapping_sub(before.bytes[at]));
    let slack = if is_block { SLACK } else { SLACK_ON_FILES };
    let [read_text, written_text] = [read, written].map(|bytes| Bytes(bytes).about());
    (read.max(written) > slack).then(|| {
        Finding::new(
            FindingKind::OtherTraffic,
            Severity::Warning,
            format!(
                "other programs read {read_text} and wrote {written_text} within {} s",
                time.as_secs_f64()
            ),
            OTHER_ADVICE,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn compared(before: Counters, after: Counters) -> Compared {
        Compared {
            before,
            after,
            issued: [0; 2],
            counts_own: true,
            kind: TargetKind::Block,
            random: true,
            page_cached: false,
        }
    }

    fn check(issued: [u64; 2], moved: [u64; 2], kind: TargetKind, expected: &[FindingKind]) {
        let before = Counters { bytes: [7 * MIB, 9 * MIB], merges: 3, ..Counters::default() };
        let bytes = [before.bytes[0] + moved[0], before.bytes[1] + moved[1]];
        let after = Counters { bytes, ..before };
        let compared = Compared { issued, kind, ..compared(before, after) };
        let kinds: Vec<FindingKind> = compare(&compared).into_iter().map(|f| f.kind).collect();
        assert_eq!(kinds, expected, "{issued:?} {moved:?} {kind:?}");
    }

    #[test]
    fn counters_reveal_caches_and_other_programs() {
        let [block, file] = [TargetKind::Block, TargetKind::File];
        check([1_000 * MIB, 0], [1_000 * MIB, 0], block, &[]);
        check([1_000 * MIB, 0], [60 * MIB, 0], block, &[FindingKind::PageCache]);
        check([1_000 * MIB, 0], [60 * MIB, 0], file, &[FindingKind::PageCache]);
        check([1_000 * MIB, 0], [1_005 * MIB, 0], block, &[FindingKind::OtherTraffic]);
        check([0, 1_000 * MIB], [0, 1_050 * MIB], block, &[FindingKind::OtherTraffic]);
        check([0, 1_000 * MIB], [0, 1_050 * MIB], file, &[]);
        check(
            [0, 1_000 * MIB],
            [40 * MIB, 1_200 * MIB],
            file,
            &[FindingKind::OtherTraffic, FindingKind::OtherTraffic],
        );
    }

    #[test]
    fn traffic_without_a_load_is_judged_by_the_limits_of_a_step() {
        for (moved, of_block, of_file) in [(0, false, false), (2, true, false), (20, true, true)] {
            let after = Counters { bytes: [0, moved * MIB], ..Counters::default() };
            let found = |is_block| {
                while_idle(&Counters::default(), &after, Duration::from_secs(1), is_block).is_some()
            };
            assert_eq!([found(true), found(false)], [of_block, of_file], "{moved} MiB");
        }
    }

    #[test]
    fn traffic_of_others_next_to_commands_that_are_not_counted_is_reported() {
        let check = |moved: u64, expected: &[FindingKind]| {
            let after = Counters { bytes: [moved, 0], ..Counters::default() };
            let issued = [1_000 * MIB, 0];
            let compared =
                Compared { issued, counts_own: false, ..compared(Counters::default(), after) };
            let kinds: Vec<FindingKind> = compare(&compared).iter().map(|f| f.kind).collect();
            assert_eq!(kinds, expected, "{moved}");
        };
        check(0, &[]);
        check(50 * MIB, &[FindingKind::OtherTraffic]);
    }

    #[test]
    fn counters_are_read_from_sysfs_and_merges_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let stat = "  10  2  2048  5  20  1  4096  7  0 1 23 3 0 0 0 4 11\n";
        std::fs::write(folder.path().join("stat"), stat).unwrap();
        let counters = Counters::read(folder.path()).unwrap();
        assert_eq!(
            counters,
            Counters { bytes: [MIB, 2 * MIB], merges: 3, completed: 37, held_ms: 23, flushes: 4 }
        );
        let short = "10 2 2048 5 20 1 4096 7 0 1 23\n";
        std::fs::write(folder.path().join("stat"), short).unwrap();
        assert_eq!(Counters::read(folder.path()).unwrap().completed, 30);
        let mut compared = compared(counters, Counters { merges: 9, ..counters });
        assert_eq!(compare(&compared)[0].kind, FindingKind::Merged);
        compared.random = false;
        assert!(compare(&compared).is_empty());
        std::fs::create_dir(folder.path().join("queue")).unwrap();
        std::fs::write(folder.path().join("queue/iostats"), "0\n").unwrap();
        assert_eq!(Counters::read(folder.path()), None);
    }
}
