//! The request log of a virtual drive, in the format of [`ssdgauge_core::io_log`].
//!
//! The caller opens the output; here the records of each load are packed and written as they complete.

use ssdgauge_core::io_log::{Frame, FrameKind, MAX_APART, Record, Version};
use ssdgauge_core::{Request, Workload};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The records of a frame, as in the log of a real drive.
const RECORDS: usize = 32 << 10;

/// A log, and the number of its current load.
#[derive(Clone)]
pub(crate) struct RequestLog {
    output: Arc<Mutex<Box<dyn Write + Send>>>,
    load: u32,
}

impl std::fmt::Debug for RequestLog {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RequestLog").field("load", &self.load).finish_non_exhaustive()
    }
}

impl RequestLog {
    /// Begins a log in `output`.
    ///
    /// # Errors
    /// That of the output.
    pub(crate) fn new(mut output: Box<dyn Write + Send>) -> io::Result<RequestLog> {
        output.write_all(&Version::Two.magic())?;
        Ok(RequestLog { output: Arc::new(Mutex::new(output)), load: 0 })
    }

    /// Begins the next load.
    pub(crate) fn begin(&mut self, workload: &Workload) -> LoadLog {
        self.load += 1;
        let text = serde_json::to_string(workload).expect("workloads always serialise");
        let frame = |kind, stream: u16, thread: u16, block_size| Frame {
            kind,
            load: self.load,
            stream,
            thread,
            block_size,
            base: 0,
            lost: 0,
            count: 0,
        };
        let streams = workload.streams.iter().zip(0..);
        let threads = streams.flat_map(|numbered| vec![numbered; numbered.0.threads as usize]);
        let threads = threads.zip(0..).map(|((stream, number), thread)| ThreadLog {
            frame: frame(FrameKind::Records, number, thread, stream.block_size.0 as u32),
            sizes: stream.sizes.lengths(),
            records: Vec::new(),
        });
        let mut log = LoadLog {
            output: self.output.clone(),
            end: frame(FrameKind::End, 0, 0, 0),
            threads: threads.collect(),
            in_flight: Vec::new(),
            failure: None,
        };
        let head = Frame { count: text.len() as u32, ..frame(FrameKind::Load, 0, 0, 0) };
        log.write(&[&head.pack(), text.as_bytes()].concat());
        log
    }
}

/// The log of one load.
pub(crate) struct LoadLog {
    output: Arc<Mutex<Box<dyn Write + Send>>>,
    end: Frame,
    threads: Vec<ThreadLog>,
    /// The requests in flight, by their slots.
    in_flight: Vec<Request>,
    failure: Option<io::Error>,
}

/// The records of one thread that are not written yet.
struct ThreadLog {
    frame: Frame,
    /// The lengths of requests, where its stream has several.
    sizes: Vec<u32>,
    records: Vec<[u64; 2]>,
}

impl LoadLog {
    /// Notes which request is in flight in `slot`.
    #[cold]
    pub(crate) fn submitted(&mut self, slot: usize, request: Request) {
        if slot >= self.in_flight.len() {
            self.in_flight.resize(slot + 1, request);
        }
        self.in_flight[slot] = request;
    }

    /// Logs the request in `slot`, of thread number `thread` of the load, which completed `end` nanoseconds
    /// after the start of the load.
    #[cold]
    pub(crate) fn completed(&mut self, thread: u32, slot: usize, latency: u64, end: u64) {
        self.record(thread as usize, self.in_flight[slot], latency, end);
    }

    fn record(&mut self, thread: usize, request: Request, latency: u64, end: u64) {
        let log = &mut self.threads[thread];
        // Times of records have 32 bits, from the first one of their frame on.
        if log.records.is_empty() {
            log.frame.base = end;
        }
        let after = end - log.frame.base;
        if log.records.len() == RECORDS || after > MAX_APART {
            self.hand_over(thread);
            self.record(thread, request, latency, end);
            return;
        }
        log.records.push(Record { after: after as u32, latency, request }.pack(&log.sizes));
    }

    /// Writes the records of a thread.
    fn hand_over(&mut self, thread: usize) {
        let log = &mut self.threads[thread];
        let records = std::mem::take(&mut log.records);
        let frame = Frame { count: records.len() as u32, ..log.frame };
        let mut bytes = frame.pack().to_vec();
        for word in records.iter().flatten() {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        self.write(&bytes);
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
            self.failure = output.write_all(bytes).err();
        }
    }

    /// Ends the log of the load; returns why it is not complete.
    pub(crate) fn finish(mut self) -> Option<io::Error> {
        for thread in 0..self.threads.len() {
            if !self.threads[thread].records.is_empty() {
                self.hand_over(thread);
            }
        }
        self.write(&self.end.pack());
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        self.failure.take().or_else(|| output.flush().err())
    }
}
