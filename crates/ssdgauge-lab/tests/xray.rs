//! X-rays of random virtual drives: a small part of the blind gate, and the rules of the command.

mod gate;
mod heat;
mod noise;
mod prior;
mod programs;
mod recorded;
mod second_gate;
mod second_model;
mod second_model_gates;
mod steady_gate;

use gate::judge;
use second_model::{Figures, SecondRig};
use ssdgauge_core::{Action, Bytes, Nanos, Rig};
use ssdgauge_lab::{
    RecordedXray, XrayOptions, XrayWatcher, assumed_rates, estimate, xray, xray_plan,
};
use ssdgauge_sim::VirtualRig;
use ssdgauge_xray::{Answer, Structure, Value};

/// Seeds of small random drives whose steady state shows both of its structures, and whether they keep hot data
/// apart; tuning seeds.
const STEADY_SEEDS: [(u64, f64); 2] = [(7_410_013, 1.0), (7_410_018, 0.0)];

/// Stops after so many questions.
struct Patient(u32);

impl XrayWatcher for Patient {
    fn stop(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 == 0
    }
    fn doing(&mut self, _what: &str, _written: Bytes) {}
}

fn options(gentle: bool, only: &[Structure]) -> XrayOptions {
    XrayOptions { gentle, steady: true, only: only.to_vec(), seed: 1 }
}

fn value(answers: &[Answer], structure: Structure) -> Option<f64> {
    let answer = answers.iter().find(|answer| answer.structure == structure)?;
    answer.outcome.as_ref().ok().map(|value| value.value)
}

#[test]
fn no_answer_about_a_few_random_drives_with_noise_is_wrong() {
    let only = [Structure::Command, Structure::PageRead, Structure::Suspend, Structure::Chunk];
    let (mut answered, mut wrong) = (0, Vec::new());
    for seed in 9_000..9_006 {
        let (target, judged) = judge(seed, &only, true);
        for one in judged {
            answered += u32::from(one.outcome.is_ok());
            if !one.is_right() {
                wrong.push(format!(
                    "{seed} {:?} {:?} {:?} sim:{target}",
                    one.truth.structure, one.outcome, one.truth.value
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Of 36 questions.
    assert!(answered >= 24, "{answered}");
}

#[test]
fn no_answer_about_a_few_drives_of_the_second_model_with_noise_is_wrong() {
    let only = [Structure::Command, Structure::Units, Structure::Suspend];
    let (mut identifiable, mut answered, mut wrong) = (0, 0, Vec::new());
    for seed in [0, 6, 7] {
        let (figures, judged) = second_gate::judge(seed, &only, true);
        for one in judged {
            let is_identifiable = one.truth.identifiable == Some(true);
            identifiable += u32::from(is_identifiable);
            answered += u32::from(is_identifiable && one.outcome.is_ok());
            if !one.is_right() {
                let (structure, truth) = (one.truth.structure, one.truth.value);
                wrong.push(format!("{seed} {structure:?} {:?} {truth:?} {figures}", one.outcome));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(2 * answered >= identifiable, "{answered} of {identifiable}");
}

#[test]
fn a_number_of_units_is_never_exact_and_wrong_where_a_die_holds_parity() {
    let suits = |figures: &Figures| figures.dies >= 8 && figures.dies.is_multiple_of(4);
    let mut widened = 0;
    for mut figures in (0..100).map(Figures::draw).filter(suits).take(6) {
        figures.has_parity = true;
        let truth = figures.units() as f64;
        let answers = gate::look(SecondRig::new(figures, 1), 1, &[Structure::Units], true);
        let units = answers.into_iter().find(|answer| answer.structure == Structure::Units);
        if let Ok(found) = units.unwrap().outcome {
            assert!(found.contains(truth), "{found:?} {truth}");
            widened += u32::from(found.low < truth);
        }
    }
    assert!(widened >= 2, "{widened}");
}

#[test]
#[ignore = "second tier"]
fn no_answer_about_random_drives_in_the_steady_state_with_noise_is_wrong() {
    for (seed, separates) in STEADY_SEEDS {
        let (target, judged) = steady_gate::judge(seed, &[], true);
        for one in &judged {
            assert!(one.outcome.is_ok() && one.is_right(), "{:?} sim:{target}", one.outcome);
        }
        assert_eq!(judged[1].outcome, Ok(Value::exact(separates)), "sim:{target}");
    }
}

/// Returns the outcome for `structure` of the drive of `seed`, with noise.
fn outcome(seed: u64, structure: Structure) -> Result<f64, String> {
    let (_, judged) = judge(seed, &[structure], true);
    let one = judged.into_iter().find(|one| one.truth.structure == structure);
    let one = one.expect("each structure that is asked for is judged");
    one.outcome.map(|value| value.value).map_err(|reason| reason.0)
}

#[test]
fn mapping_units_of_all_sizes_are_found_under_noise_and_a_drive_that_its_link_limits_is_refused() {
    let of_seeds = [(100_034, 4), (100_008, 8), (100_011, 16), (100_013, 32), (100_007, 64)];
    for (seed, kib) in of_seeds {
        let found = outcome(seed, Structure::MappingUnit);
        assert_eq!(found, Ok(f64::from(kib << 10)), "{seed}");
    }
    // The link hides the limit of the flash for writes of the unit, but not for half of it.
    let reason = outcome(200_057, Structure::MappingUnit).unwrap_err();
    assert!(reason.contains("neither as long nor twice"), "{reason}");
}

#[test]
fn volumes_and_the_units_of_all_of_them_are_found_under_noise() {
    let only = [Structure::Volumes, Structure::Units];
    // Two of them, told by 64 KiB, and four, told by 8 and 16 MiB, so that the pattern of the units lies in one volume.
    for (seed, volumes) in [(600_015, 2.0), (600_029, 4.0), (600_016, 1.0)] {
        let (target, judged) = gate::judge_with_volumes(seed, &only, true);
        let of = |structure| judged.iter().find(|one| one.truth.structure == structure).unwrap();
        let value = of(Structure::Volumes).outcome.clone().map(|value| value.value);
        assert_eq!(value, Ok(volumes), "{target}");
        let units = of(Structure::Units);
        assert!(units.outcome.is_ok() && units.is_right(), "{:?} {target}", units.outcome);
    }
    // The link is slower than half of the flash.
    let (_, judged) = gate::judge_with_volumes(600_076, &[Structure::Volumes], true);
    let one = judged.iter().find(|one| one.truth.structure == Structure::Volumes).unwrap();
    assert!(one.outcome.as_ref().unwrap_err().0.contains("may be their limit"));
}

#[test]
#[ignore = "second tier"]
fn the_reach_of_a_map_is_found_under_noise_in_both_models() {
    // Parts of 4 and of 64 MiB, and of 1 or 2 MiB in the second model.
    let first = [400_000, 400_003, 400_022]
        .map(|seed| gate::judge_with_map(seed, &[Structure::MapReach], true));
    let second =
        [320_020, 320_025].map(|seed| second_gate::judge(seed, &[Structure::MapReach], true));
    for (target, judged) in first.into_iter().chain(second) {
        let one =
            judged.into_iter().find(|one| one.truth.structure == Structure::MapReach).unwrap();
        assert!(one.truth.value.is_some(), "{target}");
        assert!(
            one.outcome.is_ok() && one.is_right(),
            "{:?} {:?} {target}",
            one.outcome,
            one.truth.value
        );
    }
    // A map that is available as a whole.
    let (target, judged) = gate::judge_with_map(400_001, &[Structure::MapReach], true);
    let one = judged.iter().find(|one| one.truth.structure == Structure::MapReach).unwrap();
    let reason = one.outcome.as_ref().unwrap_err();
    assert!(reason.0.contains("is at hand"), "{reason:?} {target}");
}

#[test]
#[ignore = "second tier"]
fn compression_and_deduplication_are_found_under_noise() {
    let only = [Structure::Compression, Structure::Deduplication];
    let mut seen = std::collections::BTreeSet::new();
    for seed in 650_000..650_012 {
        let (target, judged) = gate::judge_with_contents(seed, &only, true);
        for one in judged.iter().filter(|one| only.contains(&one.truth.structure)) {
            assert!(one.is_right(), "{seed} {:?} {:?} {target}", one.truth.structure, one.outcome);
            if let Ok(value) = &one.outcome {
                seen.insert((one.truth.structure, value.value == 1.0));
            }
        }
    }
    assert_eq!(seen.len(), 4, "both answers to both: {seen:?}");
}

#[test]
fn pages_of_one_cell_and_repeated_reads_hide_neither_units_nor_their_times() {
    let only = [Structure::Units, Structure::Chunk, Structure::PageRead, Structure::Folding];
    for (bits, ratio, more) in [
        (2, 1.4f64, ""),
        (3, 1.4, ""),
        (3, 1.4, "&effects.read_retry_share=0.1&effects.read_retry_us=80"),
        (4, 1.25, ""),
    ] {
        let effects = format!("effects.page_type_ratio={ratio}{more}");
        let slowest = ratio.powi(bits - 1);
        // 40 us are the mean of the pages of a cell.
        let mean = (0..bits).map(|bit| ratio.powi(bit)).sum::<f64>() / f64::from(bits);
        let target = format!(
            "tlc-client?capacity=16GB&slc.fixed_gb=0&slc.dynamic_gb=0&nand.bits={bits}\
             &nand.program_kib={}&effects.read_spread=0&{effects}",
            32 * bits
        );
        let rig = VirtualRig::open(&target, 1).expect("the target is a virtual drive");
        let answers = gate::look(rig, 1, &only, true);
        assert_eq!(value(&answers, Structure::Units), Some(16.0), "{target} {answers:?}");
        assert_eq!(value(&answers, Structure::Chunk), Some(16_384.0), "{target}");
        let found = answers.iter().find(|answer| answer.structure == Structure::PageRead);
        let found = found.expect("it was asked for").outcome.clone().expect("it is found");
        for us in [40.0 / mean, 40.0, 40.0 * slowest / mean] {
            assert!(found.contains(us), "{us} {target} {found:?}");
        }
        assert!(found.high / found.low < 1.35 * slowest, "{target} {found:?}");
    }
}

#[test]
fn a_cache_that_is_emptied_under_load_as_well_shows_the_rate_of_an_idle_drive() {
    let mut found = Vec::new();
    for (seed, under_load) in [(1, 0), (2, 0), (3, 100), (4, 200), (5, 300), (6, 300), (7, 400)] {
        let target = format!(
            "tlc-client?capacity=64GB&slc.fold_mb_s=400&slc.fold_under_load_mb_s={under_load}"
        );
        let rig = VirtualRig::open(&target, seed).expect("the target is a virtual drive");
        let answers = gate::look(rig, seed, &[Structure::Folding], true);
        let answer = answers.into_iter().find(|answer| answer.structure == Structure::Folding);
        if let Ok(value) = answer.expect("it was asked for").outcome {
            assert!(value.contains(400.0), "{target} {seed}: {value:?}");
            found.push((under_load, value));
        }
    }
    assert!(found.len() >= 4 && found.iter().any(|one| one.0 >= 200), "{found:?}");
    let width =
        |under_load: u32| found.iter().find(|one| one.0 == under_load).map(|one| one.1.width());
    assert!(width(0).is_some_and(|width| width < 0.35), "{found:?}");
}

#[test]
fn a_drive_that_throttles_and_recovers_within_the_fill_shows_no_cache() {
    // It has none; the checks after the fill alone found it at full speed again.
    let reason = outcome(500_134, Structure::Cache).unwrap_err();
    assert!(reason.contains("throttled") || reason.contains("does not stay"), "{reason}");
}

/// Returns the reason why `structure` of `target` is not identified, with noise.
fn refusal(target: &str, structure: Structure) -> String {
    let rig = VirtualRig::open(target, 1).expect("the target is a virtual drive");
    let answers = gate::look(rig, 1, &[structure], true);
    let answer = answers.into_iter().find(|answer| answer.structure == structure);
    answer.expect("what was asked for has an answer").outcome.expect_err("it is refused").0
}

#[test]
fn a_write_buffer_of_hundreds_of_mebibytes_is_not_a_fast_cache() {
    for (mib, t_prog_us) in [(192, 900), (256, 2_500), (600, 900)] {
        let target = format!(
            "tlc-client?capacity=16GB&slc.fixed_gb=0&slc.dynamic_gb=0&front.buffer_kib={}\
             &nand.t_prog_us={t_prog_us}",
            mib << 10
        );
        let reason = refusal(&target, Structure::Cache);
        assert!(reason.contains("a write buffer has drained"), "{target}: {reason}");
    }
}

#[test]
fn waits_for_commands_of_a_sata_drive_are_not_suspension() {
    for (suspends, found) in [(false, 0.0), (true, 1.0)] {
        let target = format!("sata-datacentre?capacity=16GB&nand.suspend={suspends}");
        let rig = VirtualRig::open(&target, 1).unwrap();
        let answers = gate::look(rig, 1, &[Structure::Suspend], true);
        assert_eq!(value(&answers, Structure::Suspend), Some(found), "{target}: {answers:?}");
    }
}

#[test]
fn pages_of_different_times_hide_no_suspension() {
    for profile in ["mlc-client", "tlc-client", "nvme-datacentre"] {
        let mut found = 0;
        for (suspends, ratio) in [(true, 1.25), (true, 1.4), (false, 1.25), (false, 1.4)] {
            let target = format!(
                "{profile}?capacity=16GB&nand.suspend={suspends}&effects.page_type_ratio={ratio}"
            );
            let rig = VirtualRig::open(&target, 1).expect("the target is a virtual drive");
            let answers = gate::look(rig, 1, &[Structure::Suspend], true);
            let value = value(&answers, Structure::Suspend);
            let truth = f64::from(u8::from(suspends));
            assert!(value.is_none_or(|value| value == truth), "{target}: {answers:?}");
            found += u32::from(value.is_some());
        }
        assert!(found >= 2, "{profile}: {found} of 4");
    }
}

#[test]
fn a_suspension_between_long_pulses_is_not_taken_for_none() {
    for pulse_us in [100, 200, 350] {
        let target = format!(
            "tlc-client?capacity=16GB&slc.fixed_gb=0&slc.dynamic_gb=0&effects.pulse_us={pulse_us}\
             &nand.t_prog_us=2000&effects.page_type_ratio=0&effects.read_spread=0"
        );
        let reason = refusal(&target, Structure::Suspend);
        assert!(reason.contains("suspended after it"), "{target}: {reason}");
    }
}

#[test]
fn a_cache_that_the_rate_hides_shows_where_the_drive_empties_it() {
    // The channels are slower than programs of three bits.
    let target = "tlc-client?capacity=8GB&nand.channels=2&nand.dies=8&nand.planes=1&nand.page_kib=32\
                  &nand.program_kib=96&nand.t_prog_us=500&nand.channel_mb_s=400&slc.t_prog_us=123\
                  &slc.fixed_gb=21&slc.dynamic_gb=24&slc.fold_mb_s=140&over_provisioning=29%\
                  &effects.media_counter_kib=512";
    let reason = refusal(target, Structure::EffectiveSpare);
    assert!(reason.contains("cache that does not show"), "{reason}");
    assert!(reason.contains("bytes for each byte of a fill"), "{reason}");
}

#[test]
fn the_end_of_a_cache_that_the_fill_does_not_show_is_not_a_write_cliff() {
    let reason = outcome(500_106, Structure::Spare).unwrap_err();
    assert!(reason.contains("less than where collection begins"), "{reason}");
}

#[test]
fn an_x_ray_writes_no_more_than_its_plan_and_the_same_drive_gives_the_same_card() {
    let target = "tlc-client?capacity=8GB&slc.fixed_gb=25&slc.dynamic_gb=0&front.buffer_kib=4096\
                  &effects.media_counter_kib=4";
    let cards = [1, 1].map(|seed| {
        let mut rig = VirtualRig::open(target, seed).unwrap();
        let wanted = options(false, &Structure::ALL);
        let plan = xray_plan(rig.drive(), &wanted).unwrap();
        let most: u64 = plan
            .steps()
            .filter_map(|step| step.2.action.writes_at_most())
            .map(|bytes| bytes.0)
            .sum();
        let examined = xray(&mut rig, &RecordedXray::none(wanted), &mut Patient(u32::MAX)).unwrap();
        assert!(
            examined.is_complete && examined.written.0 <= most,
            "{:?} {most}",
            examined.written
        );
        assert_eq!(examined.answers.len(), Structure::ALL.len());
        assert_eq!(value(&examined.answers, Structure::Units), Some(16.0));
        assert_eq!(value(&examined.answers, Structure::Overflow), Some(0.0));
        assert!(value(&examined.answers, Structure::EffectiveSpare).is_some());
        examined
    });
    assert_eq!(cards[0], cards[1]);
}

#[test]
fn a_drive_that_reports_no_media_writes_is_refused_and_not_written_for_them() {
    let mut rig = VirtualRig::open("tlc-client?capacity=2GB", 1).unwrap();
    let only = [Structure::EffectiveSpare, Structure::Separation];
    let written = |only: &[Structure], rig: &mut VirtualRig| {
        let wanted = options(false, only);
        let examined = xray(rig, &RecordedXray::none(wanted), &mut Patient(u32::MAX)).unwrap();
        (examined.written, examined.answers)
    };
    let (cache, _) = written(&[Structure::Cache], &mut rig.clone());
    let (all, answers) = written(&only, &mut rig);
    assert_eq!(all, cache, "the fill that looks for a cache, and nothing else");
    for structure in only {
        let answer = answers.iter().find(|answer| answer.structure == structure).unwrap();
        let reason = answer.outcome.as_ref().unwrap_err();
        assert!(reason.0.contains("reports no media writes"), "{reason:?}");
    }
}

#[test]
fn a_gentle_x_ray_writes_nothing_and_needs_no_admission() {
    let mut rig = VirtualRig::open("tlc-client?capacity=16GB&state=filled", 1).unwrap();
    let wanted = options(true, &[]);
    assert!(!xray_plan(rig.drive(), &wanted).unwrap().is_destructive());
    let wanted = RecordedXray::none(wanted);
    let examined = xray(&mut rig, &wanted, &mut Patient(u32::MAX)).unwrap();
    assert_eq!(examined.written, Bytes(0));
    assert_eq!(rig.ground_truth().host_bytes, 0);
    assert_eq!(value(&examined.answers, Structure::Units), Some(16.0));
    assert_eq!(value(&examined.answers, Structure::Chunk), Some(16_384.0));
    assert_eq!(value(&examined.answers, Structure::Cache), None);
}

#[test]
fn the_card_of_a_drive_of_1_tb_takes_50_minutes_and_1_7_drive_writes_by_plan_at_most() {
    for profile in ["tlc-client?capacity=1TB", "nvme-datacentre?capacity=1TB"] {
        let rig = VirtualRig::open(profile, 1).unwrap();
        let drive = rig.drive();
        let usual = XrayOptions { steady: false, ..options(false, &[]) };
        let plan = xray_plan(drive, &usual).unwrap();
        let mut cost = estimate(&plan, drive.capacity, &assumed_rates(drive));
        // A rest for a level temperature ends after 20 s where the drive was not hot before.
        let level =
            plan.steps().find(|step| step.2.label.contains("until the temperature is level"));
        let Some(Action::Rest(most)) = level.map(|step| &step.2.action) else { panic!("{plan:?}") };
        cost.time.at_most = cost.time.at_most.saturating_sub(*most);
        assert!(cost.time.at_most <= Nanos::from_secs(50 * 60), "{profile}: {cost:?}");
        assert!(
            cost.written.at_most.0 as f64 <= 1.7 * drive.capacity.0 as f64,
            "{profile}: {cost:?}"
        );
    }
}

#[test]
fn reads_that_are_faster_than_their_link_are_not_a_ceiling() {
    let link = |keys: &str| {
        let target = format!("tlc-client?capacity=16GB&front.link_mb_s=6800{keys}");
        let rig = VirtualRig::open(&target, 1).expect("the target is a virtual drive");
        let answers = gate::look(rig, 1, &[Structure::Link, Structure::Command], true);
        answers
            .into_iter()
            .map(|answer| answer.outcome.map(|value| value.value))
            .collect::<Vec<_>>()
    };
    // Its description states PCIe 3.0 x4, which carries 3,938 MB/s.
    for refused in link("") {
        assert!(refused.as_ref().unwrap_err().0.contains("PCIe 3.0 x4"), "{refused:?}");
    }
    let found = link("&front.interface=PCIe 4.0 x4");
    assert!(found.iter().all(Result::is_ok), "{found:?}");
}

#[test]
fn a_stop_leaves_a_card_that_says_so() {
    let mut rig = VirtualRig::open("tlc-client?capacity=4GB", 1).unwrap();
    let examined =
        xray(&mut rig, &RecordedXray::none(options(false, &Structure::ALL)), &mut Patient(3))
            .unwrap();
    assert!(!examined.is_complete);
    assert_eq!(examined.answers.len(), Structure::ALL.len());
    assert!(examined.answers.iter().all(|answer| answer.outcome.is_err()));
}

#[test]
fn only_what_was_asked_for_and_what_it_needs_is_looked_for() {
    let wanted = options(false, &[Structure::Folding]).structures();
    let expected = [Structure::Link, Structure::Cache, Structure::Folding];
    assert_eq!(wanted.into_iter().collect::<Vec<_>>(), expected);
    let usual = options(false, &[]).structures();
    assert_eq!(usual.len(), Structure::ALL.len() - 1);
    assert!(!usual.contains(&Structure::Spare), "it writes more than all others together");
    let calm = XrayOptions { steady: false, ..options(false, &[]) }.structures();
    assert!(calm.iter().all(|one| !one.needs_steady_state()), "several drive writes are asked for");
}
