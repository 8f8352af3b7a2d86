//! Settings: the option, the environment, the configuration file and the default, in this order.

use crate::support::{Bench, query, text};
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::{Command, Output};

/// A bench with a configuration.
struct Configured {
    bench: Bench,
}

impl Configured {
    fn new(text: &str) -> Configured {
        let bench = Bench::new();
        std::fs::create_dir(bench.path("ssdgauge")).unwrap();
        std::fs::write(bench.path("ssdgauge/config.toml"), text).unwrap();
        Configured { bench }
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = self.bench.command(line);
        command.env("XDG_CONFIG_HOME", self.bench.folder.path());
        command.env_remove("SUDO_UID").env_remove("SUDO_GID");
        command
    }

    fn call(&self, line: &[&str]) -> Output {
        self.command(line).output().unwrap()
    }

    fn file(&self) -> std::path::PathBuf {
        self.bench.path("ssdgauge/config.toml")
    }
}

/// Returns value, kind of origin and place of a key.
fn row(output: &Output, key: &str) -> [Value; 3] {
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json["settings"].as_array().unwrap();
    let row = rows.iter().find(|row| row["key"] == key).unwrap().clone();
    ["value", "from", "place"].map(|name| row[name].clone())
}

#[test]
fn the_option_precedes_the_environment_the_file_and_the_default() {
    let one = Configured::new("cohort = \"/srv/runs\"\n# colours\ncolour = \"never\"\n");
    let of = |command: &mut Command, key| row(&command.output().unwrap(), key);
    let config = ["config", "--json"];
    let file = of(&mut one.command(&config), "colour");
    assert_eq!(file, ["never".into(), "file".into(), "3".into()] as [Value; 3]);
    let option = of(&mut one.command(&["config", "--json", "--color", "always"]), "colour");
    assert_eq!(option, ["always".into(), "option".into(), "--color".into()] as [Value; 3]);
    let variable = of(one.command(&config).env("SSDGAUGE_COHORT", "old"), "cohort");
    assert_eq!(
        variable,
        ["old".into(), "environment".into(), "SSDGAUGE_COHORT".into()] as [Value; 3]
    );
    assert_eq!(of(&mut one.command(&config), "cohort")[0], "/srv/runs");
    // An empty variable is none.
    assert_eq!(of(one.command(&config).env("SSDGAUGE_COHORT", ""), "cohort")[1], "file");
    assert_eq!(
        of(&mut one.command(&config), "notes"),
        [Value::Null, "default".into(), Value::Null]
    );
    let printed = text(&one.call(&["config"]).stdout);
    assert!(printed.contains("line 3") && printed.contains("config.toml"), "{printed}");
    // The colour of the file counts where neither an option nor the environment says one.
    let escapes = |command: &mut Command| command.output().unwrap().stdout.contains(&0x1b);
    let always = Configured::new("colour = \"always\"");
    assert!(escapes(&mut always.command(&["drives", "sim:tiny"])));
    assert!(!escapes(always.command(&["drives", "sim:tiny"]).env("NO_COLOR", "1")));
    assert!(!escapes(&mut always.command(&["drives", "sim:tiny", "--color", "never"])));
}

#[test]
fn a_wrong_key_or_value_is_an_error_with_file_line_and_the_nearest_key() {
    for (text_of_file, place, words) in [
        ("\nchort = \"/srv\"", "config.toml:2", "did you mean 'cohort'?"),
        ("max_writes = \"much\"", "config.toml:1", "max_writes: "),
        ("max_writes = 5", "config.toml:1", "write a text in quotes"),
        ("meters = \"hwmon:x/power1\"", "config.toml:1", "write a list of texts"),
        ("colour = \"green\"", "config.toml:1", "'green' is not auto, always or never"),
        ("notes = \"notes.md\"", "config.toml:1", "begins with / or ~/"),
        ("a = [", "config.toml:1", "TOML"),
    ] {
        let one = Configured::new(text_of_file);
        let output = one.call(&["suites"]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text_of_file}: {stderr}");
        assert!(stderr.contains(place) && stderr.contains(words), "{text_of_file}: {stderr}");
        assert!(output.stdout.is_empty());
    }
    let one = Configured::new("");
    let output = one.command(&["suites"]).env("SSDGAUGE_MAX_WRITES", "much").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("SSDGAUGE_MAX_WRITES"), "{}", text(&output.stderr));
}

#[test]
fn a_configuration_that_another_user_may_write_is_refused_as_root() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root refuses it");
        return;
    }
    const OTHER: Option<u32> = Some(65_534);
    let one = Configured::new("colour = \"never\"");
    let code = |sudo: Option<&str>| {
        let mut command = one.command(&["config"]);
        if let Some(user) = sudo {
            command.env("SUDO_UID", user).env("SUDO_GID", user);
        }
        let output = command.output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let permit = |path: &str, mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(one.bench.path(path), permissions).unwrap();
    };
    assert_eq!(code(None), (Some(0), String::new()));
    for path in ["ssdgauge/config.toml", "ssdgauge"] {
        let before = if path == "ssdgauge" { 0o755 } else { 0o644 };
        permit(path, before | 0o002);
        let (refused, stderr) = code(None);
        assert_eq!(refused, Some(3), "{path}: {stderr}");
        assert!(stderr.contains("another user may write"), "{stderr}");
        permit(path, before);
        chown(one.bench.path(path), OTHER, OTHER).unwrap();
        assert_eq!(code(None).0, Some(3), "{path}");
        // That of the caller of sudo is his own.
        assert_eq!(code(Some("65534")).0, Some(0), "{path}");
        assert_eq!(code(Some("65533")).0, Some(3), "{path}");
        chown(one.bench.path(path), Some(0), Some(0)).unwrap();
    }
    // A link leads to what counts.
    std::fs::rename(one.file(), one.bench.path("real.toml")).unwrap();
    std::os::unix::fs::symlink(one.bench.path("real.toml"), one.file()).unwrap();
    assert_eq!(code(None).0, Some(0));
    permit("real.toml", 0o666);
    assert_eq!(code(None).0, Some(3));
}

#[test]
fn the_maximum_of_writes_limits_a_run_and_permits_none() {
    let one = Configured::new("max_writes = \"1GB\"");
    let quick = ["quick", ".", "--size", "16MiB", "--out", "a.ssdg"];
    let output = one.call(&quick);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("max_writes allows 1.00 GB"), "{stderr}");
    assert!(!one.bench.names().contains(&"a.ssdg".to_owned()));
    // A large one is not permission for a run that has to be asked for, and the option precedes it.
    let large = Configured::new("max_writes = \"900TB\"");
    let client = ["run", "client-2018", ".", "--size", "16MiB", "--scale-spans"];
    let stderr = text(&large.call(&client).stderr);
    assert!(stderr.contains("to permit it, add --max-writes"), "{stderr}");
    let shortened = [&quick[..], &["--shorten", "100", "--max-writes", "2GB"]].concat();
    assert!(one.call(&shortened).status.success());
    let limit = "SELECT CAST(value AS INTEGER) FROM property WHERE key='max_writes_bytes'";
    assert_eq!(query(&one.bench.path("a.ssdg"), limit), 2_000_000_000);
}

#[test]
fn meters_of_the_configuration_are_read_on_real_targets_unless_an_option_says_none() {
    let meter = "command:sh -c 'while :; do echo 5; sleep 0.1; done'";
    let one = Configured::new(&format!("meters = [\"{meter}\"]"));
    let small = ["--size", "16MiB", "--shorten", "100"];
    let has_meter = |line: &[&str], out: &str| {
        let output = one.call(&[line, &small, &["--out", out]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let sql = "SELECT count(*) FROM environment WHERE key LIKE 'power_meter%'";
        query(&one.bench.path(out), sql) > 0
    };
    assert!(has_meter(&["quick", "."], "a.ssdg"));
    assert!(!has_meter(&["quick", ".", "--power", "none"], "b.ssdg"));
    assert!(!has_meter(&["quick", "sim:tiny"], "c.ssdg"));
    let json: Value = serde_json::from_slice(&one.call(&["doctor", ".", "--json"]).stdout).unwrap();
    let checks = json["checks"].as_array().unwrap();
    let meters = checks.iter().find(|check| check["name"] == "meters").unwrap();
    assert_eq!(meters["state"], "fine", "{meters}");
}

#[test]
fn notes_and_cohort_of_the_configuration_are_used_where_they_fit() {
    let one = Configured::new("");
    let quick = ["quick", "sim:tiny", "--shorten", "50", "--out", "a.ssdg"];
    assert!(one.call(&quick).status.success());
    let prove = ["prove", "sim:tiny?capacity=256MB", "--quick", "--out", "proof.ssdg"];
    assert!(one.call(&prove).status.success());
    std::fs::write(one.bench.path("notes.md"), "+++\n+++\nMeasured in our laboratory.\n").unwrap();
    let report = |file: &str| {
        let output = one.call(&["report", file, "-o", "page.html"]);
        (output.status.code(), text(&output.stderr))
    };
    let has_notes = || {
        let page = std::fs::read_to_string(one.bench.path("page.html")).unwrap();
        page.contains("Measured in our laboratory.")
    };
    assert_eq!(report("a.ssdg").0, Some(0));
    assert!(!has_notes());
    std::fs::write(one.file(), format!("notes = {:?}\n", one.bench.path("notes.md"))).unwrap();
    assert_eq!(report("a.ssdg"), (Some(0), "report: page.html\n".to_owned()));
    assert!(has_notes());
    // A proof is compared with no quick runs.
    std::fs::write(one.file(), "cohort = \"/nonexistent/runs\"\n").unwrap();
    let (code, stderr) = report("a.ssdg");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("/nonexistent/runs"), "{stderr}");
    assert_eq!(report("proof.ssdg"), (Some(0), "report: page.html\n".to_owned()));
}
