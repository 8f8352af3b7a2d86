//! What the privileged part is asked and answers: messages of one fixed size.

use ssdgauge_os::ioctl::ScsiDirection;
use std::io::{self, Read, Write};
use std::path::Path;

/// The most data of a message; the longest answer of a drive that is asked for has 4 KiB.
pub const MOST_DATA: usize = 16 << 10;
/// Eight words before the data.
const HEAD: usize = 8 * 4;

/// What is asked, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Who holds the drive open for writing.
    Look = 1,
    /// An NVMe admin command.
    Nvme = 2,
    /// A SCSI command.
    Scsi = 3,
    /// Writing a file in /sys.
    Attribute = 4,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is requested.
    pub kind: Kind,
    /// The time limit in milliseconds.
    pub timeout_ms: u32,
    /// Its arguments, by kind.
    pub values: [u32; 5],
    /// Its data.
    pub data: Vec<u8>,
}

/// One answer: 0 or the number of the error, four values, and data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// 0, or the number of the error.
    pub status: i32,
    /// The values of the result, by kind of the request.
    pub values: [u32; 4],
    /// The data that came back.
    pub data: Vec<u8>,
}

impl Request {
    /// Returns the request for the processes that have the drive open for writing.
    pub fn look() -> Request {
        Request { kind: Kind::Look, timeout_ms: 30_000, values: [0; 5], data: Vec::new() }
    }

    /// The words stand before the data.
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
        Request { kind: Kind::Nvme, timeout_ms, values, data: sent }.checked()
    }

    /// The command stands before the data.
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
        Request { kind: Kind::Scsi, timeout_ms, values, data }.checked()
    }

    /// The path stands before the text, a zero byte between them.
    pub fn attribute(path: &Path, text: &str) -> io::Result<Request> {
        let data = [path.as_os_str().as_encoded_bytes(), &[0], text.as_bytes()].concat();
        Request { kind: Kind::Attribute, timeout_ms: 30_000, values: [0; 5], data }.checked()
    }

    fn checked(self) -> io::Result<Request> {
        match self.data.len() <= MOST_DATA {
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

    /// Reads a question; `None` where nobody asks any more.
    pub fn receive(from: &mut impl Read) -> io::Result<Option<Request>> {
        let ([kind, timeout_ms, values @ ..], data) = match read(from) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        };
        let kind = match kind {
            1 => Kind::Look,
            2 => Kind::Nvme,
            3 => Kind::Scsi,
            4 => Kind::Attribute,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        Ok(Some(Request { kind, timeout_ms, values, data }))
    }
}

impl Reply {
    /// Returns the reply that carries `result`.
    pub fn of(result: io::Result<Reply>) -> Reply {
        result.unwrap_or_else(|error| Reply {
            status: error.raw_os_error().unwrap_or(libc::EIO).max(1),
            ..Reply::default()
        })
    }

    /// Puts what came back into `data`, or says why nothing did.
    pub fn give(&self, data: &mut [u8]) -> io::Result<()> {
        if self.status != 0 {
            return Err(io::Error::from_raw_os_error(self.status));
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
        let data = &self.data[..self.data.len().min(MOST_DATA)];
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
    let mut bytes = vec![0; HEAD + MOST_DATA];
    let words = words.into_iter().chain([data.len() as u32]);
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes[HEAD..HEAD + data.len()].copy_from_slice(data);
    to.write_all(&bytes)
}

fn read(from: &mut impl Read) -> io::Result<([u32; 7], Vec<u8>)> {
    let mut bytes = vec![0; HEAD + MOST_DATA];
    from.read_exact(&mut bytes)?;
    let mut words = [0u32; 8];
    for (word, place) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes(place.try_into().expect("chunks of four"));
    }
    let [a, b, c, d, e, f, g, length] = words;
    let data = bytes.get(HEAD..HEAD + length as usize).ok_or(io::ErrorKind::InvalidData)?;
    Ok(([a, b, c, d, e, f, g], data.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_and_answered_arrives_unchanged() {
        let request = Request::nvme(6, 1, [1, 2, 3, 4, 5, 6], &[7; 4_096], 10_000).unwrap();
        let mut pass_through = Vec::new();
        request.send(&mut pass_through).unwrap();
        assert_eq!(pass_through.len(), HEAD + MOST_DATA);
        assert_eq!(Request::receive(&mut pass_through.as_slice()).unwrap(), Some(request));
        let reply = Reply { status: 0, values: [1, 2, 3, 4], data: vec![9; 100] };
        let mut pass_through = Vec::new();
        reply.send(&mut pass_through).unwrap();
        assert_eq!(Reply::receive(&mut pass_through.as_slice()).unwrap(), reply);
    }

    #[test]
    fn what_does_not_fit_or_means_nothing_is_no_message() {
        assert!(Request::nvme(6, 1, [0; 6], &[0; MOST_DATA], 1).is_err());
        assert_eq!(Request::receive(&mut [0u8; 0].as_slice()).unwrap(), None);
        let mut bytes = vec![0xff; HEAD + MOST_DATA];
        assert!(Request::receive(&mut bytes.as_slice()).is_err());
        bytes[..4].copy_from_slice(&1u32.to_le_bytes());
        assert!(Request::receive(&mut bytes.as_slice()).is_err(), "a length beyond the message");
    }
}
