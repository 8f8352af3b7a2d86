//! The virtual drive: a model of an SSD in virtual time whose truth is known.
//!
//! A pure function of profile, seed and calls: it never reads a clock, opens a file or starts a
//! thread, and equal calls give equal results to the last bit.
//!
//! # One write, from the host queue to the erase
//!
//! Each stop is a module; a reader can follow the write in this order and never has to go back.
//! Most stops are a moment at which they are free again: who comes later waits until then and
//! moves the moment on. There is no event queue.
//!
//! 1. `catalogue` reads `PROFILE[?key=value…]`, `profile` holds the figures, `geometry` makes
//!    whole numbers of them and refuses drives that cannot be.
//! 2. `rig` is what the lab sees: prepare, run, rest. `load` keeps a closed loop of requests in
//!    flight, `fill` writes a range once, `faults` changes completions on demand, `instruments` and
//!    `identity` say what was seen and of what drive.
//! 3. `drive` takes one request at a moment and returns the moment of its completion:
//!    `Drive::submit`.
//! 4. `front`: the host queue lets the command in, the controller takes its time for it, the link
//!    moves the data.
//! 5. `buffer`: each page waits for a place; with it the write is acknowledged.
//! 6. `cache`: while the fast cache has room, the superblock that takes the page is one in SLC
//!    mode; in silence its pages are folded to native cells.
//! 7. `map`: the page is appended to the log of the open superblock, and its old place is stale.
//! 8. `gc`: when a program unit is full, as much collection is done as the write calls for; a
//!    superblock of which every valid page was copied is given back.
//! 9. `flash`: the unit is programmed on its die, behind what is booked there; the first unit on
//!    each die of a superblock erases the block just before.
//!
//! Beside the path stand `env` (power and heat), `truth` (what the analysis is judged by) and
//! [`mean_field`] (the theory that judges the model, and the start of a worn-in drive).

mod drive;
mod flash;
mod ftl;
mod ground_truth;
mod host_interface;
pub mod mean_field;
mod power_thermal;
mod profile;
mod rig;

pub use drive::Work;
pub use flash::Operations;
pub use ground_truth::Truth;
pub use profile::{
    DriveFigures, FaultFigures, FrontFigures, GcFigures, GcPacing, GcPolicy, Listed, NandFigures,
    Overflow, PowerFigures, PowerState, Profile, ProfileError, SlcFigures, ThermalFigures,
    profiles,
};
pub use rig::VirtualRig;
