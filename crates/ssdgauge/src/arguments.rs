//! The command line. Every flag is one documented field.

use clap::{Args, Parser, Subcommand};
use ssdgauge_core::{BLOCK_SIZES, Bytes, Nanos, PurgeMethod};
use std::path::PathBuf;

/// The SSD review lab: prepares a drive, loads it, measures every second, judges and reports.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Targets: a folder (a scratch file in it, removed afterwards), the path of a new file, a block
device such as /dev/nvme0n1 (everything on it is lost; its serial must be confirmed),
sim:PROFILE[?KEY=VALUE&...] (a virtual drive), null: (the engine's own ceiling).

Exit codes: 0 done, 1 the run broke, 2 usage, 3 refused and nothing written, 4 a criterion was
not met, 75 interrupted and resumable.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Takes a few minutes on a scratch file, destroys nothing, and draws a report.
    Quick(Quick),
    /// Runs a suite on a target.
    Run(Run),
    /// Shows what a run would do, without doing it.
    Plan(Plan),
    /// Goes on with a run that was stopped or killed.
    Resume(Resume),
    /// Lists the suites, or the tests of one.
    Suites(Suites),
    /// Lists the drives and which may be tested, or shows everything that is known of one.
    Drives(Drives),
    /// Shows what power meters read, or lists what this machine offers.
    Meters(Meters),
    /// Draws the report of one or more runs.
    Report(Report),
    /// Shows what a review looks like: six virtual drives, side by side, in about a minute.
    Demo(Demo),
    /// Tells how a run differs from another, and what of it is noise.
    Compare(Compare),
    /// Prints a log of single requests as CSV.
    Log(Log),
    /// Measures what the engine itself costs, in processor time for each request.
    #[command(hide = true)]
    Bench(Bench),
    /// Serves requests of a run that has dropped its privileges; started by the program itself.
    #[command(hide = true)]
    PrivilegedHelper(PrivilegedHelper),
}

#[derive(Debug, Args)]
pub(crate) struct Quick {
    /// The target: a folder, or any other target.
    #[arg(default_value = ".")]
    pub(crate) target: String,
    /// The size of the scratch file; on other targets, the part that is used.
    #[arg(
        long,
        value_name = "SIZE",
        help = "The size of the scratch file [default: 4GiB]; on other targets, the part that is used"
    )]
    pub(crate) size: Option<Bytes>,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// A suite of the list (`ssdgauge suites`), or the path of a suite file.
    pub(crate) suite: String,
    /// What to test.
    pub(crate) target: String,
    /// The size of the scratch file; on other targets, the part that is used.
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// A suite of the list (`ssdgauge suites`), or the path of a suite file.
    pub(crate) suite: String,
    /// What would be tested.
    pub(crate) target: String,
    /// The size of the scratch file; on other targets, the part that is used.
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Prints the plan as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which part of a suite runs, and how.
#[derive(Clone, Debug, Args)]
pub(crate) struct Choice {
    /// Runs only this test; may be given several times.
    #[arg(long = "test", value_name = "ID")]
    pub(crate) tests: Vec<String>,
    /// Divides all durations and byte limits by N, for trials; such a run is marked.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) shorten: u32,
    /// Cuts spans down to a target that is too small; such a run is marked.
    #[arg(long)]
    pub(crate) scale_spans: bool,
    /// Carries every test out N times, all tests in turn; every result is then the mean of its
    /// repetitions, with the 95 % interval between them.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// The endurance that the drive is rated for, such as 600TBW; where it is known, a run that
    /// would write more than its share of it is refused.
    #[arg(long, value_name = "SIZE", value_parser = endurance)]
    pub(crate) endurance: Option<Bytes>,
    /// The share of the rated endurance that a run may write, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = ssdgauge_lab::DEFAULT_WEAR_SHARE * 100.0, value_parser = share)]
    pub(crate) endurance_share: f64,
    /// What the drive writes in a second at most: the estimates of time and of bytes written rest
    /// on it where only time limits a step.
    #[arg(long, value_name = "SIZE", default_value_t = ssdgauge_lab::WRITE_RATE, value_parser = rate, hide_default_value = true)]
    pub(crate) write_rate: Bytes,
    /// Makes the drive fresh in this way alone: format, discard, secure-erase, sanitize-block,
    /// sanitize-crypto or sanitize-overwrite [default: the best of format and discard].
    #[arg(long, value_name = "METHOD")]
    pub(crate) purge: Option<PurgeMethod>,
    /// The seed of all randomness.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// The run file; the report is written beside it with the suffix .html.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How often the SMART counters of a drive are read within a step, in seconds; 0 for before
    /// and after it alone.
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    pub(crate) health_every: u32,
    /// Confirms that the drive with this serial may be overwritten.
    #[arg(long, value_name = "SERIAL")]
    pub(crate) confirm: Option<String>,
    /// Gives up the file systems and other data that were found on the drive with this serial.
    #[arg(long, value_name = "SERIAL")]
    pub(crate) erase: Option<String>,
    /// Writes down every measured request, sixteen bytes each; `ssdgauge log` prints them.
    #[arg(long, value_name = "FILE")]
    pub(crate) log_ios: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) power: Power,
    /// Prints the results as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What measures power.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Power {
    /// Reads a power meter: hwmon:NAME/power1, qis:HOST:PORT/MODULE, nvme, command:PROGRAM ARGS,
    /// http://HOST/PATH#/POINTER, or a .toml file of meters; may be given several times.
    #[arg(long = "power", value_name = "SPEC")]
    pub(crate) specs: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Meters {
    /// Power meters as in `run --power`; without any, what this machine offers is listed.
    pub(crate) specs: Vec<String>,
    /// The NVMe drive whose own power figures `nvme` reads; it is opened for reading alone.
    #[arg(long, value_name = "TARGET")]
    pub(crate) drive: Option<PathBuf>,
    /// Stops after this time; otherwise Ctrl-C does.
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) time: Option<Nanos>,
    /// Prints JSON, a line for each second of each meter.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Log {
    /// A log that `--log-ios` has written.
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The run file.
    pub(crate) file: PathBuf,
    /// Confirms that the drive with this serial may be overwritten.
    #[arg(long, value_name = "SERIAL")]
    pub(crate) confirm: Option<String>,
    /// Gives up the file systems and other data that were found on the drive with this serial.
    #[arg(long, value_name = "SERIAL")]
    pub(crate) erase: Option<String>,
    #[command(flatten)]
    pub(crate) power: Power,
    /// Prints the results as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Suites {
    /// A suite of the list, or the path of a suite file.
    pub(crate) suite: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Drives {
    /// A block device such as /dev/nvme0n1, or sim:PROFILE.
    pub(crate) target: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Run files.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Where the page is written.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Judges the drives by what their maker claims, from a spec file; may be given several times.
    #[arg(long = "spec", value_name = "FILE")]
    pub(crate) specifications: Vec<PathBuf>,
    /// The drive that stands out: a part of its name, or the id of a run.
    #[arg(long, value_name = "DRIVE")]
    pub(crate) highlight: Option<String>,
    /// Ranks drives that are so full, where a test climbs a ladder of fill levels.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) fill_level: Option<f64>,
    /// The title of the page.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Writes every chart as an SVG file into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<PathBuf>,
    /// Writes every chart as a PNG file into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) png: Option<PathBuf>,
    /// Writes every chart as a Vega-Lite specification into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) vega: Option<PathBuf>,
    /// Prints the headlines as OpenMetrics text.
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown"])]
    pub(crate) openmetrics: bool,
    /// Prints the results as JSON.
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    pub(crate) json: bool,
    /// Prints the results as CSV.
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) csv: bool,
    /// Prints the results as Markdown.
    #[arg(long)]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where the page is written; the run files stand beside it in a folder [default:
    /// ssdgauge-demo-DATE.html].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The run to compare with.
    pub(crate) first: PathBuf,
    /// The run that is judged.
    pub(crate) second: PathBuf,
    /// Fails with exit code 4 where the second run is worse by more than this many percent.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) threshold: Option<f64>,
    /// What counts as noise between runs, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0, value_parser = percent)]
    pub(crate) noise: f64,
    /// Compares a drive with itself under another firmware.
    #[arg(long)]
    pub(crate) any_firmware: bool,
    /// Prints JSON.
    #[arg(long, conflicts_with_all = ["markdown", "junit"])]
    pub(crate) json: bool,
    /// Prints Markdown.
    #[arg(long, conflicts_with = "junit")]
    pub(crate) markdown: bool,
    /// Prints JUnit XML.
    #[arg(long)]
    pub(crate) junit: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PrivilegedHelper {
    /// The number of the drive, such as 259:0.
    pub(crate) device: String,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// What to load: `null:`, a folder for a scratch file, a block device, or an existing file,
    /// which is only read.
    #[arg(default_value = "null:")]
    pub(crate) target: String,
    /// Requests in flight of each thread.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) queue_depth: u32,
    /// Threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) threads: u32,
    /// Uses synchronous threads, one for each request in flight, in place of io_uring.
    #[arg(long)]
    pub(crate) synchronous: bool,
    /// Asks the drive for its completions instead of letting it interrupt.
    #[arg(long, conflicts_with = "synchronous")]
    pub(crate) polled: bool,
    /// The length of each request.
    #[arg(long, default_value = "4KiB", value_parser = block_size)]
    pub(crate) block_size: Bytes,
    /// The share of reads.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) read_percent: u8,
    /// In ascending order, not at random.
    #[arg(long)]
    pub(crate) sequential: bool,
    /// Reads an existing file through the page cache.
    #[arg(long)]
    pub(crate) cached: bool,
    /// Does not write the target before it is read.
    #[arg(long)]
    pub(crate) no_fill: bool,
    /// Sends requests at equal times, this many a second.
    #[arg(long, value_name = "PER_SECOND", value_parser = per_second)]
    pub(crate) rate: Option<f64>,
    /// Sends them at random times.
    #[arg(long, requires = "rate")]
    pub(crate) poisson: bool,
    /// Seconds of each run.
    #[arg(long, default_value_t = 2.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Ends each run after this many requests.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// Runs; one before them warms up, unless there is only one.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) runs: u32,
    /// The size of a scratch file, or the part of any other target.
    #[arg(long, default_value = "256MiB")]
    pub(crate) size: Bytes,
    /// Confirms that the drive with this serial may be overwritten.
    #[arg(long, value_name = "SERIAL")]
    pub(crate) confirm: Option<String>,
    /// Gives up the file systems and other data that were found on the drive with this serial.
    #[arg(long, value_name = "SERIAL")]
    pub(crate) erase: Option<String>,
    /// Writes down every request.
    #[arg(long, value_name = "FILE")]
    pub(crate) log_ios: Option<PathBuf>,
    /// Prints one line of JSON for each run.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a size such as `600TB`, or `600TBW` as drives' sheets have it.
fn endurance(text: &str) -> Result<Bytes, String> {
    let size = text.trim().trim_end_matches(['W', 'w']);
    match size.parse::<Bytes>() {
        Ok(bytes) if bytes > Bytes(0) => Ok(bytes),
        Ok(_) => Err("an endurance above zero is needed, such as 600TBW".to_owned()),
        Err(error) => Err(format!("{error}; write it as 600TBW")),
    }
}

/// Reads a percentage that may be more than a whole.
fn percent(text: &str) -> Result<f64, String> {
    number(text, "%", |percent| (0.0..=1_000.0).contains(&percent))
        .ok_or_else(|| "use a percentage from 0 to 1000, such as 5".to_owned())
}

/// Reads a share in percent.
fn share(text: &str) -> Result<f64, String> {
    number(text, "%", |percent| percent > 0.0 && percent <= 100.0)
        .ok_or_else(|| "use a percentage above 0 and up to 100, such as 5".to_owned())
}

/// Reads the length of a request.
fn block_size(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(size) if BLOCK_SIZES.contains(&size) => Ok(size),
        Ok(_) => Err(format!("use {} to {}", BLOCK_SIZES.start(), BLOCK_SIZES.end())),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads a number of requests in a second.
fn per_second(text: &str) -> Result<f64, String> {
    number(text, "/s", |rate| rate > 0.0 && rate < 1e9)
        .ok_or_else(|| "use a number above 0 and below 1e9, such as 2000".to_owned())
}

/// Reads a time in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    number(text, "s", |time| (0.01..=86_400.0).contains(&time))
        .ok_or_else(|| "use a number of seconds from 0.01 to 86400".to_owned())
}

/// Reads a number that may carry its unit, where it is `allowed`.
fn number(text: &str, unit: &str, allowed: impl Fn(f64) -> bool) -> Option<f64> {
    let text = text.trim();
    let number = text.strip_suffix(unit).unwrap_or(text).trim_end().parse().ok()?;
    allowed(number).then_some(number)
}

/// Reads a rate such as `2GB` or `2GB/s`.
fn rate(text: &str) -> Result<Bytes, String> {
    match text.trim().trim_end_matches("/s").parse::<Bytes>() {
        Ok(bytes) if bytes > Bytes(0) => Ok(bytes),
        Ok(_) => Err("a rate above zero is needed, such as 2GB".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
