//! A virtual drive as a server: fio writes and verifies it, faults reach it, and the truth is printed.

use crate::support::{Bench, signal, text};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

/// A server that is ready; killed when it is dropped.
struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    ready: Value,
}

impl Server {
    /// Starts a server of `target` and waits for its line.
    fn start(bench: &Bench, target: &str, options: &[&str]) -> Server {
        let arguments = [&["serve", target, "--json"], options].concat();
        let mut child = bench
            .command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        Server { child, stdout, ready: ready["ready"].clone() }
    }

    fn uri(&self) -> &str {
        self.ready["uri"].as_str().unwrap()
    }

    fn port(&self) -> u16 {
        self.uri().rsplit(':').next().unwrap().parse().unwrap()
    }

    /// Interrupts the server; returns its result and its messages.
    fn end(mut self) -> (Value, String) {
        signal(&self.child, "INT");
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let mut messages = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{messages}");
        let result: Value = serde_json::from_str(&line).unwrap();
        (result["served"].clone(), messages)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs fio with its NBD engine; `None` where it has none.
fn fio(bench: &Bench, server: &Server, arguments: &[&str]) -> Option<Output> {
    let engines = Command::new("fio").arg("--enghelp").output();
    if !engines.is_ok_and(|engines| text(&engines.stdout).contains("\tnbd\n")) {
        println!("skipped: no fio with the engine nbd");
        return None;
    }
    let output = Command::new("timeout")
        .args(["120", "fio", "--name=peer", "--ioengine=nbd", "--output-format=json"])
        .arg(format!("--uri={}", server.uri()))
        .args(arguments)
        .current_dir(bench.folder.path())
        .output()
        .unwrap();
    Some(output)
}

/// Returns the JSON of fio, which prints lines of its engine before it.
fn json_of(output: &Output) -> Value {
    let printed = text(&output.stdout);
    serde_json::from_str(&printed[printed.find('{').unwrap()..]).unwrap()
}

#[test]
fn fio_verifies_what_it_wrote_and_the_truth_counts_its_requests() {
    let bench = Bench::new();
    let options = ["--nbd", "unix:socket", "--keep-data"];
    let server = Server::start(&bench, "sim:tlc-client?capacity=1GB", &options);
    assert_eq!(server.uri(), "nbd+unix:///?socket=socket");
    assert_eq!(server.ready["keeps_data"], true);
    let load = ["--rw=randwrite", "--bs=4k", "--iodepth=16", "--size=32m"];
    let verify = ["--verify=crc32c", "--do_verify=1", "--verify_fatal=1", "--fsync=1000"];
    let Some(output) = fio(&bench, &server, &[load, verify].concat()) else { return };
    assert!(output.status.success(), "{}", text(&output.stderr));
    let job = &json_of(&output)["jobs"][0];
    assert_eq!(job["error"], 0);
    assert_eq!(job["read"]["total_ios"], 8_192, "every block is verified");
    let (served, messages) = server.end();
    assert_eq!(
        (&served["reads"], &served["writes"]),
        (&job["read"]["total_ios"], &job["write"]["total_ios"])
    );
    assert_eq!(served["host_written_bytes"], 32 << 20);
    assert!(served["nand_written_bytes"].as_u64().unwrap() >= 32 << 20);
    assert!(served["write_amplification"].as_f64().unwrap() >= 1.0);
    assert_eq!((&served["errors"], &served["rejected_clients"]), (&0.into(), &0.into()));
    assert_eq!(messages, "");
    assert!(!bench.path("socket").exists());
    // fio counts from its own queue to its own reap: never less than the model took.
    let fastest = job["write"]["clat_ns"]["percentile"]["50.000000"].as_f64().unwrap() / 1e3;
    assert!(fastest >= 0.9 * served["write_lat_p50_us"].as_f64().unwrap(), "{fastest} {served}");
}

#[test]
fn nbdcopy_copies_an_image_to_the_drive_and_back() {
    if Command::new("nbdcopy").arg("--version").output().is_err() {
        println!("skipped: no nbdcopy (package libnbd-bin)");
        return;
    }
    let bench = Bench::new();
    let options = ["--nbd", "unix:socket", "--keep-data"];
    let server = Server::start(&bench, "sim:tiny?capacity=64MB", &options);
    let size = server.ready["capacity_bytes"].as_u64().unwrap() as usize;
    let mut random = ssdgauge_core::Random::new(8, 0);
    let image: Vec<u8> = (0..size).map(|_| random.next_u64() as u8).collect();
    std::fs::write(bench.path("image"), &image).unwrap();
    let copy = |from: &str, to: &str| {
        let mut command = Command::new("timeout");
        command.args(["120", "nbdcopy", "--flush", from, to]).current_dir(bench.folder.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{from} to {to}: {}", text(&output.stderr));
    };
    copy("image", server.uri());
    copy(server.uri(), "copy");
    assert!(std::fs::read(bench.path("copy")).unwrap() == image, "the copy differs");
    let (served, messages) = server.end();
    assert_eq!(messages, "");
    assert_eq!(
        (&served["host_written_bytes"], &served["host_read_bytes"], &served["errors"]),
        (&size.into(), &size.into(), &0.into())
    );
    assert!(served["flushes"].as_u64().unwrap() > 0, "{served}");
}

/// Returns the most memory that the server had, in MiB.
fn peak_mib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() / 1_024
}

/// Returns a client of the first handshake.
fn connect(server: &Server) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port()))?;
    stream.read_exact(&mut [0; 18])?;
    stream.write_all(&[0, 0, 0, 3])?;
    stream.write_all(b"IHAVEOPT\0\0\0\x01\0\0\0\0")?;
    stream.read_exact(&mut [0; 10])?;
    Ok(stream)
}

/// Returns a request of 32 MiB, the longest.
fn longest(command: u8) -> Vec<u8> {
    let head = [0x25, 0x60, 0x95, 0x13, 0, 0, 0, command, 0, 0, 0, 0, 0, 0, 0, 1];
    [&head[..], &[0; 8], &(32u32 << 20).to_be_bytes()].concat()
}

#[test]
fn the_memory_of_sixteen_clients_is_limited_whether_they_read_nothing_or_write_much() {
    let bench = Bench::new();
    let server = Server::start(&bench, "sim:tiny", &["--nbd", "127.0.0.1:0"]);
    let before = peak_mib(&server);
    let mut clients: Vec<TcpStream> = (0..16).map(|_| connect(&server).unwrap()).collect();
    for client in &mut clients {
        (0..4).for_each(|_| client.write_all(&longest(0)).unwrap());
    }
    // Once a byte of the first reply is there, so is what the server holds of it.
    for client in &clients {
        client.peek(&mut [0]).unwrap();
    }
    let of_readers = peak_mib(&server) - before;
    assert!(of_readers <= 100, "{of_readers} MiB for clients that read nothing");
    drop(clients);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                // The clients above may still have their places.
                let mut client = loop {
                    if let Ok(client) = connect(&server) {
                        break client;
                    }
                };
                let mut reply = [0; 16];
                for _ in 0..3 {
                    client.write_all(&longest(1)).unwrap();
                    client.write_all(&vec![1; 32 << 20]).unwrap();
                    client.read_exact(&mut reply).unwrap();
                    assert_eq!(reply[4..8], [0; 4]);
                }
            });
        }
    });
    let of_writers = peak_mib(&server) - before;
    println!("{of_readers} MiB for clients that read nothing, {of_writers} MiB for writers");
    assert!(of_writers <= 180, "{of_writers} MiB for writers");
    let (served, messages) = server.end();
    assert_eq!(served["writes"], 48, "{messages}");
}

#[test]
fn what_was_never_written_is_not_copied() {
    if Command::new("nbdinfo").arg("--version").output().is_err() {
        println!("skipped: no nbdinfo (package libnbd-bin)");
        return;
    }
    let bench = Bench::new();
    let options = ["--nbd", "unix:socket", "--keep-data"];
    let server = Server::start(&bench, "sim:tiny?capacity=64MB", &options);
    let size = server.ready["capacity_bytes"].as_u64().unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new("timeout");
        command.args(["120", program]).args(arguments).current_dir(bench.folder.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{program}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let map = || -> Vec<(u64, u64, u64)> {
        let map = run("nbdinfo", &["--json", "--map", server.uri()]);
        let map: Vec<Value> = serde_json::from_str(&map).unwrap();
        let number = |one: &Value, key: &str| one[key].as_u64().unwrap();
        map.iter()
            .map(|one| (number(one, "offset"), number(one, "length"), number(one, "type")))
            .collect()
    };
    assert_eq!(map(), [(0, size, 3)]);
    // 1 MiB of data at 8 MiB, in a sparse image.
    let image = std::fs::File::create(bench.path("image")).unwrap();
    image.set_len(size).unwrap();
    let data: Vec<u8> = (0..1 << 20).map(|at| (at % 251) as u8 | 1).collect();
    std::os::unix::fs::FileExt::write_all_at(&image, &data, 8 << 20).unwrap();
    run("nbdcopy", &["--destination-is-zero", "image", server.uri()]);
    let (at, end) = (8 << 20, 9 << 20);
    assert_eq!(map(), [(0, at, 3), (at, 1 << 20, 0), (end, size - end, 3)]);
    run("nbdcopy", &[server.uri(), "copy"]);
    let copy = std::fs::read(bench.path("copy")).unwrap();
    assert!(copy == std::fs::read(bench.path("image")).unwrap(), "the copy differs");
    let mut read = 1u64 << 20;
    if Command::new("qemu-img").arg("--version").output().is_ok() {
        let convert = ["convert", "-f", "raw", "-O", "raw", server.uri(), "by-qemu"];
        run("qemu-img", &convert);
        assert!(copy == std::fs::read(bench.path("by-qemu")).unwrap(), "the copy of qemu differs");
        read *= 2;
    } else {
        println!("skipped: no qemu-img (package qemu-utils)");
    }
    let (served, messages) = server.end();
    assert_eq!(messages, "");
    assert_eq!(served["host_written_bytes"], 1 << 20, "only the data was written");
    // qemu looks at the first sectors for a format.
    let of_reads = served["host_read_bytes"].as_u64().unwrap();
    assert!((read..read + (1 << 20)).contains(&of_reads), "{of_reads} bytes were read");
}

#[test]
fn injected_errors_reach_fio() {
    let bench = Bench::new();
    let target = "sim:tiny?fault.error_at=1MiB&fault.error_bytes=4096";
    let options = ["--nbd", "127.0.0.1:0"];
    let server = Server::start(&bench, &target.replace("1MiB", "1048576"), &options);
    assert!(server.port() > 0);
    let Some(output) = fio(&bench, &server, &["--rw=read", "--bs=4k", "--size=2m"]) else { return };
    assert!(!output.status.success(), "{}", text(&output.stdout));
    assert_eq!(json_of(&output)["jobs"][0]["error"], 5, "EIO");
    let (served, _) = server.end();
    assert_eq!((&served["errors"], &served["reads"]), (&1.into(), &256.into()));
}

#[test]
fn a_client_that_speaks_another_protocol_is_named_and_the_server_continues() {
    let bench = Bench::new();
    let server = Server::start(&bench, "sim:tiny", &["--nbd", "127.0.0.1:0"]);
    for _ in 0..30 {
        let mut browser = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        browser.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        browser.write_all(b"GET /\x1b]0;title\x07 HTTP/1.1\r\n\r\n").unwrap();
        // Until the server closes the connection.
        let _ = browser.read_to_end(&mut Vec::new());
    }
    let (served, messages) = server.end();
    assert_eq!(served["rejected_clients"], 30);
    assert_eq!(messages.matches("does not follow the NBD protocol").count(), 20, "{messages}");
    assert_eq!(messages.matches("further messages about clients are left out").count(), 1);
}

#[test]
fn a_server_for_one_client_ends_when_it_has_left() {
    let bench = Bench::new();
    let server = Server::start(&bench, "sim:tiny", &["--nbd", "127.0.0.1:0", "--once"]);
    let mut client = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    client.read_exact(&mut [0; 18]).unwrap();
    // The handshake up to the export, and the disconnect.
    let disconnect = [&0x2560_9513u32.to_be_bytes()[..], &[0, 0, 0, 2], &[0; 20]].concat();
    let option = [b"IHAVEOPT", &1u32.to_be_bytes()[..], &[0; 4]].concat();
    client.write_all(&[&3u32.to_be_bytes()[..], &option, &disconnect].concat()).unwrap();
    client.read_to_end(&mut Vec::new()).unwrap();
    let mut server = server;
    let mut line = String::new();
    server.stdout.read_line(&mut line).unwrap();
    assert!(line.contains("\"clients\":1"), "{line}");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_result_is_printed_as_text_too() {
    let bench = Bench::new();
    let mut child = bench
        .command(&["serve", "sim:tiny", "--nbd", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.starts_with("ready: sim:tiny (1.00 GB) at nbd://127.0.0.1:"), "{line}");
    signal(&child, "TERM");
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success());
    for row in ["MODEL, no measurement", "written by the host", "write amplification"] {
        assert!(rest.contains(row), "{rest}");
    }
}

#[test]
fn targets_and_addresses_that_cannot_be_served_are_refused() {
    let bench = Bench::new();
    std::fs::write(bench.path("notes.txt"), "only some notes\n").unwrap();
    let long = format!("unix:{}", "a".repeat(120));
    for (target, address, code, part) in [
        ("/dev/null", "unix:socket", 2, "'/dev/null' is not a virtual drive"),
        (".", "unix:socket", 2, "'.' is not a virtual drive"),
        ("sim:tny", "unix:socket", 2, "did you mean 'sim:tiny'"),
        ("sim:tiny?capacity=1", "unix:socket", 2, "impossible drive"),
        ("sim:tiny", "0.0.0.0:10809", 3, "other machines could reach it"),
        ("sim:tiny", "[::]:10809", 3, "other machines could reach it"),
        ("sim:tiny", "10809", 2, "'10809' is not an address"),
        ("sim:tiny", "unix:notes.txt", 3, "notes.txt exists already"),
        ("sim:tiny", "unix:no-folder/socket", 3, "cannot listen on no-folder/socket"),
        ("sim:tiny", &long, 3, "cannot listen on aaa"),
    ] {
        let output = bench.call(&["serve", target, "--nbd", address]);
        let messages = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{target} {address}: {messages}");
        assert!(messages.contains(part) && messages.contains("\nhint: "), "{messages}");
        assert!(output.stdout.is_empty());
        assert_eq!(bench.names(), ["notes.txt"]);
    }
    assert_eq!(std::fs::read(bench.path("notes.txt")).unwrap(), b"only some notes\n");
}
