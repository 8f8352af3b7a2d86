//! The pages of X-rays: what they show is what their cards state, in every view.

use crate::browser::window::Browser;
use crate::browser::{look, print};
use serde_json::{Value, json};
use ssdgauge_page::{xray_compared_page, xray_page};
use ssdgauge_xray::{Card, CheckedCard, compare, shown, shown_interval};
use std::path::Path;

/// Cards that `ssdgauge xray` wrote of virtual drives of three classes.
const CARDS: [(&str, &str); 3] = [
    ("xray-tlc", include_str!("cards/tlc-client.json")),
    ("xray-qlc", include_str!("cards/qlc-client.json")),
    ("xray-nvme", include_str!("cards/nvme-datacentre.json")),
];

fn card(text: &str) -> CheckedCard {
    serde_json::from_str::<Card>(text).unwrap().checked().unwrap()
}

/// Returns the words of the page for each structure: its value with the interval, or the reason.
fn expected(card: &CheckedCard) -> Vec<(&'static str, Vec<String>)> {
    let of_page = |words: String| words.replace(" us", " µs").replace('-', "–");
    let words = |answer: &ssdgauge_xray::Answer| match &answer.outcome {
        Ok(value) => {
            let unit = answer.structure.unit();
            let interval = of_page(shown_interval(value, unit));
            vec![of_page(shown(value.value, unit)), interval]
        }
        Err(reason) => vec!["Not identifiable, because".into(), reason.0.replace(" us ", " µs ")],
    };
    card.answers.iter().map(|answer| (answer.structure.key(), words(answer))).collect()
}

/// Looks at the pages of all cards, and at one of two cards.
pub(crate) fn check(browser: &mut dyn Browser, folder: &Path, pictures: &Path) {
    for (name, text) in CARDS {
        let card = card(text);
        let file = folder.join(format!("{name}.html"));
        std::fs::write(&file, xray_page(&card)).unwrap();
        look(browser, &file, pictures, 6);
        let mut values = 0;
        for (key, words) in expected(&card) {
            let inner = format!(
                "function () {{ const text = document.getElementById('{key}').innerText;
                    return text.replaceAll('\\u00a0', ' ') }}"
            );
            let inner = browser.evaluate(&inner);
            let inner = inner.as_str().unwrap();
            for words in words {
                assert!(inner.contains(&words), "{name}: {key} shows {inner}, not {words}");
            }
            values += 1;
        }
        assert_eq!(values, card.answers.len());
        let flags = "function () { return document.querySelector('.flag').innerText }";
        let flags = browser.evaluate(flags);
        assert!(flags.as_str().unwrap().starts_with("MODEL"), "{flags}");
        check_cut(browser, name, &card);
    }
    print(browser, &folder.join("xray-tlc.html"), pictures);
    let [one, two] = [0, 1].map(|number: usize| card(CARDS[number].1));
    let compared = compare(&one.answers, &two.answers);
    let page = xray_compared_page([&one, &two], &compared, "not the same inside");
    let file = folder.join("xray-both.html");
    std::fs::write(&file, page).unwrap();
    look(browser, &file, pictures, 8);
    print(browser, &file, pictures);
}

/// Checks that the drawing on a phone, which the last view was, has each value that the card states.
fn check_cut(browser: &mut dyn Browser, name: &str, card: &CheckedCard) {
    let words = "function () { const shown = [...document.querySelectorAll('#cut svg')]
        .filter(svg => svg.checkVisibility());
        return [shown.length, shown[0].textContent.replaceAll('\\u00a0', ' ')] }";
    let seen: Value = browser.evaluate(words);
    assert_eq!(seen[0], json!(1), "{name}");
    for answer in &card.answers {
        let words = match &answer.outcome {
            Ok(value) => shown(value.value, answer.structure.unit()).replace(" us", " µs"),
            Err(_) => "not identifiable,".to_owned(),
        };
        assert!(seen[1].as_str().unwrap().contains(&words), "{name}: {words} in {}", seen[1]);
    }
}
