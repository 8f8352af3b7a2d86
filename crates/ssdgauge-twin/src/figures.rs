//! The figures of a twin: which are fitted, between which limits, and the profile that they make.

use crate::kind::Group;
use ssdgauge_core::Bytes;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How a figure changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// By factors, between two limits.
    Real(f64, f64),
    /// One of these, by number.
    OneOf(&'static [&'static str]),
}

/// A figure that is fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) key: &'static str,
    /// The groups whose loads decide it.
    pub(crate) groups: &'static [Group],
    pub(crate) form: Form,
}

const READS: &[Group] = &[Group::Reads];
const SEQUENTIAL: &[Group] = &[Group::Sequential];
const WRITES: &[Group] = &[Group::Writes];
const SMALL_WRITES: &[Group] = &[Group::Writes, Group::Mixes];
const STEADY: &[Group] = &[Group::Steady];
const MIXES: &[Group] = &[Group::Mixes];

const DIES: [&str; 13] = ["1", "2", "4", "6", "8", "12", "16", "24", "32", "48", "64", "96", "128"];
/// Data of a program operation on all planes of a die, in KiB. What a run shows is the rate of a die; the unit shows in
/// what reads wait for.
const UNITS: [&str; 6] = ["24", "48", "96", "192", "384", "768"];
/// The unit that `nand.t_prog_us` of a twin is stated for while it is fitted.
const UNIT: f64 = 96.0;
/// Superblocks of a twin at any size: those of the smallest drive that the model has. What is held back is then the same
/// share of a small drive and of the whole one.
const SUPERBLOCKS: f64 = 256.0;
/// The key of the time of an erase. While it is fitted, it is the time for each MiB of a block: a superblock of a small
/// drive is erased more often, each time for as much less.
const ERASE: &str = "nand.t_bers_us";
/// That of the class: 4 ms for 24 MiB.
const ERASE_US_MIB: f64 = 4_000.0 / 24.0;

pub(crate) const FIGURES: [Figure; 26] = [
    real("front.link_mb_s", SEQUENTIAL, 20.0, 32_000.0),
    real("front.read_delay_us", READS, 0.2, 2_000.0),
    real("nand.t_r_us", READS, 1.0, 1_000.0),
    Figure { key: "nand.dies", groups: READS, form: Form::OneOf(&DIES) },
    real("front.read_command_us", READS, 0.2, 200.0),
    real("nand.channel_mb_s", READS, 20.0, 4_000.0),
    real("front.page_us", SEQUENTIAL, 0.001, 4.0),
    real("effects.page_type_ratio", READS, 0.001, 1.5),
    real("effects.read_spread", READS, 0.001, 0.25),
    real("effects.read_retry_share", READS, 0.000_1, 0.3),
    real("nand.t_prog_us", WRITES, 20.0, 40_000.0),
    real("slc.fixed_gb", WRITES, 0.001, 4_000.0),
    real("slc.dynamic_gb", WRITES, 0.001, 8_000.0),
    real("slc.t_prog_us", WRITES, 5.0, 10_000.0),
    real("front.write_command_us", SMALL_WRITES, 0.2, 200.0),
    real("front.write_delay_us", SMALL_WRITES, 0.2, 2_000.0),
    real("slc.fold_mb_s", WRITES, 1.0, 8_000.0),
    real(ERASE, WRITES, 10.0, 20_000.0),
    Figure { key: "slc.overflow", groups: WRITES, form: Form::OneOf(&["direct", "fold-first"]) },
    real("over_provisioning", STEADY, 0.045, 1.5),
    Figure {
        key: "gc.policy",
        groups: STEADY,
        form: Form::OneOf(&["greedy", "fifo", "cost-benefit"]),
    },
    Figure { key: "gc.pacing", groups: STEADY, form: Form::OneOf(&["proportional", "burst"]) },
    real("front.buffer_kib", SMALL_WRITES, 512.0, 524_288.0),
    Figure {
        key: "nand.program_kib",
        groups: &[Group::Sequential, Group::Mixes],
        form: Form::OneOf(&UNITS),
    },
    Figure { key: "nand.suspend", groups: MIXES, form: Form::OneOf(&["true", "false"]) },
    real("nand.suspend_us", MIXES, 1.0, 400.0),
];

const fn real(key: &'static str, groups: &'static [Group], low: f64, high: f64) -> Figure {
    Figure { key, groups, form: Form::Real(low, high) }
}

impl Figure {
    pub(crate) fn is_in(&self, group: Group) -> bool {
        self.groups.contains(&group)
    }
}

/// Returns the figure with `key`.
pub(crate) fn figure(key: &str) -> Option<&'static Figure> {
    FIGURES.iter().find(|figure| figure.key == key)
}

/// A value for each figure: that itself, or the number of the choice.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Values(BTreeMap<&'static str, f64>);

impl Values {
    /// Returns the values of the class: those of `tlc-client`.
    pub(crate) fn of_class(capacity: Bytes) -> Values {
        let gb = capacity.0 as f64 / 1e9;
        let values = [
            ("front.link_mb_s", 3_400.0),
            ("front.read_delay_us", 21.0),
            ("nand.t_r_us", 40.0),
            ("nand.dies", 6.0),
            ("front.read_command_us", 2.6),
            ("nand.channel_mb_s", 800.0),
            ("front.page_us", 0.1),
            ("effects.page_type_ratio", 0.12),
            ("effects.read_spread", 0.05),
            ("effects.read_retry_share", 0.001),
            ("nand.t_prog_us", 2_150.0),
            ("slc.fixed_gb", 0.008 * gb),
            ("slc.dynamic_gb", 0.036 * gb),
            ("slc.t_prog_us", 200.0),
            ("front.write_command_us", 2.2),
            ("front.write_delay_us", 15.0),
            ("slc.fold_mb_s", 300.0),
            ("slc.overflow", 0.0),
            (ERASE, ERASE_US_MIB),
            ("gc.pacing", 0.0),
            ("over_provisioning", 0.0995),
            ("gc.policy", 0.0),
            ("front.buffer_kib", 16_384.0),
            ("nand.program_kib", 2.0),
            ("nand.suspend", 0.0),
            ("nand.suspend_us", 20.0),
        ];
        Values(BTreeMap::from(values))
    }

    pub(crate) fn get(&self, key: &str) -> f64 {
        self.0.get(key).copied().unwrap_or(0.0)
    }

    /// Sets the figure with `key`, within its limits.
    pub(crate) fn set(&mut self, key: &'static str, value: f64) {
        let limited = match figure(key).map(|figure| figure.form) {
            Some(Form::Real(low, high)) => value.clamp(low, high),
            Some(Form::OneOf(choices)) => value.clamp(0.0, choices.len() as f64 - 1.0),
            None => value,
        };
        self.0.insert(key, limited);
    }

    /// Sets the figure with `key`, a number of which only some are possible, to the nearest of them.
    pub(crate) fn set_nearest(&mut self, key: &'static str, number: f64) {
        let Some(Form::OneOf(choices)) = figure(key).map(|figure| figure.form) else { return };
        let distance = |place: &usize| (choices[*place].parse().unwrap_or(1.0) / number).ln().abs();
        let nearest = (0..choices.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        self.set(key, nearest.unwrap_or(0) as f64);
    }

    /// Returns the word or number of a choice.
    pub(crate) fn choice(&self, key: &str) -> &'static str {
        match figure(key).map(|figure| figure.form) {
            Some(Form::OneOf(choices)) => choices[self.get(key) as usize],
            Some(Form::Real(..)) | None => "",
        }
    }

    pub(crate) fn dies(&self) -> f64 {
        self.choice("nand.dies").parse().unwrap_or(1.0)
    }

    /// Returns the size of the fast cache, fixed and borrowed.
    pub(crate) fn cache(&self) -> Bytes {
        Bytes(((small(self.get("slc.fixed_gb")) + small(self.get("slc.dynamic_gb"))) * 1e9) as u64)
    }

    fn unit(&self) -> f64 {
        self.choice("nand.program_kib").parse().unwrap_or(UNIT)
    }

    /// Returns each key of a profile with its value as text, for a virtual drive of `capacity`.
    pub(crate) fn keys(&self, capacity: Bytes) -> Vec<(&'static str, String)> {
        let (dies, unit) = (self.dies(), self.unit());
        let raw = capacity.0 as f64 * (1.0 + self.get("over_provisioning"));
        let block_mib = raw / SUPERBLOCKS / dies / f64::from(1 << 20);
        let erase = self.get(ERASE) * block_mib;
        let is_sata = self.get("front.link_mb_s") < 620.0;
        let buffer = self.get("front.buffer_kib").max(3.5 * unit);
        let number = |value: f64| format!("{value:.5}");
        vec![
            ("front.link_mb_s", number(self.get("front.link_mb_s"))),
            ("front.half_duplex", is_sata.to_string()),
            ("front.max_queue_depth", if is_sata { "32" } else { "1024" }.to_owned()),
            ("front.read_delay_us", number(self.get("front.read_delay_us"))),
            ("front.read_command_us", number(self.get("front.read_command_us"))),
            ("front.write_command_us", number(self.get("front.write_command_us"))),
            ("front.write_delay_us", number(self.get("front.write_delay_us"))),
            ("front.page_us", number(self.get("front.page_us"))),
            ("front.buffer_kib", format!("{}", (buffer / 4.0) as u64 * 4)),
            ("nand.channels", format!("{}", channels(dies))),
            ("nand.dies", self.choice("nand.dies").to_owned()),
            ("nand.t_r_us", number(self.get("nand.t_r_us"))),
            ("nand.channel_mb_s", number(self.get("nand.channel_mb_s"))),
            ("nand.program_kib", self.choice("nand.program_kib").to_owned()),
            ("nand.t_prog_us", number(self.get("nand.t_prog_us") * unit / UNIT)),
            (ERASE, number(erase)),
            ("nand.suspend", self.choice("nand.suspend").to_owned()),
            ("nand.suspend_us", number(self.get("nand.suspend_us"))),
            ("slc.fixed_gb", number(small(self.get("slc.fixed_gb")))),
            ("slc.dynamic_gb", number(small(self.get("slc.dynamic_gb")))),
            ("slc.t_prog_us", number(self.get("slc.t_prog_us") * unit / UNIT)),
            ("slc.fold_mb_s", number(self.get("slc.fold_mb_s"))),
            ("slc.overflow", self.choice("slc.overflow").to_owned()),
            ("gc.policy", self.choice("gc.policy").to_owned()),
            ("gc.pacing", self.choice("gc.pacing").to_owned()),
            ("effects.page_type_ratio", number(1.0 + self.get("effects.page_type_ratio"))),
            ("effects.read_spread", number(self.get("effects.read_spread"))),
            ("effects.read_retry_share", number(self.get("effects.read_retry_share"))),
            ("effects.read_retry_us", number(self.get("nand.t_r_us"))),
        ]
    }

    /// Returns the figures as the end of the text of a target, for a virtual drive of `capacity`.
    pub(crate) fn query(&self, capacity: Bytes) -> String {
        let spare = self.get("over_provisioning");
        self.keys(capacity)
            .iter()
            .fold(format!("&over_provisioning={spare:.5}"), |text, (key, value)| {
                text + &format!("&{key}={value}")
            })
    }

    /// Returns the text that tells apart what loads of a group see: writes do not change what reads see, and the spare
    /// area shows in the steady state alone.
    pub(crate) fn seen_by(&self, group: Group, is_steady: bool) -> String {
        let mut text = String::new();
        for figure in &FIGURES {
            let reads_alone = figure.is_in(Group::Reads);
            let steady_alone =
                ["over_provisioning", "gc.policy", "gc.pacing"].contains(&figure.key);
            let is_seen = match group {
                Group::Reads => reads_alone,
                // Places of sequential data follow the units in which it was programmed.
                Group::Sequential => reads_alone || figure.is_in(group),
                Group::Writes | Group::Steady | Group::Mixes => is_steady || !steady_alone,
            };
            if is_seen {
                let _ = write!(text, "{:.6};", self.get(figure.key));
            }
        }
        text
    }
}

/// Returns the size of a part of the cache: the smallest one that is fitted stands for an absent one.
fn small(gb: f64) -> f64 {
    if gb <= 0.001_5 { 0.0 } else { gb }
}

/// Returns the channels of a twin with `dies`. Runs show their number times their rate.
fn channels(dies: f64) -> u64 {
    let dies = dies as u64;
    [8, 6, 4, 2, 1].into_iter().find(|channels| dies.is_multiple_of(*channels)).unwrap_or(1)
}

/// Returns the profile that all figures are stated on top of: the class, without what no run shows.
pub(crate) fn base(capacity: Bytes) -> String {
    let gb = capacity.0 as f64 / 1e9;
    format!(
        "inherits = \"tlc-client\"\n[drive]\nclass = \"twin\"\ncapacity_gb = {gb:.6}\nraw_gib = {:.6}\n\
         [nand]\nblock_mib = 1024.0\n[front]\ninterface = \"not stated\"\n[power]\nlimited_states = []\nstates = []\n\
         [thermal]\nfactor = 1.0\n[gc]\nidle_superblocks = 0\n",
        gb * 1.1e9 / f64::from(1 << 30)
    )
}
