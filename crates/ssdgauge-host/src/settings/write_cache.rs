//! Volatile write cache of a drive: while it is on, a loss of power undoes acknowledged writes.
//!
//! Every change is restored, at the latest when [`CacheSwitch`] is dropped; where the run is
//! killed, the privileged helper restores it. The setting of the kernel (`queue/write_cache`) is
//! not changed: it continues to send flushes, which an empty cache completes at once.

use ssdgauge_core::{Finding, FindingKind, Severity, WriteCache};
use ssdgauge_drive::pass_through::{
    AtaCommand, CommandError, NvmeCommand, PassThrough, QUERY_TIMEOUT,
};
use ssdgauge_drive::query::{self, feature};
use std::sync::Arc;

/// The command set that switches the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachePath {
    /// Feature 06h (NVM Express Base Specification, Volatile Write Cache).
    Nvme,
    /// SET FEATURES, subcommands 02h and 82h (ACS-4, 7.45).
    Ata,
}

/// The write cache of one drive, with its state before the first change.
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
    /// Returns the switch of the write cache of `drive`; `None` for a target without one.
    pub(crate) fn new(drive: Option<(CachePath, Arc<dyn PassThrough>)>) -> CacheSwitch {
        CacheSwitch { drive, found: None }
    }

    /// Switches the cache to `wanted`. Returns the setting in force as text, and a finding where it
    /// could not be switched.
    pub(crate) fn apply(&mut self, wanted: WriteCache) -> (String, Option<Finding>) {
        let on = match wanted {
            WriteCache::AsFound => {
                let problem = self.restore().err().map(|cause| finding(wanted, &cause));
                return ("as found".to_owned(), problem);
            }
            WriteCache::On => true,
            WriteCache::Off => false,
        };
        let Some((path, pass_through)) = &self.drive else {
            let cause = "this is possible only on a whole NVMe or SATA drive";
            return ("unknown".to_owned(), Some(finding(wanted, cause)));
        };
        match switch(*path, pass_through.as_ref(), on) {
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
        let (Some(found), Some((path, pass_through))) = (self.found.take(), &self.drive) else {
            return Ok(());
        };
        switch(*path, pass_through.as_ref(), found).map(|_| ()).map_err(|cause| cause.to_string())
    }
}

impl Drop for CacheSwitch {
    fn drop(&mut self) {
        // The run has ended and records nothing more.
        let _ = self.restore();
    }
}

/// Switches the cache and reads its state back: some drives, and many USB bridges, accept the
/// command without an effect. Returns whether it was on before; `None` where the drive has no
/// cache.
///
/// # Errors
/// The drive refuses a command, or its cache did not change state.
pub(crate) fn switch(
    path: CachePath,
    pass_through: &dyn PassThrough,
    on: bool,
) -> Result<Option<bool>, CommandError> {
    let Some(before) = is_on(path, pass_through)? else { return Ok(None) };
    if before == on {
        return Ok(Some(before));
    }
    match path {
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
    match is_on(path, pass_through)? {
        Some(now) if now == on => Ok(Some(before)),
        Some(_) | None => Err(CommandError::System(
            "the drive accepted SET FEATURES, but its write cache did not change state".into(),
        )),
    }
}

/// Returns whether the cache is on; `None` where the drive has none.
///
/// # Errors
/// The drive refuses a query.
pub(crate) fn is_on(
    path: CachePath,
    pass_through: &dyn PassThrough,
) -> Result<Option<bool>, CommandError> {
    match path {
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
        "the results are those of the cache as found; test a whole NVMe or SATA drive as root",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_drive::fixture::{Fixture, INVALID_OPCODE, WriteCacheFixture};

    #[test]
    fn a_cache_is_switched_off_and_restored_as_found() {
        for (path, fixture) in
            [(CachePath::Nvme, Fixture::nvme()), (CachePath::Ata, Fixture::sata())]
        {
            let drive = Arc::new(WriteCacheFixture::new(fixture, true));
            let mut switch = CacheSwitch::new(Some((path, drive.clone())));
            let off = ("write cache off".to_owned(), None);
            assert_eq!(switch.apply(WriteCache::Off), off, "{path:?}");
            // The same request again sends no command, and the state found is still known.
            assert_eq!(switch.apply(WriteCache::Off), off, "{path:?}");
            drop(switch);
            assert_eq!(*drive.requested.lock().unwrap(), [false, true], "{path:?}");
            let mut switch = CacheSwitch::new(Some((path, drive.clone())));
            assert_eq!(switch.apply(WriteCache::On), ("write cache on".to_owned(), None));
            assert_eq!(switch.apply(WriteCache::AsFound), ("as found".to_owned(), None));
            assert_eq!(drive.requested.lock().unwrap().len(), 2, "it was on: no command was sent");
        }
    }

    #[test]
    fn a_drive_that_ignores_or_refuses_the_command_or_has_no_cache_has_a_finding() {
        let text = |drive: Arc<dyn PassThrough>, wanted| {
            let mut switch = CacheSwitch::new(Some((CachePath::Nvme, drive)));
            let (words, found) = switch.apply(wanted);
            (words, found.map(|finding| finding.text).unwrap_or_default())
        };
        let mut ignores = WriteCacheFixture::new(Fixture::nvme(), true);
        ignores.applies_requests = false;
        let (words, found) = text(Arc::new(ignores), WriteCache::Off);
        assert!(words == "unknown" && found.contains("did not change state"), "{found}");
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
        let (words, found) = CacheSwitch::new(None).apply(WriteCache::Off);
        assert!(
            words == "unknown" && found.is_some_and(|found| found.text.contains("only on a whole"))
        );
    }
}
