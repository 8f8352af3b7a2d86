//! Labels at the ends of lines, pushed apart so that none covers another.

/// Returns `wanted` heights, ascending, at least `gap` apart and within `low` to `high` as far as there is
/// room.
///
/// Neighbours that are too near share the distance that is missing. The number of rounds is limited;
/// what is still too near then has no room.
pub(crate) fn pushed_apart(wanted: &[f64], gap: f64, (low, high): (f64, f64)) -> Vec<f64> {
    const MAX_ROUNDS: usize = 300;
    let mut places = wanted.to_vec();
    for _ in 0..MAX_ROUNDS {
        let mut moved = false;
        for at in 1..places.len() {
            let missing = gap - (places[at] - places[at - 1]);
            if missing > 0.01 {
                places[at - 1] -= missing / 2.0;
                places[at] += missing / 2.0;
                moved = true;
            }
        }
        if let Some(first) = places.first_mut() {
            *first = first.max(low);
        }
        if let Some(last) = places.last_mut() {
            *last = last.min(high);
        }
        if !moved {
            break;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_distance_and_stay_in_the_plot() {
        let places = pushed_apart(&[10.0, 11.0, 12.0, 100.0], 15.0, (5.0, 105.0));
        for pair in places.windows(2) {
            assert!(pair[1] - pair[0] > 14.9, "{places:?}");
        }
        assert!(places[0] >= 5.0 && places[3] <= 105.0);
        assert!(pushed_apart(&[], 15.0, (0.0, 1.0)).is_empty());
    }
}
