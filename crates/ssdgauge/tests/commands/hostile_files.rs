//! Files of strangers: what stands in a suite or a profile reaches no terminal and no page as more
//! than words.

use crate::support::{Bench, Loop, figure, text};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Markup, terminal escapes, a turn of direction, a formula, a query, mathematics: as TOML.
const STRINGS: [&str; 6] = [
    r#"<script>alert(1)</script>"#,
    r#"\"><img src=x onerror=alert(1)>'"#,
    r#"\u001b[31mred\u001b[0m\u001b]0;title\u0007\u009b2J"#,
    r#"\u202etxt.exe\u2066\u200b\ufeff"#,
    r#"=cmd|' /C calc'!A0 $x^2$"#,
    r#"'; DROP TABLE run; -- %s%n \\ `b` **c** [d](javascript:e)"#,
];

/// What no output may hold.
const FORBIDDEN: [char; 9] =
    ['\u{1b}', '\0', '\u{7}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\u{2028}'];

#[test]
fn words_of_strangers_stay_words_on_terminals_and_pages() {
    let mut outputs = 0;
    for hostile in STRINGS {
        let bench = Bench::new();
        let suite = format!(
            "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"{hostile}\"\nsummary = \"{hostile}\"\n\
             source = \"{hostile}\"\n[[test]]\nid = \"load\"\nrevision = 1\ntitle = \"{hostile}\"\n\
             source = \"{hostile}\"\nprepare = [{{ fill = \"sequential\" }}]\n\
             stream = {{ access = \"random\", block_size = \"4KiB\", read_percent = 100, \
             queue_depth = 1 }}\nuntil = {{ time = \"2s\" }}\nscore = {{ mean_of = \"iops\" }}\n"
        );
        std::fs::write(bench.path("mine.toml"), suite).unwrap();
        let profile = format!(
            "inherits = \"tiny\"\n[drive]\nclass = \"{hostile}\"\ntitle = \"{hostile}\"\n\
             description = \"{hostile}\"\ncapacity_gb = 1.0\nraw_gib = 1.024\n"
        );
        std::fs::write(bench.path("mine-drive.toml"), profile).unwrap();
        let drive = format!("sim:{}", bench.path("mine-drive.toml").display());
        for line in [
            vec!["suites", "mine.toml"],
            vec!["plan", "mine.toml", &drive],
            vec!["drives", &drive],
            vec!["run", "mine.toml", &drive, "--out", "a.ssdg"],
            vec!["report", "a.ssdg", "--csv"],
            vec!["report", "a.ssdg", "--markdown"],
            vec!["report", "a.ssdg", "--json"],
            vec!["report", "a.ssdg", "--openmetrics"],
            vec!["compare", "a.ssdg", "a.ssdg"],
        ] {
            let output = bench.call(&line);
            assert_eq!(output.status.code(), Some(0), "{line:?}: {}", text(&output.stderr));
            for said in [text(&output.stdout), text(&output.stderr)] {
                calm(&said, &line.join(" "));
                outputs += 1;
            }
        }
        let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
        calm(&page, "the page");
        for markup in ["<script>alert", "<img src=x"] {
            assert!(!page.contains(markup), "{markup}");
        }
        outputs += 1;
    }
    figure(
        "strangers",
        &format!("{outputs} outputs of hostile suites and profiles"),
        "0 escapes, 0 markup",
        "cargo test -p ssdgauge --test commands words_of_strangers",
    );
}

fn calm(said: &str, what: &str) {
    for forbidden in FORBIDDEN {
        assert!(!said.contains(forbidden), "{what} lets {forbidden:?} through: {said}");
    }
}

/// Whatever a command writes, it never writes through a link or into a node that it finds.
#[test]
fn no_output_goes_through_a_link_or_into_a_device() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "100", "--out", "a.ssdg"]);
    let victim = bench.path("victim");
    std::fs::write(&victim, "precious").unwrap();
    let Some(device) = Loop::attach(bench.folder.path(), 1 << 20) else { return };
    let mut node = std::process::Command::new("mknod");
    let made = node.args(["null", "c", "1", "3"]).current_dir(bench.folder.path()).status();
    assert!(made.unwrap().success());
    let content = || std::fs::read(bench.path("image")).unwrap();
    let before = content();
    for name in ["page.html", "page.html.partial", "pictures/iops.svg", "log", "b.ssdg"] {
        std::fs::create_dir_all(bench.path("pictures")).unwrap();
        std::os::unix::fs::symlink(&device.path, bench.path(name)).unwrap();
    }
    let pictures = vec!["report", "a.ssdg", "--svg", "pictures"];
    bench.print(&pictures);
    for picture in std::fs::read_dir(bench.path("pictures")).unwrap() {
        let path = picture.unwrap().path();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
    }
    for line in [
        pictures,
        vec!["report", "a.ssdg", "-o", "page.html"],
        vec!["report", "a.ssdg", "-o", &device.path],
        vec!["report", "a.ssdg", "-o", "null"],
        vec!["report", &device.path],
        vec!["resume", &device.path],
        vec!["quick", "null:", "--shorten", "100", "--out", &device.path],
        vec!["quick", "null:", "--shorten", "100", "--out", "b.ssdg"],
        vec![
            "quick",
            ".",
            "--size",
            "8MiB",
            "--shorten",
            "100",
            "--out",
            "c.ssdg",
            "--log-ios",
            "log",
        ],
        vec!["quick", ".", "--size", "8MiB", "--out", "d.ssdg", "--log-ios", &device.path],
    ] {
        let output = bench.call(&line);
        assert_ne!(output.status.code(), Some(0), "{line:?}");
        assert!(text(&output.stderr).contains("hint: "), "{line:?}");
    }
    assert_eq!(content(), before, "a device was written to");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    let is_node = |path: &Path| {
        let kind = std::fs::symlink_metadata(path).unwrap().file_type();
        kind.is_block_device() || kind.is_char_device()
    };
    assert!(is_node(device.path.as_ref()) && is_node(&bench.path("null")), "a node was replaced");
}
