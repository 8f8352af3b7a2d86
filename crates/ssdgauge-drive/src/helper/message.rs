//! The messages between the process without privileges and the privileged helper process.
//!
//! All messages have one size, so that a malformed length cannot desynchronize the socket.

use ssdgauge_os::ioctl::ScsiDirection;
use std::io::{self, Read, Write};
use std::path::Path;

/// The maximum data of a message in bytes. The longest transfer of a command is the power
/// measurement log with 8,064 bytes.
pub const MAX_DATA: usize = 16 << 10;
/// The bytes of the header: eight words.
const HEADER: usize = 8 * 4;

/// The kind of a request, by its number in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// The list of processes that have the drive open for writing.
    Writers = 1,
    /// An NVMe admin command.
    Nvme = 2,
    /// A SCSI command.
    Scsi = 3,
    /// A write to a file of sysfs.
    Attribute = 4,
    /// The restrictions of the kernel that are in force for the helper, as text.
    Restrictions = 5,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The kind of the request.
    pub kind: RequestKind,
    /// The time limit in milliseconds.
    pub timeout_ms: u32,
    /// The arguments, by kind.
    pub values: [u32; 5],
    /// The data.
    pub data: Vec<u8>,
}

/// One reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// 0, or the error number of Linux.
    pub status: i32,
    /// The values of the result, by kind of the request.
    pub values: [u32; 4],
    /// The data that the command returned.
    pub data: Vec<u8>,
}

impl Request {
    /// Returns the request for the processes that have the drive open for writing.
    pub fn writers() -> Request {
        Request { kind: RequestKind::Writers, timeout_ms: 30_000, values: [0; 5], data: Vec::new() }
    }

    /// Returns the request for the restrictions in force.
    pub fn restrictions() -> Request {
        Request { kind: RequestKind::Restrictions, ..Request::writers() }
    }

    /// Returns the request for an NVMe admin command; command words 10 to 15 precede the data.
    ///
    /// # Errors
    /// The data exceeds [`MAX_DATA`].
    pub fn nvme(
        opcode: u8,
        namespace: u32,
        words: [u32; 6],
        data: &[u8],
        timeout_ms: u32,
    ) -> io::Result<Request> {
        let mut sent: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        sent.extend(data);
        let values = [u32::from(opcode), namespace, 0, 0, 0];
        Request { kind: RequestKind::Nvme, timeout_ms, values, data: sent }.checked()
    }

    /// Returns the request for a SCSI command; the command descriptor block precedes the data.
    ///
    /// # Errors
    /// The data exceeds [`MAX_DATA`].
    pub fn scsi(
        command: &[u8; 16],
        direction: ScsiDirection,
        data: &[u8],
        timeout_ms: u32,
    ) -> io::Result<Request> {
        let direction = match direction {
            ScsiDirection::None => 0,
            ScsiDirection::In => 1,
            ScsiDirection::Out => 2,
        };
        let data = [command, data].concat();
        let values = [direction, 0, 0, 0, 0];
        Request { kind: RequestKind::Scsi, timeout_ms, values, data }.checked()
    }

    /// Returns the request for a write of `text` to the file `path` of sysfs; a zero byte separates
    /// them in the data.
    ///
    /// # Errors
    /// The data exceeds [`MAX_DATA`].
    pub fn attribute(path: &Path, text: &str) -> io::Result<Request> {
        let data = [path.as_os_str().as_encoded_bytes(), &[0], text.as_bytes()].concat();
        Request { kind: RequestKind::Attribute, timeout_ms: 30_000, values: [0; 5], data }.checked()
    }

    fn checked(self) -> io::Result<Request> {
        match self.data.len() <= MAX_DATA {
            true => Ok(self),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Sends the request.
    ///
    /// # Errors
    /// The socket failed.
    pub fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let [a, b, c, d, e] = self.values;
        write(to, [self.kind as u32, self.timeout_ms, a, b, c, d, e], &self.data)
    }

    /// Reads a request; `None` where the client has closed the socket.
    ///
    /// # Errors
    /// The socket failed, or the message is malformed.
    pub fn receive(from: &mut impl Read) -> io::Result<Option<Request>> {
        let ([kind, timeout_ms, values @ ..], data) = match read(from) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        };
        let kind = match kind {
            1 => RequestKind::Writers,
            2 => RequestKind::Nvme,
            3 => RequestKind::Scsi,
            4 => RequestKind::Attribute,
            5 => RequestKind::Restrictions,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        Ok(Some(Request { kind, timeout_ms, values, data }))
    }
}

impl Reply {
    /// Returns the reply that carries `result`.
    pub fn from_result(result: io::Result<Reply>) -> Reply {
        result.unwrap_or_else(|error| {
            // An error of the helper itself has a text, which travels as the data.
            let text = error.raw_os_error().map_or_else(|| error.to_string(), |_| String::new());
            let other = match error.kind() {
                io::ErrorKind::PermissionDenied => libc::EPERM,
                _ => libc::EIO,
            };
            let status = error.raw_os_error().unwrap_or(other).max(1);
            Reply { status, data: text.into_bytes(), ..Reply::default() }
        })
    }

    /// Returns the error of the request: the text of the helper where it refused the request, else
    /// the error of the kernel.
    fn error(&self) -> Option<io::Error> {
        let error = io::Error::from_raw_os_error(self.status);
        match (self.status, self.data.is_empty()) {
            (0, _) => None,
            (_, true) => Some(error),
            (_, false) => Some(io::Error::new(error.kind(), String::from_utf8_lossy(&self.data))),
        }
    }

    /// Copies the returned data into `data`.
    ///
    /// # Errors
    /// The request failed with the error number of `status`.
    pub fn copy_data_to(&self, data: &mut [u8]) -> io::Result<()> {
        if let Some(error) = self.error() {
            return Err(error);
        }
        let length = data.len().min(self.data.len());
        data[..length].copy_from_slice(&self.data[..length]);
        Ok(())
    }

    /// Sends the reply.
    ///
    /// # Errors
    /// The socket failed.
    pub fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let [a, b, c, d] = self.values;
        let data = &self.data[..self.data.len().min(MAX_DATA)];
        write(to, [self.status as u32, a, b, c, d, 0, 0], data)
    }

    /// Reads a reply.
    ///
    /// # Errors
    /// The socket failed or timed out, or the message is malformed.
    pub fn receive(from: &mut impl Read) -> io::Result<Reply> {
        let ([status, a, b, c, d, _, _], data) = read(from)?;
        Ok(Reply { status: status as i32, values: [a, b, c, d], data })
    }
}

fn write(to: &mut impl Write, words: [u32; 7], data: &[u8]) -> io::Result<()> {
    let mut bytes = vec![0; HEADER + MAX_DATA];
    let words = words.into_iter().chain([data.len() as u32]);
    for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    bytes[HEADER..HEADER + data.len()].copy_from_slice(data);
    to.write_all(&bytes)
}

fn read(from: &mut impl Read) -> io::Result<([u32; 7], Vec<u8>)> {
    let mut bytes = vec![0; HEADER + MAX_DATA];
    from.read_exact(&mut bytes)?;
    let mut words = [0u32; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes(bytes.try_into().expect("chunks of four"));
    }
    let [a, b, c, d, e, f, g, length] = words;
    let data = bytes.get(HEADER..HEADER + length as usize).ok_or(io::ErrorKind::InvalidData)?;
    Ok(([a, b, c, d, e, f, g], data.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_replies_arrive_unchanged() {
        let request = Request::nvme(6, 1, [1, 2, 3, 4, 5, 6], &[7; 4_096], 10_000).unwrap();
        let mut bytes = Vec::new();
        request.send(&mut bytes).unwrap();
        assert_eq!(bytes.len(), HEADER + MAX_DATA);
        assert_eq!(Request::receive(&mut bytes.as_slice()).unwrap(), Some(request));
        let reply = Reply { status: 0, values: [1, 2, 3, 4], data: vec![9; 100] };
        let mut bytes = Vec::new();
        reply.send(&mut bytes).unwrap();
        assert_eq!(Reply::receive(&mut bytes.as_slice()).unwrap(), reply);
    }

    #[test]
    fn oversized_and_malformed_messages_are_rejected() {
        assert!(Request::nvme(6, 1, [0; 6], &[0; MAX_DATA], 1).is_err());
        assert_eq!(Request::receive(&mut [0u8; 0].as_slice()).unwrap(), None);
        let mut bytes = vec![0xff; HEADER + MAX_DATA];
        assert!(Request::receive(&mut bytes.as_slice()).is_err());
        bytes[..4].copy_from_slice(&1u32.to_le_bytes());
        assert!(Request::receive(&mut bytes.as_slice()).is_err(), "a length beyond the message");
    }
}
