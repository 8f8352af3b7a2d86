//! `report` with an X-ray among its run files.

use crate::support::{Bench, text, unfolded};

const DRIVE: &str = "sim:tiny";

#[test]
fn an_x_ray_is_drawn_in_the_page_of_its_drive_only() {
    let bench = Bench::new();
    let quick = ["quick", DRIVE, "--shorten", "200", "--out", "q.ssdg"];
    assert_eq!(bench.call(&quick).status.code(), Some(0));
    for (drive, file) in [(DRIVE, "own.ssdg"), ("sim:tlc-client?capacity=8GB", "other.ssdg")] {
        let xray = bench.call(&["xray", drive, "--only=command", "--out", file]);
        assert_eq!(xray.status.code(), Some(0), "{}", text(&xray.stderr));
    }
    let page = |files: &[&str]| {
        let output = bench.call(&[&["report"], files, &["-o", "page.html"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        (std::fs::read_to_string(bench.path("page.html")).unwrap(), unfolded(&text(&output.stderr)))
    };
    let inside = "id=\"inside\"";
    assert!(!page(&["q.ssdg"]).0.contains(inside));
    let (with, messages) = page(&["own.ssdg", "q.ssdg"]);
    assert!(with.contains(inside) && with.contains("Command time"), "the cross-section");
    assert!(!messages.contains("note:"), "{messages}");
    // One of another drive is left out, and named.
    let (with, messages) = page(&["q.ssdg", "other.ssdg"]);
    assert!(!with.contains(inside) && !with.contains("8GB"), "{messages}");
    assert!(
        messages.contains("other.ssdg is an X-ray of a drive without another run"),
        "{messages}"
    );
    // Its numbers are in its own JSON, and it stays a run of the JSON of both.
    let json = bench.print(&["report", "q.ssdg", "own.ssdg", "--json"]);
    assert!(json.contains("\"xray\""));
}
