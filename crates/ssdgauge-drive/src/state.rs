//! Decoders of the NVMe sanitize status, of features, and of TCG Level 0 Discovery.
//!
//! Offsets follow the NVM Express Base Specification 2.0 (Sanitize Status log, figure 288;
//! features, section 5.27) and the TCG Storage Architecture Core Specification 2.01, section 3.3.6
//! (Level 0 Discovery). This module never sends a command.

use crate::byte_reader::{ByteReader, bit};
use crate::controller::celsius;

/// The state of the most recent sanitize operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SanitizeState {
    /// No sanitize was ever started.
    Never,
    /// The most recent sanitize completed.
    Completed,
    /// A sanitize is in progress.
    Running,
    /// The most recent sanitize failed.
    Failed,
    /// A value of a later specification.
    Unknown(u8),
}

/// The Sanitize Status log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SanitizeLog {
    /// The state of the most recent sanitize (SSTAT, bits 2:0).
    pub state: SanitizeState,
    /// The progress in 65,536ths (SPROG).
    pub progress: u16,
    /// The estimated seconds of an overwrite, a block erase and a crypto erase; `None` where not
    /// reported.
    pub estimates_s: [Option<u32>; 3],
}

impl SanitizeLog {
    /// Decodes the log; `None` where it is truncated.
    pub(crate) fn decode(data: &[u8]) -> Option<SanitizeLog> {
        let reader = ByteReader(data);
        let estimate = |at| reader.u32(at).map(|s| Some(s).filter(|s| *s != u32::MAX && *s > 0));
        Some(SanitizeLog {
            progress: reader.u16(0)?,
            state: match reader.u8(2)? & 7 {
                0 => SanitizeState::Never,
                // Completed, and completed with all blocks deallocated.
                1 | 4 => SanitizeState::Completed,
                2 => SanitizeState::Running,
                3 => SanitizeState::Failed,
                other => SanitizeState::Unknown(other),
            },
            estimates_s: [estimate(8)?, estimate(12)?, estimate(16)?],
        })
    }
}

/// One autonomous power state transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transition {
    pub(crate) from: u8,
    pub(crate) to: u8,
    pub(crate) after_ms: u32,
}

/// Decodes the table of feature 0Ch. An entry with an idle time of 0 is not in use.
pub(crate) fn transitions(data: &[u8]) -> Vec<Transition> {
    let reader = ByteReader(data);
    let entry = |from: u8| {
        let entry = reader.u64(8 * usize::from(from))?;
        let after_ms = (entry >> 8 & 0x00ff_ffff) as u32;
        (after_ms > 0).then_some(Transition { from, to: (entry >> 3 & 31) as u8, after_ms })
    };
    (0..32).filter_map(entry).collect()
}

/// Returns the thresholds of light and heavy throttling (TMT1, TMT2 of feature 10h) in degrees
/// Celsius; `None` where a threshold is not set.
pub(crate) fn thermal_management(feature: u32) -> (Option<f64>, Option<f64>) {
    (celsius((feature >> 16) as u16), celsius(feature as u16))
}

/// The data of Level 0 Discovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Security {
    /// The names of the supported TCG standards, such as `Opal 2`.
    pub(crate) standards: Vec<String>,
    /// The locking feature; `None` where it is not supported.
    pub(crate) locking: Option<Locking>,
}

/// The locking feature descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Locking {
    pub(crate) supported: bool,
    pub(crate) enabled: bool,
    pub(crate) locked: bool,
    pub(crate) encrypts: bool,
}

impl Security {
    /// Decodes Level 0 Discovery; `None` where it is malformed.
    pub(crate) fn decode(data: &[u8]) -> Option<Security> {
        const HEADER: usize = 48;
        let reader = ByteReader(data);
        // The length field does not count its own four bytes.
        let end = (reader.be_u32(0)? as usize).checked_add(4)?.min(data.len());
        if end < HEADER {
            return None;
        }
        let mut security = Security::default();
        let mut at = HEADER;
        while at + 4 <= end {
            let code = reader.be_u16(at)?;
            if code == 2 {
                let flags = reader.u8(at + 4)?;
                security.locking = Some(Locking {
                    supported: bit(flags, 0),
                    enabled: bit(flags, 1),
                    locked: bit(flags, 2),
                    encrypts: bit(flags, 3),
                });
            }
            security.standards.extend(standard(code).map(str::to_owned));
            // At least 4, so that the loop ends for any data.
            at += 4 + usize::from(reader.u8(at + 3)?);
        }
        Some(security)
    }
}

fn standard(code: u16) -> Option<&'static str> {
    Some(match code {
        0x0100 => "Enterprise",
        0x0200 => "Opal 1",
        0x0203 => "Opal 2",
        0x0301 => "Opalite",
        0x0302 => "Pyrite 1",
        0x0303 => "Pyrite 2",
        0x0304 => "Ruby",
        _ => return None,
    })
}

/// The security protocol of IEEE 1667.
pub(crate) const PROTOCOL_1667: u8 = 0xee;
/// The security protocol of TCG.
pub(crate) const PROTOCOL_TCG: u8 = 0x01;

/// Decodes the list of security protocols (protocol 00h; SPC-4, section 7.7.1); `None` where it is
/// truncated.
pub(crate) fn security_protocols(data: &[u8]) -> Option<Vec<u8>> {
    let reader = ByteReader(data);
    let length = usize::from(reader.be_u16(6)?).min(data.len().checked_sub(8)?);
    Some(reader.bytes(8, length)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_0_discovery_lists_standards_and_the_locking_state() {
        let mut data = vec![0u8; 48];
        // TPer, Locking (supported, enabled, encrypting), Opal 2, and an unknown feature.
        for (code, body) in [(1u16, 0x11u8), (2, 0b1011), (0x0203, 0), (0x9999, 0)] {
            data.extend(code.to_be_bytes());
            data.extend([0x10, 12, body]);
            data.extend([0; 11]);
        }
        let length = (data.len() - 4) as u32;
        data[..4].copy_from_slice(&length.to_be_bytes());
        data.resize(512, 0);
        let security = Security::decode(&data).unwrap();
        assert_eq!(security.standards, ["Opal 2"]);
        let locking = security.locking.unwrap();
        assert!(locking.supported && locking.enabled && locking.encrypts && !locking.locked);
    }

    #[test]
    fn a_wrong_length_of_level_0_discovery_is_limited_to_the_data() {
        let mut data = vec![0u8; 64];
        data[..4].copy_from_slice(&u32::MAX.to_be_bytes());
        data[48..52].copy_from_slice(&[2, 3, 0x10, 255]);
        assert_eq!(Security::decode(&data).unwrap().standards, ["Opal 2"]);
        assert_eq!(Security::decode(&[0; 512]), None, "the drive returned no data");
        assert_eq!(Security::decode(&[0, 0]), None);
    }

    #[test]
    fn a_sanitize_log_has_progress_and_estimates() {
        let mut log = [0u8; 32];
        log[..4].copy_from_slice(&[0, 0x80, 2, 0]);
        log[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        log[12..16].copy_from_slice(&90u32.to_le_bytes());
        let log = SanitizeLog::decode(&log).unwrap();
        assert_eq!((log.state, log.progress), (SanitizeState::Running, 0x8000));
        assert_eq!(log.estimates_s, [None, Some(90), None]);
        assert_eq!(SanitizeLog::decode(&[0; 7]), None);
    }

    #[test]
    fn transitions_without_a_time_are_not_in_use() {
        let mut table = [0u8; 256];
        table[..8].copy_from_slice(&(100u64 << 8 | 3 << 3).to_le_bytes());
        table[24..32].copy_from_slice(&(2_000u64 << 8 | 4 << 3).to_le_bytes());
        let expected = [
            Transition { from: 0, to: 3, after_ms: 100 },
            Transition { from: 3, to: 4, after_ms: 2_000 },
        ];
        assert_eq!(transitions(&table), expected);
        assert!(transitions(&[]).is_empty());
    }
}
