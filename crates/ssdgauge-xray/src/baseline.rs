//! The ceilings that later rates are compared with, and whether they are those of a cold drive.
//!
//! A drive that is throttled when an X-ray begins is its own baseline: neither its rate nor its temperature tells. So
//! ceilings are measured twice with a rest between, and every later observation may refute them.

use crate::answer::{Answer, Refusal, Value};
use crate::negotiated::NegotiatedLink;
use crate::structure::Structure;
use ssdgauge_core::ThermalReport;
use ssdgauge_core::rounded::number;

/// The temperature from which a drive at rest may be throttled, in degrees Celsius. Chosen: the warning temperatures
/// that drives state begin there.
const HOT_C: f64 = 70.0;
/// The fall over a rest up to which a temperature is level, in kelvin. Chosen: half a step of a sensor of whole degrees.
const LEVEL_K: f64 = 0.5;
/// How far below the temperature from which it may be throttled a drive is not, in kelvin, so that its temperature need not
/// be level. Chosen: the lowest thresholds that can be set are near 60, and a drive recovers some degrees below.
const COOL_K: f64 = 20.0;
/// The temperature from which writes may be throttled, in degrees Celsius. Chosen: the lowest thresholds that can be set are
/// near 60, and flash is warmer than a sensor of whole degrees near it shows.
const WARM_C: f64 = 55.0;
/// The share beyond its interval from which a rate refutes a ceiling. Chosen, as that by which its two sizes may differ.
const BEYOND: f64 = 0.02;

/// The seconds in a row that refute a ceiling together. Chosen: of lognormal seconds with a scatter of 4 %, one row in
/// 100,000 does by chance.
const IN_A_ROW: usize = 10;

/// What was observed after the ceilings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Later {
    /// The highest rate of reads of trimmed addresses, in 10^6 bytes per second.
    pub trimmed_mb_s: f64,
    /// The highest rate of a second of reads of data.
    pub data_mb_s: f64,
    /// The highest number of small reads of data in a second.
    pub small_per_s: f64,
}

impl Later {
    /// Takes the bytes of each second of reads of data: a rate counts that so many seconds in a row have reached, because
    /// the fastest of many seconds is faster than the drive.
    pub fn take_seconds(&mut self, bytes: &[u64]) {
        let least = bytes.windows(IN_A_ROW).filter_map(|row| row.iter().min());
        let most = least.max().map_or(0.0, |bytes| *bytes as f64 / 1e6);
        self.data_mb_s = self.data_mb_s.max(most);
    }
}

/// Returns the temperature from which a drive at rest that states this may be throttled, in degrees Celsius.
fn hot_c(stated: Option<ThermalReport>) -> f64 {
    stated.and_then(|stated| stated.limit_c).map_or(HOT_C, |limit| limit.min(HOT_C))
}

/// Returns whether a drive at rest may be throttled at `celsius`, by what it has `stated`.
pub fn is_hot(celsius: f64, stated: Option<ThermalReport>) -> bool {
    celsius >= hot_c(stated)
}

/// Returns whether a rest that began at one of these temperatures and ended at the other has changed nothing; also where
/// there is no sensor.
pub fn is_level(before: Option<f64>, after: Option<f64>, stated: Option<ThermalReport>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => after < hot_c(stated) - COOL_K || before - after < LEVEL_K,
        (None, _) | (_, None) => true,
    }
}

/// Returns whether a drive at `celsius` may throttle only its writes, which no read shows; without a sensor, always.
pub fn writes_may_be_throttled(celsius: Option<f64>) -> bool {
    celsius.is_none_or(|celsius| celsius >= WARM_C)
}

/// Returns the refusal of a cache whose writes may have been throttled at `celsius`: they `recovered` in a light load, or
/// there was no room left to see it.
pub fn writes_throttled(celsius: Option<f64>, recovered: bool) -> Refusal {
    let state = match celsius {
        Some(celsius) => format!("the drive was at {celsius:.0} °C"),
        None => "the drive has no temperature sensor".into(),
    };
    Refusal(match recovered {
        true => format!(
            "writes were fast again after a light load, as those of a throttled drive that cooled; {state}"
        ),
        false => format!("no room is left to tell a full cache from throttled writes; {state}"),
    })
}

/// Refuses what heat changes among `answers` of an experiment in which the drive counted `throttling`.
pub fn refuse_throttled(answers: &mut [Answer], throttling: &str) {
    let changed =
        |answer: &&mut Answer| depends_on_heat(answer.structure) && answer.outcome.is_ok();
    for answer in answers.iter_mut().filter(changed) {
        answer.outcome = Err(Refusal(format!("the drive counted {throttling} meanwhile")));
    }
}

/// Returns whether `second` is a higher ceiling than `first`.
pub fn faster(first: &Value, second: &Value) -> bool {
    second.value > first.high.max(first.value * (1.0 + BEYOND))
}

/// Returns whether heat changes `structure`: a time, or a rate.
pub(crate) fn depends_on_heat(structure: Structure) -> bool {
    use crate::structure::Unit;
    match structure.unit() {
        Unit::MegabytesPerSecond | Unit::Microseconds => true,
        // The end of a buffer or cache is read from rates.
        Unit::Bytes => {
            matches!(structure, Structure::WriteBuffer | Structure::Cache | Structure::Spare)
        }
        Unit::Count | Unit::YesNo | Unit::Celsius | Unit::Percent => false,
    }
}

/// Refuses the ceilings that `later` observations or the `negotiated` link refute, and with them what was compared with them.
pub fn check_ceilings(answers: &mut [Answer], later: Later, negotiated: Option<&NegotiatedLink>) {
    check_command(answers, later);
    let of = |structure| answers.iter().find(|answer: &&Answer| answer.structure == structure);
    let value = |structure| of(structure).and_then(|answer| answer.outcome.as_ref().ok());
    let Some(link) = value(Structure::Link) else { return };
    let most = link.high.max(link.value * (1.0 + BEYOND));
    let celsius = of(Structure::Link).and_then(|answer| answer.celsius);
    // Between the two points, a drive is as it was before.
    let point = value(Structure::Resume).or(value(Structure::Throttle)).map(|point| point.low);
    let reason = match (celsius, point) {
        (Some([_, celsius]), Some(point)) if celsius >= point => {
            format!("the drive was at {celsius:.0} °C, and is throttled from {point:.0} °C on")
        }
        _ if later.trimmed_mb_s > most => {
            format!("reads of trimmed addresses ran at {} MB/s later", number(later.trimmed_mb_s))
        }
        _ if later.data_mb_s > most => {
            let reason = format!("reads of data ran at {} MB/s later", number(later.data_mb_s));
            let reason = format!("the ceilings were not those of a cold drive: {reason}");
            return refute(answers, &[Structure::Link], &reason);
        }
        _ => match negotiated.filter(|negotiated| link.low > negotiated.mb_s) {
            Some(NegotiatedLink { name, mb_s }) => {
                let reason = format!(
                    "reads at {} MB/s did not come over its link, {name}, which carries {} MB/s",
                    number(link.value),
                    number(*mb_s)
                );
                return refuse_of_baseline(answers, &reason);
            }
            None => return,
        },
    };
    let reason = format!("the ceilings were not those of a cold drive: {reason}");
    refuse_of_baseline(answers, &reason);
}

/// Refuses a time of commands that later reads contradict.
fn check_command(answers: &mut [Answer], later: Later) {
    let command = answers.iter().find(|answer| answer.structure == Structure::Command);
    let value = command.and_then(|answer| answer.outcome.as_ref().ok());
    let is_refuted = |value: &&Value| later.small_per_s * value.low > 1e6 * (1.0 + BEYOND);
    if value.filter(is_refuted).is_some() {
        let per_s = number(later.small_per_s);
        let reason = format!("later reads of data ran at {per_s} commands/s");
        refute(answers, &[Structure::Command], &reason);
    }
}

fn refuse_of_baseline(answers: &mut [Answer], reason: &str) {
    let of_baseline = [
        Structure::Link,
        Structure::Command,
        Structure::PageRead,
        Structure::ProgramTime,
        Structure::WriteBuffer,
        Structure::Cache,
        Structure::NativeRate,
        Structure::Folding,
        Structure::Spare,
    ];
    refute(answers, &of_baseline, reason);
}

fn refute(answers: &mut [Answer], structures: &[Structure], reason: &str) {
    let of = answers.iter_mut().filter(|answer| structures.contains(&answer.structure));
    for answer in of.filter(|answer| answer.outcome.is_ok()) {
        answer.outcome = Err(Refusal(reason.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(celsius: f64) -> Vec<Answer> {
        let of = |structure, value: f64| Answer {
            structure,
            outcome: Ok(Value::within(value, 0.0, 0.01)),
            celsius: Some([celsius - 2.0, celsius]),
        };
        vec![of(Structure::Link, 1_224.0), of(Structure::Command, 7.2), of(Structure::Units, 16.0)]
    }

    fn refused(later: Later, more: Option<(Structure, f64)>) -> Vec<bool> {
        let mut answers = answers(72.0);
        let more = more.map(|(structure, value)| Answer {
            structure,
            outcome: Ok(Value { value, low: value - 1.0, high: value + 1.0 }),
            celsius: None,
        });
        answers.extend(more);
        check_ceilings(&mut answers, later, None);
        answers[..3].iter().map(|answer| answer.outcome.is_err()).collect()
    }

    #[test]
    fn a_later_rate_or_a_throttle_point_below_refutes_the_ceilings() {
        let none = Later::default();
        assert_eq!(refused(none, None), [false; 3]);
        assert_eq!(refused(Later { trimmed_mb_s: 1_240.0, ..none }, None), [false; 3]);
        let of_ceilings = [true, true, false];
        assert_eq!(refused(Later { trimmed_mb_s: 3_400.0, ..none }, None), of_ceilings);
        assert_eq!(refused(Later { data_mb_s: 3_400.0, ..none }, None), [true, false, false]);
        for (point, expected) in [(70.0, of_ceilings), (80.0, [false; 3])] {
            assert_eq!(refused(none, Some((Structure::Throttle, point))), expected);
            assert_eq!(refused(none, Some((Structure::Resume, point))), expected);
        }
    }

    #[test]
    fn a_ceiling_above_the_negotiated_link_and_a_command_slower_than_later_ones_are_refuted() {
        let mut ceilings = answers(40.0);
        let link = |mb_s| Some(NegotiatedLink { name: "PCIe 3.0 x1".into(), mb_s });
        check_ceilings(&mut ceilings, Later::default(), link(1_250.0).as_ref());
        assert!(ceilings.iter().all(|answer| answer.outcome.is_ok()));
        check_ceilings(&mut ceilings, Later::default(), link(985.0).as_ref());
        let refused: Vec<bool> = ceilings.iter().map(|answer| answer.outcome.is_err()).collect();
        assert_eq!(refused, [true, true, false]);
        // 7.2 us are 139,000 commands in a second.
        for (small_per_s, expected) in [(140_000.0, false), (300_000.0, true)] {
            let mut ceilings = answers(40.0);
            check_ceilings(&mut ceilings, Later { small_per_s, ..Later::default() }, None);
            assert_eq!(ceilings[1].outcome.is_err(), expected);
            assert!(ceilings[0].outcome.is_ok());
        }
    }

    #[test]
    fn one_fast_second_refutes_nothing() {
        let mut later = Later::default();
        let seconds = |fast: usize| [vec![1_000_000_000; 20], vec![1_200_000_000; fast]].concat();
        later.take_seconds(&seconds(9));
        assert_eq!(later.data_mb_s, 1_000.0);
        later.take_seconds(&seconds(10));
        assert_eq!(later.data_mb_s, 1_200.0);
    }

    #[test]
    fn a_temperature_is_level_where_a_rest_does_not_lower_it() {
        let is_level = |before, after| super::is_level(before, after, None);
        assert!(is_level(Some(40.0), Some(40.0)) && is_level(Some(39.0), Some(40.0)));
        assert!(!is_level(Some(78.0), Some(77.0)) && is_level(None, Some(40.0)));
        assert!(is_level(Some(48.0), Some(45.0)), "cool");
        let stated = |limit| Some(ThermalReport { limit_c: Some(limit), ..Default::default() });
        assert!(!super::is_level(Some(48.0), Some(45.0), stated(60.0)), "warm for this drive");
        assert!(is_hot(62.0, stated(60.0)) && !is_hot(62.0, stated(85.0)) && !is_hot(62.0, None));
        assert!(is_hot(72.0, stated(85.0)), "a drive may be slower below its limit");
    }

    #[test]
    fn counted_throttling_refuses_only_times_and_rates() {
        let mut answers = answers(40.0);
        refuse_throttled(&mut answers[..], "3 s of throttling");
        let refused: Vec<bool> = answers.iter().map(|answer| answer.outcome.is_err()).collect();
        assert_eq!(refused, [true, true, false]);
        assert!(answers[0].outcome.as_ref().unwrap_err().0.contains("counted 3 s of throttling"));
    }
}
