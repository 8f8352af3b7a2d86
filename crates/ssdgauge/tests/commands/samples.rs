//! One input of each kind, for tests that walk through all of them.

use crate::commands::import::output;
use crate::commands::import_act::PASSING;
use crate::devices::replays::commands_of_two_devices;
use crate::support::{Bench, measures, signal, wait_for};
use std::process::Stdio;

/// The run files that [`write_all`] writes, by kind.
pub(crate) const RUN_FILES: [&str; 7] = [
    "suite.ssdg",
    "proof.ssdg",
    "xray.ssdg",
    "fio.ssdg",
    "act.ssdg",
    "replay.ssdg",
    "unfinished.ssdg",
];

/// The card of an X-ray that [`write_all`] writes.
pub(crate) const CARD: &str = "card.json";

/// Writes inputs of other programs: `fio.json`, `act.log`, `trace.txt`.
pub(crate) fn write_foreign(bench: &Bench) {
    let write = |name: &str, text: &str| std::fs::write(bench.path(name), text).unwrap();
    write("fio.json", &output("fio-3.33").to_string());
    write("act.log", &PASSING.text());
    write("trace.txt", &commands_of_two_devices());
}

/// Writes a card, and a run file of each kind.
pub(crate) fn write_all(bench: &Bench) {
    write_foreign(bench);
    bench.print(&["quick", "sim:tiny", "--shorten", "50", "--out", "suite.ssdg"]);
    bench.print(&["prove", "sim:tiny?capacity=256MB", "--quick", "--out", "proof.ssdg"]);
    bench.print(&["import", "--fio", "fio.json", "-o", "fio.ssdg"]);
    bench.print(&["import", "--act", "act.log", "-o", "act.ssdg", "--size", "960GB"]);
    bench.print(&["run", "trace:trace.txt", "sim:tiny", "--out", "replay.ssdg"]);
    let drive = "sim:tlc-client?capacity=8GB&slc.fixed_gb=25&slc.dynamic_gb=0";
    let card = bench.print(&["xray", drive, "--only=command", "--out", "xray.ssdg", "--json"]);
    std::fs::write(bench.path(CARD), card).unwrap();
    // A run in real time, stopped within its first measurement.
    let line = ["quick", "null:", "--shorten", "20", "--out", "unfinished.ssdg"];
    let mut command = bench.command(&line);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the first step", || measures(&bench.path("unfinished.ssdg")));
    signal(&child, "INT");
    let mut messages = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut messages).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(75), "{messages}");
}
