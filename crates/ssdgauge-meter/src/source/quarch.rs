//! Quarch power modules, through the QIS server that their maker ships: a text protocol over TCP.
//!
//! A command is one line that ends with CR LF, with the name of the module before it; an answer is
//! complete when it ends with CR LF and `>`. QIS averages to a period that is asked for, so that a
//! few lines a second arrive. Nothing is trusted: every answer has a limit of time and bytes.

use crate::monotonic::MonotonicCheck;
use crate::sample::Batch;
use crate::sample::PollTimer;
use crate::sample::Sample;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// The period that QIS averages to: ten readings a second.
const USUAL: Duration = Duration::from_millis(100);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a greeting may take: some versions send none.
const GREETING: Duration = Duration::from_millis(500);
/// The longest answer.
const MOST_ANSWER: usize = 4 << 20;

/// A Quarch module that streams.
#[derive(Debug)]
pub(crate) struct Quarch {
    line: Line,
    module: String,
    header: Header,
    timer: PollTimer,
    /// Up to when the readings so far go; those of the next answer are spread from there on.
    until: Instant,
    order: MonotonicCheck,
}

impl Quarch {
    /// Connects to the server at `address` and lets `module` stream.
    pub(crate) fn open(
        address: &str,
        module: &str,
        period: Option<Duration>,
    ) -> Result<Quarch, String> {
        let period = period.unwrap_or(USUAL);
        let mut line = Line::connect(address)?;
        let list = line.ask("$list")?;
        if !list.lines().any(|entry| names(entry, module)) {
            let known: Vec<&str> =
                list.lines().map(str::trim).filter(|entry| !entry.is_empty()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("QIS at {address} has no module {module}; it has: {known}"));
        }
        let mut quarch = Quarch {
            line,
            module: module.to_owned(),
            header: Header::default(),
            // QIS gathers meanwhile: asking twice in a period brings nothing new.
            timer: PollTimer::every(period.max(Duration::from_millis(50))),
            until: Instant::now(),
            order: MonotonicCheck::default(),
        };
        quarch.expect_ok(&format!("stream mode resample {}us", period.as_micros()))?;
        quarch.start()?;
        let header = quarch.ask("stream text header")?;
        quarch.header = Header::read(&header)?;
        Ok(quarch)
    }

    pub(crate) fn manner(&self) -> String {
        let period = self.header.period.as_deref().unwrap_or("unknown");
        format!("means of {period} made by QIS, the module's clock, placed by the host's")
    }

    fn ask(&mut self, command: &str) -> Result<String, String> {
        self.line.ask(&format!("{} {command}", self.module))
    }

    fn expect_ok(&mut self, command: &str) -> Result<(), String> {
        let answer = self.ask(command)?;
        match answer.trim_start().starts_with("OK") {
            true => Ok(()),
            false => Err(format!("'{command}' was answered with '{}'", shown(&answer))),
        }
    }

    fn start(&mut self) -> Result<(), String> {
        self.expect_ok("rec stream")?;
        self.until = Instant::now();
        self.order.begin_anew();
        Ok(())
    }

    pub(crate) fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        if !self.timer.wait(timeout) {
            return Ok(Batch::default());
        }
        let answer = self.ask("stream text all")?;
        let now = Instant::now();
        let mut batch = Batch::default();
        let mut values = Vec::new();
        for text in answer.lines().map(str::trim).filter(|text| !text.is_empty()) {
            // "No more at this moment"; the end of the stream is told by `stream?`.
            if text.eq_ignore_ascii_case("eof") {
                break;
            }
            let (watts, stamp) = self.header.watts(text)?;
            if stamp.is_none_or(|stamp| self.order.goes_on(stamp)) {
                values.push(watts);
            }
        }
        batch.remarks.extend(self.order.remark());
        if values.is_empty() {
            batch.remarks.extend(self.look()?);
            return Ok(batch);
        }
        // The module's clock counts samples; their place in this host's time is between the last
        // answer and this one.
        let between = now.saturating_duration_since(self.until);
        let n = values.len() as u32;
        batch.samples = (1..=n)
            .zip(values)
            .map(|(k, value)| Sample { at: self.until + between * k / n, channel: 0, value })
            .collect();
        self.until = now;
        Ok(batch)
    }

    /// Asks why nothing comes; begins anew after an overrun.
    fn look(&mut self) -> Result<Option<String>, String> {
        let state = self.ask("stream?")?.to_lowercase();
        if state.contains("overrun") || state.contains("out of buffer") {
            self.start()?;
            return Ok(Some("the module's buffer overran: readings are missing".into()));
        }
        match state.contains("running") {
            true => Ok(None),
            false => Err(format!("the module streams no more: {}", shown(&state))),
        }
    }
}

impl Drop for Quarch {
    fn drop(&mut self) {
        // The server may be gone already.
        let _ = self.line.stream.set_read_timeout(Some(GREETING));
        let _ = self.ask("rec stop");
    }
}

/// Returns whether an entry of the list, such as `1) usb::QTL1999-05-001`, names `module`.
fn names(entry: &str, module: &str) -> bool {
    entry.split_whitespace().any(|word| word == module)
}

fn shown(text: &str) -> String {
    crate::parse::shown(text.trim())
}

/// A connection to QIS.
#[derive(Debug)]
struct Line {
    stream: TcpStream,
}

impl Line {
    fn connect(address: &str) -> Result<Line, String> {
        let failed = |error: &dyn std::fmt::Display| format!("QIS at {address}: {error}");
        let places = address.to_socket_addrs().map_err(|error| failed(&error))?;
        let mut last = "the name leads nowhere".to_owned();
        for place in places {
            match TcpStream::connect_timeout(&place, PATIENCE) {
                Ok(stream) => {
                    stream.set_write_timeout(Some(PATIENCE)).map_err(|error| failed(&error))?;
                    stream.set_nodelay(true).map_err(|error| failed(&error))?;
                    let mut line = Line { stream };
                    line.greeting().map_err(|error| failed(&error))?;
                    return Ok(line);
                }
                Err(error) => last = error.to_string(),
            }
        }
        Err(failed(&last))
    }

    /// Takes what the server says first, with or without a prompt.
    fn greeting(&mut self) -> Result<(), String> {
        match self.answer(GREETING) {
            Ok(_) | Err(NoAnswer::Late) => Ok(()),
            Err(NoAnswer::Broken(cause)) => Err(cause),
        }
    }

    fn ask(&mut self, command: &str) -> Result<String, String> {
        let text = format!("{command}\r\n");
        self.stream.write_all(text.as_bytes()).map_err(|error| format!("QIS is gone: {error}"))?;
        self.answer(PATIENCE).map_err(|error| match error {
            NoAnswer::Late => format!("QIS has not answered '{command}' for {PATIENCE:?}"),
            NoAnswer::Broken(cause) => cause,
        })
    }

    /// Reads to the prompt, however the answer is cut into packets.
    fn answer(&mut self, timeout: Duration) -> Result<String, NoAnswer> {
        let broken = |error: std::io::Error| NoAnswer::Broken(format!("QIS is gone: {error}"));
        let end = Instant::now() + timeout;
        let mut bytes = Vec::new();
        let mut packet = [0; 16 << 10];
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(NoAnswer::Late);
            }
            self.stream.set_read_timeout(Some(left)).map_err(broken)?;
            match self.stream.read(&mut packet) {
                Ok(0) => return Err(NoAnswer::Broken("QIS has closed the connection".into())),
                Ok(n) => bytes.extend_from_slice(&packet[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return Err(NoAnswer::Late);
                }
                Err(error) => return Err(broken(error)),
            }
            if bytes.ends_with(b"\r\n>") || bytes == b">" {
                bytes.pop();
                return Ok(String::from_utf8_lossy(&bytes).into_owned());
            }
            if bytes.len() > MOST_ANSWER {
                return Err(NoAnswer::Broken("QIS answers without end".into()));
            }
        }
    }
}

enum NoAnswer {
    Late,
    Broken(String),
}

/// What the columns of a stream are.
#[derive(Clone, Debug, Default, PartialEq)]
struct Header {
    period: Option<String>,
    channels: usize,
    /// The columns of power, with the factor that makes watts of them.
    power: Vec<(usize, f64)>,
    /// The columns of a voltage and a current of one rail, with the factor of their product.
    rails: Vec<(usize, usize, f64)>,
}

/// One column of a stream.
struct Column {
    rail: String,
    /// `V`, `A` or `W`.
    kind: char,
    factor: f64,
    place: usize,
}

impl Header {
    /// Reads either form of a header: XML, or lines whose sixth is a mask of channels.
    fn read(text: &str) -> Result<Header, String> {
        match text.contains('<') {
            true => Header::read_xml(text),
            false => Header::read_old(text),
        }
    }

    fn read_xml(text: &str) -> Result<Header, String> {
        let mut columns = Vec::new();
        let mut channels = 0;
        for (number, channel) in text.split("<channel>").skip(1).enumerate() {
            channels += 1;
            let place = element(channel, "dataPosition").and_then(|text| text.parse().ok());
            let (Some(name), Some(units)) = (element(channel, "name"), element(channel, "units"))
            else {
                continue;
            };
            let Some((kind, factor)) = unit(units) else { continue };
            // The power of a rail may be called after it, as in `12V Power`.
            let rail = name.split_whitespace().next().unwrap_or(name).to_owned();
            columns.push(Column { rail, kind, factor, place: place.unwrap_or(number) });
        }
        let period = element(text, "mainPeriod").or_else(|| element(text, "devicePeriod"));
        Header::of(period.map(str::to_owned), channels, &columns)
    }

    /// Mask: 8 = 5 V voltage, 4 = 5 V current, 2 = 12 V voltage, 1 = 12 V current, in mV and mA;
    /// the columns follow in this order.
    fn read_old(text: &str) -> Result<Header, String> {
        let words: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mask: Option<u32> = words.get(5).and_then(|word| word.parse().ok());
        let Some(mask) = mask.filter(|mask| (1..16).contains(mask)) else {
            return Err(format!("the header of the stream is not understood: '{}'", shown(text)));
        };
        let all = [(8, "5V", 'V'), (4, "5V", 'A'), (2, "12V", 'V'), (1, "12V", 'A')];
        let columns: Vec<Column> = all
            .into_iter()
            .filter(|(bit, ..)| mask & bit != 0)
            .enumerate()
            .map(|(place, (_, rail, kind))| Column { rail: rail.into(), kind, factor: 1e-3, place })
            .collect();
        Header::of(None, columns.len(), &columns)
    }

    fn of(period: Option<String>, channels: usize, columns: &[Column]) -> Result<Header, String> {
        let of = |kind: char| columns.iter().filter(move |column| column.kind == kind);
        // Where the module tells power itself, that is the truth; else volts times amperes.
        let power: Vec<(usize, f64)> =
            of('W').map(|column| (column.place, column.factor)).collect();
        let mut rails = Vec::new();
        if power.is_empty() {
            for volts in of('V') {
                let amperes = of('A').find(|amperes| amperes.rail == volts.rail);
                let Some(amperes) = amperes else { continue };
                rails.push((volts.place, amperes.place, volts.factor * amperes.factor));
            }
        }
        match power.is_empty() && rails.is_empty() {
            true => Err("the stream has neither power nor a voltage with its current".into()),
            false => Ok(Header { period, channels, power, rails }),
        }
    }

    /// Returns the watts of all rails of a line, and the number of the sample, where it has one.
    fn watts(&self, text: &str) -> Result<(f64, Option<f64>), String> {
        let numbers: Option<Vec<f64>> = text
            .split([' ', ',', '\t'])
            .filter(|word| !word.is_empty())
            .map(|word| word.parse::<f64>().ok().filter(|number| number.is_finite()))
            .collect();
        let wrong = || format!("a line of the stream is not understood: '{}'", shown(text));
        let numbers = numbers.ok_or_else(wrong)?;
        // What stands before the channels is the number of the sample, and its trigger.
        let before = numbers.len().checked_sub(self.channels).ok_or_else(wrong)?;
        let at = |place: usize| numbers.get(before + place).copied();
        let mut watts = 0.0;
        for (place, factor) in &self.power {
            watts += at(*place).ok_or_else(wrong)? * factor;
        }
        for (volts, amperes, factor) in &self.rails {
            watts += at(*volts).ok_or_else(wrong)? * at(*amperes).ok_or_else(wrong)? * factor;
        }
        Ok((watts, (before > 0).then(|| numbers[0])))
    }
}

/// Returns the text of the first element called `name`.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(inner, _)| inner.trim())
}

/// Returns what a unit such as `mV` measures, and its factor.
fn unit(text: &str) -> Option<(char, f64)> {
    let kind = text.chars().last().filter(|kind| ['V', 'A', 'W'].contains(kind))?;
    let factor = match text.strip_suffix(kind)? {
        "" => 1.0,
        "m" => 1e-3,
        "u" | "µ" | "μ" => 1e-6,
        "n" => 1e-9,
        _ => return None,
    };
    Some((kind, factor))
}

#[cfg(test)]
mod tests;
