//! Looks at devices, each in a process that can be given up.
//!
//! A thread that waits for a device in the kernel cannot be stopped, and its process cannot end. So
//! this program starts itself again (`ssdgauge look`), waits for each answer for a limited time, and
//! kills that process then. It ends when the device answers, holds no lock and no descriptor for
//! writing but the one that it is about to hand over, and reaches no further call. A process that
//! has answered is kept for the next look.
//!
//! A look reports what was found; whether a drive may be written is decided in `admission`.

use crate::access::{self, Condition};
use crate::identity::Identity;
use crate::look_place::LookPlace;
use crate::place::{Candidate, TargetError, path_of};
use crate::refusal::Refusal;
use crate::scratch;
use crate::signatures::Owner;
use crate::text::shown;
use crate::uses::{self, Openers, Uses};
use serde::{Deserialize, Serialize};
use ssdgauge_os::own_process::{self, OwnProcess};
use ssdgauge_os::topology::Kernel;
use std::cell::OnceCell;
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time after which a device that has not answered counts as one that does not answer. Chosen:
/// above every response of a drive that works (the kernel resets one after 30 s), below the patience
/// of a user. A rotational drive in standby can take longer for its first response.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// The same for a scratch file. Chosen: some file systems write zeros to allocate it.
const SCRATCH_LIMIT: Duration = Duration::from_secs(60);

/// The maximum number of processes that look side by side.
const MAX_AT_ONCE: usize = 64;

/// What is asked about a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Question {
    /// Whether the target called `name` answers at all.
    Answer { name: String },
    /// The resolution of the name of a target.
    Find { name: String },
    /// The uses of a drive.
    Uses(UsesQuestion),
    /// The exclusive descriptor for writing.
    Open { path: PathBuf },
    /// The contents and the health.
    Condition(ConditionQuestion),
    /// The free space for the scratch file of a target.
    Room { candidate: Candidate },
    /// The scratch file of a target.
    Scratch { candidate: Candidate },
}

/// The question for the uses of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UsesQuestion {
    /// The node of the drive.
    pub(crate) path: PathBuf,
    /// Its folder in sysfs.
    pub(crate) folder: PathBuf,
    /// The run file, as bytes: a path need not be UTF-8.
    results: Option<Vec<u8>>,
    openers: Openers,
    /// The process that asks, which is not a foreign user.
    process: u32,
}

/// The question for contents and health.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ConditionQuestion {
    /// The node of the drive.
    pub(crate) path: PathBuf,
    /// The drive as it was inspected.
    pub(crate) identity: Identity,
    /// Whose test data does not count as contents.
    pub(crate) owner: Owner,
}

/// What was found.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Answered,
    Found(Box<Result<Candidate, TargetError>>),
    Uses(Uses),
    /// The message carries the descriptor.
    Opened(Result<(), Refusal>),
    Condition(Result<Condition, String>),
    Room(Result<(), TargetError>),
    /// The message carries the descriptor; the reason why requests go through the page cache.
    Scratch(Result<Option<String>, TargetError>),
}

impl UsesQuestion {
    /// Returns the question for the uses of the drive `path` with the folder `folder` by `openers`;
    /// `results` is the run file.
    pub(crate) fn new(
        path: &Path,
        folder: &Path,
        results: Option<&Path>,
        openers: Openers,
    ) -> UsesQuestion {
        UsesQuestion {
            path: path.to_owned(),
            folder: folder.to_owned(),
            results: results.map(|path| path.as_os_str().as_bytes().to_vec()),
            openers,
            process: std::process::id(),
        }
    }

    fn answer(&self, kernel: &Kernel) -> Uses {
        let results = self.results.clone().map(std::ffi::OsString::from_vec).map(PathBuf::from);
        uses::find(kernel, &self.folder, results.as_deref(), &self.openers, self.process)
    }
}

impl Question {
    fn subject(&self) -> String {
        match self {
            Question::Answer { name } | Question::Find { name } => name.clone(),
            Question::Uses(UsesQuestion { path, .. })
            | Question::Open { path }
            | Question::Condition(ConditionQuestion { path, .. }) => shown(path),
            Question::Room { candidate } | Question::Scratch { candidate } => {
                candidate.info.target.clone()
            }
        }
    }

    fn limit(&self) -> Duration {
        match self {
            Question::Scratch { .. } => SCRATCH_LIMIT,
            Question::Answer { .. }
            | Question::Find { .. }
            | Question::Uses(_)
            | Question::Open { .. }
            | Question::Condition(_)
            | Question::Room { .. } => ANSWER_LIMIT,
        }
    }
}

/// Checks that the device, file or folder `path` answers, in `place`.
///
/// # Errors
/// It does not.
pub fn check_answer(place: &LookPlace, path: &Path) -> Result<(), TargetError> {
    let question = Question::Answer { name: shown(path) };
    one(ask(place, vec![question])).map(|_| ()).map_err(TargetError::Refused)
}

/// Resolves the name of a target that answers.
pub(crate) fn find(place: &LookPlace, name: &str) -> Result<Candidate, TargetError> {
    // The answer first: the description only reads sysfs, and would call a dead drive a target. Each
    // by itself: `ask` goes on after a question without an answer, and a file system that does not
    // respond would be waited for twice.
    one(ask(place, vec![Question::Answer { name: name.into() }]))?;
    candidate(one(ask(place, vec![Question::Find { name: name.into() }])))
}

/// Resolves the names of drives, without an access to them.
pub(crate) fn find_all(place: &LookPlace, names: &[String]) -> Vec<Result<Candidate, TargetError>> {
    let questions = names.iter().map(|name| Question::Find { name: name.clone() });
    ask(place, questions.collect()).into_iter().map(candidate).collect()
}

/// Finds the uses of each drive.
pub(crate) fn find_uses(
    place: &LookPlace,
    drives: Vec<UsesQuestion>,
) -> Vec<Result<Uses, Refusal>> {
    // One process for all of them: uses are found in sysfs and procfs, whose snapshot they share.
    let answers = ask(place, drives.into_iter().map(Question::Uses).collect());
    let uses = |found: Found| {
        let Answer::Uses(uses) = found.answer else { return Err(unexpected(&found.subject)) };
        Ok(uses)
    };
    answers.into_iter().map(|answer| answer.and_then(uses)).collect()
}

/// Opens the device `path` for writing, exclusively.
pub(crate) fn open(place: &LookPlace, path: &Path) -> Result<File, Refusal> {
    let found = one(ask(place, vec![Question::Open { path: path.to_owned() }]))?;
    let Answer::Opened(opened) = found.answer else { return Err(unexpected(&found.subject)) };
    opened?;
    found.file.ok_or_else(|| unexpected(&found.subject))
}

/// Reads contents and health of each device, of all side by side; the inner error is that of the
/// system call.
pub(crate) fn read_conditions(
    place: &LookPlace,
    drives: Vec<ConditionQuestion>,
) -> Vec<Result<Result<Condition, String>, Refusal>> {
    let condition = |found: Found| {
        let Answer::Condition(condition) = found.answer else {
            return Err(unexpected(&found.subject));
        };
        Ok(condition)
    };
    let questions: Vec<Question> = drives.into_iter().map(Question::Condition).collect();
    let answers = questions.chunks(MAX_AT_ONCE).flat_map(|some| ask_side_by_side(place, some));
    answers.map(|answer| answer.and_then(condition)).collect()
}

/// Checks the free space for the scratch file of `candidate`.
pub(crate) fn check_room(place: &LookPlace, candidate: &Candidate) -> Result<(), TargetError> {
    let found = one(ask(place, vec![Question::Room { candidate: candidate.clone() }]))?;
    let Answer::Room(result) = found.answer else { return Err(unexpected(&found.subject).into()) };
    result
}

/// Opens the scratch file of `candidate`; returns it, and the reason why requests go through the page
/// cache, where they do.
pub(crate) fn open_scratch(
    place: &LookPlace,
    candidate: &Candidate,
) -> Result<(File, Option<String>), TargetError> {
    let found = one(ask(place, vec![Question::Scratch { candidate: candidate.clone() }]))?;
    let Answer::Scratch(opened) = found.answer else {
        return Err(unexpected(&found.subject).into());
    };
    let page_cache_reason = opened?;
    let file = found.file.ok_or_else(|| unexpected(&found.subject))?;
    Ok((file, page_cache_reason))
}

fn candidate(found: Result<Found, Refusal>) -> Result<Candidate, TargetError> {
    let found = found?;
    let Answer::Found(candidate) = found.answer else {
        return Err(unexpected(&found.subject).into());
    };
    *candidate
}

fn one(answers: impl IntoIterator<Item = Result<Found, Refusal>>) -> Result<Found, Refusal> {
    answers.into_iter().next().expect("there is an answer, or its error, for each question")
}

/// An answer, and the descriptor that came with it.
struct Found {
    subject: String,
    answer: Answer,
    file: Option<File>,
}

/// Returns the refusal for an answer to another question: a fault of this program, which must not
/// admit a drive.
fn unexpected(subject: &str) -> Refusal {
    Refusal::Denied { path: subject.to_owned(), cause: "the look at it failed".into() }
}

/// The process of a look, and the limit of its next answer.
struct Look {
    process: OwnProcess,
    /// When the answer before was received.
    since: Instant,
}

impl Look {
    /// Sends `questions` to a process of `place`, which answers them in their order.
    fn start(place: &LookPlace, questions: &[Question]) -> io::Result<Look> {
        let process = place.process()?;
        // In one message, so that they share one snapshot of mounts and loop devices.
        process.send(&serde_json::to_vec(questions)?)?;
        Ok(Look { process, since: Instant::now() })
    }

    /// Waits for the answer to `question`.
    fn answer(&mut self, question: &Question) -> Result<Found, Refusal> {
        let subject = question.subject();
        match self.process.receive(self.since + question.limit()) {
            Ok((message, file)) => {
                self.since = Instant::now();
                let answer = serde_json::from_slice(&message)
                    .map_err(|error| failed(&subject, &error.into()))?;
                Ok(Found { subject, answer, file })
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                Err(Refusal::NoAnswer { path: subject, seconds: question.limit().as_secs() })
            }
            Err(error) => Err(failed(&subject, &error)),
        }
    }
}

/// Returns the refusal of a drive at which no look was possible: what is not known is not admitted.
fn failed(subject: &str, error: &io::Error) -> Refusal {
    Refusal::Denied { path: subject.to_owned(), cause: format!("the look at it failed: {error}") }
}

/// Returns the answers to `questions` in their order, each within the limit after the one before it.
/// After one without an answer, another process goes on with the next.
fn ask(place: &LookPlace, questions: Vec<Question>) -> Vec<Result<Found, Refusal>> {
    if place.is_this_process() {
        return answer_here(&questions);
    }
    let mut answers = Vec::new();
    let mut look: Option<io::Result<Look>> = None;
    for (number, question) in questions.iter().enumerate() {
        let answer = match look.get_or_insert_with(|| Look::start(place, &questions[number..])) {
            Ok(look) => look.answer(question),
            Err(error) => Err(failed(&question.subject(), error)),
        };
        if answer.is_err() {
            look = None;
        }
        answers.push(answer);
    }
    if let Some(Ok(look)) = look {
        place.keep(look.process);
    }
    answers
}

/// Returns the answers to `questions`, each from a process of its own, all within one limit.
fn ask_side_by_side(place: &LookPlace, questions: &[Question]) -> Vec<Result<Found, Refusal>> {
    if place.is_this_process() {
        return answer_here(questions);
    }
    let mut looks: Vec<io::Result<Look>> = questions
        .iter()
        .map(|question| Look::start(place, std::slice::from_ref(question)))
        .collect();
    let answer = |(look, question): (&mut io::Result<Look>, &Question)| match look {
        Ok(look) => look.answer(question),
        Err(error) => Err(failed(&question.subject(), error)),
    };
    // Each has counted its limit since it was started. An answer that came while others were awaited is in
    // its socket and is taken, also after the limit.
    let answers: Vec<Result<Found, Refusal>> =
        looks.iter_mut().zip(questions).map(answer).collect();
    // One is enough for the next questions; the others end.
    let answered = looks.into_iter().zip(&answers).find(|(_, answer)| answer.is_ok());
    if let Some((Ok(look), _)) = answered {
        place.keep(look.process);
    }
    answers
}

fn answer_here(questions: &[Question]) -> Vec<Result<Found, Refusal>> {
    let kernel = OnceCell::new();
    let found = questions.iter().map(|question| {
        let (answer, file) = look(question, &kernel);
        Ok(Found { subject: question.subject(), answer, file })
    });
    found.collect()
}

/// Looks, for as long as it takes. All questions share one snapshot of mounts and loop devices.
fn look(question: &Question, kernel: &OnceCell<Kernel>) -> (Answer, Option<File>) {
    let answer = match question {
        Question::Answer { name } => {
            access::wait_for_answer(path_of(name));
            Answer::Answered
        }
        Question::Find { name } => Answer::Found(Box::new(Candidate::find(name))),
        Question::Uses(question) => Answer::Uses(question.answer(kernel.get_or_init(Kernel::look))),
        Question::Open { path } => match access::open_exclusively(path) {
            Ok(file) => return (Answer::Opened(Ok(())), Some(file)),
            Err(refusal) => Answer::Opened(Err(refusal)),
        },
        Question::Condition(ConditionQuestion { path, identity, owner }) => {
            let condition = access::condition(path, identity, owner);
            Answer::Condition(condition.map_err(|error| error.to_string()))
        }
        Question::Room { candidate } => Answer::Room(scratch::check_room(candidate)),
        Question::Scratch { candidate } => match scratch::open(candidate) {
            Ok((file, reason)) => return (Answer::Scratch(Ok(reason)), Some(file)),
            Err(error) => Answer::Scratch(Err(error)),
        },
    };
    (answer, None)
}

/// Serves the looks of the process that started this one, until that closes the socket: reads its
/// questions from standard input and answers each.
///
/// # Errors
/// Standard input is not the socket of such a process.
pub fn serve() -> io::Result<()> {
    let socket = own_process::serve()?;
    loop {
        let message = match own_process::receive(&socket, None) {
            Ok((message, _)) => message,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        };
        let questions: Vec<Question> = serde_json::from_slice(&message)?;
        // A snapshot for each message, not for each process: a kept process looks again before every step,
        // and has to see what was mounted since.
        let kernel = OnceCell::new();
        for question in &questions {
            let (answer, file) = look(question, &kernel);
            own_process::send(&socket, &serde_json::to_vec(&answer)?, file.as_ref())?;
        }
    }
}
