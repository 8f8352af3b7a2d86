//! A file system in user space (FUSE) whose files stop answering on request, and loop devices over
//! them: drives that do not complete any request.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;

/// The size of each file in bytes.
pub(crate) const SIZE: usize = 16 << 20;
/// O_NONBLOCK of open(2).
const O_NONBLOCK: i32 = 0o4000;
/// The longest request: a write of 128 KiB with its header.
const LONGEST_REQUEST: usize = (128 << 10) + 4_096;

/// Loop devices over the files of a file system in user space.
pub(crate) struct Drives {
    /// The nodes.
    pub(crate) paths: Vec<String>,
    state: Arc<State>,
    server: Option<JoinHandle<()>>,
    /// The folder in which their files are: a file system that does not answer either.
    pub(crate) point: PathBuf,
    _folder: TempDir,
}

#[derive(Default)]
struct State {
    silent: AtomicBool,
    ended: AtomicBool,
}

impl Drives {
    /// Attaches `count` drives; prints why where that is not possible.
    pub(crate) fn attach(count: usize) -> Option<Drives> {
        Drives::attach_sized(count, SIZE)
    }

    /// Attaches `count` drives of `size` bytes, of which only what is written takes memory.
    pub(crate) fn attach_sized(count: usize, size: usize) -> Option<Drives> {
        let folder = tempfile::tempdir().unwrap();
        let point = folder.path().join("mounted");
        std::fs::create_dir(&point).unwrap();
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).custom_flags(O_NONBLOCK);
        let device = match options.open("/dev/fuse") {
            Ok(device) => device,
            Err(error) => {
                println!("skipped: no /dev/fuse ({error})");
                return None;
            }
        };
        let mounted = Command::new("mount")
            .args(["-i", "-t", "fuse", "-o", "fd=0,rootmode=40000,user_id=0,group_id=0"])
            .arg("silent")
            .arg(&point)
            .stdin(Stdio::from(device.try_clone().unwrap()))
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            println!("skipped: a file system in user space cannot be mounted");
            return None;
        }
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let server =
            std::thread::spawn(move || serve(device, &shared, vec![vec![0u8; size]; count]));
        let server = Some(server);
        let mut drives = Drives { paths: Vec::new(), state, server, point, _folder: folder };
        for number in 0..count {
            let image = drives.point.join(number.to_string());
            let output = Command::new("losetup").args(["--show", "-f"]).arg(image).output();
            let Some(output) = output.ok().filter(|output| output.status.success()) else {
                println!("skipped: no loop device over a file system in user space");
                return None;
            };
            drives.paths.push(String::from_utf8(output.stdout).unwrap().trim().to_owned());
        }
        Some(drives)
    }

    /// Stops all answers, or continues with them.
    pub(crate) fn set_silent(&self, silent: bool) {
        self.state.silent.store(silent, Ordering::SeqCst);
    }
}

impl Drop for Drives {
    fn drop(&mut self) {
        // The end of the server aborts every request: the loop devices can be detached.
        self.state.ended.store(true, Ordering::SeqCst);
        let _ = self.server.take().map(JoinHandle::join);
        for path in &self.paths {
            let _ = Command::new("losetup").args(["-d", path]).status();
        }
        let _ = Command::new("umount").arg("-l").arg(&self.point).status();
    }
}

/// Answers the requests of the kernel (linux/fuse.h, protocol 7.31) until the end.
fn serve(mut device: File, state: &State, mut files: Vec<Vec<u8>>) {
    let mut request = vec![0; LONGEST_REQUEST];
    while !state.ended.load(Ordering::SeqCst) {
        let is_silent = state.silent.load(Ordering::SeqCst);
        let Some(length) = (!is_silent).then(|| device.read(&mut request).ok()).flatten() else {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        if let Some((status, body)) = answer(&request[..length], &mut files) {
            let mut reply = Vec::new();
            reply.extend((16 + body.len() as u32).to_le_bytes());
            reply.extend(status.to_le_bytes());
            reply.extend(&request[8..16]);
            reply.extend(body);
            // Fails for a request that was interrupted meanwhile.
            let _ = device.write(&reply);
        }
    }
}

/// Returns the error number and the body of a reply; `None` for a request without one.
fn answer(request: &[u8], files: &mut [Vec<u8>]) -> Option<(i32, Vec<u8>)> {
    const NO_ENTRY: i32 = -2;
    const NO_CALL: i32 = -38;
    let number = |at: usize| u32::from_le_bytes(request[at..at + 4].try_into().unwrap());
    let long = |at: usize| u64::from_le_bytes(request[at..at + 8].try_into().unwrap());
    let node = long(16);
    let file = (node as usize).checked_sub(2);
    Some(match number(4) {
        // LOOKUP: the name of a file is its number.
        1 => match std::str::from_utf8(&request[40..request.len() - 1]).unwrap().parse::<u64>() {
            Ok(name) if (name as usize) < files.len() => {
                let entry =
                    [words(&[name + 2, 0, 1, 0, 0]), attributes(name + 2, files[0].len())].concat();
                (0, entry)
            }
            Ok(_) | Err(_) => (NO_ENTRY, Vec::new()),
        },
        // GETATTR, SETATTR: valid for 0 s, so that the kernel asks again.
        3 | 4 => (0, [words(&[0, 0]), attributes(node, files[0].len())].concat()),
        // OPEN, OPENDIR.
        14 | 27 => (0, words(&[0, 0])),
        // READ.
        15 => {
            let (from, length) = (long(48) as usize, number(56) as usize);
            let file = &files[file?];
            let to = (from + length).min(file.len());
            (0, file[from.min(to)..to].to_vec())
        }
        // WRITE.
        16 => {
            let (from, length) = (long(48) as usize, number(56) as usize);
            files[file?][from..from + length].copy_from_slice(&request[80..80 + length]);
            (0, words(&[length as u64]))
        }
        // STATFS.
        17 => (0, vec![0; 80]),
        // RELEASE, FSYNC, FLUSH, RELEASEDIR.
        18 | 20 | 25 | 29 => (0, Vec::new()),
        // INIT: version, then read-ahead, flags, queue lengths, and writes of 128 KiB.
        26 => {
            let head = [7, 31, 128 << 10, 0, 0, 128 << 10, 1, 0];
            let mut body: Vec<u8> = head.into_iter().flat_map(u32::to_le_bytes).collect();
            body.resize(64, 0);
            (0, body)
        }
        // FORGET, INTERRUPT, DESTROY, BATCH_FORGET.
        2 | 36 | 38 | 42 => return None,
        _ => (NO_CALL, Vec::new()),
    })
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns `struct fuse_attr` of the root (node 1) or a file.
fn attributes(node: u64, size: usize) -> Vec<u8> {
    let (mode, size) = if node == 1 { (0o40755, 0) } else { (0o100_600, size as u64) };
    let tail: [u32; 10] = [0, 0, 0, mode, 1, 0, 0, 0, 4_096, 0];
    let tail = tail.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    [words(&[node, size, size / 512, 0, 0, 0]), tail].concat()
}
