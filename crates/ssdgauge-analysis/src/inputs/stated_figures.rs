//! The stated figures of a spec file: what a maker states of the structures that an X-ray finds.

use crate::inputs::input_error::InputError;
use crate::inputs::spec_file::{Bound, Entry, File, Number};
use ssdgauge_core::Bytes;
use ssdgauge_xray::{Figure, Stated, Structure, Unit};

/// The form of the table.
const HINT: &str = "each line of the table [stated] has a structure: cache = \"42 GB\", or \
                    native-rate = { at_least = 1000 } in MB/s";

/// Reads the stated figures in the `text` of the spec file `file`, in the order of the structures.
///
/// # Errors
///
/// Returns the line, the fault and the remedy where `text` is not a valid spec file, or states no figure.
pub fn stated_figures(file: &str, text: &str) -> Result<Vec<Stated>, InputError> {
    let parsed = File::parse(file, text)?;
    if parsed.stated.is_empty() {
        let message = "the table [stated] is empty".to_owned();
        return Err(InputError::new(file, text, 0..0, message, HINT));
    }
    let stated = parsed.stated.iter().map(|(key, entry)| {
        let error = |span, message, hint: &str| InputError::new(file, text, span, message, hint);
        let name = key.get_ref();
        let structure = Structure::from_key(name).ok_or_else(|| {
            let known = Structure::ALL.map(Structure::key).join(", ");
            error(key.span(), format!("unknown structure '{name}'"), &format!("use one of {known}"))
        })?;
        let figure = entry.get_ref().figure(structure.unit()).ok_or_else(|| {
            let unit = match structure.unit() {
                Unit::Bytes => "bytes, in MB, GB or TB, such as \"42 GB\"",
                Unit::YesNo => "yes-no: use true or false",
                Unit::Count => "count, a whole number",
                unit @ (Unit::MegabytesPerSecond
                | Unit::Microseconds
                | Unit::Celsius
                | Unit::Percent) => unit.key(),
            };
            error(entry.span(), format!("'{name}' is not a number in {unit}"), HINT)
        })?;
        Ok(Stated { structure, figure })
    });
    let mut all: Vec<Stated> = stated.collect::<Result<_, InputError>>()?;
    all.sort_by_key(|stated| stated.structure);
    Ok(all)
}

impl Entry {
    /// Returns the figure in `unit`; `None` where it has another one.
    fn figure(&self, unit: Unit) -> Option<Figure> {
        Some(match self {
            Entry::Exactly(number) => Figure::Exactly(number.in_unit(unit)?),
            // Yes and no have no order.
            Entry::Bound(_) if unit == Unit::YesNo => return None,
            Entry::Bound(Bound::AtLeast(number)) => Figure::AtLeast(number.in_unit(unit)?),
            Entry::Bound(Bound::AtMost(number)) => Figure::AtMost(number.in_unit(unit)?),
        })
    }
}

impl Number {
    fn in_unit(&self, unit: Unit) -> Option<f64> {
        let is_yes_no = unit == Unit::YesNo;
        match self {
            // 42 is not 42 bytes: a size has its unit.
            Number::Plain(_) if is_yes_no || unit == Unit::Bytes => None,
            Number::Plain(value) => Some(*value).filter(|value| unit.has(*value)),
            Number::Size(text) => {
                let size: Bytes = text.replace(' ', "").parse().ok()?;
                (unit == Unit::Bytes).then_some(size.0 as f64)
            }
            Number::YesNo(yes) => is_yes_no.then_some(f64::from(u8::from(*yes))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_in_the_unit_of_their_structure() {
        let read = |text: &str| stated_figures("spec.toml", text);
        let text = "[stated]\ncache = \"42 GB\"\nunits = 16\nsuspend = true\n\
                    native-rate = { at_least = 650 }\nlink = { at_most = 3500.0 }\n";
        let stated = |structure, figure| Stated { structure, figure };
        let expected = [
            stated(Structure::Link, Figure::AtMost(3_500.0)),
            stated(Structure::Units, Figure::Exactly(16.0)),
            stated(Structure::Suspend, Figure::Exactly(1.0)),
            stated(Structure::Cache, Figure::Exactly(42e9)),
            stated(Structure::NativeRate, Figure::AtLeast(650.0)),
        ];
        assert_eq!(read(text).unwrap(), expected);
        for (text, word) in [
            ("[stated]\ncash = 1\n", "use one of link, "),
            ("[stated]\nlink = \"3 GB\"\n", "MB/s"),
            ("[stated]\nsuspend = 1\n", "yes-no"),
            ("[stated]\nlink = nan\n", "MB/s"),
            ("[stated]\ncache = 42\n", "such as \"42 GB\""),
            ("[stated]\nlink = { about = 3 }\n", "a value that is not a number"),
            ("[stated]\nlink = = 3\n", "spec.toml:2: "),
            ("stated = 3\n", "spec.toml:1: "),
            ("[drive]\nmodel = \"Disk\"\nsource = \"sheet\"\n", "[stated] is empty"),
        ] {
            let error = read(text).unwrap_err();
            let shown = format!("{error}; {}", error.hint);
            assert!(shown.contains(word), "{text}: {shown}");
        }
    }
}
