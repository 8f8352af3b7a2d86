//! The ladder on a made-up drive whose blocks lie in a file.

use super::*;
use ssdgauge_core::{Interval, Reading};
use ssdgauge_drive::fixture::SysfsTree;
use ssdgauge_drive::fixture::{self, Fixture, INVALID_OPCODE};
use ssdgauge_drive::pass_through::{AtaCommand, CommandError, PassThrough};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

const SIZE: u64 = 8 << 20;

/// A drive whose format erases the file behind it, unless it lies.
struct Drive {
    answers: Fixture,
    file: Arc<File>,
    lies: bool,
}

impl PassThrough for Drive {
    fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError> {
        let answer = self.answers.nvme(command, data)?;
        if matches!(command.opcode, 0x80 | 0x84) && !self.lies {
            self.file.write_all_at(&vec![0; SIZE as usize], 0).unwrap();
        }
        Ok(answer)
    }

    fn ata(&self, command: &AtaCommand, data: &mut [u8]) -> Result<(), CommandError> {
        self.answers.ata(command, data)
    }
}

/// Keeps findings, and the number of commands that had been sent when something was announced.
#[derive(Default)]
struct Keeper {
    findings: Vec<Finding>,
    announced: Vec<(String, usize)>,
    records: bool,
    stops: bool,
    drive: Option<Arc<Drive>>,
}

impl Sink for Keeper {
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
    keeper: Keeper,
}

fn bench(answers: Fixture, used: u64, lies: bool) -> Bench {
    let tree = SysfsTree::new();
    let place = tree.nvme_without_multipath("16.0 GT/s PCIe", "4");
    let folder = place.folder.strip_prefix(tree.root()).unwrap().display().to_string();
    tree.file(&format!("{folder}/size"), &(SIZE / 512).to_string());
    let file = Arc::new(tempfile::tempfile().unwrap());
    file.set_len(SIZE).unwrap();
    let drive = Arc::new(Drive { answers, file: Arc::clone(&file), lies });
    let pass_through: Arc<dyn PassThrough> = Arc::<Drive>::clone(&drive);
    let target = PurgeTarget { file, pass_through, place, used: Bytes(used) };
    let keeper = Keeper { records: true, drive: Some(Arc::clone(&drive)), ..Keeper::default() };
    Bench { _tree: tree, target, drive, keeper }
}

impl Bench {
    fn purge(&mut self, method: Option<PurgeMethod>) -> Result<Prepared, RigError> {
        purge(&self.target, method, &mut self.keeper)
    }

    fn sent(&self) -> Vec<u8> {
        self.drive.answers.sent.lock().unwrap().iter().map(|(opcode, ..)| *opcode).collect()
    }

    fn kinds(&self) -> Vec<FindingKind> {
        self.keeper.findings.iter().map(|finding| finding.kind).collect()
    }
}

#[test]
fn the_first_rung_is_a_format_that_is_recorded_before_it_is_sent() {
    let mut bench = bench(Fixture::nvme(), SIZE, false);
    let prepared = bench.purge(None).unwrap();
    assert_eq!(prepared.method, "NVMe format, user data erase");
    assert_eq!(prepared.written, Bytes(16 * 4_096), "what was planted");
    assert_eq!(bench.sent(), [0x80]);
    let (words, sent_before) = &bench.keeper.announced[0];
    assert!(words.contains("user data erase") && *sent_before == 0, "{words}");
    assert_eq!(bench.kinds(), []);
}

#[test]
fn nothing_is_sent_that_could_not_be_recorded() {
    let mut bench = bench(Fixture::nvme(), SIZE, false);
    bench.keeper.records = false;
    let prepared = bench.purge(None).unwrap();
    assert!(prepared.stopped);
    assert!(bench.sent().is_empty());
}

#[test]
fn a_part_that_stays_unused_after_a_purge_is_recorded() {
    let mut bench = bench(Fixture::nvme(), SIZE * 3 / 4, false);
    bench.purge(None).unwrap();
    assert_eq!(bench.kinds(), [FindingKind::LeftUnused]);
    assert!(bench.keeper.findings[0].text.contains("33.3 %"), "{:?}", bench.keeper.findings);
}

#[test]
fn each_rung_that_fails_is_named_and_the_last_one_is_a_finding() {
    let mut answers = Fixture::nvme();
    answers.changes.insert(0x80, INVALID_OPCODE);
    let mut bench = bench(answers, SIZE, false);
    // The file behind this drive takes no BLKDISCARD.
    let prepared = bench.purge(None).unwrap();
    assert_eq!((prepared.method.as_str(), bench.sent()), ("none", vec![0x80, 0x80]));
    assert_eq!(bench.kinds(), [FindingKind::PurgeNotPossible]);
    let text = &bench.keeper.findings[0].text;
    for words in
        ["user data erase: the drive rejects the command", "cryptographic erase", "discard"]
    {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_purge_on_a_lower_rung_says_why() {
    struct OnlyKeys(Arc<Drive>);
    impl PassThrough for OnlyKeys {
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
    bench.target.pass_through = Arc::new(OnlyKeys(Arc::clone(&bench.drive)));
    let prepared = bench.purge(None).unwrap();
    assert_eq!(prepared.method, "NVMe format, cryptographic erase");
    assert_eq!(bench.kinds(), [FindingKind::LesserPurge]);
    let text = &bench.keeper.findings[0].text;
    assert!(text.contains("user data erase: the drive rejects the command"), "{text}");
}

#[test]
fn a_format_without_an_effect_is_found_out() {
    let mut bench = bench(Fixture::nvme(), SIZE, true);
    bench.purge(None).unwrap();
    assert_eq!(bench.kinds(), [FindingKind::PurgeNotPossible]);
    let text = &bench.keeper.findings[0].text;
    assert!(text.contains("16 of 16 blocks still hold their data"), "{text}");
}

#[test]
fn neighbours_are_never_formatted() {
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
fn a_sanitize_is_sent_when_asked_for_and_watched_to_its_end() {
    let mut answers = Fixture::nvme();
    let mut log = vec![0; 32];
    (log[0], log[1], log[2]) = (0xff, 0xff, 1);
    answers.logs.insert(0x81, log);
    let mut bench = bench(answers, SIZE, false);
    let prepared = bench.purge(Some(PurgeMethod::SanitizeBlock)).unwrap();
    assert_eq!((prepared.method.as_str(), bench.sent()), ("sanitize-block", vec![0x84]));
    assert!(bench.purge(Some(PurgeMethod::SanitizeOverwrite)).is_err(), "it is not offered");
    assert_eq!(bench.sent(), [0x84]);
}

#[test]
fn a_purge_that_still_runs_is_awaited_before_another_is_sent() {
    let mut answers = Fixture::nvme();
    let mut log = vec![0; 32];
    log[2] = 2;
    answers.logs.insert(0x81, log);
    let mut bench = bench(answers, SIZE, false);
    bench.keeper.stops = true;
    assert!(bench.purge(None).unwrap().stopped);
    assert_eq!(bench.kinds(), [FindingKind::PurgeStarted]);
    assert!(bench.sent().is_empty());
    let mut answers = Fixture::nvme();
    let mut namespace = fixture::namespace();
    namespace[32] = 0x80 | 40;
    answers.identify.insert((0, 1), namespace);
    let mut bench = super::tests::bench(answers, SIZE, false);
    bench.keeper.stops = true;
    assert!(bench.purge(None).unwrap().stopped);
    assert_eq!(bench.kinds(), [FindingKind::PurgeStarted]);
}

#[test]
fn a_drive_that_leaves_in_the_middle_is_gone() {
    let mut answers = Fixture::nvme();
    answers.changes.insert(0x80, CommandError::Gone);
    let mut bench = bench(answers, SIZE, false);
    assert_eq!(bench.purge(None), Err(RigError::Gone("nvme0n1".into())));
    assert_eq!(bench.kinds(), [FindingKind::DriveGone]);
}

#[test]
fn a_stop_is_heard_while_the_drive_works() {
    struct Slow(Mutex<std::sync::mpsc::Receiver<()>>, Fixture);
    impl PassThrough for Slow {
        fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError> {
            if command.opcode == 0x80 {
                // Until the other end is dropped.
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
    bench.keeper.stops = true;
    assert!(bench.purge(None).unwrap().stopped);
    drop(end);
}
