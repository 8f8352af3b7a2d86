//! Coordinates in few letters.

/// Returns a coordinate with one decimal at most.
pub(crate) fn at(value: f64) -> String {
    tenths(value).unwrap_or_else(|| rounded(value))
}

/// Returns what [`rounded`] returns of a coordinate within a chart, in a fifth of the time: a page has thousands. `None`
/// near the middle between two tenths, where the error of a product decides, and for other numbers.
fn tenths(value: f64) -> Option<String> {
    let tenths = value * 10.0;
    let (whole, rest) = (tenths.floor(), tenths - tenths.floor());
    if !(0.0..1e9).contains(&tenths) || (rest - 0.5).abs() < 1e-6 {
        return None;
    }
    let tenths = whole as u32 + u32::from(rest > 0.5);
    let (whole, tenth) = (tenths / 10, tenths % 10);
    Some(if tenth == 0 { whole.to_string() } else { format!("{whole}.{tenth}") })
}

fn rounded(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Returns a share of the width with two decimals at most.
pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.2}", (100.0 * share).clamp(0.0, 100.0));
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_statistics::Random;

    #[test]
    fn a_coordinate_is_the_rounded_number() {
        let mut random = Random::new(46, 1);
        for _ in 0..200_000 {
            let value = (random.unit() - 0.1) * 10_f64.powi(random.below(12) as i32 - 3);
            // Middles between two tenths among them, and their neighbours.
            let middle = (value * 20.0).round() / 20.0;
            for value in [value, middle, middle.next_up(), middle.next_down()] {
                assert_eq!(at(value), rounded(value), "{value:?}");
            }
        }
        assert_eq!([0.25, 0.75, 9.96, 3.0, -0.01].map(at), ["0.2", "0.8", "10", "3", "0"]);
    }
}
