//! Hot and cold data: whether a drive keeps them apart, by its write amplification under writes to a hot and a cold
//! zone compared with that of uniform writes.

use crate::answer::{Identified, Value, refuse};
use ssdgauge_core::Zone;
use ssdgauge_statistics::separation::Separation;

/// The part of the write amplification of uniform writes below which a drive separates, and from which on it does
/// not. Chosen: models differ by some per cent from the closed forms; a drive that mixes all writes has more than
/// with uniform ones.
const CLEARLY: (f64, f64) = (0.95, 1.0);
/// The gain that separation has to allow, as a share of the write amplification of uniform writes. Chosen.
const LEAST_GAIN: f64 = 0.15;

/// Returns 1 where the drive keeps hot and cold data apart and 0 where it does not, from its write amplification
/// under `uniform` writes and under those to `zones`; `spare` is the flash beyond the data, as a share of it.
///
/// # Errors
/// The closed forms allow no gain, or the write amplification lies between both cases.
pub fn find(uniform: &Value, zoned: &Value, zones: &[Zone], spare: f64) -> Identified {
    let Some(forms) = Separation::new(zones, spare, zoned.value) else {
        return refuse("separation gains nothing at this spare area");
    };
    let gain = 1.0 - forms.ideal / forms.uniform;
    if gain < LEAST_GAIN {
        return refuse(format!("separation gains {:.0} % at this spare area", gain * 100.0));
    }
    let (low, high) = (zoned.low / uniform.high, zoned.high / uniform.low);
    if high <= CLEARLY.0 {
        Ok(Value::exact(1.0))
    } else if low >= CLEARLY.1 {
        Ok(Value::exact(0.0))
    } else {
        refuse(format!(
            "the write amplification is {:.2} with hot data and {:.2} without; ideal separation has {:.2}, none {:.2}",
            zoned.value, uniform.value, forms.ideal, forms.mixed
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_statistics::separation::{ideal, mixed};

    fn zones() -> [Zone; 2] {
        [Zone { accesses: 0.9, space: 0.1 }, Zone { accesses: 0.1, space: 0.9 }]
    }

    #[test]
    fn both_closed_forms_are_told_apart_and_what_lies_between_is_refused() {
        for spare in [0.07, 0.12, 0.28] {
            let whole = [Zone { accesses: 1.0, space: 1.0 }];
            let uniform = Value::exact(mixed(&whole, 1.0 + spare));
            let found = |wa: f64| find(&uniform, &Value::exact(wa), &zones(), spare);
            assert_eq!(found(ideal(&zones(), 1.0 + spare)), Ok(Value::exact(1.0)), "{spare}");
            assert_eq!(found(mixed(&zones(), 1.0 + spare)), Ok(Value::exact(0.0)), "{spare}");
            assert!(found(0.97 * uniform.value).unwrap_err().0.contains("with hot data"));
            let wide = Value::within(0.93 * uniform.value, 0.0, 0.1);
            assert!(find(&uniform, &wide, &zones(), spare).is_err());
        }
        assert!(find(&Value::exact(2.0), &Value::exact(2.0), &zones(), 0.0).is_err());
    }
}
