//! The specification of a power meter: `OPTIONS@SOURCE`, where the options are optional.

use crate::counter_range::CounterRange;
use crate::error::MeterError;
use crate::source::KINDS;
use crate::source::interface::{ParsedSpec, SourceSpec};
use ssdgauge_core::{Nanos, PowerScope};
use std::str::FromStr;
use std::time::Duration;

/// The shortest sampling period: a sampler thread must not load the host.
const MIN_PERIOD: Duration = Duration::from_millis(2);
/// The longest sampling period: a step needs several readings.
const MAX_PERIOD: Duration = Duration::from_secs(60);

/// A power meter as it is named on the command line.
#[derive(Debug)]
pub struct MeterSpec {
    /// The specification without its options.
    pub text: String,
    /// The name of the instrument in readings.
    pub name: String,
    /// The part of the host that is measured.
    pub scope: PowerScope,
    /// Whether the scope was given, and is not the default of the kind of meter.
    pub(crate) scope_is_explicit: bool,
    /// The factor from readings to watts, or from those of a counter to joules.
    pub scale: f64,
    /// How the readings count energy, where an option says so; `None` where the source knows.
    pub(crate) counts: Option<CounterRange>,
    /// The sampling period, where it was given.
    pub(crate) period: Option<Duration>,
    pub(crate) source: Box<dyn SourceSpec>,
}

impl MeterSpec {
    /// Parses the specification of a meter.
    ///
    /// # Errors
    /// The specification is malformed.
    pub fn parse(text: &str) -> Result<MeterSpec, MeterError> {
        let wrong = |what: String| MeterError::Spec { text: text.to_owned(), what };
        let (options, rest) = split_options(text);
        let mut pointer = None;
        let (mut scope, mut scale, mut period, mut name) = (None, 1.0, None, None);
        let mut counts: Option<CounterRange> = None;
        for (key, value) in options {
            match key {
                "scope" => scope = Some(parse_scope(value).map_err(&wrong)?),
                "scale" => scale = parse_scale(value).map_err(&wrong)?,
                "reads" if value == "energy" => {
                    counts.get_or_insert(CounterRange { wraps_at: None });
                }
                "reads" if value == "power" => {}
                "reads" => return Err(wrong(format!("'{value}' is neither power nor energy"))),
                "wraps" => {
                    let wraps_at = Some(parse_positive(value).ok_or_else(|| {
                        wrong(format!("'{value}' is not a value at which a counter can start over"))
                    })?);
                    counts = Some(CounterRange { wraps_at });
                }
                "period" => period = Some(parse_period(value).map_err(&wrong)?),
                "name" => name = Some(value.to_owned()),
                "pointer" => pointer = Some(value.to_owned()),
                other => return Err(wrong(format!("no option is called '{other}'"))),
            }
        }
        let source = parse_source(rest, pointer).map_err(&wrong)?;
        Ok(MeterSpec {
            text: rest.to_owned(),
            name: name.unwrap_or_else(|| rest.to_owned()),
            scope: scope.unwrap_or_else(|| source.default_scope()),
            scope_is_explicit: scope.is_some(),
            scale,
            counts,
            period,
            source,
        })
    }

    /// Returns whether the readings come from the drive under test.
    pub fn reads_drive(&self) -> bool {
        self.source.reads_drive()
    }
}

impl FromStr for MeterSpec {
    type Err = MeterError;

    fn from_str(text: &str) -> Result<MeterSpec, MeterError> {
        MeterSpec::parse(text)
    }
}

/// Splits `key=value,…@` off. Where the part before the first `@` has another form, the text has no
/// options, because a URL may contain an `@` (`http://user@host/`).
fn split_options(text: &str) -> (Vec<(&str, &str)>, &str) {
    let Some((before, rest)) = text.split_once('@') else { return (Vec::new(), text) };
    let pairs: Option<Vec<(&str, &str)>> =
        before.split(',').map(|pair| pair.split_once('=')).collect();
    let is_word = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase());
    match pairs {
        Some(pairs) if pairs.iter().all(|(key, _)| is_word(key)) => (pairs, rest),
        Some(_) | None => (Vec::new(), text),
    }
}

fn parse_scope(text: &str) -> Result<PowerScope, String> {
    let known = PowerScope::ALL.map(PowerScope::name).join(", ");
    PowerScope::from_name(text)
        .ok_or_else(|| format!("no scope is called '{text}' (known: {known})"))
}

fn parse_scale(text: &str) -> Result<f64, String> {
    parse_positive(text)
        .ok_or_else(|| format!("'{text}' is not a scale; write a number such as 0.001"))
}

fn parse_positive(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0)
}

fn parse_period(text: &str) -> Result<Duration, String> {
    let period = text.parse::<Nanos>().map_err(|error| error.to_string())?;
    let period = Duration::from(period);
    match (MIN_PERIOD..=MAX_PERIOD).contains(&period) {
        true => Ok(period),
        false => {
            let (min, max) = (MIN_PERIOD.as_millis(), MAX_PERIOD.as_secs());
            Err(format!("the period must be between {min} ms and {max} s"))
        }
    }
}

fn parse_source(text: &str, pointer: Option<String>) -> ParsedSpec {
    let keyword = text.split_once(':').map_or(text, |(keyword, _)| keyword);
    let Some(kind) = KINDS.iter().find(|kind| kind.keywords.contains(&keyword)) else {
        return Err(match text.contains(':') {
            true => format!("no kind of meter is called '{keyword}'"),
            false => "the kind of meter is missing".to_owned(),
        });
    };
    if pointer.is_some() && !kind.takes_pointer {
        let takers = KINDS.iter().filter(|kind| kind.takes_pointer);
        let takers: Vec<String> = takers.map(|kind| format!("{}:", kind.keywords[0])).collect();
        return Err(format!("the option pointer= applies to {} only", takers.join(" and ")));
    }
    (kind.parse)(text, pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_precede_the_source() {
        let spec = MeterSpec::parse("scope=host-ac,scale=0.001,period=500ms,name=plug@command:x");
        let spec = spec.unwrap();
        assert_eq!((spec.scope, spec.scale), (PowerScope::HostAc, 0.001));
        assert_eq!((spec.period, spec.name.as_str()), (Some(Duration::from_millis(500)), "plug"));
        assert_eq!(MeterSpec::parse("http://p/#/w").unwrap().scope, PowerScope::HostAc);
        assert_eq!(MeterSpec::parse("http://me@p/#/w").unwrap().text, "http://me@p/#/w");
        assert_eq!(MeterSpec::parse("command:x").unwrap().scope, PowerScope::Drive);
    }

    #[test]
    fn an_option_says_that_a_meter_counts_energy() {
        let counts = |text| MeterSpec::parse(text).unwrap().counts;
        assert_eq!(counts("command:x"), None);
        assert_eq!(counts("reads=power@command:x"), None);
        let endless = Some(CounterRange { wraps_at: None });
        assert_eq!(counts("reads=energy,scale=3600@http://p/#/wh"), endless);
        let wraps = Some(CounterRange { wraps_at: Some(1e6) });
        assert_eq!(counts("wraps=1000000@command:x"), wraps);
        assert_eq!(counts("wraps=1000000,reads=energy@command:x"), wraps);
    }

    #[test]
    fn every_kind_has_its_own_keywords_and_the_hint_shows_its_form() {
        let mut keywords: Vec<&str> =
            KINDS.iter().flat_map(|kind| kind.keywords).copied().collect();
        let total = keywords.len();
        keywords.sort_unstable();
        keywords.dedup();
        assert_eq!(keywords.len(), total, "{keywords:?}");
        let hint = MeterSpec::parse("").unwrap_err().hint();
        for kind in KINDS {
            assert!(kind.form.starts_with(kind.keywords[0]), "{}", kind.form);
            assert!(hint.contains(kind.form), "{hint}");
        }
    }

    #[test]
    fn a_malformed_specification_is_refused_with_the_form_that_is_accepted() {
        for (text, word) in [
            ("", "kind of meter is missing"),
            ("ina226/power1", "kind of meter is missing"),
            ("usb:3", "no kind of meter is called 'usb'"),
            ("nvme:0", "write nvme"),
            ("hwmon", "hwmon:NAME/power1"),
            ("hwmon:ina226", "hwmon:NAME/power1"),
            ("hwmon:ina226/temp1", "neither power1"),
            ("hwmon:../../x/power1", "hwmon:NAME/power1"),
            ("qis:localhost:9722", "MODULE"),
            ("qis:localhost:9722/a b", "no spaces"),
            ("command:", "program is missing"),
            ("command:sh -c 'x", "quote is not closed"),
            ("http://plug/status", "JSON pointer to the watts"),
            ("http://plug/status#apower", "write /apower"),
            ("https://bmc/redfish#/x", "command:curl"),
            ("scope=wall@nvme", "drive, host-dc, host-ac"),
            ("scale=0@nvme", "not a scale"),
            ("reads=joules@nvme", "neither power nor energy"),
            ("wraps=-1@command:x", "not a value at which a counter can start over"),
            ("powercap:", "powercap:package-0"),
            ("scale=nan@nvme", "not a scale"),
            ("period=1us@nvme", "between"),
            ("colour=red@nvme", "no option is called 'colour'"),
            ("pointer=/w@nvme", "command: and http: only"),
        ] {
            let error = MeterSpec::parse(text).expect_err(text);
            assert!(error.to_string().contains(word), "{text}: {error}");
            assert!(!error.hint().is_empty());
        }
    }
}
