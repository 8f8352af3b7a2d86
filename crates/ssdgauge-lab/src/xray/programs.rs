//! Program time: from what flushes and reads during writes have waited for. It sends nothing of its own but a look whether
//! the drive is throttled.

use super::Examination;
use super::error::Ended;
use super::fill::throttled;
use ssdgauge_xray::{self as inference, Refusal, Series, Structure};

impl Examination<'_> {
    /// Program time, as far as the writes were to native cells.
    pub(super) fn program_time(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::ProgramTime) {
            return Ok(());
        }
        let flushes = self.flushes.take().filter(|_| self.value(Structure::Flush) == Some(1.0));
        let reads = self.reads.take();
        self.keep(Series::of_programs(flushes.as_ref(), reads.as_ref()));
        let waits = self.value(Structure::Suspend) == Some(0.0);
        let passes_cache = self.value(Structure::Overflow) == Some(1.0);
        let found = match (self.is_throttled || !self.is_cold()?, passes_cache) {
            (true, _) => Err(throttled(self.filled)),
            (false, true) => {
                let reason = "writes pass through the fast cache, whose operations these are";
                Err(Refusal(reason.into()))
            }
            (false, false) => inference::program_time(flushes.as_ref(), reads.as_ref(), waits),
        };
        self.answer(Structure::ProgramTime, found);
        Ok(())
    }
}
