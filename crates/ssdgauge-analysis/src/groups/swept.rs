//! The parameter that a test sweeps: what differs between its steps.

use crate::groups::fill_level;
use crate::groups::group::Group;
use crate::model::PointRun;
use crate::text::sanitize;
use ssdgauge_core::{Operation, Stream};

/// The parameter that differs between the steps of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swept {
    /// The share of reads.
    Mix,
    /// The requests in flight.
    QueueDepth,
    /// The length of a request.
    BlockSize,
    /// The requests per second that are due.
    Rate,
    /// The fill level of the drive.
    Fill,
    /// None: repetitions of one load.
    Repeat,
    /// Several of them, or another one: the steps have no common axis.
    Steps,
}

/// The parameter that differs between the steps of a test, of one of their streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Along {
    /// The parameter.
    pub swept: Swept,
    /// The index of the stream.
    stream: usize,
    /// The name of the stream, where there are several.
    name: Option<String>,
}

impl Along {
    /// Returns `swept` unless it is a parameter of one of several streams.
    fn drive(swept: Swept) -> Along {
        Along { swept, stream: 0, name: None }
    }

    /// Returns the stream in words, such as ` of neighbour`; nothing where there is one.
    pub fn of_stream(&self) -> String {
        self.name.as_ref().map(|name| format!(" of {}", sanitize::prose(name))).unwrap_or_default()
    }

    /// Returns whether it is the parameter of one of several streams.
    pub fn is_of_one_of_several(&self) -> bool {
        self.name.is_some()
    }

    /// Returns the value of the swept key at `point`.
    pub fn place(&self, point: &PointRun) -> Option<f64> {
        let stream = point.workload.streams.get(self.stream)?;
        match self.swept {
            Swept::Mix => Some(f64::from(stream.read_percent)),
            Swept::QueueDepth => Some(f64::from(stream.queue_depth) * f64::from(stream.threads)),
            Swept::BlockSize => Some(stream.block_size.0 as f64),
            Swept::Rate => stream.arrival.per_second(),
            Swept::Fill => fill_level::from_label(&point.point.label, point.point.position),
            Swept::Repeat => Some(point.point.position),
            Swept::Steps => None,
        }
    }
}

/// Returns the parameter that differs between the steps, if it is the same for all members.
pub fn common(group: &Group<'_>) -> Along {
    let begun = group.members.iter().filter(|member| !member.test.points.is_empty());
    let all: Vec<Along> = begun.map(|member| swept(&member.test.points)).collect();
    match all.as_slice() {
        [first, others @ ..] if others.iter().all(|other| other == first) => first.clone(),
        [] | [..] => Along::drive(Swept::Steps),
    }
}

/// Returns the parameter that differs between `points`, if there is one only, and of one stream only.
fn swept(points: &[PointRun]) -> Along {
    let fill = Along::drive(Swept::Fill);
    if points.len() > 1 && points.iter().all(|point| fill.place(point).is_some()) {
        return fill;
    }
    let count = |point: &PointRun| point.workload.streams.len();
    let streams = points.first().map_or(0, count);
    if points.iter().any(|point| count(point) != streams) {
        return Along::drive(Swept::Steps);
    }
    // Loads of another kind do not fit on one axis with the others.
    let kinds = |point: &PointRun| -> Vec<(Operation, f64)> {
        let kind = |stream: &Stream| (stream.operation, stream.random_share());
        point.workload.streams.iter().map(kind).collect()
    };
    if points.iter().any(|point| kinds(point) != kinds(&points[0])) {
        return Along::drive(Swept::Steps);
    }
    let varies = |along: &Along| {
        let places: Vec<Option<f64>> = points.iter().map(|point| along.place(point)).collect();
        places.iter().any(|other| *other != places[0])
    };
    let keys = [Swept::Mix, Swept::QueueDepth, Swept::BlockSize, Swept::Rate];
    let each = |stream: usize| {
        let name = points.first().filter(|_| streams > 1);
        let name = name.map(|point| point.workload.streams[stream].name.clone());
        keys.map(|swept| Along { swept, stream, name: name.clone() })
    };
    let varying: Vec<Along> = (0..streams).flat_map(each).filter(varies).collect();
    match varying.as_slice() {
        [one] if points.len() > 1 => one.clone(),
        [] if streams == 1 && is_repeated(points) => Along::drive(Swept::Repeat),
        [] | [..] => Along::drive(Swept::Steps),
    }
}

/// Returns whether `points` are one load, carried out more than once.
fn is_repeated(points: &[PointRun]) -> bool {
    let same = |pair: &[PointRun]| {
        pair[0].workload == pair[1].workload && pair[0].point.position < pair[1].point.position
    };
    points.len() > 2 && points.windows(2).all(same)
}
