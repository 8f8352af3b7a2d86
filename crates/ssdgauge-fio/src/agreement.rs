//! Agreement of two programs that ran one step in turn on one target.
//!
//! The verdict compares the medians of both, and the repetitions of each with each other: a difference
//! says nothing where a program differs as much from itself.

use serde::{Deserialize, Serialize};
use ssdgauge_core::{Direction, Histogram, Interval, Nanos};
use ssdgauge_statistics::summary;

/// The minimum number of repetitions of each program.
pub const LEAST_TURNS: usize = 3;
/// The minimum number of requests of a repetition whose 99th percentile is judged: ten are beyond it.
const LEAST_FOR_P99: u64 = 1_000;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Requests per second.
    Throughput,
    /// The mean latency, in microseconds.
    MeanLatency,
    /// The 99th percentile of the latency, in microseconds.
    P99,
}

impl Quantity {
    /// Every quantity, in the order of reports.
    pub const ALL: [Quantity; 3] = [Quantity::Throughput, Quantity::MeanLatency, Quantity::P99];

    /// Returns the name used in JSON, with the unit as suffix.
    pub fn key(self) -> &'static str {
        match self {
            Quantity::Throughput => "iops",
            Quantity::MeanLatency => "lat_mean_us",
            Quantity::P99 => "lat_p99_us",
        }
    }

    /// Returns the name used in tables.
    pub fn title(self) -> &'static str {
        match self {
            Quantity::Throughput => "IOPS",
            Quantity::MeanLatency => "mean latency",
            Quantity::P99 => "p99 latency",
        }
    }

    /// Returns the largest difference that counts as agreement, as a share.
    pub fn limit(self) -> f64 {
        match self {
            Quantity::Throughput | Quantity::MeanLatency => 0.02,
            Quantity::P99 => 0.05,
        }
    }
}

/// Whether two programs agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// The difference is within the limit, and so is that between repetitions.
    Agrees,
    /// The repetitions differ by more than the limit, so the difference decides nothing.
    TooNoisy,
    /// The difference is beyond the limit, and no noise explains it.
    Differs,
}

impl Agreement {
    /// Returns the words used in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Agrees => "agrees",
            Agreement::TooNoisy => "too noisy to tell",
            Agreement::Differs => "differs",
        }
    }
}

/// One repetition of a step by one program, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    /// The direction of the requests.
    pub direction: Direction,
    /// Requests per second.
    pub iops: f64,
    /// The mean latency in microseconds.
    pub lat_mean_us: f64,
    /// The 99th percentile in microseconds; `None` for fewer than 1,000 requests.
    pub lat_p99_us: Option<f64>,
}

impl Repetition {
    /// Returns the repetition that took `elapsed`, one value for each direction with requests.
    pub fn from_intervals(elapsed: Nanos, intervals: &[Interval]) -> Vec<Repetition> {
        let of_direction = |direction: Direction| {
            let mut latency = Histogram::default();
            let mut ios = 0u64;
            for interval in intervals.iter().filter(|interval| interval.direction == direction) {
                ios = ios.saturating_add(interval.ios);
                latency.merge(&interval.latency);
            }
            let p99 = latency.percentile(0.99).filter(|_| latency.count() >= LEAST_FOR_P99);
            Some(Repetition {
                direction,
                iops: ios as f64 / elapsed.as_secs_f64(),
                lat_mean_us: latency.mean()? / 1e3,
                lat_p99_us: p99.map(|ns| ns as f64 / 1e3),
            })
        };
        Direction::TRANSFERS.into_iter().filter_map(of_direction).collect()
    }

    fn value(&self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::Throughput => Some(self.iops),
            Quantity::MeanLatency => Some(self.lat_mean_us),
            Quantity::P99 => self.lat_p99_us,
        }
    }
}

/// One quantity of one direction, by both programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The direction of the requests.
    pub direction: Direction,
    /// What is compared.
    pub quantity: Quantity,
    /// The values of fio, in their order.
    pub fio: Vec<f64>,
    /// The values of ssdgauge, in their order.
    pub ssdgauge: Vec<f64>,
    /// The median of ssdgauge over that of fio, less one.
    pub difference: f64,
    /// The range of the values of one program over their median, of the program where it is larger.
    pub noise: f64,
    /// The verdict.
    pub agreement: Agreement,
}

impl Comparison {
    /// Returns the median of fio.
    pub fn fio_median(&self) -> f64 {
        median(&self.fio)
    }

    /// Returns the median of ssdgauge.
    pub fn ssdgauge_median(&self) -> f64 {
        median(&self.ssdgauge)
    }
}

/// Compares the repetitions of `fio` with those of `ssdgauge`: every quantity of every direction that all
/// of them have. Empty with fewer than [`LEAST_TURNS`] of one.
pub fn compare(fio: &[Vec<Repetition>], ssdgauge: &[Vec<Repetition>]) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for direction in Direction::TRANSFERS {
        for quantity in Quantity::ALL {
            let fio = values(fio, direction, quantity);
            let ssdgauge = values(ssdgauge, direction, quantity);
            if let (Some(fio), Some(ssdgauge)) = (fio, ssdgauge) {
                comparisons.push(judge(direction, quantity, fio, ssdgauge));
            }
        }
    }
    comparisons
}

/// Returns the verdict on a step: that of the comparison which agrees least. `None` without any.
pub fn verdict(comparisons: &[Comparison]) -> Option<Agreement> {
    comparisons.iter().map(|comparison| comparison.agreement).max()
}

/// Returns the values of all repetitions; `None` where one is missing, or there are too few.
fn values(
    repetitions: &[Vec<Repetition>],
    direction: Direction,
    quantity: Quantity,
) -> Option<Vec<f64>> {
    let value = |repetition: &Vec<Repetition>| {
        let of_direction = repetition.iter().find(|one| one.direction == direction)?;
        of_direction.value(quantity).filter(|value| *value > 0.0)
    };
    let values: Option<Vec<f64>> = repetitions.iter().map(value).collect();
    values.filter(|values| values.len() >= LEAST_TURNS)
}

fn judge(
    direction: Direction,
    quantity: Quantity,
    fio: Vec<f64>,
    ssdgauge: Vec<f64>,
) -> Comparison {
    let difference = median(&ssdgauge) / median(&fio) - 1.0;
    let noise = spread(&fio).max(spread(&ssdgauge));
    let limit = quantity.limit();
    let agreement = match (difference.abs() <= limit, noise <= limit) {
        (true, true) => Agreement::Agrees,
        (false, true) => Agreement::Differs,
        // More than the noise could add to an agreement.
        (false, false) if difference.abs() - noise > limit => Agreement::Differs,
        (_, false) => Agreement::TooNoisy,
    };
    Comparison { direction, quantity, fio, ssdgauge, difference, noise, agreement }
}

fn median(values: &[f64]) -> f64 {
    summary::median(values.to_vec()).expect("there are at least LEAST_TURNS values")
}

/// Returns the range of the values over their median.
fn spread(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (most - least) / median(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repetitions(iops: &[f64], mean: f64, p99: Option<f64>) -> Vec<Vec<Repetition>> {
        let one = |iops: &f64| Repetition {
            direction: Direction::Read,
            iops: *iops,
            lat_mean_us: mean,
            lat_p99_us: p99,
        };
        iops.iter().map(|iops| vec![one(iops)]).collect()
    }

    /// Checks the verdict on throughputs of fio and ssdgauge.
    #[track_caller]
    fn check(fio: &[f64], ssdgauge: &[f64], expected: Agreement) {
        let ours = repetitions(ssdgauge, 100.0, None);
        let comparisons = compare(&repetitions(fio, 100.0, None), &ours);
        assert_eq!(comparisons.len(), 2, "throughput and mean latency");
        assert_eq!(comparisons[0].agreement, expected, "{comparisons:?}");
        assert_eq!(comparisons[1].agreement, Agreement::Agrees);
        assert_eq!(verdict(&comparisons), Some(expected));
        let turned = compare(&ours, &repetitions(fio, 100.0, None));
        assert_eq!(turned[0].agreement, expected, "the other way round: {turned:?}");
    }

    #[test]
    fn every_verdict_follows_from_difference_and_noise() {
        use Agreement::{Agrees, Differs, TooNoisy};
        check(&[100.0; 3], &[100.0; 3], Agrees);
        check(&[100.0, 101.0, 100.5], &[101.5, 101.0, 102.0], Agrees);
        check(&[100.0; 3], &[103.0; 3], Differs);
        check(&[100.0, 101.0, 100.0], &[103.0, 102.5, 104.0], Differs);
        // The medians are equal, and one program differs from itself by 10 %.
        check(&[95.0, 100.0, 105.0], &[100.0; 3], TooNoisy);
        // The difference of 5 % is within the noise of 10 % and the limit.
        check(&[95.0, 100.0, 105.0], &[105.0; 3], TooNoisy);
        // Twice the throughput: no noise of 10 % explains that.
        check(&[95.0, 100.0, 105.0], &[200.0; 3], Differs);
        // An even number: the median is between both middle values.
        check(&[100.0, 100.0, 101.0, 101.0], &[100.5; 4], Agrees);
    }

    #[test]
    fn each_quantity_has_its_limit_and_the_worst_verdict_counts() {
        let with = |mean, p99| repetitions(&[100.0; 3], mean, Some(p99));
        let verdicts = |ours: &[Vec<Repetition>]| {
            let comparisons = compare(&with(100.0, 200.0), ours);
            assert_eq!(comparisons.len(), 3);
            comparisons.iter().map(|one| one.agreement).collect::<Vec<_>>()
        };
        use Agreement::{Agrees, Differs};
        assert_eq!(verdicts(&with(101.9, 209.0)), [Agrees, Agrees, Agrees]);
        assert_eq!(verdicts(&with(102.1, 209.0)), [Agrees, Differs, Agrees]);
        assert_eq!(verdicts(&with(100.0, 211.0)), [Agrees, Agrees, Differs]);
        let worst = [Agreement::TooNoisy, Agrees, Differs].into_iter().max();
        assert_eq!(worst, Some(Differs));
    }

    #[test]
    fn too_few_repetitions_and_missing_values_decide_nothing() {
        let three = repetitions(&[100.0; 3], 100.0, None);
        assert!(compare(&three[..2], &three).is_empty());
        assert!(compare(&three, &[Vec::new(), Vec::new(), Vec::new()]).is_empty());
        assert_eq!(verdict(&[]), None);
        let zero = repetitions(&[0.0; 3], 100.0, None);
        assert_eq!(compare(&zero, &three).len(), 1, "the mean latency alone");
    }

    #[test]
    fn a_99th_percentile_needs_a_thousand_requests() {
        let interval = |requests: u64| {
            let mut latency = Histogram::default();
            (0..requests).for_each(|_| latency.record(50_000));
            let ios = latency.count();
            let (second, stream, direction) = (0, 0, Direction::Write);
            let length = Nanos::from_secs(1);
            Interval { second, stream, direction, length, ios, bytes: 0, errors: 0, latency }
        };
        let two = Nanos::from_secs(2);
        let few = Repetition::from_intervals(two, &[interval(999)]);
        assert_eq!((few.len(), few[0].lat_p99_us), (1, None));
        let many = Repetition::from_intervals(two, &[interval(500), interval(500)]);
        assert_eq!(many[0].direction, Direction::Write);
        assert!((many[0].iops - 500.0).abs() < 1e-9);
        assert!(many[0].lat_p99_us.is_some_and(|us| (us - 50.0).abs() < 0.5));
        assert!(Repetition::from_intervals(two, &[]).is_empty());
    }
}
