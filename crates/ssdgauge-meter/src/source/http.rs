//! A web address that answers with JSON: smart plugs (Shelly, Tasmota), Redfish, and the like.
//!
//! Plain HTTP alone is spoken. An address that wants TLS is read by a program, see `command`.

use crate::parse;
use crate::sample::Batch;
use crate::sample::Failures;
use crate::sample::PollTimer;
use crate::sample::Sample;
use serde_json::Value;
use std::time::{Duration, Instant};

/// How often an address is asked: smart plugs measure about once a second.
const USUAL: Duration = Duration::from_secs(1);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// The longest answer.
const MOST_ANSWER: u64 = 1 << 20;

/// An address that answers with JSON.
#[derive(Debug)]
pub(crate) struct Http {
    agent: ureq::Agent,
    url: String,
    pointer: String,
    timer: PollTimer,
    failures: Failures,
}

impl Http {
    /// Asks the address once.
    pub(crate) fn open(url: &str, pointer: &str, period: Option<Duration>) -> Result<Http, String> {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .max_redirects(3)
            .proxy(None)
            .build()
            .new_agent();
        let http = Http {
            agent,
            url: url.to_owned(),
            pointer: pointer.to_owned(),
            timer: PollTimer::every(period.unwrap_or(USUAL)),
            failures: Failures::default(),
        };
        http.ask()?;
        Ok(http)
    }

    pub(crate) fn period(&self) -> Duration {
        self.timer.period
    }

    fn ask(&self) -> Result<f64, String> {
        let mut response =
            self.agent.get(&self.url).call().map_err(|error| format!("{}: {error}", self.url))?;
        let text = response
            .body_mut()
            .with_config()
            .limit(MOST_ANSWER)
            .read_to_string()
            .map_err(|error| format!("{}: {error}", self.url))?;
        let document: Value = serde_json::from_str(&text)
            .map_err(|_| format!("{} answers no JSON but '{}'", self.url, parse::shown(&text)))?;
        parse::at(&document, &self.pointer)
    }

    pub(crate) fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        if !self.timer.wait(timeout) {
            return Ok(Batch::default());
        }
        let before = Instant::now();
        let result = self.ask();
        // The answer was true at some moment between question and answer.
        let at = before + before.elapsed() / 2;
        let value = self.failures.judge(result)?;
        let samples = value.map(|value| Sample { at, channel: 0, value }).into_iter().collect();
        Ok(Batch { samples, remarks: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// Answers each question with the next of `answers` (status, body), then hangs up; returns
    /// the address.
    fn plug(answers: Vec<(u16, String)>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for (status, body) in answers {
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
    fn watts_come_from_where_the_pointer_leads() {
        let status = "{\"id\":0,\"apower\":13.7,\"voltage\":231.4,\"aenergy\":{\"total\":11.6}}";
        let shelly = plug(vec![ok(status); 2]);
        let mut http = Http::open(&shelly, "/apower", PERIOD).unwrap();
        assert_eq!(http.next(PATIENCE).unwrap().samples[0].value, 13.7);
        let tasmota = plug(vec![ok("{\"StatusSNS\":{\"ENERGY\":{\"Power\":42}}}"); 2]);
        let mut http = Http::open(&tasmota, "/StatusSNS/ENERGY/Power", PERIOD).unwrap();
        assert_eq!(http.next(PATIENCE).unwrap().samples[0].value, 42.0);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let error = |answers, pointer| Http::open(&plug(answers), pointer, PERIOD).unwrap_err();
        assert!(error(vec![ok("{\"apower\":1}")], "/power").contains("/apower"));
        assert!(error(vec![ok("<html>")], "/power").contains("no JSON but '<html>'"));
        assert!(error(vec![(404, "{}".into())], "/power").contains("404"));
        let huge = format!("{{\"x\":\"{}\"}}", "y".repeat(2 << 20));
        assert!(!error(vec![ok(&huge)], "/power").is_empty());
        let gone = Http::open("http://127.0.0.1:1/", "/x", PERIOD).unwrap_err();
        assert!(gone.contains("127.0.0.1:1"), "{gone}");
    }

    #[test]
    fn one_failure_is_a_gap_and_three_are_the_end() {
        let good = ok("{\"w\":1}");
        let bad = (500, "{}".to_owned());
        let answers = vec![good.clone(), bad.clone(), good, bad.clone(), bad];
        let mut http = Http::open(&plug(answers), "/w", PERIOD).unwrap();
        let mut next = || http.next(PATIENCE).map(|batch| batch.samples.len());
        assert_eq!([next(), next(), next(), next()], [Ok(0), Ok(1), Ok(0), Ok(0)]);
        assert!(next().is_err(), "the plug has hung up");
    }
}
