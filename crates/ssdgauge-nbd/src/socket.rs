//! A connected socket that never blocks: it moves what it can, and waits on request.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// The longest wait without a look at the caller's stop.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// A connected stream socket.
#[derive(Debug)]
pub(crate) struct Socket(OwnedFd);

impl Socket {
    pub(crate) fn new(fd: impl Into<OwnedFd>) -> Socket {
        Socket(fd.into())
    }

    /// Ends the connection, also for a thread that waits for it.
    pub(crate) fn close(&self) {
        // It fails where the client has closed it.
        let _ = shutdown(&self.0, Shutdown::Both);
    }

    /// Receives what is there; `None` where that is nothing yet, 0 at the end of the stream.
    pub(crate) fn receive(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match recv(&self.0, into, RecvFlags::DONTWAIT) {
            Ok((count, _)) => Ok(Some(count)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends what the kernel accepts; 0 where that is nothing yet.
    pub(crate) fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        match send(&self.0, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(count) => Ok(count),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until bytes can be received or sent, as asked for, and `timeout` at most. A signal ends
    /// the wait.
    pub(crate) fn wait(&self, receive: bool, send: bool, timeout: Duration) -> io::Result<()> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, receive);
        flags.set(PollFlags::OUT, send);
        let timeout = Timespec {
            tv_sec: timeout.as_secs() as i64,
            tv_nsec: i64::from(timeout.subsec_nanos()),
        };
        match poll(&mut [PollFd::new(&self.0, flags)], Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Fills `into` before `deadline`, unless `stop` returns `true`.
    pub(crate) fn receive_all(
        &self,
        mut into: &mut [u8],
        deadline: Instant,
        stop: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        while !into.is_empty() {
            match self.receive(into)? {
                Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some(count) => into = &mut into[count..],
                None => self.wait(true, false, remaining(deadline, stop)?)?,
            }
        }
        Ok(())
    }

    /// Sends all `bytes` before `deadline`, unless `stop` returns `true`.
    pub(crate) fn send_all(
        &self,
        mut bytes: &[u8],
        deadline: Instant,
        stop: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.send(bytes)? {
                0 => self.wait(false, true, remaining(deadline, stop)?)?,
                count => bytes = &bytes[count..],
            }
        }
        Ok(())
    }
}

/// Returns how long to wait before the next look at the stop.
fn remaining(deadline: Instant, stop: &dyn Fn() -> bool) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    match left.is_zero() || stop() {
        true => Err(io::ErrorKind::TimedOut.into()),
        false => Ok(left.min(LOOK)),
    }
}
