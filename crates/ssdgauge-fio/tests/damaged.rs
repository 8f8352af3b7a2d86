//! Damaged outputs of fio: each is imported or refused, and never ends the program.
#![allow(clippy::print_stdout, reason = "the seed of a random test is printed")]

use ssdgauge_core::Random;

const OUTPUT: &str = r#"{ "fio version": "fio-3.33", "timestamp_ms": 1700000000000,
"global options": { "filename": "/dev/nvme9n1", "ioengine": "io_uring" }, "jobs": [
{ "jobname": "a", "groupid": 0, "error": 0, "job options": { "rw": "randrw", "iodepth": "4", "size": "1g" },
"read": { "io_bytes": 12288, "runtime": 1000, "total_ios": 3, "clat_ns":
{ "min": 90, "max": 400, "mean": 230.0, "N": 3, "bins": { "90": 1, "200": 1, "404": 1 } } },
"write": { "io_bytes": 4096, "runtime": 1000, "total_ios": 1, "clat_ns":
{ "min": 7000, "max": 7000, "mean": 7000.0, "N": 1, "bins": { "7040": 1 } } } },
{ "jobname": "b", "groupid": 1, "error": 0, "job options": { "rw": "read", "numjobs": "2" },
"read": { "io_bytes": 65536, "runtime": 500, "total_ios": 1, "lat_ns":
{ "min": 9000, "max": 9000, "mean": 9000.0, "N": 1, "bins": { "9024": 1 } } },
"write": { "io_bytes": 0, "runtime": 0, "total_ios": 0 } } ] }"#;

/// Values that are likely to exceed a limit or to contradict another number.
const NUMBERS: [&str; 12] = [
    "0",
    "1",
    "2",
    "-1",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "9223372036854775807",
    "1e300",
    "-0.5",
    "1099511627776",
    "4398046511104",
];

/// Returns `text` with one of its numbers exchanged.
fn with_other_number(text: &str, random: &mut Random) -> String {
    let is_digit = |at: usize| text.as_bytes()[at].is_ascii_digit();
    let starts = (1..text.len()).filter(|at| is_digit(*at) && !is_digit(at - 1));
    let starts: Vec<usize> = starts.collect();
    let start = starts[random.below(starts.len() as u64) as usize];
    let end = (start..text.len()).find(|at| !is_digit(*at)).unwrap_or(text.len());
    let number = NUMBERS[random.below(NUMBERS.len() as u64) as usize];
    format!("{}{number}{}", &text[..start], &text[end..])
}

#[test]
fn damaged_outputs_are_imported_or_refused() {
    let seed = 20_261_123;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let tries = if std::env::var_os("SSDGAUGE_LONG").is_some() { 1_000_000 } else { 20_000 };
    let (mut imported, mut refused) = (0, 0);
    for _ in 0..tries {
        let mut text = OUTPUT.to_owned();
        for _ in 0..=random.below(3) {
            text = match random.below(8) {
                0 => text[..random.below(text.len().max(1) as u64) as usize].to_owned(),
                1 => {
                    let at = random.below(text.len().max(1) as u64) as usize;
                    let other = char::from(32 + random.below(95) as u8);
                    format!("{}{other}{}", &text[..at], text.get(at + 1..).unwrap_or_default())
                }
                _ => with_other_number(&format!("{text} 0"), &mut random),
            };
        }
        match ssdgauge_fio::import(&text) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
            Ok(result) => {
                assert_eq!(result.plan.defect_of_imported(result.drive.capacity), None);
                assert_eq!(result.plan.tests.len(), result.steps.len());
                imported += 1;
            }
        }
    }
    println!("{imported} imported, {refused} refused");
    assert!(imported > tries / 50 && refused > tries / 50);
    assert!(ssdgauge_fio::import(OUTPUT).is_ok());
}

const ACT_LOG: &str = "ACT version 6.4\n\nACT-STORAGE CONFIGURATION\nread-reqs-per-sec: 2000\n\n\
    HISTOGRAM NAMES\nreads\n\nafter 3600 sec:\nreads (100 total)\n (00: 0000000090) (01: 0000000010)\n\n\
    after 7200 sec:\nreads (200 total)\n (00: 0000000150) (01: 0000000040) (07: 0000000010)\n\n";

#[test]
fn damaged_logs_of_act_are_read_or_refused() {
    let seed = 20_261_124;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let tries = if std::env::var_os("SSDGAUGE_LONG").is_some() { 1_000_000 } else { 20_000 };
    let (mut read, mut refused) = (0, 0);
    for _ in 0..tries {
        let mut text = with_other_number(ACT_LOG, &mut random);
        if random.below(3) == 0 {
            text.truncate(random.below(text.len() as u64) as usize);
        }
        match ssdgauge_fio::read_act_log(text.as_bytes()) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
            Ok(log) => {
                for slice in &log.slices {
                    let (least, most) = slice.share_above(1_000_000, log.unit);
                    assert!((0.0..=100.0).contains(&least) && least <= most && most <= 100.0);
                }
                read += 1;
            }
        }
    }
    println!("{read} read, {refused} refused");
    assert!(read > tries / 50 && refused > tries / 50);
    let whole = ssdgauge_fio::read_act_log(ACT_LOG.as_bytes()).unwrap();
    let shares: Vec<(f64, f64)> =
        whole.slices.iter().map(|slice| slice.share_above(1_000_000, whole.unit)).collect();
    assert_eq!(shares, [(10.0, 10.0), (40.0, 40.0)]);
}

#[test]
fn damaged_histogram_logs_are_imported_or_refused() {
    let seed = 20_261_125;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let one = &OUTPUT[..OUTPUT.find("{ \"jobname\": \"b\"").unwrap()];
    let output = format!("{} ] }}", one.trim_end().trim_end_matches(','));
    let output = output.replace("\"size\"", "\"log_hist_msec\": \"1000\", \"size\"");
    // Keys that fio prints: the values of bins 45, 100 and 440.
    let output =
        output.replace("\"90\": 1, \"200\": 1, \"404\": 1", "\"90\": 1, \"201\": 1, \"402\": 1");
    let line = |direction: u32, bins: &[usize]| {
        let counts: Vec<&str> =
            (0..1_856).map(|bin| if bins.contains(&bin) { "1" } else { "0" }).collect();
        format!("1000, {direction}, 4096, {}\n", counts.join(", "))
    };
    let log = format!("{}{}", line(0, &[90]), line(1, &[429]));
    let tries = if std::env::var_os("SSDGAUGE_LONG").is_some() { 20_000 } else { 300 };
    let (mut imported, mut refused) = (0, 0);
    for _ in 0..tries {
        let mut text = with_other_number(&log, &mut random);
        if random.below(3) == 0 {
            text = text.replacen("1, 0", "0, 0", 1 + random.below(2) as usize);
        }
        match ssdgauge_fio::import_with_logs(&output, &[text], None) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
            Ok(result) => {
                let ios: u64 = result.steps[0].intervals.iter().map(|one| one.ios).sum();
                assert_eq!(ios, 4, "the requests of the JSON");
                imported += 1;
            }
        }
    }
    println!("{imported} imported, {refused} refused");
    assert!(imported > 0 && refused > 0, "{imported} {refused}");
}
