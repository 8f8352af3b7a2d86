//! The verdict on the load of a log of ACT, by the rule of a search: the worst slice decides, and a load that
//! was not carried has not passed. Where the log does not tell, there is no verdict.

use crate::act_bins::{ActForm, BinUnit};
use crate::act_log::{ActLog, Lag, READS, Slice};
use crate::import_error::ImportError;
use ssdgauge_core::rounded::{count, number};
use ssdgauge_core::{
    FIRST_FAILED_SLICE, Finding, FindingKind, MAX_LAG, Nanos, PASSED, Reading, Severity, Step, Test,
};

/// The share of its requests that a stream may leave unsent at the end of a load that passes, as in runs of
/// the suite.
const MOST_UNSENT: f64 = 0.01;

/// What a log says of its load.
pub(crate) struct Judgement {
    /// The shares of the worst slice, and the verdict where there is one.
    pub(crate) readings: Vec<Reading>,
    /// Why it did not pass, and what limits the verdict.
    pub(crate) findings: Vec<Finding>,
}

impl ActLog {
    /// Returns the shares of slow reads and the verdict on the load of `step`, as a search records them.
    ///
    /// # Errors
    /// A test without limits.
    pub(crate) fn judge(&self, test: &Test, step: &Step) -> Result<Judgement, ImportError> {
        let search = test.search.as_ref();
        let limits = search.ok_or_else(|| ImportError::unfit("act_storage", "it has no limits"))?;
        let at = Nanos::from_secs(self.judged.seconds);
        let reading = |quantity: String, value: f64| {
            let instrument = "limits".to_owned();
            Reading { at, instrument, quantity, value }
        };
        let mut readings = Vec::new();
        let mut findings = Vec::new();
        let mut overloaded = |text: String| {
            findings.push(Finding::new(FindingKind::Overloaded, Severity::Note, text, ""));
        };
        let (mut failed_slices, mut passes) = (Vec::new(), true);
        for (latency, allowed) in &limits.limits.above {
            let shares: Vec<(f64, f64)> =
                self.slices.iter().map(|slice| slice.share_above(latency.0, self.unit)).collect();
            let worst = shares.iter().map(|(least, _)| *least).fold(0.0, f64::max);
            readings.push(reading(format!("worst_slice_above_{}_percent", latency.exact()), worst));
            failed_slices.extend(shares.iter().position(|(least, _)| least >= allowed));
            passes &= shares.iter().all(|(_, most)| most < allowed);
            if worst >= *allowed {
                let (share, latency) = (number(worst), latency.about());
                overloaded(format!(
                    "{share} % of the reads took longer than {latency} in the worst slice"
                ));
            }
        }
        if let Some(empty) = self.slices.iter().position(|slice| slice.reads.total == 0) {
            overloaded("there is a slice without a read, so that no latency was judged".into());
            failed_slices.push(empty);
        }
        if let Some((slice, text)) = self.not_carried() {
            overloaded(text);
            failed_slices.push(slice);
        }
        if self.stopped.is_some() {
            failed_slices.push(self.slices.len().saturating_sub(1));
        }
        let excess = self.excess();
        match failed_slices.iter().min() {
            Some(first) => {
                readings.push(reading(PASSED.into(), 0.0));
                if self.slices.len() > 1 {
                    readings.push(reading(FIRST_FAILED_SLICE.into(), (first + 1) as f64));
                }
            }
            None if passes && excess.is_none() => readings.push(reading(PASSED.into(), 1.0)),
            None => findings.push(self.unknown(&step.label, excess)),
        }
        findings.extend(self.findings_of_requests());
        findings.extend(self.findings_of_end());
        Ok(Judgement { readings, findings })
    }

    /// Returns the finding that it is not known whether the load passed.
    fn unknown(&self, load: &str, excess: Option<String>) -> Finding {
        let failed = self.slices.iter().any(|slice| slice.failed > 0);
        let (why, advice) = match (excess, self.unit, failed) {
            (Some(excess), _, _) => (excess, "import the log as act_storage wrote it"),
            (None, BinUnit::Microsecond, _) => (
                "the bins of microseconds have no border at its limits".into(),
                "run ACT without microsecond-histograms",
            ),
            (None, BinUnit::Millisecond, _) => (
                "it would pass only without the requests that failed".into(),
                "replace the drive, or see the messages of the system, and run ACT again",
            ),
        };
        let text = format!("whether load {load} passed is not known: {why}");
        Finding::new(FindingKind::Imported, Severity::Warning, text, advice)
    }

    /// Returns why the load was not carried, and in which slice; `None` where it was.
    ///
    /// The latency of ACT 6 counts from the call, so that it does not contain the wait for it; without
    /// `max-lag-sec` ACT does not stop by itself. ACT 5 limits its queue instead.
    fn not_carried(&self) -> Option<(usize, String)> {
        self.lags.iter().find_map(|[most, last]| {
            let lag = MAX_LAG.as_secs_f64();
            // One request of each thread is due at the very end.
            let unsent = last.asked - last.done;
            let is_short = unsent > MOST_UNSENT * last.asked + self.threads();
            let is_late = self.form == ActForm::FromCall && most.seconds > lag;
            let (at, text) = match (is_short, is_late) {
                (true, _) => (last, rates(last)),
                (false, true) => {
                    let (name, late) = (most.name, number(most.seconds));
                    let at = Nanos::from_secs(most.at).about();
                    (
                        most,
                        format!("'{name}' were {late} s late for the configured rate after {at}"),
                    )
                }
                (false, false) => return None,
            };
            let slice = (at.at.saturating_sub(1) / 3_600) as usize;
            Some((slice.min(self.slices.len().saturating_sub(1)), text))
        })
    }

    /// Returns that a log has more requests than ACT sends with its configuration; `None` where it has not.
    fn excess(&self) -> Option<String> {
        let is_ahead = |last: &Lag| {
            let most = MOST_UNSENT * last.asked + self.threads();
            last.done - last.asked > most && -last.seconds > MAX_LAG.as_secs_f64()
        };
        self.lags.iter().map(|[_, last]| last).find(|last| is_ahead(last)).map(rates)
    }

    fn threads(&self) -> f64 {
        self.rate("service-threads").unwrap_or(1.0).max(1.0)
    }

    /// Returns the findings about requests that failed, and about blocks that are missing.
    fn findings_of_requests(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some((line, text)) = &self.first_failed {
            let failed = self.end.failed;
            let (reads, writes) = (count(failed.reads), count(failed.writes));
            let text = format!(
                "ACT reported {reads} failed reads and {writes} failed writes, the first in line {line}: \
                 {text}; its histograms do not contain them"
            );
            let advice = "see the messages of the system, and the health of the drive";
            findings.push(Finding::new(FindingKind::Faults, Severity::Warning, text, advice));
        }
        if let Some((line, before, after)) = self.gap {
            let text = format!(
                "the block of {after} s in line {line} follows that of {before} s, with another \
                 interval than report-interval-sec"
            );
            let advice = "import the whole log";
            findings.push(Finding::new(FindingKind::Imported, Severity::Warning, text, advice));
        }
        findings
    }

    /// Returns the findings about the end of the log.
    fn findings_of_end(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut warn = |kind, text: String, advice: &str| {
            findings.push(Finding::new(kind, Severity::Warning, text, advice));
        };
        if let Some((line, message)) = &self.stopped {
            let text = format!("ACT reported in line {line}: {message}");
            warn(FindingKind::Overloaded, text, "the load counts as not passed");
        }
        if let Some(line) = self.cut_at {
            let text = format!("the log ends within the block of line {line}, which is left out");
            warn(FindingKind::Imported, text, "import the whole log");
        }
        let end = self.end.seconds;
        let planned = self.rate("test-duration-sec").unwrap_or(0.0);
        if (end as f64) < planned {
            let planned = Nanos((planned * 1e9) as u64).about();
            let text = format!("the log ends after {} of {planned}", Nanos::from_secs(end).about());
            warn(FindingKind::Imported, text, "a test that ends early says less than a whole one");
        }
        if let Some(rest) = &self.rest {
            let length = Nanos::from_secs(end - self.judged.seconds).about();
            let text = format!(
                "the last {length} are not a whole slice: they are neither judged nor counted{}",
                self.slow_reads(rest)
            );
            warn(FindingKind::Imported, text, "run ACT for whole hours");
        }
        if self.unit == BinUnit::Microsecond {
            let text = "shares are those above 1.024, 8.192 and 65.536 ms: bins of microseconds have no \
                        border at 1, 8 and 64 ms";
            warn(FindingKind::Imported, text.into(), "run ACT without microsecond-histograms");
        }
        findings
    }

    /// Returns the share of slow reads of a slice in words.
    fn slow_reads(&self, slice: &Slice) -> String {
        if slice.reads.total == 0 {
            return "; they have no read".into();
        }
        let (least, _) = slice.share_above(Nanos::SECOND.0 / 1_000, self.unit);
        format!("; {} % of their reads took longer than 1 ms", number(least))
    }
}

/// Returns the rate of a stream and the configured one in words.
fn rates(one: &Lag) -> String {
    let rate = |requests: f64| number(requests / one.at.max(1) as f64);
    let (name, done, asked) = (one.name, rate(one.done), rate(one.asked));
    let name = if name == READS { "reads" } else { name };
    format!("there were {done} {name} per second, and {asked} are configured")
}
