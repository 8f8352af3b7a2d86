//! The server against clients that follow the protocol, and clients that do not.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends at its first failure")]

mod allocation;
mod client;
mod misuse;

use client::{CAPACITY, Client, GIB, Running, request};
use ssdgauge_core::Bytes;
use ssdgauge_nbd::MAX_PAYLOAD;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

#[test]
fn data_that_is_kept_is_read_back_by_every_client_and_zeros_where_it_was_trimmed() {
    let server = Running::start("tiny", Some(GIB));
    let (mut first, mut second) = (server.client(), server.client());
    let data: Vec<u8> = (0..65_536u32).map(|at| (at / 7) as u8).collect();
    assert_eq!(first.write(4_096, &data), 0);
    assert_eq!(second.read(4_096, data.len()).unwrap(), data);
    assert_eq!(second.read(512, 8_192).unwrap()[3_584..], data[..4_608]);
    assert_eq!(first.call(4, 0, 8_192, 4_096, &[]), 0, "trim");
    assert_eq!(first.call(6, 2, 16_384, 512, &[]), 0, "write zeroes");
    assert_eq!(first.call(3, 0, 0, 0, &[]), 0, "flush");
    assert_eq!(second.read(8_192, 4_096).unwrap(), [0; 4_096]);
    let half = second.read(16_384, 4_096).unwrap();
    assert!(half[..512] == [0; 512] && half[512..] == data[12_800..16_384]);
    // The longest requests, with a buffer that has to grow, and many small ones at once.
    let long: Vec<u8> = (0..MAX_PAYLOAD).map(|at| (at / 4_096) as u8).collect();
    assert_eq!(first.write(1 << 26, &long), 0);
    assert_eq!(second.read(1 << 26, long.len()).unwrap(), long);
    let many: Vec<u8> =
        (0..5_000u64).flat_map(|cookie| request(0, 0, cookie, cookie * 512, 512)).collect();
    let mut writer = first.stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || writer.write_all(&many).unwrap());
    let mut cookies: Vec<u64> = (0..5_000)
        .map(|_| {
            let (error, cookie) = first.reply();
            assert_eq!(error, 0);
            first.stream.read_exact(&mut [0; 512]).unwrap();
            cookie
        })
        .collect();
    sender.join().unwrap();
    cookies.sort_unstable();
    assert!(cookies.into_iter().eq(0..5_000));
    first.send(2, 0, 0, 0, &[]);
    assert!(first.is_closed());
    let served = server.end();
    assert_eq!((served.clients, served.rejected, served.errors), (2, 0, 0));
    assert_eq!((served.reads, served.writes, served.trims, served.flushes), (5_005, 3, 1, 1));
    assert_eq!(served.truth.host_bytes, 65_536 + u64::from(MAX_PAYLOAD) + 512);
    assert!(served.truth.nand_bytes() >= served.truth.host_bytes && served.energy_j > 0.0);
    assert_eq!(served.lateness.count(), 5_010);
    assert_eq!(served.latency.map(|latency| latency.count()), [5_005, 2]);
}

#[test]
fn without_kept_data_reads_return_zeros_and_full_memory_is_an_error_of_the_write() {
    let server = Running::start("tiny", None);
    let mut client = server.client();
    assert_eq!(client.write(0, &[1; 512]), 0);
    assert_eq!(client.read(0, 512).unwrap(), [0; 512]);
    let server = Running::start("tiny", Some(Bytes(100_000)));
    let mut client = server.client();
    assert_eq!(client.write(0, &[1; 65_536]), 0);
    assert_eq!(client.write(65_536, &[1; 65_536]), 28, "ENOSPC");
    assert_eq!(client.read(0, 65_536).unwrap(), [1; 65_536]);
}

#[test]
fn requests_outside_of_the_drive_or_its_blocks_are_answered_with_an_error() {
    let server = Running::start("tiny", Some(GIB));
    let mut client = server.client();
    for (command, flags, offset, length, error) in [
        (0, 0, CAPACITY, 512, 22),
        (0, 0, u64::MAX - 511, 512, 22),
        (0, 0, 0, 0, 22),
        (0, 0, 1, 512, 22),
        (0, 0, 0, 513, 22),
        (0, 0, 0, MAX_PAYLOAD + 512, 22),
        (0, 128, 0, 512, 22),
        (4, 0, CAPACITY, 512, 22),
        (6, 0, CAPACITY, 512, 28),
        (3, 4, 0, 0, 22),
        (5, 0, 0, 512, 22),
        (99, 0, 0, 512, 22),
        (7, 0, 0, 512, 22),
    ] {
        assert_eq!(client.call(command, flags, offset, length, &[]), error, "{command} {offset}");
    }
    assert_eq!(client.call(1, 0, CAPACITY, 512, &[1; 512]), 28, "a write beyond the end");
    assert_eq!(client.call(1, 64, 0, 512, &[1; 512]), 22, "a write with unknown flags");
    assert_eq!(client.read(0, 512).unwrap(), [0; 512], "and its data was taken from the stream");
    let served = server.end();
    assert_eq!((served.errors, served.reads, served.truth.host_bytes), (15, 1, 0));
}

#[test]
fn injected_faults_reach_the_client_and_no_reply_is_early() {
    let range = "tiny?fault.error_at=8192&fault.error_bytes=4096&fault.flush_fails=true";
    let server = Running::start(range, Some(GIB));
    let mut client = server.client();
    assert_eq!(client.write(4_096, &[9; 8_192]), 5, "EIO");
    assert_eq!(client.read(8_192, 512), Err(5));
    assert_eq!(client.read(4_096, 4_096).unwrap(), [0; 4_096], "nothing of it was stored");
    assert_eq!(client.call(3, 0, 0, 0, &[]), 5);
    assert_eq!(server.end().errors, 3);
    let server = Running::start("tiny?fault.drop_at_s=0", Some(GIB));
    let mut client = server.client();
    assert_eq!(client.write(0, &[9; 512]), 0, "acknowledged");
    assert_eq!(client.read(0, 512).unwrap(), [0; 512], "and dropped");
    let server = Running::start("tiny?fault.flip_at_s=0", Some(GIB));
    let mut client = server.client();
    assert_eq!(client.write(0, &[9; 8_192]), 0, "acknowledged");
    let read = client.read(0, 8_192).unwrap();
    let changed: Vec<u8> = read.into_iter().filter(|byte| *byte != 9).collect();
    assert_eq!(changed, [8], "one bit of one byte");
    // Nothing completes in the first 0.7 s of the drive, whose time begins after `begun`.
    let begun = Instant::now();
    let server = Running::start("tiny?fault.stall_at_s=0&fault.stall_for_s=0.7", None);
    server.client().read(0, 512).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(700), "{:?}", begun.elapsed());
}

#[test]
fn a_client_of_the_first_handshake_is_served_and_unknown_options_are_declined() {
    let server = Running::start("tiny", None);
    let mut client = Client { stream: server.greeted(3), cookie: 0 };
    for (number, data, expected) in [
        (5, &b""[..], 0x8000_0001),
        (11, b"", 0x8000_0001),
        (8, b"data", 0x8000_0003),
        (9, b"anything", 0x8000_0003),
        (4_000_000_000, b"", 0x8000_0001),
        (3, b"data", 0x8000_0003),
        (6, b"\0\0\0\x09tiny\0\0", 0x8000_0003),
        (7, b"\0\0\0\x05other\0\0", 0x8000_0006),
    ] {
        client.option(number, data);
        assert_eq!(client.option_reply(number).0, expected, "option {number}");
    }
    client.option(3, b"");
    assert_eq!(client.option_reply(3), (2, b"\0\0\0\x08sim:tiny".to_vec()));
    assert_eq!(client.option_reply(3).0, 1);
    client.option(1, b"");
    client.stream.read_exact(&mut [0; 10]).unwrap();
    client.read(0, 512).unwrap();
    // Without the flag for no zeros, 124 of them follow.
    let mut old = Client { stream: server.greeted(1), cookie: 0 };
    old.option(1, b"sim:tiny");
    old.stream.read_exact(&mut [0; 134]).unwrap();
    old.read(0, 512).unwrap();
    let mut leaving = Client { stream: server.greeted(3), cookie: 0 };
    leaving.option(2, b"");
    assert_eq!(leaving.option_reply(2).0, 1);
    assert!(leaving.is_closed());
    let served = server.end();
    assert_eq!((served.clients, served.rejected), (2, 0));
}
