//! Runs on several targets side by side, each by a process of its own, and the view of runs in progress.
//!
//! No run waits for another one. This process opens no target: it starts the others, shows their run files
//! as they grow, and passes signals on.

mod interference;
mod process;

use crate::arguments::{ConsentOptions, Part, RunOptions};
use crate::failure::{Failure, FailureKind};
use crate::library;
use crate::page_file;
use crate::process::{file_timestamp, unix_ms};
use interference::Checked;
use process::{BETWEEN_LOOKS, Process, Signals, stop_all};
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_core::rounded::count_of;
use ssdgauge_watch::display::{Display, Wish};
use ssdgauge_watch::followed::Watched;
use ssdgauge_watch::terminal;
use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The names of the files of runs that are started together.
pub(super) struct Names {
    stem: PathBuf,
    /// The run file of a single target, where the user has named it.
    named: Option<PathBuf>,
    /// What each run has after the stem; nothing for a single one.
    suffixes: Vec<String>,
}

impl Names {
    /// Returns the names of runs of `suite` on `targets` that were started at `begun`.
    pub(super) fn new(suite: &str, targets: &[String], options: &RunOptions, begun: i64) -> Names {
        let stem = match &options.out {
            Some(out) if out.extension().is_some_and(|suffix| suffix == "ssdg") => {
                out.with_extension("")
            }
            Some(out) => out.clone(),
            None => library::place_of_new(&format!("{suite}-{}", file_timestamp(begun))),
        };
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let suffix = |target: &String| {
            let name = short_name(target);
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            if *count == 1 { format!("-{name}") } else { format!("-{name}-{count}") }
        };
        let suffixes = match targets {
            [_] => vec![String::new()],
            several => several.iter().map(suffix).collect(),
        };
        Names { stem, named: options.out.clone().filter(|_| targets.len() == 1), suffixes }
    }

    /// Returns the run file of target `number`.
    pub(super) fn file(&self, number: usize) -> PathBuf {
        if let Some(named) = &self.named {
            return named.clone();
        }
        let mut name = self.stem.clone().into_os_string();
        name.push(&self.suffixes[number]);
        name.push(".ssdg");
        PathBuf::from(name)
    }

    /// Returns the name of a run in messages: that of its target.
    fn title(&self, number: usize) -> &str {
        self.suffixes[number].trim_start_matches('-')
    }

    /// Returns the page of all runs.
    fn page(&self) -> PathBuf {
        let mut name = self.stem.clone().into_os_string();
        name.push(".html");
        PathBuf::from(name)
    }
}

/// Returns a name of `target` for files: its last component, in letters that every system takes.
fn short_name(target: &str) -> String {
    let target = target.split('?').next().unwrap_or_default().trim_end_matches(['/', ':']);
    let last = target.rsplit('/').next().unwrap_or_default();
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String = last.chars().map(|c| if is_safe(c) { c } else { '-' }).collect();
    let name = name.trim_matches(['.', '-']).to_owned();
    if name.is_empty() { "target".to_owned() } else { name }
}

/// Runs the suite `suite` on each of `targets` in a process of its own. `prepare` checks a target, asks for
/// its confirmation and returns it; no run begins before all targets have passed it. With
/// `check_interference`, what the drives do to each other is checked before.
///
/// # Errors
///
/// Refuses all where one target is refused before. Otherwise fails by the worst of the runs.
pub(super) fn run(
    suite: &str,
    targets: &[String],
    options: &RunOptions,
    check_interference: bool,
    prepare: &dyn Fn(&str, &Path) -> Result<ConsentOptions, Failure>,
) -> Result<(), Failure> {
    if targets.len() > 1 && options.log_ios.is_some() {
        return Err(Failure::new(
            FailureKind::Usage,
            "several runs cannot share one log of requests",
            "nothing was written; omit --log-ios, or run each target by itself",
        ));
    }
    refuse_twice(targets)?;
    let begun = unix_ms();
    let names = Names::new(suite, targets, options, begun);
    if targets.len() > 1 {
        page_file::check_page(&names.page(), &[])?;
    }
    let mut consents = Vec::with_capacity(targets.len());
    for (number, target) in targets.iter().enumerate() {
        consents.push(prepare(target, &names.file(number))?);
    }
    let signals = Signals::listen()?;
    let checked = match check_interference {
        true => check(targets, &names, &consents, options, begun, &signals)?,
        false => None,
    };
    let mut processes = Vec::with_capacity(targets.len());
    for (number, consent) in consents.iter().enumerate() {
        let found = checked.as_ref().map(|checked| &checked.findings[number]);
        match Process::start(Part { number, begun, checks: false }, consent, found) {
            Ok(process) => processes.push(process),
            Err(error) => {
                stop_all(&mut processes);
                let error = format!("cannot start a process for {}: {error}", targets[number]);
                let hint = "the runs that had begun were stopped; free memory and processes";
                return Err(Failure::new(FailureKind::Failed, error, hint));
            }
        }
    }
    conduct(&mut processes, &names, &signals);
    finish(&processes, &names, options, checked.as_ref())
}

/// Refuses a drive that several of `targets` name. Virtual drives of one profile are several drives, and a
/// scratch file is made for each run.
fn refuse_twice(targets: &[String]) -> Result<(), Failure> {
    let device = |target: &String| {
        let facts = std::fs::metadata(target).ok()?;
        facts.file_type().is_block_device().then(|| facts.rdev())
    };
    let mut seen: BTreeMap<u64, &String> = BTreeMap::new();
    for target in targets {
        if let Some(other) = device(target).and_then(|device| seen.insert(device, target)) {
            let error = format!("{other} and {target} are one drive");
            return Err(Failure::new(
                FailureKind::Usage,
                error,
                "nothing was written; name each drive once",
            ));
        }
    }
    Ok(())
}

/// Checks whether the targets disturb each other, unless a run continues: its drive holds the data of the
/// run, and its file has the result of the first time.
fn check(
    targets: &[String],
    names: &Names,
    consents: &[ConsentOptions],
    options: &RunOptions,
    begun: i64,
    signals: &Signals,
) -> Result<Option<Checked>, Failure> {
    let file = (0..targets.len()).map(|number| names.file(number)).find(|file| file.exists());
    if let Some(file) = file.filter(|_| options.or_resume) {
        let name = file.display();
        terminal::print_message(&format!("{name} is continued: no check for interference"));
        return Ok(None);
    }
    let titles: Vec<&str> = (0..targets.len()).map(|number| names.title(number)).collect();
    let checked = interference::check(targets, &titles, consents, begun, signals)?;
    if !options.json {
        terminal::print_folded(&checked.text(terminal::width::columns()));
    }
    Ok(Some(checked))
}

/// Shows the runs until all have ended.
fn conduct(processes: &mut [Process], names: &Names, signals: &Signals) {
    let mut display = terminal::has_terminal().then(|| Display::open(true).ok()).flatten();
    let mut watched: Vec<Watched> = Vec::new();
    let mut kept: Vec<String> = Vec::new();
    let mut passed = 0;
    let mut asked = 0;
    loop {
        let mut all_ended = true;
        for (number, process) in processes.iter_mut().enumerate() {
            let ended = process.has_ended();
            all_ended &= ended;
            let lines = process.lines().into_iter().map(|line| match names.title(number) {
                "" => line,
                title => format!("{title}: {line}"),
            });
            kept.extend(lines);
            open_and_poll(&mut watched, number, !ended, names);
        }
        let has_all = watched.iter().all(|one| one.is_over() || one.run.has_all());
        let wanted = signals.count() + asked;
        if wanted > passed {
            passed = wanted;
            processes.iter_mut().for_each(|process| process.signal(passed));
        }
        if let Some(screen) = &mut display {
            let drawn = if watched.is_empty() { Ok(()) } else { screen.draw(&watched) };
            let pause = if has_all { BETWEEN_LOOKS } else { Duration::ZERO };
            let wish = drawn.and_then(|()| screen.follow_key(pause));
            match wish {
                Ok(None) => {}
                Ok(Some(Wish::Stop)) => asked += 1,
                // A terminal that fails is left as the user leaves it: the runs go on.
                Ok(Some(Wish::Leave)) | Err(_) => display = None,
            }
        } else {
            kept.drain(..).for_each(|line| terminal::print_message(&line));
            if !all_ended {
                std::thread::sleep(BETWEEN_LOOKS);
            }
        }
        if all_ended && processes.iter().all(Process::is_silent) {
            break;
        }
    }
    drop(display);
    kept.iter().for_each(|line| terminal::print_message(line));
}

/// Opens the run file of target `number` as soon as it exists, and reads what is new.
fn open_and_poll(watched: &mut Vec<Watched>, number: usize, is_held: bool, names: &Names) {
    let path = names.file(number);
    if !watched.iter().any(|one| one.path == path) {
        // A file that cannot be opened yet is tried again; its process states why it cannot.
        let Ok(one) = Watched::open(&path) else { return };
        let before = |one: &Watched| (0..number).any(|other| names.file(other) == one.path);
        let place = watched.iter().filter(|one| before(one)).count();
        watched.insert(place, one);
    }
    for one in watched.iter_mut().filter(|one| one.path == path) {
        one.is_held = is_held;
        one.poll();
    }
}

/// Prints the results of all runs, and writes the page of all.
fn finish(
    processes: &[Process],
    names: &Names,
    options: &RunOptions,
    checked: Option<&Checked>,
) -> Result<(), Failure> {
    let files: Vec<PathBuf> = (0..processes.len()).map(|number| names.file(number)).collect();
    let mut runs: Vec<Run> = Vec::new();
    let mut inputs: Vec<&Path> = Vec::new();
    for (file, process) in files.iter().zip(processes) {
        // A run that did not finish has its own message.
        if process.failure().is_none() {
            runs.push(ssdgauge_analysis::read(file)?);
            inputs.push(file);
        }
    }
    if options.json {
        let mut report = ssdgauge_export::json(&runs);
        if let Some(checked) = checked {
            report["interference"] = checked.json();
        }
        terminal::print_json(&report);
    } else {
        let width = terminal::width::columns();
        for run in &runs {
            let text = ssdgauge_export::terminal_summary(run, width, terminal::has_colour());
            terminal::print(&text);
        }
    }
    if processes.len() > 1 && !runs.is_empty() {
        page_file::write_page(&names.page(), &inputs, &runs, &PageOptions::default())?;
        let count = count_of(runs.len(), "run");
        terminal::print_message(&format!("report of {count}: {}", names.page().display()));
    }
    let failed = processes.iter().enumerate().filter_map(|(number, process)| {
        process.failure().map(|kind| (kind, files[number].display().to_string()))
    });
    let mut failed: Vec<(FailureKind, String)> = failed.collect();
    failed.sort_by_key(|(kind, _)| kind.rank());
    let Some((kind, _)) = failed.first() else { return Ok(()) };
    let list: Vec<&str> = failed.iter().map(|(_, file)| file.as_str()).collect();
    Err(Failure::new(
        *kind,
        format!("{} of {} runs did not finish: {}", failed.len(), processes.len(), list.join(", ")),
        "the messages above state why; finished steps are safe: `ssdgauge resume FILE` continues a run",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_several_targets_have_names_of_their_own() {
        for (target, name) in [
            ("/dev/nvme0n1", "nvme0n1"),
            ("sim:tlc-client?capacity=16GB", "sim-tlc-client"),
            ("sim:my/drive.toml", "drive.toml"),
            ("/mnt/data/", "data"),
            (".", "target"),
            ("null:", "null"),
        ] {
            assert_eq!(short_name(target), name);
        }
        let suffixes = vec!["-a".to_owned(), "-a-2".to_owned()];
        let names = Names { stem: "x.y/quick".into(), named: None, suffixes };
        assert_eq!(names.file(1), Path::new("x.y/quick-a-2.ssdg"));
        assert_eq!((names.title(1), names.page()), ("a-2", "x.y/quick.html".into()));
    }
}
