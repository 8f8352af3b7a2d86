//! The server against clients that follow the protocol, and clients that do not.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends at its first failure")]

use ssdgauge_core::{Bytes, Random};
use ssdgauge_nbd::{Address, MAX_CLIENTS, MAX_PAYLOAD, Served, Server};
use ssdgauge_sim::{ServedDrive, VirtualRig};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const OPTION: &[u8; 8] = b"IHAVEOPT";
const CAPACITY: u64 = 1_000_000_000;
const GIB: Bytes = Bytes(1 << 30);

/// A server of a virtual drive on a socket of its own.
struct Running {
    _folder: tempfile::TempDir,
    path: PathBuf,
    stop: Arc<AtomicBool>,
    events: Receiver<String>,
    thread: Option<JoinHandle<Served>>,
}

impl Running {
    fn start(target: &str, keep: Option<Bytes>) -> Running {
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

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(&self.path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Returns a client that has chosen the export.
    fn client(&self) -> Client {
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
    fn greeted(&self, flags: u32) -> UnixStream {
        let mut stream = self.connect();
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).unwrap();
        assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
        stream.write_all(&flags.to_be_bytes()).unwrap();
        stream
    }

    fn next_event(&self) -> String {
        self.events.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    fn end(mut self) -> Served {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

struct Client {
    stream: UnixStream,
    cookie: u64,
}

impl Client {
    fn option(&mut self, number: u32, data: &[u8]) {
        let length = (data.len() as u32).to_be_bytes();
        let message = [OPTION, &number.to_be_bytes()[..], &length, data].concat();
        self.stream.write_all(&message).unwrap();
    }

    fn option_reply(&mut self, number: u32) -> (u32, Vec<u8>) {
        let mut head = [0; 20];
        self.stream.read_exact(&mut head).unwrap();
        let word = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
        assert_eq!(word(8), number);
        let mut data = vec![0; word(16) as usize];
        self.stream.read_exact(&mut data).unwrap();
        (word(12), data)
    }

    fn send(&mut self, command: u16, flags: u16, offset: u64, length: u32, data: &[u8]) -> u64 {
        self.cookie += 1;
        let message = [&request(command, flags, self.cookie, offset, length)[..], data].concat();
        self.stream.write_all(&message).unwrap();
        self.cookie
    }

    /// Returns the error of the next reply and its cookie.
    fn reply(&mut self) -> (u32, u64) {
        let mut head = [0; 16];
        self.stream.read_exact(&mut head).unwrap();
        assert_eq!(head[..4], 0x6744_6698u32.to_be_bytes());
        let error = u32::from_be_bytes(head[4..8].try_into().unwrap());
        (error, u64::from_be_bytes(head[8..].try_into().unwrap()))
    }

    fn call(&mut self, command: u16, flags: u16, offset: u64, length: u32, data: &[u8]) -> u32 {
        let cookie = self.send(command, flags, offset, length, data);
        let (error, answered) = self.reply();
        assert_eq!(answered, cookie);
        error
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> u32 {
        self.call(1, 0, offset, data.len() as u32, data)
    }

    /// Negotiates structured replies and the context base:allocation, and then the export.
    fn choose_allocation(&mut self) {
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
    fn structured(&mut self) -> (u16, Vec<u8>) {
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
    fn extents(&mut self, offset: u64, length: u32, flags: u16) -> Vec<(u32, u32)> {
        self.send(7, flags, offset, length, &[]);
        let (kind, data) = self.structured();
        assert_eq!((kind, &data[..4]), (5, &[0, 0, 0, 1][..]), "{data:?}");
        let word = |at: &[u8]| u32::from_be_bytes(at.try_into().unwrap());
        data[4..].chunks(8).map(|one| (word(&one[..4]), word(&one[4..]))).collect()
    }

    fn read(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, u32> {
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
    fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
        }
    }
}

/// Returns the data of an option about metadata contexts.
fn queries(name: &[u8], queries: &[&[u8]]) -> Vec<u8> {
    let text = |text: &[u8]| [&(text.len() as u32).to_be_bytes(), text].concat();
    let mut data = [text(name), (queries.len() as u32).to_be_bytes().to_vec()].concat();
    queries.iter().for_each(|query| data.extend(text(query)));
    data
}

fn request(command: u16, flags: u16, cookie: u64, offset: u64, length: u32) -> [u8; 28] {
    let mut bytes = [0; 28];
    bytes[..4].copy_from_slice(&0x2560_9513u32.to_be_bytes());
    bytes[4..6].copy_from_slice(&flags.to_be_bytes());
    bytes[6..8].copy_from_slice(&command.to_be_bytes());
    bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
    bytes[16..24].copy_from_slice(&offset.to_be_bytes());
    bytes[24..].copy_from_slice(&length.to_be_bytes());
    bytes
}

#[test]
fn data_that_is_kept_is_read_back_by_every_client_and_zeros_where_it_was_trimmed() {
    let server = Running::start("tiny", Some(GIB));
    let (mut first, mut second) = (server.client(), server.client());
    let data: Vec<u8> = (0..65_536u32).map(|at| (at / 7) as u8).collect();
    assert_eq!(first.write(4_096, &data), 0);
    assert_eq!(second.read(4_096, data.len()).unwrap(), data);
    assert_eq!(second.read(512, 8_192).unwrap()[3_584..], data[..4_608]);
    assert_eq!(first.call(4, 0, 8_192, 4_096, &[]), 0, "trim");
    assert_eq!(first.call(6, 2, 16_384, 512, &[]), 0, "write zeroes");
    assert_eq!(first.call(3, 0, 0, 0, &[]), 0, "flush");
    assert_eq!(second.read(8_192, 4_096).unwrap(), [0; 4_096]);
    let half = second.read(16_384, 4_096).unwrap();
    assert!(half[..512] == [0; 512] && half[512..] == data[12_800..16_384]);
    // The longest requests, with a buffer that has to grow, and many small ones at once.
    let long: Vec<u8> = (0..MAX_PAYLOAD).map(|at| (at / 4_096) as u8).collect();
    assert_eq!(first.write(1 << 26, &long), 0);
    assert_eq!(second.read(1 << 26, long.len()).unwrap(), long);
    let many: Vec<u8> =
        (0..5_000u64).flat_map(|cookie| request(0, 0, cookie, cookie * 512, 512)).collect();
    let mut writer = first.stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || writer.write_all(&many).unwrap());
    let mut cookies: Vec<u64> = (0..5_000)
        .map(|_| {
            let (error, cookie) = first.reply();
            assert_eq!(error, 0);
            first.stream.read_exact(&mut [0; 512]).unwrap();
            cookie
        })
        .collect();
    sender.join().unwrap();
    cookies.sort_unstable();
    assert!(cookies.into_iter().eq(0..5_000));
    first.send(2, 0, 0, 0, &[]);
    assert!(first.is_closed());
    let served = server.end();
    assert_eq!((served.clients, served.rejected, served.errors), (2, 0, 0));
    assert_eq!((served.reads, served.writes, served.trims, served.flushes), (5_005, 3, 1, 1));
    assert_eq!(served.truth.host_bytes, 65_536 + u64::from(MAX_PAYLOAD) + 512);
    assert!(served.truth.nand_bytes() >= served.truth.host_bytes && served.energy_j > 0.0);
    assert_eq!(served.lateness.count(), 5_010);
    assert_eq!(served.latency.map(|latency| latency.count()), [5_005, 2]);
}

#[test]
fn without_kept_data_reads_return_zeros_and_full_memory_is_an_error_of_the_write() {
    let server = Running::start("tiny", None);
    let mut client = server.client();
    assert_eq!(client.write(0, &[1; 512]), 0);
    assert_eq!(client.read(0, 512).unwrap(), [0; 512]);
    let server = Running::start("tiny", Some(Bytes(100_000)));
    let mut client = server.client();
    assert_eq!(client.write(0, &[1; 65_536]), 0);
    assert_eq!(client.write(65_536, &[1; 65_536]), 28, "ENOSPC");
    assert_eq!(client.read(0, 65_536).unwrap(), [1; 65_536]);
}

#[test]
fn requests_outside_of_the_drive_or_its_blocks_are_answered_with_an_error() {
    let server = Running::start("tiny", Some(GIB));
    let mut client = server.client();
    for (command, flags, offset, length, error) in [
        (0, 0, CAPACITY, 512, 22),
        (0, 0, u64::MAX - 511, 512, 22),
        (0, 0, 0, 0, 22),
        (0, 0, 1, 512, 22),
        (0, 0, 0, 513, 22),
        (0, 0, 0, MAX_PAYLOAD + 512, 22),
        (0, 128, 0, 512, 22),
        (4, 0, CAPACITY, 512, 22),
        (6, 0, CAPACITY, 512, 28),
        (3, 4, 0, 0, 22),
        (5, 0, 0, 512, 22),
        (99, 0, 0, 512, 22),
        (7, 0, 0, 512, 22),
    ] {
        assert_eq!(client.call(command, flags, offset, length, &[]), error, "{command} {offset}");
    }
    assert_eq!(client.call(1, 0, CAPACITY, 512, &[1; 512]), 28, "a write beyond the end");
    assert_eq!(client.call(1, 64, 0, 512, &[1; 512]), 22, "a write with unknown flags");
    assert_eq!(client.read(0, 512).unwrap(), [0; 512], "and its data was taken from the stream");
    let served = server.end();
    assert_eq!((served.errors, served.reads, served.truth.host_bytes), (15, 1, 0));
}

#[test]
fn injected_faults_reach_the_client_and_no_reply_is_early() {
    let range = "tiny?fault.error_at=8192&fault.error_bytes=4096&fault.flush_fails=true";
    let server = Running::start(range, Some(GIB));
    let mut client = server.client();
    assert_eq!(client.write(4_096, &[9; 8_192]), 5, "EIO");
    assert_eq!(client.read(8_192, 512), Err(5));
    assert_eq!(client.read(4_096, 4_096).unwrap(), [0; 4_096], "nothing of it was stored");
    assert_eq!(client.call(3, 0, 0, 0, &[]), 5);
    assert_eq!(server.end().errors, 3);
    let server = Running::start("tiny?fault.drop_at_s=0", Some(GIB));
    let mut client = server.client();
    assert_eq!(client.write(0, &[9; 512]), 0, "acknowledged");
    assert_eq!(client.read(0, 512).unwrap(), [0; 512], "and dropped");
    let server = Running::start("tiny?fault.flip_at_s=0", Some(GIB));
    let mut client = server.client();
    assert_eq!(client.write(0, &[9; 8_192]), 0, "acknowledged");
    let read = client.read(0, 8_192).unwrap();
    let changed: Vec<u8> = read.into_iter().filter(|byte| *byte != 9).collect();
    assert_eq!(changed, [8], "one bit of one byte");
    // Nothing completes in the first 0.7 s of the drive, whose time begins after `begun`.
    let begun = Instant::now();
    let server = Running::start("tiny?fault.stall_at_s=0&fault.stall_for_s=0.7", None);
    server.client().read(0, 512).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(700), "{:?}", begun.elapsed());
}

#[test]
fn a_client_of_the_first_handshake_is_served_and_unknown_options_are_declined() {
    let server = Running::start("tiny", None);
    let mut client = Client { stream: server.greeted(3), cookie: 0 };
    for (number, data, expected) in [
        (5, &b""[..], 0x8000_0001),
        (11, b"", 0x8000_0001),
        (8, b"data", 0x8000_0003),
        (9, b"anything", 0x8000_0003),
        (4_000_000_000, b"", 0x8000_0001),
        (3, b"data", 0x8000_0003),
        (6, b"\0\0\0\x09tiny\0\0", 0x8000_0003),
        (7, b"\0\0\0\x05other\0\0", 0x8000_0006),
    ] {
        client.option(number, data);
        assert_eq!(client.option_reply(number).0, expected, "option {number}");
    }
    client.option(3, b"");
    assert_eq!(client.option_reply(3), (2, b"\0\0\0\x08sim:tiny".to_vec()));
    assert_eq!(client.option_reply(3).0, 1);
    client.option(1, b"");
    client.stream.read_exact(&mut [0; 10]).unwrap();
    client.read(0, 512).unwrap();
    // Without the flag for no zeros, 124 of them follow.
    let mut old = Client { stream: server.greeted(1), cookie: 0 };
    old.option(1, b"sim:tiny");
    old.stream.read_exact(&mut [0; 134]).unwrap();
    old.read(0, 512).unwrap();
    let mut leaving = Client { stream: server.greeted(3), cookie: 0 };
    leaving.option(2, b"");
    assert_eq!(leaving.option_reply(2).0, 1);
    assert!(leaving.is_closed());
    let served = server.end();
    assert_eq!((served.clients, served.rejected), (2, 0));
}

#[test]
fn the_map_of_a_drive_has_what_was_written_and_what_is_zero() {
    const DATA: u32 = 0;
    const ZERO: u32 = 2;
    const HOLE: u32 = 3;
    let server = Running::start("tiny", Some(GIB));
    let mut client = Client { stream: server.greeted(3), cookie: 0 };
    client.choose_allocation();
    assert_eq!(client.extents(0, 1 << 20, 0), [(1 << 20, HOLE)]);
    assert_eq!(client.write(64 << 10, &[7; 8 << 10]), 0);
    assert_eq!(client.write(128 << 10, &[0; 4 << 10]), 0);
    let map = [(65_536, HOLE), (8_192, DATA), (57_344, HOLE), (4_096, ZERO), (4_096, HOLE)];
    assert_eq!(client.extents(0, 139_264, 0), map);
    assert_eq!(client.extents(0, 139_264, 8), map[..1], "one extent was asked for");
    assert_eq!(client.extents(68 << 10, 8_192, 0), [(4_096, DATA), (4_096, HOLE)]);
    // The extents of half a block.
    assert_eq!(client.extents((72 << 10) - 512, 1_024, 0), [(512, DATA), (512, HOLE)]);
    // A trim makes a hole again, write-zeroes without one (bit 1) does not.
    assert_eq!(client.call(4, 0, 64 << 10, 4_096, &[]), 0);
    assert_eq!(client.call(6, 2, 68 << 10, 4_096, &[]), 0);
    assert_eq!(client.extents(64 << 10, 8_192, 0), [(4_096, HOLE), (4_096, ZERO)]);
    // A read has a structured reply, with its offset before its data; so has its error.
    client.send(0, 4, 64 << 10, 512, &[]);
    assert_eq!(client.structured(), (1, [&65_536u64.to_be_bytes()[..], &[0; 512]].concat()));
    client.send(0, 0, CAPACITY, 512, &[]);
    assert_eq!(client.structured(), ((1 << 15) + 1, [0, 0, 0, 22, 0, 0].to_vec()));
    for (offset, length, flags) in [(0, 0, 0), (1, 512, 0), (CAPACITY, 512, 0), (0, 512, 1)] {
        client.send(7, flags, offset, length, &[]);
        assert_eq!(client.structured().0, (1 << 15) + 1, "{offset} {length} {flags}");
    }
    // Without the context, the block status is an error.
    let mut other = server.client();
    assert_eq!(other.call(7, 0, 0, 512, &[]), 22);
    // Without contents, what was written is data all the same.
    let bare = Running::start("tiny", None);
    let mut client = Client { stream: bare.greeted(3), cookie: 0 };
    client.choose_allocation();
    assert_eq!(client.write(4_096, &[0; 4_096]), 0);
    assert_eq!(client.extents(0, 8_192, 0), [(4_096, HOLE), (4_096, DATA)]);
}

#[test]
fn metadata_contexts_are_listed_and_chosen_by_their_queries() {
    let server = Running::start("tiny", None);
    let mut client = Client { stream: server.greeted(3), cookie: 0 };
    let all = (4, b"\0\0\0\0base:allocation".to_vec());
    for names in [&[][..], &[&b"base:"[..]], &[b"x:y", b"base:allocation"]] {
        client.option(9, &queries(b"sim:tiny", names));
        assert_eq!(client.option_reply(9), all, "{names:?}");
        assert_eq!(client.option_reply(9).0, 1);
    }
    client.option(9, &queries(b"", &[b"qemu:"]));
    assert_eq!(client.option_reply(9).0, 1);
    let chosen = queries(b"", &[b"base:allocation"]);
    client.option(10, &chosen);
    assert_eq!(client.option_reply(10).0, 0x8000_0003, "without structured replies");
    client.option(8, b"");
    assert_eq!(client.option_reply(8).0, 1);
    for (data, expected) in [
        (queries(b"other", &[b"base:allocation"]), 0x8000_0006),
        (chosen[..chosen.len() - 1].to_vec(), 0x8000_0003),
        ([&chosen[..], &[0]].concat(), 0x8000_0003),
        (queries(b"", &[]), 1),
        // A namespace is no context.
        (queries(b"", &[b"base:"]), 1),
    ] {
        client.option(10, &data);
        assert_eq!(client.option_reply(10).0, expected, "{data:?}");
    }
    client.option(1, b"");
    client.stream.read_exact(&mut [0; 10]).unwrap();
    client.send(7, 0, 0, 512, &[]);
    assert_eq!(client.structured().0, (1 << 15) + 1, "no context was chosen");
}

#[test]
fn the_map_agrees_with_a_plain_one_after_random_commands() {
    let seed = 20_261_127;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let server = Running::start("tiny", Some(GIB));
    let mut client = Client { stream: server.greeted(3), cookie: 0 };
    client.choose_allocation();
    const BLOCKS: usize = 256;
    let mut plain = [3; BLOCKS];
    let turns = if std::env::var_os("SSDGAUGE_LONG").is_some() { 5_000 } else { 300 };
    for turn in 0..turns {
        let first = random.below(BLOCKS as u64) as usize;
        let count = 1 + random.below((BLOCKS - first).min(20) as u64) as usize;
        let (offset, length) = (first as u64 * 4_096, count as u32 * 4_096);
        let (state, error) = match random.below(4) {
            0 => (3, client.call(4, 0, offset, length, &[])),
            1 => (2, client.call(6, 2, offset, length, &[])),
            2 => (2, client.write(offset, &vec![0; length as usize])),
            _ => (0, client.write(offset, &vec![1; length as usize])),
        };
        assert_eq!(error, 0, "turn {turn}");
        plain[first..first + count].fill(state);
        if turn % 10 == 0 {
            let mut map = Vec::new();
            while map.len() < BLOCKS {
                let at = map.len() as u64 * 4_096;
                for (length, state) in client.extents(at, BLOCKS as u32 * 4_096 - at as u32, 0) {
                    map.resize(map.len() + length as usize / 4_096, state);
                }
            }
            assert_eq!(map, plain, "turn {turn}");
        }
    }
}

#[test]
fn connections_in_their_handshake_keep_no_client_out() {
    let server = Running::start("tiny", None);
    let mut kept = server.client();
    // More than there are places, all of them open: some silent, some within an option.
    let mut half_open: Vec<UnixStream> = Vec::new();
    for number in 0..3 * MAX_CLIENTS {
        let mut one = if number % 2 == 0 { server.connect() } else { server.greeted(3) };
        if number % 4 == 1 {
            let _ = one.write_all(OPTION);
        }
        half_open.push(one);
    }
    server.client().read(0, 512).unwrap();
    assert_eq!(server.next_event(), "MadeRoom");
    // Who has finished its handshake stays.
    kept.read(0, 512).unwrap();
    assert_eq!(server.end().clients, 2);
}

#[test]
fn clients_that_do_not_follow_the_protocol_are_disconnected_with_a_reason() {
    let server = Running::start("tiny", Some(GIB));
    let closes = |stream: UnixStream, reason: &str| {
        let mut client = Client { stream, cookie: 0 };
        assert!(client.is_closed(), "{reason}");
        let event = server.next_event();
        assert!(event.contains(reason), "{event}");
        // The others are served.
        server.client().read(0, 512).unwrap();
    };
    closes(server.greeted(0xffff_0000), "Flags");
    let mut http = server.connect();
    http.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    closes(http, "Flags");
    let mut no_option = server.greeted(3);
    no_option.write_all(b"IHAVENOT and more bytes").unwrap();
    closes(no_option, "NoOption");
    let mut huge = server.greeted(3);
    huge.write_all(&[OPTION, &7u32.to_be_bytes()[..], &u32::MAX.to_be_bytes()].concat()).unwrap();
    closes(huge, "TooLong");
    let mut flood = server.greeted(3);
    let option = [OPTION, &8u32.to_be_bytes()[..], &[0; 4]].concat();
    // The server closes the connection before it has read everything.
    let _ = flood.write_all(&option.repeat(10_000));
    closes(flood, "TooMany");
    let mut name = server.greeted(3);
    let option = [OPTION, &1u32.to_be_bytes()[..], &5u32.to_be_bytes(), b"other"].concat();
    name.write_all(&option).unwrap();
    closes(name, "UnknownExport");
    let mut client = server.client();
    client.stream.write_all(&[0xaa; 28]).unwrap();
    closes(client.stream, "NoRequest");
    let mut client = server.client();
    client.send(1, 0, 0, MAX_PAYLOAD + 512, &[]);
    closes(client.stream, "WriteTooLong");
    assert_eq!(server.end().rejected, 8);
}

#[test]
fn random_bytes_from_many_clients_end_no_server() {
    let seed = 20_261_123;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let server = Running::start("tiny", Some(GIB));
    let turns = if std::env::var_os("SSDGAUGE_LONG").is_some() { 20_000 } else { 300 };
    for turn in 0..turns {
        // One client at a time: each has left before the next one comes.
        let mut stream = match turn % 3 {
            0 => server.connect(),
            1 => server.greeted(3),
            _ => server.client().stream,
        };
        let mut bytes: Vec<u8> = (0..random.below(200)).map(|_| random.below(256) as u8).collect();
        match random.below(4) {
            0 => bytes.splice(..0, OPTION.iter().copied()).for_each(drop),
            1 => bytes.splice(..0, 0x2560_9513u32.to_be_bytes()).for_each(drop),
            _ => {}
        }
        // The server may have closed the connection already.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = io::copy(&mut stream, &mut io::sink());
    }
    server.client().read(0, 512).unwrap();
    assert!(server.end().clients > turns / 3);
}

#[test]
fn further_clients_are_declined_and_a_place_is_free_again_when_one_has_left() {
    let server = Running::start("tiny", None);
    let mut clients: Vec<Client> = (0..MAX_CLIENTS).map(|_| server.client()).collect();
    // Data that never comes keeps no other client waiting.
    clients[0].send(1, 0, 0, MAX_PAYLOAD, &[0; 100]);
    let mut one_more = Client { stream: server.connect(), cookie: 0 };
    assert!(one_more.is_closed());
    assert_eq!(server.next_event(), "TooManyClients");
    clients[1].read(0, 512).unwrap();
    let mut leaving = clients.pop().unwrap();
    leaving.send(2, 0, 0, 0, &[]);
    assert!(leaving.is_closed());
    let since = Instant::now();
    while server.connect().read(&mut [0; 18]).unwrap_or(0) == 0 {
        assert!(since.elapsed() < Duration::from_secs(60), "no place is free");
    }
    drop(clients);
    assert_eq!(server.end().clients, MAX_CLIENTS as u64);
}

#[test]
fn a_socket_that_exists_is_refused_and_the_own_one_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let listen = |path: &Path| {
        let drive = ServedDrive::new(VirtualRig::open("tiny", 1).unwrap());
        Server::listen(&Address::Unix(path.to_owned()), drive, None)
    };
    let file = folder.path().join("file");
    std::fs::write(&file, "text").unwrap();
    assert!(listen(&file).unwrap_err().to_string().contains("exists already"));
    assert_eq!(std::fs::read(&file).unwrap(), b"text");
    let path = folder.path().join("a socket");
    let server = listen(&path).unwrap();
    assert!(server.uri().ends_with("/a%20socket"), "{}", server.uri());
    assert!(listen(&path).is_err());
    assert!(path.exists());
    drop(server);
    assert!(!path.exists());
    let server = listen(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "of another program").unwrap();
    drop(server);
    assert!(path.exists());
}

#[test]
fn only_addresses_of_this_machine_are_accepted() {
    for (text, is_accepted) in [
        ("unix:/tmp/a", true),
        ("unix:", false),
        ("127.0.0.1:10809", true),
        ("localhost:0", true),
        ("[::1]:10809", true),
        ("0.0.0.0:10809", false),
        ("[::]:10809", false),
        ("192.168.1.1:10809", false),
        ("10809", false),
        ("127.0.0.1", false),
        ("127.0.0.1:99999", false),
        ("", false),
    ] {
        assert_eq!(text.parse::<Address>().is_ok(), is_accepted, "{text}");
    }
}
