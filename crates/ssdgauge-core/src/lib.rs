//! The vocabulary of ssdgauge.
//!
//! Every other crate uses these types. A [`Plan`] lists the steps of a run. A [`Rig`] carries them
//! out on a drive. [`Interval`]s, [`Reading`]s and [`Finding`]s record the observations. A
//! [`Score`] computes a [`Headline`] from them.
//!
//! Its rooms are in floors; each may import those before it: `units`, `field`, `finding`, `proof`, `sample` (what
//! an engine records), `drive`, `workload` (what is asked of a drive), `totals` (what its samples add up to),
//! `score` (what a result is made of), `plan`, `results` (several steps together), `rig`.
//!
//! This crate never opens a file, reads a clock or starts a thread. Equal input gives equal output
//! on every machine.

mod drive;
pub mod field;
mod finding;
mod plan;
pub mod proof;
mod results;
mod rig;
mod sample;
mod score;
mod totals;
mod units;
mod workload;

pub use drive::description::{DriveDescription, Fact, Section, Table, Value};
pub use drive::{Detail, DriveInfo, TargetKind, VIRTUAL, is_virtual};
pub use finding::{Finding, FindingKind, Severity};
pub use plan::change::DriveChange;
pub use plan::generated_requests::GeneratedRequests;
pub use plan::phase::PhaseKind;
pub use plan::preparation::{PowerSaving, Preparation, Prepared, PurgeMethod, WriteCache};
pub use plan::search;
pub use plan::{
    Action, Chart, Chosen, ComparedFigure, Deviation, GeneratedTrace, LengthCount, Phase, Plan,
    Replay, RequestPath, Restart, Rounds, SteadyRule, Step, SuiteIdentity, Test, TraceIdentity,
};
pub use results::repeated::{Contribution, chosen_headline, chosen_point};
pub use results::steady_rounds::SteadyRounds;
pub use rig::durability::{Flush, LostWrite, ReadBack, Verified};
pub use rig::extents::Extents;
pub use rig::recording::{Recording, check_forwarding};
pub use rig::thermal::ThermalReport;
pub use rig::timed::{Lane, LaneLimits, LaneRecord, LanesEnded, TimedRequest, Timing, Timings};
pub use rig::{
    Ended, EndedBy, EngineReport, KernelQueue, Rig, RigError, Sink, StampedBlocks, StampedReads,
    TimedLoads, Wrote,
};
pub use sample::latency_map::{LatencyCell, LatencyMap, ROWS_PER_DECADE};
pub use sample::latency_of::LatencyOf;
pub use sample::recorded::{RecordedRequest, RecordedRequests, RecordedTime, ReplayClock};
pub use sample::{Direction, Interval, LogPage, PowerScope, Reading};
pub use score::headline::{Headline, KneeFound};
pub use score::point::{ARITHMETIC, Point};
pub use score::ratio::Ratio;
pub use score::{
    FIRST_FAILED_SLICE, PASSED, PASSED_BY_SERVICE_LATENCY, Score, ScoreFamily, Window,
};
pub use ssdgauge_statistics::separation::Zone;
pub use ssdgauge_statistics::{Estimate, Histogram, Random, Recorder, RepeatUntil, Verdict};
pub use totals::confidence::{ConfidenceInterval, WithinRun};
pub use totals::direction_totals::{DirectionTotals, OwnRate};
pub use totals::media_writes::{Amplification, Counted, MediaWrites};
pub use totals::metric::{Family, Metric};
pub use totals::percentile_series::{PercentileIntervals, PercentileSeries};
pub use totals::power_integral::{MeteredPower, PowerIntegral, is_covered};
pub use totals::scope::Scope;
pub use totals::second::{OpenSeconds, SHORTEST_RATE, Second, Side, rate};
pub use totals::second_aggregator::{AggregatedStep, SecondAggregator};
pub use totals::seconds::{FullSeconds, SecondMark, Seconds};
pub use totals::written_bytes::WrittenBytes;
pub use totals::{IDLE, Totals};
pub use units::names::name_of;
pub use units::rounded;
pub use units::shell::shell_word;
pub use units::{Bytes, Nanos, UnitError};
pub use workload::block_sizes::{BLOCK_SIZES, BlockSizes, SizeShare};
pub use workload::distribution::Distribution;
pub use workload::open_loop::{
    LATENESS, MAX_SLOT_MEMORY, MAX_SLOTS, OpenLoop, OpenLoopCount, open_loop_slots,
};
pub use workload::processors::Processors;
pub use workload::pulse::{LONGEST_PAUSE, Pulse};
pub use workload::request::{Request, RequestSource};
pub use workload::schedule::{MAX_LAG, Schedule};
pub use workload::step_number::StepNumbers;
pub use workload::{
    Access, Arrival, Data, Engine, LatencyClock, Operation, Rest, Stream, Until, Workload,
};
pub use workload::{io_log, unwritten_sample};
