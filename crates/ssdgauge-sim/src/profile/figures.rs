//! A profile: every figure of a virtual drive, as plain data read from TOML.
//!
//! It must never hold state, and no figure of the model lies anywhere else.

use serde::{Deserialize, Serialize};

/// All figures of one virtual drive. Missing keys of a TOML text take the value of the class
/// that it inherits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Identity and size.
    pub drive: DriveFigures,
    /// The media.
    pub nand: NandFigures,
    /// The fast cache of cells that hold one bit.
    pub slc: SlcFigures,
    /// Everything between the host and the map.
    pub front: FrontFigures,
    /// Garbage collection.
    pub gc: GcFigures,
    /// Power.
    pub power: PowerFigures,
    /// Heat.
    pub thermal: ThermalFigures,
    /// Faults on demand.
    pub fault: FaultFigures,
}

/// Identity and size of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveFigures {
    /// The class or the drive that is modelled, such as `tlc-client`.
    pub class: String,
    /// One line for lists.
    pub title: String,
    /// What the profile stands for and how far it can be trusted.
    pub description: String,
    /// The cells in the field's words, such as `TLC`.
    pub cells: String,
    /// The capacity that the host sees, in 10^9 bytes.
    pub capacity_gb: f64,
    /// The media that can hold host data, in 2^30 bytes, without the fixed part of the cache.
    pub raw_gib: f64,
}

/// The media: what a die is and how long its operations take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NandFigures {
    /// Whether data is overwritten in place, without a map and garbage collection (XPoint).
    pub in_place: bool,
    /// Channels between controller and dies.
    pub channels: u32,
    /// Dies in all, spread evenly over the channels.
    pub dies: u32,
    /// Planes of a die that work together.
    pub planes: u32,
    /// Bits of a cell; a block in SLC mode holds this many times less.
    pub bits: u32,
    /// What one sense operation brings into the page register, in KiB.
    pub page_kib: u32,
    /// What one program operation writes on all planes of a die, in KiB.
    pub program_kib: u32,
    /// The erase unit of a die, all planes together, in MiB.
    pub block_mib: f64,
    /// Time of one sense operation.
    pub t_r_us: f64,
    /// Time of one program operation of `program_kib`.
    pub t_prog_us: f64,
    /// Time of one erase operation.
    pub t_bers_us: f64,
    /// Rate of one channel, in 10^6 bytes per second.
    pub channel_mb_s: f64,
    /// Whether a read interrupts a program or erase operation; else it waits for its end.
    pub suspend: bool,
    /// What an interruption costs the read.
    pub suspend_us: f64,
}

/// The fast cache of cells that hold one bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcFigures {
    /// Cache that is always there, in 10^9 bytes.
    pub fixed_gb: f64,
    /// Cache borrowed from free superblocks, at most, in 10^9 bytes.
    pub dynamic_gb: f64,
    /// Time of one program operation in SLC mode.
    pub t_prog_us: f64,
    /// Rate of folding while the host is silent, in 10^6 bytes per second.
    pub fold_mb_s: f64,
    /// Rate of folding while the host writes, in 10^6 bytes per second.
    pub fold_under_load_mb_s: f64,
    /// What happens to writes when the cache is full.
    pub overflow: Overflow,
}

/// What happens to writes when the fast cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// They go to the native cells at once.
    Direct,
    /// They wait until as much was folded.
    FoldFirst,
}

/// Everything between the host and the map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontFigures {
    /// The interface, such as `PCIe 3.0 x4`.
    pub interface: String,
    /// Payload rate of the link, in 10^6 bytes per second and direction.
    pub link_mb_s: f64,
    /// Whether both directions share the link, as in SATA.
    pub half_duplex: bool,
    /// Commands that the drive accepts at a time; more wait in the host.
    pub max_queue_depth: u32,
    /// Firmware time that a read command takes from the controller.
    pub read_command_us: f64,
    /// Firmware time that a write command takes from the controller.
    pub write_command_us: f64,
    /// Firmware time for each 4 KiB beyond the first.
    pub page_us: f64,
    /// Further latency of a read that occupies nothing.
    pub read_delay_us: f64,
    /// Further latency of a write that occupies nothing.
    pub write_delay_us: f64,
    /// The write buffer, in KiB.
    pub buffer_kib: u32,
    /// Whether the write buffer outlives a loss of power. Else the drive may be told to
    /// acknowledge a write only when it is programmed.
    #[serde(default)]
    pub buffer_is_safe: bool,
    /// Whether the drive reads ahead of sequential streams.
    pub read_ahead: bool,
}

/// Garbage collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcFigures {
    /// Which superblock is collected.
    pub policy: GcPolicy,
    /// How the work is spread.
    pub pacing: GcPacing,
    /// Free superblocks that are held back: collection begins when no more are left.
    pub reserve_superblocks: u32,
    /// Flash that a burst looks through, in MiB, at most half a superblock; only for
    /// `pacing = "burst"`.
    pub burst_mib: f64,
    /// Free superblocks that the drive restores while the host is silent; 0 for none.
    pub idle_superblocks: u32,
}

/// Which superblock is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcPolicy {
    /// The one with the fewest valid pages.
    Greedy,
    /// The one that was filled first.
    Fifo,
}

/// How the work of garbage collection is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcPacing {
    /// A little with every program operation of the host.
    Proportional,
    /// The same work, put off and done at a time: equal throughput, long tails.
    Burst,
}

/// Power: a floor, and an energy for every operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerFigures {
    /// Power while the drive is awake and idle, in watts.
    pub idle_w: f64,
    /// Energy of a command in the controller, in nanojoules.
    pub command_nj: f64,
    /// Energy of a sense operation, in nanojoules.
    pub read_nj: f64,
    /// Energy of a native program operation, in nanojoules.
    pub program_nj: f64,
    /// Energy of a program operation in SLC mode, in nanojoules.
    pub slc_program_nj: f64,
    /// Energy of the erase of one block of one die, in nanojoules.
    pub erase_nj: f64,
    /// Energy of moving one KiB over the link, in nanojoules.
    pub link_nj_per_kib: f64,
    /// States that the drive falls into while the host is silent, the lightest first.
    pub states: Vec<PowerState>,
}

/// A state of less power.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerState {
    /// Power in this state, in watts.
    pub w: f64,
    /// Silence after which the drive begins to enter it, in milliseconds.
    pub after_ms: f64,
    /// Time to enter it, at the power of the state before, in microseconds.
    pub entry_us: f64,
    /// Time that the first command waits for the drive to wake, in microseconds.
    pub exit_us: f64,
}

/// Heat: one resistance, one capacity, a throttle with hysteresis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThermalFigures {
    /// Temperature around the drive.
    pub ambient_c: f64,
    /// Resistance from the drive's body to the surroundings, in kelvin per watt.
    pub r_c_per_w: f64,
    /// Heat capacity of the body, in joules per kelvin.
    pub c_j_per_c: f64,
    /// Resistance from the controller's junction to the body, in kelvin per watt.
    pub junction_c_per_w: f64,
    /// Body temperature at which the drive slows down.
    pub throttle_c: f64,
    /// Body temperature at which it is fast again.
    pub resume_c: f64,
    /// What each step of throttling leaves of its speed, above 0 and at most 1; another step
    /// follows where one does not cool it.
    pub factor: f64,
}

/// Faults on demand; times count from the birth of the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultFigures {
    /// First byte of a range in which requests fail; negative for none.
    pub error_at: f64,
    /// Length of that range in bytes.
    pub error_bytes: f64,
    /// Whether reads in the range fail.
    pub error_reads: bool,
    /// Whether writes in the range fail.
    pub error_writes: bool,
    /// Second at which nothing completes any more; negative for never.
    pub stall_at_s: f64,
    /// How long that lasts, in seconds.
    pub stall_for_s: f64,
    /// Second at which the drive vanishes; negative for never.
    pub gone_at_s: f64,
}
