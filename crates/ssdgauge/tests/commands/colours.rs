//! Colours of outputs: none without a terminal, and no text that only a colour tells.

use crate::support::{Bench, text};

/// Returns `text` without escape sequences.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').unwrap().1)
}

/// Returns stdout and stderr of a call with `more` in its environment.
fn printed(bench: &Bench, arguments: &[&str], more: &[(&str, &str)]) -> String {
    let mut command = bench.command(arguments);
    let output = command.env_remove("CLICOLOR_FORCE").envs(more.iter().copied()).output().unwrap();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn colours_change_no_text_and_are_chosen_by_option_and_environment() {
    let bench = Bench::new();
    for arguments in [
        &["drives"][..],
        &["drives", "sim:"],
        &["drives", "sim:tiny"],
        &["suites"],
        &["plan", "quick", "."],
        &["claims", "--no-runs"],
        &["quick", "sim:no-such-profile"],
    ] {
        let coloured = [arguments, &["--color", "always"]].concat();
        let never = [arguments, &["--color", "never"]].concat();
        let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
        // Other tests attach and detach drives meanwhile: a list that changed says nothing.
        let print_all = || {
            let without = printed(&bench, arguments, &[]);
            let with = printed(&bench, &coloured, &[("NO_COLOR", "1")]);
            let forced = printed(&bench, arguments, &[("CLICOLOR_FORCE", "1")]);
            let never = printed(&bench, &never, &[("CLICOLOR_FORCE", "1")]);
            let both = printed(&bench, arguments, &both);
            (printed(&bench, arguments, &[]) == without)
                .then_some([without, with, forced, never, both])
        };
        // It may also have changed and changed back: what holds at any one time is enough.
        let agree = |[without, with, forced, never, both]: &[String; 5]| {
            plain(with) == *without && forced == with && never == without && both == without
        };
        let texts = (0..100).filter_map(|_| print_all()).take(10).find(agree).or_else(print_all);
        let [without, with, forced, never, both] = texts.unwrap();
        assert!(!without.contains('\u{1b}'), "{without:?}");
        assert_eq!(plain(&with), without);
        assert_eq!(forced, with);
        assert_eq!(never, without);
        assert_eq!(both, without);
    }
    let suites = printed(&bench, &["suites", "--color", "always"], &[]);
    assert!(suites.contains("\u{1b}[1mquick\u{1b}[0m"), "{suites:?}");
    let error = printed(&bench, &["quick", "sim:x", "--color", "always"], &[]);
    assert!(error.starts_with("\u{1b}[1;31merror:\u{1b}[0m"), "{error:?}");
}

#[test]
fn a_mistyped_name_gets_the_name_that_is_meant() {
    let bench = Bench::new();
    for (arguments, meant) in [
        (&["runn"][..], "'run'"),
        (&["run", "cleint-2018", "sim:tiny"], "'client-2018'"),
        (&["plan", "quick", ".", "--tset", "x"], "'--test'"),
        (&["plan", "client-2018", "sim:tlc-client", "--test", "wake-pu"], "'wake-up'"),
        (&["quick", "sim:tlc-clint"], "'sim:tlc-client'"),
        (&["quick", "sim:tiny?bufer_kib=3"], "'front.buffer_kib'"),
        (&["quick", "sim:tiny?bufer=3"], "'front.buffer_kib'"),
        (&["plan", "quick", "null"], "'null:'"),
    ] {
        let error = printed(&bench, arguments, &[]);
        assert_eq!(error.lines().count(), 2, "{error}");
        assert!(error.contains(&format!("did you mean {meant}?")), "{error}");
    }
}

#[test]
fn the_profiles_of_virtual_drives_are_listed() {
    let bench = Bench::new();
    let list = bench.print(&["drives", "sim:"]);
    assert!(list.contains("sim:tlc-client") && list.contains("sim:like-970-evo-1tb"), "{list}");
    let json: serde_json::Value =
        serde_json::from_str(&bench.print(&["drives", "sim:", "--json"])).unwrap();
    // Every key that is listed is one, whatever its value.
    let keys = json["keys"].as_array().unwrap();
    assert!(keys.len() > 20 && keys.iter().any(|key| key == "thermal.throttle_c"), "{json}");
    for key in keys.iter().map(|key| key.as_str().unwrap()) {
        assert!(list.split_whitespace().any(|word| word.trim_end_matches(',') == key), "{key}");
        let answer = printed(&bench, &["drives", &format!("sim:tiny?{key}=wrong")], &[]);
        assert!(!answer.contains("has no key"), "{answer}");
    }
    let targets = json["profiles"].as_array().unwrap();
    assert!(targets.iter().any(|one| one["target"] == "sim:tiny"), "{json}");
}
