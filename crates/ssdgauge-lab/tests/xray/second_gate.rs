//! The blind gate on drives of the second model.
//!
//! The truth is arithmetic of the figures, but for rates of writes: these are those of the same drive without
//! throttling and without noise, because a small write buffer keeps few dies busy. They are read here alone,
//! after the answers are given.

use super::gate::{Judged, NATIVE, Truth, compare, look, rate, seen, truth};
use super::programs::of_figures;
use super::second_model::{Figures, SecondRig};
use ssdgauge_xray::Structure;

/// What is not looked for: this model has no flushes, volumes, compression or deduplication, and no mapping unit but
/// 4 KiB, and a drive with a fast cache can run out of free blocks under random writes.
const NOT_ASKED: [Structure; 5] = [
    Structure::Flush,
    Structure::MappingUnit,
    Structure::Volumes,
    Structure::Compression,
    Structure::Deduplication,
];

/// Looks into the drive of `seed` and judges each answer. Returns its figures as text as well.
pub(crate) fn judge(seed: u64, only: &[Structure], noise: bool) -> (String, Vec<Judged>) {
    let figures = Figures::draw(seed);
    let usual = Structure::ALL
        .into_iter()
        .filter(|one| !one.needs_steady_state() && !NOT_ASKED.contains(one));
    let only = if only.is_empty() { usual.collect() } else { only.to_vec() };
    let answers = look(SecondRig::new(figures.clone(), seed), seed, &only, noise);
    let truths = truths(&figures, seed);
    (format!("{figures:?}"), compare(answers, truths))
}

/// Returns the rate of the second one of `parts` of a fill, in 10^6 bytes per second.
fn cool_rate(figures: &Figures, seed: u64, parts: [f64; 2]) -> f64 {
    let mut figures = figures.clone();
    figures.throttling.upper_c = 900.0;
    rate(&mut SecondRig::new(figures, seed), parts)
}

fn truths(figures: &Figures, seed: u64) -> Vec<Truth> {
    let micros = |ns: u64| ns as f64 / 1e3;
    let link = figures.link_rate * 1e3;
    let command = micros(figures.read_command_ns);
    let link_block_us = 131_072.0 / link;
    let block_us = figures.logical_block as f64 / link;
    let lone_us = command + micros(figures.read_delay_ns) + block_us;
    let depth_us = lone_us / figures.queue as f64;
    let sees_command = depth_us < 0.95 * command && block_us < 0.8 * command;
    let cache = figures.cache().map(|bytes| bytes as f64);
    let rate_of = |parts: [f64; 2]| {
        let parts = |bytes: f64| parts.map(|part| part * bytes);
        cache.map_or(0.0, |bytes| cool_rate(figures, seed, parts(bytes)))
    };
    let (cached, after) = (rate_of([0.125, 0.5]), rate_of([1.25, 1.0]));
    let buffers = figures.buffer as f64 * figures.buffers as f64;
    let shows = cache.is_some_and(|bytes| bytes > 2.0 * buffers) && cached > 1.2 * after;
    let folds = cache.filter(|_| figures.fold_dies > 0);
    let folded_soon = folds.is_some_and(|bytes| figures.folding() * 128e9 > 0.1 * bytes);
    let has_cache = figures.cache_blocks > 0;
    let hides = || cool_rate(figures, seed, NATIVE.map(|bytes| bytes as f64)) > 0.85 * link;
    let sees_spare = !has_cache && !hides();
    let sees_units = Some(figures.units() > 1);
    let suspends = f64::from(u8::from(figures.suspension.is_some()));
    let throttling = figures.throttling;
    // Parts of the map are whole.
    let parts = |bytes: u64| (bytes / figures.map_segment).max(1) * figures.map_segment;
    let reach = figures.map_reach.map(|bytes| parts(bytes) as f64);
    let range = if shows { 1.3 * cache.unwrap_or(0.0) } else { 0.6 * figures.capacity as f64 };
    let reach_shows = reach.is_some_and(|bytes| bytes > 20e6 && bytes < 0.8 * range);
    let programs = of_figures(figures);
    vec![
        truth(Structure::Link, Some(link), Some(command < link_block_us)),
        truth(Structure::Command, Some(command), Some(sees_command)),
        truth(Structure::Units, Some(figures.units() as f64), sees_units),
        truth(Structure::Chunk, Some(figures.chunk() as f64), sees_units),
        truth(Structure::PageRead, Some(micros(figures.read_ns)), sees_units),
        truth(Structure::Suspend, Some(suspends), Some(true)),
        seen(Structure::ProgramTime, programs.time_us),
        seen(Structure::ProgramUnit, programs.unit),
        seen(Structure::WriteBuffer, programs.buffer),
        truth(Structure::Cache, cache, Some(shows)),
        truth(Structure::NativeRate, cache.map(|_| after), Some(shows)),
        truth(
            Structure::Folding,
            folds.map(|_| figures.folding() * 1e3),
            Some(shows && folded_soon),
        ),
        truth(Structure::MapReach, reach, Some(reach_shows)),
        truth(Structure::Throttle, Some(throttling.upper_c), None),
        truth(Structure::Resume, Some(throttling.lower_c), None),
        truth(Structure::Spare, Some(figures.spare() as f64), Some(sees_spare)),
    ]
}
