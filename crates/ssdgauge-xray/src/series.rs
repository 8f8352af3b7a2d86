//! The series that structures were read from, reduced to what a small chart shows.
//!
//! A reduction is never judged: structures are inferred from the whole series.

use crate::amplification::Round;
use crate::cache::Course;
use crate::contents::Turn;
use crate::flush::Flushes;
use crate::folding::Burst;
use crate::map_reach::Range;
use crate::mapping_unit::Shift;
use crate::pairs::Pair;
use crate::program_time::{Reads, flushed_us, waits_us};
use crate::program_unit::shares;
use crate::rate::{Completions, LEFT_OUT};
use crate::structure::Structure;
use crate::throttle::Heating;
use crate::volumes::Held;
use crate::write_buffer::Refill;
use ssdgauge_statistics::summary;
use std::collections::BTreeMap;

/// The maximum number of points of a series.
pub const MOST_POINTS: usize = 400;
/// The points of a course. Chosen: a chart is some hundred pixels wide.
const COURSE: usize = 200;
/// The parts of a load of equal requests.
const PARTS: usize = 40;
/// The bins of a histogram.
const BINS: usize = 40;
/// How far a histogram reaches, in its largest values.
const BEYOND: f64 = 1.25;
/// The shares of reads whose latencies are shown, in percent: waits concern the slower half, and the slowest of
/// some hundred reads are outliers.
const SHARES: (u32, u32) = (500, 995);
/// The block that distances of pairs are multiples of.
const BLOCK: u64 = 4_096;

/// A series that a structure was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The structure.
    pub structure: Structure,
    /// Which of the lines of its chart it is, by [`Axes::lines`].
    pub line: usize,
    /// The points, at most [`MOST_POINTS`] of them.
    pub points: Vec<(f64, f64)>,
}

/// How the points of a chart are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Joined by a line.
    Line,
    /// Bars from zero.
    Bars,
    /// Marks only.
    Marks,
}

/// What the chart of a structure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    /// The first number of a point, with its unit.
    pub x: &'static str,
    /// The second number of a point, with its unit.
    pub y: &'static str,
    /// The names of its lines; one of them is enough for a single line.
    pub lines: &'static [&'static str],
    /// How points are drawn.
    pub form: Form,
    /// Whether the first axis begins at zero.
    pub from_zero: bool,
}

/// Returns what the chart of `structure` shows; `None` for a structure without a series of its own.
pub fn axes(structure: Structure) -> Option<Axes> {
    let axes = |x, y, lines, form, from_zero| Some(Axes { x, y, lines, form, from_zero });
    match structure {
        Structure::Link => axes("% of the load", "MB/s", &["128 KiB", "512 KiB"], Form::Line, true),
        Structure::Command => {
            axes("% of the load", "us per read", &["QD128", "QD256"], Form::Line, true)
        }
        Structure::Units => {
            axes("distance in chunks", "us for two reads", &["pairs"], Form::Bars, true)
        }
        Structure::Chunk => {
            axes("distance in KiB", "us for two reads", &["pairs"], Form::Bars, true)
        }
        Structure::PageRead => {
            axes("us between two ends", "pairs of reads", &["pairs"], Form::Bars, true)
        }
        Structure::Suspend => {
            axes("% of the reads", "us latency", &["alone", "during writes"], Form::Line, false)
        }
        Structure::Flush => {
            axes("% of the flushes", "us after", &["flush", "write", "burst"], Form::Line, false)
        }
        Structure::ProgramTime => {
            axes("% of the waits", "us", &["flushes", "reads"], Form::Line, false)
        }
        Structure::ProgramUnit => {
            axes("KiB of a group", "% of the time between groups", &["groups"], Form::Bars, true)
        }
        Structure::WriteBuffer => axes("MB written", "ms", &["bursts"], Form::Marks, true),
        Structure::Cache => axes("GB written", "MB/s", &["fill"], Form::Line, true),
        Structure::Folding => axes("s of rest", "GB free again", &["bursts"], Form::Marks, true),
        Structure::MappingUnit => {
            axes("KiB of shift", "times as long as aligned", &["rounds"], Form::Marks, true)
        }
        Structure::Volumes => axes(
            "address bit that is held",
            "times as long as none",
            &["rounds"],
            Form::Marks,
            false,
        ),
        Structure::MapReach => {
            axes("GB of range", "% of first reads that wait", &["reads"], Form::Line, true)
        }
        Structure::Compression => {
            axes("round", "times as long", &["half random", "zeros"], Form::Marks, true)
        }
        Structure::Deduplication => {
            axes("round", "times as long", &["repeated", "zeros"], Form::Marks, true)
        }
        Structure::Throttle => axes("°C", "MB/s", &["seconds"], Form::Marks, false),
        Structure::Spare => {
            axes("GB overwritten beyond trimmed ones", "MB/s", &["overwrites"], Form::Line, true)
        }
        Structure::EffectiveSpare => {
            axes("drive writes", "bytes programmed per byte", &["uniform"], Form::Line, true)
        }
        Structure::Separation => axes(
            "drive writes",
            "bytes programmed per byte",
            &["uniform", "zones 90/10"],
            Form::Line,
            true,
        ),
        Structure::Overflow => axes(
            "GB after the cache is full",
            "bytes programmed per byte",
            &["fill"],
            Form::Line,
            true,
        ),
        Structure::NativeRate | Structure::Resume => None,
    }
}

/// Returns the structure whose series `structure` was read from.
pub fn read_from(structure: Structure) -> Structure {
    match structure {
        Structure::NativeRate => Structure::Cache,
        Structure::Resume => Structure::Throttle,
        other => other,
    }
}

impl Series {
    fn new(structure: Structure, line: usize, points: Vec<(f64, f64)>) -> Series {
        debug_assert!(points.len() <= MOST_POINTS, "{structure:?} has {} points", points.len());
        Series { structure, line, points }
    }

    /// Returns the rate of `loads` in parts, each as long in requests: megabytes per second for the link,
    /// microseconds per read for the command time.
    pub fn of_loads(structure: Structure, loads: [&Completions; 2]) -> Vec<Series> {
        let of_load = |(line, load): (usize, &&Completions)| {
            let mut at: Vec<u64> = load.at.iter().map(|at| at.0).collect();
            at.sort_unstable();
            // Its start and its end are left out of the value as well.
            let edge = at.len() / LEFT_OUT;
            let at = &at[edge..at.len() - edge];
            let part = at.len().saturating_sub(1) / PARTS;
            let share = 1.0 - 2.0 / LEFT_OUT as f64;
            let point = |number: usize| {
                let ns = (at[(number + 1) * part] - at[number * part]).max(1) as f64;
                let each_us = ns / 1e3 / part as f64;
                let is_time = structure == Structure::Command;
                let value = if is_time { each_us } else { load.block as f64 / each_us };
                let place = 1.0 / LEFT_OUT as f64 + share * (number as f64 + 0.5) / PARTS as f64;
                (100.0 * place, value)
            };
            let points = if part > 0 { (0..PARTS).map(point).collect() } else { Vec::new() };
            Series::new(structure, line, points)
        };
        loads.iter().enumerate().map(of_load).collect()
    }

    /// Returns the median time that both reads of a pair took, by distance in `step` bytes; distances beyond
    /// [`MOST_POINTS`] steps are left out.
    pub fn of_pairs(structure: Structure, pairs: &[Pair], step: u64) -> Series {
        let mut spans: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for pair in pairs {
            let [one, two] = pair.reads;
            let begin = one.submitted.min(two.submitted);
            let span = one.completed.max(two.completed).saturating_sub(begin);
            spans.entry(pair.distance).or_default().push(span.as_micros_f64());
        }
        let unit = if structure == Structure::Chunk { 1_024 } else { step.max(1) };
        let point = |(distance, spans): (&u64, &Vec<f64>)| {
            Some((*distance as f64 / unit as f64, summary::percentile(spans, 0.5)?))
        };
        let points = spans.iter().filter_map(point).take(MOST_POINTS).collect();
        Series::new(structure, 0, points)
    }

    /// Returns the sweep of distances of whole blocks.
    pub fn of_blocks(pairs: &[Pair]) -> Series {
        Series::of_pairs(Structure::Chunk, pairs, BLOCK)
    }

    /// Returns a histogram of the times between the ends of the two reads of each of `pairs`; the slowest
    /// hundredth is left out.
    pub fn of_meetings(pairs: &[Pair]) -> Series {
        let between: Vec<f64> = pairs.iter().map(Pair::between_us).collect();
        let most = summary::percentile(&between, 0.99).unwrap_or(0.0);
        let width = BEYOND * most / BINS as f64;
        let mut bins = [0u32; BINS];
        for us in between.iter().filter(|us| **us <= most && width > 0.0) {
            bins[((us / width) as usize).min(BINS - 1)] += 1;
        }
        let point = |(bin, count): (usize, &u32)| ((bin as f64 + 0.5) * width, f64::from(*count));
        let points =
            if width > 0.0 { bins.iter().enumerate().map(point).collect() } else { vec![] };
        Series::new(Structure::PageRead, 0, points)
    }

    /// Returns the latencies of the slower half of reads alone and during writes, in their order.
    pub fn of_latencies(alone: &[f64], during: &[f64]) -> Vec<Series> {
        let of_reads = |(line, reads): (usize, &&[f64])| {
            let point = |permille: u32| {
                let us = summary::percentile(reads, f64::from(permille) / 1e3)?;
                Some((f64::from(permille) / 10.0, us))
            };
            let points = (SHARES.0..=SHARES.1).step_by(5).filter_map(point).collect();
            Series::new(Structure::Suspend, line, points)
        };
        [alone, during].iter().enumerate().map(of_reads).collect()
    }

    /// Returns the rate of `course` by the bytes that were written, each point the mean of its part.
    pub fn of_course(structure: Structure, course: &Course) -> Series {
        let together = course.bins.len().div_ceil(COURSE).max(1);
        let mut written = 0.0;
        let mut points = Vec::new();
        for part in course.bins.chunks(together) {
            let seconds: f64 = part.iter().map(|bin| bin.0).sum();
            let bytes: f64 = part.iter().map(|bin| bin.1).sum();
            points.push(((written + 0.5 * bytes) / 1e9, bytes / seconds.max(1e-9) / 1e6));
            written += bytes;
        }
        Series::new(structure, 0, points)
    }

    /// Returns the rate of random overwrites by the bytes beyond the `trimmed` ones, which take writes without
    /// spare area.
    pub fn of_overwrites(course: &Course, trimmed: f64) -> Series {
        let Series { structure, line, mut points } = Series::of_course(Structure::Spare, course);
        points.iter_mut().for_each(|point| point.0 -= trimmed / 1e9);
        points.retain(|point| point.0 >= 0.0);
        Series::new(structure, line, points)
    }

    /// Returns the write amplification of each of `rounds` by the data written, in multiples of `data`.
    pub fn of_rounds(structure: Structure, line: usize, rounds: &[Round], data: f64) -> Series {
        let mut written = 0.0;
        let point = |round: &Round| {
            written += round.sent;
            (written / data.max(1.0), round.amplification())
        };
        Series::new(structure, line, rounds.iter().take(MOST_POINTS).map(point).collect())
    }

    /// Returns the times of each kind of flush, the shortest first.
    pub fn of_flushes(flushes: &Flushes) -> Vec<Series> {
        let kinds = [&flushes.alone_us, &flushes.after_write_us, &flushes.after_burst_us];
        let of_kind = |(line, times): (usize, &Vec<f64>)| {
            let mut sorted = times.clone();
            sorted.sort_by(f64::total_cmp);
            let percent = |number: usize| (number as f64 + 0.5) * 100.0 / sorted.len() as f64;
            let points = sorted.iter().enumerate().map(|(number, us)| (percent(number), *us));
            Series::new(Structure::Flush, line, points.take(MOST_POINTS).collect())
        };
        kinds.into_iter().enumerate().map(of_kind).collect()
    }

    /// Returns what flushes after a write, and reads during writes, have waited for program operations, the shortest
    /// first.
    pub fn of_programs(flushes: Option<&Flushes>, reads: Option<&Reads>) -> Vec<Series> {
        let waits = [flushes.map(flushed_us), reads.map(waits_us)];
        let of_kind = |(line, waits): (usize, Vec<f64>)| {
            let point = |number: usize| {
                let percent = number as f64 + 0.5;
                Some((percent, summary::percentile(&waits, percent / 100.0)?))
            };
            Series::new(Structure::ProgramTime, line, (0..100).filter_map(point).collect())
        };
        let known = waits.into_iter().enumerate();
        known.filter_map(|(line, waits)| Some(of_kind((line, waits?)))).collect()
    }

    /// Returns the share of the time that passes between groups of `writes` into a full buffer, by their bytes.
    pub fn of_groups(writes: &Completions) -> Series {
        Series::new(Structure::ProgramUnit, 0, shares(writes))
    }

    /// Returns when the parts of bursts into the write buffer were completed.
    pub fn of_refills(refills: &[Refill]) -> Option<Series> {
        let each = MOST_POINTS / refills.len().max(1);
        let of_burst = |refill: &Refill| {
            let mut at: Vec<u64> = refill.writes.at.iter().map(|at| at.0).collect();
            at.sort_unstable();
            let step = at.len().div_ceil(each).max(1);
            let mb = refill.writes.block as f64 / 1e6;
            let point =
                move |(number, at): (usize, u64)| ((number + 1) as f64 * mb, at as f64 / 1e6);
            at.into_iter().enumerate().step_by(step).map(point).collect::<Vec<_>>()
        };
        let points: Vec<(f64, f64)> = refills.iter().flat_map(of_burst).collect();
        (!points.is_empty()).then(|| Series::new(Structure::WriteBuffer, 0, points))
    }

    /// Returns what each burst found free, by the rest before it.
    pub fn of_bursts(bursts: &[Burst]) -> Series {
        let point = |burst: &Burst| (burst.rest_s, burst.bytes / 1e9);
        Series::new(Structure::Folding, 0, bursts.iter().take(MOST_POINTS).map(point).collect())
    }

    /// Returns how many times as long shifted writes take as aligned ones, in each round.
    pub fn of_shifts(shifts: &[Shift]) -> Series {
        let points = shifts.iter().flat_map(Shift::points).take(MOST_POINTS).collect();
        Series::new(Structure::MappingUnit, 0, points)
    }

    /// Returns how many times as long writes take with a bit of the address held, in each round.
    pub fn of_held(bits: &[Held]) -> Series {
        let points = bits.iter().flat_map(Held::points).take(MOST_POINTS).collect();
        Series::new(Structure::Volumes, 0, points)
    }

    /// Returns the share of first reads that wait for their map, by the range of the reads.
    pub fn of_ranges(ranges: &[Range]) -> Series {
        let point = |range: &Range| Some((range.bytes as f64 / 1e9, range.longer_percent()?));
        let points = ranges.iter().filter_map(point).take(MOST_POINTS).collect();
        Series::new(Structure::MapReach, 0, points)
    }

    /// Returns how many times as long data of each kind takes as random data, in each round.
    pub fn of_turns(structure: Structure, turns: &[Turn]) -> Vec<Series> {
        let kind = if structure == Structure::Compression { 0 } else { 1 };
        let line = |(line, kind): (usize, usize)| {
            let points = (1..).zip(turns).take(MOST_POINTS);
            let point = |(round, turn): (u32, &Turn)| (f64::from(round), turn.ratios()[kind]);
            Series::new(structure, line, points.map(point).collect())
        };
        [kind, 2].into_iter().enumerate().map(line).collect()
    }

    /// Returns the rate of each second by the temperature at the end of the one before, which it follows from.
    pub fn of_heating(seconds: &[Heating]) -> Series {
        let point = |two: &[Heating]| (two[0].celsius, two[1].bytes / 1e6);
        let points = seconds.windows(2).take(MOST_POINTS).map(point).collect();
        Series::new(Structure::Throttle, 0, points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{Nanos, Timing};

    #[test]
    fn a_course_keeps_its_bytes_and_its_levels() {
        let course = Course { bins: [vec![(0.01, 2e7); 700], vec![(0.01, 5e6); 299]].concat() };
        let series = Series::of_course(Structure::Cache, &course);
        assert!(series.points.len() <= COURSE, "{}", series.points.len());
        let (first, last) = (series.points[0], *series.points.last().unwrap());
        assert!((first.1 - 2_000.0).abs() < 1e-6 && (last.1 - 500.0).abs() < 1e-6, "{series:?}");
        assert!((last.0 - 15.495).abs() < 0.02, "{last:?}");
        let beyond = Series::of_overwrites(&course, 15e9);
        assert!(beyond.points.len() < 40 && beyond.points[0].0 < 0.1, "{beyond:?}");
    }

    #[test]
    fn loads_are_shown_in_the_unit_of_their_structure() {
        let load = |block: u64, ns: u64| Completions {
            block,
            depth: 32,
            at: (0..1_000).map(|number| Nanos(number * ns)).collect(),
            host_load: 0.0,
        };
        let (one, two) = (load(1 << 17, 40_000), load(1 << 19, 160_000));
        for series in Series::of_loads(Structure::Link, [&one, &two]) {
            assert!(series.points.iter().all(|point| (point.1 - 3_276.8).abs() < 0.1));
        }
        let commands = Series::of_loads(Structure::Command, [&one, &two]);
        assert!((commands[1].points[7].1 - 160.0).abs() < 1e-9, "{commands:?}");
        let few = Series::of_loads(Structure::Link, [&Completions { at: vec![], ..one }, &two]);
        assert_eq!(few[0].points, []);
    }

    #[test]
    fn pairs_are_shown_by_distance_and_as_a_histogram_of_their_waits() {
        let pair = |chunks: u64| {
            let at = |us: u64| Timing { submitted: Nanos(0), completed: Nanos(us * 1_000) };
            let wait = if chunks.is_multiple_of(4) { 45 } else { 0 };
            Pair {
                distance: chunks * 65_536,
                reads: [at(70), at(70 + wait)],
                alone: [Nanos(70_000); 2],
            }
        };
        let pairs: Vec<Pair> = (1..=512).map(pair).collect();
        let series = Series::of_pairs(Structure::Units, &pairs, 65_536);
        assert_eq!(series.points.len(), MOST_POINTS);
        assert_eq!((series.points[2], series.points[3]), ((3.0, 70.0), (4.0, 115.0)));
        assert_eq!(Series::of_blocks(&pairs).points[0].0, 64.0);
        let met = Series::of_meetings(&pairs[3..4].repeat(50));
        let counted: f64 = met.points.iter().map(|point| point.1).sum();
        assert_eq!((met.points.len(), counted), (BINS, 50.0));
        assert_eq!(Series::of_meetings(&[]).points, []);
    }

    #[test]
    fn latencies_bursts_and_seconds_keep_what_is_read_from_them() {
        let alone = vec![70.0; 500];
        let during: Vec<f64> = (0..1_000).map(|i| if i < 900 { 70.0 } else { 95.0 }).collect();
        let series = Series::of_latencies(&alone, &during);
        let last = series[1].points.last().unwrap();
        assert_eq!((series[0].points[0], *last), ((50.0, 70.0), (99.5, 95.0)));
        assert!(series.iter().all(|one| one.points.len() <= MOST_POINTS));
        let bursts = [Burst { rest_s: 2.0, bytes: 6e8 }];
        assert_eq!(Series::of_bursts(&bursts).points, [(2.0, 0.6)]);
        let reads = Reads { alone_us: alone, during_us: during };
        let programs = Series::of_programs(None, Some(&reads));
        assert!(programs.len() == 1 && programs[0].line == 1, "{programs:?}");
        assert!(programs[0].points.iter().all(|point| point.1 == 25.0), "{programs:?}");
        let heating = |celsius: f64, bytes: f64| Heating { celsius, bytes };
        let seconds = [heating(50.0, 1e9), heating(51.0, 8e8)];
        assert_eq!(Series::of_heating(&seconds).points, [(50.0, 800.0)]);
    }

    #[test]
    fn every_structure_is_read_from_one_that_has_axes() {
        for structure in Structure::ALL {
            assert!(axes(read_from(structure)).is_some(), "{structure:?}");
        }
    }
}
