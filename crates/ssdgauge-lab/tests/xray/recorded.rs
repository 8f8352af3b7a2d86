//! X-rays in run files: the card follows from the recorded answers alone, and an X-ray that was interrupted goes on.

// A test ends at the first error.
#![allow(clippy::unwrap_used)]

use super::noise::Noisy;
use ssdgauge_core::{
    DriveInfo, Ended, Finding, Flush, MediaWrites, Nanos, Phase, Preparation, Prepared, Rig,
    RigError, Sink, Step, TargetKind, Test, TimedLoads, Until, Workload,
};
use ssdgauge_lab::{
    Completion, ConductError, Examined, Experiment, RecordedXray, Unwatched, Watcher, XrayError,
    XrayOptions, conduct_xray, resume, review_xray, xray, xray_plan,
};
use ssdgauge_runfile::{Opening, RunFile, StepState, Writer};
use ssdgauge_sim::VirtualRig;
use ssdgauge_xray::Structure;
use std::path::PathBuf;

const DRIVE: &str =
    "tlc-client?capacity=8GB&slc.fixed_gb=25&slc.dynamic_gb=0&effects.media_counter_kib=4";

/// Stops in the experiment with an id, and keeps the findings.
#[derive(Default)]
struct Stopper {
    stops_in: String,
    stops: bool,
    findings: Vec<Finding>,
}

impl Stopper {
    fn in_experiment(id: &str) -> Stopper {
        Stopper { stops_in: id.to_owned(), ..Stopper::default() }
    }
}

impl Watcher for Stopper {
    fn unix_ms(&mut self) -> i64 {
        1_000
    }

    fn stop(&mut self) -> bool {
        self.stops
    }

    fn step_began(&mut self, test: &Test, _: &Phase, _: &Step) {
        self.stops = test.id == self.stops_in;
    }

    fn pause_began(&mut self, _: Nanos) {}

    fn finding_recorded(&mut self, finding: &Finding) {
        self.findings.push(finding.clone());
    }

    fn step_ended(&mut self, _: &Test, _: &Step, _: Nanos) {}
}

/// An X-ray in a folder of its own.
struct Bench {
    _folder: tempfile::TempDir,
    file: PathBuf,
    recorded: RecordedXray,
}

fn options(only: &[Structure]) -> XrayOptions {
    XrayOptions { gentle: false, steady: false, only: only.to_vec(), seed: 1 }
}

impl Bench {
    fn new(rig: &dyn Rig, options: XrayOptions) -> Bench {
        Bench::stating(rig, options.clone(), options)
    }

    /// Makes an X-ray of `options` whose run file states others.
    fn stating(rig: &dyn Rig, options: XrayOptions, stated: XrayOptions) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.ssdg");
        let plan = xray_plan(rig.drive(), &options).unwrap();
        let recorded = RecordedXray::none(options);
        let opening = Opening {
            id: "run",
            program: "test",
            unix_ms: 0,
            plan: &plan,
            drive: rig.drive(),
            environment: &[],
            properties: &[RecordedXray::none(stated).property()],
        };
        drop(Writer::create(&file, &opening).unwrap());
        Bench { _folder: folder, file, recorded }
    }

    /// Begins the X-ray on `rig`.
    fn begin(
        &self,
        rig: &mut dyn Rig,
        watcher: &mut dyn Watcher,
    ) -> Result<Completion, ConductError> {
        let (mut writer, run) = Writer::resume(&self.file).unwrap();
        conduct_xray(&run.head().plan.clone(), &self.recorded, rig, &mut writer, watcher)
    }

    /// Continues it on `rig`.
    fn go_on(
        &self,
        rig: &mut dyn Rig,
        watcher: &mut dyn Watcher,
    ) -> Result<Completion, ConductError> {
        let (mut writer, run) = Writer::resume(&self.file).unwrap();
        resume(&run, rig, &mut writer, watcher, "test")
    }

    fn recorded(&self) -> RecordedXray {
        RecordedXray::read(&RunFile::open(&self.file).unwrap()).unwrap().unwrap()
    }

    fn review(&self) -> Examined {
        let run = RunFile::open(&self.file).unwrap();
        review_xray(&run.head().drive, &self.recorded()).unwrap()
    }

    /// Returns the experiments of the run in their order, each with whether it is finished.
    fn experiments(&self) -> Vec<(String, bool)> {
        let run = RunFile::open(&self.file).unwrap();
        let of = |step: ssdgauge_runfile::StepRecord| {
            let id = run.head().plan.tests[step.place.test].id.clone();
            (id, step.state == StepState::Finished)
        };
        run.steps().unwrap().into_iter().map(of).collect()
    }
}

#[test]
fn the_card_of_a_run_file_is_that_of_the_x_ray_itself() {
    for wanted in [
        options(&[]),
        XrayOptions { steady: true, ..options(&[]) },
        XrayOptions { gentle: true, ..options(&[]) },
    ] {
        let mut rig = VirtualRig::open(DRIVE, 1).unwrap();
        let bench = Bench::new(&rig, wanted);
        assert_eq!(bench.begin(&mut rig, &mut Unwatched).unwrap(), Completion::Finished);
        let mut same = VirtualRig::open(DRIVE, 1).unwrap();
        let direct = xray(&mut same, &bench.recorded, &mut Silent).unwrap();
        assert!(direct.is_complete && bench.recorded().has_ended);
        assert_eq!(bench.review(), direct);
        assert_eq!(bench.recorded().written, direct.written);
        assert!(bench.experiments().iter().all(|(_, is_finished)| *is_finished));
        // Nothing is left to do.
        let again = bench.go_on(&mut VirtualRig::open(DRIVE, 1).unwrap(), &mut Unwatched);
        assert_eq!(again.unwrap(), Completion::Finished);
    }
}

#[test]
fn an_x_ray_of_everything_from_before_programs_were_looked_for_keeps_its_answers() {
    let mut older: Vec<Structure> = options(&[]).structures().into_iter().collect();
    let later = [Structure::ProgramTime, Structure::ProgramUnit, Structure::WriteBuffer];
    older.retain(|one| !later.contains(one));
    let mut rig = VirtualRig::open(DRIVE, 1).unwrap();
    let bench = Bench::stating(&rig, options(&older), options(&[]));
    assert_eq!(bench.begin(&mut rig, &mut Unwatched).unwrap(), Completion::Finished);
    let mut same = VirtualRig::open(DRIVE, 1).unwrap();
    let direct = xray(&mut same, &bench.recorded, &mut Silent).unwrap();
    assert_eq!(bench.review(), direct);
    assert!(
        direct.answers.iter().any(|one| one.structure == Structure::Units && one.outcome.is_ok())
    );
    assert!(direct.answers.iter().all(|one| !later.contains(&one.structure)));
}

struct Silent;

impl ssdgauge_lab::XrayWatcher for Silent {
    fn stop(&mut self) -> bool {
        false
    }
    fn doing(&mut self, _: &str, _: ssdgauge_core::Bytes) {}
}

#[test]
fn an_x_ray_that_is_stopped_in_each_experiment_gives_the_same_card() {
    let wanted = options(&[Structure::Folding, Structure::Units, Structure::Flush]);
    let mut rig = VirtualRig::open(DRIVE, 1).unwrap();
    let whole = Bench::new(&rig, wanted.clone());
    whole.begin(&mut rig, &mut Unwatched).unwrap();
    let mut rig = VirtualRig::open(DRIVE, 1).unwrap();
    let parts = Bench::new(&rig, wanted);
    let stop = |experiment: &str| Stopper::in_experiment(experiment);
    let first = parts.begin(&mut rig, &mut stop("ceilings")).unwrap();
    assert_eq!(first, Completion::Interrupted);
    for (experiment, expected) in [
        ("cache", Completion::Interrupted),
        ("folding", Completion::Interrupted),
        ("units", Completion::Interrupted),
        ("", Completion::Finished),
    ] {
        let mut rig = VirtualRig::open(DRIVE, 1).unwrap();
        assert_eq!(parts.go_on(&mut rig, &mut stop(experiment)).unwrap(), expected, "{experiment}");
        assert_eq!(parts.recorded().has_ended, experiment.is_empty());
        assert_eq!(parts.review().is_complete, experiment.is_empty());
    }
    assert_eq!(parts.review(), whole.review());
    assert_eq!(parts.recorded().experiments, whole.recorded().experiments);
}

#[test]
fn another_virtual_drive_is_refused_and_answers_of_other_questions_are_not_judged() {
    let wanted = options(&[Structure::Folding, Structure::Units]);
    let mut rig = VirtualRig::open(DRIVE, 1).unwrap();
    let bench = Bench::new(&rig, wanted);
    let ended = bench.begin(&mut rig, &mut Stopper::in_experiment("cache")).unwrap();
    assert_eq!(ended, Completion::Interrupted);
    assert!(bench.recorded().experiments.contains_key(&Experiment::Ceilings));
    // The same fingerprint, other answers.
    let mut other = Noisy::new(VirtualRig::open(DRIVE, 1).unwrap(), 7);
    let differs = bench.go_on(&mut other, &mut Unwatched);
    assert!(
        matches!(differs, Err(ConductError::Xray(XrayError::Differs("ceilings")))),
        "{differs:?}"
    );
    let mut recorded = bench.recorded();
    let ceilings = recorded.experiments.get_mut(&Experiment::Ceilings).unwrap();
    ceilings[1].asked.push(' ');
    let drive = rig.drive().clone();
    let reviewed = review_xray(&drive, &recorded);
    assert!(matches!(reviewed, Err(XrayError::Differs("ceilings"))), "{reviewed:?}");
}

#[test]
fn the_record_of_a_drive_that_vanishes_is_kept() {
    let target = format!("{DRIVE}&fault.gone_at_s=36");
    let mut rig = VirtualRig::open(&target, 1).unwrap();
    let bench = Bench::new(&rig, options(&[]));
    let ended = bench.begin(&mut rig, &mut Unwatched);
    assert!(matches!(ended, Err(ConductError::Rig(RigError::Gone(_)))), "{ended:?}");
    let experiments = bench.experiments();
    assert_eq!(experiments.last().map(|(_, is_finished)| *is_finished), Some(false));
    assert!(experiments.len() >= 2, "{experiments:?}");
    let examined = bench.review();
    assert!(!examined.is_complete && examined.answers.iter().any(|one| one.outcome.is_ok()));
}

/// A virtual drive in the place of a block device: it is left alone between two parts of an X-ray.
struct AsBlock {
    info: DriveInfo,
    rig: VirtualRig,
}

impl AsBlock {
    fn open() -> AsBlock {
        let rig = VirtualRig::open(DRIVE, 1).unwrap();
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
    fn flush(&mut self, sink: &mut dyn Sink) -> Result<Option<Flush>, RigError> {
        self.rig.flush(sink)
    }
    fn media_writes(&mut self, sink: &mut dyn Sink) -> Option<MediaWrites> {
        self.rig.media_writes(sink)
    }
    fn timed_loads(&mut self) -> Option<&mut dyn TimedLoads> {
        self.rig.timed_loads()
    }
}

#[test]
fn a_drive_goes_on_where_its_state_is_known_and_else_starts_again_with_the_trim() {
    let wanted = options(&[Structure::Folding, Structure::Units, Structure::Throttle]);
    for (interrupted, expected, words) in [
        ("folding", "ceilings", "started again with the trim"),
        ("heating", "heating", "'Throttle points' was started again"),
    ] {
        let mut rig = AsBlock::open();
        let bench = Bench::new(&rig, wanted.clone());
        bench.begin(&mut rig, &mut Stopper::in_experiment(interrupted)).unwrap();
        let before = bench.experiments().len();
        let mut watcher = Stopper::default();
        let ended = bench.go_on(&mut rig, &mut watcher).unwrap();
        assert_eq!(ended, Completion::Finished);
        assert_eq!(bench.experiments()[before].0, expected, "{:?}", bench.experiments());
        let said = watcher.findings.iter().any(|finding| finding.text.contains(words));
        assert!(said, "{:?}", watcher.findings);
        let examined = bench.review();
        assert!(examined.is_complete);
        let units = examined.answers.iter().find(|one| one.structure == Structure::Units).unwrap();
        assert_eq!(units.outcome.as_ref().map(|value| value.value), Ok(16.0));
    }
}
