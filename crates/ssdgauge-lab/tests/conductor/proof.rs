//! Proofs of virtual drives: each kind of loss is found, with its capacity, and no honest drive is
//! accused.

use ssdgauge_core::proof::{Conclusion, PROOF_BLOCK};
use ssdgauge_core::{
    Bytes, DriveInfo, Ended, Finding, Nanos, Phase, Preparation, Prepared, Random, Rig, RigError,
    Sink, StampedBlocks, Step, TargetKind, Test, Until, Workload,
};
use ssdgauge_lab::{
    ConductError, Depth, ProofError, Proved, Recorded, Settings, Watcher, What, conduct_proof,
    proof_plan, resume, review,
};
use ssdgauge_runfile::{Opening, RunFile, Writer};
use ssdgauge_sim::VirtualRig;
use std::path::{Path, PathBuf};

/// A watcher that ends the proof at a call of `stop`.
struct Stopper {
    calls_left: u64,
}

impl Watcher for Stopper {
    fn unix_ms(&mut self) -> i64 {
        1_000
    }

    fn stop(&mut self) -> bool {
        self.calls_left = self.calls_left.saturating_sub(1);
        self.calls_left == 0
    }

    fn progress(&mut self, _doing: &str, done: Bytes, most: Bytes) {
        assert!(done <= most, "{done:?} of {most:?}");
    }

    fn finding_recorded(&mut self, _: &Finding) {}

    fn step_began(&mut self, _: &Test, _: &Phase, _: &Step) {}

    fn pause_began(&mut self, _: Nanos) {}

    fn step_ended(&mut self, _: &Test, _: &Step, _: Nanos) {}
}

/// A proof in a folder of its own.
struct Bench {
    _folder: tempfile::TempDir,
    file: PathBuf,
    target: String,
    settings: Settings,
}

impl Bench {
    fn new(target: &str, depth: Depth) -> Bench {
        Bench::of(&VirtualRig::open(target, 1).unwrap(), target, depth)
    }

    /// The same for the drive of `rig`.
    fn of(rig: &dyn Rig, target: &str, depth: Depth) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.ssdg");
        let settings = Settings::new("run", rig.drive().capacity, depth);
        let plan = proof_plan(rig.drive(), depth, 1).unwrap();
        let opening = Opening {
            id: "run",
            program: "test",
            unix_ms: 0,
            plan: &plan,
            drive: rig.drive(),
            environment: &[],
            properties: &[settings.property()],
        };
        drop(Writer::create(&file, &opening).unwrap());
        Bench { _folder: folder, file, target: target.to_owned(), settings }
    }

    /// Carries out the rest of the proof up to `stop_after` calls of `stop`.
    fn go(&self, stop_after: u64) -> Result<Proved, ConductError> {
        self.go_on(&mut VirtualRig::open(&self.target, 1).unwrap(), stop_after)
    }

    /// The same on `rig`.
    fn go_on(&self, rig: &mut dyn Rig, stop_after: u64) -> Result<Proved, ConductError> {
        let (mut writer, run) = Writer::resume(&self.file).unwrap();
        let recorded = Recorded::read(&run).unwrap().unwrap();
        let mut watcher = Stopper { calls_left: stop_after };
        match recorded.events.is_empty() {
            true => {
                conduct_proof(&run.head().plan, &recorded, rig, &mut writer, &mut watcher)?;
            }
            false => {
                resume(&run, rig, &mut writer, &mut watcher, "test")?;
            }
        }
        drop((writer, run));
        Ok(review(&self.recorded()))
    }

    fn recorded(&self) -> Recorded {
        recorded(&self.file)
    }
}

fn recorded(file: &Path) -> Recorded {
    Recorded::read(&RunFile::open(file).unwrap()).unwrap().unwrap()
}

/// Proves `sim:tiny` of 1 GB that stores `real` bytes by `fake`, and checks the answer.
fn check_found(fake: &str, real: u64, depth: Depth) {
    let bench = Bench::new(&format!("tiny?capacity=1GB&fake={fake}"), depth);
    let proved = bench.go(u64::MAX).unwrap();
    let (least, most) = proved.verdict.capacity().expect(fake);
    let (least, most) = (least * PROOF_BLOCK.0, most * PROOF_BLOCK.0);
    assert!(least as f64 >= real as f64 * 0.99, "{fake}: {least} of {real}");
    assert!(most as f64 <= real as f64 * 1.01, "{fake}: {most} of {real}");
    assert!(proved.written.0 <= 2 * real, "{fake}: {:?} written", proved.written);
    assert!(proved.is_complete && !proved.evidence.is_empty());
    // The run file alone gives the same result.
    assert_eq!(review(&bench.recorded()), proved);
}

const MB: u64 = 1_000_000;

#[test]
fn each_kind_of_missing_capacity_is_found_within_one_percent_and_two_writes_of_it() {
    for depth in [Depth::Quick, Depth::Full] {
        check_found("wrap:37MB", 37 * MB, depth);
        check_found("wrap:500MB", 500 * MB, depth);
        check_found("limbo:64MB", 64 * MB, depth);
        check_found("limbo:900MB", 900 * MB, depth);
        check_found("tail:10MB", 990 * MB, depth);
        check_found("cache:16MB", 500 * MB, depth);
        check_found("limbo:300MB+cache:40MB", 300 * MB, depth);
        check_found("wrap:250MB+dying:900MB", 250 * MB, depth);
    }
}

#[test]
fn a_cache_larger_than_a_quick_proof_is_found_by_a_full_one() {
    let target = "tiny?capacity=1GB&fake=limbo:700MB+cache:200MB";
    assert_eq!(Bench::new(target, Depth::Quick).go(u64::MAX).unwrap().verdict, Conclusion::Holds);
    check_found("limbo:700MB+cache:200MB", 700 * MB, Depth::Full);
}

#[test]
fn no_honest_drive_is_accused() {
    // `-p ssdgauge-tools -- honest_proofs` proves larger ones.
    let drives = if std::env::var_os("SSDGAUGE_LONG").is_some() { 500 } else { 6 };
    let mut random = Random::new(7, 0);
    for number in 0..drives {
        let (capacity, seed) = (500 + random.below(1_000), random.next_u64());
        let profile = ["tiny", "tlc-client", "qlc-client"][random.below(3) as usize];
        let depth = if number % 3 == 0 { Depth::Full } else { Depth::Quick };
        let target = format!("{profile}?capacity={capacity}MB&seed={seed}");
        let proved = Bench::new(&target, depth).go(u64::MAX).unwrap();
        assert_eq!(proved.verdict, Conclusion::Holds, "{target}");
        assert_eq!(proved.tally.bad(), 0);
    }
}

#[test]
fn a_full_proof_tests_every_block_but_the_first() {
    let bench = Bench::new("tiny?capacity=64MB", Depth::Full);
    let proved = bench.go(u64::MAX).unwrap();
    assert_eq!(proved.tested, bench.settings.capacity_bytes / PROOF_BLOCK.0 - 1);
}

#[test]
fn a_proof_that_is_stopped_again_and_again_gives_the_same_events() {
    for fake in ["", "&fake=wrap:30MB", "&fake=limbo:40MB+cache:8MB"] {
        let target = format!("tiny?capacity=64MB{fake}");
        let whole = Bench::new(&target, Depth::Full);
        let expected = whole.go(u64::MAX).unwrap();
        let parts = Bench::new(&target, Depth::Full);
        // A repeated part needs the calls of the part before: each attempt comes further.
        let attempts = (1..).map(|number| parts.go(number * 61).unwrap());
        let last = attempts.take(200).find(|proved| proved.is_complete).unwrap();
        assert_eq!(last, expected, "{fake}");
        let events = |bench: &Bench| -> Vec<What> {
            bench.recorded().events.into_iter().map(|event| event.what).collect()
        };
        assert_eq!(events(&parts), events(&whole), "{fake}");
        // Nothing is left to do, and nothing is recorded again.
        assert_eq!(parts.go(u64::MAX).unwrap(), expected);
        assert_eq!(events(&parts), events(&whole), "{fake}");
    }
}

#[test]
fn the_evidence_of_a_drive_that_dies_or_vanishes_is_kept() {
    let dying = Bench::new("tiny?capacity=1GB&fake=dying:40MB", Depth::Full);
    assert!(matches!(dying.go(u64::MAX), Err(ConductError::Proof(ProofError::WriteFailed(_)))));
    let gone = Bench::new("tiny?capacity=1GB&fault.gone_at_s=0.2", Depth::Full);
    assert!(matches!(gone.go(u64::MAX), Err(ConductError::Rig(RigError::Gone(_)))));
    for bench in [dying, gone] {
        let recorded = bench.recorded();
        assert!(matches!(recorded.events.last().unwrap().what, What::Failed { .. }));
        let proved = review(&recorded);
        assert!(proved.tally.own > 1_000, "{:?}", proved.tally);
        assert_eq!((proved.verdict, proved.is_complete), (Conclusion::Holds, false));
    }
}

#[test]
fn a_region_that_cannot_be_read_is_damage_and_not_a_capacity() {
    let target = "tiny?capacity=256MB&fault.error_at=40000000&fault.error_bytes=9000000&fault.error_writes=false";
    let proved = Bench::new(target, Depth::Full).go(u64::MAX).unwrap();
    assert_eq!(proved.verdict, Conclusion::Damaged);
    assert!(proved.tally.error >= 9_000_000 / 4_096, "{:?}", proved.tally);
}

#[test]
fn a_failed_write_ends_the_proof_with_the_error() {
    let target = "tiny?capacity=1GB&fault.error_at=400000000&fault.error_bytes=9000000\
                  &fault.error_reads=false";
    assert!(matches!(
        Bench::new(target, Depth::Quick).go(u64::MAX),
        Err(ConductError::Proof(ProofError::WriteFailed(_)))
    ));
}

#[test]
fn a_small_drive_is_refused_before_anything_is_written() {
    let rig = VirtualRig::open("tiny", 1).unwrap().limited_to(Bytes(8 << 20));
    let plan = proof_plan(rig.drive(), Depth::Quick, 1);
    assert!(matches!(plan, Err(ProofError::TooSmall { .. })));
}

#[test]
fn a_record_outside_the_drive_is_refused_and_not_judged() {
    let bench = Bench::new("tiny?capacity=1GB", Depth::Quick);
    let (mut writer, _) = Writer::resume(&bench.file).unwrap();
    let event = r#"{"unix_ms":1,"event":"written","set":"marks","from":0,"to":99999999}"#;
    writer.property(None, "proof_event", event).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let error = Recorded::read(&RunFile::open(&bench.file).unwrap()).unwrap_err();
    assert!(error.to_string().contains("outside the drive"), "{error}");
}

/// A virtual drive in the place of a block device: it keeps its contents from one part of a proof to the
/// next.
struct AsBlock {
    info: DriveInfo,
    rig: VirtualRig,
}

impl AsBlock {
    fn open(target: &str) -> AsBlock {
        let rig = VirtualRig::open(target, 1).unwrap();
        AsBlock { info: DriveInfo { kind: TargetKind::Block, ..rig.drive().clone() }, rig }
    }
}

impl Rig for AsBlock {
    fn drive(&self) -> &DriveInfo {
        &self.info
    }

    fn prepare(&mut self, what: &Preparation, sink: &mut dyn Sink) -> Result<Prepared, RigError> {
        self.rig.prepare(what, sink)
    }

    fn run(
        &mut self,
        load: &Workload,
        until: &Until,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        self.rig.run(load, until, sink)
    }

    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<Nanos, RigError> {
        self.rig.rest(duration, sink)
    }

    fn stamped_blocks(&mut self) -> Option<&mut dyn StampedBlocks> {
        self.rig.stamped_blocks()
    }
}

#[test]
fn a_resumed_proof_does_not_accuse_a_drive_that_was_emptied_meanwhile() {
    let target = "tiny?capacity=64MB";
    let mut rig = AsBlock::open(target);
    let bench = Bench::of(&rig, target, Depth::Full);
    // Up to a stop at which blocks were written and read.
    let stops = (1..).map(|number| bench.go_on(&mut rig, number * 40).unwrap());
    let stopped = stops.take(100).find(|proved| proved.tally.own > 0).unwrap();
    assert!(!stopped.is_complete);
    let events = bench.recorded().events.len();
    let emptied = bench.go_on(&mut AsBlock::open(target), u64::MAX);
    assert!(matches!(emptied, Err(ConductError::Proof(ProofError::Emptied))), "{emptied:?}");
    assert_eq!(bench.recorded().events.len(), events, "nothing is recorded against the drive");
    // The drive itself completes its proof.
    let proved = bench.go_on(&mut rig, u64::MAX).unwrap();
    assert_eq!((proved.verdict, proved.is_complete), (Conclusion::Holds, true));
}
