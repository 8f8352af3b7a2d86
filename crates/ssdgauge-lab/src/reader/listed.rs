//! The values of the keys that a test lists as chosen or deviating, as they are written in the file.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// The value of each listed key of a test that the test has, by its path: `prepare.0` is the first
/// entry of `prepare`.
pub(super) type Listed = BTreeMap<String, String>;

/// Returns the listed values of each test of `document`, in order.
pub(super) fn values(document: &DeTable<'_>) -> Vec<Listed> {
    let tests = document.get("test").and_then(|tests| tests.get_ref().as_array());
    tests.into_iter().flatten().map(of_test).collect()
}

fn of_test(test: &Spanned<DeValue<'_>>) -> Listed {
    let chosen = test.get_ref().get("chosen").and_then(|keys| keys.get_ref().as_array());
    let chosen = chosen.into_iter().flatten().filter_map(|key| key.get_ref().as_str());
    let deviating = test.get_ref().get("deviates").and_then(|keys| keys.get_ref().as_table());
    let deviating = deviating.into_iter().flatten().map(|(key, _)| &**key.get_ref());
    let value = |path: &str| Some((path.to_owned(), written(at(test, path)?)?));
    chosen.chain(deviating).filter_map(value).collect()
}

/// Returns the value of `test` at `path`.
fn at<'a, 'i>(test: &'a Spanned<DeValue<'i>>, path: &str) -> Option<&'a Spanned<DeValue<'i>>> {
    path.split('.').try_fold(test, |value, part| match part.parse::<usize>() {
        Ok(index) => value.get_ref().get(index),
        Err(_) => value.get_ref().get(part),
    })
}

/// Returns a value as TOML, a string without its quotes; `None` for a number out of range, which the
/// schema refuses.
fn written(value: &Spanned<DeValue<'_>>) -> Option<String> {
    let value = toml::Value::deserialize(ValueDeserializer::from(value.clone())).ok()?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}
