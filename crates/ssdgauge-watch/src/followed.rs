//! A run that is followed: its steps, seconds and findings so far, and how it stands.

use crate::Lost;
use crate::live::receiver::LiveReceiver;
use crate::second::{Assembler, Moved, Second};
use crate::step_title;
use ssdgauge_analysis::{ReportError, Run, sanitize_prose};
use ssdgauge_core::{Direction, LatencyOf, Nanos, Reading, Workload};
use ssdgauge_lab::{Outlook, assumed_rates};
use ssdgauge_runfile::{
    FindingRecord, Follower, Head, News, PROOF_SUITE, RunFileError, StepId, StepPlace, StepRecord,
    StepState,
};
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// The maximum number of seconds that are kept for the display. Chosen: three days.
const KEPT: usize = 3 * 86_400;
/// The looks without a writer, one after the other, after which the run has ended: a writer holds no lock
/// between two transactions, and none while its file gets its name.
const LOOKS: u32 = 3;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A program writes the file, or that is not decided yet.
    Running,
    /// Every step is finished.
    Finished,
    /// The run ended before its last step; it can be resumed.
    Interrupted,
    /// The program was killed, or the machine stopped; the run can be resumed.
    Killed,
}

/// A change of a run, in the order in which it was recorded.
#[derive(Clone, Debug)]
pub enum Event {
    /// A step began.
    Began(StepRecord),
    /// A second ended.
    Second(Second),
    /// A step ended.
    Ended(StepRecord),
    /// A finding was recorded.
    Finding(FindingRecord),
    /// The run ended.
    Closed(Standing),
}

/// A run file that is followed.
#[derive(Debug)]
pub struct Followed {
    follower: Follower,
    assembler: Assembler,
    /// Seconds that are not in the file yet.
    live: LiveReceiver,
    /// Every attempt at a step, in the order of their start.
    steps: Vec<StepRecord>,
    /// The last seconds.
    seconds: VecDeque<Second>,
    findings: Vec<FindingRecord>,
    /// What reads and writes have moved since the start of the run.
    moved: [Moved; 2],
    standing: Standing,
    /// Whether every record of the last commit is here.
    has_all: bool,
    /// Whether a proof of the capacity has its verdict.
    is_proved: bool,
    looks_without_writer: u32,
    /// Whether a program wrote the file at some look.
    was_written: bool,
    /// The rest of the run from the start of the current step on, and the number of steps it is for.
    rest: (usize, Nanos),
}

impl Followed {
    /// Opens the run file `path`.
    ///
    /// # Errors
    ///
    /// Fails where it is not a run file, or cannot be read.
    pub fn open(path: &Path) -> Result<Followed, RunFileError> {
        let follower = Follower::open(path)?;
        let live = LiveReceiver::new(path, &follower.head().id);
        Ok(Followed {
            follower,
            live,
            assembler: Assembler::default(),
            steps: Vec::new(),
            seconds: VecDeque::new(),
            findings: Vec::new(),
            moved: [Moved::default(); 2],
            standing: Standing::Running,
            has_all: false,
            is_proved: false,
            looks_without_writer: 0,
            was_written: false,
            rest: (0, Nanos::ZERO),
        })
    }

    /// Reads what was recorded since the last call, at most some thousand records. With `is_held` the
    /// run has not ended.
    ///
    /// # Errors
    ///
    /// Fails where the file has vanished, was replaced, or is damaged.
    pub fn poll(&mut self, is_held: bool) -> Result<Vec<Event>, Lost> {
        if self.standing != Standing::Running {
            return Ok(Vec::new());
        }
        // Before the records: a writer that has ended adds none after them.
        let has_writer = self.follower.has_writer()? || is_held;
        self.was_written |= has_writer;
        let news = self.follower.read()?;
        self.has_all = news.is_all;
        // A killed writer can leave a commit that is half written. It is undone by `resume`.
        let is_half_written = news.is_unsettled && self.follower.has_journal();
        let mut events = self.take(news);
        if self.has_all {
            self.take_live(&mut events);
        }
        let is_other = |event: &Event| matches!(event, Event::Began(_) | Event::Ended(_));
        let is_new = events.iter().any(is_other);
        self.looks_without_writer = if has_writer { 0 } else { self.looks_without_writer + 1 };
        if (self.has_all || is_half_written) && self.looks_without_writer >= LOOKS {
            let last = self.assembler.end();
            self.keep(last, &mut events);
            self.standing = self.end()?;
            match self.standing {
                Standing::Running => self.looks_without_writer = 0,
                Standing::Finished | Standing::Interrupted | Standing::Killed => {
                    events.push(Event::Closed(self.standing));
                }
            }
        }
        if is_new {
            self.forecast();
        }
        Ok(events)
    }

    /// Takes new records, and returns them as events.
    fn take(&mut self, news: News) -> Vec<Event> {
        let mut events = Vec::new();
        let mut readings = news.readings.into_iter().peekable();
        let mut intervals = news.intervals.into_iter().peekable();
        for step in news.steps {
            let is_known = self.steps.last().is_some_and(|last| last.id == step.id);
            if !is_known {
                let begun = StepRecord { state: StepState::Running, elapsed: None, ..step.clone() };
                self.steps.push(begun.clone());
                events.push(Event::Began(begun));
            }
            while let Some((_, interval)) = intervals.next_if(|(id, _)| *id == step.id) {
                let before = Nanos::SECOND * u64::from(interval.second);
                while let Some((id, reading)) =
                    readings.next_if(|(id, one)| (*id, one.at) < (step.id, before))
                {
                    self.read_out(id, &reading, &mut events);
                }
                let latency_of = self.latency_of(step.place);
                let ended = self.assembler.interval(step.id, latency_of, &interval);
                self.keep(ended, &mut events);
            }
            while let Some((id, reading)) = readings.next_if(|(id, _)| *id <= step.id) {
                self.read_out(id, &reading, &mut events);
            }
            let is_over = step.state != StepState::Running;
            // A commit can hold the first interval of a second whose others follow.
            if is_over {
                let ended = self.assembler.end();
                self.keep(ended, &mut events);
                if let Some(last) = self.steps.last_mut() {
                    last.clone_from(&step);
                }
                events.push(Event::Ended(step));
            }
        }
        // Of steps that have ended before: the rest after the last one.
        for (id, reading) in readings {
            self.read_out(id, &reading, &mut events);
        }
        for finding in news.findings {
            self.findings.push(finding.clone());
            events.push(Event::Finding(finding));
        }
        let ends_proof = |value: &str| {
            let value: Option<serde_json::Value> = serde_json::from_str(value).ok();
            value.is_some_and(|value| value["event"] == "ended")
        };
        let mut properties = news.properties.iter().filter(|one| one.key == "proof_event");
        self.is_proved |= properties.any(|one| ends_proof(&one.value));
        events
    }

    /// Takes a reading. In a step without load each second of readings is a second of the step.
    fn read_out(&mut self, step: StepId, reading: &Reading, events: &mut Vec<Event>) {
        self.assembler.reading(reading);
        let record = self.steps.iter().rfind(|record| record.id == step);
        let planned = record.map(|record| self.planned(record.place));
        if planned.is_none_or(|(_, _, step)| step.action.idle_time().is_none()) {
            return;
        }
        let number = u32::try_from(reading.at.0 / Nanos::SECOND.0).unwrap_or(u32::MAX);
        let is_next = |last: &Second| last.step != step || last.load.number < number;
        if self.seconds.back().is_none_or(is_next) {
            let second = self.assembler.idle(step, number);
            self.keep(Some(second), events);
        }
    }

    /// Takes seconds that the file does not hold yet: those of the current step that follow the last one
    /// without a gap, so that none is left out.
    fn take_live(&mut self, events: &mut Vec<Event>) {
        for second in self.live.take() {
            let Some(step) = self.current().map(|step| step.id) else { return };
            let last = self.seconds.back().filter(|last| last.step == step);
            let next = last.map_or(0, |last| last.load.number.saturating_add(1));
            if (second.step, second.load.number) == (step, next) {
                self.keep(Some(second), events);
            }
        }
    }

    /// Keeps `second`, unless it has come before: by the socket, which is ahead of the file.
    fn keep(&mut self, second: Option<Second>, events: &mut Vec<Event>) {
        let key = |second: &Second| (second.step, second.load.number);
        let last = self.seconds.back().map(key);
        let Some(second) = second.filter(|new| last.is_none_or(|last| key(new) > last)) else {
            return;
        };
        for side in second.load.sides.iter().filter(|side| side.direction.is_transfer()) {
            let moved = &mut self.moved[side.direction.side()];
            moved.ios = moved.ios.saturating_add(side.ios);
            moved.bytes = moved.bytes.saturating_add(side.bytes);
            moved.errors = moved.errors.saturating_add(side.errors);
        }
        if self.seconds.len() == KEPT {
            self.seconds.pop_front();
        }
        self.seconds.push_back(second.clone());
        events.push(Event::Second(second));
    }

    /// Returns how the run has ended, now that no program writes the file; it runs where one does after all.
    fn end(&self) -> Result<Standing, Lost> {
        if self.follower.has_journal() {
            return Ok(Standing::Killed);
        }
        if self.head().plan.suite.id == PROOF_SUITE {
            let ended = if self.is_proved { Standing::Finished } else { Standing::Interrupted };
            return Ok(ended);
        }
        let run = match ssdgauge_analysis::read(self.path()) {
            Err(ReportError::RunFile(RunFileError::Busy(_))) => return Ok(Standing::Running),
            read => read?,
        };
        Ok(if run.complete { Standing::Finished } else { Standing::Interrupted })
    }

    /// Computes the rest of the run from the start of the current step on.
    fn forecast(&mut self) {
        let head = self.follower.head();
        let rates = assumed_rates(&head.drive);
        let mut outlook = Outlook::new(&head.plan, head.drive.capacity, &rates);
        outlook.resume(&self.steps);
        let rest = self.current().map(|step| outlook.remaining_from(step.place).time);
        self.rest = (self.steps.len(), rest.unwrap_or_default());
    }

    /// Returns the run with all results as it stands; `None` where commits interrupt every attempt.
    ///
    /// # Errors
    ///
    /// Fails where the file has vanished, was replaced, or is damaged.
    pub fn results(&self) -> Result<Option<Run>, ReportError> {
        self.follower.whole(|file| ssdgauge_analysis::read_open(&file, self.path()))
    }

    /// Returns the opening record.
    pub fn head(&self) -> &Head {
        self.follower.head()
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        self.follower.path()
    }

    /// Returns how the run stands.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Returns whether every record of the last commit was read.
    pub fn has_all(&self) -> bool {
        self.has_all
    }

    /// Returns whether a program wrote the file at some look: the run went on.
    pub fn was_written(&self) -> bool {
        self.was_written
    }

    /// Returns every attempt at a step so far.
    pub fn steps(&self) -> &[StepRecord] {
        &self.steps
    }

    /// Returns the last seconds.
    pub fn seconds(&self) -> &VecDeque<Second> {
        &self.seconds
    }

    /// Returns the second whose numbers stand for the current step: its last one of which rates are stated;
    /// `None` before there is one. The numbers of a step never appear below the name of another one.
    pub fn latest(&self) -> Option<&Second> {
        let step = self.current()?.id;
        let mut of_step = self.seconds.iter().rev().take_while(|second| second.step == step);
        of_step.find(|second| second.load.has_rates())
    }

    /// Returns the findings so far.
    pub fn findings(&self) -> &[FindingRecord] {
        &self.findings
    }

    /// Returns the bytes that were written so far.
    pub fn written(&self) -> u64 {
        self.moved(Direction::Write).bytes
    }

    /// Returns what reads or writes have moved so far; nothing for another direction.
    pub fn moved(&self, direction: Direction) -> Moved {
        let moved = direction.is_transfer().then(|| self.moved[direction.side()]);
        moved.unwrap_or_default()
    }

    /// Returns the current step: the last one that began.
    pub fn current(&self) -> Option<&StepRecord> {
        self.steps.last()
    }

    /// Returns the time in the current step, as far as it is recorded.
    pub fn within(&self) -> Nanos {
        let Some(step) = self.current() else { return Nanos::ZERO };
        let last = self.seconds.back().filter(|second| second.step == step.id);
        step.elapsed
            .or(last.map(|last| Nanos::SECOND * (u64::from(last.load.number) + 1)))
            .unwrap_or_default()
    }

    /// Returns the expected rest of the run.
    pub fn left(&self) -> Nanos {
        self.rest.1.saturating_sub(self.within())
    }

    /// Returns test, phase and step at `place`.
    pub fn planned(
        &self,
        place: StepPlace,
    ) -> (&ssdgauge_core::Test, &ssdgauge_core::Phase, &ssdgauge_core::Step) {
        let test = &self.head().plan.tests[place.test];
        let phase = &test.phases[place.phase];
        (test, phase, &phase.steps[place.step])
    }

    /// Returns the requests whose latency is that of the step at `place`.
    fn latency_of(&self, place: StepPlace) -> LatencyOf {
        let workload = self.planned(place).2.action.workload();
        workload.map(Workload::latency_of).unwrap_or_default()
    }

    /// Returns the name of the step at `place`.
    pub fn title(&self, place: StepPlace) -> String {
        let (test, phase, step) = self.planned(place);
        sanitize_prose(&step_title::title(test, phase, step))
    }

    /// Returns the number of the step at `place` in the plan, from 1.
    pub fn number(&self, place: StepPlace) -> usize {
        step_title::places(&self.head().plan).take_while(|(other, _)| *other != place).count() + 1
    }

    /// Returns the places of the steps that have finished.
    pub fn finished(&self) -> BTreeSet<StepPlace> {
        let finished = self.steps.iter().filter(|step| step.state == StepState::Finished);
        finished.map(|step| step.place).collect()
    }

    /// Returns the failure that the end of the run is; `None` where it has finished or goes on.
    pub fn failure(&self) -> Option<Lost> {
        let how = match self.standing {
            Standing::Running | Standing::Finished => return None,
            Standing::Interrupted => "was interrupted",
            Standing::Killed => "was killed",
        };
        let step = self.current().map(|step| self.title(step.place));
        Some(Lost::Ended { path: self.path().to_owned(), how, step })
    }
}

/// A run of several that are watched together.
#[derive(Debug)]
pub struct Watched {
    /// The run file, as it was named.
    pub path: PathBuf,
    /// The run.
    pub run: Followed,
    /// Whether its program runs by the word of the one that has started it: it has not ended then, although
    /// it may hold no lock yet.
    pub is_held: bool,
    /// The failure that ended the observation, in addition to the failure of the run.
    pub lost: Option<Lost>,
}

impl Watched {
    /// Opens the run file `path`.
    ///
    /// # Errors
    ///
    /// As [`Followed::open`].
    pub fn open(path: &Path) -> Result<Watched, RunFileError> {
        let run = Followed::open(path)?;
        Ok(Watched { path: path.to_owned(), run, is_held: false, lost: None })
    }

    /// Reads what was recorded since the last call. A failure ends the observation of this run alone.
    pub fn poll(&mut self) -> Vec<Event> {
        if self.lost.is_some() {
            return Vec::new();
        }
        match self.run.poll(self.is_held) {
            Ok(events) => events,
            Err(failure) => {
                self.lost = Some(failure);
                Vec::new()
            }
        }
    }

    /// Returns whether the observation has ended.
    pub fn is_over(&self) -> bool {
        self.lost.is_some() || self.run.standing() != Standing::Running
    }

    /// Returns the failure of the observation or of the run.
    pub fn into_failure(self) -> Option<Lost> {
        let of_run = self.run.failure();
        self.lost.or(of_run)
    }
}
