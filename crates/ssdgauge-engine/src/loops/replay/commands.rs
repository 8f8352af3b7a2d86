//! The flushes and trims of a replay: system calls that wait, on threads of their own, so that the loop
//! goes on with the transfers.

use crate::load::Device;
use crate::loops::synchronous;
use ssdgauge_core::Request;
use ssdgauge_os::clock::Clock;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// The maximum number of flushes and trims that wait in the kernel at a time; further ones wait for a thread. Chosen:
/// a file system sends few of them at once.
const THREADS: usize = 8;

/// The threads of the flushes and trims of a replay. They end with it; one that waits for a drive that
/// does not respond is left behind.
pub(crate) struct Commands {
    sender: Sender<Command>,
    finished: Receiver<Finished>,
}

/// A flush, or a trim of `length` bytes.
struct Command {
    slot: u16,
    request: Request,
    length: u64,
}

/// A flush or a trim that has completed.
pub(crate) struct Finished {
    pub(crate) slot: u16,
    /// The time of its completion, in ticks.
    pub(crate) end: u64,
    /// The number of the error, where it failed.
    pub(crate) result: Result<(), i32>,
}

impl Commands {
    /// Starts the threads.
    pub(crate) fn start(device: &Device, clock: Clock) -> io::Result<Commands> {
        let (sender, commands) = channel::<Command>();
        let (results, finished) = channel();
        let commands = Arc::new(Mutex::new(commands));
        let is_block = device.is_block();
        for _ in 0..THREADS {
            let (device, commands, results) = (device.clone(), commands.clone(), results.clone());
            let body = move || {
                loop {
                    // A thread holds the lock while it waits for a command, and not while it sends one.
                    let next = commands.lock().ok().and_then(|queue| queue.recv().ok());
                    let Some(Command { slot, request, length }) = next else { return };
                    let result = synchronous::send(&device, request, length, is_block);
                    let end = clock.now();
                    let result = result.map_err(|error| error.raw_os_error().unwrap_or(0));
                    if results.send(Finished { slot, end, result }).is_err() {
                        return;
                    }
                }
            };
            std::thread::Builder::new().name("ssdgauge-command".into()).spawn(body)?;
        }
        Ok(Commands { sender, finished })
    }

    /// Passes a flush, or a trim of `length` bytes, to a thread.
    pub(crate) fn send(&self, slot: u16, request: Request, length: u64) {
        let sent = self.sender.send(Command { slot, request, length });
        assert!(sent.is_ok(), "the threads live as long as this");
    }

    /// Returns what has completed since the last call.
    pub(crate) fn finished(&self) -> Vec<Finished> {
        self.finished.try_iter().collect()
    }
}
