//! The notes of an editor and what else leaves a report: hostile notes end with line and remedy.

use crate::support::{Bench, text};

const SHORT: [&str; 5] = ["quick", "sim:tiny", "--shorten", "50", "--out"];

/// The head of a PNG of `side` pixels.
fn png(side: u32) -> Vec<u8> {
    let side = side.to_be_bytes();
    [&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..], &side, &side].concat()
}

#[test]
fn hostile_notes_are_refused_with_line_and_remedy_and_leave_no_page() {
    let bench = Bench::new();
    bench.print(&[&SHORT[..], &["a.ssdg"]].concat());
    std::fs::remove_file(bench.path("a.html")).unwrap();
    std::fs::create_dir(bench.path("in")).unwrap();
    std::fs::write(bench.path("secret.png"), png(1)).unwrap();
    std::fs::write(bench.path("in/page.png"), "<svg onload='alert(1)'/>").unwrap();
    std::fs::write(bench.path("in/huge.png"), png(60_000)).unwrap();
    std::fs::write(bench.path("in/long.png"), vec![0_u8; 9 << 20]).unwrap();
    std::os::unix::fs::symlink("../secret.png", bench.path("in/link.png")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", bench.path("in/zero.png")).unwrap();
    let cases = [
        ("../secret.png", "outside the folder"),
        ("link.png", "outside the folder"),
        ("zero.png", "outside the folder"),
        (".", "not a regular file"),
        ("missing.png", "No such file"),
        ("page.png", "neither PNG nor JPEG"),
        ("huge.png", "60000 × 60000 pixels"),
        ("long.png", "bytes"),
        ("https://example.org/a.png", "not a file in the folder of the notes"),
    ];
    for (path, expected) in cases {
        std::fs::write(bench.path("in/notes.md"), format!("words\n\n![x]({path})\n")).unwrap();
        let output = bench.call(&["report", "a.ssdg", "--notes", "in/notes.md"]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{path}: {stderr}");
        let has_place = stderr.contains("in/notes.md:3: ") && stderr.contains("hint: ");
        assert!(stderr.contains(expected) && has_place, "{path}: {stderr}");
    }
    assert!(!bench.path("a.html").exists());
    let output = bench.call(&["report", "a.ssdg", "--notes", "a.ssdg"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

#[test]
fn the_notes_in_the_help_make_a_page_once_they_name_a_drive() {
    let bench = Bench::new();
    bench.print(&[&SHORT[..], &["a.ssdg"]].concat());
    let help = bench.print(&["report", "--help"]);
    let notes = &help[help.find("+++\n").unwrap()..];
    std::fs::write(bench.path("notes.md"), notes).unwrap();
    let report = ["report", "a.ssdg", "--notes", "notes.md", "-o", "b.html"];
    let output = bench.call(&report);
    assert!(text(&output.stderr).contains("PART OF ITS NAME"), "{}", text(&output.stderr));
    std::fs::write(bench.path("notes.md"), notes.replace("PART OF ITS NAME", "tiny")).unwrap();
    bench.print(&report);
    let page = std::fs::read_to_string(bench.path("b.html")).unwrap();
    for words in ["A drive for a small office", "No heat spreader", "The last words of the page."] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn notes_fragment_and_image_are_written() {
    let bench = Bench::new();
    bench.print(&[&SHORT[..], &["a.ssdg"]].concat());
    std::fs::write(bench.path("photo.png"), png(1)).unwrap();
    std::fs::write(bench.path("notes.md"), "Hello.\n\n![x](photo.png)\n").unwrap();
    let report = ["report", "a.ssdg", "--notes", "notes.md", "-o", "b.html"];
    bench.print(&[&report[..], &["--share-image", "b.png"]].concat());
    let page = std::fs::read_to_string(bench.path("b.html")).unwrap();
    assert!(page.contains("Hello.") && page.contains("data:image/png;base64,"));
    let fragment = bench.print(&["report", "a.ssdg", "--embed", "#answer"]);
    assert!(fragment.starts_with("<div class=\"embedded\">") && fragment.contains("MODEL"));
    let output = bench.call(&["report", "a.ssdg", "--embed", "nothing"]);
    let stderr = text(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("hint: the parts are"), "{stderr}");
    // An image of ssdgauge is replaced, no other file is.
    bench.print(&["report", "a.ssdg", "--share-image", "b.png"]);
    let output = bench.call(&["report", "a.ssdg", "--share-image", "photo.png"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(std::fs::read(bench.path("photo.png")).unwrap(), png(1));
}

#[test]
fn labels_stand_with_the_name_and_runs_of_one_drive_are_compared_by_them() {
    let bench = Bench::new();
    let run = |label: &str, target: &str, file: &str| {
        let mut arguments = vec!["run", "quick", target, "--shorten", "50", "--out", file];
        arguments.extend(if label.is_empty() { vec![] } else { vec!["--label", label] });
        bench.print(&arguments);
    };
    run("bare", "sim:tiny", "a.ssdg");
    run("heatsink <b>", "sim:tiny", "b.ssdg");
    run("heatsink <b>", "sim:tlc-client", "c.ssdg");
    run("", "sim:tiny", "d.ssdg");
    // Cooling alone makes no other drive, whatever it does to its serial.
    run("fan", "sim:tiny?thermal.r_c_per_w=2&thermal.ambient_c=20", "e.ssdg");
    run("fan", "sim:tiny?thermal.r_c_per_w=2&nand.t_r_us=95", "f.ssdg");
    bench.print(&["report", "a.ssdg", "b.ssdg", "--compare-labels", "-o", "ab.html"]);
    let page = std::fs::read_to_string(bench.path("ab.html")).unwrap();
    assert!(page.contains("bare and heatsink &lt;b&gt; compared</h1>"), "{page}");
    assert!(page.contains("One SSD, two labels compared"));
    let (words, wrong) = ("No two labels differ by more than 3\u{a0}%", "all drives at");
    assert!(page.contains(words), "{page}");
    assert!(!page.contains("No two drives") && !page.contains(wrong), "{page}");
    assert!(page.contains("<span class=\"tx\" title=\"bare\">bare</span>"));
    bench.print(&["report", "a.ssdg", "e.ssdg", "--compare-labels", "-o", "ae.html"]);
    let page = std::fs::read_to_string(bench.path("ae.html")).unwrap();
    assert!(page.contains("bare and fan compared</h1>"), "{page}");
    assert!(page.contains("One SSD, two labels compared"));
    let json: serde_json::Value =
        serde_json::from_str(&bench.print(&["report", "a.ssdg", "d.ssdg", "--json"])).unwrap();
    assert_eq!(json["runs"][0]["label"], "bare");
    assert!(json["runs"][1]["label"].is_null());
    let twice = bench.call(&["report", "a.ssdg", "a.ssdg", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&twice.stdout).unwrap();
    assert_eq!(json["runs"].as_array().unwrap().len(), 1);
    assert!(text(&twice.stderr).contains("has the same run as a.ssdg"), "{}", text(&twice.stderr));
    // The page has the run, too.
    bench.call(&["report", "a.ssdg", "a.ssdg", "-o", "twice.html"]);
    bench.call(&["report", "a.ssdg", "-o", "once.html"]);
    let [twice, once] =
        ["twice.html", "once.html"].map(|page| std::fs::read_to_string(bench.path(page)).unwrap());
    assert_eq!(twice, once);
    let cases = [
        (["a.ssdg", "a.ssdg"], "all runs have the label 'bare'"),
        (["a.ssdg", "c.ssdg"], "of several drives"),
        (["a.ssdg", "f.ssdg"], "of several drives"),
        (["a.ssdg", "d.ssdg"], "has no label"),
    ];
    for (files, expected) in cases {
        let output = bench.call(&[&["report"][..], &files, &["--compare-labels"]].concat());
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{files:?}: {stderr}");
        assert!(stderr.contains(expected) && stderr.contains("run --label"), "{stderr}");
    }
    let long = "x".repeat(41);
    for label in ["", " ", "a\u{1b}[2J", &long] {
        let output = bench.call(&["run", "quick", "sim:tiny", "--label", label]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    }
}
