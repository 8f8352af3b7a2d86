//! Ceilings: reads of trimmed addresses on a drive that a rest makes no faster.

use super::Examination;
use super::access::ascending;
use super::error::Ended;
use super::sizes::{FILL_BLOCK, Sizes};
use ssdgauge_core::{Nanos, TargetKind};
use ssdgauge_statistics::summary;
use ssdgauge_xray::{
    self as inference, Completions, Identified, Refusal, Saturation, Series, Structure,
};

impl Examination<'_> {
    /// Link and command time: reads of trimmed addresses.
    pub(super) fn ceilings(&mut self) -> Result<(), Ended> {
        let needs_empty = [Structure::Link, Structure::Cache].iter().any(|one| self.wants(*one));
        let is_drive = !self.gentle && self.access.kind() != TargetKind::File;
        let is_trimmed = match is_drive && (needs_empty || self.wants(Structure::Command)) {
            true => self.access.trim()?,
            false => false,
        };
        for structure in [Structure::Link, Structure::Command] {
            if !is_trimmed && self.is_open(structure) {
                let reason = "the target cannot be trimmed as a whole";
                self.answer(structure, Err(Refusal(reason.into())));
            }
        }
        if is_trimmed {
            self.access.rest(Nanos::from_secs(10))?;
        }
        if self.is_open(Structure::Link) {
            let (reads, found) = self.link_of_a_cold_drive()?;
            self.keep(Series::of_loads(Structure::Link, [&reads[0], &reads[1]]));
            self.answer(Structure::Link, self.check_heat().and(found));
        }
        if self.is_open(Structure::Command) {
            self.access.doing("command time: reads of one block at trimmed addresses");
            let block = self.access.logical_block();
            let lone = self.latencies(&ascending(0, self.sizes.capacity, block, 400))?;
            let series = Saturation {
                deep: self.closed(0, block, 20_000, 128)?,
                deeper: self.closed(0, block, 40_000, 256)?,
                lone_us: summary::percentile(&lone, 0.5).unwrap_or(0.0),
            };
            let link = self.value(Structure::Link);
            self.keep(Series::of_loads(Structure::Command, [&series.deep, &series.deeper]));
            self.answer(Structure::Command, inference::command_time(&series, link));
        }
        self.later = inference::Later::default();
        Ok(())
    }

    /// Returns the last reads of the link and their rate, once a rest neither lowers the temperature nor raises the rate:
    /// a drive that was hot before recovers meanwhile.
    fn link_of_a_cold_drive(&mut self) -> Result<([Completions; 2], Identified), Ended> {
        let (mut reads, mut found) = self.link_reads()?;
        for _ in 0..Sizes::LEVEL_RESTS {
            let before = self.access.celsius();
            self.access.doing("link: rest until the temperature is level");
            self.access.rest(Nanos::from_secs(Sizes::LEVEL_S))?;
            let stated = self.access.thermal();
            let is_level = inference::is_level(before, self.access.celsius(), stated);
            self.access.forget_throttling()?;
            let (again, second) = self.link_reads()?;
            let throttles = self.access.throttling()?.is_some();
            let rises = match (&found, &second) {
                (Ok(first), Ok(second)) => inference::faster(first, second),
                (Err(_), Ok(_)) => true,
                (Ok(_) | Err(_), Err(_)) => false,
            };
            // A disturbed repetition does not undo what was found.
            if second.is_ok() {
                (reads, found) = (again, second);
            }
            if is_level && !rises && !throttles {
                return Ok((reads, found));
            }
        }
        let reason = "the drive was still cooling or throttled, or its reads still became faster, after ten minutes of rest";
        Ok((reads, Err(Refusal(reason.into()))))
    }

    fn link_reads(&mut self) -> Result<([Completions; 2], Identified), Ended> {
        self.access.doing("link: reads of trimmed addresses");
        let small = self.closed(0, FILL_BLOCK, 4_000, 32)?;
        let large = self.closed(0, 4 * FILL_BLOCK, 1_500, 32)?;
        let found = inference::link_ceiling(&small, &large);
        Ok(([small, large], found))
    }

    /// Refuses what a drive shows at a temperature at which it may be throttled, unless a ceiling shows that it is not.
    pub(super) fn check_heat(&self) -> Result<(), Refusal> {
        match self.access.celsius() {
            Some(celsius)
                if inference::is_hot(celsius, self.access.thermal())
                    && self.value(Structure::Link).is_none() =>
            {
                Err(Refusal(format!(
                    "the drive is at {celsius:.0} °C, where it may be throttled: cool it"
                )))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Reads trimmed addresses at the end of a rest: where they are faster than the ceiling, that was none.
    pub(super) fn look_again(&mut self) -> Result<(), Ended> {
        if self.value(Structure::Link).is_some() {
            let (from, span) = (self.sizes.capacity - self.sizes.trimmed, self.sizes.trimmed);
            let requests = ascending(from, span, FILL_BLOCK, 4_000);
            let reads = self.completions(&requests, FILL_BLOCK, 32)?;
            let mb_s = reads.long_mb_s().unwrap_or(0.0);
            self.later.trimmed_mb_s = self.later.trimmed_mb_s.max(mb_s);
        }
        Ok(())
    }
}
