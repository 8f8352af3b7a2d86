//! The second model against arithmetic of its figures: what the gate of the X-ray takes for the truth.

use super::gate::rate;
use super::second_model::{Figures, SecondRig};
use ssdgauge_core::{
    Access, Bytes, Data, Direction, Lane, LaneLimits, LanesEnded, Nanos, Preparation, Random,
    Recording, Rig, TimedLoads, TimedRequest,
};

/// A small drive without a cache, throttling and work of its own.
fn plain() -> Figures {
    let mut figures = Figures::draw(1);
    figures.throttling.upper_c = 900.0;
    (figures.patrol, figures.map_reach) = (None, None);
    (figures.channels, figures.dies, figures.planes, figures.page) = (2, 4, 2, 8_192);
    (figures.bits, figures.stripe_pages, figures.planes_read_alone) = (3, 2, false);
    (figures.cache_blocks, figures.fixed_blocks, figures.watermark) = (0, 0, 1);
    (figures.units_per_block, figures.reserve) = (16, 2);
    (figures.capacity, figures.blocks) = (256 << 20, 102);
    (figures.read_ns, figures.slc_read_ns) = (60_000, 25_000);
    (figures.program_ns, figures.slc_program_ns) = (900_000, 200_000);
    (figures.erase_ns, figures.link_rate, figures.channel_rate) = (4_000_000, 3.4, 1.0);
    (figures.is_half_duplex, figures.queue, figures.suspension) = (false, 1_024, None);
    (figures.read_command_ns, figures.read_delay_ns) = (2_000, 10_000);
    (figures.buffer, figures.buffers) = (4 << 20, 2);
    figures
}

fn lane(direction: Direction, access: Access, block: u64, span: u64, depth: u32) -> Lane {
    Lane {
        direction,
        access,
        block_size: Bytes(block),
        offset: Bytes(0),
        span: Bytes(span),
        queue_depth: depth,
        think: Nanos::ZERO,
        latencies: 1_000,
        data: Data::Incompressible,
    }
}

fn run(rig: &mut SecondRig, lanes: &[Lane], seconds: f64, written: u64) -> LanesEnded {
    let (time, bin) = (Nanos((seconds * 1e9) as u64), Nanos::SECOND);
    let limits = LaneLimits { time, written: Bytes(written), bin };
    let ended = rig.run_lanes(lanes, limits, &mut Recording::default());
    ended.expect("no request fails").expect("nothing stops it")
}

fn fill(rig: &mut SecondRig, span: u64) {
    let (access, block_size, offset) = (Access::Sequential, Bytes(131_072), Bytes(0));
    let fill = Preparation::Fill { access, block_size, offset, span: Bytes(span) };
    rig.prepare(&fill, &mut Recording::default()).expect("a drive is filled");
    rig.flush(&mut Recording::default()).expect("a drive is flushed");
}

#[track_caller]
fn assert_close(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() < share, "{found} where arithmetic gives {expected}");
}

#[test]
fn random_reads_find_their_map_page_at_hand_as_often_as_reach_is_to_span() {
    for share in [4, 2] {
        let mut figures = plain();
        figures.map_segment = 1 << 20;
        figures.map_reach = Some(figures.capacity / share);
        let span = figures.capacity;
        let mut rig = SecondRig::new(figures, 3);
        fill(&mut rig, span);
        run(&mut rig, &[lane(Direction::Read, Access::Random, 4_096, span, 4)], 0.2, 0);
        let before = rig.counters().map;
        run(&mut rig, &[lane(Direction::Read, Access::Random, 4_096, span, 4)], 1.0, 0);
        let [read, looked_up] = rig.counters().map;
        let hits = 1.0 - (read - before[0]) as f64 / (looked_up - before[1]) as f64;
        assert_close(hits, 1.0 / share as f64, 0.05);
    }
}

/// Returns the argument from 1 to 100 at which the falling `function` is `value`, by bisection.
fn inverse(function: impl Fn(f64) -> f64, value: f64) -> f64 {
    let (mut low, mut high) = (1.0 + 1e-6, 100.0);
    for _ in 0..60 {
        let middle: f64 = 0.5 * (low + high);
        if function(middle) > value { low = middle } else { high = middle }
    }
    low
}

#[test]
fn uniform_random_writes_amplify_between_collection_by_age_and_greedy_collection() {
    let mut figures = plain();
    (figures.dies, figures.blocks, figures.units_per_block) = (2, 256, 24);
    let slots = figures.block_slots();
    (figures.capacity, figures.buffer) = ((252 * 2 * slots * 87 / 100) << 12, 192 << 10);
    let pages = figures.capacity / 4_096;
    let mut rig = SecondRig::new(figures.clone(), 5);
    fill(&mut rig, figures.capacity / 131_072 * 131_072);
    let writes = lane(Direction::Write, Access::Random, 4_096, figures.capacity, 32);
    run(&mut rig, std::slice::from_ref(&writes), 3_600.0, 2 * figures.capacity);
    let before = rig.counters();
    run(&mut rig, &[writes], 3_600.0, figures.capacity);
    let now = rig.counters();
    let host = (now.host[1] - before.host[1]) as f64;
    let found = 1.0 + (now.copied[1] - before.copied[1]) as f64 / host;
    // With all flash but the blocks that are kept free and open, in the order of age (Desnoyers 2012).
    let a = 1.0 + figures.spare() as f64 / figures.capacity as f64;
    let by_age = inverse(|wa| -wa * (1.0 - 1.0 / wa).ln(), a);
    // With all flash but one block, always the block with the fewest valid pages (Van Houdt 2013).
    let greedy = |wa: f64| {
        let valid = slots as f64 * (1.0 - 1.0 / wa);
        let below = valid.floor();
        let shares: f64 = (below as u64 + 2..=slots).map(|pages| 1.0 / pages as f64).sum();
        wa * ((below + 1.0 - valid) / (below + 1.0) + shares)
    };
    let greedy = inverse(greedy, (255 * 2 * slots) as f64 / pages as f64);
    assert!(
        found > 0.99 * greedy && found < 1.01 * by_age,
        "{greedy} {found} {by_age}: beyond what the policy can be"
    );
}

#[test]
fn the_cache_takes_its_blocks_and_dies_fold_them_at_their_rate_after_the_delay() {
    let mut figures = plain();
    (figures.cache_blocks, figures.fixed_blocks, figures.is_through) = (40, 4, false);
    (figures.fold_dies, figures.fold_delay_ns, figures.resume_blocks) = (3, 1_000_000_000, 0);
    (figures.blocks, figures.reserve) = (160, 2);
    let cache = figures.cache().unwrap();
    let rate = figures.folding();
    let mut rig = SecondRig::new(figures, 7);
    fill(&mut rig, cache * 2);
    let taken = rig.counters().before_native.unwrap() * 4_096;
    assert_close(taken as f64, cache as f64, 0.02);
    let folded = |rig: &SecondRig| rig.counters().copied[0] as f64 * 4_096.0;
    let mut rest = |millis: u64| {
        rig.rest(Nanos(millis * 1_000_000), &mut Recording::default()).unwrap();
        folded(&rig)
    };
    assert_eq!(rest(700), 0.0);
    let before = rest(350);
    assert_close((rest(100) - before) / 0.1e9, rate, 0.08);
    assert_close(rest(10_000), taken as f64, 0.001);
}

#[test]
fn ascending_writes_reach_the_rate_of_the_dies_and_a_single_buffer_costs_its_filling() {
    let figures = plain();
    let native = figures.native() * 1e3;
    let bytes = figures.capacity as f64;
    let mut rig = SecondRig::new(figures.clone(), 9);
    assert_close(rate(&mut rig, [0.2, 0.6].map(|part| part * bytes)), native, 0.06);
    let single = Figures { buffers: 1, buffer: 8 << 20, ..figures };
    let mut rig = SecondRig::new(single, 9);
    let found = rate(&mut rig, [0.2, 0.6].map(|part| part * bytes));
    // Filling and programming follow each other.
    assert_close(found, 1.0 / (1.0 / native + 1.0 / 3_400.0), 0.1);
}

#[test]
fn reads_of_one_unit_take_the_time_of_a_page_and_units_read_together() {
    for alone in [false, true] {
        let mut figures = plain();
        (figures.planes_read_alone, figures.has_cache_register) = (alone, true);
        let (units, span) = (figures.units(), 64 << 20);
        let mut rig = SecondRig::new(figures, 11);
        fill(&mut rig, span);
        let ended =
            run(&mut rig, &[lane(Direction::Read, Access::Random, 4_096, span, 256)], 0.5, 0);
        let reads = ended.lanes[0].bytes.iter().sum::<u64>() as f64 / 4_096.0;
        let busy = reads * 60e-6 / ended.elapsed.as_secs_f64();
        assert!(busy < units as f64 * 1.001 && busy > 0.93 * units as f64, "{busy} of {units}");
    }
}

#[test]
fn a_program_is_suspended_once_it_has_run_for_its_least_time_and_not_before() {
    let mut rng = Random::new(1, 1);
    let mut waits = [0.0, 0.0];
    for (wait, suspends) in waits.iter_mut().zip([false, true]) {
        let mut figures = plain();
        let suspension = super::second_model::Suspension { ns: 10_000, least_run_ns: 100_000 };
        figures.suspension = suspends.then_some(suspension);
        let mut rig = SecondRig::new(figures, 13);
        fill(&mut rig, 64 << 20);
        // Writes keep the dies busy; reads come while they program.
        let mut requests: Vec<TimedRequest> = (0..64u64)
            .map(|number| TimedRequest {
                due: Nanos(0),
                direction: Direction::Write,
                offset: (64 << 20) + number * 131_072,
                length: 131_072,
            })
            .collect();
        requests.extend((0..20u64).map(|number| TimedRequest {
            due: Nanos(4_000_000 + number * 1_000_000),
            direction: Direction::Read,
            offset: rng.below(16_000) * 4_096,
            length: 4_096,
        }));
        let timings = rig.send(&requests, 128, &mut Recording::default()).unwrap().unwrap();
        let reads = timings.requests[64..].iter().map(|one| one.latency().as_micros_f64());
        *wait = reads.fold(0.0, f64::max);
    }
    // Without suspension, a read waits for whole programs; with it for the minimum time at most.
    assert!(waits[0] > 400.0 && waits[1] < 100.0 + 10.0 + 250.0, "{waits:?}");
}
