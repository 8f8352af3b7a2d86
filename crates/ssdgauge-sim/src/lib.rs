//! The virtual drive: a model of an SSD in virtual time whose ground truth is known.
//!
//! A pure function of profile, seed and calls: it never reads a clock, opens a file or starts a
//! thread, and equal calls give equal results to the last bit.
//!
//! # One write, from the host queue to the erase
//!
//! Each stop is a module; a reader can follow the write in this order and never has to go back.
//! Most stops are represented by the time at which they are free: a request waits until then and
//! moves that time on. There is no event queue.
//!
//! 1. `profile`: `catalogue` parses `PROFILE[?key=value…]` into `figures`; `geometry` derives pages,
//!    superblocks and program units, and rejects impossible drives.
//! 2. `rig` is what the lab sees: prepare, run, rest. `validation` rejects what cannot be served,
//!    `load` keeps requests in flight and `completion_queue` orders their ends, `fill` writes a range
//!    once, `fault_injection` changes completions, `instruments` take readings and findings, and
//!    `identity` and `description` name the drive; `served` takes single commands of another
//!    program instead of steps.
//! 3. `drive` takes one request at a point in time and returns the time of its completion:
//!    `Drive::submit`.
//! 4. `host_interface`: the submission queue admits the command, the controller processes it, the
//!    link transfers the data.
//! 5. `ftl::write_buffer`: each page waits for a slot; with it the write is acknowledged.
//! 6. `ftl::slc_cache`: while the cache has room, the page goes to a superblock in SLC mode; while
//!    the host is idle, `ftl::background` has `ftl::folding` copy its pages to native cells.
//! 7. `ftl::map` (that of its volume, where `ftl::volumes` split a drive): the page is appended to the log of the
//!    open superblock, and its old slot is stale. Where
//!    one entry of the map is for several pages, `ftl::unit_writes` completes these `ftl::mapping_units` first.
//! 8. `ftl::gc`: when a program unit is full, as much collection is done as is due for the write.
//!    `ftl::media` copies the `ftl::valid_pages` of a superblock; without any it is free.
//! 9. `flash`: the unit is programmed on its die, after the operations booked there; the first unit
//!    on each die of a superblock erases the block immediately before.
//!
//! Before its controller, `effects` of single drives stop it; `read_retries` lengthen reads, `page_times` tell pages apart. Around the
//! path stand `power_thermal` (power and temperature), `power_limit` (the limit of a power state),
//! `ftl::ground_truth` (the counts that an analysis is judged by; `media_counter` reports some of them as a health
//! log does) and [`mean_field`] (the theory that
//! judges the model), from which `ftl::worn_in` derives the initial state of a worn-in drive. `fake` holds
//! the addresses of blocks that a proof of the capacity writes, and drives that store fewer than they state.

/// The revision of the model. It is raised with every change that moves a number of a virtual drive;
/// runs of different revisions are runs of different drives, and are not compared.
///
/// Revision 2: idle work and sleep within steps, synchronous writes, limits of power states. Revision 3: pages that
/// differ, the rated writes of in-place drives, power limits and stalls in replays, served flushes and trims.
pub const MODEL_REVISION: u32 = 3;

mod drive;
mod effects;
mod fake;
mod flash;
mod ftl;
mod host_interface;
mod losable;
pub mod mean_field;
mod media_counter;
mod operations;
mod page_times;
mod power_limit;
mod power_thermal;
mod profile;
mod read_retries;
mod rig;
mod time;

pub use ftl::GroundTruth;
pub use operations::{Operations, Work};
pub use profile::{
    DriveFigures, EffectFigures, FaultFigures, GcFigures, GcPacing, GcPolicy, HostInterfaceFigures,
    LimitedState, NandFigures, Overflow, PowerFigures, PowerState, Profile, ProfileError,
    ProfileListing, SlcFigures, ThermalFigures, profiles, reviewed_profiles, target_keys,
};
pub use rig::VirtualRig;
pub use rig::served::{ServedCommand, ServedCompletion, ServedDrive, ServedOutcome};
