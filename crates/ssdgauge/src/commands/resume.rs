//! `ssdgauge resume`: continues a run that was stopped or killed.

use crate::arguments;
use crate::failure::Failure;
use crate::page_file::{self, conclude};
use crate::process::{self, StopFlag};
use crate::progress::Progress;
use crate::target::{Confirmation, OpenedRig, Origin, RunExtras, SizeRequest, Target};
use crate::{meter_specs, terminal};
use ssdgauge_core::DriveInfo;
use ssdgauge_guard::Continued;
use ssdgauge_runfile::{FindingRecord, Writer};

/// Goes on with a run.
pub(crate) fn resume(arguments: &arguments::Resume) -> Result<(), Failure> {
    let specs = meter_specs::specs(&arguments.power.specs)?;
    let (mut writer, run) = Writer::resume(&arguments.file)?;
    let head = run.head();
    let plan = &head.plan;
    let stop = StopFlag::listen()?;
    let size = SizeRequest {
        exact: Some(head.drive.capacity),
        scratch: head.drive.capacity,
        at_most: None,
    };
    let target = Target::find(&head.drive.target, size, plan.seed)?;
    let health_every_s =
        head.drive.details.get(DriveInfo::HEALTH_EVERY).and_then(|text| text.parse().ok());
    page_file::check_page(&page_file::page_beside(&arguments.file), &[arguments.file.as_path()])?;
    let (confirm, erase) = (arguments.confirm.as_deref(), arguments.erase.as_deref());
    let confirmation = Confirmation { confirm, erase };
    // What the run itself left on its drive needs no second confirmation: the guard recognises it.
    let before = Continued {
        disk_sequence: head.drive.details.get("disk_sequence").cloned(),
        boot_id: head.environment.get("boot_id").cloned(),
    };
    let origin = Origin { run_id: &head.id, results: &arguments.file, continues: Some(&before) };
    let extras = RunExtras { stop: &stop, log_ios: None, meters: &specs, health_every_s };
    let OpenedRig { mut rig, meters: described, .. } =
        target.open(plan, confirmation, origin, plan.seed, extras)?;
    let others = meter_specs::changed(&head.environment, &described);
    if let Some(finding) = &others {
        terminal::talk(&format!("warning: {}", finding.text));
    }
    let before = run.steps()?.len();
    let mut progress = Progress::new(plan, stop);
    let result = ssdgauge_lab::resume(&run, rig.as_mut(), &mut writer, &mut progress);
    progress.finish();
    // Where nothing was left to do, nothing was measured with other meters either.
    if let (Some(finding), true) = (others, run.steps()?.len() > before) {
        writer.finding(&FindingRecord { step: None, unix_ms: process::unix_ms(), finding })?;
        writer.commit()?;
    }
    drop((writer, rig, run));
    conclude(result, &arguments.file, arguments.json)
}
