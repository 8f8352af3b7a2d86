//! Answers to questions: numbers with their bands, or why there is none.

use crate::bands::{Band, FEWEST, Range, WIDEST};
use crate::evidence::Start;
use crate::kind::Kind;
use crate::number::Number;
use crate::profile::Twin;
use crate::question::Question;
use crate::replay::{Candidate, Latencies, open, predict, ratio};
use serde::Serialize;
use ssdgauge_core::{Access, Bytes, Nanos, Preparation, Rig, Stream, Workload};
use std::collections::BTreeMap;

/// Rest before the load, on the whole drive: its cache is empty then.
const REST: Nanos = Nanos::from_secs(600);
/// Block of the requests that write the data.
const FILL: Bytes = Bytes(128 << 10);
/// The share of an offered rate below which a drive is overloaded.
const KEPT: f64 = 0.97;
/// Percent of the capacity by which a fill level may differ from the validated ones.
const NEAR: f64 = 10.0;

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The kind of load; `None` for one that no twin predicts.
    pub kind: Option<Kind>,
    /// The numbers that are predicted.
    pub predicted: Vec<Predicted>,
    /// Why others, or all, are not.
    pub refused: Vec<String>,
    /// What was assumed.
    pub assumed: Vec<String>,
}

/// A predicted number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Predicted {
    /// Which one.
    pub number: Number,
    /// Its value, per second or in microseconds.
    pub value: f64,
    /// The error that nine of ten predictions do not exceed, as a share.
    pub band: f64,
}

/// Returns what `twin` predicts for `question`.
pub fn answer(twin: &Twin, question: &Question) -> Answer {
    let mut answer = Answer {
        kind: None,
        predicted: Vec::new(),
        refused: Vec::new(),
        assumed: question.assumed.clone(),
    };
    let Some(kind) = Kind::of(&question.workload(), question.is_steady) else {
        answer.refused.push("a twin predicts no load of this kind".to_owned());
        return answer;
    };
    answer.kind = Some(kind);
    let settles = format!("`ssdgauge {}` would settle it", kind.run_that_settles());
    let bands = twin.bands_of(kind);
    if bands.is_empty() {
        answer.refused.push(format!("no run has loads of this kind; {settles}"));
        return answer;
    }
    let mut wanted: Vec<&Band> = Vec::new();
    let asks_rate = question.stream.arrival.per_second().is_some();
    // A rate that is asked for does not answer anything.
    for band in bands.into_iter().filter(|one| !(asks_rate && one.number == Number::Rate)) {
        let doubt = outside(&band.range, question);
        match (band.is_validated(), doubt) {
            (true, None) => wanted.push(band),
            (true, Some(doubt)) => answer.refused.push(format!("{}: {doubt}", band.number.words())),
            (false, _) => answer.refused.push(badly_known(band, &settles)),
        }
    }
    if wanted.is_empty() {
        return answer;
    }
    let Some(numbers) = numbers(twin, question) else {
        answer.refused.push("the twin cannot carry this load out".to_owned());
        return answer;
    };
    if let (Some(asked), Some(rate)) =
        (question.stream.arrival.per_second(), numbers.get(&Number::Rate))
        && *rate < KEPT * asked
    {
        answer.refused.push(format!(
            "the twin does not keep {asked:.0} requests a second, so that its latencies are those of a queue"
        ));
        return answer;
    }
    if question.stream.writes()
        && question.stream.arrival.per_second().is_none()
        && !question.is_steady
    {
        answer.assumed.push("a burst after idle time".to_owned());
    }
    answer.predicted = wanted
        .into_iter()
        .filter_map(|band| {
            let value = *numbers.get(&band.number)?;
            Some(Predicted { number: band.number, value, band: band.band })
        })
        .collect();
    answer
}

fn badly_known(band: &Band, settles: &str) -> String {
    let number = band.number.words();
    match band.points < FEWEST {
        true => {
            format!("{number}: validated by {} of at least {FEWEST} loads; {settles}", band.points)
        }
        false => format!(
            "{number}: {:.0} % off when left out, more than {:.0} %; a run would tell: {settles}",
            band.band * 100.0,
            WIDEST * 100.0
        ),
    }
}

/// Returns what of `question` lies outside `range`; `None` where nothing does.
fn outside(range: &Range, question: &Question) -> Option<String> {
    let stream = &question.stream;
    let beyond = |name: &str, value: f64, ends: Option<[f64; 2]>, near: f64| {
        let Some([low, high]) = ends else { return Some(format!("no {name} was validated")) };
        let is_inside = (low - near..=high + near).contains(&value);
        (!is_inside).then(|| {
            format!("{name} {value:.0} is outside what was validated, {low:.0} to {high:.0}")
        })
    };
    let rate = stream.arrival.per_second();
    let load = match rate {
        Some(rate) => beyond("a rate of", rate, range.per_second, 0.0),
        None => beyond("queue depth", f64::from(stream.total_depth()), range.queue_depth, 0.0),
    };
    let full = || {
        let full = Some(range.full_percent).filter(|_| stream.writes());
        full.and_then(|ends| beyond("a fill level of", question.full_percent, Some(ends), NEAR))
    };
    let reads = f64::from(stream.read_percent);
    beyond("block size", stream.block_size.0 as f64, Some(range.block_size), 0.0)
        .or_else(|| beyond("a share of reads of", reads, Some(range.read_percent), 0.0))
        .or(load)
        .or_else(full)
}

/// Returns the numbers of the load on a drive of the twin's figures, in proportion.
fn numbers(twin: &Twin, question: &Question) -> Option<BTreeMap<Number, f64>> {
    let capacity = twin.capacity()?;
    let ratio = ratio(capacity);
    let erase = twin.erase_us()? * ratio;
    let figures = format!("&nand.t_bers_us={erase:.3}");
    let cache = twin.cache();
    let candidate = Candidate { profile: &twin.profile, figures: &figures, capacity, cache };
    let start = match (question.is_steady, question.stream.writes()) {
        (true, _) => Start::Steady,
        // Reads see what was written, not how.
        (false, false) => Start::Filled,
        (false, true) => Start::Fresh,
    };
    let mut rig = open(&candidate, start, ratio)?;
    let block = question.stream.block_size.0.max(FILL.0);
    let whole = rig.drive().capacity.0 as f64 * question.full_percent / 100.0;
    let span = Bytes((whole as u64 / block).max(1) * block);
    if start == Start::Fresh {
        let fill = Preparation::Fill {
            access: Access::Sequential,
            block_size: FILL,
            offset: Bytes(0),
            span,
        };
        rig.prepare(&fill, &mut Latencies::default()).ok()?;
        rig.rest(Nanos((REST.0 as f64 * ratio) as u64), &mut Latencies::default()).ok()?;
    }
    let stream = Stream { span, ..question.stream.clone() };
    let workload = Workload { streams: vec![stream], ..question.workload() };
    predict(&mut rig, &workload, question.is_steady)
}

impl Answer {
    /// Returns the answer as a sentence, with what was assumed, for the twin of the drive `of`.
    pub fn sentence(&self, of: &str) -> String {
        let number = |one: &Predicted| {
            let value = match one.number {
                Number::Rate => format!("{:.0}", one.value),
                _ => format!("{:.1} us", one.value),
            };
            format!("{} {value} ± {:.0} %", one.number.words(), one.band * 100.0)
        };
        let kind = self.kind.map_or("this load", Kind::words);
        let mut text = match self.predicted.is_empty() {
            true => format!("Not predicted (twin of {of}), {kind}"),
            false => {
                let numbers: Vec<String> = self.predicted.iter().map(number).collect();
                format!("PREDICTED (twin of {of}), {kind}: {}", numbers.join(", "))
            }
        };
        if !self.refused.is_empty() {
            let mark = if self.predicted.is_empty() { ": " } else { ".\nNot predicted: " };
            text.push_str(&format!("{mark}{}", self.refused.join("; ")));
        }
        text.push('.');
        if !self.assumed.is_empty() {
            text.push_str(&format!("\nAssumed: {}.", self.assumed.join(", ")));
        }
        text
    }
}
