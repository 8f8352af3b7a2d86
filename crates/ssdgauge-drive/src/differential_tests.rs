//! The decoders against those of nvme-cli and smartctl, which read the same bytes by code of their own.
//!
//! Neither program reads a file: both want a device. `fixture/replay.c` answers their queries from files,
//! loaded by LD_PRELOAD in place of `ioctl`, on /dev/null.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use crate::ata::Identity;
use crate::controller::Controller;
use crate::fixture::{Fixture, ata_identity, smart};
use crate::health::Health;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The logs of each test: those of the fixture and variations.
const CASES: u64 = 12;

/// A folder of answers, and the library that gives them.
struct Replay {
    folder: TempDir,
}

impl Replay {
    /// Compiles the library; prints why where that is not possible, or `program` is missing.
    fn new(program: &str) -> Option<Replay> {
        let folder = tempfile::tempdir().unwrap();
        if Command::new(program).arg("--version").output().is_err() {
            println!("skipped: no {program}");
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fixture/replay.c");
        let library = folder.path().join("replay.so");
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).output();
        let compiled = compiled.expect("a C compiler builds this project");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        Some(Replay { folder })
    }

    fn put(&self, name: &str, data: &[u8]) {
        std::fs::write(self.folder.path().join(name), data).unwrap();
    }

    /// Returns the JSON of a program on the answers.
    fn json(&self, program: &str, arguments: &[&str]) -> Value {
        let output = Command::new(program)
            .args(arguments)
            .env("REPLAY", self.folder.path())
            .env("LD_PRELOAD", self.folder.path().join("replay.so"))
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{program} {arguments:?}: {error}: {output:?}"))
    }
}

/// Numbers that follow from a seed (Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) % limit
    }
}

/// Returns the log of the fixture, and after it logs of plausible random values.
fn smart_log(case: u64) -> Vec<u8> {
    let mut data = smart();
    if case == 0 {
        return data;
    }
    let mut numbers = Numbers(case);
    data[0] = numbers.below(64) as u8;
    for at in [1].into_iter().chain((200..216).step_by(2)) {
        data[at..at + 2].copy_from_slice(&(253 + numbers.below(150) as u16).to_le_bytes());
    }
    for (at, limit) in [(3, 101), (4, 101), (5, 256)] {
        data[at] = numbers.below(limit) as u8;
    }
    for at in (32..192).step_by(16) {
        data[at..at + 8].copy_from_slice(&numbers.below(1 << 40).to_le_bytes());
    }
    // At most thirty years; at most 29 GB/s in units of 512,000 bytes, by commands of 568 bytes and more.
    let hours = numbers.below(30 * 8_766);
    data[128..136].copy_from_slice(&hours.to_le_bytes());
    for (units_at, commands_at) in [(32, 64), (48, 80)] {
        let units = numbers.below(((hours + 1) * 3_600 * 57_000).min(1 << 45));
        let commands = units * (1 + numbers.below(900));
        data[units_at..units_at + 8].copy_from_slice(&units.to_le_bytes());
        data[commands_at..commands_at + 8].copy_from_slice(&commands.to_le_bytes());
    }
    for at in [192, 196, 216, 220, 224, 228] {
        data[at..at + 4].copy_from_slice(&(numbers.below(1 << 31) as u32).to_le_bytes());
    }
    data
}

/// Returns a number that a program prints as such or as text.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok()))
}

/// Compares pairs of a key and our value with what a program prints; returns their number.
#[track_caller]
fn compare(json: &Value, pairs: &[(&str, Option<u64>)]) -> usize {
    for (key, ours) in pairs {
        let theirs = number(&json[*key]);
        assert!(
            ours.is_some() && *ours == theirs,
            "{key}: ours {ours:?}, theirs {theirs:?}: {json:#}"
        );
    }
    pairs.len()
}

fn kelvin(celsius: f64) -> u64 {
    (celsius + 273.15).round() as u64
}

#[test]
fn the_smart_log_has_the_values_of_nvme_cli() {
    let Some(replay) = Replay::new("nvme") else { return };
    let mut compared = 0;
    for case in 0..CASES {
        let data = smart_log(case);
        replay.put("log-02", &data);
        let json = replay.json("nvme", &["smart-log", "/dev/null", "-o", "json"]);
        let ours = Health::decode(&data).unwrap();
        assert!(ours.implausible.is_empty(), "{:?}", ours.implausible);
        let units = |bytes: Option<u64>| bytes.map(|bytes| bytes / 512_000);
        compared += compare(
            &json,
            &[
                ("critical_warning", Some(ours.warning.into())),
                ("temperature", ours.composite_c.map(kelvin)),
                ("avail_spare", ours.spare_percent.map(u64::from)),
                ("spare_thresh", ours.spare_threshold_percent.map(u64::from)),
                ("percent_used", Some(ours.used_percent.into())),
                ("data_units_read", units(ours.read_bytes)),
                ("data_units_written", units(ours.written_bytes)),
                ("host_read_commands", ours.read_commands),
                ("host_write_commands", ours.write_commands),
                ("controller_busy_time", ours.busy_minutes),
                ("power_cycles", ours.power_cycles),
                ("power_on_hours", ours.power_on_hours),
                ("unsafe_shutdowns", ours.unsafe_shutdowns),
                ("media_errors", ours.media_errors),
                ("num_err_log_entries", ours.error_log_entries),
                ("warning_temp_time", Some(ours.warning_minutes.into())),
                ("critical_comp_time", Some(ours.critical_minutes.into())),
                ("thm_temp1_trans_count", Some(ours.light_throttles.into())),
                ("thm_temp2_trans_count", Some(ours.heavy_throttles.into())),
                ("thm_temp1_total_time", Some(ours.light_throttle_s.into())),
                ("thm_temp2_total_time", Some(ours.heavy_throttle_s.into())),
            ],
        );
        for (sensor, celsius) in &ours.sensors_c {
            let key = format!("temperature_sensor_{sensor}");
            compared += compare(&json, &[(&key, Some(kelvin(*celsius)))]);
        }
        let theirs = (1..=8).filter(|n| !json[format!("temperature_sensor_{n}")].is_null()).count();
        assert_eq!(ours.sensors_c.len(), theirs);
    }
    println!("compared {compared} values of {CASES} logs with nvme-cli");
    assert!(compared >= 21 * CASES as usize);
}

#[test]
fn the_smart_log_and_the_identity_have_the_values_of_smartctl() {
    let Some(replay) = Replay::new("smartctl") else { return };
    let drive = Fixture::nvme();
    replay.put("identify-01", &drive.identify[&(1, 0)]);
    replay.put("identify-00", &drive.identify[&(0, 1)]);
    let controller = Controller::decode(&drive.identify[&(1, 0)]).unwrap();
    let mut compared = 0;
    for case in 0..CASES {
        let data = smart_log(case);
        replay.put("log-02", &data);
        let whole = replay.json("smartctl", &["-d", "nvme", "-i", "-A", "-j", "/dev/null"]);
        let ours = Health::decode(&data).unwrap();
        let units = |bytes: Option<u64>| bytes.map(|bytes| bytes / 512_000);
        compared += compare(
            &whole["nvme_smart_health_information_log"],
            &[
                ("critical_warning", Some(ours.warning.into())),
                ("available_spare", ours.spare_percent.map(u64::from)),
                ("available_spare_threshold", ours.spare_threshold_percent.map(u64::from)),
                ("percentage_used", Some(ours.used_percent.into())),
                ("data_units_read", units(ours.read_bytes)),
                ("data_units_written", units(ours.written_bytes)),
                ("host_reads", ours.read_commands),
                ("host_writes", ours.write_commands),
                ("controller_busy_time", ours.busy_minutes),
                ("power_cycles", ours.power_cycles),
                ("power_on_hours", ours.power_on_hours),
                ("unsafe_shutdowns", ours.unsafe_shutdowns),
                ("media_errors", ours.media_errors),
                ("num_err_log_entries", ours.error_log_entries),
            ],
        );
        assert_eq!(whole["model_name"].as_str(), controller.model.as_deref());
        assert_eq!(whole["serial_number"].as_str(), controller.serial.as_deref());
        assert_eq!(whole["firmware_version"].as_str(), controller.firmware.as_deref());
        compared += 3 + compare(
            &whole,
            &[
                ("nvme_controller_id", Some(controller.controller_id.into())),
                ("nvme_number_of_namespaces", Some(controller.max_namespaces.into())),
            ],
        );
    }
    println!("compared {compared} values of {CASES} logs with smartctl");
    assert!(compared >= 19 * CASES as usize);
}

#[test]
fn identify_controller_has_the_values_of_nvme_cli() {
    let Some(replay) = Replay::new("nvme") else { return };
    let mut compared = 0;
    for case in 0..CASES {
        let mut data = Fixture::nvme().identify[&(1, 0)].clone();
        let mut numbers = Numbers(case);
        if case > 0 {
            for at in [0, 2, 78, 256, 520] {
                data[at..at + 2].copy_from_slice(&(numbers.below(1 << 16) as u16).to_le_bytes());
            }
            data[266..268].copy_from_slice(&(300 + numbers.below(100) as u16).to_le_bytes());
            data[268..270].copy_from_slice(&(300 + numbers.below(100) as u16).to_le_bytes());
            data[516..520].copy_from_slice(&(1 + numbers.below(1 << 20) as u32).to_le_bytes());
            data[24] = b'A' + numbers.below(26) as u8;
        }
        replay.put("identify-01", &data);
        let json = replay.json("nvme", &["id-ctrl", "/dev/null", "-o", "json"]);
        let ours = Controller::decode(&data).unwrap();
        compared += compare(
            &json,
            &[
                ("vid", Some(ours.vendor.into())),
                ("ssvid", Some(ours.subsystem_vendor.into())),
                ("cntlid", Some(ours.controller_id.into())),
                ("oacs", Some(ours.optional_admin.into())),
                ("oncs", Some(ours.optional_nvm.into())),
                ("wctemp", ours.warning_c.map(kelvin)),
                ("cctemp", ours.critical_c.map(kelvin)),
                ("nn", Some(ours.max_namespaces.into())),
            ],
        );
        for (key, ours) in [("sn", &ours.serial), ("mn", &ours.model), ("fr", &ours.firmware)] {
            assert_eq!(json[key].as_str().map(str::trim), ours.as_deref(), "{key}");
            compared += 1;
        }
        let states = json["psds"].as_array().unwrap().len();
        assert_eq!(ours.power_states.len(), states, "{json:#}");
        compared += 1;
    }
    println!("compared {compared} values of {CASES} controllers with nvme-cli");
    assert!(compared >= 12 * CASES as usize);
}

#[test]
fn identify_device_has_the_values_of_smartctl() {
    let Some(replay) = Replay::new("smartctl") else { return };
    let mut compared = 0;
    for case in 0..CASES {
        let mut data = ata_identity();
        // Word 49: LBA and DMA, without which smartctl prints no capacity.
        data[98..100].copy_from_slice(&0x0b00u16.to_le_bytes());
        let mut numbers = Numbers(case);
        if case > 0 {
            data[200..206].copy_from_slice(&(1 + numbers.below(1 << 40)).to_le_bytes()[..6]);
            // Word 217: not rotating, or a rate; word 106: 4,096-byte physical sectors, or 512.
            let rotation = [1u16, 5_400, 7_200, 15_000][numbers.below(4) as usize];
            data[434..436].copy_from_slice(&rotation.to_le_bytes());
            data[212..214]
                .copy_from_slice(&[0x6003u16, 0x4000][numbers.below(2) as usize].to_le_bytes());
            data[338] = numbers.below(2) as u8;
            data[54] = b'A' + numbers.below(26) as u8;
        }
        replay.put("ata-ec", &data);
        let json = replay.json("smartctl", &["-d", "sat", "-i", "-j", "/dev/null"]);
        let ours = Identity::decode(&data).unwrap();
        assert_eq!(json["model_name"].as_str(), ours.model.as_deref());
        assert_eq!(json["serial_number"].as_str(), ours.serial.as_deref());
        assert_eq!(json["firmware_version"].as_str(), ours.firmware.as_deref());
        assert_eq!(json["trim"]["supported"].as_bool(), Some(ours.can_trim));
        compared += 4 + compare(&json["user_capacity"], &[("blocks", Some(ours.sectors))]);
        compared += compare(
            &json,
            &[
                ("logical_block_size", Some(ours.logical_block)),
                ("physical_block_size", Some(ours.physical_block)),
                // smartctl prints 0 for a drive that does not rotate.
                (
                    "rotation_rate",
                    ours.rotation.map(|rate| if rate == 1 { 0 } else { rate.into() }),
                ),
            ],
        );
    }
    println!("compared {compared} values of {CASES} drives with smartctl");
    assert!(compared >= 8 * CASES as usize);
}
