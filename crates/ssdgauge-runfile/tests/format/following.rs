//! A run file is read while it is written, without a lock.

use crate::format::support::{self, begin_step, folder, interval};
use ssdgauge_core::{Direction, Nanos, Random, Reading};
use ssdgauge_runfile::{
    Follower, News, Opening, RunFile, RunFileError, StepEnd, StepState, Writer,
};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn create(path: &Path) -> Writer {
    let (plan, drive) = (support::plan(), support::drive());
    let opening = Opening {
        id: "20261120-000000-00000001",
        program: "golden 1",
        unix_ms: 1_795_000_000_000,
        plan: &plan,
        drive: &drive,
        environment: &[],
        properties: &[],
    };
    Writer::create(path, &opening).unwrap()
}

pub(crate) fn end(state: StepState, seconds: u64) -> StepEnd {
    StepEnd {
        state,
        unix_ms: 1_795_000_009_000,
        elapsed: Nanos::from_secs(seconds),
        ended_by: "time".into(),
        report: "{}".into(),
    }
}

/// Appends everything of `news` to `all`.
fn collect(all: &mut News, news: News) {
    for step in news.steps {
        match all.steps.last_mut().filter(|last| last.id == step.id) {
            Some(last) => *last = step,
            None => all.steps.push(step),
        }
    }
    all.intervals.extend(news.intervals);
    all.readings.extend(news.readings);
    all.findings.extend(news.findings);
    all.properties.extend(news.properties);
    all.is_all = news.is_all;
}

/// Reads until nothing is left.
fn read_all(follower: &mut Follower) -> News {
    let mut all = News::default();
    loop {
        let news = follower.read().unwrap();
        let is_all = news.is_all;
        collect(&mut all, news);
        if is_all {
            return all;
        }
    }
}

#[test]
fn a_follower_returns_every_record_once_while_commits_go_on() {
    const SECONDS: u32 = 1_500;
    let folder = folder();
    let path = folder.path().join("a.ssdg");
    let mut writer = create(&path);
    let is_over = AtomicBool::new(false);
    let mut all = News::default();
    let mut follower = Follower::open(&path).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random::new(7, 0);
            for step in 0..2 {
                let id = begin_step(&mut writer, step, 1);
                for second in 0..SECONDS {
                    writer.interval(id, &interval(&mut random, second, Direction::Read)).unwrap();
                    let at = Nanos::from_secs(second.into());
                    let (instrument, quantity) = ("one".into(), "temperature_c".into());
                    let reading = Reading { at, instrument, quantity, value: 40.0 };
                    writer.reading(id, &reading).unwrap();
                    if second % 10 == 0 {
                        writer.commit().unwrap();
                    }
                }
                writer.finish_step(id, &end(StepState::Finished, SECONDS.into())).unwrap();
                writer.commit().unwrap();
            }
            is_over.store(true, Ordering::Release);
        });
        while !is_over.load(Ordering::Acquire) {
            collect(&mut all, follower.read().unwrap());
        }
    });
    drop(writer);
    collect(&mut all, read_all(&mut follower));
    let run = RunFile::open(&path).unwrap();
    let mut expected = Vec::new();
    for step in run.steps().unwrap() {
        run.intervals(step.id, |interval| expected.push((step.id, interval))).unwrap();
    }
    assert_eq!(expected.len(), 2 * SECONDS as usize);
    assert!(all.intervals == expected, "an interval is missing, doubled or torn");
    assert_eq!(all.readings.len(), expected.len());
    let states: Vec<_> = all.steps.iter().map(|step| (step.id.0, step.state)).collect();
    assert_eq!(states, [(1, StepState::Finished), (2, StepState::Finished)]);
    assert!(read_all(&mut follower).intervals.is_empty());
}

#[test]
fn a_follower_returns_what_a_whole_file_holds() {
    let folder = folder();
    let path = folder.path().join("50% of #1?.ssdg");
    support::write(&path);
    let expected = support::read(&path).unwrap();
    let mut follower = Follower::open(&path).unwrap();
    assert_eq!(follower.head(), &expected.head);
    let all = read_all(&mut follower);
    let intervals: Vec<_> = all.intervals.into_iter().map(|(_, interval)| interval).collect();
    assert_eq!(intervals, expected.intervals.concat());
    let readings: Vec<_> = all.readings.into_iter().map(|(_, reading)| reading).collect();
    assert_eq!(readings, expected.readings.concat());
    // Inode and time of creation are those of each file.
    let others = all.properties.into_iter().filter(|one| one.key != "file_origin");
    let properties: Vec<_> = others.collect();
    assert_eq!((all.findings, properties), (expected.findings, expected.properties));
    assert_eq!(all.steps.len(), expected.steps.len());
    assert!(!follower.has_writer().unwrap());
}

#[test]
fn a_half_written_file_is_named_and_neither_file_is_changed() {
    let folder = folder();
    let path = folder.path().join("a.ssdg");
    support::write(&path);
    let mut follower = Follower::open(&path).unwrap();
    let journal = folder.path().join("a.ssdg-journal");
    let magic = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    std::fs::write(&journal, [&magic[..], &[0; 504]].concat()).unwrap();
    let before = (std::fs::read(&path).unwrap(), std::fs::read(&journal).unwrap());
    let error = Follower::open(&path).unwrap_err();
    assert!(matches!(error, RunFileError::HalfWritten(_)), "{error}");
    let news = follower.read().unwrap();
    assert!(news.is_unsettled && news.steps.is_empty());
    assert!(follower.has_journal());
    assert_eq!((std::fs::read(&path).unwrap(), std::fs::read(&journal).unwrap()), before);
    // A completed journal, as it is next to the file between two commits.
    std::fs::write(&journal, [0; 512]).unwrap();
    assert!(follower.read().unwrap().is_all);
}

#[test]
fn a_file_that_vanishes_is_replaced_or_is_cut_is_an_error() {
    let folder = folder();
    let path = folder.path().join("a.ssdg");
    support::write(&path);
    let mut follower = Follower::open(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let cut = |length: u64| {
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
    };
    cut(bytes.len() as u64 / 2);
    let error = follower.read().unwrap_err();
    assert!(
        matches!(error, RunFileError::Damaged { .. } | RunFileError::Unreadable { .. }),
        "{error}"
    );
    cut(50);
    let error = follower.read().unwrap_err();
    assert!(matches!(error, RunFileError::Foreign { .. }), "{error}");
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(follower.read().unwrap_err(), RunFileError::Missing(_)));
    assert!(matches!(follower.has_writer().unwrap_err(), RunFileError::Missing(_)));
    // The old file has to exist while the new one is made, or the new one may get its number.
    let (other, kept) = (folder.path().join("b.ssdg"), folder.path().join("c.ssdg"));
    std::fs::write(&path, &bytes).unwrap();
    let mut follower = Follower::open(&path).unwrap();
    std::fs::write(&other, &bytes).unwrap();
    std::fs::rename(&path, &kept).unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert!(matches!(follower.read().unwrap_err(), RunFileError::Replaced(_)));
    assert!(matches!(follower.has_writer().unwrap_err(), RunFileError::Replaced(_)));
}
