//! The bands of a quick run by the cohort of the program and by measured drives.

use crate::support::{Pace, Recipe, quick, run};
use ssdgauge_analysis::{Cohort, PageOptions, Run};
use ssdgauge_export::report_json;
use ssdgauge_page::page;

/// Returns a quick run of a drive on PCIe 3.0, at `percent` of the speed of a common drive.
fn drive(id: &str, percent: u64, details: &[(&str, &str)]) -> Run {
    let pace = move |_: &ssdgauge_core::Stream, _: u32| Pace { iops: 100 * percent, lat_us: 100.0 };
    let mut recipe = Recipe::new(id, quick(6), &format!("Disk {id}"));
    recipe.pace = &pace;
    recipe.drive.serial = Some(id.to_owned());
    for (key, value) in details {
        recipe.drive.details.insert((*key).into(), (*value).into());
    }
    run(&recipe)
}

fn bands_json(run: &Run, cohort: &Cohort) -> serde_json::Value {
    let json = report_json(std::slice::from_ref(run), Some(cohort), &[]);
    json["runs"][0]["quick_bands"].clone()
}

const NVME: [(&str, &str); 3] =
    [("transport", "pcie"), ("link_speed", "8.0 GT/s PCIe"), ("write_cache", "write back")];

#[test]
fn a_drive_of_unknown_class_gets_no_position() {
    let unknown = [drive("a", 100, &NVME[..2])];
    let page = page(&unknown, &PageOptions::default());
    assert!(page.contains(
        "Whether it is as fast as its class is unknown: the class of the drive is not known"
    ));
    assert!(!page.contains("of its class") && !page.contains("class=\"band\""));
    assert!(bands_json(&unknown[0], &Cohort::shipped())["bands"].is_null());
}

#[test]
fn measured_drives_replace_the_models_and_their_number_is_named() {
    let mut runs: Vec<Run> = (0..3).map(|n| drive(&format!("d{n}"), 90 + 10 * n, &NVME)).collect();
    // A second run of one drive.
    runs.push(Run {
        head: ssdgauge_runfile::Head { id: "again".into(), ..runs[0].head.clone() },
        ..runs[0].clone()
    });
    let cohort = Cohort::from_runs(&runs).unwrap();
    let options = PageOptions { cohort: Some(cohort.clone()), ..PageOptions::default() };
    for (percent, position) in [(100, "within"), (50, "below"), (200, "above")] {
        let one = [drive("x", percent, &NVME)];
        let page = page(&one, &options);
        assert!(page.contains(&format!("{position} the band of its class")), "{position}");
        assert!(page.contains("4 runs of 3 drives") && !page.contains("MODEL band"));
        let json = bands_json(&one[0], &cohort);
        let bands = json["bands"].as_array().unwrap();
        assert_eq!((bands.len(), &json["model"]), (13, &false.into()));
        assert!(bands.iter().all(|band| band["position"] == position), "{json}");
    }
    // A run is not compared with itself: without it, two drives are left.
    let own = bands_json(&runs[1], &cohort);
    assert!(own["reason"].as_str().unwrap().contains("has 2 drives"), "{own}");
}
