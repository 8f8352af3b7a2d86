//! A server of a virtual drive, and a client that sends what a test wants.

use ssdgauge_core::Bytes;
use ssdgauge_nbd::{Address, Served, Server};
use ssdgauge_sim::{ServedDrive, VirtualRig};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) const OPTION: &[u8; 8] = b"IHAVEOPT";
pub(crate) const CAPACITY: u64 = 1_000_000_000;
pub(crate) const GIB: Bytes = Bytes(1 << 30);

/// A server of a virtual drive on a socket of its own.
pub(crate) struct Running {
    _folder: tempfile::TempDir,
    path: PathBuf,
    stop: Arc<AtomicBool>,
    events: Receiver<String>,
    thread: Option<JoinHandle<Served>>,
}

impl Running {
    pub(crate) fn start(target: &str, keep: Option<Bytes>) -> Running {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let drive = ServedDrive::new(VirtualRig::open(target, 1).unwrap());
        let server = Server::listen(&Address::Unix(path.clone()), drive, keep).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, events) = channel();
        let stops = stop.clone();
        let thread = std::thread::spawn(move || {
            let sender = std::sync::Mutex::new(sender);
            let report = |event| sender.lock().unwrap().send(format!("{event:?}")).unwrap();
            server.run(false, &|| stops.load(Ordering::Relaxed), &report)
        });
        Running { _folder: folder, path, stop, events, thread: Some(thread) }
    }

    pub(crate) fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(&self.path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Returns a client that has chosen the export.
    pub(crate) fn client(&self) -> Client {
        let mut client = Client { stream: self.greeted(3), cookie: 0 };
        // The empty name means the only export.
        client.option(7, &[0; 6]);
        let mut kinds = Vec::new();
        loop {
            let (kind, data) = client.option_reply(7);
            if kind == 1 {
                break;
            }
            assert_eq!(kind, 3, "{data:?}");
            kinds.push(u16::from_be_bytes([data[0], data[1]]));
            if data[..2] == [0, 0] {
                let capacity = u64::from_be_bytes(data[2..10].try_into().unwrap());
                assert!(capacity <= CAPACITY && capacity > CAPACITY / 2);
            }
        }
        assert_eq!(kinds, [0, 3]);
        client
    }

    /// Connects, reads the greeting and sends the client flags.
    pub(crate) fn greeted(&self, flags: u32) -> UnixStream {
        let mut stream = self.connect();
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).unwrap();
        assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
        stream.write_all(&flags.to_be_bytes()).unwrap();
        stream
    }

    pub(crate) fn next_event(&self) -> String {
        self.events.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    pub(crate) fn end(mut self) -> Served {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

pub(crate) struct Client {
    pub(crate) stream: UnixStream,
    pub(crate) cookie: u64,
}

impl Client {
    pub(crate) fn option(&mut self, number: u32, data: &[u8]) {
        let length = (data.len() as u32).to_be_bytes();
        let message = [OPTION, &number.to_be_bytes()[..], &length, data].concat();
        self.stream.write_all(&message).unwrap();
    }

    pub(crate) fn option_reply(&mut self, number: u32) -> (u32, Vec<u8>) {
        let mut head = [0; 20];
        self.stream.read_exact(&mut head).unwrap();
        let word = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
        assert_eq!(word(8), number);
        let mut data = vec![0; word(16) as usize];
        self.stream.read_exact(&mut data).unwrap();
        (word(12), data)
    }

    pub(crate) fn send(
        &mut self,
        command: u16,
        flags: u16,
        offset: u64,
        length: u32,
        data: &[u8],
    ) -> u64 {
        self.cookie += 1;
        let message = [&request(command, flags, self.cookie, offset, length)[..], data].concat();
        self.stream.write_all(&message).unwrap();
        self.cookie
    }

    /// Returns the error of the next reply and its cookie.
    pub(crate) fn reply(&mut self) -> (u32, u64) {
        let mut head = [0; 16];
        self.stream.read_exact(&mut head).unwrap();
        assert_eq!(head[..4], 0x6744_6698u32.to_be_bytes());
        let error = u32::from_be_bytes(head[4..8].try_into().unwrap());
        (error, u64::from_be_bytes(head[8..].try_into().unwrap()))
    }

    pub(crate) fn call(
        &mut self,
        command: u16,
        flags: u16,
        offset: u64,
        length: u32,
        data: &[u8],
    ) -> u32 {
        let cookie = self.send(command, flags, offset, length, data);
        let (error, answered) = self.reply();
        assert_eq!(answered, cookie);
        error
    }

    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) -> u32 {
        self.call(1, 0, offset, data.len() as u32, data)
    }

    /// Negotiates structured replies and the context base:allocation, and then the export.
    pub(crate) fn choose_allocation(&mut self) {
        self.option(8, b"");
        assert_eq!(self.option_reply(8), (1, Vec::new()));
        self.option(10, &queries(b"", &[b"base:allocation"]));
        assert_eq!(self.option_reply(10), (4, b"\0\0\0\x01base:allocation".to_vec()));
        assert_eq!(self.option_reply(10).0, 1);
        self.option(1, b"");
        let mut export = [0; 10];
        self.stream.read_exact(&mut export).unwrap();
        // Structured replies come in one part: bit 7.
        assert_eq!(export[9] & 1 << 7, 1 << 7);
    }

    /// Returns the kind and the data of the next structured reply, which has one part.
    pub(crate) fn structured(&mut self) -> (u16, Vec<u8>) {
        let mut head = [0; 20];
        self.stream.read_exact(&mut head).unwrap();
        assert_eq!(head[..4], 0x668e_33efu32.to_be_bytes());
        assert_eq!(head[4..6], [0, 1], "the last part");
        assert_eq!(head[8..16], self.cookie.to_be_bytes());
        let mut data = vec![0; u32::from_be_bytes(head[16..].try_into().unwrap()) as usize];
        self.stream.read_exact(&mut data).unwrap();
        (u16::from_be_bytes([head[6], head[7]]), data)
    }

    /// Returns the extents of one reply to a query of the block status.
    pub(crate) fn extents(&mut self, offset: u64, length: u32, flags: u16) -> Vec<(u32, u32)> {
        self.send(7, flags, offset, length, &[]);
        let (kind, data) = self.structured();
        assert_eq!((kind, &data[..4]), (5, &[0, 0, 0, 1][..]), "{data:?}");
        let word = |at: &[u8]| u32::from_be_bytes(at.try_into().unwrap());
        data[4..].chunks(8).map(|one| (word(&one[..4]), word(&one[4..]))).collect()
    }

    pub(crate) fn read(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, u32> {
        match self.call(0, 0, offset, length as u32, &[]) {
            0 => {
                let mut data = vec![0; length];
                self.stream.read_exact(&mut data).unwrap();
                Ok(data)
            }
            error => Err(error),
        }
    }

    /// Returns whether the server closes the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
        }
    }
}

/// Returns the data of an option about metadata contexts.
pub(crate) fn queries(name: &[u8], queries: &[&[u8]]) -> Vec<u8> {
    let text = |text: &[u8]| [&(text.len() as u32).to_be_bytes(), text].concat();
    let mut data = [text(name), (queries.len() as u32).to_be_bytes().to_vec()].concat();
    queries.iter().for_each(|query| data.extend(text(query)));
    data
}

pub(crate) fn request(command: u16, flags: u16, cookie: u64, offset: u64, length: u32) -> [u8; 28] {
    let mut bytes = [0; 28];
    bytes[..4].copy_from_slice(&0x2560_9513u32.to_be_bytes());
    bytes[4..6].copy_from_slice(&flags.to_be_bytes());
    bytes[6..8].copy_from_slice(&command.to_be_bytes());
    bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
    bytes[16..24].copy_from_slice(&offset.to_be_bytes());
    bytes[24..].copy_from_slice(&length.to_be_bytes());
    bytes
}
