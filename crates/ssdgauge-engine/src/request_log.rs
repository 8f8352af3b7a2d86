//! The log of single requests: buffers that the I/O threads fill and another thread writes.
//!
//! An I/O thread never waits for the log. Where no empty buffer has come back in time, records are
//! lost, counted, and told.

use ssdgauge_core::io_log::{Frame, FrameKind, MAGIC, MOST_APART, Record};
use ssdgauge_core::{Request, Workload};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// The records of a buffer: half a MiB. Eight of them are an eighth of a second at two million
/// requests a second, longer than a writer on the same processor is usually kept waiting.
const RECORDS: usize = 32 << 10;
/// The buffers of a thread: one that it fills, the others on their way.
const BUFFERS: usize = 8;

/// A log file and the thread that writes it.
#[derive(Debug)]
pub struct Log {
    sender: Sender<Piece>,
    writer: Option<JoinHandle<()>>,
    answers: Receiver<LogOutcome>,
    load: u32,
}

/// What a load came to in the log.
#[derive(Debug, Default)]
pub(crate) struct LogOutcome {
    /// Records that were lost because the writer was too slow.
    pub(crate) lost: u64,
    /// Why the file is not complete.
    pub(crate) failure: Option<String>,
}

#[derive(Debug)]
enum Piece {
    /// A load begins.
    Load(Frame, String),
    /// Records of one thread; the empty buffer goes back to it.
    Records(Frame, Vec<[u64; 2]>, SyncSender<Vec<[u64; 2]>>),
    /// A load has ended: every record of it has been handed over.
    End(Frame),
    /// Nothing more will come, even if a thread that hangs in the kernel holds on to its page.
    Close,
}

impl Log {
    /// Makes the file `path`, which must not exist, and starts its writer.
    pub fn create(path: &Path) -> io::Result<Log> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(&MAGIC)?;
        let (sender, pieces) = channel();
        let (answer, answers) = channel();
        let writer = std::thread::Builder::new()
            .name("ssdgauge-log".into())
            .spawn(move || write(file, &pieces, &answer))?;
        Ok(Log { sender, writer: Some(writer), answers, load: 0 })
    }

    /// Begins the log of `workload`.
    pub(crate) fn begin(&mut self, workload: &Workload) {
        self.load += 1;
        let words = workload.streams.iter().map(|stream| {
            let (name, engine) = (&stream.name, workload.engine.name());
            let (depth, threads) = (stream.queue_depth, stream.threads);
            let (size, percent) = (stream.block_size.0, stream.read_percent);
            format!("{name}: {engine}, {size} bytes, {percent} % reads, QD{depth} x {threads}")
        });
        let text = words.collect::<Vec<_>>().join("; ");
        let count = text.len() as u32;
        self.send(Piece::Load(Frame { count, ..self.frame(FrameKind::Load) }, text));
    }

    /// Returns the page of one I/O thread.
    pub(crate) fn page(&self, stream: u16, thread: u16, block_size: u32) -> LogPage {
        let sender = self.sender.clone();
        let (back, empty) = sync_channel(BUFFERS);
        for _ in 1..BUFFERS {
            let _ = back.send(Vec::with_capacity(RECORDS));
        }
        LogPage {
            frame: Frame { stream, thread, block_size, ..self.frame(FrameKind::Records) },
            records: Some(Vec::with_capacity(RECORDS)),
            sender,
            back,
            empty,
        }
    }

    /// Ends the log of a load, whose threads have ended, and waits until it is written.
    pub(crate) fn end(&mut self, lost: u64) -> LogOutcome {
        self.send(Piece::End(Frame { lost, ..self.frame(FrameKind::End) }));
        let gone = || LogOutcome { lost: 0, failure: Some("its writer is gone".into()) };
        LogOutcome { lost, ..self.answers.recv().unwrap_or_else(|_| gone()) }
    }

    fn frame(&self, kind: FrameKind) -> Frame {
        let load = self.load;
        Frame { kind, load, stream: 0, thread: 0, block_size: 0, base: 0, lost: 0, count: 0 }
    }

    fn send(&self, piece: Piece) {
        // A writer that is gone is told by `end`.
        let _ = self.sender.send(piece);
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.send(Piece::Close);
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// The writer: goes on to take pieces when the file takes no more, so that nobody waits for it.
fn write(mut file: File, pieces: &Receiver<Piece>, answer: &Sender<LogOutcome>) {
    let mut failure: Option<String> = None;
    let mut bytes = Vec::new();
    while let Ok(piece) = pieces.recv() {
        bytes.clear();
        let mut ended = false;
        match piece {
            Piece::Load(frame, text) => {
                bytes.extend_from_slice(&frame.pack());
                bytes.extend_from_slice(text.as_bytes());
            }
            Piece::Records(frame, mut records, back) => {
                bytes.extend_from_slice(&frame.pack());
                for word in records.iter().flatten() {
                    bytes.extend_from_slice(&word.to_le_bytes());
                }
                records.clear();
                // A thread that has ended does not want its buffer back.
                let _ = back.try_send(records);
            }
            Piece::End(frame) => {
                bytes.extend_from_slice(&frame.pack());
                ended = true;
            }
            Piece::Close => return,
        }
        if failure.is_none() {
            failure = file.write_all(&bytes).err().map(|error| error.to_string());
        }
        if ended {
            let _ = answer.send(LogOutcome { lost: 0, failure: failure.clone() });
        }
    }
}

/// The page of one I/O thread.
#[derive(Debug)]
pub(crate) struct LogPage {
    /// The head of the present page; its `lost` goes on counting.
    frame: Frame,
    /// `None` while no buffer is to be had.
    records: Option<Vec<[u64; 2]>>,
    sender: Sender<Piece>,
    back: SyncSender<Vec<[u64; 2]>>,
    empty: Receiver<Vec<[u64; 2]>>,
}

impl LogPage {
    /// Writes down a request that completed `end` nanoseconds after the start of the load.
    #[inline]
    pub(crate) fn record(&mut self, request: Request, latency: u64, end: u64) {
        let after = end - self.frame.base;
        match &mut self.records {
            Some(records) if after <= MOST_APART && records.len() < RECORDS => {
                records.push(Record { after: after as u32, latency, request }.pack());
            }
            Some(_) | None => self.turn(request, latency, end),
        }
    }

    /// Hands the page over and begins a fresh one with the record, or loses it.
    #[cold]
    fn turn(&mut self, request: Request, latency: u64, end: u64) {
        self.hand_over();
        self.frame.base = end;
        match self.records.take().or_else(|| self.empty.try_recv().ok()) {
            Some(mut records) => {
                records.push(Record { after: 0, latency, request }.pack());
                self.records = Some(records);
            }
            None => self.frame.lost += 1,
        }
    }

    /// Sends what is on the page.
    fn hand_over(&mut self) {
        if let Some(records) = self.records.take_if(|records| !records.is_empty()) {
            let frame = Frame { count: records.len() as u32, ..self.frame };
            let _ = self.sender.send(Piece::Records(frame, records, self.back.clone()));
        }
    }

    /// Hands over the last page; returns how many records were lost.
    pub(crate) fn close(mut self) -> u64 {
        self.hand_over();
        self.frame.lost
    }
}
