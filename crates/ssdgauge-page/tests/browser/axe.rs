//! axe-core, which checks pages by the rules of WCAG: fetched from npm once, and kept outside of the repository.

use crate::browser::window::{Browser, has_programs};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The package with its version.
const PACKAGE: &str = "axe-core@4.14.1";

/// The SHA-256 of its file `axe.min.js`.
const CHECKSUM: &str = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c";

/// The rules of WCAG 2.2 AA, and the best practices on headings and regions.
const RULES: &str = "async function () {
    const contrast = { runOnly: ['color-contrast'] };
    const others = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
        rules: { 'heading-order': { enabled: true }, 'region': { enabled: true },
            'color-contrast': { enabled: false } } };
    const found = await axe.run(document, { ...CHOSEN, resultTypes: ['violations'] });
    return found.violations.map(wrong => wrong.id + ': ' + wrong.nodes.length + ' × '
        + wrong.nodes.slice(0, 3).map(node => node.html.slice(0, 160) + ' '
            + node.failureSummary.slice(0, 240)).join(' | ')) }";

/// Checks the page that is shown: with the rule on `contrast`, or with all `others`.
pub(crate) fn check(browser: &mut dyn Browser, place: &str, chosen: &str) {
    let Some(script) = script() else { return };
    if browser.evaluate("function () { return typeof axe === 'undefined' }") == json!(true) {
        browser.inject(script);
    }
    let wrong = browser.evaluate(&RULES.replace("CHOSEN", chosen));
    let wrong = wrong.as_array().unwrap().iter().map(|wrong| format!("{place}: {wrong}"));
    browser.seen().complaints.extend(wrong);
}

/// Returns the script; `None` where it cannot be had and the tests need not be complete.
fn script() -> Option<&'static str> {
    static SCRIPT: OnceLock<Option<String>> = OnceLock::new();
    let read = || match read_or_fetch() {
        Ok(script) => Some(script),
        Err(reason) => {
            let is_full = std::env::var_os("SSDGAUGE_FULL").is_some();
            assert!(!is_full, "./check --full needs {PACKAGE}: {reason}");
            let _ = writeln!(std::io::stderr(), "skipped: rules of axe-core ({reason})");
            None
        }
    };
    SCRIPT.get_or_init(read).as_deref()
}

/// Returns the folder for what tests fetch.
fn cache() -> PathBuf {
    let of_user = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let of_home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    of_user.or_else(of_home).unwrap_or_else(std::env::temp_dir).join("ssdgauge-tests")
}

fn read_or_fetch() -> Result<String, String> {
    let file = cache().join(format!("{PACKAGE}.min.js"));
    if let Some(script) = std::fs::read_to_string(&file).ok().filter(|text| is_right(text)) {
        return Ok(script);
    }
    if !has_programs(&["npm", "tar"]) {
        return Err("it is fetched with npm, which ./check --full installs as root".to_owned());
    }
    let folder = tempfile::tempdir().unwrap();
    run("npm", &["pack", PACKAGE, "--silent", "--ignore-scripts"], folder.path())?;
    let packed = std::fs::read_dir(folder.path()).unwrap().next();
    let packed = packed.ok_or("npm pack left no file")?.unwrap().path();
    let packed = packed.to_str().unwrap();
    run("tar", &["-xzf", packed, "package/axe.min.js"], folder.path())?;
    let script = std::fs::read_to_string(folder.path().join("package/axe.min.js")).unwrap();
    if !is_right(&script) {
        return Err("its checksum is not the expected one".to_owned());
    }
    std::fs::create_dir_all(cache()).unwrap();
    // Another test may write it at the same time.
    let whole = tempfile::NamedTempFile::new_in(cache()).unwrap();
    std::fs::write(whole.path(), &script).unwrap();
    whole.persist(&file).unwrap();
    Ok(script)
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Result<(), String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let first = error.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if output.status.success() { Ok(()) } else { Err(format!("{program} failed: {first}")) }
}

fn is_right(script: &str) -> bool {
    let digest = Sha256::digest(script.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>() == CHECKSUM
}
