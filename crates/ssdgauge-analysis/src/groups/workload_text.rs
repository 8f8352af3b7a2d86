//! The workload of a test in one line: block size, mix, depth, span, engine, limits.

use crate::model::TestRun;
use crate::model::plan::measured_steps;
use crate::steps::level_pair;
use crate::text::interval;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{
    Arrival, Bytes, Data, Direction, Headline, LatencyOf, Metric, Nanos, PhaseKind, Scope, Score,
    Step, Stream, Test, Until, Workload,
};

/// Returns the settings of `test`, as planned.
pub fn line(test: &Test) -> String {
    if let Some(idle) = left_alone(test) {
        return format!("no load: idle for {}", idle.about());
    }
    let mut parts: Vec<String> = Vec::new();
    let streams: Vec<&Stream> =
        measured(test).flat_map(|(workload, _)| &workload.streams).collect();
    let mut add = |values: Vec<String>| parts.push(listed(values));
    add(streams.iter().map(|stream| stream.order()).collect());
    add(streams.iter().filter_map(|stream| flushes(stream)).collect());
    add(streams.iter().filter_map(|stream| gaps(stream)).collect());
    let sizes = ordered(streams.iter().map(|one| (one.block_size, one.size_words())), |size| {
        size.1.clone()
    });
    add(vec![range(sizes)]);
    let transfers = streams.iter().filter(|stream| stream.operation.is_transfer());
    let mixes = ordered(transfers.map(|stream| stream.read_percent), |n| n.to_string());
    if !mixes.is_empty() {
        add(vec![format!("{} % reads", range(mixes))]);
    }
    let others = streams.iter().filter(|stream| !stream.operation.is_transfer());
    add(others.map(|stream| stream.mix()).collect());
    let depths = streams.iter().map(|s| u64::from(s.queue_depth) * u64::from(s.threads));
    add(vec![format!("{} in flight", range(ordered(depths, |n| n.to_string())))]);
    add(streams.iter().filter_map(|stream| stream.cpu_words()).collect());
    add(vec![format!("span {}", range(ordered(streams.iter().map(|stream| stream.span), size)))]);
    add(streams.iter().map(|stream| data(stream.data).to_owned()).collect());
    add(streams.iter().map(|stream| arrival(stream.arrival)).collect());
    add(measured(test).map(|(workload, _)| workload.engine.name().to_owned()).collect());
    add(measured(test).map(|(_, until)| limit(until)).collect());
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// Returns the rule of `score` in words, with the labels of the steps that it names.
pub fn rule(test: &Test, score: &Score) -> String {
    let label = |position: &f64| {
        let step = measured_steps(test).find(|step| step.position == *position);
        step.map_or_else(|| position.to_string(), |step| sanitize::step(&step.label))
    };
    let rule = score.describe(|position| label(&position));
    // A rule that names no direction counts the requests that stand for the load.
    let is_stated = score.metric().is_latency() && score.metric().is_split();
    match is_stated && score.scope() == Scope::All && waits_for_flushes(test, score) {
        true => format!("{rule}, of flushes"),
        false => match passed_for(test).filter(|_| score.metric() == Metric::LoadMultiple) {
            Some(time) => format!("{rule} for {}", time.about()),
            None => rule,
        },
    }
}

/// Returns for how long a load has to pass in the search of `test`. A score without it is taken for that of
/// another length: a drive passes a load for an hour that it fails from the eleventh hour.
pub(crate) fn passed_for(test: &Test) -> Option<Nanos> {
    test.search.as_ref()?;
    measured_steps(test).find_map(|step| step.action.until()?.time)
}

/// Returns the number `headline` of `test` by `score` with its unit, as [`headline`] does; both levels of a
/// step that falls, and not their mean.
pub fn number(test: &TestRun, score: &Score, headline: &Headline) -> String {
    match level_pair::of_headline(test, score, headline) {
        Some(levels) => levels.with_unit(),
        None => self::headline(&test.test, headline),
    }
}

/// Returns the value of `headline` of `test` with its unit: a load, or a range of loads, with the time for
/// which it passed; a dash without a value.
pub fn headline(test: &Test, headline: &Headline) -> String {
    let words = interval::headline(headline);
    let is_load = headline.metric == Metric::LoadMultiple && headline.value.is_some();
    match passed_for(test).filter(|_| is_load) {
        Some(time) => format!("{words} for {}", time.about()),
        None => words,
    }
}

/// Returns whether every load that `score` counts waits for its flushes.
fn waits_for_flushes(test: &Test, score: &Score) -> bool {
    let counted = measured_steps(test).filter(|step| score.needs(step.position));
    let mut loads = counted.filter_map(|step| step.action.workload()).peekable();
    let of_load = |workload: &Workload| match score.stream() {
        Some(stream) => workload.streams.get(usize::from(stream)).map(Stream::latency_of),
        None => Some(workload.latency_of()),
    };
    let waits = |workload| of_load(workload).is_some_and(LatencyOf::is_of_flushes);
    loads.peek().is_some() && loads.all(waits)
}

/// Returns the title of `metric` over all requests of `test`; a latency of flushes says so.
pub fn metric_title(test: &Test, metric: Metric) -> String {
    let title = metric.title();
    match is_of_flushes(test, metric) {
        true => format!("{title} of flushes"),
        false => title.to_owned(),
    }
}

/// Returns whether `metric` is a latency, and over all requests of `test` that of flushes.
pub fn is_of_flushes(test: &Test, metric: Metric) -> bool {
    let is_split = metric.is_latency() && metric.is_split();
    is_split && waits_for_flushes(test, &Score::MeanOf(metric))
}

/// Returns the requests whose latency the steps of `test` have, such as `reads and writes`; those of each
/// kind of step where they differ, and nothing without a load.
pub fn latency_of(test: &Test) -> String {
    let of_load =
        |(workload, _): (&Workload, &Until)| workload.latency_of().requests(&workload.directions());
    let mut kinds = range_of(measured(test).map(of_load).collect());
    kinds.retain(|kind| !kind.is_empty());
    kinds.join(" or ")
}

/// Returns the requests whose latency `score` states.
pub fn scored_latency_of(test: &Test, score: &Score) -> String {
    let counted = measured_steps(test).filter(|step| score.needs(step.position));
    let of_load = |workload: &Workload| match (score.scope().requests(), score.stream()) {
        (Some(requests), _) => requests.to_owned(),
        (None, Some(stream)) => {
            let Some(stream) = workload.streams.get(usize::from(stream)) else {
                return String::new();
            };
            let directions = Direction::ALL.into_iter().filter(|one| stream.sends(*one));
            stream.latency_of().requests(&directions.collect::<Vec<_>>())
        }
        (None, None) => workload.latency_of().requests(&workload.directions()),
    };
    let kinds = counted.filter_map(|step| step.action.workload()).map(of_load);
    range_of(kinds.collect()).join(" or ")
}

/// Returns whether a step of `test` has the latency of flushes that its writes wait for.
pub(crate) fn has_commits(test: &Test) -> bool {
    measured(test).any(|(workload, _)| workload.latency_of().is_of_flushes())
}

fn measured(test: &Test) -> impl Iterator<Item = (&Workload, &Until)> {
    let phases = test.phases.iter().filter(|phase| phase.kind == PhaseKind::Measure);
    phases.flat_map(|phase| &phase.steps).filter_map(|step| {
        let action = &step.action;
        action.workload().zip(action.until())
    })
}

/// Returns the idle time of `test`, if it consists of idle steps only.
fn left_alone(test: &Test) -> Option<Nanos> {
    let times: Option<Vec<Nanos>> =
        measured_steps(test).map(|step| step.action.idle_time()).collect();
    times?.first().copied()
}

/// Returns an amount of data in decimal units, as on the label of a drive.
fn size(bytes: &Bytes) -> String {
    number::capacity(bytes.0)
}

fn flushes(stream: &Stream) -> Option<String> {
    match stream.flush_every {
        Some(writes) => Some(format!("a flush after every {writes} writes")),
        None => stream.flush_at_end.then(|| "a flush at the end of the step".to_owned()),
    }
}

/// Returns stride, think time and pulses of `stream` in words; `None` where it has none.
fn gaps(stream: &Stream) -> Option<String> {
    let stride = stream.stride.map(|stride| format!("a request every {}", number::block(stride)));
    let think = stream.think_time.map(|time| format!("{} of think time", time.about()));
    let pulse = stream
        .pulse
        .map(|pulse| format!("{} on and {} off in turn", pulse.on.about(), pulse.off.about()));
    let words: Vec<String> = stride.into_iter().chain(think).chain(pulse).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn data(data: Data) -> &'static str {
    match data {
        Data::Incompressible => "incompressible data",
        Data::Zeros => "zeros",
        Data::Repeated => "one block again and again",
        Data::Half => "data of which half is zeros",
    }
}

fn arrival(arrival: Arrival) -> String {
    let rate = |per_second: f64| number::text(per_second);
    match arrival {
        Arrival::Closed => "closed loop".to_owned(),
        Arrival::Uniform { per_second } => {
            format!("open loop, {} requests/s at constant intervals", rate(per_second))
        }
        Arrival::InPhase { per_second } => {
            format!("open loop, {} requests/s by threads in phase", rate(per_second))
        }
        Arrival::Poisson { per_second } => {
            format!("open loop, {} requests/s with Poisson arrivals", rate(per_second))
        }
        // A generated trace, whose bursts follow completions, has no rate.
        Arrival::Recorded { per_second } if per_second >= 1e9 => {
            "requests of a trace at their times".to_owned()
        }
        Arrival::Recorded { per_second } => {
            format!("requests of a trace at their times, mean {} requests/s", rate(per_second))
        }
    }
}

fn limit(until: &Until) -> String {
    let time = until.time.filter(|time| *time > Nanos::ZERO).map(Nanos::about);
    let bytes = until.bytes.map(|bytes| size(&bytes));
    let limits: Vec<String> = time.into_iter().chain(bytes).collect();
    match limits.is_empty() {
        true => String::new(),
        false => format!("{} each", limits.join(" or ")),
    }
}

/// Returns every distinct value in ascending order, in words.
fn ordered<T: Ord>(values: impl Iterator<Item = T>, words: impl Fn(&T) -> String) -> Vec<String> {
    let mut values: Vec<T> = values.collect();
    values.sort();
    values.iter().map(words).collect()
}

/// Returns distinct `values` of a number in their order, those between the first and the last left out where
/// there are many.
fn range(values: Vec<String>) -> String {
    let values = range_of(values);
    match values.as_slice() {
        [first, .., last] if values.len() > 3 => format!("{first} to {last}"),
        _ => values.join(", "),
    }
}

/// Returns distinct `values` in words; of many the first ones, and how many more there are.
fn listed(values: Vec<String>) -> String {
    let values = range_of(values);
    match values.as_slice() {
        [first, second, third, _, more @ ..] => {
            format!("{first}, {second}, {third} and {} more", 1 + more.len())
        }
        _ => values.join(", "),
    }
}

/// Returns the load of `test` in a few words: block size, access and depth where they are the same in
/// every step, and the last part that the score counts.
pub fn short(test: &Test) -> String {
    let streams: Vec<&Stream> =
        measured(test).flat_map(|(workload, _)| &workload.streams).collect();
    let one = |values: Vec<String>| match range_of(values).as_slice() {
        [one] => one.clone(),
        _ => String::new(),
    };
    let blocks = streams.iter().map(|stream| stream.size_words()).collect();
    let accesses = streams.iter().map(|stream| stream.order()).collect();
    let depths = streams.iter().map(|stream| format!("QD{}", stream.total_depth())).collect();
    let load = [one(blocks), one(accesses)].join(" ");
    let window = test.score.last_part().map(|(_, window)| number::spaced(&window.to_string()));
    let mut parts = vec![load.trim().to_owned(), one(depths)];
    parts.extend(window);
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// Returns the requests of the steps that the score of `test` counts: size, order, direction and depth,
/// such as `4 KiB random reads, QD1`.
pub fn requests(test: &Test) -> String {
    let Load { size, order, direction, depth } = load(test);
    let load: Vec<String> =
        [size, order, direction.to_owned()].into_iter().filter(|part| !part.is_empty()).collect();
    if depth.is_empty() { load.join(" ") } else { format!("{}, {depth}", load.join(" ")) }
}

/// The requests that a score counts, in words; empty where they have no common word.
pub struct Load {
    /// Their size, such as `4 KiB`, or the minimum and the maximum.
    pub size: String,
    /// `random` or `sequential`.
    pub order: String,
    /// `reads`, `writes`, both, or `requests`.
    pub direction: &'static str,
    /// Their depth, such as `QD1`, or the minimum and the maximum.
    pub depth: String,
}

/// Returns the requests of the steps that the score of `test` counts.
pub fn load(test: &Test) -> Load {
    let is_scored = |step: &&Step| test.score.needs(step.position);
    let workloads =
        measured_steps(test).filter(is_scored).filter_map(|step| step.action.workload());
    let streams: Vec<&Stream> = workloads.flat_map(|workload| &workload.streams).collect();
    let sizes = streams.iter().map(|stream| (stream.block_size, stream.size_words()));
    let sizes = ordered(sizes, |(_, words)| words.clone());
    let orders = range_of(streams.iter().map(|stream| stream.order()).collect());
    let reads = streams.iter().any(|stream| stream.reads());
    let direction = match (reads, streams.iter().any(|stream| stream.writes())) {
        (true, false) => "reads",
        (false, true) => "writes",
        (true, true) => "reads and writes",
        (false, false) => "requests",
    };
    let depths = ordered(streams.iter().map(|stream| stream.total_depth()), |n| format!("QD{n}"));
    let ends = |values: Vec<String>| match range_of(values).as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first, .., last] => format!("{first} to {last}"),
    };
    let order = if orders.len() == 1 { orders.concat() } else { String::new() };
    Load { size: ends(sizes), order, direction, depth: ends(depths) }
}

/// Returns the load of which the results of a search are multiples: the requests that its streams send
/// in a second at 1×, and the time for which a load has to pass. `None` where they have no rate.
pub fn base_load(test: &Test) -> Option<String> {
    test.search.as_ref()?;
    let of_step = |step: &Step| {
        let streams = &step.action.workload()?.streams;
        let rates = streams.iter().filter_map(|stream| stream.arrival.per_second());
        let base = rates.sum::<f64>() / step.position;
        (base.is_finite() && base > 0.0).then_some(base)
    };
    let base = measured_steps(test).find_map(of_step)?;
    let time = passed_for(test).map_or_else(String::new, |time| format!(" for {}", time.about()));
    Some(format!("{} requests/s{time}", number::text(base)))
}

/// Returns whether requests of the steps that the score of `test` counts are due at times of their own, so
/// that their queue depth is a limit and no load.
pub(crate) fn is_open_loop(test: &Test) -> bool {
    let scored = measured_steps(test).filter(|step| test.score.needs(step.position));
    let mut streams =
        scored.filter_map(|step| step.action.workload()).flat_map(|workload| &workload.streams);
    streams.any(|stream| stream.arrival.per_second().is_some())
}

/// Returns every distinct value, in the order of its first appearance.
fn range_of(values: Vec<String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}
