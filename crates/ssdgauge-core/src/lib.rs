//! The vocabulary of ssdgauge.
//!
//! Every other crate uses these types. A [`Plan`] lists the steps of a run. A [`Rig`] carries them
//! out on a drive. [`Interval`]s, [`Reading`]s and [`Finding`]s record the observations. A
//! [`Score`] computes a [`Headline`] from them.
//!
//! This crate never opens a file, reads a clock or starts a thread. Equal input gives equal output
//! on every machine.

mod arrival;
mod block_sizes;
mod confidence;
mod direction_totals;
mod distribution;
mod drive;
mod drive_change;
mod drive_description;
mod durability;
mod extents;
pub mod field;
mod finding;
mod gauges;
mod generated_requests;
mod headline;
mod hot_blocks;
pub mod io_log;
mod latency_map;
mod latency_of;
mod media_writes;
mod metric;
mod names;
mod open_loop;
mod percentile_series;
mod permutation;
mod phase;
mod plan;
mod point;
mod power_integral;
mod preparation;
mod processors;
pub mod proof;
mod pulse;
mod ratio;
mod readings;
mod recorded;
mod recording;
mod repeated;
mod request;
mod rig;
pub mod rounded;
mod sample;
mod scatter;
mod schedule;
mod scope;
mod score;
mod scored;
pub mod search;
mod second;
mod second_aggregator;
mod seconds;
mod shell;
mod sized_blocks;
mod steady_rounds;
mod step_number;
mod timed;
mod totals;
mod units;
mod until;
pub mod unwritten_sample;
mod workload;
mod worst_seconds;
mod written_bytes;
mod zipf;

pub use block_sizes::{BLOCK_SIZES, BlockSizes, SizeShare};
pub use confidence::{ConfidenceInterval, WithinRun};
pub use direction_totals::{DirectionTotals, OwnRate};
pub use distribution::Distribution;
pub use drive::{Detail, DriveInfo, TargetKind};
pub use drive_change::DriveChange;
pub use drive_description::{DriveDescription, Fact, Section, Table, Value};
pub use durability::{Flush, LostWrite, ReadBack, Verified};
pub use extents::Extents;
pub use finding::{Finding, FindingKind, Severity};
pub use generated_requests::GeneratedRequests;
pub use headline::{Headline, KneeFound};
pub use latency_map::{LatencyCell, LatencyMap, ROWS_PER_DECADE};
pub use latency_of::LatencyOf;
pub use media_writes::{Amplification, Counted, MediaWrites};
pub use metric::{Family, Metric};
pub use names::name_of;
pub use open_loop::{
    LATENESS, MAX_SLOT_MEMORY, MAX_SLOTS, OpenLoop, OpenLoopCount, open_loop_slots,
};
pub use percentile_series::{PercentileIntervals, PercentileSeries};
pub use phase::PhaseKind;
pub use plan::{
    Action, Chosen, ComparedFigure, Deviation, Figure, GeneratedTrace, LengthCount, Phase, Plan,
    Replay, RequestPath, Restart, Rounds, SteadyRule, Step, SuiteIdentity, Test, TraceIdentity,
};
pub use point::{ARITHMETIC, Point};
pub use power_integral::{MeteredPower, PowerIntegral, is_covered};
pub use preparation::{PowerSaving, Preparation, Prepared, PurgeMethod, WriteCache};
pub use processors::Processors;
pub use pulse::{LONGEST_PAUSE, Pulse};
pub use ratio::Ratio;
pub use recorded::{RecordedRequest, RecordedRequests, RecordedTime, ReplayClock};
pub use recording::{Recording, check_forwarding};
pub use repeated::{Contribution, chosen_headline, chosen_point};
pub use request::{Request, RequestSource};
pub use rig::{
    Ended, EndedBy, EngineReport, KernelQueue, Rig, RigError, Sink, StampedBlocks, StampedReads,
    TimedLoads, Wrote,
};
pub use sample::{Direction, Interval, LogPage, PowerScope, Reading};
pub use schedule::{MAX_LAG, Schedule};
pub use scope::Scope;
pub use score::{
    FIRST_FAILED_SLICE, PASSED, PASSED_BY_SERVICE_LATENCY, Score, ScoreFamily, Window,
};
pub use second::{OpenSeconds, SHORTEST_RATE, Second, Side, rate};
pub use second_aggregator::{AggregatedStep, SecondAggregator};
pub use seconds::{FullSeconds, SecondMark, Seconds};
pub use shell::shell_word;
pub use ssdgauge_statistics::separation::Zone;
pub use ssdgauge_statistics::{Estimate, Histogram, Random, Recorder, RepeatUntil, Verdict};
pub use steady_rounds::SteadyRounds;
pub use step_number::StepNumbers;
pub use timed::{Lane, LaneLimits, LaneRecord, LanesEnded, TimedRequest, Timing, Timings};
pub use totals::{IDLE, Totals};
pub use units::{Bytes, Nanos, UnitError};
pub use workload::{
    Access, Arrival, Data, Engine, LatencyClock, Operation, Rest, Stream, Until, Workload,
};
pub use written_bytes::WrittenBytes;
