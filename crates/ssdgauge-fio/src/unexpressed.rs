//! What the plan of an imported job does not express, and what else is to be said of the job.

use crate::block_sizes;
use crate::left_out;
use crate::output::{Job, Options};
use crate::samples::{has_whole_latency, latency_of};
use crate::stream::{count_of, cpus, random_percent};
use ssdgauge_core::{Finding, FindingKind, Severity};

/// The options of a job that the plan or the drive expresses, or that move no number.
const EXPRESSED: [&str; 25] = [
    "name",
    "filename",
    "directory",
    "size",
    "io_size",
    "rw",
    "readwrite",
    "rwmixread",
    "rwmixwrite",
    "bs",
    "blocksize",
    "ioengine",
    "runtime",
    "time_based",
    "direct",
    "group_reporting",
    "unified_rw_reporting",
    "stonewall",
    "new_group",
    "thread",
    "description",
    "percentile_list",
    "lat_percentiles",
    "write_hist_log",
    "log_hist_msec",
];
/// The engines of fio with one request in flight for each job.
pub(crate) const SYNCHRONOUS: [&str; 6] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];

/// Returns whether an option names the target or chooses what fio reports: of one load, it moves no number.
pub(crate) fn is_of_report(key: &str) -> bool {
    const NAMES: [&str; 13] = [
        "name",
        "filename",
        "filename_format",
        "directory",
        "description",
        "percentile_list",
        "clat_percentiles",
        "slat_percentiles",
        "group_reporting",
        "unified_rw_reporting",
        "per_job_logs",
        "stonewall",
        "new_group",
    ];
    let is_log = key.starts_with("log_") || key.starts_with("write_") && key.ends_with("_log");
    is_log || NAMES.contains(&key)
}

/// Returns the options of a job over the global ones.
pub(crate) fn merged(global: &Options, own: &Options) -> Options {
    global.iter().chain(own).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Returns what is to be said of a job: errors, and what the plan does not express.
pub(crate) fn findings_of(job: &Job, options: &Options) -> Vec<Finding> {
    let mut findings = Vec::new();
    let name = &job.jobname;
    if job.error != 0 || job.total_err > 0 {
        let text = match job.error {
            0 => {
                format!("{} requests of job '{name}' failed; they are in no number", job.total_err)
            }
            error => format!(
                "job '{name}' ended with {}: its numbers are those until then",
                left_out::describe(error)
            ),
        };
        let advice = "see the messages of fio and the kernel log (dmesg)";
        findings.push(Finding::new(FindingKind::Faults, Severity::Warning, text, advice));
    }
    findings.extend(zones_finding(name, options));
    let mut missing: Vec<String> = options
        .iter()
        .filter(|(key, _)| !EXPRESSED.contains(&key.as_str()) && !is_of_zones(key))
        .filter(|(key, _)| match key.as_str() {
            "bssplit" => block_sizes::split(options).is_none(),
            "iodepth" | "numjobs" => count_of(options, key).is_none(),
            "percentage_random" => random_percent(job, options).is_none(),
            "cpus_allowed" | "cpus_allowed_policy" => cpus(options).is_none(),
            _ => true,
        })
        .map(|(key, value)| if value.is_empty() { key.clone() } else { format!("{key}={value}") })
        .collect();
    let engine = options.get("ioengine").map(String::as_str);
    if let Some(engine) = engine.filter(|one| *one != "io_uring" && !SYNCHRONOUS.contains(one)) {
        missing.push(format!("ioengine={engine} (the plan shows io_uring)"));
    }
    missing.extend(block_sizes::unexpressed(job, options));
    let sides = [Some(&job.read), Some(&job.write), job.trim.as_ref()].into_iter().flatten();
    let sides = sides.filter(|side| side.total_ios > 0);
    if sides.clone().any(|side| latency_of(side).is_none()) {
        missing.push("its latencies, which fio did not measure".into());
    } else if sides.clone().any(|side| !has_whole_latency(side)) {
        missing.push("the time before the submission, which clat excludes".into());
    }
    if job.is_sum {
        findings.push(Finding::new(
            FindingKind::Imported,
            Severity::Warning,
            format!(
                "job '{name}' reports its reads and writes as one sum (unified_rw_reporting=1): each of \
                 its numbers counts both, and they are recorded as reads"
            ),
            "for reads and writes apart, run it with unified_rw_reporting=both",
        ));
    }
    if !missing.is_empty() {
        findings.push(Finding::new(
            FindingKind::Imported,
            Severity::Note,
            format!(
                "the plan and the latencies of job '{name}' do not express: {}",
                missing.join(", ")
            ),
            "compare it only with results of the same job; for whole latencies run fio with \
             lat_percentiles=1",
        ));
    }
    findings
}

/// Returns whether an option is one of the zones of a drive or of its range.
fn is_of_zones(key: &str) -> bool {
    key.starts_with("zone") || key.ends_with("max_open_zones") || key == "read_beyond_wp"
}

/// Returns the finding about a job that keeps to zones.
fn zones_finding(name: &str, options: &Options) -> Option<Finding> {
    let mode = options.get("zonemode").filter(|mode| *mode != "none")?;
    let zones = options.iter().filter(|(key, _)| is_of_zones(key));
    let zones: Vec<String> = zones.map(|(key, value)| format!("{key}={value}")).collect();
    let what = match mode.as_str() {
        "zbd" => "wrote and read zones of a zoned drive by its rules",
        _ => "kept to zones of its range",
    };
    let text = format!(
        "job '{name}' {what} ({}): the plan shows neither the zones nor their state",
        zones.join(", ")
    );
    let advice = "compare it only with results of the same job on zones of the same size";
    Some(Finding::new(FindingKind::Imported, Severity::Warning, text, advice))
}
