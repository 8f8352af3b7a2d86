//! Long paths in few letters: relative, to a tenth of a unit, without points on a straight line.

/// A point this near to the line between its neighbours cannot be seen beside it, in units of the
/// picture.
const UNSEEN: f64 = 0.06;

/// Returns `svg` with every long path of straight lines written shortly; others stay as they are.
pub(super) fn shortened(svg: &str) -> String {
    const MARK: &str = " d=\"M ";
    let mut text = String::with_capacity(svg.len() / 2);
    let mut rest = svg;
    while let Some(at) = rest.find(MARK) {
        let (before, after) = rest.split_at(at + MARK.len() - 2);
        text.push_str(before);
        let Some(end) = after.find('"') else {
            rest = after;
            break;
        };
        match points(&after[..end]) {
            Some(points) => text.push_str(&written(&points)),
            None => text.push_str(&after[..end]),
        }
        rest = &after[end..];
    }
    text.push_str(rest);
    text
}

/// Returns the corners of a path `M x y L x y …`; `None` where it holds anything else.
fn points(path: &str) -> Option<Vec<(f64, f64)>> {
    let mut points = Vec::new();
    let mut words = path.split_ascii_whitespace();
    while let Some(command) = words.next() {
        if command != if points.is_empty() { "M" } else { "L" } {
            return None;
        }
        let mut number = || words.next()?.parse::<f64>().ok().filter(|n| n.is_finite());
        points.push((number()?, number()?));
    }
    (points.len() > 1).then_some(points)
}

/// Returns the path through `points`, each on the grid of tenths so that no error adds up.
fn written(points: &[(f64, f64)]) -> String {
    let grid = |(x, y): (f64, f64)| ((x * 10.0).round() as i64, (y * 10.0).round() as i64);
    let kept = corners(points);
    let mut at = grid(kept[0]);
    let mut text = String::from("M");
    number(&mut text, at.0, true);
    number(&mut text, at.1, false);
    let mut command = Some('l');
    for point in &kept[1..] {
        let next = grid(*point);
        let first = command.take();
        text.extend(first);
        number(&mut text, next.0 - at.0, first.is_some());
        number(&mut text, next.1 - at.1, false);
        at = next;
    }
    text
}

/// Returns the points without those in the middle of a straight line; both ends stay.
fn corners(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept = vec![points[0]];
    // The last point that was kept, and those since then that lie on the line from it.
    let mut from = 0;
    for at in 1..points.len() - 1 {
        let line = (points[from], points[at + 1]);
        let straight = (from + 1..=at).all(|between| is_on(points[between], line));
        // A look back that grows without end would take the square of the time.
        if !straight || at - from > 64 {
            kept.push(points[at]);
            from = at;
        }
    }
    kept.push(points[points.len() - 1]);
    kept
}

/// Returns whether `point` lies on the line, and between its ends.
fn is_on(point: (f64, f64), (a, b): ((f64, f64), (f64, f64))) -> bool {
    let within = |at: f64, one: f64, other: f64| {
        at >= one.min(other) - UNSEEN && at <= one.max(other) + UNSEEN
    };
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy);
    let away = if length > 0.0 {
        (dx * (point.1 - a.1) - dy * (point.0 - a.0)).abs() / length
    } else {
        0.0
    };
    away <= UNSEEN && within(point.0, a.0, b.0) && within(point.1, a.1, b.1)
}

/// Writes tenths as a number, with a space before it where one is needed.
fn number(text: &mut String, tenths: i64, first: bool) {
    let sign = if tenths < 0 { "-" } else { "" };
    // A minus sign sets a number apart by itself.
    if !first && tenths >= 0 {
        text.push(' ');
    }
    let (whole, tenth) = (tenths.abs() / 10, tenths.abs() % 10);
    text.push_str(sign);
    match (whole, tenth) {
        (whole, 0) => text.push_str(&whole.to_string()),
        (0, tenth) => text.push_str(&format!(".{tenth}")),
        (whole, tenth) => text.push_str(&format!("{whole}.{tenth}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        let svg = format!("<path d=\"{input}\"/>");
        assert_eq!(shortened(&svg), format!("<path d=\"{expected}\"/>"));
    }

    #[test]
    fn a_path_keeps_its_corners_and_loses_the_points_between() {
        check("M 84 10 L 94.04 10 L 104 10 L 104.5 20", "M84 10l20 0 .5 10");
        check("M 0 0 L 1 5 L 2 0 L 3 5", "M0 0l1 5 1-5 1 5");
        check("M 0 0 L 0 9 L 0 2", "M0 0l0 9 0-7");
    }

    #[test]
    fn rounding_never_adds_up() {
        let path: Vec<String> =
            (0..2_000).map(|n| format!("{} {}", f64::from(n) * 0.33, n % 2 * 10)).collect();
        let short = shortened(&format!(" d=\"M {}\"", path.join(" L ")));
        let numbers = short.trim_start_matches(" d=\"M0 0l").trim_end_matches('"');
        let spaced = numbers.replace('-', " -");
        let values: Vec<f64> = spaced.split_whitespace().map(|n| n.parse().unwrap()).collect();
        let end: f64 = values.chunks(2).map(|pair| pair[0]).sum();
        assert!((end - 1_999.0 * 0.33).abs() < 0.1, "{end}");
    }

    #[test]
    fn curves_and_noise_stay_as_they_are() {
        for path in ["M 0 0 C 1 1 2 2 3 3", "M 1", "M a b L c d"] {
            check(path, path);
        }
    }
}
