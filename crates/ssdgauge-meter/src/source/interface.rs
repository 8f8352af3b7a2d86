//! The interface of a source: its entry in the list, its specification, and the open meter.
//!
//! A source runs on a sampler thread. It never touches an I/O thread, and it never blocks for much
//! longer than its caller allows.

use crate::counter_range::CounterRange;
use crate::sample::Batch;
use ssdgauge_core::PowerScope;
use std::fmt::Debug;
use std::time::Duration;

/// Reads a log page of the drive under test: log identifier and length in bytes.
pub type LogReader = Box<dyn FnMut(u8, usize) -> Result<Vec<u8>, String> + Send>;

/// One kind of power meter.
#[derive(Debug)]
pub(crate) struct SourceKind {
    /// The words before the colon of a specification that select this kind; the first one is
    /// shown in errors.
    pub(crate) keywords: &'static [&'static str],
    /// The form of a specification, as hints show it.
    pub(crate) form: &'static str,
    /// Whether the option `pointer=` applies.
    pub(crate) takes_pointer: bool,
    /// Parses a specification (keyword included, options excluded) and the value of `pointer=`.
    pub(crate) parse: fn(&str, Option<String>) -> ParsedSpec,
}

/// A parsed specification, or the part of its text that is malformed.
pub(crate) type ParsedSpec = Result<Box<dyn SourceSpec>, String>;

/// The specification of a power meter, parsed and not yet opened.
pub(crate) trait SourceSpec: Debug + Send + Sync {
    /// Returns the scope that applies without the option `scope=`.
    fn default_scope(&self) -> PowerScope;

    /// Returns whether the readings come from the drive under test.
    fn reads_drive(&self) -> bool;

    /// Opens the meter.
    ///
    /// # Errors
    /// The meter does not exist, does not respond, or has no power channel.
    fn open(&self, context: OpenContext<'_>) -> Result<Box<dyn Source>, String>;
}

/// The surroundings in which a meter is opened.
pub(crate) struct OpenContext<'a> {
    /// The sampling period of the option `period=`.
    pub(crate) period: Option<Duration>,
    /// Returns the log reader of the drive under test; `None` without an NVMe drive.
    pub(crate) log_reader: &'a mut dyn FnMut() -> Option<LogReader>,
}

/// An open meter.
pub(crate) trait Source: Send {
    /// Waits for samples, for about `timeout` at most. An empty batch means that none arrived.
    ///
    /// # Errors
    /// The meter has failed and is not read again.
    fn next(&mut self, timeout: Duration) -> Result<Batch, String>;

    /// Returns whether each reading sends a command to the drive under test. Such a command can
    /// leave a power state, so these sources are paused while idle power is measured.
    fn wakes_drive(&self) -> bool;

    /// Returns how the values count energy; `None` where they are powers.
    fn counts(&self) -> Option<CounterRange> {
        None
    }

    /// Returns the sampling period and the clock of the time stamps, as the run file records them.
    fn sampling(&self) -> String;
}

/// Returns the part of `spec` after its keyword and the colon; empty where there is none.
pub(crate) fn after_keyword(spec: &str) -> &str {
    spec.split_once(':').map_or("", |(_, rest)| rest)
}
