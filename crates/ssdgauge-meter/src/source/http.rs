//! HTTP addresses that return JSON: smart plugs such as Shelly and Tasmota.
//!
//! TLS is not supported, because its libraries would multiply the dependencies of the program. An
//! address that requires TLS is read through another program (`command`).

use super::interface::{OpenContext, ParsedSpec, Source, SourceKind, SourceSpec, after_keyword};
use crate::parse::{checked_pointer, excerpt, number_at};
use crate::sample::{Batch, ConsecutiveFailures, PollTimer, in_words};
use serde_json::Value;
use ssdgauge_core::PowerScope;
use std::time::{Duration, Instant};

/// The default sampling period: smart plugs measure about once a second.
const DEFAULT_PERIOD: Duration = Duration::from_secs(1);
/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum length of a response in bytes.
const MAX_RESPONSE: u64 = 1 << 20;

/// An HTTP address and a JSON pointer. The keyword `https` is parsed for its error message.
pub(crate) const KIND: SourceKind = SourceKind {
    keywords: &["http", "https"],
    form: "http://HOST/PATH#/POINTER",
    takes_pointer: true,
    parse,
};

#[derive(Debug, PartialEq, Eq)]
struct HttpSpec {
    url: String,
    pointer: String,
}

fn parse(spec: &str, pointer: Option<String>) -> ParsedSpec {
    Ok(Box::new(HttpSpec::parse(spec, pointer)?))
}

impl HttpSpec {
    /// Parses `http://HOST/PATH#/POINTER`. `http:HOST/…` and `http:http://HOST/…` are accepted too,
    /// because every other kind of meter has the form `KEYWORD:ADDRESS`.
    fn parse(spec: &str, pointer: Option<String>) -> Result<HttpSpec, String> {
        let rest = after_keyword(spec);
        if spec.starts_with("https:") || rest.starts_with("https:") {
            return Err("TLS is not supported; use command:curl, which prints the response of \
                        the address, with pointer=/PATH"
                .into());
        }
        let rest = rest.strip_prefix("http:").unwrap_or(rest);
        let (address, fragment) = match rest.split_once('#') {
            Some((address, fragment)) => (address, Some(fragment.to_owned())),
            None => (rest, None),
        };
        let address = address.trim_start_matches('/');
        let pointer = fragment.or(pointer).ok_or(
            "the JSON pointer to the watts is missing; write it after a #, as in \
             http://plug/rpc/Switch.GetStatus?id=0#/apower",
        )?;
        match address.is_empty() || address.contains(char::is_whitespace) {
            true => Err("the address is missing, or contains spaces".into()),
            false => {
                let url = format!("http://{address}");
                Ok(HttpSpec { url, pointer: checked_pointer(pointer)? })
            }
        }
    }
}

impl SourceSpec for HttpSpec {
    /// A smart plug measures a host at the wall.
    fn default_scope(&self) -> PowerScope {
        PowerScope::HostAc
    }

    fn reads_drive(&self) -> bool {
        false
    }

    fn open(&self, context: OpenContext<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(Http::open(&self.url, &self.pointer, context.period)?))
    }
}

/// An HTTP address that is polled.
#[derive(Debug)]
struct Http {
    agent: ureq::Agent,
    url: String,
    pointer: String,
    timer: PollTimer,
    failures: ConsecutiveFailures,
}

impl Http {
    /// Sends one request; a response without the number is an error.
    fn open(url: &str, pointer: &str, period: Option<Duration>) -> Result<Http, String> {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .max_redirects(3)
            .proxy(None)
            .build()
            .new_agent();
        let http = Http {
            agent,
            url: url.to_owned(),
            pointer: pointer.to_owned(),
            timer: PollTimer::with_period(period.unwrap_or(DEFAULT_PERIOD)),
            failures: ConsecutiveFailures::default(),
        };
        http.request()?;
        Ok(http)
    }

    fn request(&self) -> Result<f64, String> {
        let mut response =
            self.agent.get(&self.url).call().map_err(|error| format!("{}: {error}", self.url))?;
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_RESPONSE)
            .read_to_string()
            .map_err(|error| format!("{}: {error}", self.url))?;
        let document: Value = serde_json::from_str(&text)
            .map_err(|_| format!("{} returns no JSON but '{}'", self.url, excerpt(&text)))?;
        number_at(&document, &self.pointer)
    }
}

impl Source for Http {
    fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        if !self.timer.wait(timeout) {
            return Ok(Batch::default());
        }
        let before = Instant::now();
        let result = self.request();
        // The plug measured at an unknown time between request and response.
        let at = before + before.elapsed() / 2;
        Ok(Batch::from_reading(at, self.failures.record(result)?))
    }

    fn wakes_drive(&self) -> bool {
        false
    }

    fn sampling(&self) -> String {
        format!("every {}, host clock", in_words(self.timer.period))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// Starts a server that sends the next of `responses` (status, body) for each request and then
    /// closes its port; returns the address.
    fn plug(responses: Vec<(u16, String)>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for (status, body) in responses {
                let Ok((stream, _)) = listener.accept() else { return };
                let mut reader = BufReader::new(&stream);
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                    line.clear();
                }
                let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
                let _ = write!(&stream, "{head}Connection: close\r\n\r\n{body}");
            }
        });
        format!("http://{address}/rpc/Switch.GetStatus?id=0")
    }

    const PERIOD: Option<Duration> = Some(Duration::from_millis(2));

    fn ok(body: &str) -> (u16, String) {
        (200, body.to_owned())
    }

    #[test]
    fn every_form_of_an_address_is_parsed() {
        let shelly = "http://plug/rpc/Switch.GetStatus?id=0";
        for (text, url) in [
            (format!("{shelly}#/apower"), shelly),
            (format!("http:{shelly}#/apower"), shelly),
            ("http:plug/x#/apower".to_owned(), "http://plug/x"),
            ("http://me@plug/x#/apower".to_owned(), "http://me@plug/x"),
        ] {
            let expected = HttpSpec { url: url.into(), pointer: "/apower".into() };
            assert_eq!(HttpSpec::parse(&text, None), Ok(expected));
        }
        let option = HttpSpec::parse("http://plug/x", Some("/w".into())).unwrap();
        assert_eq!(option.pointer, "/w");
    }

    #[test]
    fn watts_are_read_at_the_json_pointer() {
        let status = "{\"id\":0,\"apower\":13.7,\"voltage\":231.4,\"aenergy\":{\"total\":11.6}}";
        let shelly = plug(vec![ok(status); 2]);
        let mut http = Http::open(&shelly, "/apower", PERIOD).unwrap();
        assert_eq!(http.next(TIMEOUT).unwrap().samples[0].value, 13.7);
        let tasmota = plug(vec![ok("{\"StatusSNS\":{\"ENERGY\":{\"Power\":42}}}"); 2]);
        let mut http = Http::open(&tasmota, "/StatusSNS/ENERGY/Power", PERIOD).unwrap();
        assert_eq!(http.next(TIMEOUT).unwrap().samples[0].value, 42.0);
    }

    #[test]
    fn a_response_without_the_number_is_an_error_with_its_cause() {
        let error = |responses, pointer| Http::open(&plug(responses), pointer, PERIOD).unwrap_err();
        assert!(error(vec![ok("{\"apower\":1}")], "/power").contains("/apower"));
        assert!(error(vec![ok("<html>")], "/power").contains("no JSON but '<html>'"));
        assert!(error(vec![(404, "{}".into())], "/power").contains("404"));
        let huge = format!("{{\"x\":\"{}\"}}", "y".repeat(2 << 20));
        assert!(!error(vec![ok(&huge)], "/power").is_empty());
        let gone = Http::open("http://127.0.0.1:1/", "/x", PERIOD).unwrap_err();
        assert!(gone.contains("127.0.0.1:1"), "{gone}");
    }

    #[test]
    fn one_failure_is_a_gap_and_three_in_a_row_end_the_meter() {
        let good = ok("{\"w\":1}");
        let bad = (500, "{}".to_owned());
        let responses = vec![good.clone(), bad.clone(), good, bad.clone(), bad];
        let mut http = Http::open(&plug(responses), "/w", PERIOD).unwrap();
        let mut next = || http.next(TIMEOUT).map(|batch| batch.samples.len());
        assert_eq!([next(), next(), next(), next()], [Ok(0), Ok(1), Ok(0), Ok(0)]);
        assert!(next().is_err(), "the plug has closed its port");
    }
}
