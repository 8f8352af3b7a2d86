//! Outputs of smartctl as text.

use super::names::{Fields, plain};
use super::output::{Attribute, Kind, Output};
use super::{AS_ROOT, StoredError, numbers};
use crate::ata::{self, DeviceStatistics};
use crate::description::{OVERALL_FAILED, SctTemperatures, overall};

/// Reads the output in `lines`, of which the first is line `first` of the file.
pub(super) fn read(lines: &[&str], first: usize) -> Result<Output, StoredError> {
    let mut fields = Fields::new();
    for line in lines {
        if let Some((name, value)) = line.split_once(':') {
            // The first wins: logs at the end repeat some names.
            fields.entry(plain(name)).or_insert_with(|| value.trim().to_owned());
        }
    }
    let has = |name: &str| fields.contains_key(name);
    let kind = if has("modelnumber") || has("dataunitswritten") {
        Kind::Nvme
    } else if has("devicemodel") || lines.iter().any(|line| is_attribute_header(line)) {
        Kind::Ata
    } else if has("product") || has("vendor") || has("smarthealthstatus") {
        Kind::Scsi
    } else {
        return Err(without_a_drive(lines, first));
    };
    let mut output = Output::new(kind);
    output.failing = failing(&fields, lines);
    output.add("health", "overall_health", passes(&fields).map(overall));
    match kind {
        Kind::Nvme => nvme(&mut output, fields),
        Kind::Ata => {
            ata_fields(&mut output, &fields);
            output.attributes = attributes(lines);
            output.statistics = statistics(lines);
            output.sct = sct(&fields);
        }
        Kind::Scsi => scsi(&mut output, &fields, lines),
    }
    Ok(output)
}

/// Returns the temperatures of the SCT status: `Current Temperature: 38 Celsius`,
/// `Lifetime    Min/Max Temperature:     21/76 Celsius`.
fn sct(fields: &Fields) -> SctTemperatures {
    let celsius = |text: &str| ata::temperature(numbers::celsius(text)? as i64);
    let highest =
        |name: &str| celsius(fields.get(name)?.split_once('/').map(|(_, highest)| highest)?);
    SctTemperatures {
        current_c: fields.get("currenttemperature").and_then(|text| celsius(text)),
        highest_of_cycle_c: highest("powercycleminmaxtemperature"),
        highest_c: highest("lifetimeminmaxtemperature"),
    }
}

/// Returns whether the overall health has passed; `None` where it is not printed, or not known to smartctl.
fn passes(fields: &Fields) -> Option<bool> {
    let ata = fields.get("smartoverallhealthselfassessmenttestresult").and_then(|text| match text
        .split(|c: char| !c.is_ascii_alphabetic())
        .next()
    {
        Some("PASSED") => Some(true),
        Some("FAILED") => Some(false),
        Some(_) | None => None,
    });
    ata.or_else(|| fields.get("smarthealthstatus").map(|text| text.starts_with("OK")))
}

/// Returns what the drive says of its failure: its overall health, and attributes below their thresholds now.
fn failing(fields: &Fields, lines: &[&str]) -> Vec<String> {
    let mut failing = Vec::new();
    let overall = fields.get("smartoverallhealthselfassessmenttestresult");
    if overall.is_some_and(|text| text.starts_with("FAILED")) {
        failing.push(OVERALL_FAILED.to_owned());
    }
    let status = fields.get("smarthealthstatus").filter(|text| !text.starts_with("OK"));
    failing.extend(status.map(|text| format!("its SMART health status as '{text}'")));
    let table = lines.iter().position(|line| is_attribute_header(line));
    let now = table.into_iter().flat_map(|at| rows(lines, at)).filter_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_now = columns.iter().any(|word| ["NOW", "FAILING_NOW"].contains(word));
        is_now.then(|| columns.get(1).copied()).flatten()
    });
    failing.extend(failing_now(now));
    failing
}

/// Returns what a drive reports of attributes below their thresholds; `None` without one.
pub(super) fn failing_now<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    (!names.is_empty())
        .then(|| format!("SMART attributes at or below their thresholds now: {}", names.join(", ")))
}

fn without_a_drive(lines: &[&str], first: usize) -> StoredError {
    let is_message = |line: &&&str| {
        let line = line.to_ascii_lowercase();
        [
            "failed",
            "error",
            "unable",
            "unknown usb",
            "please specify",
            "standby",
            "no such",
            "permission",
        ]
        .iter()
        .any(|word| line.contains(word))
    };
    let message = lines.iter().enumerate().skip(1).find(|(_, line)| is_message(line));
    let (line, what) = match message {
        Some((at, message)) => (first + at, format!("smartctl read no drive: {}", message.trim())),
        None => (first, "this output of smartctl ends before the model of a drive".into()),
    };
    StoredError { line, what, remedy: AS_ROOT }
}

/// Returns a text that is not empty; `--` stands for a removed serial number.
fn text(value: Option<&String>) -> Option<String> {
    value.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty() && text != "--")
}

fn count(value: Option<&String>) -> Option<u64> {
    numbers::whole(value?)?.try_into().ok()
}

fn nvme(output: &mut Output, mut fields: Fields) {
    let get = |name: &str| fields.get(name);
    output.add("identity", "model", text(get("modelnumber")));
    output.add("identity", "serial", text(get("serialnumber")));
    output.add("identity", "firmware", text(get("firmwareversion")));
    let namespace_size = get("namespace1sizecapacity").or(get("namespace1size"));
    let size = count(namespace_size).or_else(|| count(get("totalnvmcapacity")));
    output.add("identity", "capacity_bytes", size.filter(|bytes| *bytes > 0));
    let version =
        text(get("nvmeversion")).filter(|text| text.starts_with(|c: char| c.is_ascii_digit()));
    output.add("identity", "nvme_version", version.map(|text| with_tertiary(&text)));
    let hexadecimal = |name: &str| u16::try_from(numbers::whole(get(name)?)?).ok();
    let both = hexadecimal("pcivendorsubsystemid").map(|id| (id, id));
    let apart = || Some((hexadecimal("pcivendorid")?, hexadecimal("pcivendorsubsystemid")?));
    // `PCI Vendor Subsystem ID` and `PCI Vendor/Subsystem ID` have one plain name.
    let ids = apart().or(both);
    output.add(
        "identity",
        "vendor_id",
        ids.map(|(id, subsystem)| format!("{id:04x}:{subsystem:04x}")),
    );
    let oui = get("ieeeouiidentifier").and_then(|text| numbers::whole(text));
    output.add("identity", "ieee_oui", oui.map(|oui| format!("{oui:06x}")));
    output.add("identity", "controller_id", count(get("controllerid")));
    output.add("blocks", "logical_block_bytes", count(get("namespace1formattedlbasize")));
    output.add("blocks", "most_namespaces", count(get("numberofnamespaces")));
    output.add("blocks", "used_bytes", count(get("namespace1utilization")));
    let total = count(get("totalnvmcapacity"));
    output.add("blocks", "total_capacity_bytes", total.filter(|bytes| *bytes > 0));
    output.add("blocks", "unallocated_bytes", count(get("unallocatednvmcapacity")));
    let pages = count(get("maximumdatatransfersize"));
    output.add("blocks", "most_transfer_bytes", pages.map(|pages| pages * 4_096));
    output.add("link", "transport", Some("pcie"));
    let eui64 = text(get("namespace1ieeeeui64")).map(|text| text.replace(' ', ""));
    let eui64 =
        eui64.filter(|text| text.len() == 16 && text.chars().all(|c| c.is_ascii_hexdigit()));
    output.add("identity", "eui64", eui64);
    let celsius = |name: &str| numbers::celsius(get(name)?);
    output.add("thermal", "warning_c", celsius("warningcomptempthreshold"));
    output.add("thermal", "critical_c", celsius("criticalcomptempthreshold"));
    if fields.contains_key("dataunitswritten") || fields.contains_key("percentageused") {
        // `Temperature` of the log, not one of the sections before it.
        fields.retain(|_, value| value != "-");
        output.smart = Some(fields);
    }
}

/// Returns an NVMe version of two numbers with the third, which smartctl leaves out where it is 0.
pub(super) fn with_tertiary(version: &str) -> String {
    match version.matches('.').count() {
        1 => format!("{version}.0"),
        _ => version.to_owned(),
    }
}

fn ata_fields(output: &mut Output, fields: &Fields) {
    let get = |name: &str| fields.get(name);
    output.add("identity", "model", text(get("devicemodel")));
    output.add("identity", "serial", text(get("serialnumber")));
    output.add("identity", "firmware", text(get("firmwareversion")));
    output.add("identity", "capacity_bytes", count(get("usercapacity")));
    let wwn = text(get("luwwndeviceid")).map(|text| text.replace(' ', ""));
    let wwn = wwn.filter(|text| text.len() == 16 && text.chars().all(|c| c.is_ascii_hexdigit()));
    output.add("identity", "ata_wwn", wwn);
    // `512 bytes logical, 4096 bytes physical`, or `512 bytes logical/physical`.
    let sizes = get("sectorsizes").or(get("sectorsize"));
    output.add("blocks", "logical_block_bytes", count(sizes));
    let physical =
        sizes.map(|text| text.split_once("logical, ").map_or(&text[..], |(_, last)| last));
    let physical = physical.and_then(|text| u64::try_from(numbers::whole(text)?).ok());
    output.add("blocks", "physical_block_bytes", physical);
    output.add("blocks", "rotational", get("rotationrate").and_then(|text| is_rotational(text)));
    if let Some(version) = get("sataversionis") {
        let gigabits = |text: &str| numbers::fraction(text).filter(|speed| *speed < 100.0);
        let speeds = version.split_once(", ").map(|(_, speeds)| speeds);
        let current = speeds.and_then(|text| text.split_once("(current: ")).map(|(_, last)| last);
        output.sata_gbit = (speeds.and_then(gigabits), current.and_then(gigabits));
        output.add("link", "sata_most_gbit_s", output.sata_gbit.0);
        output.add("link", "sata_gbit_s", output.sata_gbit.1);
        output.add("link", "transport", Some("sata"));
    }
    let cache = get("writecacheis").or(get("writecacheiswritethrough"));
    add_cache(output, cache.map(|text| &text[..]));
    if let Some(trim) = get("trimcommand") {
        output.add("erasing", "trim", Some(trim.starts_with("Available")));
        let reads = [("zeroed", "zeros"), ("deterministic", "deterministic data")];
        let reads = reads.into_iter().find(|(word, _)| trim.contains(word)).map(|(_, name)| name);
        output.add("erasing", "trimmed_reads_as", reads);
    }
    output.add("security", "ata_security", get("atasecurityis").and_then(|text| security(text)));
}

pub(super) fn add_cache(output: &mut Output, cache: Option<&str>) {
    let has = cache.map(|text| !text.starts_with("Unavailable"));
    output.add("erasing", "volatile_write_cache", has);
    let on = cache.and_then(|text| match text {
        _ if text.starts_with("Enabled") => Some(true),
        _ if text.starts_with("Disabled") => Some(false),
        _ => None,
    });
    output.add("erasing", "write_cache_on", on);
}

fn is_rotational(text: &str) -> Option<bool> {
    match text {
        _ if text.starts_with("Solid State") => Some(false),
        _ => numbers::whole(text).map(|_| true),
    }
}

/// Returns the words of an attached drive for `Disabled, NOT FROZEN [SEC1]` and its like.
pub(super) fn security(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let is = |word: &str| lower.contains(word) && !lower.contains(&format!("not {word}"));
    Some(match lower {
        _ if is("locked") => "locked",
        _ if lower.starts_with("enabled") => "a password is set",
        _ if lower.starts_with("disabled") && is("frozen") => "no password, frozen",
        _ if lower.starts_with("disabled") => "no password",
        _ => return None,
    })
}

fn is_attribute_header(line: &str) -> bool {
    line.starts_with("ID#") && line.contains("RAW_VALUE")
}

/// Reads the table of attributes, in the form of `-f old` or `-f brief`, with numbers decimal or `-f hex`.
fn attributes(lines: &[&str]) -> Vec<Attribute> {
    let Some(at) = lines.iter().position(|line| is_attribute_header(line)) else {
        return Vec::new();
    };
    // The raw value is the last column, and the only one with spaces.
    let before_raw = lines[at].split_whitespace().count() - 1;
    rows(lines, at).filter_map(|line| attribute(line, before_raw)).collect()
}

/// Returns the lines of the table with its title in line `at`. A row begins with a number; an empty line is
/// possible between rows.
fn rows<'a>(lines: &'a [&'a str], at: usize) -> impl Iterator<Item = &'a str> {
    let is_title = |line: &str| line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '=');
    let rest = lines[at + 1..].iter().copied();
    rest.take_while(move |line| !is_title(line) || line.starts_with("Page"))
}

fn attribute(line: &str, before_raw: usize) -> Option<Attribute> {
    let mut rest = line.trim();
    let mut columns = Vec::new();
    for _ in 0..before_raw {
        let (column, after) = rest.split_once(char::is_whitespace)?;
        columns.push(column);
        rest = after.trim_start();
    }
    let small = |text: &str| u8::try_from(numbers::whole(text)?).ok();
    // `---` stands for a value that the drive does not fill.
    let id = columns.first().and_then(|text| small(text)).filter(|id| *id != 0)?;
    Some(Attribute {
        id,
        value: columns.get(3).and_then(|text| small(text)),
        worst: columns.get(4).and_then(|text| small(text)),
        raw: raw(rest)?,
    })
}

/// Returns a raw value: a number of 48 bits, or the text into which smartctl has divided it.
fn raw(text: &str) -> Option<Result<u64, String>> {
    let text = text.trim();
    let is_number = text.starts_with("0x") || text.chars().all(|c| c.is_ascii_digit());
    let number = numbers::whole(text).filter(|_| is_number).and_then(|n| u64::try_from(n).ok());
    match number {
        _ if text.is_empty() => None,
        Some(number) => Some(Ok(number)),
        None => Some(Err(text.to_owned())),
    }
}

/// Reads the Device Statistics log; `None` where the output has none.
fn statistics(lines: &[&str]) -> Option<DeviceStatistics> {
    let at = lines.iter().position(|line| line.starts_with("Device Statistics ("))?;
    let mut statistics = DeviceStatistics::default();
    let mut is_any = false;
    for line in rows(lines, at) {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let [page, offset, _, value, ..] = columns[..] else { continue };
        let Some(page) = numbers::whole(page) else { continue };
        let Some(offset) = offset.strip_prefix("0x").and_then(|_| numbers::whole(offset)) else {
            continue;
        };
        // Old versions mark a normalized value by a tilde. `-` stands for one that is not valid.
        let digits = value.trim_end_matches('~');
        if let Ok(value) = digits.parse::<i64>() {
            is_any |= statistics.set(page as u8, offset as usize, value as u64);
        }
    }
    is_any.then_some(statistics)
}

fn scsi(output: &mut Output, fields: &Fields, lines: &[&str]) {
    let get = |name: &str| fields.get(name);
    let parts = [text(get("vendor")), text(get("product"))];
    let model = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    output.add("identity", "model", Some(model).filter(|model| !model.is_empty()));
    output.add("identity", "serial", text(get("serialnumber")));
    output.add("identity", "firmware", text(get("revision")));
    output.add("identity", "capacity_bytes", count(get("usercapacity")));
    output.add("blocks", "logical_block_bytes", count(get("logicalblocksize")));
    output.add("blocks", "physical_block_bytes", count(get("physicalblocksize")));
    output.add("blocks", "rotational", get("rotationrate").and_then(|text| is_rotational(text)));
    let transport = get("transportprotocol").filter(|text| text.contains("SAS")).map(|_| "sas");
    output.add("link", "transport", transport);
    output.add("health", "used_percent", count(get("percentageusedenduranceindicator")));
    // A RAID volume has 0 in both.
    let celsius = |name: &str| numbers::celsius(get(name)?).filter(|celsius| *celsius != 0.0);
    output.add("thermal", "temperature_c", celsius("currentdrivetemperature"));
    output.add("thermal", "critical_c", celsius("drivetriptemperature"));
    // `Accumulated power on time, hours:minutes 982:01`, or `number of hours powered up = 982.02`.
    let hours = lines.iter().find_map(|line| {
        let after = |start: &str| line.trim().split_once(start).map(|(_, hours)| hours);
        numbers::whole(
            after("hours:minutes ").or_else(|| after("hours powered up = "))?.split('.').next()?,
        )
    });
    output.add("health", "power_on_hours", hours.and_then(|hours| u64::try_from(hours).ok()));
    for (name, key) in [("read", "read_bytes"), ("write", "written_bytes")] {
        // Gigabytes of 10^9 bytes are the last but one of seven columns (`scsiprint.cpp`).
        let row = get(name).map(|text| text.split_whitespace().collect::<Vec<_>>());
        let bytes = row.filter(|row| row.len() == 7).and_then(|row| numbers::fraction(row[5]));
        output.add("health", key, bytes.map(|gigabytes| (gigabytes * 1e9).round() as u64));
    }
}
