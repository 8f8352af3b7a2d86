//! What a person writes to name a meter: `OPTIONS@SOURCE`, where options may be left out.

use crate::error::MeterError;
use ssdgauge_core::{Nanos, PowerScope};
use std::str::FromStr;
use std::time::Duration;

/// The least time between two readings.
const LEAST_PERIOD: Duration = Duration::from_millis(2);
/// The most: a step should have several readings.
const MOST_PERIOD: Duration = Duration::from_secs(60);

/// A meter as a person names it.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterSpec {
    /// The text that names it, options left out.
    pub text: String,
    /// What it is called in readings.
    pub name: String,
    /// What it measures.
    pub scope: PowerScope,
    /// Whether the scope was said, and not taken from the kind of meter.
    pub scope_is_said: bool,
    /// What its values are multiplied by to become watts.
    pub scale: f64,
    /// The time between two readings, where it was said.
    pub period: Option<Duration>,
    pub(crate) source: SourceSpec,
}

/// Where the readings come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceSpec {
    Hwmon { chip: String, channel: Channel },
    Quarch { address: String, module: String },
    Nvme,
    Command { words: Vec<String>, pointer: Option<String> },
    Http { url: String, pointer: String },
}

/// What of a sensor chip is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// A power input.
    Power(u32),
    /// A voltage times a current.
    Product(u32, u32),
}

impl MeterSpec {
    /// Reads the name of a meter.
    ///
    /// # Errors
    /// What is wrong with `text`.
    pub fn parse(text: &str) -> Result<MeterSpec, MeterError> {
        let wrong = |what: String| MeterError::Spec { text: text.to_owned(), what };
        let (options, rest) = split_options(text);
        let mut pointer = None;
        let (mut scope, mut scale, mut period, mut name) = (None, 1.0, None, None);
        for (key, value) in options {
            match key {
                "scope" => {
                    let known = PowerScope::ALL.map(PowerScope::name).join(", ");
                    let found = PowerScope::from_name(value);
                    scope = Some(found.ok_or_else(|| {
                        wrong(format!("no scope is called '{value}' (known: {known})"))
                    })?);
                }
                "scale" => {
                    let number = value.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
                    scale = number.ok_or_else(|| {
                        wrong(format!("'{value}' is no scale; write a number such as 0.001"))
                    })?;
                }
                "period" => period = Some(read_period(value).map_err(&wrong)?),
                "name" => name = Some(value.to_owned()),
                "pointer" => pointer = Some(value.to_owned()),
                other => return Err(wrong(format!("no option is called '{other}'"))),
            }
        }
        let source = source(rest, pointer).map_err(&wrong)?;
        let usual = match &source {
            SourceSpec::Hwmon { chip, .. } if is_of_a_host(chip) => PowerScope::HostDc,
            SourceSpec::Http { .. } => PowerScope::HostAc,
            SourceSpec::Hwmon { .. }
            | SourceSpec::Quarch { .. }
            | SourceSpec::Nvme
            | SourceSpec::Command { .. } => PowerScope::Drive,
        };
        Ok(MeterSpec {
            text: rest.to_owned(),
            name: name.unwrap_or_else(|| rest.to_owned()),
            scope: scope.unwrap_or(usual),
            scope_is_said: scope.is_some(),
            scale,
            period,
            source,
        })
    }

    /// Returns whether it reads the figures of the drive under test itself.
    pub fn is_of_the_drive(&self) -> bool {
        self.source == SourceSpec::Nvme
    }
}

impl FromStr for MeterSpec {
    type Err = MeterError;

    fn from_str(text: &str) -> Result<MeterSpec, MeterError> {
        MeterSpec::parse(text)
    }
}

/// Splits `key=value,…@` off; a text whose part before the first `@` is nothing of that kind has
/// no options, because an address may hold an `@` of its own.
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

fn read_period(text: &str) -> Result<Duration, String> {
    let period = text.parse::<Nanos>().map_err(|error| error.to_string())?;
    let period = Duration::from(period);
    match (LEAST_PERIOD..=MOST_PERIOD).contains(&period) {
        true => Ok(period),
        false => Err(format!("a period lies between {LEAST_PERIOD:?} and {MOST_PERIOD:?}")),
    }
}

fn source(text: &str, pointer: Option<String>) -> Result<SourceSpec, String> {
    let no_pointer = |source| match pointer {
        Some(_) => Err("a pointer goes with command: and http: only".to_owned()),
        None => Ok(source),
    };
    if text == "nvme" {
        return no_pointer(SourceSpec::Nvme);
    }
    match text.split_once(':') {
        Some(("hwmon", rest)) => no_pointer(hwmon(rest)?),
        Some(("qis", rest)) => no_pointer(quarch(rest)?),
        Some(("command", rest)) => {
            let words = words(rest)?;
            Ok(SourceSpec::Command { words, pointer: pointer.map(checked_pointer).transpose()? })
        }
        Some(("http", rest)) => http(rest, pointer),
        Some(("https", _)) => Err("TLS is not spoken here: use command:curl, which prints what \
                                   the address answers, with pointer=/PATH"
            .to_owned()),
        Some((kind, _)) => Err(format!("no kind of meter is called '{kind}'")),
        None => Err("the kind of meter is missing".to_owned()),
    }
}

fn hwmon(text: &str) -> Result<SourceSpec, String> {
    let (chip, channel) = text
        .rsplit_once('/')
        .filter(|(chip, _)| !chip.is_empty() && !chip.contains('/'))
        .ok_or("write hwmon:NAME/power1, or hwmon:NAME/in1*curr1 for a voltage times a current")?;
    let number = |prefix: &str, text: &str| text.strip_prefix(prefix)?.parse::<u32>().ok();
    let product = channel
        .split_once('*')
        .and_then(|(volts, amperes)| Some((number("in", volts)?, number("curr", amperes)?)));
    let channel = match (number("power", channel), product) {
        (Some(number), _) => Channel::Power(number),
        (None, Some((volts, amperes))) => Channel::Product(volts, amperes),
        (None, None) => return Err(format!("'{channel}' is neither power1 nor in1*curr1")),
    };
    Ok(SourceSpec::Hwmon { chip: chip.to_owned(), channel })
}

fn quarch(text: &str) -> Result<SourceSpec, String> {
    let text = text.trim_start_matches("//");
    let (address, module) = text
        .split_once('/')
        .filter(|(_, module)| !module.is_empty())
        .ok_or("write qis:HOST:PORT/MODULE, such as qis:localhost:9722/usb::QTL1999-05-001")?;
    let address = match address {
        "" => "127.0.0.1:9722".to_owned(),
        address if address.contains(':') => address.to_owned(),
        host => format!("{host}:9722"),
    };
    if module.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("the name of a module holds no blanks".into());
    }
    Ok(SourceSpec::Quarch { address, module: module.to_owned() })
}

/// An address is `http://HOST/PATH#/POINTER`; after `http:` the two strokes may be left out.
fn http(rest: &str, pointer: Option<String>) -> Result<SourceSpec, String> {
    let rest = match rest.strip_prefix("http:") {
        Some(inner) => inner,
        None => rest,
    };
    if rest.starts_with("https:") {
        return Err("TLS is not spoken here: use command:curl, with pointer=/PATH".into());
    }
    let (address, fragment) = match rest.split_once('#') {
        Some((address, fragment)) => (address, Some(fragment.to_owned())),
        None => (rest, None),
    };
    let address = address.trim_start_matches('/');
    let pointer = fragment.or(pointer).ok_or(
        "say where in the answer the watts are, such as \
         http://plug/rpc/Switch.GetStatus?id=0#/apower",
    )?;
    match address.is_empty() || address.contains(char::is_whitespace) {
        true => Err("the address is missing, or holds blanks".into()),
        false => {
            let url = format!("http://{address}");
            Ok(SourceSpec::Http { url, pointer: checked_pointer(pointer)? })
        }
    }
}

/// A JSON pointer begins with a stroke (RFC 6901).
fn checked_pointer(pointer: String) -> Result<String, String> {
    match pointer.is_empty() || pointer.starts_with('/') {
        true => Ok(pointer),
        false => Err(format!("'{pointer}' is no JSON pointer; write /{pointer}")),
    }
}

/// Splits a command into words, as a shell does with quotes and without anything else.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match (quote, words.first()) {
        (Some(_), _) => Err("a quote is not closed".into()),
        (None, Some(program)) if !program.is_empty() => Ok(words),
        (None, _) => Err("the program is missing".into()),
    }
}

/// Chips that measure a host, or a part of one that is no drive.
fn is_of_a_host(chip: &str) -> bool {
    ["power_meter", "ibmpowernv", "occ-hwmon", "fam15h_power", "amdgpu", "corsairpsu", "macsmc"]
        .iter()
        .any(|known| chip.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source_of(text: &str) -> SourceSpec {
        MeterSpec::parse(text).unwrap_or_else(|error| panic!("{error}")).source
    }

    #[test]
    fn every_form_is_read() {
        let hwmon = |chip: &str, channel| SourceSpec::Hwmon { chip: chip.into(), channel };
        assert_eq!(source_of("hwmon:ina226/power1"), hwmon("ina226", Channel::Power(1)));
        assert_eq!(source_of("hwmon:hwmon3/in1*curr2"), hwmon("hwmon3", Channel::Product(1, 2)));
        let module = "usb::QTL1999-05-001".to_owned();
        let qis =
            |address: &str| SourceSpec::Quarch { address: address.into(), module: module.clone() };
        assert_eq!(source_of("qis:bench:9722/usb::QTL1999-05-001"), qis("bench:9722"));
        assert_eq!(source_of("qis:bench/usb::QTL1999-05-001"), qis("bench:9722"));
        assert_eq!(source_of("nvme"), SourceSpec::Nvme);
        let words = ["sh", "-c", "echo 2; true"].map(str::to_owned).to_vec();
        assert_eq!(
            source_of("pointer=/w@command:sh -c 'echo 2; true'"),
            SourceSpec::Command { words, pointer: Some("/w".into()) }
        );
        let http = |url: &str| SourceSpec::Http { url: url.into(), pointer: "/apower".into() };
        let shelly = "http://plug/rpc/Switch.GetStatus?id=0";
        assert_eq!(source_of(&format!("{shelly}#/apower")), http(shelly));
        assert_eq!(source_of(&format!("http:{shelly}#/apower")), http(shelly));
        assert_eq!(source_of("http:plug/x#/apower"), http("http://plug/x"));
        assert_eq!(source_of("http://me@plug/x#/apower"), http("http://me@plug/x"));
    }

    #[test]
    fn options_stand_before_the_source() {
        let spec = MeterSpec::parse("scope=host-ac,scale=0.001,period=500ms,name=plug@command:x");
        let spec = spec.unwrap();
        assert_eq!((spec.scope, spec.scale), (PowerScope::HostAc, 0.001));
        assert_eq!((spec.period, spec.name.as_str()), (Some(Duration::from_millis(500)), "plug"));
        assert_eq!(MeterSpec::parse("http://p/#/w").unwrap().scope, PowerScope::HostAc);
        assert_eq!(MeterSpec::parse("command:x").unwrap().scope, PowerScope::Drive);
    }

    #[test]
    fn what_is_no_meter_says_what_would_be_one() {
        for (text, word) in [
            ("", "kind of meter is missing"),
            ("ina226/power1", "kind of meter is missing"),
            ("usb:3", "no kind of meter is called 'usb'"),
            ("hwmon:ina226", "hwmon:NAME/power1"),
            ("hwmon:ina226/temp1", "neither power1"),
            ("hwmon:../../x/power1", "hwmon:NAME/power1"),
            ("qis:localhost:9722", "MODULE"),
            ("qis:localhost:9722/a b", "no blanks"),
            ("command:", "program is missing"),
            ("command:sh -c 'x", "quote is not closed"),
            ("http://plug/status", "where in the answer"),
            ("http://plug/status#apower", "write /apower"),
            ("https://bmc/redfish#/x", "command:curl"),
            ("scope=wall@nvme", "drive, host-dc, host-ac"),
            ("scale=0@nvme", "no scale"),
            ("scale=nan@nvme", "no scale"),
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
