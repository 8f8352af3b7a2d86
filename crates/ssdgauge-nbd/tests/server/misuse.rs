//! Clients that do not follow the protocol or do not leave, and addresses that are refused.

use crate::server::client::{Client, GIB, OPTION, Running};
use ssdgauge_core::Random;
use ssdgauge_nbd::{Address, MAX_CLIENTS, MAX_PAYLOAD, Server};
use ssdgauge_sim::{ServedDrive, VirtualRig};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn connections_in_their_handshake_keep_no_client_out() {
    let server = Running::start("tiny", None);
    let mut kept = server.client();
    // More than there are places, all of them open: some silent, some within an option.
    let mut half_open: Vec<UnixStream> = Vec::new();
    for number in 0..3 * MAX_CLIENTS {
        let mut one = if number % 2 == 0 { server.connect() } else { server.greeted(3) };
        if number % 4 == 1 {
            let _ = one.write_all(OPTION);
        }
        half_open.push(one);
    }
    server.client().read(0, 512).unwrap();
    assert_eq!(server.next_event(), "MadeRoom");
    // Who has finished its handshake stays.
    kept.read(0, 512).unwrap();
    assert_eq!(server.end().clients, 2);
}

#[test]
fn clients_that_do_not_follow_the_protocol_are_disconnected_with_a_reason() {
    let server = Running::start("tiny", Some(GIB));
    let closes = |stream: UnixStream, reason: &str| {
        let mut client = Client { stream, cookie: 0 };
        assert!(client.is_closed(), "{reason}");
        let event = server.next_event();
        assert!(event.contains(reason), "{event}");
        // The others are served.
        server.client().read(0, 512).unwrap();
    };
    closes(server.greeted(0xffff_0000), "Flags");
    let mut http = server.connect();
    http.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    closes(http, "Flags");
    let mut no_option = server.greeted(3);
    no_option.write_all(b"IHAVENOT and more bytes").unwrap();
    closes(no_option, "NoOption");
    let mut huge = server.greeted(3);
    huge.write_all(&[OPTION, &7u32.to_be_bytes()[..], &u32::MAX.to_be_bytes()].concat()).unwrap();
    closes(huge, "TooLong");
    let mut flood = server.greeted(3);
    let option = [OPTION, &8u32.to_be_bytes()[..], &[0; 4]].concat();
    // The server closes the connection before it has read everything.
    let _ = flood.write_all(&option.repeat(10_000));
    closes(flood, "TooMany");
    let mut name = server.greeted(3);
    let option = [OPTION, &1u32.to_be_bytes()[..], &5u32.to_be_bytes(), b"other"].concat();
    name.write_all(&option).unwrap();
    closes(name, "UnknownExport");
    let mut client = server.client();
    client.stream.write_all(&[0xaa; 28]).unwrap();
    closes(client.stream, "NoRequest");
    let mut client = server.client();
    client.send(1, 0, 0, MAX_PAYLOAD + 512, &[]);
    closes(client.stream, "WriteTooLong");
    assert_eq!(server.end().rejected, 8);
}

#[test]
fn random_bytes_from_many_clients_end_no_server() {
    let seed = 20_261_123;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let server = Running::start("tiny", Some(GIB));
    let turns = if std::env::var_os("SSDGAUGE_LONG").is_some() { 20_000 } else { 300 };
    for turn in 0..turns {
        // One client at a time: each has left before the next one comes.
        let mut stream = match turn % 3 {
            0 => server.connect(),
            1 => server.greeted(3),
            _ => server.client().stream,
        };
        let mut bytes: Vec<u8> = (0..random.below(200)).map(|_| random.below(256) as u8).collect();
        match random.below(4) {
            0 => bytes.splice(..0, OPTION.iter().copied()).for_each(drop),
            1 => bytes.splice(..0, 0x2560_9513u32.to_be_bytes()).for_each(drop),
            _ => {}
        }
        // The server may have closed the connection already.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = io::copy(&mut stream, &mut io::sink());
    }
    server.client().read(0, 512).unwrap();
    assert!(server.end().clients > turns / 3);
}

#[test]
fn further_clients_are_declined_and_a_place_is_free_again_when_one_has_left() {
    let server = Running::start("tiny", None);
    let mut clients: Vec<Client> = (0..MAX_CLIENTS).map(|_| server.client()).collect();
    // Data that never comes keeps no other client waiting.
    clients[0].send(1, 0, 0, MAX_PAYLOAD, &[0; 100]);
    let mut one_more = Client { stream: server.connect(), cookie: 0 };
    assert!(one_more.is_closed());
    assert_eq!(server.next_event(), "TooManyClients");
    clients[1].read(0, 512).unwrap();
    let mut leaving = clients.pop().unwrap();
    leaving.send(2, 0, 0, 0, &[]);
    assert!(leaving.is_closed());
    let since = Instant::now();
    while server.connect().read(&mut [0; 18]).unwrap_or(0) == 0 {
        assert!(since.elapsed() < Duration::from_secs(60), "no place is free");
    }
    drop(clients);
    assert_eq!(server.end().clients, MAX_CLIENTS as u64);
}

#[test]
fn a_socket_that_exists_is_refused_and_the_own_one_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let listen = |path: &Path| {
        let drive = ServedDrive::new(VirtualRig::open("tiny", 1).unwrap());
        Server::listen(&Address::Unix(path.to_owned()), drive, None)
    };
    let file = folder.path().join("file");
    std::fs::write(&file, "text").unwrap();
    assert!(listen(&file).unwrap_err().to_string().contains("exists already"));
    assert_eq!(std::fs::read(&file).unwrap(), b"text");
    let path = folder.path().join("a socket");
    let server = listen(&path).unwrap();
    assert!(server.uri().ends_with("/a%20socket"), "{}", server.uri());
    assert!(listen(&path).is_err());
    assert!(path.exists());
    drop(server);
    assert!(!path.exists());
    let server = listen(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "of another program").unwrap();
    drop(server);
    assert!(path.exists());
}

#[test]
fn only_addresses_of_this_machine_are_accepted() {
    for (text, is_accepted) in [
        ("unix:/tmp/a", true),
        ("unix:", false),
        ("127.0.0.1:10809", true),
        ("localhost:0", true),
        ("[::1]:10809", true),
        ("0.0.0.0:10809", false),
        ("[::]:10809", false),
        ("192.168.1.1:10809", false),
        ("10809", false),
        ("127.0.0.1", false),
        ("127.0.0.1:99999", false),
        ("", false),
    ] {
        assert_eq!(text.parse::<Address>().is_ok(), is_accepted, "{text}");
    }
}
