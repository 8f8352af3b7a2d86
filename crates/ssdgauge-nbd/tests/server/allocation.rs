//! The map of what a drive stores: metadata contexts and block status.

use crate::server::client::{CAPACITY, Client, GIB, Running, queries};
use ssdgauge_core::Random;
use std::io::Read;

#[test]
fn the_map_of_a_drive_has_what_was_written_and_what_is_zero() {
    const DATA: u32 = 0;
    const ZERO: u32 = 2;
    const HOLE: u32 = 3;
    let server = Running::start("tiny", Some(GIB));
    let mut client = Client { stream: server.greeted(3), cookie: 0 };
    client.choose_allocation();
    assert_eq!(client.extents(0, 1 << 20, 0), [(1 << 20, HOLE)]);
    assert_eq!(client.write(64 << 10, &[7; 8 << 10]), 0);
    assert_eq!(client.write(128 << 10, &[0; 4 << 10]), 0);
    let map = [(65_536, HOLE), (8_192, DATA), (57_344, HOLE), (4_096, ZERO), (4_096, HOLE)];
    assert_eq!(client.extents(0, 139_264, 0), map);
    assert_eq!(client.extents(0, 139_264, 8), map[..1], "one extent was asked for");
    assert_eq!(client.extents(68 << 10, 8_192, 0), [(4_096, DATA), (4_096, HOLE)]);
    // The extents of half a block.
    assert_eq!(client.extents((72 << 10) - 512, 1_024, 0), [(512, DATA), (512, HOLE)]);
    // A trim makes a hole again, write-zeroes without one (bit 1) does not.
    assert_eq!(client.call(4, 0, 64 << 10, 4_096, &[]), 0);
    assert_eq!(client.call(6, 2, 68 << 10, 4_096, &[]), 0);
    assert_eq!(client.extents(64 << 10, 8_192, 0), [(4_096, HOLE), (4_096, ZERO)]);
    // A read has a structured reply, with its offset before its data; so has its error.
    client.send(0, 4, 64 << 10, 512, &[]);
    assert_eq!(client.structured(), (1, [&65_536u64.to_be_bytes()[..], &[0; 512]].concat()));
    client.send(0, 0, CAPACITY, 512, &[]);
    assert_eq!(client.structured(), ((1 << 15) + 1, [0, 0, 0, 22, 0, 0].to_vec()));
    for (offset, length, flags) in [(0, 0, 0), (1, 512, 0), (CAPACITY, 512, 0), (0, 512, 1)] {
        client.send(7, flags, offset, length, &[]);
        assert_eq!(client.structured().0, (1 << 15) + 1, "{offset} {length} {flags}");
    }
    // Without the context, the block status is an error.
    let mut other = server.client();
    assert_eq!(other.call(7, 0, 0, 512, &[]), 22);
    // Without contents, what was written is data all the same.
    let bare = Running::start("tiny", None);
    let mut client = Client { stream: bare.greeted(3), cookie: 0 };
    client.choose_allocation();
    assert_eq!(client.write(4_096, &[0; 4_096]), 0);
    assert_eq!(client.extents(0, 8_192, 0), [(4_096, HOLE), (4_096, DATA)]);
}

#[test]
fn metadata_contexts_are_listed_and_chosen_by_their_queries() {
    let server = Running::start("tiny", None);
    let mut client = Client { stream: server.greeted(3), cookie: 0 };
    let all = (4, b"\0\0\0\0base:allocation".to_vec());
    for names in [&[][..], &[&b"base:"[..]], &[b"x:y", b"base:allocation"]] {
        client.option(9, &queries(b"sim:tiny", names));
        assert_eq!(client.option_reply(9), all, "{names:?}");
        assert_eq!(client.option_reply(9).0, 1);
    }
    client.option(9, &queries(b"", &[b"qemu:"]));
    assert_eq!(client.option_reply(9).0, 1);
    let chosen = queries(b"", &[b"base:allocation"]);
    client.option(10, &chosen);
    assert_eq!(client.option_reply(10).0, 0x8000_0003, "without structured replies");
    client.option(8, b"");
    assert_eq!(client.option_reply(8).0, 1);
    for (data, expected) in [
        (queries(b"other", &[b"base:allocation"]), 0x8000_0006),
        (chosen[..chosen.len() - 1].to_vec(), 0x8000_0003),
        ([&chosen[..], &[0]].concat(), 0x8000_0003),
        (queries(b"", &[]), 1),
        // A namespace is not a context.
        (queries(b"", &[b"base:"]), 1),
    ] {
        client.option(10, &data);
        assert_eq!(client.option_reply(10).0, expected, "{data:?}");
    }
    client.option(1, b"");
    client.stream.read_exact(&mut [0; 10]).unwrap();
    client.send(7, 0, 0, 512, &[]);
    assert_eq!(client.structured().0, (1 << 15) + 1, "no context was chosen");
}

#[test]
fn the_map_agrees_with_a_plain_one_after_random_commands() {
    let seed = 20_261_127;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let server = Running::start("tiny", Some(GIB));
    let mut client = Client { stream: server.greeted(3), cookie: 0 };
    client.choose_allocation();
    const BLOCKS: usize = 256;
    let mut plain = [3; BLOCKS];
    let turns = if std::env::var_os("SSDGAUGE_LONG").is_some() { 5_000 } else { 300 };
    for turn in 0..turns {
        let first = random.below(BLOCKS as u64) as usize;
        let count = 1 + random.below((BLOCKS - first).min(20) as u64) as usize;
        let (offset, length) = (first as u64 * 4_096, count as u32 * 4_096);
        let (state, error) = match random.below(4) {
            0 => (3, client.call(4, 0, offset, length, &[])),
            1 => (2, client.call(6, 2, offset, length, &[])),
            2 => (2, client.write(offset, &vec![0; length as usize])),
            _ => (0, client.write(offset, &vec![1; length as usize])),
        };
        assert_eq!(error, 0, "turn {turn}");
        plain[first..first + count].fill(state);
        if turn % 10 == 0 {
            let mut map = Vec::new();
            while map.len() < BLOCKS {
                let at = map.len() as u64 * 4_096;
                for (length, state) in client.extents(at, BLOCKS as u32 * 4_096 - at as u32, 0) {
                    map.resize(map.len() + length as usize / 4_096, state);
                }
            }
            assert_eq!(map, plain, "turn {turn}");
        }
    }
}
