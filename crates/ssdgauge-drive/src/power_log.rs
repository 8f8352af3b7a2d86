//! NVMe: the power that a drive measures of itself over a time, with its distribution.
//!
//! Layouts: log 25h and feature 25h of the NVM Express Base Specification 2.2 and later, as
//! libnvme 3.0 has them. This module never talks to a drive.

use crate::byte_reader::{ByteReader, bit};
use crate::health::scaled_power;

/// Bytes before the histogram.
pub(crate) const HEAD_LENGTH: usize = 64;
/// Bytes of one entry of the histogram.
pub(crate) const ENTRY: usize = 8;
/// The most bytes of the log that are read: a thousand entries, 250 W in bins of 250 mW.
const MOST_LENGTH: usize = HEAD_LENGTH + 1_000 * ENTRY;

/// What a drive has measured since it was told to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PowerLog {
    /// Samples in all.
    pub count: u32,
    /// Mean power in watts.
    pub mean_w: Option<f64>,
    /// Highest power of an interval in watts.
    pub most_w: Option<f64>,
    /// The error that the maker states, in percent.
    pub error_percent: Option<u8>,
    /// The drive calculates its power from what it does, and does not measure it.
    pub is_estimated: bool,
    /// The samples do not cover the whole time.
    pub has_gaps: bool,
    /// Samples that found no place in the histogram.
    pub overflow: u16,
    /// The lower and the upper end of each bin in watts, with its samples.
    pub bins: Vec<(f64, f64, u32)>,
}

/// Returns how many bytes the log has, by its head; `None` where that is no head of such a log.
pub(crate) fn length(head: &[u8]) -> Option<usize> {
    let told = ByteReader(head).u32(4)? as usize;
    // Reads are in words of four bytes.
    (told >= HEAD_LENGTH).then(|| told.min(MOST_LENGTH).next_multiple_of(4))
}

impl PowerLog {
    /// Reads the log; `None` where it is no such log. One that was never filled has no samples.
    pub(crate) fn decode(data: &[u8]) -> Option<PowerLog> {
        let reader = ByteReader(data.get(..HEAD_LENGTH)?);
        let entries = usize::from(reader.u16(12)?);
        let entry = usize::from(reader.u16(24)?);
        let width_w = f64::from(reader.u16(26)?) * 1e-3;
        let log = ByteReader(data.get(HEAD_LENGTH..)?);
        if entries > 0 && (entry != ENTRY || width_w <= 0.0 || entries * ENTRY > log.0.len()) {
            return None;
        }
        // An entry is the number of its bin, and the samples in it.
        let bin = |index: usize| {
            let place = f64::from(log.u32(index * ENTRY)?);
            let samples = log.u32(index * ENTRY + 4)?;
            Some((place * width_w, (place + 1.0) * width_w, samples))
        };
        let attributes = reader.u16(2)?;
        Some(PowerLog {
            count: reader.u32(8)?,
            mean_w: scaled_power(reader.u32(40)?),
            most_w: scaled_power(reader.u32(44)?),
            error_percent: reader.u8(56).filter(|percent| *percent != 255),
            is_estimated: bit(attributes, 2),
            has_gaps: bit(attributes, 1),
            overflow: reader.u16(32)?,
            bins: (0..entries).map(bin).collect::<Option<_>>()?,
        })
    }
}

/// Returns the value of feature 25h that starts or stops a measurement of the whole drive: the
/// action in bits 3:0, type 0 in bits 7:4, no time after which it stops by itself in bits 31:16.
pub(crate) fn measurement(start: bool) -> u32 {
    u32::from(start)
}

/// Returns whether the list of supported logs (log 00h, four bytes each, bit 0) has log `id`.
pub(crate) fn is_supported(list: &[u8], id: u8) -> bool {
    ByteReader(list).u32(4 * usize::from(id)).is_some_and(|entry| bit(entry, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::power_log;

    #[test]
    fn the_log_is_a_distribution() {
        let found = PowerLog::decode(&power_log()).unwrap();
        assert_eq!((found.count, found.mean_w, found.most_w), (100, Some(3.1), Some(7.2)));
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
    fn a_log_that_lies_about_itself_is_none() {
        assert_eq!(PowerLog::decode(&power_log()[..72]), None, "shorter than it says");
        assert_eq!(PowerLog::decode(&power_log()[..20]), None);
        for (at, byte) in [(24, 0), (24, 9), (26, 0), (13, 0xff)] {
            let mut wrong = power_log();
            wrong[at] = byte;
            assert_eq!(PowerLog::decode(&wrong), None, "{at}");
        }
        let empty = PowerLog::decode(&[0; HEAD_LENGTH]).unwrap();
        assert_eq!((empty.count, empty.mean_w), (0, None), "it was never filled");
        assert_eq!(length(&[0; HEAD_LENGTH]), None);
        let mut huge = power_log();
        huge[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(length(&huge), Some(MOST_LENGTH));
    }

    #[test]
    fn a_list_of_logs_names_those_that_are_there() {
        let mut list = vec![0; 1_024];
        list[4 * 0x25] = 1;
        assert!(is_supported(&list, 0x25) && !is_supported(&list, 0x24));
        assert!(!is_supported(&list[..100], 0x25));
    }
}
