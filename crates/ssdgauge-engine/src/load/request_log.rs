//! The log of single requests: I/O threads fill buffers and another thread writes them.
//!
//! An I/O thread never waits for the log. If no empty buffer has come back in time, records are
//! lost and counted, and a finding reports the number. Logging costs 8 ns and 16 bytes per request
//! (docs/contributing/performance.md).

use ssdgauge_core::io_log::{Frame, FrameKind, MAX_APART, Record, Version};
use ssdgauge_core::{Request, Stream, Workload};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// The records of a buffer: half a MiB. Eight buffers last for an eighth of a second at two million
/// requests per second, longer than a writer on the same processor usually waits for it.
const RECORDS: usize = 32 << 10;
/// The buffers of a thread: it fills one, and the writer has the others.
const BUFFERS: usize = 8;

/// A log file and the thread that writes it.
#[derive(Debug)]
pub struct Log {
    sender: Sender<LogMessage>,
    writer: Option<JoinHandle<()>>,
    outcomes: Receiver<LogOutcome>,
    /// The number of the current load.
    load: u32,
}

/// The outcome of a load in the log.
#[derive(Debug, Default)]
pub(crate) struct LogOutcome {
    /// Records that were lost because the writer was too slow.
    pub(crate) lost: u64,
    /// Why the file is not complete.
    pub(crate) failure: Option<String>,
}

/// A message to the writer.
#[derive(Debug)]
enum LogMessage {
    /// A load begins.
    Load(Frame, String),
    /// Records of one thread, and the channel that returns the buffer to it.
    Records(Frame, Vec<[u64; 2]>, SyncSender<Vec<[u64; 2]>>),
    /// A load has ended; all its records were sent before.
    End(Frame),
    /// The end of the log. Needed because a thread that hangs in the kernel keeps its sender.
    Close,
}

impl Log {
    /// Creates the file `path`, which must not exist, and starts its writer.
    ///
    /// # Errors
    /// The error of the kernel: the file exists, or cannot be created or written.
    pub fn create(path: &Path) -> io::Result<Log> {
        let mut file = ssdgauge_os::outputs::create_file(path, 0o600)?;
        file.write_all(&Version::Two.magic())?;
        let (sender, messages) = channel();
        let (outcome, outcomes) = channel();
        let writer = std::thread::Builder::new()
            .name("ssdgauge-log".into())
            .spawn(move || write(file, &messages, &outcome))?;
        Ok(Log { sender, writer: Some(writer), outcomes, load: 0 })
    }

    /// Begins the log of the next load.
    pub(crate) fn begin(&mut self, workload: &Workload) {
        self.load += 1;
        let text = serde_json::to_string(workload).expect("workloads always serialise");
        let count = text.len() as u32;
        self.send(LogMessage::Load(Frame { count, ..self.frame(FrameKind::Load) }, text));
    }

    /// Returns the part of the log that one I/O thread fills.
    pub(crate) fn thread(&self, number: u16, thread: u16, stream: &Stream) -> ThreadLog {
        let sender = self.sender.clone();
        let (returns, empty) = sync_channel(BUFFERS);
        // One less: the thread begins with the other one.
        for _ in 1..BUFFERS {
            let _ = returns.send(Vec::with_capacity(RECORDS));
        }
        ThreadLog {
            frame: Frame {
                stream: number,
                thread,
                block_size: stream.block_size.0 as u32,
                ..self.frame(FrameKind::Records)
            },
            sizes: stream.sizes.lengths(),
            records: Some(Vec::with_capacity(RECORDS)),
            sender,
            returns,
            empty,
        }
    }

    /// Ends the log of a load whose threads have ended, and waits until it is written.
    pub(crate) fn end(&mut self, lost: u64) -> LogOutcome {
        self.send(LogMessage::End(Frame { lost, ..self.frame(FrameKind::End) }));
        let gone = || LogOutcome { lost: 0, failure: Some("its writer has ended".into()) };
        LogOutcome { lost, ..self.outcomes.recv().unwrap_or_else(|_| gone()) }
    }

    fn frame(&self, kind: FrameKind) -> Frame {
        let load = self.load;
        Frame { kind, load, stream: 0, thread: 0, block_size: 0, base: 0, lost: 0, count: 0 }
    }

    fn send(&self, message: LogMessage) {
        // A writer that has ended is reported by `end`.
        let _ = self.sender.send(message);
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.send(LogMessage::Close);
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Writes what arrives. After a failure it still receives and returns buffers, so that the I/O
/// threads lose no records that the outcome does not report.
fn write(mut file: File, messages: &Receiver<LogMessage>, outcome: &Sender<LogOutcome>) {
    let mut failure: Option<String> = None;
    let mut bytes = Vec::new();
    while let Ok(message) = messages.recv() {
        bytes.clear();
        let mut ended = false;
        match message {
            LogMessage::Load(frame, text) => {
                bytes.extend_from_slice(&frame.pack());
                bytes.extend_from_slice(text.as_bytes());
            }
            LogMessage::Records(frame, mut records, returns) => {
                bytes.extend_from_slice(&frame.pack());
                for word in records.iter().flatten() {
                    bytes.extend_from_slice(&word.to_le_bytes());
                }
                records.clear();
                // The thread may have ended in the meantime.
                let _ = returns.try_send(records);
            }
            LogMessage::End(frame) => {
                bytes.extend_from_slice(&frame.pack());
                ended = true;
            }
            LogMessage::Close => return,
        }
        if failure.is_none() {
            failure = file.write_all(&bytes).err().map(|error| error.to_string());
        }
        if ended {
            let _ = outcome.send(LogOutcome { lost: 0, failure: failure.clone() });
        }
    }
}

/// The part of the log that one I/O thread fills.
#[derive(Debug)]
pub(crate) struct ThreadLog {
    /// The header of the current buffer; `lost` counts over all of them.
    frame: Frame,
    /// The lengths of requests, where the stream has several.
    sizes: Vec<u32>,
    /// `None` while the writer has all buffers.
    records: Option<Vec<[u64; 2]>>,
    sender: Sender<LogMessage>,
    returns: SyncSender<Vec<[u64; 2]>>,
    empty: Receiver<Vec<[u64; 2]>>,
}

impl ThreadLog {
    /// Logs a request that completed `end` nanoseconds after the start of the load.
    #[inline]
    pub(crate) fn record(&mut self, request: Request, latency: u64, end: u64) {
        let after = end - self.frame.base;
        match &mut self.records {
            Some(records) if after <= MAX_APART && records.len() < RECORDS => {
                records.push(Record { after: after as u32, latency, request }.pack(&self.sizes));
            }
            Some(_) | None => self.start_buffer(request, latency, end),
        }
    }

    /// Hands the buffer over and begins an empty one with the record; without one it is lost.
    #[cold]
    fn start_buffer(&mut self, request: Request, latency: u64, end: u64) {
        self.hand_over();
        self.frame.base = end;
        match self.records.take().or_else(|| self.empty.try_recv().ok()) {
            Some(mut records) => {
                records.push(Record { after: 0, latency, request }.pack(&self.sizes));
                self.records = Some(records);
            }
            None => self.frame.lost += 1,
        }
    }

    /// Sends the current buffer to the writer, unless it is empty.
    fn hand_over(&mut self) {
        if let Some(records) = self.records.take_if(|records| !records.is_empty()) {
            let frame = Frame { count: records.len() as u32, ..self.frame };
            let _ = self.sender.send(LogMessage::Records(frame, records, self.returns.clone()));
        }
    }

    /// Hands over the last buffer; returns how many records were lost.
    pub(crate) fn finish(mut self) -> u64 {
        self.hand_over();
        self.frame.lost
    }
}
