//! Quarch power modules, through the QIS server of the manufacturer: a text protocol over TCP.
//!
//! A command is one line that ends with CR LF and begins with the name of the module. A response
//! ends with CR LF and `>`. QIS averages over the requested period, so that a few lines per second
//! arrive. Every response has a limit of time and of bytes, because the server is not trusted.

use super::interface::{OpenContext, ParsedSpec, Source, SourceKind, SourceSpec, after_keyword};
use crate::monotonic::MonotonicCheck;
use crate::parse::excerpt;
use crate::sample::{Batch, PollTimer, Sample};
use ssdgauge_core::PowerScope;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// The default averaging period: ten readings per second.
const DEFAULT_PERIOD: Duration = Duration::from_millis(100);
/// The shortest time between two requests: QIS buffers readings in the meantime, so that more
/// requests return no more of them.
const MIN_POLL_PERIOD: Duration = Duration::from_millis(50);
/// The time limit of a response.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The time limit of the greeting, which some versions do not send.
const GREETING_TIMEOUT: Duration = Duration::from_millis(500);
/// The maximum length of a response in bytes.
const MAX_RESPONSE: usize = 4 << 20;
/// The port of QIS.
const DEFAULT_PORT: u16 = 9722;

/// A Quarch module served by a QIS server.
pub(crate) const KIND: SourceKind =
    SourceKind { keywords: &["qis"], form: "qis:HOST:PORT/MODULE", takes_pointer: false, parse };

#[derive(Debug, PartialEq, Eq)]
struct QuarchSpec {
    address: String,
    module: String,
}

fn parse(spec: &str, _pointer: Option<String>) -> ParsedSpec {
    Ok(Box::new(QuarchSpec::parse(spec)?))
}

impl QuarchSpec {
    fn parse(spec: &str) -> Result<QuarchSpec, String> {
        let (address, module) = after_keyword(spec)
            .trim_start_matches("//")
            .split_once('/')
            .filter(|(_, module)| !module.is_empty())
            .ok_or("write qis:HOST:PORT/MODULE, such as qis:localhost:9722/usb::QTL1999-05-001")?;
        let address = match address {
            "" => format!("127.0.0.1:{DEFAULT_PORT}"),
            address if address.contains(':') => address.to_owned(),
            host => format!("{host}:{DEFAULT_PORT}"),
        };
        // A line break in the name would be a second command to the server.
        if module.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err("the name of a module contains no spaces".into());
        }
        Ok(QuarchSpec { address, module: module.to_owned() })
    }
}

impl SourceSpec for QuarchSpec {
    fn default_scope(&self) -> PowerScope {
        PowerScope::Drive
    }

    fn reads_drive(&self) -> bool {
        false
    }

    fn open(&self, context: OpenContext<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(Quarch::open(&self.address, &self.module, context.period)?))
    }
}

/// A Quarch module that streams.
#[derive(Debug)]
struct Quarch {
    connection: Connection,
    module: String,
    header: Header,
    timer: PollTimer,
    /// The time of the last response with readings; those of the next one are spread from then on.
    last_response: Instant,
    check: MonotonicCheck,
}

impl Quarch {
    /// Connects to the server at `address` and starts the stream of `module`.
    fn open(address: &str, module: &str, period: Option<Duration>) -> Result<Quarch, String> {
        let period = period.unwrap_or(DEFAULT_PERIOD);
        let mut connection = Connection::open(address)?;
        let list = connection.query("$list")?;
        if !list.lines().any(|entry| is_entry_of(entry, module)) {
            let known: Vec<&str> =
                list.lines().map(str::trim).filter(|entry| !entry.is_empty()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("QIS at {address} has no module {module}; it has: {known}"));
        }
        let mut quarch = Quarch {
            connection,
            module: module.to_owned(),
            header: Header::default(),
            timer: PollTimer::with_period(period.max(MIN_POLL_PERIOD)),
            last_response: Instant::now(),
            check: MonotonicCheck::default(),
        };
        quarch.expect_ok(&format!("stream mode resample {}us", period.as_micros()))?;
        quarch.start()?;
        let header = quarch.query("stream text header")?;
        quarch.header = Header::parse(&header)?;
        Ok(quarch)
    }

    fn query(&mut self, command: &str) -> Result<String, String> {
        self.connection.query(&format!("{} {command}", self.module))
    }

    fn expect_ok(&mut self, command: &str) -> Result<(), String> {
        let response = self.query(command)?;
        match response.trim_start().starts_with("OK") {
            true => Ok(()),
            false => {
                Err(format!("QIS responds to '{command}' with '{}'", excerpt(response.trim())))
            }
        }
    }

    fn start(&mut self) -> Result<(), String> {
        self.expect_ok("rec stream")?;
        self.last_response = Instant::now();
        self.check.reset();
        Ok(())
    }

    /// Queries the state of a stream without readings. Restarts it after an overrun, and returns a
    /// warning then.
    fn check_stream(&mut self) -> Result<Option<String>, String> {
        let state = self.query("stream?")?.to_lowercase();
        if state.contains("overrun") || state.contains("out of buffer") {
            self.start()?;
            return Ok(Some("the buffer of the module overran; readings are missing".into()));
        }
        match state.contains("running") {
            true => Ok(None),
            false => Err(format!("the stream of the module has ended: {}", excerpt(state.trim()))),
        }
    }
}

impl Source for Quarch {
    fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        if !self.timer.wait(timeout) {
            return Ok(Batch::default());
        }
        let response = self.query("stream text all")?;
        let now = Instant::now();
        let mut batch = Batch::default();
        let mut values = Vec::new();
        for text in response.lines().map(str::trim).filter(|text| !text.is_empty()) {
            // `eof` ends the readings that are buffered, not the stream.
            if text.eq_ignore_ascii_case("eof") {
                break;
            }
            let (watts, stamp) = self.header.watts(text)?;
            if stamp.is_none_or(|stamp| self.check.accepts(stamp)) {
                values.push(watts);
            }
        }
        batch.warnings.extend(self.check.take_warning());
        if values.is_empty() {
            batch.warnings.extend(self.check_stream()?);
            return Ok(batch);
        }
        // The clock of the module counts samples and has no relation to the host clock: the
        // readings are spread evenly over the time since the last response.
        let between = now.saturating_duration_since(self.last_response);
        let n = values.len() as u32;
        batch.samples = (1..=n)
            .zip(values)
            .map(|(k, value)| Sample {
                since: None,
                at: self.last_response + between * k / n,
                channel: 0,
                value,
            })
            .collect();
        self.last_response = now;
        Ok(batch)
    }

    fn wakes_drive(&self) -> bool {
        false
    }

    fn sampling(&self) -> String {
        let period = self.header.period.as_deref().unwrap_or("unknown period");
        format!("means of {period} computed by QIS, module clock mapped to the host clock")
    }
}

impl Drop for Quarch {
    fn drop(&mut self) {
        // Without effect where the server has closed the connection.
        let _ = self.connection.stream.set_read_timeout(Some(GREETING_TIMEOUT));
        let _ = self.query("rec stop");
    }
}

/// Returns whether an entry of the list, such as `1) usb::QTL1999-05-001`, names `module`.
fn is_entry_of(entry: &str, module: &str) -> bool {
    entry.split_whitespace().any(|word| word == module)
}

/// A connection to QIS.
#[derive(Debug)]
struct Connection {
    stream: TcpStream,
}

impl Connection {
    fn open(address: &str) -> Result<Connection, String> {
        let failed = |error: &dyn std::fmt::Display| format!("QIS at {address}: {error}");
        let addresses = address.to_socket_addrs().map_err(|error| failed(&error))?;
        let mut last = "the name has no address".to_owned();
        for address in addresses {
            match TcpStream::connect_timeout(&address, TIMEOUT) {
                Ok(stream) => {
                    stream.set_write_timeout(Some(TIMEOUT)).map_err(|error| failed(&error))?;
                    stream.set_nodelay(true).map_err(|error| failed(&error))?;
                    let mut connection = Connection { stream };
                    connection.read_greeting().map_err(|error| failed(&error))?;
                    return Ok(connection);
                }
                Err(error) => last = error.to_string(),
            }
        }
        Err(failed(&last))
    }

    /// Reads the greeting of the server, with or without a prompt.
    fn read_greeting(&mut self) -> Result<(), String> {
        match self.read_response(GREETING_TIMEOUT) {
            Ok(_) | Err(ReadError::TimedOut) => Ok(()),
            Err(ReadError::Broken(cause)) => Err(cause),
        }
    }

    fn query(&mut self, command: &str) -> Result<String, String> {
        let text = format!("{command}\r\n");
        self.stream
            .write_all(text.as_bytes())
            .map_err(|error| format!("QIS connection failed: {error}"))?;
        self.read_response(TIMEOUT).map_err(|error| match error {
            ReadError::TimedOut => {
                let limit = TIMEOUT.as_secs();
                format!("QIS sent no response to '{command}' within {limit} s")
            }
            ReadError::Broken(cause) => cause,
        })
    }

    /// Reads to the prompt, which may arrive in another packet than the beginning.
    fn read_response(&mut self, timeout: Duration) -> Result<String, ReadError> {
        let broken =
            |error: std::io::Error| ReadError::Broken(format!("QIS connection failed: {error}"));
        let end = Instant::now() + timeout;
        let mut bytes = Vec::new();
        let mut packet = [0; 16 << 10];
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ReadError::TimedOut);
            }
            self.stream.set_read_timeout(Some(left)).map_err(broken)?;
            match self.stream.read(&mut packet) {
                Ok(0) => return Err(ReadError::Broken("QIS has closed the connection".into())),
                Ok(n) => bytes.extend_from_slice(&packet[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return Err(ReadError::TimedOut);
                }
                Err(error) => return Err(broken(error)),
            }
            if bytes.ends_with(b"\r\n>") || bytes == b">" {
                bytes.pop();
                return Ok(String::from_utf8_lossy(&bytes).into_owned());
            }
            if bytes.len() > MAX_RESPONSE {
                return Err(ReadError::Broken(format!(
                    "the response of QIS exceeds {MAX_RESPONSE} bytes"
                )));
            }
        }
    }
}

enum ReadError {
    TimedOut,
    Broken(String),
}

/// The columns of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
struct Header {
    period: Option<String>,
    channels: usize,
    /// The columns of power, with their factor to watts.
    power: Vec<(usize, f64)>,
    /// The columns of voltage and current of each rail, with the factor of their product to watts.
    rails: Vec<(usize, usize, f64)>,
}

/// One column of a stream.
struct Column {
    rail: String,
    /// `V`, `A` or `W`.
    unit: char,
    /// The factor of its prefix, such as 0.001 for `mV`.
    factor: f64,
    index: usize,
}

impl Header {
    /// Parses either form of a header: XML, or lines whose sixth is a mask of channels.
    fn parse(text: &str) -> Result<Header, String> {
        match text.contains('<') {
            true => Header::parse_xml(text),
            false => Header::parse_mask(text),
        }
    }

    fn parse_xml(text: &str) -> Result<Header, String> {
        let mut columns = Vec::new();
        let mut channels = 0;
        for (number, channel) in text.split("<channel>").skip(1).enumerate() {
            channels += 1;
            let index = element(channel, "dataPosition").and_then(|text| text.parse().ok());
            let (Some(name), Some(units)) = (element(channel, "name"), element(channel, "units"))
            else {
                continue;
            };
            let Some((unit, factor)) = parse_unit(units) else { continue };
            // The power of a rail may have its name as the first word, as in `12V Power`.
            let rail = name.split_whitespace().next().unwrap_or(name).to_owned();
            columns.push(Column { rail, unit, factor, index: index.unwrap_or(number) });
        }
        let period = element(text, "mainPeriod").or_else(|| element(text, "devicePeriod"));
        Header::from_columns(period.map(str::to_owned), channels, &columns)
    }

    /// Parses the older header. Its mask is 8 for the 5 V voltage, 4 for the 5 V current, 2 for the
    /// 12 V voltage, 1 for the 12 V current (mV and mA); the columns follow in this order.
    fn parse_mask(text: &str) -> Result<Header, String> {
        let words: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mask: Option<u32> = words.get(5).and_then(|word| word.parse().ok());
        let Some(mask) = mask.filter(|mask| (1..16).contains(mask)) else {
            return Err(format!(
                "the header of the stream is not understood: '{}'",
                excerpt(text.trim())
            ));
        };
        let all = [(8, "5V", 'V'), (4, "5V", 'A'), (2, "12V", 'V'), (1, "12V", 'A')];
        let columns: Vec<Column> = all
            .into_iter()
            .filter(|(bit, ..)| mask & bit != 0)
            .enumerate()
            .map(|(index, (_, rail, unit))| Column { rail: rail.into(), unit, factor: 1e-3, index })
            .collect();
        Header::from_columns(None, columns.len(), &columns)
    }

    fn from_columns(
        period: Option<String>,
        channels: usize,
        columns: &[Column],
    ) -> Result<Header, String> {
        let with_unit = |unit: char| columns.iter().filter(move |column| column.unit == unit);
        // Power channels take precedence: for a load that varies within a period, the product of
        // two means is not the mean of the products.
        let power: Vec<(usize, f64)> =
            with_unit('W').map(|column| (column.index, column.factor)).collect();
        let mut rails = Vec::new();
        if power.is_empty() {
            for volts in with_unit('V') {
                let amperes = with_unit('A').find(|amperes| amperes.rail == volts.rail);
                let Some(amperes) = amperes else { continue };
                rails.push((volts.index, amperes.index, volts.factor * amperes.factor));
            }
        }
        match power.is_empty() && rails.is_empty() {
            true => {
                Err("the stream has neither power nor a voltage and a current of one rail".into())
            }
            false => Ok(Header { period, channels, power, rails }),
        }
    }

    /// Returns the power of all rails in a line, in watts, and the sample number, where it has one.
    fn watts(&self, text: &str) -> Result<(f64, Option<f64>), String> {
        let numbers: Option<Vec<f64>> = text
            .split([' ', ',', '\t'])
            .filter(|word| !word.is_empty())
            .map(|word| word.parse::<f64>().ok().filter(|number| number.is_finite()))
            .collect();
        let wrong =
            || format!("a line of the stream is not understood: '{}'", excerpt(text.trim()));
        let numbers = numbers.ok_or_else(wrong)?;
        // The columns before the channels are the sample number and the trigger.
        let before = numbers.len().checked_sub(self.channels).ok_or_else(wrong)?;
        let at = |index: usize| numbers.get(before + index).copied();
        let mut watts = 0.0;
        for (index, factor) in &self.power {
            watts += at(*index).ok_or_else(wrong)? * factor;
        }
        for (volts, amperes, factor) in &self.rails {
            watts += at(*volts).ok_or_else(wrong)? * at(*amperes).ok_or_else(wrong)? * factor;
        }
        Ok((watts, (before > 0).then(|| numbers[0])))
    }
}

/// Returns the text of the first XML element called `name`.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(inner, _)| inner.trim())
}

/// Returns the unit of `text`, such as `V` for `mV`, and the factor of its prefix.
fn parse_unit(text: &str) -> Option<(char, f64)> {
    let unit = text.chars().last().filter(|unit| ['V', 'A', 'W'].contains(unit))?;
    let factor = match text.strip_suffix(unit)? {
        "" => 1.0,
        "m" => 1e-3,
        "u" | "µ" | "μ" => 1e-6,
        "n" => 1e-9,
        _ => return None,
    };
    Some((unit, factor))
}

#[cfg(test)]
mod tests;
