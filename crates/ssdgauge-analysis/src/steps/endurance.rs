//! The endurance of a drive: rated, written over its life, what the run cost, and how long the rating
//! lasts at the load of the run. What is not stated has its reason.

use crate::model::{Run, Wear};
use crate::text::number;
use ssdgauge_core::field::{self, Field};
use ssdgauge_core::{Bytes, Nanos};
use std::ops::RangeInclusive;

/// The seconds of a year of 365.25 days.
const YEAR: f64 = 31_557_600.0;

/// The minimum percentage used that a rating is derived from. Chosen: it is a whole number, so the
/// derived rating is within a fifth.
const LEAST_USED: f64 = 5.0;

/// Why a count of sectors is not that of a life: on many SATA drives the log has no more.
const PART: &str = "the Device Statistics log may have only the low 32 bits of the sectors";

/// The bytes after which a counter of 32 bits begins again, with the smallest sectors.
const LEAST_ROUND: f64 = 512.0 * (1u64 << 32) as f64;

/// The rating of a drive, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rating {
    /// Given by the user with the run.
    Given(f64),
    /// In the notes of an editor.
    Noted(f64),
    /// What hosts have written ÷ the percentage used, by the drive.
    Derived(f64),
    Unknown,
}

impl Rating {
    fn bytes(self) -> Option<f64> {
        match self {
            Rating::Given(bytes) | Rating::Noted(bytes) | Rating::Derived(bytes) => Some(bytes),
            Rating::Unknown => None,
        }
    }

    fn source(self) -> Option<&'static str> {
        match self {
            Rating::Given(_) => Some("given with --endurance"),
            Rating::Noted(_) => Some("by the notes"),
            Rating::Derived(_) => Some("derived from the percentage used, which is a whole number"),
            Rating::Unknown => None,
        }
    }
}

/// The endurance of the drive of one run.
#[derive(Clone, Copy, Debug)]
pub struct Endurance {
    wear: Wear,
    rating: Rating,
    /// Drives of the same model in service.
    field: Option<&'static Field>,
}

/// The write amplifications of a life that are stated, as in a drive description.
const STATED: RangeInclusive<f64> = 0.95..=100.0;

/// Returns the endurance of the drive of `run`; `noted_tb` is the rating in the notes of an editor, in
/// 10^12 bytes. `None` for a model, and where nothing is stated at all.
pub fn endurance(run: &Run, noted_tb: Option<f64>) -> Option<Endurance> {
    let wear = run.wear;
    let derived = || {
        let used = wear.used_percent.filter(|used| *used >= LEAST_USED)?;
        let last = wear.host.and_then(|host| host.life()).filter(|bytes| *bytes > 0.0)?;
        Some(Rating::Derived(last / used * 100.0))
    };
    let rating = match (wear.rated, noted_tb) {
        (Some(bytes), _) => Rating::Given(bytes.0 as f64),
        (None, Some(tb)) => Rating::Noted(tb * 1e12),
        (None, None) => derived().unwrap_or(Rating::Unknown),
    };
    let field = run.head.drive.model.as_deref().and_then(field::of_model);
    let is_stated = wear != Wear::default() || rating != Rating::Unknown;
    (is_stated && !run.is_model()).then_some(Endurance { wear, rating, field })
}

impl Endurance {
    /// Returns what the drive reports and the run counted.
    pub fn wear(&self) -> Wear {
        self.wear
    }

    /// Returns the rated bytes, and where the rating comes from.
    pub fn rating(&self) -> (Option<f64>, Option<&'static str>) {
        (self.rating.bytes(), self.rating.source())
    }

    /// Returns what hosts wrote in the run; `None` where the drive does not count it, or its counter may have begun
    /// again at 0.
    pub fn cost(&self) -> Option<f64> {
        let host = self.wear.host?;
        let sent = self.wear.sent.map_or(0.0, |sent| sent.0 as f64);
        let is_hidden = host.may_wrap && sent >= LEAST_ROUND;
        (host.last >= host.first && !is_hidden).then_some(host.last - host.first)
    }

    /// Returns the years to the rating at the mean rate of the run.
    ///
    /// # Errors
    ///
    /// The reason why there are none.
    pub fn years(&self) -> Result<f64, &'static str> {
        let rated = self.rating.bytes().ok_or("the rating is not stated")?;
        let host = self.wear.host.ok_or("the drive does not report what hosts wrote")?;
        let life = host.life().ok_or(PART)?;
        let cost = self.cost().ok_or("the counter of the drive decreased")?;
        if cost <= 0.0 || host.elapsed == Nanos::ZERO {
            return Err("the run wrote nothing");
        }
        let left = rated - life;
        if left <= 0.0 {
            return Err("the rating is used up");
        }
        Ok(left / (cost / host.elapsed.as_secs_f64()) / YEAR)
    }

    /// Returns the rows of the card: name and words.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        const NOT_STATED: &str = "not stated";
        let rated = match (self.rating.bytes(), self.rating.source()) {
            (Some(bytes), Some(source)) => format!("{}, {source}", about(bytes)),
            (_, _) => format!("{NOT_STATED}; give it with --endurance"),
        };
        let used = match self.wear.used_percent {
            Some(percent) => {
                format!("{}\u{a0}% of the endurance, by the drive", number::text(percent))
            }
            None => NOT_STATED.to_owned(),
        };
        let media = |bytes: Option<f64>| match bytes {
            Some(bytes) => format!("{} to the media", about(bytes)),
            None => format!("{NOT_STATED} for the media"),
        };
        let written = match self.wear.host {
            Some(host) => match host.life() {
                Some(life) => format!("{} by hosts, {}", about(life), media(self.wear.media)),
                None => format!("{NOT_STATED} by hosts: {PART}; {}", media(self.wear.media)),
            },
            None => format!("{NOT_STATED} by hosts, {}", media(self.wear.media)),
        };
        let share = |cost: f64| {
            let share = self.rating.bytes().map(|rated| cost / rated * 100.0);
            share.map_or_else(String::new, |share| {
                format!(": {}\u{a0}% of the rating", number::text(share))
            })
        };
        let run = match self.cost() {
            Some(cost) => {
                let media = media(self.wear.media_in_run);
                format!("{} by hosts, {media}{}", about(cost), share(cost))
            }
            None => match self.wear.sent.map(|bytes| bytes.0 as f64) {
                Some(sent) => {
                    format!("{} sent, by the count of ssdgauge{}", about(sent), share(sent))
                }
                None => NOT_STATED.to_owned(),
            },
        };
        let years = match (self.years(), self.wear.host) {
            (Ok(years), Some(host)) => {
                let rate = self.cost().unwrap_or_default() / host.elapsed.as_secs_f64();
                format!(
                    "{} years to the rating at {} a second, the mean of the {} of this run",
                    number::text(years),
                    about(rate),
                    host.elapsed.about()
                )
            }
            (Ok(_), None) => NOT_STATED.to_owned(),
            (Err(reason), _) => format!("{NOT_STATED}: {reason}"),
        };
        let mut rows = vec![
            ("Rated", rated),
            ("Used", used),
            ("Written over life", written),
            ("Cost of this run", run),
            ("At the load of this run", years),
        ];
        rows.extend(self.in_service().map(|words| ("In service", words)));
        rows
    }

    /// Returns the write amplification over the life of the drive, where it is one that is stated.
    pub fn of_life(&self) -> Option<f64> {
        let host = self.wear.host?.life()?;
        (host > 0.0).then_some(self.wear.media? / host).filter(|value| STATED.contains(value))
    }

    /// Returns the write amplification of the life compared with that of drives of the model in service.
    pub fn in_service(&self) -> Option<String> {
        let field = self.field?.write_amplification()?;
        let life = self.of_life().map(|value| {
            format!(
                "write amplification of life {}; ",
                number::text((value * 100.0).round() / 100.0)
            )
        });
        Some(format!("{}{field} ({})", life.unwrap_or_default(), field::SOURCE))
    }

    /// Returns the endurance as one sentence for a terminal.
    pub fn sentence(&self) -> String {
        let rows = self.rows().into_iter();
        let parts = rows.map(|(name, words)| format!("{}: {words}", name.to_lowercase()));
        parts.collect::<Vec<_>>().join("; ").replace('\u{a0}', " ")
    }
}

fn about(bytes: f64) -> String {
    Bytes(bytes as u64).about()
}
