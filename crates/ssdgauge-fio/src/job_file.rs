//! The job file of a plan: its tests in order, a section for each stream of a step.

use crate::line::{NameError, file_name, one_line};
use crate::section::{Section, name, of_preparation, of_workload};
use ssdgauge_core::{Action, Nanos, Phase, Plan, Rest, Step, Test};

/// The file or the device that the jobs address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobTarget {
    /// A file or a device, by its path.
    Path(String),
    /// The variable TARGET of the environment, for plans of virtual drives.
    Variable,
}

impl JobTarget {
    /// Returns the value of `filename`.
    pub(crate) fn filename(&self) -> Result<String, NameError> {
        match self {
            JobTarget::Path(path) => file_name(path),
            JobTarget::Variable => Ok("${TARGET}".into()),
        }
    }
}

/// The first line of a job file, by which a later export recognises it.
pub const MARK: &str = "# Job file of fio, written by ssdgauge export --fio";

/// The begin of the description of a job that rests. It sends one request to the null engine of fio, which
/// opens nothing, and thinks: `exec_prerun` prints into the JSON, and `startdelay` counts from the begin of fio.
pub(crate) const REST: &str = "rest of ";

/// The longest think time of fio is 32 bits of microseconds; a longer rest has several.
const LONGEST_THINK: Nanos = Nanos(3_600_000_000_000);

/// Returns the job file of `plan`, as the text of an ini file for fio 3.19 or later. `unknown` is said of the
/// target in comments.
///
/// The jobs run one after another in the order of the plan. Of a search the first load is written, of
/// rounds the first round; every repetition of a test is written. Texts of the plan are one line each.
///
/// # Errors
///
/// Refuses a target whose name fio would read as another one.
pub fn job_file(plan: &Plan, target: &JobTarget, unknown: &[String]) -> Result<String, NameError> {
    let filename = target.filename()?;
    let mut writer =
        Writer { text: format!("{MARK}\n"), pause: Nanos::ZERO, section: 0, polled: plan.polled };
    if plan.pass_through {
        let words =
            "NVMe pass-through: set ioengine=io_uring_cmd, cmd_type=nvme and the node /dev/ng…";
        writer.comment(words);
    }
    writer.comment(&format!(
        "{} (suite {} revision {}), seed {}",
        one_line(&plan.suite.title),
        one_line(&plan.suite.id),
        plan.suite.revision,
        plan.seed
    ));
    if plan.shortened > 1 {
        writer
            .comment(&format!("All durations and byte limits are divided by {}.", plan.shortened));
    }
    writer.comment(
        "fio counts latencies from its own queue to its own reap (clat, slat + clat = lat).",
    );
    if *target == JobTarget::Variable {
        writer.comment("The target: TARGET=/dev/nvme1n1 fio FILE");
    }
    unknown.iter().for_each(|words| writer.comment(&one_line(words)));
    writer.text += &format!(
        "\n[global]\nfilename={filename}\ndirect=1\nthread=1\ngroup_reporting=1\nrandseed={}\n",
        plan.seed
    );
    for (number, test) in plan.tests.iter().enumerate() {
        writer.test(number, test);
    }
    if writer.pause > Nanos::ZERO {
        writer.missing(&format!("a rest of {} at the end", writer.pause.about()));
    }
    Ok(writer.text)
}

/// Returns the length of a step that ends by the clock alone.
fn length(action: &Action) -> Option<Nanos> {
    match action {
        Action::Run { until, steady: None, .. } if until.bytes.is_none() => until.time,
        Action::Rest(time) | Action::Idle(time) => Some(*time),
        Action::Run { .. } | Action::Replay(_) | Action::Prepare(_) => None,
    }
}

/// The job file so far.
struct Writer {
    text: String,
    /// The time without load before the next job.
    pause: Nanos,
    /// The number of sections.
    section: usize,
    /// Whether completions are polled.
    polled: bool,
}

impl Writer {
    fn test(&mut self, number: usize, test: &Test) {
        let repetition = match test.repetition {
            1 => String::new(),
            repetition => format!(" (repetition {repetition})"),
        };
        self.text.push('\n');
        self.comment(&format!(
            "test {}: {}{repetition}",
            one_line(&test.id),
            one_line(&test.title)
        ));
        for (index, phase) in test.phases.iter().enumerate() {
            self.phase(number, test, index, phase);
        }
    }

    fn phase(&mut self, number: usize, test: &Test, index: usize, phase: &Phase) {
        let mut steps = phase.steps.as_slice();
        if let Some(search) = &test.search {
            if index == search.probes {
                self.missing(
                    "the search for the highest passing load; only its first load follows",
                );
                steps = &[];
            } else if index == search.attempts {
                steps = &steps[..steps.len().min(1)];
            }
        }
        if let Some(rounds) = test.rounds.filter(|rounds| rounds.phase == index) {
            let most = rounds.at_most;
            self.missing(&format!(
                "repetition of the following steps, at most {most} times, until five rounds of {} \
                 are steady (SNIA PTS)",
                rounds.metric.key()
            ));
        }
        for step in steps {
            self.step(number, test, step);
        }
    }

    fn step(&mut self, number: usize, test: &Test, step: &Step) {
        match &step.action {
            Action::Prepare(preparation) => match of_preparation(preparation) {
                Ok(mut section) => {
                    section.name = name(number, &test.id, &step.label, None);
                    self.sections(vec![section]);
                }
                Err(words) => self.missing(&words),
            },
            Action::Run { workload, until, steady } => {
                let mut sections = of_workload(workload, until);
                if self.polled {
                    sections.iter_mut().for_each(Section::poll);
                }
                let several = sections.len() > 1;
                let addressing = workload.streams.iter().filter(|stream| stream.addresses());
                for (section, stream) in sections.iter_mut().zip(addressing) {
                    let stream = several.then_some(stream.name.as_str());
                    section.name = name(number, &test.id, &step.label, stream);
                }
                if let (Some(rule), Some(first)) = (steady, sections.first_mut()) {
                    first.missing.push(format!(
                        "an earlier end, when {} is steady over five rounds (SNIA PTS)",
                        rule.metric.key()
                    ));
                }
                for stream in workload.streams.iter().filter(|stream| !stream.addresses()) {
                    self.missing(&format!("the stream '{}' of flushes", one_line(&stream.name)));
                }
                self.sections(sections);
            }
            Action::Replay(replay) => {
                self.missing(&format!("the {}", one_line(&replay.describe())));
            }
            Action::Rest(time) => self.pause += *time,
            Action::Idle(time) => {
                self.missing("the drive is also left without any query in the following pause");
                self.pause += *time;
            }
        }
        match step.rest {
            Rest::None => {}
            Rest::For(time) => self.pause += time,
            Rest::DutyCycle { busy, at_most } => match length(&step.action) {
                Some(length) => {
                    let rest = length.as_secs_f64() * (1.0 / busy - 1.0);
                    self.pause += Nanos((rest * 1e9) as u64).min(at_most);
                }
                None => self.missing(&format!(
                    "a rest after this step, so that it takes {:.0} % of the time, at most {}",
                    busy * 100.0,
                    at_most.about()
                )),
            },
        }
    }

    /// Adds the sections of one step, which run at the same time.
    fn sections(&mut self, sections: Vec<Section>) {
        if !sections.is_empty() {
            self.rest();
        }
        for (index, section) in sections.into_iter().enumerate() {
            self.section += 1;
            self.text += &format!("\n[{:04}-{}]\n", self.section, section.name);
            for words in &section.missing {
                self.missing(words);
            }
            if index == 0 {
                self.text += "stonewall\n";
            }
            for (key, value) in &section.options {
                self.text += &format!("{key}={}\n", one_line(value));
            }
        }
    }

    /// Adds the job of the pause before the next one.
    fn rest(&mut self) {
        let pause = std::mem::take(&mut self.pause);
        if pause == Nanos::ZERO {
            return;
        }
        self.section += 1;
        let parts = pause.0.div_ceil(LONGEST_THINK.0);
        let micros = pause.0.div_ceil(parts * 1_000);
        self.text += &format!(
            "\n[{:04}-rest]\nstonewall\ndescription={REST}{}\nioengine=null\nrw=read\nbs=512\nsize={}\n\
             thinktime={micros}us\nthinktime_blocks=1\n",
            self.section,
            pause.about(),
            parts * 512
        );
    }

    /// Adds a comment about something that fio cannot do.
    fn missing(&mut self, words: &str) {
        self.comment(&format!("not in this file: {}", one_line(words)));
    }

    /// Adds a comment. Each text of the plan in it is one line already.
    fn comment(&mut self, words: &str) {
        self.text += &format!("# {words}\n");
    }
}
