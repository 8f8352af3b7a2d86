//! Charts as files: they look as on the page, and state what they show.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use crate::support::drives;

use ssdgauge_analysis::PageOptions;
use ssdgauge_page::{NamedFigure, figures, fragment};

/// Returns the words of all elements of `svg` that begin with `start`.
fn words<'a>(svg: &'a str, start: &str) -> Vec<&'a str> {
    let of = |element: &'a str| element.split_once('>')?.1.split('<').next();
    svg.split(start).skip(1).filter_map(of).collect()
}

/// Returns the commands of the paths of `svg` that have `property`.
fn paths<'a>(svg: &'a str, property: &str) -> Vec<&'a str> {
    let elements = svg.split("<path ").skip(1).map(|one| one.split("/>").next().unwrap());
    let with = elements.filter(|one| one.contains(property));
    with.map(|one| one.split("d=\"").last().unwrap().split('"').next().unwrap()).collect()
}

/// Returns the corners of a path as shares of its own extent.
fn shares(path: &str) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = Vec::new();
    let mut rest = path;
    while let Some(command) = rest.chars().next() {
        let end =
            rest[1..].find(|letter: char| letter.is_alphabetic()).map_or(rest.len(), |n| n + 1);
        let numbers: Vec<f64> = rest[1..end].split(' ').map(|n| n.parse().unwrap()).collect();
        let (x, y) = corners.last().copied().unwrap_or_default();
        corners.push(match (command, numbers.as_slice()) {
            ('H', [x]) => (*x, y),
            ('V', [y]) => (x, *y),
            (_, [x, y]) => (*x, *y),
            _ => unreachable!("{path}"),
        });
        rest = &rest[end..];
    }
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = || corners.iter().map(of);
        (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max))
    };
    let ((left, right), (top, bottom)) = (range(|one| one.0), range(|one| one.1));
    let share = |(x, y): &(f64, f64)| ((x - left) / (right - left), (y - top) / (bottom - top));
    corners.iter().map(share).collect()
}

#[test]
fn a_file_has_the_axes_the_labels_and_the_points_of_the_page() {
    let runs = drives(3);
    let files = figures(&runs, &PageOptions::default());
    let of_test = |kind: &str| -> &NamedFigure {
        files.iter().find(|one| one.name.starts_with("01-") && one.name.ends_with(kind)).unwrap()
    };
    let id = "client-2018/".to_owned() + &runs[0].tests[0].test.id;
    let page = fragment(&runs, &PageOptions::default(), &id).unwrap();
    let panel = page.split("<div class=\"p p-speed\">").nth(1).unwrap();
    let panel = panel.split("<div class=\"p p-").next().unwrap();
    let plot = panel.split("<svg class=\"ch wide of3\"").nth(1).unwrap();
    let plot = plot.split("</svg>").next().unwrap();
    let curve = &of_test("-curve").svg;
    for class in ["tk", "un", "el"] {
        let shown = words(plot, &format!("<text class=\"{class}\""));
        assert!(shown.len() >= 2, "{class}: {shown:?}");
        for one in shown {
            assert!(words(curve, "<text ").contains(&one), "{one}");
        }
    }
    let (of_page, of_file) = (paths(plot, "class=\"ln\""), paths(curve, "stroke-width=\"2.4\""));
    assert_eq!((of_page.len(), of_file.len()), (3, 3));
    for (one, other) in of_page.into_iter().zip(of_file) {
        let (one, other) = (shares(one), shares(other));
        assert_eq!(one.len(), other.len());
        for (one, other) in one.iter().zip(&other) {
            let away = (one.0 - other.0).abs().max((one.1 - other.1).abs());
            // Coordinates have one decimal.
            assert!(away < 0.01, "{one:?} and {other:?}");
        }
    }
    let ranking = &of_test("-ranking").svg;
    let values = words(panel, "<text class=\"bv\"");
    assert_eq!(values.len(), 3);
    for value in values {
        assert!(words(ranking, "<text ").contains(&value), "{value}");
    }
}

#[test]
fn a_file_needs_no_style_sheet_and_names_a_lone_drive() {
    for figure in figures(&drives(1), &PageOptions::default()) {
        let svg = &figure.svg;
        for of_page in ["class=", "var(--", "<style", "class=\"hit\""] {
            assert!(!svg.contains(of_page), "{}: {of_page}", figure.name);
        }
        assert!(svg.contains("Model number 0"), "{}", figure.name);
    }
}
