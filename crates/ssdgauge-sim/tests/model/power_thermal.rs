//! Power, temperature and power states: energy is that of the operations and states, and the
//! temperature follows from it.

use crate::model::support::{Recording, seconds, stream, workload};
use crate::tiers::repetitions;
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
fn power_adds_up_to_the_energy_of_operations_and_idle_power() {
    for listed in profiles() {
        let spec = format!("{}?capacity=2GB&state=filled", listed.name);
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        let load = workload(stream(Access::Random, 4_096, 50, 4, rig.drive().capacity));
        let mut recording = Recording::brief();
        let ended = rig.run(&load, &seconds(5), &mut recording).unwrap();
        let whole = ended.elapsed.as_secs_f64();
        let expected = energy_of(&rig, &rig.work()) + rig.profile().power.idle_w * whole;
        let reported = recording.last("energy_j").unwrap();
        assert!((reported / expected - 1.0).abs() < 1e-9, "{spec}: {reported} {expected}");
        // Five whole seconds have a reading; the last few milliseconds have none.
        let power = recording.values("power_w");
        assert_eq!(power.len(), 5, "{spec}");
        let tail = whole - 5.0;
        let summed = power.iter().sum::<f64>() + power[4] * tail;
        assert!((summed / reported - 1.0).abs() < 0.001, "{spec}: {summed} {reported}");
    }
}

#[test]
fn an_idle_drive_takes_the_power_of_its_state_and_wakes_after_its_exit_latency() {
    let mut rig = VirtualRig::open("tlc-client?capacity=4GB&state=filled", 1).unwrap();
    let load = workload(stream(Access::Random, 4_096, 100, 1, rig.drive().capacity));
    rig.run(&load, &seconds(1), &mut Recording::default()).unwrap();
    let mut recording = Recording::brief();
    rig.rest(Nanos::from_secs(10), &mut recording).unwrap();
    let power = recording.values("power_w");
    let states = rig.profile().power.states.clone();
    let first = rig.profile().power.idle_w * 0.5 + states[0].w * 0.5;
    assert!((power[0] - first).abs() < 0.01, "{power:?} {first}");
    assert!((power[9] - states[1].w).abs() < 1e-9, "{power:?}");
    let mut recording = Recording::default();
    rig.run(&load, &seconds(1), &mut recording).unwrap();
    let slowest = recording.intervals[0].latency.max().unwrap() as f64 / 1e3;
    assert!((states[1].exit_us..states[1].exit_us + 200.0).contains(&slowest), "{slowest}");
}

#[test]
fn a_drive_in_a_set_power_state_takes_its_power_until_work_wakes_it() {
    let mut rig = VirtualRig::open("tlc-client?capacity=4GB", 1).unwrap();
    let power = rig.profile().power.clone();
    for (number, state) in power.states.iter().enumerate() {
        let saving = PowerSaving::State((1 + power.limited_states.len() + number) as u8);
        rig.prepare(&Preparation::Power(saving), &mut Recording::default()).unwrap();
        let mut recording = Recording::brief();
        rig.idle(Nanos::from_secs(10), &mut recording).unwrap();
        let watts = recording.values("power_w");
        // The first second includes the entry latency.
        assert!(watts[1..].iter().all(|w| (w - state.w).abs() < 1e-9), "{watts:?}");
        let load = workload(stream(Access::Random, 4_096, 100, 1, Bytes(1 << 20)));
        let mut recording = Recording::default();
        rig.run(&load, &seconds(2), &mut recording).unwrap();
        let slowest =
            |second: usize| recording.intervals[second].latency.max().unwrap() as f64 / 1e3;
        assert!((state.exit_us..state.exit_us + 200.0).contains(&slowest(0)), "{}", slowest(0));
        assert!(slowest(1) < state.exit_us, "it stays active");
        let mut recording = Recording::brief();
        rig.idle(Nanos::from_secs(10), &mut recording).unwrap();
        assert!(recording.values("power_w")[1..].iter().all(|w| (w - power.idle_w).abs() < 1e-9));
    }
    let mut recording = Recording::default();
    rig.prepare(&Preparation::Power(PowerSaving::State(9)), &mut recording).unwrap();
    assert!(recording.findings[0].text.contains("no power state PS9"), "{:?}", recording.findings);
}

#[test]
fn temperature_follows_the_exact_exponential() {
    let spec = "tlc-client?capacity=4GB&thermal.throttle_c=200&thermal.resume_c=190";
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let load = workload(stream(Access::Random, 4_096, 100, 16, Bytes(1 << 30)));
    let mut recording = Recording::brief();
    rig.run(&load, &seconds(200), &mut recording).unwrap();
    let heat = rig.profile().thermal.clone();
    let (power, body) = (recording.values("power_w"), recording.values("temperature_c"));
    let begin = heat.ambient_c + heat.r_c_per_w * rig.profile().power.idle_w;
    for (n, measured) in body.iter().enumerate() {
        let end = heat.ambient_c + heat.r_c_per_w * power[n];
        let seconds = (n + 1) as f64;
        let decay = (-seconds / (heat.r_c_per_w * heat.c_j_per_c)).exp();
        let expected = end + (begin - end) * decay;
        assert!((measured - expected).abs() < 0.2, "{n}: {measured} {expected}");
    }
    let junction = recording.values("junction_temperature_c");
    assert!(junction[100] > body[100] + 2.0);
}

#[test]
fn a_hot_drive_throttles_reports_it_and_recovers() {
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
    rig.prepare(&fill, &mut Recording::default()).unwrap();
    rig.rest(Nanos::from_secs(600), &mut Recording::brief()).unwrap();
    let mut recording = Recording::default();
    rig.run(&load, &seconds(120), &mut recording).unwrap();
    let throttled = recording.values("throttled");
    let ios: Vec<u64> = recording.intervals.iter().map(|i| i.ios).collect();
    let first = throttled.iter().position(|value| *value > 0.0).unwrap();
    assert!(first > 3, "{throttled:?}");
    assert!(ios[first + 1] as f64 <= 0.27 * ios[first - 1] as f64, "{ios:?}");
    assert!(throttled[first..].contains(&0.0), "it returns to full speed: {throttled:?}");
    assert!(recording.values("temperature_c").iter().all(|t| *t < 62.0));
    assert!(recording.findings.iter().any(|f| f.kind == FindingKind::Throttled));
}

#[test]
fn a_long_rest_has_a_reading_every_ten_seconds() {
    let mut rig = VirtualRig::open("tiny", 1).unwrap();
    let mut recording = Recording::brief();
    rig.rest(Nanos::from_secs(3_600), &mut recording).unwrap();
    assert_eq!(recording.values("power_w").len(), 1_000 + 260);
    let at: Vec<_> = recording.readings.iter().filter(|r| r.quantity == "power_w").collect();
    assert_eq!(at.last().unwrap().at, Nanos::from_secs(3_600));
}

#[test]
fn a_second_throttle_step_follows_where_one_does_not_cool_the_drive() {
    let spec = "mlc-client?capacity=64GB&thermal.c_j_per_c=5&thermal.throttle_c=70&\
                thermal.resume_c=60&thermal.r_c_per_w=15&thermal.factor=0.8";
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let load = workload(stream(Access::Sequential, 131_072, 0, 8, rig.drive().capacity));
    let mut recording = Recording::default();
    rig.run(&load, &seconds(300), &mut recording).unwrap();
    let hottest = recording.values("temperature_c").into_iter().fold(0.0, f64::max);
    assert!((70.0..73.0).contains(&hottest), "{hottest}");
    let slowest = recording.intervals[..300].iter().map(|i| i.ios).min().unwrap();
    assert!((slowest as f64) < 0.7 * recording.intervals[1].ios as f64, "two steps at least");
}

#[test]
fn a_light_stage_of_throttling_leaves_its_share_and_precedes_the_steps() {
    // At full speed the drive would reach the steps; at 70 % it stays below them.
    let spec = "mlc-client?capacity=64GB&state=filled&thermal.c_j_per_c=2&thermal.r_c_per_w=9\
                &thermal.throttle_c=THROTTLE&thermal.resume_c=RESUME&thermal.factor=0.4\
                &effects.light_throttle_c=60&effects.light_throttle_factor=0.7";
    let run = |throttle: u32| {
        let spec = spec.replace("THROTTLE", &throttle.to_string());
        let spec = spec.replace("RESUME", &(throttle - 4).to_string());
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        let load = workload(stream(Access::Sequential, 131_072, 100, 8, rig.drive().capacity));
        let mut recording = Recording::default();
        rig.run(&load, &seconds(200), &mut recording).unwrap();
        let ios: Vec<f64> = recording.intervals[..200].iter().map(|i| i.ios as f64).collect();
        let shares: Vec<f64> = ios.iter().map(|n| n / ios[0]).collect();
        (recording.values("temperature_c"), recording.values("throttled"), shares)
    };
    let (body, throttled, shares) = run(90);
    let first = body.iter().position(|c| *c >= 60.0).unwrap();
    assert_eq!(throttled.iter().position(|value| *value > 0.0), Some(first));
    assert!((shares[first + 1] - 0.7).abs() < 0.01, "{}", shares[first + 1]);
    // Full speed or 70 % of it, and full speed again where the drive is four kelvins cooler.
    assert!(shares.iter().all(|share| (share - 1.0).abs() < 0.01 || (share - 0.7).abs() < 0.01));
    let back = (first..199).find(|at| throttled[*at] == 0.0);
    assert!(back.is_none_or(|at| body[at] <= 56.0), "{body:?}");
    // Where 70 % is still too hot, a step of 40 % follows after the light stage.
    let (_, _, shares) = run(62);
    let slowest = shares.iter().copied().fold(1.0, f64::min);
    assert!((slowest - 0.7 * 0.4).abs() < 0.01, "{slowest}");
}

#[test]
fn mlc_client_throttles_after_about_the_published_time() {
    let mut rig = VirtualRig::open("mlc-client?capacity=64GB", 1).unwrap();
    let load = workload(stream(Access::Sequential, 131_072, 0, 8, rig.drive().capacity));
    let mut recording = Recording::brief();
    rig.run(&load, &seconds(250), &mut recording).unwrap();
    let throttled = recording.values("throttled");
    let first = throttled.iter().position(|value| *value > 0.0).unwrap();
    // Published: about 80 C after 150 s.
    assert!((120..180).contains(&first), "{first}");
}

/// Loads that saturate a drive: access, block size and share of reads.
const SATURATING: [(Access, u64, u8); 5] = [
    (Access::Sequential, 131_072, 100),
    (Access::Sequential, 131_072, 0),
    (Access::Random, 4_096, 100),
    (Access::Random, 4_096, 0),
    (Access::Random, 16_384, 50),
];

/// Returns the mean power and the bytes per second of the last five of eight seconds, and the highest
/// power of one second, for each saturating load in power state `number`.
fn in_state(profile: &str, number: u8) -> Vec<(f64, f64, f64)> {
    let run = |(access, block, read_percent): (Access, u64, u8)| {
        // A larger drive has more dies, and a smaller one keeps them.
        let nominal = VirtualRig::open(profile, 1).unwrap().profile().drive.capacity_gb;
        let gb = nominal.min(32.0);
        // Writes go to native cells: the energy of a byte is constant.
        let spec = format!("{profile}?capacity={gb}GB&state=steady&thermal.r_c_per_w=0.1");
        let spec = format!("{spec}&slc.fixed_gb=0&slc.dynamic_gb=0&gc.idle_superblocks=0");
        let mut rig = VirtualRig::open(&spec, 1).unwrap();
        let mut recording = Recording::default();
        rig.prepare(&Preparation::Power(PowerSaving::State(number)), &mut recording).unwrap();
        assert!(recording.findings.is_empty(), "{profile} has state {number}");
        let load = workload(stream(access, block, read_percent, 32, rig.drive().capacity));
        rig.run(&load, &seconds(8), &mut recording).unwrap();
        let watts = recording.values("power_w");
        let bytes: u64 = recording
            .intervals
            .iter()
            .filter(|i| (3..8).contains(&i.second))
            .map(|i| i.bytes)
            .sum();
        let highest = watts[..8].iter().copied().fold(0.0, f64::max);
        (watts[3..8].iter().sum::<f64>() / 5.0, bytes as f64 / 5.0, highest)
    };
    SATURATING.into_iter().map(run).collect()
}

#[test]
fn an_operational_power_state_limits_the_drive_to_its_power() {
    let mut limited = 0;
    // All profiles follow the same arithmetic: every third one in the first tier.
    for listed in profiles().into_iter().step_by(repetitions(3, 1, 1)) {
        let power = VirtualRig::open(listed.name, 1).unwrap().profile().power.clone();
        let full = in_state(listed.name, 0);
        for (load, (_, _, highest)) in full.iter().enumerate() {
            let most = if power.max_w > 0.0 { power.max_w } else { f64::MAX };
            assert!(*highest <= most, "{} load {load}: {highest} W", listed.name);
        }
        for (number, state) in power.limited_states.iter().enumerate() {
            let loads = in_state(listed.name, number as u8 + 1);
            for (load, ((watts, rate, highest), (full_w, full_rate, _))) in
                loads.into_iter().zip(&full).enumerate()
            {
                let name = format!("{} PS{} load {load}", listed.name, number + 1);
                // What the drive would take for its work at full speed.
                let work_w = full_w - power.idle_w;
                // The energy of a request counts when it is submitted, though it waits.
                let queued_j = 32.0 * SATURATING[load].1 as f64 * work_w / full_rate;
                let most = 1.01 * state.max_w + queued_j;
                assert!(highest < most, "{name}: {highest} W of {most}");
                let share = ((state.max_w - state.idle_w) / work_w).min(1.0);
                limited += usize::from(share < 1.0);
                let off = rate / (full_rate * share) - 1.0;
                assert!(off.abs() < 0.03, "{name}: {off:.4} off {share:.3} of the full rate");
                let expected = state.idle_w + work_w * share;
                assert!((watts / expected - 1.0).abs() < 0.02, "{name}: {watts} W, {expected}");
            }
        }
    }
    assert!(limited >= repetitions(6, 20, 20), "{limited} loads were limited");
}

#[test]
fn a_limited_drive_works_in_the_background_within_its_power() {
    let mut rig = VirtualRig::open("tlc-client?capacity=64GB", 1).unwrap();
    let load = workload(stream(Access::Sequential, 131_072, 0, 8, rig.drive().capacity));
    rig.run(&load, &seconds(3), &mut Recording::brief()).unwrap();
    let mut recording = Recording::brief();
    rig.prepare(&Preparation::Power(PowerSaving::State(2)), &mut recording).unwrap();
    rig.rest(Nanos::from_secs(5), &mut recording).unwrap();
    let state = rig.profile().power.limited_states[1].clone();
    let watts = recording.values("power_w");
    assert!(watts[1..].iter().all(|w| (w / state.max_w - 1.0).abs() < 0.02), "{watts:?}");
}
