//! Rows of the tables, as the records that they hold.

use crate::histogram::Decoder;
use crate::record::{
    FindingRecord, PropertyRecord, StepId, StepPlace, StepRecord, StepState, checksum,
};
use crate::schema::MOST_COLUMNS;
use rusqlite::types::ValueRef;
use serde_json::json;
use ssdgauge_core::{Direction, Finding, Histogram, Interval, Nanos, Reading};

/// The values of one row, with typed access: the defect is returned as a clause.
pub(crate) struct Row<'a> {
    values: [ValueRef<'a>; MOST_COLUMNS],
    /// The number of values.
    columns: usize,
}

impl<'a> Row<'a> {
    /// Returns the values of `row`, which has `columns` of them; those of a table of a stranger beyond
    /// the largest number are left out.
    pub(super) fn read(row: &'a rusqlite::Row<'_>, columns: usize) -> rusqlite::Result<Row<'a>> {
        let columns = columns.min(MOST_COLUMNS);
        let mut values = [ValueRef::Null; MOST_COLUMNS];
        for (at, value) in values[..columns].iter_mut().enumerate() {
            *value = row.get_ref(at)?;
        }
        Ok(Row { values, columns })
    }

    /// Returns whether the checksum in column `sealed` is that of the columns before it.
    pub(super) fn is_sound(&self, sealed: usize) -> bool {
        sealed < self.columns
            && self.values[sealed]
                == ValueRef::Integer(checksum(self.values[..sealed].iter().copied()))
    }

    pub(super) fn number<N: TryFrom<i64>>(&self, at: usize) -> Result<N, &'static str> {
        match self.values[at] {
            ValueRef::Integer(number) => {
                N::try_from(number).map_err(|_| "a number outside its range")
            }
            _ => Err("a value that is not an integer"),
        }
    }

    pub(super) fn real(&self, at: usize) -> Result<f64, &'static str> {
        match self.values[at] {
            ValueRef::Real(number) => Ok(number),
            _ => Err("a value that is not a real number"),
        }
    }

    pub(super) fn text(&self, at: usize) -> Result<&'a str, &'static str> {
        self.values[at].as_str().map_err(|_| "a value that is not text")
    }

    pub(super) fn blob(&self, at: usize) -> Result<&'a [u8], &'static str> {
        match self.values[at] {
            ValueRef::Blob(bytes) => Ok(bytes),
            _ => Err("a value that is not a blob"),
        }
    }

    pub(super) fn maybe<T>(
        &self,
        at: usize,
        get: impl Fn(&Self, usize) -> Result<T, &'static str>,
    ) -> Result<Option<T>, &'static str> {
        match self.values[at] {
            ValueRef::Null => Ok(None),
            _ => get(self, at).map(Some),
        }
    }

    /// Returns a row of the table `step`, with its report where `with_report` is true.
    pub(super) fn step(&self, with_report: bool) -> Result<StepRecord, &'static str> {
        let place =
            StepPlace { test: self.number(1)?, phase: self.number(2)?, step: self.number(3)? };
        Ok(StepRecord {
            id: StepId(self.number(0)?),
            place,
            attempt: self.number(4)?,
            started_unix_ms: self.number(8)?,
            state: StepState::from_name(self.text(9)?).ok_or("an unknown state")?,
            ended_unix_ms: self.maybe(10, |row, at| row.number(at))?,
            elapsed: self.maybe(11, |row, at| row.number(at).map(Nanos))?,
            ended_by: self.maybe(12, |row, at| row.text(at).map(str::to_owned))?,
            report: match with_report {
                true => self.maybe(13, |row, at| row.text(at).map(str::to_owned))?,
                false => None,
            },
        })
    }

    /// Returns a row of the table `interval`; its latency has buckets where there is a `decoder`.
    pub(crate) fn interval(&self, decoder: Option<&mut Decoder>) -> Result<Interval, &'static str> {
        let min = self.maybe(9, |row, at| row.number(at))?.unwrap_or(0);
        let max = self.maybe(10, |row, at| row.number(at))?.unwrap_or(0);
        let sum: u64 = self.number(8)?;
        let overflow = self.number(11)?;
        // Latencies of another program, of which their sum and percentiles are known: a second with
        // latencies has a minimum.
        let is_stated = overflow == 0
            && self.blob(12)?.is_empty()
            && self.maybe(9, |row, at| row.number::<u64>(at))?.is_some();
        let latency = match decoder.filter(|_| !is_stated) {
            Some(decoder) => {
                let counts = decoder.decode(self.blob(12)?)?;
                Histogram::from_counts(counts, u128::from(sum), min, max, overflow)
            }
            None => {
                let ios = self.number(5)?;
                Some(Histogram::from_figures(ios, u128::from(sum), min, max, overflow))
            }
        };
        Ok(Interval {
            second: self.number(1)?,
            stream: self.number(2)?,
            direction: Direction::from_name(self.text(3)?).ok_or("an unknown direction")?,
            length: Nanos(self.number(4)?),
            ios: self.number(5)?,
            bytes: self.number(6)?,
            errors: self.number(7)?,
            latency: latency.ok_or("a histogram that contradicts its sums")?,
        })
    }

    /// Returns a row of the table `reading`.
    pub(crate) fn reading(&self) -> Result<Reading, &'static str> {
        let (instrument, quantity) = (String::new(), String::new());
        let mut reading = Reading { at: Nanos::ZERO, instrument, quantity, value: 0.0 };
        self.read_into(&mut reading)?;
        Ok(reading)
    }

    /// Reads a row of the table `reading` into `reading`, whose texts keep their memory.
    pub(super) fn read_into(&self, reading: &mut Reading) -> Result<(), &'static str> {
        reading.at = Nanos(self.number(1)?);
        self.text(2)?.clone_into(&mut reading.instrument);
        self.text(3)?.clone_into(&mut reading.quantity);
        reading.value = self.real(4)?;
        Ok(())
    }

    /// Returns a row of the table `finding`.
    pub(super) fn finding(&self) -> Result<FindingRecord, &'static str> {
        let finding: Finding = serde_json::from_value(json!({
            "kind": self.text(2)?, "severity": self.text(3)?,
            "text": self.text(4)?, "advice": self.text(5)?,
        }))
        .map_err(|_| "an unknown severity")?;
        let step = self.maybe(0, |row, at| row.number(at).map(StepId))?;
        Ok(FindingRecord { step, unix_ms: self.number(1)?, finding })
    }

    /// Returns a row of the table `property`.
    pub(super) fn property(&self) -> Result<PropertyRecord, &'static str> {
        Ok(PropertyRecord {
            step: self.maybe(0, |row, at| row.number(at).map(StepId))?,
            key: self.text(1)?.to_owned(),
            value: self.text(2)?.to_owned(),
        })
    }
}
