//! The answer of a report of several drives: one row for each drive, with at most four numbers.

mod candidates;

use crate::answers::close_call;
use crate::comparison::outcome::{self, Outcome};
use crate::drives::report_drives::ReportDrives;
use crate::findings::trust;
use crate::groups::group::{Group, Member};
use crate::groups::key_metrics;
use crate::groups::measure::{self, Measure, SHALLOW};
use crate::groups::uses;
use crate::groups::workload_text;
use crate::text::interval::{self, Flattered};
use candidates::{commits, everyday, sustained, tail};
use ssdgauge_core::{Metric, Test};
use ssdgauge_statistics::difference::are_apart;

/// The maximum number of columns of numbers. Chosen: more do not fit next to the words on 1,280 pixels.
const MOST: usize = 4;

/// The answer: the drives in their order, and the columns.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The numbers of the drives, the best first: those that lead, then by mean rank over the columns.
    pub order: Vec<usize>,
    /// The columns.
    pub columns: Vec<Column>,
}

/// The question that a column answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Writes of which each is durable before the next, as databases commit.
    Commits,
    /// Reads, or mixes at a low depth.
    Everyday,
    /// Writes that outlast a cache.
    Sustained,
    /// The 99.99th percentile of latency.
    Tail,
    /// Work per watt.
    Efficiency,
    /// The headline of another test.
    Other,
}

/// One number for each drive.
#[derive(Clone, Debug)]
pub struct Column {
    /// What it answers.
    pub question: Question,
    /// Its title.
    pub title: String,
    /// The title where there is little room.
    pub short: String,
    /// The load and the unit, in a few words.
    pub conditions: String,
    /// Its requests with their direction, size and depth, such as `4 KiB random reads, QD1`.
    pub requests: String,
    /// Whether all of its requests are sequential.
    pub is_sequential: bool,
    /// Whether any of its requests read.
    pub(crate) has_reads: bool,
    /// The metric.
    pub metric: Metric,
    /// What it takes from its test.
    pub measure: Measure,
    /// Which drive leads, by the rule of the titles of figures; drives by their numbers.
    pub outcome: Outcome,
    /// The last of at least three drives, where it is behind all others beyond the noise.
    last: Option<usize>,
    /// The number of its test among the groups of the report.
    pub group: usize,
    /// The value of each drive, by its number.
    pub values: Vec<Option<f64>>,
    /// What is known of each value, by the number of its drive.
    pub marks: Vec<ValueMarks>,
    /// Whether each value has a say in the choice of columns: that of an unfinished run has none.
    counts: Vec<bool>,
}

/// What is known of one value besides the value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueMarks {
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// The value of the protocol, where it is far from the settled one: the start flatters.
    pub flattered_by: Option<Flattered>,
    /// Why it is in doubt, each reason once.
    pub doubts: Vec<String>,
}

impl Column {
    /// Returns by how much two values differ by noise, as a share: 3 %, the noise assumed between
    /// runs, or 50 % for a percentile of latency.
    pub fn noise(&self) -> f64 {
        outcome::noise(self.measure)
    }

    /// Returns whether `drive` leads, or ties with the best.
    pub fn is_best(&self, drive: usize) -> bool {
        self.outcome.best().contains(&drive)
    }

    /// Returns whether `drive` is the last of at least three, beyond the noise.
    pub(crate) fn is_last(&self, drive: usize) -> bool {
        self.last == Some(drive)
    }

    /// Returns whether no two of the drives whose runs have finished differ by more than the noise.
    fn is_alike(&self) -> bool {
        let own = |(value, counts): (&Option<f64>, &bool)| value.filter(|_| *counts);
        let values = self.values.iter().zip(&self.counts).map(own).collect();
        Column { values, ..self.clone() }.is_flat()
    }

    /// Returns whether no two of at least two drives differ by more than the noise.
    pub fn is_flat(&self) -> bool {
        let values = || self.values.iter().copied().flatten();
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        values().count() > 1 && !are_apart(least, most, self.noise())
    }

    /// Returns how many drives have a value.
    pub(crate) fn valued(&self) -> usize {
        self.values.iter().flatten().count()
    }

    /// Returns the two best drives where they differ by more than the noise, or by more than values
    /// without an interval have to, and no lead is decided.
    pub fn undecided(&self) -> Option<[usize; 2]> {
        match self.outcome {
            Outcome::Undecided { best, next } | Outcome::Unjudged { best, next } => {
                (!self.is_flat()).then_some([best, next])
            }
            Outcome::Nothing | Outcome::Alone(_) | Outcome::Tie(_) | Outcome::Lead { .. } => None,
        }
    }

    /// Returns what is known of each value that it shows.
    pub fn shown(&self) -> impl Iterator<Item = &ValueMarks> {
        let pairs = self.values.iter().zip(&self.marks);
        pairs.filter_map(|(value, marks)| value.is_some().then_some(marks))
    }

    /// Returns whether the values of two drives are close.
    pub(crate) fn are_close(&self, two: [usize; 2]) -> bool {
        let [a, b] = two.map(|drive| self.values[drive].unwrap_or(f64::NAN));
        close_call::are_close(a, b)
    }

    /// Returns the drives with a value, the best first.
    pub fn ranked(&self) -> Vec<usize> {
        let value = |drive: &usize| self.values[*drive].unwrap_or(f64::NAN);
        let mut drives: Vec<usize> =
            (0..self.values.len()).filter(|drive| self.values[*drive].is_some()).collect();
        drives.sort_by(|a, b| match self.metric.more_is_better() {
            true => value(b).total_cmp(&value(a)),
            false => value(a).total_cmp(&value(b)),
        });
        drives
    }

    /// Returns the drive that leads, the next one, and the ratio of their values, above 1.
    pub(crate) fn leader(&self) -> Option<(usize, usize, f64)> {
        match self.outcome {
            Outcome::Lead { best, next, ratio } => Some((best, next, ratio)),
            Outcome::Nothing
            | Outcome::Alone(_)
            | Outcome::Tie(_)
            | Outcome::Undecided { .. }
            | Outcome::Unjudged { .. } => None,
        }
    }
}

impl Answer {
    /// Returns the drives that lead a column with their columns: those with the most columns first, and
    /// of these the one whose column comes first. The headline names them in this order.
    pub fn leads(&self) -> Vec<(usize, Vec<&Column>)> {
        leads(&self.columns)
    }
}

fn leads(columns: &[Column]) -> Vec<(usize, Vec<&Column>)> {
    let mut leads: Vec<(usize, Vec<&Column>)> = Vec::new();
    for column in columns {
        let Some((best, _, _)) = column.leader() else { continue };
        match leads.iter_mut().find(|(drive, _)| *drive == best) {
            Some((_, of_drive)) => of_drive.push(column),
            None => leads.push((best, vec![column])),
        }
    }
    leads.sort_by_key(|(_, of_drive)| std::cmp::Reverse(of_drive.len()));
    leads
}

/// Returns the answer of `groups`. A question whose answer is the same for all drives yields its place to
/// another test that separates them.
pub fn answer(groups: &[Group<'_>], drives: &ReportDrives) -> Answer {
    let mut members = groups.iter().flat_map(|group| &group.members);
    let choice = Choice { groups, drives, finished_only: members.any(|one| one.run.complete) };
    let mut columns: Vec<Column> = Vec::new();
    let found = [
        choice.find(Question::Commits, Measure::Speed, commits),
        choice.find(Question::Everyday, Measure::Speed, everyday),
        choice.find(Question::Sustained, Measure::Speed, sustained),
        choice.find(Question::Tail, Measure::P9999, tail),
    ];
    columns.extend(found.into_iter().flatten());
    columns.extend(choice.efficiency(&columns));
    let (flat, mut columns): (Vec<Column>, Vec<Column>) =
        columns.into_iter().partition(Column::is_alike);
    let mut others = choice.others(&columns);
    // A test has no second column that separates its drives no better than its first.
    others.retain(|other| flat.iter().all(|one| one.group != other.group) || !other.is_alike());
    let (flat_others, others): (Vec<Column>, Vec<Column>) =
        others.into_iter().partition(Column::is_alike);
    columns.extend(others.into_iter().chain(flat).chain(flat_others));
    without_lone(&mut columns, drives.count());
    columns.truncate(MOST);
    // A column that half of the drives lack comes after the others.
    let is_sparse = |column: &Column| 2 * column.valued() < drives.count();
    columns.sort_by_key(|column| (is_sparse(column), column.question as usize));
    let order = order(&columns, drives);
    Answer { order, columns }
}

/// Removes the columns with the number of a single one of at least three drives, as long as that drive
/// has a number in another column: they compare nothing.
fn without_lone(columns: &mut Vec<Column>, drives: usize) {
    const FEWEST: usize = 3;
    let mut place = columns.len();
    while place > 0 && drives >= FEWEST {
        place -= 1;
        let has = |column: &Column, drive: usize| column.values[drive].is_some();
        let owner = columns[place].values.iter().position(Option::is_some);
        let is_elsewhere = |drive: usize| {
            let mut others = columns.iter().enumerate().filter(|(other, _)| *other != place);
            others.any(|(_, other)| has(other, drive))
        };
        if columns[place].valued() < 2 && owner.is_none_or(is_elsewhere) {
            columns.remove(place);
        }
    }
}

/// What the columns are chosen from.
struct Choice<'a> {
    groups: &'a [Group<'a>],
    drives: &'a ReportDrives,
    /// Whether the results of finished runs alone choose: those of an unfinished run lack the tests
    /// that it did not reach. False where no run has finished.
    finished_only: bool,
}

impl Choice<'_> {
    /// Returns how many members of `group` with a value of `measure` have a say in the choice.
    fn measured(&self, group: &Group<'_>, measure: Measure) -> usize {
        let members = group.members.iter().filter(|member| self.counts(member));
        members.filter(|member| measure.value(group, member).is_ok()).count()
    }

    fn counts(&self, member: &Member<'_>) -> bool {
        !self.finished_only || member.run.complete
    }

    /// Returns the groups in an order that does not depend on that of the files: by suite, then as in
    /// the plan.
    fn in_order(&self) -> Vec<usize> {
        let key = |number: &usize| {
            let first = self.groups[*number].first();
            let plan = &first.run.head.plan;
            let place = plan.tests.iter().position(|test| test.id == first.test.test.id);
            (&plan.suite.id, plan.suite.revision, place)
        };
        let mut numbers: Vec<usize> = (0..self.groups.len()).collect();
        numbers.sort_by(|a, b| key(a).cmp(&key(b)));
        numbers
    }

    /// Returns the headlines of tests that no column has: those of searches, then one for each kind of
    /// work.
    fn others(&self, columns: &[Column]) -> Vec<Column> {
        let mut numbers = self.in_order();
        numbers.retain(|number| self.groups[*number].first().test.test.search.is_some());
        let counts = |member: &Member<'_>| self.counts(member);
        let selected = key_metrics::select(self.groups, counts);
        numbers.extend(selected.into_iter().map(|(number, _)| number));
        let mut seen: Vec<usize> = columns.iter().map(|column| column.group).collect();
        let mut found = Vec::new();
        for number in numbers {
            if !seen.contains(&number) && self.measured(&self.groups[number], Measure::Speed) > 1 {
                seen.push(number);
                found.push(self.column(number, Question::Other, Measure::Speed));
            }
        }
        found
    }

    /// Returns the column of the group with the most drives, and of those the one of the highest
    /// `rank`; groups without a rank do not answer the question.
    fn find(
        &self,
        question: Question,
        measure: Measure,
        rank: fn(&Test) -> Option<u32>,
    ) -> Option<Column> {
        let rank = |number: usize| rank(&self.groups[number].first().test.test);
        let by = |number: usize| match question {
            Question::Everyday => everyday_measure(&self.groups[number].first().test.test),
            Question::Commits
            | Question::Sustained
            | Question::Tail
            | Question::Efficiency
            | Question::Other => measure,
        };
        let measured = |number: usize| self.measured(&self.groups[number], by(number));
        let mut numbers = self.in_order();
        numbers.retain(|number| rank(*number).is_some() && measured(*number) > 0);
        // The first of equals.
        let candidates = numbers.into_iter().rev();
        let number = candidates.max_by_key(|number| (measured(*number), rank(*number)))?;
        Some(self.column(number, question, by(number)))
    }

    fn efficiency(&self, columns: &[Column]) -> Option<Column> {
        let of_column = |question: Question| columns.iter().find(|c| c.question == question);
        let wanted = [Question::Sustained, Question::Everyday];
        let known = wanted.into_iter().filter_map(of_column).map(|column| column.group);
        let number = known.chain(self.in_order()).find(|number| {
            let group = &self.groups[*number];
            Measure::Efficiency.is_measured(group) && self.measured(group, Measure::Efficiency) > 0
        })?;
        Some(self.column(number, Question::Efficiency, Measure::Efficiency))
    }

    fn column(&self, number: usize, question: Question, measure: Measure) -> Column {
        let (group, drives) = (&self.groups[number], self.drives);
        let test = &group.first().test.test;
        let metric = measure.metric(test);
        let member = |drive: usize| {
            group.members.iter().find(|member| drives.drive_of(member.index) == drive)
        };
        let value =
            |drive: usize| member(drive).and_then(|member| measure.value(group, member).ok());
        let counts = |drive: usize| member(drive).is_some_and(|member| self.counts(member));
        let (title, short) = match question {
            Question::Everyday => ("Everyday".to_owned(), "Everyday".to_owned()),
            Question::Commits => ("Commits".to_owned(), "Commits".to_owned()),
            Question::Sustained => ("Sustained write".to_owned(), "Sustained".to_owned()),
            Question::Tail => ("Worst-case latency".to_owned(), "p99.99".to_owned()),
            Question::Efficiency => ("Efficiency".to_owned(), "Efficiency".to_owned()),
            Question::Other => {
                // A column of a phone has room for what the test does, not for its sizes.
                let title = group.title();
                let short = title.split(',').next().unwrap_or_default().to_owned();
                (group.full_title(), short)
            }
        };
        // Several runs of one drive are one drive here.
        let place = |drive: usize| {
            group.members.iter().position(|member| drives.drive_of(member.index) == drive)
        };
        let places: Vec<usize> = (0..drives.count()).filter_map(place).collect();
        let drive_at = |place: usize| drives.drive_of(group.members[place].index);
        let outcome = outcome::judge_by(group, measure, &places).renumbered(drive_at);
        Column {
            question,
            title,
            short,
            conditions: conditions(test, (measure, metric), question),
            requests: workload_text::requests(test),
            is_sequential: uses::is_sequential(test),
            has_reads: uses::streams(test).iter().any(|stream| stream.reads()),
            metric,
            measure,
            outcome,
            last: outcome::last(group, measure, &places).map(drive_at),
            group: number,
            values: (0..drives.count()).map(value).collect(),
            marks: (0..drives.count())
                .map(|drive| member(drive).map(|member| marks(measure, member)).unwrap_or_default())
                .collect(),
            counts: (0..drives.count()).map(counts).collect(),
        }
    }
}

/// Returns what is known of the value that `measure` takes from `member`.
fn marks(measure: Measure, member: &Member<'_>) -> ValueMarks {
    let headline = measure.headline(member);
    let interval = headline.as_ref().and_then(|headline| headline.interval.ends());
    let flattered_by = headline.as_ref().and_then(interval::flattered);
    ValueMarks {
        interval: interval.filter(|(low, high)| low.is_finite() && high.is_finite()),
        flattered_by,
        doubts: trust::doubts(member.test),
    }
}

fn conditions(test: &Test, (measure, metric): (Measure, Metric), question: Question) -> String {
    let unit = match question {
        Question::Tail if workload_text::is_of_flushes(test, Metric::LatP9999Us) => {
            "p99.99 of flushes, left is better"
        }
        Question::Tail => "p99.99, left is better",
        Question::Commits
        | Question::Everyday
        | Question::Sustained
        | Question::Efficiency
        | Question::Other => {
            if metric.unit().is_empty() {
                metric.title()
            } else {
                metric.unit()
            }
        }
    };
    let base = workload_text::base_load(test).filter(|_| metric == Metric::LoadMultiple);
    let unit = match base {
        Some(base) => format!("× {base}"),
        None => unit.to_owned(),
    };
    let load = match question {
        // The title of the test says it.
        Question::Other => String::new(),
        Question::Commits
        | Question::Everyday
        | Question::Sustained
        | Question::Tail
        | Question::Efficiency => workload_text::short(test),
    };
    let is_ladder = question == Question::Everyday && !load.contains("QD");
    let depths = match is_ladder || measure == Measure::Shallow {
        true => shallow_depths(test),
        false => String::new(),
    };
    let words = [load, depths, unit];
    words.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns the queue depths of everyday work that steps of `test` have, such as `QD1–4`.
fn shallow_depths(test: &Test) -> String {
    match measure::shallow_steps(test).as_slice() {
        [] => String::new(),
        [(one, _)] => format!("QD{one}"),
        [(least, _), .., (most, _)] if least == most => format!("QD{least}"),
        [(least, _), .., (most, _)] => format!("QD{least}–{most}"),
    }
}

/// Returns what everyday work takes from `test`: its headline where that counts only low queue depths.
fn everyday_measure(test: &Test) -> Measure {
    if uses::deepest_scored(test) <= SHALLOW { Measure::Speed } else { Measure::Shallow }
}

/// Returns all drives: those that lead a column as [`leads`] has them, then the others by their mean rank
/// over `columns`; a drive without a value has the last rank.
fn order(columns: &[Column], drives: &ReportDrives) -> Vec<usize> {
    let count = drives.count();
    let mean = |drive: usize| {
        let rank = |column: &Column| {
            // Equal values share a rank.
            let is_equal = |other: &usize| column.values[*other] == column.values[drive];
            column.ranked().iter().position(is_equal).unwrap_or(count) as f64
        };
        columns.iter().map(rank).sum::<f64>()
    };
    // The drives that the headline names as leaders come first, in its order.
    let leads = leads(columns);
    let lead =
        |drive: usize| leads.iter().position(|(leader, _)| *leader == drive).unwrap_or(leads.len());
    let mut order: Vec<usize> = (0..count).collect();
    // Names separate equal ranks: the order of the files must not show.
    let name = |drive: usize| drives.short(drive);
    order.sort_by(|a, b| {
        let by_rank = mean(*a).total_cmp(&mean(*b));
        lead(*a).cmp(&lead(*b)).then(by_rank).then_with(|| name(*a).cmp(name(*b)))
    });
    order
}
