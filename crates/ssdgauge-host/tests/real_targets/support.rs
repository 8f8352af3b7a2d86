//! Real targets for tests: scratch folders and loop devices.

use ssdgauge_core::{Access, Arrival, Bytes, Data, Engine, Nanos, Stream, Until, Workload};
use ssdgauge_guard::{Candidate, TargetError, TargetOptions};
use ssdgauge_host::LinuxRig;
use std::path::Path;
use std::process::Command;

/// Opens `candidate` with the confirmation `confirm`. A machine may hide processes from the tests,
/// which is accepted.
pub(crate) fn open(
    candidate: Candidate,
    confirm: Option<&str>,
    seed: u64,
) -> Result<LinuxRig, TargetError> {
    let options = TargetOptions { confirm, confined: confirm, ..TargetOptions::default() };
    LinuxRig::open_with(candidate, &options, seed)
}

/// A random 4 KiB workload on the first `span` bytes.
pub(crate) fn random(engine: Engine, read_percent: u8, depth: u32, span: Bytes) -> Workload {
    let (queue_depth, threads) = match engine {
        Engine::IoUring => (depth, 1),
        Engine::Synchronous => (1, depth),
    };
    let stream = Stream {
        name: "main".into(),
        access: Access::Random,
        block_size: Bytes(4_096),
        read_percent,
        queue_depth,
        threads,
        offset: Bytes(0),
        span,
        arrival: Arrival::Closed,
        data: Data::Incompressible,
        sync: false,
        ..Stream::default()
    };
    Workload { engine, streams: vec![stream] }
}

pub(crate) fn for_millis(millis: u64) -> Until {
    Until { time: Some(Nanos(millis * 1_000_000)), bytes: None }
}

pub(crate) fn for_bytes(bytes: u64) -> Until {
    Until { time: Some(Nanos::from_secs(60)), bytes: Some(Bytes(bytes)) }
}

/// A loop device over a file, detached when it is dropped.
#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) path: String,
    size: u64,
    /// The number of a device that the kernel made for the test.
    made: Option<u32>,
    _folder: tempfile::TempDir,
}

impl Loop {
    /// Attaches a loop device of `size` bytes, or prints why that is not possible.
    pub(crate) fn attach(size: u64) -> Option<Loop> {
        Loop::attach_to(tempfile::tempdir().unwrap(), size)
    }

    /// Attaches a loop device over memory, whose latency does not depend on a disk.
    pub(crate) fn in_memory(size: u64) -> Option<Loop> {
        match tempfile::tempdir_in("/dev/shm") {
            Ok(folder) => Loop::attach_to(folder, size),
            Err(error) => {
                println!("skipped: no memory file system at /dev/shm ({error})");
                None
            }
        }
    }

    /// Attaches a device that no other test takes while it is detached: they use the lowest free one.
    pub(crate) fn attach_apart(size: u64) -> Option<Loop> {
        let number = 200 + std::process::id() % 800;
        let path = format!("/dev/loop{number}");
        let mut device = Loop::attach_as(tempfile::tempdir().unwrap(), size, &[&path])?;
        device.made = Some(number);
        Some(device)
    }

    fn attach_to(folder: tempfile::TempDir, size: u64) -> Option<Loop> {
        Loop::attach_as(folder, size, &["--show", "-f"])
    }

    fn attach_as(folder: tempfile::TempDir, size: u64, which: &[&str]) -> Option<Loop> {
        let image = folder.path().join("image");
        std::fs::File::create(&image).unwrap().set_len(size).unwrap();
        let mut losetup = Command::new("losetup");
        let output = losetup.arg("--direct-io=on").args(which).arg(&image).output();
        match output {
            Ok(output) if output.status.success() => {
                let shown = String::from_utf8(output.stdout).unwrap().trim().to_owned();
                let path = if shown.is_empty() { which[0].to_owned() } else { shown };
                // A killed test may have left the read-only flag on this device.
                let _ = Command::new("blockdev").args(["--setrw", &path]).status();
                Some(Loop { path, size, made: None, _folder: folder })
            }
            other => {
                println!("skipped: no loop device ({other:?})");
                None
            }
        }
    }

    /// Returns a rig that may write to all of it.
    pub(crate) fn rig(&self) -> LinuxRig {
        let candidate = Candidate::find(&self.path).unwrap();
        open(candidate, Some(&self.confirmation(self.size)), 3).unwrap()
    }

    /// Returns the name in /sys/block.
    pub(crate) fn name(&self) -> &str {
        self.path.strip_prefix("/dev/").unwrap()
    }

    /// Returns its confirmation.
    pub(crate) fn confirmation(&self, size: u64) -> String {
        format!("{}:{size}", self.name())
    }

    /// Returns the kernel's count of completed reads and writes, merged ones included.
    pub(crate) fn kernel_counts(&self) -> [u64; 2] {
        let text = std::fs::read_to_string(format!("/sys/block/{}/stat", self.name())).unwrap();
        let fields: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
        [fields[0] + fields[1], fields[4] + fields[5]]
    }

    /// Returns how many requests the kernel has merged with others.
    pub(crate) fn merges(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/sys/block/{}/stat", self.name())).unwrap();
        let fields: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
        fields[1] + fields[5]
    }

    /// Limits the device to `bytes`: requests beyond fail, all others succeed.
    pub(crate) fn limit(&self, bytes: u64) {
        const LOOP_SET_STATUS64: libc::c_ulong = 0x4c04;
        const LOOP_GET_STATUS64: libc::c_ulong = 0x4c05;
        /// The offset of `lo_sizelimit` in the 232 bytes of `struct loop_info64`.
        const SIZE_LIMIT: usize = 32;
        let file = std::fs::File::open(&self.path).unwrap();
        let mut status = [0u8; 232];
        let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
        // SAFETY: both calls take a pointer to 232 bytes, which live as long as the call.
        unsafe {
            assert_eq!(libc::ioctl(fd, LOOP_GET_STATUS64, status.as_mut_ptr()), 0);
            status[SIZE_LIMIT..SIZE_LIMIT + 8].copy_from_slice(&bytes.to_ne_bytes());
            assert_eq!(libc::ioctl(fd, LOOP_SET_STATUS64, status.as_ptr()), 0);
        }
    }

    pub(crate) fn image(&self) -> std::path::PathBuf {
        self._folder.path().join("image")
    }

    /// Returns the file that is attached at present, which may be that of another test.
    pub(crate) fn backing(&self) -> Option<std::path::PathBuf> {
        let file = format!("/sys/block/{}/loop/backing_file", self.name());
        Some(std::fs::read_to_string(file).ok()?.trim().into())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if self.backing().is_some_and(|file| file == self.image()) {
            let _ = Command::new("losetup").args(["-d", &self.path]).status();
        }
        const LOOP_CTL_REMOVE: libc::c_ulong = 0x4c81;
        if let (Some(number), Ok(control)) = (self.made, std::fs::File::open("/dev/loop-control")) {
            let fd = std::os::fd::AsRawFd::as_raw_fd(&control);
            // SAFETY: the call takes a number. A device that is still in use remains.
            unsafe { libc::ioctl(fd, LOOP_CTL_REMOVE, number) };
        }
    }
}

pub(crate) fn has_program(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| Path::new(&folder).join(name).is_file())
}
