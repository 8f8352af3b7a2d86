//! A program that prints readings: one number or one JSON document on each line.
//!
//! A program that prints one line and ends well is started again for the next reading. It runs in
//! a process group of its own, so that a stop of the run does not reach it first, and is ended
//! with the run.

use crate::monotonic::MonotonicCheck;
use crate::parse;
use crate::sample::Batch;
use crate::sample::PollTimer;
use crate::sample::Sample;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// The longest line that is read.
const MOST_LINE: u64 = 64 << 10;
/// Lines that wait to be taken; a program that prints more waits itself.
const MOST_WAITING: usize = 4_096;
/// How often a program that prints one line and ends is started.
const USUAL: Duration = Duration::from_secs(1);
/// The lines without a number in a row that a program survives.
const MOST_BAD_LINES: u32 = 10;

/// A program that prints readings.
pub(crate) struct Command {
    words: Vec<String>,
    pointer: Option<String>,
    timer: PollTimer,
    running: Option<Running>,
    order: MonotonicCheck,
    bad_lines: u32,
    /// What was wrong with the last line that was no reading.
    wrong: String,
}

struct Running {
    child: Child,
    lines: Receiver<(Instant, String)>,
    taken: u64,
}

impl Command {
    /// Starts the program.
    pub(crate) fn open(
        words: &[String],
        pointer: Option<&str>,
        period: Option<Duration>,
    ) -> Result<Command, String> {
        let mut command = Command {
            words: words.to_vec(),
            pointer: pointer.map(str::to_owned),
            timer: PollTimer::every(period.unwrap_or(USUAL)),
            running: None,
            order: MonotonicCheck::default(),
            bad_lines: 0,
            wrong: String::new(),
        };
        command.start()?;
        Ok(command)
    }

    pub(crate) fn manner(&self) -> String {
        match self.running.as_ref().is_some_and(|running| running.taken > 1) {
            true => "as often as the program prints, host clock at the line".into(),
            false => format!("each line, or every {:?}, host clock at the line", self.timer.period),
        }
    }

    fn start(&mut self) -> Result<(), String> {
        let (program, arguments) = self.words.split_first().ok_or("the program is missing")?;
        let mut child = std::process::Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("{program} cannot be started: {error}"))?;
        let output = child.stdout.take().ok_or("its output cannot be read")?;
        let (sender, lines) = sync_channel(MOST_WAITING);
        let read = move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            loop {
                line.clear();
                match output.by_ref().take(MOST_LINE).read_until(b'\n', &mut line) {
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
            end(&mut child);
            return Err(format!("its output cannot be read: {error}"));
        }
        self.running = Some(Running { child, lines, taken: 0 });
        Ok(())
    }

    pub(crate) fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
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
            Err(RecvTimeoutError::Disconnected) => return self.ended().map(|()| Batch::default()),
        }
        lines.extend(running.lines.try_iter().take(MOST_WAITING));
        running.taken += lines.len() as u64;
        let mut batch = Batch::default();
        for (at, text) in lines {
            batch.samples.extend(self.sample(at, &text)?);
        }
        batch.remarks.extend(self.order.remark());
        Ok(batch)
    }

    fn sample(&mut self, at: Instant, text: &str) -> Result<Option<Sample>, String> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        match parse::line(text, self.pointer.as_deref()) {
            Ok(line) => {
                self.bad_lines = 0;
                let goes_on = line.stamp.is_none_or(|stamp| self.order.goes_on(stamp));
                Ok(goes_on.then_some(Sample { at, channel: 0, value: line.value }))
            }
            Err(cause) => {
                self.bad_lines += 1;
                // A first line may be a head; from the first number on a bad line is a fault.
                match self.bad_lines >= MOST_BAD_LINES {
                    true => Err(format!("{MOST_BAD_LINES} lines in a row: {cause}")),
                    false => {
                        self.wrong = cause;
                        Ok(None)
                    }
                }
            }
        }
    }

    /// The program has ended: well after one line, and then it is started again, or for good.
    fn ended(&mut self) -> Result<(), String> {
        let Some(mut running) = self.running.take() else { return Ok(()) };
        let status = running.child.wait().map_err(|error| error.to_string())?;
        match (status.success(), running.taken) {
            (true, 1) if self.bad_lines == 0 => Ok(()),
            (_, 0) => Err(format!("the program printed nothing and ended: {status}")),
            (_, 1) if self.bad_lines > 0 => {
                Err(format!("the program printed no number: {}", self.wrong))
            }
            (_, _) => Err(format!("the program ended: {status}")),
        }
    }
}

/// Ends a program with everything that it started.
fn end(child: &mut Child) {
    if let Some(group) = Pid::from_raw(child.id() as i32) {
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Command {
    fn drop(&mut self) {
        if let Some(running) = &mut self.running {
            end(&mut running.child);
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

    /// Reads until there are `n` values, or the meter is gone.
    fn values(command: &mut Command, n: usize) -> Result<Vec<f64>, String> {
        let mut values = Vec::new();
        while values.len() < n {
            let batch = command.next(Duration::from_secs(10))?;
            values.extend(batch.samples.iter().map(|sample| sample.value));
        }
        Ok(values)
    }

    #[test]
    fn every_line_is_a_reading_and_heads_are_passed_over() {
        let mut command = open("echo Watts; for n in 1 2 3; do echo $n.5; done; sleep 60", None);
        assert_eq!(values(&mut command, 3), Ok(vec![1.5, 2.5, 3.5]));
    }

    #[test]
    fn a_program_that_prints_once_is_started_again() {
        let mut command = open("echo 4", Some(Duration::from_millis(2)));
        assert_eq!(values(&mut command, 3), Ok(vec![4.0; 3]));
    }

    #[test]
    fn a_program_that_dies_or_says_nothing_useful_says_so() {
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
    fn readings_whose_time_goes_back_are_left_out() {
        let script = "for t in 1 2 1.5 3; do echo \"{\\\"power_w\\\": $t, \\\"time_s\\\": $t}\"; \
                      done; sleep 60";
        let mut command = open(script, None);
        let mut remarks = Vec::new();
        let mut values = Vec::new();
        while values.len() < 3 {
            let batch = command.next(Duration::from_secs(10)).unwrap();
            values.extend(batch.samples.iter().map(|sample| sample.value));
            remarks.extend(batch.remarks);
        }
        assert_eq!(values, [1.0, 2.0, 3.0]);
        assert!(remarks[0].contains("went backwards"), "{remarks:?}");
    }

    #[test]
    fn what_the_program_started_ends_with_it() {
        let mut command = open("sleep 600 & echo $!; wait", None);
        let pid = values(&mut command, 1).unwrap()[0] as i32;
        drop(command);
        let alive = || {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !state.is_empty() && !state.contains(") Z ")
        };
        let since = Instant::now();
        while alive() {
            assert!(since.elapsed() < Duration::from_secs(20), "{pid} lives on");
            std::thread::yield_now();
        }
    }
}
