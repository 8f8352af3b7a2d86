//! The distances between the colours of drives, as people with each kind of colour vision see them.

use super::{PALETTE_DARK, PALETTE_LIGHT};

type Colour = [f64; 3];

/// Full protanopia, deuteranopia and tritanopia in linear RGB (Machado, Oliveira and Fernandes 2009,
/// severity 1.0), and normal vision.
const VISIONS: [(&str, [Colour; 3]); 4] = [
    ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protan",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deutan",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritan",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

fn linear(hex: &str) -> Colour {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    [channel(1), channel(3), channel(5)]
}

fn product(matrix: &[Colour; 3], colour: Colour) -> Colour {
    let row = |row: &Colour| row.iter().zip(colour).map(|(a, b)| a * b).sum::<f64>();
    [row(&matrix[0]), row(&matrix[1]), row(&matrix[2])]
}

/// CIELAB (D65) of a linear sRGB colour.
fn lab(colour: Colour) -> Colour {
    let [x, y, z] = product(
        &[
            [0.412_456_4, 0.357_576_1, 0.180_437_5],
            [0.212_672_9, 0.715_152_2, 0.072_175_0],
            [0.019_333_9, 0.119_192_0, 0.950_304_1],
        ],
        colour.map(|channel| channel.clamp(0.0, 1.0)),
    );
    let f = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let [x, y, z] = [f(x / 0.950_47), f(y), f(z / 1.088_83)];
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn cie76(a: Colour, b: Colour) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The formula of Sharma, Wu and Dalal (2005).
fn ciede2000([l1, a1, b1]: Colour, [l2, a2, b2]: Colour) -> f64 {
    let mean = (a1.hypot(b1) + a2.hypot(b2)) / 2.0;
    let g = 0.5 * (1.0 - (mean.powi(7) / (mean.powi(7) + 25f64.powi(7))).sqrt());
    let (a1, a2) = (a1 * (1.0 + g), a2 * (1.0 + g));
    let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
    let hue = |a: f64, b: f64| b.atan2(a).to_degrees().rem_euclid(360.0);
    let (h1, h2) = (hue(a1, b1), hue(a2, b2));
    let grey = c1 * c2 == 0.0;
    let turn = if grey { 0.0 } else { (h2 - h1 + 180.0).rem_euclid(360.0) - 180.0 };
    let dh = 2.0 * (c1 * c2).sqrt() * (turn / 2.0).to_radians().sin();
    let (l, c) = ((l1 + l2) / 2.0, (c1 + c2) / 2.0);
    let h = match (h1 - h2).abs() {
        _ if grey => h1 + h2,
        apart if apart <= 180.0 => (h1 + h2) / 2.0,
        _ if h1 + h2 < 360.0 => (h1 + h2 + 360.0) / 2.0,
        _ => (h1 + h2 - 360.0) / 2.0,
    };
    let cos = |degrees: f64| degrees.to_radians().cos();
    let t = 1.0 - 0.17 * cos(h - 30.0) + 0.24 * cos(2.0 * h) + 0.32 * cos(3.0 * h + 6.0)
        - 0.2 * cos(4.0 * h - 63.0);
    let sl = 1.0 + 0.015 * (l - 50.0).powi(2) / (20.0 + (l - 50.0).powi(2)).sqrt();
    let (sc, sh) = (1.0 + 0.045 * c, 1.0 + 0.015 * c * t);
    let turned = 60.0 * (-((h - 275.0) / 25.0).powi(2)).exp();
    let rt = -2.0 * (c.powi(7) / (c.powi(7) + 25f64.powi(7))).sqrt() * turned.to_radians().sin();
    let (dl, dc, dh) = ((l2 - l1) / sl, (c2 - c1) / sc, dh / sh);
    (dl * dl + dc * dc + dh * dh + rt * dc * dh).sqrt()
}

#[test]
fn the_distance_agrees_with_published_pairs() {
    // Pairs 1, 7 and 17 of the test data of Sharma, Wu and Dalal (2005).
    for (a, b, expected) in [
        ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
        ([50.0, 0.0, 0.0], [50.0, -1.0, 2.0], 2.3669),
        ([50.0, 2.5, 0.0], [73.0, 25.0, -18.0], 27.1492),
    ] {
        let distance = ciede2000(a, b);
        assert!((distance - expected).abs() < 1e-4, "{distance} against {expected}");
    }
}

#[test]
fn any_two_colours_stay_apart_for_every_colour_vision() {
    for (ground, palette) in [("light", PALETTE_LIGHT), ("dark", PALETTE_DARK)] {
        for (vision, matrix) in &VISIONS {
            let seen = palette.map(|hex| lab(product(matrix, linear(hex))));
            for (a, one) in seen.iter().enumerate() {
                for (b, other) in seen.iter().enumerate().skip(a + 1) {
                    let (old, new) = (cie76(*one, *other), ciede2000(*one, *other));
                    let pair = format!("{} and {} on {ground}, {vision}", palette[a], palette[b]);
                    assert!(old >= 20.0, "{pair}: CIE76 {old:.1}");
                    assert!(new >= 12.0, "{pair}: CIEDE2000 {new:.1}");
                }
            }
        }
    }
}
