//! The notes of an editor, fragments and the image for links.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

use crate::support::{Pace, Recipe, client, quick, run};
use ssdgauge_analysis::{Notes, PageOptions, Run};
use ssdgauge_core::{Bytes, Detail, TargetKind};
use ssdgauge_export::{markdown, markdown_with_notes};
use ssdgauge_page::{fragment, page, share_image};

/// A PNG of one pixel, as far as its head says.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01";

const NOTES: &str = r##"+++
title = "Three drives <b>on</b> a table"
byline = "Anna Example & co"
logo = "logo.png"
accent = "#0a6b4f"
currency = "EUR"

[[drive]]
name = "Alpha"
price = 100.0
tbw = 600
pros = ["Fast <i>writes</i>"]
cons = ["Dear"]

[[drive]]
name = "Beta"
price = 49.5
+++
First words. <script>alert('x')</script> [bad](javascript:alert(1)) [good](https://example.org/?a&b)

![A drive "on" <x>](photo.png)

<div onclick="alert(1)">block</div>

## Conclusion

Last words.
"##;

fn runs(kind: TargetKind) -> Vec<Run> {
    let drive = |(number, name): (usize, &str)| {
        let pace = move |stream: &ssdgauge_core::Stream, _: u32| {
            let iops = 10_000.0 * (1.0 + number as f64) * f64::from(stream.queue_depth).sqrt();
            Pace { iops: iops as u64, lat_us: 100.0 }
        };
        let mut recipe = Recipe::new(&format!("run-{number}"), client(6, 12), name);
        recipe.pace = &pace;
        recipe.drive.kind = kind;
        recipe.drive.serial = Some(format!("S{number}"));
        run(&recipe)
    };
    ["Alpha", "Beta", "Gamma"].into_iter().enumerate().map(drive).collect()
}

fn noted(text: &str) -> PageOptions {
    let mut notes = Notes::parse("notes.md", text).unwrap();
    for number in 0..notes.photographs.len() {
        notes.embed(number, PIXEL).unwrap();
    }
    PageOptions { notes: Some(notes), ..PageOptions::default() }
}

#[test]
fn a_table_in_the_notes_is_a_table_on_the_page() {
    let notes =
        "+++\n+++\n| Use | Score |\n|---|--:|\n| Games <b> | 9.1 |\n\n## Conclusion\n\nLast.\n";
    let page = page(&runs(TargetKind::Block)[..1], &noted(notes));
    let table = page.split("<table><thead><tr><th>Use</th>").nth(1).expect("a table");
    let table = table.split("</table>").next().unwrap();
    assert!(
        table.contains("<td>Games &lt;b&gt; </td>") || table.contains("Games &lt;b&gt;"),
        "{table}"
    );
    assert!(table.contains("9.1</td>") && !page.contains("|---|"), "{table}");
}

#[test]
fn notes_without_a_conclusion_have_no_empty_one() {
    let runs = runs(TargetKind::Block);
    let text = page(&runs, &noted("First words.\n"));
    assert!(text.contains("First words."));
    assert!(!text.contains("conclusion") && !text.contains("Verdict"), "an empty section");
    let with_points = "+++\n[[drive]]\nname = \"Alpha\"\npros = [\"Fast\"]\n+++\nFirst words.\n";
    assert!(page(&runs, &noted(with_points)).contains("conclusion-title"));
}

#[test]
fn notes_stand_on_the_page_and_nothing_in_them_is_markup() {
    let runs = runs(TargetKind::Block);
    let options = noted(NOTES);
    options.notes.as_ref().unwrap().check(&runs).unwrap();
    let page = page(&runs, &options);
    for part in [
        "<h1>Three drives &lt;b&gt;on&lt;/b&gt; a table</h1>",
        "Anna Example &amp; co",
        "&lt;script&gt;alert(",
        "&lt;div onclick=",
        "<a href=\"https://example.org/?a&amp;b\">good</a>",
        "Fast &lt;i&gt;writes&lt;/i&gt;",
        "<img src=\"data:image/png;base64,iVBOR",
        "--accent:#0a6b4f;",
        "100\u{a0}EUR",
        "49.50\u{a0}EUR",
        "GB per EUR",
        "TB rated writes per EUR",
        "Last words.",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["<script", "javascript:", "<div onclick", "<b>on"] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(page.contains("<meta name=\"author\" content=\"Anna Example &amp; co\">"));
    let below_title = page.split("</h1>").nth(1).unwrap();
    assert!(below_title.starts_with("<p class=\"by\">Anna Example &amp; co</p>"), "{below_title}");
    assert!(page.find("First words.") < page.find("id=\"conclusion\""));
    assert!(page.find("id=\"conclusion\"") < page.find("Last words."));
}

#[test]
fn author_and_price_of_one_drive_stand_below_its_headline() {
    let notes = "+++\ntitle = \"A test\"\nbyline = \"Anna\"\ncurrency = \"EUR\"\n[[drive]]\nname = \"Alpha\"\n\
                 price = 100\n+++\nFirst words.\n";
    let page = page(&runs(TargetKind::Block)[..1], &noted(notes));
    assert!(page.contains("<h1>A test</h1><p class=\"by\">Anna · 100\u{a0}EUR</p>"), "{page}");
}

#[test]
fn markdown_has_the_notes_around_the_results() {
    let runs = runs(TargetKind::Block);
    let options = noted(NOTES);
    let text = markdown_with_notes(&runs, options.notes.as_ref().unwrap());
    let places = [
        "# Three drives",
        "Anna Example &amp; co · Alpha 100",
        "Beta 49.50",
        "First words.",
        "| Test |",
        "## Conclusion",
        "- \u{2212} Dear",
        "Last words.",
    ];
    let places =
        places.map(|part| text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text}")));
    assert!(places.is_sorted() && places[0] == 0, "{places:?} {text}");
    assert!(!text.contains("<b>on"), "a title is text, not markup: {text}");
    let result = "small writes at 81.9 MB/s; long writes hold 7,414 MB/s.**";
    let title = "+++\ntitle = \"A test\"\nbyline = \"Anna\"\n+++\nFirst words.\n";
    let text = markdown_with_notes(&runs[..1], noted(title).notes.as_ref().unwrap());
    let places = ["# A test\n\n", result, "Anna", "First words.", "## Alpha", "| Test |"];
    let places = places.map(|part| text.find(part).unwrap_or_else(|| panic!("{part:?}: {text}")));
    assert!(places.is_sorted() && text.matches(result).count() == 1, "{text}");
    let one = markdown(&runs[..1]);
    for (number, line) in one.lines().filter(|line| line.starts_with("| ")).enumerate() {
        assert!(
            !line.contains(" | 0 | "),
            "a number rests on seconds or says none: {number} {line}"
        );
    }
}

/// Returns what the table of prices has for `drive`.
fn price_row(page: &str, drive: &str) -> Vec<f64> {
    let table = page.split("id=\"prices\"").nth(1).unwrap().split("</table>").next().unwrap();
    let row = table.split("<tr").find(|row| row.contains(drive)).unwrap();
    let cells = row.split("<td").skip(2);
    let cell = |cell: &str| cell.split('>').nth(1).unwrap().split('<').next().unwrap().to_owned();
    cells.map(|text| cell(text).replace(',', "").parse().unwrap_or(f64::NAN)).collect()
}

/// Makes `runs` use 64 GB of drives that state `whole` as their capacity.
fn limit(runs: &mut [Run], whole: &str) {
    for run in runs {
        let drive = &mut run.head.drive;
        drive.capacity = Bytes(64_000_000_000);
        drive.state(Detail::WholeCapacity, whole);
    }
}

#[test]
fn a_price_per_gb_counts_the_whole_drive_whatever_part_of_it_was_tested() {
    let mut runs = runs(TargetKind::Block);
    limit(&mut runs, "1000204886016");
    let page_of_parts = page(&runs, &noted(NOTES));
    assert_eq!(price_row(&page_of_parts, "Alpha")[1], 10.0);
    assert!(!page_of_parts.contains("No GB per EUR"));
    assert!(page_of_parts.contains("64\u{a0}GB of 1\u{a0}TB each"));
    assert!(page_of_parts.contains("1.00\u{a0}TB (1,000,204,886,016 bytes)"));
    // Unknown, unreadable, and less than what requests addressed.
    for whole in [None, Some("1 TB"), Some("63999999999"), Some("0")] {
        limit(&mut runs, whole.unwrap_or(""));
        if whole.is_none() {
            runs[0].head.drive.details.clear();
        }
        let page = page(&runs, &noted(NOTES));
        assert!(!page.contains(">GB per EUR<"), "{whole:?}");
        assert!(page.contains("No GB per EUR for Beta, Alpha: the run file does not state"));
    }
}

#[test]
fn a_scratch_file_has_a_price_per_gb_by_the_named_drive_below_it_alone() {
    let mut runs = runs(TargetKind::File);
    limit(&mut runs, "1000204886016");
    assert_eq!(price_row(&page(&runs, &noted(NOTES)), "Alpha")[1], 10.0);
    assert_eq!(runs[0].head.drive.whole_capacity(), Some(Bytes(1_000_204_886_016)));
    // A device mapper target has no model name and may be a part of a drive.
    runs[0].head.drive.model = None;
    assert_eq!(runs[0].head.drive.whole_capacity(), None);
}

#[test]
fn prices_divide_requests_capacity_and_rated_writes() {
    let mut runs = runs(TargetKind::Block);
    limit(&mut runs, "1000204886016");
    let page = page(&runs, &noted(NOTES));
    let capacity = 1_000.204_886_016;
    let alpha = price_row(&page, "Alpha");
    let beta = price_row(&page, "Beta");
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
    close(alpha[1], capacity / 100.0);
    close(beta[1], capacity / 49.5);
    close(alpha[2], 6.0);
    assert!(beta[2].is_nan(), "no rated writes were given");
    // Beta makes twice the requests of Alpha for half the price.
    close(beta[0] / alpha[0], 2.0 * 100.0 / 49.5);
    let of_steps = |page: &str| {
        let table = page.split("id=\"prices\"").nth(1).unwrap();
        let caption = table.split("IOPS: ").nth(1).unwrap();
        caption.split_once(" of \u{201c}").unwrap().0.to_owned()
    };
    assert_eq!(of_steps(&page), "mean over the steps of the headline");
    // A quick look reads at QD1 and QD32. The headline is QD32, everyday work QD1: 10,000 IOPS for 100 units.
    let pace = |stream: &ssdgauge_core::Stream, _: u32| Pace {
        iops: 10_000 * u64::from(stream.queue_depth),
        lat_us: 100.0,
    };
    let mut recipe = Recipe::new("run-0", quick(20), "Alpha");
    recipe.pace = &pace;
    let notes = "+++\ncurrency = \"EUR\"\n[[drive]]\nname = \"Alpha\"\nprice = 100\n+++\n";
    let page = self::page(&[run(&recipe)], &noted(notes));
    assert_eq!(of_steps(&page), "at QD1");
    close(price_row(&page, "Alpha")[0], 100.0);
}

#[test]
fn an_error_in_notes_names_the_line_and_the_remedy() {
    let front = |line: &str| format!("+++\nbyline = \"x\"\n{line}\n+++\nwords\n");
    let drive = |line: &str| front(&format!("[[drive]]\nname = \"Alpha\"\n{line}"));
    let many = format!("pros = [{}]", "\"x\", ".repeat(13));
    let photographs: String = (0..21).map(|n| format!("![x](p{n}.png)\n\n")).collect();
    let cases: [(String, usize, &str); 15] = [
        ("+++\ntitle = \"x\"\n".to_owned(), 1, "no end"),
        (front("colour = 1"), 3, "unknown field"),
        (front("accent = \"red\""), 3, "is not a colour"),
        (front("accent = \"#12345\u{e4}\""), 3, "is not a colour"),
        (drive("price = 0"), 5, "not above zero"),
        (drive("price = 1e300"), 5, "price 1e300 is not that of a drive"),
        (drive("tbw = 0.001"), 5, "tbw 1e-3 is not that of a drive"),
        (drive("price = nan"), 5, "not above zero"),
        (drive("tbw = -1"), 5, "not above zero"),
        (drive(&many), 5, "13 points"),
        ("words\n\n![x](https://example.org/x.png)\n".to_owned(), 3, "not a file in the folder"),
        ("words\n\n![x](data:image/png;base64,AAAA)\n".to_owned(), 3, "not a file in the folder"),
        ("![x](/etc/passwd)\n".to_owned(), 1, "not a file in the folder"),
        (front("logo = \"\""), 3, "not a file in the folder"),
        (photographs, 41, "too many"),
    ];
    for (text, line, message) in cases {
        let error = Notes::parse("notes.md", &text).unwrap_err();
        assert!(error.message.contains(message), "{text}: {}", error.message);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(!error.hint.is_empty());
    }
    let runs = runs(TargetKind::Block);
    for (name, message) in [("Delta", "no drive"), ("a", "of several drives: Alpha, Beta, Gamma")] {
        let notes =
            Notes::parse("n", &format!("+++\n[[drive]]\nname = \"{name}\"\n+++\n")).unwrap();
        let error = notes.check(&runs).unwrap_err();
        assert!(error.line == 3 && error.message.contains(message), "{error}");
        assert!(error.hint.contains("Alpha, Beta, Gamma"), "{error}");
    }
    let twice = "+++\n[[drive]]\nname = \"Alpha\"\n[[drive]]\nname = \"run-0\"\n+++\n";
    assert_eq!(Notes::parse("n", twice).unwrap().check(&runs).unwrap_err().line, 5);
    let mut notes = Notes::parse("n", "![x](a.png)").unwrap();
    assert!(notes.embed(0, b"<svg onload='x'/>").unwrap_err().message.contains("neither PNG"));
    assert!(notes.embed(0, &vec![0; 3_000_001]).unwrap_err().message.contains("bytes"));
}

#[test]
fn a_fragment_has_its_styles_its_marks_and_no_link_within_the_page() {
    let runs = runs(TargetKind::Virtual);
    let anchors = fragment(&runs, &PageOptions::default(), "nothing").unwrap_err();
    assert!(anchors.len() > 6 && anchors.contains(&"answer".to_owned()), "{anchors:?}");
    for anchor in &anchors {
        let part = fragment(&runs, &PageOptions::default(), anchor).unwrap();
        assert!(part.starts_with("<div class=\"embedded\"><style>.embedded{"), "{anchor}");
        assert!(part.contains("<strong>MODEL</strong>"), "{anchor}");
        assert!(!part.contains("href=\"#") && !part.contains("<script"), "{anchor}");
        // Every rule is nested: the braces close with the sheet.
        let sheet = part.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
        let mut depth = 0_i32;
        for (at, letter) in sheet.char_indices() {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            assert!(depth > 0 || at == sheet.len() - 1 || at < 9, "{anchor}: {at}");
        }
    }
}

#[test]
fn the_image_for_links_and_the_table_of_markdown_have_the_mark_of_models() {
    let models = runs(TargetKind::Virtual);
    let drives = runs(TargetKind::Block);
    let image = |runs: &[Run]| share_image(runs, &PageOptions::default());
    let size = [&1_200_u32.to_be_bytes()[..], &630_u32.to_be_bytes()].concat();
    for runs in [&models[..], &drives[..], &models[..1], &[]] {
        assert_eq!(&image(runs)[16..24], size);
    }
    assert_ne!(image(&models), image(&drives), "the mark of a model is drawn");
    let text = markdown(&models);
    assert!(text.contains("**MODEL**") && text.len() < 6_000, "{}", text.len());
    let head = text.lines().find(|line| line.starts_with("| Test |")).unwrap();
    assert_eq!(head.matches('|').count(), 5, "{head}");
    assert!(!markdown(&drives).contains("MODEL"));
}
