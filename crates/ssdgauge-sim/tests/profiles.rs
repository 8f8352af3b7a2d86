//! Targets: profiles, keys, inheritance, and refusals.
#![allow(clippy::unwrap_used)]

use ssdgauge_core::{Bytes, Rig};
use ssdgauge_sim::{MODEL_REVISION, ProfileError, VirtualRig, profiles};

fn refused(spec: &str) -> ProfileError {
    match VirtualRig::open(spec, 1) {
        Ok(_) => panic!("{spec} was not refused"),
        Err(error) => error,
    }
}

#[test]
fn an_unknown_profile_is_refused_with_the_list() {
    let text = refused("samsung").to_string();
    assert!(text.contains("'samsung'"), "{text}");
    assert!(profiles().iter().all(|listed| text.contains(listed.name)), "{text}");
}

#[test]
fn an_unknown_key_is_refused_with_the_list() {
    for key in ["speed", "slc.size", "nand", "power.states", "slc.fixed_gb.x"] {
        let error = refused(&format!("tiny?{key}=1"));
        assert!(matches!(error, ProfileError::UnknownKey { .. }), "{key}: {error}");
        let text = error.to_string();
        for known in ["capacity", "over_provisioning", "unused", "state", "seed", "slc.fixed_gb"] {
            assert!(text.contains(known), "{text}");
        }
    }
}

#[test]
fn a_value_that_cannot_be_read_is_refused_with_its_key() {
    for pair in [
        "capacity=big",
        "capacity=-5GB",
        "over_provisioning=x",
        "unused=-1",
        "state=old",
        "seed=-1",
        "nand.dies=2.5",
        "nand.t_r_us=fast",
        "nand.suspend=maybe",
        "slc.fixed_gb=inf",
        "slc.overflow=never",
        "capacity",
    ] {
        let error = refused(&format!("tiny?{pair}"));
        let key = pair.split('=').next().unwrap();
        let is_named = error.to_string().contains(key) || pair.starts_with("slc.overflow");
        assert!(is_named, "{pair}: {error}");
    }
}

#[test]
fn a_size_has_the_unit_of_its_key_or_its_own() {
    let alike = |a: &str, b: &str| {
        // The serial covers every figure of the drive.
        let serial = |spec: &str| {
            let rig = VirtualRig::open(&format!("tiny?{spec}"), 1).unwrap();
            rig.drive().serial.clone().unwrap()
        };
        assert_eq!(serial(a), serial(b), "{a} and {b}");
        assert_ne!(serial(a), serial("seed=1"), "{a}");
    };
    alike("fault.error_at=1GB", "fault.error_at=1000000000");
    alike("fault.error_bytes=64KiB", "fault.error_bytes=65536");
    alike("slc.fixed_gb=0.5", "slc.fixed_gb=500MB");
    alike("front.buffer_kib=2048", "front.buffer_kib=2MiB");
    for (pair, words) in [
        ("fault.error_at=far", "not a size such as 4096, 64KiB or 1GB"),
        ("front.buffer_kib=1500B", "in the unit of the key"),
        ("fault.stall_at_s=1GB", "not a number"),
        ("power.link_nj_per_kib=1GB", "not a number"),
        ("fault.error_reads=1", "not true or false"),
    ] {
        let error = refused(&format!("tiny?{pair}")).to_string();
        assert!(error.contains(words), "{pair}: {error}");
    }
}

#[test]
fn impossible_drives_are_refused_with_their_figures() {
    for query in [
        "capacity=0",
        "capacity=4096",
        "capacity=9999999TB",
        "over_provisioning=0",
        "over_provisioning=0.001",
        "unused=1",
        "gc.reserve_superblocks=200",
        "gc.reserve_superblocks=0",
        "nand.dies=0",
        "nand.bits=9",
        "nand.program_kib=3",
        "nand.page_kib=0",
        "nand.block_mib=0",
        "front.link_mb_s=0",
        "front.buffer_kib=4",
        "front.max_queue_depth=0",
        "thermal.factor=0",
        "thermal.resume_c=90",
        "slc.fixed_gb=-1",
        "power.max_w=1",
        "power.max_w=3",
        "effects.read_retry_share=0.9",
        "effects.read_streams=9",
        "effects.watermark_superblocks=4",
        "effects.watermark_superblocks=4&effects.watermark_pace=1",
        "effects.light_throttle_c=50",
        "effects.light_throttle_c=90&effects.light_throttle_factor=0.7",
        "nand.t_r_us=-5",
    ] {
        let error = refused(&format!("tiny?{query}"));
        assert!(matches!(error, ProfileError::Impossible(_)), "{query}: {error}");
    }
}

#[test]
fn limited_power_states_that_do_not_fall_or_leave_nothing_for_work_are_refused() {
    for states in ["{ max_w = 7, idle_w = 1 }", "{ max_w = 2, idle_w = 2 }"] {
        let text = format!("inherits = 'tiny'\n[power]\nlimited_states = [{states}]\n");
        let error = match VirtualRig::from_toml("mine", &text, "", 1) {
            Ok(_) => panic!("{states} was not refused"),
            Err(error) => error.to_string(),
        };
        assert!(error.contains("a power state of at most"), "{error}");
    }
}

#[test]
fn keys_of_the_target_change_the_drive() {
    let open = |spec: &str| VirtualRig::open(spec, 9).unwrap();
    let rig = open("tlc-client?capacity=100GB&over_provisioning=28%&unused=0.25&seed=7");
    assert_eq!(rig.drive().capacity, Bytes(75_000_000_000 / 4_096 * 4_096));
    assert_eq!(rig.drive().details["seed"], "7");
    let spare: f64 = rig.drive().details["over_provisioning"].parse().unwrap();
    assert!((spare - (1.28 / 0.75 - 1.0)).abs() < 0.001, "{spare}");
    assert_eq!(rig.drive().model.as_deref(), Some("MODEL tlc-client 100GB"));
    let rig = open("tiny?slc.fixed_gb=0.032&nand.suspend=false&gc.policy=fifo");
    assert_eq!(rig.profile().slc.fixed_gb, 0.032);
    assert!(!rig.profile().nand.suspend);
    let plain = open("tiny").drive().details["profile_digest"].clone();
    assert_ne!(rig.drive().details["profile_digest"], plain);
    assert_eq!(open("tiny").drive().details["seed"], "9");
    assert_eq!(open("tiny").drive().model_revision(), Some(MODEL_REVISION));
}

#[test]
fn a_larger_drive_has_more_dies_and_a_smaller_one_keeps_them() {
    let dies = |spec| VirtualRig::open(spec, 1).unwrap().drive().details["dies"].clone();
    assert_eq!(dies("tlc-client?capacity=1TB"), "32");
    assert_eq!(dies("tlc-client?capacity=16GB"), "16");
}

#[test]
fn a_profile_inherits_the_keys_that_it_leaves_out() {
    let text = "inherits = 'tlc-client'\n[drive]\nclass = 'mine'\n[nand]\nt_r_us = 77\n";
    let rig = VirtualRig::from_toml("mine.toml", text, "capacity=8GB", 1).unwrap();
    assert_eq!((rig.profile().nand.t_r_us, rig.profile().nand.bits), (77.0, 3));
    assert_eq!(rig.drive().model.as_deref(), Some("MODEL mine 8GB"));
    assert_eq!(rig.drive().target, "sim:mine.toml?capacity=8GB");
}

#[test]
fn a_text_that_is_not_a_profile_is_refused_with_the_reason() {
    for (text, word) in [
        ("[drive", "unclosed"),
        ("inherits = 3", "inherits"),
        ("inherits = 'unknown'", "unknown"),
        ("[drive]\nclass = 'x'", "missing"),
        ("inherits = 'tiny'\n[nand]\nlayers = 9", "layers"),
        ("inherits = 'tiny'\n[extra]\na = 1", "extra"),
        ("inherits = 'tiny'\n[gc]\npolicy = 'magic'", "magic"),
    ] {
        let error = match VirtualRig::from_toml("mine.toml", text, "", 1) {
            Ok(_) => panic!("{text} was not refused"),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(word), "{text}: {error}");
    }
}

#[test]
fn every_built_in_profile_marks_the_source_of_its_figures() {
    for listed in profiles() {
        let text = listed.text;
        let says = ["[S]", "[F]", "[C]", "All figures are chosen"];
        assert!(says.iter().any(|word| text.contains(word)), "{}", listed.name);
    }
}
