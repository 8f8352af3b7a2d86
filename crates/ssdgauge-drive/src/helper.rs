//! The client of the privileged helper process, which executes a fixed list of requests for a
//! process without privileges.
//!
//! The client checks nothing: the helper decides which requests it executes.

pub mod message;

use message::{Reply, Request};
use ssdgauge_os::ioctl::{ScsiAnswer, ScsiDirection};
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The time beyond the limit of a command after which the helper counts as ended. The kernel aborts
/// and resets a drive after that limit, which takes several seconds.
const GRACE: Duration = Duration::from_secs(30);

/// How often, and how long after each time, the end of a helper is awaited that has no more to do. It may have to
/// restore settings of the drive, and holds the claim of the drive until then. Chosen: 5 s.
const WAITS: u32 = 2_500;
const BETWEEN_WAITS: Duration = Duration::from_millis(2);

/// The connection to the privileged helper process of this run; clones share it.
#[derive(Clone, Debug)]
pub struct HelperClient(Arc<Mutex<Connection>>);

#[derive(Debug)]
struct Connection {
    process: Child,
    socket: UnixStream,
}

impl Drop for Connection {
    /// Ends the helper, and waits until the drive is free.
    fn drop(&mut self) {
        // Where that fails, it has ended.
        let _ = self.socket.shutdown(Shutdown::Both);
        for _ in 0..WAITS {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(BETWEEN_WAITS);
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
        let client = HelperClient(Arc::new(Mutex::new(Connection { process, socket })));
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

    /// Sends one request and waits for its reply.
    fn request(&self, request: &Request) -> io::Result<Reply> {
        let broken = |_| io::Error::other("a thread panicked during a request to the helper");
        let socket = &mut self.0.lock().map_err(broken)?.socket;
        let limit = Duration::from_millis(u64::from(request.timeout_ms)) + GRACE;
        socket.set_read_timeout(Some(limit))?;
        request.send(socket)?;
        Reply::receive(socket)
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
