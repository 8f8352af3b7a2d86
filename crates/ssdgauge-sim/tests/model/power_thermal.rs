//! Power, heat and states: energy is that of the operations, temperature follows from it.

use crate::support::{Seen, seconds, stream, workload};
use ssdgauge_core::{Access, Bytes, FindingKind, Nanos, PowerSaving, Preparation, Rig};
use ssdgauge_sim::{VirtualRig, Work, profiles};

/// Returns the energy of `work` by the figures of the drive, in joules.
fn energy_of(rig: &VirtualRig, work: &Work) -> f64 {
    let power = &rig.profile().power;
    let parts = [
        (work.commands as f64, power.command_nj),
        (work.link_bytes as f64 / 1_024.0, power.link_nj_per_kib),
        (work.flash.senses as f64, power.read_nj),
        (work.flash.programs as f64, power.program_nj),
        (work.flash.slc_programs as f64, power.slc_program_nj),
        (work.flash.erases as f64, power.erase_nj),
    ];
    parts.iter().map(|(count, nj)| count * nj / 1e9).sum()
}

#[test]
fn power_adds_up_to_the_energy_of_the_operations_and_the_floor() {
    for listed in profiles() {
        let spec = format!("{}?capacity=2GB&state=filled", listed.name);
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        let load = workload(stream(Access::Random, 4_096, 50, 4, rig.drive().capacity));
        let mut seen = Seen::brief();
        let ended = rig.run(&load, &seconds(5), &mut seen).unwrap();
        let whole = ended.elapsed.as_secs_f64();
        let expected = energy_of(&rig, &rig.work()) + rig.profile().power.idle_w * whole;
        let told = seen.last("energy_j").unwrap();
        assert!((told / expected - 1.0).abs() < 1e-9, "{spec}: {told} {expected}");
        // Five whole seconds have a reading; the few milliseconds behind them have none.
        let power = seen.values("power_w");
        assert_eq!(power.len(), 5, "{spec}");
        let tail = whole - 5.0;
        let summed = power.iter().sum::<f64>() + power[4] * tail;
        assert!((summed / told - 1.0).abs() < 0.001, "{spec}: {summed} {told}");
    }
}

#[test]
fn silence_takes_the_power_of_the_state_and_waking_takes_its_exit_latency() {
    let mut rig = VirtualRig::open("tlc-client?capacity=4GB&state=filled", 1).unwrap();
    let load = workload(stream(Access::Random, 4_096, 100, 1, rig.drive().capacity));
    rig.run(&load, &seconds(1), &mut Seen::default()).unwrap();
    let mut seen = Seen::brief();
    rig.rest(Nanos::from_secs(10), &mut seen).unwrap();
    let power = seen.values("power_w");
    let states = rig.profile().power.states.clone();
    let first = rig.profile().power.idle_w * 0.5 + states[0].w * 0.5;
    assert!((power[0] - first).abs() < 0.01, "{power:?} {first}");
    assert!((power[9] - states[1].w).abs() < 1e-9, "{power:?}");
    let mut seen = Seen::default();
    rig.run(&load, &seconds(1), &mut seen).unwrap();
    let slowest = seen.intervals[0].latency.max().unwrap() as f64 / 1e3;
    assert!((states[1].exit_us..states[1].exit_us + 200.0).contains(&slowest), "{slowest}");
}

#[test]
fn a_drive_that_is_held_in_a_state_takes_its_power_until_work_wakes_it() {
    let mut rig = VirtualRig::open("tlc-client?capacity=4GB", 1).unwrap();
    let power = rig.profile().power.clone();
    for (number, state) in power.states.iter().enumerate() {
        let saving = PowerSaving::State(number as u8 + 1);
        rig.prepare(&Preparation::Power(saving), &mut Seen::default()).unwrap();
        let mut seen = Seen::brief();
        rig.idle(Nanos::from_secs(10), &mut seen).unwrap();
        let watts = seen.values("power_w");
        // The first second holds the way into the state.
        assert!(watts[1..].iter().all(|w| (w - state.w).abs() < 1e-9), "{watts:?}");
        let load = workload(stream(Access::Random, 4_096, 100, 1, Bytes(1 << 20)));
        let mut seen = Seen::default();
        rig.run(&load, &seconds(2), &mut seen).unwrap();
        let slowest = |second: usize| seen.intervals[second].latency.max().unwrap() as f64 / 1e3;
        assert!((state.exit_us..state.exit_us + 200.0).contains(&slowest(0)), "{}", slowest(0));
        assert!(slowest(1) < state.exit_us, "it stays awake");
        let mut seen = Seen::brief();
        rig.idle(Nanos::from_secs(10), &mut seen).unwrap();
        assert!(seen.values("power_w")[1..].iter().all(|w| (w - power.idle_w).abs() < 1e-9));
    }
    let mut seen = Seen::default();
    rig.prepare(&Preparation::Power(PowerSaving::State(9)), &mut seen).unwrap();
    assert!(seen.findings[0].text.contains("no power state PS9"), "{:?}", seen.findings);
}

#[test]
fn temperature_follows_the_exact_exponential() {
    let spec = "tlc-client?capacity=4GB&thermal.throttle_c=200&thermal.resume_c=190";
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let load = workload(stream(Access::Random, 4_096, 100, 16, Bytes(1 << 30)));
    let mut seen = Seen::brief();
    rig.run(&load, &seconds(200), &mut seen).unwrap();
    let heat = rig.profile().thermal.clone();
    let (power, body) = (seen.values("power_w"), seen.values("temperature_c"));
    let begin = heat.ambient_c + heat.r_c_per_w * rig.profile().power.idle_w;
    for (n, measured) in body.iter().enumerate() {
        let end = heat.ambient_c + heat.r_c_per_w * power[n];
        let seconds = (n + 1) as f64;
        let decay = (-seconds / (heat.r_c_per_w * heat.c_j_per_c)).exp();
        let expected = end + (begin - end) * decay;
        assert!((measured - expected).abs() < 0.2, "{n}: {measured} {expected}");
    }
    let junction = seen.values("junction_temperature_c");
    assert!(junction[100] > body[100] + 2.0);
}

#[test]
fn a_hot_drive_slows_down_says_so_and_recovers() {
    let spec = "mlc-client?capacity=64GB&thermal.c_j_per_c=2&thermal.r_c_per_w=9&thermal.throttle_c=60&\
                thermal.resume_c=55&thermal.factor=0.25";
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let load = workload(stream(Access::Sequential, 131_072, 100, 8, rig.drive().capacity));
    let fill = ssdgauge_core::Preparation::Fill {
        access: Access::Sequential,
        block_size: Bytes(1 << 20),
        offset: Bytes(0),
        span: rig.drive().capacity,
    };
    rig.prepare(&fill, &mut Seen::default()).unwrap();
    rig.rest(Nanos::from_secs(600), &mut Seen::brief()).unwrap();
    let mut seen = Seen::default();
    rig.run(&load, &seconds(120), &mut seen).unwrap();
    let throttled = seen.values("throttled");
    let ios: Vec<u64> = seen.intervals.iter().map(|i| i.ios).collect();
    let first = throttled.iter().position(|value| *value > 0.0).unwrap();
    assert!(first > 3, "{throttled:?}");
    assert!(ios[first + 1] as f64 <= 0.27 * ios[first - 1] as f64, "{ios:?}");
    assert!(throttled[first..].contains(&0.0), "hysteresis lets it go: {throttled:?}");
    assert!(seen.values("temperature_c").iter().all(|t| *t < 62.0));
    assert!(seen.findings.iter().any(|f| f.kind == FindingKind::Throttled));
}

#[test]
fn readings_of_a_long_rest_stay_few() {
    let mut rig = VirtualRig::open("tiny", 1).unwrap();
    let mut seen = Seen::brief();
    rig.rest(Nanos::from_secs(3_600), &mut seen).unwrap();
    assert_eq!(seen.values("power_w").len(), 1_000 + 260);
    let at: Vec<_> = seen.readings.iter().filter(|r| r.quantity == "power_w").collect();
    assert_eq!(at.last().unwrap().at, Nanos::from_secs(3_600));
}

#[test]
fn a_drive_that_one_step_does_not_cool_takes_another() {
    let spec = "mlc-client?capacity=64GB&thermal.c_j_per_c=5&thermal.throttle_c=70&\
                thermal.resume_c=60&thermal.r_c_per_w=15&thermal.factor=0.8";
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let load = workload(stream(Access::Sequential, 131_072, 0, 8, rig.drive().capacity));
    let mut seen = Seen::default();
    rig.run(&load, &seconds(300), &mut seen).unwrap();
    let hottest = seen.values("temperature_c").into_iter().fold(0.0, f64::max);
    assert!((70.0..73.0).contains(&hottest), "{hottest}");
    let slowest = seen.intervals[..300].iter().map(|i| i.ios).min().unwrap();
    assert!((slowest as f64) < 0.7 * seen.intervals[1].ios as f64, "two steps at least");
}

#[test]
fn the_mlc_class_throttles_after_about_as_long_as_published() {
    let mut rig = VirtualRig::open("mlc-client?capacity=64GB", 1).unwrap();
    let load = workload(stream(Access::Sequential, 131_072, 0, 8, rig.drive().capacity));
    let mut seen = Seen::brief();
    rig.run(&load, &seconds(250), &mut seen).unwrap();
    let throttled = seen.values("throttled");
    let first = throttled.iter().position(|value| *value > 0.0).unwrap();
    // Published: about 80 C after 150 s.
    assert!((120..180).contains(&first), "{first}");
}
