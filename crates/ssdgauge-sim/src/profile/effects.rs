//! Effects that only some drives show. Every figure is off by default.
//!
//! A profile without this section has the digest that it had before an effect was added, and no number
//! of such a drive moves: a new effect raises the model revision of no drive that leaves it off.

use serde::{Deserialize, Serialize};
use toml::Value;

/// The effects of a drive, each off at 0 or `false`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EffectFigures {
    /// Whether a write ends the read-ahead of every followed stream: one buffer serves both directions.
    pub write_ends_read_ahead: bool,
    /// Controller time of a command whose direction is not that of the command before, in
    /// microseconds.
    pub direction_change_us: f64,
    /// Controller time of a synchronous write, in which no other command is processed, in
    /// microseconds.
    pub sync_write_us: f64,
    /// Flash programmed between two writes of the map to flash, in MiB; 0 for none.
    pub journal_every_mib: f64,
    /// Time for which such a write stops the controller, in milliseconds.
    pub journal_ms: f64,
    /// Time between two interruptions by the controller's own work, in milliseconds; 0 for none.
    pub housekeeping_every_ms: f64,
    /// Duration of such an interruption, in microseconds.
    pub housekeeping_us: f64,
    /// Whether the maximum power of power state 0 limits the drive.
    pub power_cap: bool,
    /// Share of the sense operations for host reads whose data cannot be corrected at once, and that
    /// are repeated with other read thresholds; 0 for none.
    pub read_retry_share: f64,
    /// Time that the die takes for each repetition, in microseconds. Half of the repetitions need
    /// another one.
    pub read_retry_us: f64,
    /// Controller time of each page that is copied while the host writes, in microseconds: the
    /// bookkeeping of garbage collection and folding.
    pub copy_us: f64,
    /// Duration of the pulses of a program or erase operation, in microseconds: it can be suspended
    /// between two of them only; 0 at any time.
    pub pulse_us: f64,
    /// Time of the die that a suspended operation loses when it is resumed, in microseconds.
    pub resume_us: f64,
    /// Share of the fast cache in use from which on a drive folds while the host writes; 0 folds
    /// whenever there is something to fold.
    pub fold_from_share: f64,
    /// Share of the fast cache in use at which that folding ends.
    pub fold_until_share: f64,
    /// Sequential read streams that the drive follows at a time; 0 for eight.
    pub read_streams: u32,
    /// Free superblocks above the reserve at which collection stops that has begun at the reserve: the
    /// upper one of two watermarks. 0 keeps the number of free superblocks constant.
    pub watermark_superblocks: u32,
    /// How many times the work that keeps the number of free superblocks constant is done between the
    /// watermarks; above 1.
    pub watermark_pace: f64,
    // A figure that is left out of the text where it is off leaves the digest of every drive that has
    // other effects as it was.
    /// Whether a read waits until the write buffer is empty: the unit that is not full is programmed
    /// with unused slots.
    #[serde(skip_serializing_if = "is_false")]
    pub read_flushes_buffer: bool,
    /// Body temperature at which the drive is throttled lightly, below `thermal.throttle_c`; 0 for
    /// one stage of throttling. It ends as far below as `thermal.resume_c` is below `thermal.throttle_c`.
    #[serde(skip_serializing_if = "is_zero")]
    pub light_throttle_c: f64,
    /// Share of the speed that light throttling leaves.
    #[serde(skip_serializing_if = "is_zero")]
    pub light_throttle_factor: f64,
    /// Change of the body temperature after which the read thresholds are calibrated, in kelvin; 0
    /// for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub recalibrate_k: f64,
    /// Time for which a calibration stops the controller, in milliseconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub recalibrate_ms: f64,
    /// Granule of the counters of bytes that the drive wrote to its flash and that hosts wrote, in KiB; 0 for a drive
    /// without such counters. They are readings of each step, and change nothing else.
    #[serde(skip_serializing_if = "is_zero")]
    pub media_counter_kib: f64,
    /// Mapping unit, in KiB: what the map has one entry for, so that it is programmed as a whole. Data that a
    /// write does not bring is read from flash before. 0 for 4 KiB.
    #[serde(skip_serializing_if = "is_none")]
    pub map_unit_kib: u32,
    /// Data whose map is available, in MiB: other reads read their part of the map from flash before, which covers 4 MiB
    /// of data where the mapping unit is 4 KiB. 0 for the whole map.
    #[serde(skip_serializing_if = "is_zero")]
    pub map_reach_mib: f64,
    /// Whether writes need their part of the map too, and a part that they changed is programmed when it is replaced;
    /// with `map_reach_mib`.
    #[serde(skip_serializing_if = "is_false")]
    pub map_updates: bool,
    /// Independent volumes that the addresses are split into: each has its share of the dies, of the write buffer and of
    /// the cache, and its own collection. 0 and 1 for none.
    #[serde(skip_serializing_if = "is_none")]
    pub volumes: u32,
    /// Addresses in a row that belong to one volume, in KiB: a power of two.
    #[serde(skip_serializing_if = "is_none")]
    pub volume_kib: u32,
    /// Whether the drive compresses: zeros take no flash, and two pages of which half is zeros share that of one.
    #[serde(skip_serializing_if = "is_false")]
    pub compresses: bool,
    /// Whether the drive deduplicates: zeros, and a block that it has already, take no flash.
    #[serde(skip_serializing_if = "is_false")]
    pub deduplicates: bool,
    /// Time that a thread of the host takes for each request that was completed, in microseconds; it sees the next one,
    /// and sends the next request, after that.
    #[serde(skip_serializing_if = "is_zero")]
    pub host_request_us: f64,
    /// Mean of the exponentially distributed time by which a host sees a completion late, in microseconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub host_jitter_us: f64,
    /// Commands that the drive fetches and holds at most; further ones wait in the queues of the host's threads, from
    /// which they are fetched in turn. 0 for any number, in the order of submission.
    #[serde(skip_serializing_if = "is_none")]
    pub fetched_commands: u32,
    /// Sense time of each further page of a cell with several bits, as a multiple of that of the page before:
    /// `nand.t_r_us` is their mean. 0 and 1 for equal pages.
    #[serde(skip_serializing_if = "is_zero")]
    pub page_type_ratio: f64,
    /// Relative standard deviation of the sense times of pages, half of its variance between blocks.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_spread: f64,
    /// The same of program times.
    #[serde(skip_serializing_if = "is_zero")]
    pub program_spread: f64,
    /// Erases of each block after which the share of read retries has doubled; 0 for a share that does not grow.
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_cycles: f64,
    /// Erases of each block before the drive was created.
    #[serde(skip_serializing_if = "is_zero")]
    pub worn_cycles: f64,
    /// Age τ of data, in seconds, in units of which its share of retries grows as 1 + ln(1 + age ÷ τ); 0 for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_age_s: f64,
    /// Relative standard deviation of the share of retries between blocks.
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_spread: f64,
    /// Time of a trim for each extent that it names, of at most 2 GiB, in microseconds. 0, with the next figure, for
    /// 1 ms for each extent.
    #[serde(skip_serializing_if = "is_zero")]
    pub trim_extent_us: f64,
    /// Further time of a trim for each GiB, in microseconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub trim_gib_us: f64,
    /// Whether the fixed part of the SLC cache is taken from `drive.raw_gib`, where it leaves less spare area.
    #[serde(skip_serializing_if = "is_false")]
    pub fixed_cache_inside: bool,
    /// Whether the drive states the temperature from which it is throttled, and counts how often and how long it was.
    #[serde(skip_serializing_if = "is_false")]
    pub reports_heat: bool,
    /// Limit of the media of a drive that writes in place, in MB/s; 0 for that of its dies.
    #[serde(skip_serializing_if = "is_zero")]
    pub in_place_write_mb_s: f64,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_none(value: &u32) -> bool {
    *value == 0
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl EffectFigures {
    /// The keys that a text without these effects does not state, with their values.
    pub(crate) fn unstated() -> impl Iterator<Item = (&'static str, Value)> {
        let switches = [
            "read_flushes_buffer",
            "compresses",
            "deduplicates",
            "fixed_cache_inside",
            "map_updates",
            "reports_heat",
        ];
        let counts = ["map_unit_kib", "volumes", "volume_kib", "fetched_commands"];
        let figures = [
            "light_throttle_c",
            "light_throttle_factor",
            "recalibrate_k",
            "recalibrate_ms",
            "media_counter_kib",
            "map_reach_mib",
            "host_request_us",
            "host_jitter_us",
            "page_type_ratio",
            "read_spread",
            "program_spread",
            "retry_cycles",
            "worn_cycles",
            "retry_age_s",
            "retry_spread",
            "trim_extent_us",
            "trim_gib_us",
            "in_place_write_mb_s",
        ];
        let switches = switches.into_iter().map(|key| (key, Value::Boolean(false)));
        let counts = counts.into_iter().map(|key| (key, Value::Integer(0)));
        let figures = figures.into_iter().map(|key| (key, Value::Float(0.0)));
        switches.chain(counts).chain(figures)
    }

    /// Returns whether every effect is off.
    pub fn are_off(&self) -> bool {
        *self == EffectFigures::default()
    }

    /// Returns how many volumes the drive consists of.
    pub(crate) fn volume_count(&self) -> u32 {
        self.volumes.max(1)
    }

    /// Returns each figure with its name, its minimum and its maximum.
    pub(crate) fn ranges(&self) -> [(&'static str, f64, f64, f64); 38] {
        let watermark = f64::from(self.watermark_superblocks);
        [
            ("effects.direction_change_us", self.direction_change_us, 0.0, 100_000.0),
            ("effects.sync_write_us", self.sync_write_us, 0.0, 100_000.0),
            ("effects.journal_every_mib", self.journal_every_mib, 0.0, 1e6),
            ("effects.journal_ms", self.journal_ms, 0.0, 60_000.0),
            ("effects.housekeeping_every_ms", self.housekeeping_every_ms, 0.0, 1e6),
            ("effects.housekeeping_us", self.housekeeping_us, 0.0, 100_000.0),
            ("effects.read_retry_share", self.read_retry_share, 0.0, 0.5),
            ("effects.read_retry_us", self.read_retry_us, 0.0, 100_000.0),
            ("effects.copy_us", self.copy_us, 0.0, 10_000.0),
            ("effects.pulse_us", self.pulse_us, 0.0, 100_000.0),
            ("effects.resume_us", self.resume_us, 0.0, 100_000.0),
            ("effects.fold_from_share", self.fold_from_share, 0.0, 1.0),
            ("effects.fold_until_share", self.fold_until_share, 0.0, 1.0),
            ("effects.read_streams", f64::from(self.read_streams), 0.0, 8.0),
            ("effects.watermark_superblocks", watermark, 0.0, 10_000.0),
            ("effects.watermark_pace", self.watermark_pace, 0.0, 1_000.0),
            ("effects.light_throttle_c", self.light_throttle_c, 0.0, 150.0),
            ("effects.light_throttle_factor", self.light_throttle_factor, 0.0, 1.0),
            ("effects.recalibrate_k", self.recalibrate_k, 0.0, 100.0),
            ("effects.recalibrate_ms", self.recalibrate_ms, 0.0, 60_000.0),
            ("effects.media_counter_kib", self.media_counter_kib, 0.0, 1e6),
            ("effects.map_unit_kib", f64::from(self.map_unit_kib), 0.0, 64.0),
            ("effects.map_reach_mib", self.map_reach_mib, 0.0, 1e9),
            ("effects.volumes", f64::from(self.volumes), 0.0, 8.0),
            ("effects.volume_kib", f64::from(self.volume_kib), 0.0, 8_192.0),
            ("effects.host_request_us", self.host_request_us, 0.0, 10_000.0),
            ("effects.host_jitter_us", self.host_jitter_us, 0.0, 10_000.0),
            ("effects.fetched_commands", f64::from(self.fetched_commands), 0.0, 65_535.0),
            ("effects.page_type_ratio", self.page_type_ratio, 0.0, 4.0),
            ("effects.read_spread", self.read_spread, 0.0, 0.25),
            ("effects.program_spread", self.program_spread, 0.0, 0.25),
            ("effects.retry_cycles", self.retry_cycles, 0.0, 1e6),
            ("effects.worn_cycles", self.worn_cycles, 0.0, 1e6),
            ("effects.retry_age_s", self.retry_age_s, 0.0, 1e9),
            ("effects.retry_spread", self.retry_spread, 0.0, 0.28),
            ("effects.trim_extent_us", self.trim_extent_us, 0.0, 1e7),
            ("effects.trim_gib_us", self.trim_gib_us, 0.0, 1e7),
            ("effects.in_place_write_mb_s", self.in_place_write_mb_s, 0.0, 1e6),
        ]
    }
}
