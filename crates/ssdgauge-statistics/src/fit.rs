//! Linear regression by ordinary least squares.

/// A straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The change of y per unit of x.
    pub slope: f64,
    /// The value of y at x = 0.
    pub intercept: f64,
    /// Pearson's correlation coefficient; 0 where all y are equal.
    pub correlation: f64,
}

/// Returns the least-squares line; `None` for fewer than two points, or where all x are equal.
///
/// Slope = Σ(x − x̄)(y − ȳ) ÷ Σ(x − x̄)²; the centred sums lose less precision than Σxy − n·x̄·ȳ.
pub fn line(points: &[(f64, f64)]) -> Option<Line> {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / n;
    let sum = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>();
    let xx = sum(&|p| (p.0 - mean_x).powi(2));
    let yy = sum(&|p| (p.1 - mean_y).powi(2));
    let xy = sum(&|p| (p.0 - mean_x) * (p.1 - mean_y));
    if points.len() < 2 || xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let correlation = if yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 };
    Some(Line { slope, intercept: mean_y - slope * mean_x, correlation })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_line_is_found() {
        let fit = line(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert!((fit.slope - 2.0).abs() < 1e-12 && (fit.intercept - 1.0).abs() < 1e-12);
        assert!((fit.correlation - 1.0).abs() < 1e-12);
    }

    #[test]
    fn fewer_than_two_distinct_x_have_no_line() {
        assert_eq!(line(&[]), None);
        assert_eq!(line(&[(1.0, 1.0)]), None);
        assert_eq!(line(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }
}
