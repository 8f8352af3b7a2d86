//! Samples: intervals and readings.

pub(crate) mod latency_map;
pub(crate) mod latency_of;
pub(crate) mod readings;
pub(crate) mod recorded;

use crate::units::Nanos;
use crate::units::names::name_of;
use serde::{Deserialize, Serialize};
use ssdgauge_statistics::histogram::Histogram;

/// The direction of a request: a transfer from or to the drive, or a command that moves no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Direction {
    /// From the drive.
    Read = 0,
    /// To the drive.
    Write = 1,
    /// A flush: what was written before is durable when it completes.
    Flush = 2,
    /// A trim: the drive deallocates a range.
    Trim = 3,
}

impl Direction {
    /// The number of directions.
    pub const COUNT: usize = 4;

    /// All directions, in the order of their numbers.
    pub const ALL: [Direction; Direction::COUNT] =
        [Direction::Read, Direction::Write, Direction::Flush, Direction::Trim];

    /// The directions that move data.
    pub const TRANSFERS: [Direction; 2] = [Direction::Read, Direction::Write];

    /// Returns `read`, `write`, `flush` or `trim`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Flush => "flush",
            Direction::Trim => "trim",
        }
    }

    /// Returns the word for its requests: `reads`, `writes`, `flushes` or `trims`.
    pub fn requests(self) -> &'static str {
        match self {
            Direction::Read => "reads",
            Direction::Write => "writes",
            Direction::Flush => "flushes",
            Direction::Trim => "trims",
        }
    }

    /// Returns the direction called `name`.
    pub fn from_name(name: &str) -> Option<Direction> {
        Direction::ALL.into_iter().find(|direction| direction.name() == name)
    }

    /// Returns whether requests in the direction move data.
    #[inline]
    pub fn is_transfer(self) -> bool {
        matches!(self, Direction::Read | Direction::Write)
    }

    /// Returns whether its requests address blocks; a flush has no place.
    #[inline]
    pub fn addresses(self) -> bool {
        self != Direction::Flush
    }

    /// Returns a request at `offset` bytes in words, such as `read at byte 4096`.
    pub fn at(self, offset: u64) -> String {
        match self.addresses() {
            true => format!("{} at byte {offset}", self.name()),
            false => self.name().to_owned(),
        }
    }

    /// Returns 0 for what comes from the drive, and 1 for everything that is sent to it: the index
    /// into pairs of reads and writes.
    #[inline]
    pub fn side(self) -> usize {
        usize::from(self != Direction::Read)
    }
}

/// One second of one stream and direction.
///
/// A second without a completion is recorded as zero. A request counts in the second of its
/// completion, from the start of the step; the last interval may be shorter than a second
/// (definition D3).
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The index of the second in its step, from 0.
    pub second: u32,
    /// The index of the stream in its workload, from 0.
    pub stream: u16,
    /// The direction of the transfers.
    pub direction: Direction,
    /// The duration of the interval: one second, or less for the last one.
    pub length: Nanos,
    /// Requests that completed in full.
    pub ios: u64,
    /// Bytes of these requests.
    pub bytes: u64,
    /// Requests that failed or transferred fewer bytes than requested. No other field counts them.
    pub errors: u64,
    /// Latencies of the requests that completed in full, in nanoseconds. In a closed loop a latency
    /// counts from before the submission to after the completion was reaped (definition D19), in an
    /// open loop from the due time.
    pub latency: Histogram,
}

/// One value of one instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The time of the reading, from the start of the step.
    pub at: Nanos,
    /// The instrument, such as `virtual` or `nvme0 composite`.
    pub instrument: String,
    /// The quantity with its unit as suffix, such as `temperature_c`, `power_w`.
    pub quantity: String,
    /// The value in that unit.
    pub value: f64,
}

/// A log page of a drive, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPage {
    /// When it was read, from the start of the step.
    pub at: Nanos,
    /// The page, such as `nvme-02h`.
    pub page: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// The part of a computer whose power a meter measures. Efficiencies of different scopes are never
/// ranked together: they include different consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PowerScope {
    /// The drive only.
    Drive,
    /// A host with its drive, behind the power supply.
    HostDc,
    /// A host with its drive, at the wall.
    HostAc,
}

impl PowerScope {
    /// Every scope, the narrowest first.
    pub const ALL: [PowerScope; 3] = [PowerScope::Drive, PowerScope::HostDc, PowerScope::HostAc];

    /// Returns the word used in specifications, JSON and pages.
    pub fn name(self) -> &'static str {
        name_of(&self)
    }

    /// Returns the quantity of its readings, in watts.
    pub fn quantity(self) -> &'static str {
        match self {
            PowerScope::Drive => "power_w",
            PowerScope::HostDc => "host_dc_power_w",
            PowerScope::HostAc => "host_ac_power_w",
        }
    }

    /// Returns the quantity of the energy of a step, in joules.
    pub fn energy_quantity(self) -> &'static str {
        match self {
            PowerScope::Drive => "energy_j",
            PowerScope::HostDc => "host_dc_energy_j",
            PowerScope::HostAc => "host_ac_energy_j",
        }
    }

    /// Returns the quantity of the time of a step that its readings cover, in seconds.
    pub fn covered_quantity(self) -> &'static str {
        match self {
            PowerScope::Drive => "power_covered_s",
            PowerScope::HostDc => "host_dc_power_covered_s",
            PowerScope::HostAc => "host_ac_power_covered_s",
        }
    }

    /// Returns the scope called `name`.
    pub fn from_name(name: &str) -> Option<PowerScope> {
        PowerScope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}
