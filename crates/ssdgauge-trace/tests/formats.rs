//! Every format: its records, its recognition, and its damaged files.

// A test ends at the first error.
#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
use ssdgauge_core::io_log::{Frame, FrameKind, Record, Version};
use ssdgauge_core::{Bytes, Direction, Nanos, Request};
use ssdgauge_trace::{Format, Kind, PackedWriter, Summary, Trace, TraceRecord};
use std::io::{BufReader, Cursor};

/// A record: time, kind, stream, offset, length, response.
type Row = (u64, Kind, u16, u64, u64, Option<u64>);

fn open(bytes: &[u8], format: Option<Format>) -> Result<Trace, String> {
    Trace::open(Cursor::new(bytes.to_vec()), format).map_err(|error| error.to_string())
}

fn rows(trace: &mut Trace) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    while let Some(record) = trace.read().map_err(|error| error.to_string())? {
        let TraceRecord { at, kind, stream, offset, length, response } = record;
        rows.push((at.0, kind, stream, offset.0, length.0, response.map(|one| one.0)));
    }
    Ok(rows)
}

/// Checks that `bytes` are recognised as `format` and have the records `expected`.
fn check(format: Format, bytes: &[u8], expected: &[Row]) {
    let mut trace = open(bytes, None).unwrap();
    assert_eq!(trace.format(), format);
    assert_eq!(rows(&mut trace).unwrap(), expected, "{}", format.name());
    assert_eq!(rows(&mut open(bytes, Some(format)).unwrap()).unwrap(), expected);
}

/// Checks that `bytes` are refused with a message that contains `words`.
fn refuse(format: Option<Format>, bytes: &[u8], words: &str) {
    let result = open(bytes, format).and_then(|mut trace| rows(&mut trace));
    let error = result.unwrap_err();
    assert!(error.contains(words), "{error}");
}

const MSR: &str = "128166372003061629,hm,1,Read,383496192,32768,413\n\
    128166372003061729,hm,0,Write,8192,4096,20\n";

#[test]
fn columns_are_read_with_their_units() {
    let read = (0, Kind::Read, 0, 383_496_192, 32_768, Some(41_300));
    let write = (10_000, Kind::Write, 1, 8_192, 4_096, Some(2_000));
    check(Format::Msr, MSR.as_bytes(), &[read, write]);
    let titles = format!("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n{MSR}");
    check(Format::Msr, titles.as_bytes(), &[read, write]);
    check(
        Format::Alibaba,
        b"419,W,8792731648,16384,1577808144360767\n7,R,512,512,1577808144360777\n",
        &[
            (0, Kind::Write, 0, 8_792_731_648, 16_384, None),
            (10_000, Kind::Read, 1, 512, 512, None),
        ],
    );
    check(
        Format::Tencent,
        b"1538323200,12910952,128,0,1063\n1538323201,8,8,1,1063\n",
        &[
            (0, Kind::Read, 0, 12_910_952 * 512, 65_536, None),
            (1_000_000_000, Kind::Write, 0, 4_096, 4_096, None),
        ],
    );
    check(
        Format::Systor,
        b"Timestamp,Response,IOType,LUN,Offset,Size\n1455592081.5085,0.00100,W,1,8192,4096\n\
          1455592081.5086,,R,0,0,512\n1455592081.5087,0.1,,0,0,512\n",
        &[
            (0, Kind::Write, 0, 8_192, 4_096, Some(1_000_000)),
            (100_000, Kind::Read, 1, 0, 512, None),
        ],
    );
    check(
        Format::Mqsim,
        b"938513000 4 264719034 16 0\n938828000 3 197570570 16 1\n",
        &[
            (0, Kind::Write, 0, 264_719_034 * 512, 8_192, None),
            (315_000, Kind::Read, 1, 197_570_570 * 512, 8_192, None),
        ],
    );
    check(
        Format::CloudPhysics,
        b"1000,16,r,4096\n1007,0,w,1024\n",
        &[(0, Kind::Read, 0, 8_192, 4_096, None), (7_000, Kind::Write, 0, 0, 1_024, None)],
    );
}

/// A record of a virtual SCSI disk: of version 1 or 2, with an operation code of SCSI.
fn vscsi(version: u16, code: u16, length: u32, sector: u64, micros: u64) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|one| one.to_le_bytes()).collect::<Vec<u8>>();
    let halves = [code, version << 8 | 7].map(u16::to_le_bytes).concat();
    let longs = [sector, micros].map(u64::to_le_bytes).concat();
    match version {
        1 => [words(&[99, length, 1]), halves, longs].concat(),
        _ => [halves, words(&[99, length, 1]), longs, 250u64.to_le_bytes().to_vec()].concat(),
    }
}

#[test]
fn records_of_virtual_disks_are_read_in_both_versions_and_as_csv() {
    let expected = [
        (0, Kind::Write, 0, 42_932_745 * 512, 512, None),
        (7_000, Kind::Read, 0, 6_238_199 * 512, 57_344, None),
        (9_000, Kind::Flush, 0, 0, 0, None),
        (1_000_000_000, Kind::Read, 0, 0, 4_096, None),
    ];
    for (version, bytes) in [(1, 32), (2, 40)] {
        let file = [
            vscsi(version, 0x2a, 512, 42_932_745, 33_898_000_000),
            // TEST UNIT READY and UNMAP.
            vscsi(version, 0x00, 0, 0, 33_898_000_001),
            vscsi(version, 0x42, 24, 0, 33_898_000_002),
            vscsi(version, 0x88, 57_344, 6_238_199, 33_898_000_007),
            vscsi(version, 0x35, 0, 0, 33_898_000_009),
            vscsi(version, 0x08, 4_096, 0, 33_899_000_000),
        ];
        assert!(file.iter().all(|record| record.len() == bytes));
        let file = file.concat();
        check(Format::Vscsi, &file, &expected);
        let mut trace = open(&file, None).unwrap();
        rows(&mut trace).unwrap();
        assert_eq!(trace.notes().ignored, 2);
        refuse(None, &file[..file.len() - 5], "record 6: the file ends within it");
        let mixed =
            [file.repeat(3), vscsi(3 - version, 0x2a, 512, 8, 33_999_000_000).repeat(2)].concat();
        refuse(None, &mixed, &format!("record 19: it is not a record of vscsi version {version}"));
    }
    refuse(Some(Format::Vscsi), MSR.as_bytes(), "no records of vscsi version 1 or 2");
    // The first lines of `data/trace.csv` of libCacheSim, and a read.
    let csv = "version,time,op,size,lbn\n1,33898,2a,512,42932745\n1,33898,2a,512,42932746\n\
        1,33899,28,57344,6238199\n1,33899,12,36,0\n";
    check(
        Format::VscsiCsv,
        csv.as_bytes(),
        &[
            (0, Kind::Write, 0, 42_932_745 * 512, 512, None),
            (0, Kind::Write, 0, 42_932_746 * 512, 512, None),
            (1_000_000_000, Kind::Read, 0, 6_238_199 * 512, 57_344, None),
        ],
    );
    refuse(Some(Format::VscsiCsv), b"3,1,2a,512,8\n", "line 1: its version is '3'");
    refuse(None, format!("{csv}1,33900,xy,512,8\n").as_bytes(), "line 6: 'xy' is not a type");
}

#[test]
fn logs_of_fio_are_read_in_both_versions() {
    let third = "fio version 3 iolog\n20 /dev/a add\n139 /dev/a open\n144 /dev/a read 61440 4096\n\
        213 /dev/a write 774144 4096\n300 /dev/a sync\n310 /dev/a trim 0 1048576\n400 /dev/a close\n";
    check(
        Format::FioIolog,
        third.as_bytes(),
        &[
            (0, Kind::Read, 0, 61_440, 4_096, None),
            (69_000, Kind::Write, 0, 774_144, 4_096, None),
            (156_000, Kind::Flush, 0, 0, 0, None),
            (166_000, Kind::Discard, 0, 0, 1 << 20, None),
        ],
    );
    let second = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a read 0 4096\n\
        /dev/a wait 500 0\n/dev/a write 4096 4096\n/dev/a close\n";
    check(
        Format::FioIolog,
        second.as_bytes(),
        &[(0, Kind::Read, 0, 0, 4_096, None), (500_000, Kind::Write, 0, 4_096, 4_096, None)],
    );
}

const BLKPARSE: &str = "  8,0    3        1     0.000000000   697  Q   W 223488 + 8 [kjournald]
  8,0    3        2     0.000001000   697  G   W 223488 + 8 [kjournald]
  8,0    3        3     0.000003000   697  D   W 223488 + 8 [kjournald]
  8,0    1        4     0.000013000     0  D   R 8 + 16 [fio]
  8,0    3        5     0.000103000     0  C   W 223488 + 8 [0]
  8,0    1        6     0.000113000     0  C   R 8 + 16 [0]
CPU0 (8,0):
 Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB
";

#[test]
fn events_of_blktrace_become_requests_with_response_times() {
    let expected = [
        (0, Kind::Write, 0, 223_488 * 512, 4_096, Some(100_000)),
        (10_000, Kind::Read, 0, 4_096, 8_192, Some(100_000)),
    ];
    check(Format::Blkparse, BLKPARSE.as_bytes(), &expected);
    // Without issues, the requests of programs count.
    let queued = BLKPARSE.lines().filter(|line| !line.contains("  D  ")).collect::<Vec<_>>();
    let only = (0, Kind::Write, 0, 223_488 * 512, 4_096, Some(103_000));
    check(Format::Blkparse, (queued.join("\n") + "\n").as_bytes(), &[only]);
    let record = |time: u64, sector: u64, bytes: u32, action: u32, after: u16| {
        let mut record = Vec::new();
        record.extend(0x6561_7407u32.to_le_bytes());
        record.extend(1u32.to_le_bytes());
        record.extend(time.to_le_bytes());
        record.extend(sector.to_le_bytes());
        for word in [bytes, action, 697, 0x80_0000, 3] {
            record.extend(word.to_le_bytes());
        }
        record.extend(0u16.to_le_bytes());
        record.extend(after.to_le_bytes());
        record.extend(vec![0; usize::from(after)]);
        assert_eq!(record.len(), 48 + usize::from(after));
        record
    };
    // A note with data, two issues and their completions; bit 17 says write, bit 16 read.
    let file = [
        record(0, 0, 0, 1 << 26, 12),
        record(3_000, 223_488, 4_096, 7 | 1 << 17 | 1 << 22, 0),
        record(13_000, 8, 8_192, 7 | 1 << 16 | 1 << 22, 0),
        record(103_000, 223_488, 4_096, 8 | 1 << 17 | 1 << 23, 0),
        record(113_000, 8, 8_192, 8 | 1 << 16 | 1 << 23, 0),
    ]
    .concat();
    check(Format::Blktrace, &file, &expected);
    refuse(None, &file[..file.len() - 5], "record 5: the file ends within it");
}

#[test]
fn a_request_log_becomes_submissions_in_order() {
    let mut file = Version::Two.magic().to_vec();
    let frame = |kind, count, base, lost| Frame {
        kind,
        load: 1,
        stream: 2,
        thread: 0,
        block_size: 4_096,
        base,
        lost,
        count,
    };
    file.extend(frame(FrameKind::Load, 2, 0, 0).pack());
    file.extend(b"{}");
    file.extend(frame(FrameKind::Records, 2, 1_000, 0).pack());
    for (after, latency, offset) in [(0, 100, 4_096), (50, 900, 0)] {
        let request = Request { direction: Direction::Write, length: 4_096, offset };
        let record = Record { after, latency, request };
        record.pack(&[]).iter().for_each(|word| file.extend(word.to_le_bytes()));
    }
    file.extend(frame(FrameKind::End, 0, 0, 7).pack());
    let later = (900, Kind::Write, 2, 4_096, 4_096, Some(100));
    check(Format::RequestLog, &file, &[(150, Kind::Write, 2, 0, 4_096, Some(900)), later]);
    let mut trace = open(&file, None).unwrap();
    rows(&mut trace).unwrap();
    assert_eq!(trace.notes().lost, 7);
    refuse(None, &file[..file.len() - 45], "record 2: the file ends within a frame");
}

#[test]
fn wrong_lines_are_named_with_their_number() {
    refuse(None, b"", "it is empty");
    refuse(None, b"hello world\n", "its format is not recognised");
    refuse(Some(Format::Msr), b"1,a,0,Read,0,512\n", "line 1: it has 6 columns");
    let wrong = format!("{MSR}128166372003061729,hm,0,Erase,8192,4096,20\n");
    refuse(None, wrong.as_bytes(), "line 3: 'Erase' is not a type of request");
    let cut = format!("{MSR}1281663720030617");
    refuse(None, cut.as_bytes(), "line 3: it has 1 columns");
    let long = format!("{MSR}{}", "1".repeat(10_000));
    refuse(Some(Format::Msr), long.as_bytes(), "line 3: it is longer than 4 KiB");
    refuse(Some(Format::Mqsim), b"1 0 0 131073 1\n", "at most 64 MiB are accepted");
    refuse(Some(Format::Mqsim), b"1 0 18446744073709551615 8 1\n", "exceed every drive");
    refuse(Some(Format::Mqsim), b"1 0 17592186044416 8 1\n", "lie beyond 8 PiB");
    refuse(Some(Format::Packed), MSR.as_bytes(), "it is not a trace in the packed form");
    refuse(None, b"fio version 3 iolog\n1 a fly 0 0\n", "line 2: 'fly'");
}

#[test]
fn records_may_stand_a_little_out_of_order_and_no_more() {
    let line = |time: u64| format!("{time} 0 {time} 8 1\n");
    let swapped = [line(2_000), line(1_000), line(3_000)].concat();
    let times: Vec<u64> =
        rows(&mut open(swapped.as_bytes(), None).unwrap()).unwrap().iter().map(|r| r.0).collect();
    assert_eq!(times, [0, 1_000, 2_000]);
    let mut far: String = (1_000..=67_000).map(line).collect();
    far.push_str(&line(5));
    refuse(None, far.as_bytes(), "record 66002: it was submitted");
}

#[test]
fn the_summary_counts_what_the_trace_holds() {
    let mut trace = open(MSR.as_bytes(), None).unwrap();
    let summary = Summary::of(&mut trace).unwrap();
    assert_eq!((summary.requests, summary.streams, summary.end_bytes), (2, 2, 383_528_960));
    assert_eq!((summary.working_set_bytes, summary.time_resolution_ns), (36_864, 10_000));
    // The write is submitted at 10 µs, while the read is in flight until 41.3 µs.
    assert!((summary.mean_depth.unwrap() - 43.3 / 41.3).abs() < 1e-12);
    assert!((summary.duration_s - 41.3e-6).abs() < 1e-12);
    assert_eq!(summary.idle_longest_s, 0.0);
    let gaps = "0 0 0 8 1\n30000000 0 8 8 1\n2030000000 0 100 8 0\n";
    let summary = Summary::of(&mut open(gaps.as_bytes(), None).unwrap()).unwrap();
    let idle: Vec<(u64, f64)> = summary.idle.iter().map(|one| (one.count, one.total_s)).collect();
    assert_eq!((idle, summary.idle_longest_s), (vec![(2, 2.03), (1, 2.0)], 2.0));
    assert_eq!(summary.sequential_share, Some(1.0 / 3.0));
    assert_eq!((summary.mean_depth, summary.peak_per_second), (None, 2));
    assert_eq!(summary.sizes[0].bytes, 4_096);
}

fn packed(records: &[TraceRecord], has_responses: bool) -> Vec<u8> {
    let mut writer = PackedWriter::new(Vec::new(), has_responses).unwrap();
    records.iter().for_each(|record| writer.push(record).unwrap());
    writer.finish().unwrap()
}

fn record() -> impl Strategy<Value = TraceRecord> {
    let time = prop_oneof![0u64..100_000, 0u64..1 << 40];
    let kind = prop::sample::select(Kind::ALL.to_vec());
    (time, kind, any::<u16>(), 0u64..1 << 43, 1u64..=131_072, prop::option::of(0u64..1 << 40))
        .prop_map(|(at, kind, stream, sector, sectors, response)| {
            let addressed = if kind == Kind::Flush { 0 } else { 512 };
            TraceRecord {
                at: Nanos(at),
                kind,
                stream,
                offset: Bytes(sector * addressed),
                length: Bytes(sectors * addressed),
                response: response.map(Nanos),
            }
        })
}

proptest! {
    #[test]
    fn the_packed_form_returns_what_was_written(
        mut records in prop::collection::vec(record(), 1..50),
    ) {
        records.sort_by_key(|record| record.at);
        let file = packed(&records, true);
        let mut trace = open(&file, None).unwrap();
        let mut read = Vec::new();
        while let Some(record) = trace.read().unwrap() {
            read.push(record);
        }
        prop_assert_eq!(&read, &records);
        prop_assert!(open(&file[..file.len() - 1], None).and_then(|mut one| rows(&mut one)).is_err());
        // Without response times a record has 16 bytes, and a pause of more than 4 s one more.
        let without = packed(&records, false).len();
        prop_assert!(without <= 32 + 16 * (2 * records.len() + 1));
    }

    #[test]
    fn no_input_panics_and_no_line_is_held_whole(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        for format in Format::ALL {
            if let Ok(mut trace) = open(&bytes, Some(format)) {
                let _ = rows(&mut trace);
            }
        }
    }
}

#[test]
fn equal_traces_have_one_id_in_every_format() {
    let mut trace = open(MSR.as_bytes(), None).unwrap();
    let mut records = Vec::new();
    while let Some(record) = trace.read().unwrap() {
        records.push(record);
    }
    let id = |bytes: &[u8]| {
        let mut trace = Trace::open(BufReader::new(Cursor::new(bytes.to_vec())), None).unwrap();
        Summary::of(&mut trace).unwrap().id
    };
    assert_eq!(id(MSR.as_bytes()), id(&packed(&records, true)));
    assert_ne!(id(MSR.as_bytes()), id(&packed(&records[..1], true)));
}
