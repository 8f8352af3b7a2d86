//! Passes the commit of the sources to the program, which states it in every run file.

use std::path::Path;
use std::process::Command;

fn main() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Sources that are not a git repository, such as an unpacked archive, have no commit.
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(&sources).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    let changes = ["status", "--porcelain", "--untracked-files=no", "--", "crates", "Cargo.lock"];
    let is_changed = git(&changes).is_some_and(|list| !list.is_empty());
    let mark = if is_changed { "+changes" } else { "" };
    println!("cargo:rustc-env=SSDGAUGE_COMMIT={commit}{mark}");
    // The commit changes with HEAD and its log, the mark with any source.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]) {
            println!("cargo:rerun-if-changed={}", sources.join(path).display());
        }
    }
    println!("cargo:rerun-if-changed={}", sources.join("crates").display());
    println!("cargo:rerun-if-changed={}", sources.join("Cargo.lock").display());
}
