//! Long series made short: the extremes of each column of pixels, so that no spike is lost.

/// The columns that a series is reduced to.
pub(super) const COLUMNS: usize = 560;

/// Returns stretches of `points` without gaps, each with at most two points for each column.
///
/// `points` ascend in their first coordinate. Within a column the least and the greatest value
/// stay, in their order. A value that is `None` ends a stretch.
pub(super) fn stretches(points: &[(f64, Option<f64>)]) -> Vec<Vec<(f64, f64)>> {
    let mut stretches = vec![Vec::new()];
    for (x, y) in points {
        match y.filter(|y| y.is_finite()) {
            Some(y) => stretches.last_mut().expect("there is always one").push((*x, y)),
            None => stretches.push(Vec::new()),
        }
    }
    stretches.retain(|stretch| !stretch.is_empty());
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    if points.len() <= 2 * COLUMNS {
        return stretches;
    }
    let width = (last.0 - first.0) / COLUMNS as f64;
    stretches.iter().map(|stretch| extremes(stretch, first.0, width)).collect()
}

/// Returns `stretch` with at most two points for each of `columns` between `low` and `high`.
pub(super) fn thinned(
    stretch: &[(f64, f64)],
    (low, high): (f64, f64),
    columns: f64,
) -> Vec<(f64, f64)> {
    if (stretch.len() as f64) <= columns || high <= low {
        return stretch.to_vec();
    }
    extremes(stretch, low, (high - low) / columns)
}

fn extremes(stretch: &[(f64, f64)], start: f64, width: f64) -> Vec<(f64, f64)> {
    let column = |x: f64| ((x - start) / width) as usize;
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for points in stretch.chunk_by(|a, b| column(a.0) == column(b.0)) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (Some(least), Some(most)) =
            (points.iter().min_by(by_value), points.iter().max_by(by_value))
        else {
            continue;
        };
        let (first, second) = if least.0 <= most.0 { (least, most) } else { (most, least) };
        kept.push(*first);
        if first != second {
            kept.push(*second);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_series_stays_as_it_is_and_a_gap_stays_a_gap() {
        let points = [(0.0, Some(1.0)), (1.0, None), (2.0, Some(3.0)), (3.0, Some(f64::NAN))];
        assert_eq!(stretches(&points), [vec![(0.0, 1.0)], vec![(2.0, 3.0)]]);
        assert!(stretches(&[]).is_empty());
    }

    #[test]
    fn every_spike_of_a_long_series_survives() {
        let mut points: Vec<(f64, Option<f64>)> =
            (0..36_000).map(|x| (f64::from(x), Some(100.0))).collect();
        points[17_001].1 = Some(9_000.0);
        points[17_003].1 = Some(0.0);
        let reduced = stretches(&points);
        assert!(reduced[0].len() <= 2 * COLUMNS + 2, "{}", reduced[0].len());
        for spike in [9_000.0, 0.0] {
            assert!(reduced[0].iter().any(|point| point.1 == spike), "{spike}");
        }
    }
}
