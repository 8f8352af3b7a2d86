//! Purges of a simulated drive whose blocks are those of a file.

use super::*;
use ssdgauge_core::{Interval, Reading};
use ssdgauge_drive::fixture::SysfsTree;
use ssdgauge_drive::fixture::{self, Fixture, INVALID_OPCODE};
use ssdgauge_drive::pass_through::{AtaCommand, CommandError, PassThrough};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

const SIZE: u64 = 8 << 20;

/// A drive whose format and sanitize erase the file behind it, unless they are without effect.
struct Drive {
    answers: Fixture,
    file: Arc<File>,
    without_effect: bool,
}

impl PassThrough for Drive {
    fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError> {
        let answer = self.answers.nvme(command, data)?;
        if matches!(command.opcode, 0x80 | 0x84) && !self.without_effect {
            self.file.write_all_at(&vec![0; SIZE as usize], 0).unwrap();
        }
        Ok(answer)
    }

    fn ata(&self, command: &AtaCommand, data: &mut [u8]) -> Result<(), CommandError> {
        self.answers.ata(command, data)
    }
}

/// Records findings, and the number of commands sent at the time of each announcement.
#[derive(Default)]
struct RecordingSink {
    findings: Vec<Finding>,
    announced: Vec<(String, usize)>,
    records: bool,
    stops: bool,
    drive: Option<Arc<Drive>>,
}

impl Sink for RecordingSink {
    fn interval(&mut self, _: &Interval) {}
    fn reading(&mut self, _: &Reading) {}
    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
    fn announce(&mut self, finding: Finding) -> bool {
        let drive = self.drive.as_ref().unwrap();
        self.announced.push((finding.text, drive.answers.sent.lock().unwrap().len()));
        self.records
    }
    fn stop(&mut self) -> bool {
        self.stops
    }
}

struct Bench {
    _tree: SysfsTree,
    target: PurgeTarget,
    drive: Arc<Drive>,
    sink: RecordingSink,
}

fn bench(answers: Fixture, used: u64, without_effect: bool) -> Bench {
    let tree = SysfsTree::new();
    let device = tree.nvme_without_multipath("16.0 GT/s PCIe", "4");
    let folder = device.folder.strip_prefix(tree.root()).unwrap().display().to_string();
    tree.file(&format!("{folder}/size"), &(SIZE / 512).to_string());
    let file = Arc::new(tempfile::tempfile().unwrap());
    file.set_len(SIZE).unwrap();
    let drive = Arc::new(Drive { answers, file: Arc::clone(&file), without_effect });
    let pass_through: Arc<dyn PassThrough> = Arc::<Drive>::clone(&drive);
    let target = PurgeTarget { file, pass_through, device, used: Bytes(used) };
    let sink = Some(Arc::clone(&drive));
    let sink = RecordingSink { records: true, drive: sink, ..RecordingSink::default() };
    Bench { _tree: tree, target, drive, sink }
}

impl Bench {
    fn purge(&mut self, method: Option<PurgeMethod>) -> Result<Prepared, RigError> {
        purge(&self.target, method, &mut self.sink)
    }

    fn sent(&self) -> Vec<u8> {
        self.drive.answers.sent.lock().unwrap().iter().map(|(opcode, ..)| *opcode).collect()
    }

    fn kinds(&self) -> Vec<FindingKind> {
        self.sink.findings.iter().map(|finding| finding.kind).collect()
    }
}

#[test]
fn a_format_is_attempted_first_and_recorded_before_it_is_sent() {
    let mut bench = bench(Fixture::nvme(), SIZE, false);
    let prepared = bench.purge(None).unwrap();
    assert_eq!(prepared.method, "NVMe format, user data erase");
    assert_eq!(prepared.written, Bytes(16 * 4_096), "the pattern");
    assert_eq!(bench.sent(), [0x80]);
    let (words, sent_before) = &bench.sink.announced[0];
    assert!(words.contains("user data erase") && *sent_before == 0, "{words}");
    assert_eq!(bench.kinds(), []);
}

#[test]
fn a_command_that_cannot_be_recorded_is_not_sent() {
    let mut bench = bench(Fixture::nvme(), SIZE, false);
    bench.sink.records = false;
    let prepared = bench.purge(None).unwrap();
    assert!(prepared.stopped);
    assert!(bench.sent().is_empty());
}

#[test]
fn a_part_that_stays_unused_after_a_purge_is_recorded() {
    let mut bench = bench(Fixture::nvme(), SIZE * 3 / 4, false);
    bench.purge(None).unwrap();
    assert_eq!(bench.kinds(), [FindingKind::LeftUnused]);
    assert!(bench.sink.findings[0].text.contains("33.3 %"), "{:?}", bench.sink.findings);
}

#[test]
fn each_failed_method_is_named_in_the_finding() {
    let mut answers = Fixture::nvme();
    answers.changes.insert(0x80, INVALID_OPCODE);
    let mut bench = bench(answers, SIZE, false);
    // A regular file does not support BLKDISCARD.
    let prepared = bench.purge(None).unwrap();
    assert_eq!((prepared.method.as_str(), bench.sent()), ("none", vec![0x80, 0x80]));
    assert_eq!(bench.kinds(), [FindingKind::PurgeNotPossible]);
    let text = &bench.sink.findings[0].text;
    for words in
        ["user data erase: the drive rejects the command", "cryptographic erase", "discard"]
    {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_lesser_purge_is_reported_with_its_reason() {
    struct OnlyCryptographic(Arc<Drive>);
    impl PassThrough for OnlyCryptographic {
        fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError> {
            match command.opcode == 0x80 && command.words[0] >> 9 & 7 == 1 {
                true => Err(INVALID_OPCODE),
                false => self.0.nvme(command, data),
            }
        }
        fn ata(&self, command: &AtaCommand, data: &mut [u8]) -> Result<(), CommandError> {
            self.0.ata(command, data)
        }
    }
    let mut bench = bench(Fixture::nvme(), SIZE, false);
    bench.target.pass_through = Arc::new(OnlyCryptographic(Arc::clone(&bench.drive)));
    let prepared = bench.purge(None).unwrap();
    assert_eq!(prepared.method, "NVMe format, cryptographic erase");
    assert_eq!(bench.kinds(), [FindingKind::LesserPurge]);
    let text = &bench.sink.findings[0].text;
    assert!(text.contains("user data erase: the drive rejects the command"), "{text}");
}

#[test]
fn a_format_without_effect_is_detected() {
    let mut bench = bench(Fixture::nvme(), SIZE, true);
    bench.purge(None).unwrap();
    assert_eq!(bench.kinds(), [FindingKind::PurgeNotPossible]);
    let text = &bench.sink.findings[0].text;
    assert!(text.contains("16 of 16 blocks still hold their data"), "{text}");
}

#[test]
fn a_drive_with_other_namespaces_is_never_formatted() {
    let mut answers = Fixture::nvme();
    let mut list = vec![0; 4_096];
    (list[0], list[4]) = (1, 2);
    answers.identify.insert((2, 0), list);
    let mut bench = bench(answers, SIZE, false);
    bench.purge(None).unwrap();
    assert!(bench.sent().is_empty());
    match bench.purge(Some(PurgeMethod::Format)) {
        Err(RigError::CannotPurge { reason, .. }) => {
            assert!(reason.contains("2 namespaces in use"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    assert!(bench.purge(Some(PurgeMethod::SanitizeBlock)).is_err());
    assert!(bench.sent().is_empty());
}

#[test]
fn a_sanitize_is_sent_when_requested_and_awaited() {
    let mut answers = Fixture::nvme();
    let mut log = vec![0; 32];
    (log[0], log[1], log[2]) = (0xff, 0xff, 1);
    answers.logs.insert(0x81, log);
    let mut bench = bench(answers, SIZE, false);
    let prepared = bench.purge(Some(PurgeMethod::SanitizeBlock)).unwrap();
    assert_eq!((prepared.method.as_str(), bench.sent()), ("sanitize-block", vec![0x84]));
    assert!(bench.purge(Some(PurgeMethod::SanitizeOverwrite)).is_err(), "it is not supported");
    assert_eq!(bench.sent(), [0x84]);
}

#[test]
fn a_purge_in_progress_is_awaited_before_another_is_sent() {
    let mut answers = Fixture::nvme();
    let mut log = vec![0; 32];
    log[2] = 2;
    answers.logs.insert(0x81, log);
    let mut bench = bench(answers, SIZE, false);
    bench.sink.stops = true;
    assert!(bench.purge(None).unwrap().stopped);
    assert_eq!(bench.kinds(), [FindingKind::PurgeStarted]);
    assert!(bench.sent().is_empty());
    let mut answers = Fixture::nvme();
    let mut namespace = fixture::namespace();
    namespace[32] = 0x80 | 40;
    answers.identify.insert((0, 1), namespace);
    let mut bench = super::tests::bench(answers, SIZE, false);
    bench.sink.stops = true;
    assert!(bench.purge(None).unwrap().stopped);
    assert_eq!(bench.kinds(), [FindingKind::PurgeStarted]);
}

#[test]
fn a_drive_that_is_removed_during_a_purge_is_gone() {
    let mut answers = Fixture::nvme();
    answers.changes.insert(0x80, CommandError::Gone);
    let mut bench = bench(answers, SIZE, false);
    assert_eq!(bench.purge(None), Err(RigError::Gone("nvme0n1".into())));
    assert_eq!(bench.kinds(), [FindingKind::DriveGone]);
}

#[test]
fn a_stop_is_noticed_while_a_command_runs() {
    struct Slow(Mutex<std::sync::mpsc::Receiver<()>>, Fixture);
    impl PassThrough for Slow {
        fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError> {
            if command.opcode == 0x80 {
                // Blocks until the sender is dropped.
                let _ = self.0.lock().unwrap().recv();
            }
            self.1.nvme(command, data)
        }
        fn ata(&self, command: &AtaCommand, data: &mut [u8]) -> Result<(), CommandError> {
            self.1.ata(command, data)
        }
    }
    let (end, waits) = std::sync::mpsc::channel();
    let mut bench = bench(Fixture::nvme(), SIZE, false);
    bench.target.pass_through = Arc::new(Slow(Mutex::new(waits), Fixture::nvme()));
    bench.sink.stops = true;
    assert!(bench.purge(None).unwrap().stopped);
    drop(end);
}
