//! Binding of the rules of a suite to one drive: tests, phases, streams, and spans in bytes.

use super::{Options, PlanError, generated};
use crate::suite::{
    Extent, PointRule, PrepareRule, RoundsRule, SearchRule, StreamRule, TestRule, UntilRule,
};
use ssdgauge_core::search::{self, Limits, Search};
use ssdgauge_core::{
    Access, Action, Bytes, Chosen, DriveInfo, Engine, Nanos, Phase, PhaseKind, PowerSaving,
    Preparation, Pulse, Rest, Rounds, Score, SteadyRule, Step, Stream, Test, Until, Window,
    Workload, WriteCache,
};

/// A drive and the options of the user, to which rules are bound.
pub(super) struct Binder<'a> {
    pub(super) drive: &'a DriveInfo,
    pub(super) options: &'a Options,
    /// Whether a span was reduced to the capacity of the drive.
    pub(super) scaled: bool,
}

impl Binder<'_> {
    /// Binds a test. Its phases are the preparation, then for each point what precedes it (fill
    /// level, time to settle, power state, idle time, preparation of each point) and its step; points
    /// without a change share one phase.
    pub(super) fn test(&mut self, rule: &TestRule) -> Result<Test, PlanError> {
        let mut phases = self.prepare(&rule.id, &rule.prepare)?;
        let sweeps_level = rule.points.iter().any(|point| point.full_percent.is_some());
        if !sweeps_level {
            phases.extend(self.settle_phase(rule.settle));
        }
        let (mut full, mut power) = (None, None);
        let block = self.drive.logical_block;
        let fits = |point: &&PointRule| {
            point
                .streams
                .iter()
                .all(|stream| stream.requests.smallest_size().0.is_multiple_of(block.0))
        };
        // A drive with 4 KiB blocks cannot execute the 512 B points of a sweep: they are left out
        // and listed as such. A test without any other point is refused when its streams are bound.
        let any_fits = rule.points.iter().any(|point| fits(&point));
        let left_out: Vec<&str> = rule
            .points
            .iter()
            .filter(|point| any_fits && !fits(point))
            .map(|point| point.label.as_str())
            .collect();
        for point in rule.points.iter().filter(|point| !any_fits || fits(point)) {
            let is_first = !phases.iter().any(|phase| phase.kind == PhaseKind::Measure);
            let mut before = match is_first {
                true => Vec::new(),
                false => self.prepare(&rule.id, &rule.prepare_each)?,
            };
            if point.full_percent != full || phases.is_empty() {
                before.extend(self.level(&rule.id, point.full_percent)?);
                before.extend(self.settle_phase(rule.settle).filter(|_| sweeps_level));
                full = point.full_percent;
            }
            if let Some(saving) = point.power.filter(|_| point.power != power) {
                before.push(power_phase(saving));
                power = point.power;
            }
            if let (Some(idle), false) = (point.idle, point.streams.is_empty()) {
                before.push(idle_phase(self.shortened(idle)));
            }
            let follows = phases.last().is_some_and(|phase| phase.kind == PhaseKind::Measure);
            if !follows || !before.is_empty() {
                phases.extend(before);
                phases.push(Phase { kind: PhaseKind::Measure, steps: Vec::new() });
            }
            let step = Step {
                label: point.label.clone(),
                position: point.position,
                action: self.load(&rule.id, rule.engine, point)?,
                rest: self.rest(point.rest),
            };
            phases.last_mut().expect("a measured phase was just added").steps.push(step);
        }
        if let Some(check) = check_phase(&phases).filter(|_| rule.return_to_first) {
            phases.extend(self.prepare(&rule.id, &rule.prepare_each)?);
            phases.push(check);
        }
        if rule.sets_power() {
            phases.push(power_phase(PowerSaving::AsFound));
        }
        Ok(Test {
            id: rule.id.clone(),
            revision: rule.revision,
            title: rule.title.clone(),
            source: rule.source.clone(),
            score: self.score(&rule.score),
            also: rule.also.iter().map(|score| self.score(score)).collect(),
            figures: rule.figures.clone(),
            chosen: rule.chosen.iter().cloned().chain(points_left_out(&left_out, block)).collect(),
            deviations: rule.deviations.clone(),
            restart: rule.restart,
            rounds: rule.rounds.as_ref().and_then(|rounds| bind_rounds(rounds, &phases)),
            repetition: 1,
            search: rule.search.as_ref().map(|search| self.search(search, &mut phases)),
            phases,
        })
    }

    /// Appends the probes of a search to `phases`, after the attempts of full length. The phases
    /// before the attempts prepare each of them.
    fn search(&self, search: &SearchRule, phases: &mut Vec<Phase>) -> Search {
        let by = u64::from(self.options.shorten);
        // The probes are the same loads with a shorter limit, so that indices agree.
        let attempts = phases.len() - 1;
        let mut probes = phases[attempts].clone();
        probes.kind = PhaseKind::Search;
        for step in &mut probes.steps {
            if let Action::Run { until, .. } = &mut step.action {
                let probe = Nanos((search.probe.0 / by).max(Nanos::SECOND.0));
                until.time = Some(until.time.map_or(probe, |time| time.min(probe)));
            }
        }
        phases.push(probes);
        let slice = Nanos((search.limits.slice.0 / by).max(Nanos::SECOND.0));
        Search {
            probes: attempts + 1,
            attempts,
            recondition: (0..attempts).collect(),
            limits: Limits { slice, ..search.limits.clone() },
            rule: search::SearchRule::FromOneState,
            repeats: true,
        }
    }

    /// Returns the phases that purge the drive and fill it to `percent` of its capacity.
    fn level(&mut self, test: &str, percent: Option<u8>) -> Result<Vec<Phase>, PlanError> {
        let fill = |percent| PrepareRule::Fill {
            access: Access::Sequential,
            block_size: Bytes(128 << 10),
            span: Extent::Percent(percent),
        };
        match percent {
            None => Ok(Vec::new()),
            Some(0) => self.prepare(test, &[PrepareRule::Purge]),
            Some(percent) => self.prepare(test, &[PrepareRule::Purge, fill(percent)]),
        }
    }

    /// Binds the load of a point, or its trim or its idle time where it has no stream.
    fn load(&mut self, test: &str, engine: Engine, point: &PointRule) -> Result<Action, PlanError> {
        let what = format!("test {test}");
        if let Some(rule) = &point.trace {
            // A fill writes whole blocks of this length, and nothing else may be read.
            let block = 128 << 10;
            let span = Bytes(self.span(&what, rule.span, Bytes(block))?.0 / block * block);
            self.scaled |= self.drive.capacity < rule.whole_from;
            let replay = generated::replay(rule, span, self.drive, self.options.shorten);
            return Ok(Action::Replay(Box::new(replay)));
        }
        if let Some(extent) = point.trim {
            return Ok(Action::Prepare(self.trim(&what, extent)?));
        }
        if point.streams.is_empty() {
            return Ok(Action::Idle(self.shortened(point.idle.unwrap_or_default())));
        }
        let streams: Result<Vec<Stream>, PlanError> =
            point.streams.iter().map(|rule| self.stream(&what, engine, rule)).collect();
        let mut streams = streams?;
        let (until, steady) = self.until(&point.until, addressing(&streams));
        if let ([stream], Some(bytes)) = (streams.as_mut_slice(), until.bytes) {
            shift_repetition(stream, bytes, u64::from(point.turn));
        }
        Ok(Action::Run { workload: Workload { engine, streams }, until, steady })
    }

    /// Binds a stream; `what` names its test in errors.
    fn stream(
        &mut self,
        what: &str,
        engine: Engine,
        rule: &StreamRule,
    ) -> Result<Stream, PlanError> {
        let (drive, requests) = (self.drive, &rule.requests);
        let target = || drive.target.clone();
        if requests.trims() && !drive.has_trim() {
            let (what, stream) = (what.to_owned(), requests.name.clone());
            return Err(PlanError::NoTrim { what, stream, target: target() });
        }
        let misaligned = |what: String, block_size: Bytes| PlanError::Misaligned {
            what,
            block_size,
            target: target(),
            logical_block: drive.logical_block,
        };
        let is_whole = |bytes: Bytes| bytes.0.is_multiple_of(drive.logical_block.0);
        if requests.addresses() && !is_whole(requests.smallest_size()) {
            return Err(misaligned(what.to_owned(), requests.smallest_size()));
        }
        // Flushes address no block; the smallest range stands for it.
        let (block_size, offset, span) = match requests.addresses() {
            false => (drive.logical_block, Bytes(0), drive.logical_block),
            true => {
                let (offset, span) = self.range(what, rule)?;
                (requests.block_size, offset, span)
            }
        };
        if let Some(stride) = requests.stride.filter(|stride| *stride >= span) {
            return Err(PlanError::LongStride { what: what.to_owned(), stride, span });
        }
        if let Some(stride) = requests.stride.filter(|stride| !is_whole(*stride)) {
            let what = format!("{what}, with a stride of {},", stride.as_block());
            return Err(misaligned(what, requests.block_size));
        }
        let blocks = span.blocks_of(block_size);
        if let Some(share) = requests.distribution.zone_below_a_block(blocks) {
            let (what, stream) = (what.to_owned(), requests.name.clone());
            return Err(PlanError::SmallZone { what, stream, share, blocks });
        }
        let queue_depth = match engine {
            Engine::IoUring => requests.queue_depth,
            Engine::Synchronous => 1,
        };
        let pulse = requests.pulse.map(|pulse| self.pulse(pulse));
        Ok(Stream { block_size, offset, span, queue_depth, pulse, ..requests.clone() })
    }

    /// Binds preparations, one phase each; `what` names their test in errors.
    pub(super) fn prepare(
        &mut self,
        what: &str,
        rules: &[PrepareRule],
    ) -> Result<Vec<Phase>, PlanError> {
        rules.iter().map(|rule| self.prepare_phase(what, rule)).collect()
    }

    fn prepare_phase(&mut self, what: &str, rule: &PrepareRule) -> Result<Phase, PlanError> {
        let what = format!("the preparation of {what}");
        let (kind, label, action) = match *rule {
            PrepareRule::Precondition { engine, ref stream, ref until } => {
                let stream = self.stream(&what, engine, stream)?;
                let (until, steady) = self.until(until, &stream);
                let label = format!("precondition {}", stream.span.exact());
                let workload = Workload { engine, streams: vec![stream] };
                (PhaseKind::Precondition, label, Action::Run { workload, until, steady })
            }
            PrepareRule::Purge => {
                let purge = self.options.purge.map_or(Preparation::Purge, Preparation::PurgeBy);
                (PhaseKind::Purge, "purge".to_owned(), Action::Prepare(purge))
            }
            PrepareRule::Trim(extent) => {
                let trim = self.trim(&what, extent)?;
                (PhaseKind::Trim, trim.label(), Action::Prepare(trim))
            }
            PrepareRule::Fill { access, block_size, span } => {
                let span = self.span(&what, span, block_size)?;
                let fill = Preparation::Fill { access, block_size, offset: Bytes(0), span };
                (PhaseKind::Fill, format!("fill {}", span.exact()), Action::Prepare(fill))
            }
            PrepareRule::Rest(time) => {
                let time = Nanos(time.0 / u64::from(self.options.shorten));
                (PhaseKind::Rest, format!("rest {}", time.exact()), Action::Rest(time))
            }
            PrepareRule::Power(saving) => return Ok(power_phase(saving)),
            PrepareRule::WriteCache(switch) => return Ok(cache_phase(switch)),
        };
        Ok(single(kind, label, action))
    }

    /// Binds a trim from the start of the drive.
    fn trim(&mut self, what: &str, extent: Extent) -> Result<Preparation, PlanError> {
        let span = self.span(what, extent, self.drive.logical_block)?;
        Ok(Preparation::Trim { offset: Bytes(0), span })
    }

    /// Returns the length of a range in bytes: at least `block`, a multiple of the physical block.
    fn span(&mut self, what: &str, extent: Extent, block: Bytes) -> Result<Bytes, PlanError> {
        let capacity = self.drive.capacity;
        let too_small = |span| PlanError::TooSmall {
            what: what.to_owned(),
            span,
            target: self.drive.target.clone(),
            capacity,
        };
        let span = match extent {
            Extent::Size(bytes) if bytes > capacity && self.options.scale_spans => {
                self.scaled = true;
                capacity
            }
            Extent::Size(bytes) if bytes > capacity => return Err(too_small(bytes)),
            Extent::Size(bytes) => bytes,
            Extent::Percent(100) => capacity,
            Extent::Percent(percent) => {
                Bytes((u128::from(capacity.0) * u128::from(percent) / 100) as u64)
            }
        };
        // Requests beyond the last whole physical block would be read-modify-write cycles.
        let span = Bytes(span.0 - span.0 % self.drive.physical_block.0.max(512));
        match span < block {
            true => Err(too_small(block)),
            false => Ok(span),
        }
    }

    /// Returns the start and the length of the range that a stream addresses.
    fn range(&mut self, what: &str, rule: &StreamRule) -> Result<(Bytes, Bytes), PlanError> {
        let Some(offset) = rule.offset else {
            return Ok((Bytes(0), self.span(what, rule.span, rule.requests.block_size)?));
        };
        let capacity = self.drive.capacity;
        let offset = self.span(what, offset, Bytes(0))?;
        let rest = Bytes(capacity.0 - offset.0);
        let rest = Bytes(rest.0 - rest.0 % self.drive.physical_block.0.max(512));
        let span = match rule.span {
            Extent::Percent(100) => rest,
            Extent::Size(_) | Extent::Percent(_) => {
                self.span(what, rule.span, rule.requests.block_size)?
            }
        };
        let fits = span <= rest && rest >= rule.requests.block_size;
        match (fits, self.options.scale_spans && rest >= rule.requests.block_size) {
            (true, _) => Ok((offset, span)),
            (false, true) => {
                self.scaled = true;
                Ok((offset, rest))
            }
            (false, false) => Err(PlanError::Beyond {
                what: what.to_owned(),
                stream: rule.requests.name.clone(),
                offset,
                end: offset + span.max(rule.requests.block_size),
                target: self.drive.target.clone(),
                capacity,
            }),
        }
    }

    /// Returns a pulse whose times are divided by the factor of a shortened run, at least 1 ms each.
    fn pulse(&self, pulse: Pulse) -> Pulse {
        let by = u64::from(self.options.shorten);
        let shorter = |time: Nanos| Nanos((time.0 / by).max(time.0.min(1_000_000)));
        Pulse { on: shorter(pulse.on), off: shorter(pulse.off) }
    }

    /// Binds the limits of a step of `stream`, divided by the factor of a shortened run.
    fn until(&self, rule: &UntilRule, stream: &Stream) -> (Until, Option<SteadyRule>) {
        let by = u64::from(self.options.shorten);
        let passes = rule.passes.map(|passes| stream.span * u64::from(passes));
        let bytes = rule.bytes.into_iter().chain(passes).min();
        let until = Until {
            time: rule.time.map(|time| Nanos((time.0 / by).max(1))),
            bytes: bytes.map(|bytes| Bytes((bytes.0 / by).max(stream.block_size.0))),
        };
        // Samples are taken every second, so a round lasts at least one.
        let whole = |time: Nanos| Nanos::from_secs((time.0 / by / Nanos::SECOND.0).max(1));
        let share = |passes: f64| Bytes((stream.span.0 as f64 * passes / by as f64) as u64);
        let steady = rule.steady.map(|rule| SteadyRule {
            round: whole(rule.round),
            metric: rule.metric,
            round_bytes: share(rule.round_passes),
            least_bytes: share(rule.least_passes),
        });
        (until, steady)
    }

    /// Returns `time` divided by the factor of a shortened run, at least 1 ns: 0 would be no limit.
    fn shortened(&self, time: Nanos) -> Nanos {
        Nanos((time.0 / u64::from(self.options.shorten)).max(1))
    }

    /// Returns the rule of the headline; its window is shortened by the same factor as the steps.
    fn score(&self, score: &Score) -> Score {
        let by = u64::from(self.options.shorten);
        score.with_last_part(|window| match window {
            Window::Time(time) => Window::Time(Nanos((time.0 / by).max(1))),
            Window::Bytes(bytes) => Window::Bytes(Bytes((bytes.0 / by).max(1))),
        })
    }

    /// Returns the phase in which the drive settles; `None` where `time` is zero.
    fn settle_phase(&self, time: Nanos) -> Option<Phase> {
        let time = Nanos(time.0 / u64::from(self.options.shorten));
        let settles =
            || single(PhaseKind::Rest, format!("settle {}", time.exact()), Action::Rest(time));
        (time > Nanos::ZERO).then(settles)
    }

    /// Returns the pause after a step. A duty cycle is a ratio, so only its cap is shortened.
    fn rest(&self, rest: Rest) -> Rest {
        let by = u64::from(self.options.shorten);
        match rest {
            Rest::None => Rest::None,
            Rest::For(time) => Rest::For(Nanos(time.0 / by)),
            Rest::DutyCycle { busy, at_most } => {
                Rest::DutyCycle { busy, at_most: Nanos(at_most.0 / by) }
            }
        }
    }
}

/// Returns the phase that sets the power saving.
fn power_phase(saving: PowerSaving) -> Phase {
    single(PhaseKind::Power, saving.to_string(), Action::Prepare(Preparation::Power(saving)))
}

/// Returns the phase that switches the volatile write cache.
pub(super) fn cache_phase(switch: WriteCache) -> Phase {
    let action = Action::Prepare(Preparation::WriteCache(switch));
    single(PhaseKind::WriteCache, format!("write cache {switch}"), action)
}

/// Returns the phase of the idle time before a load.
fn idle_phase(time: Nanos) -> Phase {
    single(PhaseKind::Rest, format!("idle {}", time.exact()), Action::Idle(time))
}

/// Returns the phase that measures the first point again.
fn check_phase(phases: &[Phase]) -> Option<Phase> {
    let measured = phases.iter().find(|phase| phase.kind == PhaseKind::Measure)?;
    let first = measured.steps.first()?;
    let step = Step { rest: Rest::None, ..first.clone() };
    Some(Phase { kind: PhaseKind::Check, steps: vec![step] })
}

/// Returns a phase of one step.
fn single(kind: PhaseKind, label: String, action: Action) -> Phase {
    let step = Step { label, position: 0.0, action, rest: Rest::None };
    Phase { kind, steps: vec![step] }
}

/// Returns the entry that lists the points left out for the block size of the target.
fn points_left_out(labels: &[&str], block: Bytes) -> Option<Chosen> {
    let (labels_text, block) = (labels.join(", "), block.as_block());
    let value = format!("{labels_text}: the blocks of the target have {block}");
    (!labels.is_empty()).then(|| Chosen { key: "left out".into(), value })
}

/// Binds the rounds to the last of `phases`; `None` where the tracked point is left out.
fn bind_rounds(rule: &RoundsRule, phases: &[Phase]) -> Option<Rounds> {
    let phase = phases.len().checked_sub(1)?;
    let tracking = phases[phase].steps.iter().position(|step| step.label == rule.tracking)?;
    Some(Rounds { phase, at_most: rule.at_most, tracking, metric: rule.metric })
}

/// Returns the stream whose span counts for limits in passes: the first that addresses blocks.
fn addressing(streams: &[Stream]) -> &Stream {
    streams.iter().find(|stream| stream.addresses()).unwrap_or(&streams[0])
}

/// Moves each repetition of a sequential step to the next part of the span, from the start again
/// after the end: a burst must not read or overwrite the data of the burst before, which the drive
/// may still cache.
fn shift_repetition(stream: &mut Stream, bytes: Bytes, turn: u64) {
    // Several sizes may reach the limit with the largest one.
    let blocks = bytes.0.div_ceil(stream.block_size.0) + u64::from(stream.has_sizes());
    let part = stream.step() * blocks;
    let parts = stream.span.blocks_of(part);
    if stream.is_sequential() && turn > 0 && parts > 1 {
        stream.offset += part * (turn % parts);
        stream.span = part;
    }
}
