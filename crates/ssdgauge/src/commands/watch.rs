//! `ssdgauge watch`: shows runs in progress, by their files.

mod live_page;

use crate::arguments::WatchArguments;
use crate::failure::{Failure, FailureKind};
use crate::process::StopFlag;
use live_page::{LivePage, WithPage};
use ssdgauge_analysis::sanitize_json;
use ssdgauge_core::Nanos;
use ssdgauge_runfile::RunFileError;
use ssdgauge_watch::followed::Watched;
use ssdgauge_watch::metrics_server::MetricsServer;
use ssdgauge_watch::observe::{self, End, JsonLines, Observer, PlainLines, Screen, WithMetrics};
use ssdgauge_watch::terminal;
use ssdgauge_watch::{json_lines, lines, metrics};
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

/// The time between two looks for a run file that does not exist yet.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The time for which a file is tried again where commits interrupt every look at it: a busy machine, or a
/// virtual drive whose run commits without a pause. Chosen.
const COMMITS: Duration = Duration::from_secs(5);

/// Watches runs until they end or the user leaves. No file is changed, and no run waits for it.
///
/// # Errors
///
/// Fails where a file is not a run file or cannot be read, and where a run has ended before its last step.
pub(crate) fn execute(arguments: &WatchArguments) -> Result<(), Failure> {
    let mut all = Vec::with_capacity(arguments.files.len());
    for file in &arguments.files {
        all.push(open(file, arguments.wait)?);
    }
    let page = arguments.page.as_deref().map(|page| LivePage::new(page, &all)).transpose()?;
    let server = arguments.openmetrics.map(|address| serve(address, &all)).transpose()?;
    let stop = StopFlag::new();
    if arguments.jsonl {
        for one in &all {
            let line = format!("{}\n", json_lines::introduction(&one.run));
            if !terminal::print_while_open(&sanitize_json(&line)) {
                return Ok(());
            }
        }
        let ended = watch(&mut all, &mut JsonLines, (server.as_ref(), page.as_ref()), &stop)?;
        return conclude(all, ended);
    }
    if terminal::has_terminal() && std::io::stdout().is_terminal() {
        stop.listen()?;
        let mut screen = Screen::open(true).map_err(|error| no_screen(&error))?;
        let ended = watch(&mut all, &mut screen, (server.as_ref(), page.as_ref()), &stop);
        // The terminal is given back before anything else is printed.
        drop(screen);
        return conclude(all, ended?);
    }
    let mut lines = PlainLines::new(all.len());
    let ended = watch(&mut all, &mut lines, (server.as_ref(), page.as_ref()), &stop)?;
    conclude(all, ended)
}

/// Starts the server of the metrics of `all`, and states where it is.
fn serve(address: SocketAddr, all: &[Watched]) -> Result<MetricsServer, Failure> {
    let server =
        MetricsServer::start(address, |format| metrics::text(all, format)).map_err(|error| {
            let hint = "no run was disturbed; name another port, or port 0 for a free one";
            Failure::new(FailureKind::Failed, format!("cannot listen on {address}: {error}"), hint)
        })?;
    terminal::print_message(&format!("metrics: http://{}/metrics", server.address()));
    Ok(server)
}

/// Opens the run file `path`. Where it does not exist, waits for it up to `wait`; where commits are in
/// progress, also without `wait` for [`COMMITS`].
fn open(path: &Path, wait: Option<Nanos>) -> Result<Watched, Failure> {
    let began = Instant::now();
    let wait = Duration::from_nanos(wait.map_or(0, |wait| wait.0));
    loop {
        let patience = match Watched::open(path) {
            // A commit ends by itself; one that a killed run has left half written does not, and only the
            // time tells them apart.
            Err(RunFileError::Busy(_) | RunFileError::HalfWritten(_)) => wait.max(COMMITS),
            Err(RunFileError::Missing(_)) => wait,
            opened => return Ok(opened?),
        };
        if began.elapsed() >= patience {
            return Ok(Watched::open(path)?);
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// Observes `all` in the form of `observer`, serves their metrics by `server`, and keeps `page` up to date, where there
/// are these. The last page is the report.
fn watch(
    all: &mut [Watched],
    observer: &mut dyn Observer,
    (server, page): (Option<&MetricsServer>, Option<&LivePage>),
    stop: &StopFlag,
) -> Result<End, Failure> {
    let mut with_metrics = server.map(|server| WithMetrics { server, form: &mut *observer });
    let form: &mut dyn Observer = match &mut with_metrics {
        Some(observer) => observer,
        None => observer,
    };
    let ended = match page {
        Some(page) => observe::observe(all, &mut WithPage { page, form }, &stop.flag()),
        None => observe::observe(all, form, &stop.flag()),
    };
    let ended = ended.map_err(|error| no_screen(&error))?;
    // A run file that vanished makes no report; its own failure is stated.
    let lost = all.iter().find_map(|one| one.lost.as_ref());
    match (ended, page, lost) {
        (End::OfRuns, Some(page), None) => page.finish()?,
        (_, Some(page), Some(lost)) => page.lose(&lost.to_string())?,
        (End::OfRuns | End::Left, _, _) => {}
    }
    Ok(ended)
}

/// States how the runs have ended, and returns the failure that is the worst.
fn conclude(all: Vec<Watched>, ended: End) -> Result<(), Failure> {
    let is_alone = all.len() == 1;
    match ended {
        End::Left => Ok(()),
        End::OfRuns => {
            let mut failures: Vec<Failure> = Vec::new();
            for one in all {
                if !is_alone {
                    terminal::print_message(&format!(
                        "{}: {}",
                        one.path.display(),
                        lines::summary(&one.run)
                    ));
                }
                failures.extend(one.into_failure().map(Failure::from));
            }
            // All are stated; the one that decides the exit code comes last.
            failures.sort_by_key(|failure| std::cmp::Reverse(failure.kind.rank()));
            let worst = failures.pop();
            failures.iter().for_each(|failure| terminal::print_lines(failure.lines()));
            worst.map_or(Ok(()), Err)
        }
    }
}

/// Returns the failure of a terminal that cannot be drawn on.
fn no_screen(error: &std::io::Error) -> Failure {
    let hint = "no run was disturbed; print lines instead: `ssdgauge watch FILE | cat`";
    Failure::new(FailureKind::Failed, format!("the terminal cannot be used: {error}"), hint)
}
