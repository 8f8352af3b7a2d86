//! The client of the privileged helper process, which executes a fixed list of requests for a
//! process without privileges.
//!
//! The client checks nothing: the helper decides which requests it executes.

pub mod message;

use message::{Reply, Request};
use rustix::process::{Pid, Signal, kill_process};
use ssdgauge_os::ioctl::{ScsiAnswer, ScsiDirection};
use ssdgauge_os::process::{continue_stopped, is_stopped};
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The time beyond the limit of a command after which the helper is given up. The kernel aborts
/// and resets a drive after that limit, which takes several seconds.
const GRACE: Duration = Duration::from_secs(30);

/// How long a reply is awaited once the run has to stop, as requests in flight are.
const AFTER_STOP: Duration = Duration::from_secs(4);

/// How often a request that waits checks whether it waits on.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// How long the end of a helper is awaited that has no more to do. It may have to restore settings of the drive, and
/// holds the claim of the drive until then. Chosen: 5 s.
const END: Duration = Duration::from_secs(5);
/// The same for one that was given up: nothing indicates that it will end soon; and for one that was killed.
const SHORT_END: Duration = Duration::from_secs(1);
const BETWEEN_WAITS: Duration = Duration::from_millis(2);

/// The connection to the privileged helper process of this run; clones share it.
#[derive(Clone, Debug)]
pub struct HelperClient(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    process: Mutex<Child>,
    number: Pid,
    /// Locked from a request to its reply.
    requests: Mutex<UnixStream>,
    /// The same socket, which is closed also within a request.
    socket: UnixStream,
    /// Becomes true when the run has to stop.
    stop_requested: OnceLock<Arc<AtomicBool>>,
    /// Whether a reply did not arrive in time: it would be taken for that of the next request.
    is_given_up: AtomicBool,
}

/// Ends the helper when it is dropped, whatever still has a client, and reports where it does not end.
#[derive(Debug)]
pub struct EndOfHelper {
    client: HelperClient,
    report: fn(&str),
}

impl Drop for EndOfHelper {
    fn drop(&mut self) {
        if let Err(problem) = self.client.0.end() {
            (self.report)(&problem);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl Connection {
    /// Ends the helper, and waits until the drive is free. One that a signal has stopped continues, because only it
    /// can restore the settings of the drive; one that stays stopped is killed.
    ///
    /// # Errors
    /// The text of a message where it has not ended in order.
    fn end(&self) -> Result<(), String> {
        // Where that fails, it has ended.
        let _ = self.socket.shutdown(Shutdown::Both);
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = match self.is_given_up.load(Ordering::Relaxed) {
            true => SHORT_END,
            false => END,
        };
        let number = self.number.as_raw_nonzero();
        let continues = || {
            continue_stopped(self.number);
            true
        };
        // A helper that is stopped again every time is not continued any more.
        if ends_within(&mut process, limit, continues)
            || ends_within(&mut process, SHORT_END, || !is_stopped(self.number))
        {
            return Ok(());
        }
        let is_killed = is_stopped(self.number) && kill_process(self.number, Signal::KILL).is_ok();
        if is_killed && ends_within(&mut process, SHORT_END, || true) {
            return Err(format!(
                "warning: the privileged helper (process {number}) stayed stopped, and was killed: settings of the \
                 drive that the run has changed, such as its write cache, are not restored"
            ));
        }
        Err(format!(
            "warning: the privileged helper (process {number}) has not ended yet: it holds the claim of the drive until \
             its last command has ended"
        ))
    }

    /// Locks the socket for a request, with the patience of `waits`.
    fn lock(&self, waits: &mut Patience<'_>) -> io::Result<MutexGuard<'_, UnixStream>> {
        loop {
            match self.requests.try_lock() {
                Ok(socket) => return Ok(socket),
                Err(TryLockError::Poisoned(_)) => {
                    let text = "a thread panicked during a request to the helper";
                    return Err(io::Error::other(text));
                }
                Err(TryLockError::WouldBlock) => {
                    waits.check()?;
                    std::thread::sleep(BETWEEN_WAITS);
                }
            }
        }
    }
}

/// Returns whether `process` ends within `limit`, as long as `waits` returns true.
fn ends_within(process: &mut Child, limit: Duration, waits: impl Fn() -> bool) -> bool {
    let since = Instant::now();
    while matches!(process.try_wait(), Ok(None)) {
        if since.elapsed() >= limit || !waits() {
            return false;
        }
        std::thread::sleep(BETWEEN_WAITS);
    }
    true
}

/// How long a request waits: for its limit, and once the run has to stop for [`AFTER_STOP`] at most.
struct Patience<'a> {
    connection: &'a Connection,
    limit: Duration,
    since: Instant,
    /// When it was first seen that the run has to stop.
    stop_seen: Option<Instant>,
}

impl Patience<'_> {
    /// Checks whether the request waits on; where the run has to stop, a helper that a signal has stopped continues.
    ///
    /// # Errors
    /// `TimedOut`, with the cause.
    fn check(&mut self) -> io::Result<()> {
        let connection = self.connection;
        let given_up = |cause: String| {
            let number = connection.number.as_raw_nonzero();
            let state = match is_stopped(connection.number) {
                true => ", which is stopped",
                false => "",
            };
            let text =
                format!("no reply of the privileged helper (process {number}{state}) {cause}");
            Err(io::Error::new(io::ErrorKind::TimedOut, text))
        };
        if connection.stop_requested.get().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            continue_stopped(connection.number);
            if self.stop_seen.get_or_insert_with(Instant::now).elapsed() >= AFTER_STOP {
                let seconds = AFTER_STOP.as_secs();
                return given_up(format!("within {seconds} s after the run was to stop"));
            }
        }
        match self.since.elapsed() < self.limit {
            true => Ok(()),
            false => given_up(format!("within {} s", self.limit.as_secs())),
        }
    }
}

/// The socket of a request, whose reads have the patience of the request.
struct Awaited<'a> {
    socket: &'a UnixStream,
    patience: Patience<'a>,
}

impl Read for Awaited<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.socket.read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.patience.check()?,
                read => return read,
            }
        }
    }
}

impl HelperClient {
    /// Returns the client of the helper `process` at the other end of `socket`, as soon as the helper
    /// responds, and the restrictions of the kernel that are in force for it, as text.
    ///
    /// # Errors
    /// The helper could not open its drive, or has ended.
    pub fn connect(process: Child, socket: UnixStream) -> io::Result<(HelperClient, String)> {
        let client = HelperClient::new(process, socket)?;
        let answer = |request| {
            let reply = client.request(&request)?;
            match reply.status {
                0 => Ok(reply),
                status => Err(io::Error::from_raw_os_error(status)),
            }
        };
        answer(Request::writers())?;
        let restrictions = answer(Request::restrictions())?.data;
        Ok((client, String::from_utf8_lossy(&restrictions).into_owned()))
    }

    fn new(process: Child, socket: UnixStream) -> io::Result<HelperClient> {
        Ok(HelperClient(Arc::new(Connection {
            number: Pid::from_child(&process),
            process: Mutex::new(process),
            requests: Mutex::new(socket.try_clone()?),
            socket,
            stop_requested: OnceLock::new(),
            is_given_up: AtomicBool::new(false),
        })))
    }

    /// Gives the client the flag `stop_requested`: once it is true, a reply is awaited for 4 s at most. The first
    /// flag counts.
    pub fn stop_on(&self, stop_requested: Arc<AtomicBool>) {
        let _ = self.0.stop_requested.set(stop_requested);
    }

    /// Returns what ends the helper when it is dropped, and passes a message to `report` where it does not end.
    pub fn end_by(&self, report: fn(&str)) -> EndOfHelper {
        EndOfHelper { client: self.clone(), report }
    }

    /// Sends one request and waits for its reply.
    fn request(&self, request: &Request) -> io::Result<Reply> {
        let connection = &*self.0;
        let limit = Duration::from_millis(u64::from(request.timeout_ms)) + GRACE;
        let since = Instant::now();
        let mut patience = Patience { connection, limit, since, stop_seen: None };
        let mut socket = connection.lock(&mut patience)?;
        if connection.is_given_up.load(Ordering::Relaxed) {
            return Err(io::Error::other("the privileged helper was given up before"));
        }
        socket.set_read_timeout(Some(CHECK_INTERVAL))?;
        request.send(&mut *socket)?;
        // The time in which others had the socket is theirs.
        patience.since = Instant::now();
        let reply = Reply::receive(&mut Awaited { socket: &socket, patience });
        if reply.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::TimedOut) {
            connection.is_given_up.store(true, Ordering::Relaxed);
        }
        reply
    }

    /// Returns the processes that have the drive open for writing, one line each.
    ///
    /// # Errors
    /// The helper could not list them, or has ended: they are then unknown.
    pub fn writers(&self) -> io::Result<Vec<String>> {
        match self.request(&Request::writers())? {
            Reply { status: 0, data, .. } => {
                Ok(String::from_utf8_lossy(&data).lines().map(str::to_owned).collect())
            }
            Reply { status, .. } => Err(io::Error::from_raw_os_error(status)),
        }
    }

    /// Sends an NVMe admin command as [`ssdgauge_os::ioctl::nvme_admin`] does.
    ///
    /// # Errors
    /// The command is not on the helper's list, the kernel rejected it, or the helper has ended.
    pub fn nvme_admin(
        &self,
        opcode: u8,
        namespace: u32,
        words: [u32; 6],
        data: &mut [u8],
        timeout_ms: u32,
    ) -> io::Result<(u16, u32)> {
        let reply = self.request(&Request::nvme(opcode, namespace, words, data, timeout_ms)?)?;
        reply.copy_data_to(data)?;
        let status = u16::try_from(reply.values[0]).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok((status, reply.values[1]))
    }

    /// Sends a SCSI command as [`ssdgauge_os::ioctl::scsi`] does.
    ///
    /// # Errors
    /// The command is not on the helper's list, the kernel rejected it, or the helper has ended.
    pub fn scsi(
        &self,
        command: &[u8; 16],
        direction: ScsiDirection,
        data: &mut [u8],
        timeout_ms: u32,
    ) -> io::Result<ScsiAnswer> {
        let reply = self.request(&Request::scsi(command, direction, data, timeout_ms)?)?;
        reply.copy_data_to(data)?;
        let [kind, first, second, third] = reply.values;
        let byte = |value: u32| value.to_le_bytes()[0];
        Ok(match kind {
            0 => ScsiAnswer::Good,
            1 => ScsiAnswer::Sense(byte(first), byte(second), byte(third)),
            3 => ScsiAnswer::Registers(first),
            _ => ScsiAnswer::Lost(first as u16),
        })
    }

    /// Writes `text` into a file of sysfs.
    ///
    /// # Errors
    /// The file is not on the helper's list, the kernel rejected it, or the helper has ended.
    pub fn write_attribute(&self, path: &Path, text: &str) -> io::Result<()> {
        self.request(&Request::attribute(path, text)?)?.copy_data_to(&mut [])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Returns a client of the shell `script`, which never replies, and the other end of its socket.
    fn silent(script: &str) -> (HelperClient, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null());
        (HelperClient::new(command.spawn().unwrap(), ours).unwrap(), theirs)
    }

    #[test]
    fn a_request_waits_for_seconds_once_the_run_has_to_stop_and_the_helper_is_given_up() {
        let (client, _socket) = silent("exec sleep 600");
        client.stop_on(Arc::new(AtomicBool::new(true)));
        // Its limit is 60 s.
        let error = client.writers().unwrap_err();
        assert!(error.to_string().ends_with("within 4 s after the run was to stop"), "{error}");
        // A reply that arrives now belongs to the first request.
        let error = client.writers().unwrap_err();
        assert!(error.to_string().contains("was given up before"), "{error}");
        let problem = client.0.end().unwrap_err();
        assert!(problem.contains("holds the claim of the drive until"), "{problem}");
        client.0.process.lock().unwrap().kill().unwrap();
        client.0.end().unwrap();
    }

    #[test]
    fn a_request_that_waits_for_that_of_another_thread_ends_as_well() {
        let (client, _socket) = silent("exec sleep 600");
        let stop = Arc::new(AtomicBool::new(false));
        client.stop_on(Arc::clone(&stop));
        let other = client.clone();
        // A format takes hours.
        let format = Request::nvme(0x80, 1, [0; 6], &[], 3_600_000).unwrap();
        let first = std::thread::spawn(move || other.request(&format).unwrap_err());
        while client.0.requests.try_lock().is_ok() {
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
        client.writers().unwrap_err();
        first.join().unwrap();
        client.0.process.lock().unwrap().kill().unwrap();
    }

    #[test]
    fn a_stopped_helper_continues_to_its_end_and_one_that_stays_stopped_is_killed() {
        let (client, _socket) = silent("kill -STOP $$; exit 0");
        client.0.end().unwrap();
        let (client, _socket) = silent("while :; do kill -STOP $$; done");
        let problem = client.0.end().unwrap_err();
        assert!(problem.contains("stayed stopped, and was killed"), "{problem}");
        assert!(client.0.process.lock().unwrap().try_wait().unwrap().is_some());
    }
}
