//! A number out of what a meter answers: a plain number, or a JSON document with a pointer.

use serde_json::Value;

/// Where the watts are in a JSON line that names them in our words.
pub(crate) const USUAL: &str = "/power_w";

/// Returns the number at `pointer` (RFC 6901) of `document`; a text that is a number counts,
/// because some meters write them so.
pub(crate) fn at(document: &Value, pointer: &str) -> Result<f64, String> {
    let value = document.pointer(pointer);
    let number = value.and_then(|value| match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    });
    let number = number.filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| {
        let mut known = Vec::new();
        pointers(document, String::new(), &mut known);
        match known.is_empty() {
            true => format!("there is no number at '{pointer}', nor anywhere else"),
            false => format!("there is no number at '{pointer}'; there are: {}", known.join(", ")),
        }
    })
}

/// The pointers that an error names.
const MOST_POINTERS: usize = 12;

fn pointers(value: &Value, path: String, known: &mut Vec<String>) {
    if known.len() >= MOST_POINTERS {
        return;
    }
    match value {
        Value::Number(_) => known.push(path),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().take(MOST_POINTERS) {
                pointers(item, format!("{path}/{index}"), known);
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers(item, format!("{path}/{key}"), known);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// What one line of a meter says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    /// The value.
    pub(crate) value: f64,
    /// The meter's own time in seconds, where it gives one.
    pub(crate) stamp: Option<f64>,
}

/// Reads a line: a plain number, or a JSON document with a number at `pointer`.
pub(crate) fn line(text: &str, pointer: Option<&str>) -> Result<Line, String> {
    let text = text.trim();
    if pointer.is_none()
        && let Ok(value) = text.parse::<f64>()
        && value.is_finite()
    {
        return Ok(Line { value, stamp: None });
    }
    let document: Value = serde_json::from_str(text)
        .map_err(|_| format!("'{}' is neither a number nor JSON", shown(text)))?;
    let value = at(&document, pointer.unwrap_or(USUAL))?;
    let stamp = document.get("time_s").and_then(Value::as_f64);
    Ok(Line { value, stamp })
}

/// Returns the beginning of what a meter said, without what would spoil a terminal.
pub(crate) fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_is_a_number_or_a_document() {
        let value = |text, pointer| line(text, pointer).map(|line| line.value);
        assert_eq!(value(" 2.5\r\n", None), Ok(2.5));
        assert_eq!(value("{\"power_w\": 3}", None), Ok(3.0));
        assert_eq!(value("{\"a\": [{\"w\": \"4.5\"}]}", Some("/a/0/w")), Ok(4.5));
        let stamped = line("{\"power_w\": 3, \"time_s\": 1.25}", None).unwrap();
        assert_eq!(stamped.stamp, Some(1.25));
        for (text, word) in [("2,5 W", "neither"), ("nan", "neither"), ("", "neither")] {
            assert!(line(text, None).unwrap_err().contains(word), "{text}");
        }
    }

    #[test]
    fn a_wrong_pointer_is_answered_with_those_that_lead_to_numbers() {
        let status = json!({ "id": 0, "apower": 12.5, "aenergy": { "total": 3 }, "on": true });
        let error = at(&status, "/power").unwrap_err();
        assert!(error.contains("/apower") && error.contains("/aenergy/total"), "{error}");
        assert!(at(&json!({ "a/b": 1 }), "/x").unwrap_err().contains("/a~1b"));
        assert!(at(&json!("x"), "").unwrap_err().contains("nor anywhere else"));
    }
}
