//! Families of curves: those that one set of figures has to explain, with these figures.

use super::curves::Curve;
use std::error::Error;
use toml::{Table, Value};

/// Curves that were measured on drives of one kind in one state, and the figures of the virtual drive for them.
#[derive(Clone)]
pub(crate) struct Family {
    pub(crate) name: String,
    /// The text of the profile.
    pub(crate) profile: &'static str,
    /// The beginnings of the names of its curves.
    curves: Vec<String>,
    /// What does not differ between points: `capacity`, `state`, and figures that are chosen.
    pub(crate) fixed: String,
    pub(crate) figures: Vec<Figure>,
}

/// A figure that is fitted: a key of the profile, or one of the host in [`super::host`].
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) key: String,
    pub(crate) value: f64,
    pub(crate) is_whole: bool,
}

const PROFILES: [(&str, &str); 3] = [
    ("like-980-pro", include_str!("../../../docs/programs/like-980-pro.toml")),
    ("like-evo-2tb", include_str!("../../../docs/programs/like-evo-2tb.toml")),
    ("like-optane", include_str!("../../../docs/programs/like-optane.toml")),
];

/// Returns all families, as `families.toml` states them.
pub(crate) fn all() -> Result<Vec<Family>, Box<dyn Error>> {
    let table: Table = toml::from_str(include_str!("families.toml"))?;
    table.into_iter().map(|(name, value)| read(name, &value)).collect()
}

fn read(name: String, value: &Value) -> Result<Family, Box<dyn Error>> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let profile = text("profile").ok_or("a family without a profile")?;
    let (_, profile) =
        PROFILES.iter().find(|(known, _)| *known == profile).ok_or("no such profile")?;
    let curves = value.get("curves").and_then(Value::as_array).ok_or("a family without curves")?;
    let figures = value.get("fitted").and_then(Value::as_table).ok_or("nothing is fitted")?;
    Ok(Family {
        name,
        profile,
        curves: curves.iter().filter_map(|curve| curve.as_str().map(str::to_owned)).collect(),
        fixed: text("fixed").unwrap_or_default().into(),
        figures: figures
            .iter()
            .map(|(key, value)| Figure {
                key: key.clone(),
                value: value.as_float().or(value.as_integer().map(|n| n as f64)).unwrap_or(0.0),
                is_whole: value.is_integer(),
            })
            .collect(),
    })
}

impl Family {
    /// Returns whether `curve` is one of the family.
    pub(crate) fn has(&self, curve: &Curve) -> bool {
        self.curves.iter().any(|name| curve.name.starts_with(name.as_str()))
    }

    /// Returns the text after the name of the profile: fixed figures, then the fitted ones of the profile.
    pub(crate) fn query(&self) -> String {
        let fitted = self.figures.iter().filter(|figure| figure.key.contains('.'));
        fitted.fold(self.fixed.clone(), |text, figure| format!("{text}&{}", figure.text()))
    }

    /// Returns the figure `key` of the host.
    pub(crate) fn of_host(&self, key: &str) -> Option<f64> {
        self.figures.iter().find(|figure| figure.key == key).map(|figure| figure.value)
    }
}

impl Figure {
    /// Returns the figure as `KEY=VALUE`.
    pub(crate) fn text(&self) -> String {
        match self.is_whole {
            true => format!("{}={}", self.key, self.value.round()),
            false => format!("{}={:.4}", self.key, self.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real_curves::{curves, simulate};
    use ssdgauge_sim::VirtualRig;

    #[test]
    fn every_curve_belongs_to_one_family_whose_drive_exists() {
        let families = all().unwrap();
        for curve in curves::all().unwrap() {
            let count = families.iter().filter(|family| family.has(&curve)).count();
            assert_eq!(count, 1, "{}", curve.name);
        }
        for family in &families {
            VirtualRig::from_toml("curves", family.profile, &family.query(), 1).unwrap();
        }
    }

    #[test]
    fn points_of_the_980_pro_that_were_not_fitted_are_within_the_limits_of_the_gate() {
        let families = all().unwrap();
        let family = families.iter().find(|family| family.name == "processes").unwrap();
        let curves = curves::all().unwrap();
        let curve = curves.iter().find(|curve| curve.name == "processes-4").unwrap();
        for point in [2, 16, 128] {
            assert!(!curve.fitted.contains(&point));
            let real = curves::Source::Facts.point(curve, point).unwrap();
            let model = simulate::point(family, curve, point).unwrap();
            assert!((model.mean / real.mean - 1.0).abs() < 0.10, "{point}: {model:?} {real:?}");
            assert!((model.tail / real.tail - 1.0).abs() < 0.25, "{point}: {model:?} {real:?}");
        }
    }
}
