//! An NVMe drive for servers behind TCP, whose counters the test knows: the kernel of a virtual machine
//! connects to it as to any NVMe over Fabrics subsystem. QEMU has no drive with the logs of vendors.
//!
//! NVMe over TCP: NVM Express TCP Transport Specification 1.0; commands: NVM Express Base Specification
//! 2.0. One namespace of 512-byte blocks, writes within the capsule, no digests.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The bytes of the namespace.
pub(crate) const CAPACITY: usize = 128 << 20;
/// The largest transfer: 4 KiB << MDTS.
const MDTS: u8 = 4;
const MAX_TRANSFER: usize = 4_096 << MDTS;
/// What the counters show before the first write: a drive in use.
const UNITS: u64 = 2_000_001;
const MEDIA: u128 = 3_000_000_000_001;
/// The GUID of the OCP log, as a number.
const OCP_GUID: u128 = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5;

/// The status "invalid field in command", with the bit "do not retry", as in a completion.
const INVALID: u16 = 0x4002 << 1;

/// A drive of one NQN.
struct Drive {
    data: Mutex<Vec<u8>>,
    /// The bytes that hosts wrote.
    written: AtomicU64,
    /// How often the drive counts each byte of hosts: 2 for a counter that is wrong.
    counts: u64,
}

/// The media bytes of each byte of hosts.
const AMPLIFICATION: u64 = 3;

/// Serves drives on a free port of this machine until the process ends; returns the port. The drive
/// `nqn.2026-01.test:honest` counts what hosts write, `nqn.2026-01.test:doubles` counts it twice.
pub(crate) fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let drive = |counts| {
        let (data, written) = (Mutex::new(vec![0; CAPACITY]), AtomicU64::new(0));
        Arc::new(Drive { data, written, counts })
    };
    let drives = [("honest", drive(1)), ("doubles", drive(2))];
    let drives: Arc<BTreeMap<_, _>> = Arc::new(drives.into_iter().collect());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let drives = Arc::clone(&drives);
            // A connection ends with the machine.
            std::thread::spawn(move || connection(stream, &drives));
        }
    });
    port
}

/// One queue: a connection, with the drive that its connect command named.
struct Queue {
    stream: TcpStream,
    drive: Option<(Arc<Drive>, String)>,
    is_admin: bool,
    /// The register CC.
    configuration: u32,
}

fn connection(mut stream: TcpStream, drives: &BTreeMap<&str, Arc<Drive>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    // Initialize connection: the answer has the same length, and the largest data of one transfer.
    let mut request = [0; 128];
    stream.read_exact(&mut request)?;
    let mut answer = [0u8; 128];
    answer[..8].copy_from_slice(&[1, 0, 128, 0, 128, 0, 0, 0]);
    answer[12..16].copy_from_slice(&(MAX_TRANSFER as u32).to_le_bytes());
    stream.write_all(&answer)?;
    let mut queue = Queue { stream, drive: None, is_admin: true, configuration: 0 };
    loop {
        let mut header = [0; 8];
        queue.stream.read_exact(&mut header)?;
        let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
        if header[0] != 4 || !(72..=72 + MAX_TRANSFER + 64).contains(&length) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut rest = vec![0; length - 8];
        queue.stream.read_exact(&mut rest)?;
        let (command, data) = rest.split_at(64);
        let data = data.get((usize::from(header[3]).max(72)) - 72..).unwrap_or_default();
        queue.answer(command.try_into().unwrap(), data, drives)?;
    }
}

fn word(command: &[u8; 64], at: usize) -> u32 {
    u32::from_le_bytes(command[at..at + 4].try_into().unwrap())
}

/// The result of a command: data, two words and a status.
type Completion = (Vec<u8>, u64, u16);

fn done(result: u64) -> Option<Completion> {
    Some((Vec::new(), result, 0))
}

impl Queue {
    fn answer(
        &mut self,
        command: &[u8; 64],
        data: &[u8],
        drives: &BTreeMap<&str, Arc<Drive>>,
    ) -> io::Result<()> {
        let completion = match (command[0], self.is_admin) {
            (0x7f, _) => self.fabrics(command, data, drives),
            (_, true) => self.admin(command),
            (_, false) => self.transfer(command, data),
        };
        let Some((data, result, status)) = completion else { return Ok(()) };
        let id = &command[2..4];
        let asked = word(command, 32) as usize;
        if status == 0 && !data.is_empty() {
            let data = &data[..data.len().min(asked)];
            let mut header = [0u8; 24];
            // The last data of this command.
            header[..4].copy_from_slice(&[7, 4, 24, 24]);
            header[4..8].copy_from_slice(&(24 + data.len() as u32).to_le_bytes());
            header[8..10].copy_from_slice(id);
            header[16..20].copy_from_slice(&(data.len() as u32).to_le_bytes());
            self.stream.write_all(&[&header, data].concat())?;
        }
        let mut answer = [0u8; 24];
        answer[..5].copy_from_slice(&[5, 0, 24, 0, 24]);
        answer[8..16].copy_from_slice(&result.to_le_bytes());
        answer[20..22].copy_from_slice(id);
        answer[22..].copy_from_slice(&status.to_le_bytes());
        self.stream.write_all(&answer)
    }

    /// Answers connect and the access to registers.
    fn fabrics(
        &mut self,
        command: &[u8; 64],
        data: &[u8],
        drives: &BTreeMap<&str, Arc<Drive>>,
    ) -> Option<Completion> {
        let register = word(command, 44);
        match command[4] {
            // Property set: CC.
            0 => {
                if register == 0x14 {
                    self.configuration = word(command, 48);
                }
                done(0)
            }
            // Connect: the queue number, and the NQN in the data.
            1 => {
                let nqn = data.get(256..512)?;
                let nqn = String::from_utf8_lossy(nqn).trim_end_matches('\0').to_owned();
                let drive = drives.get(nqn.rsplit(':').next()?)?;
                self.drive = Some((Arc::clone(drive), nqn));
                self.is_admin = command[42] == 0;
                done(1)
            }
            // Property get: CAP (128 entries, contiguous queues, 10 s, NVM commands), VS, CC, CSTS.
            4 => done(match register {
                0 => 127 | 1 << 16 | 20 << 24 | 1 << 37,
                8 => 0x1_0300,
                0x14 => self.configuration.into(),
                0x1c => {
                    let is_shut_down = self.configuration >> 14 & 3 != 0;
                    u64::from(self.configuration & 1) | if is_shut_down { 2 << 2 } else { 0 }
                }
                _ => 0,
            }),
            _ => Some((Vec::new(), 0, INVALID)),
        }
    }

    /// Answers an admin command; an asynchronous event request stays open.
    fn admin(&mut self, command: &[u8; 64]) -> Option<Completion> {
        let (drive, nqn) = self.drive.as_ref()?;
        let first = word(command, 40);
        let data = match command[0] {
            0x02 => match first as u8 {
                0x02 => drive.smart(),
                0xc0 => drive.ocp_log(),
                0x01 => vec![0; 4_096],
                _ => return Some((Vec::new(), 0, INVALID)),
            },
            0x06 => match first as u8 {
                0 => namespace(),
                1 => controller(nqn),
                2 => {
                    let mut list = vec![0; 4_096];
                    list[0] = 1;
                    list
                }
                3 => {
                    let mut list = vec![0; 4_096];
                    list[..2].copy_from_slice(&[2, 16]);
                    list[4..20].copy_from_slice(&identifier(nqn));
                    list
                }
                _ => return Some((Vec::new(), 0, INVALID)),
            },
            0x0c => return None,
            // Set features: one queue of requests; everything else is accepted.
            0x09 | 0x18 => return done(0),
            0x0a if first as u8 == 7 => return done(0),
            _ => return Some((Vec::new(), 0, INVALID)),
        };
        Some((data, 0, 0))
    }

    /// Reads or writes blocks of 512 bytes.
    fn transfer(&mut self, command: &[u8; 64], data: &[u8]) -> Option<Completion> {
        let (drive, _) = self.drive.as_ref()?;
        let block = u64::from(word(command, 40)) | u64::from(word(command, 44)) << 32;
        let begin = usize::try_from(block).ok()?.checked_mul(512)?;
        let length = (word(command, 48) as usize & 0xffff) * 512 + 512;
        let end = begin.checked_add(length).filter(|end| *end <= CAPACITY);
        let mut blocks = drive.data.lock().unwrap();
        match (command[0], end) {
            (0, _) => done(0),
            (1, Some(end)) if data.len() == length => {
                blocks[begin..end].copy_from_slice(data);
                drive.written.fetch_add(length as u64, Ordering::Relaxed);
                done(0)
            }
            (2, Some(end)) => Some((blocks[begin..end].to_vec(), 0, 0)),
            _ => Some((Vec::new(), 0, INVALID)),
        }
    }
}

impl Drive {
    fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    fn smart(&self) -> Vec<u8> {
        let mut log = vec![0; 512];
        log[1..3].copy_from_slice(&310u16.to_le_bytes());
        log[3..6].copy_from_slice(&[100, 10, 3]);
        let units = UNITS + (self.written() * self.counts).div_ceil(512_000);
        log[48..64].copy_from_slice(&u128::from(units).to_le_bytes());
        log
    }

    fn ocp_log(&self) -> Vec<u8> {
        let mut log = vec![0; 512];
        let media = MEDIA + u128::from(self.written() * AMPLIFICATION);
        log[..16].copy_from_slice(&media.to_le_bytes());
        log[496..].copy_from_slice(&OCP_GUID.to_le_bytes());
        log
    }
}

/// Returns a globally unique identifier of the drive `nqn`.
fn identifier(nqn: &str) -> [u8; 16] {
    let mut identifier = [7; 16];
    let name = nqn.rsplit(':').next().unwrap().bytes();
    identifier.iter_mut().zip(name).for_each(|(to, from)| *to = from);
    identifier
}

fn namespace() -> Vec<u8> {
    let mut data = vec![0; 4_096];
    for at in [0, 8, 16] {
        data[at..at + 8].copy_from_slice(&(CAPACITY as u64 / 512).to_le_bytes());
    }
    data[128..132].copy_from_slice(&(9u32 << 16).to_le_bytes());
    data
}

/// Identify Controller: a maker of drives with the OCP log, no volatile cache, no list of logs.
fn controller(nqn: &str) -> Vec<u8> {
    let mut data = vec![0u8; 4_096];
    let mut put = |at: usize, bytes: &[u8]| data[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &0x144du16.to_le_bytes());
    put(2, &0x144du16.to_le_bytes());
    let serial = nqn.rsplit(':').next().unwrap().to_uppercase();
    put(4, format!("{serial:<20}").as_bytes());
    put(24, format!("{:<40}", "Test drive with counters").as_bytes());
    put(64, b"1.0     ");
    put(77, &[MDTS]);
    put(78, &1u16.to_le_bytes());
    put(80, &0x1_0300u32.to_le_bytes());
    put(111, &[1]);
    put(259, &[3]);
    // Keep alive in units of 100 ms, entries of 64 and 16 bytes, 128 commands, one namespace.
    put(320, &10u16.to_le_bytes());
    put(512, &[0x66, 0x44]);
    put(514, &128u16.to_le_bytes());
    put(516, &1u32.to_le_bytes());
    // Scatter gather lists, with offsets into the capsule.
    put(536, &(1u32 | 1 << 20).to_le_bytes());
    put(768, nqn.as_bytes());
    // The lengths of capsules in units of 16 bytes: a command with its data, and a completion.
    put(1_792, &((64 + MAX_TRANSFER as u32) / 16).to_le_bytes());
    put(1_796, &1u32.to_le_bytes());
    put(1_803, &[1]);
    data
}
