//! The figures of a virtual drive, as plain data read from TOML.
//!
//! They must never hold state. Field names are keys of the TOML text, and the digest of a profile is
//! computed from that text: a changed name changes the identity of every virtual drive.

use crate::profile::effects::EffectFigures;
use crate::time::SimTime;
use serde::{Deserialize, Serialize};

/// All figures of one virtual drive. Keys that a TOML text leaves out take the values of the profile
/// that it inherits from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Identity and size.
    pub drive: DriveFigures,
    /// Flash dies and channels.
    pub nand: NandFigures,
    /// The SLC cache.
    pub slc: SlcFigures,
    /// Submission queue, controller, link and write buffer.
    #[serde(rename = "front")]
    pub host_interface: HostInterfaceFigures,
    /// Garbage collection.
    pub gc: GcFigures,
    /// Power.
    pub power: PowerFigures,
    /// Temperature and throttling.
    pub thermal: ThermalFigures,
    /// Injected faults.
    pub fault: FaultFigures,
    /// Effects that only some drives show.
    // Left out of the text where all are off, so that the digest of a drive without them stays.
    #[serde(default, skip_serializing_if = "EffectFigures::are_off")]
    pub effects: EffectFigures,
}

/// Identity and size of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveFigures {
    /// The class or the drive that is modelled, such as `tlc-client`.
    pub class: String,
    /// One line for lists.
    pub title: String,
    /// What the profile represents, in one sentence.
    pub description: String,
    /// The type of the cells, such as `TLC`.
    pub cells: String,
    /// The user capacity, in 10^9 bytes.
    pub capacity_gb: f64,
    /// The flash that can hold host data, in 2^30 bytes, without the fixed part of the SLC cache.
    pub raw_gib: f64,
}

/// Flash: the organisation of dies and channels, and the durations of their operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NandFigures {
    /// Whether data is overwritten in place, without a map and garbage collection (XPoint).
    pub in_place: bool,
    /// Channels between controller and dies.
    pub channels: u32,
    /// Dies in total, spread evenly over the channels.
    pub dies: u32,
    /// Planes of a die that operate together.
    pub planes: u32,
    /// Bits per cell; a block in SLC mode holds a fraction of 1 / `bits`.
    pub bits: u32,
    /// Data that one sense operation loads into the page register, in KiB.
    pub page_kib: u32,
    /// Data that one program operation writes on all planes of a die, in KiB.
    pub program_kib: u32,
    /// The erase unit of a die, all planes together, in MiB.
    pub block_mib: f64,
    /// Time of one sense operation, in microseconds.
    pub t_r_us: f64,
    /// Time of one program operation of `program_kib`, in microseconds.
    pub t_prog_us: f64,
    /// Time of one erase operation, in microseconds.
    pub t_bers_us: f64,
    /// Transfer rate of one channel, in 10^6 bytes per second.
    pub channel_mb_s: f64,
    /// Whether a read suspends a program or erase operation; else it waits for its end.
    pub suspend: bool,
    /// Time to suspend an operation, in microseconds.
    pub suspend_us: f64,
}

/// The SLC cache: superblocks whose cells hold one bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcFigures {
    /// The fixed part of the cache, in 10^9 bytes.
    pub fixed_gb: f64,
    /// The largest part that is borrowed from free superblocks, in 10^9 bytes.
    pub dynamic_gb: f64,
    /// Time of one program operation in SLC mode, in microseconds.
    pub t_prog_us: f64,
    /// Folding rate while the host is idle, in 10^6 bytes per second.
    pub fold_mb_s: f64,
    /// Folding rate while the host writes, in 10^6 bytes per second.
    pub fold_under_load_mb_s: f64,
    /// How writes are handled when the cache is full.
    pub overflow: Overflow,
}

/// How writes are handled when the SLC cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// They go to native cells.
    Direct,
    /// They wait until as much data was folded.
    FoldFirst,
}

/// Submission queue, controller, link and write buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostInterfaceFigures {
    /// The interface, such as `PCIe 3.0 x4`.
    pub interface: String,
    /// Payload rate of the link, in 10^6 bytes per second and direction.
    pub link_mb_s: f64,
    /// Whether both directions share the link, as in SATA.
    pub half_duplex: bool,
    /// Commands that the drive accepts at a time; further ones wait in the host.
    pub max_queue_depth: u32,
    /// Controller time of a read command, in microseconds.
    pub read_command_us: f64,
    /// Controller time of a write command, in microseconds.
    pub write_command_us: f64,
    /// Controller time for each 4 KiB beyond the first, in microseconds.
    pub page_us: f64,
    /// Additional latency of a read that occupies nothing, in microseconds.
    pub read_delay_us: f64,
    /// Additional latency of a write that occupies nothing, in microseconds.
    pub write_delay_us: f64,
    /// The write buffer, in KiB.
    pub buffer_kib: u32,
    /// Whether the write buffer is protected against power loss. If not, a write of a stream with
    /// `sync`, and every write while the write cache is off, is acknowledged only when it is
    /// programmed.
    #[serde(default)]
    pub buffer_is_safe: bool,
    /// Whether the drive reads ahead of sequential streams.
    pub read_ahead: bool,
}

/// Garbage collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GcFigures {
    /// How the victim is selected.
    pub policy: GcPolicy,
    /// How the work is distributed over time.
    pub pacing: GcPacing,
    /// Free superblocks that are held back: collection begins when no more are left.
    pub reserve_superblocks: u32,
    /// Flash that a burst examines, in MiB, at most half a superblock; only for
    /// `pacing = "burst"`.
    pub burst_mib: f64,
    /// Free superblocks that the drive restores while the host is idle; 0 for none.
    pub idle_superblocks: u32,
}

/// The selection of the superblock that is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcPolicy {
    /// The superblock with the fewest valid pages.
    Greedy,
    /// The superblock that was filled first.
    Fifo,
    /// The superblock with the highest (1 − u) × age ÷ (1 + u), u being its share of valid pages (Rosenblum
    /// and Ousterhout, "The Design and Implementation of a Log-Structured File System", ACM TOCS 1992).
    /// Superblocks of hot data are left until little is valid in them, those of cold data are collected
    /// early: hot and cold data are separated, because copies have a superblock of their own.
    CostBenefit,
}

/// The distribution of garbage collection over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GcPacing {
    /// A share with every program operation of the host.
    Proportional,
    /// The same work, deferred and done in bursts: equal throughput, longer tail latency.
    Burst,
}

/// Power: that of each power state, and an energy for every operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerFigures {
    /// Power while the drive is active and idle, in watts.
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
    /// Energy to transfer one KiB over the link, in nanojoules.
    pub link_nj_per_kib: f64,
    /// The maximum power of power state 0, in watts; 0 where none is stated. It limits nothing: the
    /// other figures keep the drive below it, at its nominal capacity or less.
    #[serde(default)]
    pub max_w: f64,
    /// The further operational power states, from 1 on, the one with the highest power first. The
    /// drive enters them by command alone.
    #[serde(default)]
    pub limited_states: Vec<LimitedState>,
    /// The non-operational power states, numbered after the operational ones. The drive enters them
    /// while the host is idle, the lightest first.
    pub states: Vec<PowerState>,
}

/// An operational power state that limits the drive: work waits until its energy fits the power.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitedState {
    /// Maximum power, in watts.
    pub max_w: f64,
    /// Power while the drive is active and idle, in watts; below `max_w`.
    pub idle_w: f64,
}

/// A non-operational power state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerState {
    /// Power in this state, in watts.
    pub w: f64,
    /// Idle time after which the drive begins to enter it, in milliseconds.
    pub after_ms: f64,
    /// Entry latency, at the power of the state before, in microseconds.
    pub entry_us: f64,
    /// Exit latency, which the first command waits for, in microseconds.
    pub exit_us: f64,
}

/// Temperature: a lumped model of one thermal resistance and one heat capacity, and throttling with
/// hysteresis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThermalFigures {
    /// Ambient temperature, in degrees Celsius.
    pub ambient_c: f64,
    /// Thermal resistance from the body of the drive to ambient, in kelvin per watt.
    pub r_c_per_w: f64,
    /// Heat capacity of the body, in joules per kelvin.
    pub c_j_per_c: f64,
    /// Thermal resistance from the controller's junction to the body, in kelvin per watt.
    pub junction_c_per_w: f64,
    /// Body temperature at which the drive throttles, in degrees Celsius.
    pub throttle_c: f64,
    /// Body temperature at which it returns to full speed, in degrees Celsius.
    pub resume_c: f64,
    /// Share of the speed that each throttle step leaves, above 0 and at most 1; a further step
    /// follows where the last one does not cool the drive.
    pub factor: f64,
}

/// Injected faults; times count from the creation of the drive.
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
    /// Second from which nothing completes; negative for never.
    pub stall_at_s: f64,
    /// Duration of the stall, in seconds.
    pub stall_for_s: f64,
    /// Second at which the drive disappears; negative for never.
    pub gone_at_s: f64,
    // Faults added since the first digest are left out of the text where they are off, as effects
    // are.
    /// Second from which the drive acknowledges writes and drops their data; negative for never.
    #[serde(default = "never", skip_serializing_if = "is_never")]
    pub drop_at_s: f64,
    /// Second from which one bit of each write is stored changed; negative for never.
    #[serde(default = "never", skip_serializing_if = "is_never")]
    pub flip_at_s: f64,
    /// Second at which the power is cut and is back at once, which takes what the write buffer holds where that is not
    /// protected (`front.buffer_is_safe`); negative for never.
    #[serde(default = "never", skip_serializing_if = "is_never")]
    pub power_cut_at_s: f64,
    /// Whether every flush fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flush_fails: bool,
}

impl FaultFigures {
    /// Returns when the power is cut.
    pub(crate) fn power_cut(&self) -> Option<SimTime> {
        (self.power_cut_at_s >= 0.0).then_some((self.power_cut_at_s * 1e9) as SimTime)
    }
}

fn never() -> f64 {
    -1.0
}

fn is_never(second: &f64) -> bool {
    *second < 0.0
}
