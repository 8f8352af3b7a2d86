//! `ssdgauge serve`: offers a virtual drive to other programs, and prints what it did.

use crate::arguments::ServeArguments;
use crate::failure::{Failure, FailureKind};
use crate::output;
use crate::process::StopFlag;
use crate::target::{SizeRequest, Target};
use serde::Serialize;
use ssdgauge_core::rounded;
use ssdgauge_core::{Bytes, DriveInfo, Histogram, Nanos, is_virtual};
use ssdgauge_nbd::{Address, Event, MAX_CLIENTS, Served, Server, ServerError};
use ssdgauge_sim::{GroundTruth, ServedDrive, VirtualRig};
use ssdgauge_watch::terminal;
use std::sync::atomic::{AtomicU32, Ordering};

/// The maximum number of messages about clients: one that connects again and again must not fill a log.
const MAX_MESSAGES: u32 = 20;

/// Serves a virtual drive until Ctrl-C, or until the last client has left.
///
/// # Errors
///
/// Fails where the target is not a virtual drive, and where the server cannot listen.
pub(crate) fn execute(arguments: &ServeArguments) -> Result<(), Failure> {
    let address: Address = arguments.nbd.parse()?;
    if let Address::Unix(path) = &address {
        output::check_place(path)?;
    }
    let drive = ServedDrive::new(find_drive(&arguments.target, arguments.seed)?);
    let info = drive.info().clone();
    let keep = arguments.keep_data.then(|| memory_for_contents(info.capacity));
    let stop = StopFlag::new();
    stop.listen()?;
    let server = Server::listen(&address, drive, keep)?;
    print_ready(arguments, &server.uri(), &info, keep);
    let messages = AtomicU32::new(0);
    let report = |event: Event| {
        let earlier = messages.fetch_add(1, Ordering::Relaxed);
        match earlier.cmp(&MAX_MESSAGES) {
            std::cmp::Ordering::Less => terminal::print_message(&message(&event)),
            std::cmp::Ordering::Equal => {
                terminal::print_message("warning: further messages about clients are left out")
            }
            std::cmp::Ordering::Greater => {}
        }
    };
    let served = server.run(arguments.once, &|| stop.is_set(), &report);
    match arguments.json {
        true => print_line(&ServedDocument { schema_version: 1, served: served_row(&served) }),
        false => terminal::print_text(&result_text(&served)),
    }
    Ok(())
}

/// Returns the virtual drive that the target names.
fn find_drive(name: &str, seed: u64) -> Result<VirtualRig, Failure> {
    // The size of a scratch file has no meaning here.
    let size = SizeRequest { exact: None, scratch: Bytes(0), at_most: None };
    match is_virtual(name).then(|| Target::find(name, size, seed)).transpose()? {
        Some(Target::Virtual(rig)) if rig.profile().fault.power_cut_at_s >= 0.0 => {
            Err(Failure::new(
                FailureKind::Usage,
                "a drive that is served keeps its contents apart, so fault.power_cut_at_s would take nothing".to_owned(),
                "leave it out, or cut the power in a run: `ssdgauge run --verify`",
            ))
        }
        Some(Target::Virtual(rig)) => Ok(*rig),
        Some(Target::Real(_)) | None => Err(Failure::new(
            FailureKind::Usage,
            format!("'{name}' is not a virtual drive"),
            "nothing was opened; name one as sim:PROFILE; `ssdgauge drives sim:` lists them",
        )),
    }
}

/// Returns how much memory contents may take: three quarters of what is available, so that a client
/// which writes everything gets an error before the machine has no memory.
fn memory_for_contents(capacity: Bytes) -> Bytes {
    // A drive that is written completely takes 1.6 % more than its capacity, for the blocks' entries.
    let whole = capacity.0 + capacity.0 / 32;
    let available = ssdgauge_os::memory::available().map_or(whole, |memory| memory.0 / 4 * 3);
    Bytes(whole.min(available))
}

fn print_ready(arguments: &ServeArguments, uri: &str, info: &DriveInfo, keep: Option<Bytes>) {
    if arguments.json {
        let ready = Ready {
            uri,
            target: &info.target,
            capacity_bytes: info.capacity.0,
            logical_block_bytes: info.logical_block.0,
            keeps_data: keep.is_some(),
            memory_bytes: keep.map(|memory| memory.0),
        };
        return print_line(&ReadyDocument { schema_version: 1, ready });
    }
    let contents = match keep {
        Some(memory) => format!(
            "up to {} of contents are kept in memory, until the server ends",
            memory.about()
        ),
        None => "contents are not kept: reads return zeros".into(),
    };
    // One line without folds, for programs that wait for it.
    let ready = format!("ready: {} ({}) at {uri}", info.target, info.capacity.about());
    terminal::print_data(&terminal::line(&ready));
    terminal::print_message(&format!("{contents}; Ctrl-C ends the server"));
}

fn message(event: &Event) -> String {
    match event {
        Event::Disconnected(error) => format!("warning: a client was disconnected: {error}"),
        Event::TooManyClients => format!(
            "warning: a client was disconnected: {MAX_CLIENTS} clients are connected already"
        ),
        Event::MadeRoom => format!(
            "warning: a client was disconnected in its handshake: another one needed its place, of \
             {MAX_CLIENTS}"
        ),
    }
}

/// The first line of `serve --json`.
#[derive(Serialize)]
struct ReadyDocument<'a> {
    schema_version: u32,
    ready: Ready<'a>,
}

/// A server that clients may connect to.
#[derive(Serialize)]
struct Ready<'a> {
    uri: &'a str,
    target: &'a str,
    capacity_bytes: u64,
    logical_block_bytes: u64,
    /// Whether reads return what was written.
    keeps_data: bool,
    /// The memory for it.
    memory_bytes: Option<u64>,
}

/// The last line of `serve --json`.
#[derive(Serialize)]
struct ServedDocument {
    schema_version: u32,
    served: ServedRow,
}

/// What was served.
#[derive(Serialize)]
struct ServedRow {
    elapsed_s: f64,
    clients: u64,
    rejected_clients: u64,
    reads: u64,
    writes: u64,
    trims: u64,
    flushes: u64,
    errors: u64,
    host_read_bytes: u64,
    host_written_bytes: u64,
    nand_written_bytes: u64,
    write_amplification: Option<f64>,
    energy_j: f64,
    read_lat_p50_us: Option<f64>,
    read_lat_p99_us: Option<f64>,
    write_lat_p50_us: Option<f64>,
    write_lat_p99_us: Option<f64>,
    /// From the time at which the drive answers to the reply.
    reply_lateness_p50_us: Option<f64>,
    reply_lateness_p99_us: Option<f64>,
}

/// Prints a document in one line.
fn print_line(document: &impl Serialize) {
    let value = serde_json::to_value(document).expect("keys are strings");
    terminal::print(&format!("{value}\n"));
}

fn served_row(served: &Served) -> ServedRow {
    let us = |latency: &Histogram, share: f64| latency.percentile(share).map(|ns| ns as f64 / 1e3);
    ServedRow {
        elapsed_s: served.elapsed.as_secs_f64(),
        clients: served.clients,
        rejected_clients: served.rejected,
        reads: served.reads,
        writes: served.writes,
        trims: served.trims,
        flushes: served.flushes,
        errors: served.errors,
        host_read_bytes: served.read_bytes,
        host_written_bytes: served.truth.host_bytes,
        nand_written_bytes: served.truth.nand_bytes(),
        write_amplification: amplification(served),
        energy_j: served.energy_j,
        read_lat_p50_us: us(&served.latency[0], 0.5),
        read_lat_p99_us: us(&served.latency[0], 0.99),
        write_lat_p50_us: us(&served.latency[1], 0.5),
        write_lat_p99_us: us(&served.latency[1], 0.99),
        reply_lateness_p50_us: us(&served.lateness, 0.5),
        reply_lateness_p99_us: us(&served.lateness, 0.99),
    }
}

fn result_text(served: &Served) -> String {
    let Served { reads, writes, trims, flushes, errors, .. } = served;
    let truth = &served.truth;
    let percentiles = |latency: &Histogram| {
        let [p50, p99] = [0.5, 0.99].map(|share| match latency.percentile(share) {
            Some(ns) => Nanos(ns).about(),
            None => "–".into(),
        });
        format!("p50 {p50}, p99 {p99}")
    };
    let rows = [
        ("served", served.elapsed.about()),
        ("clients", format!("{}, {} rejected", served.clients, served.rejected)),
        ("commands", {
            let all = [reads, writes, trims, flushes, errors];
            let [reads, writes, trims, flushes, errors] = all.map(|n| rounded::count(*n));
            format!(
                "{reads} reads, {writes} writes, {trims} trims, {flushes} flushes; {errors} failed"
            )
        }),
        ("read by the host", Bytes(served.read_bytes).about()),
        ("written by the host", Bytes(truth.host_bytes).about()),
        ("written to NAND", Bytes(truth.nand_bytes()).about()),
        ("write amplification", amplification(served).map_or("–".into(), rounded::number)),
        ("energy", format!("{} J", rounded::number(served.energy_j))),
        ("read latency", percentiles(&served.latency[0])),
        ("write latency", percentiles(&served.latency[1])),
        ("lateness of replies", percentiles(&served.lateness)),
    ];
    let rows = rows.map(|(name, value)| format!("{name:<21} {value}"));
    format!("MODEL, no measurement of a drive\n{}", rows.join("\n"))
}

fn amplification(served: &Served) -> Option<f64> {
    served.truth.write_amplification_since(&GroundTruth::default())
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Failure {
        let (kind, hint) = match &error {
            ServerError::Address(_) => {
                (FailureKind::Usage, "use --nbd unix:/tmp/drive.sock, or --nbd 127.0.0.1:10809")
            }
            ServerError::NotLoopback(_) => (
                FailureKind::Refused,
                "use 127.0.0.1:PORT, and a tunnel such as ssh -L for clients on other machines",
            ),
            ServerError::Exists(_) => (
                FailureKind::Refused,
                "the file was not changed; name another path, or remove the socket of a server that \
                 has ended",
            ),
            ServerError::Listen { .. } => {
                (FailureKind::Refused, "nothing was opened; name another address")
            }
        };
        Failure::new(kind, error.to_string(), hint)
    }
}
