//! The drive description: facts about one drive, each with its source.
//!
//! A fact that a drive does not report is [`Value::Missing`] with the reason, never a zero and never
//! an assumption.

use crate::finding::Finding;

/// The description of one drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveDescription {
    /// The target as the user named it.
    pub target: String,
    /// The facts, by subject.
    pub sections: Vec<Section>,
    /// The findings that affect every test of this drive, such as a link below its capability or an
    /// impossible value.
    pub findings: Vec<Finding>,
}

/// The facts about one subject, such as health.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its key in JSON, such as `health`.
    pub key: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The facts, in the order in which they are shown.
    pub facts: Vec<Fact>,
}

/// One fact about a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its key in JSON, with the unit as suffix, such as `temperature_c`.
    pub key: String,
    /// Its name.
    pub label: String,
    /// The value.
    pub value: Value,
    /// The unit that is shown after the value; empty where there is none.
    pub unit: &'static str,
    /// The source, such as `identify controller`.
    pub source: &'static str,
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// It is not available, for this reason.
    Missing(String),
    /// Text from the drive or the kernel, not sanitized: sanitize it before printing.
    Text(String),
    /// A count or an exact quantity.
    Count(u64),
    /// A quantity with a fraction.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// Rows under headings.
    Table(Table),
}

/// Rows under headings; a heading is the key of its column, with the unit as suffix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The headings.
    pub columns: Vec<&'static str>,
    /// The rows, each as long as the headings.
    pub rows: Vec<Vec<Value>>,
}

impl Section {
    /// Returns a section without facts.
    pub fn new(key: &'static str, title: &'static str) -> Section {
        Section { key, title, facts: Vec::new() }
    }

    /// Adds a fact.
    pub fn add(
        &mut self,
        source: &'static str,
        key: &str,
        label: &str,
        unit: &'static str,
        value: impl Into<Value>,
    ) {
        let (key, label, value) = (key.into(), label.into(), value.into());
        self.facts.push(Fact { key, label, value, unit, source });
    }

    /// Returns the value of the fact `key`, where it is known.
    pub fn value(&self, key: &str) -> Option<&Value> {
        let value = &self.facts.iter().find(|fact| fact.key == key)?.value;
        (!matches!(value, Value::Missing(_))).then_some(value)
    }
}

impl DriveDescription {
    /// Returns the value of fact `key` in section `section`, where it is known.
    pub fn value(&self, section: &str, key: &str) -> Option<&Value> {
        self.sections.iter().find(|one| one.key == section)?.value(key)
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Value {
        Value::Count(count)
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Value {
        Value::Count(count.into())
    }
}

impl From<u16> for Value {
    fn from(count: u16) -> Value {
        Value::Count(count.into())
    }
}

impl From<u8> for Value {
    fn from(count: u8) -> Value {
        Value::Count(count.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Real(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<Table> for Value {
    fn from(table: Table) -> Value {
        Value::Table(table)
    }
}

/// `None` becomes [`Value::Missing`]: the drive does not report the fact.
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or_else(|| Value::Missing("not reported".into()), Into::into)
    }
}
