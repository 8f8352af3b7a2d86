//! X-rays of drives that are hot, that state what they know of it, and of writes that are throttled while reads are not.

use super::gate;
use super::second_model::{Figures, SecondRig};
use ssdgauge_sim::VirtualRig;
use ssdgauge_xray::{Answer, Likeness, Structure, compare};

/// Looks for `only` in the drive of `target`, after reads for `heated_s` seconds.
fn look_after_reads(target: &str, heated_s: u64, only: &[Structure]) -> Vec<Answer> {
    let mut rig = VirtualRig::open(target, 1).expect("the target is a virtual drive");
    if heated_s > 0 {
        gate::heat(&mut rig, heated_s);
    }
    gate::look(rig, 1, only, false)
}

#[test]
fn a_drive_that_is_hot_when_the_x_ray_begins_gives_the_figures_of_a_cold_one_or_none() {
    let only = [Structure::Command, Structure::PageRead, Structure::NativeRate];
    // It resumes at 70 degrees, which it reaches minutes after the load.
    let target = "tlc-client?capacity=16GB&state=filled&thermal.r_c_per_w=14&thermal.c_j_per_c=80\
             &thermal.throttle_c=75&thermal.resume_c=70";
    let [cold, hot] = [0, 900].map(|heated_s| look_after_reads(target, heated_s, &only));
    for (structure, truth) in [(Structure::Link, 3_400.0), (Structure::Command, 2.6)] {
        for answers in [&cold, &hot] {
            let answer = answers.iter().find(|one| one.structure == structure).unwrap();
            let found = answer.outcome.as_ref().unwrap();
            assert!(found.contains(truth), "{structure:?}: {found:?}");
            assert!(answer.celsius.is_some_and(|[_, high]| high < 70.0), "{answer:?}");
        }
    }
    let different: Vec<_> = compare(&cold, &hot)
        .into_iter()
        .filter(|one| one.likeness == Likeness::Different)
        .collect();
    assert_eq!(different, []);
    // It never cools: nothing that a throttled controller changes is answered.
    let target = "tlc-client?capacity=16GB&thermal.ambient_c=65";
    for only in [&only[..], &[Structure::Command, Structure::Throttle, Structure::PageRead]] {
        for answer in look_after_reads(target, 0, only) {
            let truth = match answer.structure {
                Structure::Link => 3_400.0,
                Structure::Command => 2.6,
                Structure::PageRead => 40.0,
                Structure::Throttle => 79.0,
                _ => continue,
            };
            let is_right = answer.outcome.as_ref().is_ok_and(|value| value.contains(truth));
            assert!(answer.outcome.is_err() || is_right, "{answer:?}");
        }
    }
}

#[test]
fn a_drive_that_counts_its_throttling_is_not_its_own_baseline() {
    let only = [Structure::Link, Structure::Command];
    // At rest it is at 64 degrees, and throttled from 62 on; no rule of temperature says so, and it never recovers.
    let hot = "tlc-client?capacity=16GB&thermal.ambient_c=60&thermal.throttle_c=62\
               &thermal.resume_c=58&effects.reports_heat=true";
    for answer in look_after_reads(hot, 60, &only) {
        assert!(answer.outcome.is_err(), "{answer:?}");
    }
    // Throttled when the X-ray begins, it recovers in the rests before the ceilings.
    let recovers = "tlc-client?capacity=16GB&state=filled&thermal.r_c_per_w=14&thermal.c_j_per_c=80\
                    &thermal.throttle_c=75&thermal.resume_c=70&effects.reports_heat=true";
    let found = look_after_reads(recovers, 900, &only);
    for (structure, truth) in [(Structure::Link, 3_400.0), (Structure::Command, 2.6)] {
        let answer = found.iter().find(|answer| answer.structure == structure).unwrap();
        assert!(answer.outcome.as_ref().is_ok_and(|value| value.contains(truth)), "{answer:?}");
    }
    // The second model: a controller of half the speed from the first second on.
    let mut figures = Figures::draw(0);
    figures.throttling.period_ns = None;
    (figures.throttling.upper_c, figures.throttling.lower_c) = (50.0, 45.0);
    (figures.throttling.factor, figures.air_c) = (0.5, 46.0);
    let true_mb_s = figures.link_rate * 1e3;
    for reports_heat in [false, true] {
        let rig = SecondRig::new(Figures { reports_heat, ..figures.clone() }, 1);
        let link = gate::look(rig, 1, &only, true).remove(0).outcome;
        match reports_heat {
            true => assert!(link.is_err(), "{link:?}"),
            false => assert!(link.is_ok_and(|link| link.high < 0.6 * true_mb_s), "nothing else"),
        }
    }
    let without = hot.replace("&effects.reports_heat=true", "");
    let link = look_after_reads(&without, 60, &only).remove(0);
    assert!(link.outcome.is_ok_and(|value| value.value < 3_000.0), "nothing else shows it");
}

#[test]
fn writes_that_are_throttled_while_reads_are_not_show_no_cache() {
    let only = [Structure::Cache, Structure::NativeRate, Structure::Folding];
    let outcome = |answers: &[Answer]| {
        let cache = answers.iter().find(|answer| answer.structure == Structure::Cache);
        cache.expect("it was asked for").outcome.clone()
    };
    // A drive without a cache, whose writes are at 0.4 of their rate after a tenth of it until they have cooled.
    let mut figures = Figures::draw(1);
    figures.throttling.upper_c = 900.0;
    (figures.cache_blocks, figures.fixed_blocks, figures.link_rate) = (0, 0, 6.8);
    figures.is_half_duplex = false;
    let (capacity, native) = (figures.capacity as f64, figures.native() * 1e9);
    figures.write_heat = Some((0.05 * capacity, 0.5 * native, 0.4));
    for (has_sensor, air_c) in [(false, 30.0), (true, 55.0)] {
        let figures = Figures { has_sensor, air_c, ..figures.clone() };
        let rig = SecondRig::new(figures, 1);
        let answers = gate::look(rig, 1, &only, true);
        let reason = outcome(&answers).unwrap_err().0;
        assert!(reason.contains("fast again after a light load"), "{reason}");
        for answer in answers.iter().filter(|answer| only.contains(&answer.structure)) {
            assert!(answer.outcome.is_err(), "{answer:?}");
        }
    }
    // A cache without a sensor, and one of a warm drive.
    let shows = |figures: &Figures| {
        let page = (figures.planes * figures.page) as f64;
        let ns = page / figures.channel_rate + figures.slc_program_ns as f64;
        let in_cache = (figures.dies as f64 * page / ns).min(figures.link_rate);
        let share = figures.cache().map_or(0.0, |bytes| bytes as f64 / figures.capacity as f64);
        (0.05..0.35).contains(&share) && in_cache > 2.0 * figures.native() && !figures.is_through
    };
    let mut found = 0;
    for mut figures in (0..200).map(Figures::draw).filter(shows).take(6) {
        (figures.has_sensor, figures.throttling.upper_c) = (false, 900.0);
        let truth = figures.cache().unwrap() as f64;
        if let Ok(cache) = outcome(&gate::look(SecondRig::new(figures, 1), 1, &only[..1], true)) {
            assert!(cache.contains(truth), "{cache:?} {truth}");
            found += 1;
        }
    }
    assert!(found >= 2, "{found}");
    let warm = "tlc-client?capacity=64GB&thermal.ambient_c=45&thermal.throttle_c=120";
    let found = look_after_reads(warm, 0, &only[..1]);
    let cold = look_after_reads("tlc-client?capacity=64GB", 0, &only[..1]);
    let [found, cold] = [found, cold].map(|answers| outcome(&answers).unwrap());
    assert!(found.contains(cold.value) && cold.contains(found.value), "{found:?} {cold:?}");
}
