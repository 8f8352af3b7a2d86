//! The open Bench in a browser, opened from a disk: search, sort, choose, compare, and the way back.

use crate::bench;
use crate::browser::window::{Browser, DOWN, ENTER, TAB};
use serde_json::{Value, json};
use ssdgauge_analysis::Notes;
use ssdgauge_analysis::bench::board::Bench;
use ssdgauge_analysis::bench::record::Record;
use ssdgauge_core::TargetKind;
use ssdgauge_page::{BenchSite, bench_pages};
use std::path::{Path, PathBuf};

/// Returns what `expression` is once it is `expected`, or after half a minute.
fn settled(browser: &mut dyn Browser, expression: &str, expected: &Value) -> Value {
    let function = format!(
        "async function () {{ for (let n = 0; n < 1500; n++) {{ const found = {expression};
            if (JSON.stringify(found) === {:?}) return found;
            await new Promise(done => setTimeout(done, 20)); }} return {expression} }}",
        expected.to_string()
    );
    browser.evaluate(&function)
}

fn check_that(browser: &mut dyn Browser, expression: &str, expected: Value) {
    let found = settled(browser, expression, &expected);
    assert_eq!(found, expected, "{expression}");
}

fn run(browser: &mut dyn Browser, statement: &str) {
    browser.evaluate(&format!("function () {{ {statement} }}"));
}

/// Returns the page of a drive, of a test and of a suite.
fn pages_of_one(site: &Path) -> Vec<PathBuf> {
    let first = |folder: &str| {
        let entries = std::fs::read_dir(site.join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).min().unwrap()
    };
    ["drives", "tests", "suites"].map(first).into()
}

/// Checks the sentence about a database for each order of outcomes of commits, latency and speed.
fn database_sentences(browser: &mut dyn Browser) {
    for (kinds, sentence) in [
        (
            ">>>",
            "A, by more than noise (commits: A leads B by 2.0); A also leads in latency and speed.",
        ),
        (
            ">?<",
            "A, by more than noise (commits: A leads B by 2.0); too close to call: latency; B leads in speed.",
        ),
        (
            "=<o",
            "B, by more than noise (commits: level, no more than noise; latency: B leads A by 2.0); not decided: speed.",
        ),
        (
            "?=>",
            "A, by more than noise (commits: too close to call, it may be noise; latency: level, no more than noise; speed: A leads B by 2.0).",
        ),
        (
            "==?",
            "A or B (commits: level, no more than noise; latency: level, no more than noise; speed: too close to call, it may be noise).",
        ),
        // What is unknown is not level.
        ("o>>", "A or B (commits: not decided, without an interval)."),
    ] {
        let said = format!(
            "(() => {{ const uses = ['Databases: commits', 'Databases: latency', 'Databases: speed'], kept = bench.all.database;
            bench.all.database = uses;
            const {{ first, highest, fine }} = bench.all, step = Math.round(fine * Math.asinh(Math.log(2)));
            const why = () => '', order = ['a', 'b'], name = slug => slug.toUpperCase();
            const tests = uses.map((use, n) => {{
                const kind = {kinds:?}[n], level = highest + (kind === '>' ? step : kind === '<' ? -step : 0);
                const data = {{ order, pairs: kind + String.fromCharCode(first + level, first) }};
                return {{ test: {{ use, words: ['A leads B by R%', 'A leads B by R'] }}, data, why, ...ranked(data, order, why) }};
            }});
            const holder = document.createElement('p');
            holder.append(...forDatabase({{ chosen: order, tests, name }}));
            bench.all.database = kept;
            return holder.textContent }})()"
        );
        check_that(browser, &said, json!(format!("For a database: {sentence}")));
    }
}

/// Writes a site into `folder` and uses it; pictures are left in `pictures`.
pub(crate) fn check(browser: &mut dyn Browser, folder: &Path, pictures: &Path) {
    let names = ["Alpha", "Beta", "Gamma"];
    let mut runs: Vec<_> = names
        .iter()
        .zip([1.0, 0.7, 0.99])
        .map(|(name, speed)| bench::drive(name, name, speed, &|_| {}))
        .collect();
    runs.push(bench::drive("Quick", "Short", 4.0, &|recipe| recipe.plan.shortened = 4));
    runs.push(bench::drive("Sim", "Sim", 5.0, &|recipe| recipe.drive.kind = TargetKind::Virtual));
    let mut records: Vec<_> = runs.iter().map(Record::of).collect();
    records.push(bench::without_intervals(&bench::drive("Zeta", "Zeta", 2.0, &|_| {})));
    let notes = "+++\ncurrency = \"€\"\n[[drive]]\nname = \"beta\"\nprice = 40\n[[drive]]\nname = \"gamma\"\nprice = 400\n+++\n";
    let mut all = Bench::new(records);
    all.set_prices(&Notes::parse("notes.md", notes).unwrap()).unwrap();
    for (name, text) in bench_pages(&BenchSite { bench: &all, title: "Bench" }) {
        let path = folder.join("site").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let index = folder.join("site/index.html");
    browser.show(&index, 1_100, "light");
    const SHOWN: &str =
        "[...document.querySelectorAll('#drives tbody tr')].filter(row => row.checkVisibility())
        .map(row => row.cells[1].textContent.split(',')[0])";
    check_that(browser, SHOWN, json!(["Zeta", "Alpha", "Gamma", "Beta"]));
    check_that(browser, "document.getElementById('count').textContent", json!("4 of 6 drives"));
    run(browser, "document.getElementById('marked').click()");
    check_that(browser, &format!("{SHOWN}.length"), json!(6));
    run(
        browser,
        "document.getElementById('marked').click(); const q = document.getElementById('q'); q.focus(); q.value = 'mm'; q.oninput()",
    );
    check_that(browser, SHOWN, json!(["Gamma"]));
    check_that(browser, "location.hash", json!("#q=mm"));
    // A comma separates names.
    run(browser, "const q = document.getElementById('q'); q.value = 'mm, bet,'; q.oninput()");
    check_that(browser, SHOWN, json!(["Gamma", "Beta"]));
    run(browser, "const q = document.getElementById('q'); q.value = ''; q.oninput()");
    // Who asks for virtual drives sees them, although marked ones are off.
    run(
        browser,
        "const kind = document.querySelector('#filters select[name=Data]'); kind.value = 'Data=MODEL'; kind.onchange()",
    );
    check_that(browser, SHOWN, json!(["Sim [MODEL]"]));
    check_that(browser, "location.hash", json!("#Data=MODEL&marked=1"));
    run(browser, "history.back()");
    check_that(browser, &format!("{SHOWN}.length"), json!(4));
    check_that(browser, "document.getElementById('marked').checked", json!(false));
    // A key only moves in a list; Enter applies it, and so does leaving it.
    run(browser, "document.querySelector('#filters select[name=Price]').focus()");
    browser.key(DOWN);
    check_that(browser, "document.activeElement.value", json!("Price=up to 50 €"));
    check_that(browser, &format!("{SHOWN}.length"), json!(4));
    browser.key(ENTER);
    check_that(browser, SHOWN, json!(["Beta"]));
    check_that(browser, "document.activeElement.name", json!("Price"));
    browser.key(DOWN);
    check_that(browser, SHOWN, json!(["Beta"]));
    browser.key(TAB);
    check_that(browser, SHOWN, json!(["Gamma"]));
    run(browser, "document.getElementById('reset').click()");
    check_that(browser, &format!("{SHOWN}.length"), json!(4));
    // A price: its drives, an address, and the way back.
    run(
        browser,
        "const price = document.querySelector('#filters select[name=Price]'); price.value = 'Price=200 to 500 €'; price.onchange()",
    );
    check_that(browser, SHOWN, json!(["Gamma"]));
    check_that(browser, "decodeURIComponent(location.hash)", json!("#Price=200+to+500+€"));
    // The address, opened again.
    browser.show(&folder.join("site/tests.html"), 1_100, "light");
    browser.show(&folder.join("site/index.html#Price=200+to+500+€"), 1_100, "light");
    check_that(browser, SHOWN, json!(["Gamma"]));
    run(browser, "document.getElementById('reset').click()");
    check_that(browser, &format!("{SHOWN}.length"), json!(4));
    run(browser, "[...document.querySelectorAll('.sort button')].pop().click()");
    check_that(browser, &format!("{SHOWN}.slice(0, 2)"), json!(["Beta", "Gamma"]));
    // A column of latencies: the minimum comes first. Every head sorts the best drives to the top.
    run(browser, "document.querySelectorAll('.sort button')[0].click()");
    check_that(browser, SHOWN, json!(["Zeta", "Alpha", "Gamma", "Beta"]));
    check_that(browser, "document.querySelectorAll('[aria-sort]').length", json!(1));
    // The focus stays on the box that was used.
    run(
        browser,
        "const box = [...document.querySelectorAll('.pick')].find(box => box.value.startsWith('beta')); box.focus(); box.click()",
    );
    check_that(browser, "document.activeElement.className", json!("pick"));
    run(
        browser,
        "[...document.querySelectorAll('.pick')].find(box => box.value.startsWith('alpha')).click()",
    );
    check_that(
        browser,
        "[...document.querySelectorAll('#tray button')].map(one => one.getAttribute('aria-label').split(',')[0])",
        json!(["Remove Beta", "Remove Alpha"]),
    );
    check_that(
        browser,
        "/^For a database: Alpha, 1.TB, by more than noise \\(speed: Alpha, 1.TB is 42.* faster than Beta, 1.TB\\).$/
            .test(document.querySelector('#tray p').textContent)",
        json!(true),
    );
    // The next name is typed at the ticked box: its first key goes to an empty search. A key with Ctrl does not.
    run(
        browser,
        "document.getElementById('q').value = 'old';
        [...document.querySelectorAll('.pick')].find(box => box.value.startsWith('alpha')).focus()",
    );
    browser.key("g");
    check_that(
        browser,
        "[document.activeElement.id, document.getElementById('q').value]",
        json!(["q", "g"]),
    );
    check_that(browser, SHOWN, json!(["Alpha", "Gamma", "Beta"]));
    run(browser, "const q = document.getElementById('q'); q.value = ''; q.oninput()");
    // What is ticked stays in sight, is counted apart, and the next name is typed over the last one.
    run(
        browser,
        "const q = document.getElementById('q'); q.focus(); q.value = 'gamma'; q.oninput(); q.click()",
    );
    check_that(
        browser,
        "document.getElementById('count').textContent",
        json!("1 of 6 drives, and 2 ticked"),
    );
    check_that(browser, "getSelection().toString()", json!("gamma"));
    run(browser, "const q = document.getElementById('q'); q.value = ''; q.oninput()");
    // A choice leaves the window where it was scrolled to.
    run(
        browser,
        "document.body.style.minHeight = '3000px'; scrollTo(0, 200);
        const alpha = [...document.querySelectorAll('.pick')].find(box => box.value.startsWith('alpha'));
        alpha.click(); alpha.click()",
    );
    check_that(browser, "scrollY", json!(200));
    run(browser, "document.body.style.minHeight = ''; scrollTo(0, 0)");
    for (width, scheme) in [(1_100, "light"), (390, "dark")] {
        browser.view(width, scheme);
        browser.picture(&pictures.join(format!("bench-index-{width}.png")), width, 1_400);
        check_that(browser, "document.documentElement.scrollWidth <= innerWidth", json!(true));
        // The tray leaves a phone to the drives.
        check_that(browser, "document.getElementById('tray').offsetHeight <= 96", json!(true));
        super::axe::check(browser, &format!("index at {width}"), "others");
        super::axe::check(browser, &format!("index at {width}"), "contrast");
    }
    let link = browser.evaluate("function () { return document.querySelector('#tray a').href }");
    for page in pages_of_one(&folder.join("site")) {
        for (width, scheme) in [(1_440, "light"), (390, "dark")] {
            browser.show(&page, width, scheme);
            let name = page.parent().unwrap().file_name().unwrap().to_str().unwrap();
            browser.picture(&pictures.join(format!("bench-{name}-{width}.png")), width, 2_400);
            check_that(browser, "document.documentElement.scrollWidth <= innerWidth", json!(true));
            super::axe::check(browser, &format!("{name} at {width}"), "others");
            super::axe::check(browser, &format!("{name} at {width}"), "contrast");
        }
    }
    let (_, hash) = link.as_str().unwrap().split_once('#').unwrap();
    browser.show(&folder.join("site/compare.html"), 1_100, "light");
    run(browser, &format!("location.hash = {hash:?}"));
    const TITLE: &str = "document.getElementById('title').textContent.replace(/, [^ ]+ .B/g, '')";
    check_that(browser, TITLE, json!("Beta or Alpha?"));
    check_that(browser, "document.querySelectorAll('#charts path.line').length >= 4", json!(true));
    check_that(
        browser,
        "[...document.querySelectorAll('.words b')].every(one => one.textContent.startsWith('Alpha'))",
        json!(true),
    );
    // The third drive, and back again.
    // A name of no drive and one of several are kept with the reason; a part of one name is enough.
    const CHOOSE: &str =
        "const input = document.getElementById('d2'); input.focus(); input.value = ";
    for (name, problem) in
        [("nobody", "no drive has this name"), ("a", "drives have this in their names")]
    {
        run(browser, &format!("{CHOOSE} {name:?}; input.onchange()"));
        let said = format!(
            "[document.getElementById('d2').value, document.getElementById('d2').validationMessage.includes({problem:?})]"
        );
        check_that(browser, &said, json!([name, true]));
        check_that(browser, TITLE, json!("Beta or Alpha?"));
    }
    run(browser, &format!("{CHOOSE} 'gamma'; input.oninput(); input.onchange()"));
    check_that(browser, TITLE, json!("Beta or Alpha or Gamma?"));
    check_that(browser, "document.activeElement.id", json!("d2"));
    // The two best are too close to call, so the slowest one decides nothing.
    check_that(
        browser,
        "document.getElementById('answer').textContent.includes('No drive leads by more than noise')",
        json!(true),
    );
    check_that(
        browser,
        "document.getElementById('answer').textContent.replace(/, [^ ]+ .B/g, '').startsWith(
            'For a database: Alpha or Gamma (speed: level, no more than noise; Beta behind by more than noise).')",
        json!(true),
    );
    for (width, scheme) in [(1_100, "dark"), (390, "light")] {
        browser.view(width, scheme);
        browser.picture(&pictures.join(format!("bench-compare-{width}.png")), width, 2_400);
        check_that(browser, "document.documentElement.scrollWidth <= innerWidth", json!(true));
        super::axe::check(browser, &format!("compare at {width}"), "others");
        super::axe::check(browser, &format!("compare at {width}"), "contrast");
    }
    run(browser, "history.back()");
    check_that(browser, TITLE, json!("Beta or Alpha?"));
    // A shortened run shares no test with a whole one.
    run(browser, "const all = document.querySelectorAll('#all option'), input = document.getElementById('d0');
        input.value = [...all].find(one => one.value.startsWith('Short')).value; input.onchange()");
    check_that(
        browser,
        "document.getElementById('answer').textContent",
        json!("These drives have no test in common."),
    );
    check_that(
        browser,
        "document.querySelector('#apart summary').textContent.endsWith('not comparable')",
        json!(true),
    );
    // A drive without an interval, of whichever speed, is not close: nothing is decided. An id of no drive is named.
    const ANSWER: &str = "document.getElementById('answer').textContent";
    run(
        browser,
        "const of = name => bench.all.drives.find(one => one.n.startsWith(name)).s;
        location.hash = 'd=' + [of('Beta'), of('Alpha'), 'gone', of('Zeta')].join(',')",
    );
    check_that(browser, TITLE, json!("Beta or Alpha or Zeta?"));
    check_that(
        browser,
        &format!(
            "[{ANSWER}.startsWith('Not on this site: gone. '), {ANSWER}.includes('; not decided, without an interval: '), {ANSWER}.includes('too close')]"
        ),
        json!([true, true, false]),
    );
    check_that(
        browser,
        "[...document.querySelectorAll('.pair:not(.head)')].every(pair => { const said = [...pair.querySelectorAll('.v')].map(one => one.textContent).sort();
            return said.length === 2 && said[0].startsWith('Alpha') ^ said[0].startsWith('Beta') && said[1].startsWith('Not decided: no interval (Zeta')
                && said[1].endsWith(': too few full seconds for a 95 % interval)') })",
        json!(true),
    );
    browser.picture(&pictures.join("bench-compare-none.png"), 1_100, 2_400);
    database_sentences(browser);
    const HIDDEN: &str = "[...document.querySelectorAll('main section')].map(one => one.hidden)";
    check_that(browser, HIDDEN, json!([false, false, false]));
    run(browser, "location.hash = ''");
    check_that(browser, HIDDEN, json!([true, true, true]));
    let foreign =
        |address: &&String| !address.starts_with("file://") && !address.starts_with("data:");
    assert_eq!(browser.seen().requests.iter().find(foreign), None);
    assert_eq!(browser.seen().complaints, Vec::<String>::new());
    browser.seen().requests.clear();
}
