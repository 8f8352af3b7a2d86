//! The digests of a file that is read, where its samples are those that they were made of.

use super::RunFile;
use super::links::finding_of;
use crate::error::RunFileError;
use crate::record::chain::COVERED;
use crate::record::{StepId, StepRecord};
use crate::untrusted;
use rusqlite::types::ValueRef;
use ssdgauge_core::{ARITHMETIC, Finding, Nanos};
use std::collections::BTreeMap;

/// The digests of a file that may stand for the samples of their steps.
#[derive(Debug, Default)]
pub struct Digests {
    /// The place of each one in its table.
    of_step: BTreeMap<StepId, i64>,
}

/// The checksum of the samples of each step so far.
type Crcs = BTreeMap<i64, SamplesCrc>;

/// The checksum of the samples of one step so far.
#[derive(Default)]
struct SamplesCrc {
    intervals: CrcOfCrcs,
    readings: CrcOfCrcs,
    is_unsound: bool,
}

/// The checksum of the checksums of records.
#[derive(Default)]
struct CrcOfCrcs {
    hasher: crc32fast::Hasher,
    /// Those that are not hashed yet: the hasher takes longer for a call than for a few bytes.
    gathered: Vec<u8>,
}

impl RunFile {
    /// Returns the finding of [`RunFile::chain_finding`], and the digests that stand for the samples of `steps`:
    /// those of this program's arithmetic, whose checksum is that of the samples, in a file whose chain of
    /// hashes matches. It reads the file once.
    ///
    /// # Errors
    ///
    /// Those of [`RunFile::broken_link`] and [`RunFile::digests`].
    pub fn chain_finding_and_digests(
        &self,
        steps: &[StepRecord],
    ) -> Result<(Option<Finding>, Digests), RunFileError> {
        // Earlier formats have neither.
        if self.format < 3 {
            return Ok((None, Digests::default()));
        }
        let elapsed = |step: &StepRecord| Some((step.id.0, step.elapsed?));
        let elapsed: BTreeMap<i64, Nanos> = steps.iter().filter_map(elapsed).collect();
        let links = self.links()?;
        let mut crcs = Crcs::new();
        let by_pages = self.sample_hashes(&links, &mut see(&mut crcs, &elapsed));
        let found = match &by_pages {
            Some(known) => Some(self.walk_chain(&links, known, &mut |_, _, _| {})?),
            None => None,
        };
        // Only SQLite says what is wrong with a file.
        let (broken, covers) = match found.filter(|(broken, _)| broken.is_none()) {
            Some(found) => found,
            None => {
                crcs = Crcs::new();
                self.walk_chain(&links, &BTreeMap::new(), &mut see(&mut crcs, &elapsed))?
            }
        };
        if broken.is_some() || self.head.imported_from().is_some() {
            return Ok((broken.map(finding_of), Digests::default()));
        }
        let covered = |table| covers[COVERED.iter().position(|one| *one == table).unwrap_or(0)];
        for table in ["interval", "reading"] {
            for step in self.steps_with_more(table, covered(table))? {
                crcs.entry(step).or_default().is_unsound = true;
            }
        }
        let crcs = crcs.into_iter().filter_map(|(step, crc)| Some((step, crc.finish()?))).collect();
        Ok((None, Digests { of_step: self.matching(&crcs, covered("digest"))? }))
    }

    /// Returns the place of the digest of each step whose samples have the checksum in `crcs`, among the first
    /// `covered` ones. A step with several has none.
    fn matching(
        &self,
        crcs: &BTreeMap<i64, u32>,
        covered: i64,
    ) -> Result<BTreeMap<StepId, i64>, RunFileError> {
        let mut of_step: BTreeMap<StepId, Option<i64>> = BTreeMap::new();
        let sql = "SELECT *, rowid FROM digest WHERE rowid BETWEEN 1 AND ?1 ORDER BY rowid";
        self.rows().each("digest", sql, [covered], 4, |row| {
            let (step, digest) = row.digest()?;
            let is_own = digest.arithmetic == ARITHMETIC
                && crcs.get(&step.0) == Some(&digest.samples_crc)
                && !of_step.contains_key(&step);
            let place = row.number(5)?;
            of_step.insert(step, is_own.then_some(place));
            Ok(())
        })?;
        Ok(of_step.into_iter().filter_map(|(step, place)| Some((step, place?))).collect())
    }

    /// Returns the content of the digest of `step` among `digests`; `None` where it has none.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where the record fails its check.
    pub(crate) fn digest_content(
        &self,
        digests: &Digests,
        step: StepId,
    ) -> Result<Option<String>, RunFileError> {
        let Some(place) = digests.of_step.get(&step) else { return Ok(None) };
        let mut content = None;
        let sql = "SELECT * FROM digest WHERE rowid = ?1";
        self.rows().each("digest", sql, [*place], 4, |row| {
            content = Some(row.text(3)?.to_owned());
            Ok(())
        })?;
        Ok(content)
    }

    /// Returns the steps with records of `table` outside the first `covered` ones.
    fn steps_with_more(&self, table: &str, covered: i64) -> Result<Vec<i64>, RunFileError> {
        self.budget.renew();
        let sql = format!(
            "SELECT step_id FROM {table} WHERE rowid > ?1 \
             UNION SELECT step_id FROM {table} WHERE rowid < 1"
        );
        let steps = || -> rusqlite::Result<Vec<i64>> {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let steps = statement.query_map([covered], |row| row.get(0))?;
            steps.collect()
        };
        steps().map_err(|cause| untrusted::error_of(&self.path, cause))
    }
}

/// Returns what adds each sample to the checksum of its step, where it lies within what the step has `elapsed`.
fn see(
    crcs: &mut Crcs,
    elapsed: &BTreeMap<i64, Nanos>,
) -> impl FnMut(&str, &[ValueRef<'_>], &[u8]) {
    |table, values, bytes| match table {
        "interval" => add(crcs, (values, bytes), |crc| Some(&mut crc.intervals)),
        "reading" => {
            let is_within = is_within(values, elapsed);
            add(crcs, (values, bytes), |crc| is_within.then_some(&mut crc.readings));
        }
        _ => {}
    }
}

/// Adds the checksum of a sample to the one of its step that `place` chooses.
fn add(
    crcs: &mut Crcs,
    (values, bytes): (&[ValueRef<'_>], &[u8]),
    place: impl FnOnce(&mut SamplesCrc) -> Option<&mut CrcOfCrcs>,
) {
    let (Some(ValueRef::Integer(step)), Some(crc)) = (values.first(), values.last()) else {
        return;
    };
    let of_step = crcs.entry(*step).or_default();
    let own = crc32fast::hash(bytes);
    of_step.is_unsound |= *crc != ValueRef::Integer(own.into());
    if let Some(of_table) = place(of_step) {
        of_table.add(own);
    }
}

/// Returns whether a reading with `values` lies within its step.
fn is_within(values: &[ValueRef<'_>], elapsed: &BTreeMap<i64, Nanos>) -> bool {
    let &[ValueRef::Integer(step), ValueRef::Integer(at), ..] = values else { return false };
    let until = elapsed.get(&step).copied().unwrap_or(Nanos::ZERO);
    at <= i64::try_from(until.0).unwrap_or(i64::MAX)
}

impl SamplesCrc {
    /// Returns the checksum; `None` where a sample is damaged.
    fn finish(mut self) -> Option<u32> {
        let mut crc = self.intervals.finish();
        crc.combine(&self.readings.finish());
        (!self.is_unsound).then(|| crc.finalize())
    }
}

impl CrcOfCrcs {
    fn add(&mut self, crc: u32) {
        self.gathered.extend_from_slice(&crc.to_le_bytes());
        if self.gathered.len() >= 4_096 {
            self.hasher.update(&self.gathered);
            self.gathered.clear();
        }
    }

    fn finish(&mut self) -> crc32fast::Hasher {
        self.hasher.update(&self.gathered);
        std::mem::take(&mut self.hasher)
    }
}
