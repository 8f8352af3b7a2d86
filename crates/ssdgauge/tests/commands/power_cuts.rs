//! Simulated power cuts: what a file system may keep of a run file at any moment of a run.
//!
//! strace records every write to the run file and to its journal, and every sync. At a random moment
//! each sector that was written since the last sync of its file is kept or lost by chance, and so is
//! each name since the last sync of the folder. The state that is left has to be a readable run file
//! with every step that the program had announced as finished.

use crate::support::{Bench, text};
use crate::tiers::{repetitions, write_figure};
use ssdgauge_core::Random;
use ssdgauge_runfile::RunFile;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The unit that a drive writes completely or not at all, in bytes.
const SECTOR: usize = 512;

/// A file of the run, whatever name it has at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Inode {
    RunFile,
    Journal,
}

#[derive(Debug)]
enum Event {
    Write(Inode, usize, Vec<u8>),
    Resize(Inode, usize),
    Sync(Inode),
    /// The file appears under its final name, or its name is removed.
    Name(Inode, bool),
    SyncFolder,
    /// The program announced the end of a step.
    Announce,
}

/// Decodes a string of strace with `-xx`.
fn decode(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.split("\\x").skip(1);
    digits.map(|pair| u8::from_str_radix(&pair[..2], 16).unwrap()).collect()
}

/// Returns the strings of a line: paths of descriptors and contents, in their order.
fn strings(line: &str) -> Vec<Vec<u8>> {
    let parts = line.split(['"', '<', '>']);
    parts.filter(|part| part.starts_with("\\x")).map(decode).collect()
}

/// Returns the file behind a path. The run file is written under a temporary name and renamed to its
/// own; the journal of the temporary name plays no role later.
fn inode(path: &[u8]) -> Option<Inode> {
    let path = String::from_utf8_lossy(path);
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.strip_prefix("a.ssdg")? {
        "-journal" => Some(Inode::Journal),
        rest if rest.ends_with("-journal") => None,
        _ => Some(Inode::RunFile),
    }
}

fn event(line: &str, folder: &Path) -> Option<Event> {
    let (call, rest) = line.split_once('(')?;
    let strings = strings(rest);
    let first = strings.first()?;
    let number = |back: usize| {
        let arguments = rest.rsplit_once(')').map_or(rest, |(arguments, _)| arguments);
        arguments.rsplit(", ").nth(back).and_then(|word| word.parse().ok())
    };
    match call {
        "pwrite64" => Some(Event::Write(inode(first)?, number(0)?, strings.get(1)?.clone())),
        "ftruncate" => Some(Event::Resize(inode(first)?, number(0)?)),
        "fsync" | "fdatasync" if Path::new(&*String::from_utf8_lossy(first)) == folder => {
            Some(Event::SyncFolder)
        }
        "fsync" | "fdatasync" => Some(Event::Sync(inode(first)?)),
        "renameat2" => Some(Event::Name(inode(strings.get(3)?)?, true)),
        "openat" if rest.contains("O_CREAT") && inode(strings.get(1)?)? == Inode::Journal => {
            Some(Event::Name(Inode::Journal, true))
        }
        "unlink" if inode(first)? == Inode::Journal => Some(Event::Name(Inode::Journal, false)),
        "write" => strings.get(1)?.starts_with(b"[").then_some(Event::Announce),
        _ => None,
    }
}

/// Records a run in `bench`.
fn record(bench: &Bench) -> Vec<Event> {
    let calls = "trace=pwrite64,write,fsync,fdatasync,ftruncate,renameat2,unlink,openat";
    let output = Command::new("strace")
        .args(["-f", "-qq", "-y", "-xx", "-s", "1000000", "-o", "trace", "-e", calls])
        .arg(env!("CARGO_BIN_EXE_ssdgauge"))
        .args(["quick", "null:", "--size", "16MiB", "--shorten", "1000", "--out", "a.ssdg"])
        .current_dir(bench.folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let trace = std::fs::read_to_string(bench.path("trace")).unwrap();
    let folder = bench.folder.path().canonicalize().unwrap();
    // The first thread alone has the run file open.
    let first = trace.split_whitespace().next().unwrap().to_owned();
    let own = trace.lines().filter_map(|line| line.strip_prefix(first.as_str()));
    let mut events = Vec::new();
    // A call during which another thread makes one has two lines; it counts where it ends.
    let mut unfinished = None;
    for line in own.map(str::trim_start) {
        if let Some(begin) = line.strip_suffix(" <unfinished ...>") {
            unfinished = event(begin, &folder);
        } else if line.starts_with("<... ") {
            events.extend(unfinished.take());
        } else {
            events.extend(event(line, &folder));
        }
    }
    events
}

/// What is on the drive, and what only in memory.
#[derive(Default)]
struct Disk {
    durable: BTreeMap<Inode, Vec<u8>>,
    pending: Vec<(Inode, usize, Option<Vec<u8>>)>,
    names: BTreeMap<Inode, bool>,
    pending_names: Vec<(Inode, bool)>,
}

fn write(content: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    content.resize(content.len().max(at + bytes.len()), 0);
    content[at..at + bytes.len()].copy_from_slice(bytes);
}

impl Disk {
    fn apply(&mut self, event: &Event) {
        match event {
            Event::Write(file, at, bytes) => {
                self.pending.push((*file, *at, Some(bytes.clone())));
            }
            Event::Resize(file, length) => self.pending.push((*file, *length, None)),
            Event::Sync(file) => {
                let content = self.durable.entry(*file).or_default();
                for (_, at, bytes) in self.pending.extract_if(.., |(other, ..)| other == file) {
                    match bytes {
                        Some(bytes) => write(content, at, &bytes),
                        None => content.resize(at, 0),
                    }
                }
            }
            Event::Name(file, exists) => self.pending_names.push((*file, *exists)),
            Event::SyncFolder => self.names.extend(self.pending_names.drain(..)),
            Event::Announce => {}
        }
    }

    /// Writes what a power cut leaves into `folder`; of what was not synced, about `kept` of 8.
    fn leave(&self, folder: &Path, kept: u64, random: &mut Random) {
        let mut content = self.durable.clone();
        for (file, at, bytes) in &self.pending {
            let content = content.entry(*file).or_default();
            let Some(bytes) = bytes else {
                if random.below(8) < kept {
                    content.resize(*at, 0);
                }
                continue;
            };
            // Sectors are lost one by one; a write can begin within a sector.
            let mut done = 0;
            while done < bytes.len() {
                let length = (SECTOR - (at + done) % SECTOR).min(bytes.len() - done);
                if random.below(8) < kept {
                    write(content, at + done, &bytes[done..done + length]);
                }
                done += length;
            }
        }
        let mut names = self.names.clone();
        let kept_names = random.below(self.pending_names.len() as u64 + 1) as usize;
        names.extend(self.pending_names[..kept_names].iter().copied());
        for (file, name) in [(Inode::RunFile, "a.ssdg"), (Inode::Journal, "a.ssdg-journal")] {
            let path = folder.join(name);
            let _ = std::fs::remove_file(&path);
            if names.get(&file) == Some(&true) {
                std::fs::write(&path, content.get(&file).map_or(&[][..], Vec::as_slice)).unwrap();
            }
        }
    }
}

/// What was left by the cuts of one series.
#[derive(Default)]
struct Outcome {
    /// Cuts before there was a run file.
    absent: usize,
    /// The announced steps that were found again.
    steps: usize,
    /// What was lost, one line for each cut.
    failures: Vec<String>,
}

/// Cuts the power `cuts` times. A drive that is not `honest` ignores every sync.
fn cut(events: &[Event], cuts: usize, honest: bool) -> Outcome {
    let mut random = Random::new(20_261_122, 2);
    let mut moments: Vec<usize> =
        (0..cuts).map(|_| random.below(events.len() as u64 + 1) as usize).collect();
    moments.sort_unstable();
    let left = tempfile::tempdir().unwrap();
    let (mut disk, mut at, mut safe, mut outcome) = (Disk::default(), 0, 0, Outcome::default());
    for moment in moments {
        for event in &events[at..moment] {
            if honest || !matches!(event, Event::Sync(_)) {
                disk.apply(event);
            }
            safe += usize::from(matches!(event, Event::Announce));
        }
        at = moment;
        let kept = random.below(9);
        disk.leave(left.path(), kept, &mut random);
        let path = left.path().join("a.ssdg");
        if !path.exists() && safe == 0 {
            outcome.absent += 1;
            continue;
        }
        match finished_steps(&path) {
            Ok(finished) if finished >= safe => outcome.steps += safe,
            other => outcome.failures.push(format!(
                "event {moment}, {kept} of 8 kept: {other:?} of {safe} announced steps"
            )),
        }
    }
    outcome
}

fn finished_steps(path: &Path) -> Result<usize, String> {
    let run = RunFile::open(path).map_err(|error| error.to_string())?;
    let steps = run.steps().map_err(|error| error.to_string())?;
    Ok(steps.iter().filter(|step| step.ended_by.is_some()).count())
}

#[test]
fn a_power_cut_at_any_moment_loses_no_announced_step() {
    if !Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: no strace");
        return;
    }
    let cuts = repetitions(200, 1_000, 20_000);
    let events = record(&Bench::new());
    let writes = events.iter().filter(|event| matches!(event, Event::Write(..))).count();
    let announced = events.iter().filter(|event| matches!(event, Event::Announce)).count();
    assert!(writes > 200 && announced == 15, "{writes} writes, {announced} announced steps");
    let Outcome { absent, steps, failures } = cut(&events, cuts, true);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(absent < cuts / 2, "{absent} of {cuts} cuts before there was a run file");
    // The test itself: where the drive ignores syncs, it finds losses.
    let lost = cut(&events, 100, false).failures.len();
    assert!(lost > 50, "{lost} of 100 cuts of a drive that ignores syncs are found");
    write_figure(
        "power cuts",
        &format!("{cuts} simulated cuts"),
        &format!("0 of {steps} announced steps lost, 0 unreadable files"),
        "cargo test -p ssdgauge --test it power_cut",
    );
}
