//! The command line: every option is one documented field.
//!
//! The doc comment of a field is its help text, so it is in the imperative, as the texts of clap.

mod bench;
mod claims;
mod compare;
mod config;
mod consent;
mod crosscheck;
mod distribution;
mod doctor;
mod export;
mod fleet;
mod import;
mod library;
mod notify;
mod own_process;
mod prove;
mod quick;
mod replay;
mod report;
mod run;
mod serve;
mod site;
mod trace;
mod twin;
mod values;
mod watch;
mod xray;

pub(crate) use bench::BenchArguments;
pub(crate) use claims::ClaimsArguments;
pub(crate) use compare::CompareArguments;
pub(crate) use config::ConfigArguments;
pub(crate) use consent::ConsentOptions;
pub(crate) use crosscheck::CrosscheckArguments;
pub(crate) use distribution::{CompletionsArguments, ManualArguments};
pub(crate) use doctor::DoctorArguments;
pub(crate) use export::ExportArguments;
pub(crate) use fleet::{DriftArguments, FleetAction, FleetArguments, FleetPageArguments};
pub(crate) use import::ImportArguments;
pub(crate) use library::{ListArguments, ListedOutcome, OpenArguments, ShowArguments};
pub(crate) use notify::NotifyOptions;
pub(crate) use own_process::{
    LookArguments, LookText, NotifierArguments, PrivilegedHelper, PrivilegedSearch, Question,
    ReaderArguments,
};
pub(crate) use prove::ProveArguments;
pub(crate) use quick::QuickArguments;
pub(crate) use replay::ReplayOptions;
pub(crate) use report::{DemoArguments, ReportArguments};
pub(crate) use run::RunArguments;
pub(crate) use serve::ServeArguments;
pub(crate) use site::{SiteArguments, SubmitArguments};
pub(crate) use trace::{TraceAction, TraceArguments, TraceConvertArguments, TraceInfoArguments};
pub(crate) use twin::TwinArguments;
pub(crate) use watch::WatchArguments;
pub(crate) use xray::XrayArguments;

use clap::{Args, Parser, Subcommand};
use ssdgauge_core::{Bytes, Nanos, PurgeMethod};
use ssdgauge_lab::Repeat;
use ssdgauge_watch::terminal::colour::ColourChoice;
use std::path::PathBuf;
pub(crate) use values::{Part, parse_size};
use values::{parse_endurance, parse_label, parse_part, parse_rate, parse_share};

/// SSD review lab: prepare a drive, run a suite, record every second, and write a report.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Colour the output: auto, always or never [default: auto].
    // Without an order of its own, its place in the help of a command follows from the number of commands.
    #[arg(long, global = true, value_name = "WHEN", display_order = 100)]
    #[arg(hide_possible_values = true)]
    pub(crate) color: Option<ColourChoice>,
    /// Folder of the runs, where they are named by number and new ones are written.
    #[arg(long, global = true, value_name = "FOLDER", display_order = 101, hide_short_help = true)]
    pub(crate) library: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Targets: a folder (a scratch file in it, removed afterwards), a new file with a suffix or as \
file:PATH, a block device such as /dev/nvme0n1 (all data on it is lost; its serial must be confirmed), \
sim:PROFILE[?KEY=VALUE&...] (a virtual drive), null: (no device, to measure the engine).

Exit codes: 0 done, 1 the run failed, 2 usage, 3 refused and nothing written, 4 a criterion was \
not met, 75 interrupted and resumable, busy with another run, or too noisy to tell (crosscheck).";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a short test of a few minutes on a scratch file, and write a report.
    Quick(QuickArguments),
    /// Run a suite on a target, or on several side by side.
    Run(RunArguments),
    /// Print the steps, the time and the bytes of a run, without running it.
    Plan(PlanArguments),
    /// Continue a run that was interrupted.
    Resume(ResumeArguments),
    /// Watch runs in progress, in the terminal, as lines or as JSON.
    Watch(WatchArguments),
    /// Prove how much of its stated capacity a drive stores, with the evidence.
    Prove(ProveArguments),
    /// Infer the internal structure of a drive: link, parallel units, fast cache and others.
    Xray(XrayArguments),
    /// List the suites, or the tests of one suite.
    Suites(SuitesArguments),
    /// List the drives and which may be tested, or describe one drive.
    Drives(DrivesArguments),
    /// Check this machine and a target before a run, with a command to fix each problem.
    Doctor(DoctorArguments),
    /// Print the settings that count, and where each comes from.
    Config(ConfigArguments),
    /// Print the readings of power meters, or list the sensors of this machine.
    Meters(MetersArguments),
    /// List the runs of the library, or of other folders, with their numbers.
    List(ListArguments),
    /// Print the result of a run.
    Show(ShowArguments),
    /// Write the page of a run, and open it in the browser.
    Open(OpenArguments),
    /// Write a report of one or more runs.
    Report(ReportArguments),
    /// Test six virtual drives in about half a minute, and write a sample report.
    Demo(DemoArguments),
    /// Check the claims of published reviews on virtual drives.
    Claims(ClaimsArguments),
    /// Fit a virtual drive to the runs of a drive, and predict loads that were not run.
    Twin(TwinArguments),
    /// Compare two runs, and separate differences from noise.
    Compare(CompareArguments),
    /// Print a request log as CSV.
    Log(LogArguments),
    /// Describe or pack a trace of block requests; `run trace:FILE` replays it.
    Trace(TraceArguments),
    /// Print a suite or a run as a job file of fio, or write runs as Parquet or JSON lines.
    Export(ExportArguments),
    /// Draw one page of many drives, or look for drift and slow drives among them.
    Fleet(FleetArguments),
    /// Write a static site of many drives: every test ranked, any drives compared.
    Site(SiteArguments),
    /// Write runs as small files for the repository of a collection, without what identifies you.
    Submit(SubmitArguments),
    /// Store a result of another program as a run file, marked as imported.
    Import(ImportArguments),
    /// Repeat finished steps with ssdgauge and fio alternately, and judge whether they agree.
    Crosscheck(CrosscheckArguments),
    /// Offer a virtual drive to other programs as a network block device.
    Serve(ServeArguments),
    /// Print the completions for a shell.
    Completions(CompletionsArguments),
    /// Print the manual page of the program or of a command, in roff.
    #[command(hide = true)]
    Manual(ManualArguments),
    /// Measure the processor time of the engine per request.
    #[command(hide = true)]
    Bench(BenchArguments),
    /// Serves a run that has dropped its privileges; started by the program itself.
    #[command(hide = true)]
    PrivilegedHelper(PrivilegedHelper),
    /// Searches for processes that could write to a drive; started by the program itself.
    #[command(hide = true)]
    PrivilegedSearch(PrivilegedSearch),
    /// Calls the command of --notify at the end of a run; started by the program itself.
    #[command(hide = true)]
    Notifier(NotifierArguments),
    /// Looks at devices that may not answer; started by the program itself.
    #[command(hide = true)]
    Look(LookArguments),
    /// Reads files of others for a command that has privileges; started by the program itself.
    #[command(hide = true)]
    Reader(ReaderArguments),
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// Suite of the list (`ssdgauge suites`), path of a suite file, or trace:FILE to replay a trace.
    pub(crate) suite: String,
    /// Target to plan for; it is not written.
    pub(crate) target: String,
    /// Size of the scratch file, or of the tested range of another target.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) size: Option<Bytes>,
    #[command(flatten)]
    pub(crate) replay: ReplayOptions,
    #[command(flatten)]
    pub(crate) options: PlanOptions,
    /// Print every step and value; without it, a plan of several tests has a line for each test.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the plan as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options that change the plan of a suite.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlanOptions {
    /// Run only this test; may be repeated.
    #[arg(long = "test", value_name = "ID")]
    pub(crate) tests: Vec<String>,
    /// Divide all durations and byte limits by N, for test runs; the run is marked SHORTENED.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) shorten: u32,
    /// Scale the spans down to a target that is too small; the run is marked.
    #[arg(long, hide_short_help = true)]
    pub(crate) scale_spans: bool,
    /// Run all tests N times in turn; each result is the mean of its repetitions, with the 95 %
    /// interval between them. until:2% repeats until every interval is within ±2 % of its mean, 5 to
    /// 20 times; until:2%,at-most=40 sets another limit.
    #[arg(long, default_value = "1", value_name = "N|until:PERCENT")]
    pub(crate) repeat: Repeat,
    /// Rated endurance of the drive, such as 600TBW; a run that would write more than
    /// --endurance-share of it is refused.
    #[arg(long, value_name = "SIZE", value_parser = parse_endurance, hide_short_help = true)]
    pub(crate) endurance: Option<Bytes>,
    /// Share of the rated endurance that a run may write, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = ssdgauge_lab::DEFAULT_WEAR_SHARE * 100.0, value_parser = parse_share, hide_short_help = true)]
    pub(crate) endurance_share: f64,
    /// Rate of large sequential writes of the drive beyond its cache, in bytes per second, for the
    /// expected time and bytes; other rates of writes scale with it [default: by the class of the
    /// drive].
    #[arg(long, value_name = "SIZE", value_parser = parse_rate, hide_short_help = true)]
    pub(crate) write_rate: Option<Bytes>,
    /// Purge by this method only: format, discard, secure-erase, sanitize-block, sanitize-crypto
    /// or sanitize-overwrite [default: the best of format and discard].
    #[arg(long, value_name = "METHOD", hide_short_help = true)]
    pub(crate) purge: Option<PurgeMethod>,
    /// Read everything that the run wrote at its end, and compare every byte; a difference ends the
    /// run with exit code 1. Blocks that were trimmed or overwritten with zeros are left out.
    #[arg(long, hide_short_help = true)]
    pub(crate) verify: bool,
    /// Poll for completions (IOPOLL) in measured loads instead of waiting for interrupts. Needs a whole
    /// drive with poll queues, such as NVMe under nvme.poll_queues=1; compared only with polled runs.
    #[arg(long, hide_short_help = true)]
    pub(crate) polled: bool,
    /// Send the requests of measured loads as NVMe commands (io_uring pass-through), without the block
    /// layer. Needs a whole NVMe drive, Linux 5.19 and root; compared only with such runs.
    #[arg(long, conflicts_with = "polled", hide_short_help = true)]
    pub(crate) pass_through: bool,
    /// Seed of all random numbers.
    #[arg(
        long,
        default_value_t = 1,
        value_name = "NUMBER",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    pub(crate) seed: u64,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) plan: PlanOptions,
    /// Run file; the report is written next to it with the suffix .html [default: SUITE-TIME.ssdg].
    #[arg(short, long, alias = "output", value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Label of the run, such as bare, heatsink or "firmware 2", shown with the name of the drive.
    #[arg(long, value_name = "TEXT", value_parser = parse_label)]
    pub(crate) label: Option<String>,
    /// Continue the run if the run file exists already, for schedulers that start a command again.
    #[arg(long, requires = "out", hide_short_help = true)]
    pub(crate) or_resume: bool,
    /// Interval between two reads of the SMART data within a step, in seconds; 0 reads it only
    /// before and after each step.
    #[arg(long, default_value_t = 10, value_name = "SECONDS", hide_short_help = true)]
    pub(crate) health_every: u32,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    /// Write a log of all measured requests, 16 bytes each; `ssdgauge log` prints it.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) log_ios: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) power: PowerOptions,
    #[command(flatten)]
    pub(crate) notify: NotifyOptions,
    /// Wait up to this time while another run uses the drive, such as 2h.
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<Nanos>,
    /// Show the course of the run on a screen, as `ssdgauge watch` does.
    #[arg(long)]
    pub(crate) watch: bool,
    /// Print steps, time and bytes of the run and stop, as `ssdgauge plan` does; nothing is written.
    #[arg(long = "plan")]
    pub(crate) only_plan: bool,
    /// Print the results as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The target that this process runs, as NUMBER:START or NUMBER:START:check; set by itself.
    #[arg(long, hide = true, value_parser = parse_part)]
    pub(crate) part: Option<Part>,
}

/// The power meters of a run.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PowerOptions {
    /// Read a power meter: hwmon:NAME/power1, qis:HOST:PORT/MODULE, nvme, command:PROGRAM ARGS,
    /// http://HOST/PATH#/POINTER, or a .toml file of meters; may be repeated. none: no meter of the
    /// configuration.
    #[arg(long = "power", value_name = "SPEC")]
    pub(crate) specs: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct MetersArguments {
    /// Power meters as in `run --power`; without any, the sensors of this machine are listed.
    pub(crate) specs: Vec<String>,
    /// NVMe drive that the meter `nvme` reads; it is opened read-only.
    #[arg(long, value_name = "TARGET")]
    pub(crate) drive: Option<PathBuf>,
    /// Stop after this time [default: at Ctrl-C].
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) time: Option<Nanos>,
    /// Print JSON, one line per meter and second.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    /// Request log that `--log-ios` wrote.
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// Run file of the interrupted run, its number, or the folder with this one. A scratch file in another folder than that of the run file
    /// needs `--confirm FOLDER` after a restart of the machine.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    #[command(flatten)]
    pub(crate) power: PowerOptions,
    #[command(flatten)]
    pub(crate) notify: NotifyOptions,
    /// Wait up to this time while another run uses the drive or the run file, such as 2h.
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<Nanos>,
    /// Print the results as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuitesArguments {
    /// Suite of the list, or path of a suite file.
    pub(crate) suite: Option<String>,
    /// Print the sources, steps and chosen values of each test as well.
    #[arg(long, requires = "suite")]
    pub(crate) all: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DrivesArguments {
    /// Block device such as /dev/nvme0n1, or sim:PROFILE.
    pub(crate) target: Option<String>,
    /// Describe the drives of stored outputs of smartctl or nvme-cli, text or JSON.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "target")]
    pub(crate) from: Vec<PathBuf>,
    /// Print the drives that may be tested as lines for slurm.conf and gres.conf.
    #[arg(long, conflicts_with_all = ["target", "json", "from"])]
    pub(crate) slurm: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::{Command, CommandFactory};

    /// Words that hide the actor, the number or the field's term.
    const AVOIDED: &[&str] = &[
        "bears",
        "stands",
        "somebody",
        "nobody",
        "whoever",
        "what it is",
        "tells",
        "gives up",
        "feels",
        "forgets",
        "goes on",
        "left alone",
        "for trials",
        "as if fresh",
    ];

    /// The widest line of a help text, in characters: `max_term_width`.
    const WIDTH: usize = 100;

    /// Calls `check` with the path and the help text of `command` and of all its subcommands,
    /// hidden ones included.
    fn for_each_help(command: &Command, path: &str, check: &mut impl FnMut(&str, &str)) {
        let path = format!("{path} {}", command.get_name());
        let mut own = command.clone();
        check(&path, &own.render_help().to_string());
        check(&path, &own.render_long_help().to_string());
        for subcommand in command.get_subcommands() {
            for_each_help(subcommand, &path, check);
        }
    }

    #[test]
    fn no_help_text_has_an_avoided_word_or_a_line_over_100_columns() {
        let mut command = Arguments::command();
        command.build();
        let mut texts = 0;
        for_each_help(&command, "", &mut |path, help| {
            texts += 1;
            let text = help.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
            for avoided in AVOIDED {
                assert!(!text.contains(avoided), "{path} --help has '{avoided}':\n{help}");
            }
            for line in help.lines() {
                assert!(line.chars().count() <= WIDTH, "{path} --help is too wide: {line}");
            }
        });
        // Two forms of the program's help and of at least its twelve visible commands.
        assert!(texts >= 26, "only {texts} help texts were found");
    }
}
