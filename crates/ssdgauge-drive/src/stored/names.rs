//! The fields of the NVMe SMART log and Identify data by the names that smartctl and nvme-cli print.

use super::numbers;
use std::collections::BTreeMap;

/// Fields by their names in lower case without spaces and punctuation, as printed.
pub(super) type Fields = BTreeMap<String, String>;

/// Returns a name in lower case without spaces and punctuation: both programs, their versions and their
/// JSON differ in these.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// A field: its plain names, its place in bytes, its length, and the key of its fact.
pub(super) struct Field {
    names: &'static [&'static str],
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) key: &'static str,
}

const fn field(
    names: &'static [&'static str],
    at: usize,
    length: usize,
    key: &'static str,
) -> Field {
    Field { names, at, length, key }
}

/// The place of the composite temperature in the SMART log.
pub(super) const COMPOSITE_AT: usize = 1;
/// The place of the first of eight sensors.
const SENSORS_AT: usize = 200;

/// The SMART log (NVM Express Base Specification 2.0, figure 207).
pub(super) const SMART_LOG: [Field; 21] = [
    field(&["criticalwarning"], 0, 1, "critical_warning"),
    field(&["temperature"], COMPOSITE_AT, 2, "temperature_c"),
    field(&["availablespare", "availspare"], 3, 1, "spare_percent"),
    field(&["availablesparethreshold", "sparethresh"], 4, 1, "spare_threshold_percent"),
    field(&["percentageused", "percentused"], 5, 1, "used_percent"),
    field(&["dataunitsread"], 32, 16, "read_bytes"),
    field(&["dataunitswritten"], 48, 16, "written_bytes"),
    field(&["hostreadcommands", "hostreads"], 64, 16, "read_commands"),
    field(&["hostwritecommands", "hostwrites"], 80, 16, "write_commands"),
    field(&["controllerbusytime"], 96, 16, "busy_minutes"),
    field(&["powercycles"], 112, 16, "power_cycles"),
    field(&["poweronhours"], 128, 16, "power_on_hours"),
    field(&["unsafeshutdowns"], 144, 16, "unsafe_shutdowns"),
    field(&["mediaerrors", "mediaanddataintegrityerrors"], 160, 16, "media_errors"),
    field(&["numerrlogentries", "errorinformationlogentries"], 176, 16, "error_log_entries"),
    field(
        &["warningtemptime", "warningtemperaturetime", "warningcomptemperaturetime"],
        192,
        4,
        "warning_minutes",
    ),
    field(
        &["criticalcomptime", "criticalcompositetemperaturetime", "criticalcomptemperaturetime"],
        196,
        4,
        "critical_minutes",
    ),
    field(
        &["thmtemp1transcount", "thermalmanagementt1transcount", "thermaltemp1transitioncount"],
        216,
        4,
        "light_throttles",
    ),
    field(
        &["thmtemp2transcount", "thermalmanagementt2transcount", "thermaltemp2transitioncount"],
        220,
        4,
        "heavy_throttles",
    ),
    field(
        &["thmtemp1totaltime", "thermalmanagementt1totaltime", "thermaltemp1totaltime"],
        224,
        4,
        "light_throttle_s",
    ),
    field(
        &["thmtemp2totaltime", "thermalmanagementt2totaltime", "thermaltemp2totaltime"],
        228,
        4,
        "heavy_throttle_s",
    ),
];

/// Identify Controller (figure 275), as nvme-cli names its fields; numbers only.
pub(super) const CONTROLLER: [Field; 31] = [
    field(&["vid"], 0, 2, ""),
    field(&["ssvid"], 2, 2, ""),
    field(&["rab"], 72, 1, ""),
    field(&["cmic"], 76, 1, ""),
    field(&["mdts"], 77, 1, ""),
    field(&["cntlid"], 78, 2, ""),
    field(&["ver"], 80, 4, ""),
    field(&["rtd3r"], 84, 4, ""),
    field(&["rtd3e"], 88, 4, ""),
    field(&["ctratt"], 96, 4, ""),
    field(&["oacs"], 256, 2, ""),
    field(&["frmw"], 260, 1, ""),
    field(&["lpa"], 261, 1, ""),
    field(&["elpe"], 262, 1, ""),
    field(&["npss"], 263, 1, ""),
    field(&["apsta"], 265, 1, ""),
    field(&["wctemp"], 266, 2, ""),
    field(&["cctemp"], 268, 2, ""),
    field(&["hmpre"], 272, 4, ""),
    field(&["hmmin"], 276, 4, ""),
    field(&["tnvmcap"], 280, 16, ""),
    field(&["unvmcap"], 296, 16, ""),
    field(&["edstt"], 316, 2, ""),
    field(&["hctma"], 322, 2, ""),
    field(&["mntmt"], 324, 2, ""),
    field(&["mxtmt"], 326, 2, ""),
    field(&["sanicap"], 328, 4, ""),
    field(&["nn"], 516, 4, ""),
    field(&["oncs"], 520, 2, ""),
    field(&["fna"], 524, 1, ""),
    field(&["vwc"], 525, 1, ""),
];

/// Identify Namespace (NVM Command Set Specification, figure 97), likewise.
pub(super) const NAMESPACE: [Field; 16] = [
    field(&["nsze"], 0, 8, ""),
    field(&["ncap"], 8, 8, ""),
    field(&["nuse"], 16, 8, ""),
    field(&["nsfeat"], 24, 1, ""),
    field(&["nlbaf"], 25, 1, ""),
    field(&["flbas"], 26, 1, ""),
    field(&["mc"], 27, 1, ""),
    field(&["dpc"], 28, 1, ""),
    field(&["dps"], 29, 1, ""),
    field(&["nmic"], 30, 1, ""),
    field(&["rescap"], 31, 1, ""),
    field(&["fpi"], 32, 1, ""),
    field(&["dlfeat"], 33, 1, ""),
    field(&["npwg"], 64, 2, ""),
    field(&["npdg"], 68, 2, ""),
    field(&["endgid"], 102, 2, ""),
];

impl Field {
    /// Returns the number of the field; `None` where it is missing or too large for its length.
    fn number(&self, fields: &Fields) -> Option<u128> {
        let text = self.names.iter().find_map(|name| fields.get(*name))?;
        let number = match self.length == 2 && self.key == "temperature_c" {
            true => numbers::kelvin(text),
            false => numbers::whole(text),
        }?;
        (self.length == 16 || number >> (8 * self.length) == 0).then_some(number)
    }
}

/// Writes the numbers of `table` into `data`, and returns the fields that are not among `fields`.
pub(super) fn write<'a>(table: &'a [Field], fields: &Fields, data: &mut [u8]) -> Vec<&'a Field> {
    let mut missing = Vec::new();
    for field in table {
        match field.number(fields) {
            Some(number) => {
                let bytes = &number.to_le_bytes()[..field.length];
                data[field.at..field.at + field.length].copy_from_slice(bytes);
            }
            None => missing.push(field),
        }
    }
    missing
}

/// Writes the temperature sensors of the SMART log, from 1 to 8.
pub(super) fn write_sensors(fields: &Fields, data: &mut [u8]) {
    for number in 1..=8 {
        let kelvin = fields.get(&format!("temperaturesensor{number}"));
        if let Some(kelvin) = kelvin.and_then(|text| u16::try_from(numbers::kelvin(text)?).ok()) {
            let at = SENSORS_AT + 2 * (number - 1);
            data[at..at + 2].copy_from_slice(&kelvin.to_le_bytes());
        }
    }
}
