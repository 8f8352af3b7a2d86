//! The geometry of a drive: pages, superblocks and program units, as whole numbers.
//!
//! It must never accept an impossible drive: the rest of the model relies on these numbers.

use crate::profile::catalogue::{ProfileError, ProfileSpec};
use crate::profile::figures::{LimitedState, Profile};

/// The unit of the page map, in bytes.
pub(crate) const PAGE: u64 = 4_096;

/// A drive of fewer superblocks is too coarse for garbage collection: reserve and open superblocks
/// would take a noticeable part of its spare area. Blocks of small drives shrink accordingly.
const MIN_SUPERBLOCKS: u64 = 256;
/// Superblock numbers have 16 bits, and 0 means unmapped.
const MAX_SUPERBLOCKS: u64 = 65_000;
/// Superblocks that are only partly valid next to the reserve: open for the host (one in the cache,
/// one native), open for copies, under collection, under folding.
const PARTLY_VALID: u32 = 5;

/// The geometry of a drive. A page is 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// Pages that the host may use.
    pub(crate) user_pages: u32,
    /// Superblocks for host data.
    pub(crate) superblocks: u32,
    /// Superblocks of the fixed part of the cache.
    pub(crate) slc_superblocks: u32,
    /// Superblocks that the cache may borrow.
    pub(crate) slc_borrowed: u32,
    /// Pages of a superblock in native cells.
    pub(crate) superblock_pages: u32,
    /// Pages of a superblock in SLC mode.
    pub(crate) slc_superblock_pages: u32,
    /// Pages of one native program operation.
    pub(crate) unit_pages: u32,
    /// Pages of one program operation in SLC mode.
    pub(crate) slc_unit_pages: u32,
    /// Pages of one sense operation.
    pub(crate) sense_pages: u32,
    /// Dies.
    pub(crate) dies: u32,
    /// Channels.
    pub(crate) channels: u32,
    /// Pages of the write buffer.
    pub(crate) buffer_pages: u32,
    /// Free superblocks that garbage collection holds back.
    pub(crate) reserve: u32,
    /// Free superblocks beyond the reserve that collection restores once it has begun.
    pub(crate) watermark: u32,
    /// Pages of a mapping unit.
    pub(crate) map_unit_pages: u32,
    /// Independent volumes; 1 for a drive that is one.
    pub(crate) volumes: u32,
    /// Pages in a row that belong to one volume.
    pub(crate) volume_pages: u32,
    /// Whether data is overwritten in place, without a page map.
    pub(crate) in_place: bool,
    /// Whether data that can be compressed takes less flash.
    pub(crate) compresses: bool,
    /// Whether data that the drive has already takes none.
    pub(crate) deduplicates: bool,
    /// Whether writes are not simply mapped page by page.
    pub(crate) is_unusual: bool,
}

impl Geometry {
    /// Returns how many superblocks there are: native ones and those of the fixed cache, numbered from 1.
    pub(crate) fn numbered(&self) -> u32 {
        self.superblocks + self.slc_superblocks
    }

    /// Returns the geometry of `spec`.
    ///
    /// # Errors
    /// [`ProfileError::Impossible`] with the figure that is out of range, or the figures that contradict
    /// each other.
    pub(crate) fn from_spec(spec: &ProfileSpec) -> Result<Geometry, ProfileError> {
        let profile = &spec.profile;
        // First: below, numbers of pages are converted to 32 bits, which the ranges of the figures
        // fit.
        check_figures(profile)?;
        let nand = &profile.nand;
        let user = (profile.drive.capacity_gb * 1e9 / PAGE as f64) as u64;
        let raw = (profile.drive.raw_gib * (1u64 << 30) as f64 / PAGE as f64) as u64;
        if !(0.0..1.0).contains(&spec.unused) {
            return impossible(format!("unused is {}, not a share from 0 to below 1", spec.unused));
        }
        let user_pages = (user as f64 * (1.0 - spec.unused)) as u64;
        if user_pages < 1_024 {
            return impossible(format!(
                "{user_pages} pages of 4 KiB are left for the host, fewer than 1,024"
            ));
        }
        let unit_pages = nand.program_kib / 4;
        let slc_unit_pages = (unit_pages / nand.bits).max(1);
        // A row is one program unit of every die: the size of a superblock is a multiple of it.
        let row = u64::from(unit_pages) * u64::from(nand.dies);
        let rows = (nand.block_mib * 256.0 / f64::from(unit_pages)).round().max(1.0) as u64;
        let rows = rows.min((raw / row / MIN_SUPERBLOCKS).max(1));
        let slc_size = rows * u64::from(slc_unit_pages) * u64::from(nand.dies);
        let cache = |gb: f64| (gb * 1e9 / PAGE as f64 / slc_size as f64).round() as u64;
        // One in SLC mode takes the flash of a native one.
        let taken =
            if profile.effects.fixed_cache_inside { cache(profile.slc.fixed_gb) } else { 0 };
        let superblocks = (raw / (rows * row)).saturating_sub(taken);
        let geometry = Geometry {
            user_pages: user_pages as u32,
            superblocks: superblocks as u32,
            slc_superblocks: cache(profile.slc.fixed_gb) as u32,
            slc_borrowed: cache(profile.slc.dynamic_gb) as u32,
            superblock_pages: (rows * row) as u32,
            slc_superblock_pages: slc_size as u32,
            unit_pages,
            slc_unit_pages,
            sense_pages: nand.page_kib / 4,
            dies: nand.dies,
            channels: nand.channels,
            buffer_pages: profile.host_interface.buffer_kib / 4,
            reserve: profile.gc.reserve_superblocks,
            watermark: profile.effects.watermark_superblocks,
            map_unit_pages: (profile.effects.map_unit_kib / 4).max(1),
            volumes: profile.effects.volume_count(),
            volume_pages: profile.effects.volume_kib / 4,
            in_place: nand.in_place,
            compresses: profile.effects.compresses,
            deduplicates: profile.effects.deduplicates,
            is_unusual: nand.in_place
                || profile.effects.map_unit_kib > 4
                || profile.effects.volume_count() > 1
                || profile.effects.map_updates
                || profile.effects.compresses
                || profile.effects.deduplicates,
        };
        geometry.check(raw)?;
        if geometry.volumes > 1 {
            geometry.of_volume(0).check(raw / u64::from(geometry.volumes))?;
        }
        Ok(geometry)
    }

    /// Returns the geometry of volume `number`: as many superblocks, each of a share of the dies.
    pub(crate) fn of_volume(&self, number: u32) -> Geometry {
        let volumes = self.volumes;
        let group = self.volume_pages * volumes;
        // The last row of volumes may be incomplete: the first volumes have the pages of it.
        let rest = (self.user_pages % group).saturating_sub(number * self.volume_pages);
        Geometry {
            user_pages: self.user_pages / group * self.volume_pages + rest.min(self.volume_pages),
            superblock_pages: self.superblock_pages / volumes,
            slc_superblock_pages: self.slc_superblock_pages / volumes,
            dies: self.dies / volumes,
            channels: self.channels / volumes,
            buffer_pages: self.buffer_pages / volumes,
            volumes: 1,
            is_unusual: self.map_unit_pages > 1,
            ..*self
        }
    }

    /// Returns the geometry of what the volumes share: no flash, and no map.
    pub(crate) fn of_shared_part(&self) -> Geometry {
        Geometry {
            user_pages: 0,
            superblocks: 0,
            slc_superblocks: 0,
            slc_borrowed: 0,
            dies: 0,
            channels: 0,
            ..*self
        }
    }

    /// Returns the bytes that the host may use.
    pub(crate) fn capacity(&self) -> u64 {
        u64::from(self.user_pages) * PAGE
    }

    fn check(&self, raw: u64) -> Result<(), ProfileError> {
        let gib = |pages: u64| pages as f64 * PAGE as f64 / (1u64 << 30) as f64;
        // Nothing is collected, so no superblock is free, open or held back.
        if self.in_place {
            return Ok(());
        }
        let all = u64::from(self.superblocks) + u64::from(self.slc_superblocks);
        if all > MAX_SUPERBLOCKS {
            return impossible(format!(
                "{all} superblocks exceed {MAX_SUPERBLOCKS}: raise nand.block_mib"
            ));
        }
        let held = self.reserve + PARTLY_VALID + self.watermark;
        let held_pages = u64::from(held) * u64::from(self.superblock_pages);
        let whole = u64::from(self.superblocks) * u64::from(self.superblock_pages);
        if u64::from(self.user_pages) + held_pages >= whole {
            return impossible(format!(
                "{:.3} GiB of flash cannot hold {:.3} GiB of data and {held} superblocks of \
                 {:.3} GiB that are free or open",
                gib(raw),
                gib(u64::from(self.user_pages)),
                gib(u64::from(self.superblock_pages)),
            ));
        }
        if self.slc_superblocks + self.slc_borrowed > 0 && self.slc_unit_pages == 0 {
            return impossible("a program operation in SLC mode writes no whole page".into());
        }
        Ok(())
    }
}

fn impossible<T>(reason: String) -> Result<T, ProfileError> {
    Err(ProfileError::Impossible(reason))
}

/// Rejects figures that no drive has, each with its name.
fn check_figures(profile: &Profile) -> Result<(), ProfileError> {
    let (nand, host_interface) = (&profile.nand, &profile.host_interface);
    let (slc, thermal) = (&profile.slc, &profile.thermal);
    for (key, value, low, high) in ranges(profile).into_iter().chain(profile.effects.ranges()) {
        if !(low..=high).contains(&value) {
            return impossible(format!("{key} is {value}, outside {low} to {high}"));
        }
    }
    for state in &profile.power.states {
        let figures = [state.w, state.after_ms, state.entry_us, state.exit_us];
        if !figures.iter().all(|value| (0.0..=1e9).contains(value)) {
            let [w, after_ms, entry_us, exit_us] = figures;
            return impossible(format!(
                "a power state of {w} W after {after_ms} ms, entered in {entry_us} us and left in {exit_us} us"
            ));
        }
    }
    check_limited_states(profile)?;
    let whole = |key: &str, value: u32| match value.is_multiple_of(4) {
        true => Ok(()),
        false => impossible(format!("{key} is {value}, not a multiple of 4")),
    };
    whole("nand.page_kib", nand.page_kib)?;
    whole("nand.program_kib", nand.program_kib)?;
    // In SLC mode a program operation writes one bit to each cell: its pages have to be whole as
    // well.
    let cached = slc.fixed_gb > 0.0 || slc.dynamic_gb > 0.0;
    if cached && !(nand.program_kib / 4).is_multiple_of(nand.bits) {
        return impossible(format!(
            "nand.program_kib {} in pages of 4 KiB is not a multiple of nand.bits {}",
            nand.program_kib, nand.bits
        ));
    }
    // A buffer has to hold two open units and one more, or no program operation would be under way
    // when it is full.
    if host_interface.buffer_kib < 3 * nand.program_kib {
        return impossible(format!(
            "front.buffer_kib {} holds less than three program operations of {} KiB",
            host_interface.buffer_kib, nand.program_kib
        ));
    }
    let effects = &profile.effects;
    if effects.watermark_superblocks > 0 && effects.watermark_pace <= 1.0 {
        return impossible(format!(
            "effects.watermark_superblocks needs an effects.watermark_pace above 1, not {}",
            effects.watermark_pace
        ));
    }
    if effects.fold_until_share > effects.fold_from_share {
        return impossible(format!(
            "effects.fold_until_share is {}, above effects.fold_from_share {}",
            effects.fold_until_share, effects.fold_from_share
        ));
    }
    check_volumes(profile)?;
    let map_unit = effects.map_unit_kib;
    if map_unit > 0 && (map_unit < 4 || !map_unit.is_power_of_two() || nand.in_place) {
        return impossible(format!(
            "effects.map_unit_kib is {map_unit}, not 4, 8, 16, 32 or 64 on a drive with a map"
        ));
    }
    let takes_less = effects.compresses || effects.deduplicates;
    let has_volumes = effects.volume_count() > 1;
    // What a cut takes is followed page by page, in one write buffer.
    if profile.fault.power_cut().is_some() && (map_unit > 4 || has_volumes || takes_less) {
        return impossible(
            "fault.power_cut_at_s needs a drive without volumes, compression and deduplication, and a mapping unit of \
             4 KiB"
                .into(),
        );
    }
    if has_volumes && takes_less {
        return impossible(
            "effects.volumes is not modelled together with effects.compresses and effects.deduplicates"
                .into(),
        );
    }
    if takes_less && nand.in_place {
        return impossible(
            "effects.compresses and effects.deduplicates need a drive with a map: this one overwrites data in \
             place"
                .into(),
        );
    }
    if effects.map_reach_mib > 0.0 && nand.in_place {
        return impossible(
            "effects.map_reach_mib needs a drive with a map: this one overwrites data in place"
                .into(),
        );
    }
    if effects.map_updates && effects.map_reach_mib == 0.0 {
        return impossible("effects.map_updates needs effects.map_reach_mib".into());
    }
    if effects.light_throttle_c > 0.0 && effects.light_throttle_factor < 0.1 {
        return impossible(format!(
            "effects.light_throttle_c needs an effects.light_throttle_factor from 0.1 to 1, not {}",
            effects.light_throttle_factor
        ));
    }
    if effects.light_throttle_c >= profile.thermal.throttle_c {
        return impossible(format!(
            "effects.light_throttle_c {} is not below thermal.throttle_c {}",
            effects.light_throttle_c, profile.thermal.throttle_c
        ));
    }
    if effects.power_cap && profile.power.max_w == 0.0 {
        return impossible("effects.power_cap needs power.max_w".into());
    }
    if thermal.resume_c >= thermal.throttle_c {
        return impossible(format!(
            "thermal.resume_c {} is not below thermal.throttle_c {}",
            thermal.resume_c, thermal.throttle_c
        ));
    }
    Ok(())
}

/// Rejects volumes that the drive cannot be split into.
fn check_volumes(profile: &Profile) -> Result<(), ProfileError> {
    let (nand, effects) = (&profile.nand, &profile.effects);
    let (volumes, kib) = (effects.volume_count(), effects.volume_kib);
    if volumes == 1 {
        return Ok(());
    }
    if !volumes.is_power_of_two() || nand.in_place {
        return impossible(format!(
            "effects.volumes is {volumes}, not 1, 2, 4 or 8 on a drive with a map"
        ));
    }
    if kib < 64 || !kib.is_power_of_two() || !kib.is_multiple_of(nand.page_kib) {
        return impossible(format!(
            "effects.volume_kib is {kib}, not a power of two from 64 to 8192 that holds whole pages of \
             nand.page_kib {}",
            nand.page_kib
        ));
    }
    for (key, value) in [("nand.dies", nand.dies), ("nand.channels", nand.channels)] {
        if !value.is_multiple_of(volumes) {
            return impossible(format!(
                "{key} {value} is not divisible by effects.volumes {volumes}"
            ));
        }
    }
    let buffer = profile.host_interface.buffer_kib;
    if buffer / volumes < 3 * nand.program_kib {
        return impossible(format!(
            "front.buffer_kib {buffer} holds less than three program operations of {} KiB for each of \
             effects.volumes {volumes}",
            nand.program_kib
        ));
    }
    if effects.map_reach_mib > 0.0 {
        return impossible("effects.volumes and effects.map_reach_mib exclude each other".into());
    }
    Ok(())
}

/// Rejects operational power states whose power does not fall from one to the next, or leaves nothing
/// for work.
fn check_limited_states(profile: &Profile) -> Result<(), ProfileError> {
    let power = &profile.power;
    // Without a stated maximum, the limit of the figure.
    let mut before = if power.max_w > 0.0 { power.max_w } else { 1_000.0 };
    if before <= power.idle_w {
        return impossible(format!("power.max_w {before} is not above power.idle_w"));
    }
    for state in &power.limited_states {
        let LimitedState { max_w, idle_w } = *state;
        if !(0.0 <= idle_w && idle_w < max_w && max_w <= before) {
            return impossible(format!(
                "a power state of at most {max_w} W with {idle_w} W idle, after one of {before} W"
            ));
        }
        before = max_w;
    }
    Ok(())
}

/// Returns each figure with its name, its minimum and its maximum.
fn ranges(profile: &Profile) -> [(&'static str, f64, f64, f64); 45] {
    let nand = &profile.nand;
    let host_interface = &profile.host_interface;
    let slc = &profile.slc;
    let gc = &profile.gc;
    let thermal = &profile.thermal;
    // No operation of a drive takes longer; a full buffer of them still fits into a step.
    const MAX_US: f64 = 100_000.0;
    [
        ("drive.capacity_gb", profile.drive.capacity_gb, 0.004, 16_000.0),
        ("drive.raw_gib", profile.drive.raw_gib, 0.004, 16_000.0),
        ("nand.channels", f64::from(nand.channels), 1.0, 64.0),
        ("nand.dies", f64::from(nand.dies), 1.0, 4_096.0),
        ("nand.planes", f64::from(nand.planes), 1.0, 16.0),
        ("nand.bits", f64::from(nand.bits), 1.0, 5.0),
        ("nand.page_kib", f64::from(nand.page_kib), 4.0, 64.0),
        ("nand.program_kib", f64::from(nand.program_kib), 4.0, 1_024.0),
        ("nand.block_mib", nand.block_mib, 0.001, 1_024.0),
        ("nand.t_r_us", nand.t_r_us, 0.0, MAX_US),
        ("nand.t_prog_us", nand.t_prog_us, 0.0, MAX_US),
        ("nand.t_bers_us", nand.t_bers_us, 0.0, MAX_US),
        ("nand.channel_mb_s", nand.channel_mb_s, 0.1, 1e6),
        ("nand.suspend_us", nand.suspend_us, 0.0, MAX_US),
        ("slc.fixed_gb", slc.fixed_gb, 0.0, 16_000.0),
        ("slc.dynamic_gb", slc.dynamic_gb, 0.0, 16_000.0),
        ("slc.t_prog_us", slc.t_prog_us, 0.0, MAX_US),
        ("slc.fold_mb_s", slc.fold_mb_s, 0.0, 1e6),
        ("slc.fold_under_load_mb_s", slc.fold_under_load_mb_s, 0.0, 1e6),
        ("front.link_mb_s", host_interface.link_mb_s, 0.1, 1e6),
        ("front.max_queue_depth", f64::from(host_interface.max_queue_depth), 1.0, 65_536.0),
        ("front.read_command_us", host_interface.read_command_us, 0.0, MAX_US),
        ("front.write_command_us", host_interface.write_command_us, 0.0, MAX_US),
        ("front.page_us", host_interface.page_us, 0.0, MAX_US),
        ("front.read_delay_us", host_interface.read_delay_us, 0.0, MAX_US),
        ("front.write_delay_us", host_interface.write_delay_us, 0.0, MAX_US),
        ("front.buffer_kib", f64::from(host_interface.buffer_kib), 4.0, 1_048_576.0),
        // One for the host and one for copies, without which nothing could be collected.
        ("gc.reserve_superblocks", f64::from(gc.reserve_superblocks), 2.0, 10_000.0),
        ("gc.burst_mib", gc.burst_mib, 0.01, 100_000.0),
        ("gc.idle_superblocks", f64::from(gc.idle_superblocks), 0.0, 60_000.0),
        ("power.idle_w", profile.power.idle_w, 0.0, 1_000.0),
        ("power.max_w", profile.power.max_w, 0.0, 1_000.0),
        ("power.command_nj", profile.power.command_nj, 0.0, 1e12),
        ("power.read_nj", profile.power.read_nj, 0.0, 1e12),
        ("power.program_nj", profile.power.program_nj, 0.0, 1e12),
        ("power.slc_program_nj", profile.power.slc_program_nj, 0.0, 1e12),
        ("power.erase_nj", profile.power.erase_nj, 0.0, 1e12),
        ("power.link_nj_per_kib", profile.power.link_nj_per_kib, 0.0, 1e12),
        ("thermal.ambient_c", thermal.ambient_c, -60.0, 150.0),
        ("thermal.r_c_per_w", thermal.r_c_per_w, 0.0, 1_000.0),
        ("thermal.c_j_per_c", thermal.c_j_per_c, 0.001, 1e6),
        ("thermal.junction_c_per_w", thermal.junction_c_per_w, 0.0, 1_000.0),
        ("thermal.factor", thermal.factor, 0.1, 1.0),
        ("fault.error_bytes", profile.fault.error_bytes, 0.0, 1e18),
        ("fault.stall_for_s", profile.fault.stall_for_s, 0.0, 86_400.0),
    ]
}
