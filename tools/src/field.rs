//! `field FOLDER OUT`: writes `field.tsv` of ssdgauge-core from a folder of outputs of smartctl
//! (linuxhw/EnterpriseDrive), each of which is one drive.

use ssdgauge_core::field::{LEAST_DRIVES, NUMBERS};
use ssdgauge_core::{DriveDescription, Value};
use ssdgauge_statistics::summary::quantile;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

/// The largest table, in bytes.
const MOST_BYTES: usize = 60_000;
/// The hours below which writes per day are those of the installation.
const LEAST_HOURS: f64 = 1_000.0;
/// The percentage used from which on wear per TB is stated: a whole number, so within a tenth.
const LEAST_USED: f64 = 5.0;
/// The minimum number of drives and models of a family.
const FAMILY: (usize, usize) = (10, 2);

const HEAD: &str = "\
# Drives in service by model: p10, median and p90 over drives, with the number of drives where not all have it.\n\
# Source: linuxhw/EnterpriseDrive (https://github.com/linuxhw/EnterpriseDrive), hw-probe contributors.\n\
# Licence: CC-BY-4.0 (https://creativecommons.org/licenses/by/4.0/). 28 November 2026.\n\
# It was changed: outputs of smartctl are summarized; numbers that a drive contradicts, or that nothing confirms, are left out.\n\
# Drive writes per day from 1,000 hours on; wear from 5 % used on, per 10^12 bytes of hosts.\n\
# An asterisk ends the beginning of the models of a family.\n";

type Numbers = [Option<f64>; 5];

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [folder, out] = arguments else { return Err("usage: field FOLDER OUT".into()) };
    std::fs::write(out, table(Path::new(folder))?)?;
    Ok(())
}

/// Returns the table of the outputs in `folder`.
fn table(folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut models: BTreeMap<String, Vec<Numbers>> = BTreeMap::new();
    let mut families: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for file in files(folder)? {
        let Ok(drives) = ssdgauge_drive::describe_stored(&std::fs::read(&file)?) else { continue };
        for drive in &drives {
            let Some(Value::Text(model)) = drive.value("identity", "model") else { continue };
            models.entry(model.clone()).or_default().push(numbers(drive));
            let capacity = count(drive, "identity", "capacity_bytes");
            if let Some(family) = capacity.and_then(|bytes| family(model, bytes)) {
                *families.entry(family).or_default().entry(model.clone()).or_default() += 1;
            }
        }
    }
    let mut text = format!("{HEAD}# model\tdrives\t{}\n", NUMBERS.join("\t"));
    for (family, members) in families {
        if members.len() >= FAMILY.1 && members.values().sum::<usize>() >= FAMILY.0 {
            let all: Vec<Numbers> =
                members.keys().flat_map(|model| models[model].iter().copied()).collect();
            text.extend(row(&format!("{family}*"), &all));
        }
    }
    models.iter().for_each(|(model, drives)| text.extend(row(model, drives)));
    if text.len() > MOST_BYTES {
        return Err(format!("the table has {} bytes, {MOST_BYTES} at most", text.len()).into());
    }
    Ok(text)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}

fn count(drive: &DriveDescription, section: &str, key: &str) -> Option<f64> {
    match drive.value(section, key)? {
        Value::Count(count) => Some(*count as f64),
        Value::Real(real) => Some(*real),
        _ => None,
    }
}

fn numbers(drive: &DriveDescription) -> Numbers {
    let health = |key| count(drive, "health", key);
    let written = health("written_bytes").filter(|bytes| *bytes > 0.0);
    let capacity = count(drive, "identity", "capacity_bytes").filter(|bytes| *bytes >= 1e9);
    let hours = health("power_on_hours");
    let per_day = || {
        let days = hours.filter(|hours| *hours >= LEAST_HOURS)? / 24.0;
        Some(written? / capacity? / days)
    };
    // A command has 512 bytes at least, and 32 MiB at most (65,536 sectors of ATA).
    let size = || Some(written? / health("write_commands").filter(|commands| *commands > 0.0)?);
    let size = size().filter(|bytes| (512.0..=33_554_432.0).contains(bytes));
    let used = health("used_percent").filter(|used| (LEAST_USED..=100.0).contains(used));
    let wear = || Some(used? / (written? / 1e12));
    [health("write_amplification"), per_day(), size.map(|bytes| bytes / 1_024.0), hours, wear()]
}

/// Returns the beginning of `model` before its capacity, where that is in it.
fn family(model: &str, bytes: f64) -> Option<String> {
    let gigabytes = (bytes / 1e9).round() as u64;
    let nominal = if gigabytes >= 1_000 { gigabytes / 10 * 10 } else { gigabytes };
    let (whole, tenth) = (nominal / 1_000, nominal % 1_000 / 100);
    let tokens = [
        format!("{nominal}"),
        format!("{whole}T{tenth}"),
        format!("{whole}.{:02}TB", nominal % 1_000 / 10),
        format!("{whole}.{tenth}TB"),
        format!("{whole}TB"),
        format!("{:03}", nominal / 100),
    ];
    let at = tokens.iter().filter(|token| nominal >= 1_000 || token.parse() == Ok(nominal));
    let at = at.filter_map(|token| model.find(&token[..])).min()?;
    let beginning = model[..at].trim_end();
    (beginning.len() >= 5).then(|| beginning.to_owned())
}

/// Returns the row of drives; `None` where none of its numbers has enough.
fn row(name: &str, drives: &[Numbers]) -> Option<String> {
    // `SATA SSD` and the like name many models.
    let is_model = name.contains(|c: char| c.is_ascii_digit());
    if drives.len() < LEAST_DRIVES as usize || name.contains(['\t', '#']) || !is_model {
        return None;
    }
    let cell = |at: usize| {
        let mut values: Vec<f64> = drives.iter().filter_map(|one| one[at]).collect();
        values.sort_by(f64::total_cmp);
        if values.len() < LEAST_DRIVES as usize {
            return None;
        }
        let words = [0.1, 0.5, 0.9].map(|share| short(quantile(&values, share).unwrap_or(0.0)));
        let few =
            if values.len() == drives.len() { String::new() } else { format!(" {}", values.len()) };
        Some(words.join(" ") + &few)
    };
    let cells: Vec<Option<String>> = (0..NUMBERS.len()).map(cell).collect();
    cells.iter().any(Option::is_some).then(|| {
        let cells: Vec<&str> = cells.iter().map(|cell| cell.as_deref().unwrap_or("-")).collect();
        format!("{name}\t{}\t{}\n", drives.len(), cells.join("\t"))
    })
}

/// Returns a number with two digits, or three from 1 to 10.
fn short(value: f64) -> String {
    let digits = if (1.0..10.0).contains(&value) { 3 } else { 2 };
    let unit = match value > 0.0 {
        true => 10_f64.powi(value.log10().floor() as i32 + 1 - digits),
        false => 1.0,
    };
    let decimals = (-unit.log10().round()).max(0.0) as usize;
    let text = format!("{:.decimals$}", (value / unit).round() * unit);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    #[test]
    #[ignore = "it reads 18,858 files"]
    fn the_table_of_the_program_is_that_of_the_published_outputs() {
        let archive = "smartctl/texts.tar.xz";
        let folder = std::env::var_os("SSDGAUGE_CORPUS").unwrap_or_default();
        let archive = Path::new(&folder).join(archive);
        if !archive.exists() {
            println!("skipped: SSDGAUGE_CORPUS does not name a folder with {}", archive.display());
            return;
        }
        let texts = tempfile::tempdir().unwrap();
        let mut tar = Command::new("tar");
        let unpacked = tar.arg("-xJf").arg(&archive).arg("-C").arg(texts.path()).status().unwrap();
        assert!(unpacked.success());
        let table = super::table(texts.path()).unwrap();
        let shipped = include_str!("../../crates/ssdgauge-core/src/field.tsv");
        let rows = |text: &str| text.lines().map(str::to_owned).collect::<Vec<String>>();
        for (made, shipped) in rows(&table).iter().zip(rows(shipped)) {
            assert_eq!(*made, shipped);
        }
        assert_eq!(rows(&table).len(), rows(shipped).len());
        // The largest model, counted in the texts alone.
        let (model, drives) = shipped
            .lines()
            .filter(|line| !line.starts_with('#') && !line.contains('*'))
            .map(|line| line.split('\t').collect::<Vec<_>>())
            .map(|cells| (cells[0].to_owned(), cells[1].parse::<usize>().unwrap()))
            .max_by_key(|(_, drives)| *drives)
            .unwrap();
        let named = |path: &std::path::PathBuf| {
            let bytes = std::fs::read(path).unwrap();
            String::from_utf8_lossy(&bytes).lines().any(|line| {
                let value = line
                    .split_once(':')
                    .filter(|(key, _)| ["Device Model", "Model Number", "Product"].contains(key));
                value.is_some_and(|(_, value)| value.trim() == model)
            })
        };
        let counted = super::files(texts.path()).unwrap().iter().filter(|path| named(path)).count();
        assert_eq!(drives, counted, "{model}");
    }
}
