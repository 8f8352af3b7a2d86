//! Outputs of `smartctl --json` (smartmontools from 7.0 on).

use super::names::{Fields, plain};
use super::output::{Attribute, Kind, Output};
use super::{AS_ROOT, StoredError, numbers, smartctl_text};
use crate::ata::{self, DeviceStatistics};
use crate::description::{OVERALL_FAILED, SctTemperatures, overall};
use serde_json::Value as Json;

/// Reads the document that begins in line `line`.
pub(super) fn read(document: &Json, line: usize) -> Result<Output, StoredError> {
    let protocol = document.pointer("/device/protocol").and_then(Json::as_str);
    let has = |name: &str| document.get(name).is_some();
    let kind = match protocol {
        Some("NVMe") => Kind::Nvme,
        Some("ATA") => Kind::Ata,
        Some("SCSI") => Kind::Scsi,
        _ if has("nvme_smart_health_information_log") => Kind::Nvme,
        _ if has("ata_smart_attributes") => Kind::Ata,
        _ => Kind::Scsi,
    };
    if ![
        "model_name",
        "scsi_model_name",
        "scsi_product",
        "ata_smart_attributes",
        "nvme_smart_health_information_log",
    ]
    .iter()
    .any(|name| has(name))
    {
        return Err(without_a_drive(document, line));
    }
    let mut output = Output::new(kind);
    common(&mut output, document);
    match kind {
        Kind::Nvme => nvme(&mut output, document),
        Kind::Ata => ata_fields(&mut output, document),
        Kind::Scsi => scsi(&mut output, document),
    }
    Ok(output)
}

fn without_a_drive(document: &Json, line: usize) -> StoredError {
    let messages = document.pointer("/smartctl/messages").and_then(Json::as_array);
    let message = messages.into_iter().flatten().find_map(|one| one.get("string")?.as_str());
    let what = match message {
        Some(message) => format!("smartctl read no drive: {message}"),
        None => "this output of smartctl has no model of a drive".into(),
    };
    StoredError { line, what, remedy: AS_ROOT }
}

fn count(document: &Json, pointer: &str) -> Option<u64> {
    numbers::whole_of(document.pointer(pointer)?)?.try_into().ok()
}

fn text<'a>(document: &'a Json, pointer: &str) -> Option<&'a str> {
    let text = document.pointer(pointer)?.as_str()?.trim();
    (!text.is_empty()).then_some(text)
}

fn flag(document: &Json, pointer: &str) -> Option<bool> {
    document.pointer(pointer)?.as_bool()
}

fn common(output: &mut Output, document: &Json) {
    let model = text(document, "/model_name").or(text(document, "/scsi_model_name"));
    output.add("identity", "model", model.or(text(document, "/scsi_product")));
    output.add("identity", "serial", text(document, "/serial_number"));
    let firmware = text(document, "/firmware_version").or(text(document, "/scsi_revision"));
    output.add("identity", "firmware", firmware);
    let capacity = count(document, "/user_capacity/bytes")
        .or(count(document, "/nvme_namespaces/0/size/bytes"))
        .or(count(document, "/nvme_total_capacity"));
    output.add("identity", "capacity_bytes", capacity.filter(|bytes| *bytes > 0));
    let block = count(document, "/logical_block_size")
        .or(count(document, "/nvme_namespaces/0/formatted_lba_size"));
    output.add("blocks", "logical_block_bytes", block);
    output.add("blocks", "physical_block_bytes", count(document, "/physical_block_size"));
    output.add("blocks", "rotational", count(document, "/rotation_rate").map(|turns| turns > 0));
    let passes = flag(document, "/smart_status/passed");
    if passes == Some(false) {
        output.failing.push(OVERALL_FAILED.to_owned());
    }
    output.add("health", "overall_health", passes.map(overall));
}

fn nvme(output: &mut Output, document: &Json) {
    output.add("link", "transport", Some("pcie"));
    let version = text(document, "/nvme_version/string").map(smartctl_text::with_tertiary);
    output.add(
        "identity",
        "nvme_version",
        version.filter(|text| text.starts_with(|c: char| c.is_ascii_digit())),
    );
    let ids = count(document, "/nvme_pci_vendor/id")
        .zip(count(document, "/nvme_pci_vendor/subsystem_id"));
    output.add(
        "identity",
        "vendor_id",
        ids.map(|(id, subsystem)| format!("{id:04x}:{subsystem:04x}")),
    );
    let oui = count(document, "/nvme_ieee_oui_identifier");
    output.add("identity", "ieee_oui", oui.map(|oui| format!("{oui:06x}")));
    output.add("identity", "controller_id", count(document, "/nvme_controller_id"));
    let most = count(document, "/nvme_number_of_namespaces");
    output.add("blocks", "most_namespaces", most);
    let total = count(document, "/nvme_total_capacity").filter(|bytes| *bytes > 0);
    output.add("blocks", "total_capacity_bytes", total);
    output.add("blocks", "unallocated_bytes", count(document, "/nvme_unallocated_capacity"));
    output.add("blocks", "used_bytes", count(document, "/nvme_namespaces/0/utilization/bytes"));
    let Some(log) = document.get("nvme_smart_health_information_log").and_then(Json::as_object)
    else {
        return;
    };
    let mut fields = Fields::new();
    for (name, value) in log {
        if let Some(number) = numbers::whole_of(value) {
            fields.insert(plain(name), number.to_string());
        }
    }
    // Temperatures in degrees Celsius may be negative.
    let celsius = |value: &Json| value.as_i64().map(|celsius| format!("{celsius} C"));
    fields
        .extend(log.get("temperature").and_then(celsius).map(|text| ("temperature".into(), text)));
    let sensors = log.get("temperature_sensors").and_then(Json::as_array);
    for (at, sensor) in sensors.into_iter().flatten().enumerate() {
        let name = format!("temperaturesensor{}", at + 1);
        fields.extend(celsius(sensor).map(|text| (name, text)));
    }
    output.smart = Some(fields);
}

fn ata_fields(output: &mut Output, document: &Json) {
    let gigabits = |pointer: &str| numbers::fraction(text(document, pointer)?);
    output.sata_gbit =
        (gigabits("/interface_speed/max/string"), gigabits("/interface_speed/current/string"));
    output.add("link", "sata_most_gbit_s", output.sata_gbit.0);
    output.add("link", "sata_gbit_s", output.sata_gbit.1);
    output.add("link", "transport", document.get("sata_version").map(|_| "sata"));
    let wwn = ["naa", "oui", "id"].map(|part| count(document, &format!("/wwn/{part}")));
    if let [Some(naa), Some(oui), Some(id)] = wwn {
        output.add("identity", "ata_wwn", Some(format!("{naa:x}{oui:06x}{id:09x}")));
    }
    output.add("erasing", "trim", flag(document, "/trim/supported"));
    let reads = match (flag(document, "/trim/zeroed"), flag(document, "/trim/deterministic")) {
        (Some(true), _) => Some("zeros"),
        (_, Some(true)) => Some("deterministic data"),
        (_, _) => None,
    };
    output.add("erasing", "trimmed_reads_as", reads);
    if let Some(on) = flag(document, "/write_cache/enabled") {
        smartctl_text::add_cache(output, Some(if on { "Enabled" } else { "Disabled" }));
    }
    let security = text(document, "/ata_security/string").and_then(smartctl_text::security);
    output.add("security", "ata_security", security);
    let table = document.pointer("/ata_smart_attributes/table").and_then(Json::as_array);
    output.attributes = table.into_iter().flatten().filter_map(attribute).collect();
    output.statistics = statistics(document);
    let celsius = |name: &str| {
        let pointer = format!("/ata_sct_status/temperature/{name}");
        ata::temperature(document.pointer(&pointer)?.as_i64()?)
    };
    output.sct = SctTemperatures {
        current_c: celsius("current"),
        highest_of_cycle_c: celsius("power_cycle_max"),
        highest_c: celsius("lifetime_max"),
    };
    let rows = table.into_iter().flatten();
    let now = rows.filter(|row| text(row, "/when_failed") == Some("now"));
    output.failing.extend(smartctl_text::failing_now(now.filter_map(|row| text(row, "/name"))));
}

fn attribute(row: &Json) -> Option<Attribute> {
    let small = |name: &str| u8::try_from(row.get(name)?.as_u64()?).ok();
    let raw = match (count(row, "/raw/value"), text(row, "/raw/string")) {
        (Some(value), _) => Ok(value),
        (None, text) => Err(text?.to_owned()),
    };
    let id = small("id").filter(|id| *id != 0)?;
    Some(Attribute { id, value: small("value"), worst: small("worst"), raw })
}

fn statistics(document: &Json) -> Option<DeviceStatistics> {
    let pages = document.pointer("/ata_device_statistics/pages").and_then(Json::as_array)?;
    let mut statistics = DeviceStatistics::default();
    let mut is_any = false;
    for page in pages {
        let number = page.get("number").and_then(Json::as_u64).unwrap_or(0);
        for row in page.get("table").and_then(Json::as_array).into_iter().flatten() {
            let is_valid = flag(row, "/flags/valid").unwrap_or(true);
            let value = row.get("value").and_then(Json::as_i64).filter(|_| is_valid);
            let offset = row.get("offset").and_then(Json::as_u64);
            if let (Some(offset), Some(value), Ok(number)) = (offset, value, u8::try_from(number)) {
                is_any |= statistics.set(number, offset as usize, value as u64);
            }
        }
    }
    is_any.then_some(statistics)
}

fn scsi(output: &mut Output, document: &Json) {
    let transport = text(document, "/scsi_transport_protocol/name");
    output.add("link", "transport", transport.filter(|name| name.contains("SAS")).map(|_| "sas"));
    let used = count(document, "/scsi_percentage_used_endurance_indicator");
    output.add(
        "health",
        "used_percent",
        used.or(count(document, "/endurance_used/current_percent")),
    );
    output.add("health", "power_on_hours", count(document, "/power_on_time/hours"));
    // A RAID volume has 0 in both.
    let celsius = |pointer: &str| {
        document.pointer(pointer).and_then(Json::as_f64).filter(|celsius| *celsius != 0.0)
    };
    output.add("thermal", "temperature_c", celsius("/temperature/current"));
    output.add("thermal", "critical_c", celsius("/temperature/drive_trip"));
    for (name, key) in [("read", "read_bytes"), ("write", "written_bytes")] {
        let pointer = format!("/scsi_error_counter_log/{name}/gigabytes_processed");
        let gigabytes = document.pointer(&pointer).and_then(|value| match value {
            Json::String(text) => numbers::fraction(text),
            other => other.as_f64(),
        });
        output.add("health", key, gigabytes.map(|gigabytes| (gigabytes * 1e9).round() as u64));
    }
}
