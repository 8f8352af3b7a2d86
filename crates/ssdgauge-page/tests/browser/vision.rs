//! The marks of six drives as people with each kind of colour vision see them: in the pixels of the browser.

use crate::browser::window::{Browser, Vision};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::path::Path;

/// The width of the window.
const WIDTH: u32 = 1_100;

/// The distance (CIE76) from which on two colours are told apart at a glance. Chosen, as for the palette.
const APART: f64 = 20.0;

/// Where the middle of the mark of each drive is, and its outline.
const MARKS: &str = "function () {
    return [...document.querySelectorAll('.ans tbody svg.ic')].filter(icon => icon.checkVisibility())
        .map(icon => { const box = icon.getBoundingClientRect();
            return { x: Math.floor(box.x + scrollX + box.width / 2),
                y: Math.floor(box.y + scrollY + box.height / 2), shape: icon.innerHTML } }) }";

/// Returns the colours of a picture at some points. The page does not contain the picture.
const COLOURS: &str = "async function () {
    const picture = new Image();
    picture.src = 'data:image/png;base64,PICTURE';
    await picture.decode();
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
    canvas.drawImage(picture, 0, 0);
    const all = canvas.getImageData(0, 0, picture.width, picture.height).data;
    return POINTS.map(({ x, y }) => [0, 1, 2].map(part => all[4 * (y * picture.width + x) + part])) }";

/// Looks at the page `file` of six drives with each kind of colour vision, in light and dark.
pub(crate) fn check(browser: &mut dyn Browser, file: &Path, pictures: &Path) {
    for scheme in ["light", "dark"] {
        browser.show(file, WIDTH, scheme);
        let marks = browser.evaluate(MARKS);
        let shapes: Vec<&Value> = marks.as_array().unwrap().iter().map(|m| &m["shape"]).collect();
        assert_eq!(shapes.len(), 6);
        // Without any colour the outline remains.
        for (place, shape) in shapes.iter().enumerate() {
            assert!(!shapes[..place].contains(shape), "two drives have the mark {shape}");
        }
        let normal = colours(browser, &marks, Vision::Normal, scheme, pictures);
        for vision in Vision::DEFICIENT {
            let seen = colours(browser, &marks, vision, scheme, pictures);
            let shift = normal.iter().zip(&seen).map(|(a, b)| distance(*a, *b));
            let shift = shift.fold(0.0, f64::max);
            assert!(shift > APART, "{vision:?} in {scheme} changes nothing: {shift:.1}");
            match vision {
                Vision::Achromatopsia => {
                    let is_grey = |[_, a, b]: &[f64; 3]| a.hypot(*b) < 3.0;
                    assert!(seen.iter().all(is_grey), "{seen:?}");
                }
                Vision::Normal | Vision::Protanopia | Vision::Deuteranopia | Vision::Tritanopia => {
                    check_apart(&seen, &format!("{vision:?} in {scheme}"));
                }
            }
        }
        browser.see_as(Vision::Normal);
    }
}

fn check_apart(colours: &[[f64; 3]], place: &str) {
    for (one, colour) in colours.iter().enumerate() {
        for (other, against) in colours.iter().enumerate().skip(one + 1) {
            let apart = distance(*colour, *against);
            assert!(apart >= APART - 1.0, "{place}: drives {one} and {other} are {apart:.1} apart");
        }
    }
}

/// Returns the colours (CIELAB) in the middle of `marks` as `vision` sees them; a picture is left in `pictures`.
fn colours(
    browser: &mut dyn Browser,
    marks: &Value,
    vision: Vision,
    scheme: &str,
    pictures: &Path,
) -> Vec<[f64; 3]> {
    browser.see_as(vision);
    let file = pictures.join(format!("six-{scheme}-{vision:?}.png").to_lowercase());
    browser.picture(&file, WIDTH, 900);
    let picture = STANDARD.encode(std::fs::read(&file).unwrap());
    let script = COLOURS.replace("PICTURE", &picture).replace("POINTS", &marks.to_string());
    let found = browser.evaluate(&script);
    let found = found.as_array().unwrap().iter().map(|colour| {
        let channel = |n: usize| colour[n].as_f64().unwrap();
        lab([channel(0), channel(1), channel(2)])
    });
    found.collect()
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Returns the CIELAB (D65) of an sRGB colour of 0 to 255 (IEC 61966-2-1, CIE 15).
fn lab(colour: [f64; 3]) -> [f64; 3] {
    let linear = |value: f64| match value / 255.0 {
        share if share <= 0.040_45 => share / 12.92,
        share => ((share + 0.055) / 1.055).powf(2.4),
    };
    let [r, g, b] = colour.map(linear);
    let f = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let x = f((0.412_456_4 * r + 0.357_576_1 * g + 0.180_437_5 * b) / 0.950_47);
    let y = f(0.212_672_9 * r + 0.715_152_2 * g + 0.072_175 * b);
    let z = f((0.019_333_9 * r + 0.119_192 * g + 0.950_304_1 * b) / 1.088_83);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}
