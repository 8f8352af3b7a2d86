//! The decoder of the NVMe power measurement log, which contains a distribution.
//!
//! Layouts: log 25h and feature 25h of the NVM Express Base Specification 2.2 and later, as
//! libnvme 3.0 has them. This module never sends a command.

use crate::byte_reader::{ByteReader, bit};
use crate::health::scaled_power;

/// The bytes before the histogram.
pub(crate) const HEADER_LENGTH: usize = 64;
/// The bytes of one entry of the histogram.
pub(crate) const ENTRY: usize = 8;
/// The maximum bytes of the log that are read: a thousand entries, 250 W in bins of 250 mW.
const MAX_LENGTH: usize = HEADER_LENGTH + 1_000 * ENTRY;

/// The power that a drive has measured since the last start of the measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PowerLog {
    /// The number of samples.
    pub count: u32,
    /// The mean power in watts; `None` where not reported.
    pub mean_w: Option<f64>,
    /// The maximum power of an interval in watts; `None` where not reported.
    pub max_w: Option<f64>,
    /// The measurement error that the vendor states, in percent; `None` where not reported.
    pub error_percent: Option<u8>,
    /// Whether the power is estimated from the activity of the drive instead of measured.
    pub is_estimated: bool,
    /// Whether the samples do not cover the whole time.
    pub has_gaps: bool,
    /// The samples beyond the last bin.
    pub overflow: u16,
    /// The lower and upper limit of each bin in watts, and its samples.
    pub bins: Vec<(f64, f64, u32)>,
}

/// Returns the length of the log in bytes, from its header; `None` where that is malformed.
pub(crate) fn length(header: &[u8]) -> Option<usize> {
    let reported = ByteReader(header).u32(4)? as usize;
    // Get Log Page transfers whole words of four bytes.
    (reported >= HEADER_LENGTH).then(|| reported.min(MAX_LENGTH).next_multiple_of(4))
}

impl PowerLog {
    /// Decodes the log; `None` where it is malformed. Without a measurement it has no samples.
    pub(crate) fn decode(data: &[u8]) -> Option<PowerLog> {
        let reader = ByteReader(data.get(..HEADER_LENGTH)?);
        let entries = usize::from(reader.u16(12)?);
        let entry = usize::from(reader.u16(24)?);
        let width_w = f64::from(reader.u16(26)?) * 1e-3;
        let log = ByteReader(data.get(HEADER_LENGTH..)?);
        if entries > 0 && (entry != ENTRY || width_w <= 0.0 || entries * ENTRY > log.0.len()) {
            return None;
        }
        // An entry is the number of its bin and the samples in it.
        let bin = |index: usize| {
            let number = f64::from(log.u32(index * ENTRY)?);
            let samples = log.u32(index * ENTRY + 4)?;
            Some((number * width_w, (number + 1.0) * width_w, samples))
        };
        let attributes = reader.u16(2)?;
        Some(PowerLog {
            count: reader.u32(8)?,
            mean_w: scaled_power(reader.u32(40)?),
            max_w: scaled_power(reader.u32(44)?),
            error_percent: reader.u8(56).filter(|percent| *percent != 255),
            is_estimated: bit(attributes, 2),
            has_gaps: bit(attributes, 1),
            overflow: reader.u16(32)?,
            bins: (0..entries).map(bin).collect::<Option<_>>()?,
        })
    }
}

/// Returns the value of feature 25h that starts or stops a measurement of the whole drive: action
/// in bits 3:0, type 0 in bits 7:4, no time limit in bits 31:16.
pub(crate) fn measurement_value(start: bool) -> u32 {
    u32::from(start)
}

/// Returns whether log `id` is in the list of supported log pages (log 00h; bit 0 of four bytes).
pub(crate) fn is_supported(list: &[u8], id: u8) -> bool {
    ByteReader(list).u32(4 * usize::from(id)).is_some_and(|entry| bit(entry, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::power_log;

    #[test]
    fn the_histogram_is_decoded_with_its_limits_in_watts() {
        let found = PowerLog::decode(&power_log()).unwrap();
        assert_eq!((found.count, found.mean_w, found.max_w), (100, Some(3.1), Some(7.2)));
        assert_eq!((found.error_percent, found.overflow), (None, 3));
        assert_eq!(found.bins, [(2.75, 3.0, 60), (6.75, 7.0, 40)]);
        assert!(!found.is_estimated && !found.has_gaps);
        assert_eq!(length(&power_log()), Some(80));
        let mut estimated = power_log();
        (estimated[2], estimated[56]) = (0b110, 5);
        let found = PowerLog::decode(&estimated).unwrap();
        assert!(found.is_estimated && found.has_gaps);
        assert_eq!(found.error_percent, Some(5));
    }

    #[test]
    fn a_log_with_inconsistent_lengths_is_rejected() {
        assert_eq!(PowerLog::decode(&power_log()[..72]), None, "shorter than reported");
        assert_eq!(PowerLog::decode(&power_log()[..20]), None);
        for (at, byte) in [(24, 0), (24, 9), (26, 0), (13, 0xff)] {
            let mut wrong = power_log();
            wrong[at] = byte;
            assert_eq!(PowerLog::decode(&wrong), None, "{at}");
        }
        let empty = PowerLog::decode(&[0; HEADER_LENGTH]).unwrap();
        assert_eq!((empty.count, empty.mean_w), (0, None), "nothing was measured");
        assert_eq!(length(&[0; HEADER_LENGTH]), None);
        let mut huge = power_log();
        huge[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(length(&huge), Some(MAX_LENGTH));
    }

    #[test]
    fn a_log_is_supported_where_the_list_contains_it() {
        let mut list = vec![0; 1_024];
        list[4 * 0x25] = 1;
        assert!(is_supported(&list, 0x25) && !is_supported(&list, 0x24));
        assert!(!is_supported(&list[..100], 0x25));
    }
}
