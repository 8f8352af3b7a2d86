//! The volatile write cache of a drive: whether writes may be acknowledged that a loss of power
//! would undo.
//!
//! What it changes it puts back, at the latest when it is dropped; where the run is killed, the
//! privileged part does. The kernel is not told: it goes
//! on to send the flushes that it sent before, which do no harm.

use ssdgauge_core::{Finding, FindingKind, Severity, WriteCache};
use ssdgauge_drive::pass_through::{
    AtaCommand, CommandError, NvmeCommand, PassThrough, QUERY_TIMEOUT,
};
use ssdgauge_drive::query::{self, feature};
use std::sync::Arc;

/// How the cache of a drive is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachePath {
    /// Feature 06h (NVM Express Base Specification, Volatile Write Cache).
    Nvme,
    /// SET FEATURES, subcommands 02h and 82h (ACS-4, 7.45).
    Ata,
}

/// The switch of one drive, and what was found in it.
pub(crate) struct CacheSwitch {
    drive: Option<(CachePath, Arc<dyn PassThrough>)>,
    /// Whether it was on before the first change.
    found: Option<bool>,
}

impl std::fmt::Debug for CacheSwitch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CacheSwitch").field("found", &self.found).finish_non_exhaustive()
    }
}

impl CacheSwitch {
    /// Returns the switch of the drive behind `pass_through`; of no drive where there is none.
    pub(crate) fn of(drive: Option<(CachePath, Arc<dyn PassThrough>)>) -> CacheSwitch {
        CacheSwitch { drive, found: None }
    }

    /// Brings the cache to `wanted`; returns in words what is in force now, and what bears on it.
    pub(crate) fn choose(&mut self, wanted: WriteCache) -> (String, Option<Finding>) {
        let on = match wanted {
            WriteCache::AsFound => {
                let problem = self.restore().err().map(|cause| finding(wanted, &cause));
                return ("as found".to_owned(), problem);
            }
            WriteCache::On => true,
            WriteCache::Off => false,
        };
        let Some((way, pass_through)) = &self.drive else {
            let cause = "no drive that takes such commands is open as a whole";
            return ("unknown".to_owned(), Some(finding(wanted, cause)));
        };
        match switch(*way, pass_through.as_ref(), on) {
            Ok(None) if on => {
                let cause = "the drive has no volatile write cache";
                (cause.to_owned(), Some(finding(wanted, cause)))
            }
            Ok(None) => ("the drive has no volatile write cache".to_owned(), None),
            Ok(Some(before)) => {
                self.found.get_or_insert(before);
                (format!("write cache {wanted}"), None)
            }
            Err(cause) => ("unknown".to_owned(), Some(finding(wanted, &cause.to_string()))),
        }
    }

    fn restore(&mut self) -> Result<(), String> {
        let (Some(found), Some((way, pass_through))) = (self.found.take(), &self.drive) else {
            return Ok(());
        };
        switch(*way, pass_through.as_ref(), found).map(|_| ()).map_err(|cause| cause.to_string())
    }
}

impl Drop for CacheSwitch {
    fn drop(&mut self) {
        // Nobody is left to tell; `choose` has told while the run went on.
        let _ = self.restore();
    }
}

/// Switches the cache, and looks whether the drive did it. Returns whether it was on before; `None`
/// where the drive has none.
pub(crate) fn switch(
    way: CachePath,
    pass_through: &dyn PassThrough,
    on: bool,
) -> Result<Option<bool>, CommandError> {
    let Some(before) = is_on(way, pass_through)? else { return Ok(None) };
    if before == on {
        return Ok(Some(before));
    }
    match way {
        CachePath::Nvme => {
            let words = [u32::from(feature::WRITE_CACHE), u32::from(on), 0, 0, 0, 0];
            let command = NvmeCommand { opcode: 0x09, namespace: 0, words, timeout: QUERY_TIMEOUT };
            pass_through.nvme(&command, &mut [])?;
        }
        CachePath::Ata => {
            let feature = if on { 0x02 } else { 0x82 };
            let command = AtaCommand { command: 0xef, feature, ..AtaCommand::default() };
            pass_through.ata(&AtaCommand { timeout: QUERY_TIMEOUT, ..command }, &mut [])?;
        }
    }
    match is_on(way, pass_through)? {
        Some(now) if now == on => Ok(Some(before)),
        Some(_) | None => {
            Err(CommandError::System("the drive took the command and kept it".into()))
        }
    }
}

/// Returns whether the cache is on; `None` where the drive has none.
pub(crate) fn is_on(
    way: CachePath,
    pass_through: &dyn PassThrough,
) -> Result<Option<bool>, CommandError> {
    match way {
        CachePath::Nvme => {
            if !query::controller(pass_through)?.has_volatile_cache {
                return Ok(None);
            }
            let value = query::feature_value(pass_through, feature::WRITE_CACHE, &mut [])?;
            Ok(Some(value & 1 == 1))
        }
        CachePath::Ata => {
            let identity = query::ata_identity(pass_through)?;
            Ok(identity.has_write_cache.then_some(identity.write_cache_on))
        }
    }
}

fn finding(wanted: WriteCache, cause: &str) -> Finding {
    Finding::new(
        FindingKind::WriteCache,
        Severity::Warning,
        format!("the volatile write cache could not be switched {wanted}: {cause}"),
        "the numbers are those of the cache as it was found; test a whole NVMe or SATA drive as root",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_drive::fixture::{Fixture, INVALID_OPCODE, WriteCacheFixture};

    #[test]
    fn a_cache_is_off_while_it_is_asked_for_and_on_again_as_it_was_found() {
        for (way, fixture) in
            [(CachePath::Nvme, Fixture::nvme()), (CachePath::Ata, Fixture::sata())]
        {
            let drive = Arc::new(WriteCacheFixture::new(fixture, true));
            let mut switch = CacheSwitch::of(Some((way, drive.clone())));
            let off = ("write cache off".to_owned(), None);
            assert_eq!(switch.choose(WriteCache::Off), off, "{way:?}");
            // Twice the same is one command, and what was found stays known.
            assert_eq!(switch.choose(WriteCache::Off), off, "{way:?}");
            drop(switch);
            assert_eq!(*drive.requested.lock().unwrap(), [false, true], "{way:?}");
            let mut switch = CacheSwitch::of(Some((way, drive.clone())));
            assert_eq!(switch.choose(WriteCache::On), ("write cache on".to_owned(), None));
            assert_eq!(switch.choose(WriteCache::AsFound), ("as found".to_owned(), None));
            assert_eq!(drive.requested.lock().unwrap().len(), 2, "it was on: nothing was told");
        }
    }

    #[test]
    fn a_drive_that_lies_refuses_or_has_no_cache_is_told_of() {
        let text = |drive: Arc<dyn PassThrough>, wanted| {
            let mut switch = CacheSwitch::of(Some((CachePath::Nvme, drive)));
            let (words, found) = switch.choose(wanted);
            (words, found.map(|finding| finding.text).unwrap_or_default())
        };
        let mut liar = WriteCacheFixture::new(Fixture::nvme(), true);
        liar.applies_requests = false;
        let (words, found) = text(Arc::new(liar), WriteCache::Off);
        assert!(words == "unknown" && found.contains("took the command and kept it"), "{found}");
        let mut refuses = Fixture::nvme();
        refuses.changes.insert(0x09, INVALID_OPCODE);
        let (_, found) = text(Arc::new(refuses), WriteCache::Off);
        assert!(found.contains("invalid opcode"), "{found}");
        // Byte 525 of the identity, bit 0.
        let mut safe = Fixture::nvme();
        safe.identify.get_mut(&(1, 0)).unwrap()[525] = 0;
        let safe = Arc::new(safe);
        let (words, found) = text(safe.clone(), WriteCache::Off);
        assert_eq!((words.as_str(), found.as_str()), ("the drive has no volatile write cache", ""));
        assert!(text(safe, WriteCache::On).1.contains("has no volatile write cache"));
        let (words, found) = CacheSwitch::of(None).choose(WriteCache::Off);
        assert!(words == "unknown" && found.is_some_and(|found| found.text.contains("no drive")));
    }
}
