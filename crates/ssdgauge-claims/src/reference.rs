//! References of a claim to numbers of runs: `DRIVE TEST METRIC [PICK]`.
//!
//! A metric is the key of one, or `reading:QUANTITY`.

use serde::Deserialize;
use ssdgauge_core::Metric;
use std::collections::BTreeSet;

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// A metric, computed from the samples.
    Metric(Metric),
    /// The readings of instruments, such as `temperature_c`; only by their seconds.
    Reading(String),
}

/// A quantity of one test of one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The drive, by its name in the file of the review.
    pub drive: String,
    /// The test, by its name there.
    pub test: String,
    /// The quantity.
    pub quantity: Quantity,
}

/// A curve: the values of a metric over the points of a test, in the order of the suite. With
/// `seconds`, the values of its full seconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Curve {
    /// Whose values they are.
    pub source: Source,
    /// Whether they are the seconds of the test, and only its last so many.
    pub seconds: Option<Seconds>,
}

/// The seconds of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seconds {
    /// All of them.
    All,
    /// The last ones.
    Last(usize),
}

/// A single number of a test.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Value {
    /// Whose number it is.
    pub source: Source,
    /// Which number.
    pub pick: Pick,
}

/// The number that is picked from a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pick {
    /// The headline, or a further number of the test, in the metric.
    Headline,
    /// The mean over the points.
    Mean,
    /// The largest value of a point.
    Most,
    /// The smallest value of a point.
    Least,
    /// The point at this swept value.
    At(f64),
    /// The point at the knee of the test: the lowest queue depth with 95 % of the best score.
    AtKnee,
    /// The queue depth of the knee itself.
    Knee,
    /// The smallest full second.
    WorstSecond,
    /// The largest full second.
    BestSecond,
    /// The mean of the first so many full seconds.
    First(usize),
    /// The mean of the last so many full seconds.
    Last(usize),
    /// The bytes written when the rate of the test falls for good, as a share of the capacity.
    ChangePoint,
    /// The seconds from which on the steady-state rule holds up to the end, in rounds of a minute.
    SteadyAfter,
}

impl TryFrom<String> for Curve {
    type Error = String;

    fn try_from(text: String) -> Result<Curve, String> {
        let (source, rest) = source(&text)?;
        let seconds = match rest.as_slice() {
            [] => None,
            ["seconds"] => Some(Seconds::All),
            ["last", n] => Some(Seconds::Last(count(n)?)),
            _ => return Err(format!("'{text}': a curve ends with nothing, `seconds` or `last N`")),
        };
        Ok(Curve { source, seconds })
    }
}

impl TryFrom<String> for Value {
    type Error = String;

    fn try_from(text: String) -> Result<Value, String> {
        let (source, rest) = source(&text)?;
        let pick = match rest.as_slice() {
            [] => Pick::Headline,
            ["mean"] => Pick::Mean,
            ["most"] => Pick::Most,
            ["least"] => Pick::Least,
            ["at", "knee"] => Pick::AtKnee,
            ["at", position] => Pick::At(
                position.parse().map_err(|_| format!("'{position}' is not a swept value"))?,
            ),
            ["knee"] => Pick::Knee,
            ["worst-second"] => Pick::WorstSecond,
            ["best-second"] => Pick::BestSecond,
            ["change-point"] => Pick::ChangePoint,
            ["steady-after"] => Pick::SteadyAfter,
            ["first", n] => Pick::First(count(n)?),
            ["last", n] => Pick::Last(count(n)?),
            _ => return Err(format!("'{text}' picks no number")),
        };
        Ok(Value { source, pick })
    }
}

/// Splits `DRIVE TEST METRIC …` from the words after it.
fn source(text: &str) -> Result<(Source, Vec<&str>), String> {
    let mut words = text.split_whitespace();
    let (Some(drive), Some(test), Some(metric)) = (words.next(), words.next(), words.next()) else {
        return Err(format!("'{text}' is not DRIVE TEST METRIC"));
    };
    let quantity = match metric.strip_prefix("reading:") {
        Some(reading) => Quantity::Reading(reading.to_owned()),
        None => {
            let metric = toml::Value::String(metric.to_owned()).try_into();
            Quantity::Metric(metric.map_err(|error| format!("'{text}': {error}"))?)
        }
    };
    let source = Source { drive: drive.to_owned(), test: test.to_owned(), quantity };
    Ok((source, words.collect()))
}

fn count(text: &str) -> Result<usize, String> {
    let number: usize = text.parse().map_err(|_| format!("'{text}' is not a number of seconds"))?;
    (number > 0).then_some(number).ok_or_else(|| "0 seconds have no mean".to_owned())
}

/// The drives and tests that a check refers to, as pairs.
pub(crate) type Needs = BTreeSet<(String, String)>;

impl Source {
    /// Adds the drive and the test to `needs`.
    pub(crate) fn add_to(&self, needs: &mut Needs) {
        needs.insert((self.drive.clone(), self.test.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_name_drive_test_metric_and_pick() {
        let value = |text: &str| Value::try_from(text.to_owned());
        let at = value("dc500m mix power_w at 70").unwrap();
        assert_eq!((at.source.drive.as_str(), at.source.test.as_str()), ("dc500m", "mix"));
        let power = Quantity::Metric(Metric::PowerW);
        assert_eq!((at.source.quantity, at.pick), (power, Pick::At(70.0)));
        assert_eq!(value("a b lat_p99_99_us at knee").unwrap().pick, Pick::AtKnee);
        assert_eq!(value("a b iops").unwrap().pick, Pick::Headline);
        assert_eq!(value("a b iops first 30").unwrap().pick, Pick::First(30));
        let curve = |text: &str| Curve::try_from(text.to_owned());
        assert_eq!(curve("a b iops last 400").unwrap().seconds, Some(Seconds::Last(400)));
        assert_eq!(curve("a b iops").unwrap().seconds, None);
    }

    #[test]
    fn what_is_not_a_reference_is_refused_with_its_text() {
        for text in ["a b", "a b speed", "a b iops sideways", "a b iops at x", "a b iops last 0"] {
            assert!(Value::try_from(text.to_owned()).is_err(), "{text}");
        }
        assert!(Curve::try_from("a b iops mean".to_owned()).is_err());
    }
}
