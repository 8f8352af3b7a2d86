//! Both sides of the live socket, over a real one.

use super::receiver::LiveReceiver;
use super::sender::LiveSeconds;
use super::*;
use crate::second::Second;
use ssdgauge_runfile::StepId;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};

const STEP: StepId = StepId(3);

fn second(number: u32) -> Second {
    let load = ssdgauge_core::Second::idle(number);
    Second { step: STEP, load, temperature_c: Some(41.0), power_w: None }
}

/// Takes seconds until `count` have come.
fn take(receiver: &mut LiveReceiver, count: usize) -> Vec<Second> {
    let mut seconds = Vec::new();
    while seconds.len() < count {
        seconds.extend(receiver.take());
        std::thread::yield_now();
    }
    seconds
}

fn numbers(seconds: &[Second]) -> Vec<u32> {
    seconds.iter().map(|second| second.load.number).collect()
}

#[test]
fn a_client_gets_the_last_seconds_and_each_one_that_follows() {
    let folder = tempfile::tempdir().unwrap();
    let run_file = folder.path().join("a.ssdg");
    let mut live = LiveSeconds::listen(&run_file, "run").unwrap();
    let mode = fs::symlink_metadata(socket_of(&run_file)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    (0..2).for_each(|number| live.send(&second(number)));
    let mut early = LiveReceiver::new(&run_file, "run");
    // Connected before the next second.
    assert!(early.take().is_empty());
    live.send(&second(2));
    assert_eq!(take(&mut early, 3), [second(0), second(1), second(2)]);
    (3..6).for_each(|number| live.send(&second(number)));
    assert_eq!(numbers(&take(&mut early, 3)), [3, 4, 5]);
    let mut late = LiveReceiver::new(&run_file, "run");
    assert!(late.take().is_empty());
    live.send(&second(6));
    assert_eq!(numbers(&take(&mut late, 7)), [0, 1, 2, 3, 4, 5, 6]);
    drop(live);
    assert!(!socket_of(&run_file).exists());
    assert!(early.take().iter().chain(&late.take()).all(|second| second.load.number == 6));
}

#[test]
fn a_client_that_does_not_read_is_disconnected_and_neither_delays_nor_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let run_file = folder.path().join("a.ssdg");
    let mut live = LiveSeconds::listen(&run_file, "run").unwrap();
    let _stopped = UnixStream::connect(socket_of(&run_file)).unwrap();
    let mut reader = LiveReceiver::new(&run_file, "run");
    assert!(reader.take().is_empty());
    let mut seen = 0;
    // A socket holds some 200 kB that were not read; a line has more than 200 bytes.
    for number in 0..4_000 {
        live.send(&second(number));
        seen += take(&mut reader, 1).len();
    }
    assert_eq!(seen, 4_000);
}

#[test]
fn what_a_killed_run_left_is_replaced_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let run_file = folder.path().join("a.ssdg");
    let socket = socket_of(&run_file);
    // A listener that is closed leaves its file.
    drop(UnixListener::bind(&socket).unwrap());
    let live = LiveSeconds::listen(&run_file, "run").unwrap();
    let error = LiveSeconds::listen(&run_file, "run").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    // Another file of that name is not removed at the end.
    fs::remove_file(&socket).unwrap();
    fs::write(&socket, "notes").unwrap();
    drop(live);
    let error = LiveSeconds::listen(&run_file, "run").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    LiveSeconds::remove_left(&run_file);
    assert_eq!(fs::read_to_string(&socket).unwrap(), "notes");
}

#[test]
fn what_a_run_that_was_killed_after_its_last_step_left_is_removed_and_a_socket_in_use_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let run_file = folder.path().join("a.ssdg");
    let socket = socket_of(&run_file);
    LiveSeconds::remove_left(&run_file);
    drop(UnixListener::bind(&socket).unwrap());
    LiveSeconds::remove_left(&run_file);
    assert!(fs::symlink_metadata(&socket).is_err());
    let live = LiveSeconds::listen(&run_file, "run").unwrap();
    LiveSeconds::remove_left(&run_file);
    assert!(fs::symlink_metadata(&socket).is_ok());
    drop(live);
}

#[test]
fn the_path_may_be_longer_than_the_name_of_a_socket() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("x".repeat(100)).join("y".repeat(100));
    fs::create_dir_all(&deep).unwrap();
    let run_file = deep.join("a.ssdg");
    let mut live = LiveSeconds::listen(&run_file, "run").unwrap();
    let mut receiver = LiveReceiver::new(&run_file, "run");
    assert!(receiver.take().is_empty());
    live.send(&second(0));
    assert_eq!(numbers(&take(&mut receiver, 1)), [0]);
    let long = deep.join(format!("{}.ssdg", "z".repeat(100)));
    assert!(LiveSeconds::listen(&long, "run").is_err());
    assert!(LiveReceiver::new(&long, "run").take().is_empty());
}

#[test]
fn a_socket_of_another_run_and_one_that_speaks_otherwise_give_no_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let run_file = folder.path().join("a.ssdg");
    let listener = UnixListener::bind(socket_of(&run_file)).unwrap();
    let mut valid =
        serde_json::to_string(&Greeting { format: FORMAT, run_id: "run".into() }).unwrap();
    valid.push('\n');
    let second = serde_json::to_string(&second(0)).unwrap();
    let other = valid.replace(&format!("\"format\":{FORMAT}"), "\"format\":1");
    for (sent, expected) in [
        (format!("{valid}{second}\n"), 1),
        (format!("{}{second}\n", valid.replace("run\"}", "other\"}")), 0),
        (format!("{other}{second}\n"), 0),
        (format!("{second}\n"), 0),
        (format!("{valid}{{\"step\":\"x\"}}\n{second}\n"), 0),
        ("x".repeat(LONGEST_LINE * 2), 0),
    ] {
        let mut receiver = LiveReceiver::new(&run_file, "run");
        assert!(receiver.take().is_empty());
        let (mut server, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut server, sent.as_bytes()).unwrap();
        assert_eq!(receiver.take().len(), expected, "{sent:.80}");
    }
}
