//! The order of the tests on the page: sections by use, the hero first, and the tests that separate no
//! two drives.

use crate::comparison::outcome;
use crate::groups::group::Group;
use crate::groups::uses::{self, Use};
use crate::model::PointRun;
use ssdgauge_core::Nanos;
use ssdgauge_statistics::difference::{NOISE, are_apart};

/// The minimum length of a test that shows a course over time, in seconds. Chosen.
const COURSE: usize = 20;

/// The sections of a page, with the numbers of their groups.
#[derive(Clone, Debug)]
pub struct Sections {
    /// The test whose figure comes first.
    pub hero: Option<usize>,
    /// The tests of each use that have a figure, the section of the hero first.
    pub uses: Vec<Section>,
}

/// One section.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its use.
    pub of: Use,
    /// The tests with a figure.
    pub figures: Vec<usize>,
    /// The tests of several drives that separate no two of them, or measured none: a line each.
    pub lines: Vec<usize>,
}

/// Returns the sections of `groups`.
pub fn sections(groups: &[Group<'_>]) -> Sections {
    let hero = hero(groups);
    let of_use = |of: Use| {
        let those = (0..groups.len()).filter(|n| of_group(&groups[*n]) == of);
        let (mut figures, lines): (Vec<usize>, Vec<usize>) =
            those.partition(|number| has_figure(&groups[*number]) || hero == Some(*number));
        figures.sort_by_key(|number| hero != Some(*number));
        Section { of, figures, lines }
    };
    let mut uses: Vec<Section> = Use::ALL.into_iter().map(of_use).collect();
    uses.retain(|section| !section.figures.is_empty() || !section.lines.is_empty());
    uses.sort_by_key(|section| !section.figures.iter().any(|number| hero == Some(*number)));
    Sections { hero, uses }
}

/// Returns the use of the test of `group`.
pub fn of_group(group: &Group<'_>) -> Use {
    uses::classify(&group.first().test.test)
}

/// Returns whether the members of `group` have one measured step each, of which one lasts long enough
/// for a course over time.
pub fn is_over_time(group: &Group<'_>) -> bool {
    let points = || group.members.iter().flat_map(|member| &member.test.points);
    let is_open = |point: &PointRun| {
        point.workload.streams.iter().any(|stream| stream.arrival.per_second().is_some())
    };
    is_one_step(group)
        && !points().any(is_open)
        && points().any(|point| point.seconds().len() >= COURSE)
}

/// Returns whether the members of `group` have one measured step each.
pub fn is_one_step(group: &Group<'_>) -> bool {
    let tests = || group.members.iter().map(|member| member.test);
    tests().all(|test| test.points.len() <= 1 && test.planned <= 1 && test.test.search.is_none())
}

impl Section {
    /// Returns the question that its charts answer about one drive: whether a speed lasts is shown by a test over time.
    pub fn question(&self, groups: &[Group<'_>]) -> &'static str {
        let mut figures = self.figures.iter().map(|number| &groups[*number]);
        match self.of {
            Use::Sustained if !figures.any(is_over_time) => "How fast are long writes?",
            Use::Sustained
            | Use::Everyday
            | Use::Transfers
            | Use::Durable
            | Use::Mixed
            | Use::Latency
            | Use::Power => self.of.question(),
        }
    }
}

/// A single drive, or a test with a result of one drive, has a figure. Of several results, two have to
/// differ by 3 %.
fn has_figure(group: &Group<'_>) -> bool {
    let results = outcome::ranked(group).len();
    match group.members.len() {
        1 => group.members[0]
            .test
            .points
            .iter()
            .any(|point| point.point.totals.elapsed > Nanos::ZERO),
        _ => results == 1 || outcome::separates(group),
    }
}

/// Returns the test with the largest ratio between best and worst of those over time; ties within 3 %
/// go to the sequential write. Of a single drive it is the sequential write, or the first over time. Where
/// no test shows a course over time, it is that with the largest ratio of all that separate the drives.
/// Power of an idle drive has ratios of hundreds, and comes first nowhere.
pub fn hero(groups: &[Group<'_>]) -> Option<usize> {
    let of = |fits: fn(&Group<'_>) -> bool| -> Vec<usize> {
        let may_be = |number: &usize| of_group(&groups[*number]) != Use::Power;
        (0..groups.len()).filter(may_be).filter(|number| fits(&groups[*number])).collect()
    };
    let over_time = of(is_over_time);
    let candidates = if over_time.is_empty() { of(outcome::separates) } else { over_time };
    let spread = |number: usize| outcome::spread(&groups[number]);
    let most = candidates.iter().map(|number| spread(*number)).fold(1.0, f64::max);
    let is_most = |number: &usize| !are_apart(spread(*number), most, NOISE);
    let ties = || candidates.iter().copied().filter(is_most);
    let is_fill = |number: &usize| {
        let test = &groups[*number].first().test.test;
        uses::is_sequential(test) && uses::classify(test) == Use::Sustained
    };
    ties().find(is_fill).or_else(|| ties().next())
}
