//! Power zones of the kernel with a counter of energy: files in /sys/class/powercap, such as those of RAPL.
//!
//! Names and units follow Documentation/power/powercap/powercap.rst. A zone is a part of a host, such as a
//! processor package or its memory, and never a drive.

use super::hwmon::{names, read};
use super::interface::{OpenContext, ParsedSpec, Source, SourceKind, SourceSpec, after_keyword};
use crate::counter_range::CounterRange;
use crate::sample::{Batch, ConsecutiveFailures, PollTimer, in_words};
use ssdgauge_core::PowerScope;
use ssdgauge_os::sysfs::attribute;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The folder of the zones.
const CLASS: &str = "/sys/class/powercap";

/// The default sampling period: RAPL counts about a thousand times a second, and wraps within minutes.
const DEFAULT_PERIOD: Duration = Duration::from_millis(100);

/// The energy counter of a zone.
pub(crate) const KIND: SourceKind =
    SourceKind { keywords: &["powercap"], form: "powercap:ZONE", takes_pointer: false, parse };

#[derive(Debug, PartialEq, Eq)]
struct PowercapSpec {
    zone: String,
}

fn parse(spec: &str, _pointer: Option<String>) -> ParsedSpec {
    let zone = after_keyword(spec);
    // A name with a slash would leave the folder of the zones.
    match zone.is_empty() || zone.contains('/') {
        true => {
            Err("write powercap:ZONE, such as powercap:package-0 or powercap:intel-rapl:0".into())
        }
        false => Ok(Box::new(PowercapSpec { zone: zone.to_owned() })),
    }
}

impl SourceSpec for PowercapSpec {
    fn default_scope(&self) -> PowerScope {
        PowerScope::HostDc
    }

    fn reads_drive(&self) -> bool {
        false
    }

    fn open(&self, context: OpenContext<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(Powercap::open(Path::new(CLASS), &self.zone, context.period)?))
    }
}

/// An open zone.
#[derive(Debug)]
struct Powercap {
    /// The file with the counter, in microjoules.
    file: PathBuf,
    /// The energy in joules at which the counter begins at 0 again.
    wraps_at: Option<f64>,
    timer: PollTimer,
    failures: ConsecutiveFailures,
}

impl Powercap {
    /// Opens the zone `zone`, which is its name or that of its folder.
    fn open(class: &Path, zone: &str, period: Option<Duration>) -> Result<Powercap, String> {
        let has_counter = |folder: &String| class.join(folder).join("energy_uj").exists();
        let folders: Vec<String> = names(class).into_iter().filter(has_counter).collect();
        let name = |folder: &String| attribute(&class.join(folder).join("name"));
        let is_named = |folder: &&String| *folder == zone || name(folder).as_deref() == Some(zone);
        let found: Vec<&String> = folders.iter().filter(is_named).collect();
        let folder = match found.as_slice() {
            [folder] => class.join(folder),
            [] if folders.is_empty() => return Err("this machine has no power zones".into()),
            [] => {
                let words = |folder: &String| match name(folder) {
                    Some(name) => format!("{name} ({folder})"),
                    None => folder.clone(),
                };
                let all: Vec<String> = folders.iter().map(words).collect();
                return Err(format!("no zone is called {zone}; there are: {}", all.join(", ")));
            }
            several => {
                let all: Vec<&str> = several.iter().map(|folder| folder.as_str()).collect();
                return Err(format!("several zones are called {zone}; name {}", all.join(" or ")));
            }
        };
        let file = folder.join("energy_uj");
        // Only root reads the counter, because it leaks what other processes compute.
        read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        // The counter takes each value up to this one.
        let most = read(&folder.join("max_energy_range_uj")).ok().filter(|most| *most > 0.0);
        Ok(Powercap {
            file,
            wraps_at: most.map(|most| (most + 1.0) * 1e-6),
            timer: PollTimer::with_period(period.unwrap_or(DEFAULT_PERIOD)),
            failures: ConsecutiveFailures::default(),
        })
    }
}

impl Source for Powercap {
    fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        if !self.timer.wait(timeout) {
            return Ok(Batch::default());
        }
        let joules = read(&self.file).map(|micro| micro * 1e-6);
        let at = Instant::now();
        Ok(Batch::from_reading(at, self.failures.record(joules)?))
    }

    fn wakes_drive(&self) -> bool {
        false
    }

    fn counts(&self) -> Option<CounterRange> {
        Some(CounterRange { wraps_at: self.wraps_at })
    }

    fn sampling(&self) -> String {
        format!("every {}, host clock", in_words(self.timer.period))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::create as zone;
    use super::*;

    fn class() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let package = [
            ("name", "package-0"),
            ("energy_uj", "1500000"),
            ("max_energy_range_uj", "262143328850"),
        ];
        zone(root.path(), "intel-rapl:0", &package);
        zone(root.path(), "intel-rapl:0:0", &[("name", "dram"), ("energy_uj", "7")]);
        zone(root.path(), "intel-rapl:1:0", &[("name", "dram"), ("energy_uj", "9")]);
        // The type of zones has a folder too, without a counter.
        zone(root.path(), "intel-rapl", &[("enabled", "1")]);
        root
    }

    #[test]
    fn a_zone_is_named_by_its_folder_or_by_its_name_and_counts_in_joules() {
        let root = class();
        for name in ["package-0", "intel-rapl:0"] {
            let mut zone = Powercap::open(root.path(), name, None).unwrap();
            let batch = zone.next(Duration::from_secs(1)).unwrap();
            assert_eq!(batch.samples[0].value, 1.5);
            let wraps_at = zone.counts().unwrap().wraps_at.unwrap();
            assert!((wraps_at - 262_143.328_851).abs() < 1e-6, "{wraps_at}");
        }
        let memory = Powercap::open(root.path(), "intel-rapl:0:0", None).unwrap();
        assert_eq!(memory.counts(), Some(CounterRange { wraps_at: None }));
    }

    #[test]
    fn a_missing_zone_is_an_error_that_lists_the_zones() {
        let root = class();
        let error = |zone| Powercap::open(root.path(), zone, None).unwrap_err();
        assert!(error("psys").contains("package-0 (intel-rapl:0), dram (intel-rapl:0:0)"));
        assert_eq!(
            error("dram"),
            "several zones are called dram; name intel-rapl:0:0 or intel-rapl:1:0"
        );
        let empty = tempfile::tempdir().unwrap();
        let missing = Powercap::open(empty.path(), "x", None).unwrap_err();
        assert_eq!(missing, "this machine has no power zones");
        assert!(parse("powercap:", None).is_err() && parse("powercap:../x", None).is_err());
    }
}
