//! The process of fio: started with a job on its standard input, limited in time and output.

use crate::failure::{Failure, FailureKind};
use crate::process::StopFlag;
use ssdgauge_os::child::{self, Kept};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The largest output that is read: that of one job has some 200 KiB.
const MAX_OUTPUT: u64 = 16 << 20;
/// The largest output of a program that is asked for its version.
const MAX_VERSION: u64 = 4_096;
/// The time that fio may take beyond its job: to start, to end its requests and to print.
const EXTRA: Duration = Duration::from_secs(60);
/// The interval between two looks at the process.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

const UNCHANGED: &str = "nothing was written";

/// A job of fio.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job<'a> {
    /// The text of the job file.
    pub(super) text: &'a str,
    /// The target, which fio inherits: no other program gets the drive as long as one of its
    /// processes writes, whatever becomes of this one.
    pub(super) target: &'a File,
    /// Whether fio has to refuse every write.
    pub(super) reads_only: bool,
    /// The limit of time in the job.
    pub(super) time: Duration,
}

/// Returns the version of `program`, such as `fio-3.33`.
///
/// # Errors
///
/// Fails where it cannot be started, or is not fio 3.
pub(super) fn version(program: &Path) -> Result<String, Failure> {
    let name = program.display();
    let failure = |error: String| {
        let hint = format!("{UNCHANGED}; install fio 3, or name it with --fio PROGRAM");
        Failure::new(FailureKind::Usage, error, hint)
    };
    let started = child::start_kept(program, &[], |command| {
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    });
    let output = started.and_then(|mut child| {
        let mut text = Vec::new();
        if let Some(output) = child.take_pipes().1 {
            output.take(MAX_VERSION).read_to_end(&mut text)?;
        }
        child.wait().map(|_| text)
    });
    let stdout = output.map_err(|error| failure(format!("{name} cannot be started: {error}")))?;
    let text = String::from_utf8_lossy(&stdout).trim().chars().take(40).collect::<String>();
    match text.starts_with("fio-3.") {
        true => Ok(text),
        false => Err(failure(format!("{name} is '{text}', not fio 3"))),
    }
}

/// Runs `job` and returns the output of fio in JSON.
///
/// # Errors
///
/// Fails where fio fails, takes longer than its job, or the run is stopped; fio is ended then.
pub(super) fn run(program: &Path, job: Job<'_>, stop: &StopFlag) -> Result<String, Failure> {
    let mut process = Process::start(program, job)?;
    let deadline = Instant::now() + job.time + EXTRA;
    let status = loop {
        let ended = process.child.try_wait();
        if let Some(status) = ended.map_err(|error| failed(&error.to_string()))? {
            break status;
        }
        if stop.is_set() {
            let hint = "start it again; a check keeps no results";
            return Err(Failure::new(FailureKind::Interrupted, "interrupted", hint));
        }
        if Instant::now() > deadline {
            return Err(failed("it has not ended a minute after its job"));
        }
        std::thread::sleep(BETWEEN_LOOKS);
    };
    let [output, messages] = process.texts();
    if !status.success() {
        let text = messages.lines().chain(output.lines()).find(|line| !line.trim().is_empty());
        return Err(failed(text.unwrap_or("it printed no reason")));
    }
    Ok(output)
}

fn failed(cause: &str) -> Failure {
    let cause: String = cause.chars().take(300).collect();
    let hint = "see the kernel log (dmesg); `ssdgauge export --fio` prints the jobs of the run";
    Failure::new(FailureKind::Failed, format!("fio failed: {cause}"), hint)
}

/// fio while it runs; killed, with everything in between, when this value is dropped.
struct Process {
    child: Kept,
    readers: [Option<JoinHandle<String>>; 2],
}

impl Process {
    fn start(program: &Path, job: Job<'_>) -> Result<Process, Failure> {
        // Another program may have started fio. Ctrl-C ends all as well: they are in the process
        // group of this program.
        let child = child::start_kept(program, &[job.target.as_fd()], |command| {
            command.arg("--output-format=json+");
            if job.reads_only {
                command.arg("--readonly");
            }
            command.arg("-").current_dir("/");
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        });
        let mut child = child.map_err(|error| failed(&error.to_string()))?;
        let (mut input, stdout, stderr) = child.take_pipes();
        let readers = [stdout.map(reader), stderr.map(reader)];
        child.end_with_program();
        let process = Process { child, readers };
        if let Some(input) = &mut input {
            match input.write_all(job.text.as_bytes()) {
                // fio ended before it read the job: its own messages give the reason.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                written => written.map_err(|error| failed(&error.to_string()))?,
            }
        }
        Ok(process)
    }

    /// Returns what it printed on standard output and standard error.
    fn texts(&mut self) -> [String; 2] {
        self.readers.each_mut().map(|reader| {
            let joined = reader.take().map(JoinHandle::join);
            joined.and_then(Result::ok).unwrap_or_default()
        })
    }
}

/// Reads a pipe in a thread of its own, because a full one would block the process.
fn reader(pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut pipe = pipe;
        // What is beyond the limit is read and dropped; a broken pipe ends the text.
        let _ = pipe.by_ref().take(MAX_OUTPUT).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
