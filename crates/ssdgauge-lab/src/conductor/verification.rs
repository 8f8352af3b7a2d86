//! The verification after the last step: everything that the run wrote is read and compared.

use super::{Completion, ConductError, Conductor};
use ssdgauge_core::{Finding, FindingKind, RigError, Severity, Verified};
use ssdgauge_runfile::VERIFIED;

impl Conductor<'_> {
    /// Verifies everything that the run wrote, where its plan requires it. A run that is stopped
    /// meanwhile is interrupted: once resumed, it begins the verification again.
    ///
    /// # Errors
    ///
    /// [`RigError::NotKept`] where a block does not hold what was written, and errors of the drive.
    pub(super) fn verify(&mut self) -> Result<Completion, ConductError> {
        if !self.plan.verify {
            return Ok(Completion::Finished);
        }
        let watcher = &mut *self.watcher;
        let verified = self.rig.verify(&mut |read, total| {
            watcher.verifying(read, total);
            !watcher.stop()
        });
        match verified {
            Ok(Some(Verified { stopped: true, .. })) => Ok(Completion::Interrupted),
            Ok(Some(verified)) => self.judge_verified(&verified),
            Ok(None) => self.not_verified(),
            Err(error) => Err(self.not_read_back(error)),
        }
    }

    fn judge_verified(&mut self, verified: &Verified) -> Result<Completion, ConductError> {
        self.watcher.verification_ended(verified);
        let json = serde_json::to_string(verified).expect("counts and texts always serialise");
        self.writer.property(None, VERIFIED, &json)?;
        let Some(what) = verified.describe() else {
            self.commit()?;
            return Ok(Completion::Finished);
        };
        self.find(Finding::new(
            FindingKind::VerifyFailed,
            Severity::Invalid,
            what.clone(),
            "do not use the results of this run, and do not store data on this drive; check its actual \
             capacity, the memory of this machine, the layers above the drive, and whether another program \
             writes to it",
        ))?;
        self.commit()?;
        let drive = self.rig.drive().target.clone();
        Err(RigError::NotKept { drive, what }.into())
    }

    /// Records that nothing could be verified.
    fn not_verified(&mut self) -> Result<Completion, ConductError> {
        self.find(Finding::new(
            FindingKind::NotVerified,
            Severity::Warning,
            "nothing was verified: the run wrote no data that can be read from the drive",
            "verify a run that writes, on a drive or a folder that supports O_DIRECT",
        ))?;
        self.commit()?;
        Ok(Completion::Finished)
    }
}
