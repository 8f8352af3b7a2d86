//! The budget of a page: what a reader meets before unfolding anything, on 1,280 by 900 pixels.

use crate::browser::window::Browser;
use crate::support::{Pace, Recipe, client, plan, quick, run};
use serde_json::json;
use ssdgauge_analysis::Run;
use ssdgauge_core::TargetKind;
use std::path::Path;

/// The most of everything.
pub(crate) struct Budget {
    /// Screens of 900 pixels.
    screens: f64,
    /// Words before unfolding.
    words: u64,
    /// Bytes of the file.
    bytes: u64,
    /// Whether the answer, the bar and the first title of a figure are on the first screen.
    answers: bool,
}

pub(crate) const SEVERAL: Budget =
    Budget { screens: 12.0, words: 2_500, bytes: 3_000_000, answers: true };
pub(crate) const QUICK: Budget =
    Budget { screens: 3.0, words: 800, bytes: 1_000_000, answers: false };
pub(crate) const FIFTEEN: Budget =
    Budget { screens: 30.0, words: 6_000, bytes: 10_000_000, answers: true };

const MEASURE: &str = "function () {
    const bottom = name => document.querySelector(name)?.getBoundingClientRect().bottom ?? 0;
    const title = document.querySelector('figure h3');
    return {
        height: document.documentElement.scrollHeight,
        words: document.body.innerText.split(/\\s+/).length,
        answer: bottom('.ans'), bar: bottom('.bar'),
        title: title ? title.getBoundingClientRect().bottom : 0,
        wide: document.documentElement.scrollWidth,
        lines: document.querySelector('h1').getClientRects().length
            && document.querySelector('h1').offsetHeight
                / parseFloat(getComputedStyle(document.querySelector('h1')).lineHeight),
    } }";

const BEYOND: &str = "function () {
    const beyond = element => element.checkVisibility() && element.getBoundingClientRect().right > 391
        && !element.closest('.scroll, .tabs, .bar');
    return [...document.querySelectorAll('body *')].filter(beyond).slice(0, 12)
        .map(element => element.tagName + ' ' + element.getAttribute('class') + ' '
            + element.textContent.trim().slice(0, 40)) }";

/// Fourteen drives and more: the answer is on the first screen.
pub(crate) const MANY: Budget =
    Budget { screens: 12.0, words: 3_500, bytes: 6_000_000, answers: false };

/// Returns `count` drives with the results of `run`, each a little slower than the one before it.
pub(crate) fn clones(run: &Run, count: usize) -> Vec<Run> {
    let clone = |number: usize| {
        let mut run = run.clone();
        run.head.id = format!("clone-{number}");
        run.head.drive.serial = Some(format!("C{number:02}"));
        run.head.drive.model = Some(format!("Drive of the series {number:02}"));
        for test in &mut run.tests {
            let factor = 1.0 - 0.004 * number as f64;
            test.headline.value = test.headline.value.map(|value| value * factor);
        }
        run
    };
    (0..count).map(clone).collect()
}

/// Checks that a long answer is folded to its first and last rows, and that one press shows all.
pub(crate) fn unfold(browser: &mut dyn Browser, file: &Path, drives: u64) {
    browser.show(file, 1_280, "light");
    let state = "function () { const shown = [...document.querySelectorAll('.ans tbody tr')]
        .filter(row => row.checkVisibility());
        const last = document.querySelector('.ans tbody tr:last-child').checkVisibility();
        return [shown.length, last] }";
    assert_eq!(browser.evaluate(state), json!([15, true]), "the first 12 and the last 3");
    // A highlighted drive is shown wherever it is.
    browser.evaluate("function () { document.querySelector('#hl').value = '20' }");
    assert_eq!(browser.evaluate(state), json!([16, true]));
    browser.evaluate("function () { document.querySelector('#all-rows').click() }");
    assert_eq!(browser.evaluate(state), json!([drives, true]));
}

/// Returns five drives through three suites of 26 tests together.
pub(crate) fn fifteen() -> Vec<Run> {
    let mut third = Vec::new();
    for number in 0..9 {
        for mut test in client(1, 22).tests.into_iter().take(2) {
            test.phases[0].steps.truncate(4);
            test.id = format!("{}-{number}", test.id);
            test.title = format!("{}, part {number}", test.title);
            third.push(test);
        }
    }
    let third = &third;
    crate::browser::recorded(0..5, |number: i32| {
        let factor = 1.0 + 0.4 * f64::from(number);
        let pace = move |stream: &ssdgauge_core::Stream, second: u32| {
            let cliff = if stream.read_percent == 0 && second > 8 { 0.4 } else { 1.0 };
            let iops = 9_000.0 * factor * cliff * f64::from(stream.queue_depth).sqrt();
            Pace { iops: iops as u64, lat_us: 1e6 * f64::from(stream.queue_depth) / iops }
        };
        let suites = [client(1, 22), quick(1), plan("enterprise", third.clone())];
        let record = |(suite, plan)| {
            let name = format!("Drive number {number}");
            let mut recipe = Recipe::new(&format!("f{number}-{suite}"), plan, &name);
            recipe.pace = &pace;
            recipe.power_w = Some(4.0);
            recipe.drive.kind = TargetKind::Block;
            recipe.drive.serial = Some(format!("S{number}"));
            run(&recipe)
        };
        suites.into_iter().enumerate().map(record).collect()
    })
}

/// Checks `file` against `budget`, and on 390 pixels that nothing scrolls sideways.
pub(crate) fn check(browser: &mut dyn Browser, file: &Path, budget: &Budget) {
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    browser.show(file, 1_280, "light");
    let seen = browser.evaluate(MEASURE);
    let get = |key: &str| seen[key].as_f64().unwrap();
    let bytes = std::fs::metadata(file).unwrap().len();
    let screens = get("height") / 900.0;
    assert!(screens <= budget.screens, "{name}: {screens} screens");
    assert!(get("words") <= budget.words as f64, "{name}: {} words", seen["words"]);
    assert!(bytes <= budget.bytes, "{name}: {bytes} bytes");
    assert!(get("lines") < 2.5, "{name}: the headline takes {} lines", seen["lines"]);
    if budget.answers {
        for key in ["answer", "bar", "title"] {
            let at = get(key);
            assert!(at > 0.0 && at <= 900.0, "{name}: {key} ends at {at}, below the first screen");
        }
    }
    if name.starts_with("many") || name.starts_with("fleet") {
        let at = get("answer");
        assert!(at > 0.0 && at <= 900.0, "{name}: the answer ends at {at}");
    }
    browser.view(390, "light");
    let seen = browser.evaluate(MEASURE);
    let beyond = browser.evaluate(BEYOND);
    assert_eq!(seen["wide"], json!(390), "{name} scrolls sideways on a phone: {beyond}");
}

/// Presses tabs, filter, highlight and reset, without a script in the page.
pub(crate) fn press(browser: &mut dyn Browser, file: &Path) {
    browser.show(file, 1_280, "light");
    let state = "function () {
        const shown = name => [...document.querySelectorAll(name)]
            .filter(element => element.checkVisibility()).length;
        const colour = name => getComputedStyle(document.querySelector(name)).getPropertyValue('--c').trim();
        return { speed: shown('figure .p-speed'), power: shown('figure .p-power'),
            first: shown('tr.d-0'), second: shown('tr.d-1'), grey: colour('tr.d-1'), own: colour('tr.d-0') } }";
    let act = |browser: &mut dyn Browser, name: &str| {
        let click = format!("function () {{ document.querySelector('{name}').click() }}");
        browser.evaluate(&click);
    };
    let before = browser.evaluate(state);
    assert_eq!((&before["first"], &before["second"]), (&json!(1), &json!(1)));
    act(browser, "figure input[value=power]");
    act(browser, "#s-0");
    let after = browser.evaluate(state);
    assert_eq!((&after["first"], &after["second"]), (&json!(0), &json!(1)), "a filtered drive");
    assert_eq!(after["power"], json!(1), "the tab that was pressed");
    assert_eq!(after["speed"].as_u64(), before["speed"].as_u64().map(|n| n - 1));
    act(browser, "input[type=reset]");
    let again = browser.evaluate(state);
    assert_eq!((&again["first"], &again["second"]), (&json!(1), &json!(1)), "reset");
    browser.evaluate("function () { document.querySelector('#hl').value = '0' }");
    let chosen = browser.evaluate(state);
    assert_ne!(chosen["grey"], chosen["own"], "the others are grey");
    browser.evaluate("function () { document.querySelector('#hl').value = '1' }");
    let turned = browser.evaluate(state);
    assert_eq!(turned["own"], chosen["grey"], "another drive is highlighted");
}
