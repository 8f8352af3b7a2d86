//! `drives --from`: stored outputs of smartctl, by arithmetic on each of them.

use crate::support::{Bench, text};
use crate::tiers::repetitions;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of one call.
const AT_ONCE: usize = 2_000;

/// Unpacks an archive of real outputs into `folder` and returns its files; `None`, with the reason printed,
/// where there is none.
pub(crate) fn real_outputs(archive: &str, folder: &Path) -> Option<Vec<PathBuf>> {
    let Some(corpus) = std::env::var_os("SSDGAUGE_CORPUS") else {
        println!("skipped: SSDGAUGE_CORPUS does not name a folder with {archive}");
        return None;
    };
    let archive = Path::new(&corpus).join(archive);
    if !archive.exists() {
        println!("skipped: {} does not exist", archive.display());
        return None;
    }
    let tar = Command::new("tar").arg("-xJf").arg(&archive).arg("-C").arg(folder).status().unwrap();
    assert!(tar.success(), "{}", archive.display());
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Some(files)
}

/// Returns the drives of `files`, by their target.
fn described(bench: &Bench, files: &[PathBuf]) -> BTreeMap<String, Value> {
    let mut drives = BTreeMap::new();
    for part in files.chunks(AT_ONCE) {
        let output = bench.command(&["drives", "--json", "--from"]).args(part).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
        for document in documents {
            let mut drive = document.unwrap()["drive"].take();
            let target = drive["target"].take();
            drives.insert(target.as_str().unwrap().to_owned(), drive);
        }
    }
    drives
}

/// Returns the digits after `name` at the start of a line, without separators.
fn printed(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number = line.trim_start_matches([':', ' ']).split(' ').next()?;
    number.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// Returns a value of the Device Statistics log.
fn logged(text: &str, place: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(place))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

#[track_caller]
fn agrees(value: &Value, expected: Option<u64>, what: &str) {
    if let Some(expected) = expected {
        assert_eq!(value.as_u64(), Some(expected), "{what}");
    }
}

/// Returns whether so many commands have a block of 512 bytes each at least and 32 MiB at most, within 3 %.
fn can_transfer(bytes: u64, commands: u64) -> bool {
    let least = commands as f64 * 512.0 * 0.97;
    commands == 0 || (least..=(commands + 1) as f64 * 34_560_016.0).contains(&(bytes as f64))
}

/// Returns the bytes that hosts wrote by attribute 241, where the log has the low 32 bits of its sectors, and of the
/// reads of attribute 242 as well.
fn beyond_32_bits(text: &str) -> Option<u64> {
    let low_bits = |id, place, unit: u64| {
        let (sectors, low) = (attribute(text, id)?.checked_mul(unit / 512)?, logged(text, place)?);
        let apart = (sectors % (1 << 32)).abs_diff(low);
        let is_remainder = low < 1 << 32 && apart.min((1 << 32) - apart) <= 2 * unit / 512;
        is_remainder.then_some(sectors)
    };
    [32 << 20, 1 << 30].into_iter().find_map(|unit| {
        low_bits(242, "0x01  0x028", unit)?;
        low_bits(241, "0x01  0x018", unit).filter(|sectors| *sectors >= 1 << 32)
    })
}

/// Returns a raw value that is one number.
fn attribute(text: &str, id: u64) -> Option<u64> {
    let mut rows = text.lines().filter(|line| {
        line.contains(" -O") || line.contains(" P") || line.contains(" --") || line.contains(" 0x")
    });
    rows.find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let place = if columns.get(2)?.starts_with("0x") { 9 } else { 7 };
        let is_row = columns[0].parse() == Ok(id) && columns.len() == place + 1;
        columns.get(place).filter(|_| is_row)?.parse().ok()
    })
}

/// Checks that what is stated contradicts neither the log nor the attribute, where both have it.
#[track_caller]
fn contradicts_nothing(text: &str, health: &Value, name: &str) {
    for (key, place, id) in
        [("power_on_hours", "0x01  0x010", 9), ("power_cycles", "0x01  0x008", 12)]
    {
        let Some(stated) = health[key].as_u64() else { continue };
        for other in [logged(text, place), attribute(text, id)].into_iter().flatten() {
            assert!(
                stated.abs_diff(other) <= 24.max(other / 50),
                "{name} {key}: {stated}, {other}"
            );
        }
    }
    let (Some(stated), Some(sectors)) =
        (health["written_bytes"].as_u64(), logged(text, "0x01  0x018"))
    else {
        return;
    };
    let counter = health["host_counter"].as_str().unwrap();
    if let Some(whole) = beyond_32_bits(text) {
        assert!((whole * 512).abs_diff(stated) <= 2 << 30, "{name}: {stated}, 512 x {whole}");
    }
    let is_explained =
        counter.starts_with("attribute") || counter.contains("none of the usual units");
    assert!(
        stated == sectors * 512 || stated == sectors * 4_096 || is_explained,
        "{name}: {counter}"
    );
    if let Some(raw) = attribute(text, 241).filter(|raw| *raw > 1_000) {
        let units = [512, 32 << 20, 1_000_000_000, 1 << 30]
            .map(|unit: u64| u128::from(raw) * u128::from(unit));
        let agrees =
            units.iter().any(|bytes| bytes.abs_diff(stated.into()) < u128::from(stated / 25));
        assert!(agrees || is_explained, "{name}: {stated} bytes, attribute 241 {raw}");
    }
}

#[test]
fn every_real_output_is_described_by_the_numbers_in_it() {
    let (bench, folder) = (Bench::new(), tempfile::tempdir().unwrap());
    let Some(mut files) = real_outputs("smartctl/texts.tar.xz", folder.path()) else { return };
    let step = repetitions(8, 2, 1);
    files = files.into_iter().step_by(step).collect();
    let drives = described(&bench, &files);
    assert_eq!(drives.len(), files.len());
    let mut amplifications = 0;
    for file in &files {
        let name = file.display().to_string();
        let (text, drive) = (std::fs::read_to_string(file).unwrap(), &drives[&name]);
        let health = &drive["health"];
        let size = ["User Capacity", "Namespace 1 Size/Capacity"];
        let size = size.into_iter().find_map(|size| printed(&text, size));
        agrees(&drive["identity"]["capacity_bytes"], size, &name);
        let written = printed(&text, "Data Units Written").map(|n| n * 512_000);
        let commands = printed(&text, "Host Write Commands");
        match written.zip(commands).is_some_and(|(bytes, by)| !can_transfer(bytes, by)) {
            true => assert!(health["written_bytes"].is_null(), "{name}"),
            false => agrees(&health["written_bytes"], written, &name),
        }
        agrees(&health["power_on_hours"], printed(&text, "Power On Hours"), &name);
        agrees(&health["used_percent"], printed(&text, "Percentage Used"), &name);
        agrees(
            &health["used_percent"],
            logged(&text, "0x07  0x008").map(|used| used & 0xff),
            &name,
        );
        contradicts_nothing(&text, health, &name);
        if let Some(amplification) = health["write_amplification"].as_f64() {
            assert!((0.95..=100.0).contains(&amplification), "{name}: {amplification}");
            assert!(health["media_counter"].as_str().unwrap().contains("confirmed"), "{name}");
            amplifications += 1;
        }
    }
    println!("{} outputs, {amplifications} with a write amplification", files.len());
    assert!(amplifications * 3 > files.len(), "{amplifications}");
}

#[test]
fn every_real_json_output_is_described_by_the_numbers_in_it() {
    let (bench, folder) = (Bench::new(), tempfile::tempdir().unwrap());
    let Some(mut files) = real_outputs("smartctl/json.tar.xz", folder.path()) else { return };
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    let drives = described(&bench, &files);
    assert_eq!(drives.len(), files.len());
    for file in &files {
        let name = file.display().to_string();
        let json: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let drive = &drives[&name];
        agrees(
            &drive["identity"]["capacity_bytes"],
            json["user_capacity"]["bytes"].as_u64(),
            &name,
        );
        let log = &json["nvme_smart_health_information_log"];
        let written = log["data_units_written"].as_u64().map(|units| units * 512_000);
        agrees(&drive["health"]["written_bytes"], written, &name);
        agrees(&drive["health"]["power_on_hours"], log["power_on_hours"].as_u64(), &name);
        if let Some(celsius) = log["temperature"].as_f64() {
            assert_eq!(drive["thermal"]["temperature_c"].as_f64(), Some(celsius), "{name}");
        }
    }
}

#[test]
fn a_file_without_a_drive_is_named_and_the_others_are_printed() {
    let bench = Bench::new();
    std::fs::write(bench.path("good"), "smartctl 7.1\nModel Number:  A B\nPercentage Used:  7%\n")
        .unwrap();
    std::fs::write(bench.path("bad"), "\nno output\n").unwrap();
    let good = bench.print(&["drives", "--from", "good"]);
    assert!(good.contains("Used endurance") && good.contains("7 %"), "{good}");
    assert!(!good.contains("not available"), "{good}");
    let output = bench.call(&["drives", "--from", "bad", "good", "none"]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(text(&output.stdout), good);
    assert!(
        errors.contains("bad, line 1: nothing in this file") && errors.contains("smartctl -x"),
        "{errors}"
    );
    assert!(errors.contains("none: No such file") && errors.contains("2 of 3 files"), "{errors}");
}
