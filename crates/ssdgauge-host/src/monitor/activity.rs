//! What other programs do to the processors and to a drive, by the counters of the kernel, without a load of this
//! program.

use super::counters::{Counters, while_idle};
use super::host_checks::{CheckState, HostCheck};
use ssdgauge_core::{Bytes, Finding, FindingKind, Severity};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A run needs this many idle processors: fewer, and its I/O thread waits. Chosen: an I/O thread uses up to a whole
/// one, and half of one serves queue depth 1.
const NEEDED_PROCESSORS: f64 = 0.5;
/// How many programs are named.
const NAMED: usize = 3;
/// A program that uses less than this many processors, or transfers fewer bytes, is not named.
const LEAST_PROCESSORS: f64 = 0.05;
const LEAST_BYTES: u64 = 1 << 20;

/// Watches the processors and, where there is one, the block device whose folder in sysfs is `device`, for `time`.
/// `is_block` says whether a drive is tested or a file on it. The drive is not accessed.
pub(crate) fn watch(
    root: &Path,
    device: Option<&Path>,
    is_block: bool,
    time: Duration,
) -> Vec<HostCheck> {
    let read = || (Machine::read(root), device.and_then(Counters::read));
    let (before, bytes_before) = read();
    std::thread::sleep(time);
    let (after, bytes_after) = read();
    let state = match (&before, &after) {
        (Some(before), Some(after)) => processors(before, after),
        (None, _) | (_, None) => CheckState::Unknown("the kernel does not count their time".into()),
    };
    let mut checks = vec![HostCheck { name: "processors", state }];
    if device.is_some() {
        let state = match (bytes_before, bytes_after) {
            (Some(from), Some(to)) => match while_idle(&from, &to, time, is_block) {
                Some(finding) => CheckState::Found(with_programs(finding, before, after)),
                None => CheckState::Fine(format!("none within {} s", time.as_secs_f64())),
            },
            (None, _) | (_, None) => {
                CheckState::Unknown("the kernel does not count its requests (queue/iostats)".into())
            }
        };
        checks.push(HostCheck { name: "other-traffic", state });
    }
    checks
}

/// Names the programs that transferred most of the bytes: the kernel counts them for all drives together.
fn with_programs(finding: Finding, before: Option<Machine>, after: Option<Machine>) -> Finding {
    let of = |(before, after): (Machine, Machine)| {
        before.until(&after, |used| used.bytes, |ended| ended.bytes)
    };
    let largest = before.zip(after).map(of).unwrap_or_default();
    let named = largest.iter().filter(|(_, bytes)| *bytes >= LEAST_BYTES).take(NAMED);
    let named: Vec<String> =
        named.map(|(name, bytes)| format!("{name} {}", Bytes(*bytes).about())).collect();
    match named.is_empty() {
        true => finding,
        false => {
            let text = format!("{}; by program, on all drives: {}", finding.text, named.join(", "));
            Finding { text, ..finding }
        }
    }
}

/// Judges how many processors were idle between the two readings.
fn processors(before: &Machine, after: &Machine) -> CheckState {
    let count = after.processors as f64;
    // The kernel counts the time of all processors in the same ticks.
    let ticks = after.all.saturating_sub(before.all).max(1) as f64 / count;
    let busy = after.busy.saturating_sub(before.busy) as f64 / ticks;
    if count - busy >= NEEDED_PROCESSORS {
        return CheckState::Fine(format!("{busy:.1} of {count} busy"));
    }
    let used = before.until(after, |program| program.ticks, |_| 0);
    // What a program used before its counters were read is not part of this time.
    let used = used.into_iter().map(|(name, used)| (name, (used as f64 / ticks).min(busy)));
    let named = used.filter(|(_, used)| *used >= LEAST_PROCESSORS).take(NAMED);
    let named: Vec<String> = named.map(|(name, used)| format!("{name} {used:.1}")).collect();
    let by = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
    CheckState::Found(Finding::new(
        FindingKind::Disturbed,
        Severity::Warning,
        format!("other programs keep {busy:.1} of {count} processors busy{by}"),
        "latencies include the time for which an I/O thread waits for a processor; stop these programs, or wait",
    ))
}

/// The time that processors were busy since the machine started, and what each program used.
#[derive(Debug)]
struct Machine {
    /// In ticks of the kernel, of all processors together.
    busy: u64,
    /// The same with the idle time.
    all: u64,
    processors: usize,
    /// By the number of their process.
    programs: BTreeMap<OsString, Program>,
}

#[derive(Debug, Default)]
struct Program {
    name: String,
    /// The process that started it.
    parent: OsString,
    /// When it started: with its number this names a process for ever. The name changes, as of a worker of the kernel
    /// with each kind of work.
    started: u64,
    /// The time on processors, in ticks.
    ticks: u64,
    /// Read from and written to drives; 0 where this process may not know.
    bytes: u64,
}

impl Machine {
    /// Reads the files of the kernel below `root`; `None` where it has none. This process is left out.
    fn read(root: &Path) -> Option<Machine> {
        let text = fs::read_to_string(root.join("proc/stat")).ok()?;
        let numbers = |line: &str| -> Vec<u64> {
            line.split_whitespace().skip(1).filter_map(|number| number.parse().ok()).collect()
        };
        // user, nice, system, idle, iowait, irq, softirq, steal; the guests' time is part of user and nice.
        let total = numbers(text.lines().next().filter(|line| line.starts_with("cpu "))?);
        let sum = |places: &[usize]| places.iter().filter_map(|at| total.get(*at)).sum();
        let (busy, all) = (sum(&[0, 1, 2, 5, 6, 7]), sum(&[0, 1, 2, 3, 4, 5, 6, 7]));
        let processors = text.lines().skip(1).take_while(|line| line.starts_with("cpu")).count();
        let own = std::process::id().to_string();
        let folders = fs::read_dir(root.join("proc")).ok()?.flatten();
        let folders = folders.filter(|folder| {
            let name = folder.file_name();
            name.as_encoded_bytes().iter().all(u8::is_ascii_digit) && name.to_string_lossy() != own
        });
        let programs =
            folders.filter_map(|folder| Some((folder.file_name(), Program::read(&folder.path())?)));
        Some(Machine { busy, all, processors: processors.max(1), programs: programs.collect() })
    }

    /// Returns what the programs used until `after`, by name, the largest first. A process that has started since is
    /// counted from 0, and what its parent inherits of one that has ended is left out.
    fn until(
        &self,
        after: &Machine,
        amount: fn(&Program) -> u64,
        inherited: fn(&Program) -> u64,
    ) -> Vec<(String, u64)> {
        let mut used = BTreeMap::<&str, u64>::new();
        for (number, program) in &after.programs {
            let same = |before: &&Program| before.started == program.started;
            let before = self.programs.get(number).filter(same).map_or(0, amount);
            // The kernel adds the bytes of a process that has ended to its parent, not its time.
            let ended = self.programs.iter().filter(|(child, before)| {
                before.parent == *number
                    && after.programs.get(*child).is_none_or(|now| now.started != before.started)
            });
            let of_ended: u64 = ended.map(|(_, child)| inherited(child)).sum();
            let more = amount(program).saturating_sub(before);
            *used.entry(&program.name).or_default() += more.saturating_sub(of_ended);
        }
        let mut used: Vec<_> =
            used.into_iter().map(|(name, used)| (name.to_owned(), used)).collect();
        used.sort_by_key(|(_, used)| Reverse(*used));
        used
    }
}

impl Program {
    fn read(folder: &Path) -> Option<Program> {
        let text = fs::read_to_string(folder.join("stat")).ok()?;
        // The name is in parentheses and may contain some itself.
        let (name, rest) = text.split_once('(')?.1.rsplit_once(')')?;
        let numbers: Vec<&str> = rest.split_whitespace().collect();
        // The state after the name is the third of the line, the parent the fourth, utime and stime the 14th and 15th,
        // the start the 22nd.
        let number = |at: usize| numbers.get(at - 3)?.parse::<u64>().ok();
        let io = fs::read_to_string(folder.join("io")).unwrap_or_default();
        let lines = io.lines().filter_map(|line| line.split_once(": "));
        let transferred = lines.filter(|(key, _)| matches!(*key, "read_bytes" | "write_bytes"));
        let bytes = transferred.filter_map(|(_, number)| number.parse::<u64>().ok()).sum();
        Some(Program {
            name: plain(name).to_owned(),
            parent: numbers.get(1)?.into(),
            started: number(22)?,
            ticks: number(14)? + number(15)?,
            bytes,
        })
    }
}

/// Returns the name of a program; that of a worker of the kernel without its processor and its present work.
fn plain(name: &str) -> &str {
    name.split_once("kworker/").map_or(name, |_| "kworker")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of procfs with two processors, `busy` of 200 ticks of each in use, and programs with their name, ticks
    /// and bytes.
    fn tree(busy: u64, programs: &[(&str, &str, u64, u64)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path().join("proc");
        fs::create_dir(&proc).unwrap();
        let idle = 400 - 2 * busy;
        // The time that waits for I/O is idle time, and that of guests is part of user.
        let stat =
            format!("cpu  {busy} 0 {busy} {idle} 100 0 0 0 {busy} 0\ncpu0 1\ncpu1 1\nintr 5\n");
        fs::write(proc.join("stat"), stat).unwrap();
        for (number, name, ticks, bytes) in programs {
            let folder = proc.join(number);
            fs::create_dir(&folder).unwrap();
            // A process with another name in the same place is another one, but for a worker.
            let start = if name.starts_with("kworker") { 9 } else { name.len() };
            let stat = format!(
                "{number} ({name}) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {start}\n"
            );
            fs::write(folder.join("stat"), stat).unwrap();
            let io = format!("rchar: 7777\nread_bytes: {bytes}\nwrite_bytes: 0\n");
            fs::write(folder.join("io"), io).unwrap();
        }
        root
    }

    fn machine(busy: u64, programs: &[(&str, &str, u64, u64)]) -> Machine {
        Machine::read(tree(busy, programs).path()).unwrap()
    }

    #[test]
    fn a_machine_without_half_an_idle_processor_is_found_with_the_programs_that_keep_it_busy() {
        let before = Machine { all: 0, busy: 0, ..machine(0, &[("7", "a (b) c", 50, 0)]) };
        // Of 500 ticks of two processors, 250 each, 400 were busy: 1.6.
        let after = machine(200, &[("7", "a (b) c", 250, 0), ("8", "late", 100, 0)]);
        let CheckState::Found(finding) = processors(&before, &after) else { panic!() };
        let expected = "other programs keep 1.6 of 2 processors busy: a (b) c 0.8, late 0.4";
        assert_eq!((finding.kind, &*finding.text), (FindingKind::Disturbed, expected));
        // 1.2 busy processors leave one to the run.
        let after = Machine { busy: 300, ..after };
        assert_eq!(processors(&before, &after), CheckState::Fine("1.2 of 2 busy".into()));
    }

    #[test]
    fn traffic_names_the_programs_whose_processes_transferred_most() {
        let before = machine(0, &[("7", "backup", 0, 1 << 30)]);
        let programs =
            [("7", "backup", 0, 5 << 30), ("8", "backup", 0, 1 << 30), ("9", "small", 0, 9)];
        let finding = Finding::new(FindingKind::OtherTraffic, Severity::Warning, "text", "advice");
        let named = with_programs(finding, Some(before), Some(machine(0, &programs)));
        assert_eq!(named.text, "text; by program, on all drives: backup 5.37 GB");
    }

    #[test]
    fn this_machine_counts_its_processors_and_names_no_program_for_a_number_that_changed_hands() {
        let machine = Machine::read(Path::new("/")).unwrap();
        assert!(machine.processors >= 1 && machine.busy <= machine.all && machine.busy > 0);
        let changed = tree(0, &[("7", "newer", 3, 0)]);
        let used = super::tests::machine(0, &[("7", "old", 100, 0)]).until(
            &Machine::read(changed.path()).unwrap(),
            |program| program.ticks,
            |_| 0,
        );
        assert_eq!(used, [("newer".to_owned(), 3)]);
    }

    #[test]
    fn a_worker_of_the_kernel_that_changes_its_name_is_counted_from_where_it_was() {
        let before = machine(0, &[("7", "kworker/u8:2-flush", 4_500, 0)]);
        let after = machine(0, &[("7", "kworker/u8:2-events_unbound", 4_510, 0)]);
        let used = before.until(&after, |program| program.ticks, |_| 0);
        assert_eq!(used, [("kworker".to_owned(), 10)]);
    }

    #[test]
    fn no_program_uses_more_than_the_processors_that_were_busy() {
        let before = Machine { all: 0, busy: 0, ..machine(0, &[]) };
        let after = machine(200, &[("8", "late", 9_000, 0)]);
        let CheckState::Found(finding) = processors(&before, &after) else { panic!() };
        assert!(finding.text.ends_with("1.6 of 2 processors busy: late 1.6"), "{}", finding.text);
    }

    #[test]
    fn bytes_of_an_ended_child_are_not_transfers_of_its_parent() {
        let before = machine(0, &[("1", "make", 0, 0), ("7", "child", 0, 1 << 30)]);
        let after = machine(0, &[("1", "make", 0, (1 << 30) + 5)]);
        let used = before.until(&after, |used| used.bytes, |ended| ended.bytes);
        assert_eq!(used, [("make".to_owned(), 5)]);
    }
}
