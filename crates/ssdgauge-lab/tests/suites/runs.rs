//! Every built-in suite, and the virtual drives that the tests run them on.

/// Each suite with its factor of `--shorten` and its drive in these tests.
pub const RUNS: &[(&str, u32, &str)] = &[
    ("quick", 10, "tiny"),
    ("quick-ai", 10, "tiny"),
    ("quick-database", 10, "tiny"),
    ("quick-desktop", 10, "tiny"),
    ("iometer-2015", 60, "tiny"),
    ("consistency-2016", 60, "tiny"),
    ("client-2018", 60, "tiny"),
    ("client-2018-full", 60, "tiny"),
    ("enterprise-2019", 60, "tiny"),
    ("enterprise-2020", 60, "tiny"),
    ("client-2021", 60, "tiny"),
    ("fill-ladder", 20, "tiny"),
    ("snia-pts-e", 60, "tiny"),
    ("snia-pts-c", 60, "tiny"),
    ("act", 60, "tiny"),
    ("act-24h", 1_440, "tiny"),
    ("act-48h", 2_880, "tiny"),
    ("load-curve", 60, "tiny"),
    ("size-curve", 5, "tiny"),
    ("as-ssd", 60, "tiny"),
    ("tasks", 60, "tiny"),
    ("like-destroyer", 10, "tiny"),
    ("like-heavy", 1, "tiny"),
    ("like-light", 1, "tiny"),
    ("trim", 60, "tiny"),
    ("power-states", 60, "tiny"),
    ("cache-fill", 1, "tiny"),
    ("four-states", 30, "tiny"),
    ("pulse", 20, "tiny"),
    ("degrade-recover", 600, "tiny"),
    ("commit", 30, "tiny"),
    ("ai-experts", 15, "tiny"),
    ("ssd-iq", 60, "tiny"),
    ("ai-checkpoint", 10, "tiny"),
    ("fsload", 10, "tiny"),
    ("demo", 10, "tiny"),
];

/// The drives whose values are held against their intervals, in addition to those of [`RUNS`].
pub const DRIVES: [&str; 20] = [
    "tlc-client",
    "mlc-client",
    "qlc-client",
    "sata-datacentre",
    "nvme-datacentre",
    "slc-low-latency",
    "xpoint-like",
    "like-970-evo-1tb",
    "like-970-evo-500gb",
    "like-pm981",
    "like-960-pro",
    "like-960-evo",
    "like-wd-black",
    "like-850-pro",
    "like-dc500r",
    "like-883-dct",
    "like-983-dct",
    "like-p4800x",
    "like-p4510",
    "tiny",
];

/// Returns the divisor of a suite of [`RUNS`] in longer steps: an interval needs ten seconds, that of a percentile 60.
pub fn longer(shorten: u32) -> u32 {
    shorten.div_ceil(10)
}
