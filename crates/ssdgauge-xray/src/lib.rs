//! Inference of the structures of a drive from what a host can observe: times of requests, rates and
//! temperatures.
//!
//! Pure functions, one file for each structure: a series goes in, a value with its interval or a
//! [`Refusal`] comes out. No function of this crate ever sees the figures of a virtual drive, opens a file
//! or reads a clock. A refusal is a result; a value whose interval leaves out the truth is a defect.

mod amplification;
mod answer;
mod baseline;
mod cache;
mod card;
mod command;
mod contents;
mod depth;
mod effective_spare;
mod flush;
mod folding;
mod likeness;
mod link;
mod map_reach;
mod mapping_unit;
mod negotiated;
mod overflow;
mod page_read;
mod pairs;
mod program_time;
mod program_unit;
mod rate;
mod requirements;
mod separation;
mod series;
mod spare;
mod stated;
mod structure;
mod suspend;
mod throttle;
mod volumes;
mod words;
mod write_buffer;

pub use amplification::{Round, programs_once, steady as steady_amplification};
pub use answer::{Answer, Identified, Refusal, Value};
pub use baseline::{
    Later, check_ceilings, faster, is_hot, is_level, refuse_throttled, writes_may_be_throttled,
    writes_throttled,
};
pub use cache::{Course, Drop, first_drop, is_not_a_buffer, level, native_rate, rest_of_buffer};
pub use card::{CARD_FORMAT, CARD_VERSION, Card, CardError, CardFinding, CheckedCard};
pub use command::{Saturation, find as command_time};
pub use contents::{Sent, Turn, compression, deduplication};
pub use depth::{check as check_depth, check_random, with_parity};
pub use effective_spare::{Written, find as effective_spare};
pub use flush::{Flushes, find as flush};
pub use folding::{
    Burst, find as folding_rate, folds_under_load, recovered, rest_between, rest_for,
};
pub use likeness::{Compared, Likeness, compare, inside};
pub use link::find as link_ceiling;
pub use map_reach::{Range, find as map_reach};
pub use mapping_unit::{Shift, find as mapping_unit};
pub use negotiated::NegotiatedLink;
pub use overflow::find as overflow;
pub use page_read::{busy as unit_busy, larger_busy, mean_busy, without_transfer};
pub use pairs::{Layout, MOST_CHUNKS, Pair, chunk, layout};
pub use program_time::{Reads, find as program_time};
pub use program_unit::find as program_unit;
pub use rate::Completions;
pub use requirements::{lacks, needs};
pub use separation::find as separation;
pub use series::{Axes, Form, MOST_POINTS, Series, axes, read_from};
pub use spare::find as spare_area;
pub use stated::{Figure, Stated, judge as judge_stated};
pub use structure::{Structure, Unit};
pub use suspend::find as suspend;
pub use throttle::{Heating, find as throttle_points};
pub use volumes::{Held, Volumes, find as volumes};
pub use words::{meaning, shown, shown_interval};
pub use write_buffer::{Refill, find as write_buffer};
