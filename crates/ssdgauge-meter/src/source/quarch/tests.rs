//! The QIS client against a server on this host: both headers, split packets, every failure.

use super::*;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<header>\r\n<version>V3</version>\r\n\
<devicePeriod>4us</devicePeriod><mainPeriod>100000us</mainPeriod>\r\n<channels>\r\n\
<channel><name>Status</name><group>status</group><units>NA</units><dataPosition>0</dataPosition></channel>\r\n\
<channel><name>3V3</name><group>voltage</group><units>mV</units><dataPosition>1</dataPosition></channel>\r\n\
<channel><name>3V3</name><group>current</group><units>uA</units><dataPosition>2</dataPosition></channel>\r\n\
<channel><name>12V</name><group>voltage</group><units>mV</units><dataPosition>3</dataPosition></channel>\r\n\
<channel><name>12V</name><group>current</group><units>uA</units><dataPosition>4</dataPosition></channel>\r\n\
</channels></header>\r\n";

const MODULE: &str = "usb::QTL1999-05-001";

/// The behaviour of the server.
#[derive(Clone)]
struct Script {
    greeting: &'static str,
    header: &'static str,
    /// The responses to `stream text all` in order; after the last one the connection is closed.
    stream: Vec<&'static str>,
    /// The response to `stream?`.
    state: &'static str,
    /// Whether responses arrive a few bytes at a time.
    is_split: bool,
}

impl Default for Script {
    fn default() -> Self {
        Script {
            greeting: "Welcome to QIS\r\n>",
            header: XML,
            stream: Vec::new(),
            state: "running",
            is_split: false,
        }
    }
}

/// Starts a server; returns its address and the commands that it receives.
fn serve(script: Script) -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, commands) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        let send = |text: &str| {
            let size = if script.is_split { 3 } else { 1 << 20 };
            for part in text.as_bytes().chunks(size) {
                if (&stream).write_all(part).is_err() {
                    return;
                }
            }
        };
        send(script.greeting);
        let mut responses = script.stream.iter();
        for line in BufReader::new(&stream).lines() {
            let Ok(line) = line else { return };
            let command = line.strip_prefix(MODULE).map_or(line.as_str(), str::trim).to_owned();
            let _ = sender.send(command.clone());
            match command.as_str() {
                "$list" => send(&format!("1) {MODULE}\r\n2) tcp::QTL2312-01-009\r\n>")),
                "stream text header" => send(&format!("{}>", script.header)),
                "stream text all" => match responses.next() {
                    Some(response) => send(&format!("{response}\r\n>")),
                    None => return,
                },
                "stream?" => send(&format!("{}\r\n>", script.state)),
                _ => send("OK\r\n>"),
            }
        }
    });
    (address, commands)
}

const PERIOD: Option<Duration> = Some(Duration::from_millis(10));

fn open(script: Script) -> Result<Quarch, String> {
    Quarch::open(&serve(script).0, MODULE, PERIOD)
}

fn watts(quarch: &mut Quarch) -> Result<Vec<f64>, String> {
    let batch = quarch.next(TIMEOUT)?;
    Ok(batch.samples.iter().map(|sample| (sample.value * 1e6).round() / 1e6).collect())
}

#[test]
fn a_specification_names_a_server_and_a_module() {
    for (text, address) in [
        ("qis:bench:9722/usb::QTL1999-05-001", "bench:9722"),
        ("qis:bench/usb::QTL1999-05-001", "bench:9722"),
        ("qis:/usb::QTL1999-05-001", "127.0.0.1:9722"),
    ] {
        let expected = QuarchSpec { address: address.into(), module: MODULE.into() };
        assert_eq!(QuarchSpec::parse(text), Ok(expected), "{text}");
    }
}

#[test]
fn every_rail_is_added_and_eof_does_not_end_the_stream() {
    let lines = "0 0 3300 1000000 12000 100000\r\n1 0 3300 2000000 12000 0\r\neof";
    let stream = vec![lines, "eof", "2 0 3300 500000 0 0\r\neof"];
    let (address, commands) = serve(Script { stream, ..Script::default() });
    let mut quarch = Quarch::open(&address, MODULE, PERIOD).unwrap();
    assert_eq!(watts(&mut quarch), Ok(vec![4.5, 6.6]));
    assert_eq!(watts(&mut quarch), Ok(vec![]));
    assert_eq!(watts(&mut quarch), Ok(vec![1.65]));
    assert!(quarch.sampling().contains("100000us"), "{}", quarch.sampling());
    drop(quarch);
    let commands: Vec<String> = commands.try_iter().collect();
    assert_eq!(
        commands[..4],
        ["$list", "stream mode resample 10000us", "rec stream", "stream text header"]
    );
    assert_eq!(commands.last().unwrap(), "rec stop");
}

#[test]
fn a_response_in_many_packets_is_one_response() {
    let stream = vec!["0 0 3300 1000000 12000 100000\r\neof"];
    let mut quarch = open(Script { stream, is_split: true, ..Script::default() }).unwrap();
    assert_eq!(watts(&mut quarch), Ok(vec![4.5]));
}

#[test]
fn a_missing_greeting_and_the_older_header_are_accepted() {
    let header = "2\r\n4\r\n0\r\n0\r\n0\r\n15\r\n";
    let stream = vec!["7 0 5000 100 12000 200\r\neof"];
    let mut quarch = open(Script { greeting: "", header, stream, ..Script::default() }).unwrap();
    assert_eq!(watts(&mut quarch), Ok(vec![2.9]));
    let mut five = open(Script {
        header: "2\r\n4\r\n0\r\n0\r\n0\r\n12\r\n",
        stream: vec!["5000 100\r\neof"],
        ..Script::default()
    });
    assert_eq!(watts(five.as_mut().unwrap()), Ok(vec![0.5]));
}

#[test]
fn power_channels_take_precedence_over_volts_times_amperes() {
    let header = "<header><mainPeriod>10ms</mainPeriod><channels>\
        <channel><name>12V</name><units>mV</units></channel>\
        <channel><name>12V</name><units>mA</units></channel>\
        <channel><name>12V Power</name><units>uW</units></channel></channels></header>\r\n";
    let stream = vec!["12000 100 1150000\r\neof"];
    let mut quarch = open(Script { header, stream, ..Script::default() }).unwrap();
    assert_eq!(watts(&mut quarch), Ok(vec![1.15]));
}

#[test]
fn an_overrun_restarts_the_stream_with_a_warning() {
    let stream = vec!["eof", "0 0 3300 1000000 0 0\r\neof"];
    let (address, commands) =
        serve(Script { stream, state: "stopped: overrun", ..Script::default() });
    let mut quarch = Quarch::open(&address, MODULE, PERIOD).unwrap();
    let batch = quarch.next(TIMEOUT).unwrap();
    assert!(batch.warnings[0].contains("overran"), "{batch:?}");
    assert_eq!(watts(&mut quarch), Ok(vec![3.3]));
    assert_eq!(commands.try_iter().filter(|command| command == "rec stream").count(), 2);
}

#[test]
fn decreasing_sample_numbers_are_left_out_with_a_warning() {
    let stream =
        vec!["5 0 3300 1000000 0 0\r\n4 0 3300 9000000 0 0\r\n6 0 3300 2000000 0 0\r\neof"];
    let mut quarch = open(Script { stream, ..Script::default() }).unwrap();
    let batch = quarch.next(TIMEOUT).unwrap();
    assert_eq!(batch.samples.len(), 2);
    assert!(batch.warnings[0].contains("did not increase"), "{batch:?}");
    assert!(batch.samples[0].at <= batch.samples[1].at);
}

#[test]
fn every_failure_of_a_stream_is_an_error_with_its_cause() {
    let closed = watts(&mut open(Script::default()).unwrap()).unwrap_err();
    assert!(
        closed.contains("closed the connection") || closed.contains("connection failed"),
        "{closed}"
    );
    let stopped = Script { stream: vec!["eof"], state: "stopped", ..Script::default() };
    assert!(watts(&mut open(stopped).unwrap()).unwrap_err().contains("has ended"));
    let garbage = Script { stream: vec!["0 0 x y\r\neof"], ..Script::default() };
    assert!(watts(&mut open(garbage).unwrap()).unwrap_err().contains("not understood"));
    let short = Script { stream: vec!["1 2\r\neof"], ..Script::default() };
    assert!(watts(&mut open(short).unwrap()).unwrap_err().contains("not understood"));
}

#[test]
fn a_missing_module_or_header_is_refused_at_the_start() {
    let (address, _hears) = serve(Script::default());
    let error = Quarch::open(&address, "usb::QTL0000", PERIOD).unwrap_err();
    assert!(error.contains("no module usb::QTL0000") && error.contains(MODULE), "{error}");
    assert!(Quarch::open("127.0.0.1:1", MODULE, PERIOD).unwrap_err().contains("127.0.0.1:1"));
    let silent = Script { header: "nonsense\r\n", ..Script::default() };
    assert!(open(silent).unwrap_err().contains("header of the stream"));
    let empty =
        Script { header: "<header><channels></channels></header>\r\n", ..Script::default() };
    assert!(open(empty).unwrap_err().contains("neither power"));
}
