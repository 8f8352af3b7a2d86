//! Constructed log pages after the documents, and hostile ones.

use super::*;
use crate::fixture::{Fixture, additional_smart, fdp_statistics, ocp_log};
use crate::media::Source;
use crate::pass_through::{AtaCommand, NvmeCommand};
use std::sync::Mutex;

/// A drive, and the log pages that it was asked for.
struct Asked(Fixture, Mutex<Vec<u8>>);

impl PassThrough for Asked {
    fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError> {
        if command.opcode == 0x02 {
            self.1.lock().unwrap().push(command.words[0] as u8);
        }
        self.0.nvme(command, data)
    }

    fn ata(&self, command: &AtaCommand, data: &mut [u8]) -> Result<(), CommandError> {
        self.0.ata(command, data)
    }
}

/// Returns the log pages that `drive` is asked for, in order.
fn asked(drive: Fixture) -> Vec<u8> {
    let drive = Asked(drive, Mutex::default());
    LogSource::find(&drive, 1).ok();
    drive.1.into_inner().unwrap()
}

/// A drive for servers of `vendor`, without a volatile cache, with the logs `logs`.
fn server_drive(vendor: u16, logs: &[(u8, Vec<u8>)]) -> Fixture {
    let mut drive = Fixture::nvme();
    let controller = drive.identify.get_mut(&(1, 0)).unwrap();
    controller[..2].copy_from_slice(&vendor.to_le_bytes());
    controller[525] &= !1;
    drive.logs.extend(logs.iter().cloned());
    drive
}

/// Adds the list of supported logs with `ids`.
fn listed(mut drive: Fixture, ids: &[u8]) -> Fixture {
    let mut list = vec![0; 1_024];
    ids.iter().for_each(|id| list[4 * usize::from(*id)] = 1);
    drive.logs.insert(0, list);
    drive.identify.get_mut(&(1, 0)).unwrap()[261] |= 1 << 5;
    drive
}

fn with_cells(guid: Option<[u8; 16]>, tlc: u128, slc: u128) -> Vec<u8> {
    let mut log = vec![0; LENGTH];
    log[..16].copy_from_slice(&tlc.to_le_bytes());
    log[16..32].copy_from_slice(&slc.to_le_bytes());
    log[496..].copy_from_slice(&guid.unwrap_or_default());
    log
}

/// Seagate's log C4h of `version` with the attributes `values`.
fn seagate_log(version: u16, values: &[(u8, u64)]) -> Vec<u8> {
    let mut log = vec![0; LENGTH];
    log[..2].copy_from_slice(&version.to_le_bytes());
    for (number, (id, value)) in values.iter().enumerate() {
        let one = &mut log[2 + 12 * number..14 + 12 * number];
        one[0] = *id;
        one[4..].copy_from_slice(&value.to_le_bytes());
    }
    log
}

fn micron_d0_log(bytes: u64) -> Vec<u8> {
    let mut log = vec![0x5a; LENGTH];
    log[176..184].copy_from_slice(&bytes.to_le_bytes());
    log
}

/// The same drive as the model `model`.
fn of_model(mut drive: Fixture, model: &str) -> Fixture {
    let padded = format!("{model:<40}");
    let controller = drive.identify.get_mut(&(1, 0)).unwrap();
    controller[24..64].copy_from_slice(padded.as_bytes());
    drive
}

const SN720: &str = "WDC PC SN720 SDAPNTW-512G-1014";

#[test]
fn every_described_log_is_found_and_decoded() {
    let media = 123_456_789_012_345u128;
    let gib = 1u128 << 30;
    let cases = [
        (server_drive(0x144d, &[(C0, ocp_log(media))]), LogSource::Ocp, media, None),
        (
            server_drive(0x15b7, &[(C0, with_cells(Some(BOOT_GUID), media, 7))]),
            LogSource::Boot,
            media + 7,
            None,
        ),
        (
            server_drive(INTEL, &[(0xca, additional_smart(96, 32))]),
            LogSource::Additional,
            3 * gib,
            Some(gib),
        ),
        (
            listed(server_drive(MICRON, &[(0xd0, micron_d0_log(9_000_000_007))]), &[0xd0]),
            LogSource::MicronD0,
            9_000_000_007,
            None,
        ),
        (
            of_model(server_drive(SANDISK, &[(0xfb, with_cells(None, media, 5))]), SN720),
            LogSource::Wd,
            media + 5,
            None,
        ),
        (
            listed(
                server_drive(
                    SEAGATE,
                    &[(0xc4, seagate_log(2, &[(242, 0), (241, 4_000), (234, 0), (233, 7_000)]))],
                ),
                &[0xc4],
            ),
            LogSource::Seagate,
            7_000,
            Some(4_000),
        ),
        (
            listed(server_drive(MEMBLAZE, &[(0xca, additional_smart(64, 32))]), &[0xca]),
            LogSource::Additional,
            2 * gib,
            Some(gib),
        ),
    ];
    for (drive, source, media, host) in cases {
        assert_eq!(LogSource::find(&drive, 1), Ok(source));
        let found = Source::Log(source).read(&drive).unwrap();
        let bytes = |counter: Counter| counter.bytes().map(u128::from);
        assert_eq!(bytes(found.media), Some(media), "{source:?}");
        assert_eq!(found.host.and_then(bytes), host, "{source:?}");
    }
}

#[test]
fn the_statistics_of_an_endurance_group_count_before_all_other_logs() {
    let mut drive = placement_drive(1_000_000, 1_425_000);
    drive.identify.get_mut(&(1, 0)).unwrap()[98] = 0;
    drive.identify.get_mut(&(0, 1)).unwrap()[102] = 0;
    // Without the attribute of the controller, and without an endurance group, it is not queried.
    assert_eq!(LogSource::find(&drive, 1), Ok(LogSource::Ocp));
    drive.identify.get_mut(&(1, 0)).unwrap()[98] |= 1 << 3;
    assert_eq!(LogSource::find(&drive, 1), Ok(LogSource::Ocp));
    drive.identify.get_mut(&(0, 1)).unwrap()[102] = 2;
    let source = LogSource::find(&drive, 1).unwrap();
    let format = query::namespace(&drive, 1).unwrap().current_format();
    assert_eq!(source, LogSource::Fdp(2, format));
    let found = source.read(&drive).unwrap().unwrap();
    assert_eq!(found.media.bytes(), Some(1_425_000));
    assert_eq!(found.host.and_then(Counter::bytes), Some(1_000_000));
    // With a list, the log has to be in it: 23h is the log of events.
    assert_eq!(LogSource::find(&listed(drive, &[0x22, C0]), 1), Ok(source));
    let unlisted = || listed(placement_drive(1_000_000, 1_425_000), &[0x23, C0]);
    assert_eq!(LogSource::find(&unlisted(), 1), Ok(LogSource::Ocp));
    assert_eq!(asked(unlisted()), [0, C0]);
}

/// A drive for servers with an OCP log, and with statistics of Flexible Data Placement of group 2.
fn placement_drive(host: u128, media: u128) -> Fixture {
    let logs = [(C0, ocp_log(5)), (0x22, fdp_statistics(host, media))];
    let mut drive = server_drive(0x144d, &logs);
    drive.identify.get_mut(&(1, 0)).unwrap()[98] |= 1 << 3;
    drive.identify.get_mut(&(0, 1)).unwrap()[102] = 2;
    drive
}

#[test]
fn statistics_that_are_impossible_leave_the_place_to_the_next_log() {
    let gib = 1u128 << 30;
    let impossible =
        [(0, 0), (gib, 0), (0, gib), (9 * gib, 7 * gib), (u128::MAX, u128::MAX), (u128::MAX, gib)];
    for (host, media) in impossible {
        let drive = placement_drive(host, media);
        assert_eq!(LogSource::find(&drive, 1), Ok(LogSource::Ocp), "{host} {media}");
    }
    // The last data of hosts may be in the write buffer.
    let buffered = placement_drive(9 * gib, 9 * gib - 4_096);
    assert!(matches!(LogSource::find(&buffered, 1), Ok(LogSource::Fdp(2, _))));
}

#[test]
fn metadata_counts_in_the_statistics_of_placement_alone() {
    let format = |block, metadata| LbaFormat { number: 0, block, metadata, performance: 0 };
    let cases = [
        (LogSource::Fdp(1, Some(format(512, 8))), 520.0 / 512.0),
        (LogSource::Fdp(1, Some(format(4_096, 64))), 4_160.0 / 4_096.0),
        (LogSource::Fdp(1, Some(format(4_096, 0))), 1.0),
        (LogSource::Fdp(1, None), 1.0),
        (LogSource::Ocp, 1.0),
    ];
    for (source, factor) in cases {
        assert_eq!(Source::Log(source).host_bytes(1_000_000), 1e6 * factor, "{source:?}");
    }
}

#[test]
fn a_log_that_the_drive_does_not_have_is_not_queried() {
    // A client drive of the same maker: its error log would get an entry for each run.
    let mut client = server_drive(0x144d, &[(C0, ocp_log(5))]);
    client.identify.get_mut(&(1, 0)).unwrap()[525] |= 1;
    let unlisted = listed(server_drive(0x144d, &[(C0, ocp_log(5))]), &[2]);
    // The drives of Intel for clients have no additional log.
    let mut intel = server_drive(INTEL, &[(0xca, additional_smart(9, 3))]);
    intel.identify.get_mut(&(1, 0)).unwrap()[525] |= 1;
    let stranger = server_drive(0x1b36, &[(C0, ocp_log(5)), (0xca, additional_smart(9, 3))]);
    // Without a list, these are asked by their model alone, or not at all.
    let seagate = seagate_log(2, &[(233, 7), (234, 0), (241, 4), (242, 0)]);
    let other_wd = server_drive(SANDISK, &[(0xfb, with_cells(None, 9, 5))]);
    let seagate = server_drive(SEAGATE, &[(0xc4, seagate)]);
    let micron = server_drive(MICRON, &[(0xd0, micron_d0_log(7))]);
    // No document states the unit of this log.
    let fb = listed(server_drive(MICRON, &[(0xfb, with_cells(None, 9, 5))]), &[0xfb]);
    for drive in [client, unlisted, intel, stranger, other_wd, seagate, micron, fb] {
        let reason = LogSource::find(&drive, 1).unwrap_err();
        assert!(reason.starts_with("not decoded"), "{reason}");
    }
    let closed = LogSource::find(&Fixture::without_responses(), 1).unwrap_err();
    assert!(closed.contains("rejects"), "{closed}");
}

#[test]
fn each_log_is_queried_once() {
    assert_eq!(asked(server_drive(0x144d, &[])), [C0], "a rejected query is not repeated");
    let boot = with_cells(Some(BOOT_GUID), 9, 5);
    assert_eq!(asked(server_drive(SANDISK, &[(C0, boot)])), [C0]);
    assert_eq!(asked(server_drive(SOLIDIGM, &[])), [C0, 0xca]);
    let mut client = server_drive(INTEL, &[]);
    client.identify.get_mut(&(1, 0)).unwrap()[525] |= 1;
    assert_eq!(asked(client), [0; 0]);
}

#[test]
fn another_log_with_the_same_number_is_not_decoded() {
    let mut foreign = ocp_log(5);
    foreign[511] ^= 1;
    // Items without one of the two, counts that overflow, logs that are empty or all ones.
    let mut half = additional_smart(9, 3);
    half[ITEM] = 0;
    let cases = [
        (0x144d, C0, foreign),
        (0x15b7, C0, with_cells(Some(BOOT_GUID), u128::MAX, 1)),
        (0x15b7, C0, with_cells(Some(BOOT_GUID), 0, 0)),
        (INTEL, 0xca, half),
        (INTEL, 0xca, vec![0; LENGTH]),
        (INTEL, 0xca, vec![0xff; LENGTH]),
    ];
    // Version 3 counts units of no stated size.
    let mut third = with_cells(None, 9, 5);
    third[510] = 3;
    assert!(LogSource::find(&of_model(server_drive(SANDISK, &[(0xfb, third)]), SN720), 1).is_err());
    let halves = seagate_log(2, &[(233, 7), (241, 4), (242, 0)]);
    let first = seagate_log(1, &[(233, 7), (234, 0), (241, 4), (242, 0)]);
    let of_lists = [
        (SEAGATE, 0xc4, halves),
        (SEAGATE, 0xc4, first),
        (SEAGATE, 0xc4, vec![0xff; LENGTH]),
        (MICRON, 0xd0, micron_d0_log(0)),
        (MICRON, 0xd0, micron_d0_log(u64::MAX)),
        (MEMBLAZE, 0xca, vec![0; LENGTH]),
    ];
    for (vendor, id, log) in of_lists {
        let drive = listed(server_drive(vendor, &[(id, log)]), &[id]);
        assert!(LogSource::find(&drive, 1).is_err(), "{vendor:x} {id:x}");
    }
    for (vendor, id, log) in cases {
        let drive = server_drive(vendor, &[(id, log)]);
        assert!(LogSource::find(&drive, 1).is_err(), "{vendor:x} {id:x}");
    }
    for length in [0, 1, 15, 63, 511] {
        let data = vec![0x11; length];
        let decoders = [ocp, boot, by_kind_of_cell, additional, micron_d0, wd, seagate];
        assert_eq!(decoders.map(|decode| decode(&data)), [None; 7], "{length}");
    }
    assert_eq!(fdp(&[0x11; FDP_LENGTH - 1]), None);
    assert!(fdp(&[0x11; FDP_LENGTH]).is_some());
}

#[test]
fn random_data_after_a_valid_identifier_is_decoded_without_a_panic() {
    let mut random = ssdgauge_core::Random::new(7, 0);
    for _ in 0..2_000 {
        let mut log: Vec<u8> = (0..LENGTH).map(|_| random.next_u64() as u8).collect();
        let (items, statistics) = (additional(&log), fdp(&log));
        assert!(seagate(&log).is_none_or(|written| written.host.is_some()));
        let d0 = log[176..184].try_into().map(u64::from_le_bytes).unwrap();
        assert_eq!(micron_d0(&log).map(|written| written.media.count), Some(d0.into()));
        let half = |at: usize| log[at..at + 16].try_into().map(u128::from_le_bytes).unwrap();
        let is_possible = half(0) <= half(16).saturating_add(1 << 30);
        assert_eq!(statistics.is_some(), is_possible, "the media contains what hosts wrote");
        assert!(items.is_none_or(|written| written.host.is_some()));
        log[496..].copy_from_slice(&OCP_GUID);
        let all = log[..16].try_into().map(u128::from_le_bytes).unwrap();
        assert_eq!(ocp(&log).map(|written| written.media.count), Some(all));
        log[496..].copy_from_slice(&BOOT_GUID);
        let slc = log[16..32].try_into().map(u128::from_le_bytes).unwrap();
        assert_eq!(boot(&log).map(|written| written.media.count), all.checked_add(slc));
    }
}
