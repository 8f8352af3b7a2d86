//! `report --json`: the runs, their drives and suites.

use super::bands::QuickBands;
use super::parts::Finding;
use super::stated::DriveClaims;
use super::test::Test;
use serde::Serialize;
use std::collections::BTreeMap;

/// The runs that were given, in their order. Keys are added without a new version; a value that was not measured is null.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Report {
    /// Raised where a key changes its meaning or goes.
    pub(crate) schema_version: u32,
    /// The runs.
    pub(crate) runs: Vec<Run>,
    /// The claims of spec files, for each drive that one is about; absent without `--spec`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) specifications: Option<Vec<DriveClaims>>,
}

/// A run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Run {
    /// Its start in UTC, and 32 random bits.
    pub(crate) id: String,
    /// The program that recorded it: version, commit and checksum of the executable.
    pub(crate) program: String,
    /// Its start, in milliseconds since 1970 (UTC); `null` where an imported result does not state it.
    pub(crate) started_unix_ms: Option<i64>,
    /// `complete`, `disturbed`, `unfinished` or `failed`.
    pub(crate) outcome: &'static str,
    /// Whether every step has finished and its writes are flushed.
    pub(crate) complete: bool,
    /// Whether only the last flush is missing, which `ssdgauge resume FILE` makes up for.
    pub(crate) awaits_flush: bool,
    /// Whether the drive is a virtual one.
    pub(crate) model: bool,
    /// The text of `--label`.
    pub(crate) label: Option<String>,
    /// The program that measured it, where that was another one.
    pub(crate) imported_from: Option<String>,
    /// The drive.
    pub(crate) drive: Drive,
    /// The suite, and the options that change its plan.
    pub(crate) suite: Suite,
    /// The rule of `--repeat until:2%`; null without it.
    pub(crate) repeat_until: Option<RepeatUntil>,
    /// What was flushed and read back; null for a run without writes.
    pub(crate) durability: Option<Durability>,
    /// What is known of wear; null for a model, and where nothing is stated.
    pub(crate) endurance: Option<Endurance>,
    /// The machine: kernel, processor, settings.
    pub(crate) environment: BTreeMap<String, String>,
    /// What touches the whole run.
    pub(crate) findings: Vec<Finding>,
    /// The sentence of a run of the suite quick; null for others.
    pub(crate) quick_answer: Option<String>,
    /// Where a run of the suite quick lies among the drives of its class; null for others.
    pub(crate) quick_bands: Option<QuickBands>,
    /// The tests, in the order of the plan.
    pub(crate) tests: Vec<Test>,
}

/// A drive. Its strings are printable ASCII, other bytes `\xNN`, at most 64 characters.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Drive {
    /// `block`, `file`, `null` or `virtual`.
    pub(crate) kind: &'static str,
    /// The target as it was named.
    pub(crate) target: String,
    /// The model that it states.
    pub(crate) model: Option<String>,
    /// The serial that it states.
    pub(crate) serial: Option<String>,
    /// The firmware that it states.
    pub(crate) firmware: Option<String>,
    /// The addressable bytes of the target; null for an imported result that does not state them.
    pub(crate) capacity_bytes: Option<u64>,
    /// The logical block.
    pub(crate) logical_block_bytes: u64,
    /// The physical block.
    pub(crate) physical_block_bytes: u64,
    /// What else is known, such as `drive_capacity_bytes` of the whole drive.
    pub(crate) details: BTreeMap<String, String>,
}

/// A suite, and the options that change its plan.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Suite {
    /// Its id.
    pub(crate) id: String,
    /// Its revision.
    pub(crate) revision: u32,
    /// Its title.
    pub(crate) title: String,
    /// The divisor of durations and byte limits; 1 is full length.
    pub(crate) shortened: u32,
    /// Whether a duration or a limit is divided.
    pub(crate) is_shortened: bool,
    /// By `--scale-spans`.
    pub(crate) span_scaled: bool,
    /// By `--polled`.
    pub(crate) polled: bool,
    /// By `--pass-through`.
    pub(crate) pass_through: bool,
    /// The seed of all random numbers.
    pub(crate) seed: String,
}

/// The rule by which tests are repeated until their intervals are narrow.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RepeatUntil {
    /// The half-width of every interval, in percent of its mean.
    pub(crate) half_width_percent: f64,
    /// Minimum number of repetitions.
    pub(crate) at_least: u32,
    /// Maximum number of repetitions.
    pub(crate) at_most: u32,
    /// The repetitions after which the run ended.
    pub(crate) ended_after: Option<u32>,
}

/// What was flushed, and read back after the last flush.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Durability {
    /// Flushes requested from the kernel.
    pub(crate) flushes_sent: u64,
    /// Those that the devices completed meanwhile, by counters of the kernel.
    pub(crate) flushes_counted: Option<u64>,
    /// The time of the longest one.
    pub(crate) flush_longest_us: f64,
    /// Blocks that were read back.
    pub(crate) blocks_read_back: u64,
    /// Those of them that did not hold what was written last.
    pub(crate) blocks_lost: u64,
    /// The result of `--verify`; null without it.
    pub(crate) verified: Option<Verified>,
}

/// Everything that the run wrote, compared byte by byte.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Verified {
    /// Bytes compared.
    pub(crate) bytes: u64,
    /// The same in blocks of 4 KiB.
    pub(crate) blocks: u64,
    /// Blocks that differ.
    pub(crate) wrong: u64,
    /// The time that it took.
    pub(crate) elapsed_s: f64,
}

/// The wear of a real drive.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Endurance {
    /// The bytes that hosts may write.
    pub(crate) rated_bytes: Option<f64>,
    /// Where this rating comes from.
    pub(crate) rated_source: Option<&'static str>,
    /// The percentage used, by the drive.
    pub(crate) used_percent: Option<f64>,
    /// What hosts wrote over its life; `null` also where the log may have only the low 32 bits of the sectors.
    pub(crate) host_written_bytes: Option<f64>,
    /// What it wrote to its media over its life.
    pub(crate) media_written_bytes: Option<f64>,
    /// What hosts wrote in the run, by the drive.
    pub(crate) run_host_bytes: Option<f64>,
    /// What the run wrote by its own count, where the drive counts no hosts.
    pub(crate) run_sent_bytes: Option<u64>,
    /// What the drive wrote to its media in the run.
    pub(crate) run_media_bytes: Option<f64>,
    /// The time between the first and the last reading of its counter.
    pub(crate) run_elapsed_s: Option<f64>,
    /// Media ÷ hosts, over its life.
    pub(crate) life_write_amplification: Option<f64>,
    /// The write amplification of drives of the model in service.
    pub(crate) in_service: Option<String>,
    /// The years to the rating at the mean rate of the run.
    pub(crate) years_at_this_load: Option<f64>,
    /// Why there are none.
    pub(crate) years_not_stated: Option<&'static str>,
}
