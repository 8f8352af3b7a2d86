//! The script of a page: what it does, and that the page is the same without it.

use crate::browser::window::Browser;
use serde_json::{Value, json};
use std::path::Path;

/// The state of the answer and of the first chart over written data that is shown.
const STATE: &str = "function () {
    const shown = selector => [...document.querySelectorAll(selector)].find(e => e.checkVisibility());
    const chart = shown('svg[data-zoom]');
    chart.scrollIntoView({ block: 'center' });
    const box = chart.getBoundingClientRect();
    const ticks = [...chart.querySelectorAll('.tk')].filter(t => t.getAttribute('text-anchor') === 'middle');
    return {
        drives: [...document.querySelectorAll('.ans tbody tr')].map(row => row.className),
        sorted: [...document.querySelectorAll('.ans th[aria-sort]')].map(h => h.getAttribute('aria-sort')),
        chart: chart.innerHTML, zoomed: chart.classList.contains('zoomed'),
        whole: Boolean(shown('.whole')),
        ticks: ticks.map(t => parseFloat(t.textContent)),
        places: ticks.map(t => t.getBBox().x),
        zoom: chart.dataset.zoom.split(' ').map(Number),
        left: box.left, top: box.top, width: box.width, height: box.height,
        drawn: chart.viewBox.baseVal.width } }";

fn press(browser: &mut dyn Browser, selector: &str) {
    browser.evaluate(&format!("function () {{ document.querySelector('{selector}').click() }}"));
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|one| one.as_f64().unwrap()).collect()
}

/// Sorts the answer and enlarges a chart of `file`, which has the script; `plain` is the same page
/// without it.
pub(crate) fn check(browser: &mut dyn Browser, file: &Path, plain: &Path) {
    browser.show(file, 1_280, "light");
    let before = browser.evaluate(STATE);
    sort(browser, &before);
    enlarge(browser, &before);
    address(browser, file);
    assert_eq!(browser.seen().complaints, Vec::<String>::new());
    // Without the script there is nothing to press, and the same to read.
    let words = "function () { return document.body.innerText.replace(/one script for zoom, sorting and the address/, \
                 'no scripts').replace(/\\s+/g, ' ') }";
    let with = browser.evaluate(words);
    browser.show(plain, 1_280, "light");
    assert_eq!(browser.evaluate(words), with);
    let buttons =
        browser.evaluate("function () { return document.querySelectorAll('button').length }");
    assert_eq!(buttons, json!(0));
}

fn sort(browser: &mut dyn Browser, before: &Value) {
    let values = "function () { return [...document.querySelectorAll('.ans tbody tr')]
        .map(row => Number(row.querySelector('td.b').dataset.v)) }";
    let head = ".ans th:nth-child(3) .sort";
    press(browser, head);
    let falling = numbers(&browser.evaluate(values));
    assert!(falling.is_sorted_by(|a, b| a >= b), "{falling:?}");
    press(browser, head);
    let rising = numbers(&browser.evaluate(values));
    assert!(rising.is_sorted() && rising[0] < rising[1], "{rising:?}");
    assert_eq!(browser.evaluate(STATE)["sorted"], json!(["ascending"]));
    press(browser, head);
    let again = browser.evaluate(STATE);
    assert_eq!((&again["drives"], &again["sorted"]), (&before["drives"], &json!([])));
}

fn enlarge(browser: &mut dyn Browser, before: &Value) {
    let get = |key: &str| before[key].as_f64().unwrap();
    let zoom = numbers(&before["zoom"]);
    let (left, right) = (zoom[0], zoom[1]);
    let scale = get("width") / get("drawn");
    let place = |share: f64| {
        let x = get("left") + (left + share * (right - left)) * scale;
        (x, get("top") + get("height") / 2.0)
    };
    let drag = |browser: &mut dyn Browser, from: f64, to: f64| {
        browser.press_and_move(&[place(from), place((from + to) / 2.0), place(to)], 1);
    };
    drag(browser, 0.1, 0.3);
    let near = browser.evaluate(STATE);
    assert_eq!((&near["zoomed"], &near["whole"]), (&json!(true), &json!(true)));
    let (ticks, places) = (numbers(&near["ticks"]), numbers(&near["places"]));
    assert!(ticks.len() >= 3 && ticks.is_sorted() && places.is_sorted(), "{ticks:?} {places:?}");
    let all = numbers(&before["ticks"]);
    let span = |ticks: &[f64]| ticks[ticks.len() - 1] - ticks[0];
    assert!(span(&ticks) < 0.5 * span(&all), "{ticks:?} of {all:?}");
    // Dragged again, from right to left, it shows a part of that part.
    drag(browser, 0.8, 0.4);
    let nearer = numbers(&browser.evaluate(STATE)["ticks"]);
    assert!(span(&nearer) < 0.7 * span(&ticks), "{nearer:?} of {ticks:?}");
    // A press without a drag changes nothing; two show the whole.
    drag(browser, 0.5, 0.5);
    assert_eq!(browser.evaluate(STATE)["zoomed"], json!(true));
    press(browser, ".whole:not([hidden])");
    let whole = browser.evaluate(STATE);
    assert_eq!((&whole["chart"], &whole["whole"]), (&before["chart"], &json!(false)));
    drag(browser, 0.2, 0.6);
    browser.press_and_move(&[place(0.5)], 2);
    assert_eq!(browser.evaluate(STATE)["chart"], before["chart"]);
}

/// What a reader chose, and the address that tells it.
const CHOICES: &str = "function () {
    const tabs = [...document.querySelectorAll('.tabs')].slice(0, 2);
    return {
        tabs: tabs.map(list => list.querySelector(':checked').value),
        drives: [...document.querySelectorAll('.chips input')].map(chip => chip.checked),
        highlight: document.querySelector('#hl').value,
        rows: [...document.querySelectorAll('.ans tbody tr')].map(row => row.checkVisibility()),
        search: location.search } }";

/// Chooses a tab, hides a drive and highlights another: the address of `file` then gives the same to whoever opens it,
/// and the one without a choice the page as it was.
fn address(browser: &mut dyn Browser, file: &Path) {
    browser.show(file, 1_280, "light");
    let plain = browser.evaluate(CHOICES);
    assert_eq!(plain["search"], json!(""));
    press(browser, ".tabs label:nth-child(2) input");
    press(browser, "#s-1");
    browser.evaluate(
        "function () { const all = document.querySelector('#hl'); all.value = '2';
            all.dispatchEvent(new Event('change', { bubbles: true })) }",
    );
    let chosen = browser.evaluate(CHOICES);
    assert_ne!(chosen["tabs"][0], plain["tabs"][0]);
    assert_eq!((&chosen["tabs"][1], &chosen["drives"][1]), (&plain["tabs"][1], &json!(false)));
    assert_eq!(chosen["highlight"], json!("2"));
    let hidden = |state: &Value| {
        state["rows"].as_array().unwrap().iter().filter(|row| **row == json!(false)).count()
    };
    assert_eq!((hidden(&plain), hidden(&chosen)), (0, 1));
    let search = chosen["search"].as_str().unwrap().to_owned();
    // Another page, so that nothing but the address carries the choices.
    let address = format!("{}{search}", file.display());
    browser.show(Path::new("/dev/null"), 1_280, "light");
    browser.show(Path::new(&address), 1_280, "light");
    assert_eq!(browser.evaluate(CHOICES), chosen, "{address}");
    press(browser, ".bar input[type=reset]");
    // The address follows the reset after its event.
    let waited = "function () { return new Promise(done => setTimeout(done, 50)) }";
    browser.evaluate(waited);
    let reset = browser.evaluate(CHOICES);
    assert_eq!((&reset["drives"], &reset["highlight"]), (&plain["drives"], &plain["highlight"]));
    assert!(!reset["search"].as_str().unwrap().contains("s-1"), "{reset}");
    // What no control has changes nothing.
    let odd = format!("{}?t-0=none&s-9=off&hl=77&x=<b>", file.display());
    browser.show(Path::new(&odd), 1_280, "light");
    let odd = browser.evaluate(CHOICES);
    let same = ["tabs", "drives", "highlight", "rows"].map(|key| odd[key] == plain[key]);
    assert_eq!(same, [true; 4], "{odd}");
}
