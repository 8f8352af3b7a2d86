//! `./release`: complete, or nothing and a failure.

use crate::structure::dependencies::root;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A cargo of which `metadata` fails, as on a machine that has built the program alone and has no packages of
/// tests. `build` fails too, or writes a program that calls the one of the tests.
fn cargo(folder: &Path, builds: bool) -> PathBuf {
    let bin = folder.join("bin");
    std::fs::create_dir(&bin).unwrap();
    let build = match builds {
        true => format!(
            "while [ $# -gt 0 ]; do [ \"$1\" != --target ] || target=$2; shift; done\n\
             to=$CARGO_TARGET_DIR/$target/dist\nmkdir -p \"$to\"\n\
             printf '#!/bin/sh\\nexec \"%s\" \"$@\"\\n' '{}' >\"$to/ssdgauge\"\n\
             chmod 755 \"$to/ssdgauge\"",
            env!("CARGO_BIN_EXE_ssdgauge")
        ),
        false => "echo 'error: could not compile' >&2; exit 101".into(),
    };
    let real = env!("CARGO");
    let script = format!(
        "#!/bin/sh\ncase $1 in\nmetadata) exit 101 ;;\nbuild)\n{build} ;;\n*) exec '{real}' \"$@\" ;;\nesac\n"
    );
    std::fs::write(bin.join("cargo"), script).unwrap();
    std::fs::set_permissions(bin.join("cargo"), PermissionsExt::from_mode(0o755)).unwrap();
    bin
}

/// Runs `./release` with this cargo first in the path.
fn release(folder: &Path, builds: bool) -> Option<Output> {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !["dpkg-deb", "xz", "git"].into_iter().all(has) || !root().join(".git").exists() {
        return None;
    }
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", cargo(folder, builds).display());
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(root().join("release"))
        .args(["--target", &target, "--out"])
        .arg(folder.join("out"))
        .env("PATH", path)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output();
    Some(output.unwrap())
}

#[test]
fn a_release_whose_build_fails_fails_and_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = release(folder.path(), false) else {
        println!("skipped: dpkg-deb, xz and a git repository are needed");
        return;
    };
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{messages}");
    assert!(messages.contains("could not compile"), "{messages}");
    let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["bin"]);
}

#[test]
fn a_release_has_its_program_and_a_bill_of_materials_and_a_package_without_errors() {
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = release(folder.path(), true) else {
        println!("skipped: dpkg-deb, xz and a git repository are needed");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = std::fs::read_dir(folder.path().join("out")).unwrap();
    let files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    let named = |end: &str| {
        let found = files.iter().find(|path| path.to_string_lossy().ends_with(end));
        found.unwrap_or_else(|| panic!("no file *{end}: {files:?}"))
    };
    let bill = std::fs::read(named(".cdx.json")).unwrap();
    let bill: serde_json::Value = serde_json::from_slice(&bill).unwrap();
    let components = bill["components"].as_array().unwrap();
    assert!(components.len() > 50, "{} components", components.len());
    assert!(components.iter().any(|one| one["name"] == "sqlite"));
    let package = named(".deb");
    let contents = Command::new("dpkg-deb").arg("-c").arg(package).output().unwrap();
    let contents = String::from_utf8_lossy(&contents.stdout);
    for file in ["./usr/bin/ssdgauge\n", "man1/ssdgauge-run.1.gz\n", "doc/ssdgauge/copyright\n"] {
        assert!(contents.contains(file), "{file}: {contents}");
    }
    match Command::new("lintian").args(["--fail-on", "error"]).arg(package).output() {
        Ok(lintian) => {
            let found = String::from_utf8_lossy(&lintian.stdout);
            assert!(lintian.status.success(), "{found}");
        }
        Err(_) => println!("skipped: no lintian"),
    }
}
