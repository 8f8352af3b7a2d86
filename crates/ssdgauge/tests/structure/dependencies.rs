//! Dependencies: their licences, sources and versions by the rules of `deny.toml`, and the list of
//! what the program contains in `THIRD-PARTY.md`.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages that the lock file selects for Linux on x86-64.
struct Packages {
    by_id: BTreeMap<String, Value>,
    /// The packages that each package links, by their ids.
    links: BTreeMap<String, Vec<String>>,
}

impl Packages {
    fn read() -> Packages {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--locked", "--offline", "--format-version", "1"])
            .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        let by_id = list(&all["packages"]).map(|one| (text(&one["id"]), one.clone())).collect();
        let is_linked = |edge: &&Value| list(&edge["dep_kinds"]).any(|kind| kind["kind"].is_null());
        let of = |node: &Value| {
            list(&node["deps"]).filter(is_linked).map(|edge| text(&edge["pkg"])).collect()
        };
        let links = list(&all["resolve"]["nodes"]).map(|one| (text(&one["id"]), of(one))).collect();
        Packages { by_id, links }
    }

    /// The packages of others, sorted by name and version.
    fn foreign(&self) -> Vec<&Value> {
        let mut found: Vec<&Value> =
            self.by_id.values().filter(|one| !one["source"].is_null()).collect();
        found.sort_by_key(|one| (text(&one["name"]), text(&one["version"])));
        found
    }

    /// The ids of what is linked into the program: macros run in the compiler only.
    fn linked(&self) -> BTreeSet<&str> {
        let is_macro = |one: &Value| {
            list(&one["targets"])
                .any(|target| list(&target["kind"]).any(|kind| kind == "proc-macro"))
        };
        let program = self.by_id.iter().find(|(_, one)| one["name"] == "ssdgauge").unwrap().0;
        let mut found = BTreeSet::new();
        let mut open = vec![program.as_str()];
        while let Some(id) = open.pop() {
            if !is_macro(&self.by_id[id]) && found.insert(id) {
                open.extend(self.links[id].iter().map(String::as_str));
            }
        }
        found
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the words of the list `key` in the section `section` of `deny.toml`.
fn rules(section: &str, key: &str) -> BTreeSet<String> {
    let file = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let file: toml::Table = file.parse().unwrap();
    let entries = file[section][key].as_array().unwrap().iter();
    let word = |entry: &toml::Value| match entry.as_str() {
        Some(word) => word.to_owned(),
        None => entry["crate"].as_str().unwrap().to_owned(),
    };
    entries.map(word).collect()
}

/// Returns whether `allowed` licences satisfy an SPDX expression; `/` is an old form of OR.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let satisfied = any_of(&words, &mut at, allowed);
    satisfied && at == words.len()
}

fn any_of(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut satisfied = all_of(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        satisfied |= all_of(words, at, allowed);
    }
    satisfied
}

fn all_of(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut satisfied = one_of(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        satisfied &= one_of(words, at, allowed);
    }
    satisfied
}

fn one_of(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let word = words.get(*at).copied().unwrap_or_default();
    *at += 1;
    if word == "(" {
        let satisfied = any_of(words, at, allowed);
        *at += 1;
        return satisfied;
    }
    if words.get(*at) == Some(&"WITH") {
        let name = format!("{word} WITH {}", words.get(*at + 1).copied().unwrap_or_default());
        *at += 2;
        return allowed.contains(&name);
    }
    allowed.contains(word)
}

#[test]
fn a_licence_expression_is_judged_by_its_operators() {
    let allowed: BTreeSet<String> =
        ["MIT", "Apache-2.0 WITH LLVM-exception", "ISC"].map(String::from).into();
    for permitted in
        ["MIT", "GPL-3.0 OR MIT", "MIT/GPL-2.0", "(GPL-3.0 OR MIT) AND ISC", "MIT AND ISC"]
    {
        assert!(is_allowed(permitted, &allowed), "{permitted}");
    }
    assert!(is_allowed("Apache-2.0 WITH LLVM-exception", &allowed));
    for forbidden in ["GPL-3.0", "Apache-2.0", "MIT AND GPL-2.0", "", "MIT ISC", "MIT WITH x"] {
        assert!(!is_allowed(forbidden, &allowed), "{forbidden}");
    }
}

#[test]
fn dependencies_have_permitted_licences_sources_and_versions() {
    let packages = Packages::read();
    let foreign = packages.foreign();
    assert!(foreign.len() > 50, "only {} packages were read", foreign.len());
    let allowed = rules("licenses", "allow");
    let sources = rules("sources", "allow-registry");
    let denied = rules("bans", "deny");
    let repeated = rules("bans", "skip");
    let mut versions: BTreeMap<String, usize> = BTreeMap::new();
    for one in &foreign {
        let (name, licence) = (text(&one["name"]), text(&one["license"]));
        assert!(is_allowed(&licence, &allowed), "{name}: the licence '{licence}' is not permitted");
        let source = text(&one["source"]);
        let is_known = sources.iter().any(|allowed| source == format!("registry+{allowed}"));
        assert!(is_known, "{name}: the source '{source}' is not permitted");
        assert!(!denied.contains(&name), "{name} is denied");
        *versions.entry(name).or_default() += 1;
    }
    let several = versions.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name);
    let several: BTreeSet<String> = several.collect();
    let unexpected: Vec<_> = several.difference(&repeated).collect();
    assert!(unexpected.is_empty(), "several versions of {unexpected:?}");
}

/// Returns the licence of a package: the text of its file, the permissive one where it has several.
fn licence_text(package: &Value) -> Option<String> {
    let manifest = text(&package["manifest_path"]);
    let folder = std::fs::read_dir(Path::new(&manifest).parent()?).ok()?;
    let mut files: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy().to_uppercase();
        path.is_file() && (name.contains("LICEN") || name.starts_with("COPYING"))
    });
    // MIT before the longer Apache-2.0; otherwise by name.
    files.sort_by_key(|path| {
        let name = path.file_name().unwrap().to_string_lossy().to_uppercase();
        (!name.contains("MIT"), name.contains("APACHE"), name)
    });
    let bytes = std::fs::read(files.first()?).ok()?;
    let lines: Vec<String> =
        String::from_utf8_lossy(&bytes).lines().map(|line| line.trim_end().to_owned()).collect();
    Some(lines.join("\n").trim_matches('\n').to_owned())
}

#[test]
fn the_list_of_third_parties_is_complete() {
    let packages = Packages::read();
    let linked = packages.linked();
    let mut page = String::from(
        "# Third parties\n\n\
         The program contains these packages, by the lock file, on Linux x86-64. A test compares this\n\
         file with the lock file; `SNAPSHOTS=overwrite cargo test -p ssdgauge --test it third`\n\
         writes it again. SQLite, which `libsqlite3-sys` contains, is in the public domain. The program\n\
         contains a subset of the font Roboto 2.138, regular and bold, of Google (Apache-2.0, whose text is\n\
         LICENSE-APACHE), and no picture. A test of the page fetches axe-core (MPL-2.0). The program contains a summary of\n\
         [linuxhw/EnterpriseDrive](https://github.com/linuxhw/EnterpriseDrive) by the hw-probe contributors\n\
         (CC-BY-4.0, https://creativecommons.org/licenses/by/4.0/), made by the tool `field`; it was changed:\n\
         percentiles of models, crates/ssdgauge-core/src/field.tsv.\n\n\
         | Package | Version | Licence | Source |\n|---|---|---|---|\n",
    );
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in packages.foreign() {
        let id = text(&one["id"]);
        if !linked.contains(id.as_str()) {
            continue;
        }
        let (name, version) = (text(&one["name"]), text(&one["version"]));
        let (licence, source) = (text(&one["license"]), text(&one["repository"]));
        page += &format!("| {name} | {version} | {licence} | {source} |\n");
        if let Some(licence) = licence_text(one) {
            texts.entry(licence).or_default().push(format!("{name} {version}"));
        }
    }
    page += "\n## Texts of the licences\n";
    let mut texts: Vec<(String, Vec<String>)> = texts.into_iter().collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1));
    for (licence, users) in texts {
        page += &format!("\n### {}\n\n```text\n{licence}\n```\n", users.join(", "));
    }
    let path = root().join("THIRD-PARTY.md");
    if std::env::var("SNAPSHOTS").is_ok_and(|mode| mode == "overwrite") {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "THIRD-PARTY.md is out of date; its first lines say how to write it");
}

#[test]
fn the_bill_of_materials_lists_what_the_program_contains() {
    let packages = Packages::read();
    let linked = packages.linked();
    let name_and_version = |one: &Value| (text(&one["name"]), text(&one["version"]));
    let names = |ids: &mut dyn Iterator<Item = &str>| -> BTreeSet<(String, String)> {
        ids.map(|id| name_and_version(&packages.by_id[id])).collect()
    };
    // The metadata has the features of all targets together, so it lists more than one program contains.
    let most = names(&mut linked.iter().copied());
    let own = linked.iter().filter(|id| packages.by_id[**id]["source"].is_null());
    let used_by_own = own.flat_map(|id| packages.links[*id].iter().map(String::as_str));
    let least = names(&mut used_by_own.filter(|id| linked.contains(id)));
    assert!(least.len() > 30, "only {} packages are used directly", least.len());

    let output = Command::new(root().join("packaging/bill-of-materials"))
        .arg("x86_64-unknown-linux-gnu")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bill: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(bill["bomFormat"], "CycloneDX");
    let mut listed: BTreeSet<_> = list(&bill["components"]).map(name_and_version).collect();
    // Parts that are not packages of cargo.
    for part in ["rust-std", "sqlite"] {
        let found = listed.iter().find(|(name, _)| name == part).cloned();
        let found = found.unwrap_or_else(|| panic!("{part} is missing"));
        assert!(found.1.starts_with(|first: char| first.is_ascii_digit()), "{found:?}");
        listed.remove(&found);
    }
    listed.insert(name_and_version(&bill["metadata"]["component"]));
    let unknown: Vec<_> = listed.difference(&most).collect();
    assert!(unknown.is_empty(), "listed, and not in the program: {unknown:?}");
    // The fixtures of ssdgauge-drive, a feature that tests alone switch on, need tempfile.
    let is_of_tests = |(name, _): &&(String, String)| name == "tempfile";
    let missing: Vec<_> = least.difference(&listed).filter(|one| !is_of_tests(one)).collect();
    assert!(missing.is_empty(), "in the program, and not listed: {missing:?}");

    let is_foreign = |one: &&Value| one["purl"].is_string();
    let components: Vec<&Value> = list(&bill["components"]).filter(is_foreign).collect();
    assert!(components.len() > 50, "only {} packages have an address", components.len());
    for one in components {
        let sum = text(&one["hashes"][0]["content"]);
        assert_eq!(sum.len(), 64, "{one}");
        assert!(!text(&one["licenses"][0]["expression"]).is_empty(), "{one}");
    }
}

#[test]
fn the_lock_file_of_the_fuzz_targets_is_up_to_date() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(&fuzz)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    // Its packages are in the cache of cargo once it was built; without them nothing can be said.
    if !output.status.success() && !stderr.contains("--locked") {
        println!("skipped: the packages of fuzz/Cargo.lock are not downloaded");
        return;
    }
    assert!(
        output.status.success(),
        "run `cargo metadata --manifest-path fuzz/Cargo.toml >/dev/null`, which updates it: {stderr}"
    );
}
