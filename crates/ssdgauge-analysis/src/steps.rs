//! What the seconds of the steps of a test show: levels, falls and their causes, stalls, the steady state.

pub(crate) mod drive_state;
pub mod endurance;
pub(crate) mod fall_causes;
pub mod fall_words;
pub mod headline_points;
pub mod knee;
pub(crate) mod lasting_level;
pub mod level_pair;
pub mod media_writes;
pub mod sent_late;
pub(crate) mod separation;
pub mod slc_cache;
pub(crate) mod stalls;
pub mod state_check;
pub mod steady_state;
pub(crate) mod step_levels;
pub mod tried_loads;
pub(crate) mod written;
