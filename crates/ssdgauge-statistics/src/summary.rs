//! Mean, standard deviation and percentile of a series.

/// Returns the arithmetic mean; `None` for an empty slice.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the harmonic mean: the mean rate of parts of equal size. `None` for an empty slice, or
/// where a value is not positive.
pub fn harmonic_mean(values: &[f64]) -> Option<f64> {
    let positive = !values.is_empty() && values.iter().all(|value| *value > 0.0);
    positive.then(|| values.len() as f64 / values.iter().map(|value| 1.0 / value).sum::<f64>())
}

/// Returns the sample standard deviation (n − 1, definition D4); `None` for fewer than two values.
pub fn sigma(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// Returns mean ÷ σ, the consistency score of the 2016 reviews; `None` where σ is 0 (definition D4).
pub fn mean_over_sigma(values: &[f64]) -> Option<f64> {
    let sigma = sigma(values)?;
    (sigma > 0.0).then(|| mean(values).map(|mean| mean / sigma)).flatten()
}

/// Returns the smallest value with at least `share` of all values at or below it, the nearest-rank
/// percentile; `None` for an empty slice.
pub fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// Returns the value below which `share` of the sorted `values` lie, between two of them by their
/// distance (Hyndman and Fan 1996, definition 7); `None` without a value.
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(if low == high { low } else { low + (high - low) * place.fract() })
}

/// Returns the median of `values` in any order; `None` without a value.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_a_small_series() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), Some(5.0));
        assert!((sigma(&values).unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(percentile(&values, 0.5), Some(4.0));
        assert_eq!(percentile(&values, 1.0), Some(9.0));
        assert_eq!((quantile(&values, 0.5), quantile(&values, 0.25)), (Some(4.5), Some(4.0)));
        assert_eq!((median(vec![3.0, 1.0]), median(Vec::new())), (Some(2.0), None));
        assert!((harmonic_mean(&[1.0, 2.0]).unwrap() - 4.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn an_undefined_statistic_is_none() {
        assert_eq!(mean(&[]), None);
        assert_eq!(sigma(&[1.0]), None);
        assert_eq!(mean_over_sigma(&[3.0, 3.0, 3.0]), None);
        assert_eq!(harmonic_mean(&[1.0, 0.0]), None);
        assert_eq!(percentile(&[], 0.5), None);
    }
}
