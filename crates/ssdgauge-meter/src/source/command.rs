//! Programs that print readings: one number or one JSON document per line.
//!
//! A program that prints one line and exits with status 0 is started again for the next reading. A
//! program runs in its own process group: Ctrl-C would otherwise end it before the run has stored
//! the last readings. The program and all that it has started end with the run.

use super::interface::{OpenContext, ParsedSpec, Source, SourceKind, SourceSpec, after_keyword};
use crate::monotonic::MonotonicCheck;
use crate::parse::{checked_pointer, parse_line};
use crate::sample::{Batch, PollTimer, Sample, Unusable, in_words};
use ssdgauge_core::PowerScope;
use ssdgauge_os::child::{self, Kept};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// The maximum length of a line in bytes.
const MAX_LINE: u64 = 64 << 10;
/// The lines of the queue between program and sampler; a full queue blocks the program.
const MAX_QUEUED_LINES: usize = 4_096;
/// The default period at which a program that prints one line is started.
const DEFAULT_PERIOD: Duration = Duration::from_secs(1);
/// The consecutive lines without a number that end the meter.
const MAX_BAD_LINES: u32 = 10;

/// A program that prints readings.
pub(crate) const KIND: SourceKind =
    SourceKind { keywords: &["command"], form: "command:PROGRAM ARGS", takes_pointer: true, parse };

#[derive(Debug, PartialEq, Eq)]
struct CommandSpec {
    words: Vec<String>,
    pointer: Option<String>,
}

fn parse(spec: &str, pointer: Option<String>) -> ParsedSpec {
    Ok(Box::new(CommandSpec::parse(spec, pointer)?))
}

impl CommandSpec {
    fn parse(spec: &str, pointer: Option<String>) -> Result<CommandSpec, String> {
        let words = split_words(after_keyword(spec))?;
        Ok(CommandSpec { words, pointer: pointer.map(checked_pointer).transpose()? })
    }
}

impl SourceSpec for CommandSpec {
    fn default_scope(&self) -> PowerScope {
        PowerScope::Drive
    }

    fn reads_drive(&self) -> bool {
        false
    }

    fn open(&self, context: OpenContext<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(Command::open(&self.words, self.pointer.as_deref(), context.period)?))
    }
}

/// Splits a command line into words at spaces, with quotes as in a shell. Nothing else is expanded,
/// so that no word of a specification is executed by a shell.
fn split_words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match (quote, words.first()) {
        (Some(_), _) => Err("a quote is not closed".into()),
        (None, Some(program)) if !program.is_empty() => Ok(words),
        (None, _) => Err("the program is missing".into()),
    }
}

/// A program whose output is read.
struct Command {
    words: Vec<String>,
    pointer: Option<String>,
    timer: PollTimer,
    /// `None` between two starts of a program that prints one line.
    running: Option<RunningProgram>,
    check: MonotonicCheck,
    bad_lines: u32,
    /// Why the last line without a number is none.
    last_error: String,
}

struct RunningProgram {
    child: Kept,
    lines: Receiver<(Instant, String)>,
    lines_read: u64,
}

impl Command {
    /// Starts the program.
    fn open(
        words: &[String],
        pointer: Option<&str>,
        period: Option<Duration>,
    ) -> Result<Command, String> {
        let mut command = Command {
            words: words.to_vec(),
            pointer: pointer.map(str::to_owned),
            timer: PollTimer::with_period(period.unwrap_or(DEFAULT_PERIOD)),
            running: None,
            check: MonotonicCheck::default(),
            bad_lines: 0,
            last_error: String::new(),
        };
        command.start()?;
        Ok(command)
    }

    fn start(&mut self) -> Result<(), String> {
        let (program, arguments) = self.words.split_first().ok_or("the program is missing")?;
        // The thread that starts it is the sampler thread, which ends it, or the main thread.
        let started = child::start_kept(program, &[], |command| {
            command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
            command.stderr(Stdio::null()).process_group(0);
        });
        let mut child = started.map_err(|error| format!("{program} cannot be started: {error}"))?;
        let output = child.take_pipes().1.ok_or("its output cannot be read")?;
        let (sender, lines) = sync_channel(MAX_QUEUED_LINES);
        let read = move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            loop {
                line.clear();
                match output.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
                let text = String::from_utf8_lossy(&line).into_owned();
                if sender.send((Instant::now(), text)).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("ssdgauge-meter".into());
        if let Err(error) = thread.spawn(read) {
            child.end();
            return Err(format!("its output cannot be read: {error}"));
        }
        self.running = Some(RunningProgram { child, lines, lines_read: 0 });
        Ok(())
    }

    /// Adds the reading of the line `text` to `batch`.
    ///
    /// # Errors
    /// Too many lines in a row have no number.
    fn take_line(&mut self, at: Instant, text: &str, batch: &mut Batch) -> Result<(), String> {
        if text.trim().is_empty() {
            return Ok(());
        }
        match parse_line(text, self.pointer.as_deref()) {
            Ok(line) => {
                self.bad_lines = 0;
                let is_later = line.stamp.is_none_or(|stamp| self.check.accepts(stamp));
                let sample = Sample { since: None, at, channel: 0, value: line.value };
                batch.samples.extend(is_later.then_some(sample));
                Ok(())
            }
            Err(cause) => {
                self.bad_lines += 1;
                // Programs print headings and messages between numbers; only a run of such lines
                // means that the output is not understood. Each of them is counted.
                match self.bad_lines >= MAX_BAD_LINES {
                    true => Err(format!("{MAX_BAD_LINES} lines in a row: {cause}")),
                    false => {
                        self.last_error.clone_from(&cause);
                        batch.unusable.push(Unusable { at, what: cause });
                        Ok(())
                    }
                }
            }
        }
    }

    /// Handles the end of the program: status 0 after one line is the end of one reading, anything
    /// else ends the meter.
    fn handle_exit(&mut self) -> Result<(), String> {
        let Some(mut running) = self.running.take() else { return Ok(()) };
        let status = running.child.wait().map_err(|error| error.to_string())?;
        match (status.success(), running.lines_read) {
            (true, 1) if self.bad_lines == 0 => Ok(()),
            (_, 0) => Err(format!("the program printed nothing and ended: {status}")),
            (_, 1) if self.bad_lines > 0 => {
                Err(format!("the program printed no number: {}", self.last_error))
            }
            (_, _) => Err(format!("the program ended: {status}")),
        }
    }
}

impl Source for Command {
    fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        let Some(running) = &mut self.running else {
            if self.timer.wait(timeout) {
                self.start()?;
            }
            return Ok(Batch::default());
        };
        let mut lines = Vec::new();
        match running.lines.recv_timeout(timeout) {
            Ok(line) => lines.push(line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return self.handle_exit().map(|()| Batch::default());
            }
        }
        lines.extend(running.lines.try_iter().take(MAX_QUEUED_LINES));
        running.lines_read += lines.len() as u64;
        let mut batch = Batch::default();
        for (at, text) in lines {
            self.take_line(at, &text, &mut batch)?;
        }
        batch.warnings.extend(self.check.take_warning());
        Ok(batch)
    }

    fn wakes_drive(&self) -> bool {
        false
    }

    fn sampling(&self) -> String {
        match self.running.as_ref().is_some_and(|running| running.lines_read > 1) {
            true => "at the rate of the program, host clock at each line".into(),
            false => {
                let period = in_words(self.timer.period);
                format!("each line, or every {period}, host clock at each line")
            }
        }
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        if let Some(running) = &mut self.running {
            running.child.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(script: &str, period: Option<Duration>) -> Command {
        let words = ["sh", "-c", script].map(str::to_owned);
        Command::open(&words, None, period).unwrap()
    }

    /// Reads until there are `n` values, or the meter has failed.
    fn values(command: &mut Command, n: usize) -> Result<Vec<f64>, String> {
        let mut values = Vec::new();
        while values.len() < n {
            let batch = command.next(Duration::from_secs(10))?;
            values.extend(batch.samples.iter().map(|sample| sample.value));
        }
        Ok(values)
    }

    #[test]
    fn a_command_line_is_split_at_spaces_outside_quotes() {
        let words = ["sh", "-c", "echo 2; true"].map(str::to_owned).to_vec();
        let expected = CommandSpec { words, pointer: Some("/w".into()) };
        let found = CommandSpec::parse("command:sh -c 'echo 2; true'", Some("/w".into()));
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn every_line_is_a_reading_and_headings_are_skipped() {
        let mut command = open("echo Watts; for n in 1 2 3; do echo $n.5; done; sleep 60", None);
        assert_eq!(values(&mut command, 3), Ok(vec![1.5, 2.5, 3.5]));
    }

    #[test]
    fn a_program_that_prints_once_is_started_again() {
        let mut command = open("echo 4", Some(Duration::from_millis(2)));
        assert_eq!(values(&mut command, 3), Ok(vec![4.0; 3]));
    }

    #[test]
    fn a_program_that_ends_or_prints_no_number_is_an_error_with_the_cause() {
        let error = |script| values(&mut open(script, None), 5).unwrap_err();
        assert!(error("echo 1; echo 2; exit 3").contains("exit status: 3"));
        assert!(error("true").contains("printed nothing"));
        assert!(error("echo hello").contains("no number"));
        assert!(error("yes hello | head -n 30; sleep 60").contains("neither a number nor JSON"));
        let words = ["/nonexistent/meter".to_owned()];
        let missing = Command::open(&words, None, None).err().unwrap();
        assert!(missing.contains("cannot be started"), "{missing}");
    }

    #[test]
    fn lines_without_a_number_are_counted_with_their_cause() {
        let mut command =
            open("echo 3; echo nan; echo inf; echo 'error 7'; echo 4; sleep 60", None);
        let (mut values, mut unusable) = (Vec::new(), Vec::new());
        while values.len() < 2 {
            let batch = command.next(Duration::from_secs(10)).unwrap();
            values.extend(batch.samples.iter().map(|sample| sample.value));
            unusable.extend(batch.unusable.into_iter().map(|one| one.what));
        }
        assert_eq!(values, [3.0, 4.0]);
        assert_eq!(unusable.len(), 3, "{unusable:?}");
        assert!(unusable[2].contains("'error 7' is neither a number nor JSON"), "{unusable:?}");
    }

    #[test]
    fn readings_with_a_decreasing_time_stamp_are_left_out() {
        let script = "for t in 1 2 1.5 3; do echo \"{\\\"power_w\\\": $t, \\\"time_s\\\": $t}\"; \
                      done; sleep 60";
        let mut command = open(script, None);
        let mut warnings = Vec::new();
        let mut values = Vec::new();
        while values.len() < 3 {
            let batch = command.next(Duration::from_secs(10)).unwrap();
            values.extend(batch.samples.iter().map(|sample| sample.value));
            warnings.extend(batch.warnings);
        }
        assert_eq!(values, [1.0, 2.0, 3.0]);
        assert!(warnings[0].contains("did not increase"), "{warnings:?}");
    }

    #[test]
    fn the_processes_that_a_program_started_end_with_it() {
        let mut command = open("sleep 600 & echo $!; wait", None);
        let pid = values(&mut command, 1).unwrap()[0] as i32;
        drop(command);
        let alive = || {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !state.is_empty() && !state.contains(") Z ")
        };
        let since = Instant::now();
        while alive() {
            assert!(since.elapsed() < Duration::from_secs(20), "{pid} is still running");
            std::thread::yield_now();
        }
    }
}
