//! The digest of a measured step at its end.

use super::Writer;
use super::statements::DIGEST;
use crate::contradictions::Contradictions;
use crate::error::RunFileError;
use crate::histogram::Decoder;
use crate::packed;
use crate::record::digest::{Content, Packed, samples_crc};
use crate::record::reader::Rows;
use crate::record::{
    Head, StepId, StepPlace, StepRecord, StepState, integer, text, with_percentiles,
};
use crate::room::Room;
use crate::samples::{Samples, aggregate};
use crate::untrusted::Budget;
use rusqlite::Connection;
use ssdgauge_core::{ARITHMETIC, AggregatedStep, Interval, Nanos, Point, Reading, Step};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The longest step with a digest, which needs all of its seconds in memory. Chosen: a day takes some 20 MB.
const LONGEST: Nanos = Nanos::from_secs(86_400);

impl Writer {
    /// Adds the digest of `step`, a `planned` one that lasted `elapsed`, by the same arithmetic over the
    /// records as a report.
    pub(super) fn digest(
        &mut self,
        step: StepId,
        planned: &Step,
        elapsed: Nanos,
    ) -> Result<(), RunFileError> {
        let Some(workload) = planned.action.measured_workload().filter(|_| elapsed <= LONGEST)
        else {
            return Ok(());
        };
        let sqlite = |cause| RunFileError::from_sqlite(&self.path, cause);
        let samples = WrittenSamples::new(&self.connection, &self.path).map_err(sqlite)?;
        let record = StepRecord {
            id: step,
            place: StepPlace { test: 0, phase: 0, step: 0 },
            attempt: 1,
            started_unix_ms: 0,
            ended_unix_ms: None,
            state: StepState::Finished,
            elapsed: Some(elapsed),
            ended_by: None,
            report: None,
        };
        let (mut room, mut found) = (Room::unlimited(&self.path), Contradictions::default());
        let checked = (&mut room, &mut found);
        let mut instruments: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut see = |reading: &Reading| {
            let is_known = instruments
                .get(&reading.quantity)
                .is_some_and(|of| of.contains(&reading.instrument));
            if !is_known {
                let of_quantity = instruments.entry(reading.quantity.clone()).or_default();
                of_quantity.insert(reading.instrument.clone());
            }
            0
        };
        let aggregated =
            aggregate(&samples, (planned, workload), &[&record], true, checked, &mut see);
        let aggregated = match aggregated {
            Ok(aggregated) => aggregated,
            // An imported result may be one that reports refuse.
            Err(RunFileError::Impossible { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let is_sound = !samples.is_imported && found.is_empty();
        let packed = aggregated.pack().filter(|_| is_sound).map(|bytes| packed::encode(&bytes));
        let packed = packed.map(|packed| Packed { instruments, packed: packed.into() });
        let AggregatedStep { whole, seconds, percentiles, streams, .. } = aggregated;
        let (label, position) = (planned.label.clone(), planned.position);
        let point = Point { label, position, totals: whole, seconds, streams, percentiles };
        let content = Content { numbers: point.numbers(), samples: packed };
        let content = serde_json::to_string(&content).expect("numbers and names always serialise");
        let crc = samples_crc(&self.connection, step, elapsed).map_err(sqlite)?;
        let values = vec![integer(step.0), integer(ARITHMETIC), integer(crc), text(content)];
        self.insert(DIGEST, values)
    }
}

/// The samples that a writer has added, also before they are durable.
struct WrittenSamples<'a> {
    connection: &'a Connection,
    path: &'a Path,
    budget: Budget,
    decoder: RefCell<Decoder>,
    is_imported: bool,
}

impl<'a> WrittenSamples<'a> {
    fn new(connection: &'a Connection, path: &'a Path) -> rusqlite::Result<WrittenSamples<'a>> {
        let sql = "SELECT count(*) > 0 FROM environment WHERE key = ?1";
        let is_imported = connection.query_row(sql, [Head::IMPORTED_FROM], |row| row.get(0))?;
        let decoder = RefCell::new(Decoder::new(u64::MAX));
        Ok(WrittenSamples { connection, path, budget: Budget::unlimited(), decoder, is_imported })
    }

    fn rows(&self) -> Rows<'_> {
        Rows { connection: self.connection, path: self.path, budget: &self.budget }
    }
}

impl Samples for WrittenSamples<'_> {
    fn each_interval(
        &self,
        step: StepId,
        take: &mut dyn FnMut(Interval),
    ) -> Result<(), RunFileError> {
        let sql = "SELECT * FROM interval WHERE step_id = ?1 ORDER BY rowid";
        let stated = match self.is_imported {
            true => self.rows().percentiles_of(step)?,
            false => Vec::new(),
        };
        self.rows().each("interval", sql, [step.0], 13, |row| {
            let interval = row.interval(Some(&mut self.decoder.borrow_mut()))?;
            take(with_percentiles(interval, &stated));
            Ok(())
        })
    }

    fn each_reading(
        &self,
        step: StepId,
        take: &mut dyn FnMut(&Reading),
    ) -> Result<(), RunFileError> {
        let sql = "SELECT * FROM reading WHERE step_id = ?1 ORDER BY rowid";
        self.rows().each("reading", sql, [step.0], 5, |row| {
            take(&row.reading()?);
            Ok(())
        })
    }

    fn is_imported(&self) -> bool {
        self.is_imported
    }

    fn path(&self) -> &Path {
        self.path
    }
}
