//! Validity of a plan that was read from a file: the promises that a planner keeps and that the
//! execution rests on. A file that breaks one is damaged or hostile.

use super::{Action, Plan, Replay, Rounds, Step, Test};
use crate::plan::preparation::Preparation;
use crate::plan::search::{Judged, Search};
use crate::units::{Bytes, Nanos};
use crate::workload::block_sizes::BLOCK_SIZES;
use crate::workload::pulse::LONGEST_PAUSE;
use crate::workload::{Rest, Stream, Until, Workload};

/// The maximum number of requests in flight per thread, and the maximum number of threads of a stream.
const MAX_IN_FLIGHT: u32 = 4_096;
/// The longest duration of a step: ten years. Sums of all steps stay within 64 bits.
const LONGEST: Nanos = Nanos(10 * 366 * 86_400 * 1_000_000_000);
/// The smallest logical block of a drive, in bytes: every length of a request is a multiple of it.
const LOGICAL_BLOCK: u64 = 512;
/// The highest rate of an open loop, in requests per second: one each nanosecond.
const HIGHEST_RATE: f64 = 1e9;

impl Plan {
    /// Returns the first promise that the plan breaks on a target with `capacity`, as a clause;
    /// `None` for every plan that a planner has made.
    pub fn defect(&self, capacity: Bytes) -> Option<String> {
        if self.shortened == 0 {
            return Some("its durations are divided by 0".into());
        }
        self.tests.iter().find_map(|test| {
            test.defect(capacity).map(|defect| format!("test '{}': {defect}", test.id))
        })
    }

    /// Returns as [`Plan::defect`] does the first promise that a plan breaks which another program carried out:
    /// its requests may have every length, as no engine of ours sends them.
    pub fn defect_of_imported(&self, capacity: Bytes) -> Option<String> {
        let (shortest, longest) = (*BLOCK_SIZES.start(), *BLOCK_SIZES.end());
        let mut sendable = self.clone();
        let phases = sendable.tests.iter_mut().flat_map(|test| &mut test.phases);
        for step in phases.flat_map(|phase| &mut phase.steps) {
            let Action::Run { workload, .. } = &mut step.action else { continue };
            for stream in workload.streams.iter_mut().filter(|stream| !stream.has_sizes()) {
                if stream.block_size.0 > 0 && stream.span >= stream.block_size {
                    let whole = stream.block_size.0 / LOGICAL_BLOCK * LOGICAL_BLOCK;
                    stream.block_size = Bytes(whole).clamp(shortest, longest);
                    stream.span = stream.span.max(shortest);
                }
            }
        }
        sendable.defect(capacity.max(shortest))
    }
}

impl Test {
    fn defect(&self, capacity: Bytes) -> Option<String> {
        if self.repetition == 0 {
            return Some("its repetition is 0".into());
        }
        let search = self.search.as_ref().and_then(|search| defect_of_search(search, self));
        let rounds = self.rounds.as_ref().and_then(|rounds| defect_of_rounds(rounds, self));
        let steps = self.phases.iter().flat_map(|phase| &phase.steps);
        let step = || {
            let defect = |step: &Step| {
                step.defect(capacity).map(|defect| format!("step '{}': {defect}", step.label))
            };
            steps.into_iter().find_map(defect)
        };
        search.or(rounds).or_else(step)
    }

    fn steps_of(&self, phase: usize) -> usize {
        self.phases.get(phase).map_or(0, |phase| phase.steps.len())
    }
}

fn defect_of_search(search: &Search, test: &Test) -> Option<String> {
    let loads = test.steps_of(search.attempts);
    if loads == 0 || test.steps_of(search.probes) != loads {
        return Some("its search has no loads, or other probes than attempts".into());
    }
    if search.recondition.iter().any(|phase| *phase >= test.phases.len()) {
        return Some("its search prepares the drive by a phase that does not exist".into());
    }
    let limits = &search.limits;
    let steps = test.phases[search.attempts].steps.iter();
    let sends = |step: &Step| {
        step.action.workload().is_some_and(|workload| limits.of.stream_of(workload).is_some())
    };
    // Plans that name no requests judge the reads of the first stream, also where there are none.
    if limits.of != Judged::default() && !steps.clone().all(sends) {
        return Some("its search judges requests that a load does not send".into());
    }
    let is_slice = limits.slice >= Nanos::SECOND && limits.slice <= LONGEST;
    (!is_slice).then(|| format!("a slice of its search takes {}", limits.slice.about()))
}

fn defect_of_rounds(rounds: &Rounds, test: &Test) -> Option<String> {
    let is_valid = rounds.at_most > 0 && rounds.tracking < test.steps_of(rounds.phase);
    (!is_valid).then(|| "its rounds track a step that does not exist".into())
}

impl Step {
    fn defect(&self, capacity: Bytes) -> Option<String> {
        let time = |time: Nanos| (time > LONGEST).then(|| format!("it takes {}", time.about()));
        let rest = match self.rest {
            Rest::None => None,
            Rest::For(duration) => time(duration),
            Rest::DutyCycle { busy, at_most } => {
                let is_share = busy > 0.0 && busy <= 1.0;
                (!is_share).then(|| format!("its duty cycle is {busy}")).or_else(|| time(at_most))
            }
        };
        rest.or_else(|| match &self.action {
            Action::Prepare(preparation) => defect_of_preparation(preparation, capacity),
            Action::Rest(duration) | Action::Idle(duration) => time(*duration),
            Action::Run { workload, until, .. } => {
                let endless =
                    until.time.is_none() && workload.streams.iter().all(|s| !s.addresses());
                defect_of_workload(workload, capacity)
                    .or_else(|| defect_of_limits(until))
                    .or_else(|| endless.then(|| "its flushes move no bytes and have no end".into()))
            }
            Action::Replay(replay) => defect_of_replay(replay, capacity),
        })
    }
}

fn defect_of_preparation(preparation: &Preparation, capacity: Bytes) -> Option<String> {
    match *preparation {
        Preparation::Trim { offset, span } => outside(offset, span, capacity),
        Preparation::Fill { block_size, offset, span, .. } => {
            block_size_defect(block_size).or_else(|| outside(offset, span, capacity))
        }
        Preparation::Purge
        | Preparation::PurgeBy(_)
        | Preparation::Power(_)
        | Preparation::WriteCache(_) => None,
    }
}

fn defect_of_replay(replay: &Replay, capacity: Bytes) -> Option<String> {
    let Replay { generated, requests, bytes, longest, .. } = replay;
    let generated = generated.as_ref();
    let defect = generated.and_then(|one| one.defect(*requests, *bytes, *longest, capacity));
    if defect.is_some() {
        return defect;
    }
    let [reads, writes] = replay.requests;
    let is_valid = reads.checked_add(writes).is_some_and(|all| all > 0)
        && replay.bytes[0].0.checked_add(replay.bytes[1].0).is_some()
        && replay.recorded <= LONGEST
        && replay.after_cut <= replay.recorded;
    (!is_valid)
        .then(|| "its replay has no requests, or impossible sums".to_owned())
        .or_else(|| defect_of_streams(&replay.workload, Replay::MAX_STREAMS, capacity))
        .or_else(|| defect_of_limits(&replay.until))
}

fn defect_of_limits(until: &Until) -> Option<String> {
    if !until.is_bounded() {
        return Some("it has no limit".into());
    }
    until.time.filter(|time| *time > LONGEST).map(|time| format!("it takes {}", time.about()))
}

fn defect_of_workload(workload: &Workload, capacity: Bytes) -> Option<String> {
    defect_of_streams(workload, Workload::MAX_STREAMS, capacity)
}

fn defect_of_streams(workload: &Workload, most: usize, capacity: Bytes) -> Option<String> {
    if workload.streams.is_empty() || workload.streams.len() > most {
        return Some(format!("it has {} streams", workload.streams.len()));
    }
    workload.streams.iter().find_map(|stream| {
        defect_of_stream(stream, capacity)
            .map(|defect| format!("stream '{}': {defect}", stream.name))
    })
}

fn defect_of_stream(stream: &Stream, capacity: Bytes) -> Option<String> {
    let counts = 1..=MAX_IN_FLIGHT;
    if !counts.contains(&stream.queue_depth) || !counts.contains(&stream.threads) {
        let (depth, threads) = (stream.queue_depth, stream.threads);
        return Some(format!("it has queue depth {depth} and {threads} threads"));
    }
    if stream.in_flight_at_most == Some(0) {
        return Some("it may have no request in flight".into());
    }
    if !(1..=100).contains(&stream.random_percent)
        || stream.is_sequential() && stream.random_percent < 100
    {
        return Some(format!("of its requests, {} percent are random", stream.random_percent));
    }
    if let Some(defect) = stream.distribution.defect() {
        return Some(format!("in its distribution, {defect}"));
    }
    if let Some(defect) = defect_of_sizes(stream).or_else(|| defect_of_times(stream)) {
        return Some(defect);
    }
    if stream.distribution.zones() as u64 > stream.span.blocks_of(stream.block_size) {
        return Some("its span has fewer blocks than zones".into());
    }
    if stream.flush_every == Some(0)
        || (stream.flush_every.is_some() && stream.arrival.per_second().is_some())
    {
        return Some("its flushes follow no write, or an open loop".into());
    }
    if stream.flush_at_end && !stream.writes() {
        return Some("the flush at its end follows no write".into());
    }
    if stream.read_percent > 100 {
        return Some(format!("it reads {} percent", stream.read_percent));
    }
    if stream.arrival.per_second().is_some_and(|rate| !(rate > 0.0 && rate <= HIGHEST_RATE)) {
        return Some("its rate is not above 0".into());
    }
    let is_short = stream.span < stream.block_size;
    block_size_defect(stream.block_size)
        .or_else(|| is_short.then(|| "its span is shorter than a request".to_owned()))
        .or_else(|| outside(stream.offset, stream.span, capacity))
}

fn defect_of_sizes(stream: &Stream) -> Option<String> {
    if stream.sizes.largest().is_some_and(|largest| largest != stream.block_size) {
        return Some(format!("the largest of its sizes is not {}", stream.block_size.as_block()));
    }
    let defect = stream.sizes.defect(!stream.distribution.is_uniform());
    defect.map(|defect| format!("of its sizes, {defect}"))
}

fn defect_of_times(stream: &Stream) -> Option<String> {
    if let Some(stride) = stream.stride {
        let is_sequential = stream.is_sequential() && !stream.has_sizes();
        if !is_sequential || stride < stream.block_size || !stride.0.is_multiple_of(512) {
            return Some(format!("it has a stride of {}", stride.as_block()));
        }
    }
    let times = 1..=LONGEST_PAUSE.0;
    if let Some(time) = stream.think_time
        && (stream.arrival.per_second().is_some() || !times.contains(&time.0))
    {
        return Some(format!("it has a think time of {}", time.about()));
    }
    stream.pulse.and_then(|pulse| pulse.defect())
}

fn block_size_defect(block_size: Bytes) -> Option<String> {
    let is_valid = BLOCK_SIZES.contains(&block_size) && block_size.0.is_multiple_of(512);
    (!is_valid).then(|| format!("its requests have {}", block_size.as_block()))
}

fn outside(offset: Bytes, span: Bytes, capacity: Bytes) -> Option<String> {
    let is_inside = offset.0.checked_add(span.0).is_some_and(|end| end <= capacity.0);
    let [span, offset, capacity] = [span, offset, capacity].map(Bytes::about_and_exact);
    (!is_inside).then(|| format!("it addresses {span} at {offset} of a target of {capacity}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::phase::PhaseKind;
    use crate::plan::search::{Limits, SearchRule};
    use crate::plan::{Phase, Restart, SuiteIdentity};
    use crate::score::Score;
    use crate::totals::metric::Metric;
    use crate::workload::block_sizes::{BlockSizes, SizeShare};
    use crate::workload::pulse::Pulse;
    use crate::workload::{Access, Arrival, Data, Engine};

    const CAPACITY: Bytes = Bytes(1 << 30);

    fn plan() -> Plan {
        let stream = Stream {
            name: "main".into(),
            access: Access::Random,
            block_size: Bytes(4_096),
            read_percent: 100,
            queue_depth: 1,
            threads: 1,
            offset: Bytes(0),
            span: CAPACITY,
            arrival: Arrival::Closed,
            data: Data::Incompressible,
            sync: false,
            ..Stream::default()
        };
        let action = Action::Run {
            workload: Workload { engine: Engine::IoUring, streams: vec![stream] },
            until: Until { time: Some(Nanos::SECOND), bytes: None },
            steady: None,
        };
        let step = Step { label: "QD1".into(), position: 1.0, action, rest: Rest::None };
        let test = Test {
            id: "t".into(),
            revision: 1,
            title: "T".into(),
            source: String::new(),
            score: Score::MeanOf(Metric::Iops),
            also: Vec::new(),
            figures: Vec::new(),
            chosen: Vec::new(),
            deviations: Vec::new(),
            restart: Restart::Step,
            phases: vec![Phase { kind: PhaseKind::Measure, steps: vec![step] }],
            search: None,
            rounds: None,
            repetition: 1,
        };
        let suite = SuiteIdentity { id: "s".into(), revision: 1, title: "S".into() };
        Plan {
            suite,
            shortened: 1,
            span_scaled: false,
            seed: 1,
            tests: vec![test],
            repeat_until: None,
            verify: false,
            polled: false,
            pass_through: false,
        }
    }

    fn sizes(size: u64, percent: u8) -> BlockSizes {
        BlockSizes(vec![SizeShare { size: Bytes(size), percent }])
    }

    fn stream_of(plan: &mut Plan) -> &mut Stream {
        match &mut plan.tests[0].phases[0].steps[0].action {
            Action::Run { workload, .. } => &mut workload.streams[0],
            _ => unreachable!("the step runs a workload"),
        }
    }

    /// Returns the defect of the plan after `change`.
    fn defect(change: impl FnOnce(&mut Plan)) -> Option<String> {
        let mut plan = plan();
        change(&mut plan);
        plan.defect(CAPACITY)
    }

    #[test]
    fn a_plan_that_a_planner_made_is_valid_and_each_broken_promise_is_named() {
        assert_eq!(defect(|_| ()), None);
        let pulse = Pulse { on: Nanos::ZERO, off: Nanos::SECOND };
        let broken: [(&str, Option<String>); 18] = [
            ("divided by 0", defect(|plan| plan.shortened = 0)),
            ("repetition is 0", defect(|plan| plan.tests[0].repetition = 0)),
            ("requests have 0", defect(|plan| stream_of(plan).block_size = Bytes(0))),
            ("requests have", defect(|plan| stream_of(plan).block_size = Bytes(4_095))),
            ("stride of 4 KiB", defect(|plan| stream_of(plan).stride = Some(Bytes(4_096)))),
            ("think time of 0", defect(|plan| stream_of(plan).think_time = Some(Nanos::ZERO))),
            ("a pulse is on for", defect(|plan| stream_of(plan).pulse = Some(pulse))),
            ("largest of its sizes", defect(|plan| stream_of(plan).sizes = sizes(8_192, 100))),
            ("add up to 99 percent", defect(|plan| stream_of(plan).sizes = sizes(4_096, 99))),
            ("queue depth 0", defect(|plan| stream_of(plan).queue_depth = 0)),
            ("threads", defect(|plan| stream_of(plan).threads = u32::MAX)),
            ("0 percent are random", defect(|plan| stream_of(plan).random_percent = 0)),
            ("101 percent", defect(|plan| stream_of(plan).read_percent = 101)),
            ("it addresses", defect(|plan| stream_of(plan).offset = Bytes(u64::MAX))),
            ("shorter than a request", defect(|plan| stream_of(plan).span = Bytes(512))),
            (
                "rate is not above 0",
                defect(|plan| stream_of(plan).arrival = Arrival::Poisson { per_second: f64::NAN }),
            ),
            ("duty cycle", {
                let rest = Rest::DutyCycle { busy: 0.0, at_most: Nanos::SECOND };
                defect(|plan| plan.tests[0].phases[0].steps[0].rest = rest)
            }),
            ("no limit", {
                defect(|plan| match &mut plan.tests[0].phases[0].steps[0].action {
                    Action::Run { until, .. } => *until = Until { time: None, bytes: None },
                    _ => unreachable!("the step runs a workload"),
                })
            }),
        ];
        for (expected, found) in broken {
            let found = found.unwrap_or_else(|| panic!("{expected}: no defect is found"));
            assert!(found.contains(expected), "{expected}: {found}");
        }
    }

    #[test]
    fn a_search_and_rounds_outside_the_phases_are_defects() {
        let search = |probes, attempts, recondition: Vec<usize>, slice| Search {
            probes,
            attempts,
            recondition,
            limits: Limits { slice, above: Vec::new(), of: Default::default() },
            rule: SearchRule::FromOneState,
            repeats: true,
        };
        let with = |search: Search| defect(|plan| plan.tests[0].search = Some(search));
        assert_eq!(with(search(0, 0, vec![0], Nanos::SECOND)), None);
        for hostile in [
            search(0, 7, vec![], Nanos::SECOND),
            search(usize::MAX, 0, vec![], Nanos::SECOND),
            search(0, 0, vec![9], Nanos::SECOND),
            search(0, 0, vec![], Nanos(0)),
        ] {
            assert!(with(hostile.clone()).is_some(), "{hostile:?}");
        }
        let rounds = |phase, tracking| Rounds { phase, at_most: 5, tracking, metric: Metric::Iops };
        for (rounds, is_valid) in
            [(rounds(0, 0), true), (rounds(0, 1), false), (rounds(3, 0), false)]
        {
            let found = defect(|plan| plan.tests[0].rounds = Some(rounds));
            assert_eq!(found.is_none(), is_valid, "{found:?}");
        }
    }
}
