//! What the kernel counted on a block device during a step, against what we sent.

use ssdgauge_core::{Bytes, Finding, FindingKind, Severity, TargetKind};
use ssdgauge_os::sysfs::attribute;
use std::path::Path;

/// Differences of less than this mean nothing, whatever the share: partition scans, metadata.
const SLACK: u64 = 1 << 20;
/// The share of other traffic on a drive of our own that is told, and the share that makes the
/// numbers worthless.
const OTHERS: [f64; 2] = [0.001, 0.01];
/// On a file system its own writes come on top; less than this share is not told.
const OTHERS_ON_FILES: f64 = 0.1;
/// The same in bytes.
const SLACK_ON_FILES: u64 = 16 << 20;

/// The counts of a block device, from the file `stat` of its folder in /sys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Bytes read and written.
    pub(super) bytes: [u64; 2],
    /// Requests that were merged into their neighbours.
    pub(super) merges: u64,
    /// The milliseconds that reads and writes spent in the device, summed up.
    pub(super) held_ms: u64,
}

impl Counters {
    /// Returns the counts so far; `None` where the device keeps none.
    pub(super) fn read(folder: &Path) -> Option<Counters> {
        if attribute(&folder.join("queue/iostats")).is_some_and(|kept| kept == "0") {
            return None;
        }
        let text = attribute(&folder.join("stat"))?;
        let fields: Option<Vec<u64>> =
            text.split_whitespace().take(8).map(|word| word.parse().ok()).collect();
        let fields = fields.filter(|fields| fields.len() == 8)?;
        // The kernel counts sectors of 512 bytes, whatever the device's own block is.
        let bytes = [fields[2].wrapping_mul(512), fields[6].wrapping_mul(512)];
        let [merges, held_ms] = [fields[1] + fields[5], fields[3] + fields[7]];
        Some(Counters { bytes, merges, held_ms })
    }
}

/// Two counts, and what was sent between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    pub(super) before: Counters,
    pub(super) after: Counters,
    /// The bytes that we read and wrote.
    pub(super) issued: [u64; 2],
    pub(super) kind: TargetKind,
    /// Whether all streams are random.
    pub(super) random: bool,
    pub(super) cached: bool,
}

/// Tells what does not fit.
pub(super) fn compare(compared: &Compared) -> Vec<Finding> {
    let Compared { before, after, issued, kind, random, cached } = *compared;
    let is_ours = kind == TargetKind::Block;
    let mut findings = Vec::new();
    for (direction, word) in ["read", "written"].into_iter().enumerate() {
        let issued = issued[direction];
        let moved = after.bytes[direction].wrapping_sub(before.bytes[direction]);
        let missing = issued.saturating_sub(moved);
        if missing > SLACK + issued / 100 && !cached {
            let severity = if is_ours { Severity::Invalid } else { Severity::Warning };
            findings.push(Finding::new(
                FindingKind::PageCache,
                severity,
                format!(
                    "the drive moved only {} of the {} that were {word}",
                    Bytes(moved).about(),
                    Bytes(issued).about()
                ),
                "something in between answered: a cache, a compressing or an overlaid file \
                 system; test the drive itself",
            ));
        }
        let others = moved.saturating_sub(issued);
        let share = others as f64 / issued.max(1) as f64;
        let beside = match issued {
            0 => "where we had nothing there".to_owned(),
            _ => format!("{:.1} % of ours", share * 100.0),
        };
        let text = format!(
            "somebody else has {} {} on the drive meanwhile, {beside}",
            if direction == 0 { "read" } else { "written" },
            Bytes(others).about(),
        );
        let (told, severity) = match is_ours {
            true => (
                others > SLACK && share > OTHERS[0],
                if share > OTHERS[1] { Severity::Invalid } else { Severity::Warning },
            ),
            false => (others > SLACK_ON_FILES && share > OTHERS_ON_FILES, Severity::Warning),
        };
        if told {
            let advice = "find out who uses it (lsof, iotop), and run the step again";
            findings.push(Finding::new(FindingKind::OtherTraffic, severity, text, advice));
        }
    }
    let merges = after.merges.wrapping_sub(before.merges);
    if is_ours && random && merges > 0 {
        findings.push(Finding::new(
            FindingKind::Merged,
            Severity::Warning,
            format!("the kernel merged {merges} requests with their neighbours"),
            "the drive saw fewer and larger requests than the test asks: write 2 into \
             queue/nomerges of the drive in /sys/block",
        ));
    }
    findings
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
            kind: TargetKind::Block,
            random: true,
            cached: false,
        }
    }

    fn check(issued: [u64; 2], moved: [u64; 2], kind: TargetKind, expected: &[FindingKind]) {
        let before = Counters { bytes: [7 * MIB, 9 * MIB], merges: 3, held_ms: 11 };
        let bytes = [before.bytes[0] + moved[0], before.bytes[1] + moved[1]];
        let after = Counters { bytes, ..before };
        let compared = Compared { issued, kind, ..compared(before, after) };
        let kinds: Vec<FindingKind> = compare(&compared).into_iter().map(|f| f.kind).collect();
        assert_eq!(kinds, expected, "{issued:?} {moved:?} {kind:?}");
    }

    #[test]
    fn the_kernels_counts_tell_caches_and_strangers() {
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
    fn counts_are_read_from_a_folder_of_sys_and_merges_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let stat = "  10  2  2048  5  20  1  4096  7  0 1 1 0 0 0 0 0 0\n";
        std::fs::write(folder.path().join("stat"), stat).unwrap();
        let counters = Counters::read(folder.path()).unwrap();
        assert_eq!(counters, Counters { bytes: [MIB, 2 * MIB], merges: 3, held_ms: 12 });
        let mut compared = compared(counters, Counters { merges: 9, ..counters });
        assert_eq!(compare(&compared)[0].kind, FindingKind::Merged);
        compared.random = false;
        assert!(compare(&compared).is_empty());
        std::fs::create_dir(folder.path().join("queue")).unwrap();
        std::fs::write(folder.path().join("queue/iostats"), "0\n").unwrap();
        assert_eq!(Counters::read(folder.path()), None);
    }
}
