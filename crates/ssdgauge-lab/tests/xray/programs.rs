//! What a host can see of program operations and of the write buffer: arithmetic of the figures of a drive.
//!
//! It was written before any method was tuned, and must never depend on a method or on a run of a model.

use super::second_model::Figures;
use ssdgauge_sim::{Overflow, Profile};

/// Programs of a fast cache are shorter than this, in microseconds: longer ones are those of native cells.
const LONGEST_IN_CACHE_US: f64 = 600.0;
/// The share of the rate of a host from which on it does not fill a buffer that is being emptied.
const FILLS: f64 = 0.7;
/// The block that fills a buffer.
const BLOCK: f64 = 16_384.0;
/// The pages of 4 KiB of a program operation whose releases of the buffer can be counted.
const PAGES: std::ops::RangeInclusive<f64> = 4.0..=128.0;

/// What is true of a structure, and whether a host could see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) value: f64,
    pub(crate) identifiable: bool,
}

/// What is true of the programs of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Programs {
    /// The time for which one keeps a unit busy, in microseconds.
    pub(crate) time_us: Seen,
    /// The bytes of one.
    pub(crate) unit: Seen,
    /// The bytes of the write buffer.
    pub(crate) buffer: Seen,
}

/// Returns what is true of a drive of ssdgauge-sim. A program shows in a flush of a volatile buffer, or in waits of reads
/// that do not suspend it, as far as writes get to native cells; buffer and unit show where a host writes faster than these
/// do, and the unit only together with its time.
pub(crate) fn of_profile(profile: &Profile) -> Programs {
    let (nand, front, slc) = (&profile.nand, &profile.host_interface, &profile.slc);
    let has_cache = slc.fixed_gb + slc.dynamic_gb > 0.0;
    let reaches_native = !has_cache || slc.overflow == Overflow::Direct;
    let is_long = nand.t_prog_us > LONGEST_IN_CACHE_US;
    let unit = f64::from(nand.program_kib) * 1_024.0;
    let buffer = f64::from(front.buffer_kib) * 1_024.0;
    let in_flight = (f64::from(nand.dies) * unit).min(buffer);
    let emptied = (in_flight / nand.t_prog_us).min(f64::from(nand.channels) * nand.channel_mb_s);
    let command_us = front.write_command_us + (BLOCK / 4_096.0 - 1.0) * front.page_us;
    let fills = reaches_native && emptied < FILLS * front.link_mb_s.min(BLOCK / command_us);
    let shows = reaches_native && is_long && (!front.buffer_is_safe || !nand.suspend);
    let counts = PAGES.contains(&(unit / 4_096.0)) && nand.dies > 1;
    Programs {
        time_us: Seen { value: nand.t_prog_us, identifiable: shows },
        unit: Seen { value: unit, identifiable: shows && fills && counts },
        buffer: Seen { value: buffer, identifiable: fills },
    }
}

/// Returns what is true of a drive of the second model, whose units are busy while data is transferred to them, and which
/// releases a buffer as a whole, so that no unit shows.
pub(crate) fn of_figures(figures: &Figures) -> Programs {
    let unit = figures.unit() as f64;
    let program_us = figures.program_ns as f64 / 1e3;
    let reaches_native = figures.cache_blocks == 0 || !figures.is_through;
    let shows = reaches_native && program_us > LONGEST_IN_CACHE_US && figures.suspension.is_none();
    let command_ns = figures.write_command_ns as f64;
    let fills =
        reaches_native && figures.native() < FILLS * figures.link_rate.min(BLOCK / command_ns);
    let busy_us = program_us + unit / figures.channel_rate / 1e3;
    let buffer = (figures.buffer * figures.buffers as u64) as f64;
    Programs {
        time_us: Seen { value: busy_us, identifiable: shows },
        // Of one plane where each reads by itself.
        unit: Seen {
            value: unit * figures.dies as f64 / figures.units() as f64,
            identifiable: false,
        },
        buffer: Seen { value: buffer, identifiable: fills },
    }
}

#[test]
fn some_drives_of_both_priors_show_each_of_them_and_some_do_not() {
    let of_drive = |seed| of_profile(super::prior::drive(seed).0.profile());
    let of_second = |seed| of_figures(&Figures::draw(seed));
    let count = |seen: &[Programs], which: fn(&Programs) -> Seen| {
        seen.iter().filter(|one| which(one).identifiable).count()
    };
    let (first, second): (Vec<_>, Vec<_>) =
        (1_000..1_060).map(|seed| (of_drive(seed), of_second(seed))).unzip();
    for seen in [&first, &second] {
        for which in [|one: &Programs| one.time_us, |one: &Programs| one.buffer] {
            assert!((6..55).contains(&count(seen, which)), "{seen:?}");
        }
    }
    assert!((6..55).contains(&count(&first, |one| one.unit)), "{first:?}");
    assert_eq!(count(&second, |one| one.unit), 0);
}
